"""Hidden Markov models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.constraints import RowStochastic, Simplex
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.compound.components import Components
from probmodel.distributions.compound.wrapper import Compound
from probmodel.distributions.domain import where_simplex
from probmodel.distributions.process.forward_algorithm import hmm_log_likelihood
from probmodel.distributions.process.state_paths import draw_chains
from probmodel.expressions import caller_location, settle
from probmodel.types import Array


class HiddenMarkov(Compound):
    r"""Series whose distribution at each time depends on the state of a Markov chain, summed out.

    .. math:: p(y) = \sum_{s_1, \dots, s_T} p_{s_1} f_{s_1}(y_1) \prod_{t=2}^T
              A_{s_{t-1} s_t} f_{s_t}(y_t)

    Parameters
    ----------
    initial : probabilities :math:`p` of the first state, (K,)
    transition : :math:`A`, (K, K); each row holds the probabilities of the next state
    emission : distributions :math:`f` of the value in each state: a list of K, or one distribution
        whose parameters have an axis of length K, or two axes (T, K) if they differ from time to
        time. Parameters without such an axis are those of all states.

    Notes
    -----
    The value is a series: numbers (T,), or vectors (T, n) if the emission is of vectors. Stan:
    ``hmm_marginal``. SciPy: none. What the states were is told by `functions.state_probabilities`
    and `functions.most_likely_states`; several series of different kinds that depend on one chain
    are put together with `functions.hmm_log_likelihood`.

    Raises
    ------
    ModelError
        If the emission is no distribution, or its values are of different kinds.

    References
    ----------
    Rabiner (1989), A tutorial on hidden Markov models. Proceedings of the IEEE 77.
    """

    sequential = True

    def __init__(self, initial: Any, transition: Any, emission: Any) -> None:
        self.location = caller_location()
        self.emission = Components(self.name, "emission", emission, time_axes=1)
        written = emission if isinstance(emission, Distribution) else list(emission)
        self._written = [settle(initial), settle(transition), written]
        own = {"initial": Parameter(Simplex(), 1), "transition": Parameter(RowStochastic(), 2)}
        self._take_form(
            {**self.emission.parameters, **own},
            self.emission.event_ndim + 1,
            self.emission.discrete,
        )
        self.args = {**self.emission.args, "initial": initial, "transition": transition}

    @property
    def batch_hint(self) -> str:
        """What to do where parameters have more axes than there are values, in sentences."""
        return (
            "There is one transition matrix for each series, or one for all. Probabilities that "
            "change with time are not supported here: write the forward recursion with "
            "functions.scan, of several series at once too, and add its log likelihood as a "
            "potential."
        )

    def written(self) -> list[tuple[str | None, Any]]:
        """Return initial, transition and emission."""
        return [(None, value) for value in self._written]

    def support(self) -> Constraint:
        """Return the support of the emissions, or a set that contains all of theirs."""
        return self.emission.support()

    def event_shape(self, *params: Array) -> tuple[int, ...] | None:
        """Shape of one series, if a parameter differs from time to time."""
        shapes = [
            np.shape(p)[np.ndim(p) - e :]
            for p, e in zip(params[:-2], self.event_ndims[1:-2], strict=True)
        ]
        length = max((shape[0] for shape in shapes), default=1)
        inner = self.emission.event_shape(params[:-2])
        return None if inner is None or length == 1 else (length, *inner)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where probabilities do not add up to one."""
        return hmm_log_likelihood(*self._chain(xp, value, params))

    def log_base(self, value: Array, *params: Any) -> Any:
        """Terms that depend on observed data alone, where all states share them."""
        if not self.emission.shares_base or not self.discrete:
            return 0.0
        return np.sum(self.emission.log_base(value, params[:-2]), axis=-1)

    def _chain(self, xp: Any, value: Any, params: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Log densities given each state, (..., T, K), and the probabilities of the chain."""
        *inner, initial, transition = params
        args = zip((value, *params), self.event_ndims, strict=True)
        rank = 1 + max(np.ndim(a) - e for a, e in args)
        logs = self.emission.log_densities(xp, value, inner, rank)
        logs = xp.transpose(logs, (*range(1, rank + 1), 0))
        return logs, where_simplex(xp, initial), where_simplex(xp, transition)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw series: ``shape`` ends with their length, and with the length of a vector."""
        *inner, initial, transition = params
        times = shape[: len(shape) - self.event_ndim + 1]
        count = np.shape(initial)[-1]
        path = draw_chains(rng.random(times), initial, transition)
        return self.emission.sample(rng, shape, path, count, inner)
