"""Expected Fisher information against the expected square of the score, by other means.

For changes a and b of the parameters ``a' I b = E (score . a)(score . b)``, with the score from
compiled programs. The expectation is a sum over counts, SciPy's quadrature over numbers, a cubature
rule that is exact for Gaussian vectors, or for other vectors an average of draws.
"""

from __future__ import annotations

import itertools

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import hessian
from derivatives import evaluated, program
from examples.case import known as known_parameters
from examples.table import NOT_INFORMED, NOT_NONCENTERED
from scipy import integrate

from probmodel import distributions as d
from probmodel.distributions.base import Distribution
from probmodel.distributions.scalar.location_scale import HalfFamily, LocationScale
from probmodel.errors import ModelError

MOST_COUNTS = 400
DRAWS = 100_000


def parameters(case, which=0):
    return [np.asarray(p, dtype=float) for p in case.params[which]]


def unknown(name, case):
    """Positions of the parameters of a case that have no closed form."""
    names = list(case.dist.parameters)
    data = [i for i, spec in enumerate(case.dist.parameters.values()) if spec.known]
    return data + [names.index(p) for p in NOT_INFORMED.get(name, [])]


def known(name, case):
    return [i for i in range(len(case.params[0])) if i not in unknown(name, case)]


def random_changes(rng, params, moving, batch=()):
    return [
        rng.standard_normal(batch + p.shape) if i in moving else None for i, p in enumerate(params)
    ]


@pytest.fixture
def informative(case, request):
    """Name and case of a distribution whose information is known, for some parameter at least."""
    name = request.node.callspec.id
    if not known(name, case):
        pytest.skip("no parameter has a closed form")
    return name, case


def score(dist, params, changes):
    """Slope of the log density along changes, as a function of values (batched)."""
    moved = [i + 1 for i, change in enumerate(changes) if change is not None]
    programs = {}

    def slopes(many):
        """Derivatives in the parameters for each of many values."""
        rows = {i: np.stack([params[i - 1]] * len(many)) for i in moved}
        if dist.discrete:
            own = [rows.get(i + 1, p) for i, p in enumerate(params)]
            return evaluated(dist, moved, many, *own)[1]
        if not programs:
            programs[0] = program(dist, [0, *moved], many[0], *params)
        return programs[0](many, *rows.values())[2:]

    def function(values):
        batch = values.shape[: values.ndim - dist.event_ndim]
        many = values.reshape(-1, *values.shape[len(batch) :])
        weighed = [s * changes[i - 1] for i, s in zip(moved, slopes(many), strict=True)]
        return sum(w.reshape(len(many), -1).sum(axis=1) for w in weighed).reshape(batch)

    return function


def summed_over_counts(dist, params, function):
    categories = params[0].size if params[0].ndim else MOST_COUNTS
    bounds = dist.support().bounds
    last = min(int(bounds[1]), categories - 1) if len(bounds) > 1 else categories - 1
    if "n" in dist.parameters:
        last = int(params[0])
    values = np.arange(last + 1)
    return np.sum(np.exp(dist.log_density(np, values, *params)) * function(values))


def integrated(dist, params, function):
    low, high = dist.support().limits
    names = list(dist.parameters)
    if low is None:
        centre = "loc" if "loc" in names else "mu"
        edges = [-np.inf, float(params[names.index(centre)]), np.inf]
    else:
        edges = [low, low + 1.0, np.inf] if high is None else [low, 0.5 * (low + high), high]

    def integrand(y):
        y = np.asarray(y)
        with np.errstate(over="ignore"):
            density = np.exp(dist.log_density(np, y, *params))
        # Where the density underflows, scores of light tails overflow.
        return float(density * function(y)) if density > 0 else 0.0

    return sum(
        integrate.quad(integrand, a, b, epsabs=1e-12, epsrel=1e-7, limit=200)[0]
        for a, b in itertools.pairwise(edges)
    )


def gaussian_cubature(n):
    """Points and weights that integrate polynomials of degree five exactly over N(0, I).

    McNamee and Stenger (1967), Construction of fully symmetric numerical integration formulas.
    """
    axis = np.sqrt(3.0) * np.concatenate([np.eye(n), -np.eye(n)])
    pairs = [a + b for a, b in itertools.combinations(axis, 2) if np.any(a + b)]
    points = np.concatenate([np.zeros((1, n)), axis, pairs])
    first = 1.0 + n * (n - 7.0) / 18.0
    weights = [first, *[(4.0 - n) / 18.0] * len(axis), *[1.0 / 36.0] * len(pairs)]
    return points, np.array(weights)


def integrated_over_gaussians(dist, params, function, shape):
    z, weights = gaussian_cubature(int(np.prod(shape)))
    return weights @ function(dist.noncentered(np, z.reshape(-1, *shape), *params))


