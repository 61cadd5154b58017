"""Missing elements of data: where they go, and what is inferred of them."""

import numpy as np
import pytest
import scipy.stats

from probmodel import (
    LogDensity,
    Model,
    check_model,
    data,
    infer,
    log_likelihood,
    log_prior,
    loo,
    observed,
    param,
    posterior_predictive,
    predict,
    prior_predictive,
)
from probmodel.density import ModelDensity
from probmodel.distributions import (
    AR,
    AR1,
    Affine,
    Beta,
    Categorical,
    Censored,
    Dirichlet,
    Gamma,
    Hurdle,
    LogNormal,
    Mixture,
    MvNormal,
    Normal,
    Poisson,
    Uniform,
)
from probmodel.errors import DataError, ModelError, SamplingWarning
from probmodel.results.arviz_object import group

RNG = np.random.default_rng(2)


class Regression(Model):
    """A predictor with missing elements, used by its name."""

    mu = param(Normal(0.0, 2.0))
    x = observed(Normal(mu, 1.0), dims="obs", missing="impute")
    y = observed(Normal(2.0 * x, 0.5), dims="obs")


X = np.array([0.4, np.nan, -1.2, 2.0, np.nan])
Y = np.array([1.0, 3.0, -2.0, 4.5, 0.1])


def test_the_log_density_is_that_of_the_completed_data():
    density = ModelDensity(Regression(x=X, y=Y))
    assert density.dim == 3
    x = RNG.normal(size=(4, 3))
    values = density.constrain(x)
    assert density.coordinate_names == ("mu", "x_missing[0]", "x_missing[1]")
    completed = np.broadcast_to(X, (4, 5)).copy()
    completed[:, [1, 4]] = values["x_missing"]
    spread = np.nanstd(X)
    expected = (
        scipy.stats.norm.logpdf(values["mu"], 0, 2)
        + scipy.stats.norm.logpdf(completed, values["mu"][:, None], 1).sum(axis=1)
        + scipy.stats.norm.logpdf(Y, 2 * completed, 0.5).sum(axis=1)
        + 2 * np.log(spread)
    )
    np.testing.assert_allclose(density.log_density(x), expected, rtol=1e-12)
    assert check_model(Regression(x=X, y=Y)).ok


def test_the_posterior_is_the_exact_one():
    """All is normal: given mu, an element has the precision 1 + 4 / 0.25."""
    fit = infer(Regression(x=X, y=Y), draws=1000, warmup=500, seed=1, quiet=True)
    found = group(fit, "posterior")["x_missing"]
    assert list(found["x_missing_dim_0"].values) == [1, 4]
    known = ~np.isnan(X)
    # Precision of (mu, two elements), and its product with their mean.
    precision = np.diag([0.25 + 3 + 2, 17.0, 17.0])
    precision[0, 1:] = precision[1:, 0] = -1.0
    weighted = np.array([X[known].sum(), *(2 * Y[~known] / 0.25)])
    covariance = np.linalg.inv(precision)
    mean = covariance @ weighted
    import arviz  # its ESS is checked elsewhere

    for i in range(2):
        draws = found.values[..., i]
        ess = float(arviz.ess(draws))
        sd = np.sqrt(covariance[1 + i, 1 + i])
        assert abs(draws.mean() - mean[1 + i]) < 4.5 * sd / np.sqrt(ess)
        assert abs(draws.std() / sd - 1.0) < 4.5 / np.sqrt(ess)


def test_nothing_missing_changes_nothing():
    class Plain(Regression):
        x2 = observed(Normal(0.0, 1.0), dims="obs")

    full = np.nan_to_num(X)
    density = ModelDensity(Regression(x=full, y=Y))
    assert density.dim == 1
    assert [v.name for v in density.variables] == ["mu"]
    assert "missing imputed" in repr(Regression(x=X, y=Y))


