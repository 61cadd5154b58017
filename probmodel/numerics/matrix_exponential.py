"""The exponential of matrices, with derivatives of every order."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from probmodel.types import Array


@primitive
def expm(a: Array) -> Array:
    """Exponentials of a stack of matrices: (..., n, n) -> (..., n, n); NaN where not finite."""
    import scipy.linalg

    finite = np.isfinite(a).all(axis=(-2, -1), keepdims=True)
    return np.where(finite, scipy.linalg.expm(np.where(finite, a, 0.0)), np.nan)


def _pull(ans: Array, a: Any) -> Any:
    """Return the derivative along ``g``: a corner of the exponential of a matrix twice as large."""
    n = np.shape(a)[-1]
    transposed = anp.swapaxes(a, -1, -2)

    def pull(g: Any) -> Any:
        top = anp.concatenate([transposed, g], axis=-1)
        bottom = anp.concatenate([0.0 * transposed, transposed], axis=-1)
        return expm(anp.concatenate([top, bottom], axis=-2))[..., :n, n:]

    return pull


defvjp(expm, _pull)
