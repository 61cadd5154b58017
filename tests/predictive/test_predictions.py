"""Predictive draws and predictions, against what is known of conjugate models."""

import numpy as np
import pytest
import scipy.stats

from probmodel import (
    Model,
    compute_deterministics,
    data,
    deterministic,
    infer,
    observed,
    param,
    posterior_predictive,
    potential,
    predict,
    prior_predictive,
)
from probmodel.constraints import SumToZero
from probmodel.density import forward_runs as forward
from probmodel.distributions import (
    AR1,
    Exponential,
    GaussianProcess,
    HalfNormal,
    MvStudentT,
    Normal,
    Poisson,
)
from probmodel.distributions.kernels import ExpQuad
from probmodel.errors import DataError, ModelError
from probmodel.functions import scan, solve_ode
from probmodel.results.arviz_object import group, group_names

LARGEST = 4.5  # standard errors
RNG = np.random.default_rng(0)


class Mean(Model):
    """Normal data with a known variance: the posterior is normal."""

    mu = param(Normal(1.0, 2.0))
    y = observed(Normal(mu, 3.0), dims="obs")
    double = deterministic(2.0 * mu)


class Groups(Model):
    """Effects of labelled groups, and a count that depends on a mean of others."""

    place = data(dims="obs", dtype=int)
    x = data(dims="obs")
    tau = param(HalfNormal(1.0))
    effect = param(Normal(0.0, tau), dims="region", noncentered=True)
    eta = deterministic(effect[place] + 0.5 * x, dims="obs")
    y = observed(Normal(eta, 0.1), dims="obs")
    count = observed(Poisson(np.exp(0.1 * y)), dims="obs")


def exact(y):
    """Posterior mean and standard deviation of `Mean`."""
    precision = 1 / 4 + len(y) / 9
    return (1 / 4 + y.sum() / 9) / precision, precision**-0.5


def test_replicated_data_of_a_conjugate_model(make_fit, values):
    y = RNG.normal(2.0, 3.0, 7)
    m, s = exact(y)
    fit = make_fit(mu=RNG.normal(m, s, (4, 5000)))
    drawn = values(posterior_predictive(Mean(y=y), fit, seed=1), "posterior_predictive", "y")
    assert drawn.shape == (4, 5000, 7)
    flat = drawn[..., 0].ravel()
    spread = np.sqrt(s**2 + 9.0)
    assert scipy.stats.kstest(flat, scipy.stats.norm(m, spread).cdf).pvalue > 1e-4
    # Negative control: without the uncertainty of the mean the draws would be too narrow.
    assert scipy.stats.kstest(flat, scipy.stats.norm(m, 0.8 * spread).cdf).pvalue < 1e-4
    # All observations of a draw share its mean.
    correlation = np.corrcoef(drawn[..., 1].ravel(), drawn[..., 2].ravel())[0, 1]
    assert abs(correlation - s**2 / spread**2) < LARGEST / np.sqrt(20000)


def test_a_real_fit_keeps_its_groups_and_is_not_changed():
    y = RNG.normal(2.0, 3.0, 7)
    model = Mean(y=y)
    fit = infer(model, draws=50, warmup=50, chains=2, seed=1, quiet=True)
    before = group_names(fit)
    done = posterior_predictive(model, fit, seed=2)
    assert group_names(fit) == before
    assert set(group_names(done)) == {*before, "posterior_predictive"}
    assert dict(done.attrs) == dict(fit.attrs)
    assert type(done) is type(fit)
    replicated = group(done, "posterior_predictive")
    assert replicated["y"].dims == ("chain", "draw", "obs")
    assert replicated.attrs["seed"] == 2
    again = posterior_predictive(model, fit, seed=2)
    assert group(again, "posterior_predictive").equals(replicated)