class Positive(Model):
    """Supports with bounds, one of them a vector of data and one of them a parameter."""

    top = data(dims="obs")
    rate = param(Gamma(2.0, 1.0))
    wait = observed(Gamma(2.0, rate), dims="obs", missing="impute")
    share = observed(Beta(2.0, 3.0), dims="obs", missing="impute")
    place = observed(Uniform(0.0, top), dims="obs", missing="impute")
    free = observed(Uniform(-rate, 10.0), dims="obs", missing="impute")


def test_values_stay_in_the_support():
    nan = np.nan
    model = Positive(top=[1.0, 2.0, 3.0], wait=[1.0, nan, 0.5], share=[0.2, nan, nan],
                     place=[0.5, nan, nan], free=[1.0, 2.0, nan])  # fmt: skip
    density = ModelDensity(model)
    values = density.constrain(RNG.normal(0, 5, (200, density.dim)))
    assert (values["wait_missing"] > 0).all()
    assert ((values["share_missing"] >= 0) & (values["share_missing"] <= 1)).all()
    assert (values["place_missing"] <= [2.0, 3.0]).all()
    assert (values["place_missing"][:, 1] > 2.0).any()
    assert (values["free_missing"][:, 0] >= -values["rate"]).all()
    assert check_model(model).ok


class Vectors(Model):
    mean = param(Normal(0.0, 2.0), shape=2)
    v = observed(
        MvNormal(mean, np.array([[1.0, 0.8], [0.8, 1.0]])), dims=("obs", "axis"), missing="impute"
    )


V = np.array([[0.5, 1.0], [np.nan, 2.0], [0.1, np.nan], [0.3, 0.2]])


def test_elements_of_vectors(make_fit, values):
    model = Vectors(v=V, coords={"axis": ["a", "b"]})
    density = ModelDensity(model)
    labels = density.coords["v_missing_dim_0"]
    assert list(labels) == ["1, a", "2, b"]
    x = RNG.normal(size=(3, density.dim))
    drawn = density.constrain(x)
    completed = np.broadcast_to(V, (3, 4, 2)).copy()
    completed[:, 1, 0], completed[:, 2, 1] = drawn["v_missing"].T
    normal = scipy.stats.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]])
    inside = normal.logpdf(completed - drawn["mean"][:, None]).sum(axis=1)
    np.testing.assert_allclose(density.terms(x)["likelihood of v"], inside, rtol=1e-10)
    fit = make_fit(
        {"v_missing_dim_0": labels},
        mean=(("mean_dim_0",), np.zeros((1, 5, 2))),
        v_missing=(("v_missing_dim_0",), np.ones((1, 5, 2))),
    )
    done = log_likelihood(model, fit)
    assert list(group(done, "log_likelihood")["v_observed_dim_0"].values) == [0, 3]
    np.testing.assert_allclose(
        values(done, "log_likelihood", "v")[0, 0], normal.logpdf(V[[0, 3]]), rtol=1e-10
    )


def test_series_with_gaps():
    class Series(Model):
        phi = param(Uniform(-1.0, 1.0))
        y = observed(AR1(phi, 1.0), dims="day", missing="impute")

    model = Series(y=[0.1, np.nan, 0.4, np.nan, np.nan], coords={"day": list("abcde")})
    density = ModelDensity(model)
    assert list(density.coords["y_missing_dim_0"]) == ["b", "d", "e"]
    assert check_model(model).ok
    x = density.initial_points(np.random.default_rng(1), 2)
    fit = infer(model, draws=10, warmup=50, chains=2, seed=1, quiet=True)
    assert x.shape == (2, 4)
    with pytest.raises(DataError, match="'y': every value has missing elements"):
        log_likelihood(model, fit)
    with pytest.raises(DataError, match="one log density for all of its values together"):
        loo(model, fit)


