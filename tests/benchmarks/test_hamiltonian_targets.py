"""Targets of the papers on adaptive Hamiltonian samplers: derivatives, moments, closed forms."""

import bnn
import numpy as np
import pytest
from datasets import logistic_data
from hamiltonian_targets import HAMILTONIAN, anisotropic, logistic_model
from joint_cox import CENTRE, LENGTH, VARIANCE, JointCox
from latent_targets import (
    TRUE_VOLATILITY,
    cox_inputs,
    cox_process,
    joint_cox,
    length_in_cells,
    simulated_returns,
    volatility_sp500,
    volatility_wmf13,
)
from scipy import stats

from probmodel.types import CurvedLogDensity


def small_network():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((15, 6))
    return bnn.NeuralNetwork(X, (rng.random(15) < 0.5).astype(float), layers=(6, 4, 3, 1))


CASES = {
    "anisotropic": lambda: anisotropic(7, 6.0),
    "ripley_wide": HAMILTONIAN["ripley_wide"],
    "cox_8": lambda: cox_process(8, length_in_cells(8)),
    "joint cox": lambda: JointCox(np.random.default_rng(1).poisson(2.0, (4, 4))),
    "volatility": lambda: volatility_wmf13(12),
    "network": small_network,
}


def errors(density, x, v, step=1e-5):
    """Relative errors of the gradient and of Hessian-vector products along ``v``."""
    ahead, behind = density(x + step * v), density(x - step * v)
    slope = (ahead.logp - behind.logp) / (2.0 * step)
    curve = (ahead.grad - behind.grad) / (2.0 * step)
    found = np.sum(density(x).grad * v, axis=1), density.hvp(x, v)
    return tuple(
        np.abs(f - t).max() / np.abs(t).max() for f, t in zip(found, (slope, curve), strict=True)
    )


@pytest.mark.parametrize("name", sorted(CASES))
def test_derivatives_are_those_of_differences(name):
    density = CASES[name]()
    assert isinstance(density, CurvedLogDensity)
    assert len(density.coordinate_names) == density.dim
    x, v = 0.5 * np.random.default_rng(4).standard_normal((2, 3, density.dim))
    assert max(errors(density, x, v)) < 1e-6
    np.testing.assert_allclose(density.log_density(x), density(x).logp, rtol=1e-12)


def test_a_wrong_product_is_noticed():
    """Negative control: without the part of the curvature that comes from the residuals."""
    density = small_network()
    density.hvp = lambda x, v: -density.precision * v
    x, v = 0.5 * np.random.default_rng(4).standard_normal((2, 3, density.dim))
    slope, curve = errors(density, x, v)
    assert slope < 1e-6 < curve


def test_variances_of_the_gaussians():
    np.testing.assert_allclose(HAMILTONIAN["anisotropic_1000"]().covariance[[0, -1]], [1, 100])
    np.testing.assert_allclose(HAMILTONIAN["ill_conditioned"]().covariance[[0, -1]], [1, 1e6])
    np.testing.assert_array_equal(HAMILTONIAN["iid_10"]().covariance, np.ones(10))


@pytest.mark.parametrize(("prior", "scale"), [("wide", 10.0), ("unit", 1.0)])
def test_logistic_model_is_the_sum_of_its_terms(prior, scale):
    X, y = logistic_data("ripley", standardise=True)
    theta = np.random.default_rng(2).standard_normal((4, 3)) * 5.0
    z = theta @ X.T
    expected = np.sum(y * z - np.logaddexp(0.0, z), axis=1)
    expected += stats.norm(0.0, scale).logpdf(theta).sum(axis=1)
    found = logistic_model("ripley", prior)(theta).logp
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-10)


# -- Cox processes --------------------------------------------------------------------------------


