"""Checkpoints: a run in a folder, from which it can go on after whatever ended it.

    about.json      the version that wrote it, and the method
    request.npz     what was asked, of which model and data
    state.npz       all that the chains need to go on; replaced as a whole, from time to time
    draws/          the draws so far, one .npy file a quantity: (draws, chains, ...)
    posterior/      variables on their own scale, once the run has ended
    joined/         draws of all chains, then, where several groups have files of their own
    lock            held by the process that writes

Draws are appended to their files, and have arrived on the disk before the state that counts them
takes the place of the last one. What lies behind them in the files is of a state that was not
reached; it is written over. The format is NumPy's own, so that `numpy.load` reads the draws.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from probmodel.arguments import path_of
from probmodel.errors import OutputError, reason
from probmodel.inference.encoding import EncodingError, packed, unpacked
from probmodel.types import Array

INTERVAL = 2.0  # seconds between two states that are written
SHARE = 0.02  # of the time that writing may take, beyond which it is done more seldom
_BUFFER = 1 << 20  # bytes of a quantity that wait in memory, before they are written


class Checkpoint:
    """A run in a folder, held by this process until `close`.

    Parameters
    ----------
    folder : where
    clock : seconds

    Attributes
    ----------
    failure : why the last state could not be written; None if it could
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder, self._clock = folder, clock
        self.failure: OSError | EncodingError | None = None
        self._columns: list[FileColumn] = []
        self._untried = False  # whether it is new, and no state has been seen
        self._due = clock() + INTERVAL
        self._lock = _locked(folder)

    @classmethod
    def create(cls, path: Any, version: str, request: dict[str, Any]) -> Checkpoint:
        """Begin a checkpoint of a run.

        Raises an `OutputError` if the folder cannot be made, is not empty, or what was asked cannot
        be written.
        """
        folder = path_of("checkpoint", path).absolute()
        if isinstance(path, str) and not path.strip():
            raise OutputError(
                f"checkpoint must be the path of a new folder, got {path!r}. Leave it out to keep "
                "none.",
                path=path,
            )
        try:
            content = packed(request)
        except EncodingError as error:
            raise OutputError(
                f"this run cannot have a checkpoint: {error}. Settings have to be numbers, text or "
                "arrays.",
                path=str(path),
            ) from error
        with _refused(folder, "cannot be made"):
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise OutputError(
                    f"checkpoint={str(path)!r} exists already. If it is of an earlier run, "
                    f"resume({str(path)!r}) continues it; else choose another name.",
                    path=str(path),
                )
            (folder / "draws").mkdir(parents=True, exist_ok=True)
            found = cls(folder)
            try:
                about = {"version": version, "method": request["method"]}
                (folder / "about.json").write_text(json.dumps(about))
                _write(folder / "request.npz", content)
                found._untried = True
            except BaseException:
                found.close()
                raise
        return found

    @classmethod
    def open(
        cls, path: Any, version: str, prepare: Callable[[str], None]
    ) -> tuple[Checkpoint, Any, Any]:
        """Go on with a checkpoint: return it, what was asked, and the last state, if there is one.

        ``version`` is that of this package; ``prepare`` is called with the name of the method, to
        import its class. Raises an `OutputError` if it is none, is damaged, of another version, or
        held by another process.
        """
        folder = path_of("the path of a checkpoint", path).absolute()
        if not (folder / "request.npz").is_file():
            raise OutputError(f"{str(path)!r} holds no checkpoint of a run.", path=str(path))
        with _refused(folder, "cannot be read"):
            found = cls(folder)
            try:
                about = json.loads((folder / "about.json").read_text())
                if about["version"] != version:
                    raise OutputError(
                        f"the checkpoint {str(path)!r} was written by probmodel "
                        f"{about['version']}, and only that version can resume it; this is "
                        f"{version}.",
                        path=str(path),
                    )
                prepare(about["method"])
                asked = _read(folder / "request.npz")
                state = folder / "state.npz"
                known = _read(state) if state.exists() else None
                if known is not None:
                    found._check(known["rows"])
                return found, asked, known and known["state"]
            except BaseException:
                found.close()
                raise

    def close(self) -> None:
        """Let go of the folder."""
        self._lock.close()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def column(self, group: int, phase: str, counted: int) -> Callable[..., FileColumn]:
        """Return what makes files of draws of a group, which has so many already."""

        def make(name: str, draws: int, shape: tuple[int, ...], dtype: Any) -> FileColumn:
            path = self.folder / "draws" / f"{phase}.{group}.{name}.npy"
            self._columns.append(FileColumn(path, shape, dtype, counted))
            return self._columns[-1]

        return make

    def allocate(
        self, name: str, shape: tuple[int, ...], dtype: Any, folder: str = "posterior"
    ) -> Array:
        """Return an array in a file of its own, by default for a variable of the result."""
        path = self.folder / folder / f"{name}.npy"
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if not size:
            return np.empty(shape, dtype)
        try:
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)  # an earlier result may still be mapped from it
            with open(path, "wb") as file:
                _write_header(file, shape, np.dtype(dtype))
                if hasattr(os, "posix_fallocate"):  # a mapped file takes its room for granted
                    os.posix_fallocate(file.fileno(), file.tell(), size)
                else:
                    file.truncate(file.tell() + size)
            array: Array = np.lib.format.open_memmap(path, mode="r+")
        except OSError:  # no room on the disk, or none to be mapped from
            return np.empty(shape, dtype)
        return array

    def __call__(self, state: Callable[[], Any], last: bool = False) -> bool:
        """Write the state if it is time to, or the last one; return whether that went well.

        Raises an `OutputError` if the first one cannot be written at all, or not be read: before
        the run takes long.
        """
        if self._untried and not last:
            self._try(state())
        begin = self._clock()
        if begin < self._due and not last:
            return True
        try:
            for column in self._columns:
                column.flush(durable=True)
            rows = {column.path.name: column.rows for column in self._columns}
            _write(self.folder / "state.npz", packed({"rows": rows, "state": state()}))
            self.failure = None
        except (OSError, EncodingError) as error:
            self.failure = error
        now = self._clock()
        self._due = now + max(INTERVAL, (now - begin) / SHARE)
        return self.failure is None

    def _try(self, state: Any) -> None:
        """Write and read a state, to nowhere; if that fails, the folder is removed."""
        self._untried = False
        try:
            unpacked(packed(state))
        except EncodingError as error:
            self.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise OutputError(
                f"this run cannot have a checkpoint: {error}. The state, the adaptation and the "
                "parameters of a sampler have to consist of numbers, text, arrays, and named "
                "tuples or dataclasses from a module that defines samplers.",
                path=str(self.folder),
            ) from error

    def _check(self, rows: dict[str, int]) -> None:
        """Make sure that the files have the draws that a state counts."""
        for name, count in rows.items():
            path = self.folder / "draws" / name
            found = np.load(path, mmap_mode="r") if count else ()
            if len(found) < count:
                raise ValueError(f"{name} has {len(found)} of {count} draws")


