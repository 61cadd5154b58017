"""How metrics of models change, against differences of the metric itself."""

import numpy as np
import pytest
from scipy.special import expit

from probmodel import LogDensity, Model, ModelError, data, load_model, observed, param, read_data
from probmodel.density import as_posterior
from probmodel.distributions import (
    Beta,
    BinomialLogit,
    CategoricalLogit,
    Gamma,
    HalfCauchy,
    HalfNormal,
    MvNormal,
    Normal,
    Poisson,
    StudentT,
)
from probmodel.geometry import metric_gradient as module
from probmodel.geometry.metric import Structure
from probmodel.inference.counting import Work, counting
from probmodel.types import MetricLogDensity, SmoothMetricLogDensity

RNG = np.random.default_rng(11)
X = RNG.normal(size=(30, 3))
TRIALS = RNG.integers(1, 9, 30)

# -- models: affine parameters, curved ones, priors that are not normal, matrices ------------------


class Counts(Model):
    X = data(dims=("obs", "feature"))
    n = data(dims="obs", dtype=int)
    beta = param(Normal(0, 1), dims="feature")
    events = observed(Poisson(np.exp(X @ beta + 0.5)), dims="obs")
    successes = observed(BinomialLogit(n, X @ beta), dims="obs")


class Linear(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 10), dims="feature")
    sigma = param(HalfNormal(1))
    y = observed(Normal(X @ beta, sigma), dims="obs")


class Decay(Model):
    time = data(dims="obs")
    amplitude = param(Normal(1, 1))
    rate = param(HalfNormal(2))
    y = observed(Normal(amplitude * np.exp(-rate * time), 0.3), dims="obs")


class Hierarchy(Model):
    sigma = data(dims="school")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(2))
    theta = param(Normal(mu, tau), dims="school")
    y = observed(Normal(theta, sigma), dims="school")


