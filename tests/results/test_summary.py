"""The text table is limited to what fits on a screen."""

import numpy as np
import pytest

from probmodel.results.arviz_object import arviz_object, import_arviz
from probmodel.results.draws import named_draws
from probmodel.results.summary import heading, summary_text


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


def test_a_table_of_our_own_where_arviz_fails(table, make_run, monkeypatch):
    run = make_run()
    expected = table(run)

    def broken(*arguments, **settings):
        raise TypeError("no docstring")

    monkeypatch.setattr(import_arviz(), "summary", broken)
    text = table(run)
    for line, label in zip(text.splitlines()[1:], labels(expected), strict=False):
        assert line.startswith(label)
    assert text.endswith("\n(ArviZ's summary failed, TypeError: no docstring; this is our own.)")
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines()[1:4]}
    tau = np.exp(run.x[..., 2])
    shown = [float(number) for number in rows["tau"]]
    exact = [tau.mean(), tau.std(ddof=1), *np.quantile(tau, (0.05, 0.95))]
    np.testing.assert_allclose(shown[:4], exact, atol=0.5e-3)
    columns = {name: expected.splitlines()[0].split().index(name) for name in ("ess_bulk", "r_hat")}
    theirs = next(line for line in expected.splitlines() if line.startswith("tau")).split()[1:]
    assert abs(shown[4] - float(theirs[columns["ess_bulk"]])) <= 1.0
    assert abs(shown[6] - float(theirs[columns["r_hat"]])) <= 0.01


def test_one_chain_is_none_of_several():
    attrs = {
        "name": "Line", "method": "nuts", "chains": 1, "draws_done": 50, "warmup_done": 1,
        "seed": 1, "warmup_time": 0.1, "sampling_time": 0.1, "n_grad_sampling": 70,
    }  # fmt: skip
    expected = "Line: nuts, 1 chain of 50 draws after 1 warm-up iteration, seed 1; 0.2 s, 70 grad"
    assert heading(attrs).startswith(expected)
    assert " 2 chains of 1 draw after 0 warm-up iterations," in heading(
        {**attrs, "chains": 2, "draws_done": 1, "warmup_done": 0}
    )
