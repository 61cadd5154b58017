"""The corpus of models: complete, unchanged, and a benchmark that can be interrupted."""

import csv
import importlib.util
import json
import re
from functools import partial
from pathlib import Path

import corpus
import corpus_models
import measures
import numpy as np
import posteriordb
import pytest
from corpus_simulated import SIMULATED
from measures import LATE, NO, YES
from scipy import stats
from scipy.optimize import minimize

from probmodel import Model, infer, param, read_data
from probmodel.density import as_posterior
from probmodel.distributions import Mixture, Normal

ROOT = Path(__file__).parents[2]
# The published models and data, where they are: in the checkout or beside it.
PLACES = [folder / "shared" / "data" / "corpus" for folder in (ROOT, ROOT.parent)]
ORIGINAL = next((place for place in PLACES if place.is_dir()), PLACES[0])
original = pytest.mark.skipif(not ORIGINAL.is_dir(), reason="the originals are not here")
OWN = [title for title, case in corpus.CASES.items() if case.source in ("users", "simulated")]
MODELS = list(corpus_models.MODELS)


# -- models and data ------------------------------------------------------------------------------


def test_every_page_is_sampled_with_all_its_data():
    index = (ROOT / "models" / "README.md").read_text()
    lines = [line.split(" | ") for line in index.splitlines() if line.startswith("| [`")]
    links = [[re.findall(r"\[`([^`]+)`\]", cell) for cell in (x[0], x[2])] for x in lines]
    pages = [(page, data) for (page,), files in links for data in files]
    cases = [*posteriordb.CASES.values(), *corpus.PAGES.values()]
    assert sorted((case.model, case.data) for case in cases) == sorted(pages)
    assert len(corpus.CASES) == len(cases) + 21 + 3
    assert set(corpus.ON_REQUEST) <= set(corpus.CASES)


@pytest.mark.parametrize("title", OWN)
def test_a_model_has_a_density_and_a_gradient_where_chains_start(title):
    density = corpus.CASES[title].build()
    x = density.initial_points(np.random.default_rng(1), 4)
    logp, grad = density(x)
    assert np.isfinite(logp).all()
    assert np.isfinite(grad).all()


def test_each_model_has_its_data():
    assert {path.stem for path in corpus_models.DATA.iterdir()} == set(MODELS)


@original
@pytest.mark.parametrize("name", MODELS)
def test_data_are_those_that_were_published(name):
    copy = read_data(corpus_models.DATA / f"{name}.npz")
    published = read_data(ORIGINAL / f"{name}.json")
    assert copy.keys() == published.keys()
    for entry, value in published.items():
        if entry == "coords":
            assert {dim: list(labels) for dim, labels in copy[entry].items()} == value
        else:
            assert copy[entry].dtype == np.asarray(value).dtype
            np.testing.assert_array_equal(copy[entry], value)


