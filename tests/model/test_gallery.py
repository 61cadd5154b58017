"""Models of the gallery by name, in a checkout and as a wheel lays them out."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from probmodel import DataError, ModelError, infer, load_fit, load_model, read_data, resume
from probmodel.model import gallery
from probmodel.model.references import find_model, reference_of
from probmodel.results.storage import keep

MODELS = Path(__file__).parents[2] / "models"
SIZES = {"chains": 2, "warmup": 50, "draws": 50, "seed": 1, "quiet": True}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Lay the gallery out as a wheel does, and return the function that does it."""

    def install():
        package = tmp_path / "site-packages" / "probmodel"
        shutil.copytree(MODELS, package / "gallery")
        monkeypatch.setattr(gallery, "_PACKAGE", package)
        gallery.pages.cache_clear()
        return package / "gallery"

    yield install
    gallery.pages.cache_clear()


def check_layout(folder):
    assert gallery.folder() == folder
    assert gallery.model_file("gallery:radon") == folder / "radon.py"
    assert gallery.data_file("gallery:radon.json") == folder / "data" / "radon.json"
    assert load_model("gallery:radon").__name__ == "Radon"


def test_it_is_found_in_both_layouts(installed):
    check_layout(MODELS)
    check_layout(installed())


def test_a_package_without_it_says_where_it_should_be(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "_PACKAGE", tmp_path / "probmodel")
    with pytest.raises(ModelError, match=r"the gallery is missing: .*Install probmodel again"):
        gallery.folder()


def test_names_are_those_of_the_files():
    assert set(gallery.pages()) == {path.stem for path in MODELS.glob("*.py")}
    files = {path.name for path in (MODELS / "data").iterdir()} - {"README.md"}
    assert {file for page in gallery.pages().values() for file in page.data} == files


def test_a_page_is_what_the_index_says():
    page = gallery.pages()["stochastic_volatility"]
    assert page.topic == "Time series"
    assert page.teaches == "a latent path, standardised by prior and data together"
    assert page.data == ("sp500_500.csv", "sp500.csv")


@pytest.mark.parametrize("name", ["gallery:radon", "gallery:radon.py"])
def test_a_model_is_loaded_by_name(name):
    assert load_model(name).__name__ == load_model(MODELS / "radon.py").__name__ == "Radon"


def test_data_are_read_by_their_name_or_by_that_of_the_model():
    expected = read_data(MODELS / "data" / "pima.npz")
    for name in ("gallery:pima.npz", "gallery:logistic_regression"):
        found = read_data(name)
        assert found.keys() == expected.keys()
        np.testing.assert_array_equal(found["X"], expected["X"])
    assert len(read_data("gallery:ripley.npz")["y"]) == 250


@pytest.mark.parametrize(
    ("read", "name", "error", "hint"),
    [
        (load_model, "gallery:radn", ModelError, r"no model 'radn'\. Did you mean 'radon'\?"),
        (load_model, "gallery:", ModelError, r"no model ''\. `probmodel gallery` lists"),
        (load_model, "gallery:../models/radon.py", ModelError, "the gallery has no model"),
        (load_model, "gallery:radon.json", ModelError, "no model 'radon.json'"),
        (read_data, "gallery:radon.csv", DataError, r"Did you mean 'radon\.json'\?"),
        (read_data, "gallery:README.md", DataError, "no data set 'README.md'"),
        (read_data, "gallery:qqqqqq", DataError, r"'qqqqqq'\. `probmodel gallery` lists"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(read, name, error, hint):
    with pytest.raises(error, match=hint):
        read(name)


def test_a_class_travels_by_its_name_in_the_gallery(installed):
    kind = load_model("gallery:eight_schools")
    packed, known = pickle.dumps(kind), reference_of(kind)
    assert known == reference_of(load_model(MODELS / "eight_schools.py"))
    assert b"gallery:eight_schools" in packed
    assert str(MODELS).encode() not in packed
    installed()  # as on another machine
    again = pickle.loads(packed)
    assert again.__name__ == "EightSchools"
    assert reference_of(again) == known
    assert known.file == "gallery:eight_schools"
    of_a_path = reference_of(load_model(MODELS / "eight_schools.py"))
    assert of_a_path.file == str(MODELS / "eight_schools.py")


def test_a_saved_fit_finds_its_model_in_another_installation(installed, tmp_path):
    model = load_model("gallery:eight_schools")(**read_data("gallery:eight_schools"))
    fit = infer(model, **SIZES)
    keep(fit, tmp_path / "fit.nc")
    expected = load_fit(tmp_path / "fit.nc").posterior_predictive(seed=2).posterior_predictive
    folder = installed()
    again = load_fit(tmp_path / "fit.nc")
    found = again.posterior_predictive(seed=2).posterior_predictive
    np.testing.assert_array_equal(found["y"], expected["y"])
    assert again.extend(10, quiet=True).result.attrs["draws_done"] == 60
    page = folder / "eight_schools.py"
    text = page.read_text()
    page.write_text(text.replace("probmodel sample", "or probmodel check"))  # in its docstring
    assert load_fit(tmp_path / "fit.nc").model is not None
    page.write_text(text.replace("Normal(0, 5)", "Normal(0, 6)"))
    with pytest.raises(ModelError, match=r"'gallery:eight_schools' has changed since"):
        load_fit(tmp_path / "fit.nc")


def test_a_checkpoint_finds_its_model_in_another_installation(installed, tmp_path):
    model = load_model("gallery:eight_schools")(**read_data("gallery:eight_schools"))
    infer(model, checkpoint=tmp_path / "run", **SIZES)
    installed()
    assert resume(tmp_path / "run", quiet=True).attrs["draws_done"] == 50


def test_a_model_that_the_gallery_has_no_longer_is_gone():
    known = reference_of(load_model("gallery:radon"))._replace(file="gallery:argon")
    with pytest.raises(ModelError, match=r"'gallery:argon' is gone\. Do this"):
        find_model(known, "Do this.")
