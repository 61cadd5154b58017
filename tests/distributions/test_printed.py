"""Distributions as they are shown: as text, and as a table in notebooks."""

from xml.etree import ElementTree

import pytest
from examples.table import CASES

from probmodel import Model, param
from probmodel.distributions import Mixture, MvNormal, Normal, StudentT, Truncated


def rows(distribution):
    """Title, and the texts of the cells by row."""
    html = ElementTree.fromstring(distribution._repr_html_())
    caption, *lines = html
    return "".join(caption.itertext()), [
        ["".join(cell.itertext()) for cell in row] for row in lines
    ]


@pytest.mark.parametrize("case", CASES)
def test_all_are_shown(case):
    distribution = CASES[case].dist
    title, lines = rows(distribution)
    assert title.startswith(repr(distribution))
    assert repr(distribution).startswith(f"{distribution.name}(")
    names = [line[0] for line in lines]
    assert all(names)
    assert names[-2:] == ["support", "density"]
    assert lines[-2][1] == distribution.support().name
    assert lines[-1][1].startswith("$")
    assert lines[-1][1].endswith("$")
    assert len(lines[-1][1]) > 5


def test_arguments_are_named():
    title, lines = rows(Normal(0, 1))
    assert title == "Normal(0, 1) Normal distribution."
    assert lines[:3] == [["loc", "0", "real"], ["scale", "1", "positive"], ["support", "real"]]
    mixture = rows(Mixture([0.3, 0.7], [Normal(0, 1), StudentT(3, 0, 1)]))[1]
    assert mixture[:2] == [
        ["weights", "[0.3, 0.7]"], ["components", "[Normal(0, 1), StudentT(3, 0, 1)]"]
    ]  # fmt: skip
    assert rows(Truncated(Normal(0, 1), upper=3))[1][:3] == [
        ["dist", "Normal(0, 1)"], ["upper", "3", "real, or inf"], ["support", "below 3"]
    ]  # fmt: skip
    assert repr(MvNormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])) == "MvNormal([0, 0], <2x2 array>)"


def test_expressions_are_shown_as_they_are_written():
    class Escaped(Model):
        a = param(Normal(0, 1))
        b = param(Normal((a < 1) * a, 2.0))

    prior = Escaped._declarations["b"].prior
    assert rows(prior)[1][0][:2] == ["loc", "(a < 1) * a"]
    assert "a &lt; 1" in prior._repr_html_()
