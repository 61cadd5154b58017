"""Model classes of Stan programs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from probmodel.arguments import existing_file, path_of
from probmodel.errors import DataError, Location, ModelError
from probmodel.model.binding import Binding, bind
from probmodel.model.declarations import Data, Declaration
from probmodel.model.model import Model, ModelMeta
from probmodel.model.references import TEXT, Reference, kept
from probmodel.stan.axis_names import (
    Dims,
    check_data_names,
    default_dims,
    name_axes,
    read_dims,
    read_labels,
)
from probmodel.stan.complaints import Sources
from probmodel.stan.declared_names import check_names
from probmodel.stan.density_spellings import check_spellings
from probmodel.stan.generated import Generated
from probmodel.stan.negative_times import check_times
from probmodel.stan.partly_observed import shared_data
from probmodel.stan.running import Run
from probmodel.stan.side_by_side import parts
from probmodel.stan.stan_values import Value
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.includes import decoded
from probmodel.stan.syntax.parser import parse
from probmodel.stan.syntax.placement import check_placement
from probmodel.stan.transform_calls import check_jacobians

Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class StanModel(Model):
    """A model that a Stan program describes; `Stan` and `load_stan` make its subclasses.

    Its instances are bound to what the data block declares. Data that the program does not declare
    are left alone, as Stan does.
    """

    program: ClassVar[n.Program]
    sources: ClassVar[Sources]
    file: ClassVar[str]
    dims: ClassVar[dict[str, tuple[str, ...]]]
    _tried: ClassVar[set[tuple[tuple[str, tuple[int, ...]], ...]]]  # shapes of data, by name
    _needs_data = True

    def _bound(self, values: Mapping[str, Any], labels: dict[str, Any]) -> Binding:
        cls = type(self)
        check_data_names(cls._takes(), cls.__name__)
        cls._check_no_dims(values)
        run = Run(cls.program, cls.sources, values)
        arrays = _arrays(run)
        self._given = {k: arrays.get(k, values.get(k)) for k in run.data if k not in run.unknown}
        self._generated = run.generated(cls.dims)
        cls._try(run, self._generated)
        self._sources = run.assembly.sources
        declarations = cls._declared(run)
        own = {k: _parts(v) for k, v in arrays.items() if isinstance(declarations.get(k), Data)}
        unknown = [k for k, of in run.assembly.sources.items() if of in run.unknown]
        generated = self._generated.variables if self._generated else ()
        shapes = run.shapes | {v.name: v.shape for v in generated}
        self._labels = read_labels(labels, shapes, cls.dims)
        for variable in generated:
            variable.coords.update({d: v for d, v in self._labels.items() if d in variable.dims})
        axes = {dim for d in declarations.values() for dim in d.dims or d.axes or ()}
        coords = {dim: values for dim, values in self._labels.items() if dim in axes}
        data = {**own, **run.assembly.observed}
        found = bind(cls.__name__, declarations, data, coords, unknown)
        found.variables.sort(key=lambda v: run.order.index(v.name))
        check_times(found)
        return found

    @classmethod
    def _try(cls, run: Run, generated: Generated | None) -> None:
        """Check generated quantities, once for data of the same shapes."""
        shapes = tuple((name, np.shape(array)) for name, array in _arrays(run).items())
        if generated is not None and shapes not in cls._tried:
            generated.check()
            cls._tried.add(shapes)

    @classmethod
    def _outline(cls, data: Mapping[str, Any]) -> Mapping[str, Declaration]:
        run = Run(cls.program, cls.sources, data)
        run.check_simulation()
        return cls._declared(run)

    @classmethod
    def _declared(cls, run: Run) -> dict[str, Declaration]:
        """Return the declarations of a program, with those of data that are not modelled."""
        own, arrays = run.assembly.declarations, _arrays(run)
        found: dict[str, Declaration] = {}
        for node in cls._data_block():
            array = arrays.get(node.name)
            if array is not None and node.name not in own and np.isfinite(array).all():
                found[node.name] = _datum(node, _parts(array), cls.dims.get(node.name))
        found |= own
        observed = {k: np.shape(v) for k, v in run.assembly.observed.items()}
        parts = {k for k, shape in observed.items() if shape != run.shapes.get(k)}
        shapes = {k: shape for k, shape in run.shapes.items() if k not in parts}
        name_axes(found, shapes, cls.dims)
        return found

    @classmethod
    def _check_no_dims(cls, values: Mapping[str, Any]) -> None:
        """Raise a `DataError` for names of axes that come with the data."""
        if "dims" in values and "dims" not in cls._takes():
            raise DataError(
                f"{cls.__name__} takes its data, and coords=...; the names of axes belong to the "
                "program: load_stan(path, dims={'theta': 'school'}) or Stan(code, dims=...).",
                name="dims",
            )

    @classmethod
    def _with_dims(cls, dims: Mapping[str, Any]) -> type[StanModel]:
        return _made(cls.__name__, cls.program, cls.sources, cls.file, dims)

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

    def _counted_elsewhere(self, observed: str) -> str:
        name = self._datum_of(observed)
        line = shared_data(self.program).get(name)
        if line is None or observed not in self._binding.data:
            return ""
        given, own = np.asarray(self._given[name]).size, self._binding.data[observed].size
        if own >= given:
            return ""
        return (
            f"{own} of the {given} elements of {name!r} follow the distribution that counts here; "
            f"the likelihood has other parts, as in line {line}. For scores and replicated data of "
            "all of them, compute these in the generated quantities block."
        )

    def _as_given(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return dict(self._given), self._labels

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
        return Reference(cls.__name__, "", cls.file, kept(cls.sources[cls.file]), cls.dims or None)

    @classmethod
    def _remade(cls) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _made, (cls.__name__, cls.program, dict(cls.sources), cls.file, cls.dims)


def _arrays(run: Run) -> dict[str, Any]:
    """Return the data that are arrays, by name."""
    return {k: np.asarray(v.array) for k, v in run.data.items() if isinstance(v, Value)}


def _parts(array: Any) -> Any:
    """Return complex numbers as real and imaginary parts, along a last axis."""
    if array.dtype.kind != "c":
        return array
    return np.stack([array.real, array.imag], axis=-1)


def _datum(node: n.Declare, array: Any, dims: tuple[str, ...] | None) -> Data:
    if dims is None or len(dims) != array.ndim:  # complex numbers have an axis more
        dims = default_dims(node.name, array.ndim)
    found = Data(dims or None, int if array.dtype.kind == "i" else float, None, None)
    found.name, found.location = node.name, Location(node.place.file, node.place.line)
    return found


def Stan(  # noqa: N802
    code: str, *, name: str = "StanProgram", folders: Folders = (), dims: Dims = None
) -> type[StanModel]:
    """Return the model class of a Stan program that is given as text.

    Parameters
    ----------
    code : the program
    name : of the class
    folders : where files are that it includes
    dims : names of the axes of variables, such as ``{"theta": "school"}``; `coords` of the model
        labels them

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
    path = isinstance(code, str) and code.lower().endswith(".stan") and "\n" not in code
    if path or not isinstance(code, str):
        raise ModelError(
            "Stan takes the text of a program, and load_stan the path of a file; got "
            f"{f'the path {code!r}' if path else type(code).__name__}.",
            given=code,
        )
    if not isinstance(name, str):
        raise ModelError(f"Stan(name=...) takes the name of a class; got {name!r}.", given=name)
    program, sources = _parsed(code, TEXT, folders)
    return _made(name, program, sources, TEXT, dims)


