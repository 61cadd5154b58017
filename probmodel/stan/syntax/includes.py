"""The files of a Stan program: ``#include`` puts the words of another file in its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from probmodel.errors import reason
from probmodel.stan.complaints import complaint
from probmodel.stan.syntax.nodes import Place
from probmodel.stan.syntax.words import Word, words_of

MOST_INCLUDES = 1000  # in a program: where each file includes the next twice, they double
MOST_NESTED = 100  # files that include files


def decoded(data: bytes) -> str:
    """Return the text of a file: UTF-8, or Latin-1, which comments of old programs are in."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read(
    text: str, file: str = "<stan>", folders: Sequence[Path] = ()
) -> tuple[list[Word], dict[str, str]]:
    """Return the words of a program with the files that it includes, and the text of each file.

    ``file`` is its name; where it is a file, its folder is searched first for what it includes,
    then ``folders``, in this order.
    """
    reader = _Reader(folders)
    found = reader.words(text, file, ())
    end = found[-1].end if found else Place(file, 1, 1)
    return [*found, Word("end", "", end)], reader.sources


class _Reader:
    """Reads files into words; remembers their texts.

    Attributes
    ----------
    sources : texts by the names of files
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.sources: dict[str, str] = {}
        self._folders = [Path(folder) for folder in folders]
        self._includes = 0

    def words(self, text: str, file: str, within: tuple[Path, ...]) -> list[Word]:
        """Return the words of a text, whose file ``within`` ends with if there is one."""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self.sources[file] = text
        path = Path(file)
        if not within and _is_file(path):
            within = (path.resolve(),)
        folders = [path.parent, *self._folders] if within else self._folders
        found: list[Word] = []
        for word in words_of(text, file, self.sources):
            if word.kind == "include":
                found += self._included(word, folders, within)
            else:
                found.append(word)
        return found

    def _included(self, word: Word, folders: list[Path], within: tuple[Path, ...]) -> list[Word]:
        """Return the words of the file that ``#include`` names."""
        name = word.text.removeprefix("#include").strip()
        name = name[1:-1] if name.startswith(('"', "<")) else name
        path = self._found(name, folders, word.place)
        if path.resolve() in within:
            files = " -> ".join(p.name for p in (*within, path))
            raise complaint(
                f"files include each other in a circle: {files}.", word.place, self.sources
            )
        self._includes += 1
        if self._includes > MOST_INCLUDES or len(within) > MOST_NESTED:
            message = f"more than {MOST_INCLUDES} includes, or {MOST_NESTED} in one another."
            raise complaint(message, word.place, self.sources)
        try:
            text = decoded(path.read_bytes())
        except OSError as error:
            message = f"{str(path)!r} cannot be read: {reason(error)}."
            raise complaint(message, word.place, self.sources) from error
        return self.words(text, str(path), (*within, path.resolve()))

    def _found(self, name: str, folders: list[Path], place: Place) -> Path:
        """Return the first file of that name in the folders, for a leading slash below these."""
        below = name.lstrip("/")
        leaves = Path(below).is_absolute() or (below != name and ".." in Path(below).parts)
        if not below or leaves:
            message = f"expected a file, named relative to a folder of includes, got {name!r}."
            raise complaint(message, place, self.sources)
        for folder in folders:
            if _is_file(folder / below):
                return folder / below
        where = ", ".join(repr(str(folder)) for folder in folders)
        looked = (
            f"looked in {where}"
            if where
            else ("the program is a text without a folder, and no folders of includes were given")
        )
        raise complaint(f"no file {name!r} to include: {looked}.", place, self.sources)


def _is_file(path: Path) -> bool:
    """Tell whether there is such a file; names that no file can have are none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
