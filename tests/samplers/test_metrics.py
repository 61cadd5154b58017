"""Metrics of the Riemannian samplers: SoftAbs, Cholesky factors, and rows that have none."""

import numpy as np
import pytest
import scipy.linalg

from probmodel.errors import SamplerError
from probmodel.samplers.metrics import (
    Metric,
    colour,
    factorise,
    soft_absolute,
    softabs,
    solve_metric,
    whiten,
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