def test_scores_beside_a_quantity_without_complete_values(make_fit):
    class Both(Model):
        mu = param(Normal(0.0, 1.0))
        y = observed(MvNormal(np.zeros(2), np.eye(2)), dims=("day", "axis"), missing="impute")
        z = observed(Normal(mu, 1.0), dims="day")

    model = Both(y=[[1.0, np.nan], [np.nan, 2.0]], z=[0.5, 1.0])
    fit = make_fit(mu=np.zeros((2, 5)))
    with pytest.warns(SamplingWarning, match="log_likelihood leaves out y: every value") as caught:
        scored = log_likelihood(model, fit)
    assert caught[0].filename == __file__
    assert list(scored.log_likelihood) == ["z"]


def regression_fit(make_fit):
    return make_fit(
        {"x_missing_dim_0": np.array([1, 4])},
        mu=np.zeros((2, 500)),
        x_missing=(("x_missing_dim_0",), np.broadcast_to([10.0, -10.0], (2, 500, 2))),
    )


def test_what_is_computed_from_imputed_data(make_fit, values):
    model, fit = Regression(x=X, y=Y), regression_fit(make_fit)
    done = log_likelihood(model, fit)
    assert list(group(done, "log_likelihood")["x_observed_dim_0"].values) == [0, 2, 3]
    known = ~np.isnan(X)
    np.testing.assert_allclose(
        values(done, "log_likelihood", "x")[0, 0], scipy.stats.norm.logpdf(X[known]), rtol=1e-12
    )
    completed = np.where(known, X, [0, 10.0, 0, 0, -10.0])
    np.testing.assert_allclose(
        values(done, "log_likelihood", "y")[1, 7],
        scipy.stats.norm.logpdf(Y, 2 * completed, 0.5),
        rtol=1e-12,
    )
    assert list(group(log_prior(model, fit), "log_prior").data_vars) == ["mu"]
    # Drawn anew, all of it; the other one then follows the new values, or else the imputed ones.
    both = posterior_predictive(model, fit, 1)
    x, y = (values(both, "posterior_predictive", name) for name in "xy")
    assert scipy.stats.kstest(x.ravel(), "norm").pvalue > 1e-4
    assert scipy.stats.kstest((y - 2 * x).ravel() / 0.5, "norm").pvalue > 1e-4
    y = values(posterior_predictive(model, fit, 1, "y"), "posterior_predictive", "y")
    z = (y - 2 * completed) / 0.5
    assert scipy.stats.kstest(z.ravel(), "norm").pvalue > 1e-4
    assert group(predict(model, fit, 1, var_names="x"), "predictions")["x"].sizes["obs"] == 5
    prior = prior_predictive(model, 10, 1)
    assert list(group(prior, "prior").data_vars) == ["mu"]
    assert np.isnan(group(prior, "observed_data")["x"].values).sum() == 2


def test_predictions_at_data_with_missing_elements(make_fit, values):
    """These are drawn; elements of the fit at the same positions are others."""
    fit = regression_fit(make_fit)
    done = predict(Regression(x=[0.0, np.nan, 3.0]), fit, 1)
    y = values(done, "predictions", "y").reshape(-1, 3)
    scale = np.array([0.5, np.hypot(0.5, 2.0), 0.5])
    for found, mean, sd in zip(y.T, [0.0, 0.0, 6.0], scale, strict=True):
        assert scipy.stats.kstest(found, scipy.stats.norm(mean, sd).cdf).pvalue > 1e-4
    known = group(done, "predictions_constant_data")["x"].values
    np.testing.assert_array_equal(known, [0.0, np.nan, 3.0])


def test_missing_elements_of_vectors_follow_from_the_others(make_fit, values):
    class Second(Model):
        v = observed(
            MvNormal(np.zeros(2), np.array([[1.0, 0.6], [0.6, 1.0]])),
            dims=("obs", "axis"),
            missing="impute",
        )
        b = param(Normal(0.0, 1.0))
        y = observed(Normal(b * v[:, 1], 0.1), dims="obs")

    fit = make_fit(b=np.full((2, 1000), 2.0))
    done = predict(Second(v=[[2.0, np.nan], [2.0, 1.0]]), fit, 1)
    y = values(done, "predictions", "y").reshape(-1, 2)
    for found, mean, sd in zip(y.T, [2.4, 2.0], [np.hypot(0.1, 1.6), 0.1], strict=True):
        assert scipy.stats.kstest(found, scipy.stats.norm(mean, sd).cdf).pvalue > 1e-4


