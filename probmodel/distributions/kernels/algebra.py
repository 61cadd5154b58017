"""Kernels: covariance functions, their sums and their products."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from numbers import Real as Number
from typing import Any, ClassVar, NoReturn

import numpy as np

from probmodel.distributions.domain import where_valid
from probmodel.errors import Located
from probmodel.expressions import Expression, call_error, call_of, caller_location, of_data, settle
from probmodel.types import Array


class Kernel:
    """Covariance of the values of a process at two points.

    Kernels are added (independent processes are added), multiplied (one process changes the
    amplitude of the other), and take numbers and symbols as constants: ``2.0 * kernel`` doubles the
    covariance, ``kernel + 1.0`` adds a constant with variance 1. ``kernel(points)`` is the
    covariance matrix at points, to be written in formulas, ``kernel(new, old)`` that between two
    sets of points.
    """

    __array_ufunc__ = None  # NumPy's numbers and symbols leave sums and products to the kernel

    @property
    def arguments(self) -> dict[str, tuple[Any, bool]]:
        """What each parameter was given, and whether it has to be positive."""
        raise NotImplementedError

    def covariance(self, xp: Any, values: Sequence[Any], x: Array, y: Array) -> Any:
        """Covariance matrix between points: batch shape + (n, m).

        Parameters
        ----------
        values : of the parameters, in the order of `arguments`: batch shape
        x, y : (n, k) and (m, k)
        """
        raise NotImplementedError

    def __call__(self, points: Any, others: Any = None) -> Any:
        """Covariance matrix at points from data, (n,) or (n, k): (n, n), or (n, m) with others."""
        places = [of_data("points", columns, settle(p)) for p in (points, others) if p is not None]
        values = [value for value, _ in self.arguments.values()]
        formula = _Matrix(self, len(values))
        arguments = [*values, *places]
        if not any(isinstance(argument, Expression) for argument in arguments):
            return formula(np, *map(np.asarray, arguments))
        return call_of(formula, arguments, (0,) * len(values) + (2,) * len(places))

    def __add__(self, other: Any) -> Kernel:
        return Sum(self, _as_kernel(other))

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, int) and other == 0:  # the start of Python's sum()
            return self
        return Sum(_as_kernel(other), self)

    def __mul__(self, other: Any) -> Kernel:
        return Product(self, _as_kernel(other))

    def __rmul__(self, other: Any) -> Kernel:
        return Product(_as_kernel(other), self)

    def refused_as_value(self) -> str:
        """Say why it cannot stand where a number or an array is expected."""
        return (
            f"{self} is a kernel, which has no value; `kernel(points)` is its covariance matrix at "
            "points. Kernels are added and multiplied; there is no difference, quotient or power."
        )

    def _refuse(self, *others: Any) -> NoReturn:
        raise call_error(self.refused_as_value(), given=self)

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __pow__ = __neg__ = _refuse


class _Matrix:
    """A kernel's matrix as a function of arrays that the language records."""

    def __init__(self, kernel: Kernel, n_values: int) -> None:
        self.__name__ = str(kernel)
        self.kernel, self._n_values = kernel, n_values

    def __call__(self, xp: Any, *arguments: Any) -> Any:
        values, places = arguments[: self._n_values], arguments[self._n_values :]
        x, y = np.asarray(places[0], dtype=float), np.asarray(places[-1], dtype=float)
        return self.kernel.covariance(xp, values, x, y)


