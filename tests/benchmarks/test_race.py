"""The race per gradient: its targets, its runs, and what is said of them."""

import csv
import dataclasses

import numpy as np
import pytest
import race

from probmodel.errors import SamplerError
from probmodel.inference.groups import sample

SIZES = race.Sizes(chains=4, draws=60, warmup=60)


def made(target, method, sizes, rhat=1.0, error=""):
    """Rows of runs with these effective sample sizes per gradient."""
    row = {"target": target, "method": method, "error": error, **dict.fromkeys(race.SHOWN, 1.0)}
    return [row | {"ess_per_gradient": size, "rhat": rhat} for size in sizes]


@pytest.mark.parametrize("name", race.TARGETS)
def test_targets_have_gradients_at_the_starting_points(name):
    density = race.TARGETS[name]()
    x = race.starting_points(density, np.random.default_rng(1), 3)
    logp, grad = density(x)
    assert x.shape == grad.shape == (3, density.dim)
    assert np.all(np.isfinite(logp))
    assert np.all(np.isfinite(grad))


def jacobian_of(density, point):
    """Derivatives of the path in its coordinates, which it is linear in: (days, days)."""
    moves = np.concatenate([np.zeros((1, density.dim - 3)), np.eye(density.dim - 3)])
    path = density.constrain(np.column_stack([np.tile(point[:3], (len(moves), 1)), moves]))["h"]
    return path[1:] - path[0]


def test_both_volatilities_are_one_posterior():
    centred, free = race.TARGETS["volatility_centered"](), race.TARGETS["volatility"]()
    assert centred.coordinate_names[:4] == free.coordinate_names[:4]
    z = 0.3 * np.random.default_rng(2).standard_normal((3, free.dim))
    values = free.constrain(z)
    x = np.concatenate([z[:, :3], values["h"] - values["mu"][:, None]], axis=1)
    slopes = [jacobian_of(free, point) for point in z]
    jacobian = np.linalg.slogdet(np.stack(slopes))[1]
    expected = centred.log_density(x) + jacobian
    np.testing.assert_allclose(free.log_density(z), expected, rtol=1e-10)


def test_labels_name_a_metric():
    assert race.sampler_of("nuts:dense").metric == "dense"
    assert race.sampler_of("fisher_mala").name == "fisher_mala"


def test_a_short_race(tmp_path, capsys):
    path = tmp_path / "race.csv"
    arguments = ["--targets", "ripley", "neal100", "--methods", "hmc:dense", "fisher_mala"]
    sizes = ["--chains", "4", "--draws", "30", "--warmup", "40", "--repeats", "2"]
    assert race.main([*arguments, *sizes, "--csv", str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| neal100 | hmc:dense ") == 1
    assert "targets" not in printed  # no verdict without the method that it is about
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["target"], r["method"], r["repeat"]) for r in rows] == [
        (t, m, r) for t in ("ripley", "neal100") for m in ("hmc:dense", "fisher_mala")
        for r in ("0", "1")
    ]  # fmt: skip
    for row in rows:
        smaller = min(float(row["ess_bulk"]), float(row["ess_tail"]))
        expected = smaller / float(row["gradients_sampling"])
        assert float(row["ess_per_gradient"]) == pytest.approx(expected, rel=1e-4)
        assert 0.0 < float(row["acceptance_rate"]) <= 1.0
    assert race.main(["--rows", str(path)]) == 0
    again = capsys.readouterr().out.splitlines()  # R-hats beyond six digits differ
    assert [line[:30] for line in again] == [
        line[:30] for line in printed.splitlines()[-len(again) :]
    ]
    langevin = [r for r in rows if r["method"] == "fisher_mala"]
    assert {int(r["gradients_sampling"]) for r in langevin} == {4 * 30}
    assert all(float(r["warmup_per_chain"]) == int(r["gradients_warmup"]) / 4 for r in rows)


def test_repeats_differ_and_repeat():
    density = race.TARGETS["ripley"]()
    first, again, other = (
        race.measure("ripley", density, "fisher_mala", repeat, SIZES) for repeat in (0, 0, 1)
    )
    assert first == again
    assert first["ess_bulk"] != other["ess_bulk"]


def test_a_run_that_fails_says_so(monkeypatch):
    def fail(*args, **settings):
        raise SamplerError("no")

    monkeypatch.setattr(race, "sample", fail)
    row = race.measure("ripley", race.TARGETS["ripley"](), "fisher_mala", 0, SIZES)
    assert row["error"] == "SamplerError: no"


def test_an_interrupted_run_ends_the_race(monkeypatch):
    def interrupted(*args, **settings):
        return dataclasses.replace(sample(*args, **settings), interrupted=True)

    monkeypatch.setattr(race, "sample", interrupted)
    with pytest.raises(KeyboardInterrupt):
        race.measure("ripley", race.TARGETS["ripley"](), "fisher_mala", 0, SIZES)


def test_medians_and_ratios():
    rows = [
        *made("a", "fisher_hmc", [0.1, 0.3, 0.2]), *made("a", "nuts", [0.4]),
        *made("b", "fisher_hmc", [0.5]), *made("b", "nuts", [0.5]),
        *made("c", "fisher_hmc", [np.nan], error="SamplerError: no"), *made("c", "nuts", [0.1]),
        *made("d", "fisher_hmc", [0.1]), *made("d", "nuts", [0.9], rhat=1.06),
        *made("e", "fisher_hmc", [0.1], rhat=1.6), *made("e", "nuts", [0.9], rhat=np.nan),
    ]  # fmt: skip
    found = race.medians(rows)
    assert found["a", "fisher_hmc"]["ess_per_gradient"] == 0.2
    assert np.isnan(found["c", "fisher_hmc"]["rhat"])
    expected = [0.5, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, np.nan, np.nan]
    assert list(race.ratios(found).values()) == pytest.approx(expected, nan_ok=True)
    said = race.verdict(found)
    assert "on 2 of the 4 targets" in said
    assert said.endswith("below half of the best: c (0.00).")
    assert race.verdict({key: found[key] for key in found if key[0] == "b"}).endswith("never.")
    assert race.table(found).splitlines()[-1].split("|")[6].strip() == "–"
