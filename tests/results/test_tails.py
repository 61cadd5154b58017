"""Tails that are seldom entered or left are told of."""

import re

import numpy as np
import pytest

from probmodel import Model, infer, observed, param
from probmodel.distributions import Normal
from probmodel.results.convergence import Convergence
from probmodel.results.quantities import Quantities
from probmodel.results.tails import check_tails, tails

NOTHING = Convergence(np.ones(1), np.full(1, 1e4), np.full(1, 1e4))


class Horn(Model):
    """A plain whose upper end becomes narrow."""

    x = param(Normal(0, 1))
    y = param(Normal(0, np.exp(-2.0 * np.logaddexp(0.0, 8.0 * (x - 1.0)) / 8.0)))
    seen = observed(Normal(0 * x, 1))


class Plane(Model):
    """Independent normals."""

    x = param(Normal(0, 1), shape=4)
    seen = observed(Normal(0 * x[0], 1))


def kinds(found):
    return re.findall(r'"kind": ?"(\w+)"', found.attrs["warnings"])


def test_ratios_by_hand():
    """In the middle 0.8, in the lower tail 0.2, in the upper tail 0.4 and 0.8 by turns."""
    rng = np.random.default_rng(1)
    row = rng.permuted(np.arange(20_000.0)).reshape(4, 5000)
    rate, first = np.full(row.shape, 0.8), np.ones(row.shape, dtype=bool)
    start = row[:, :-1]
    rate[:, 1:][start < 199] = 0.2
    upper = start > 19_799
    rate[:, 1:][upper] = np.where(start[upper] % 2 == 0.0, 0.4, 0.8)
    low, high = tails(row, rate, first)
    assert low.ratio == pytest.approx(0.25)
    assert low.error == pytest.approx(0.0, abs=1e-12)
    assert low.bound == 199.0
    assert low.fallen
    assert high.ratio == pytest.approx(0.75, abs=0.005)
    assert high.error == pytest.approx(0.25 / np.sqrt(upper.sum()), rel=0.01)
    assert high.bound == 19_799.0
    assert not high.fallen


def test_errors_are_of_places():
    """Chains that stay far out count for the ratio, and one place only for its error."""
    rng = np.random.default_rng(2)
    row = np.repeat(rng.standard_normal((4, 2000)), 10, axis=1)
    rate = rng.uniform(0.0, 1.0, row.shape)
    first = np.zeros(row.shape, dtype=bool)
    first[:, ::10] = True
    for tail, other in zip(
        tails(row, rate, first), tails(row, rate, np.ones_like(first)), strict=True
    ):
        assert tail.ratio == other.ratio
        assert tail.error == pytest.approx(np.sqrt(10.0) * other.error, rel=0.05)
    row[0, :1000], first[0, 1:1000] = 9.0, False
    assert tails(row, rate, first)[1].ratio == np.inf  # all of the tail is one place


@pytest.mark.parametrize("change", ["few", "nan", "constant", "never accepted"])
def test_nothing_is_said_where_nothing_can_be_told(change):
    rng = np.random.default_rng(3)
    row = rng.standard_normal((2, 100 if change == "few" else 5000))
    rate = np.where(np.abs(row) > 2.0, 0.01, 0.9)
    rate = np.concatenate([rate[:, :1], rate[:, :-1]], axis=1)
    first = np.ones(row.shape, dtype=bool)
    if change == "nan":
        row[0, 7] = np.nan
    if change == "constant":
        row[:] = 1.0
    if change == "never accepted":
        rate[:] = 0.0
    assert not any(tail.fallen for tail in tails(row, rate, first))


def test_the_message_names_quantity_side_and_remedy(make_run, sampler):
    run = make_run(chains=4, draws=5000)
    run.stats["acceptance_rate"][:, 1:][run.x[:, :-1, 2] > 2.0] = 0.05
    rows = np.moveaxis(run.x, 2, 0)
    (finding,) = check_tails(run, Quantities(["a", "b", "tau"], [rows], NOTHING), sampler)
    assert finding.kind == "tails"
    assert finding.variables == ("tau",)
    assert re.search(r"for tau above 2\.\d+ \(0\.\d\d\): the outermost", finding.message)
    assert "Use the default method" in finding.message
    assert "a higher target_accept; it was 0.574" in finding.message


def test_the_side_that_fares_worse_is_named(make_run, sampler):
    run = make_run(chains=4, draws=5000)
    run.stats["acceptance_rate"][:, 1:][run.x[:, :-1, 0] > 2.2] = 0.1
    run.stats["acceptance_rate"][:, 1:][run.x[:, :-1, 0] < -2.2] = 0.01
    (finding,) = check_tails(run, Quantities(["a"], [run.x[None, ..., 0]], NOTHING), sampler)
    assert "for a below -2." in finding.message


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.9])
def test_screening_changes_no_finding(make_run, sampler, monkeypatch, share):
    run = make_run(chains=16, draws=2000)
    rng = np.random.default_rng(3)
    far = run.x[:, :-1, 0] > 2.3
    run.stats["acceptance_rate"][:, 1:][far] *= share * rng.uniform(0.8, 1.2, far.sum())
    found = Quantities(["a"], [run.x[None, ..., 0]], NOTHING)
    screened = check_tails(run, found, sampler)
    assert bool(screened) == (share < 0.4)
    monkeypatch.setattr("probmodel.results.tails.screening_stride", lambda chains, draws: 1)
    assert check_tails(run, found, sampler) == screened


@pytest.mark.parametrize("method", ["fisher_hmc", "nuts", "hmc", "mala", "fisher_mala", "rwm"])
def test_silent_on_normal_posteriors(method):
    model = Plane(seen=np.zeros(3))
    found = infer(model, method, chains=8, warmup=300, draws=1000, seed=1, quiet=True)
    assert "tails" not in kinds(found)


def test_a_narrow_place_is_told_of_without_halved_steps(monkeypatch):
    """With halved steps the acceptance is even, and with steps of one size it is not."""
    model = Horn(seen=0.0)
    # Three of four such runs are found out, this one among them.
    sizes = {"chains": 8, "draws": 2000, "seed": 3, "quiet": True, "standardise": False}
    assert "tails" not in kinds(infer(model, **sizes))
    monkeypatch.setattr("probmodel.samplers.hamiltonian.fisher_transitions.FINEST", 0)
    found = infer(model, **sizes)
    assert "tails" in kinds(found)
    assert "x above" in found.attrs["warnings"]
