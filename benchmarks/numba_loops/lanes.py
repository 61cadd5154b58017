"""Loops whose steps wait for each other: several chains side by side in each of them.

Lanes are chains; beyond the last chain they repeat it. Numba cannot be told that arrays do not
overlap, and LLVM makes no vectors where they might: so the loops of the hidden Markov model work in
one small array, at places that are known when it is compiled, and values are copied in and out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = Any
ROOT = math.sqrt(2.0)


def hidden_markov(jit: Any, exp: Any, log: Any, lanes: int) -> Any:
    """Return the maker of the density of two log ratios of chances, and two log steps of levels."""
    P, Q, LOW, HIGH, TOTAL, IN_P, IN_Q, IN_LOW, IN_HIGH, NOW, SCALE, *_, END = _places(lanes)
    forwards, backwards = _forwards(jit, exp, log, lanes), _backwards(jit, lanes)

    @jit
    def density(x: Array, y: Array) -> tuple[Array, Array]:
        chains = len(x)
        logp, grad = np.empty(chains), np.empty_like(x)
        w, kept = np.empty(END), np.empty((len(y), 3 * lanes))
        for start in range(0, chains, lanes):
            w[TOTAL:NOW], w[NOW:SCALE], w[SCALE:END] = 0.0, 0.5, 1.0
            for k in range(lanes):
                c = min(start + k, chains - 1)
                w[P + k] = 1.0 / (1.0 + exp(-ROOT * x[c, 0]))
                w[Q + k] = 1.0 / (1.0 + exp(-ROOT * x[c, 1]))
                w[LOW + k] = exp(x[c, 2])
                w[HIGH + k] = w[LOW + k] + exp(x[c, 3])
            forwards(y, w, kept)
            backwards(y, w, kept)
            for k in range(min(lanes, chains - start)):
                c, p, q, low, high = start + k, w[P + k], w[Q + k], w[LOW + k], w[HIGH + k]
                a, b, one, two = low - 3.0, high - 10.0, p * (1.0 - p), q * (1.0 - q)
                prior = math.log(one * two) + x[c, 2] + x[c, 3] - 0.5 * (a * a + b * b)
                logp[c] = w[TOTAL + k] + prior
                grad[c, 0] = ROOT * (one * w[IN_P + k] + 1.0 - 2.0 * p)
                grad[c, 1] = ROOT * (two * w[IN_Q + k] + 1.0 - 2.0 * q)
                grad[c, 2] = low * (w[IN_LOW + k] - a + w[IN_HIGH + k] - b) + 1.0
                grad[c, 3] = (high - low) * (w[IN_HIGH + k] - b) + 1.0
        return logp, grad

    def of(y: Array) -> Any:
        y = np.asarray(y, dtype=float)
        return lambda x: density(x, y)

    return of


def _places(lanes: int) -> Iterator[int]:
    """Places of parameters, sums, the state of the recurrences, and what is kept of each time."""
    return (lanes * k for k in range(17))


def _forwards(jit: Any, exp: Any, log: Any, lanes: int) -> Any:
    P, Q, LOW, HIGH, TOTAL, *_, NOW, SCALE, _, _, CHANCE, FIRST, SECOND, END = _places(lanes)

    @jit
    def forwards(y: Array, w: Array, kept: Array) -> None:
        """Keep the chance of the first state, given what was seen, and both states' weights."""
        for t in range(len(y)):
            at = y[t]
            for k in range(lanes):
                a, b = at - w[LOW + k], at - w[HIGH + k]
                ratio = 0.5 * (a * a - b * b)  # of the second state's density to the first's, log
                far = exp(-abs(ratio))
                weight, other = 1.0 if ratio < 0.0 else far, far if ratio < 0.0 else 1.0
                seen = w[NOW + k] * weight
                mass = seen + (1.0 - w[NOW + k]) * other
                inverse = 1.0 / mass
                w[TOTAL + k] -= 0.5 * min(a * a, b * b)
                w[SCALE + k] *= mass
                w[CHANCE + k] = seen * inverse
                w[FIRST + k] = weight * inverse
                w[SECOND + k] = other * inverse
                w[NOW + k] = seen * inverse * (w[P + k] - w[Q + k]) + w[Q + k]
            kept[t] = w[CHANCE:END]
            if t % 8 == 7 or t == len(y) - 1:
                for k in range(lanes):
                    w[TOTAL + k] += log(w[SCALE + k])
                    w[SCALE + k] = 1.0

    return forwards


def _backwards(jit: Any, lanes: int) -> Any:
    P, Q, LOW, HIGH, _, IN_P, IN_Q, IN_LOW, IN_HIGH, *rest = _places(lanes)
    _, _, AHEAD, BEYOND, CHANCE, FIRST, SECOND, END = rest

    @jit
    def backwards(y: Array, w: Array, kept: Array) -> None:
        """Add up the slopes of the log likelihood in p, q, low and high."""
        for t in range(len(y) - 1, -1, -1):
            at = y[t]
            w[CHANCE:END] = kept[t]
            for k in range(lanes):
                chance = w[CHANCE + k]
                slope = w[AHEAD + k] - w[BEYOND + k]
                # Slopes in the chances of the next state, from both of this time's.
                w[IN_P + k] += chance * slope
                w[IN_Q + k] += (1.0 - chance) * slope
                one = w[P + k] * slope + w[BEYOND + k]
                two = w[Q + k] * slope + w[BEYOND + k]
                w[IN_LOW + k] += chance * one * (at - w[LOW + k])
                w[IN_HIGH + k] += (1.0 - chance) * two * (at - w[HIGH + k])
                w[AHEAD + k] = w[FIRST + k] * one
                w[BEYOND + k] = w[SECOND + k] * two

    return backwards


