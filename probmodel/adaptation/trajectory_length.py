"""Trajectory length, by stochastic ascent of ChEES, the change in squared distance.

    z, z'    whitened positions at the start and the end, less their mean     (chains, dim)
    r'       whitened momentum at the end, the velocity of z'                 (chains, dim)
    alpha    acceptance probability                                           (chains,)
    Delta    |z'|^2 - |z|^2                                                   (chains,)
    t        length of the trajectory in time, T times the jitter             ()
    T        length that is learned; its logarithm climbs
    G        slope of the logarithm of E alpha Delta^2 in the logarithm of t  ()

    Hoffman, Radul and Sountsov (2021), "An adaptive MCMC scheme for setting trajectory lengths in
    Hamiltonian Monte Carlo", AISTATS. For a whitened normal density the criterion is proportional
    to sin^2 t, with its maximum at pi/2, where the end of a trajectory is independent of its start.

Deviations. The paper ascends the criterion itself, by Adam. Its logarithm has a slope of known
size, G = 2 t cot t for a whitened normal density, so that plain Robbins-Monro steps have the right
length whatever the dimension and the scale. G is 2 at most there, and is cut off at `STEEPEST`
either way: with few chains and parameters, noise could carry T on to a later maximum of sin^2 t.
Longer trajectories cost more: where they take more than one step, the criterion is divided by
t^`PRICE`, halfway to the rule of Sountsov and Hoffman (2021), "Focusing on difficult directions for
learning HMC trajectory lengths", who divide by t.
Without a price a few wide directions make all trajectories longer than pays; at the full price a
whitened normal density gets 1.17 in place of 1.57, and posteriors with slow directions lose too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from probmodel.numerics.roots import Root, transposed_times
from probmodel.types import Array

START = np.pi / 2.0
PRICE = 0.5
RATE = 0.2  # of log T on G, at first, with `CHAINS` chains; their root below
CHAINS = 32
STEADY = 10  # iterations after which it falls
STEEPEST = 2.0  # G
LONGEST_MOVE = 0.2  # of log T
SHORTEST = 0.3  # T
APART = 5.0  # squared distance of chains' means, over that of means of independent draws
MEMORY = 0.1  # weight of an iteration in the running mean of the criterion


class Length(NamedTuple):
    """State of the ascent.

    Attributes
    ----------
    log_length : log T
    log_average : mean of log T, in which iteration n weighs n
    criterion : running mean of alpha Delta^2
    n : iterations so far
    """

    log_length: float
    log_average: float
    criterion: float
    n: int

    def length(self, final: bool = False) -> float:
        """T of the next iteration; ``final`` gives the average."""
        return math.exp(self.log_average if final else self.log_length)


def start_length(length: float = START) -> Length:
    """Begin with trajectories of that length."""
    return Length(float(np.log(length)), float(np.log(length)), 0.0, 0)


class Trajectories(NamedTuple):
    """One trajectory of each chain, whitened and about the mean.

    Attributes
    ----------
    z, end, velocity : (chains, dim); start, end, and momentum at the end
    alpha : (chains,), acceptance probability
    time : t
    """

    z: Array
    end: Array
    velocity: Array
    alpha: Array
    time: float


def own_centres(away: Array, variance: float) -> float:
    """Return how much of its own centre each chain has: from 0, for a common one, to 1.

    Chains that stay in different places, in modes or because they are slow, have centres of their
    own, so that the way between them is nothing for trajectories to cover.

    Parameters
    ----------
    away : (chains, dim), mean of each chain less that of all, whitened
    variance : of a coordinate of such a mean, if the draws were independent
    """
    chains, dim = away.shape
    by_chance = APART * dim * max(chains - 1, 1) * variance
    found = float(np.vdot(away, away))
    return 1.0 - by_chance / found if found > by_chance else 0.0


def about_centres(
    dual: Root, start: Array, end: Array, means: Array, variance: float
) -> tuple[Array, Array]:
    """Whitened starts and ends of trajectories, about where each chain is centred.

    Parameters
    ----------
    dual : the root whose `transposed_times` whitens
    start, end : (chains, dim); not every end need be finite
    means : (chains, dim), of each chain's draws
    variance : of a coordinate of a whitened mean, if the draws were independent
    """
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.array([start, end, means])
        x -= np.add.reduce(means) / len(means)
        white = transposed_times(dual, x.reshape(-1, x.shape[2])).reshape(x.shape)
        z, end = white[:2] - own_centres(white[2], variance) * white[2]
    return z, end


def climb(state: Length, seen: Trajectories, step: float, longest: float) -> Length:
    """Change log T after one trajectory of each chain.

    Nothing is gained by trajectories shorter than an integrator's ``step``; ``longest`` is the
    longest one in time.
    """
    z, end, alpha = seen.z, seen.end, seen.alpha
    with np.errstate(over="ignore", invalid="ignore"):
        change = np.vecdot(end - z, end + z)
        slopes = 4.0 * seen.time * change * np.vecdot(end, seen.velocity)
        squares = change * change
        slope, square = float(alpha @ slopes), float(alpha @ squares)
    if not math.isfinite(slope + square):
        fine = np.isfinite(slopes) & np.isfinite(squares) & (alpha > 0.0)
        slope, square = (float(alpha[fine] @ values[fine]) for values in (slopes, squares))
    if not square > 0.0:
        return state
    n = state.n + 1
    memory = max(MEMORY, 1.0 / n)
    criterion = (1.0 - memory) * state.criterion + memory * square / len(alpha)
    G = max(min(slope / len(alpha) / criterion, STEEPEST), -STEEPEST)
    price = PRICE if state.length() > step else 0.0
    rate = RATE * min(1.0, len(alpha) / CHAINS) ** 0.5 / max(1.0, n / STEADY) ** 0.75
    move = max(min(rate * (G - price), LONGEST_MOVE), -LONGEST_MOVE)
    low, high = math.log(min(SHORTEST, longest)), math.log(longest)
    log_length = min(max(state.log_length + move, low), high)
    average = state.log_average + 2.0 / (n + 1.0) * (log_length - state.log_average)
    return Length(log_length, average, criterion, n)
