"""Which class a model is of, in words that outlive the process, and finding that class again."""

from __future__ import annotations

import ast
import difflib
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from probmodel.errors import ModelError
from probmodel.model import gallery
from probmodel.model.loading import OTHERS, file_of, is_from_file, load_accepted, source_of
from probmodel.model.model import Model, ModelMeta

_SHOWN = 6  # changed lines that a message lists
_BOUND = ("data", "labels")


TEXT = "<stan>"  # the file of a Stan program that is given as text
_LONGEST = 30_000  # letters of a source that are kept; HDF5 has no attributes beyond 64 kB


class Reference(NamedTuple):
    """A model class.

    Attributes
    ----------
    name : its qualified name
    module : where it was defined; empty for one that `load_model` read
    file : the file it was defined in, as far as that is known; the name of a model of the gallery,
        such as ``gallery:radon``, which is the same wherever probmodel is installed
    source : of the file, for one that `load_model` read, or else of the class; its SHA-256 alone
        where it is long, and empty where it is not known
    dims : names of axes that are given beside the file, by variable; None where that cannot be
    """

    name: str
    module: str
    file: str
    source: str
    dims: Any = None


def reference_of(kind: ModelMeta) -> Reference:
    """Return what finds a class again."""
    if hasattr(kind, "_reference"):  # no Python file defines it
        own: Reference = kind._reference()
        return own
    if is_from_file(kind):
        return Reference(kind.__name__, "", file_of(kind), kept(source_of(kind)))
    try:
        file, source = inspect.getsourcefile(kind) or "", inspect.getsource(kind)
    except (OSError, TypeError):
        file = source = ""
    return Reference(kind.__qualname__, kind.__module__, file, kept(source))


def kept(source: str) -> str:
    """Return a source, or what stands for a long one."""
    if len(source) <= _LONGEST:
        return source
    return f"sha256:{hashlib.sha256(source.encode()).hexdigest()}"


def find_model(reference: Reference, remedy: str) -> type[Model]:
    """Return the class, if it is what it was.

    A file is loaded, which runs it, if its source does what that of the reference did: comments and
    docstrings may differ. Modules are not imported. Raises a `ModelError` if it is gone, or has
    changed; ``remedy`` is what to do then.
    """
    found = _found(reference, remedy)
    return found._with_dims(reference.dims) if reference.dims else found


def _found(reference: Reference, remedy: str) -> type[Model]:
    name, module, file, source, _ = reference
    if not module and file == TEXT:
        return _from_text(source, name, remedy)
    if not module:
        listed = gallery.is_named(file)
        if not (gallery.has_model(file) if listed else Path(file).is_file()):
            raise ModelError(f"the model file {file!r} is gone. {remedy}", file=file)
        if not source or not (listed or Path(file).is_absolute()):
            raise ModelError(f"it is not known what the model file {file!r} was. {remedy}")
        what = f"the model file {file!r}"
        return load_accepted(file, name, lambda now: _compare(what, source, kept(now), remedy))
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, ModelMeta):
        what = "defined" if module == "__main__" else "imported"
        raise ModelError(f"the model {module}.{name} is not {what} here. {remedy}", module=module)
    _compare(f"the model {name}", source, reference_of(found).source, remedy)
    return cast("type[Model]", found)


def _from_text(source: str, name: str, remedy: str) -> type[Model]:
    """Return the class of a program that was given as text."""
    if source.startswith("sha256:"):
        raise ModelError(f"the program is too long to be kept with the fit. {remedy}")
    found: type[Model] = import_module(OTHERS[".stan"]).from_source(source, name)
    return found


def _compare(what: str, old: str, new: str, remedy: str) -> None:
    if not old or old == new or _code(old) == _code(new):
        return
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "then", "now", "", "", 0, "")
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    more = f"\n  ... and {len(changed) - _SHOWN} more" * (len(changed) > _SHOWN)
    shown = "".join(f"\n  {line}" for line in changed[:_SHOWN])
    raise ModelError(f"{what} has changed since (- then, + now):{shown}{more}\n{remedy}", what=what)


def _code(source: str) -> str:
    """Return what a source does, without comments and docstrings; itself where it is no Python."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError):
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def bound_model(model: Any) -> dict[str, Any] | None:
    """Return what a model is bound to, and a reference to its class; None for what is no model."""
    if not isinstance(model, Model):
        return None
    data, given = model._as_given()
    labels = {k: v.astype(str) if v.dtype.kind == "O" else v for k, v in given.items()}
    about = {"reference": reference_of(type(model)), "origin": model._origin}
    return {**about, "data": data, "labels": labels}


def bound_again(known: dict[str, Any], remedy: str) -> Model:
    """Return the model that `bound_model` was told of; for ``remedy`` see `find_model`."""
    kind = find_model(known["reference"], remedy)
    model = kind(**known["data"], coords=known["labels"])
    model._origin = known.get("origin")
    return model


def difference(known: dict[str, Any] | None, model: Any) -> str:
    """Say in what a model differs from one that `bound_model` was told of; empty if in nothing."""
    now = bound_model(model)
    if now is None:
        given = f"what is given, of type {type(model).__name__}, is no bound model"
        return "" if known is None else given
    if known is None:
        return "it is of a log density, and what is given is a model"
    for what in _BOUND:
        for name in sorted({*known[what]} ^ {*now[what]}):
            return f"{name} is not in both"
    return other_values(known, now)


def other_values(known: dict[str, Any], now: dict[str, Any], but: Collection[str] = ()) -> str:
    """Say which data or labels differ of those that are in both, but some; empty if none do."""
    for what in _BOUND:
        then, here = known[what], now[what]
        for name in sorted({*then} & {*here} - {*but}):
            old, new = _parts(then[name]), _parts(here[name])
            if old.shape != new.shape:
                return f"{name} has the shape {new.shape}, and had {old.shape}"
            if not np.all((old == new) | ((old != old) & (new != new))):
                return f"{name} has other values"
    return ""


def _parts(values: Any) -> Any:
    """Return complex numbers as pairs, as fits hold them; others as they are."""
    return np.stack([values.real, values.imag], axis=-1) if np.iscomplexobj(values) else values
