"""Data files: what is read, and how what is no data is refused."""

import codecs
import io
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

from probmodel import DataError, Model, data, param, read_data
from probmodel.distributions import Normal


class Line(Model):
    x = data(dims="obs")
    slope = param(Normal(0, 1))


def npy(array, **keys):
    """Return the bytes of an array, as a member of an archive."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), **keys)
    return stream.getvalue()


def header(text, content=b""):
    """Return an array whose header says what it likes."""
    line = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(line)) + line + content


def archive(tmp_path, *members):
    path = tmp_path / "d.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in members:
            stream.writestr(name, content)
    return path


def refused(path, *texts, **settings):
    """Assert that a file is refused by an error that names it and says this."""
    with pytest.raises(DataError) as caught:
        read_data(path, **settings)
    for text in (str(path), *texts):
        assert text in str(caught.value)


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize(
    ("name", "text"), [("d.csv", "x,größe\r\n1,2\r\n"), ("d.json", '{"x": [1], "größe": [2]}')]
)
def test_a_byte_order_mark_is_skipped(tmp_path, mark, name, text):
    (tmp_path / name).write_bytes(mark + text.encode())
    found = read_data(tmp_path / name)
    assert list(found) == ["x", "größe"]
    assert [v.tolist() for v in found.values()] == [[1], [2]]
    (tmp_path / name).write_bytes(text.encode("utf-16"))
    assert read_data(tmp_path / name).keys() == found.keys()


@pytest.mark.parametrize("name", ["d.csv", "d.json", "d.npz"])
def test_an_upper_case_ending_and_a_space_in_the_path(tmp_path, name):
    folder = tmp_path / "my data"
    folder.mkdir()
    np.savez(folder / "d.npz", x=[1.0, 2.0])
    (folder / "d.csv").write_text("x\n1\n2\n")
    (folder / "d.json").write_text('{"x": [1, 2]}')
    (folder / name).rename(folder / name.upper())
    assert read_data(folder / name.upper())["x"].tolist() == [1, 2]
    assert read_data(str(folder / name.upper()))["x"].tolist() == [1, 2]


def test_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "d.csv").write_text("x\n1\n")
    assert read_data("~/d.csv")["x"].tolist() == [1]
    with pytest.raises(DataError, match="cannot be read"):
        read_data("~nobody-of-this-name/d.csv")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("none.csv", "there is no data file"),
        ("dd.csv", "Did you mean 'd.csv'"),
        ("no/d.csv", "There is no folder"),
        (".", "is a directory"),
        ("a\0b.csv", "data file"),
        ("x" * 5000 + ".csv", "data file"),
    ],
)
def test_places_without_a_file(tmp_path, path, text):
    (tmp_path / "d.csv").write_text("x\n1\n")
    with pytest.raises(DataError, match=text):
        read_data(f"{tmp_path}/{path}")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "d.csv"
    path.write_text("x\n1\n")

    def forbidden(*arguments, **settings):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", forbidden)
    with pytest.raises(DataError, match=r"d\.csv' cannot be read: Permission denied"):
        read_data(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("x,y\n1,2\n3\n", "line 3 has 1 fields, the header 2"),
        ("# a note\n\nx,y\n1,2,3\n", "line 4 has 3 fields"),
        ("x,y\n1,2\n1_0,3\n", "line 3 has '1_0' in the column 'x'"),
        ("x\n１２\n", "line 2 has '１２' in the column 'x'"),
        ("x,y, x\n1,2,3\n", "column 'x' is there more than once"),
        ("X,X.a\n1,2\n", "have the same name"),
        (",x\n0,1\n", "column 1 has no name"),
        (".a,x\n0,1\n", "column 1 has no name"),
        ("coords.x,x\n0,1\n", "no column can be named 'coords'"),
        ("x;y\n1;2\n", "separate columns by commas"),
        ('x,y\n1,"2\n3,4\n', "unexpected end of data"),
        ('x,y\n1,"2"3\n', "line 2: "),
        ("x\n1\0\n", "NUL"),
        ("x\n" + "1" * 200_000 + "\n", "field larger than field limit"),
    ],
)
def test_tables_that_make_no_sense(tmp_path, text, message):
    (tmp_path / "d.csv").write_text(text, encoding="utf-8")
    refused(tmp_path / "d.csv", message)


def test_text_of_another_encoding(tmp_path):
    for name, content in (("d.csv", "größe\n1\n"), ("d.json", '{"größe": 1}')):
        (tmp_path / name).write_bytes(content.encode("latin-1"))
        refused(tmp_path / name, "no UTF-8 text", "Save the file as UTF-8")
        (tmp_path / name).write_bytes(content.encode("utf-16-le"))
        refused(tmp_path / name)


def test_empty_cells_and_text(tmp_path):
    (tmp_path / "d.csv").write_text('x,name\n1,a\n\n ,b\n3,"c, d"\n')
    found = read_data(tmp_path / "d.csv")
    np.testing.assert_array_equal(found["x"], [1, np.nan, 3])
    assert found["name"].tolist() == ["a", "b", "c, d"]


def test_missing_and_truth_values_of_r(tmp_path):
    table = "x,smoker,late,country,none\n1,TRUE,True,NA,NA\nNA,FALSE,False,SE,NA\n"
    (tmp_path / "d.csv").write_text(table)
    found = read_data(tmp_path / "d.csv")
    np.testing.assert_array_equal(found["x"], [1, np.nan])
    assert found["smoker"].dtype == bool
    assert found["smoker"].tolist() == found["late"].tolist() == [True, False]
    assert found["country"].tolist() == ["NA", "SE"]
    assert found["none"].tolist() == ["NA", "NA"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("path", ["-", "pipe.json"])
def test_streams_are_no_files(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.json")
    with pytest.raises(DataError, match=f"'{path}' is a stream or a device. Write .* data file"):
        read_data(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("[" * 900 + "]" * 900, "top level"),
        ('{"x": ' + "[" * 900 + "]" * 900 + "}", "nested"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested"),
        ('{"x": 1, "x": 2}', "name 'x' is there more than once"),
        ('{"x": {"a": 1, "a": 2}}', "name 'a' is there more than once"),
        ('{"x": [[1, 2], [3]]}', "'x' is a ragged list"),
        ('{"x": [[1, 2], 3]}', "'x' is a ragged list"),
        ('{"x": [1, "2"]}', "'x' must hold numbers; it has \"2\" at [1]"),
        ('{"x": [[1, 2], [null, 3]]}', 'it has null at [1, 0]. Write "NaN"'),
        ('{"x": null}', "it has null"),
        ('{"x": [1, true]}', "it has true at [1]"),
        ('{"x": [{"a": 1}]}', "it has {"),
        ('{"x": 1' + "0" * 400 + "}", "beyond the range of floats"),
        ('{"x": 1' + "0" * 5000 + "}", "digits"),
        ('{"coords": 3, "x": [1]}', "coords must be an object"),
        ('{"coords": {"obs": "ab"}, "x": [1, 2]}', "labels of dim 'obs' must be a list"),
        ('{"coords": {"obs": [["a"]]}, "x": [1]}', "labels of dim 'obs' must be a list"),
        ('{"x": [1,]}', "line 1 column"),
    ],
)
def test_objects_that_make_no_sense(tmp_path, text, message):
    (tmp_path / "d.json").write_text(text)
    refused(tmp_path / "d.json", message)


def test_numbers_of_json(tmp_path):
    (tmp_path / "d.json").write_text(
        '{"i": [1, 2], "f": [1, 2.5], "big": [100000000000000000000], "b": [true, false],'
        ' "s": 3, "odd": ["NaN", "+Infinity", -Infinity, NaN], "m": {"a": 1, "b": 2}}'
    )
    found = read_data(tmp_path / "d.json")
    kinds = {name: np.asarray(value).dtype.kind for name, value in found.items() if name != "m"}
    assert kinds == {"i": "i", "f": "f", "big": "f", "b": "b", "s": "i", "odd": "f"}
    assert found["big"][0] == 1e20
    assert found["s"] == 3
    np.testing.assert_array_equal(found["odd"], [np.nan, np.inf, -np.inf, np.nan])
    assert found["m"] == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", ["self", "cls", "", "values"])
def test_any_name_reaches_the_model(tmp_path, name):
    (tmp_path / "d.json").write_text(f'{{"x": [1], "{name}": 2}}')
    with pytest.raises(DataError, match=f"no datum '{name}'"):
        Line(**read_data(tmp_path / "d.json"))


@pytest.mark.parametrize("coords", [3, [], "ab", np.arange(3), {"obs": "ab"}, {"obs": 3}])
def test_coords_are_lists_of_labels_by_dim(coords):
    with pytest.raises(DataError, match="coords"):
        Line(x=[1.0, 2.0], coords=coords)


class Bomb:
    """What runs when it is unpickled."""

    def __reduce__(self):
        return exec, ("raise SystemExit('a data file ran')",)


def test_nothing_is_unpickled(tmp_path):
    bomb = np.empty(1, dtype=object)
    bomb[0] = Bomb()
    refused(archive(tmp_path, ("x.npy", npy(bomb))), "'x' holds Python objects", "never unpickled")
    (tmp_path / "e.npz").write_bytes(pickle.dumps(Bomb()))
    refused(tmp_path / "e.npz", "no archive")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("x.npy", npy([1.0])), ("notes.txt", "hello")], "it holds 'notes.txt', which is no arr"),
        ([("coords.npy", npy(["a"]))], "no array can be named 'coords'"),
        ([("x.npy", b"\x93NUMPY")], "x"),
        ([("x.npy", b"")], "x"),
        ([("x.npy", b"no array at all")], "magic"),
        ([("x.npy", npy([1.0])[:-1])], "'x' should have shape (1,) and type float64, but 7 bytes"),
        ([("x.npy", npy([1.0]) + b"+")], "but 9 bytes are there"),
        ([("x.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}",
                           b"12345678"))], "shape (-1, -1)"),
        ([("x.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,)}"))], ""),
        ([("x.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"))],
         "shape (1000000000000,)"),
        ([("x.npy", header("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}"))],
         "shape (1000000000000,)"),
        ([("x.npy", header("(" * 5000))], "'x' has no header of an array"),
        ([("x.npy", header("{" + " " * 30_000 + "}"))], "Header info length"),
        ([("x.npy", header("__import__('os').system('false')"))], ""),
        ([("x.npy", npy(np.zeros(1, [("größe", float)]), version=(3, 0)))], "the format (3, 0)"),
    ],
)  # fmt: skip
def test_archives_that_make_no_sense(tmp_path, members, message):
    refused(archive(tmp_path, *members), message)


def test_an_array_that_is_there_twice(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = archive(tmp_path, ("x.npy", npy([1.0])), ("x.npy", npy([2.0])))
    refused(path, "it holds 2 arrays 'x'")


def test_a_single_array_by_another_name(tmp_path):
    (tmp_path / "d.npz").write_bytes(npy([1.0, 2.0]))
    refused(tmp_path / "d.npz", "a single array (.npy)", "np.savez")


def test_changed_numbers_of_an_archive_are_found(tmp_path):
    np.savez(tmp_path / "d.npz", x=np.arange(100.0))
    content = bytearray((tmp_path / "d.npz").read_bytes())
    content[300] ^= 1
    (tmp_path / "d.npz").write_bytes(content)
    refused(tmp_path / "d.npz", "Bad CRC-32")


def test_a_limit_of_the_size(tmp_path):
    bomb = archive(tmp_path, ("x.npy", npy(np.zeros(10**6))))
    assert bomb.stat().st_size < 10_000
    refused(bomb, "it unpacks to 8000128 bytes, and 1000000 is the limit", max_bytes=10**6)
    assert read_data(bomb, max_bytes=8_000_128)["x"].shape == (10**6,)
    (tmp_path / "d.csv").write_text("x\n1\n")
    refused(tmp_path / "d.csv", "it has 4 bytes, and 3 is the limit", max_bytes=3)
    # Elements of text all take the room of the longest.
    (tmp_path / "e.csv").write_text("x\n" + "a\n" * 1000 + "a" * 1000 + "\n")
    refused(tmp_path / "e.csv", "text 'x' takes 4004000 bytes", max_bytes=10**6)
    (tmp_path / "f.json").write_text('{"x": [' + '"a", ' * 1000 + '"' + "a" * 1000 + '"]}')
    refused(tmp_path / "f.json", "text 'x' takes 4004000 bytes", max_bytes=10**6)
