"""All methods on twenty posteriors: what is known of these, and how a run is judged."""

import argparse
import csv
import os
from pathlib import Path
from types import SimpleNamespace

import measures
import method_posteriors
import methods
import numpy as np
import pytest
import xarray as xr
from method_posteriors import MADE, POSTERIORS
from posteriordb import Known
from scipy import stats

from probmodel import LogDensity, infer
from probmodel.samplers import DEFAULT_METHOD, available_samplers, make_sampler

RESULTS = Path(methods.__file__).parent / "results"
ROW = dict.fromkeys(methods.COLUMNS, np.nan) | {
    "posterior": "pima", "method": "nuts", "seed": 1, "converged": "yes", "rhat": 1.001,
    "ess_bulk": 800.0, "ess_tail": 400.0, "seconds_warmup": 1.0, "seconds_sampling": 1.0,
    "gradients_warmup": 100, "gradients_sampling": 300, "densities_warmup": 0,
    "densities_sampling": 100, "worst_z": 1.0, "worst_of": "beta[0]", "comparisons": 16,
    "warnings": "",
}  # fmt: skip


# -- what is compared -----------------------------------------------------------------------------


def test_every_registered_method_and_what_papers_change():
    settings = methods.methods()
    own = {name for name in settings if ":" not in name}
    assert own == set(available_samplers())
    assert len(settings) > len(own)
    for name, given in settings.items():
        method, rest = given["method"], {k: v for k, v in given.items() if k != "method"}
        assert name.partition(":")[0] == method
        differs = make_sampler(method, **rest) != make_sampler(method)
        assert differs == (":" in name), name


def test_twenty_posteriors():
    assert len(POSTERIORS) == 20
    assert len({case.label for case in POSTERIORS.values()}) == 20
    for case in POSTERIORS.values():
        known = case.known()
        sizes = {len(part) for part in known}
        assert len(sizes) == 1
        assert np.all(np.asarray(known.square_error) >= 0.0)
    assert set(MADE) == set(method_posteriors.made_references())


@pytest.mark.parametrize("title", ["normal_2", "normal_51", "normal_100", "heavy_tails"])
def test_what_is_known_in_closed_form_is_what_is_sampled(title):
    case = POSTERIORS[title]
    run = infer(case.build(), seed=1, quiet=True, cores=1, **case.settings)
    found = methods.compared(run, case.known())
    assert abs(found["worst_z"]) < stats.norm.isf(5e-5 / found["comparisons"])
    assert found["comparisons"] == 2 * len(case.known().names)


def test_what_is_known_of_curved_posteriors_is_what_direct_draws_have():
    rng = np.random.default_rng(1)
    x = method_posteriors.SPREAD * rng.standard_normal(10**6)
    y = method_posteriors.BEND * (x**2 - method_posteriors.SPREAD**2) + rng.standard_normal(10**6)
    t = rng.standard_t(3, 10**6)
    draws = {
        "banana": {"x": x, "y": y},
        "funnel": {"v": 3.0 * rng.standard_normal(10**6)},
        "heavy_tails": {"x[0]": t, "size[0]": np.log1p(t**2)},
    }
    for title, values in draws.items():
        known = POSTERIORS[title].known()
        for name, value in values.items():
            i = known.names.index(name)
            assert abs(value.mean() - known.mean[i]) < 5 * value.std() / 1000
            if np.isfinite(known.square_error[i]):
                assert abs((value**2).mean() - known.square[i]) < 5 * (value**2).std() / 1000


# -- how a run is judged --------------------------------------------------------------------------


@pytest.mark.parametrize(("changes", "expected"), [
    ({}, methods.RIGHT),
    ({"warnings": "time_limit"}, methods.RIGHT),
    ({"warnings": "time_limit rhat"}, methods.WARNED),
    ({"warnings": "rhat", "worst_z": -90.0}, methods.WARNED),
    ({"worst_z": -9.0}, methods.WRONG),
    ({"converged": "time limit", "rhat": np.nan, "worst_z": np.nan}, methods.LATE),
    ({"converged": "error", "rhat": np.nan, "warnings": "ModelError: no"}, methods.LACKING),
    ({"converged": "error", "rhat": np.nan, "warnings": "ValueError: no"}, methods.BROKEN),
])  # fmt: skip
def test_outcomes(changes, expected):
    row = ROW | changes
    assert methods.outcome(row, methods.bounds([row])[0]) == expected