def expected(case, params, function):
    """Mean of a function of values, by other means than the information, and its standard error."""
    dist, shape = case.dist, np.shape(case.values)[1:]
    if dist.discrete and shape:
        values = case.outcomes(*params)
        masses = np.exp(dist.log_density(np, values, *params))
        return np.sum(masses * function(values)), 0.0
    if dist.discrete:
        return summed_over_counts(dist, params, function), 0.0
    if not shape:
        return integrated(dist, params, function), 0.0
    if dist.name in NOT_NONCENTERED or not isinstance(dist.base(), d.Normal):
        results = function(dist.sample(np.random.default_rng(3), (DRAWS, *shape), *params))
        return results.mean(), results.std() / np.sqrt(DRAWS)
    return integrated_over_gaussians(dist, params, function, shape), 0.0


def expected_product(case, params, a, b):
    """Information by its definition: the mean product of the scores along two changes."""
    along = [score(case.dist, params, changes) for changes in (a, b)]
    return expected(case, params, lambda y: along[0](y) * along[1](y))


def agrees(actual, truth, scale=None):
    mean, error = truth
    return abs(actual - mean) < 5.0 * error + 1e-6 * (abs(mean) if scale is None else scale)


@pytest.mark.statistical
def test_information_is_the_expected_square_of_the_score(informative):
    name, case = informative
    rng = np.random.default_rng(1)
    for which in range(2 if name != "Affine" else 1):  # the support of Affine is that of its args
        params, moving = parameters(case, which), known(name, case)
        for chosen in [moving, *([i] for i in moving if len(moving) > 1)]:
            changes = random_changes(rng, params, chosen)
            actual = case.dist.information(np, changes, *params)
            truth = expected_product(case, params, changes, changes)
            assert np.shape(actual) == ()
            assert actual > 0
            assert agrees(actual, truth), (which, chosen, actual, truth)
            assert not agrees(1.1 * actual, truth)


@pytest.mark.statistical
def test_off_diagonal_entries_are_expected_products_of_scores(informative):
    name, case = informative
    rng, params, moving = np.random.default_rng(2), parameters(case), known(name, case)
    a, b = (random_changes(rng, params, moving) for _ in range(2))

    def form(s, t):
        both = [None if x is None else s * x + t * y for x, y in zip(a, b, strict=True)]
        return case.dist.information(np, both, *params)

    by_polarisation = 0.25 * (form(1.0, 1.0) - form(1.0, -1.0))
    scale = np.sqrt(form(1.0, 0.0) * form(0.0, 1.0))
    assert abs(by_polarisation) <= scale * (1.0 + 1e-12)
    assert agrees(by_polarisation, expected_product(case, params, a, b), scale)


def test_cubature_knows_the_moments_of_a_gaussian():
    z, weights = gaussian_cubature(4)
    moments = [np.ones(len(z)), z[:, 0] ** 2, z[:, 0] ** 4, z[:, 0] ** 2 * z[:, 1] ** 2, z[:, 0]]
    np.testing.assert_allclose([weights @ m for m in moments], [1, 1, 3, 1, 0], atol=1e-14)


def test_what_does_not_change_counts_as_zero(informative):
    name, case = informative
    rng, params, moving = np.random.default_rng(4), parameters(case), known(name, case)
    assert case.dist.information(np, [None] * len(params), *params) == 0.0
    for i in moving:
        changes = random_changes(rng, params, [i])
        zeros = [
            np.zeros(p.shape) if c is None and j in moving else c
            for j, (c, p) in enumerate(zip(changes, params, strict=True))
        ]
        actual = case.dist.information(np, changes, *params)
        assert actual == pytest.approx(case.dist.information(np, zeros, *params), rel=1e-12)


def test_batches_of_parameters_and_changes_broadcast(informative):
    name, case = informative
    rng, moving = np.random.default_rng(5), known(name, case)
    both = [parameters(case, which) for which in range(2)]
    pairs = zip(known_parameters(case.dist), *both, strict=True)
    params = [p if is_data else np.stack([p, q]) for is_data, p, q in pairs]
    changes = random_changes(rng, both[0], moving, (3, 1))
    actual = np.broadcast_to(case.dist.information(np, changes, *params), (3, 2))
    for i, j in np.ndindex(3, 2):
        one = [None if c is None else c[i, 0] for c in changes]
        alone = case.dist.information(np, one, *both[j])
        assert actual[i, j] == pytest.approx(alone, rel=1e-10)


def test_a_number_changes_every_element(informative):
    name, case = informative
    params, moving = parameters(case), known(name, case)
    numbers = [np.asarray(0.7) if i in moving else None for i in range(len(params))]
    full = [0.7 * np.ones(p.shape) if i in moving else None for i, p in enumerate(params)]
    actual = case.dist.information(np, numbers, *params)
    assert actual == pytest.approx(case.dist.information(np, full, *params), rel=1e-12, abs=1e-14)


