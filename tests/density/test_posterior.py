"""The log density of bound models: values, derivatives, rows, starting points, explanations."""

import pickle
import re

import numpy as np
import pytest
import scipy.stats

from probmodel import (
    DataError,
    InitializationError,
    LogDensity,
    Model,
    ModelError,
    check_model,
    data,
    deterministic,
    load_model,
    observed,
    param,
    potential,
    read_data,
)
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.constraints import Ordered
from probmodel.density import as_posterior
from probmodel.density.check import _slope_error
from probmodel.distributions import (
    AR1,
    Affine,
    Beta,
    Categorical,
    Dirichlet,
    Flat,
    HalfCauchy,
    HalfNormal,
    LogNormal,
    Mixture,
    MvNormal,
    Normal,
    Poisson,
    PoissonLog,
)
from probmodel.functions import integrate_1d

MODELS = {
    "logistic_regression": "heart.npz",
    "linear_regression": "kidiq.csv",
    "eight_schools": "eight_schools.json",
    "stochastic_volatility": "sp500_500.csv",
    "stochastic_volatility_centered": "sp500_500.csv",
    "log_gaussian_cox": "finpines_16x16.npz",
}


def gallery(name):
    return load_model(f"models/{name}.py")(**read_data(f"models/data/{MODELS[name]}"))


class Hierarchy(Model):
    """A bit of everything: bounds that depend on parameters, vectors, matrices, indices."""

    group = data(dims="obs", dtype=int)
    mu = param(Normal(0, 2))
    low = param(HalfNormal(1))
    high = param(HalfCauchy(2), lower=low)
    tau = param(HalfNormal(1))
    effect = param(Normal(mu, tau), dims="level", noncentered=True)
    shift = param(Normal(0, 3), offset=mu, multiplier=tau)
    weights = param(Dirichlet(np.ones(3)))
    cuts = param(Normal(0, 2), shape=3, constraint=Ordered())
    pair = param(MvNormal(np.zeros(2), covariance=np.array([[1.0, 0.3], [0.3, 2.0]])))
    mixed = weights @ cuts + np.sum(pair)
    y = observed(Normal(effect[group] + mixed + shift, high), dims="obs")
    total = deterministic(np.sum(effect))
    pull = potential(-0.1 * total**2)


def hierarchy():
    rng = np.random.default_rng(3)
    return Hierarchy(
        group=rng.integers(0, 4, 12), y=rng.normal(size=12), coords={"level": list("abcd")}
    )


def differences(function, x, step=1e-6):
    moves = step * np.eye(x.shape[1])
    return np.stack([(function(x + h) - function(x - h)) / (2 * step) for h in moves], axis=1)


def test_logistic_regression_equals_scipy():
    model = gallery("logistic_regression")
    density = as_posterior(model)
    X, y = model._binding.data["X"], model._binding.data["y"]
    x = np.random.default_rng(0).normal(0, 0.01, (3, density.dim))
    for row, logp in zip(x, density(x).logp, strict=True):
        p = 1 / (1 + np.exp(-(row[0] + X @ row[1:])))
        expected = scipy.stats.bernoulli.logpmf(y, p).sum() + scipy.stats.norm.logpdf(row).sum()
        np.testing.assert_allclose(logp, expected, rtol=1e-12)


def test_stochastic_volatility_equals_scipy():
    density = as_posterior(gallery("stochastic_volatility_centered"))
    y = density.observed_data["y"][1]
    x = density.initial_points(np.random.default_rng(1), 2)
    values = density.constrain(x)
    for i in range(2):
        mu, phi, sigma, h = (values[k][i] for k in ("mu", "phi", "sigma", "h"))
        expected = (
            scipy.stats.cauchy.logpdf(mu, 0, 2)
            + scipy.stats.beta.logpdf((phi + 1) / 2, 20, 1.5)
            - np.log(2)
            + scipy.stats.halfcauchy.logpdf(sigma)
            + scipy.stats.norm.logpdf(h[0], 0, sigma / np.sqrt(1 - phi**2))
            + scipy.stats.norm.logpdf(h[1:], phi * h[:-1], sigma).sum()
            + scipy.stats.norm.logpdf(y, 0, np.exp((mu + h) / 2)).sum()
            + np.log((1 - phi**2) / 2)  # Jacobian of the interval (-1, 1)
            + np.log(sigma)  # Jacobian of the positive numbers
        )
        np.testing.assert_allclose(density(x).logp[i], expected, rtol=1e-11)


