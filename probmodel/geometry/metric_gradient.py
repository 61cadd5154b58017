"""How the metric of a model changes: gradients of v' G(x) v, for the Riemannian samplers.

    x         unconstrained point                                            (chains, dim)
    v_k, m_k  directions and their weights, held fixed                       (chains, k, dim)
    p, J, I   parameters of a likelihood, their Jacobian, their information, as in `metric`
    R         the other terms of the log density
    c_k       change of the parameters along v_k, J v_k

The gradient of sum_k m_k v_k' G(x) v_k is put together from the parts of the metric:

    quadratic    nothing: it is the same everywhere
    affine       J is constant, so that only I changes: J'b with
                 b_r = sum_k m_k sum_pq c_kp c_kq dI_pq / dp_r; for a logistic regression
                 X'(s (1 - s) (1 - 2 s) sum_k m_k (X v_k)^2)
    general      J'b, and the change of J: 2 sum_k m_k (dJ along v_k)' I c_k
    others       minus the second derivative of the gradient of R along each v_k

Derivatives along v_k are central differences of programs that are written out, of fourth order, in
steps that are short beside v_k, which ought to have about unit length in the metric. So are those
of I, in the parameters themselves where these are numbers, and else in each coordinate of x. The
errors are about 1e-12 relative, and 1e-8 for the second derivatives.
"""

from __future__ import annotations

from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import (
    Program,
    Scope,
    Trace,
    differentiated,
    dimension,
    gradient_of_terms,
)
from probmodel.distributions.base import Distribution
from probmodel.distributions.sums import reduce_to
from probmodel.geometry.metric import ModelMetric
from probmodel.geometry.observations import AffineObservation, Observation
from probmodel.model.binding import Binding
from probmodel.types import Array

SHIFTS = np.array([-2.0, -1.0, 1.0, 2.0])
FIRST = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0  # weights of a first derivative
SECOND, CENTRE = np.array([-1.0, 16.0, 16.0, -1.0]) / 12.0, -2.5  # and of a second one
STEP = 1e-3  # of first derivatives
BENT_STEP = 0.03  # of second derivatives
_ENTRIES = 2**22  # changes of parameters that are held at a time


