"""Posterior densities of Bayesian regressions, written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from densities import Target
from scipy import sparse

from probmodel.types import Array

BLOCK = 4096  # rows of a block, so that what one holds for 16 chains stays in the cache
HALVINGS = 9  # products of 2^9 factors of at most 2 stay far from overflow


class Logistic(Target):
    """Bayesian logistic regression with independent normal priors.

    ``log p = -sum_i log(1 + exp(-t_i)) - |theta|^2 / (2 tau^2)``, with the margins
    ``t_i = (2 y_i - 1) x_i' theta``.

    Parameters
    ----------
    X : (n, dim), inputs with whatever constant column is wanted, dense or sparse
    y : (n,), zeros and ones
    prior_scale : tau
    """

    def __init__(self, X: Any, y: Array, prior_scale: float = 1.0) -> None:
        super().__init__(X.shape[1])
        sign = 2.0 * y[:, None] - 1.0
        self.prior_precision = prior_scale**-2.0
        if sparse.issparse(X):
            self.signed: Any = sparse.csr_array(X.multiply(sign))
            self.blocks: list[Any] = [self.signed.T]
        else:
            self.signed = np.ascontiguousarray(X * sign)
            self.blocks = [self.signed[i : i + BLOCK].T for i in range(0, len(y), BLOCK)]

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        margin = x @ self.signed.T
        decay, half = self._sigmoid_parts(margin)
        np.log1p(decay, out=decay)
        decay -= np.minimum(margin, 0.0)
        grad = (0.5 - half) @ self.signed
        grad -= self.prior_precision * x
        return -decay.sum(axis=1) - 0.5 * self.prior_precision * np.sum(x * x, axis=1), grad

    def value(self, x: Array) -> Array:
        """Log density alone (chains,), finite or not: an exponential a row, hardly a logarithm."""
        loss = 0.5 * self.prior_precision * np.sum(x * x, axis=1)
        for block in self.blocks:
            margin = x @ block
            loss -= np.minimum(margin, 0.0).sum(axis=1)
            np.abs(margin, out=margin)
            np.negative(margin, out=margin)
            np.exp(margin, out=margin)
            margin += 1.0
            loss += log_of_product(margin)
        return -loss

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        _, half = self._sigmoid_parts(x @ self.signed.T)
        weight = 0.25 - half * half
        return -(weight * (v @ self.signed.T)) @ self.signed - self.prior_precision * v

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density at ``x``: (chains, dim, dim)."""
        _, half = self._sigmoid_parts(x @ self.signed.T)
        weight = 0.25 - half * half
        if sparse.issparse(self.signed):
            information = np.stack([
                (self.signed.T @ self.signed.multiply(w[:, None]).tocsr()).toarray() for w in weight
            ])  # fmt: skip
        else:
            information = (self.signed.T * weight[:, None, :]) @ self.signed
        return -information - self.prior_precision * np.eye(self.dim)

    @staticmethod
    def _sigmoid_parts(margin: Array) -> tuple[Array, Array]:
        """Return ``exp(-|t|)``, the only exponential needed, and ``sigmoid(t) - 1/2``."""
        decay = np.abs(margin)
        np.negative(decay, out=decay)
        np.exp(decay, out=decay)
        half = 1.0 + decay
        np.divide(1.0, half, out=half)
        half -= 0.5
        return decay, np.copysign(half, margin, out=half)


def log_of_product(factors: Array) -> Array:
    """Sum of the logarithms of each row's factors, all of them from 1 to 2: (chains,).

    The factors are overwritten: the halves of a row are multiplied before logarithms are taken.
    """
    for _ in range(HALVINGS):
        n = factors.shape[1]
        half = (n + 1) // 2
        factors[:, : n - half] *= factors[:, half:]
        factors = factors[:, :half]
    return np.log(factors).sum(axis=1)


class LaplaceLinear(Target):
    """Bayesian linear regression with Laplace(0, 1) priors and noise of known size.

    ``log p = -|y - X theta|^2 / (2 s^2) - sum_j |theta_j|``, up to a constant: the squares are
    taken around the least-squares fit, so that only a product with X'X is needed.

    Parameters
    ----------
    X : (n, dim), inputs with a column of ones
    y : (n,)
    noise : s
    """

    def __init__(self, X: Array, y: Array, noise: float = 10.0) -> None:
        super().__init__(X.shape[1])
        self.information = X.T @ X / noise**2
        self.fit = np.linalg.lstsq(X, y, rcond=None)[0]

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not; zero slope at zero."""
        deviation = x - self.fit
        grad = self.hvp(x, deviation)
        logp = 0.5 * np.sum(deviation * grad, axis=1) - np.abs(x).sum(axis=1)
        return logp, grad - np.sign(x)

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density, where it has one, times ``v``: (chains, dim) each."""
        return -v @ self.information