@pytest.mark.parametrize("name", [*MODELS, "hierarchy"])
def test_gradient_and_curvature(name):
    model = hierarchy() if name == "hierarchy" else gallery(name)
    density = as_posterior(model)
    x = density.initial_points(np.random.default_rng(2), 2, inits=0.3)
    grad = density(x).grad
    scale = 1 + np.abs(grad).max()
    if density.dim < 40:
        numeric = differences(density.log_density, x)
        np.testing.assert_allclose(grad / scale, numeric / scale, atol=2e-7)
        hessian = density.hessian(x)
        numeric = differences(lambda z: density(z).grad, x)
        size = 1 + np.abs(hessian).max()
        np.testing.assert_allclose(hessian / size, numeric / size, atol=2e-7)
        np.testing.assert_allclose(hessian, hessian.transpose(0, 2, 1), rtol=1e-9, atol=1e-9 * size)
    v = np.random.default_rng(3).normal(size=x.shape)
    step = 1e-6
    numeric = (density(x + step * v).grad - density(x - step * v).grad) / (2 * step)
    product = density.hvp(x, v)
    size = 1 + np.abs(product).max()
    np.testing.assert_allclose(product / size, numeric / size, atol=1e-6)


@pytest.mark.parametrize("name", [*MODELS, "hierarchy"])
def test_rows_do_not_touch_each_other(name):
    density = as_posterior(hierarchy() if name == "hierarchy" else gallery(name))
    x = density.initial_points(np.random.default_rng(4), 5)
    whole = density(x)
    x[2] = np.nan
    x[4] = 1e200
    broken = density(x)
    assert broken.logp[2] == -np.inf
    assert not broken.grad[2].any()
    for row in (0, 1, 3):
        alone = density(x[row : row + 1])
        np.testing.assert_allclose(broken.logp[row], whole.logp[row], rtol=1e-13)
        np.testing.assert_allclose(broken.logp[row], alone.logp[0], rtol=1e-12)
        np.testing.assert_allclose(
            broken.grad[row], alone.grad[0], rtol=1e-9, atol=1e-9 * np.abs(alone.grad).max()
        )
    np.testing.assert_allclose(density.log_density(x), broken.logp, rtol=1e-12)


def test_a_scale_below_zero_is_a_rejected_point():
    class Signed(Model):
        s = param(Normal(1, 1))
        y = observed(Normal(0, s), dims="obs")

    logp, grad = as_posterior(Signed(y=[0.0, 1.0]))(np.array([[1.0], [-1.0], [0.0]]))
    assert np.isfinite(logp[0])
    assert (logp[1:] == -np.inf).all()
    assert not grad[1:].any()


def test_wrong_shape_raises():
    density = as_posterior(gallery("eight_schools"))
    for call in (density, density.log_density, density.constrain, density.hessian):
        with pytest.raises(ValueError, match=r"expected an array of shape \(chains, 10\)"):
            call(np.zeros(10))


def test_link_forms_change_nothing_but_the_cost():
    class Plain(Model):
        eta = param(Normal(0, 1), dims="obs")
        rate = 1.0 * np.exp(eta)
        y = observed(Poisson(rate), dims="obs")

    class Direct(Model):
        eta = param(Normal(0, 1), dims="obs")
        y = observed(Poisson(np.exp(eta)), dims="obs")

    class Named(Model):
        eta = param(Normal(0, 1), dims="obs")
        y = observed(PoissonLog(eta), dims="obs")

    x = np.random.default_rng(0).normal(size=(3, 4))
    results = [as_posterior(M(y=[0, 1, 2, 3]))(x) for M in (Plain, Direct, Named)]
    for other in results[1:]:
        np.testing.assert_allclose(other.logp, results[0].logp, rtol=1e-13)
        np.testing.assert_allclose(other.grad, results[0].grad, rtol=1e-12)


