"""What a run knows, written as JSON and arrays, and read again. Nothing that is read is executed.

Numbers, text, tuples, lists and dicts become JSON; arrays are kept apart, by number; and objects
become the name of their class and their fields. Reading makes objects without calling their class,
which has to be one that is imported already, of this package or of the method's own module: so a
file that was tampered with may hold wrong numbers, but cannot run anything.
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import json
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from probmodel.samplers.base import Sampler
from probmodel.types import Array

_PLAIN = (bool, int, float, str, type(None))


class EncodingError(ValueError):
    """There is something that cannot be written, or that was not written by `encode`."""


def encode(value: Any) -> tuple[Any, list[Array]]:
    """Return what JSON can hold, and the arrays that it refers to.

    Raises an `EncodingError` if there is anything that is no data, such as a function.
    """
    arrays: list[Array] = []
    try:
        return _encoded(value, arrays), arrays
    except RecursionError:
        raise EncodingError("an object that holds itself cannot be written") from None


def decode(tree: Any, arrays: list[Array], modules: Iterable[str] = ()) -> Any:
    """Return the value that `encode` was given again.

    Classes of this package may occur, and those of ``modules``. Raises an `EncodingError` if it is
    damaged, or asks for another class.
    """
    try:
        return _decoded(tree, arrays, frozenset(modules))
    except (TypeError, KeyError, IndexError, ValueError, AttributeError) as error:
        raise EncodingError(f"it is damaged ({error})") from error


def packed(value: Any) -> bytes:
    """Return a value as the content of a .npz file."""
    tree, arrays = encode(value)
    content = io.BytesIO()
    named: dict[str, Any] = {str(i): array for i, array in enumerate(arrays)}
    np.savez(content, tree=np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8), **named)
    return content.getvalue()


def unpacked(content: bytes) -> Any:
    """Return the value again, with classes of modules that define samplers, too."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        tree = json.loads(file["tree"].tobytes().decode())
        arrays = [file[str(i)] for i in range(len(file.files) - 1)]
    return decode(tree, arrays, _modules(Sampler))


def _modules(kind: type[Any]) -> set[str]:
    """Modules with subclasses of a class, of this package and others."""
    return {kind.__module__}.union(*map(_modules, kind.__subclasses__()))


def _encoded(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.hasobject:
            raise EncodingError("an array of objects cannot be written")
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1} | ({} if isinstance(value, np.ndarray) else {"scalar": 1})
    if type(value) in _PLAIN:
        return value
    if type(value) in (tuple, list):
        return {type(value).__name__: [_encoded(part, arrays) for part in value]}
    if type(value) is dict:
        return {"dict": [[_encoded(part, arrays) for part in item] for item in value.items()]}
    kind = type(value)
    plain = hasattr(value, "_fields") or hasattr(value, "__dict__")
    plain &= not isinstance(value, dict | list | tuple | set) or hasattr(value, "_fields")
    if isinstance(value, type) or inspect.isroutine(value) or not plain:
        raise EncodingError(f"{kind.__module__}.{kind.__qualname__} cannot be written")
    named = [[name, _encoded(part, arrays)] for name, part in _fields(value).items()]
    return {"class": [kind.__module__, kind.__qualname__], "fields": named}


def _fields(value: Any) -> dict[str, Any]:
    """Return what an object holds, without what a dataclass has computed of its fields since."""
    if hasattr(value, "_fields"):
        return dict(value._asdict())
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return vars(value)


def _decoded(tree: Any, arrays: list[Array], modules: frozenset[str]) -> Any:
    if type(tree) in _PLAIN:
        return tree
    if "array" in tree:
        array = arrays[tree["array"]]
        return array[()] if "scalar" in tree else array
    for kind in (tuple, list):
        if kind.__name__ in tree:
            return kind(_decoded(part, arrays, modules) for part in tree[kind.__name__])
    if "dict" in tree:
        return {
            _decoded(key, arrays, modules): _decoded(part, arrays, modules)
            for key, part in tree["dict"]
        }
    module, name = tree["class"]
    made = _class(module, name, modules)
    fields = {name: _decoded(part, arrays, modules) for name, part in tree["fields"]}
    if hasattr(made, "_fields"):
        return made._make(fields[name] for name in made._fields)
    value = object.__new__(made)
    vars(value).update(fields)
    return value


def _class(module: str, name: str, modules: frozenset[str]) -> Any:
    """Return a class that is imported already."""
    own = module.split(".")[0] == "probmodel" or module in modules
    found: Any = sys.modules.get(module) if own else None
    for part in name.split("."):
        found = getattr(found, part, None)
    where = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    if not isinstance(found, type) or where != (module, name):  # but no class of another module
        raise EncodingError(f"it has an object of {module}.{name}, which is not known here")
    return found
