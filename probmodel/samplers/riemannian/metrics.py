"""Position-dependent metrics of the Riemannian samplers: roots, and how they change; batched.

    x       position                                         (chains, dim)
    H       Hessian of the log density                       (chains, dim, dim)
    G       metric, symmetric positive definite              (chains, dim, dim)
    K       a root of it, G = K K'                           (chains, dim, dim)
    W       K^-T; its columns w_k have unit length in the    (chains, dim, dim)
            metric, and G^-1 = W W' = sum_k w_k w_k'
    p, z    momentum, and the same whitened: z = W'p         (chains, dim)
    a       softness of SoftAbs                              ()
    f       lambda coth(a lambda), a smooth |lambda|         of an eigenvalue lambda
    J       (f_i - f_j) / (lambda_i - lambda_j)              (chains, dim, dim)

    Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
    JRSS B 73(2): the expected Fisher information as a metric.
    Betancourt (2013), "A general metric for Riemannian manifold Hamiltonian Monte Carlo": SoftAbs.

Where a metric is not positive definite, or not finite, a row is marked and nothing raises.

Hamiltonian dynamics needs two gradients of a metric: that of 1/2 log |G|, and that of 1/2 p'G^-1 p
with p held. Both are gradients of a sum of m_k v_k' G v_k along directions v_k that are held, too:

    1/2 log |G|        v_k = w_k, m_k = 1/2
    1/2 p'G^-1 p       v = W z / |z|, m = -|z|^2 / 2
    SoftAbs            the same of the Hessian in place of G: v_k = w_k, m_k = J_kk / 2; and
                       v_k = W y_k, m_k = -mu_k / 2, with eigenvectors y_k and eigenvalues mu_k
                       of the matrix z_i J_ij z_j

A density may know that gradient (``metric_gradient``). Of a Hessian it is a second derivative of
the gradient of the log density, d^2/dt^2 g(x + t v_k), here by differences. A metric without a
gradient is differentiated along each w_k, once for each position; so is one that is cheap, since a
momentum then takes a product of matrices, where it would take a gradient of the metric. All steps
of differences are in the metric's own unit of length, so that they suit every direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from probmodel.errors import SamplerError
from probmodel.numerics.linalg import cholesky, log_det_lower, solve_lower
from probmodel.samplers.riemannian.softabs import soft_absolute, soft_slopes
from probmodel.types import Array, LogDensity

MetricName = Literal["fisher", "neg_hessian", "softabs"]

STEP = 1e-5  # of first differences of a metric: 1e-10 off
BENT_STEP = 0.03  # of second differences of a gradient, of fourth order: 1e-8 off
BENT = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, 16.0, 16.0, -1.0]) / 12.0, -2.5
BLOCK = 2**22  # entries of the metrics that one block of differences evaluates
NEGLIGIBLE = 1e-14  # weight of a direction that is left out, relative to the largest


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


class Frame(NamedTuple):
    """A metric with its root and the inverse of that.

    Attributes
    ----------
    root : (chains, dim, dim), K
    columns : (chains, dim, dim), W
    log_det : (chains,), log |G|
    slopes : (chains, dim, dim), J of SoftAbs; (chains, 0) for the other metrics
    positive : (chains,) bool; False marks the rows whose metric is not positive definite
    """

    root: Array
    columns: Array
    log_det: Array
    slopes: Array
    positive: Array


class Curvature(NamedTuple):
    """How the metric changes at a position.

    Attributes
    ----------
    volume : (chains, dim), gradient of 1/2 log |G|; zero where it is not finite
    memory : (chains, ...), what `Metric.bend` wants to know again at this position
    n_grad : (chains,) int, what it took
    """

    volume: Array
    memory: Array
    n_grad: Array


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

    def frame(self, density: Any, x: Array) -> Frame:
        """Metric at ``x``: (chains, dim), with its roots; it takes ``dim`` gradients."""
        if self.name == "softabs":
            with np.errstate(all="ignore"):
                return softabs_frame(-density.hessian(x), self.softness)
        root, log_det, positive = self.factor(density, x)
        columns = np.swapaxes(np.linalg.inv(root), 1, 2)
        return Frame(root, columns, log_det, np.empty((len(x), 0)), positive)

    def curvature(self, density: Any, x: Array, grad: Array, frame: Frame) -> Curvature:
        """Gradient of 1/2 log |G|, and what is worth knowing for `bend`.

        Parameters
        ----------
        density : the target
        x : (chains, dim)
        grad : (chains, dim), gradient of the log density there
        frame : of the metric there
        """
        chains, dim = x.shape
        if self._by_differences(density):
            A = whitened_slopes(self, density, x, frame.columns)
            volume = _times(frame.root, 0.5 * np.einsum("ckii->ck", A))
            return Curvature(volume, A, np.full(chains, 2 * dim * dim))
        weights = np.full((chains, dim), 0.5)
        if self.name == "softabs":
            weights = 0.5 * np.einsum("cii->ci", frame.slopes)
        vectors = np.swapaxes(frame.columns, 1, 2)
        volume, n_grad = self.contraction(density, x, grad, vectors, weights)
        finite = np.isfinite(volume).all(axis=1, keepdims=True)
        return Curvature(np.where(finite, volume, 0.0), frame.slopes, n_grad)

    def bend(
        self, density: Any, x: Array, grad: Array, frame: Frame, memory: Array, z: Array
    ) -> tuple[Array, Array]:
        """Gradient of 1/2 p'G^-1 p in the position, for the momentum p = K z.

        Parameters
        ----------
        density, x, grad, frame : as for `curvature`
        memory : from `curvature`
        z : (chains, dim)

        Returns
        -------
        (chains, dim), and what it took in gradients: (chains,)
        """
        if self._by_differences(density):
            turned = (memory @ z[:, None, :, None])[..., 0]
            along = -0.5 * _times(turned, z)
            return _times(frame.root, along), np.zeros(len(x), dtype=int)
        if self.name == "softabs":
            product = z[:, :, None] * memory * z[:, None, :]
            finite = _finite(product)
            weights, Y = np.linalg.eigh(_replaced(product, ~finite, 0.0))
            weights = np.where(finite[:, None], weights, np.nan)
            vectors = np.swapaxes(frame.columns @ Y, 1, 2)
        else:
            length = np.sqrt(np.sum(z * z, axis=1, keepdims=True))
            weights = length * length
            unit = z / np.maximum(length, np.finfo(float).tiny)
            vectors = _times(frame.columns, unit)[:, None, :]
        return self.contraction(density, x, grad, vectors, -0.5 * weights)

    def contraction(
        self, density: Any, x: Array, grad: Array, vectors: Array, weights: Array
    ) -> tuple[Array, Array]:
        """Gradient in x of ``sum_k weights_k v_k' G(x) v_k``, the vectors being held.

        For SoftAbs G stands for the Hessian of minus the log density here.

        Parameters
        ----------
        density : the target; it has a ``metric_gradient`` if this is its own metric
        x, grad : (chains, dim), position and gradient of the log density
        vectors : (chains, k, dim), of about unit length in the metric
        weights : (chains, k)

        Returns
        -------
        (chains, dim), and what it took in gradients: (chains,)
        """
        if self.name != "fisher":
            return hessian_contraction(density, x, grad, vectors, weights)
        with np.errstate(all="ignore"):
            slope = np.asarray(density.metric_gradient(x, vectors, weights))
        return slope, np.full(len(x), 2 * weights.shape[1])

    def _by_differences(self, density: Any) -> bool:
        """Whether this is a density's own metric, and has no gradient or is cheap."""
        if self.name != "fisher":
            return False
        has_gradient = callable(getattr(density, "metric_gradient", None))
        return not has_gradient or getattr(density, "metric_is_cheap", False)