def exact_covariance(n, cells):
    """Exponential covariance between the cells of a grid, with a length scale in cells."""
    place = np.stack(np.meshgrid(*[np.arange(n)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    return VARIANCE * np.exp(-np.linalg.norm(place[:, None] - place, axis=2) / cells)


@pytest.mark.parametrize("n", [4, 8])
def test_cox_process_of_the_gallery_on_a_grid(n):
    """The precision that its gradient shows, less the intensity, inverts the exact covariance."""
    density = cox_process(n, 1.3)
    curvature = -density.hessian(np.zeros((1, n * n)))[0] - np.eye(n * n) / n**2
    np.testing.assert_allclose(np.linalg.inv(curvature), exact_covariance(n, 1.3), atol=1e-6)


def test_length_scales_of_the_papers():
    assert length_in_cells(64) == pytest.approx(64 / 33)
    assert length_in_cells(16) == pytest.approx(256 / 33)
    step = np.diff(cox_inputs(16, cells=256 / 33)["northing"])
    np.testing.assert_allclose(np.exp(-step * 33 / 10), np.exp(-33 / 256))


def field_covariance(target, length):
    """Covariance of the field over white noise: all unit vectors of noise, one a row."""
    basis = np.zeros((target.dim - 2, target.dim))
    basis[:-1, :-3] = np.eye(target.dim - 3)
    basis[:, -1] = np.log(length) - CENTRE[2]
    fields = target.log_intensity(basis).reshape(len(basis), -1)
    unit = fields[:-1] - fields[-1]
    return unit.T @ unit


@pytest.mark.parametrize("length", [LENGTH, 0.1, 0.2])
def test_joint_cox_has_the_exact_covariance(length):
    n = 6
    target = JointCox(np.zeros((n, n)))
    exact = exact_covariance(n, n * length)
    np.testing.assert_allclose(field_covariance(target, length), exact, atol=1e-6)


def test_a_length_beyond_the_torus_is_not_exact():
    """Negative control: the covariance wraps around where the torus is too small."""
    target = JointCox(np.zeros((6, 6)))
    assert np.abs(field_covariance(target, 2.0) - exact_covariance(6, 12.0)).max() > 0.01


def test_joint_cox_is_the_sum_of_its_terms():
    target = joint_cox(4)
    x = np.random.default_rng(6).standard_normal((3, target.dim))
    mean = np.exp(target.log_intensity(x)) / 16.0
    expected = stats.poisson(mean).logpmf(target.counts).sum(axis=(1, 2))
    expected += stats.norm.logpdf(x).sum(axis=1)
    np.testing.assert_allclose(np.diff(target(x).logp), np.diff(expected), rtol=1e-9)


def test_simulated_fields_have_the_moments_of_the_prior():
    target = JointCox(np.zeros((8, 8)))
    rng = np.random.default_rng(8)
    fields = np.array([target.simulate(rng) for _ in range(4000)])
    error = np.sqrt(VARIANCE / len(fields))
    assert np.abs(fields.mean(axis=0) - CENTRE[0]).max() < 4.5 * error
    assert np.abs(fields.var(axis=0) / VARIANCE - 1).max() < 4.5 * np.sqrt(2 / len(fields))
    assert abs(fields.var() / VARIANCE - 1.2) > 0.1  # negative control: a larger variance


# -- stochastic volatility ------------------------------------------------------------------------


def kim_log_density(x, y):
    """Density of WMF13 on (b, a, g, h), written out: (chains,)."""
    b, a, g, h = x[:, 0], x[:, 1], x[:, 2], x[:, 3:]
    phi, s2 = np.tanh(a), np.exp(2.0 * g)
    total = stats.norm(0.0, np.exp(b[:, None] + 0.5 * h)).logpdf(y).sum(axis=1)
    total += stats.norm(0.0, np.sqrt(s2 / (1.0 - phi**2))).logpdf(h[:, 0])
    steps = stats.norm(phi[:, None] * h[:, :-1], np.exp(g)[:, None])
    total += steps.logpdf(h[:, 1:]).sum(axis=1)
    total += stats.beta(20.0, 1.5).logpdf((phi + 1.0) / 2.0) + np.log(1.0 - phi**2)
    # Scaled inverse chi-squared with 10 degrees of freedom, and d sigma^2 / d g = 2 sigma^2.
    return total + stats.invgamma(5.0, scale=0.25).logpdf(s2) + np.log(2.0 * s2)


def test_volatility_of_wmf13_is_the_sum_of_its_terms():
    density = volatility_wmf13(20)
    assert density.coordinate_names[:4] == ("b", "a", "g", "h[0]")
    x = 0.5 * np.random.default_rng(5).standard_normal((4, density.dim))
    expected = kim_log_density(x, simulated_returns(20))
    np.testing.assert_allclose(np.diff(density(x).logp), np.diff(expected), rtol=1e-10)


def test_simulated_returns_have_the_moments_of_the_model():
    """The mean of log y^2 is that of a log chi-squared, shifted; its error is by batches."""
    beta, phi, sigma = TRUE_VOLATILITY
    series = np.log(simulated_returns(200_000) ** 2)
    batches = series.reshape(100, -1).mean(axis=1)
    error = batches.std(ddof=1) / 10.0
    expected = 2.0 * np.log(beta) - 1.2703628
    assert abs(series.mean() - expected) < 4 * error
    assert abs(series.mean() - expected - 1.0) > 4 * error  # negative control
    spread = np.pi**2 / 2 + sigma**2 / (1 - phi**2)
    assert series.var() == pytest.approx(spread, rel=0.03)


def test_volatility_of_the_sp500():
    density = volatility_sp500()
    assert density.dim == 2518
    assert np.isfinite(density(np.zeros((1, density.dim))).logp)


# -- neural network -------------------------------------------------------------------------------


def test_network_of_the_paper():
    network = bnn.dexter_network()
    assert network.dim == 6097
    texts = bnn.dexter()
    assert texts.X.shape == texts.X_validation.shape == (300, 295)
    assert texts.y.sum() == texts.y_validation.sum() == 150
    np.testing.assert_allclose(texts.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(texts.X.std(axis=0), 1.0)


def test_network_is_the_sum_of_its_terms():
    network = small_network()
    x = np.random.default_rng(7).standard_normal((1, network.dim))
    cuts = np.cumsum([24, 4, 12, 3, 3])
    W1, b1, W2, b2, W3, b3 = np.split(x[0], cuts)
    h = np.tanh(np.tanh(network.X @ W1.reshape(6, 4) + b1) @ W2.reshape(4, 3) + b2)
    odds = h @ W3 + b3
    np.testing.assert_allclose(network.log_odds(x, network.X)[0], odds, rtol=1e-12)
    expected = stats.bernoulli(1 / (1 + np.exp(-odds))).logpmf(network.y.astype(int)).sum()
    for weights, units in ((W1, 6), (W2, 4), (W3, 3)):
        expected -= 0.5 * units * weights @ weights
    expected -= 0.5 * (b1 @ b1 + b2 @ b2 + b3 @ b3)
    np.testing.assert_allclose(network(x).logp, expected, rtol=1e-12)


def test_chains_of_a_network_are_independent():
    network = small_network()
    x = np.random.default_rng(9).standard_normal((3, network.dim))
    together = network(x)
    for row, logp, grad in zip(x, *together, strict=True):
        alone = network(row[None])
        np.testing.assert_allclose(alone.logp[0], logp, rtol=1e-12)
        np.testing.assert_allclose(alone.grad[0], grad, rtol=1e-9, atol=1e-12)


def test_folds_split_the_texts_evenly():
    y = np.repeat([0.0, 1.0], 40)
    found = bnn.folds(y, seed=1)
    assert found.shape == (bnn.FOLDS, 80)
    np.testing.assert_array_equal(found.sum(axis=0), 1)
    np.testing.assert_array_equal(found @ y, 5)


def test_mean_probabilities_decide_the_label():
    network = small_network()
    predictor = bnn.Predictor(network, network.X)
    x = np.random.default_rng(1).standard_normal((2, network.dim))

    class State:
        pass

    state = State()
    state.x = x
    predictor.record("warmup", 0, state, None, None)
    assert predictor.count == 0
    predictor.record("draw", 0, state, None, None)
    p = 1 / (1 + np.exp(-network.log_odds(x, network.X)))
    np.testing.assert_array_equal(predictor.labels, p.mean(axis=0) > 0.5)
    assert bnn.error(np.array([True, False]), np.array([1.0, 1.0])) == 0.5