@pytest.mark.parametrize("half", [lambda v: v / 2, lambda v: 0.5 * v, lambda v: v * 0.5])
def test_log_variances_are_recognised(half):
    class Plain(Model):
        v = param(Normal(0, 1), dims="obs")
        scale = 1.0 * np.exp(half(v))
        y = observed(Normal(0, scale), dims="obs")

    class Linked(Model):
        v = param(Normal(0, 1), dims="obs")
        y = observed(Normal(0, np.exp(half(v))), dims="obs")

    x = np.random.default_rng(0).normal(size=(3, 4))
    plain, linked = (as_posterior(M(y=[0.0, 1.0, -2.0, 3.0])) for M in (Plain, Linked))
    shorter, longer = (NumpyProgram(d._programs.gradient) for d in (linked, plain))
    assert shorter.operations < longer.operations
    np.testing.assert_allclose(linked(x).logp, plain(x).logp, rtol=1e-13)
    np.testing.assert_allclose(linked(x).grad, plain(x).grad, rtol=1e-12)


def test_terms_sum_to_the_log_density():
    density = as_posterior(hierarchy())
    x = density.initial_points(np.random.default_rng(5), 3)
    terms = density.terms(x)
    assert "jacobian of high" in terms
    assert "potential of pull" in terms
    np.testing.assert_allclose(sum(terms.values()), density(x).logp, rtol=1e-12)


def test_noncentered_and_centered_agree_after_the_change_of_variables():
    class Centered(Model):
        mu = param(Normal(0, 5))
        tau = param(HalfCauchy(5))
        theta = param(Normal(mu, tau), dims="school")
        sigma = data(dims="school")
        y = observed(Normal(theta, sigma), dims="school")

    noncentered = as_posterior(gallery("eight_schools"))
    centered = as_posterior(Centered(**read_data("models/data/eight_schools.json")))
    x = noncentered.initial_points(np.random.default_rng(6), 3)
    values = noncentered.constrain(x)
    z = np.column_stack([x[:, :2], values["theta"]])
    np.testing.assert_allclose(
        noncentered(x).logp, centered(z).logp + 8 * np.log(values["tau"]), rtol=1e-12
    )


def test_noncentered_autoregression_has_the_right_covariance():
    class Walk(Model):
        h = param(AR1(0.7, 0.5), shape=4, noncentered=True)

    density = as_posterior(Walk())
    factor = density.constrain(np.eye(4))["h"].T
    lags = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    np.testing.assert_allclose(factor @ factor.T, 0.25 / (1 - 0.49) * 0.7**lags, rtol=1e-12)


def test_saved_variables_have_dims_and_kinds():
    density = as_posterior(hierarchy())
    by_name = {v.name: v for v in density.variables}
    assert by_name["effect"].dims == ("level",)
    assert by_name["effect"].coords["level"].tolist() == list("abcd")
    assert by_name["weights"].dims == ("weights_dim_0",)
    assert by_name["total"].kind == "deterministic"
    assert density.coordinate_names[:3] == ("mu", "low", "high")
    values = density.constrain(density.initial_points(np.random.default_rng(7), 6))
    assert (values["high"] > values["low"]).all()
    np.testing.assert_allclose(values["weights"].sum(axis=1), 1.0)
    assert (np.diff(values["cuts"], axis=1) > 0).all()
    np.testing.assert_allclose(values["total"], values["effect"].sum(axis=1))
    assert list(density.constrain(np.zeros((1, density.dim)), ("tau",))) == ["tau"]


def test_inits_are_values_on_the_users_scale():
    density = as_posterior(hierarchy())
    wanted = {"low": 0.4, "high": 1.7, "weights": [0.2, 0.3, 0.5], "cuts": [-1.0, 0.0, 4.0]}
    x = density.initial_points(np.random.default_rng(8), 2, inits=wanted)
    for name, value in wanted.items():
        np.testing.assert_allclose(density.constrain(x)[name], np.tile(value, (2, 1)).squeeze())
    each = density.initial_points(np.random.default_rng(8), 2, inits=[{"mu": 1.0}, {"mu": -1.0}])
    np.testing.assert_allclose(density.constrain(each)["mu"], [1.0, -1.0])
    np.testing.assert_array_equal(density.initial_points(np.random.default_rng(8), 2, inits=0), 0.0)