def test_an_observed_index_that_is_given(make_fit, values):
    class Kinds(Model):
        kind = observed(Categorical(np.full(3, 1 / 3)), dims="obs")
        mean = param(Normal(0.0, 5.0), shape=3)
        y = observed(Normal(mean[kind], 0.1), dims="obs")

    fit = make_fit(mean=(("mean_dim_0",), np.broadcast_to([0.0, 2.0, 4.0], (2, 500, 3))))
    done = predict(Kinds(kind=[0, 2]), fit, 1)
    assert np.allclose(values(done, "predictions", "y"), [0.0, 4.0], atol=0.6)
    with pytest.raises(ModelError, match="must come from data"):
        predict(Kinds(coords={"obs": range(2)}), fit, 1)


def test_cross_validation_leaves_imputed_elements_out(make_fit):
    fit = make_fit(
        {"x_missing_dim_0": np.array([3])},
        mu=RNG.normal(0, 0.1, (4, 1000)),
        x_missing=(("x_missing_dim_0",), RNG.normal(size=(4, 1000, 1))),
    )
    x = RNG.normal(size=40)
    x[3] = np.nan
    assert loo(Regression(x=x, y=np.zeros(40)), fit, var_name="x").n_data_points == 39


def test_priors_on_unconstrained_space_and_metric():
    density = ModelDensity(Regression(x=X, y=Y))
    x = density.prior_draws(np.random.default_rng(1), 50)
    assert x.shape == (50, 3)
    assert np.isfinite(density.log_density(x)).all()
    # All terms are quadratic: the metric is minus the Hessian, which is positive definite.
    np.testing.assert_allclose(density.metric(x[:2]), -density.hessian(x[:2]), rtol=1e-8, atol=1e-8)
    assert isinstance(density, LogDensity)


def test_metric_of_imputed_data_that_are_not_normal():
    class Waiting(Model):
        rate = param(Normal(0.0, 1.0))
        y = observed(Gamma(2.0, np.exp(rate)), dims="obs", missing="impute")
        z = observed(Poisson(np.exp(0.1 * y)), dims="obs")

    density = ModelDensity(Waiting(y=[1.0, np.nan], z=[1, 2]))
    x = np.array([[0.3, -0.2]])
    with np.errstate(all="ignore"):
        metric = density.metric(x)
    count = np.exp(0.1 * np.exp(-0.2))  # expected information: rate of z in log rate
    hessian = density.hessian(x)
    h = 1e-5

    def z_term(u):
        return density.terms(u)["likelihood of z"]

    step = np.array([[0.0, h]])
    second = (z_term(x + step) - 2 * z_term(x) + z_term(x - step)) / h**2
    expected = -hessian[0]
    expected[1, 1] += second[0] + count * (0.1 * np.exp(-0.2)) ** 2
    np.testing.assert_allclose(metric[0], expected, rtol=1e-4)


