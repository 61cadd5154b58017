"""Step sizes of the chains' own, in warm-up, for chains that share one later.

Far from the bulk one chain may need steps many orders of magnitude shorter than another, and would
stay where it started with a shared step. While nothing is known yet, every chain steers its own
(`search`, `steer`). Once they share one, a chain that keeps being rejected takes shorter steps until
it moves (`rescue`): after `PATIENCE` rejections in a row each further one halves them, and each
acceptance doubles them up to the shared size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from probmodel.types import Array

PATIENCE = 10  # at an acceptance rate of 0.574 so many rejections in a row are one in 5000
GAIN = 2.0  # an acceptance of one multiplies a step by 2.3, one of zero by 0.3
DECADES = 150


class OwnSteps(NamedTuple):
    """Each chain's factor of the shared step size, and its rejections in a row: (chains,) each."""

    factor: Array
    rejections: Array

    @property
    def whole(self) -> Array:
        """Which chains take steps of the shared size: (chains,)."""
        return np.asarray(self.factor == 1.0)


def whole_steps(chains: int) -> OwnSteps:
    """No chain has been rejected yet."""
    return OwnSteps(np.ones(chains), np.zeros(chains, dtype=int))


def search(acceptance_at: Callable[[Array], Array], chains: int) -> OwnSteps:
    """Divide each chain's step by ten until it is accepted by half.

    Parameters
    ----------
    acceptance_at : steps, (chains,) -> acceptance probabilities, (chains,)
    chains : number of chains
    """
    own = whole_steps(chains)
    factor = own.factor
    for _ in range(DECADES):
        rejected = acceptance_at(factor) < 0.5
        if not rejected.any():
            break
        factor = np.where(rejected, 0.1 * factor, factor)
    return own._replace(factor=factor)


def steer(own: OwnSteps, accept_prob: Array, target: float) -> OwnSteps:
    """Follow each chain's acceptance closely; the shared step does not matter."""
    return own._replace(factor=own.factor * np.exp(GAIN * (accept_prob - target)))


def rescue(own: OwnSteps, accepted: Array) -> OwnSteps:
    """Shorten the steps of chains that have been rejected too often in a row."""
    rejections = np.where(accepted, 0, own.rejections + 1)
    longer = np.minimum(1.0, 2.0 * own.factor)
    shorter = np.where(rejections >= PATIENCE, 0.5 * own.factor, own.factor)
    return OwnSteps(np.where(accepted, longer, shorter), rejections)
