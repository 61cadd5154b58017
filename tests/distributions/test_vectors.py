"""Ordered categories, vectors of counts and heavy-tailed vectors: tails, limits and identities."""

from __future__ import annotations

import numpy as np
import pytest
from autograd import grad
from derivatives import evaluated, program
from scipy import integrate, special, stats

from probmodel import Model, data, observed, param
from probmodel import distributions as d
from probmodel.compiler.machine import Machine
from probmodel.compiler.tracing import Program, traced
from probmodel.constraints import Ordered
from probmodel.density import ModelDensity
from probmodel.distributions.vector.count_vectors import CountVector
from probmodel.distributions.vector.mv_student_t import information_in_df
from probmodel.errors import DataError, ModelError
from probmodel.numerics.special.cutpoints import (
    expit_interval_slope,
    log_expit_interval,
    log_ndtr_interval,
    ndtr_interval_slope,
)

WIDTHS = [1e-12, 1e-6, 1e-3, 0.2, 1.0, 3.0]
PLACES = [-1e4, -60.0, -9.0, -1.0, -0.1, 0.0, 0.4, 2.0, 30.0, 1e4]


def array(x):
    return np.asarray(x, dtype=float)


def normal(peak, t):
    """Log density at ``peak`` and how much it differs at ``peak + t``, without rounding of that."""
    return -0.5 * peak * peak - 0.5 * np.log(2.0 * np.pi), -t * (peak + 0.5 * t)


def logistic(peak, t):
    at, there = (-abs(x) - 2.0 * np.log1p(np.exp(-abs(x))) for x in (peak, peak + t))
    return at, there - at


def log_mass(family, steepest, low, high):
    """Logarithm of the integral of a density by quadrature, relative to its largest value."""
    peak = min(max(low, 0.0), high)
    # Further from the peak than this nothing is left, in a tail.
    reach = 50.0 / min(max(abs(peak), 1.0), steepest) if abs(peak) > 3.0 else np.inf
    below, above = max(low - peak, -reach), min(high - peak, reach)
    total, _ = integrate.quad(
        lambda t: np.exp(family(peak, t)[1]), below, above, epsabs=0, epsrel=1e-12
    )
    return family(peak, 0.0)[0] + np.log(total)


@pytest.mark.parametrize("low", PLACES)
@pytest.mark.parametrize("width", WIDTHS)
def test_log_probabilities_of_intervals_do_not_cancel(low, width):
    high = low + width
    if not high - low > 0.5 * width:
        pytest.skip("the ends are one number")
    for ours, family, steepest in (
        (log_expit_interval, logistic, 1.0),
        (log_ndtr_interval, normal, np.inf),
    ):
        expected = log_mass(family, steepest, low, high)
        assert ours(low, high) == pytest.approx(expected, rel=1e-13, abs=1e-10)


def test_the_plain_difference_would_cancel():
    assert special.ndtr(9.5) - special.ndtr(9.0) == 0.0
    assert log_ndtr_interval(9.0, 9.5) == pytest.approx(log_ndtr_interval(-9.5, -9.0), rel=1e-14)
    assert log_expit_interval(40.0, 41.0) == pytest.approx(log_expit_interval(-41, -40), rel=1e-14)


@pytest.mark.parametrize("low", PLACES)
@pytest.mark.parametrize("width", WIDTHS)
def test_slopes_of_intervals_are_density_over_probability(low, width):
    high = low + width
    if not high - low > 0.5 * width:
        pytest.skip("the ends are one number")
    for log_interval, slope, family in (
        (log_expit_interval, expit_interval_slope, stats.logistic),
        (log_ndtr_interval, ndtr_interval_slope, stats.norm),
    ):
        mass = log_interval(low, high)
        # What rounding of the two logarithms alone does to their difference.
        error = 1e-11 + 1e-15 * abs(mass)
        for actual, end in ((slope(low, high), high), (slope(-high, -low), low)):
            assert actual == pytest.approx(np.exp(family.logpdf(end) - mass), rel=error)


def test_slopes_of_a_wide_and_a_narrow_interval_meet():
    for low in (-5.0, 0.3, 7.0):
        edge = 1.0 / max(abs(low), 1.0)
        near = [low + edge * (1.0 + e) for e in (-1e-9, 1e-9)]
        for function in (log_ndtr_interval, ndtr_interval_slope):
            one, other = (function(low, high) for high in near)
            assert one == pytest.approx(other, rel=1e-7)