def test_chunks_change_no_shape_and_lose_no_draw(make_fit, values, monkeypatch):
    y = np.zeros(7)
    mu = RNG.normal(size=(2, 50))
    monkeypatch.setattr(forward, "CHUNK", 100)
    done = compute_deterministics(Mean(y=y), make_fit(mu=mu))
    np.testing.assert_array_equal(values(done, "posterior", "double"), 2.0 * mu)
    np.testing.assert_array_equal(values(done, "posterior", "mu"), mu)
    drawn = values(posterior_predictive(Mean(y=y), make_fit(mu=mu)), "posterior_predictive", "y")
    assert np.isfinite(drawn).all()
    z = (drawn - mu[..., None]).ravel() / 3.0
    assert scipy.stats.kstest(z, "norm").pvalue > 1e-4


def test_deterministic_quantities_left_out_of_a_fit(values):
    model = Groups(place=[0, 1, 1], x=[0.0, 1.0, 2.0], y=[0.1, 0.2, 0.3], count=[1, 0, 2],
                   coords={"region": ["N", "S"]})  # fmt: skip
    whole = infer(model, draws=30, warmup=60, chains=2, seed=1, quiet=True)
    part = infer(
        model, draws=30, warmup=60, chains=2, seed=1, quiet=True, var_names=["tau", "effect"]
    )
    done = compute_deterministics(model, part)
    np.testing.assert_allclose(
        values(done, "posterior", "eta"), values(whole, "posterior", "eta"), rtol=1e-12, atol=1e-14
    )
    assert group(done, "posterior")["eta"].dims == ("chain", "draw", "obs")
    assert "eta" not in group(part, "posterior")


def groups_fit(make_fit, draws=4000):
    effect = np.broadcast_to([1.0, -1.0, 3.0], (2, draws, 3))
    tau = np.abs(RNG.normal(size=(2, draws))) + 0.1
    return make_fit({"region": np.array(["N", "S", "W"])}, tau=tau, effect=(("region",), effect))


def bound_to(labels, **options):
    return Groups(place=[0, 1, 0], x=[0.0, 2.0, 4.0], coords={"region": labels}, **options)


def test_labels_decide_which_element_is_which(make_fit, values):
    done = predict(bound_to(["W", "N"]), groups_fit(make_fit), seed=1, var_names=["eta", "effect"])
    np.testing.assert_array_equal(values(done, "predictions", "eta")[0, 0], [3.0, 2.0, 5.0])
    np.testing.assert_array_equal(values(done, "predictions", "effect")[1, 5], [3.0, 1.0])
    assert list(group(done, "predictions")["region"].values) == ["W", "N"]
    constants = group(done, "predictions_constant_data")
    np.testing.assert_array_equal(constants["x"].values, [0.0, 2.0, 4.0])


def test_observed_and_deterministic_quantities_are_predicted(make_fit, values):
    given = {"y": [0.0, 0.0, 0.0], "count": [1, 1, 1]}  # those that are named are drawn anew
    everything = ["eta", "y", "count"]
    for model, names in ((bound_to(["S", "N"]), None), (bound_to(["S", "N"], **given), everything)):
        done = predict(model, groups_fit(make_fit), seed=1, var_names=names)
        assert set(group(done, "predictions").data_vars) == {"eta", "y", "count"}
        y, count = values(done, "predictions", "y"), values(done, "predictions", "count")
        z = (y - [-1.0, 2.0, 1.0]) / 0.1
        assert scipy.stats.kstest(z.ravel(), "norm").pvalue > 1e-4
        assert count.dtype.kind == "i"
        # The counts follow the data of the same draw.
        error = count - np.exp(0.1 * y)
        assert abs(error.mean()) < LARGEST * np.sqrt(np.exp(0.1 * y).mean() / error.size)


