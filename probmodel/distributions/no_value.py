"""What is said of a distribution that stands where a value is expected."""

from __future__ import annotations

from typing import Any, NoReturn

from probmodel.expressions import call_error


class NoValue:
    """A distribution in arithmetic, in an index or as an argument: it has to be declared first."""

    @property
    def name(self) -> str:
        """The distribution's name as it is printed."""
        return type(self).__name__

    def refused_as_value(self) -> str:
        """Say why it cannot stand where a number or an array is expected."""
        return (
            f"{self.name}(...) is a distribution, which has no value. Declare a quantity that "
            f"follows it, `a = param({self.name}(...))`, and write `a`."
        )

    def _no_value(self, *others: Any, **more: Any) -> NoReturn:
        raise call_error(self.refused_as_value(), given=self)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _no_value
    __rtruediv__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __neg__ = _no_value
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __array_ufunc__ = _no_value
