"""The comparison of the candidates for the default: honest times, clean limits."""

import csv
import time
from functools import partial

import default
import measures
import numpy as np
import posteriordb
import pytest

from probmodel import infer
from probmodel.density import FunctionDensity
from probmodel.samplers import SAMPLERS


def test_the_cases_are_models_of_the_gallery_with_their_data():
    cases = [*default.CASES.values(), *posteriordb.CASES.values()]
    assert {c.model for c in cases} <= {p.name for p in default.GALLERY.glob("*.py")}
    assert {c.data for c in cases} <= {p.name for p in (default.GALLERY / "data").iterdir()}
    assert set(default.CANDIDATES) <= set(SAMPLERS)


@pytest.fixture
def short(monkeypatch):
    """Runs of a few iterations, whatever the defaults."""
    monkeypatch.setattr(measures, "infer", partial(infer, warmup=150, draws=400))


@pytest.mark.usefixtures("short")
def test_a_short_run(tmp_path, capsys):
    path = tmp_path / "default.csv"
    arguments = ["--models", "ripley", "--methods", "fisher_mala", "mala", "--seeds", "1"]
    assert default.main([*arguments, "--chains", "2", "16", "--csv", str(path)]) == 0
    printed = capsys.readouterr().out
    titles = [line for line in printed.splitlines() if line.startswith("## ")]
    assert titles == ["## 2 chains", "## 16 chains", "## Summary"]
    assert default.main(["--rows", str(path)]) == 0
    again = capsys.readouterr().out
    assert again.split("## Summary")[1] == printed.split("## Summary")[1]
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["method"], r["chains"]) for r in rows] == [
        ("fisher_mala", "2"), ("mala", "2"), ("fisher_mala", "16"), ("mala", "16")
    ]  # fmt: skip
    assert {r["converged"] for r in rows} == {measures.YES, measures.NO}
    for row in rows:
        numbers = default.COLUMNS[6:17]
        rhat, bulk, tail, _, draws, warm, sampled, to_400, _, gradients, rate = (
            float(row[name]) for name in numbers
        )
        converged = rhat <= 1.01 and min(bulk, tail) >= 400
        assert row["converged"] == (measures.YES if converged else measures.NO)
        part = 400.0 / min(bulk, tail) if converged else 1.0
        assert to_400 == pytest.approx(warm + part * sampled, rel=1e-4)
        assert rate == pytest.approx(min(bulk, tail) / gradients, rel=1e-4)
        assert draws == 400
        assert ("rhat" in row["warnings"].split()) == (rhat > 1.01)


def test_defaults_are_those_of_the_method():
    row, run = default.measure(default.CASES["ripley"].build(), "fisher_mala", None, 1, 100.0)
    kind = SAMPLERS["fisher_mala"]
    assert row["chains"] == run.attrs["chains"] == kind.default_chains
    assert (row["warmup"], row["draws"]) == (kind.default_warmup, kind.default_draws)


@pytest.mark.usefixtures("short")
def test_means_are_compared_with_references(capsys):
    arguments = ["--models", "eight_schools", "--methods", "fisher_mala", "--seeds", "1"]
    assert default.main([*arguments, "--references"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("| eight_schools"))
    assert 0.0 < float(line.split("|")[-3]) < 5.0


# -- limits ---------------------------------------------------------------------------------------


@pytest.fixture
def slow():
    def function(x):
        time.sleep(0.001)
        return -0.5 * np.sum(x * x, axis=1)

    return FunctionDensity(function, 2, lambda x: -x)


def test_a_run_that_is_late_in_its_warmup(slow):
    row, run = default.measure(slow, "nuts", 2, 1, 0.2)
    assert run is None
    assert (row["converged"], row["seconds_to_400"]) == (measures.LATE, 0.2)
    assert "> 0.2" in measures.table([{"model": "slow"} | row], default.SHOWN)


def test_a_run_that_is_late_while_sampling(slow, monkeypatch):
    monkeypatch.setattr(measures, "infer", partial(infer, warmup=5, draws=100_000))
    row, _ = default.measure(slow, "fisher_mala", 2, 1, 0.5)
    assert row["converged"] == measures.LATE
    assert 0 < row["draws"] < 100_000
    assert row["seconds_to_400"] == row["seconds_warmup"] + row["seconds_sampling"]


def test_an_interrupt_of_the_user_ends_the_benchmark(slow, monkeypatch):
    def pressed(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(measures, "infer", pressed)
    with pytest.raises(KeyboardInterrupt):
        default.measure(slow, "nuts", 2, 1, 60.0)


def test_an_error_is_reported(slow):
    row, run = default.measure(slow, "mmala", 2, 1, 60.0)
    assert run is None
    assert row["converged"] == measures.FAILED
    assert row["warnings"].startswith("SamplerError: ")


# -- summary --------------------------------------------------------------------------------------


def made(model, method, times, converged=measures.YES):
    return [
        {"model": model, "method": method, "asked": None, "seconds_to_400": t,
         "converged": converged} for t in times
    ]  # fmt: skip


def test_time_is_the_median_over_seeds():
    typical = partial(measures.typical, cost="seconds_to_400")
    assert typical(made("a", "nuts", [3.0, 1.0, 2.0])) == 2.0
    failed = made("a", "nuts", [0.1], measures.NO)
    assert typical(made("a", "nuts", [1.0, 3.0]) + failed) == 3.0
    assert np.isinf(typical(made("a", "nuts", [1.0]) + 2 * failed))


def test_summary():
    rows = [
        *made("a", "nuts", [2.0]), *made("b", "nuts", [6.0]),
        *made("c", "nuts", [1.0], measures.NO),
        *made("a", "mala", [4.0]), *made("b", "mala", [3.0]),
        *made("c", "mala", [9.0], measures.LATE),
        *made("a", "rwm", [2.0], measures.NO), *made("b", "rwm", [2.0], measures.FAILED),
        *made("c", "rwm", [2.0], measures.NO),
    ]  # fmt: skip
    lines = default.summary(rows).splitlines()
    assert "best, of 2 models" in lines[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert cells == [
        ["nuts", "default", "2 of 3", "1.5", "1"],
        ["mala", "default", "2 of 3", "1.5", "1"],
        ["rwm", "default", "0 of 3", "inf", "0"],
    ]
    assert default.summary(made("a", "nuts", [1.0], measures.NO)).count("–") == 1
