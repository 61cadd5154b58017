"""Step-size adaptation in the warm-up: first one step size for each chain, then one for all.

A `Rule` steers one step size by acceptances.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from probmodel.adaptation.own_steps import OwnSteps, rescue, share, steer, whole_steps
from probmodel.types import Array


class Rule(Protocol):
    """Steers a step size. Rules are values: to learn is to return another one."""

    def step_size(self, final: bool = False) -> float:
        """Step size of the next transition; ``final`` gives the one to keep."""
        ...

    def restarted(self, step_size: float) -> Rule:
        """Return the rule at its beginning, with another step size."""
        ...

    def learned(self, accept_prob: Array, accepted: Array, target: float) -> Rule:
        """Return the rule after transitions of some chains with its step size."""
        ...


class Steering(NamedTuple):
    """What steers the step sizes of a group of chains.

    Attributes
    ----------
    rule : steers the step size that the chains share
    own : the chains' own, as factors of it; None if they are never to have any
    target : acceptance that is aimed at
    shared : whether the chains share one step size, but for those that lag behind
    """

    rule: Rule
    own: OwnSteps | None
    target: float
    shared: bool

    def step_sizes(self) -> float | Array:
        """Step sizes of the next transitions: (chains,), or one for all."""
        size = self.rule.step_size()
        return size if self.own is None or self.own.whole.all() else size * self.own.factor

    def learned(self, accept_prob: Array, accepted: Array, finite: Array) -> Steering:
        """Learn from a transition of every chain: what came of it, and of its proposal, (chains,).

        The shared step size is steered by those that use it, if their proposals were finite. Where
        no chain uses it, or none with a finite proposal, it is too long for all of them.
        """
        if self.own is None:
            return self._replace(rule=self.rule.learned(accept_prob, accepted, self.target))
        if not self.shared:
            return self._replace(own=steer(self.own, accept_prob, self.target))
        used = self.own.whole & finite
        if used.any():
            accept_prob, moved = accept_prob[used], accepted[used]
        else:
            accept_prob, moved = np.zeros(1), np.zeros(1, dtype=bool)
        rule = self.rule.learned(accept_prob, moved, self.target)
        return self._replace(rule=rule, own=rescue(self.own, accepted))

    def joined(self) -> Steering:
        """Let the chains share a step size from now on."""
        if self.own is None or self.shared:
            return self
        median = float(np.median(self.own.factor))
        rule = self.rule.restarted(self.rule.step_size() * median)
        return self._replace(rule=rule, own=share(self.own, median), shared=True)

    def restarted(self, steps: Array) -> Steering:
        """Begin anew with what was found to be good for each chain: (chains,)."""
        if self.own is None or self.shared:
            return self._replace(rule=self.rule.restarted(float(np.median(steps))))
        factor = steps / self.rule.step_size()
        return self._replace(own=self.own._replace(factor=factor))


def own_steps_first(rule: Rule, steps: Array, target: float) -> Steering:
    """Begin with a step size for each chain, (chains,), found by trying.

    The rule restarts from their median.
    """
    median = float(np.median(steps))
    own = whole_steps(len(steps))._replace(factor=steps / median)
    return Steering(rule.restarted(median), own, target, shared=False)
