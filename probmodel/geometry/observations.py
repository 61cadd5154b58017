"""Likelihood terms taken apart: where their parameters are, and what their information is."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.python_calls import called, is_unknown
from probmodel.compiler.tracing import Program, Scope, Trace, dimension, evaluated
from probmodel.distributions.base import Distribution
from probmodel.distributions.links import linked
from probmodel.distributions.sums import batch_shape
from probmodel.errors import ModelError
from probmodel.expressions import Expression
from probmodel.model.binding import Binding
from probmodel.model.terms import Term
from probmodel.types import Array

_ENTRIES = 2**22  # of the weighted Jacobians that are held at a time


class Observation(NamedTuple):
    """A likelihood term, its parameters on their linked scales and aligned with each other.

    Attributes
    ----------
    term : the term
    distribution : the form that takes the parameters on their linked scales
    expressions : those parameters
    params : their values where data alone decide, else None
    shapes : of the parameters, for one chain
    batch : shape of the elements
    varying : positions of the parameters that are not data
    values : those parameters, from unconstrained points: (chains, *shape) each
    """

    term: Term
    distribution: Distribution
    expressions: tuple[Expression, ...]
    params: tuple[Array | None, ...]
    shapes: tuple[tuple[int, ...], ...]
    batch: tuple[int, ...]
    varying: tuple[int, ...]
    values: NumpyProgram

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The value and the parameters."""
        return (self.term.expression, *self.expressions)

    @property
    def names(self) -> list[str]:
        """Names of the parameters that vary."""
        names = list(self.distribution.parameters)
        return [names[i] for i in self.varying]

    def information(self, trace: Trace) -> Any:
        """Write down minus half the information of how far parameters are from where they are.

        Its value and gradient are zero; its Hessian in whatever the parameters depend on is minus
        the expected Fisher information, as derivatives are taken of the first of ``p - p0`` only.
        """
        _, *params = trace.operands(self.distribution, self.operands)
        rows = _Surrogate(self, lead=1)
        return trace.written(
            self, lambda: _Surrogate(self, lead=0)(*params),
            lambda: called(self.distribution.name, rows, params, ()),
        )  # fmt: skip


class _Surrogate:
    """The function of parameters behind `Observation.information`.

    Parameters
    ----------
    observation : the likelihood
    lead : number of axes in front of those of one chain
    """

    def __init__(self, observation: Observation, lead: int) -> None:
        self._observation, self._lead = observation, lead

    def __call__(self, *params: Any) -> Any:
        observation, lead = self._observation, self._lead
        origin = [getval(p) for p in params]
        changes = [
            p - origin[i] if i in observation.varying else None for i, p in enumerate(params)
        ]
        form = observation.distribution.information(anp, changes, *origin)
        shape = np.shape(form)[lead:]
        repeats = prod(observation.batch) / prod(shape)  # elements that share parameters
        return -0.5 * repeats * anp.sum(form, axis=tuple(range(lead, lead + len(shape))))


def observation(binding: Binding, term: Term) -> Observation:
    """Take a likelihood term apart.

    Links are seen through names here: the scale ``sigma`` is the exponential of its unconstrained
    value.

    Raises
    ------
    ModelError
        If the observed quantity has imputed elements: it is no datum then.
    """
    assert term.distribution is not None
    if not binding.evaluator.is_constant(term.expression):
        raise term.model_error(
            f"the expected information of {term.name} is not known here, as some of its "
            "elements are imputed; use metric='neg_hessian' or metric='softabs'.",
            name=term.name,
        )
    scope = Scope.of(binding)
    distribution, expressions = linked(
        term.distribution, tuple(scope.resolve(param) for param in term.params)
    )

    def operands(trace: Trace, x: Any) -> list[Any]:
        trace.place(binding, x)
        return trace.operands(distribution, (term.expression, *expressions))

    inputs, found = evaluated(scope, operands, [(dimension(binding),)])
    params = found[1:]
    varying = tuple(i for i, p in enumerate(params) if is_unknown(p))
    return Observation(
        term, distribution, tuple(expressions),
        tuple(None if i in varying else p for i, p in enumerate(params)),
        tuple(map(np.shape, params)), batch_shape(found, distribution.event_ndims), varying,
        NumpyProgram(Program(inputs, tuple(params[i] for i in varying))),
    )  # fmt: skip