@pytest.mark.parametrize("slope", [expit_interval_slope, ndtr_interval_slope])
@pytest.mark.parametrize(
    ("low", "high"),
    [(-1.0, 0.4), (0.3, 0.31), (-9.0, -7.0), (6.0, 6.1), (-np.inf, 0.7), (0.7, np.inf)],
)
def test_second_derivatives_of_intervals(slope, low, high):
    for i in range(2):
        ends, h = [low, high], 1e-5
        exact = grad(slope, i)(low, high)
        if np.isinf(ends[i]):
            assert exact == 0.0
            continue
        moved = [list(ends), list(ends)]
        moved[0][i] += h
        moved[1][i] -= h
        expected = (slope(*moved[0]) - slope(*moved[1])) / (2 * h)
        assert exact == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_ends_of_an_interval_share_what_their_slopes_take():
    """Each category of an ordered probit has one rule of quadrature, not one for each slope."""

    class Answers(Model):
        eta = param(d.Normal(0, 1), dims="person")
        cutpoints = param(d.Normal(0, 1), constraint=Ordered(), shape=3)
        y = observed(d.OrderedProbit(eta, cutpoints), dims="person")

    persons = 400
    machine = Machine(traced(Answers(y=np.arange(persons) % 4)._binding))
    steps = Program((), tuple(machine._outputs[1:])).steps
    averaged = [step for step in steps if step.op == "exp" and step.size == 8 * persons]
    assert len(averaged) == 1


ORDERED = [(d.OrderedLogistic, stats.logistic), (d.OrderedProbit, stats.norm)]


@pytest.mark.parametrize(("kind", "family"), ORDERED)
def test_outer_categories_have_the_tails_of_the_noise(kind, family):
    cutpoints = array([-1.0, 0.5, 2.0])
    dist = kind(0.0, cutpoints)
    for eta in (-500.0, -30.0, 0.0, 30.0, 500.0):
        first = dist.log_density(np, array(0), array(eta), cutpoints)
        last = dist.log_density(np, array(3), array(eta), cutpoints)
        assert first == pytest.approx(family.logcdf(-1.0 - eta), rel=1e-12)
        assert last == pytest.approx(family.logsf(2.0 - eta), rel=1e-12)


@pytest.mark.parametrize(("kind", "family"), ORDERED)
def test_two_categories_are_a_binary_regression(kind, family):
    eta, cut = array([-0.7, 0.2, 3.0]), array([0.4])
    logp = kind(0.0, cut).log_density(np, array([1, 0, 1]), eta, cut)
    expected = [family.logsf(1.1), family.logcdf(0.2), family.logsf(-2.6)]
    np.testing.assert_allclose(logp, expected, rtol=1e-12)


@pytest.mark.parametrize(("kind", "family"), ORDERED)
@pytest.mark.parametrize("batch", [(), (60,)])
def test_slopes_of_ordered_categories(kind, family, batch):
    rng = np.random.default_rng(1)
    value, eta = rng.integers(0, 5, 60), rng.normal(0, 3, 60)
    cutpoints = np.sort(rng.normal(0, 2, (*batch, 4)))
    _, (in_eta, in_cutpoints) = evaluated(kind(0.0, cutpoints), [1, 2], value, eta, cutpoints)
    edges = np.pad(np.broadcast_to(cutpoints, (60, 4)), ((0, 0), (1, 1)), constant_values=np.inf)
    edges[:, 0] *= -1.0
    rows = np.arange(60)
    low, high = edges[rows, value] - eta, edges[rows, value + 1] - eta
    # Of two tails, the differences of the shorter ones.
    mass = np.where(low > 0, family.sf(low) - family.sf(high), family.cdf(high) - family.cdf(low))
    parts = np.zeros((60, 6))
    parts[rows, value], parts[rows, value + 1] = -family.pdf(low) / mass, family.pdf(high) / mass
    np.testing.assert_allclose(in_eta, -parts.sum(axis=1), rtol=1e-8, atol=1e-10)
    expected = parts[:, 1:5] if batch else parts[:, 1:5].sum(axis=0)
    np.testing.assert_allclose(in_cutpoints, expected, rtol=1e-8, atol=1e-10)


