"""Loading model classes from files."""

import os
import sys

import pytest

from probmodel import DataError, Model, ModelError, load_model

GOOD = """
from probmodel import Model, param
from probmodel.distributions import Normal

class {name}(Model):
    mu = param(Normal(0, 1))
"""


def write(tmp_path, text):
    file = tmp_path / "a_model.py"
    file.write_text(text)
    return file


def test_the_only_class_is_found(tmp_path):
    cls = load_model(write(tmp_path, GOOD.format(name="Tiny")))
    assert issubclass(cls, Model)
    assert cls.__name__ == "Tiny"


def test_one_of_several_is_named(tmp_path):
    file = write(tmp_path, GOOD.format(name="A") + GOOD.format(name="B"))
    assert load_model(file, "B").__name__ == "B"
    with pytest.raises(ModelError, match=r"2 \(A, B\)"):
        load_model(file)
    with pytest.raises(ModelError, match="no model 'C'"):
        load_model(file, "C")


def test_imported_classes_do_not_count(tmp_path):
    with pytest.raises(ModelError, match="it has none"):
        load_model(write(tmp_path, "from probmodel import Model"))


def test_missing_file_names_the_nearest():
    with pytest.raises(ModelError, match=r"Did you mean 'eight_schools\.py'"):
        load_model("models/eight_school.py")


def test_a_directory_is_no_model(tmp_path):
    with pytest.raises(ModelError, match="no model file"):
        load_model(tmp_path / "absent" / "m.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import numpi\n", "No module named 'numpi'"),
        ("def f():\n    return 1 / 0\n\nf()\n", "ZeroDivisionError"),
        ("class Broken(:\n", "SyntaxError"),
    ],
)
def test_a_file_that_does_not_import_shows_its_own_lines(tmp_path, text, message):
    file = write(tmp_path, text)
    with pytest.raises(ModelError, match="does not import") as caught:
        load_model(file)
    shown = str(caught.value)
    assert message in shown
    assert str(file) in shown
    assert "importlib" not in shown
    assert "probmodel/model/loading.py" not in shown


def test_errors_of_the_language_come_through_unwrapped(tmp_path):
    bad = GOOD.format(name="Bad").replace("Normal(0, 1)", "Normal(0)")
    with pytest.raises(ModelError, match="needs 'scale'") as caught:
        load_model(write(tmp_path, bad))
    assert caught.value.location.line == 6


def test_an_element_of_an_array_names_its_line_and_what_to_write(tmp_path):
    """NumPy raises a ValueError of its own there, which says neither."""
    text = (
        GOOD.format(name="Filled") + "    import numpy as np\n    h = np.zeros(5)\n    h[0] = mu\n"
    )
    file = write(tmp_path, text)
    with pytest.raises(ModelError, match=r"element of a NumPy array \(h\[0\] = a\)") as caught:
        load_model(file)
    assert caught.value.location == (str(file), text.count("\n"))
    assert "a list, np.stack([a, b])" in caught.value.message


def test_an_error_names_the_line_of_a_relative_path(tmp_path, monkeypatch):
    write(tmp_path, "import math\n\nmath.sqrt(-1)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"a_model\.py\", line 3") as caught:
        load_model("a_model.py")
    assert "math.sqrt(-1)" in str(caught.value)


def test_a_change_within_the_same_second_and_size_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = write(tmp_path, GOOD.format(name="A"))
    for name in ("A", "B"):
        write(tmp_path, GOOD.format(name=name))
        os.utime(file, (1e9, 1e9))
        assert load_model(file).__name__ == name
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ["import sys\nsys.exit(3)\n", "raise SystemExit\n"])
def test_a_file_that_exits(tmp_path, text):
    with pytest.raises(ModelError, match="SystemExit"):
        load_model(write(tmp_path, text))


@pytest.mark.parametrize("content", [b"f(g(1)\nx, di\xd4s=1)\n", b"# \nx = '\0'\n"])
def test_a_file_that_is_no_text(tmp_path, content):
    file = tmp_path / "a_model.py"
    file.write_bytes(content)
    with pytest.raises(ModelError, match="does not import, for it is no text") as caught:
        load_model(file)
    assert caught.value.location == (str(file), 2)


def test_declared_encodings_and_byte_order_marks(tmp_path):
    text = GOOD.format(name="A").replace("mu", "größe")
    file = tmp_path / "a_model.py"
    for start, encoding in (("", "utf-8-sig"), ("# coding: latin-1\n", "latin-1")):
        file.write_bytes((start + text).encode(encoding))
        assert "größe" in vars(load_model(file))


def test_names_of_files(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    upper = write(tmp_path, GOOD.format(name="A")).rename(tmp_path / "my MODEL.PY")
    assert load_model("~/my MODEL.PY").__name__ == "A"
    other = upper.rename(tmp_path / "model.txt")
    for path, text in (
        (other, "must end in .py, or in .stan for a Stan program; got '.txt'"),
        (tmp_path, "is a directory"),
    ):
        with pytest.raises(ModelError, match=text):
            load_model(path)


def test_an_error_without_a_place_is_given_the_line_of_the_file(tmp_path):
    text = "from probmodel import read_data\n\nread_data('none.csv')\n"
    with pytest.raises(DataError, match=r"a_model\.py:3: there is no data file 'none\.csv'"):
        load_model(write(tmp_path, text))


@pytest.mark.parametrize(
    ("line", "values", "message"),
    [
        ("b = data(dims='x', lower=[])", {"b": [1.0, 2.0]}, "data 'b' cannot be evaluated: operan"),
        (
            "b = observed(BinomialLogit(3, mu < 0), dims='obs')", {"b": [1]},
            "cannot be evaluated: TypeError",
        ),
    ],
)  # fmt: skip
def test_what_fails_at_binding_names_the_line_of_the_model(tmp_path, line, values, message):
    text = GOOD.format(name="Late").replace("import Normal", "import BinomialLogit, Normal")
    text = text.replace("import Model,", "import Model, data, observed,")
    kind = load_model(write(tmp_path, f"{text}    {line}\n"))
    with pytest.raises(ModelError, match=message) as caught:
        kind(**values)
    assert caught.value.location == (str(tmp_path / "a_model.py"), 7)


def test_what_fails_in_a_distribution_of_the_model_names_its_line(tmp_path):
    text = GOOD.format(name="Late").replace("Normal(0, 1)", "Mine(0, 1)").replace(
        "class Late", "class Mine(Normal):\n    def log_kernel(self, *given):\n"
        "        return None + 1\n\nclass Late"
    )  # fmt: skip
    with pytest.raises(ModelError, match="param 'mu' cannot be evaluated: TypeError") as caught:
        load_model(write(tmp_path, text))()
    assert caught.value.location == (str(tmp_path / "a_model.py"), 7)


def test_a_model_file_imports_what_lies_beside_it(tmp_path, monkeypatch):
    (tmp_path / "beside_a_model.py").write_text("SCALE = 2.5\n")
    (tmp_path / "json.py").write_text("raise RuntimeError\n")  # has the name of another module
    monkeypatch.delitem(sys.modules, "json")
    before = list(sys.path)
    text = "import json\nfrom beside_a_model import SCALE\n" + GOOD.format(name="Beside")
    cls = load_model(write(tmp_path, text.replace("Normal(0, 1)", "Normal(0, SCALE)")))
    assert "Normal(0, 2.5)" in str(cls())
    assert sys.path == before
    sys.modules.pop("beside_a_model")
