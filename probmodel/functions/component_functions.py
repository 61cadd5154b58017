"""Functions for models with hidden components or states, of symbols and of arrays alike.

In a model they make expressions, for ``potential`` and ``deterministic``; given arrays, such as
draws, they return arrays. Leading axes broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import primitive

from probmodel.constraints import RowStochastic, Simplex
from probmodel.distributions.compound.components import Components
from probmodel.distributions.process import forward_algorithm as forward
from probmodel.distributions.process.state_paths import most_likely_paths
from probmodel.expressions import Expression, as_expression, call_error
from probmodel.functions.recorded_calls import Checked, Formula, call
from probmodel.numerics.special import logsumexp
from probmodel.types import Array

CHAIN = (2, 1, 2)  # event axes of log densities, initial and transition


def component_log_densities(components: Any, value: Any) -> Any:
    """Log density of values under each component.

    Parameters
    ----------
    components : a list of K distributions, or one whose parameters have an axis of length K for
        the component, as for `Mixture`
    value : data, or what else is distributed so

    Returns
    -------
    (..., K). Those of several quantities that are independent given the component add up.

    Raises
    ------
    ModelError
        If the components are no distributions, or their values are of different kinds; or if data
        give a parameter that is impossible, when the model is bound.
    """
    parts = Components("component_log_densities", "components", components)
    return _log_densities(parts, value)


def _log_densities(parts: Components, value: Any, checked: Sequence[Checked] = ()) -> Any:
    own = [
        Checked(f"{name} of a {member.name} component", member.args[name], spec.constraint)
        for member in parts.members
        for name, spec in member.parameters.items()
    ]
    event_ndims = (parts.event_ndim, *(spec.event_ndim for spec in parts.parameters.values()))
    formula = _of_components(parts).checking([*checked, *own])
    return call(formula, (value, *parts.args.values()), event_ndims)


def component_probabilities(weights: Any, components: Any, value: Any) -> Any:
    """Probability of each component of a `Mixture`, given the value.

    Parameters
    ----------
    weights, components : as for `Mixture`
    value : what is distributed so

    Returns
    -------
    (..., K)

    Raises
    ------
    ModelError
        If the weights are no probabilities, or not as many as the components.
    """
    parts = Components("component_probabilities", "components", components)
    checked = Checked("weights of component_probabilities", weights, Simplex(), as_many=True)
    if isinstance(weights, Expression):
        value = as_expression(value)  # so that the call is recorded, and checked
    logs = _log_densities(parts, value, [checked])
    if not isinstance(logs, Expression):
        objection = checked.objection(np.asarray(weights), found=logs)
        if objection:
            raise call_error(f"{objection}.")
    with np.errstate(divide="ignore"):
        joint = logs + np.log(weights)
    return np.exp(joint - logsumexp(joint, axis=-1, keepdims=True))


def hmm_log_likelihood(log_emissions: Any, initial: Any, transition: Any) -> Any:
    """Log likelihood of a hidden Markov model, with the states summed out.

    Parameters
    ----------
    log_emissions : log density of what was seen at each time, given each state, (..., T, K), such
        as from `component_log_densities`
    initial : probabilities of the first state, (..., K)
    transition : rows of probabilities of the next state, (..., K, K), the same at all times

    Returns
    -------
    (...)

    Raises
    ------
    ModelError
        If data give probabilities that do not add up to one, or if there are several transition
        matrices for one series, when the model is bound.
    """
    return _of_probabilities(LOG_LIKELIHOOD, log_emissions, initial, transition)


def state_probabilities(log_emissions: Any, initial: Any, transition: Any) -> Any:
    """Probability of each state of a hidden Markov model at each time, given the whole series.

    Parameters
    ----------
    log_emissions, initial, transition : as for `hmm_log_likelihood`

    Returns
    -------
    (..., T, K)
    """
    return _of_probabilities(STATE_PROBABILITIES, log_emissions, initial, transition)


def most_likely_states(log_emissions: Any, initial: Any, transition: Any) -> Any:
    """Most likely sequence of states of a hidden Markov model, given the whole series.

    Parameters
    ----------
    log_emissions, initial, transition : as for `hmm_log_likelihood`

    Returns
    -------
    (..., T), states counted from zero. It has no derivative.

    References
    ----------
    Viterbi (1967), Error bounds for convolutional codes and an asymptotically optimum decoding
    algorithm. IEEE Transactions on Information Theory 13.
    """
    return _of_probabilities(_MOST_LIKELY_STATES, log_emissions, initial, transition)


def _of_probabilities(formula: Formula, logs: Any, initial: Any, transition: Any) -> Any:
    """Call a formula of a chain, and check what data give."""
    checked = (
        Checked(f"initial of {formula.__name__}", initial, Simplex()),
        Checked(f"transition of {formula.__name__}", transition, RowStochastic()),
    )
    return call(formula.checking(checked), (logs, initial, transition), CHAIN)


class _ComponentFormula(Formula):
    """Log densities of components, as the language records them."""

    def __init__(self, components: Components, evaluate: Callable[..., Any]) -> None:
        super().__init__("component_log_densities", evaluate)
        self.components = components


def _of_components(parts: Components) -> Formula:
    """Log densities of components, (..., K)."""

    def rank_of(args: Sequence[Any]) -> int:
        specs = parts.parameters.values()
        ndims = (parts.event_ndim, *(spec.event_ndim for spec in specs))
        return max(np.ndim(a) - n for a, n in zip(args, ndims, strict=True))

    def log_densities(value: Any, *params: Any) -> Any:
        logs = parts.evaluate("log_density", anp, value, params, rank_of((value, *params)))
        return anp.moveaxis(logs, 0, -1)

    return _ComponentFormula(parts, log_densities)


def _most_likely_states(log_emissions: Any, initial: Any, transition: Any) -> Array:
    """Dynamic programming over time, for all series at once."""
    shapes = (np.shape(a) for a in (log_emissions, initial, transition))
    batch = forward.batch_of_series(*shapes)
    return most_likely_paths(batch, log_emissions, initial, transition)


def _of_one_matrix(log_emissions: Any, initial: Any, transition: Any) -> Any:
    """Log likelihood of series with a transition matrix each, or one for all."""
    series, matrices = np.shape(log_emissions)[:-2], np.shape(transition)[:-2]
    pairs = zip(reversed(series), reversed(matrices), strict=False)
    if len(matrices) > len(series) or any(m not in (1, n) for n, m in pairs):
        raise ValueError(
            f"transition has shape {np.shape(transition)}, not one matrix for each series of "
            f"log densities, shape {np.shape(log_emissions)}. Probabilities that change with time "
            "are not supported: write the forward recursion with functions.scan, of several series "
            "at once too, or give each series its own matrix"
        )
    return forward.hmm_log_likelihood(log_emissions, initial, transition)


LOG_LIKELIHOOD = Formula("hmm_log_likelihood", _of_one_matrix, forward.hmm_log_likelihood)
STATE_PROBABILITIES = Formula(
    "state_probabilities", lambda *args: forward.forward_backward(*args).log_emissions
)
_MOST_LIKELY_STATES = Formula(
    "most_likely_states", _most_likely_states, primitive(_most_likely_states)
)