class FileColumn:
    """Keeps one quantity of every draw in a file; see `collectors.Column`.

    Parameters
    ----------
    path : a .npy file of (draws, chains, ...)
    shape : of one draw, (chains, ...)
    dtype : of the numbers
    rows : draws that the file has already

    Attributes
    ----------
    rows : draws in the file
    """

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: Any, rows: int = 0) -> None:
        self.path, self._shape, self._dtype, self.rows = path, shape, np.dtype(dtype), rows
        self._size = self._dtype.itemsize * int(np.prod(shape))
        self._room = max(1, _BUFFER // max(1, self._size))
        self._waiting: list[Array] = []  # of draws that are in no file yet; the last has room
        self._last = 0  # draws in the last one

    def write(self, begin: int, values: Array) -> None:
        """Keep (n, chains, ...), of the draws from ``begin`` on."""
        last = self._last + len(values)
        if self._waiting and last <= self._room:  # as nearly always, so it has to be quick
            self._waiting[-1][self._last : last] = values
            self._last = last
            return
        while len(values):
            if not self._waiting or self._last == self._room:
                with contextlib.suppress(OSError):  # `flush` will say so when a state is written
                    self.flush()
                self._waiting.append(np.empty((self._room, *self._shape), self._dtype))
                self._last = 0
            part = values[: self._room - self._last]
            self._waiting[-1][self._last : self._last + len(part)] = part
            self._last, values = self._last + len(part), values[len(part) :]

    def grow(self, draws: int) -> None:
        """Do nothing: a file has room."""

    def _parts(self) -> list[Array]:
        """Return the draws that are in no file yet."""
        *full, last = self._waiting or [np.empty((0, *self._shape), self._dtype)]
        return [*full, last[: self._last]]

    def flush(self, durable: bool = False) -> None:
        """Write what waits; ``durable`` waits until it has arrived on the disk."""
        parts = self._parts()
        rows = self.rows + sum(map(len, parts))
        if rows == self.rows and not durable:
            return
        with open(self.path, "r+b" if self.path.exists() else "w+b") as file:
            _write_header(file, (self.rows, *self._shape), self._dtype)
            file.seek(self.rows * self._size, os.SEEK_CUR)
            for part in parts:
                file.write(part.data)
            file.seek(0)
            _write_header(file, (rows, *self._shape), self._dtype)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        self.rows, self._waiting, self._last = rows, [], 0

    def first(self, count: int) -> Array:
        """Return the first draws, (chains, count, ...), mapped from the file."""
        with contextlib.suppress(OSError):  # what the disk has no room for waits in memory
            self.flush()
        parts = [np.load(self.path, mmap_mode="r")[: self.rows]] if self.rows else []
        parts += [part for part in self._parts() if len(part) or not parts]
        whole: Array = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return whole[:count].swapaxes(0, 1)


def _write_header(file: BinaryIO, shape: tuple[int, ...], dtype: Any) -> None:
    """Write the header of an array, which has the same length for all numbers of draws."""
    descr = np.lib.format.dtype_to_descr(dtype)
    header = {"shape": shape, "fortran_order": False, "descr": descr}
    np.lib.format.write_array_header_1_0(file, header)


def _write(path: Path, content: bytes) -> None:
    """Replace a file as a whole."""
    beside = path.with_suffix(".part")
    with open(beside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def _read(path: Path) -> Any:
    return unpacked(path.read_bytes())


@contextlib.contextmanager
def _refused(folder: Path, what: str) -> Iterator[None]:
    """Make an `OutputError` of what files may raise."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise OutputError(
            f"the checkpoint {str(folder)!r} {what}: {reason(error)}.", path=str(folder)
        ) from error


def _locked(folder: Path) -> BinaryIO:
    """Return an open file that no other process holds; the system lets go of it if this one ends.

    Raises an `OutputError` if another one does.
    """
    file = (folder / "lock").open("a+b")
    try:
        try:
            import fcntl
        except ImportError:  # on Windows
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise  # the file system knows no locks, or worse
        raise OutputError(
            f"the checkpoint {str(folder)!r} is in use by a run that has not ended yet.",
            path=str(folder),
        ) from error
    return file
