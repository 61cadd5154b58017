"""Loading a model class from a file."""

from __future__ import annotations

import copyreg
import hashlib
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from probmodel.arguments import existing_file
from probmodel.errors import Location, ModelError, ProbmodelError, nearest, reason
from probmodel.model import gallery
from probmodel.model.model import Model, ModelMeta

# Languages of models other than Python: the module that reads them, imported when it is needed.
OTHERS = {".stan": "probmodel.stan.stan_model"}
_FILE = "_probmodel_file_"  # begins the name of a module that is made of a model file
_SOURCES: dict[str, str] = {}  # of these modules


def load_model(path: str | Path, name: str | None = None) -> type[Model]:
    """Return the model class of a file.

    A model file is a program, and loading runs it: load only what you would run. It may import
    modules that lie beside it.

    Parameters
    ----------
    path : a Python file with one subclass of `Model`, or several of which ``name`` picks one; or
        ``"gallery:radon"``, a model of the gallery, by the name that `probmodel gallery` lists; or
        a Stan program, whose name ends in ``.stan``, see `load_stan`
    name : the class

    Raises
    ------
    ModelError
        If the file is missing, does not import (the message ends with its own traceback, from
        the file on) or exits, or does not hold one such class.
    """
    return load_accepted(path, name, None)


def load_accepted(
    path: str | Path, name: str | None, accept: Callable[[str], None] | None
) -> type[Model]:
    """Do what `load_model` does, once a function has not refused the text of the file."""
    if gallery.is_named(path):
        file = gallery.model_file(path)
    else:
        file = existing_file(path, "model file", ModelError).absolute()
    suffix = file.suffix.lower()
    if suffix in OTHERS:
        read: type[Model] = import_module(OTHERS[suffix]).load_accepted(file, name, accept)
        return read
    if suffix != ".py":
        raise ModelError(
            f"{path} is no model file: the name must end in .py, or in .stan for a Stan program; "
            f"got {file.suffix!r}.",
            path=str(path),
        )
    source = file.read_bytes()
    if accept is not None:
        accept(source.decode(errors="replace"))
    module = _import(file, source)
    classes = {
        key: value
        for key, value in module.items()
        if isinstance(value, type) and issubclass(value, Model) and value is not Model
    }
    own = {k: v for k, v in classes.items() if v.__module__ == _module_name(file, source)}
    if name is not None:
        if name not in classes:
            raise ModelError(f"{path} has no model {name!r}.{nearest(name, own)}", name=name)
        return classes[name]
    if len(own) != 1:
        found = f"{len(own)} ({', '.join(own)}): name one of them" if own else "none"
        raise ModelError(
            f"{path} must hold one class derived from Model; it has {found}.",
            path=str(path),
            found=list(own),
        )
    return next(iter(own.values()))


def is_from_file(cls: ModelMeta) -> bool:
    """Whether `load_model` read the class."""
    return cls.__module__.startswith(_FILE)


def file_of(cls: ModelMeta) -> str:
    """Return the file that `load_model` read the class from, or its name in the gallery."""
    return gallery.model_name(str(sys.modules[cls.__module__].__file__))


def source_of(cls: ModelMeta) -> str:
    """Return the text of the file that `load_model` read the class from, as it was then."""
    return _SOURCES[cls.__module__]


def _reference(cls: ModelMeta) -> str | tuple[Any, ...]:
    """Say how pickle finds a class: in its module, or in the file that it was loaded from."""
    if hasattr(cls, "_remade"):  # no Python file defines it
        function, args = cls._remade()
        return function, args
    if is_from_file(cls):
        return _load_again, (file_of(cls), cls.__name__, source_of(cls))
    return cls.__qualname__


def _load_again(path: str, name: str, source: str) -> type[Model]:
    """Load a class where it is needed, from a file that has not changed."""

    def accept(text: str) -> None:
        if text != source:
            raise ModelError(f"the model file {path!r} has changed since it was loaded.", path=path)

    return load_accepted(path, name, accept)


copyreg.pickle(ModelMeta, _reference)


def _module_name(file: Path, source: bytes) -> str:
    """Return a name of its own for each file, and for each state of it."""
    state = hashlib.sha256(str(file).encode() + b"\0" + source).hexdigest()
    return f"{_FILE}{file.stem}_{state[:16]}"


@contextmanager
def _modules_beside(file: Path) -> Iterator[None]:
    """Let a file import modules of its folder, unless others have their names."""
    folder = str(file.parent)
    sys.path.append(folder)
    try:
        yield
    finally:
        if folder in sys.path:
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(folder)]


def _import(file: Path, source: bytes) -> dict[str, object]:
    name = _module_name(file, source)
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    _SOURCES[name] = source.decode(errors="replace")
    try:
        with _modules_beside(file):
            exec(_compiled(file, source), vars(module))
    except (Exception, SystemExit) as error:  # SystemExit: the file calls exit
        own = _own_error(error)
        line = None if own is None else _last_line(own, file)
        if own is not None and (own.location is not None or line is None):
            raise own from own.__cause__
        if own is not None:
            where = Location(str(file), line or 1)
            raise type(own)(own.message, location=where, **own.values) from own
        raise ModelError(
            f"{file} does not import:\n{_own_traceback(error, file)}", path=str(file)
        ) from error
    return vars(module)


def _own_error(error: BaseException) -> ProbmodelError | None:
    """Return an error of this package, also where NumPy made it the cause of its own.

    NumPy does that where an element of an array is to be a symbol, whatever is raised there.
    """
    found = error.__cause__ if isinstance(error, ValueError) else error
    return found if isinstance(found, ProbmodelError) else None


def _compiled(file: Path, source: bytes) -> CodeType:
    """Compile the file itself: importlib takes older bytecode if size and second are the same."""
    try:
        return compile(source, str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        if isinstance(error, SyntaxError) and error.lineno:
            raise
        raise ModelError(
            f"the file does not import, for it is no text: {reason(error)}.",
            location=Location(str(file), source.count(b"\n", 0, _first_no_text(source)) + 1),
            path=str(file),
        ) from error


def _first_no_text(source: bytes) -> int:
    try:
        source.decode()
    except UnicodeDecodeError as error:
        return error.start
    return max(source.find(b"\0"), 0)


def _last_line(error: BaseException, file: Path) -> int | None:
    """Return the innermost line of the user's file that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return lines[-1] if lines else None


def _own_traceback(error: BaseException, file: Path) -> str:
    """Format an exception from the first frame in the user's file on."""
    frames = traceback.extract_tb(error.__traceback__)
    start = next((i for i, f in enumerate(frames) if f.filename == str(file)), len(frames))
    lines = traceback.format_list(frames[start:]) + traceback.format_exception_only(error)
    return "".join(lines).rstrip()