def test_inits_drawn_from_the_prior():
    class Rates(Model):
        rate = param(Normal(5.0, 0.01), lower=0, shape=3)
        flat = param(lower=0)

    density = as_posterior(Rates())
    x = density.initial_points(np.random.default_rng(8), 50, inits="prior")
    values = density.constrain(x)
    assert np.abs(values["rate"] - 5.0).max() < 0.01 * 6
    assert len(np.unique(x)) == x.size
    plain = LogDensity.from_function(lambda x: -np.sum(x**2, axis=1), dim=2)
    with pytest.raises(InitializationError, match="no prior to draw"):
        plain.initial_points(np.random.default_rng(8), 2, inits="prior")


def test_inits_of_a_noncentered_parameter():
    density = as_posterior(gallery("eight_schools"))
    wanted = {"mu": 1.0, "tau": 2.0, "theta": np.arange(8.0)}
    x = density.initial_points(np.random.default_rng(9), 2, inits=wanted)
    np.testing.assert_allclose(density.constrain(x)["theta"], np.tile(np.arange(8.0), (2, 1)))


def test_inits_of_a_noncentered_lognormal():
    class Positive(Model):
        mu = param(Normal(0, 1))
        t = param(LogNormal(mu, 0.5), noncentered=True)

    x = as_posterior(Positive()).initial_points(
        np.random.default_rng(0), 2, inits={"mu": 1.0, "t": 4.0}
    )
    np.testing.assert_allclose(as_posterior(Positive()).constrain(x)["t"], 4.0)


@pytest.mark.parametrize(
    ("inits", "message"),
    [
        ({"low": 0.0}, "or on its boundary"),
        ({"taus": 1.0}, "no param.*Did you mean"),
        ({"tau": -1.0}, "outside its support"),
        ({"weights": [0.5, 0.5]}, r"has shape \(2,\); expected \(3,\)"),
        ([{"mu": 1.0}], "1 starting points for 2 chains"),
        (-1.0, "positive radius"),
        ("random", "inits='prior' is the only word"),
        (None.__class__, "takes 'prior', a radius"),
    ],
)
def test_bad_inits(inits, message):
    with pytest.raises(InitializationError, match=message):
        as_posterior(hierarchy()).initial_points(np.random.default_rng(0), 2, inits=inits)


class FarFromZero(Model):
    """Defined where the distance from zero is between 1 and 2, and by its prior elsewhere."""

    least = data()
    far = param(Normal(0, 3))
    fence = potential(np.log(np.abs(far) - least))


@pytest.mark.parametrize("chains", [1, 2, 7, 16])
@pytest.mark.parametrize("least", [0.0, 1.0, 1.7, 3.0])
def test_starts_are_found_where_none_are_near_zero(chains, least):
    """With 1.7 one in seven of the widest draws will do; with 3, draws from the prior alone."""
    density = as_posterior(FarFromZero(least=least))
    for seed in range(20):
        x = density.initial_points(np.random.default_rng(seed), chains)
        assert np.isfinite(density(x).logp).all()
        assert len(np.unique(x)) == chains


class FarFromHere(Model):
    """The prior knows where the posterior is; nothing near zero does."""

    level = param(Normal(500, 1))
    scale = param(LogNormal(8, 0.1))


@pytest.mark.parametrize("chains", [1, 2, 7, 8, 16])
def test_chains_start_at_the_best_of_some_places(chains):
    density = as_posterior(FarFromHere())
    for seed in range(10):
        x = density.initial_points(np.random.default_rng(seed), chains)
        values = density.constrain(x)
        assert np.all(np.abs(values["level"] - 500) < 5)
        assert np.all(np.abs(np.log(values["scale"]) - 8) < 0.5)
        assert len(np.unique(x[:, 0])) == chains
        plain = density.initial_points(np.random.default_rng(seed), chains, inits=2.0)
        assert np.all(np.abs(plain) < 2)


