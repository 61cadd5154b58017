"""Results in netCDF files. A file appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probmodel.errors import OutputError
from probmodel.results.arviz_object import arviz_before_1, import_arviz


@contextlib.contextmanager
def reserved(path: str | Path | None) -> Iterator[Path | None]:
    """Make sure that ``path`` can be written before the work begins.

    Yields
    ------
    Path or None
        A new empty file beside ``path`` for `save_reserved`; it is removed at the end if it is
        still there. An existing file at ``path`` stays as it is until then. ``None`` for ``None``.

    Raises
    ------
    OutputError
        If the folder is missing or not writable, or ``path`` is something else than a file.
    """
    if path is None:
        yield None
        return
    temporary = _reserve(Path(path).expanduser().resolve())
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _reserve(path: Path) -> Path:
    if not path.parent.is_dir():
        raise OutputError(
            f"cannot write {path.name!r}: there is no folder {str(path.parent)!r}. Create it, or "
            "choose another place.",
            path=str(path),
        )
    if path.exists() and not path.is_file():
        raise OutputError(
            f"cannot write to {str(path)!r}: it is not a regular file. Choose another name.",
            path=str(path),
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.touch()
    except OSError as error:
        raise OutputError(
            f"cannot write in the folder {str(path.parent)!r}: {error.strerror}. Choose another "
            "place, or change its permissions.",
            path=str(path),
        ) from error
    return temporary


def save_reserved(result: Any, temporary: Path, path: str | Path) -> None:
    """Write a result to a reserved file and move it to ``path``, over an existing file.

    Raises
    ------
    OutputError
        If the file system refuses, for instance because it is full.
    """
    try:
        _write(result, temporary)
        os.replace(temporary, Path(path).expanduser().resolve())
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error}", path=str(path)) from error


def load(path: str | Path) -> Any:
    """Read a result that was saved as netCDF, as the installed ArviZ's object.

    Raises
    ------
    OutputError
        If there is no such file, or it is not a netCDF file.
    """
    if not Path(path).is_file():
        raise OutputError(f"there is no file {str(path)!r}.", path=str(path))
    try:
        return import_arviz().from_netcdf(str(path))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OutputError(
            f"{str(path)!r} cannot be read as a netCDF result: {reason}", path=str(path)
        ) from error


def _write(result: Any, path: Path) -> None:
    if arviz_before_1():
        result.to_netcdf(str(path), engine="h5netcdf")
    else:
        result.to_netcdf(path, engine="h5netcdf")
