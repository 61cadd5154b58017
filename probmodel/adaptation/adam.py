"""Adam: stochastic gradient steps of about equal size in every parameter.

    m      running mean of gradients             the shape of the parameters
    v      running mean of their squares         the shape of the parameters
    t      gradients so far
    b1     what m keeps of its past: 0.9         `momentum`
    b2     what v keeps of its past: 0.999

Kingma and Ba (2015), "Adam: a method for stochastic optimization", Algorithm 1, with epsilon 1e-7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.types import Array

MOMENTUM, FORGET, EPSILON = 0.9, 0.999, 1e-7


class Adam(NamedTuple):
    """Running means of the gradients (m) and of their squares (v), and the steps so far (t)."""

    mean: Array
    square: Array
    steps: int


def start_adam(shape: int | tuple[int, ...]) -> Adam:
    """Begin, for parameters of that shape."""
    return Adam(np.zeros(shape), np.zeros(shape), 0)


def direction(adam: Adam, gradient: Array, momentum: float = MOMENTUM) -> tuple[Adam, Array]:
    """Take in a gradient and return the new state and the direction to descend against.

    ``gradient`` is finite, in the shape of the parameters, and ``momentum``, b1, from 0 to below 1.
    The direction has entries of about one at first; the parameters become what they are less the
    learning rate times it.
    """
    t = adam.steps + 1
    mean = momentum * adam.mean + (1.0 - momentum) * gradient
    square = FORGET * adam.square + (1.0 - FORGET) * gradient * gradient
    unbiased = mean / (1.0 - momentum**t)
    size = np.sqrt(square / (1.0 - FORGET**t))
    return Adam(mean, square, t), np.asarray(unbiased / (size + EPSILON))
