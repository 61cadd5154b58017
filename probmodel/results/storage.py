"""Writing results to netCDF files. A file appears whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import OutputError, reason
from probmodel.inference.signals import attempt
from probmodel.results.arviz_object import group, group_names


class Kept(NamedTuple):
    """What became of a result that was to be written.

    Attributes
    ----------
    place : the file that holds it, or None
    problem : why it is not the file that was asked for, and what to do; empty if it is
    """

    place: Path | None
    problem: str


NETCDF = (".nc", ".nc4", ".netcdf", ".cdf", ".h5", ".hdf5")
PAGE = (".html", ".htm")


def check_place(path: str | Path, endings: Sequence[str] = (), read: Sequence[Any] = ()) -> None:
    """Make sure that ``path`` can be written, before the work begins; nothing stays behind.

    ``endings`` are what its name may end in, if it has an ending, the usual one first, by default
    anything; ``read`` are files that the work reads, and must not replace. Raises an `OutputError`
    if the folder is missing or not writable, or ``path`` is something else than a file, is read, or
    has another ending.
    """
    try:
        path = Path(path).expanduser().resolve()
        if any(path == Path(other).expanduser().resolve() for other in read):
            raise OutputError(
                f"cannot write to {str(path)!r}: it is what is read. Choose another name.",
                path=str(path),
            )
        if endings and path.suffix.lower() not in ("", *endings):
            raise OutputError(
                f"cannot write {path.name!r}: the name of such a file ends in {endings[0]}.",
                path=str(path),
            )
        if not path.parent.is_dir():
            raise OutputError(
                f"cannot write {path.name!r}: there is no folder {str(path.parent)!r}. Create it, "
                "or choose another place.",
                path=str(path),
            )
        if path.exists() and not path.is_file():
            raise OutputError(
                f"cannot write to {str(path)!r}: it is not a regular file. Choose another name.",
                path=str(path),
            )
        with _beside(path):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {reason(error)}. Choose another place, or change the "
            "permissions of the folder.",
            path=str(path),
        ) from error


def check_outputs(
    result: str | Path | None, page: str | Path | None, read: Sequence[Any] = ()
) -> None:
    """Check the places of a result and of its page, of which either may be None."""
    for place, endings in ((result, NETCDF), (page, PAGE)):
        if place:
            check_place(place, endings, read)


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file, whole or not at all; raise an `OutputError` if it cannot be written."""
    place = Path(path).expanduser().resolve()
    check_place(place)
    try:
        with _beside(place) as temporary:
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, place)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {reason(error)}.", path=str(path)
        ) from error
    return place


def keep(result: Any, path: str | Path) -> Kept:
    """Write a result to ``path``, over an existing file, or else wherever it can be written.

    The other places are new files in the folder of temporary files, the present folder and the
    home folder: as netCDF, or else the arrays alone as ``.npz``.
    """
    _, error = attempt(lambda: _replace(result, Path(path).expanduser().resolve()), stoppable=False)
    if error is None:
        return Kept(Path(path), "")
    problem = f"cannot write {str(path)!r}: {reason(error)}."
    wanted = (lambda: Path(tempfile.gettempdir()), Path.cwd, Path.home)
    found = [attempt(folder, stoppable=False)[0] for folder in wanted]
    folders = dict.fromkeys(folder for folder in found if folder is not None)
    for write, suffix, reader in _WRITERS:
        for folder in folders:
            place, _ = attempt(
                partial(_new_file, result, folder, Path(path).stem, write, suffix), stoppable=False
            )
            if place is not None:
                return Kept(place, f"{problem} The result is in {str(place)!r} instead; {reader}.")
    tried = ", ".join(map(str, folders)) or "another folder"
    return Kept(None, f"{problem} Nor can it be written in {tried}: the draws are lost.")


def _replace(result: Any, path: Path) -> None:
    """Write beside ``path``; when everything is on the disk, move it there."""
    with _beside(path) as temporary:
        _write(result, temporary)
        if path.exists():
            _permit_as(path, temporary)
        os.replace(temporary, path)


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Make an empty file beside ``path``; if it is still there at the end, it goes.

    Only its owner may read it where a file is to be replaced whose readers are yet to be set.
    """
    temporary = path.with_name(f".{path.name[:50]}.{os.getpid()}.part")
    temporary.unlink(missing_ok=True)  # left by a process of that number that was killed
    mode = 0o600 if path.exists() else 0o666  # less the umask
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _permit_as(old: Path, new: Path) -> None:
    """Give a file the owner and the group of another, where that is allowed, and its mode."""
    status = old.stat()
    for ids in ((status.st_uid, -1), (-1, status.st_gid)):
        with contextlib.suppress(OSError, AttributeError):  # no such thing on Windows
            os.chown(new, *ids)
    new.chmod(stat.S_IMODE(status.st_mode))


def _new_file(
    result: Any, folder: Path, stem: str, write: Callable[[Any, Path], None], suffix: str
) -> Path:
    """Write a file that nothing else has the name of, whole or not at all."""
    descriptor, name = tempfile.mkstemp(suffix, f"{stem[:50]}.", folder)
    os.close(descriptor)
    _, error = attempt(lambda: write(result, Path(name)), stoppable=False)
    if error is not None:
        os.unlink(name)
        raise error
    return Path(name)


class _Sink(io.FileIO):
    """A new file for the HDF5 library, which may end the process when a write fails.

    It is told that all is well; ``error`` is what was wrong first.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            left = memoryview(data).cast("B")
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            self.error = self.error or error
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
        return size or 0


def _write(result: Any, path: Path) -> None:
    """Write the groups as ArviZ reads them, numbers compressed, and wait for the disk."""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    with _Sink(path, "wb+") as sink:
        with h5netcdf.File(sink, "w") as file:
            file.attrs.update(result.attrs)
            for name in group_names(result):
                dataset = group(result, name)
                numbers = [key for key, v in dataset.data_vars.items() if v.dtype.kind in "biuf"]
                store: Any = H5NetCDFStore(file.create_group(name))
                dataset.dump_to_store(store, encoding={key: {"zlib": True} for key in numbers})
        if sink.error is not None:
            raise sink.error
        os.fsync(sink.fileno())


def _write_arrays(result: Any, path: Path) -> None:
    """Write what was drawn without labels, in a format with less to go wrong."""
    arrays: dict[str, Any] = {
        f"{name}.{key}": values.values
        for name in group_names(result)
        if "chain" in (found := group(result, name)).dims
        for key, values in found.data_vars.items()
    }
    np.savez(path, **arrays)


_WRITERS = (
    (_write, ".nc", "`probmodel summary` and arviz.from_netcdf read it"),
    (_write_arrays, ".npz", "it holds the draws alone, and numpy.load reads it"),
)
