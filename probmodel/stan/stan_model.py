"""Model classes of Stan programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from probmodel.model.binding import bind
from probmodel.model.model import Model, ModelMeta
from probmodel.stan.complaints import Sources
from probmodel.stan.running import Run
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.parser import parse


class StanModel(Model):
    """A model that a Stan program describes; `Stan` and `load_stan` make its subclasses."""

    program: ClassVar[n.Program]
    sources: ClassVar[Sources]

    def __init__(self, /, *unnamed: Any, coords: Any = None, **values: Any) -> None:
        cls = type(self)
        run = Run(cls.program, cls.sources, values)
        declarations = run.assembly.declarations
        self._binding = bind(cls.__name__, declarations, run.assembly.observed, {})
        self._kept: dict[str, Any] = {}


def Stan(code: str, name: str = "StanProgram", folders: Sequence[Path] = ()) -> type[StanModel]:  # noqa: N802
    """Return the model class of a Stan program."""
    program, sources = parse(code, "<stan>", folders)
    return ModelMeta(name, (StanModel,), {"program": program, "sources": sources})  # type: ignore[return-value]


def load_stan(path: str | Path, folders: Sequence[Path] = ()) -> type[StanModel]:
    """Return the model class of a file with a Stan program."""
    file = Path(path)
    program, sources = parse(file.read_text(), str(file), folders)
    name = "".join(c if c.isalnum() else "_" for c in file.stem)
    return ModelMeta(name, (StanModel,), {"program": program, "sources": sources})  # type: ignore[return-value]


__all__ = ["Mapping", "Stan", "StanModel", "load_stan"]