def test_observed_quantities_keep_their_data_where_others_depend_on_them(make_fit, values):
    y = np.array([20.0, -20.0, 0.0])
    for given, names in (({}, None), ({"count": [1, 1, 1]}, None), ({}, ["count"])):
        model = bound_to(["S", "N"], y=y, **given)
        done = predict(model, groups_fit(make_fit), seed=1, var_names=names)
        assert "y" not in group(done, "predictions")
        np.testing.assert_array_equal(group(done, "predictions_constant_data")["y"].values, y)
        mean, rate = values(done, "predictions", "count").mean(axis=(0, 1)), np.exp(0.1 * y)
        assert np.all(abs(mean - rate) < LARGEST * np.sqrt(rate / 8000))
    # Negative control: where they are drawn, the counts do not know of these data.
    done = predict(model, groups_fit(make_fit), seed=1, var_names=["y", "count"])
    mean = values(done, "predictions", "count").mean(axis=(0, 1))
    assert np.all(abs(mean - rate)[:2] > 10 * LARGEST * np.sqrt(rate[:2] / 8000))
    assert "y" not in group(done, "predictions_constant_data")


def test_new_groups(make_fit, values):
    fit = groups_fit(make_fit)
    model = bound_to(["N", "E"])
    with pytest.raises(
        DataError, match=r"'effect' has new labels along 'region'.*: E\..*draw.*zero"
    ):
        predict(model, fit)
    zero = predict(model, fit, new_groups="zero", var_names="effect")
    np.testing.assert_array_equal(values(zero, "predictions", "effect")[0, 0], [1.0, 0.0])
    drawn = values(predict(model, fit, 1, "draw", "effect"), "predictions", "effect")
    np.testing.assert_array_equal(drawn[..., 0], 1.0)
    tau = values(fit, "posterior", "tau")
    assert scipy.stats.kstest((drawn[..., 1] / tau).ravel(), "norm").pvalue > 1e-4
    # Negative control: one tau for all draws is another population.
    assert scipy.stats.kstest((drawn[..., 1] / tau.mean()).ravel(), "norm").pvalue < 1e-4


class Bounded(Model):
    """Group parameters that cannot be zero, some of them cut."""

    rate = param(Exponential(2.0), dims="region")
    cut = param(Normal(0.0, 1.0), dims="region", lower=0.5)
    tied = param(Normal(0.0, 1.0), dims="region", constraint=SumToZero())
    y = observed(Normal(0.0, 1.0), dims="region")


def test_new_elements_keep_bounds(make_fit, values):
    labels = {"region": np.arange(2)}
    known = np.ones((1, 4000, 2))
    fit = make_fit(labels, rate=(("region",), known), cut=(("region",), known),
                   tied=(("region",), 0.0 * known))  # fmt: skip
    model = Bounded(coords={"region": [0, 1, 2]})
    done = predict(model, fit, 1, "draw", ["rate", "cut"])
    new = values(done, "predictions", "cut")[0, :, 2]
    law = scipy.stats.truncnorm(0.5, np.inf)
    assert scipy.stats.kstest(new, law.cdf).pvalue > 1e-4
    rate = values(done, "predictions", "rate")[0]
    assert (rate[:, :2] == 1.0).all()
    assert scipy.stats.kstest(rate[:, 2], scipy.stats.expon(0, 0.5).cdf).pvalue > 1e-4
    with pytest.raises(DataError, match="'cut' has the prior Normal cut by bounds"):
        predict(model, fit, 1, "zero", ["cut"])
    tied = values(predict(model, fit, 1, "zero", "tied"), "predictions", "tied")
    assert (tied == 0.0).all()
    with pytest.raises(ModelError, match="'tied'"):
        predict(model, fit, 1, "draw", "tied")


class Level(Model):
    phi = param(Normal(0.0, 1.0))
    level = param(AR1(phi, 0.5, mean=1.0), dims="day")
    y = observed(Normal(level, 0.1), dims="day")