def load_stan(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    folders: Folders = (),
    dims: Dims = None,
) -> type[StanModel]:
    """Return the model class of a file with a Stan program.

    Nothing in the file is executed: it is read, and evaluated when data are bound.

    Parameters
    ----------
    path : of the file
    name : of the class; made of the file's name by default
    folders : where files are that it includes, beside its own folder
    dims : names of the axes of variables, such as ``{"theta": "school"}``; `coords` of the model
        labels them

    Raises
    ------
    ModelError
        If there is no such file, or it is no Stan program; with the line, and a mark below what is
        wrong.
    """
    return load_accepted(path, name, None, folders, dims)


def load_accepted(
    path: str | os.PathLike[str],
    name: str | None,
    accept: Callable[[str], None] | None,
    folders: Folders = (),
    dims: Dims = None,
) -> type[StanModel]:
    """Do what `load_stan` does, once a function has not refused the text of the file."""
    file = existing_file(path, "Stan program", ModelError).absolute()
    text = decoded(file.read_bytes())
    if accept is not None:
        accept(text)
    program, sources = _parsed(text, str(file), folders)
    stem = "".join(c if c.isalnum() else "_" for c in file.stem)
    name = name or (stem if not stem[:1].isdigit() else f"_{stem}")
    return _made(name, program, sources, str(file), dims)


def from_source(source: str, name: str) -> type[StanModel]:
    """Return the class that `Stan` made of a text."""
    return Stan(source, name=name)


def _parsed(text: str, file: str, folders: Folders) -> tuple[n.Program, dict[str, str]]:
    if isinstance(folders, str | os.PathLike):
        folders = [folders]
    if not isinstance(folders, Iterable):
        raise ModelError(f"folders= takes a list of paths; got {folders!r}.", given=folders)
    paths = [path_of("each of the folders", folder, ModelError) for folder in folders]
    program, sources = parse(text, file, paths)
    check_placement(program, sources)
    check_spellings(program, sources)
    check_names(program, sources)
    check_jacobians(program, sources)
    return program, sources


_CLASSES: dict[str, type[StanModel]] = {}


def _made(
    name: str, program: n.Program, sources: Sources, file: str, dims: Dims
) -> type[StanModel]:
    """Return the class of a program: the same one for the same text."""
    axes = read_dims(dims, program)
    about = name, file, sorted(sources.items()), sorted(axes.items())
    digest = hashlib.sha256(repr(about).encode()).hexdigest()
    if digest not in _CLASSES:
        body = {
            "program": program, "sources": sources, "file": file, "dims": axes,
            "_tried": set(), "__module__": __name__,
        }  # fmt: skip
        _CLASSES[digest] = ModelMeta(name, (StanModel,), body)  # type: ignore[assignment]
    return _CLASSES[digest]
