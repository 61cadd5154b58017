"""Leaves of No-U-Turn trajectories: blocks of leapfrog steps, all chains in one batch.

    q, r      position and whitened momentum of a leaf                   (chains, dim)
    g         gradient of the log density                                (chains, dim)
    C         root of the inverse mass matrix, M^-1 = C C'               see `roots`
    h         step size                                                  (chains,)

Time runs away from the start: on the way back into the past momenta change their sign, so that one
leapfrog step is the same operation for all chains.
"""

from __future__ import annotations

import numpy as np

from probmodel.roots import Root, times, transposed_times
from probmodel.samplers.hamiltonian import LEAPFROG, Phase, follow
from probmodel.samplers.tree_checks import BLOCK
from probmodel.types import Array, LogDensity


class Leaves:
    """The newest block of leaves of each chain.

    Parameters
    ----------
    density : the target
    root : C
    step_size : h, (chains,) or one for all
    shape : (chains, dim)

    Attributes
    ----------
    stack : (3, `BLOCK`, chains, dim), all of the three below
    q, r, g : (`BLOCK`, chains, dim)
    logp : (`BLOCK`, chains)
    before : (chains, dim), r of the leaf before the block
    """

    def __init__(
        self, density: LogDensity, root: Root, step_size: float | Array, shape: tuple[int, int]
    ) -> None:
        self._density, self._root = density, root
        self.stack = np.zeros((3, BLOCK, *shape))
        self.q, self.r, self.g = self.stack
        self._each = list(self.stack.swapaxes(0, 1))
        self.logp, self.before = np.zeros((BLOCK, shape[0])), np.empty(shape)
        self._diagonal = root is None or (isinstance(root, np.ndarray) and root.ndim == 1)
        # The step size is multiplied into the root, where that is a diagonal. All arrays of a step
        # have the same shape: where one is broadcast, a small product takes twice the time.
        self._steps = np.empty((2, *shape))
        self._drift, self._half_kick = self._steps
        self._h, self._kick = np.empty(shape[0]), np.empty(shape)
        self.change_steps(slice(None), np.broadcast_to(step_size, shape[0]))

    def change_steps(self, rows: Array | slice, step_size: Array) -> None:
        """Change the step sizes of some chains, (rows,)."""
        self._h[rows] = step_size
        drift = step_size[:, None]
        if self._diagonal and self._root is not None:
            drift = drift * self._root
        self._drift[rows] = drift
        self._half_kick[rows] = 0.5 * drift

    def begin(self, rows: Array | slice, x: Array, r: Array, grad: Array) -> None:
        """Put starts where the newest leaves are."""
        newest = self._each[-1]
        newest[0, rows], newest[1, rows], newest[2, rows] = x, r, grad

    def grow(self, live: Array | None, old: Array, fresh: Array, logp: Array, back: Array) -> None:
        """Make the next block.

        Parameters
        ----------
        live : the chains that do not idle; None for all
        old : those of them that make four leaves
        fresh : those that make three; the first leaf of their block is their start
        logp : (fresh,), the log density there
        back : those of ``fresh`` whose second doubling is not to the side of the first. Their
            first two leaves are swapped, so that time runs the way of the second
        """
        np.copyto(self.before, self.r[-1])
        if not fresh.size:
            self._leapfrog(0, BLOCK, live)
            return
        start = self.stack[:, -1, fresh]
        if old.size:
            self._leapfrog(0, 1, old)
        self.stack[:, 0, fresh], self.logp[0, fresh] = start, logp
        self._leapfrog(1, 2, live)
        if back.size:
            self.stack[:, :2, back] = self.stack[:, 1::-1, back]
            self.r[:2, back] *= -1.0
            self.logp[:2, back] = self.logp[1::-1, back]
        self._leapfrog(2, BLOCK, live)

    def _leapfrog(self, first: int, end: int, rows: Array | None) -> None:
        """Make the leaves from ``first`` on; only the chains ``rows`` are evaluated."""
        if self._followed(first, end, rows):
            return
        slope, kick = self._slope(self.g[first - 1]), self._kick
        for i in range(first, end):
            (q, r, g), (q_before, r_before, _) = self._each[i], self._each[i - 1]
            np.multiply(self._half_kick, slope, out=kick)
            np.add(r_before, kick, out=r)
            np.multiply(self._drift, r if self._diagonal else times(self._root, r), out=q)
            q += q_before
            if rows is None:
                self.logp[i], g[:] = self._density(q)
            else:
                self.logp[i, rows], g[rows] = self._density(q[rows])
            slope = self._slope(g)
            np.multiply(self._half_kick, slope, out=kick)
            r += kick

    def _slope(self, g: Array) -> Array:
        return g if self._diagonal else transposed_times(self._root, g)

    def _followed(self, first: int, end: int, rows: Array | None) -> bool:
        """Let the density follow the steps, if it does."""
        some = slice(None) if rows is None else rows
        before, n = self._each[first - 1], end - first
        q, r, g = before if rows is None else before[:, rows]
        start = Phase(q, self.logp[first - 1, some], g, r)
        found = follow(self._density, start, self._root, self._h[some], n, LEAPFROG, recorded=n)
        if found is None:
            return False
        self.q[first:end, some], self.r[first:end, some] = found.x, found.momentum
        self.g[first:end, some], self.logp[first:end, some] = found.grad, found.logp
        return True

    def rest(self, rows: Array) -> None:
        """Let some chains idle: without momentum and kick they stay where they are."""
        self.stack[:, :, rows], self.logp[:, rows] = 0.0, 0.0