class MetricGradient:
    """Gradient of the metric of one model, contracted with given directions.

    Parameters
    ----------
    binding : the bound model
    metric : of it
    """

    def __init__(self, binding: Binding, metric: ModelMetric) -> None:
        others = metric.others
        self._affine = [AffineSlope(observation) for observation in metric.affine]
        self._curved = [CurvedSlope(binding, observation) for observation in metric.curved]
        self._others = NumpyProgram(gradient_of_terms(binding, others)) if others else None

    def __call__(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Return the gradient in x of ``sum_k weights_k v_k' G(x) v_k``: (chains, dim).

        Parameters
        ----------
        x : (chains, dim)
        vectors : (chains, k, dim), of about unit length in the metric
        weights : (chains, k)
        """
        slope = np.zeros(x.shape)
        with np.errstate(all="ignore"):
            for observation in self._affine:
                observation.add(slope, x, vectors, weights)
            for curved in self._curved:
                slope += curved(x, vectors, weights)
            if self._others is not None:
                slope -= self._third_derivatives(self._others, x, vectors, weights)
        return np.where(np.isfinite(slope).all(axis=1, keepdims=True), slope, np.nan)

    def _third_derivatives(
        self, gradient: NumpyProgram, x: Array, vectors: Array, weights: Array
    ) -> Array:
        """Sum of second derivatives of the gradient of the other terms along the vectors."""
        there, here = (gradient(at)[1] for at in (moved(x, vectors, BENT_STEP), x))
        bends = np.tensordot(SECOND, there.reshape(4, *vectors.shape), axes=1)
        bends += CENTRE * here[:, None]
        return np.asarray(np.einsum("ck,cki->ci", weights / BENT_STEP**2, bends))


def moved(x: Array, vectors: Array, step: float) -> Array:
    """Points of the stencil along each vector: (4 * chains * k, dim)."""
    moves = (step * SHIFTS)[:, None, None, None] * vectors
    return np.asarray((x[:, None] + moves).reshape(-1, x.shape[1]))


class AffineSlope:
    """Change of the information of a likelihood whose parameters are affine.

    Parameters
    ----------
    affine : the likelihood, as it is in the metric
    """

    def __init__(self, affine: AffineObservation) -> None:
        self._affine, self._observation = affine, affine.observation

    def add(self, slope: Array, x: Array, vectors: Array, weights: Array) -> None:
        """Add the gradient to ``slope``: (chains, dim). For the rest see `MetricGradient`."""
        elements = max((right.shape[1] for _, right in self._affine.jacobians.values()))
        width = max(1, _ENTRIES // (vectors.shape[1] * elements))
        for start in range(0, len(x), width):
            rows = slice(start, start + width)
            self._add(slope[rows], x[rows], vectors[rows], weights[rows])

    def _add(self, slope: Array, x: Array, vectors: Array, weights: Array) -> None:
        affine, distribution = self._affine, self._observation.distribution
        params = affine.parameters(x)
        changes = {
            name: vectors[:, :, columns] @ slopes
            for name, (columns, slopes) in affine.jacobians.items()
        }
        pairs: dict[tuple[str, str], Array] = {}
        for p, q in distribution.information_matrix(*params):
            if p in changes and q in changes:
                twice = 1.0 if p == q else 2.0
                pairs[p, q] = (twice * weights[:, None] @ (changes[p] * changes[q]))[:, 0]
        names = list(distribution.parameters)
        for name, (columns, slopes) in affine.jacobians.items():
            force = self._force(params, names.index(name), pairs, (len(x), slopes.shape[1]))
            slope[:, columns] += force @ slopes.T

    def _force(
        self, params: list[Any], r: int, pairs: dict[tuple[str, str], Array], shape: tuple[int, int]
    ) -> Array:
        """Sum over pairs of parameters of their product times the slope of I in parameter r."""
        distribution = self._observation.distribution
        batch = (shape[0], *self._observation.batch)
        unit = length(distribution, r, params[r])
        shifts = (STEP * SHIFTS).reshape(4, *(1,) * np.ndim(params[r]))
        there = [*params[:r], params[r] + shifts * unit, *params[r + 1 :]]
        matrix, total = distribution.information_matrix(*there), np.zeros(shape)
        for pair, product in pairs.items():
            entries = np.broadcast_to(matrix[pair](), (4, *batch)).reshape(4, -1)
            total += (FIRST @ entries).reshape(shape) * product
        return total / np.broadcast_to(STEP * unit, batch).reshape(shape)


class CurvedSlope:
    """Gradient of v' J' I J v of a likelihood whose parameters are not affine, or no numbers.

    Parameters
    ----------
    binding : of the model
    observation : the likelihood
    """

    def __init__(self, binding: Binding, observation: Observation) -> None:
        self._observation = observation
        self._pull = NumpyProgram(_products(binding, observation))
        self._are_numbers = not any(
            observation.distribution.event_ndims[1 + i] for i in observation.varying
        )

    def __call__(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Return the gradient: (chains, dim). See `MetricGradient`."""
        chains, k, dim = vectors.shape
        here = [np.repeat(p, k, axis=0) for p in self._parameters(x)]
        ends = moved(x, vectors, STEP)
        changes = [
            np.tensordot(FIRST, p.reshape(4, chains * k, *p.shape[1:]), axes=1) / STEP
            for p in self._parameters(ends)
        ]
        duals = self._duals(here, changes)
        pulled = self._pulled(ends, [np.concatenate([a] * 4) for a in duals])
        turned = np.tensordot(FIRST, pulled.reshape(4, chains, k, dim), axes=1) / STEP
        slope = 2.0 * np.einsum("ck,cki->ci", weights, turned)
        if self._are_numbers:
            forces = [self._force(here, changes, weights.reshape(-1), j) for j in range(len(here))]
            sums = [f.reshape(chains, k, *f.shape[1:]).sum(axis=1) for f in forces]
            return np.asarray(slope + self._pulled(x, sums))
        return np.asarray(slope + self._by_coordinates(x, changes, weights))

    def _parameters(self, x: Array) -> list[Array]:
        """Parameters that vary, at ``x``: (rows, *shape) each."""
        return list(self._observation.values(x))

    def _pulled(self, x: Array, duals: list[Array]) -> Array:
        """Product J(x)' a of what is dual to the parameters: (rows, dim)."""
        return self._pull(x, *duals)[1]

    def _information(self, xp: Any, params: list[Array], changes: list[Any]) -> Any:
        """Quadratic form of the changes, element by element: (rows, *batch), or broadcasting."""
        every: list[Any] = list(self._observation.params)
        moving: list[Any] = [None] * len(every)
        for j, i in enumerate(self._observation.varying):
            every[i], moving[i] = params[j], changes[j]
        return self._observation.distribution.information(xp, moving, *every)

    def _repeats(self, form: Any) -> float:
        """How many elements share what the form has one number for."""
        return prod(self._observation.batch) / prod(np.shape(form)[1:])

    def _duals(self, params: list[Array], changes: list[Array]) -> list[Array]:
        """Product I c, in the shapes of the parameters."""
        sizes = [c.size for c in changes]

        def total(flat: Any) -> Any:
            cuts = np.cumsum([0, *sizes])
            parts = [
                anp.reshape(flat[a:b], c.shape)
                for a, b, c in zip(cuts[:-1], cuts[1:], changes, strict=True)
            ]
            form = self._information(anp, params, parts)
            return 0.5 * self._repeats(form) * anp.sum(form)

        vjp, _ = make_vjp(total, np.concatenate([c.reshape(-1) for c in changes]))
        parts = np.split(vjp(1.0), np.cumsum(sizes)[:-1])
        return [part.reshape(c.shape) for part, c in zip(parts, changes, strict=True)]

    def _force(self, params: list[Array], changes: list[Array], weights: Array, j: int) -> Array:
        """Weighted slope of the quadratic form in parameter j, in its shape: (rows, *shape)."""
        unit = length(self._observation.distribution, self._observation.varying[j], params[j])
        total: Any = 0.0
        for shift, factor in zip(SHIFTS, FIRST, strict=True):
            there = [*params[:j], params[j] + shift * STEP * unit, *params[j + 1 :]]
            total = total + factor * self._information(np, there, changes)
        batch = np.broadcast_shapes(np.shape(total), params[j].shape)
        slope = total * self._repeats(total) / (STEP * unit) * _like(weights, total)
        return reduce_to(params[j], np.broadcast_to(slope, batch))

    def _by_coordinates(self, x: Array, changes: list[Array], weights: Array) -> Array:
        """Weighted slopes of the quadratic form in each coordinate, with the changes held."""
        chains, k = weights.shape
        out = np.zeros(x.shape)
        for i in range(x.shape[1]):
            for shift, factor in zip(SHIFTS, FIRST, strict=True):
                there = x.copy()
                there[:, i] += shift * STEP
                params = [np.repeat(p, k, axis=0) for p in self._parameters(there)]
                form = self._information(np, params, changes)
                rows = form.reshape(chains, k, -1).sum(axis=2) * self._repeats(form)
                out[:, i] += factor / STEP * np.sum(weights * rows, axis=1)
        return out


def length(distribution: Distribution, i: int, value: Array) -> Array:
    """Return the unit of steps of a parameter: 1, or less, so that they stay within its limits."""
    constraint = list(distribution.parameters.values())[i].constraint
    low, high = constraint.limits or (None, None)
    if low is None and high is None:
        return np.ones(np.shape(value))
    if low is None or high is None:
        return np.abs(value - (high if low is None else low))
    return np.asarray((value - low) * (high - value) / (high - low))


def _products(binding: Binding, observation: Observation) -> Program:
    """Write down products of parameters and what is dual to them, and their derivatives."""

    def products(trace: Trace, x: Any, *duals: Any) -> Any:
        trace.place(binding, x)
        operands = trace.operands(observation.distribution, observation.operands)
        params = [operands[1 + i] for i in observation.varying]
        return sum(anp.sum(p * dual) for p, dual in zip(params, duals, strict=True))

    shapes = [observation.shapes[i] for i in observation.varying]
    return differentiated(Scope.of(binding), products, [(dimension(binding),), *shapes])


def _like(rows: Array, a: Array) -> Array:
    """One number a row, with the axes of ``a``."""
    return rows.reshape(-1, *(1,) * (np.ndim(a) - 1))
