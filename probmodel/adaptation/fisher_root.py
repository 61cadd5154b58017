"""A square root of the inverse of a running second moment, updated without decompositions.

    s_c    score signal of chain c                       rows of S, (chains, dim)
    A      inverse of the weighted sum of s s'           (dim, dim)
    R      a square root, A = R R'; not triangular       (dim, dim)
    phi    R' s                                          rows of Phi, (chains, dim)

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", Proposition 4
    and appendices B and C.

The block form takes the signals of all chains at once. It is exact, ``I - Phi M Phi' =
(I + Phi Phi')^(-1/2)``, costs O(chains dim^2), and is the paper's update for one chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.types import Array

LARGEST_SIGNAL = 1e100
LONGEST_PHI = 1e12  # of longer ones that are parallel, rounding errors would be mistaken for more


def downdate(R: Array, S: Array, keep: float = 1.0) -> Array:
    """Root of ``(keep A^-1 + sum_c s_c s_c')^-1`` for ``A = R R'``.

    Parameters
    ----------
    R : (dim, dim), or (dim,) for a diagonal, of which the diagonal of the right side is kept
    S : (chains, dim)
    keep : what remains of the past, above 0; see `kept`
    """
    if R.ndim == 1:
        return np.asarray(1.0 / np.sqrt(keep / np.square(R) + np.sum(_bounded(S) ** 2, axis=0)))
    R = R if keep == 1.0 else R / np.sqrt(keep)
    Phi = _bounded(S) @ R
    Phi *= np.minimum(1.0, LONGEST_PHI / np.maximum(np.max(np.abs(Phi), axis=1), 1.0))[:, None]
    many = len(Phi) > len(R)  # then the same in the coordinates: R (I + Phi'Phi)^(-1/2)
    ell, V = np.linalg.eigh(Phi.T @ Phi if many else Phi @ Phi.T)
    tau = np.sqrt(1.0 + np.maximum(ell, 0.0))
    if many:
        return np.asarray((R @ V / tau) @ V.T)
    basis = V.T @ Phi
    return np.asarray(R - (R @ basis.T) @ (basis / (tau * (1.0 + tau))[:, None]))  # eq. (13)


def kept(gamma: Any, previous: Any) -> Any:
    """Return what remains of the past under the learning rates ``gamma_n`` and ``gamma_{n-1}``.

    Appendix B averages, ``A_n^-1 = (1 - gamma_n) A_{n-1}^-1 + gamma_n s s'``. Up to the scale of A,
    which does not matter, that is a sum in which the past is multiplied by
    ``(1/gamma_n - 1) gamma_{n-1}``: by one for ``gamma_n = 1/n``, the paper's default.
    """
    return (1.0 / gamma - 1.0) * previous


def paired(
    R: Array, mean: Array, weight: float, S: Array, keep: float = 1.0
) -> tuple[Array, Array, float]:
    """Root of the inverse centred scatter, with the mean, after the signals ``S`` of all chains.

    The scatter ``lambda I + sum_i (s_i - mean)(s_i - mean)'`` is, up to the scale of A, what
    appendix C inverts. C signals with mean m, that join earlier ones of total weight n, add their
    own scatter about m and ``n C / (n + C) (m - mean)(m - mean)'``: a block update of C + 1
    signals. For one chain that is the paper's ``delta_n delta_n' (n - 1) / n``.

    Parameters
    ----------
    R : (dim, dim), root of the inverse scatter so far
    mean : (dim,), mean so far
    weight : number of signals so far; if some were forgotten, what they still weigh
    S : (chains, dim)
    keep : what remains of the past, above 0

    Returns
    -------
    The new root, mean and weight
    """
    S, chains, weight = _bounded(S), len(S), keep * weight
    batch_mean = S.mean(axis=0)
    shift = batch_mean - mean
    between = np.sqrt(weight * chains / (weight + chains)) * shift
    rows = between[None, :] if chains == 1 else np.vstack([S - batch_mean, between])
    total = weight + chains
    return downdate(R, rows, keep), mean + chains / total * shift, total


def normalised(R: Array) -> Array:
    """Scale a root so that ``tr(R R') = dim`` (eq. 7)."""
    R = R / np.max(np.abs(R))  # so that no square underflows
    return np.asarray(R / np.sqrt(np.sum(R * R) / len(R)))


def winsorised(S: Array, longest: float) -> Array:
    """Shorten the rows of S, (chains, dim), beyond ``longest`` times the median length.

    That is the lower median of the rows that are not zero; ``longest`` is above 1.
    """
    S = _bounded(S)
    lengths = np.max(np.abs(S), axis=1)
    positive = np.sort(lengths[lengths > 0.0])
    if not len(positive):
        return S
    bound = longest * positive[(len(positive) - 1) // 2]
    return np.asarray(S * np.minimum(1.0, bound / np.maximum(lengths, bound))[:, None])


def _bounded(S: Array) -> Array:
    """Bound signals so long that their squares would overflow."""
    return np.minimum(np.maximum(S, -LARGEST_SIGNAL), LARGEST_SIGNAL)
