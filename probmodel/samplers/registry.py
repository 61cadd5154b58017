"""Samplers of other packages, found through the entry point group ``probmodel.samplers``.

Their names are read from the metadata of the installed packages; the packages are not imported
before one of their methods is asked for. One that is broken breaks nothing else.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from probmodel.errors import SamplerError
from probmodel.samplers.base import Sampler

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "probmodel.samplers"


class Listing(NamedTuple):
    """A method, as it is listed.

    Attributes
    ----------
    name : the method's name
    kind : its class; None if it cannot be used
    package : the distribution it comes from, with its version; empty for a built-in method
    problem : why it cannot be used; empty if it can
    """

    name: str
    kind: type[Sampler] | None
    package: str = ""
    problem: str = ""


def offered() -> dict[str, list[EntryPoint]]:
    """Entry points of the group by name; several where packages disagree about one."""
    from importlib import metadata

    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name):
        found.setdefault(entry.name, []).append(entry)
    return found


def load_offered(name: str, entries: list[EntryPoint]) -> type[Sampler]:
    """Import the class behind the only entry point of a name.

    Raises
    ------
    SamplerError
        If there are several, the import fails, or what comes of it is no sampler of this name.
    """
    if len(entries) > 1:
        packages = ", ".join(package_of(entry) for entry in entries)
        raise SamplerError(
            f"Several packages offer a method {name!r}: {packages}. Uninstall all but one, or pass "
            "an object of the class that you mean as the method.",
            method=name, packages=packages,
        )  # fmt: skip
    entry = entries[0]
    try:
        kind = entry.load()
    except Exception as error:
        raise _unusable(entry, f"failed with {type(error).__name__}: {error}") from error
    problem = _problem_of(kind, name)
    if problem:
        raise _unusable(entry, problem)
    loaded: type[Sampler] = kind
    return loaded


def list_offered(taken: set[str]) -> Iterator[Listing]:
    """Load all entry points, one after the other, and say of each whether it can be used.

    Parameters
    ----------
    taken : names of the built-in methods, which come before others of the same name
    """
    for name, entries in offered().items():
        package = ", ".join(package_of(entry) for entry in entries)
        if name in taken:
            problem = f"{_described(entries[0])} is not used: there is a built-in method {name!r}."
            yield Listing(name, None, package, problem)
            continue
        try:
            yield Listing(name, load_offered(name, entries), package)
        except SamplerError as error:
            yield Listing(name, None, package, error.message)


def package_of(entry: EntryPoint) -> str:
    """Name and version of the distribution that an entry point belongs to."""
    try:
        return f"{entry.dist.name} {entry.dist.version}"  # type: ignore[union-attr]
    except Exception:  # no distribution, or one whose metadata are damaged
        return "an unknown package"


def setting_names(kind: type[Sampler]) -> list[str]:
    """Names of a sampler's settings.

    Raises
    ------
    SamplerError
        If the class is no dataclass.
    """
    if not _is_dataclass(kind):
        raise SamplerError(
            f"{kind.__qualname__} must be a frozen dataclass, whose fields are its settings.",
            method=kind.__qualname__,
        )
    fields: Any = dataclasses.fields(kind)  # type: ignore[arg-type]
    return [field.name for field in fields if field.init]


def _is_dataclass(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


def _problem_of(kind: Any, name: str) -> str:
    """Say what keeps a class from being the method ``name``; nothing if it can be."""
    if not (isinstance(kind, type) and issubclass(kind, Sampler)):
        return f"is no class derived from probmodel.samplers.base.Sampler, but {kind!r}"
    if inspect.isabstract(kind):
        return f"lacks the methods {', '.join(sorted(kind.__abstractmethods__))}"
    if not _is_dataclass(kind):
        return "is no dataclass; its settings have to be the fields of a frozen one"
    if getattr(kind, "name", None) != name:
        return f"is a sampler called {getattr(kind, 'name', None)!r}; the two names must agree"
    return ""


def _unusable(entry: EntryPoint, problem: str) -> SamplerError:
    package = package_of(entry)
    return SamplerError(
        f"{_described(entry)} {problem}. This is for {package} to mend; the other methods work.",
        method=entry.name, package=package,
    )  # fmt: skip


def _described(entry: EntryPoint) -> str:
    return f"The entry point {entry.name} = {entry.value} ({GROUP}) of {package_of(entry)}"