def hessian_contraction(
    density: LogDensity, x: Array, grad: Array, vectors: Array, weights: Array
) -> tuple[Array, Array]:
    """Gradient of ``sum_k weights_k v_k' U''(x) v_k`` for U = - log density, from its gradients.

    That is - sum_k weights_k d^2/dt^2 g(x + t v_k) at t = 0. Directions of negligible weight are
    left out. See `Metric.contraction` for the parameters; rows near which the log density is not
    finite become NaN.
    """
    size = np.abs(weights)
    kept = ~(size <= NEGLIGIBLE * size.max(axis=1, keepdims=True))
    row, k = np.nonzero(kept)
    if not row.size:
        return np.zeros(x.shape), np.zeros(len(x), dtype=int)
    shifts, slopes, centre = BENT
    with np.errstate(over="ignore", invalid="ignore"):
        moves = (BENT_STEP * shifts)[:, None, None] * vectors[row, k]
        logp, g = density((x[row] + moves).reshape(-1, x.shape[1]))
        g = np.where(np.isfinite(logp)[:, None], g, np.nan).reshape(moves.shape)
        bends = np.zeros(vectors.shape)
        bends[row, k] = np.tensordot(slopes, g, axes=1) + centre * grad[row]
        out = np.einsum("ck,cki->ci", -weights / BENT_STEP**2, bends)
    return out, len(shifts) * kept.sum(axis=1)


def whitened_slopes(metric: Metric, density: LogDensity, x: Array, columns: Array) -> Array:
    """Slopes of a metric along each w_k, seen from W: (chains, k, dim, dim), W'(dG along w_k) W.

    Central differences of the metric: 2 dim of them. They are zero where a metric nearby is not
    finite.
    """
    chains, dim = x.shape
    w = np.moveaxis(columns, 2, 0)
    width = max(1, BLOCK // (2 * chains * dim * dim))
    out = np.empty((dim, chains, dim, dim))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, dim, width):
            moves = STEP * w[start : start + width]
            G = metric(density, np.stack([x + moves, x - moves]).reshape(-1, dim))
            ends = G.reshape(2, -1, chains, dim, dim)
            out[start : start + width] = (ends[0] - ends[1]) / (2.0 * STEP)
        out = np.swapaxes(columns, 1, 2) @ out @ columns
    finite = np.isfinite(out).all(axis=(2, 3), keepdims=True)
    return np.moveaxis(np.where(finite, out, 0.0), 0, 1)


def softabs_frame(H: Array, a: float) -> Frame:
    """Roots of the SoftAbs metric of symmetric matrices, and its slopes in their eigenvalues."""
    finite = _finite(H)
    eigenvalues, Q = np.linalg.eigh(_replaced(H, ~finite, np.eye(H.shape[-1])))
    f = soft_absolute(eigenvalues, a)
    scale = np.sqrt(f)[:, None, :]
    slopes = soft_slopes(a * eigenvalues)
    return Frame(Q * scale, Q / scale, np.sum(np.log(f), axis=1), slopes, finite)


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


def _times(a: Array, v: Array) -> Array:
    """Product of each chain's matrix with its vector: (chains, dim)."""
    return np.asarray((a @ v[:, :, None])[:, :, 0])


def _finite(a: Array) -> Array:
    """Which matrices of a stack are finite throughout: (chains,)."""
    return np.asarray(np.isfinite(a).all(axis=(1, 2)))


def _replaced(a: Array, rows: Array, value: Array | float) -> Array:
    """Stack with another value in some rows; the stack itself if there are none."""
    return np.where(rows[:, None, None], value, a) if rows.any() else a
