"""The metric of models against closed forms, and against Jacobians and Hessians by differences."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from probmodel import (
    LogDensity,
    Model,
    ModelError,
    data,
    deterministic,
    load_model,
    observed,
    param,
    potential,
    read_data,
)
from probmodel.compiler.tracing import Scope
from probmodel.density import as_posterior
from probmodel.distributions import (
    BernoulliLogit,
    BinomialLogit,
    CategoricalLogit,
    Censored,
    Dirichlet,
    Flat,
    Gamma,
    HalfCauchy,
    HalfNormal,
    Laplace,
    MvNormal,
    Normal,
    Poisson,
    StudentT,
    Uniform,
)
from probmodel.geometry import observations
from probmodel.geometry.metric import Structure
from probmodel.types import MetricLogDensity

RNG = np.random.default_rng(11)
X = RNG.normal(size=(30, 3))
TRIALS = RNG.integers(1, 9, 30)
TIME = np.linspace(0.0, 3.0, 12)


def points(density, chains=3, spread=0.5):
    return spread * np.random.default_rng(5).standard_normal((chains, density.dim))


# -- references by central differences ------------------------------------------------------------


def prior_hessian(density, x, step=2e-4):
    """Hessian at one point of all terms but the likelihood: (dim, dim)."""

    def value(z):
        terms = density.terms(z.reshape(-1, density.dim))
        prior = sum(v for title, v in terms.items() if not title.startswith("likelihood"))
        return prior.reshape(z.shape[:-1])

    i, j = step * np.eye(density.dim)[:, None], step * np.eye(density.dim)[None]
    mixed = value(x + i + j) - value(x + i - j) - value(x - i + j) + value(x - i - j)
    return mixed / (4 * step**2)


def jacobian(density, x, name, step=1e-5):
    """Jacobian at one point of a deterministic quantity: (elements, dim)."""
    columns = []
    for shift in step * np.eye(density.dim):
        above, below = (density.constrain((x + s)[None], (name,))[name] for s in (shift, -shift))
        columns.append((above - below).reshape(-1) / (2 * step))
    return np.stack(columns, axis=1)


def check(density, informations):
    """Compare the metric with sum J' I J - Hessian of the rest, I by name of its parameter."""
    x = points(density)
    for row, found in zip(x, density.metric(x), strict=True):
        expected = -prior_hessian(density, row)
        for name, information in informations.items():
            J = jacobian(density, row, name)
            value = density.constrain(row[None], (name,))[name][0]
            expected += J.T @ np.diag(np.broadcast_to(information(value), len(J))) @ J
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


# -- closed forms ---------------------------------------------------------------------------------


class Logistic(Model):
    X = data(dims=("obs", "feature"))
    alpha = param(Normal(0, 2))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(BernoulliLogit(alpha + X @ beta), dims="obs")


def logistic():
    y = np.random.default_rng(2).integers(0, 2, len(X))
    return as_posterior(Logistic(X=X, y=y))


def test_logistic_regression():
    density = logistic()
    x = points(density)
    Z = np.column_stack([np.ones(len(X)), X])
    p = expit(x @ Z.T)
    prior = np.diag([0.25, 1.0, 1.0, 1.0])
    expected = np.einsum("ni,cn,nj->cij", Z, p * (1 - p), Z) + prior
    np.testing.assert_allclose(density.metric(x), expected, rtol=1e-12)
    np.testing.assert_allclose(density.metric(x), -density.hessian(x), rtol=1e-10)


class Counts(Model):
    X = data(dims=("obs", "feature"))
    n = data(dims="obs", dtype=int)
    log_exposure = data(dims="obs")
    beta = param(Normal(0, 1), dims="feature")
    events = observed(Poisson(np.exp(X @ beta + log_exposure)), dims="obs")
    successes = observed(BinomialLogit(n, X @ beta), dims="obs")


def counts():
    rng = np.random.default_rng(3)
    return as_posterior(
        Counts(
            X=X,
            n=TRIALS,
            log_exposure=np.linspace(0, 2, len(X)),
            events=rng.poisson(2, len(X)),
            successes=rng.binomial(TRIALS, 0.4),
        )
    )


def test_counts_of_two_kinds():
    density = counts()
    x = points(density)
    p = expit(x @ X.T)
    weights = np.exp(x @ X.T + np.linspace(0, 2, len(X))) + TRIALS * p * (1 - p)
    expected = np.einsum("ni,cn,nj->cij", X, weights, X) + np.eye(3)
    np.testing.assert_allclose(density.metric(x), expected, rtol=1e-12)
    np.testing.assert_allclose(density.metric(x), -density.hessian(x), rtol=1e-10)


class Linear(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 10), dims="feature")
    sigma = param(HalfNormal(1))
    y = observed(Normal(X @ beta, sigma), dims="obs")


