"""Metrics of the Riemannian samplers: SoftAbs, Cholesky factors, and rows that have none."""

import numpy as np
import pytest
import scipy.linalg

from probmodel.errors import SamplerError
from probmodel.samplers.riemannian.metrics import (
    Metric,
    colour,
    factorise,
    hessian_contraction,
    soft_absolute,
    softabs,
    solve_metric,
    whiten,
    whitened_slopes,
)


def symmetric(rng, eigenvalues):
    """Symmetric matrices with given eigenvalues: (chains, dim) -> (chains, dim, dim)."""
    eigenvalues = np.asarray(eigenvalues, dtype=float)
    chains, dim = eigenvalues.shape
    Q = np.linalg.qr(rng.standard_normal((chains, dim, dim)))[0]
    G = (Q * eigenvalues[:, None, :]) @ np.swapaxes(Q, 1, 2)
    return 0.5 * (G + np.swapaxes(G, 1, 2))


@pytest.mark.parametrize("chains", [1, 3, 9])
def test_factors_against_scipy(chains):
    rng = np.random.default_rng(1)
    G = symmetric(rng, rng.uniform(0.1, 5.0, (chains, 4)))
    root, log_det, positive = factorise(G)
    assert positive.tolist() == [True] * chains
    np.testing.assert_allclose(root, [scipy.linalg.cholesky(g, lower=True) for g in G], rtol=1e-12)
    np.testing.assert_allclose(log_det, [np.linalg.slogdet(g)[1] for g in G], rtol=1e-10)


def mixed_stack(rng):
    """Positive definite, indefinite, not finite, and zero: matrices and which are the first."""
    G = symmetric(rng, rng.uniform(0.1, 5.0, (7, 3)))
    G[1] = symmetric(rng, [[-1e-3, 1.0, 2.0]])[0]
    G[2, 2, 0] = G[2, 0, 2] = np.nan
    G[4, 1, 1] = np.inf
    G[5] = 0.0
    return G, [True, False, False, True, False, False, True]


def test_rows_without_a_factor_are_marked():
    G, fine = mixed_stack(np.random.default_rng(2))
    root, log_det, positive = factorise(G)
    assert positive.dtype == bool
    assert positive.tolist() == fine
    np.testing.assert_array_equal(root[~positive], np.broadcast_to(np.eye(3), (4, 3, 3)))
    np.testing.assert_array_equal(log_det[~positive], 0.0)
    np.testing.assert_array_equal(root[positive], np.linalg.cholesky(G[positive]))


def test_no_row_depends_on_the_others():
    """Singular up to rounding: LAPACK alone decides, whoever stands beside."""
    rng = np.random.default_rng(3)
    smallest = np.concatenate([-np.logspace(-17, -13, 40), np.logspace(-17, -13, 40)])
    G = symmetric(rng, np.column_stack([smallest, np.ones((80, 2))]))
    alone = [factorise(g[None]).positive[0] for g in G]
    assert 0 < np.sum(alone) < 80
    assert factorise(G).positive.tolist() == alone


def test_indefinite_rows_are_found_together(monkeypatch):
    """Half of a thousand matrices fail; the factorisation is tried a few times, not a thousand."""
    rng = np.random.default_rng(4)
    G = symmetric(rng, np.where(np.arange(1000)[:, None] % 2, -1.0, 1.0) * np.array([1.0, 2.0]))
    calls, cholesky = [], np.linalg.cholesky

    def counted(a):
        calls.append(len(a))
        return cholesky(a)

    monkeypatch.setattr(np.linalg, "cholesky", counted)
    assert factorise(G).positive.sum() == 500
    assert len(calls) <= 3


def test_products_with_the_factor():
    rng = np.random.default_rng(5)
    G, v = symmetric(rng, rng.uniform(0.1, 5.0, (6, 3))), rng.standard_normal((6, 3))
    root = factorise(G).root
    np.testing.assert_allclose(solve_metric(root, v), np.linalg.solve(G, v[..., None])[..., 0])
    np.testing.assert_allclose(
        np.sum(whiten(root, v) ** 2, axis=1), np.einsum("ci,cij,cj->c", v, G, v)
    )
    basis = np.stack([colour(root, np.broadcast_to(e, v.shape)) for e in np.eye(3)], axis=2)
    np.testing.assert_allclose(basis @ np.swapaxes(basis, 1, 2), np.linalg.inv(G))


def test_soft_absolute_value():
    a, size = 3.0, np.logspace(-6, 2, 200)
    exact = size * np.cosh(a * size) / np.sinh(a * size)
    np.testing.assert_allclose(soft_absolute(size, a), exact, rtol=1e-12)
    np.testing.assert_array_equal(soft_absolute(-size, a), soft_absolute(size, a))
    assert np.all(soft_absolute(size, a) >= np.maximum(size, 1.0 / a))
    np.testing.assert_array_equal(soft_absolute(np.array([0.0, -0.0]), a), 1.0 / a)