def test_the_bound_is_for_all_comparisons_of_all_runs():
    rows = [ROW, ROW | {"comparisons": 160}, ROW | {"comparisons": np.nan}]
    first, second, third = methods.bounds(rows)
    level = sum(2 * n * stats.norm.sf(z) for n, z in ((16, first), (160, second)))
    assert level == pytest.approx(methods.FAMILY_LEVEL)
    assert third == np.inf


def result(draws):
    posterior = xr.Dataset({"x": (("chain", "draw", "x_dim"), draws)})
    return {"posterior": posterior, "attrs": SimpleNamespace()}


def test_means_and_squares_that_are_off_are_found():
    rng = np.random.default_rng(2)
    names = [f"x[{i}]" for i in range(3)]
    known = Known(names, *np.array([[0.0] * 3, [0.01] * 3, [1.0] * 3, [0.01] * 3]))
    draws = rng.standard_normal((4, 1000, 3))
    assert abs(methods.compared(result(draws), known)["worst_z"]) < 4.0
    shifted = methods.compared(result(draws + np.array([0.0, 0.2, 0.0])), known)
    assert shifted["worst_of"] == "x[1]"
    assert shifted["worst_z"] > 8.0
    narrow = methods.compared(result(draws * np.array([1.0, 1.0, 0.8])), known)
    assert narrow["worst_of"] == "x[2] ** 2"
    assert narrow["worst_z"] < -8.0
    assert "worst_z" not in methods.compared(result(draws[:, :50]), known)


def test_the_errors_of_means_are_those_of_many_runs():
    rng = np.random.default_rng(3)
    x = np.zeros((500, 4, 400))
    for t in range(1, 400):
        x[:, :, t] = 0.8 * x[:, :, t - 1] + rng.standard_normal((500, 4))
    spread = x[:, :, 50:].mean(axis=(1, 2)).std()
    stated = [methods._errors(run[:, 50:, None])[0] for run in x[:50]]
    assert np.median(stated) == pytest.approx(spread, rel=0.15)


# -- runs -----------------------------------------------------------------------------------------


def options(**changes):
    given = {"methods": ["nuts", "fisher_hmc"], "limit": 20.0}
    return argparse.Namespace(**given | changes)


def test_what_is_done_or_has_no_draws_is_not_run(monkeypatch):
    asked = []

    def alone(density, known, settings, limit):
        asked.append((settings["method"], settings["seed"]))
        return {"converged": "yes"}

    monkeypatch.setattr(methods, "alone", alone)
    done = [ROW, ROW | {"method": "fisher_hmc", "rhat": np.nan}]
    assert list(methods.rows_of("pima", 1, options(), list(done))) == []
    assert len(list(methods.rows_of("pima", 2, options(), list(done)))) == 1
    assert asked == [("nuts", 2)]


def test_a_run_by_itself_has_what_a_row_needs():
    case = POSTERIORS["normal_2"]
    settings = {"method": "fisher_hmc", "seed": 1}
    row = methods.alone(case.build(), case.known(), settings, 20.0)
    missing = set(methods.COLUMNS) - set(row) - {"posterior", "method", "seed"}
    assert not missing
    assert methods.outcome(row, 6.0) == methods.RIGHT


def test_an_iteration_that_does_not_end_is_ended(monkeypatch):
    here = os.getpid()

    def busy(x):
        while os.getpid() != here:
            pass
        return -0.5 * (x**2).sum(axis=1)

    monkeypatch.setattr(methods, "GRACE", 0)
    density = LogDensity.from_function(busy, 2, gradient=lambda x: -x)
    row = methods.alone(density, POSTERIORS["normal_2"].known(), {"method": "rwm", "seed": 1}, 1.0)
    assert methods.outcome(dict.fromkeys(methods.COLUMNS, np.nan) | row, 6.0) == methods.LATE


