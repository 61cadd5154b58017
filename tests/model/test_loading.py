"""Loading model classes from files."""

import pytest

from probmodel import Model, ModelError, load_model

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