def test_a_series_goes_on_from_its_last_value(make_fit, values):
    known = RNG.normal(size=6)
    phi = np.repeat([[0.9], [-0.5]], 10000, axis=1)
    path = np.broadcast_to(known, (2, 10000, 6))
    fit = make_fit(phi=phi, level=(("day",), path))
    done = predict(Level(coords={"day": range(9)}), fit, 1, "draw", ["level", "y"])
    level = values(done, "predictions", "level")
    np.testing.assert_array_equal(level[..., :6], path)
    for chain, p in enumerate((0.9, -0.5)):
        for ahead in (1, 2, 3):
            mean = 1.0 + p**ahead * (known[-1] - 1.0)
            sd = 0.5 * np.sqrt(sum(p ** (2 * k) for k in range(ahead)))
            z = (level[chain, :, 5 + ahead] - mean) / sd
            assert abs(z.mean()) < LARGEST / 100
            assert abs(z.var() - 1.0) < LARGEST * np.sqrt(2) / 100
    z = (values(done, "predictions", "y") - level) / 0.1
    assert scipy.stats.kstest(z.ravel(), "norm").pvalue > 1e-4


def test_a_series_without_its_past_is_refused(make_fit):
    fit = make_fit(phi=np.zeros((1, 5)), level=(("day",), np.zeros((1, 5, 6))))
    with pytest.raises(DataError, match="'level': new elements along 'day' depend on all"):
        predict(Level(coords={"day": range(3, 9)}), fit, 1, "draw")
    with pytest.raises(DataError, match=r"6 elements along 'day' in the fit and 9 here"):
        predict(Level(y=np.zeros(9)), fit, 1, "draw")


class Field(Model):
    site = data(dims="site_")
    scale = param(HalfNormal(1.0))
    f = param(GaussianProcess(ExpQuad(1.5, scale), site), dims="site_")
    y = observed(Normal(f, 0.1), dims="site_")


def test_kriging(make_fit, values):
    """New sites between and beyond those of the fit: Rasmussen and Williams (2006), eq. 2.19."""
    old, new = np.array([0.0, 1.0, 2.5]), np.array([0.5, 3.0])
    known = np.array([0.3, -0.8, 1.1])
    fit = make_fit(
        scale=np.full((1, 20000), 0.8), f=(("site_",), np.broadcast_to(known, (1, 20000, 3)))
    )
    model = Field(site=np.concatenate([old, new]), coords={"site_": range(5)})
    f = values(predict(model, fit, 1, "draw", "f"), "predictions", "f")[0]
    where = np.concatenate([old, new])
    covariance = 2.25 * np.exp(-0.5 * (np.subtract.outer(where, where) / 0.8) ** 2)
    weights = np.linalg.solve(covariance[:3, :3], covariance[:3, 3:]).T
    mean = weights @ known
    spread = covariance[3:, 3:] - weights @ covariance[:3, 3:]
    errors = (f[:, 3:].mean(axis=0) - mean) / np.sqrt(np.diag(spread) / 20000)
    assert np.abs(errors).max() < LARGEST
    ratio = np.cov(f[:, 3:].T) / spread
    assert np.abs(np.diag(ratio) - 1.0).max() < LARGEST * np.sqrt(2 / 20000)


class Heavy(Model):
    f = param(MvStudentT(4.0, np.zeros(3), np.eye(3)), dims="site")
    y = observed(Normal(f, 1.0), dims="site")


@pytest.mark.parametrize("what", ["no draws", "not a fit", "choice", "names", "empty", "class"])
def test_wrong_arguments(what, make_fit):
    model, fit = bound_to(["N", "S"]), groups_fit(make_fit, 5)
    if what == "no draws":
        with pytest.raises(DataError, match="no draws of param 'mu'"):
            predict(Mean(y=[1.0]), fit)
    elif what == "not a fit":
        with pytest.raises(DataError, match="model comes first"):
            predict(model, model)
    elif what == "choice":
        with pytest.raises(DataError, match="Did you mean 'zero'"):
            predict(model, fit, new_groups="zeros")
    elif what == "names":
        with pytest.raises(DataError, match="Did you mean 'eta'"):
            predict(model, fit, var_names=["etta"])
    elif what == "empty":
        with pytest.raises(DataError, match="var_names is empty"):
            posterior_predictive(model, fit, var_names=[])
    else:
        with pytest.raises(ModelError, match="Bind it first"):
            posterior_predictive(Mean, fit)