def linear():
    return as_posterior(Linear(X=X, y=np.random.default_rng(4).normal(size=len(X))))


def test_linear_regression_with_unknown_scale():
    density = linear()
    for row, G in zip(points(density), density.metric(points(density)), strict=True):
        variance = np.exp(2 * row[3])
        expected = np.zeros((4, 4))
        expected[:3, :3] = X.T @ X / variance + 0.01 * np.eye(3)
        # The log scale: information 2 an observation; the prior -sigma^2/2 + log sigma.
        expected[3, 3] = 2 * len(X) + 2 * variance
        np.testing.assert_allclose(G, expected, rtol=1e-12)
    assert not np.allclose(density.metric(points(density)), -density.hessian(points(density)))


class Softmax(Model):
    X = data(dims=("obs", "feature"))
    B = param(Normal(0, 1), dims=("feature", "kind"))
    y = observed(CategoricalLogit(X @ B), dims="obs")


def multinomial():
    y = np.random.default_rng(6).integers(0, 2, len(X))
    return as_posterior(Softmax(X=X, y=y, coords={"kind": ["a", "b"]}))


def test_softmax_regression():
    density = multinomial()
    x = points(density)
    p = softmax(np.einsum("nf,cfk->cnk", X, x.reshape(-1, 3, 2)), axis=2)
    spread = np.einsum("cnk,kl->cnkl", p, np.eye(2)) - np.einsum("cnk,cnl->cnkl", p, p)
    expected = np.einsum("nf,cnkl,ng->cfkgl", X, spread, X).reshape(-1, 6, 6) + np.eye(6)
    np.testing.assert_allclose(density.metric(x), expected, rtol=1e-10, atol=1e-12)


class Latent(Model):
    f = param(MvNormal(np.ones(3), covariance=0.5 * np.eye(3) + 0.5), noncentered=True)
    y = observed(Poisson(np.exp(f)))


def latent():
    return as_posterior(Latent(y=np.array([0, 3, 1])))


def test_noncentred_latent_field():
    density = latent()
    x = points(density)
    L = np.linalg.cholesky(0.5 * np.eye(3) + 0.5)
    mean = np.exp(1.0 + x @ L.T)
    expected = np.einsum("ki,ck,kj->cij", L, mean, L) + np.eye(3)
    np.testing.assert_allclose(density.metric(x), expected, rtol=1e-12)


# -- against differences --------------------------------------------------------------------------


class Decay(Model):
    time = data(dims="obs")
    amplitude = param(Normal(1, 1))
    rate = param(HalfNormal(2))
    curve = deterministic(amplitude * np.exp(-rate * time))
    y = observed(Normal(curve, 0.3), dims="obs")


def decay():
    y = 2 * np.exp(-TIME) + np.random.default_rng(7).normal(0, 0.3, len(TIME))
    return as_posterior(Decay(time=TIME, y=y))


def test_nonlinear_regression():
    density = decay()
    check(density, {"curve": lambda curve: 1 / 0.09})
    x = points(density)
    assert not np.allclose(density.metric(x), -density.hessian(x), rtol=0.01)


def test_wrong_information_is_found():
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(decay(), {"curve": lambda curve: 1 / 0.0901})


class Constrained(Model):
    total = param(Gamma(3, 0.5))
    share = param(Dirichlet(np.array([2.0, 3.0, 4.0])))
    low = param(Uniform(1, 2))
    rate = deterministic(total * share)
    y = observed(Poisson(rate))
    level = deterministic(total + low)
    z = observed(Poisson(level))


def test_constrained_parameters():
    density = as_posterior(Constrained(y=np.array([1, 4, 2]), z=np.array(7)))
    check(density, {"rate": lambda rate: 1 / rate, "level": lambda level: 1 / level})


def test_unknown_covariance():
    class Field(Model):
        place = data(dims="obs")
        amplitude = param(HalfNormal(1))
        noise = param(HalfNormal(1))
        kernel = np.exp(-0.5 * (place[:, None] - place[None, :]) ** 2)
        K = deterministic(amplitude**2 * kernel + noise**2 * np.eye(5))
        y = observed(MvNormal(np.zeros(5), covariance=K))

    density = as_posterior(Field(place=np.arange(5.0), y=np.ones((2, 5))))
    for row, G in zip(points(density), density.metric(points(density)), strict=True):
        inverse = np.linalg.inv(density.constrain(row[None], ("K",))["K"][0])
        slopes = inverse @ jacobian(density, row, "K").T.reshape(2, 5, 5)
        information = np.einsum("iab,jba->ij", slopes, slopes)  # half of it from each of two draws
        expected = information - prior_hessian(density, row)
        np.testing.assert_allclose(G, expected, rtol=1e-5)