def test_cutpoints_out_of_order_spoil_one_chain_only():
    value, eta = [0, 3, 1], np.zeros((2, 1))
    cutpoints = array([[-1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]])
    for kind, _ in ORDERED:
        run = program(kind(0.0, cutpoints[0]), [1, 2], value, eta[0], cutpoints[0])
        assert list(np.isfinite(run(eta, cutpoints)[0])) == [True, False]


def test_supports_of_ordered_categories():
    assert d.OrderedLogistic(0.0, [0.0, 1.0]).support().bounds == (0, 2)
    assert d.OrderedProbit(0.0, np.zeros((7, 3))).support().bounds == (0, 3)
    assert d.OrderedProbit(0.0, param()).support().bounds == (0,)


def test_counts_must_add_up():
    totals = array([6, 5])
    inside = CountVector(totals).check(array([[1, 2, 3], [1, 2, 3]]), totals)
    np.testing.assert_array_equal(inside, [True, False])


def test_vectors_of_two_counts_are_binomial():
    p, y = 0.3, 4
    counts, n = array([y, 9 - y]), array(9)
    logit = np.log(p / (1 - p))
    expected = stats.binom(9, p).logpmf(y)
    for dist, argument in (
        (d.Multinomial(9, [p, 1 - p]), array([p, 1 - p])),
        (d.MultinomialLogit(9, [logit, 0.0]), array([logit, 0.0])),
    ):
        assert dist.log_density(np, counts, n, argument) == pytest.approx(expected, rel=1e-12)


def test_one_trial_is_a_category():
    p, n = array([0.2, 0.3, 0.5]), array(1)
    for k in range(3):
        multinomial = d.Multinomial(1, p).log_density(np, np.eye(3)[k], n, p)
        assert multinomial == pytest.approx(np.log(p[k]), rel=1e-14)


def test_probabilities_of_zero_only_forbid_what_occurred():
    p, n = array([0.5, 0.5, 0.0]), array(4)
    dist = d.Multinomial(4, p)
    assert dist.log_density(np, array([2, 2, 0]), n, p) == pytest.approx(np.log(6 / 16))
    assert dist.log_density(np, array([2, 1, 1]), n, p) == -np.inf
    _, (slope,) = evaluated(dist, [2], [2, 2, 0], n, p)
    np.testing.assert_array_equal(slope, [4.0, 4.0, 0.0])


def test_logits_far_apart_do_not_overflow():
    logits, n = array([900.0, 0.0, -900.0]), array(3)
    dist = d.MultinomialLogit(3, logits)
    assert dist.log_density(np, array([2, 1, 0]), n, logits) == pytest.approx(-900 + np.log(3))
    np.testing.assert_array_equal(
        dist.sample(np.random.default_rng(0), (5, 3), n, logits), np.tile([3, 0, 0], (5, 1))
    )


def test_large_concentrations_are_multinomial():
    p, counts, n = array([0.2, 0.3, 0.5]), array([1, 2, 3]), array(6)
    dist = d.DirichletMultinomial(6, p)
    expected = stats.multinomial(6, p).logpmf(counts)
    assert dist.log_density(np, counts, n, 1e12 * p) == pytest.approx(expected, rel=1e-9)


def test_small_concentrations_put_all_in_one_place():
    alpha = array([1e-8, 1e-8, 1e-8])
    draws = d.DirichletMultinomial(7, alpha).sample(
        np.random.default_rng(0), (200, 3), array(7), alpha
    )
    assert set(draws.max(axis=1)) == {7}


def test_information_needs_no_number_of_trials():
    for dist in (d.Multinomial(3, [0.5, 0.5]), d.MultinomialLogit(3, [0.0, 0.0])):
        with pytest.raises(ModelError, match="for a change of n"):
            dist.information(np, [array(1.0), None], array(3), array([0.5, 0.5]))