def test_starts_are_uniform_where_the_prior_is_no_better():
    """A prior that is far too wide: half of the places are drawn from it, and none is taken."""

    class Vague(Model):
        level = param(Normal(0, 1e4))
        y = observed(Normal(level, 1.0))

    density = as_posterior(Vague(y=np.array([0.3, -0.2])))
    x = np.concatenate(
        [density.initial_points(np.random.default_rng(seed), 16)[:, 0] for seed in range(10)]
    )
    assert np.mean(np.abs(x) < 2) > 0.95
    assert len(np.unique(x)) == len(x)
    # The best of four uniform draws: |x - 0.05| has the median 2 (1 - 0.5 ** 0.25), and 160 of them
    # one with a standard error of 0.033.
    assert np.median(np.abs(x - 0.05)) == pytest.approx(2 * (1 - 0.5**0.25), abs=4 * 0.033)


def test_a_prior_that_cannot_be_drawn_from_costs_no_run(monkeypatch):
    density = as_posterior(FarFromHere())

    def broken(self, rng, n):
        raise ModelError("no such draw")

    monkeypatch.setattr(type(density), "prior_draws", broken)
    x = density.initial_points(np.random.default_rng(1), 4)
    assert np.all(np.abs(x) < 2)
    with pytest.raises(ModelError, match="no such draw"):
        density.initial_points(np.random.default_rng(1), 4, inits="prior")


def test_the_starts_of_chains_with_inits_of_their_own_stay_with_them():
    class Fenced(Model):
        own = param(Normal(0, 1))
        far = param(Normal(0, 1))
        fence = potential(np.log(np.abs(far) - 1.5))

    density = as_posterior(Fenced())
    inits = [{"own": 0.1 * chain} for chain in range(8)]
    x = density.initial_points(np.random.default_rng(3), 8, inits=inits)
    np.testing.assert_allclose(x[:, 0], 0.1 * np.arange(8))
    assert np.all(np.abs(x[:, 1]) > 1.5)


@pytest.mark.parametrize(
    ("distribution", "shown"),
    [
        (lambda p: MvNormal(np.exp(p), covariance=np.eye(2)), r"value \[1. 0.\], loc \[inf  1.\]"),
        (
            lambda p: Categorical(p),
            r"value 1, p \[800.   0.\]; p must be simplex: its elements add up to 800$",
        ),
        (lambda p: Mixture([0.5, 0.5], Poisson(np.exp(p))), r"at \[0\].* value 1, .*\[inf  1.\]"),
    ],
)
def test_explaining_shows_vectors_as_such(distribution, shown):
    """Also where there are as many elements as observations."""

    class Vectors(Model):
        p = param(Normal(0, 1), shape=2)
        y = observed(distribution(p))

    text = as_posterior(Vectors(y=[1, 0])).explain(np.array([800.0, 0.0]))
    assert re.search(shown, text), text


def test_explaining_says_what_parameters_must_be():
    class Wide(Model):
        m = param(Normal(0, 1))
        y = observed(MvNormal(np.zeros(2), np.exp(m) * np.array([[1.0, 2.0], [2.0, 1.0]])))
        z = observed(Normal(0, m))
        k = observed(Poisson(np.exp(m)))

    text = as_posterior(Wide(y=[1.0, 2.0], z=1.0, k=2)).explain(np.array([-1.0]))
    of_y, of_z, of_k = (
        next(line for line in text.splitlines() if f"likelihood of {name}" in line)
        for name in "yzk"
    )
    assert "covariance must be a symmetric positive definite matrix: its smallest" in of_y
    assert of_z.endswith("value 1, loc 0, scale -1; scale must be positive")
    assert "must be" not in of_k


def test_no_finite_start_names_the_term_index_and_value():
    class Impossible(Model):
        scale = data(dims="obs")
        mu = param(Normal(0, 1))
        tau = param(HalfNormal(1))
        y = observed(Normal(mu, scale * tau), dims="obs")

    density = as_posterior(Impossible(scale=[1.0, -2.0, 1.0], y=np.zeros(3)))
    with pytest.raises(InitializationError) as caught:
        density.initial_points(np.random.default_rng(0), 4)
    message = str(caught.value)
    assert "prior of mu" in message
    assert "jacobian of tau" in message
    assert "likelihood of y" in message
    assert "at [1]: Normal with value 0" in message
    assert caught.value.values["point"].shape == (2,)


def test_no_finite_gradient_is_said():
    class Kinked(Model):
        x = param(Normal(0, 1))
        nothing = potential(np.arcsin(1.0 - np.maximum(x, 0.0) * 0.0))

    with pytest.raises(InitializationError, match="gradient is not in x"):
        as_posterior(Kinked()).initial_points(np.random.default_rng(0), 2)


