"""Densities at the ends of intervals, where a shape of one leaves 0 log(0), and at infinity."""

from __future__ import annotations

import derivatives
import numpy as np
import pytest
from scipy import stats

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.functions import log_ccdf, log_cdf, log_density

INF = np.inf

# Distribution, its parameters, and the log density at 0 and at 1.
SHAPES = [
    *((d.Beta(a, b), stats.beta(a, b).logpdf([0, 1])) for a in (1, 2) for b in (1, 3)),
    (d.BetaProportion(0.5, 2), [0.0, 0.0]),
    (d.BetaProportion(0.25, 4), stats.beta(1, 3).logpdf([0, 1])),
    (d.Kumaraswamy(1, 2), [np.log(2), -INF]),
    (d.Kumaraswamy(2, 1), [-INF, np.log(2)]),
    (d.Kumaraswamy(1, 1), [0.0, 0.0]),
    (d.Kumaraswamy(2, 3), [-INF, -INF]),
]


@pytest.mark.parametrize(("dist", "expected"), SHAPES, ids=lambda x: str(x)[:30])
def test_shapes_of_one_at_the_ends(dist, expected):
    np.testing.assert_allclose(log_density(dist, np.array([0.0, 1.0])), expected, atol=1e-14)


# Distribution, value, parameters, and the slope in the value from within.
SLOPES = [
    (d.Beta(1, 1), 0.0, (1.0, 3.0), -2.0),
    (d.Beta(1, 1), 1.0, (3.0, 1.0), 2.0),
    (d.BetaProportion(0.5, 1), 0.0, (0.25, 4.0), -2.0),
    (d.BetaProportion(0.5, 1), 1.0, (0.75, 4.0), 2.0),
    (d.Kumaraswamy(1, 1), 0.0, (1.0, 3.0), -2.0),
    (d.Kumaraswamy(1, 1), 1.0, (3.0, 1.0), 2.0),
]


@pytest.mark.parametrize("entry", SLOPES, ids=lambda e: f"{e[0].name} at {e[1]:g}")
def test_slopes_at_the_ends_are_those_from_within(entry):
    dist, value, params, expected = entry
    args = [np.full(2, a) for a in (value, *params)]
    logp, slopes = derivatives.evaluated(dist, [0, 1, 2], *args)
    assert logp == pytest.approx(2 * np.log(3))
    np.testing.assert_allclose(slopes[0], expected, rtol=1e-14)


def test_dirichlet_of_ones_with_a_zero():
    value = np.array([0.0, 0.4, 0.6])
    for alpha in ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]):
        found = log_density(d.Dirichlet(alpha), value)
        assert found == pytest.approx(stats.dirichlet(alpha).logpdf(value))


def test_uniform_correlations_with_one_that_is_one():
    factor = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert log_density(d.LKJCholesky(1.0), factor) == pytest.approx(-np.log(2))
    assert log_density(d.LKJCholesky(2.0), factor) == -INF


@pytest.mark.parametrize(
    ("distribution", "y"),
    [
        (lambda a: d.Beta(1, a), [0.0, 0.1, 0.2]),
        (lambda a: d.Beta(a, 1), [0.3, 0.1, 1.0]),
        (lambda a: d.Kumaraswamy(1, a), [0.0, 0.1, 0.2]),
        (lambda a: d.Kumaraswamy(a, 1), [0.3, 0.1, 1.0]),
    ],
)
def test_observations_at_an_end(distribution, y):
    """Those where the density is finite whatever the parameter is."""

    class Ends(Model):
        a = param(d.LogNormal(0, 1))
        y = observed(distribution(a))

    density = as_posterior(Ends(y=np.array(y)))
    x, h = np.array([[0.0], [np.log(3.0)]]), 1e-4
    logp, slope = density(x)
    assert np.isfinite(logp).all()
    at = [density.log_density(x + step * h) for step in (-2, -1, 1, 2)]
    by_differences = (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * h)
    np.testing.assert_allclose(slope[:, 0], by_differences, rtol=1e-8, atol=1e-9)


ON_THE_LINE = [
    d.Normal(0, 1), d.StudentT(3, 0, 1), d.Gumbel(0, 1), d.SkewNormal(0, 1, 2),
    d.ExpModNormal(0, 1, 1), d.GeneralizedExtremeValue(0, 1, 0.2),
    d.GeneralizedExtremeValue(0, 1, 0), d.GeneralizedExtremeValue(0, 1, -0.2),
    d.GeneralizedPareto(0, 1, 0.2), d.GeneralizedPareto(0, 1, 0), d.Gamma(2, 1), d.Beta(2, 2),
    d.Poisson(2), d.Binomial(3, 0.4), d.NegativeBinomial2(2, 1), d.Geometric(0.3),
]  # fmt: skip


@pytest.mark.parametrize("dist", ON_THE_LINE, ids=str)
def test_infinite_values_have_the_limits(dist):
    values = np.array([-INF, INF, 1.0])
    for function, limits in (
        (log_density, [-INF, -INF]),
        (log_cdf, [-INF, 0]),
        (log_ccdf, [0, -INF]),
    ):
        found = function(dist, values)
        np.testing.assert_array_equal(found[:2], limits)
        assert found[2] == pytest.approx(function(dist, 1.0))


def test_impossible_parameters_stay_nan_at_infinity():
    assert np.isnan(log_cdf(d.GeneralizedExtremeValue(0, np.array([-1.0]), 0.1), INF)).all()
