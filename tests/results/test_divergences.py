"""Divergences: where they were, what sets them apart, and the group that holds them."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import ks_2samp

from probmodel import Model, observed, param
from probmodel.density.posterior import ModelDensity
from probmodel.distributions import HalfNormal, Normal
from probmodel.model.pseudo_data import PseudoData
from probmodel.results.arviz_object import arviz_object, group, group_names
from probmodel.results.attributes import run_attributes
from probmodel.results.convergence import convergence
from probmodel.results.diagnostics import diagnose
from probmodel.results.divergences import distances
from probmodel.results.draws import named_draws
from probmodel.results.quantities import quantities
from probmodel.results.reading import load
from probmodel.results.storage import keep
from probmodel.types import Variable


@pytest.fixture
def check(posterior, sampler, make_request):
    """The finding about divergences, or None."""

    def check(run, names=None, sampler=sampler, **request):
        draws = named_draws(posterior, run.x, names)
        findings = diagnose(run, posterior, draws, sampler, make_request(**request))
        return next((f for f in findings if f.kind == "divergences"), None)

    return check


@pytest.fixture
def build(posterior, sampler, make_request):
    def build(run, names=None):
        draws = named_draws(posterior, run.x, names)
        attributes = run_attributes(make_request(), sampler, run)
        return arviz_object(run, posterior, draws, attributes)

    return build


def below(x, coordinate, quantile, every=1):
    """Chains and draws just after a start in the lower tail of a coordinate."""
    low = x[:, :-1, coordinate] < np.quantile(x[:, :, coordinate], quantile)
    chain, draw = np.nonzero(low)
    return chain[::every], draw[::every] + 1


def test_distances_agree_with_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1.0, (5, 30)), rng.normal(0.0, 1.0, (5, 200))
    a[1], b[2] = np.round(a[1], 1), np.round(b[2])
    expected = [ks_2samp(first, second).statistic for first, second in zip(a, b, strict=True)]
    np.testing.assert_allclose(distances(a, b), expected, rtol=1e-12)
    a[3, 0] = np.nan
    assert distances(a, b)[3] == 0.0


@pytest.mark.parametrize("some", [False, True])
def test_effective_sizes_are_of_all_draws_where_trajectories_diverged(
    posterior, make_run, diverge, some
):
    run = make_run(chains=16, draws=2000)
    found = quantities(diverge(run, *below(run.x, 2, 0.03)) if some else run, posterior, {})
    exact = convergence(np.moveaxis(run.x, 2, 0))
    assert np.array_equal(found.convergence.ess_bulk, exact.ess_bulk) == some


def test_the_parameter_that_sets_divergences_apart_is_named(check, make_run, diverge):
    run = make_run()
    found = check(diverge(run, *below(run.x, 2, 0.03)))
    assert found.variables == ("tau",)
    count, (low, high) = 60, np.exp(np.quantile(run.x[:, :, 2], (0.05, 0.95)))
    assert f"{count} of 2000 trajectories diverged (3.0 %)" in found.message
    assert "tau between 0.0" in found.message
    assert f"(all draws: between {low:.3g} and {high:.3g})" in found.message
    assert "Raise target_accept (it was 0.574) to 0.95" in found.message
    assert found.message.endswith(
        "; or give scales that the data say little about a stronger prior."
    )


def test_the_range_is_that_of_the_starts(check, make_run, diverge):
    run = diverge(make_run(), [0] * 10 + [2] * 11, np.arange(10, 220, 10))
    run.divergences.start[:, 0] = np.linspace(3.0, 4.0, 21)
    found = check(run)
    assert found.variables == ("w[age]",)
    assert "seldom are: w[age] between 3.05 and 3.95 (" in found.message


def test_several_parameters_may_set_them_apart(check, make_run, diverge):
    run = make_run()
    run.x[:, :, 0] = run.x[:, :, 1] - 0.1 * run.x[:, :, 0]
    found = check(diverge(run, *below(run.x, 1, 0.03)))
    assert set(found.variables) == {"w[age]", "w[sex]"}
    assert " and w[" in found.message


def test_parameters_that_were_not_saved_are_looked_at(check, make_run, diverge):
    run = make_run()
    found = check(diverge(run, *below(run.x, 0, 0.03)), names=("tau",))
    assert found.variables == ("w[0]",)


@pytest.mark.parametrize("seed", range(20))
def test_divergences_anywhere_name_no_parameter(check, make_run, diverge, seed):
    rng = np.random.default_rng(seed)
    run = make_run(seed=seed)
    found = check(diverge(run, rng.integers(4, size=40), rng.integers(1, 500, size=40)))
    assert found.variables == ()
    assert "No single parameter tells their starting points" in found.message


@pytest.mark.parametrize("seed", range(5))
def test_a_burst_of_a_slow_chain_names_no_parameter(check, make_run, diverge, seed):
    x = np.random.default_rng(seed).standard_normal((4, 500, 3))
    for t in range(1, 500):
        x[:, t] = 0.95 * x[:, t - 1] + np.sqrt(1.0 - 0.95**2) * x[:, t]
    found = check(diverge(make_run(x), np.full(20, 2), np.arange(100, 120)))
    assert found.variables == ()


def test_too_few_to_tell(check, make_run, diverge):
    found = check(diverge(make_run(), [3], [250]))
    assert "1 of 2000 trajectories diverged (< 0.1 %): 1 in chain 3, namely at" in found.message
    assert "Too few draws are independent to tell" in found.message


def test_when_most_diverge_it_is_not_their_starts(check, make_run, diverge):
    run = make_run()
    found = check(diverge(run, *below(run.x, 2, 0.6)))
    assert found.variables == ()
    assert "the steps are far too long" in found.message


def test_a_consequence_is_not_named_in_place_of_the_cause(check, make_run, diverge):
    """The cause moves too slowly to be sure of it; what follows from it does not."""
    x = np.random.default_rng(1).standard_normal((4, 500, 3))
    x[:, :, 0] = np.arange(4)[:, None] + 0.1 * x[:, :, 0]
    x[:, :, 1] *= np.where(np.arange(4) == 0, 0.3, 1.0)[:, None]
    x[0, :, 1] += 0.6
    found = check(diverge(make_run(x), np.zeros(200, dtype=int), np.arange(100, 500, 2)))
    assert found.variables == ()
    x[:, :, 0] = 0.0
    found = check(diverge(make_run(x), np.zeros(200, dtype=int), np.arange(100, 500, 2)))
    assert found.variables == ("w[sex]",)


def test_divergences_explain_proposals_that_are_not_finite(
    posterior, sampler, make_request, make_run, diverge
):
    run = diverge(make_run(nonfinite=200), *np.nonzero(np.arange(2000).reshape(4, 500) % 10 == 1))
    draws = named_draws(posterior, run.x)
    kinds = {f.kind for f in diagnose(run, posterior, draws, sampler, make_request())}
    assert kinds == {"divergences"}


def test_chains_and_the_first_draws_are_named(check, make_run, diverge):
    run = diverge(make_run(), [0, 2, 2, 0, 2], [40, 30, 7, 50, 9])
    assert (
        "diverged (0.2 %): 2 in chain 0, 3 in chain 2, first at chain 2 draw 7, chain 2 draw 9, "
        "chain 2 draw 30. Parts"
    ) in check(run).message
    many = diverge(make_run(chains=8), np.arange(7), np.arange(1, 8))
    assert "in 7 of 8 chains, first at chain 0 draw 1" in check(many, chains=8).message


def test_iterations_that_were_thinned_out_count(check, make_run, diverge):
    run = diverge(make_run(), [0, 0, 1], [4, 4, 4])
    assert "3 of 6000 trajectories" in check(run, thin=3).message
    assert "2 in chain 0" in check(run, thin=3).message


def test_a_rejected_single_step_is_no_divergence(check, make_run, diverge):
    run = diverge(make_run(), [0], [30])
    assert check(run) is not None
    run.stats["n_steps"][:] = 1
    assert check(run) is None


@dataclass(frozen=True)
class Steered:
    """A sampler by name, with nothing but a target."""

    aim: float | None

    name = "steered"
    coupling = "pooled_warmup"

    def remarks(self, params, stats):
        return []


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        (None, "Shorten the steps (step_size);"),
        (0.8, "Raise target_accept (it was 0.8) to 0.95;"),
        (0.99, "Shorter steps will hardly help (target_accept was 0.99);"),
    ],
)
def test_advice_depends_on_the_target(check, make_run, diverge, target, advice):
    run = diverge(make_run(), [0], [30])
    assert advice in check(run, sampler=Steered(target)).message


def test_advice_depends_on_how_hierarchies_are_sampled(check, make_run, diverge):
    def message(**options):
        class Groups(Model):
            mu = param(Normal(0, 1))
            tau = param(HalfNormal(1))
            theta = param(Normal(mu, tau), shape=2, **options)
            y = observed(Normal(theta, 1))

        model = Groups(y=[0.1, 0.3])
        pseudo_data = {} if options else {"theta": PseudoData(np.ones(2), np.zeros(2))}
        density = ModelDensity(model, pseudo_data)
        run = make_run(density=density, positions=np.zeros((4, density.dim)))
        return check(diverge(run, [0], [30])).message

    assert "; integrate theta out where that has a closed form (it is standardised" in message()
    assert "noncentered=" not in message()
    assert "; leave out noncentered= of theta, so that" in message(noncentered=False)


def test_group(build, posterior, make_run, diverge):
    run = diverge(make_run(), [1, 3], [20, 4], end=np.array([[0.0, 1.0, 2.0], [np.nan] * 3]))
    result = build(run)
    assert result.attrs["divergences"] == 2
    found = group(result, "divergences")
    assert set(found.data_vars) == {"w", "tau"}
    assert found["w"].dims == ("divergence", "point", "feature")
    np.testing.assert_array_equal(found["chain"], [1, 3])
    np.testing.assert_array_equal(found["draw"], [20, 4])
    np.testing.assert_array_equal(found["w"].sel(point="start"), run.x[[1, 3], [19, 3], :2])
    np.testing.assert_array_equal(
        found["tau"].sel(point="start"), np.exp(run.x[[1, 3], [19, 3], 2])
    )
    np.testing.assert_allclose(found["tau"].sel(point="breakdown"), [np.exp(2.0), np.nan])
    np.testing.assert_array_equal(found["w"].sel(feature="sex", point="breakdown"), [1.0, np.nan])


def test_group_has_the_saved_parameters_only(build, make_run, diverge):
    run = diverge(make_run(), [1], [20])
    assert list(group(build(run, names=("tau", "table")), "divergences").data_vars) == ["tau"]
    assert "divergences" not in group_names(build(run, names=("table",)))


def test_no_group_without_divergences(build, make_run):
    result = build(make_run())
    assert "divergences" not in group_names(result)
    assert result.attrs["divergences"] == 0


def test_dims_of_the_model_keep_their_names(build, posterior, make_run, diverge, monkeypatch):
    variables = (
        Variable("w", (2,), ("point",), {}, "param"),
        Variable("divergence", (), (), {}, "param"),
    )
    monkeypatch.setattr(posterior, "variables", variables, raising=False)
    monkeypatch.setattr(
        posterior,
        "constrain",
        lambda x, names: {"w": x[:, :2], "divergence": x[:, 2]},
        raising=False,
    )
    found = group(build(diverge(make_run(), [1], [20])), "divergences")
    assert found["w"].dims == ("divergence_", "point_", "point")


def test_round_trip_through_a_file(build, make_run, diverge, tmp_path):
    result = build(diverge(make_run(), [1, 3], [20, 4]))
    path = tmp_path / "fit.nc"
    assert keep(result, path) == (path, "")
    before, after = group(result, "divergences"), group(load(path), "divergences")
    for name in ("w", "tau", "chain", "draw", "point", "feature"):
        np.testing.assert_array_equal(before[name], after[name])
        assert before[name].dims == after[name].dims
    assert load(path).attrs["divergences"] == 2
