"""Checks of arguments that several functions take."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probmodel.errors import OutputError, ProbmodelError, SamplerError, alike, nearest, reason

LARGEST = 2**31 - 1  # of the numbers of draws, chains, ...: more is a slip of the keyboard


def positive(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least 1, or more."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not whole or value < least:
        raise must_be(name, value, f"a whole number of at least {least}")
    if int(value) > LARGEST:
        raise SamplerError(
            f"{name} must be at most {LARGEST}, got {value}.", name=name, value=value
        )
    return int(value)


def must_be(name: str, value: Any, allowed: str, more: str = "") -> SamplerError:
    """Return the error of an argument that is not what it must be."""
    message = f"{name} must be {allowed}, got {value!r}.{more}"
    return SamplerError(message, name=name, value=value)


def flag(name: str, value: Any, meaning: str = "") -> bool:
    """Return True or False; ``meaning`` tells what the argument decides, where that is mistaken."""
    if not isinstance(value, bool | np.bool_):
        raise must_be(name, value, "True or False", f"{' ' * bool(meaning)}{meaning}")
    return bool(value)


def one_of(name: str, value: Any, names: Sequence[str]) -> str:
    """Return one of some names."""
    if not isinstance(value, str) or value not in names:
        known = ", ".join(map(repr, names))
        raise must_be(name, value, f"one of {known}", nearest(str(value), names))
    return str(value)


def names_among(
    known: Sequence[str],
    given: Any,
    *,
    of: str,
    which: str = "",
    refused: type[ProbmodelError] = SamplerError,
) -> tuple[str, ...]:
    """Return the variables that ``given`` names, all for None, in the order of the known ones.

    Messages say whose variables they are, ``of``, and what is said of those that are known,
    ``which``. An error of the class ``refused`` says what is wrong.
    """
    if given is None:
        return tuple(known)
    if not isinstance(given, str | Iterable):
        raise refused(f"var_names must be a name or a list of names, got {given!r}.", value=given)
    wanted = [given] if isinstance(given, str) else list(given)
    for name in wanted:
        if not isinstance(name, str) or name not in known:
            raise refused(
                f"var_names: {of} has no variable {name!r}{which and f' {which}'}."
                f"{nearest(str(name), known)}",
                name=name, expected=list(known),
            )  # fmt: skip
    if not wanted:
        raise refused("var_names is empty: name a variable, or leave it out to take all.")
    return tuple(name for name in known if name in wanted)


def seed_sequence(seed: Any) -> np.random.SeedSequence:
    """Return the seed as a SeedSequence; a fresh one, short enough to be typed, for ``None``.

    Text stands for the large number, or the numbers, that an attribute of a result records so.
    """
    if isinstance(seed, str):
        seed = _recorded(seed)
    if seed is None:
        return np.random.SeedSequence(int(np.random.SeedSequence().generate_state(1)[0]))
    if isinstance(seed, np.random.SeedSequence):
        return seed
    whole = isinstance(seed, numbers.Integral) and not isinstance(seed, bool | np.bool_)
    if not whole or seed < 0:
        raise must_be("seed", seed, "a whole number of at least 0, a SeedSequence or None")
    return np.random.SeedSequence(int(seed))


def _recorded(text: str) -> Any:
    """Return the seed that text stands for; the text itself if it stands for none."""
    if re.fullmatch(r"[0-9]{19,}", text):  # shorter ones are recorded as numbers
        return int(text)
    if re.fullmatch(r"\[[0-9]+(, [0-9]+)*\]", text):
        return np.random.SeedSequence(json.loads(text))
    return text


def child(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the child of a seed at a key. `SeedSequence.spawn` would count it in the seed."""
    return np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size
    )


def path_of(name: str, value: Any, refused: type[ProbmodelError] = OutputError) -> Path:
    """Return the path that an argument gives; a leading ``~`` is the home directory."""
    try:
        return Path(value).expanduser()
    except (TypeError, RuntimeError) as error:  # no path; a home that is not known
        raise refused(
            f"{name} must be a path, such as 'folder/name', got {value!r}.", name=name, value=value
        ) from error


def existing_file(path: Any, kind: str, refused: type[ProbmodelError]) -> Path:
    """Return the path of a file that can be read; a leading ``~`` is the home directory.

    An error of the class ``refused`` says why it is no such file; ``kind`` is what it should be, in
    words.
    """
    given = repr(str(path))
    try:
        file = Path(path).expanduser()
        if file.is_dir():
            raise refused(f"{given} is a directory, no {kind}.", path=str(path))
        if given == "'-'" or (file.exists() and not file.is_file()):
            raise refused(
                f"{given} is a stream or a device. Write what comes from it to a {kind} first, and "
                "give its path: the ending of the name says how it is read.",
                path=str(path),
            )
        if not file.is_file():
            raise refused(f"there is no {kind} {given}.{_similar(file)}", path=str(path))
        file.open("rb").close()
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # as the systems differ
        raise refused(f"the {kind} {given} cannot be read: {reason(error)}.", path=given) from error
    return file


def _similar(file: Path) -> str:
    """Return a hint at a file of the same kind whose name is nearly the missing one's."""
    if not file.parent.is_dir():
        return f" There is no folder {str(file.parent)!r} either."
    return alike(file.name, (p.name for p in file.parent.glob(f"*{file.suffix}")))