class AffineObservation:
    """Expected Fisher information of a likelihood whose parameters are affine numbers.

    Parameters
    ----------
    observation : the likelihood
    dim : number of unconstrained coordinates

    Attributes
    ----------
    jacobians : for each parameter that varies, the coordinates that move it, and its slopes in
        them, (coordinates, elements)
    """

    def __init__(self, observation: Observation, dim: int) -> None:
        self.observation = observation
        self.jacobians = dict(zip(observation.names, self._find_jacobians(dim), strict=True))

    def _find_jacobians(self, dim: int) -> list[tuple[Array, Array]]:
        """Find the slopes, which are differences of an affine function."""
        points = np.concatenate([np.zeros((1, dim)), np.eye(dim)])
        jacobians = []
        for values in self.observation.values(points):
            slopes = np.broadcast_to(
                values[1:] - values[0], (dim, *self.observation.batch)
            ).reshape(dim, -1)
            moving = np.flatnonzero(slopes.any(axis=1))
            jacobians.append((moving, slopes[moving]))
        return jacobians

    def parameters(self, x: Array) -> list[Any]:
        """Return all parameters at ``x``: (chains, *shape), or what does not depend on it."""
        params: list[Any] = list(self.observation.params)
        for i, value in zip(self.observation.varying, self.observation.values(x), strict=True):
            params[i] = value
        return params

    def add_information(self, G: Array, x: Array) -> None:
        """Add J' I J to ``G``: (chains, dim, dim). Only the symmetric part of ``G`` counts."""
        distribution, batch = self.observation.distribution, (len(x), *self.observation.batch)
        for (p, q), entry in distribution.information_matrix(*self.parameters(x)).items():
            if p in self.jacobians and q in self.jacobians:
                (rows, left), (columns, right) = self.jacobians[p], self.jacobians[q]
                weights = np.broadcast_to(entry(), batch).reshape(len(x), -1)
                twice = 1.0 if p == q else 2.0  # once above the diagonal, once below it
                G[:, rows[:, None], columns] += twice * weighted_product(left, weights, right)


def weighted_product(left: Array, weights: Array, right: Array) -> Array:
    """Return ``left diag(w) right'`` for each row w of the weights, as few large products.

    Parameters
    ----------
    left, right : (k, n), (m, n)
    weights : (chains, n)

    Returns
    -------
    Array
        (chains, k, m)
    """
    chains, step = len(weights), max(1, _ENTRIES // max(left.size, 1))
    out = np.empty((chains, len(left), len(right)))
    for start in range(0, chains, step):
        block = left * weights[start : start + step, None]
        product = block.reshape(-1, left.shape[1]) @ right.T
        out[start : start + step] = product.reshape(len(block), len(left), len(right))
    return out


def check_information(observation: Observation, binding: Binding) -> None:
    """Ask for the information once, so that a distribution without it is refused here."""
    distribution, term = observation.distribution, observation.term
    values = [np.asarray(binding.evaluator.value(e), float) for e in observation.expressions]
    changes = [
        np.zeros(v.shape) if i in observation.varying else None for i, v in enumerate(values)
    ]
    try:
        with np.errstate(all="ignore"):
            distribution.information(np, changes, *values)
    except ModelError as error:
        raise term.model_error(
            f"observed {term.name!r}: the expected Fisher information of {distribution.name} is "
            f"not known in closed form for {', '.join(observation.names)}, so "
            'that the model has no metric of its own. Use metric="neg_hessian" or '
            'metric="softabs", which take second derivatives instead.',
            name=term.name,
            distribution=distribution.name,
        ) from error
