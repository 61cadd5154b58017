"""Parallel tempering: ladders, swaps, round trips, several modes, and what it warns of."""

import json
from pathlib import Path

import numpy as np
import pytest

from probmodel import Model, data, extend, infer, load_model, observed, param, potential, read_data
from probmodel.distributions import Beta, HalfNormal, Normal, Uniform
from probmodel.errors import SamplerError
from probmodel.samplers import make_sampler
from probmodel.samplers.tempered.grouped_moves import (
    DENSE,
    LONGEST,
    Noise,
    drawn_steps,
    evaluate,
    move,
    root_of,
    second_moments,
    whitened,
)
from probmodel.samplers.tempered.tempering import (
    COLDEST,
    ParallelTempering,
    Params,
    first_ladder,
    next_ladder,
    on_ladder,
)
from probmodel.testing.targets import PRIOR_SCALE, Gaussian, random_covariance


def kinds(fit):
    """What the warnings of a run are about."""
    return [finding["kind"] for finding in json.loads(fit.attrs["warnings"])]


REFERENCES = Path(__file__).parents[2] / "benchmarks" / "data" / "posteriordb.json"


class TwoModes(Model):
    """Two modes 14 standard deviations apart, with weights of 0.3 and 0.7."""

    x = param(Normal(0, 10), shape=2)
    modes = potential(
        np.logaddexp(
            np.log(0.3) - 0.5 * np.sum((x + 5) ** 2), np.log(0.7) - 0.5 * np.sum((x - 5) ** 2)
        )
    )


class Mixture(Model):
    """A mixture of two normals whose components have no order."""

    w = param(Beta(2, 2))
    mu = param(Normal(0, 5), shape=2)
    s = param(HalfNormal(2), shape=2)
    y = data(dims="n")
    fit = potential(
        np.sum(
            np.logaddexp(
                np.log(w) - 0.5 * ((y - mu[0]) / s[0]) ** 2 - np.log(s[0]),
                np.log(1 - w) - 0.5 * ((y - mu[1]) / s[1]) ** 2 - np.log(s[1]),
            )
        )
    )


# -- moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 8, DENSE + 1])
def test_the_root_is_that_of_the_inverse_moments(dim):
    rng = np.random.default_rng(dim)
    score = rng.standard_normal((3, 40 * dim, dim)) @ np.diag(rng.uniform(0.1, 10.0, dim))
    moments = second_moments(score)
    root = root_of(moments, 1e9)
    for group in range(3):
        if dim > DENSE:
            np.testing.assert_allclose(root[group] ** -2, np.mean(score[group] ** 2, axis=0))
        else:
            inverse = np.linalg.inv(score[group].T @ score[group] / score.shape[1])
            np.testing.assert_allclose(root[group] @ root[group].T, inverse, rtol=1e-6, atol=1e-9)
    v = rng.standard_normal(score.shape)
    times = v * root[:, None] if dim > DENSE else np.einsum("gij,gnj->gni", root, v)
    np.testing.assert_allclose(whitened(root, times), v, atol=1e-8)


def test_few_scores_leave_correlations_small():
    score = np.random.default_rng(1).standard_normal((1, 3, 20))
    root = root_of(second_moments(score), 3)
    assert np.isfinite(root).all()
    assert np.linalg.cond(root[0]) < 100


def test_scores_that_overflow_leave_a_root():
    score = np.random.default_rng(2).standard_normal((2, 50, 3))
    score[0, 7] = 1e200
    root = root_of(second_moments(score), 50)
    assert np.isfinite(root).all()
    np.testing.assert_allclose(root[1], root_of(second_moments(score[1:]), 50)[0])


def normals(dim):
    rng = np.random.default_rng(dim)
    return Gaussian(rng.standard_normal(dim), random_covariance(rng, dim))