@pytest.mark.parametrize("a", [1e-3, 1.0, 1e6])
def test_soft_absolute_value_at_its_limits(a):
    large = np.array([25.0 / a, 1e300, np.finfo(float).max])
    np.testing.assert_array_equal(soft_absolute(-large, a), large)
    small = np.array([5e-324, 1e-310, 1e-9 / a])
    np.testing.assert_allclose(soft_absolute(small, a), 1.0 / a, rtol=1e-15)


def test_softabs_is_a_function_of_the_matrix():
    """H coth(aH), with SciPy's functions of matrices."""
    rng, a = np.random.default_rng(6), 1.5
    H = symmetric(rng, rng.uniform(-2.0, 2.0, (5, 4)))
    exact = [h @ scipy.linalg.coshm(a * h) @ np.linalg.inv(scipy.linalg.sinhm(a * h)) for h in H]
    np.testing.assert_allclose(softabs(H, a), exact, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(softabs(-H, a), softabs(H, a), rtol=1e-12, atol=1e-12)


def test_softabs_of_a_definite_hessian_is_that_hessian():
    rng = np.random.default_rng(7)
    H = -symmetric(rng, rng.uniform(0.5, 5.0, (5, 4)))
    np.testing.assert_allclose(softabs(H, 1e6), -H, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(softabs(np.zeros((1, 2, 2)), 4.0), [0.25 * np.eye(2)])


def test_softabs_keeps_rows_that_are_not_finite_apart():
    G, _ = mixed_stack(np.random.default_rng(8))
    result = softabs(G, 1e3)
    bad = np.array([2, 4])
    assert np.isnan(result[bad]).all()
    rest = np.setdiff1d(np.arange(7), bad)
    np.testing.assert_allclose(result[rest], softabs(G[rest], 1e3), rtol=1e-12, atol=1e-12)
    assert factorise(result).positive.tolist() == [True, True, False, True, False, True, True]


def test_metrics_of_a_density(targets):
    class WithMetric(targets.Banana):
        def metric(self, x):
            return (1.0 + x[:, :1, None] ** 2) * np.eye(2)

    target, x = WithMetric(), np.random.default_rng(9).standard_normal((5, 2))
    H = target.hessian(x)
    np.testing.assert_array_equal(Metric("fisher")(target, x), target.metric(x))
    np.testing.assert_array_equal(Metric("neg_hessian")(target, x), -H)
    np.testing.assert_array_equal(Metric("softabs", 2.0)(target, x), softabs(H, 2.0))
    np.testing.assert_allclose(
        Metric("fisher").factor(target, x).log_det, 2.0 * np.log1p(x[:, 0] ** 2)
    )


def test_density_may_overflow(targets):
    class Steep(targets.Banana):
        def metric(self, x):
            return np.exp(x[:, :1, None]) * np.eye(2) / np.log(np.maximum(x[:, 1:, None], 0.0))

    x = np.array([[1.0, 2.0], [1e3, 2.0], [1.0, -1.0], [np.inf, np.nan]])
    for name in ("fisher", "neg_hessian", "softabs"):
        positive = Metric(name).factor(Steep(), x).positive
        assert not positive[3]
    assert Metric("fisher").factor(Steep(), x).positive.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("metric", "missing", "advice"),
    [
        ("fisher", "metric", "softabs"),
        ("neg_hessian", "hessian", "fisher"),
        ("softabs", "hessian", "from_function"),
    ],
)
def test_density_without_what_the_metric_needs(metric, missing, advice):
    class Bare:
        name, dim, coordinate_names = "my_density", 2, ()

    with pytest.raises(SamplerError, match=f"method {missing}") as error:
        Metric(metric).check("mmala", Bare())
    for word in ("mmala", "my_density", repr(metric), advice):
        assert word in str(error.value)


def test_density_with_what_the_metric_needs(targets):
    Metric("neg_hessian").check("mmala", targets.Banana())
    Metric("softabs").check("mmala", targets.Banana())


# -- how metrics change ----------------------------------------------------------------------------


class Quartic:
    """log density -|x|^4 / 4 - x0^2 x1 / 2, whose derivatives are known."""

    dim, coordinate_names = 3, ()

    def __call__(self, x):
        r = np.sum(x * x, axis=1)
        grad = -r[:, None] * x
        grad[:, 0] -= x[:, 0] * x[:, 1]
        grad[:, 1] -= 0.5 * x[:, 0] ** 2
        return -0.25 * r**2 - 0.5 * x[:, 0] ** 2 * x[:, 1], grad

    def hessian(self, x):
        r = np.sum(x * x, axis=1)
        H = -r[:, None, None] * np.eye(3) - 2.0 * x[:, :, None] * x[:, None, :]
        H[:, 0, 0] -= x[:, 1]
        H[:, 0, 1] -= x[:, 0]
        H[:, 1, 0] -= x[:, 0]
        return H

    def contracted(self, x, v, weights):
        """Gradient of sum_k weights_k v_k'(-H)v_k in closed form."""
        inner = np.einsum("cki,ci->ck", v, x)
        squares = np.sum(v * v, axis=2)
        slope = 2.0 * squares[:, :, None] * x[:, None] + 4.0 * inner[:, :, None] * v
        slope[:, :, 0] += 2.0 * v[:, :, 0] * v[:, :, 1]
        slope[:, :, 1] += v[:, :, 0] ** 2
        return np.einsum("ck,cki->ci", weights, slope)


def test_contraction_of_a_hessian():
    rng, target = np.random.default_rng(10), Quartic()
    x, v, weights = rng.standard_normal((4, 3)), rng.standard_normal((4, 5, 3)), rng.random((4, 5))
    weights[1, 2:] = 0.0
    weights[2] *= 1e-20
    found, n_grad = hessian_contraction(target, x, target(x)[1], v, weights)
    np.testing.assert_allclose(found, target.contracted(x, v, weights), rtol=1e-8)
    assert n_grad.tolist() == [20, 8, 20, 20]
    alone, _ = hessian_contraction(target, x[:1], target(x[:1])[1], v[:1], weights[:1])
    np.testing.assert_allclose(alone[0], found[0], rtol=1e-12)
    nothing, n_grad = hessian_contraction(target, x, target(x)[1], v, 0.0 * weights)
    assert not nothing.any()
    assert not n_grad.any()


def test_contraction_near_the_end_of_the_support(targets):
    """A point of the differences that has no density makes the row NaN, and the others stay."""
    target = targets.HalfSpace(2)
    x, v = np.array([[1e-3, 0.0], [1.0, 0.0]]), np.array([[[1.0, 0.0]]] * 2)
    found, _ = hessian_contraction(target, x, target(x)[1], v, np.ones((2, 1)))
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], 0.0, atol=1e-10)
    metric = Metric("softabs")
    frame = metric.frame(target, x)
    np.testing.assert_array_equal(metric.curvature(target, x, -x, frame).volume[0], 0.0)


