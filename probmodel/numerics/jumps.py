"""Jumps and edges of a log density: in which coordinates it is not continuous.

    x       places, one for each chain                                      (chains, dim)
    f, g    log density and its slope along a segment, x + t d              (segments,)
    d       from a place to that of the next chain, as a whole, or in one coordinate
    t       from -1 to 2: beyond both places by what lies between them
    D       f(v) - f(u) - (v - u) (g(u) + g(v)) / 2, over an interval from u to v

Where f is smooth D falls with the third power of v - u, and where f has a kink with the first. Over
a jump it stays. The shortest interval with a D that matters is halved, until there is none, or one
is so short that only a jump explains it. An edge, beyond which there is no density, is a jump
to minus infinity. Where segments between places have jumps, each coordinate is asked by itself.

A jump counts where the density is about as high as where the chains are, so that they meet it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.types import Array, LogDensity

START, END, INTERVALS = -1.0, 2.0, 18
SMALL = 0.05  # D that does not matter
ROUNDING = 1e-8  # the same, relative to f
SHORT = 1e-9  # interval that is not halved any more
HALVINGS = 80  # of each segment, at most
LOW = 4.0  # nats below where a chain is, along a coordinate
DEVIATIONS = 2.0  # of a normal draw, and so many more in a direction of all coordinates
LINES, MOST_LINES = 16, 1024  # of each coordinate, and in all, unless each has only one


class _Intervals(NamedTuple):
    """Intervals of all segments: begin and end, f and g there, (chains, n) each."""

    u: Array
    v: Array
    f: tuple[Array, Array]
    g: tuple[Array, Array]


def find_jumps(density: LogDensity, x: Array) -> Array:
    """Return the coordinates in which a log density jumps, near some places: (dim,), bool.

    The density has a gradient; it is evaluated for as many places at a time as there are chains. It
    is finite at ``x``, (chains, dim).
    """
    chains, dim = x.shape
    d = np.roll(x, -1, axis=0) - x if chains > 1 else np.ones((1, dim))
    found = np.zeros(dim, dtype=bool)
    with np.errstate(all="ignore"):
        logp, _ = density(x)
        low = np.maximum(logp, np.roll(logp, -1)) - LOW - DEVIATIONS * np.sqrt(0.5 * dim)
        if not _have_jumps(density, x, d, low).any():
            return found
        lines = dim * max(1, min(LINES, MOST_LINES // dim))
        for k in np.resize(np.arange(lines), (-(-lines // chains), chains)):
            row, j = k // dim % chains, k % dim
            along = np.where(np.arange(dim) == j[:, None], d[row], 0.0)
            found[j[_have_jumps(density, x[row], along, logp[row] - LOW)]] = True
    return found


def _have_jumps(density: LogDensity, x: Array, d: Array, low: Array) -> Array:
    """Whether segments have a jump where the density is not low: (segments,)."""
    rows = np.arange(len(x))

    def at(t: Array) -> tuple[Array, Array]:
        logp, grad = density(x + t[:, None] * d)
        slope = np.vecdot(grad, d)
        fine = np.isfinite(logp) & np.isfinite(slope)
        return np.where(fine, logp, -np.inf), np.where(fine, slope, 0.0)

    t = np.linspace(START, END, INTERVALS + 1)
    starts = np.repeat(t[:, None], len(x), axis=1)
    f, g = (np.stack(part, axis=1) for part in zip(*map(at, starts), strict=True))
    u, v = (np.tile(part, (len(x), 1)) for part in (t[:-1], t[1:]))
    parts = _Intervals(u, v, (f[:, :-1], f[:, 1:]), (g[:, :-1], g[:, 1:]))
    for _ in range(HALVINGS):
        D, short = _excess(parts, low), parts.v - parts.u <= SHORT
        if ((D <= 1.0).all(axis=1) | ((D > 1.0) & short).any(axis=1)).all():
            break
        doubtful = np.where((D > 1.0) & ~short, 1.0 / (parts.v - parts.u), 0.0)
        k = np.argmax(doubtful + np.minimum(D, 1e9) * 1e-12, axis=1)
        middle = 0.5 * (parts.u + parts.v)[rows, k]
        parts = _halved(parts, k, middle, *at(middle))
    return np.asarray(((_excess(parts, low) > 1.0) & (parts.v - parts.u <= SHORT)).any(axis=1))


def _excess(parts: _Intervals, low: Array) -> Array:
    """Return the size of D over what does not matter; above 1 it does."""
    (a, b), (ga, gb), h = parts.f, parts.g, parts.v - parts.u
    top = np.maximum(a, b)
    small = np.maximum(SMALL, ROUNDING * np.abs(top))
    D = np.where(np.isfinite(a + b), np.abs(b - a - 0.5 * h * (ga + gb)), np.inf)
    # Where slopes explain a change over the shortest interval it is a pole, and no jump.
    pole = (h <= SHORT) & (h * np.maximum(np.abs(ga), np.abs(gb)) > 0.1 * small)
    return np.where((top > low[:, None]) & ~pole, D / small, 0.0)


def _halved(parts: _Intervals, k: Array, middle: Array, f: Array, g: Array) -> _Intervals:
    """Halve interval k of each segment."""
    rows = np.arange(len(k))

    def first(begin: Array, new: Array) -> Array:
        return np.column_stack([begin, new])

    def cut(end: Array, new: Array) -> Array:
        end = np.column_stack([end, end[rows, k]])
        end[rows, k] = new
        return end

    return _Intervals(
        first(parts.u, middle), cut(parts.v, middle),
        (first(parts.f[0], f), cut(parts.f[1], f)), (first(parts.g[0], g), cut(parts.g[1], g)),
    )  # fmt: skip