@pytest.mark.parametrize("groups", [1, 3])
def test_trajectories_lead_back(groups):
    target, rng = normals(4), np.random.default_rng(2)
    beta = np.linspace(0.2, 1.0, groups)
    root = np.stack([np.tril(rng.standard_normal((4, 4))) for _ in range(groups)])
    start = evaluate(target, rng.standard_normal((groups, 5, 4)), beta)
    steps, size = np.arange(groups) + 2, np.full(groups, 0.1)
    momenta = rng.standard_normal((groups, 5, 4))
    always = np.full((groups, 5), -1.0)
    end, _ = move(target, start, beta, root, size, steps, Noise(momenta, always))
    # The momentum at the end, by the energy's gradient, from one more trajectory of no kick.
    path = [start]
    p = momenta.copy()
    x, score = start.x, start.score
    for step in range(int(steps.max())):
        on = (steps > step)[:, None, None]
        p = p + np.where(on, 0.05, 0.0) * (score @ root)
        x = x + np.where(on, 0.1, 0.0) * (p @ np.swapaxes(root, 1, 2))
        path.append(evaluate(target, x, beta))
        score = path[-1].score
        p = p + np.where(on, 0.05, 0.0) * (score @ root)
    np.testing.assert_allclose(end.x, x, atol=1e-12)
    back, _ = move(target, end, beta, root, size, steps, Noise(-p, always))
    np.testing.assert_allclose(back.x, start.x, atol=1e-9)


def test_steps_suit_the_step_size():
    rng = np.random.default_rng(3)
    drawn = np.stack([drawn_steps(rng, np.array([10.0, 0.5, 1e-9])) for _ in range(200)])
    assert set(drawn[:, 0]) == {1}
    assert set(drawn[:, 1]) == {2, 3}
    assert drawn[:, 2].min() == LONGEST // 2
    assert drawn[:, 2].max() == LONGEST


# -- ladders --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 4, 16, 128])
def test_ladders_go_from_the_prior_to_the_posterior(size):
    ladder = first_ladder(size)
    assert len(ladder) == size
    assert ladder[0] == 0.0
    assert ladder[-1] == pytest.approx(1.0)
    assert np.all(np.diff(ladder) > 0)
    assert size == 2 or ladder[1] == pytest.approx(COLDEST)


def test_the_next_ladder_makes_rejections_alike():
    """Of a barrier that grows as the square root of beta."""
    betas = first_ladder(12)
    rates = np.diff(4.0 * np.sqrt(betas))
    for size in (5, 12, 40):
        new = next_ladder(betas, rates, size)
        assert np.all(np.diff(new) > 0)
        for _ in range(8):
            new = next_ladder(new, np.diff(4.0 * np.sqrt(new)), size)
        np.testing.assert_allclose(np.diff(4.0 * np.sqrt(new)), 4.0 / (size - 1), rtol=0.05)


def test_pairs_that_never_reject_still_have_a_place():
    new = next_ladder(np.linspace(0.0, 1.0, 5), np.zeros(4), 9)
    assert np.all(np.diff(new) > 0)


def test_replicas_go_on_from_hotter_ones():
    sampler = ParallelTempering(temperatures=4)
    state = sampler.init(np.random.default_rng(4), normals(2), np.zeros((3, 2)))
    same = on_ladder(state, state.betas[0])
    assert same is state
    betas = np.array([0.0, 1e-5, 0.5, 0.9, 1.0])
    longer = on_ladder(state, betas)
    np.testing.assert_array_equal(longer.replicas, state.replicas[:, [0, 0, 2, 2, 3]])
    np.testing.assert_array_equal(longer.betas, np.tile(betas, (3, 1)))


# -- invariance -----------------------------------------------------------------------------------


def exact_replicas(target, betas, chains, rng):
    """Draws of every temperature of a normal target between its prior and itself."""
    drawn = []
    for beta in betas:
        precision = (1.0 - beta) * np.eye(target.dim) / PRIOR_SCALE**2 + beta * target.precision
        cov = np.linalg.inv(precision)
        mean = cov @ (beta * target.precision @ target.mean)
        drawn.append(rng.multivariate_normal(mean, cov, chains))
    return np.stack(drawn, axis=1)