@pytest.mark.parametrize("name", ["fisher", "neg_hessian", "softabs"])
def test_frames(targets, name):
    target, metric = targets.Banana(), Metric(name, 1.5)
    x = np.array([[0.3, -1.0], [1.0, 0.2], [np.nan, 0.0], [0.0, 3.0]])
    root, columns, log_det, _, positive = metric.frame(target, x)
    G = metric(target, x)
    assert positive.tolist() == [True, True, False, name != "neg_hessian"]
    for c in np.flatnonzero(positive):
        np.testing.assert_allclose(root[c] @ root[c].T, G[c], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(columns[c].T @ root[c], np.eye(2), atol=1e-12)
        assert log_det[c] == pytest.approx(np.linalg.slogdet(G[c])[1])


def test_slopes_of_a_metric_without_a_gradient(targets, monkeypatch):
    class Turning(targets.Banana):
        def metric(self, x):
            return np.where(x[:, :1, None] < 2.0, np.exp(x[:, :1, None]) * self.shape, np.nan)

        shape = np.array([[2.0, 0.3], [0.3, 1.0]])

    target, metric = Turning(), Metric()
    x = np.array([[0.2, -1.0], [1.0, 0.2], [2.0 - 1e-9, 0.0]])
    W = metric.frame(target, x).columns
    found = whitened_slopes(metric, target, x, W)
    for k in range(2):
        exact = W[:, 0, k, None, None] * (np.swapaxes(W, 1, 2) @ target.metric(x) @ W)
        np.testing.assert_allclose(found[:2, k], exact[:2], rtol=1e-8, atol=1e-9)
    assert not found[2, 0].any()
    monkeypatch.setattr("probmodel.samplers.riemannian.metrics.BLOCK", 1)
    np.testing.assert_array_equal(whitened_slopes(metric, target, x, W), found)


@pytest.mark.parametrize("name", ["fisher", "neg_hessian", "softabs"])
def test_momenta_that_are_not_finite(targets, name):
    target, metric = targets.Banana(), Metric(name, 1.5)
    x = np.zeros((3, 2))
    frame = metric.frame(target, x)
    grad = target(x)[1]
    _, memory, _ = metric.curvature(target, x, grad, frame)
    z = np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]])
    with np.errstate(invalid="ignore"):
        bend, _ = metric.bend(target, x, grad, frame, memory, z)
    assert np.isfinite(bend).all(axis=1).tolist() == [True, False, True]
    np.testing.assert_allclose(bend[2], 0.0, atol=1e-15)
