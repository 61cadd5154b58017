"""The text table is limited to what fits on a screen."""

import numpy as np
import pytest

from probmodel.results.arviz_object import arviz_object
from probmodel.results.draws import named_draws
from probmodel.results.summary import summary_text


@pytest.fixture
def table(posterior):
    def table(run, rows=40):
        draws = named_draws(posterior, run.x)
        return summary_text(arviz_object(run, posterior, draws, {}), rows)

    return table


def labels(text):
    return [line.split("  ")[0].strip() for line in text.splitlines()[1:] if line[0] != "("]


def test_all_rows(table, make_run):
    text = table(make_run())
    assert labels(text)[:3] == ["w[age]", "w[sex]", "tau"]
    assert len(labels(text)) == 9
    assert "quantities are shown" not in text


@pytest.mark.parametrize(("rows", "expected"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (8, 6)])
def test_limited_rows(table, make_run, rows, expected):
    text = table(make_run(), rows)
    assert len(labels(text)) == expected
    assert f"({expected} of 9 quantities are shown" in text


def test_no_draws(table, make_run):
    run = make_run(np.empty((4, 0, 3)), warmup=20)
    assert table(run) == "The result holds no posterior draws."


@pytest.mark.parametrize("chains", [1, 4])
def test_constant_and_short_draws_print_nothing_else(table, make_run, chains, capfd):
    text = table(make_run(np.zeros((chains, 3, 3))))
    assert len(labels(text)) == 9
    assert capfd.readouterr().err == ""
