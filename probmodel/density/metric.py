"""The metric of a model: expected Fisher information of its data, minus the Hessian of the rest.

    x         unconstrained point                                            (chains, dim)
    p(x)      parameters of the likelihood, on their linked scales
    J(x)      Jacobian of p
    I(p)      expected Fisher information of p, element by element
    R(x)      the other terms of the log density: priors, log-Jacobians, potentials, and
              likelihoods of data with imputed elements
    G(x)      J' I J - Hessian of R, summed over the likelihood's elements   (chains, dim, dim)

It is put together from three parts, by what is known from the structure of the expressions:

    quadratic    terms with a constant Hessian, such as normal priors with known scale: once
    affine       likelihood terms whose parameters are affine in x, such as regressions: J once,
                 and matrix products at each point
    general      everything else: minus the Hessian of the Gauss-Newton surrogate
                 S(x) = R(x) - 1/2 (p(x) - p(x0))' I(p(x0)) (p(x) - p(x0))   at x = x0

For a normal likelihood with known scale and affine mean, the information is minus the Hessian, so
that it counts as quadratic.

Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from probmodel.density.log_density import hessian_product, second_derivatives
from probmodel.density.lowering import Lowering, Observation
from probmodel.density.program import Program
from probmodel.distributions import Flat, GaussianProcess, MatrixNormal, MvNormal, Normal
from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError
from probmodel.expressions import Apply, Expression, FreeSymbol, leaves, topological
from probmodel.model.evaluation import Evaluator
from probmodel.model.terms import Term
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.density.posterior import ModelDensity

# Operations that are linear in all their operands together; in one of them, the others being
# constant; and in some of them only.
_LINEAR = {
    "add", "subtract", "negative", "positive", "sum", "mean", "cumsum", "diff", "trace", "diag",
    "tril", "triu", "transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze",
    "pad_axes", "broadcast_to", "repeat", "flip", "roll", "concatenate", "stack", "getitem",
}  # fmt: skip
_PRODUCTS = {"multiply", "matmul", "dot", "outer"}
_LINEAR_IN = {"divide": {0}, "solve": {1}, "where": {1, 2}}

# Log densities that are quadratic in the value and in the first parameter, the others held.
_GAUSSIAN = (Normal, MvNormal, MatrixNormal, GaussianProcess)

_ENTRIES = 2**22  # of the weighted Jacobians that are held at a time


class ModelMetric:
    """The metric of one model, as a function of its unconstrained parameters.

    Parameters
    ----------
    density : of the model

    Raises
    ------
    ModelError
        If the information of a distribution is not known in closed form.
    """

    def __init__(self, density: ModelDensity) -> None:
        binding = density._binding
        self._density = density
        lowering = Lowering.of(binding)
        structure = Structure(lowering, binding.evaluator)
        quadratic, general = [], []
        self._affine: list[AffineObservation] = []
        self._curved: list[Term] = []  # likelihoods of the general part
        self._others: list[Term] = []  # other terms of it
        for term in binding.terms:
            if structure.is_quadratic(term):
                quadratic.append(lowering.term(term))
            elif term.kind != "likelihood" or not binding.evaluator.is_constant(term.expression):
                general.append(lowering.term(term))
                self._others.append(term)
            else:
                observation = lowering.observation(term)
                _check_information(observation, binding.evaluator)
                if structure.is_affine_observation(observation):
                    self._affine.append(AffineObservation(observation, lowering, density))
                else:
                    general.append(lowering.emit(gauss_newton(observation), observation.params))
                    self._curved.append(term)
        centre = np.zeros((1, density.dim))
        self._constant = self._curvature(lowering.finish(quadratic), centre)
        self._general = lowering.finish(general) if general else None

    def __call__(self, x: Array) -> Array:
        """Return the metric at ``x``: (chains, dim) -> (chains, dim, dim)."""
        with np.errstate(all="ignore"):
            G = np.repeat(self._constant, len(x), axis=0)
            for observation in self._affine:
                observation.add_information(G, x)
            if self._general is not None:
                G += self._curvature(self._general, x)
        G[~np.isfinite(x).all(axis=1)] = np.nan
        return symmetric(G)

    def _curvature(self, program: Program, x: Array) -> Array:
        """Return minus the Hessian of the sum of a program's outputs: (chains, dim, dim)."""
        traced = partial(self._density._traced_sum, program)
        return -second_derivatives(partial(hessian_product, traced), x)


def symmetric(G: Array) -> Array:
    """Return the symmetric part of (chains, dim, dim); rows that are not finite become NaN."""
    with np.errstate(all="ignore"):
        mean = 0.5 * (G + G.transpose(0, 2, 1))
    return np.where(np.isfinite(mean).all(axis=(1, 2), keepdims=True), mean, np.nan)


def gauss_newton(observation: Observation) -> Callable[..., Any]:
    """Return minus half the information of how far parameters are from where they are.

    Its value and gradient are zero; its Hessian in whatever the parameters depend on is minus the
    expected Fisher information, as autograd's tracer sees only the first of ``p - p0``.
    """
    distribution, batch, varying = observation.distribution, observation.batch, observation.varying

    def half_information(*params: Any) -> Any:
        origin = [getval(p) for p in params]
        changes = [p - origin[i] if i in varying else None for i, p in enumerate(params)]
        form = distribution.information(anp, changes, *origin)
        shape = anp.shape(form)[1:]
        repeats = prod(batch) / prod(shape)  # elements that share parameters
        return -0.5 * repeats * anp.sum(form, axis=tuple(range(1, len(shape) + 1)))

    return half_information