def worst_score(betas_used, chains=4000):
    """Largest deviation of a moment after some iterations from exact draws, in standard errors."""
    rng, target = np.random.default_rng(5), normals(2)
    betas = np.array([0.0, 0.05, 0.2, 0.5, 1.0])
    sampler = ParallelTempering(temperatures=5)
    replicas = exact_replicas(target, betas, chains, rng)
    state = sampler.init(rng, target, replicas[:, -1])
    state = state._replace(replicas=replicas, betas=np.tile(betas, (chains, 1)))
    params = Params(
        betas, np.tile(np.eye(2), (4, 1, 1)), np.full(4, 0.4), np.zeros(4), sampling=True
    )
    density = betas_used(target)
    for _ in range(12):
        state, _ = sampler.step(rng, density, state, params)
    scores = []
    for k, beta in enumerate(betas):
        precision = (1.0 - beta) * np.eye(2) / PRIOR_SCALE**2 + beta * target.precision
        lower = np.linalg.cholesky(precision)
        mean = np.linalg.solve(precision, beta * target.precision @ target.mean)
        z = (state.replicas[:, k] - mean) @ lower
        for moment, truth in ((z, 0.0), (z**2, 1.0), (z[:, [0]] * z[:, [1]], 0.0)):
            error = moment.std(axis=0) / np.sqrt(chains)
            scores.append(np.abs((moment.mean(axis=0) - truth) / error).max())
    return max(scores)


def test_exact_replicas_stay_exact_at_every_temperature():
    assert worst_score(lambda target: target) < 4.5


def test_a_likelihood_that_is_wrong_in_swaps_is_noticed():
    """The negative control."""

    class Wrong:
        def __init__(self, target):
            self.target = target

        def __getattr__(self, name):
            return getattr(self.target, name)

        def tempered(self, x, beta):
            found = self.target.tempered(x, beta)
            return found._replace(log_likelihood=0.4 * found.log_likelihood)

    assert worst_score(Wrong) > 8.0


# -- runs -----------------------------------------------------------------------------------------


def test_pairs_take_turns():
    sampler, target, rng = ParallelTempering(temperatures=4), normals(2), np.random.default_rng(6)
    state = sampler.init(rng, target, np.zeros((3, 2)))
    assert not state.odd.any()
    params = sampler.params(sampler.adapt_init(rng, target, state))
    state, _ = sampler.step(rng, target, state, params)
    assert state.odd.all()
    state, _ = sampler.step(rng, target, state, params)
    assert not state.odd.any()


class Window(Model):
    """A likelihood of one height, which 97% of the draws from the prior do not have."""

    a = param(Uniform(0, 1))
    y = observed(Uniform(a, a + 0.04), dims="n")


def test_replicas_without_a_likelihood_do_not_lengthen_the_ladder():
    """No two of them had been swapped, so that the rejection rates called for 128 temperatures."""
    fit = infer(
        Window(y=np.array([0.5, 0.51])), method="tempering", chains=8, warmup=300, draws=1000,
        seed=1, quiet=True,
    )  # fmt: skip
    found, error = fit.attrs["log_evidence"], fit.attrs["log_evidence_error"]
    assert error < 0.15
    assert abs(found - np.log(0.03 / 0.04**2)) < 3.5 * error
    assert fit["sample_stats"]["n_grad"].values.max() < 200


def test_the_ladder_finds_its_length():
    few = infer(TwoModes(), method="tempering", seed=1, draws=400, quiet=True)
    swaps = few["sample_stats"]["swap_rate"].values.mean()
    assert 0.4 < swaps < 0.8
    assert few["sample_stats"]["restart"].values.sum(axis=1).min() > 10
    assert "ladder" not in kinds(few)


