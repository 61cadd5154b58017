"""Solvers as primitives of autograd: a value, and what pulls derivatives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd.core import make_vjp
from autograd.extend import Box, defvjp_argnums, primitive

from probmodel.types import Array

Pulled = tuple[Array, Callable[[Array], tuple[Array, ...]]]


def as_primitive(
    run: Callable[..., Array], run_with_vjp: Callable[..., Pulled], traced: Callable[..., Any]
) -> Callable[..., Any]:
    """Make one primitive of a solver, which maps arguments to values.

    ``run_with_vjp`` returns besides what pulls derivatives back to all arguments; ``traced`` gives
    the values by operations that autograd can differentiate, for second derivatives.
    """

    @primitive
    def solver(*args: Any) -> Any:
        return run(*args)

    def with_vjp(argnums: Sequence[int], *args: Any) -> Pulled:
        value, vjp = run_with_vjp(*args)

        def active_vjp(g: Array) -> tuple[Array, ...]:
            slopes = vjp(g)
            return tuple(slopes[i] for i in argnums)

        return value, active_vjp

    def rule(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        def vjp(g: Any) -> Any:
            if not any(isinstance(a, Box) for a in (g, *args)):
                return with_vjp(argnums, *args)[1](g)
            pull = make_vjp(lambda active: traced(*_replaced(args, argnums, active)),
                            tuple(args[i] for i in argnums))[0]  # fmt: skip
            return pull(g)

        return vjp

    defvjp_argnums(solver, rule)
    solver.with_vjp = with_vjp
    return solver


def _replaced(args: Sequence[Any], argnums: Sequence[int], active: Sequence[Any]) -> list[Any]:
    full = list(args)
    for position, value in zip(argnums, active, strict=True):
        full[position] = value
    return full


def plain(value: Any) -> Any:
    """Return the number under autograd's boxes."""
    while isinstance(value, Box):
        value = value._value
    return value
