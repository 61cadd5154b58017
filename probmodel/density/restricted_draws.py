"""Draws from priors that constraints or bounds restrict to less than their support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.constraints import SumToZero, SumToZeroMatrix
from probmodel.density.forward_runs import Forward
from probmodel.distributions import Normal
from probmodel.distributions.base import Distribution
from probmodel.expressions import as_expression
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array

_REDRAWS = 1000  # tries for an element that has to lie within bounds


def are_alike(forward: Forward, prior: Distribution) -> bool:
    """Whether the elements of a vector have the same distribution."""
    shapes = [forward.evaluator.shape(as_expression(a)) for a in prior.args.values()]
    return all(shape[-1:] in ((), (1,)) for shape in shapes)


def in_order(distribution: Distribution, free: FreeParameter, alike: bool) -> Callable[..., Array]:
    """Draw vectors of numbers in order: sorted if they are alike, and again if they do not fit."""
    order = free.declaration.constraint
    assert order is not None  # the bounds are those of the support

    def sample(rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        value = distribution.sample(rng, shape, *params)
        return np.sort(value, axis=-1) if alike else value

    def fits(value: Array) -> Array:
        return np.asarray(order.check(value)[..., None])

    return _again_until(free, sample, fits, f"in {order.name} vectors")


def within(
    distribution: Distribution, free: FreeParameter, low: Any, high: Any
) -> Callable[..., Array]:
    """Draw, and draw again what lies outside the bounds."""
    axes = tuple(range(-distribution.event_ndim, 0))

    def fits(value: Array) -> Array:
        outside = np.zeros(value.shape, dtype=bool)
        if low is not None:
            outside |= value <= low
        if high is not None:
            outside |= value >= high
        return ~np.asarray(outside.any(axis=axes, keepdims=True) if axes else outside)

    return _again_until(free, distribution.sample, fits, "within its bounds")


def _again_until(
    free: FreeParameter, sample: Callable[..., Array], fits: Callable[[Array], Array], where: str
) -> Callable[..., Array]:
    """Draw, and draw again what does not fall ``where`` it has to."""

    def draw(rng: np.random.Generator, rows: int, *params: Array) -> Array:
        shape = (rows, *free.shape)
        value = sample(rng, shape, *params)
        for _ in range(_REDRAWS):
            fitting = fits(value)
            if fitting.all():
                return value
            value = np.where(fitting, value, sample(rng, shape, *params))
        assert free.declaration.prior is not None
        raise free.declaration.model_error(
            f"{free.declaration.title}: {_REDRAWS} draws from {free.declaration.prior.name} did "
            f"not fall {where}. Choose a prior with more mass there.",
            name=free.name,
        )

    return draw


def is_zero_sum(forward: Forward, free: FreeParameter) -> bool:
    """Whether a parameter is normal with one known scale, restricted to values that sum to zero.

    Then it is normal on the plane of these, and what is left of a draw without its means follows
    that distribution: deviations from the plane are independent of it. Were the scale a parameter,
    the restriction would weigh its values.
    """
    prior, constraint = free.declaration.prior, free.declaration.constraint
    if not isinstance(constraint, SumToZero | SumToZeroMatrix) or not isinstance(prior, Normal):
        return False
    if not all(forward.evaluator.is_constant(arg) for arg in prior.args.values()):
        return False
    tied = forward.evaluator.shape(as_expression(prior.args["scale"]))[-constraint.event_ndim :]
    return all(size == 1 for size in tied)


def centred(distribution: Distribution, free: FreeParameter) -> Callable[..., Array]:
    """Draw, and take off the mean along each axis whose elements sum to zero."""
    assert free.declaration.constraint is not None
    axes = range(-free.declaration.constraint.event_ndim, 0)

    def draw(rng: np.random.Generator, rows: int, *params: Array) -> Array:
        value = distribution.sample(rng, (rows, *free.shape), *params)
        for axis in axes:
            value = value - value.mean(axis=axis, keepdims=True)
        return value

    return draw
