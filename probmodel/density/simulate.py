"""Drawing once from a model: parameters from their priors, data from the likelihood."""

from __future__ import annotations

import numpy as np

from probmodel.distributions import Flat
from probmodel.distributions.base import Distribution
from probmodel.expressions import as_expression
from probmodel.model import Model
from probmodel.model.declarations import Observed, Parameter
from probmodel.model.evaluation import Evaluator
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array


def simulate(model: Model, rng: np.random.Generator) -> dict[str, Array]:
    """Draw every parameter, deterministic and observed quantity once.

    A flat or bounded parameter is drawn uniformly in (-2, 2) on the unconstrained scale, as
    starting points are: a flat prior is no distribution to draw from.

    Returns
    -------
    dict
        Values by name, in declared order.
    """
    binding = model._binding
    values = Evaluator()
    free = {f.name: f for f in binding.free}
    drawn: dict[str, Array] = {}
    for name, declaration in binding.declarations.items():
        if name in binding.data and not isinstance(declaration, Observed):
            values.define(declaration, binding.data[name], random=False)
        elif isinstance(declaration, Parameter):
            drawn[name] = draw_parameter(free[name], values, rng)
            values.define(declaration, drawn[name], random=False)
        elif isinstance(declaration, Observed):
            shape = binding.evaluator.shape(declaration)
            drawn[name] = _draw(declaration.distribution, shape, values, rng)
            values.define(declaration, drawn[name], random=False)
        elif name in binding.saved:
            drawn[name] = values.value(binding.saved[name])
            values.define(declaration, drawn[name], random=False)
    return drawn


def draw_parameter(free: FreeParameter, values: Evaluator, rng: np.random.Generator) -> Array:
    """Draw one parameter, given the values of those declared before it."""
    prior = free.declaration.prior
    cut = free.declaration.bounds.keys() & {"lower", "upper"}
    bounded = cut or free.declaration.constraint is not None
    if prior is None or isinstance(prior, Flat) or bounded:
        u = rng.uniform(-2.0, 2.0, free.free_shape)
        bounds = [values.value(b) for b in free.bounds]
        return np.asarray(free.constraint.forward(np, u, *bounds))
    return _draw(prior, free.shape, values, rng)


def _draw(
    distribution: Distribution,
    shape: tuple[int, ...],
    values: Evaluator,
    rng: np.random.Generator,
) -> Array:
    params = [values.value(as_expression(arg)) for arg in distribution.args.values()]
    return np.asarray(distribution.sample(rng, shape, *params))
