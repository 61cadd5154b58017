"""`probmodel gallery`, and models of the gallery as arguments of other commands."""

import re
import shlex

import pytest

from probmodel import infer, load_model, read_data
from probmodel.cli import main
from probmodel.gallery_pages import copy_page, list_text, page_text
from probmodel.model import gallery
from probmodel.model.gallery import data_file, model_file, pages
from probmodel.results.reading import load

FEW = ["--chains", "2", "--draws", "20", "--warmup", "20", "--seed", "1"]


def test_every_model_is_listed_with_what_it_teaches_and_its_data(capsys):
    assert main(["gallery"]) == 0
    text = capsys.readouterr().out
    assert text.rstrip("\n") == list_text()
    for page in pages().values():
        pattern = rf"^  {page.name} +{re.escape(page.teaches.replace('`', ''))}\n +data: (.*)$"
        (data,) = re.findall(pattern, text, re.MULTILINE)
        assert tuple(data.split(", ")) == page.data
        assert f"\n{page.topic}\n" in f"\n{text}"


def test_a_page_is_shown_with_its_commands(capsys):
    assert main(["gallery", "radon"]) == 0
    text = capsys.readouterr().out
    assert model_file("gallery:radon").read_text() in text
    assert "\ndata: gallery:radon.json\n" in text
    assert "\n    probmodel sample gallery:radon --data gallery:radon.json\n" in text
    assert text.rstrip("\n") == page_text("gallery:radon")
    code = text.partition("In Python:\n")[2].strip()
    model = eval(code, {"infer": lambda model: model, **{f.__name__: f for f in READERS}})
    assert type(model).__name__ == "Radon"


READERS = (load_model, read_data)


def test_a_copy_stands_for_itself(tmp_path, capsys):
    folder = tmp_path / "my models"
    assert main(["gallery", "lotka_volterra", "--copy", str(folder)]) == 0
    said = capsys.readouterr().err
    assert sorted(file.name for file in folder.iterdir()) == ["lotka_volterra.py", "lynx_hare.json"]
    words = shlex.split(said.partition("Run it: ")[2])
    assert words == [
        "probmodel", "sample", str(folder / "lotka_volterra.py"),
        "--data", str(folder / "lynx_hare.json"),
    ]  # fmt: skip
    assert main(["show", *words[2:]]) == 0
    text = (folder / "lotka_volterra.py").read_text()
    assert "\n    probmodel sample lotka_volterra.py --data lynx_hare.json\n" in text
    assert "gallery:" not in text
    original = data_file("gallery:lynx_hare.json")
    assert (folder / original.name).read_bytes() == original.read_bytes()


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_copied_page_names_only_files_beside_it(name, tmp_path):
    copy_page(name, tmp_path)
    assert "gallery:" not in (tmp_path / f"{name}.py").read_text()
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}.py", *pages()[name].data}


def test_a_copy_replaces_nothing(tmp_path, capsys):
    (tmp_path / "radon.json").write_text("mine")
    assert main(["gallery", "radon", "--copy", str(tmp_path)]) == 2
    assert "radon.json' is there already, and is not replaced" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["radon.json"]
    assert (tmp_path / "radon.json").read_text() == "mine"
    assert main(["gallery", "radon", "--copy", str(tmp_path / "radon.json" / "in")]) == 2
    assert "cannot copy the model 'radon'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["gallery", "radn"], "Did you mean 'radon'?"),
        (["gallery", "--copy", "folder"], "--copy needs a model"),
        (["sample", "gallery:radn"], "Did you mean 'radon'?"),
        (["sample", "gallery:radon", "--data", "gallery:radon.jsn"], "Did you mean 'radon.json'?"),
        (["show", "gallery:radon:Argon"], "gallery:radon has no model 'Argon'"),
    ],
)
def test_wrong_words_are_answered(words, text, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.out == ""


def test_data_of_a_model_are_taken_by_themselves_and_said(capsys, tmp_path):
    out = tmp_path / "fit.nc"
    assert main(["sample", "gallery:eight_schools", *FEW, "--out", str(out)]) == 0
    assert capsys.readouterr().err.startswith("Data: gallery:eight_schools.json\n")
    assert load(out).observed_data["y"].sizes["school"] == 8
    assert main(["show", "gallery:nes.py:Nes"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "Data: gallery:nes1972.csv\n"
    assert "(1330)" in captured.out
    assert main(["show", "gallery:nes", "--data", "gallery:nes1980.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "(701)" in captured.out


def test_quiet_says_nothing_of_the_data(capsys):
    assert main(["sample", "gallery:eight_schools", *FEW, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("named", ["gallery:radon:Radon", "gallery:radon.py:Radon"])
def test_a_class_of_a_page_can_be_named(named, capsys):
    assert main(["show", named]) == 0
    assert "Radon" in capsys.readouterr().out


def test_models_of_ones_own_need_no_gallery(tmp_path, monkeypatch):
    """A copy of the package alone has no gallery: other models are sampled all the same."""
    path = tmp_path / "own.py"
    path.write_text(model_file("gallery:eight_schools").read_text())
    schools = read_data("gallery:eight_schools.json")
    monkeypatch.setattr(gallery, "_PACKAGE", tmp_path / "package")
    gallery.pages.cache_clear()
    try:
        fit = infer(load_model(path)(**schools), draws=20, warmup=50, seed=1, quiet=True)
    finally:
        gallery.pages.cache_clear()
    assert str(path) in fit.attrs["model"]


def test_the_graph_of_a_model_needs_no_data(capsys):
    assert main(["show", "gallery:radon", "--format", "dot"]) == 0
    captured = capsys.readouterr()
    assert 'label="county";' in captured.out
    assert captured.err == ""
