"""The pages of the methods: tables that the code writes, the same sections, a figure each."""

import dataclasses
import re
import struct
from pathlib import Path
from typing import ClassVar

import pytest

from probmodel.samplers import SAMPLERS
from probmodel.samplers.base import Sampler

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "methods"
SECTIONS = ["When to choose it", "Settings", "Cost", "Limits", "Reference"]
MARKER = re.compile(r"<!-- generated: ([\w ]+) -->")


def read(document):
    return (ROOT / document).read_text(encoding="utf-8")


# -- generated parts ---------------------------------------------------------------------------


def test_generated_parts_are_up_to_date(generator):
    stale = [d for d in generator.DOCUMENTS if generator.generate(read(d)) != read(d)]
    assert stale == [], "run: python docs/generate.py"


def test_the_stub_of_distributions_is_up_to_date(generator):
    assert generator.STUB.read_text() == generator.stub(), "run: python docs/generate.py"


def test_parts_that_are_not_up_to_date_are_found(generator):
    text = read("docs/methods/rwm.md")
    changed = text.replace("| `0.25` |", "| `0.26` |")
    assert changed != text
    assert generator.generate(changed) == text


def test_every_part_stands_in_one_document(generator):
    names = [name for d in generator.DOCUMENTS for name in MARKER.findall(read(d))]
    assert sorted(names) == sorted([*generator.PARTS, *(f"settings of {n}" for n in SAMPLERS)])


def test_text_outside_the_markers_is_kept(generator):
    text = "before\n<!-- generated: default sizes -->\nold\n<!-- end -->\nafter | `mala` |\n"
    written = generator.generate(text)
    assert written.startswith("before\n<!-- generated: default sizes -->\n\n| method |")
    assert written.endswith(" |\n\n<!-- end -->\nafter | `mala` |\n")
    assert "old" not in written
    assert generator.generate(written) == written


def test_unknown_parts_are_refused(generator):
    with pytest.raises(ValueError, match="nothing is generated under the name 'settings of mal'"):
        generator.generate("<!-- generated: settings of mal -->\n<!-- end -->")


@dataclasses.dataclass(frozen=True)
class Parent(Sampler):
    """A sampler.

    Parameters
    ----------
    rate : float
        Rate in the parent's
        words.
    power : float
        Power, ``x | y``.

    Raises
    ------
    SamplerError
        Never.
    """

    rate: float = 0.5
    power: float = 2.0


@dataclasses.dataclass(frozen=True)
class Child(Parent):
    """Another one.

    Parameters
    ----------
    rate : float
        Rate in the child's words.
    kind : {"one", "two"}
        Which kind.
    """

    kind: str = "one"
    _hidden: ClassVar[int] = 0


@dataclasses.dataclass(frozen=True)
class Undocumented(Parent):
    """Says nothing of its setting."""

    extra: int = 0


def test_settings_come_from_fields_and_docstrings(generator):
    assert generator.settings(Child).splitlines()[2:] == [
        "| `rate` | `0.5` | Rate in the child's words. |",
        r"| `power` | `2.0` | Power, `x \| y`. |",
        '| `kind` | `"one"` | Which kind. One of `"one"`, `"two"`. |',
    ]


def test_settings_without_a_meaning_are_refused(generator):
    with pytest.raises(ValueError, match=r"Undocumented does not say what \['extra'\] are"):
        generator.settings(Undocumented)


def test_methods_are_listed_with_what_their_classes_say(generator):
    rows = [line.strip("| ").split(" | ") for line in generator.overview().splitlines()[2:]]
    listed = {re.match(r"\[`(\w+)`\]", row[0])[1]: row for row in rows}
    assert set(listed) == set(SAMPLERS)
    for name, kind in SAMPLERS.items():
        assert listed[name][1] == kind.summary
        assert listed[name][3:] == [kind.learns, kind.cost, kind.paper]


# -- pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_every_method_has_a_page_with_its_sections(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [heading for heading in headings if heading in SECTIONS] == SECTIONS


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_every_page_shows_a_figure_with_a_description(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text)
    assert [path for _, path in shown] == [f"figures/{name}.png"]
    assert len(shown[0][0].split()) >= 3
    assert size_of(PAGES / shown[0][1]) == (800, 400)


def size_of(picture):
    """Width and height of a PNG file, which is to be small."""
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) < 60_000
    return struct.unpack(">II", content[16:24])


def test_every_method_has_a_figure_of_its_own(figures):
    assert set(SAMPLERS) - set(figures.FIGURES) == set()


@pytest.mark.parametrize("name", ["rwm", "step_halving"])
def test_figures_are_drawn(figures, tmp_path, name):
    figures.draw([name], tmp_path / "figures")
    assert size_of(tmp_path / "figures" / f"{name}.png") == (800, 400)
