"""Sums of exponentials, groups and data arrays: accuracy, infinite numbers, and what is refused."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special

from probmodel import Model, data, deterministic, observed, param, potential
from probmodel import distributions as d
from probmodel import functions as f
from probmodel.density import as_posterior
from probmodel.errors import DataError, ModelError, ShapeError

INF = np.inf


def with_flat(function, shape, extra=0.0):
    """A density that is a function of a flat parameter."""

    class Flat(Model):
        x = param(shape=shape)
        term = potential(function(x) + extra)

    return as_posterior(Flat())


def exact(function, *args):
    with mpmath.workdps(60):
        return float(function(*map(mpmath.mpf, args)))


@pytest.mark.parametrize("x", [-1e-18, -1e-5, -0.3, -0.6931, -0.7, -5.0, -40.0, -800.0])
def test_logarithm_of_a_complement(x):
    expected = exact(lambda x: mpmath.log(1 - mpmath.exp(x)), x)
    np.testing.assert_allclose(f.log1m_exp(x), expected, rtol=4e-16 if x > -700 else 0, atol=1e-300)
    slope = exact(lambda x: -1 / (mpmath.exp(-x) - 1), x)
    grad = with_flat(f.log1m_exp, ()).__call__(np.array([[x]])).grad
    np.testing.assert_allclose(grad, [[slope]], rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("pair", [(3.0, 2.999999999), (700.0, 3.0), (-900.0, -901.0), (1e-9, 0.0)])
def test_logarithm_of_a_difference(pair):
    expected = exact(lambda a, b: a + mpmath.log(1 - mpmath.exp(b - a)), *pair)
    np.testing.assert_allclose(f.log_diff_exp(*pair), expected, rtol=1e-14)


def test_differences_of_equal_and_of_infinite_numbers():
    found = f.log_diff_exp([1.0, -INF, 2.0, INF, 1.0], [1.0, -INF, -INF, 3.0, 2.0])
    np.testing.assert_array_equal(found, [-INF, -INF, 2.0, INF, np.nan])
    density = with_flat(lambda x: f.log_diff_exp(x, -INF), ())
    np.testing.assert_array_equal(density(np.array([[0.7]])).grad, [[1.0]])


def test_sums_and_shares_of_infinite_numbers():
    assert f.logsumexp([-INF, -INF]) == -INF
    assert f.logsumexp([INF, 0.0]) == INF
    assert f.logsumexp(np.zeros((0,))) == -INF
    np.testing.assert_array_equal(f.softmax([INF, 0.0, INF]), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(f.softmax([-INF, 0.0]), [0.0, 1.0])
    np.testing.assert_array_equal(f.log_softmax([-INF, 0.0]), [-INF, 0.0])
    np.testing.assert_allclose(f.softmax([-INF, -INF]), [0.5, 0.5])
    assert np.isnan(f.softmax([np.nan, 0.0])).all()


def test_slopes_where_all_elements_are_minus_infinity():
    """A group that is impossible has no slope, and does not spoil others."""
    log_weights = np.array([[-INF, -INF], [0.0, -INF], [0.0, 0.0]])

    def safe(x):
        return np.sum(np.maximum(f.logsumexp(log_weights + x, axis=1), -50.0))

    density = with_flat(safe, (2,))
    x = np.array([[0.3, -0.2]])
    share = scipy.special.softmax(x[0])
    found = density(x)
    np.testing.assert_allclose(found.logp, [-50 + 0.3 + scipy.special.logsumexp(x)])
    np.testing.assert_allclose(found.grad, [[1 + share[0], share[1]]])


def test_large_and_small_numbers():
    x = np.array([[1000.0, 999.0, -1000.0]])
    for function, name in ((f.logsumexp, "logsumexp"), (f.log_softmax, "log_softmax")):
        own = getattr(scipy.special, name)
        np.testing.assert_allclose(function(x), own(x), rtol=1e-15)
        density = with_flat(lambda x, fn=function: np.sum(fn(x)), (3,))
        np.testing.assert_allclose(density(x).logp, [own(x).sum()], rtol=1e-15)
    np.testing.assert_allclose(f.softmax(x), scipy.special.softmax(x), rtol=1e-15)


@pytest.mark.parametrize("p", [1e-300, 1e-8, 0.2, 0.5, 1 - 1e-9])
def test_quantiles(p):
    density = with_flat(lambda x: scipy.special.ndtri(x), ())
    found = density(np.array([[p]]))
    z = exact(lambda p: -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p), p)
    if p > 1e-20:
        np.testing.assert_allclose(found.logp, [z], rtol=1e-12)
    slope = np.sqrt(2 * np.pi) * np.exp(0.5 * float(found.logp[0]) ** 2)
    np.testing.assert_allclose(found.grad, [[slope]], rtol=1e-12)


@pytest.mark.parametrize("y", [0.0, 1e-300, -1e-12, 0.3, -0.8, 0.999999])
def test_inverse_of_the_error_function(y):
    density = with_flat(lambda x: scipy.special.erfinv(x), ())
    found, x = density(np.array([[y]])), exact(mpmath.erfinv, y)
    np.testing.assert_allclose(found.logp, [x], rtol=1e-10 if abs(y) > 0.99 else 5e-16)
    np.testing.assert_allclose(found.grad, [[0.5 * np.sqrt(np.pi) * np.exp(x**2)]], rtol=1e-9)


@pytest.mark.parametrize("x", [0.0, 1e-8, -0.7, 3.0, -49.0, 60.0, 1e6])
def test_bessel_functions(x):
    for order, function in enumerate((scipy.special.i0e, scipy.special.i1e)):
        density = with_flat(lambda u, fn=function: fn(u), ())
        found = density(np.array([[x]]))
        np.testing.assert_allclose(found.logp, [function(x)], rtol=1e-14)
        with mpmath.workdps(40):
            near = [mpmath.re(mpmath.besseli(k, x)) for k in (order - 1, order, order + 1)]
            slope = (near[0] + near[2]) / 2 - int(np.sign(x)) * near[1]
            slope = float(slope * mpmath.exp(-abs(mpmath.mpf(x))))
        np.testing.assert_allclose(found.grad, [[slope]], rtol=1e-12, atol=1e-15)


def test_products_and_determinants(assert_derivatives):
    class Products(Model):
        a = param(d.Normal(0, 1), shape=(4, 4))
        b = param(d.Normal(0, 1), shape=(2, 3, 3))
        term = potential(np.linalg.det(a) + np.sum(np.cumprod(a, axis=1)))
        logs = potential(f.log_determinant(a) + np.sum(f.log_determinant(b)) + np.linalg.det(b))

    model = Products()
    x = np.random.default_rng(1).standard_normal((3, 34))
    assert_derivatives(model, x)
    terms = as_posterior(model).terms(x)
    a, b = x[:, :16].reshape(3, 4, 4), x[:, 16:].reshape(3, 2, 3, 3)
    first = np.linalg.det(a) * 1 + np.cumprod(a, axis=2).sum(axis=(1, 2))
    np.testing.assert_allclose(terms["potential of term"], first, rtol=1e-12)
    logs = 2 * (np.linalg.slogdet(a)[1] + np.linalg.slogdet(b)[1].sum(axis=1))
    logs += np.linalg.det(b).sum(axis=1)
    np.testing.assert_allclose(terms["potential of logs"], logs, rtol=1e-12)


def test_cumulated_products_at_zeros():
    density = with_flat(lambda x: np.sum(np.cumprod(x)), (3,))
    found = density(np.array([[0.0, -2.0, 3.0], [2.0, 0.0, 3.0]]))
    np.testing.assert_allclose(found.logp, [0.0, 2.0])
    np.testing.assert_allclose(found.grad, [[1 - 2 - 6, 0, 0], [1, 2 + 6, 0]])


@pytest.mark.parametrize("decimals", [0, 1])
def test_rounding(decimals):
    x = np.array([-2.5, -1.5, -0.5, 0.49999999999999994, 0.5, 1.5, 2.5, 7.3, -0.26])
    density = with_flat(lambda x: np.sum(np.round(x, decimals) * np.arange(1, 10)), (9,))
    expected = np.sum(np.round(x, decimals) * np.arange(1, 10))
    found = density(x[None])
    np.testing.assert_allclose(found.logp, [expected], rtol=1e-14)
    np.testing.assert_array_equal(found.grad, np.zeros((1, 9)))


class Ragged(Model):
    """Sums of elements by group."""

    n = data(dtype=int)
    group = data("obs", dtype=int)
    a = param(d.Normal(0, 1), dims="obs")
    m = param(d.Normal(0, 1), dims=("obs", "axis"))
    sums = deterministic(f.segment_sum(a, group, n))
    rows = deterministic(f.segment_sum(m, group, n))
    largest = deterministic(f.segment_max(a, group, n))
    logs = deterministic(f.segment_logsumexp(a, group, n))
    term = potential(sums**2 + np.sum(rows, axis=1) ** 3)
    other = potential(np.where(np.isfinite(logs), logs + largest**2, 0.0))


GROUP = np.array([2, 0, 2, 2, 0])


def test_groups(assert_derivatives):
    model = Ragged(n=4, group=GROUP, coords={"axis": ["x", "y"]})
    x = np.random.default_rng(2).standard_normal((3, 15))
    values = as_posterior(model).constrain(x)
    for i in range(3):
        a, m = x[i, :5], x[i, 5:].reshape(5, 2)
        np.testing.assert_allclose(values["sums"][i], np.bincount(GROUP, a, 4))
        expected = [m[k == GROUP].sum(axis=0) for k in range(4)]
        np.testing.assert_allclose(values["rows"][i], expected)
        expected = [a[k == GROUP].max(initial=-INF) for k in range(4)]
        np.testing.assert_array_equal(values["largest"][i], expected)
        logs = [np.logaddexp.reduce(a[k == GROUP]) for k in range(4)]
        np.testing.assert_allclose(values["logs"][i], logs)
    assert_derivatives(Ragged(n=3, group=np.array([2, 0, 1, 2, 0]), coords={"axis": [0, 1]}), x)


def test_groups_of_arrays_and_what_is_refused():
    np.testing.assert_array_equal(f.segment_sum([1, 2, 3], [1, 1, 0], 3), [3, 3, 0])
    np.testing.assert_array_equal(f.segment_max([1.0, 2.0, 3.0], [1, 1, 0], 2), [3, 2])
    with pytest.raises(DataError, match="group 4 is not one of 4 groups"):
        Ragged(n=4, group=GROUP + 2, coords={"axis": [0, 1]})

    class Unequal(Model):
        group = data("obs", dtype=int)
        a = param(d.Normal(0, 1), dims="other")
        term = potential(f.segment_sum(a, group, 3))

    with pytest.raises(ShapeError, match="5 groups for elements of shape"):
        Unequal(group=GROUP, coords={"other": [0, 1]})
    with pytest.raises(ShapeError, match="the dim 'obs'"):
        Unequal(group=GROUP, coords={"other": np.arange(5)})

    for function in (f.segment_max, f.segment_logsumexp):

        class More(Model):
            group = data("obs", dtype=int)
            a = param(d.Normal(0, 1), shape=7)
            term = potential(function(a, group, 3))

        with pytest.raises(ShapeError, match=r"as_many_as\(group\) .*shapes \(7,\), \(5,\)"):
            More(group=GROUP)

    class Random(Model):
        a = param(d.Normal(0, 1), shape=3)
        term = potential(f.segment_sum(a, a, 3))

    with pytest.raises(ModelError, match="must come from data"):
        Random()


def test_groups_and_products_of_nothing():
    class Nothing(Model):
        group = data("obs", dtype=int)
        a = param(d.Normal(0, 1))
        x = a * group
        largest = deterministic(f.segment_max(x, group, 2))
        logs = deterministic(f.segment_logsumexp(x, group, 2))
        term = potential(np.prod(x) * a + np.sum(np.exp(logs)))

    density = as_posterior(Nothing(group=np.zeros(0, int)))
    x = np.array([[0.3]])
    values = density.constrain(x)
    assert (values["largest"] == -INF).all()
    assert (values["logs"] == -INF).all()
    found = density(x)
    np.testing.assert_allclose(density.terms(x)["potential of term"], [0.3])
    np.testing.assert_allclose(found.grad, [[1.0 - 0.3]])


def test_diagonals_and_triangles_of_infinite_numbers():
    m = np.array([[1.0, -INF], [2.0, INF]])

    class Parts(Model):
        shift = param(d.Normal(0, 1))
        x = m + shift
        lower = deterministic(np.tril(x))
        upper = deterministic(np.triu(x, k=1))
        diagonal = deterministic(np.diag(x[1]))

    values = as_posterior(Parts()).constrain(np.zeros((1, 1)))
    np.testing.assert_array_equal(values["lower"][0], [[1.0, 0.0], [2.0, INF]])
    np.testing.assert_array_equal(values["upper"][0], [[0.0, -INF], [0.0, 0.0]])
    np.testing.assert_array_equal(values["diagonal"][0], [[2.0, 0.0], [0.0, INF]])


def test_helpers_of_data():
    class Helped(Model):
        y = data("obs")
        k = data("obs", dtype=int)
        n = data(dtype=int)
        a = param(d.Normal(0, 1), shape=n)
        rank = np.argsort(np.argsort(y))
        middle = deterministic(np.median(y) + np.quantile(y, 0.25) + np.percentile(y, [75.0]))
        ordered = deterministic(np.sort(y)[rank] - y + a[np.unique(k)[0]])
        grid = deterministic(f.linspace(0, a[0], n) + f.arange(n) + f.full(n, a[1]))
        table = deterministic(f.eye(n) @ f.ones((n, 2)) + f.zeros((n, 2)) + f.arange(1, n + 1)[0])

    y = np.array([3.0, 1.0, 2.0])
    values = as_posterior(Helped(y=y, k=[1, 1, 0], n=3)).constrain(np.array([[0.5, -1.0, 2.0]]))
    expected = [np.median(y) + np.quantile(y, 0.25) + np.quantile(y, 0.75)]
    np.testing.assert_allclose(values["middle"][0], expected)
    np.testing.assert_allclose(values["ordered"][0], np.full(3, 0.5))
    np.testing.assert_allclose(values["grid"][0], [-1.0, 0.25, 1.5])
    np.testing.assert_allclose(values["table"][0], np.full((3, 2), 2.0))
    np.testing.assert_array_equal(f.arange(2, 7, 2), [2, 4, 6])
    np.testing.assert_array_equal(f.linspace(0, 1, 5), np.linspace(0, 1, 5))


def test_printing():
    class Printed(Model):
        n = data(dtype=int)
        g = data("obs", dtype=int)
        x = param(d.Normal(0, 1), dims="obs")
        a = potential(f.logsumexp(x, axis=0) + np.sum(f.softmax(x) * f.arange(n)))
        y = observed(d.Normal(f.segment_sum(x, g, n), 1.0), dims="cluster")

    text = str(Printed(n=2, g=[0, 1], y=[0.1, 0.2]))
    assert "a = logsumexp(x, axis=0) + sum(softmax(x) * arange(n))" in text
    assert "Normal(segment_sum(x, g, count=n), 1)" in text