def test_elements_that_share_parameters_add_up():
    class Shared(Model):
        rate = param(Gamma(2, 1))
        twice = deterministic(2 * rate)
        y = observed(Poisson(twice))

    density = as_posterior(Shared(y=np.arange(5)))
    check(density, {"twice": lambda rate: 5 / rate})


class Hierarchy(Model):
    sigma = data(dims="school")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(2))
    theta = param(StudentT(4, mu, tau), dims="school")
    effect = deterministic(theta + 0.0)
    y = observed(Normal(effect, sigma), dims="school")
    pull = potential(-0.2 * np.sum(theta) ** 2 + np.cos(mu))


def hierarchy():
    return as_posterior(Hierarchy(sigma=np.array([1.0, 2.0, 0.5]), y=np.array([3.0, -1.0, 0.2])))


def test_hierarchical_prior():
    density = hierarchy()
    check(density, {"effect": lambda effect: np.array([1.0, 0.25, 4.0])})
    assert (np.linalg.eigvalsh(density.metric(points(density, 50, 2.0))) < 0).any()


# -- the parts agree ------------------------------------------------------------------------------

GALLERY = {
    "logistic_regression": "heart.npz",
    "linear_regression": "kidiq.csv",
    "eight_schools": "eight_schools.json",
    "log_gaussian_cox": "finpines_16x16.npz",
}
OWN = {
    "logistic": logistic,
    "counts": counts,
    "linear": linear,
    "multinomial": multinomial,
    "latent": latent,
    "decay": decay,
    "hierarchy": hierarchy,
}


def density_of(name):
    if name in OWN:
        return OWN[name]()
    return as_posterior(
        load_model(f"models/{name}.py")(**read_data(f"models/data/{GALLERY[name]}"))
    )


@pytest.mark.parametrize("name", [*OWN, *GALLERY])
def test_what_is_known_from_structure_changes_nothing(name, monkeypatch):
    density = density_of(name)
    x = points(density, 2)
    fast = density.metric(x)
    monkeypatch.setattr(Structure, "is_affine", lambda self, expression: False)
    general = density_of(name)
    slow = general.metric(x)
    assert not general._metric.affine
    scale = np.abs(slow).max()
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10 * scale)


@pytest.mark.parametrize(("name", "parts"), [
    ("logistic", (1, False)),
    ("counts", (2, False)),
    ("linear", (1, True)),
    ("latent", (1, False)),
    ("decay", (0, True)),
    ("hierarchy", (0, True)),
])  # fmt: skip
def test_which_parts_a_model_has(name, parts):
    metric = density_of(name)._metric
    assert (len(metric.affine), metric._general is not None) == parts


@pytest.mark.parametrize("name", list(OWN))
def test_rows_are_independent(name):
    density = density_of(name)
    x = points(density, 5)
    together = density.metric(x)
    alone = np.concatenate([density.metric(row[None]) for row in x])
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-12 * np.abs(alone).max())
    np.testing.assert_array_equal(together, together.transpose(0, 2, 1))


@pytest.mark.parametrize("name", list(OWN))
def test_rows_that_are_not_finite_are_nan(name):
    density = density_of(name)
    x = points(density, 4)
    good = density.metric(x)
    x[1], x[2] = np.nan, -np.inf
    found = density.metric(x)
    assert np.isnan(found[1:3]).all()
    np.testing.assert_allclose(found[[0, 3]], good[[0, 3]], rtol=1e-12)


@pytest.mark.parametrize("entries", [1, 2 * 30 * 4, 2**22])
def test_blocks_of_chains_change_nothing(entries, monkeypatch):
    density = logistic()
    x = points(density, 5)
    whole = density.metric(x)
    monkeypatch.setattr(observations, "_ENTRIES", entries)
    np.testing.assert_allclose(density.metric(x), whole, rtol=1e-12)


def test_overflow_is_nan():
    density = counts()
    found = density.metric(np.array([[0.0, 0.0, 0.0], [2e3, 2e3, 2e3]]))
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


def test_a_gaussian_model_has_a_constant_metric():
    class Gaussian(Model):
        mu = param(MvNormal(np.zeros(2), precision=np.array([[2.0, 0.5], [0.5, 1.0]])))
        flat = param(Flat())
        scaled = param(Normal(0, 3), offset=1.0, multiplier=2.0)
        y = observed(Normal(mu[0] - flat + 3 * scaled, 0.5))

    density = as_posterior(Gaussian(y=np.array([1.0, 2.0])))
    x = points(density)
    assert density._metric._general is None
    expected = np.zeros((4, 4))
    expected[:2, :2] = [[2.0, 0.5], [0.5, 1.0]]
    expected[3, 3] = 4 / 9
    J = np.array([1.0, 0.0, -1.0, 6.0])
    expected += 2 * 4 * np.outer(J, J)
    np.testing.assert_allclose(density.metric(x), np.repeat(expected[None], 3, axis=0), atol=1e-12)
    found = density.metric(x)
    found[:] = 0.0  # the caller's own
    assert density.metric(x).any()


