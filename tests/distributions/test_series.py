"""Series beyond the examples: what they condition on, long known series, and their refusals."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian
from derivatives import arrays, evaluated, program, slopes
from scipy import stats

from probmodel import Model, check_model, data, observed, param, potential
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.density.prior import simulate_once
from probmodel.errors import ModelError, ShapeError
from probmodel.functions import log_density
from probmodel.model.binding import redrawn

PHI = np.array([0.5, -0.3, 0.2])


def autoregression(n, *batch, seed=0, level=0.0):
    """Series of the order of PHI, by a loop."""
    y = np.random.default_rng(seed).standard_normal((*batch, n))
    for t in range(3, n):
        y[..., t] += y[..., t - 3 : t] @ PHI[::-1]
    return y + level


def conditional(y, coefficients, sigma, intercept):
    """Log density of one series given its first values, one time after another."""
    p, total = len(coefficients), 0.0
    for t in range(p, len(y)):
        mean = intercept + sum(coefficients[k] * y[t - 1 - k] for k in range(p))
        total += stats.norm.logpdf(y[t], mean, sigma)
    return total


def test_the_first_values_are_conditioned_on():
    y, dist = autoregression(9), d.AR(PHI, 1.0)
    params = arrays(PHI, 0.7, 0.4)
    assert dist.log_density(np, y, *params) == pytest.approx(conditional(y, *params), rel=1e-12)
    with_start = d.AR(PHI, 1.0, initial=d.StudentT(4.0, 0.0, 2.0))
    first = stats.t(4.0, 0.0, 2.0).logpdf(y[:3]).sum()
    found = with_start.log_density(np, y, *params, *arrays(4.0, 0.0, 2.0))
    assert found == pytest.approx(conditional(y, *params) + first, rel=1e-12)


@pytest.mark.parametrize("level", [0.0, 1e6])
@pytest.mark.parametrize("n", [4, 300])
def test_slopes_of_known_series_are_those_of_a_regression(level, n):
    y, phi, sigma = autoregression(n, level=level), PHI + 0.05, 0.7
    intercept = 0.4 + level * (1 - phi.sum())
    logp, found = evaluated(d.AR(PHI, 1.0), [1, 2, 3], y, phi, sigma, intercept)
    lagged = np.stack([y[2 - k : n - 1 - k] for k in range(3)])
    e = y[3:] - phi @ lagged - intercept
    expected = lagged @ e / sigma**2, (e @ e / sigma**2 - len(e)) / sigma, e.sum() / sigma**2
    # Both subtract numbers of the size of the level.
    error = 1e-11 * max(1.0, level)
    assert logp == pytest.approx(conditional(y, phi, sigma, intercept), rel=error)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=error, atol=error * np.max(np.abs(other)))


def test_orders_of_one_are_known_processes():
    y = autoregression(8)
    ar = d.AR(np.array([0.6]), 0.7, initial=d.Normal(0.0, 1.0))
    stationary = 0.7 / np.sqrt(1 - 0.36)
    found = ar.log_density(np, y, *arrays([0.6], 0.7, 0.2, 0.5, stationary))
    assert found == pytest.approx(d.AR1(0.6, 0.7).log_density(np, y, *arrays(0.6, 0.7, 0.5)))
    walk = d.RandomWalk(0.7, 2.0).log_density(np, y, *arrays(0.7, 2.0, 0.2, 0.0))
    assert ar.log_density(np, y, *arrays([1.0], 0.7, 0.2, 0.0, 2.0)) == pytest.approx(walk)


@pytest.mark.parametrize(
    ("batch", "shape"),
    [((), ()), ((2,), ()), ((2,), (1,)), ((1,), (3,)), ((2, 1), (1, 3)), ((2, 1), (2, 3))],
)
def test_ar1_with_a_mean_that_is_known_to_be_zero(batch, shape):
    """A mean of zeros shifts nothing, but may make more processes of a value than it has rows."""
    y = np.random.default_rng(5).standard_normal((*batch, 5))
    args = y, np.full(batch, 0.6), np.full(batch, 0.7), np.zeros(shape)
    dist = d.AR1(0.6, 0.7)
    logp, found = evaluated(dist, [0, 1, 2], *args)
    expected, (*others, _) = evaluated(dist, [0, 1, 2, 3], *args)
    assert logp == pytest.approx(np.sum(dist.log_kernel(np, *args)), rel=1e-12)
    assert logp == pytest.approx(expected, rel=1e-12)
    for slope, other in zip(found, others, strict=True):
        np.testing.assert_allclose(slope, other, rtol=1e-12)


def test_ar1_with_means_that_make_more_processes_of_a_value():
    rng, value = np.random.default_rng(6), np.random.default_rng(7).standard_normal((2, 1, 4))
    phi, sigma, mean = np.full((2, 3), 0.5), np.full((2, 3), 0.7), rng.standard_normal((1, 3))
    dist = d.AR1(0.5, 0.7, 0.1)
    logp, found = evaluated(dist, [0, 1, 2], value, phi, sigma, mean)
    assert logp == pytest.approx(np.sum(dist.log_kernel(np, value, phi, sigma, mean)), rel=1e-12)
    wide = np.broadcast_to(value, (2, 3, 4))
    _, expected = evaluated(dist, [0, 1, 2], wide, phi, sigma, np.broadcast_to(mean, (2, 3)))
    np.testing.assert_allclose(found[0], expected[0].sum(axis=1, keepdims=True), rtol=1e-12)
    for slope, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(slope, other, rtol=1e-12)


def test_moving_averages_are_those_of_a_loop():
    y, mean, phi, theta, sigma = autoregression(50), 0.3, 0.7, -0.4, 0.8
    errors = np.zeros(50)
    for t in range(50):
        before = (y[t - 1] - mean, errors[t - 1]) if t else (0.0, 0.0)
        errors[t] = y[t] - mean - phi * before[0] - theta * before[1]
    found = d.ARMA([phi], [theta], sigma).log_density(np, y, *arrays([phi], [theta], sigma, mean))
    assert found == pytest.approx(stats.norm(0, sigma).logpdf(errors).sum(), rel=1e-12)


ONE_VALUE = [
    (d.RandomWalk(1.0, 2.0), (1.0, 2.0, 0.5, 0.1), stats.norm(0.1, 2.0)),
    (d.ARMA([0.5], [0.2, 0.1], 0.8), ([0.5], [0.2, 0.1], 0.8, 0.3), stats.norm(0.3, 0.8)),
    (d.GARCH(0.0, 1.0, 0.1, 0.1, 4.0), (0.2, 1.0, 0.1, 0.1, 4.0), stats.norm(0.2, 2.0)),
]


@pytest.mark.parametrize(("dist", "params", "law"), ONE_VALUE)
def test_a_series_of_one_value(dist, params, law):
    y, params = np.array([0.7]), arrays(*params)
    assert dist.log_density(np, y, *params) == pytest.approx(law.logpdf(0.7), rel=1e-12)
    assert [s.shape for s in slopes(dist, y, *params)] == [(1,), *(p.shape for p in params)]
    draws = dist.sample(np.random.default_rng(0), (2000, 1), *params)
    assert stats.kstest(law.cdf(draws[:, 0]), "uniform").pvalue > 1e-5
    assert stats.kstest(law.cdf(draws[:, 0] + 0.5), "uniform").pvalue < 1e-5


@pytest.mark.parametrize("name", ["RandomWalk", "ARMA", "AR"])
def test_standardised_values_come_back(cases, name):
    dist, params = cases[name].dist, arrays(*cases[name].params[0])
    z = np.random.default_rng(0).standard_normal(6)
    back = dist.standardise(dist.noncentered(np, z, *params), *params)
    np.testing.assert_allclose(back, z, rtol=1e-9, atol=1e-12)


def numbers(dist):
    return arrays(*dist.args.values())


def moments(dist, n):
    """Mean and inverse covariance of n values, from the map of standard normals."""
    root = jacobian(lambda z: dist.noncentered(anp, z, *numbers(dist)))(np.zeros(n))
    return dist.noncentered(np, np.zeros(n), *numbers(dist)), np.linalg.inv(root @ root.T)


@pytest.mark.parametrize("information", [0.0, 1e-6, 0.3, 40.0])
def test_an_informed_walk_is_the_conditional_distribution_but_for_its_end(information):
    n, walk = 7, d.RandomWalk(0.6, 1.5, 0.4, 0.8)
    informed = walk.informed(information)
    mean, found = moments(informed, n)
    m, precision = moments(walk, n)
    wanted = precision + information * np.eye(n)
    atol = 1e-9 * np.max(wanted)
    np.testing.assert_allclose(found[:-1], wanted[:-1], atol=atol)
    wanted[-1, -1] = found[-1, -1]
    np.testing.assert_allclose(mean, np.linalg.solve(wanted, precision @ m), rtol=1e-9)
    root = informed.noncentered_log_det(np, (n,), *numbers(informed))
    assert root == pytest.approx(-0.5 * np.linalg.slogdet(found)[1], rel=1e-9)


@pytest.mark.parametrize("information", [0.0, 2.0])
def test_models_take_the_information_on_a_walk(information):
    class Level(Model):
        sigma = param(d.HalfNormal(1.0))
        drift = param(d.Normal(0, 1))
        x = param(d.RandomWalk(sigma, 2.0, drift), shape=5, information=information)
        y = observed(d.Normal(x, 0.5), dims="time")

    assert check_model(Level(y=np.linspace(0, 1, 5))).ok


@pytest.mark.parametrize("initial", [None, d.Normal(0, 10), d.StudentT(3.0, 0, 10)])
@pytest.mark.parametrize("noncentered", [False, True])
def test_series_that_are_not_observed(initial, noncentered):
    if noncentered and not isinstance(initial, d.Normal):
        pytest.skip("no such form: tested below")

    class Latent(Model):
        phi = param(d.Normal(0, 0.5), shape=2)
        sigma = param(d.HalfNormal(1.0))
        x = param(d.AR(phi, sigma, 0.1, initial=initial), shape=(3, 6), noncentered=noncentered)
        y = observed(d.Normal(x, 0.5), dims=("series", "time"))

    model = Latent(y=autoregression(6, 3))
    assert check_model(model).ok
    if initial is not None:
        drawn = simulate_once(redrawn(model._binding), np.random.default_rng(0))
        assert drawn["x"].shape == (3, 6)


def test_observed_series_in_models():
    class Both(Model):
        phi = param(d.Normal(0, 0.5), shape=2)
        theta = param(d.Normal(0, 0.5), shape=1)
        sigma = param(d.HalfNormal(1.0))
        alpha = param(lower=0, upper=1)
        beta = param(lower=0, upper=1 - alpha)
        a = observed(d.AR(phi, sigma), dims="time")
        b = observed(d.ARMA(phi, theta, sigma), dims="time")
        c = observed(d.GARCH(0.0, sigma, alpha, beta, 1.0), dims=("asset", "time"))
        e = observed(d.RandomWalk(sigma, 1.0), dims="time")

    y = autoregression(20)
    model = Both(a=y, b=y, c=autoregression(20, 3), e=y)
    assert check_model(model).ok
    density = as_posterior(model)
    x, v, h = np.full((1, density.dim), 0.1), np.ones((1, density.dim)), 1e-5
    numeric = (density(x + h * v).grad - density(x - h * v).grad) / (2 * h)
    np.testing.assert_allclose(density.hvp(x, v), numeric, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.AR(PHI), "AR needs 'sigma'"),
        (lambda: d.AR(PHI, 1.0, mean=0.0), "AR has no parameter 'mean'"),
        (lambda: d.AR(PHI, 1.0, initial=0.0), "one real number.*float was given"),
        (lambda: d.AR(PHI, 1.0, initial=d.Gamma(1, 1)), "one real number.*Gamma was given"),
        (lambda: d.AR(PHI, 1.0, initial=d.Poisson(1)), "Poisson was given"),
        (lambda: d.AR(PHI, 1.0, initial=d.AR1(0.5, 1)), "AR1 was given"),
        (lambda: d.AR(PHI, 1.0).base(), "no non-centred form unless initial= is a Normal"),
        (lambda: d.AR(PHI, 1.0, initial=d.Cauchy(0, 1)).base(), "unless initial= is a Normal"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ModelError, match=message) as caught:
        call()
    assert caught.value.location.file == __file__


def test_draws_go_on_from_first_values_without_a_distribution():
    dist, params = d.AR(PHI, 1.0), arrays(PHI, 0.7, 0.4)
    y = dist.sample(np.random.default_rng(0), (2000, 5), *params)
    assert stats.kstest(y[:, :3].ravel(), stats.uniform(-2.0, 4.0).cdf).pvalue > 1e-5
    for t, wrong in ((3, 0.0), (4, 0.0), (4, 0.2)):
        e = (y[:, t] - 0.4 - y[:, t - 3 : t] @ PHI[::-1]) / 0.7
        assert (stats.kstest(e + wrong, "norm").pvalue > 1e-5) == (wrong == 0.0)


@pytest.mark.parametrize("n", [2, 3])
def test_series_that_are_too_short_are_refused(n):
    class Short(Model):
        phi = param(d.Normal(0, 1), shape=3)
        y = observed(d.AR(phi, 1.0), dims="time")

    with pytest.raises(ShapeError, match=f"more than 3 values.*the series has {n}"):
        Short(y=np.zeros(n))


@pytest.mark.parametrize("dist", [d.AR(PHI, 1.0), d.ARMA(PHI, PHI, 1.0)])
def test_coefficients_do_not_tell_the_length(dist):
    class Lengthless(Model):
        x = param(dist)

    with pytest.raises(ShapeError, match="give dims= or shape="):
        Lengthless()


@pytest.mark.parametrize(
    ("dist", "message"),
    [
        (d.AR(0.5, 1.0), "AR's coefficients must be a vector"),
        (d.ARMA([0.5], 0.5, 1.0), "ARMA's theta must be a vector"),
        (d.AR(PHI, -1.0), "AR's sigma must be"),
        (d.RandomWalk(1.0, 0.0), "RandomWalk's initial_scale must be"),
        (d.GARCH(0.0, 1.0, -0.1, 0.5, 1.0), "GARCH's alpha must be"),
        (d.GARCH(0.0, 0.0, 0.1, 0.5, 1.0), "GARCH's omega must be"),
    ],
)
def test_impossible_constants_are_refused(dist, message):
    class Impossible(Model):
        n = data(dtype=int)
        y = observed(dist, dims="time")

    with pytest.raises(ModelError, match=message):
        Impossible(n=1, y=np.zeros(9))


@pytest.mark.parametrize("n", range(1, 18))
def test_slopes_of_ar1_at_the_last_time(n):
    """By hand; eight times of several chains once took the last of another chain."""
    rng = np.random.default_rng(n)
    y, phi = rng.standard_normal((3, n)), np.array([0.5, -0.3, 0.9])
    _, slope, _ = program(d.AR1(0.5, 1.0), [0, 1], y[0], 0.5, 2.0, 0.0)(y, phi)
    last = y[:, -1] - phi * y[:, -2] if n > 1 else (1.0 - phi**2) * y[:, 0]
    np.testing.assert_allclose(slope[:, -1], -last / 4.0, rtol=1e-14)


@pytest.mark.parametrize(
    ("series", "name"),
    [
        (lambda mean: d.AR1(0.5, 1.0, mean=mean), "mean of AR1"),
        (lambda mean: d.AR(PHI, 1.0, intercept=mean), "intercept of AR"),
        (lambda mean: d.ARMA([0.5], [0.1], 1.0, mean), "mean of ARMA"),
        (lambda mean: d.GARCH(mean, 1.0, 0.1, 0.1, 1.0), "mean of GARCH"),
        (lambda mean: d.RandomWalk(1.0, 1.0, drift=mean), "drift of RandomWalk"),
    ],
)
def test_an_element_for_each_time_is_refused_with_what_to_write(series, name):
    class Regression(Model):
        x = data("t")
        b = param(d.Normal(0, 1))
        y = observed(series(b * x), dims="t")

    with pytest.raises(ShapeError) as error:
        Regression(x=np.arange(5.0), y=np.zeros(5))
    message = error.value.message
    assert f"{name} is one number for a whole series; got shape (5,). Where" in message
    kind = name.split()[-1]
    assert f"potential(log_density({kind}(...), y - mean))" in message
    assert "reshape" not in message


def test_several_series_have_one_number_each():
    class Several(Model):
        phi = param(d.Uniform(-1, 1), shape=3)
        y = observed(d.AR1(phi, 1.0), dims=("series", "t"))

    Several(y=np.zeros((3, 5)))
    with pytest.raises(
        ShapeError, match=r"phi of AR1 is one number for each series; got shape .3,.\.$"
    ):
        Several(y=np.zeros((2, 5)))


def test_a_regression_with_autoregressive_errors():
    """The density of the deviations is that of a normal vector, whose covariances decay."""

    class Regression(Model):
        x = data("t")
        y = data("t")
        b = param(d.Normal(0, 1))
        phi = param(d.Uniform(-1, 1))
        fit = potential(log_density(d.AR1(phi, 0.7), y - b * x))

    x, y = np.linspace(-1.0, 1.0, 6), autoregression(6)
    density = as_posterior(Regression(x=x, y=y))
    at = np.array([[0.4, 0.9]])
    (found,) = density.values_at(at, [Regression.fit.expression])
    b, phi = (float(density.constrain(at)[name][0]) for name in ("b", "phi"))
    lags = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    covariance = 0.7**2 / (1.0 - phi**2) * phi**lags
    expected = stats.multivariate_normal.logpdf(y, b * x, covariance)
    np.testing.assert_allclose(found, [expected], rtol=1e-12)