@pytest.fixture(scope="module")
def published():
    spec = importlib.util.spec_from_file_location("published_models", ORIGINAL / "models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MODELS


@original
@pytest.mark.parametrize("name", MODELS)
def test_a_density_is_that_of_the_published_model(name, published):
    density = corpus_models.build(name)
    same = as_posterior(published[name](**read_data(ORIGINAL / f"{name}.json")))
    assert density.dim == same.dim
    x = np.random.default_rng(2).uniform(-2.0, 2.0, (4, same.dim))
    for ours, theirs in zip(density(x), same(x), strict=True):
        scale = np.max(np.abs(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * scale)


def objective(density, x):
    logp, grad = density(x[None])
    return -logp[0], -grad[0]


def test_some_starts_of_the_mixture_lead_to_a_lower_mode():
    density = SIMULATED["ordered_mixture"].build()
    x0 = density.initial_points(np.random.default_rng(1), 16)
    modes = -np.array([minimize(partial(objective, density), x, jac=True).fun for x in x0])
    lower = modes < modes.max() - 30.0
    assert 2 <= np.sum(lower) < 8
    np.testing.assert_allclose(modes[~lower], modes.max(), atol=1e-3)


def test_starts_of_the_moving_average_explode():
    density = SIMULATED["moving_average"].build()
    logp = density.log_density(density.initial_points(np.random.default_rng(1), 16, inits=2.0))
    assert 4 <= np.sum(logp < -1e10) <= 12
    assert logp.min() < -1e50


@pytest.mark.parametrize("title", SIMULATED)
def test_the_true_values_are_likely(title):
    density = SIMULATED[title].build()
    truth = density.initial_points(np.random.default_rng(1), 1, dict(SIMULATED[title].truth))[0]
    mode = minimize(partial(objective, density), truth, jac=True)
    gap = 2.0 * (density.log_density(truth[None])[0] + mode.fun)
    assert -gap < stats.chi2.isf(0.001, density.dim)


# -- runs -----------------------------------------------------------------------------------------


class Easy(Model):
    """Independent normal distributions, with means that are 0 and mean squares that are 1."""

    x = param(Normal(0, 1), shape=3)


class Separate(Model):
    """Two modes that no chain leaves."""

    x = param(Mixture(np.array([0.5, 0.5]), Normal(np.array([-20.0, 20.0]), 1.0)))


CALLS = ["--models", "easy", "separate", "--seeds", "1"]


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Two quick models, and runs of few iterations, whatever the method asks for: the calls."""
    calls = []

    def run(density, **settings):
        calls.append(settings)
        return infer(density, **{**settings, "warmup": 50, "draws": 300, "chains": 8})

    monkeypatch.setattr(measures, "infer", run)
    monkeypatch.setattr(corpus, "REFERENCES", tmp_path / "references.json")
    for name, model in (("easy", Easy), ("separate", Separate)):
        case = corpus.Case("users", partial(as_posterior, model()))
        monkeypatch.setitem(corpus.CASES, name, case)
    return calls


def rows_in(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_benchmark_that_is_interrupted_goes_on(asked, tmp_path, capsys, monkeypatch):
    path = tmp_path / "rows.csv"
    usual = measures.infer

    def interrupted(density, **settings):
        if len(asked) == 4:
            raise KeyboardInterrupt
        return usual(density, **settings)

    monkeypatch.setattr(measures, "infer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        corpus.main([*CALLS, "--csv", str(path)])
    before = rows_in(path)
    assert len(before) == 4
    monkeypatch.setattr(measures, "infer", usual)
    assert corpus.main([*CALLS, "--csv", str(path), "--resume"]) == 0
    assert len(asked) == 6  # two were left
    rows = rows_in(path)
    assert rows[:4] == before
    assert [(row["model"], row["method"]) for row in rows] == [
        (model, method) for model in CALLS[1:3] for method in corpus.METHODS
    ]
    printed = capsys.readouterr().out
    assert corpus.main(["--rows", str(path)]) == 0
    assert capsys.readouterr().out.split("## Summary")[1] == printed.split("## Summary")[1]


def test_a_row_says_what_a_run_costs(asked, tmp_path):
    path = tmp_path / "rows.csv"
    exact = {"mean": [0.0] * 3, "mean_sq": [1.0] * 3, "mcse_mean": [0.0] * 3}
    names = {"names": [f"x[{i}]" for i in range(3)], "mcse_mean_sq": [0.0] * 3}
    corpus.REFERENCES.write_text(json.dumps({"easy": {**names, **exact}}))
    assert corpus.main([*CALLS, "--csv", str(path), "--limit", "1000"]) == 0
    assert [set(call) - {"max_time", "quiet"} for call in asked[:3]] == [
        {"seed"}, {"seed", *corpus.METHODS["nuts"]}, {"seed", "method"}
    ]  # fmt: skip
    assert {call["max_time"] for call in asked} == {1000.0}
    for row in rows_in(path):
        easy = row["model"] == "easy"
        figures = {name: float(row[name] or "nan") for name in row if name not in corpus.WORDS}
        part = 400 / min(figures["ess_bulk"], figures["ess_tail"]) if easy else 1.0
        sampling = (figures["gradients"] - figures["gradients_to_400"]) / (1.0 - part or np.nan)
        assert row["converged"] == (YES if easy else NO)
        assert row["from"] == "users"
        assert figures["comparisons"] == 6 if easy else np.isnan(figures["worst_z"])
        if easy:
            assert abs(figures["worst_z"]) < posteriordb.bound()
            assert 300 * 8 <= sampling < figures["gradients"]


def test_references_are_made_of_runs_that_converged(asked, capsys):
    arguments = ["--models", "easy", "separate", "arK-arK", "--make-references"]
    assert corpus.known("easy") is None
    assert corpus.main(arguments) == 0
    assert len(asked) == 3  # as declared, and once more standardised; arK is published
    assert [call["standardise"] for call in asked] == [False, False, True]
    assert "separate, {'standardise': True, 'target_accept': 0.99}: no" in capsys.readouterr().err
    assert corpus.known("separate") is None
    assert corpus.made_references()["easy"]["standardised"] is False
    found = corpus.known("easy")
    assert list(found.names) == ["x[0]", "x[1]", "x[2]"]
    for values, truth, errors in (
        (found.mean, 0.0, found.mean_error), (found.square, 1.0, found.square_error)
    ):  # fmt: skip
        assert np.all(np.abs(values - truth) < 4.5 * errors)
    assert corpus.main([*arguments, "--resume"]) == 0
    assert len(asked) == 5  # what has not converged is tried again


def test_quantities_that_do_not_vary_have_no_reference(monkeypatch):
    draws = np.random.default_rng(3).normal(2.0, 0.5, (4, 1000, 2))
    draws[:, :, 1] = 1.0
    monkeypatch.setattr(corpus, "flat", lambda run: (["a", "b"], draws))
    kept = corpus.summarised(None)
    own = draws[:, :, 0]
    assert kept["names"] == ["a"]
    assert kept["mean"] == [pytest.approx(own.mean())]
    assert kept["mean_sq"] == [pytest.approx(np.mean(own**2))]
    # The effective size of n independent draws is estimated with an error of sqrt(7 n).
    assert kept["mcse_mean_sq"] == [
        pytest.approx(np.std(own**2) / np.sqrt(4000), rel=5 * np.sqrt(7 / 4000) / 2)
    ]


def test_resuming_needs_a_file(capsys):
    with pytest.raises(SystemExit):
        corpus.main(["--resume"])
    assert "--csv" in capsys.readouterr().err


# -- summary --------------------------------------------------------------------------------------


def made(model, method, costs, converged=YES, **others):
    start = {"model": model, "from": "users", "method": method, "dim": 3, "warnings": ""}
    return [
        {**start, "seed": i, "converged": converged, "gradients_to_400": cost, **others}
        for i, cost in enumerate(costs, 1)
    ]


def cells(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


ROWS = [
    *made("a", "default", [50, 100, 900]), *made("a", "nuts", [200] * 3),
    *made("a", "fisher_hmc", [400] * 3),
    *made("b", "default", [900] * 2), *made("b", "default", [70], NO, warnings="rhat"),
    *made("b", "nuts", [20] * 3, NO, warnings="rhat"), *made("b", "fisher_hmc", [100] * 3),
    *made("c", "default", [10] * 3), *made("c", "nuts", [20] * 3, LATE),
    *made("c", "fisher_hmc", [20] * 3, NO),
    *made("d", "nuts", [60] * 3, **{"from": "gallery", "worst_z": -9.0, "comparisons": 10}),
]  # fmt: skip


def test_the_summary_compares_with_the_better_rival():
    found = corpus.relative_costs(ROWS)
    # Model c is solved by no rival, and d by nuts alone.
    assert found == {"default": [0.5, 9.0], "nuts": [1.0, 1.0], "fisher_hmc": [2.0, 1.0]}
    assert cells(corpus.summary(ROWS)) == [
        ["default", "8 of 9", "–", "8 of 9", "2.12", "2", "0"],
        ["nuts", "3 of 9", "3 of 3", "6 of 12", "1", "2", "3"],
        ["fisher_hmc", "6 of 9", "–", "6 of 9", "1.41", "2", "3"],
    ]


def test_what_is_unnoticed():
    (row,) = made("a", "nuts", [1], worst_z=-4.0)
    assert corpus.unnoticed(row, 3.0)
    assert not corpus.unnoticed(row, 5.0)
    assert not corpus.unnoticed({**row, "warnings": "divergences"}, 3.0)
    assert corpus.unnoticed({**row, "converged": NO}, 5.0)
    assert not corpus.unnoticed({**row, "converged": LATE}, 5.0)


def test_models_that_are_not_solved_are_listed():
    assert cells(corpus.unsolved(ROWS)) == [
        ["b", "users", "2 of 3", "0 of 3", "3 of 3"],
        ["c", "users", "3 of 3", "0 of 3", "0 of 3"],
    ]


def test_the_table_marks_what_did_not_reach_400():
    lines = cells(measures.table(ROWS, corpus.SHOWN))
    to_400 = list(corpus.SHOWN).index("gradients_to_400")
    assert [line[to_400] for line in lines[:1] + lines[11:13]] == ["50", "> 70", "> 20"]