def test_a_prior_with_a_constant_gradient():
    class Median(Model):
        mu = param(Laplace(0, 1))
        y = observed(Poisson(np.exp(mu)))

    density = as_posterior(Median(y=np.array([1, 2])))
    x = np.array([[0.3], [-0.7]])
    np.testing.assert_allclose(density.metric(x), 2 * np.exp(x)[:, :, None], rtol=1e-12)
    alone = as_posterior(Median(y=np.array(1)))
    np.testing.assert_allclose(alone.metric(x), np.exp(x)[:, :, None], rtol=1e-12)


# -- structure ------------------------------------------------------------------------------------

AFFINE = [
    "a + 1", "-(a - v) / 3", "A @ v + a", "v @ A", "np.dot(2.0, v)", "np.sum(v) * c",
    "np.mean(M, axis=0)", "np.cumsum(v)[::-1]", "np.diff(v)",
    "np.concatenate([v, np.stack([a, s])])", "v[np.array([0, 0, 2])]",
    "np.where(np.array([True, False, True]), v, a)", "np.linalg.solve(A, v)",
    "np.trace(M) + np.diag(M)", "np.tril(M.T) + np.triu(np.swapaxes(M, 0, 1))",
    "M.reshape(9)[:2] + np.ravel(M)[1:3]", "np.roll(np.flip(np.repeat(v, 2)), 1)",
    "np.squeeze(np.expand_dims(np.broadcast_to(a, (2,)), 0))", "np.outer(v, np.ones(2))",
    "shifted", "named",
]  # fmt: skip
NOT_AFFINE = [
    "v * a", "v @ v", "np.outer(v, v)", "c / (3.0 + a)", "np.exp(a)", "v**2", "np.square(v)",
    "positive", "np.where(v > 0, v, 2 * v)", "np.absolute(v)", "np.max(v)", "np.prod(v)",
    "np.std(v)", "np.linalg.solve(3 * np.eye(3) + M, v)", "scaled", "curved",
]  # fmt: skip


class Zoo(Model):
    A = data(dims=("i", "j"))
    c = data()
    a = param(Normal(0, 1))
    s = param(Normal(0, 1), offset=2.0, multiplier=3.0)
    v = param(Normal(0, 1), shape=3)
    M = param(Normal(0, 1), shape=(3, 3))
    positive = param(HalfNormal(1))
    shifted = param(Normal(a, 2.0), noncentered=True)
    scaled = param(Normal(0, positive), noncentered=True)
    named = deterministic(a + s)
    curved = deterministic(named * a)


def verdict(text):
    """Whether an expression is known to be affine, and how much it bends along random lines."""
    density = as_posterior(Zoo(A=np.eye(3) + 0.3 * np.arange(9).reshape(3, 3), c=2.0))
    binding = density._binding
    made = eval(text, {"np": np}, dict(binding.declarations))
    rng = np.random.default_rng(8)
    bends = []
    for _ in range(10):
        x, direction = rng.standard_normal((2, density.dim))
        low, mid, high = (
            density.values_at((x + t * direction)[None], [made])[0] for t in (-1, 0, 1)
        )
        bends.append(np.abs(high - 2 * mid + low).max())
    return Structure(Scope.of(binding)).is_affine(made), max(bends)


@pytest.mark.parametrize("text", AFFINE)
def test_affine_expressions_are_known(text):
    known, bend = verdict(text)
    assert known
    assert bend < 1e-12


@pytest.mark.parametrize("text", NOT_AFFINE)
def test_other_expressions_are_not(text):
    known, bend = verdict(text)
    assert not known
    assert bend > 1e-3


# -- refusals -------------------------------------------------------------------------------------


def test_a_distribution_without_information_is_named():
    class Cut(Model):
        mu = param(Normal(0, 1))
        y = observed(Censored(Normal(mu, 1.0), lower=0.0))

    density = as_posterior(Cut(y=np.array([0.0, 1.0])))
    with pytest.raises(ModelError, match=r"observed 'y': .*Censored.*metric=\"neg_hessian\"") as e:
        density.metric(np.zeros((1, 1)))
    assert e.value.location.file == __file__
    assert density.hessian(np.zeros((1, 1))).shape == (1, 1, 1)


def test_the_shape_is_checked():
    with pytest.raises(ValueError, match="expected an array of shape"):
        logistic().metric(np.zeros((2, 3)))


def test_models_have_a_metric():
    assert isinstance(logistic(), MetricLogDensity)
    assert not isinstance(
        LogDensity.from_function(lambda x: -(x**2).sum(axis=1), 2), MetricLogDensity
    )
