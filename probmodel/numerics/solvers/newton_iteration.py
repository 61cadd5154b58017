"""Roots of systems of equations for a batch of chains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.types import Array

_HALVINGS = 30


def find_roots(
    function: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    guess: Array,
    tolerance: float,
    max_steps: int,
) -> Array:
    """Solve ``f(x) = 0`` by Newton's method with step halving, each chain by itself: (chains, n).

    The Jacobian is (chains, n, n). The largest component of f at a root is at most ``tolerance`` in
    absolute value. A chain that finds none in ``max_steps`` Newton steps is NaN.
    """
    x = guess
    f = function(x)
    for _ in range(max_steps):
        size = _size(f)
        wanted = size > tolerance
        if not np.any(wanted & np.isfinite(size)):
            break
        step = np.where(wanted[:, None], _newton_step(jacobian(x), f), 0.0)
        x, f = _descend(function, x, f, size, step)
    found = _size(f) <= tolerance
    return np.where(found[:, None], x, np.nan)


def _descend(
    function: Callable[[Array], Array], x: Array, f: Array, size: Array, step: Array
) -> tuple[Array, Array]:
    """Go along the step, halved until f becomes smaller; stay where it does not."""
    share = np.ones(len(x))
    for _ in range(_HALVINGS):
        at = x - share[:, None] * step
        value = function(at)
        worse = ~(_size(value) < size) & step.any(axis=1)
        if not worse.any():
            break
        share = np.where(worse, 0.5 * share, share)
    return np.where(worse[:, None], x, at), np.where(worse[:, None], f, value)


def _newton_step(jacobian: Array, f: Array) -> Array:
    if jacobian.shape[-1] == 1:
        slope = jacobian[..., 0]
        return np.asarray(np.where(slope == 0.0, 0.0, f / slope))
    try:
        step: Array = np.linalg.solve(jacobian, f[..., None])[..., 0]
    except np.linalg.LinAlgError:  # a singular one among them: least squares for all
        bad = np.asarray(~np.isfinite(jacobian).all(axis=(-1, -2)))
        jacobian = np.where(bad[:, None, None], 0.0, jacobian)
        step = (np.linalg.pinv(jacobian) @ f[..., None])[..., 0]
    return step


def _size(f: Array) -> Array:
    size = np.max(np.abs(f), axis=-1)
    return np.where(np.isfinite(size), size, np.inf)
