"""Model classes of Stan programs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

from probmodel.arguments import existing_file
from probmodel.errors import DataError, Location, ModelError
from probmodel.model.binding import Binding, bind
from probmodel.model.declarations import Data, Declaration
from probmodel.model.model import Model, ModelMeta
from probmodel.model.references import TEXT, Reference, kept
from probmodel.stan.complaints import Sources
from probmodel.stan.running import Run
from probmodel.stan.side_by_side import parts
from probmodel.stan.stan_values import Value
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.includes import decoded
from probmodel.stan.syntax.parser import parse
from probmodel.stan.syntax.placement import check_placement

Folders = Sequence[str | os.PathLike[str]]


class StanModel(Model):
    """A model that a Stan program describes; `Stan` and `load_stan` make its subclasses.

    Its instances are bound to what the data block declares. Data that the program does not declare
    are left alone, as Stan does.
    """

    program: ClassVar[n.Program]
    sources: ClassVar[Sources]
    file: ClassVar[str]
    _needs_data = True

    def _bound(self, values: Mapping[str, Any], labels: dict[str, Any]) -> Binding:
        cls = type(self)
        run = Run(cls.program, cls.sources, values)
        arrays = _arrays(run)
        self._given = {k: arrays.get(k, values.get(k)) for k in run.data if k not in run.unknown}
        self.generated = run.generated()
        self._sources = run.assembly.sources
        declarations = _declared(cls._data_block(), run)
        own = {k: _parts(v) for k, v in arrays.items() if isinstance(declarations.get(k), Data)}
        unknown = [k for k, of in run.assembly.sources.items() if of in run.unknown]
        found = bind(cls.__name__, declarations, {**own, **run.assembly.observed}, {}, unknown)
        found.variables.sort(key=lambda v: run.order.index(v.name))
        return found

    @classmethod
    def _outline(cls, data: Mapping[str, Any]) -> Mapping[str, Declaration]:
        run = Run(cls.program, cls.sources, data)
        run.check_simulation()
        return _declared(cls._data_block(), run)

    @classmethod
    def _takes(cls) -> list[str]:
        return [d.name for d in cls._data_block()]

    @classmethod
    def _uses(cls, name: str) -> bool:
        return any(isinstance(p, n.Name) and p.name == name for p in parts(cls.program.blocks))

    @classmethod
    def _data_block(cls) -> list[n.Declare]:
        return [d for d in cls.program.blocks.get("data", ()) if isinstance(d, n.Declare)]

    def _datum_of(self, observed: str) -> str:
        return self._sources.get(observed, observed)

    def _as_given(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return dict(self._given), {}

    @classmethod
    def from_frame(cls, frame: Any, /, **given: Any) -> NoReturn:
        """Raise a `DataError`: a program does not say which of its sizes counts rows."""
        written = ", ".join(f"{name}=..." for name in cls._takes())
        raise DataError(
            f"{cls.__name__} is a Stan program, whose sizes are data of their own; it is not bound "
            f"to a frame. Write {cls.__name__}({written}), with len(frame) for the number of rows "
            'and frame["name"] for a column.',
            expected=cls._takes(),
        )

    @classmethod
    def _reference(cls) -> Reference:
        return Reference(cls.__name__, "", cls.file, kept(cls.sources[cls.file]))

    @classmethod
    def _remade(cls) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _made, (cls.__name__, cls.program, dict(cls.sources), cls.file)


def _declared(nodes: Sequence[n.Declare], run: Run) -> dict[str, Declaration]:
    """Return the declarations of a program, with those of data that are not modelled."""
    own = run.assembly.declarations
    arrays = _arrays(run)
    found: dict[str, Declaration] = {}
    for node in nodes:
        if node.name in arrays and node.name not in own and np.isfinite(arrays[node.name]).all():
            found[node.name] = _datum(node, _parts(arrays[node.name]))
    return found | own


def _arrays(run: Run) -> dict[str, Any]:
    """Return the data that are arrays, by name."""
    return {k: np.asarray(v.array) for k, v in run.data.items() if isinstance(v, Value)}


def _parts(array: Any) -> Any:
    """Return complex numbers as real and imaginary parts, along a last axis."""
    if array.dtype.kind != "c":
        return array
    return np.stack([array.real, array.imag], axis=-1)


def _datum(node: n.Declare, array: Any) -> Data:
    dims = tuple(f"{node.name}_dim_{i}" for i in range(array.ndim))
    found = Data(dims or None, int if array.dtype.kind == "i" else float, None, None)
    found.name, found.location = node.name, Location(node.place.file, node.place.line)
    return found


def Stan(code: str, *, name: str = "StanProgram", folders: Folders = ()) -> type[StanModel]:  # noqa: N802
    """Return the model class of a Stan program that is given as text.

    Parameters
    ----------
    code : the program
    name : of the class
    folders : where files are that it includes

    Raises
    ------
    ModelError
        If it is no Stan program; with the line, and a mark below what is wrong.

    Examples
    --------
    >>> Coin = Stan('''
    ...     data { int<lower=0> n; array[n] int<lower=0, upper=1> heads; }
    ...     parameters { real<lower=0, upper=1> p; }
    ...     model { heads ~ bernoulli(p); }
    ... ''')
    >>> model = Coin(n=3, heads=[1, 0, 1])
    """
    program, sources = _parsed(code, TEXT, folders)
    return _made(name, program, sources, TEXT)


def load_stan(
    path: str | os.PathLike[str], *, name: str | None = None, folders: Folders = ()
) -> type[StanModel]:
    """Return the model class of a file with a Stan program.

    Nothing in the file is executed: it is read, and evaluated when data are bound.

    Parameters
    ----------
    path : of the file
    name : of the class; made of the file's name by default
    folders : where files are that it includes, beside its own folder

    Raises
    ------
    ModelError
        If there is no such file, or it is no Stan program; with the line, and a mark below what is
        wrong.
    """
    return load_accepted(path, name, None, folders)


def load_accepted(
    path: str | os.PathLike[str],
    name: str | None,
    accept: Callable[[str], None] | None,
    folders: Folders = (),
) -> type[StanModel]:
    """Do what `load_stan` does, once a function has not refused the text of the file."""
    file = existing_file(path, "Stan program", ModelError).absolute()
    text = decoded(file.read_bytes())
    if accept is not None:
        accept(text)
    program, sources = _parsed(text, str(file), folders)
    stem = "".join(c if c.isalnum() else "_" for c in file.stem)
    return _made(
        name or (stem if not stem[:1].isdigit() else f"_{stem}"), program, sources, str(file)
    )


def from_source(source: str, name: str) -> type[StanModel]:
    """Return the class that `Stan` made of a text."""
    return Stan(source, name=name)


def _parsed(text: str, file: str, folders: Folders) -> tuple[n.Program, dict[str, str]]:
    program, sources = parse(text, file, [Path(f) for f in folders])
    check_placement(program, sources)
    return program, sources


_CLASSES: dict[str, type[StanModel]] = {}


def _made(name: str, program: n.Program, sources: Sources, file: str) -> type[StanModel]:
    """Return the class of a program: the same one for the same text."""
    digest = hashlib.sha256(repr((name, file, sorted(sources.items()))).encode()).hexdigest()
    if digest not in _CLASSES:
        body = {"program": program, "sources": sources, "file": file, "__module__": __name__}
        _CLASSES[digest] = ModelMeta(name, (StanModel,), body)  # type: ignore[assignment]
    return _CLASSES[digest]