# -- what came of it ------------------------------------------------------------------------------


def seeds(**changes):
    return [ROW | {"seed": seed} | changes for seed in (1, 2, 3)]


def test_rates_and_shares():
    assert methods.rate(ROW, "second", True) == 200.0
    assert methods.rate(ROW, "second", False) == 400.0
    assert methods.rate(ROW, "evaluation", True) == 0.8
    assert methods.rate(ROW, "evaluation", False) == 1.0
    rows = seeds() + seeds(method="hmc", ess_bulk=100.0) + seeds(method="am", warnings="rhat")
    part = methods.shares(methods.cells(rows), ("second", True))
    assert part == {("nuts", "pima"): 1.0, ("hmc", "pima"): 0.25}


def test_most_seeds_decide_and_one_that_is_wrong_is_enough():
    first, second, third = seeds()
    bad = {"warnings": "rhat"}
    found = [
        methods.cells([first, second | a, third | b])["nuts", "pima"]
        for a, b in (({}, bad), (bad, bad), ({}, {"worst_z": 50.0}))
    ]
    assert [cell.outcome for cell in found] == [methods.RIGHT, methods.WARNED, methods.WRONG]
    assert [cell.right for cell in found] == [2, 1, 2]


def test_tables_and_figure(tmp_path):
    pytest.importorskip("matplotlib")
    from method_picture import draw

    rows = seeds() + seeds(method="hmc", ess_bulk=100.0) + seeds(method="am", warnings="rhat")
    rows += [ROW | {"method": "mala", "worst_z": 50.0}]
    assert [line[0] for line in methods.ranking(rows)] == ["nuts", "hmc", "am", "mala"]
    text = methods.report(rows)
    assert "0.25" in text
    assert text.rstrip().endswith("|")  # what is wrong is listed
    draw(tmp_path / "methods.png", rows)
    assert (tmp_path / "methods.png").stat().st_size > 10_000


def test_the_page_claims_what_the_table_shows():
    """The words of docs/which-method.md; its figures are compared by test_summary."""
    rows = [
        dict.fromkeys(methods.COLUMNS, np.nan) | row
        for row in measures.stored([RESULTS / "methods.csv"], methods.WORDS)
    ]
    lines = methods.ranking(rows)
    right = {line[0]: int(line[1]) for line in lines}
    part = methods.shares(methods.cells(rows), ("second", True))
    best = [name for (name, _), share in part.items() if share == 1.0]
    assert max(right, key=right.get) == DEFAULT_METHOD == lines[0][0]
    assert all(line[1 + methods.OUTCOMES.index(methods.WRONG)] == "0" for line in lines)
    assert best.count(DEFAULT_METHOD) > 0.8 * len(best)
    assert right["fisher_mala"] > right["hmc"] > right["mala"]
    assert right["fisher_mala"] > max(right["ada_mala"], right["gad_mala"])
    without_gradients = ("am", "mtm", "rwm", "sa_mcmc", "stretch")
    assert max(right[name] for name in without_gradients) < 0.5 * right[DEFAULT_METHOD]
    assert max(right["mmala"], right["rmhmc"]) < 0.5 * right[DEFAULT_METHOD]
    assert not any(title == "funnel" for _, title in part)
    assert [name for name, title in part if title == "eight_schools_centred"] == ["smc"]
    assert right["mams"] > right["nuts"]


def test_stored_rows_are_of_all_methods_on_all_posteriors():
    with (RESULTS / "methods.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == methods.COLUMNS
    pairs = {(row["posterior"], row["method"]) for row in rows}
    assert {title for title, _ in pairs} == set(POSTERIORS)
    assert len(pairs) == len(POSTERIORS) * len({name for _, name in pairs})
    assert {name for _, name in pairs} <= set(methods.methods())
    assert len({(r["posterior"], r["method"], r["seed"]) for r in rows}) == len(rows)
