"""Per-chain step sizes in the warm-up, for chains that share one later.

Far from the bulk one chain may need steps many orders of magnitude shorter than another, and would
stay where it started with a shared step. While nothing is known yet, every chain steers its own
(`search`, `steer`). Once they share one (`share`), a chain that keeps being rejected takes shorter
steps until it has caught up (`rescue`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from probmodel.types import Array

GAIN = 2.0  # an acceptance of one multiplies a step by 2.3, one of zero by 0.3
DECADES = 150
ON_ITS_WAY = 8  # steps that grew in a row; acceptances that high are rare in the bulk
PATIENCE = 10  # rejections in a row; at an acceptance of 0.574 one in 5000


class OwnSteps(NamedTuple):
    """Each chain's steps: (chains,) each.

    Attributes
    ----------
    factor : of the shared step size
    rejections : in a row, until now
    growths : in a row, until now: iterations with an acceptance near one
    """

    factor: Array
    rejections: Array
    growths: Array

    @property
    def whole(self) -> Array:
        """Which chains take steps of the shared size: (chains,)."""
        return np.asarray(self.factor == 1.0)

    @property
    def on_their_way(self) -> bool:
        """Whether some chain still moves into a region of ever longer steps."""
        return bool((self.growths >= ON_ITS_WAY).any())


def whole_steps(chains: int) -> OwnSteps:
    """All chains take steps of the shared size."""
    none = np.zeros(chains, dtype=int)
    return OwnSteps(np.ones(chains), none, none)


def search(acceptance_at: Callable[[Array], Array], chains: int) -> OwnSteps:
    """Divide each chain's step by ten until it is accepted by half.

    ``acceptance_at`` maps steps to acceptance probabilities, (chains,) each.
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
    """Follow each chain's acceptance closely."""
    factor = own.factor * np.exp(GAIN * (accept_prob - target))
    return OwnSteps(factor, own.rejections, np.where(accept_prob > 0.9, own.growths + 1, 0))


def share(own: OwnSteps, ratio: float) -> OwnSteps:
    """Change to a shared step that is ``ratio`` times the present one.

    Chains whose own steps are shorter than that keep them.
    """
    short = np.minimum(own.factor / ratio, 1.0)
    return whole_steps(len(short))._replace(factor=np.where(own.whole, 1.0, short))


def rescue(own: OwnSteps, accepted: Array) -> OwnSteps:
    """Shorten the steps of chains that have been rejected too often in a row.

    Each further rejection halves them, each acceptance doubles them up to the shared size.
    """
    rejections = np.where(accepted, 0, own.rejections + 1)
    longer = np.minimum(1.0, 2.0 * own.factor)
    lagging = ~own.whole | (rejections >= PATIENCE)
    shorter = np.where(lagging, 0.5 * own.factor, 1.0)
    return OwnSteps(np.where(accepted, longer, shorter), rejections, own.growths)