def test_nan_is_refused_unless_asked_for():
    class Strict(Model):
        mu = param(Normal(0.0, 1.0))
        y = observed(Normal(mu, 1.0), dims="obs")

    with pytest.raises(DataError, match=r'1 values that are NaN.*missing="impute"'):
        Strict(y=[0.0, np.nan])
    with pytest.raises(DataError, match=r"values that are infinite.*value is missing, give NaN\.$"):
        Regression(x=[0.0, np.inf], y=[0.0, 1.0])
    with pytest.raises(DataError, match="'x' has no known value"):
        Regression(x=[np.nan, np.nan], y=[0.0, 1.0])
    two = {"share": [0.1, 0.2], "place": [0.1, 0.2], "free": [0.1, 0.2]}
    with pytest.raises(DataError, match="'wait' follows Gamma"):
        Positive(top=[1.0, 1.0], wait=[-1.0, np.nan], **two)


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda mu: observed(Poisson(np.exp(mu)), missing="impute"), "continuous.*Drop"),
        (lambda mu: observed(Censored(Normal(mu, 1), upper=2), missing="impute"), "Censored"),
        (lambda mu: observed(Hurdle(0.3, LogNormal(mu, 1)), missing="impute"), "Hurdle has values"),
        (
            lambda mu: observed(
                Mixture([0.5, 0.5], [Hurdle(p, Affine(Normal(mu, 1), 1, 2)) for p in (0, 0.3)]),
                missing="impute",
            ),
            "Mixture has values",
        ),
        (lambda mu: observed(Normal(mu, 1), missing="drop"), r"takes \"impute\" or None"),
    ],
)
def test_declarations_that_cannot_be_imputed(declare, words):
    with pytest.raises(ModelError, match=words):

        class Wrong(Model):
            mu = param(Normal(0.0, 1.0))
            y = declare(mu)


def test_values_that_are_tied_together_and_names_that_are_taken():
    class Shares(Model):
        a = param(Gamma(2.0, 1.0))
        p = observed(Dirichlet(a * np.ones(3)), dims=("obs", "part"), missing="impute")

    with pytest.raises(ModelError, match="single elements of them cannot be imputed"):
        Shares(p=[[0.2, 0.3, 0.5], [0.1, np.nan, 0.4]])

    class Taken(Model):
        y_missing = param(Normal(0.0, 1.0))
        y = observed(Normal(y_missing, 1.0), dims="obs", missing="impute")

    with pytest.raises(ModelError, match="'y_missing' has the name that the missing elements"):
        Taken(y=[0.0, np.nan])
    assert ModelDensity(Taken(y=[0.0, 1.0])).dim == 1


def test_bounds_of_data_by_observed_data_that_are_drawn_anew(make_fit):
    class Ordered(Model):
        mu = param(Normal(0.0, 1.0))
        y = observed(Normal(mu, 1.0), dims="obs")
        above = data(dims="obs", lower=y)

    with pytest.raises(DataError, match="'above' has lower"):
        Ordered(y=[1.0], above=[0.0])
    fit = make_fit(mu=np.zeros((1, 5)))
    done = posterior_predictive(Ordered(y=[-5.0], above=[-4.0]), fit, 1)
    assert group(done, "posterior_predictive")["y"].sizes["obs"] == 1


class Lagged(Model):
    phi = param(Normal(0.0, 0.5), shape=2)
    y = observed(AR(phi, 1.0), dims="day", missing="impute")
    z = observed(AR([0.5], 1.0), missing="impute")


def test_first_values_of_a_series_without_a_distribution_are_not_imputed():
    """They would be flat, and the others would be weighted by what the flat ones leave over."""
    gap, full = [0.1, 0.4, np.nan, 0.2, 0.9], [0.3, 0.1, 0.2]
    assert Lagged(y=gap, z=full)._binding.free[1].shape == (1,)
    for first in ([np.nan, 0.4, 0.3], [0.1, np.nan, 0.3]):
        with pytest.raises(ModelError, match=r"'y': the element at .* AR is flat .* initial="):
            Lagged(y=first, z=full)
    with pytest.raises(ModelError, match=r"'z': the element at \[0\] is missing"):
        Lagged(y=gap, z=[np.nan, 0.1, 0.2])

    class Started(Model):
        phi = param(Normal(0.0, 0.5), shape=2)
        y = observed(AR(phi, 1.0, initial=Normal(0, 2)), missing="impute")

    assert Started(y=[np.nan, np.nan, 0.3])._binding.free[1].shape == (2,)