def test_the_keyword_chooses_the_matrix():
    eye = np.eye(2)
    assert list(d.MvStudentT(4.0, 0.0, eye).parameters) == ["df", "loc", "scale"]
    assert list(d.MvStudentT(4.0, 0.0, cholesky=eye).parameters) == ["df", "loc", "cholesky"]
    assert d.MvStudentT(4.0, 0.0, cholesky=eye).name == "MvStudentT"
    for matrices in ({}, {"scale": eye, "cholesky": eye}, {"covariance": eye}):
        with pytest.raises(ModelError, match="exactly one of scale= and cholesky="):
            d.MvStudentT(4.0, 0.0, **matrices)


def test_vectors_of_length_one_are_student_t():
    y, df, loc, scale = array(1.7), array(3.5), array(0.4), array(1.3)
    dist = d.MvStudentT(df, loc, scale)
    logp = dist.log_density(np, y[None], df, loc[None], scale[None, None] ** 2)
    assert logp == pytest.approx(stats.t(df, loc, scale).logpdf(y), rel=1e-12)


def test_many_degrees_of_freedom_are_normal():
    y, scale = array([0.3, -1.0, 2.0]), np.diag([1.0, 2.0, 3.0])
    dist = d.MvStudentT(1e12, np.zeros(3), scale)
    logp = dist.log_density(np, y, array(1e12), np.zeros(3), scale)
    assert logp == pytest.approx(stats.multivariate_normal(None, scale).logpdf(y), rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_information_on_degrees_of_freedom(n):
    df = array([0.8, 3.0, 20.0])
    trigammas = 0.25 * (special.polygamma(1, df / 2) - special.polygamma(1, (df + n) / 2))
    rational = n * (df + n + 4) / (2 * df * (df + n) * (df + n + 2))
    np.testing.assert_allclose(information_in_df(df, n), trigammas - rational, rtol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_information_on_many_degrees_of_freedom_does_not_cancel(n):
    # The score tends to (S^2 - 2 n S) / (4 df^2), less its mean, with S chi-squared on n degrees.
    first, second, third, fourth = np.cumprod(n + 2.0 * np.arange(4))
    mean = second - 2.0 * n * first
    limit = (fourth - 4.0 * n * third + 4.0 * n * n * second - mean * mean) / 16.0
    for df in (1e5, 1e9):
        assert information_in_df(array(df), n) * df**4 == pytest.approx(limit, rel=50 / df * n)


class Ratings(Model):
    x = data(dims="obs")
    slope = param(d.Normal(0, 2))
    cuts = param(d.Normal(0, 5), constraint=d.OrderedLogistic.parameters["cutpoints"][0], shape=2)
    y = observed(d.OrderedLogistic(slope * x, cuts), dims="obs")


class Votes(Model):
    n = data(dtype=int, dims="poll")
    p = param(d.Dirichlet([1.0, 1.0, 1.0]))
    y = observed(d.Multinomial(n, p), dims=("poll", "party"))


def test_a_model_of_ratings():
    x, y = array([0.3, -1.0, 0.8, 1.4]), np.array([1, 0, 2, 2])
    density = ModelDensity(Ratings(x=x, y=y))
    u = array([[0.7, -0.4, 0.2]])
    cuts = array([-0.4, -0.4 + np.exp(0.2)])
    edges = np.array([-np.inf, *cuts, np.inf])
    f = stats.logistic.cdf
    likelihood = np.log(f(edges[y + 1] - 0.7 * x) - f(edges[y] - 0.7 * x)).sum()
    prior = stats.norm.logpdf(0.7, 0, 2) + stats.norm.logpdf(cuts, 0, 5).sum() + 0.2
    assert density.log_density(u)[0] == pytest.approx(likelihood + prior, rel=1e-12)
    with pytest.raises(DataError, match="whole numbers from 0 up to 2; got 3 at"):
        Ratings(x=x, y=y + 1)


def test_a_model_of_votes():
    y = np.array([[3, 4, 5], [1, 0, 2]])
    density = ModelDensity(Votes(n=y.sum(axis=1), y=y))
    at_uniform = sum(stats.multinomial(row.sum(), np.full(3, 1 / 3)).logpmf(row) for row in y)
    terms = density.terms(np.zeros((1, 2)))
    assert terms["likelihood of y"][0] == pytest.approx(at_uniform, rel=1e-12)
    with pytest.raises(DataError, match="add up to n"):
        Votes(n=y.sum(axis=1) + 1, y=y)
