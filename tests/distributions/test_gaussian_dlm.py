"""Dynamic linear models against the Kalman filter, one time after another."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import evaluated
from scipy import stats

from probmodel import Model, check_model, observed, param
from probmodel import distributions as d
from probmodel.errors import ModelError, ShapeError

# By name: F, G, V, W, m0, C0.
LEVEL = (np.eye(1), np.eye(1), 0.5 * np.eye(1), 0.2 * np.eye(1), np.zeros(1), np.eye(1))
TREND = (
    np.array([[1.0], [0.0]]),
    np.array([[1.0, 1.0], [0.0, 1.0]]),
    0.5 * np.eye(1),
    np.diag([0.2, 0.1]),
    np.array([0.3, -0.1]),
    np.diag([2.0, 1.0]),
)
SYSTEMS = {
    "level": LEVEL,
    "trend": TREND,
    "unknown start": (*TREND[:5], 1e5 * np.eye(2)),
    "no noise in the state": (*TREND[:3], np.zeros((2, 2)), *TREND[4:]),
    "known start": (*TREND[:5], np.zeros((2, 2))),
    "shocks to one state": (*TREND[:3], np.diag([0.0, 0.3]), *TREND[4:]),
    "more seen than hidden": (
        np.array([[1.0, 0.4, -0.7]]),
        np.array([[0.9]]),
        np.diag([0.5, 1.0, 0.2]),
        *LEVEL[3:],
    ),
    "explosive": (TREND[0], np.array([[1.05, 0.2], [0.0, 0.7]]), *TREND[2:]),
}


def series(system, times, seed=0):
    dist = d.GaussianDLM(*system)
    return dist.sample(np.random.default_rng(seed), (times, system[0].shape[1]), *system)


def kalman(y, F, G, V, W, m, C):
    """Log density of one series (West and Harrison 1997, section 4.3)."""
    total = 0.0
    for now in y:
        a, R = G @ m, G @ C @ G.T + W
        f, Q = F.T @ a, F.T @ R @ F + V
        total += stats.multivariate_normal(f, Q).logpdf(now)
        gain = R @ F @ np.linalg.inv(Q)
        m, left = a + gain @ (now - f), np.eye(len(m)) - gain @ F.T
        C = left @ R @ left.T + gain @ V @ gain.T
    return total


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("times", [1, 2, 3, 8, 9, 100])
def test_density_is_that_of_the_kalman_filter(name, times):
    y, system = series(SYSTEMS[name], times), SYSTEMS[name]
    found = d.GaussianDLM(*system).log_density(np, y, *system)
    # The start of variance 1e5 costs five digits.
    assert found == pytest.approx(kalman(y, *system), rel=1e-9)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("times", [1, 2, 7])
def test_derivatives_where_covariances_are_singular_too(name, times):
    y, system = series(SYSTEMS[name], times), list(SYSTEMS[name])
    dist, rng, h = d.GaussianDLM(*system), np.random.default_rng(1), 1e-5
    _, slopes = evaluated(dist, range(7), y, *system)
    for i, slope in enumerate(slopes):
        args = [y, *system]
        v = rng.standard_normal(args[i].shape)
        if i in (3, 4, 6):
            v = v @ v.T  # up from a covariance that may be singular
        ends = [
            dist.log_kernel(np, *args[:i], args[i] + s * h * v, *args[i + 1 :]) for s in (1, -1)
        ]
        numeric = (ends[0] - ends[1]) / (2 * h)
        assert np.sum(slope * v) == pytest.approx(numeric, rel=1e-5, abs=1e-5)


def test_draws_have_the_moments_of_the_model():
    system, times, count = SYSTEMS["shocks to one state"], 5, 20_000
    params = [np.broadcast_to(p, (count, *p.shape)) for p in system]
    y = d.GaussianDLM(*system).sample(np.random.default_rng(2), (count, times, 1), *params)
    F, G, V, W, m, C = system
    for t in range(times):
        m, C = G @ m, G @ C @ G.T + W
        law = stats.norm((F.T @ m)[0], np.sqrt((F.T @ C @ F + V)[0, 0]))
        assert stats.kstest(law.cdf(y[:, t, 0]), "uniform").pvalue > 1e-5
        assert stats.kstest(law.cdf(y[:, t, 0] + 0.3), "uniform").pvalue < 1e-5


def test_models_with_unknown_variances():
    class Level(Model):
        seen = param(d.HalfNormal(1.0))
        moved = param(d.HalfNormal(1.0))
        y = observed(
            d.GaussianDLM(
                TREND[0], TREND[1], seen**2 * np.eye(1), moved**2 * np.eye(2), TREND[4], TREND[5]
            ),
            dims=("time", "axis"),
        )

    assert check_model(Level(y=series(TREND, 12))).ok


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"V": -np.eye(1)}, "GaussianDLM's V must be"),
        ({"m0": 0.0}, "GaussianDLM's m0 must be a vector"),
        ({"G": np.ones(2)}, "GaussianDLM's G must be a matrix"),
        ({"G": np.eye(3)}, "does not fit the parameters of GaussianDLM"),
    ],
)
def test_impossible_arguments_are_refused(change, message):
    names = ("F", "G", "V", "W", "m0", "C0")
    given = dict(zip(names, TREND, strict=True)) | change

    class Impossible(Model):
        y = observed(d.GaussianDLM(**given), dims=("time", "axis"))

    with pytest.raises(ModelError, match=message):
        Impossible(y=np.zeros((4, 1)))


def test_the_parameters_do_not_tell_the_length():
    class Lengthless(Model):
        y = param(d.GaussianDLM(*TREND))

    with pytest.raises(ShapeError, match="give dims= or shape="):
        Lengthless()
