"""Loading a model class from a file."""

from __future__ import annotations

import copyreg
import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any

from probmodel.errors import ModelError, ProbmodelError, nearest
from probmodel.model.model import Model, ModelMeta

_FILE = "_probmodel_file_"  # begins the name of a module that is made of a model file


def load_model(path: str | Path, name: str | None = None) -> type[Model]:
    """Return the model class of a file.

    Parameters
    ----------
    path : a Python file with one subclass of `Model`, or several of which ``name`` picks one
    name : the class

    Raises
    ------
    ModelError
        If the file is missing, does not import (the message ends with its own traceback, from
        the file on), or does not hold one such class.
    """
    file = Path(path)
    if not file.is_file():
        siblings = [p.name for p in file.parent.glob("*.py")] if file.parent.is_dir() else []
        raise ModelError(
            f"there is no model file {str(path)!r}.{nearest(file.name, siblings)}", path=str(path)
        )
    classes = {
        key: value
        for key, value in _import(file).items()
        if isinstance(value, type) and issubclass(value, Model) and value is not Model
    }
    own = {k: v for k, v in classes.items() if v.__module__ == _module_name(file)}
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


def _reference(cls: ModelMeta) -> str | tuple[Any, ...]:
    """Say how pickle finds a class: in its module, or in the file that it was loaded from."""
    if cls.__module__.startswith(_FILE):
        return load_model, (sys.modules[cls.__module__].__file__, cls.__name__)
    return cls.__qualname__


copyreg.pickle(ModelMeta, _reference)


def _module_name(file: Path) -> str:
    return f"{_FILE}{file.stem}"


def _import(file: Path) -> dict[str, object]:
    name = _module_name(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ModelError(f"{file} is no Python file.", path=str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ProbmodelError:
        raise
    except (Exception, SystemExit) as error:  # SystemExit: the file calls exit
        raise ModelError(
            f"{file} does not import:\n{_own_traceback(error, file)}", path=str(file)
        ) from error
    return vars(module)


def _own_traceback(error: BaseException, file: Path) -> str:
    """Format an exception from the first frame in the user's file on."""
    frames = traceback.extract_tb(error.__traceback__)
    start = next((i for i, f in enumerate(frames) if Path(f.filename) == file), len(frames))
    lines = traceback.format_list(frames[start:]) + traceback.format_exception_only(error)
    return "".join(lines).rstrip()
