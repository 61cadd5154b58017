"""Arrays of NPZ archives. What a damaged or hostile archive claims is checked before it is read."""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from pathlib import Path
from typing import IO, Any

import numpy as np

from probmodel.errors import reason
from probmodel.types import Array

_ARRAY = b"\x93NUMPY"  # how a .npy file begins


def read_arrays(file: Path, max_bytes: int) -> dict[str, Array]:
    """Return the arrays of an archive by name. Python objects in it are never unpickled.

    Raises a ValueError if the archive is something else, holds something else than arrays of
    numbers or text, or would take more than ``max_bytes``. Damage raises whatever `zipfile` and
    NumPy make of it.
    """
    with file.open("rb") as stream:
        if stream.read(len(_ARRAY)) == _ARRAY:
            raise ValueError("it is a single array (.npy). Write np.savez(path, name=array)")
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no archive that np.savez wrote, or it is cut off")
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_members(members, max_bytes)
        return {m.filename.removesuffix(".npy"): _member(archive, m) for m in members}


def check_size(what: str, size: int, max_bytes: int) -> None:
    """Raise a `ValueError` for something that takes more than ``max_bytes``."""
    if size > max_bytes:
        raise ValueError(
            f"{what} {size} bytes, and {max_bytes} is the limit. If you expect that, use "
            f"read_data(path, max_bytes={size}) in Python"
        )


def _check_members(members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    counts = Counter(member.filename for member in members)
    for name, count in counts.items():
        if not name.endswith(".npy"):
            raise ValueError(f"it holds {name!r}, which is no array")
        if count > 1:
            raise ValueError(f"it holds {count} arrays {name.removesuffix('.npy')!r}")
    check_size("it unpacks to", sum(member.file_size for member in members), max_bytes)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as stream:
        shape, dtype = _header(stream, name)
        if dtype.hasobject:
            raise ValueError(
                f"{name!r} holds Python objects, which are never unpickled: that could run any "
                "program. Save it as numbers or text, such as array.astype(float)"
            )
        size = member.file_size - stream.tell()
        if min(shape, default=0) < 0 or not dtype.itemsize or _bytes(shape, dtype) != size:
            raise ValueError(
                f"{name!r} should have shape {shape} and type {dtype}, but {size} bytes are there: "
                "the file is damaged"
            )
    with archive.open(member) as stream:
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    return math.prod(shape) * dtype.itemsize


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    readers: dict[tuple[int, ...], Any] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        version = np.lib.format.read_magic(stream)
        if version not in readers:  # the third is for names of fields alone
            raise ValueError(f"it has the format {version}; expected (1, 0) or (2, 0)")
        shape, _, dtype = readers[version](stream)
    except Exception as error:  # NumPy evaluates the header as a literal, which fails in many ways
        raise ValueError(f"{name!r} has no header of an array: {reason(error)}") from error
    return shape, dtype
