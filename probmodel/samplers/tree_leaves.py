"""Leaves of No-U-Turn trajectories: blocks of leapfrog steps, all chains in one batch.

    q, r      position and whitened momentum of a leaf                   (chains, dim)
    k         half a kick, h/2 C'g(q)                                    (chains, dim)
    g         gradient of the log density                                (chains, dim)
    C         root of the inverse mass matrix, M^-1 = C C'               see `roots`
    h         step size                                                  (chains,)

Time runs away from the start: on the way back into the past momenta change their sign, so that one
leapfrog step is the same operation for all chains.
"""

from __future__ import annotations

import numpy as np

from probmodel.samplers.roots import Root, times, transposed_times
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
    stack : (4, `BLOCK`, chains, dim), all of the four below
    q, r, k, g : (`BLOCK`, chains, dim)
    logp : (`BLOCK`, chains)
    before : (chains, dim), r of the leaf before the block
    """

    def __init__(
        self, density: LogDensity, root: Root, step_size: float | Array, shape: tuple[int, int]
    ) -> None:
        self._density, self._root = density, root
        self.stack = np.zeros((4, BLOCK, *shape))
        self.q, self.r, self.k, self.g = self.stack
        self._each = list(self.stack.swapaxes(0, 1))
        self.logp, self.before = np.zeros((BLOCK, shape[0])), np.empty(shape)
        self._diagonal = root is None or (isinstance(root, np.ndarray) and root.ndim == 1)
        # The step size is multiplied into the root, where that is a diagonal. All arrays of a step
        # have the same shape: where one is broadcast, a small product takes twice the time.
        self._steps = np.empty((2, *shape))
        self._drift, self._half_kick = self._steps
        self.change_steps(slice(None), np.broadcast_to(step_size, shape[0]))

    def change_steps(self, rows: Array | slice, step_size: Array) -> None:
        """Change the step sizes of some chains, (rows,)."""
        drift = step_size[:, None]
        if self._diagonal and self._root is not None:
            drift = drift * self._root
        self._drift[rows] = drift
        self._half_kick[rows] = 0.5 * drift

    def begin(self, rows: Array | slice, x: Array, r: Array, grad: Array) -> None:
        """Put starts where the newest leaves are."""
        slope = grad if self._diagonal else transposed_times(self._root, grad)
        half = self._half_kick[rows]
        newest = self._each[-1]
        newest[0, rows], newest[1, rows], newest[2, rows] = x, r, half * slope
        newest[3, rows] = grad

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
        if fresh.size:
            start = self.stack[:, -1, fresh]
            if old.size:
                self._leapfrog(0, old)
            self.stack[:, 0, fresh], self.logp[0, fresh] = start, logp
        else:
            self._leapfrog(0, live)
        self._leapfrog(1, live)
        if back.size:
            self.stack[:, :2, back] = self.stack[:, 1::-1, back]
            self.r[:2, back] *= -1.0
            self.logp[:2, back] = self.logp[1::-1, back]
        self._leapfrog(2, live)
        self._leapfrog(3, live)

    def _leapfrog(self, i: int, rows: Array | None) -> None:
        """One leapfrog step to leaf ``i`` of the block; only the chains ``rows`` are evaluated."""
        q, r, k, g = self._each[i]
        q_before, r_before, k_before, _ = self._each[i - 1]
        np.add(r_before, k_before, out=r)
        np.multiply(self._drift, r if self._diagonal else times(self._root, r), out=q)
        q += q_before
        if rows is None:
            self.logp[i], g[:] = self._density(q)
        else:
            self.logp[i, rows], g[rows] = self._density(q[rows])
        slope = g if self._diagonal else transposed_times(self._root, g)
        np.multiply(self._half_kick, slope, out=k)
        r += k

    def rest(self, rows: Array) -> None:
        """Let some chains idle: without momentum and kick they stay where they are."""
        self.stack[:, :, rows], self.logp[:, rows] = 0.0, 0.0