def test_autograd_differentiates_twice_in_the_changes(informative):
    name, case = informative
    params, moving = parameters(case), known(name, case)
    sizes = [params[i].size for i in moving]

    def form(flat, batch=()):
        parts = iter(anp.split(flat, np.cumsum(sizes)[:-1]))
        changes = [
            anp.reshape(next(parts), batch + p.shape) if i in moving else None
            for i, p in enumerate(params)
        ]
        return anp.sum(case.dist.information(anp, changes, *params))

    flat = np.random.default_rng(6).standard_normal(sum(sizes))
    matrix = 0.5 * hessian(form)(flat)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12)
    assert flat @ matrix @ flat == pytest.approx(form(flat), rel=1e-10)
    assert form(flat, batch=(1,)) == pytest.approx(form(flat), rel=1e-12)


def test_parameters_without_a_closed_form_are_named(case, request):
    name, params = request.node.callspec.id, parameters(case)
    for i in unknown(name, case):
        changes = random_changes(np.random.default_rng(0), params, [i])
        parameter = list(case.dist.parameters)[i].removeprefix("dist.")
        with pytest.raises(ModelError, match="metric='softabs'") as caught:
            case.dist.information(np, changes, *params)
        assert parameter in caught.value.message
        assert caught.value.location is not None
        outer = type(case.dist).__name__
        inner = type(getattr(case.dist, "dist", case.dist)).__name__
        assert any(caught.value.message.startswith(f"{kind} has no") for kind in (outer, inner))


def test_families_without_constants_have_no_information():
    class Odd(LocationScale):
        pass

    class HalfOdd(HalfFamily):
        full = Odd

    one = np.asarray(1.0)
    with pytest.raises(ModelError, match="Odd has no expected Fisher information"):
        Odd(0.0, 1.0).information(np, [one, None], one, one)
    with pytest.raises(ModelError, match="HalfOdd has no expected Fisher information"):
        HalfOdd(1.0).information(np, [one], one)


def information(dist, changes, *params):
    """Information with numbers for arrays."""
    changes = [None if c is None else np.asarray(c, dtype=float) for c in changes]
    return dist.information(np, changes, *(np.asarray(p, dtype=float) for p in params))


def test_certain_outcomes_carry_no_information_on_log_odds():
    for logit in (-800.0, 800.0):
        assert information(d.BernoulliLogit(0), [1.0], logit) == 0.0
        assert information(d.BinomialLogit(3, 0), [None, 1.0], 3, logit) == 0.0
    logits = np.array([800.0, 0.0, -800.0])
    assert information(d.CategoricalLogit(logits), [np.ones(3)], logits) == 0.0
    assert information(d.CategoricalLogit(logits), [np.array([1, 2, 0])], logits) == 0.0


def test_what_overflows_matters_only_where_it_changes():
    log_scale, log_variance = d.Normal.link_forms.values()
    assert information(log_scale(0, 0), [None, 1.0], 0.0, -800.0) == 2.0
    assert information(log_variance(0, 0), [None, 1.0], 0.0, -800.0) == 0.5
    assert information(d.NegativeBinomial2(1, 1), [1.0, None], 2.0, 1e300) == 0.5


def test_categories_that_never_occur_say_nothing():
    p = np.array([0.25, 0.0, 0.75])
    assert information(d.Categorical(p), [[1.0, 0.0, -1.0]], p) == pytest.approx(4.0 + 4.0 / 3.0)
    invalid = np.array([0.25, np.nan, 0.75])
    assert np.isnan(information(d.Categorical(p), [[1.0, 0.0, -1.0]], invalid))


def test_information_on_many_degrees_of_freedom_does_not_cancel():
    dist, one = d.StudentT(3.0), [1.0, None, None]
    # By the normal moments of the leading term of the score, (z^4 - 2 z^2 - 1) / (4 df^2).
    for df in (1e5, 1e8):
        assert information(dist, one, df, 0, 1) * df**4 == pytest.approx(3.5, rel=20.0 / df)
    near = [information(dist, one, df, 0, 1) for df in (np.nextafter(50, 0), 50, 50.000001)]
    np.testing.assert_allclose(near, near[1], rtol=1e-6)
    for df in (20.0, 60.0):
        params = [np.asarray(p) for p in (df, 0.0, 1.0)]
        along = score(dist, params, [np.asarray(1e3), None, None])
        truth = 1e-6 * integrated(dist, params, lambda y, along=along: along(y) ** 2)
        assert information(dist, one, df, 0, 1) == pytest.approx(truth, rel=1e-6)


def test_the_base_class_has_no_information():
    class Bare(Distribution):
        parameters = d.Exponential.parameters

    with pytest.raises(ModelError, match="Bare has no expected Fisher information here for a chan"):
        Bare(1.0).information(np, [np.asarray(1.0)], np.asarray(1.0))