def test_a_potential_alone_is_nothing_to_predict(make_fit):
    class Alone(Model):
        x = data("obs")
        mu = param(Normal(0, 1))
        term = potential(-((x - mu) ** 2))

    fit, model = make_fit(mu=np.ones((1, 5))), Alone(x=[1.0, 2.0])
    with pytest.raises(DataError, match=r"Alone declares nothing to predict: .* as a determin"):
        predict(model, fit)
    np.testing.assert_array_equal(predict(model, fit, var_names="mu").predictions["mu"], 1.0)


def test_parameters_that_do_not_match_are_refused(make_fit):
    effect = (("region",), np.zeros((1, 5, 2)))
    tau = np.ones((1, 5))
    unlabelled = make_fit(tau=tau, effect=effect)
    with pytest.raises(DataError, match="has labels along 'region' here that the fit lacks"):
        predict(bound_to(["N", "S"]), unlabelled)
    labelled = make_fit({"region": np.array(["N", "S"])}, tau=tau, effect=effect)

    class Positions(Groups):
        area = data(dims="region")

    model = Positions(place=[0], x=[0.0], area=[1.0, 2.0])
    with pytest.raises(DataError, match=r"labels along 'region' in the fit and none here"):
        predict(model, labelled)
    done = predict(model, unlabelled, seed=1)
    assert group(done, "predictions").sizes["obs"] == 1
    matrix = make_fit(tau=tau, effect=(("region", "year"), np.zeros((1, 5, 2, 3))))
    with pytest.raises(DataError, match="that of another model"):
        predict(bound_to(["N", "S"]), matrix)
    with pytest.raises(DataError, match="no group 'posterior'"):
        predict(bound_to(["N", "S"]), wrapped_nothing())


def wrapped_nothing():
    import xarray as xr

    from probmodel.results.arviz_object import wrap

    return wrap({"prior": xr.Dataset()}, {})


def test_what_cannot_be_conditioned_says_so(make_fit):
    fit = make_fit(f=(("site",), np.zeros((1, 5, 3))))

    class Longer(Heavy):
        f = param(MvStudentT(4.0, np.zeros(4), np.eye(4)), dims="site")
        y = observed(Normal(f, 1.0), dims="site")

    with pytest.raises(ModelError, match="MvStudentT has no way to draw some elements"):
        predict(Longer(coords={"site": range(4)}), fit, 1, "draw")


def test_draws_with_impossible_parameters_say_which_declaration(make_fit):
    class Counts(Model):
        rate = param(Normal(1.0, 1.0))
        y = observed(Poisson(rate), dims="obs")

    fit = make_fit(rate=np.full((1, 3), -1.0))
    with pytest.raises(ModelError, match="observed 'y' cannot be drawn from Poisson"):
        posterior_predictive(Counts(y=[1, 2]), fit)


def test_models_without_what_is_asked(make_fit):
    class Bare(Model):
        x = param(Normal(0.0, 1.0))

    fit = make_fit(x=np.zeros((1, 3)))
    with pytest.raises(ModelError, match="declares no observed"):
        posterior_predictive(Bare(), fit)
    with pytest.raises(DataError, match="declares no deterministic"):
        compute_deterministics(Bare(), fit)


