"""Folders of Stan programs: which data belong to which, what is measured, and how it is told."""

import csv
import json
import sys
import zipfile

import numpy as np
import pytest
import stan_cases
import stan_corpus
import stan_measures
from stan_cases import Case

from probmodel.stan.stan_model import Stan, load_stan

COIN = """
data { int<lower=0> n; array[n] int<lower=0, upper=1> heads; }
parameters { real<lower=0, upper=1> p; vector[0] none; }
model { p ~ beta(2, 2); heads ~ bernoulli(p); }
"""
WRONG = "parameters { real x; } model { x ~ nromal(0, 1); }"
DATA = {"n": 4, "heads": [1, 0, 1, 1]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "coin.stan").write_text(COIN)
    (tmp_path / "a" / "coin.data.R").write_text("n <- 4\nheads <- c(1, 0, 1, 1)\n")
    (tmp_path / "wrong.stan").write_text(WRONG)
    return tmp_path


@pytest.fixture
def posteriordb(tmp_path):
    place = tmp_path / "posterior_database"
    draws = place / "reference_posteriors" / "draws" / "draws"
    for part in ("posteriors", "models/stan", "data/data", draws.relative_to(place)):
        (place / part).mkdir(parents=True)
    about = {"model_name": "coin", "data_name": "four", "reference_posterior_name": "four-coin"}
    (place / "posteriors" / "four-coin.json").write_text(json.dumps(about))
    (place / "models" / "stan" / "coin.stan").write_text(COIN)
    known = np.random.default_rng(1).beta(5, 3, size=(4, 1000))
    for file, content in (
        (place / "data" / "data" / "four.json.zip", DATA),
        (draws / "four-coin.json.zip", [{"p": chain.tolist()} for chain in known]),
    ):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(file.stem, json.dumps(content))
    return tmp_path


def test_data_are_found_by_name_and_alone(folder):
    cases = {case.name: case for case in stan_cases.cases_of(folder)}
    assert list(cases) == ["a/coin", "wrong"]
    assert cases["a/coin"].data.name == "coin.data.R"
    assert cases["a/coin"].read()["n"] == 4
    assert cases["wrong"].data is None
    (folder / "a" / "other.stan").write_text(COIN)
    (folder / "a" / "coin.init.R").write_text("p <- 0.5\n")
    assert stan_cases.data_of(folder / "a" / "other.stan").name == "coin.data.R"
    (folder / "a" / "third.json").write_text("{}")
    assert stan_cases.data_of(folder / "a" / "other.stan") is None


def test_posteriordb_is_recognised(posteriordb):
    (case,) = stan_cases.cases_of(posteriordb)
    assert (case.name, case.read()) == ("four-coin", DATA)
    assert stan_cases.draws_of(case.reference)["p"].shape == (4, 1000)


def test_rows_say_how_far_a_program_came(folder):
    coin, wrong = stan_cases.cases_of(folder)
    row = stan_measures.measured(coin, {})
    assert (row["stage"], row["dim"], row["finite"], row["error"]) == ("done", 1, 4, "")
    assert row["operations"] > 3
    assert row["gradient_us"] > 0
    row = stan_measures.measured(wrong, {})
    assert (row["stage"], row["kind"], row["typed"]) == ("bind", "ModelError", True)
    assert "normal" in row["error"]
    lone = stan_measures.measured(coin._replace(data=None), {"cost": False})
    assert (lone["stage"], lone["kind"]) == ("data", "DataError")


def test_draws_are_compared_with_references(posteriordb):
    (case,) = stan_cases.cases_of(posteriordb)
    row = stan_measures.measured(case, {"sample": True, "cost": False, "seed": 3})
    assert (row["draws"], row["compared"]) == ("agrees", 2)
    assert abs(row["worst_z"]) < row["bound_z"]
    assert row["bound_z"] == pytest.approx(3.4808, abs=1e-3)  # normal, 0.001 / 4 a side


