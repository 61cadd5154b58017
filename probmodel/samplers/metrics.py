"""Position-dependent metrics of the Riemannian samplers, and their Cholesky factors, batched.

    x       position                                         (chains, dim)
    H       Hessian of the log density                       (chains, dim, dim)
    G       metric, symmetric positive definite              (chains, dim, dim)
    K       its lower Cholesky factor, G = K K'              (chains, dim, dim)
    a       softness of SoftAbs                              ()
    f       lambda coth(a lambda), a smooth |lambda|         of an eigenvalue lambda

    Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
    JRSS B 73(2): the expected Fisher information as a metric.
    Betancourt (2013), "A general metric for Riemannian manifold Hamiltonian Monte Carlo": SoftAbs.

Where a metric is not positive definite, or not finite, a row is marked and nothing raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from probmodel.errors import SamplerError
from probmodel.linalg import cholesky, log_det_lower, solve_lower
from probmodel.types import Array, LogDensity

MetricName = Literal["fisher", "neg_hessian", "softabs"]
METRICS = ("fisher", "neg_hessian", "softabs")


class Factor(NamedTuple):
    """Cholesky factors of a metric.

    Attributes
    ----------
    root : (chains, dim, dim), lower triangular K with G = K K'; the identity in marked rows
    log_det : (chains,), log |G|; zero in marked rows
    positive : (chains,) bool; False marks the rows whose metric is not positive definite
    """

    root: Array
    log_det: Array
    positive: Array


@dataclass(frozen=True)
class Metric:
    """Which metric a sampler uses; it is called with a log density and positions.

    Parameters
    ----------
    name : {"fisher", "neg_hessian", "softabs"}
        The density's own metric (for a model the expected Fisher information of what is observed,
        minus the Hessian of the other terms), minus its Hessian, or that made positive definite.
    softness : float
        a, for SoftAbs: eigenvalues below about 1/a in absolute value become 1/a.
    """

    name: MetricName = "fisher"
    softness: float = 1e6

    def check(self, sampler: str, density: LogDensity) -> None:
        """Check that ``density`` offers what the metric is made from.

        Raises
        ------
        SamplerError
            If it has no method ``metric``, or no method ``hessian``.
        """
        method = "metric" if self.name == "fisher" else "hessian"
        if callable(getattr(density, method, None)):
            return
        target = getattr(density, "name", type(density).__name__)
        advice = {
            "metric": "Give one to LogDensity.from_function (metric=), or use metric='softabs' or, "
            "where the log density is concave, 'neg_hessian': they take its Hessian.",
            "hessian": "A model and LogDensity.from_function have it; metric='fisher' takes a "
            "density with a method metric of its own.",
        }
        raise SamplerError(
            f"{sampler} with metric={self.name!r} needs a log density with a method {method}, "
            f"and {target} has none. {advice[method]}",
            method=sampler, density=target, metric=self.name,
        )  # fmt: skip

    def __call__(self, density: Any, x: Array) -> Array:
        """Metric at ``x``: (chains, dim) -> (chains, dim, dim), whatever its definiteness."""
        with np.errstate(all="ignore"):
            if self.name == "fisher":
                return np.asarray(density.metric(x))
            if self.name == "neg_hessian":
                return np.asarray(-density.hessian(x))
            return softabs(density.hessian(x), self.softness)

    def factor(self, density: LogDensity, x: Array) -> Factor:
        """Cholesky factors of the metric at ``x``: (chains, dim)."""
        return factorise(self(density, x))


def softabs(H: Array, a: float) -> Array:
    """SoftAbs metric, Q f(Lambda) Q' of a Hessian Q Lambda Q'.

    Parameters
    ----------
    H : (chains, dim, dim), symmetric; its sign does not matter
    a : softness

    Returns
    -------
    (chains, dim, dim); NaN in the rows that are not finite
    """
    finite = _finite(H)
    eigenvalues, Q = np.linalg.eigh(_replaced(H, ~finite, np.eye(H.shape[-1])))
    with np.errstate(over="ignore", invalid="ignore"):
        G = (Q * soft_absolute(eigenvalues, a)[:, None, :]) @ np.swapaxes(Q, 1, 2)
    return _replaced(G, ~finite, np.nan)


def soft_absolute(eigenvalues: Array, a: float) -> Array:
    """Return f(lambda) = lambda coth(a lambda), with its limit 1/a at zero; of any shape."""
    size = np.abs(eigenvalues)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        t = a * size
        return np.where(t > np.finfo(float).tiny, size / np.tanh(t), 1.0 / a)


def factorise(G: Array) -> Factor:
    """Cholesky factors of symmetric matrices: (chains, dim, dim); only lower triangles are read."""
    eye = np.eye(G.shape[-1])
    finite = _finite(G)
    root = _roots(_replaced(G, ~finite, eye))
    positive = finite & _finite(root)
    root = _replaced(root, ~positive, eye)
    return Factor(root, 2.0 * log_det_lower(root), positive)


def _roots(G: Array) -> Array:
    """Cholesky factors of finite matrices; NaN where there is none.

    NumPy gives no factor at all if one matrix of the stack has none. Those that are indefinite
    beyond rounding are then taken out by their eigenvalues, all at once; for the few in between,
    LAPACK decides one by one, so that no row's fate depends on the other rows.
    """
    try:
        return np.linalg.cholesky(G)
    except np.linalg.LinAlgError:
        dim = G.shape[-1]
        eigenvalues = np.linalg.eigvalsh(G)
        rounding = 2.0 * dim**2 * np.finfo(float).eps * np.abs(eigenvalues).max(axis=1)
        indefinite = eigenvalues[:, 0] <= -rounding
        roots = cholesky(_replaced(G, indefinite, np.eye(dim)))
        return _replaced(roots, indefinite, np.nan)


def solve_metric(root: Array, v: Array) -> Array:
    """Return G^-1 v for each chain: ``v`` is (chains, dim)."""
    inner = solve_lower(root, v[..., None])
    return solve_lower(root, inner, transposed=True)[..., 0]


def colour(root: Array, eta: Array) -> Array:
    """Return K^-T eta, of covariance G^-1 for standard normal ``eta``: (chains, dim)."""
    return solve_lower(root, eta[..., None], transposed=True)[..., 0]


def whiten(root: Array, v: Array) -> Array:
    """Return K' v, whose length is that of ``v``: (chains, dim) in the metric."""
    return np.asarray((v[:, None, :] @ root)[:, 0])


def _finite(a: Array) -> Array:
    """Which matrices of a stack are finite throughout: (chains,)."""
    return np.asarray(np.isfinite(a).all(axis=(1, 2)))


def _replaced(a: Array, rows: Array, value: Array | float) -> Array:
    """Stack with another value in some rows; the stack itself if there are none."""
    return np.where(rows[:, None, None], value, a) if rows.any() else a