def test_other_observed_quantities_keep_their_data(make_fit, values):
    """What is not drawn anew conditions what depends on it; data may be an index then."""

    class Classes(Model):
        mu = param(Normal(0.0, 1.0), shape=2)
        kind = observed(Poisson(1.0), dims="obs")
        y = observed(Normal(mu[kind], 0.01), dims="obs")

    fit = make_fit(mu=(("mu_dim_0",), np.broadcast_to([0.0, 5.0], (1, 50, 2))))
    model = Classes(kind=[1, 0, 1], y=[0.0, 0.0, 0.0])
    y = values(posterior_predictive(model, fit, 1, "y"), "posterior_predictive", "y")
    np.testing.assert_allclose(y.mean(axis=(0, 1)), [5.0, 0.0, 5.0], atol=0.01)
    with pytest.raises(ModelError, match="must come from data"):
        posterior_predictive(model, fit, 1)


def test_functions_that_are_solved_run_forwards(make_fit, values):
    """A recurrence and a differential equation, in every draw's own parameters."""

    class Decay(Model):
        rate = param(HalfNormal(1.0))
        start = param(Normal(1.0, 0.1))
        path = deterministic(
            solve_ode(lambda t, y, r: -r * y, [start], 0.0, np.array([0.5, 1.0]), rate)[:, 0]
        )
        steps = deterministic(
            scan(lambda total, x, r: total + r * x, start, np.array([1.0, 2.0]), args=(rate,))
        )
        y = observed(Normal(path, 0.1))

    rate, start = np.abs(RNG.normal(size=(2, 5))), RNG.normal(1.0, 0.1, (2, 5))
    done = compute_deterministics(Decay(y=[0.0, 0.0]), make_fit(rate=rate, start=start))
    exact = start[..., None] * np.exp(-rate[..., None] * [0.5, 1.0])
    np.testing.assert_allclose(values(done, "posterior", "path"), exact, rtol=1e-5)
    sums = start[..., None] + rate[..., None] * [1.0, 3.0]
    np.testing.assert_allclose(values(done, "posterior", "steps"), sums, rtol=1e-12)
    prior = prior_predictive(Decay(), draws=20, seed=1)
    rate, start = (values(prior, "prior", name)[..., None] for name in ("rate", "start"))
    exact = start * np.exp(-rate * [0.5, 1.0])
    np.testing.assert_allclose(values(prior, "prior", "path"), exact, rtol=1e-5)


class Slope(Model):
    x = data(dims="day")
    b = param(Normal(0, 1))
    y = observed(Normal(b * x, 1.0), dims="day")


def test_data_that_are_not_those_of_the_fit():
    """Those that are drawn anew may be others, and may be missing."""
    fit = infer(Slope(x=[1.0, 2.0], y=[0.5, 1.5]), draws=20, warmup=20, seed=1, quiet=True)
    for model in (Slope(x=[1.0, 2.0], y=[0.0, 0.0]), Slope(x=[1.0, 2.0])):
        posterior_predictive(model, fit, seed=1)
    for x, fault in (([1.0, 3.0], "other values"), ([1.0, 2.0, 3.0], r"the shape \(3,\)")):
        with pytest.raises(DataError, match=f"x has {fault}.* predict"):
            posterior_predictive(Slope(x=x, y=np.zeros(len(x))), fit)
        predict(Slope(x=x), fit, seed=1)


def test_deterministic_quantities_are_of_the_data_of_the_fit():
    class Scaled(Model):
        x = data("obs")
        b = param(Normal(0, 1))
        line = deterministic(b * x)
        y = observed(Normal(line, 1), dims="obs")

    model, other = (Scaled(x=x, y=[1.0, 2.0]) for x in ([1.0, 2.0], [3.0, 4.0]))
    fit = infer(model, draws=20, warmup=50, chains=2, seed=1, quiet=True, var_names="b")
    found = group(compute_deterministics(model, fit), "posterior")
    np.testing.assert_allclose(found["line"], found["b"].values[..., None] * [1.0, 2.0])
    with pytest.raises(
        DataError, match=r"x has other values\. compute_deterministics\(model, fit\)"
    ):
        compute_deterministics(other, fit)
