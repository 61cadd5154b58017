"""What distributions made of other distributions share."""

from __future__ import annotations

from typing import Any, ClassVar

from probmodel.distributions.base import Distribution, Parameter
from probmodel.expressions import caller_location
from probmodel.types import Array


class Compound(Distribution):
    """A distribution made of others."""

    def written(self) -> list[tuple[str | None, Any]]:
        """Return its arguments as they are printed: names, None by position, and values.

        A value is a distribution, a list of distributions, or what a parameter is given as.
        """
        raise NotImplementedError

    @property
    def has_atoms(self) -> bool:
        """Whether one of the distributions inside has values with a probability of their own."""
        parts = [part for _, part in self.written()]
        listed = [p for part in parts if isinstance(part, list | tuple) for p in part]
        return any(p.has_atoms for p in (*parts, *listed) if isinstance(p, Distribution))


class Wrapper(Compound):
    """A distribution made of another one.

    Its parameters are those of ``dist``, named ``"dist.<name>"``, followed by its own.
    """

    place: ClassVar[str] = "first"  # of the distribution among the arguments, for messages

    def __init__(
        self, dist: Distribution, own: dict[str, Parameter], values: dict[str, Any]
    ) -> None:
        self.location = caller_location()
        if not isinstance(dist, Distribution):
            raise self.model_error(
                f"{self.name} takes a distribution {self.place}, {type(dist).__name__} was given.",
                given=dist,
            )
        self.dist = dist
        inner = {f"dist.{name}": spec for name, spec in dist.parameters.items()}
        self._take_form({**inner, **own}, dist.event_ndim, dist.discrete)
        vars(self).update(sequential=dist.sequential)
        self.args = {**{f"dist.{name}": arg for name, arg in dist.args.items()}, **values}

    def anchors(self) -> dict[str, tuple[Any, tuple[int | None, ...]]]:
        """Those of ``dist``."""
        return self.dist.anchors()

    def event_shape(self, *params: Array) -> tuple[int, ...] | None:
        """Shape of one value of ``dist``."""
        return self.dist.event_shape(*params[: len(self.dist.parameters)])

    def objection(self, event: tuple[int, ...], *params: Array | None) -> str:
        """Objection of ``dist``."""
        return self.dist.objection(event, *params[: len(self.dist.parameters)])

    def written(self) -> list[tuple[str | None, Any]]:
        """Return the distribution inside, and its own arguments by name."""
        own = {name: arg for name, arg in self.args.items() if not name.startswith("dist.")}
        return [(None, self.dist), *own.items()]