def oracle_of(density, coordinates, shift):
    """What a Stan that is right, but for a shift of the density at the second point, would say."""
    rows = []
    for i, u in enumerate(coordinates):
        p = 1 / (1 + np.exp(-u))
        value = 4 * np.log(p) + 2 * np.log1p(-p) + 7 + shift * (i // 5 == 1)
        slope = 4 * (1 - p) - 2 * p
        rows.append({"coordinates": [u], "value": value, "gradient": [slope]})
    return rows


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, "agrees"), (1e-6, "DIFFERS")])
def test_differences_of_log_densities_decide(folder, shift, verdict):
    density = stan_measures.ModelDensity(load_stan(folder / "a" / "coin.stan")(**DATA))
    x = np.array([[0.3], [-0.5]])
    lines = np.ones((2, 1))
    moves = np.array([0.0, -2.0, -1.0, 1.0, 2.0]) * stan_measures.STEP
    places = (x[:, None] + moves[:, None] * lines[:, None]).reshape(-1, 1)
    rows = oracle_of(density, places[:, 0], shift)
    found = stan_measures._compared(density, x, lines, places, rows)
    assert found["oracle"] == verdict
    assert found["slope_gap"] < 1e-9
    assert found["value_gap"] == pytest.approx(shift / abs(rows[0]["value"]), rel=0.5, abs=1e-14)
    failed = stan_measures._compared(density, x, lines, places, [{"error": "no"}])
    assert failed == {"oracle": "error", "error": "no"}


def test_a_script_in_another_python_is_asked(folder, monkeypatch):
    said = folder / "oracle.py"
    said.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "assert asked['data']['n'] == {'values': [4], 'shape': [], 'kind': 'int'}\n"
        "assert asked['points'][0]['none']['shape'] == [0]\n"
        "print(json.dumps([{'error': 'constant'}] * len(asked['points'])))\n"
    )
    monkeypatch.setattr(stan_measures, "ORACLE", said)
    coin = next(iter(stan_cases.cases_of(folder)))
    options = {"oracle": "httpstan", "cost": False, "stan_python": sys.executable}
    row = stan_measures.measured(coin, options)
    assert (row["stage"], row["oracle"], row["error"]) == ("done", "error", "constant")


def test_priors_that_bound_are_named():
    code = """
        parameters { real x; real<lower=0> y; }
        model { x ~ uniform(0, 1); y ~ gamma(2, 2); }"""
    made = Stan(code)
    density = stan_measures.ModelDensity(made())
    assert stan_measures._bounded(made, density) == {"bounded_by_prior": "x"}


def test_the_script(folder, capsys):
    out = folder / "rows.csv"
    assert stan_corpus.main([str(folder), "--no-cost", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "2 programs: 1 done, 1 bind" in printed
    assert "ModelError: " in printed
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["stage"] for row in rows] == ["done", "bind"]
    assert "\n" not in rows[1]["error"]
    assert str(folder) not in rows[1]["error"]
    stan_corpus.write([{"name": "a", "stage": "done"}], folder / "rows.json")
    assert json.loads((folder / "rows.json").read_text()) == [{"name": "a", "stage": "done"}]


def test_a_program_that_takes_too_long_is_ended(folder):
    case = Case("coin", folder / "a" / "coin.stan", folder / "a" / "coin.data.R")
    row = stan_corpus.row_of(case, {"limit": 0.01})
    assert (row["stage"], row["kind"]) == ("limit", "TimeLimit")


def test_disagreement_is_the_exit_status(folder, monkeypatch, capsys):
    row = {"name": "a/coin", "stage": "done", "finite": 4, "oracle": "DIFFERS", "ratio": 2.0}
    monkeypatch.setattr(stan_corpus, "row_of", lambda *_: row)
    assert stan_corpus.main([str(folder), "--only", "coin"]) == 1
    printed = capsys.readouterr().out
    assert "oracle: 1 DIFFERS" in printed
    assert "2 in the median of 1" in printed
