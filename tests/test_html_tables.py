"""What notebooks show of checks, calibrations and saved fits."""

from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from probmodel.calibration.result import Calibration
from probmodel.density.check import Check
from probmodel.density.check import Report as ModelReport
from probmodel.errors import Location
from probmodel.html_tables import folded, table
from probmodel.model.lints import Advice
from probmodel.testing.report import Report


def read(html):
    """The title, and cells by row; the text between tags is as it was given."""
    root = ElementTree.fromstring(html)
    found = root if root.tag == "table" else root.find("table")
    caption, *lines = found
    return "".join(caption.itertext()), [
        ["".join(cell.itertext()) for cell in row] for row in lines
    ]


def test_text_is_escaped_and_short_rows_fill_the_width():
    html = table("<i>", [("a<b", "&"), ("long",)], about="x > y", heads=("", "no"), strong=("&",))
    assert read(html) == ("<i> x > y", [["", "no"], ["a<b", "&"], ["long"]])
    assert "<i>" not in html
    assert "<b>&amp;</b>" in html
    assert html.count('colspan="2"') == 1
    assert read(table("empty", [])) == ("empty", [])
    assert "&lt;script&gt;" in folded("<b>", "<script>")


def test_checks_of_a_model():
    checks = (Check("gradient", True, "within 1e-9"), Check("prior <simulation>", False, "no"))
    advice = (Advice("flat prior", "mu", Location("m.py", 3), "give it a prior"),)
    title, rows = read(ModelReport("Line", checks, advice)._repr_html_())
    assert title == "Line some checks FAILED"
    assert rows == [
        ["ok", "gradient", "within 1e-9"], ["FAILED", "prior <simulation>", "no"],
        ["advice", "mu", "give it a prior"],
    ]  # fmt: skip


def test_checks_of_a_distribution():
    report = Report("Normal", {"check_density": "", "check_draws": "AssertionError: far off"})
    assert read(report._repr_html_()) == (
        "Normal some checks FAILED",
        [["ok", "check_density", ""], ["FAILED", "check_draws", "AssertionError: far off"]],
    )


@pytest.mark.parametrize("many", [False, True])
def test_calibration(many):
    rng = np.random.default_rng(1)
    count = 40 if many else 2
    ranks = rng.integers(0, 100, (200, count))
    ranks[:, 1] = ranks[:, 1] // 4
    labels = {"theta": [f"theta[{i}]" for i in range(count)]}
    found = Calibration(
        "Line", 201, 200, 99, {"theta": ranks}, labels, Counter({"DataError: <bad>": 1})
    )
    title, rows = read(found._repr_html_())
    assert title.startswith(f"Line 1 of {count} quantities are NOT calibrated (200 simulations")
    assert rows[0] == ["", "mean", "spread", "p", "verdict"]
    assert rows[2][0] == "theta[1]"
    assert rows[2][-1] == found.verdict("theta[1]") == "posterior TOO HIGH"
    assert rows[-1] == ["1: DataError: <bad>"]
    assert (["... and 10 with larger p-values"] in rows) == many
    assert len(rows) == 1 + min(count, 30) + many + 2
    assert "<b>posterior TOO HIGH</b>" in found._repr_html_()
