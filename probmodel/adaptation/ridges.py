"""The top of a ridge, along which a log density rises too little for quasi-Newton steps to tell.

    x, g    positions in units of their own, and gradients, see `unit_search`  (chains, dim)
    H       Hessian of the log density                                         (chains, dim, dim)
    V, w    directions, and the curvatures along them: ``-H = V'^-1 w V^-1``   (chains, dim, dim)

An intercept and the slope on uncentred years or dates are such a ridge: if one rises and the other
falls the fit changes little, though the mode may be far away. The curvature along it is smaller by
1e-6 to 1e-16 than across, and so are the gains that are promised. Differences of gradients along
the axes tell H up to rounding. Differences along the eigenvectors of this, each as long as that is
wide, tell of what the first have lost.
"""

from __future__ import annotations

import numpy as np

from probmodel.adaptation.mode import Mode, find_mode, positive
from probmodel.types import Array, LogDensity

PASSES = 2  # of differences
STEP = 0.1  # of a difference, in units
MOST = 50  # Newton steps


@np.errstate(all="ignore")
def top_of_ridge(density: LogDensity, x: Array, logp: Array, grad: Array) -> Mode:
    """Climb from places where a Newton step promises more than a nat a parameter.

    A mode counts as found only where its weight, density times volume, is more than here: it may
    lie deep inside a funnel. Other rows are returned as they are.
    """
    dim = x.shape[1]
    root, found = np.tile(np.eye(dim), (len(x), 1, 1)), np.zeros(len(x), dtype=bool)
    if not len(x):
        return Mode(x, root, found)
    V, w = curvature(density, x, grad)
    root = V / np.sqrt(positive(w))[:, None, :]
    promised = 0.5 * np.sum(np.square(np.einsum("cij,ci->cj", root, grad)), axis=1)
    rows, x = np.flatnonzero(promised > dim), x.copy()
    if len(rows):
        mode = find_mode(density, x[rows], MOST, curvature)
        before = logp + np.linalg.slogdet(root)[1]
        after = density(mode.x)[0] + np.linalg.slogdet(mode.root)[1]
        found[rows] = mode.found & (after > before[rows])
        x[found], root[found] = mode.x[found[rows]], mode.root[found[rows]]
    return Mode(x, root, found)


@np.errstate(all="ignore")
def curvature(density: LogDensity, x: Array, grad: Array) -> tuple[Array, Array]:
    """Return V and w, by central differences of gradients."""
    chains, dim = x.shape
    R = np.eye(dim)[None]
    for _ in range(PASSES):
        moves = STEP * np.swapaxes(R, 1, 2)
        ahead, behind = (
            np.reshape(density((x[:, None] + sign * moves).reshape(-1, dim))[1], (chains, dim, dim))
            for sign in (0.5, -0.5)
        )
        H = (behind - ahead) @ R / STEP
        H = np.where(np.isfinite(H).all(axis=(1, 2), keepdims=True), H, np.eye(dim))
        w, V = np.linalg.eigh(0.5 * (H + np.swapaxes(H, 1, 2)))
        V = R @ V
        R = V / np.sqrt(positive(w))[:, None, :]
    return V, w
