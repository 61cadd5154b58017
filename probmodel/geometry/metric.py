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

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import Scope, dimension
from probmodel.distributions import Flat, GaussianProcess, MatrixNormal, MvNormal, Normal
from probmodel.distributions.base import Distribution
from probmodel.expressions import Apply, Expression, FreeSymbol, leaves, topological
from probmodel.geometry.hessians import curvature, second_derivatives, symmetric
from probmodel.geometry.observations import (
    AffineObservation,
    Observation,
    check_information,
    observation,
)
from probmodel.model.binding import Binding
from probmodel.model.terms import Term
from probmodel.types import Array

# Operations that are linear in all their operands together; in one of them, the others being
# constant; and in some of them only.
_LINEAR = {
    "add", "subtract", "negative", "positive", "sum", "mean", "cumsum", "diff", "trace", "diag",
    "tril", "triu", "transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze",
    "pad_axes", "broadcast_to", "repeat", "flip", "roll", "concatenate", "stack", "getitem",
}  # fmt: skip
_PRODUCTS = {"multiply", "matmul", "dot", "outer"}
_LINEAR_IN = {"divide": {0}, "solve": {1}, "where": {1, 2}}

# A metric is cheap if differences along all coordinates take little besides calls of NumPy: so many
# products of its matrices, and so many numbers of the programs that write out its general part.
_PRODUCTS_AT_MOST, _NUMBERS_AT_MOST = 2**20, 2**14

# Log densities that are quadratic in the value and in the first parameter, the others held.
_GAUSSIAN = (Normal, MvNormal, MatrixNormal, GaussianProcess)


class ModelMetric:
    """The metric of one model, as a function of its unconstrained parameters.

    Parameters
    ----------
    binding : the bound model

    Attributes
    ----------
    is_cheap : whether the metric at 2 dim points takes about as long as at one

    Raises
    ------
    ModelError
        If the information of a distribution is not known in closed form.
    """

    def __init__(self, binding: Binding) -> None:
        dim = dimension(binding)
        structure = Structure(Scope.of(binding))
        quadratic: list[Term] = []
        self.affine: list[AffineObservation] = []
        self.curved: list[Observation] = []  # likelihoods of the general part
        self.others: list[Term] = []  # other terms of it
        for term in binding.terms:
            if structure.is_quadratic(term):
                quadratic.append(term)
            elif term.kind != "likelihood" or not binding.evaluator.is_constant(term.expression):
                self.others.append(term)
            else:
                found = observation(binding, term)
                check_information(found, binding)
                if structure.is_affine_observation(found):
                    self.affine.append(AffineObservation(found, dim))
                else:
                    self.curved.append(found)
        constant = curvature(binding, lambda trace: _sum(map(trace.term, quadratic)))
        self._constant = _negative(constant, np.zeros((1, dim)))
        self._general: NumpyProgram | None = None
        if self.others or self.curved:
            self._general = curvature(
                binding,
                lambda trace: (
                    _sum(map(trace.term, self.others))
                    + _sum(found.information(trace) for found in self.curved)
                ),
            )
        self.is_cheap = self._is_cheap(binding, dim)

    def _is_cheap(self, binding: Binding, dim: int) -> bool:
        """Estimate the work of the metric at 2 dim points: each Hessian takes dim products."""
        slopes = [right.size for each in self.affine for _, right in each.jacobians.values()]
        general = [*self.others, *(found.term for found in self.curved)]
        roots = [e for term in general for e in (term.expression, *term.params)]
        numbers = sum(np.size(binding.evaluator.value(node)) for node in topological(roots))
        return (
            2 * dim * dim * sum(slopes) <= _PRODUCTS_AT_MOST
            and 2 * dim * dim * numbers <= _NUMBERS_AT_MOST
        )

    def __call__(self, x: Array) -> Array:
        """Return the metric at ``x``: (chains, dim) -> (chains, dim, dim)."""
        with np.errstate(all="ignore"):
            G = np.repeat(self._constant, len(x), axis=0)
            for likelihood in self.affine:
                likelihood.add_information(G, x)
            if self._general is not None:
                G += _negative(self._general, x)
        G[~np.isfinite(x).all(axis=1)] = np.nan
        return symmetric(G)


def _sum(terms: Iterable[Any]) -> Any:
    return sum(terms, 0.0)


def _negative(products: NumpyProgram, x: Array) -> Array:
    """Return minus the Hessian that a program has the products of: (chains, dim, dim)."""
    return -second_derivatives(lambda at, v: products(at, v)[1], x)


class Structure:
    """What the expressions of a model are in its unconstrained parameters, by their structure.

    Parameters
    ----------
    scope : of the model
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._evaluator = scope.evaluator
        self._known: dict[int, bool] = {}

    def is_affine(self, expression: Expression) -> bool:
        """Whether an expression is known to be affine."""
        if id(expression) not in self._known:
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
        source = self._scope.resolve(node)
        if source is not node:
            return self.is_affine(source)
        assert isinstance(node, Apply)
        other = self._evaluator.written_out(node)
        if other is not None:
            return self.is_affine(other)
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
