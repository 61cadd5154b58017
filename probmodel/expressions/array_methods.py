"""Methods that symbols have in common with NumPy's arrays."""

from __future__ import annotations

from typing import Any, Self

import numpy

from probmodel.expressions.location import call_error

np: Any = numpy  # whose types know of no symbols


class ArrayMethods:
    """Methods of arrays, each of them the function of NumPy that has its name."""

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        """The transpose."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:  # noqa: N802 (NumPy's name)
        """The transpose of each matrix of a stack."""
        return np.swapaxes(self, -1, -2)

    # -- reductions ----------------------------------------------------------------------------

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Sum over all axes, or over ``axis``."""
        return np.sum(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Take the mean over all axes, or over ``axis``."""
        return np.mean(self, axis=axis, keepdims=keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Multiply over all axes, or over ``axis``."""
        return np.prod(self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the largest element over all axes, or over ``axis``."""
        return np.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the smallest element over all axes, or over ``axis``."""
        return np.min(self, axis=axis, keepdims=keepdims)

    def var(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """Take the variance over all axes, or over ``axis``."""
        return np.var(self, axis=axis, ddof=ddof, keepdims=keepdims)

    def std(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """Take the standard deviation over all axes, or over ``axis``."""
        return np.std(self, axis=axis, ddof=ddof, keepdims=keepdims)

    def cumsum(self, axis: Any = None) -> Any:
        """Return sums up to each element."""
        return np.cumsum(self, axis=axis)

    def cumprod(self, axis: Any = None) -> Any:
        """Return products up to each element."""
        return np.cumprod(self, axis=axis)

    def trace(self) -> Any:
        """Sum the diagonal."""
        return np.trace(self)

    # -- elements ------------------------------------------------------------------------------

    def dot(self, b: Any) -> Any:
        """Multiply vectors and matrices."""
        return np.dot(self, b)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Cut elements at bounds."""
        return np.clip(self, min, max)

    def round(self, decimals: int = 0) -> Any:
        """Round elements."""
        return np.round(self, decimals)

    def astype(self, dtype: Any) -> Any:
        """Return the same numbers as floating-point numbers: there are no others in formulas."""
        if numpy.dtype(dtype).kind != "f":
            raise call_error(
                f"A symbol becomes no {dtype!r}: formulas have floating-point numbers, of which "
                "np.floor and np.round give whole ones; data(dtype=int) declares indices.",
                dtype=dtype,
            )
        return np.multiply(self, 1.0)

    # -- shape and order -----------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Any:
        """Return the same elements in another shape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Any:
        """Return the elements along one axis."""
        return np.ravel(self)

    def flatten(self) -> Any:
        """Return the elements along one axis."""
        return np.ravel(self)

    def transpose(self, *axes: Any) -> Any:
        """Return the axes in the reverse order, or in another one."""
        if not axes:
            return np.transpose(self)
        return np.transpose(self, axes[0] if len(axes) == 1 else axes)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Exchange two axes."""
        return np.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> Any:
        """Leave axes of length one out."""
        return np.squeeze(self, axis=axis)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Repeat each element."""
        return np.repeat(self, repeats, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Return a diagonal."""
        return np.diagonal(self, offset, axis1, axis2)

    def copy(self) -> Self:
        """Return the symbol itself, which never changes."""
        return self