class Robust(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    scale = param(Gamma(2, 1))
    df = param(Gamma(2, 0.2))
    y = observed(StudentT(df, X @ beta, scale), dims="obs")


class Shares(Model):
    a = param(Gamma(3, 1))
    b = param(Gamma(3, 1))
    rate = param(Gamma(2, 1))
    y = observed(Beta(a, a * b))
    n = observed(Poisson(rate + 0.1 * a))


class Softmax(Model):
    X = data(dims=("obs", "feature"))
    scale = param(HalfNormal(1))
    B = param(Normal(0, 1), dims=("feature", "kind"))
    y = observed(CategoricalLogit(scale * (X @ B)), dims="obs")


class Field(Model):
    place = data(dims="obs")
    level = param(Normal(0, 1))
    amplitude = param(HalfNormal(1))
    noise = param(HalfNormal(1))
    kernel = np.exp(-0.5 * (place[:, None] - place[None, :]) ** 2)
    y = observed(
        MvNormal(level**2 * np.ones(5), covariance=amplitude**2 * kernel + noise**2 * np.eye(5))
    )


def of_model(name):
    rng = np.random.default_rng(2)
    noise = rng.normal(size=len(X))
    models = {
        "counts": lambda: Counts(
            X=X, n=TRIALS, events=rng.poisson(2, 30), successes=rng.binomial(TRIALS, 0.4)
        ),
        "linear": lambda: Linear(X=X, y=noise),
        "decay": lambda: Decay(time=np.linspace(0, 3, 30), y=noise),
        "hierarchy": lambda: Hierarchy(sigma=np.array([1.0, 2.0, 0.5]), y=np.array([3.0, -1, 0.2])),
        "robust": lambda: Robust(X=X, y=noise),
        "shares": lambda: Shares(y=rng.uniform(size=9), n=np.array([2, 4])),
        "softmax": lambda: Softmax(X=X, y=rng.integers(0, 2, 30), coords={"kind": ["a", "b"]}),
        "field": lambda: Field(place=np.arange(5.0), y=np.ones((2, 5))),
        "eight_schools": lambda: load_model("models/eight_schools.py")(
            **read_data("models/data/eight_schools.json")
        ),
        "volatility": lambda: load_model("models/stochastic_volatility.py")(y=noise),
        "centered": lambda: load_model("models/stochastic_volatility_centered.py")(y=noise),
    }
    return as_posterior(models[name]())


NAMES = ["counts", "linear", "decay", "hierarchy", "robust", "shares", "softmax", "field",
         "eight_schools", "volatility", "centered"]  # fmt: skip


def problem(density, k=3, chains=3):
    """Points, and directions of about unit length in the metric with weights of both signs."""
    rng = np.random.default_rng(5)
    x = 0.5 * rng.standard_normal((chains, density.dim))
    scale = 1.0 / np.sqrt(np.abs(np.einsum("cii->ci", density.metric(x))) * density.dim)
    vectors = 0.5 * rng.standard_normal((chains, k, density.dim)) * scale[:, None]
    return x, vectors, rng.standard_normal((chains, k))


def by_differences(density, x, vectors, weights, step=1e-3):
    """Gradient of the contracted metric, coordinate by coordinate, of fourth order."""
    M = np.einsum("ck,cki,ckj->cij", weights, vectors, vectors)
    out = np.zeros(x.shape)
    for i in range(x.shape[1]):
        for shift, factor in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
            there = x.copy()
            there[:, i] += shift * step
            out[:, i] += factor / step * np.einsum("cij,cij->c", M, density.metric(there))
    return out


def check(density):
    x, vectors, weights = problem(density)
    expected = by_differences(density, x, vectors, weights)
    found = density.metric_gradient(x, vectors, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
def test_gradient_of_the_metric_of_a_model(name):
    check(of_model(name))


@pytest.mark.parametrize(
    ("name", "part", "wrong"),
    [
        ("counts", "FIRST", module.FIRST * 1.00001),
        ("decay", "FIRST", module.FIRST * 1.00001),
        ("hierarchy", "SECOND", module.SECOND * 1.00001),
        ("field", "FIRST", module.FIRST * 1.00001),
    ],
)
def test_a_small_error_is_found(name, part, wrong, monkeypatch):
    monkeypatch.setattr(module, part, wrong)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(of_model(name))


def test_logistic_regression_in_closed_form():
    density = as_posterior(
        load_model("models/logistic_regression.py")(**read_data("models/data/ripley.npz"))
    )
    x, vectors, weights = problem(density, k=density.dim)
    Z = np.column_stack([np.ones(len(read_data("models/data/ripley.npz")["X"])),
                         read_data("models/data/ripley.npz")["X"]])  # fmt: skip
    s = expit(x @ Z.T)
    h = np.einsum("ck,ckn->cn", weights, (vectors @ Z.T) ** 2)
    expected = (s * (1 - s) * (1 - 2 * s) * h) @ Z
    np.testing.assert_allclose(
        density.metric_gradient(x, vectors, weights), expected,
        rtol=1e-9, atol=1e-10 * np.abs(expected).max(),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["counts", "linear", "hierarchy"])
def test_what_is_known_from_structure_changes_nothing(name, monkeypatch):
    density = of_model(name)
    arguments = problem(density)
    fast = density.metric_gradient(*arguments)
    monkeypatch.setattr(Structure, "is_affine", lambda self, expression: False)
    slow = of_model(name).metric_gradient(*arguments)
    np.testing.assert_allclose(fast, slow, rtol=1e-6, atol=1e-7 * np.abs(slow).max())


def test_a_gaussian_model_has_a_metric_that_does_not_change():
    class Gaussian(Model):
        mu = param(Normal(0, 1), shape=2)
        y = observed(Normal(mu, 0.5))

    density = as_posterior(Gaussian(y=np.array([1.0, 2.0])))
    assert not density.metric_gradient(*problem(density)).any()


@pytest.mark.parametrize("name", ["counts", "decay", "hierarchy", "field"])
def test_rows_are_independent(name):
    density = of_model(name)
    x, vectors, weights = problem(density)
    together = density.metric_gradient(x, vectors, weights)
    rows = (slice(i, i + 1) for i in range(3))
    alone = np.concatenate([density.metric_gradient(x[r], vectors[r], weights[r]) for r in rows])
    np.testing.assert_allclose(together, alone, rtol=1e-8, atol=1e-9 * np.abs(alone).max())
    x[1] = np.nan
    found = density.metric_gradient(x, vectors, weights)
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[::2], together[::2], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("entries", [1, 200, 2**22])
def test_blocks_of_chains_change_nothing(entries, monkeypatch):
    density = of_model("counts")
    arguments = problem(density, chains=5)
    whole = density.metric_gradient(*arguments)
    monkeypatch.setattr(module, "_ENTRIES", entries)
    rounding = 1e-13 * np.abs(whole).max()  # of sums, in differences over steps of 1e-3
    np.testing.assert_allclose(
        density.metric_gradient(*arguments), whole, rtol=1e-12, atol=rounding
    )


# -- plain functions -------------------------------------------------------------------------------


def metric(x):
    return (1.0 + x[:, :1, None] ** 2) * np.eye(2)


def metric_gradient(x, M):
    trace = np.einsum("cii->c", M)
    return np.stack([2.0 * x[:, 0] * trace, np.zeros(len(x))], axis=1)


def plain(**functions):
    return LogDensity.from_function(lambda x: -0.5 * (x**2).sum(axis=1), 2, **functions)


def test_function_with_a_gradient_of_its_metric():
    density = plain(metric=metric, metric_gradient=metric_gradient)
    assert isinstance(density, SmoothMetricLogDensity)
    check(density)
    x, vectors, weights = problem(density)
    x[1] = np.nan
    assert np.isnan(density.metric_gradient(x, vectors, weights)).all(axis=1).tolist() == [0, 1, 0]


def test_function_without_one():
    density = plain(metric=metric)
    assert isinstance(density, MetricLogDensity)
    assert not isinstance(density, SmoothMetricLogDensity)


def test_gradient_of_the_wrong_shape():
    with pytest.raises(ModelError, match=r"metric_gradient= .* returned shape \(2, 2, 2\)"):
        plain(metric=metric, metric_gradient=lambda x, M: M)


def test_gradient_of_no_metric():
    with pytest.raises(ModelError, match="without the metric="):
        plain(metric_gradient=metric_gradient)


def test_each_direction_counts_as_a_hessian_vector_product():
    density = plain(metric=metric, metric_gradient=metric_gradient)
    counted = counting(density)
    arguments = problem(density, k=3, chains=4)
    np.testing.assert_array_equal(
        counted.metric_gradient(*arguments), density.metric_gradient(*arguments)
    )
    assert counted.work == Work(hvp=12)
    assert isinstance(counted, SmoothMetricLogDensity)
    assert not isinstance(counting(plain(metric=metric)), SmoothMetricLogDensity)
