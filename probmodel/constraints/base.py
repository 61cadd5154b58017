"""What a constraint is: a check, a map from unconstrained space, and its log-Jacobian."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.expressions import settle
from probmodel.types import Array


def bound_text(bound: Any, otherwise: str) -> str:
    """Return a bound in words: a number or an expression itself, ``otherwise`` for an array."""
    if isinstance(bound, int | float | np.number | np.ndarray | list | tuple):
        return otherwise if np.ndim(bound) else f"{float(np.asarray(bound)):g}"
    return repr(bound)


def between_text(bounds: Any) -> str:
    """Return two bounds in words."""
    lower, upper = map(bound_text, bounds, ("a lower bound", "an upper bound"))
    return f"between {lower} and {upper}"


class Constraint:
    """A set of values together with a smooth one-to-one map onto it.

    ``bounds`` are the numbers or expressions that the constraint was declared with; the formulas
    take them as arguments, in declared order, aligned for broadcasting, because they may depend
    on other parameters. ``xp`` is a NumPy-like namespace: ``numpy`` for arrays and for symbols,
    ``autograd.numpy`` when derivatives are taken.

    Discrete sets and sets without a map define only `check`, and leave ``bijective`` False.
    A set that no such map covers may have one that is not one-to-one: see ``one_to_one``.
    """

    event_ndim: ClassVar[int] = 0
    bijective: ClassVar[bool] = True

    # Where it is False, `forward` takes a line of points to each value, of which `inverse` returns
    # one, and `log_det` is the log density that takes the place of the Jacobian: over each of
    # these lines it makes up the area on the set.
    one_to_one: ClassVar[bool] = True

    # Whether a matrix has as many rows as columns.
    square: ClassVar[bool] = False

    integer: ClassVar[bool] = False

    def __init__(self, *bounds: Any) -> None:
        self.bounds = settle(bounds)

    @property
    def name(self) -> str:
        """The constraint in words, for messages, with its bounds: ``"between -1 and 1"``."""
        return type(self).__name__.lower()

    @property
    def limits(self) -> tuple[Any, Any] | None:
        """Lower and upper limit where the set is an interval of the line (None: no limit).

        None altogether for any other set.
        """
        return None

    @property
    def element_limits(self) -> tuple[Any, Any] | None:
        """Interval that all elements of all values lie in; None if none is known."""
        return self.limits

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Map unconstrained ``u`` (batch + free event shape) into the set."""
        raise NotImplementedError

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Log absolute determinant of the Jacobian of `forward` at ``u``: batch shape."""
        raise NotImplementedError

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Unconstrained value of ``y`` (NumPy)."""
        raise NotImplementedError

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the unconstrained value of something of shape ``shape``."""
        return shape

    def free_coords(self, y: Array) -> Array:
        """Coordinates of ``y`` that determine it, as many as `free_shape` says.

        The determinant in `log_det` is that of these coordinates with respect to ``u``.
        """
        return y

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each batch element of ``y`` lies in the set (NaN does not)."""
        raise NotImplementedError

    def pattern_fault(self, y: Array) -> str:
        """Say in words which elements break a pattern that all values of the set have.

        Such as symmetry of a matrix: whether there is one shows at any point of the parameters.
        One value is given, without its batch axes; of matrices it is square and finite.
        """
        return ""

    def fault(self, y: Array) -> str:
        """Say in words what keeps one value out of the set; empty where its name says enough."""
        return ""
