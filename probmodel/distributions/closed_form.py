"""Formulas with derivatives of their own, where those by autograd's rules would lose digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp_argnums, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f


def closed_form(
    formula: Callable[..., Any], slopes: Callable[..., Sequence[Callable[[], Any]]]
) -> Callable[..., Any]:
    """Make one primitive of autograd of a formula and its derivatives.

    Both are functions of a NumPy-like namespace, and of arrays that broadcast. ``slopes`` returns a
    thunk for each array: the derivative in it, of an element of the result. It is differentiated in
    its turn.
    """

    @primitive
    def run(*args: Any) -> Any:
        return formula(np, *args)

    def rule(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        thunks = slopes(anp, *args)

        def pull(g: Any) -> tuple[Any, ...]:
            return tuple(unbroadcast_f(args[i], lambda g, i=i: g * thunks[i]())(g) for i in argnums)

        return pull

    defvjp_argnums(run, rule)
    return run
