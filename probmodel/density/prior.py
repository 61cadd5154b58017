"""Draws from the prior of a bound model, as points on unconstrained space."""

from __future__ import annotations

import numpy as np

from probmodel.density.simulate import draw_parameter
from probmodel.expressions import as_expression
from probmodel.model.binding import Binding
from probmodel.model.declarations import Parameter
from probmodel.model.evaluation import Evaluator
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array


def prior_draws(binding: Binding, rng: np.random.Generator, n: int) -> Array:
    """Draw all parameters from their priors: (n, dim), in the order of the log density.

    Each parameter is drawn given those declared before it, one point after another. A flat or
    bounded one is drawn as `simulate` does, uniformly in (-2, 2) on the unconstrained scale.
    Observed quantities keep their data, and potentials are left out.

    Parameters
    ----------
    binding : of a model, with its data
    rng : all randomness
    n : number of draws

    Returns
    -------
    (n, dim); not finite where a draw falls on the boundary of its support.
    """
    return np.stack([_draw_point(binding, rng) for _ in range(n)])


def _draw_point(binding: Binding, rng: np.random.Generator) -> Array:
    """Draw one point: (dim,)."""
    values = Evaluator()
    free = {f.name: f for f in binding.free}
    parts = []
    for name, declaration in binding.declarations.items():
        if name in binding.data:
            values.define(declaration, binding.data[name], random=False)
        elif isinstance(declaration, Parameter):
            value = draw_parameter(free[name], values, rng)
            values.define(declaration, value, random=False)
            parts.append(_unconstrained(free[name], values, value))
        elif name in binding.saved:
            values.define(declaration, values.value(binding.saved[name]), random=False)
    return np.concatenate(parts)


def _unconstrained(free: FreeParameter, values: Evaluator, value: Array) -> Array:
    """Map a parameter's value to unconstrained space: a flat array."""
    frame = free.declaration.frame
    if frame is not None:
        value = frame.standardise(
            value, *(values.value(as_expression(arg)) for arg in frame.args.values())
        )
    bounds = [values.value(bound) for bound in free.bounds]
    with np.errstate(all="ignore"):
        return np.asarray(free.constraint.inverse(value, *bounds)).reshape(-1)