class _Pair(Kernel):
    """Two kernels that are put together."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left, self.right = left, right

    @property
    def parts(self) -> list[Kernel]:
        """The kernels it is made of, from left to right."""
        both = (self.left, self.right)
        return [part for k in both for part in (k.parts if isinstance(k, _Pair) else [k])]

    @property
    def arguments(self) -> dict[str, tuple[Any, bool]]:
        """Those of its parts, with the number of the part: ``length_scale_2``."""
        numbered = enumerate(self.parts, start=1)
        return {f"{n}_{i}": given for i, k in numbered for n, given in k.arguments.items()}

    def both(self, xp: Any, values: Sequence[Any], x: Array, y: Array) -> tuple[Any, Any]:
        """Covariance matrices of the two."""
        cut = len(self.left.arguments)
        return (
            self.left.covariance(xp, values[:cut], x, y),
            self.right.covariance(xp, values[cut:], x, y),
        )


class Sum(_Pair):
    """Covariance of a sum of two independent processes."""

    def __str__(self) -> str:
        return f"{self.left} + {self.right}"

    def covariance(self, xp: Any, values: Sequence[Any], x: Array, y: Array) -> Any:
        """Sum of the two matrices."""
        left, right = self.both(xp, values, x, y)
        return left + right


class Product(_Pair):
    """Covariance of the product of two independent processes."""

    def __str__(self) -> str:
        inner = (f"({k})" if isinstance(k, Sum) else str(k) for k in (self.left, self.right))
        return " * ".join(inner)

    def covariance(self, xp: Any, values: Sequence[Any], x: Array, y: Array) -> Any:
        """Product of the two matrices, element by element."""
        left, right = self.both(xp, values, x, y)
        return left * right


class Simple(Located, Kernel):
    """Covariance ``amplitude**2 * unit``, where the matrix ``unit`` has parameters of its own.

    Parameters
    ----------
    axes : column of the points that it depends on, or a sequence of these; all unless given
    **values : of the parameters, numbers, expressions or parameters of the model
    """

    signed: ClassVar[tuple[str, ...]] = ()  # parameters that may be zero or negative
    stationary: ClassVar[bool] = True  # whether the diagonal of ``unit`` is 1

    def __init__(self, axes: int | Sequence[int] | None = None, **values: Any) -> None:
        self.location = caller_location()
        self.axes = None if axes is None else [int(axis) for axis in np.atleast_1d(axes)]
        self.values = {name: settle(value) for name, value in values.items()}
        for name, (value, positive) in self.arguments.items():
            known = not isinstance(value, Expression)
            if known and positive and isinstance(value, Number) and not float(value) > 0.0:
                raise self.model_error(f"kernels.{self}'s {name} must be positive; got {value!r}.")

    def __str__(self) -> str:
        return type(self).__name__

    @property
    def arguments(self) -> dict[str, tuple[Any, bool]]:
        """What each parameter was given, and whether it has to be positive; amplitude first."""
        return {name: (value, name not in self.signed) for name, value in self.values.items()}

    def covariance(self, xp: Any, values: Sequence[Any], x: Array, y: Array) -> Any:
        """Covariance matrix between points."""
        amplitude = _wide(where_valid(values[0] > 0, values[0]))
        return amplitude * amplitude * self.unit(xp, values[1:], x, y)

    def unit(self, xp: Any, values: Sequence[Any], x: Array, y: Array) -> Any:
        """Covariance matrix for an amplitude of 1, with the values of the other parameters."""
        along = slice(None) if self.axes is None else self._columns(x.shape[1])
        rest = [
            _wide(v if name in self.signed else where_valid(v > 0, v))
            for name, v in zip(list(self.values)[1:], values, strict=True)
        ]
        return self.formula(xp, x[:, along], y[:, along], *rest)

    def _columns(self, count: int) -> list[int]:
        assert self.axes is not None
        if not all(0 <= axis < count for axis in self.axes):
            raise self.model_error(
                f"kernels.{self} takes the axes {self.axes} of the points, which have {count}: "
                f"0 to {count - 1}."
            )
        return self.axes

    def formula(self, xp: Any, x: Array, y: Array, *values: Any) -> Any:
        """Covariance matrix for an amplitude of 1: the values have two axes more, of length 1."""
        raise NotImplementedError


class Constant(Simple):
    """The same value everywhere: one unknown level.

    Parameters
    ----------
    amplitude : standard deviation of the level, positive
    """

    def __init__(self, amplitude: Any = 1.0) -> None:
        super().__init__(amplitude=amplitude)

    def formula(self, xp: Any, x: Array, y: Array, *values: Any) -> Any:
        """Return ones."""
        return np.ones((len(x), len(y)))


def distances(x: Array, y: Array) -> Array:
    """Euclidean distances between points (n, k) and (m, k): (n, m)."""
    squares = np.zeros((len(x), len(y)))
    for k in range(x.shape[1]):
        difference = x[:, None, k] - y[None, :, k]
        squares += difference * difference
    return np.sqrt(squares)


def columns(points: Any) -> Array:
    """Points as (n, k), for n numbers too."""
    array = np.asarray(points, dtype=float)
    return array[:, None] if array.ndim == 1 else array


def _wide(value: Any) -> Any:
    """Give values of batch shape two axes more, for matrices."""
    return value[..., None, None]


def _as_kernel(value: Any) -> Kernel:
    """Return a kernel as it is, and a number or a symbol as the variance of a constant."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, Expression):
        return Constant(np.sqrt(value))
    if isinstance(value, Number) and float(value) > 0.0:
        return Constant(sqrt(value))
    raise call_error(
        "kernels are added to and multiplied by kernels, positive numbers and symbols; got "
        f"{value!r}."
    )