def test_what_turns_infinite_on_the_way_is_named():
    class Curve(Model):
        dose = data("well", lower=0)
        middle = param(Normal(0, 1))
        slope = param(Normal(0, 1))
        far = np.where(dose > 0, np.inf, dose)
        term = potential(-np.exp(-far * np.exp(slope)))
        y = observed(Normal(1 / (1 + (np.exp(middle) / dose) ** np.exp(slope)), 1), dims="well")

    with pytest.raises(InitializationError) as caught:
        as_posterior(Curve(dose=[2, 0, 1], y=[0, 0, 0])).initial_points(np.random.default_rng(0), 2)
    assert "on the way, exp(middle) / dose is inf at [1] (" in str(caught.value)
    assert "test_posterior.py:" in str(caught.value)


def test_what_is_no_number_on_the_way_is_named():
    class Waves(Model):
        t = data("spike")
        rate = param(Normal(0, 1))
        root = np.where(t > 0, t, np.sqrt(-(rate**2)))
        ignored = np.where(t > 0, t, root)
        total = integrate_1d(lambda t, rate: np.exp(rate * np.cos(40 * t)), 0, 20, rate)
        term = potential(np.sum(rate * ignored) - total)

    with pytest.raises(InitializationError) as caught:
        as_posterior(Waves(t=[0.3, 1])).initial_points(
            np.random.default_rng(0), 2, inits={"rate": 2}
        )
    text = str(caught.value)
    assert "on the way, integrate_1d, whose points are too few for rtol=1e-06" in text
    assert "test_posterior.py:" in text
    assert "sqrt" not in text

    class Rooted(Model):
        a = param(Normal(0, 1))
        y = observed(Normal(np.sqrt(-1 - a**2), 1), dims="obs")

    text = as_posterior(Rooted(y=[1.0])).explain(np.array([0.5]))
    assert "on the way, sqrt(-1 - a ** 2) is nan (" in text


def test_potential_that_is_not_finite_says_where():
    class Logs(Model):
        x = param(Flat(), shape=2)
        term = potential(np.log(-np.exp(x)))

    with pytest.raises(InitializationError, match=r"potential of term +nan at \[0\]"):
        as_posterior(Logs()).initial_points(np.random.default_rng(0), 2)


@pytest.mark.parametrize("name", [*MODELS, "hierarchy"])
def test_check_model_passes(name):
    report = check_model(hierarchy() if name == "hierarchy" else gallery(name))
    assert report.ok, str(report)
    assert "gradient against finite differences" in str(report)


def test_check_model_sees_a_wrong_jacobian():
    from probmodel.constraints import Positive

    class Wrong(Positive):
        def log_det(self, xp, u, *bounds):
            return 2.0 * u

    class Broken(Model):
        x = param(HalfNormal(1), constraint=Wrong())

    report = check_model(Broken())
    assert not report.ok
    assert "FAILED  Jacobian of x" in str(report)