def gaussian_process_regression(jit: Any, exp: Any, log: Any, lanes: int) -> Any:
    """Return the maker of the density of log length scale, log amplitude and log noise variance."""
    factor, solve, pull_back = _factor(jit, lanes), _solve(jit, lanes), _pull_back(jit, lanes)

    @jit
    def density(x: Array, half: Array, y: Array) -> tuple[Array, Array]:
        chains, n = len(x), len(y)
        logp, grad = np.empty(chains), np.empty_like(x)
        smooth, root = np.empty((n, n, lanes)), np.empty((n, n, lanes))
        inverse, dual, slopes = np.empty((n, n, lanes)), np.empty((n, lanes)), np.empty((3, lanes))
        near, size, noise = np.empty(lanes), np.empty(lanes), np.empty(lanes)
        square, quadratic = np.empty(lanes), np.empty(lanes)
        for start in range(0, chains, lanes):
            for k in range(lanes):
                c = min(start + k, chains - 1)
                near[k] = exp(-2.0 * x[c, 0])
                size[k], noise[k] = exp(2.0 * x[c, 1]), exp(x[c, 2])
            for i in range(n):
                for j in range(i + 1):
                    for k in range(lanes):
                        smooth[i, j, k] = size[k] * exp(-half[i, j] * near[k])
            factor(smooth, noise, root, inverse, square)
            solve(inverse, y, dual, quadratic)
            pull_back(inverse, smooth, half, dual, slopes)
            for k in range(min(lanes, chains - start)):
                c, rho, variance = start + k, math.exp(x[start + k, 0]), noise[k]
                logp[c] = (
                    25.0 * x[c, 0] - 4.0 * rho + x[c, 1] - 0.125 * size[k] + x[c, 2]
                    - 0.5 * (variance * variance + quadratic[k] + math.log(square[k]))
                )  # fmt: skip
                grad[c, 0] = slopes[0, k] * near[k] + 25.0 - 4.0 * rho
                grad[c, 1] = slopes[1, k] + 1.0 - 0.25 * size[k]
                grad[c, 2] = 0.5 * variance * slopes[2, k] + 1.0 - variance * variance
        return logp, grad

    def of(x: Array, y: Array) -> Any:
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        half = 0.5 * (x[:, None] - x) ** 2
        return lambda u: density(u, half, y)

    return of


def _factor(jit: Any, lanes: int) -> Any:
    @jit
    def factor(smooth: Array, noise: Array, root: Array, inverse: Array, square: Array) -> None:
        """Fill in the lower root of smooth + noise I, its inverse, and the determinant."""
        n = len(smooth)
        square[:] = 1.0
        for j in range(n):
            for i in range(j, n):
                for k in range(lanes):
                    root[i, j, k] = smooth[i, j, k] + (noise[k] if i == j else 0.0)
                for m in range(j):
                    for k in range(lanes):
                        root[i, j, k] -= root[i, m, k] * root[j, m, k]
                if i == j:
                    for k in range(lanes):
                        square[k] *= root[j, j, k]
                        inverse[j, j, k] = 1.0 / math.sqrt(root[j, j, k])
                for k in range(lanes):
                    root[i, j, k] *= inverse[j, j, k]
        for j in range(n):
            for i in range(j + 1, n):
                for k in range(lanes):
                    inverse[i, j, k] = root[i, j, k] * inverse[j, j, k]
                for m in range(j + 1, i):
                    for k in range(lanes):
                        inverse[i, j, k] += root[i, m, k] * inverse[m, j, k]
                for k in range(lanes):
                    inverse[i, j, k] *= -inverse[i, i, k]

    return factor


def _solve(jit: Any, lanes: int) -> Any:
    @jit
    def solve(inverse: Array, y: Array, dual: Array, quadratic: Array) -> None:
        """Fill in the solution for y, and y times it."""
        n, white = len(y), np.empty(lanes)
        dual[:], quadratic[:] = 0.0, 0.0
        for i in range(n):
            white[:] = 0.0
            for j in range(i + 1):
                for k in range(lanes):
                    white[k] += inverse[i, j, k] * y[j]
            for k in range(lanes):
                quadratic[k] += white[k] * white[k]
            for j in range(i + 1):
                for k in range(lanes):
                    dual[j, k] += inverse[i, j, k] * white[k]

    return solve


def _pull_back(jit: Any, lanes: int) -> Any:
    @jit
    def pull_back(
        inverse: Array, smooth: Array, half: Array, dual: Array, slopes: Array
    ) -> None:  # fmt: skip
        """Add up twice the slopes of the log likelihood in both logs of smooth, and in noise."""
        n, slope = len(smooth), np.empty(lanes)
        slopes[:] = 0.0
        for i in range(n):
            for j in range(i + 1):
                for k in range(lanes):
                    slope[k] = dual[i, k] * dual[j, k]
                for m in range(i, n):
                    for k in range(lanes):
                        slope[k] -= inverse[m, i, k] * inverse[m, j, k]
                for k in range(lanes):
                    taken = slope[k] * smooth[i, j, k] * (1.0 if i == j else 2.0)
                    slopes[0, k] += taken * half[i, j]
                    slopes[1, k] += taken
                    if i == j:
                        slopes[2, k] += slope[k]

    return pull_back