@pytest.mark.parametrize("method", ["tempering", "smc"])
@pytest.mark.parametrize("chains", [1, 3])
def test_a_run_that_goes_on_is_the_same(method, chains):
    """Also in the last bit, in machine code."""
    sizes = {"method": method, "chains": chains, "warmup": 80, "seed": 4, "quiet": True}
    if method == "smc":
        sizes["particles"] = 20
    model = TwoModes()
    begun = extend(infer(model, draws=15, **sizes), 30, quiet=True)
    whole = infer(model, draws=45, **sizes)
    np.testing.assert_array_equal(begun["posterior"]["x"], whole["posterior"]["x"])


@pytest.mark.statistical
def test_two_modes_have_their_weights():
    fit = infer(
        TwoModes(), method="tempering", seed=2, quiet=True, draws=2000, warmup=300, chains=8
    )
    right = fit["posterior"]["x"].values[..., 0] > 0
    by_chain = right.mean(axis=1)
    error = by_chain.std(ddof=1) / np.sqrt(len(by_chain))
    assert error < 0.03
    assert abs(right.mean() - 0.7) < 4.0 * error


def test_a_ladder_that_does_not_mix_says_so():
    class Far(Model):
        x = param(Normal(0, 10), shape=20)
        mode = potential(-0.5 * np.sum((x - 5) ** 2))

    fit = infer(Far(), method="tempering", temperatures=3, draws=200, seed=3, quiet=True)
    assert "ladder" in kinds(fit)


@pytest.mark.parametrize(
    ("setting", "value"), [("temperatures", 1), ("temperatures", 2.5), ("target_accept", 1.0)]
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(SamplerError, match=setting):
        make_sampler("tempering", **{setting: value})


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["tempering", "smc"])
def test_components_without_an_order_change_places(method):
    """Both orders have half the weight; sorted, they are the posterior of ordered components."""
    rng = np.random.default_rng(7)
    model = Mixture(y=np.concatenate([rng.normal(-2, 1, 60), rng.normal(3, 0.7, 40)]))
    sizes = {"tempering": {"draws": 20_000}, "smc": {"particles": 10_000, "draws": 10_000}}[method]
    fit = infer(model, method=method, chains=8, seed=8, progressbar=False, quiet=True, **sizes)
    mu = fit["posterior"]["mu"].values
    ordered = (mu[..., 0] < mu[..., 1]).mean()
    assert abs(ordered / 0.5 - 1.0) < 0.05
    # One mode alone, from starts in it, by a method that never leaves it.
    starts = {"mu": [-2.0, 3.0], "s": [1.0, 1.0], "w": 0.5}
    alone = infer(model, inits=starts, draws=20_000, seed=9, progressbar=False, quiet=True)
    truth = alone["posterior"]["mu"].values
    assert np.all(truth[..., 0] < truth[..., 1])
    low, high = np.sort(mu, axis=2).mean(axis=(0, 1)), truth.mean(axis=(0, 1))
    error = np.sort(mu, axis=2).mean(axis=1).std(axis=0, ddof=1) / np.sqrt(8)
    np.testing.assert_array_less(np.abs(low - high), 4.0 * np.hypot(error, 0.002))


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["tempering", "smc"])
def test_lynx_and_hare_from_the_prior(method):
    """Chains from wide starts get lost here; the reference is 10,000 draws of Stan's."""
    model = load_model("gallery:lotka_volterra")(**read_data("gallery:lynx_hare.json"))
    fit = infer(model, method=method, chains=8, seed=10, progressbar=False)
    assert kinds(fit) == []
    reference = json.loads(REFERENCES.read_text())["hudson_lynx_hare-lotka_volterra"]
    posterior = fit["posterior"]
    drawn = [posterior[name].values for name in ("theta", "z_init", "sigma")]
    by_chain = np.concatenate(drawn, axis=2).mean(axis=1)
    error = np.hypot(by_chain.std(axis=0, ddof=1) / np.sqrt(8), reference["mcse_mean"])
    # With 7 degrees of freedom, and eight comparisons.
    np.testing.assert_array_less(np.abs(by_chain.mean(axis=0) - reference["mean"]), 6.0 * error)