class AffineObservation:
    """Expected Fisher information of a likelihood whose parameters are affine.

    Parameters
    ----------
    observation : parameters that are numbers
    lowering : where they were lowered
    density : of the model
    """

    def __init__(self, observation: Observation, lowering: Lowering, density: ModelDensity) -> None:
        self._observation = observation
        self.distribution, self.batch = observation.distribution, observation.batch
        self._inputs = density._inputs
        self._program = lowering.finish([observation.params[i] for i in observation.varying])
        names = list(observation.distribution.parameters)
        self._jacobians = {
            names[i]: jacobian
            for i, jacobian in zip(observation.varying, self._find_jacobians(density), strict=True)
        }

    def _find_jacobians(self, density: ModelDensity) -> list[tuple[Array, Array]]:
        """Return, for each parameter, the coordinates that move it, and its slopes in them.

        Differences of an affine function are its slopes: (coordinates, elements).
        """
        points = np.concatenate([np.zeros((1, density.dim)), np.eye(density.dim)])
        jacobians = []
        for values in self._program.values(self._inputs(points)):
            slopes = np.broadcast_to(
                values[1:] - values[0], (density.dim, *self._observation.batch)
            ).reshape(density.dim, -1)
            moving = np.flatnonzero(slopes.any(axis=1))
            jacobians.append((moving, slopes[moving]))
        return jacobians

    def parameters(self, x: Array) -> list[Any]:
        """Return all parameters at ``x``: (chains, *shape), or what does not depend on it."""
        params: list[Any] = list(self._observation.params)
        moved = self._program.values(self._inputs(x))
        for i, value in zip(self._observation.varying, moved, strict=True):
            params[i] = value
        return params

    def add_information(self, G: Array, x: Array) -> None:
        """Add J' I J to ``G``: (chains, dim, dim). Only the symmetric part of ``G`` counts."""
        batch = (len(x), *self.batch)
        for (p, q), entry in self.distribution.information_matrix(*self.parameters(x)).items():
            if p in self._jacobians and q in self._jacobians:
                (rows, left), (columns, right) = self._jacobians[p], self._jacobians[q]
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


class Structure:
    """What the expressions of a model are in its unconstrained parameters, by their structure.

    Parameters
    ----------
    lowering : knows what names stand for
    evaluator : knows what data alone decides
    """

    def __init__(self, lowering: Lowering, evaluator: Evaluator) -> None:
        self._lowering = lowering
        self._evaluator = evaluator
        self._known: dict[int, bool] = {}

    def is_affine(self, expression: Expression) -> bool:
        """Whether an expression is known to be affine."""
        for node in topological([expression], done=set(self._known)):
            self._known[id(node)] = self._is_affine_node(node)
        return self._known[id(expression)]

    def is_quadratic(self, term: Term) -> bool:
        """Whether a term has a constant Hessian, its information included if it is observed."""
        distribution = term.distribution
        if distribution is None:
            return self.is_affine(term.expression)
        if not isinstance(distribution, _GAUSSIAN):
            return isinstance(distribution, Flat)
        location, *others = term.params
        return (
            self.is_affine(term.expression)
            and self.is_affine(location)
            and all(self._evaluator.is_constant(param) for param in others)
        )

    def is_affine_observation(self, observation: Observation) -> bool:
        """Whether `AffineObservation` applies: affine numbers whose information is a matrix."""
        distribution = observation.distribution
        names = list(distribution.parameters)
        values = [self._evaluator.value(e) for e in observation.expressions]
        with np.errstate(all="ignore"):
            matrix = distribution.information_matrix(*values)
        return all(
            (names[i], names[i]) in matrix and self.is_affine(observation.expressions[i])
            for i in observation.varying
        )

    def _is_affine_node(self, node: Expression) -> bool:
        if self._evaluator.is_constant(node) or isinstance(node, FreeSymbol):
            return True
        source = self._lowering.resolve(node)
        if source is not node:
            return self.is_affine(source)
        assert isinstance(node, Apply)
        operands = [list(leaves(arg)) for arg in node.args]
        return self._is_linear(node, operands) and all(
            self.is_affine(leaf) for operand in operands for leaf in operand
        )

    def _is_linear(self, node: Apply, operands: list[list[Expression]]) -> bool:
        """Whether an operation is linear in those of its operands that are not data."""
        varying = {
            i
            for i, operand in enumerate(operands)
            if not all(self._evaluator.is_constant(leaf) for leaf in operand)
        }
        name = node.operation.name
        if name in _PRODUCTS:
            return len(varying) == 1
        if name == "call":
            return varying == {0} and _is_affine_map(node.kwargs["function"])
        return name in _LINEAR or varying <= _LINEAR_IN.get(name, set())


def _is_affine_map(function: Callable[..., Any]) -> bool:
    """Whether a formula is `Distribution.noncentered` of a distribution whose map is affine."""
    distribution = getattr(function, "__self__", None)
    return isinstance(distribution, Distribution) and distribution.noncentered_is_affine


def _check_information(observation: Observation, evaluator: Evaluator) -> None:
    """Ask for the information once, so that a distribution without it is refused here."""
    distribution, term = observation.distribution, observation.term
    values = [np.asarray(evaluator.value(e), dtype=float) for e in observation.expressions]
    changes = [
        np.zeros(v.shape) if i in observation.varying else None for i, v in enumerate(values)
    ]
    try:
        with np.errstate(all="ignore"):
            distribution.information(np, changes, *values)
    except ModelError as error:
        names = list(distribution.parameters)
        raise ModelError(
            f"observed {term.name!r}: the expected Fisher information of {distribution.name} is "
            f"not known in closed form for {', '.join(names[i] for i in observation.varying)}, so "
            'that the model has no metric of its own. Use metric="neg_hessian" or '
            'metric="softabs", which take second derivatives instead.',
            location=term.location,
            name=term.name,
            distribution=distribution.name,
        ) from error