def test_density_from_a_function():
    import autograd.numpy as anp

    density = LogDensity.from_function(lambda x: -0.5 * anp.sum(x**2, axis=1), dim=3)
    x = np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_allclose(density(x).grad, -x)
    np.testing.assert_allclose(density.hvp(x, x), -x)
    np.testing.assert_array_equal(density.constrain(x)["x"], x)
    given = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), dim=3, gradient=lambda x: -x, name="z"
    )
    np.testing.assert_allclose(given(x).logp, density(x).logp)
    assert given.coordinate_names == ("z[0]", "z[1]", "z[2]")
    start = given.initial_points(np.random.default_rng(0), 2, inits={"z": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(start, [[1.0, 2.0, 3.0]] * 2)


def test_function_of_the_wrong_shape():
    with pytest.raises(ModelError, match="returned shape"):
        LogDensity.from_function(lambda x: np.sum(x), dim=3)
    with pytest.raises(ModelError, match="positive integer"):
        LogDensity.from_function(lambda x: np.sum(x, axis=1), dim=0)


def test_function_of_one_point():
    """Of two coordinates, too, for which two chains would do."""
    for dim in (1, 2, 3, 4):
        for function in (lambda x: -(x[0] ** 2) - x[-1] ** 2, lambda x: -(x @ x), np.sum):
            with pytest.raises(ModelError, match=r"A function of one point can be mapped"):
                LogDensity.from_function(function, dim=dim)
    with pytest.raises(ModelError, match="for two chains it raised IndexError: index 3 is out"):
        LogDensity.from_function(lambda x: x[3] ** 2, dim=4)
    mapped = LogDensity.from_function(
        lambda x: np.stack([-(row[0] ** 2) - row[1] ** 2 for row in x]), dim=2, gradient=False
    )
    np.testing.assert_array_equal(mapped.log_density(np.array([[1.0, 2.0]])), [-5.0])


def test_function_that_autograd_cannot_trace():
    with pytest.raises(ModelError, match=r"Write the function with autograd\.numpy"):
        LogDensity.from_function(lambda x: np.array([float(row[0]) for row in x]), dim=2)
    with pytest.raises(ModelError, match=r"gradient= .* returned shape \(2,\)"):
        LogDensity.from_function(
            lambda x: -np.sum(x**2, axis=1), dim=2, gradient=lambda x: -2 * x[:, 0]
        )


def test_function_without_a_finite_point():
    density = LogDensity.from_function(
        lambda x: np.full(len(x), -np.inf), dim=2, gradient=lambda x: x
    )
    with pytest.raises(InitializationError, match="log density: -inf"):
        density.initial_points(np.random.default_rng(0), 2)


def test_as_posterior_refuses_what_is_no_model():
    with pytest.raises(ModelError, match=r"infer\(Hierarchy\(group=\.\.\., y=\.\.\.\)\)"):
        as_posterior(Hierarchy)
    with pytest.raises(ModelError, match="got int"):
        as_posterior(3)
    with pytest.raises(DataError, match="without its observed data"):
        as_posterior(Hierarchy(group=[0, 1], coords={"level": list("abcd")}))


def test_data_alone_is_evaluated_once():
    calls = []
    original = np.linalg.cholesky

    class Fixed(Model):
        K = data(dims=("row", "column"))
        z = param(Normal(0, 1), dims="row")
        f = deterministic(np.linalg.cholesky(K) @ z)
        y = observed(Normal(f, 1), dims="row")

    density = as_posterior(Fixed(K=np.eye(3) + 0.5, y=np.zeros(3)))
    np.linalg.cholesky = lambda a: calls.append(1) or original(a)
    try:
        density(np.zeros((2, 3)))
        density.constrain(np.zeros((2, 3)))
    finally:
        np.linalg.cholesky = original
    assert not calls


def test_affine_prior_bounds():
    class Persistence(Model):
        phi = param(Affine(Beta(20, 1.5), loc=-1, scale=2))

    values = as_posterior(Persistence()).constrain(np.linspace(-30, 30, 9)[:, None])["phi"]
    assert (np.abs(values) <= 1).all()


def test_errors_survive_pickling():
    with pytest.raises(ModelError) as caught:
        Normal(1, 2, 3)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.location == caught.value.location


@pytest.mark.parametrize("unit", [1e-23, 1e-12, 1.0, 1e9, 1e20])
def test_gradients_are_checked_in_any_unit(unit):
    class Measured(Model):
        k = param(Normal(unit, unit))
        y = observed(Normal(k, 0.1 * unit), dims="i")

    report = check_model(Measured(y=unit * np.array([0.9, 1.3])))
    assert report.ok, report


@pytest.mark.parametrize("unit", [1e-23, 1e-12, 1.0])
@pytest.mark.parametrize("fault", [0.0, 0.999, 1.001, -1.0])
def test_wrong_gradients_fail_in_any_unit(unit, fault):
    class Wrong:
        dim, coordinate_names = 1, ("k",)

        def log_density(self, x):
            return -0.5 * np.sum((x / unit - 1.0) ** 2, axis=1)

    x = unit * np.array([[0.5], [1.7], [3.0]])
    slope = (1.0 - x / unit) / unit
    assert np.all(_slope_error(Wrong(), x, slope, 0) <= 1e-5)
    assert np.max(_slope_error(Wrong(), x, fault * slope, 0)) > 1e-5
