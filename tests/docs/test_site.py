"""The parts of the site that need no site to be tested: links, dialect, reference, gallery."""

import re
from pathlib import Path

import pytest

import probmodel

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _site(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("README.md", "index.md"),
        ("docs/inference.md", "inference.md"),
        ("models/radon.py", "gallery/radon.md"),
        ("models/data/README.md", "gallery/data.md"),
        ("models/data/radon.json", "source/models/data/radon.json"),
        ("probmodel/samplers/base.py", "source/probmodel/samplers/base.py.md"),
    ],
)
def test_files_have_places(path, place):
    from repository_links import place as found

    assert found(path) == place


def test_links_lead_to_the_same_files():
    from repository_links import linked, relinked

    text = (
        "[a](../inference.md#warnings) [b](../../models/radon.py) [c](#here) [d](https://x.org/)\n"
        "```python\n[e](../nowhere.md)\n```\n![f](figures/rwm.png)\n"
    )
    path = "docs/methods/rwm.md"
    assert linked(text, path) == {
        "docs/inference.md",
        "models/radon.py",
        "docs/methods/figures/rwm.png",
    }
    found = relinked(text, path, "methods/rwm.md")
    assert found == text.replace("../../models/radon.py", "../gallery/radon.md")


def test_formulas_become_mathml_and_bad_ones_are_found():
    pytest.importorskip("math_core")
    from dialect import to_mkdocs, with_mathml

    assert to_mkdocs("a $`x_1`$\n\n```math\ny\n```\n") == "a \\(x_1\\)\n\n\\[\ny\n\\]\n"
    page = '<p><span class="arithmatex">\\(x &lt; 1\\)</span></p>'
    assert "<math" in with_mathml(page, "page.md")
    with pytest.raises(ValueError, match=r"page\.md: the formula"):
        with_mathml(page.replace("x &lt; 1", r"\frac{x"), "page.md")


def test_versions_side_by_side_become_tabs():
    pytest.importorskip("math_core")
    from dialect import to_mkdocs

    text = "```python\na\n```\n\n```stan\nb\n```\n\n```python pymc\nc\n```\n"
    found = re.findall(r'^=== "(\w+)"\n\n    ```(\w+)\n    (\w)\n    ```', to_mkdocs(text), re.M)
    assert found == [("probmodel", "python", "a"), ("Stan", "stan", "b"), ("PyMC", "python", "c")]


def test_descriptions_of_parameters_are_told_from_types():
    pytest.importorskip("griffe")
    from docstring_math import to_markdown

    text = (
        "Title.\n\nParameters\n----------\nmu : mean :math:`\\mu`\nn : int, optional\n    Number.\n"
        "upper : a bound, which may\n    depend on data\n\nNotes\n-----\nmu : of ``x``\n"
    )
    assert to_markdown(text) == (
        "Title.\n\nParameters\n----------\nmu\n    mean \\(\\mu\\)\n"
        "n : int, optional\n    Number.\n"
        "upper\n    a bound, which may\n    depend on data\n\nNotes\n-----\nmu : of `x`\n"
    )


def test_what_is_written_beside_entries_stands_before_them():
    pytest.importorskip("griffe")
    from docstring_math import to_markdown

    text = (
        "Title.\n\nParameters\n----------\nx : (n,)\n\nNumbers or symbols.\n\n"
        "Returns\n-------\n(n,), as ``x``\n\nRaises\n------\nModelError\n    If not.\n"
    )
    assert to_markdown(text) == (
        "Title.\n\nNumbers or symbols.\n\n**Returns:** (n,), as `x`\n\n"
        "Parameters\n----------\nx\n    (n,)\n\nRaises\n------\nModelError\n    If not.\n"
    )


def test_the_reference_has_every_public_name():
    import reference_pages

    text = "".join(text for _, text in reference_pages.pages().values())
    missing = [n for n in probmodel.__all__ if f"::: probmodel.{n}\n" not in text]
    assert missing == ["distributions"]
    assert "## `Normal`\n\n```python\nNormal(" in text


def test_every_model_has_a_picture_and_a_page():
    pytest.importorskip("matplotlib")
    import gallery_pages
    import gallery_pictures

    models = {path.stem for path in (ROOT / "models").glob("*.py")}
    assert set(gallery_pictures.PICTURES) == models
    pages = gallery_pages.pages()
    assert set(pages) == {f"gallery/{name}.md" for name in models}
    assert "(pictures/radon.png)" in pages["gallery/radon.md"]
    cards = gallery_pages.with_cards((ROOT / "models" / "README.md").read_text())
    assert cards.count('<a class="card"') == len(models)


def test_broken_links_of_a_site_are_found(tmp_path):
    from check_links import broken

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<h1 id="top">A</h1><a href="../#end">up</a>')
    (tmp_path / "index.html").write_text(
        '<a href="a/#top">good</a><a href="a/#bottom">bad</a><img src="none.png"><i id="end"></i>'
    )
    assert broken(tmp_path) == ["index.html: a/#bottom", "index.html: none.png"]
