"""Initial climb of each chain (L-BFGS), from a random start to the bulk of the posterior.

    x       positions                                                       (chains, dim)
    f, g    minus the log density, and its gradient                         (chains,), (chains, dim)
    p       direction of descent of f, from the last changes of x and g     (chains, dim)
    t       step along p, found by bisection between a and b                (chains,)
    v       normal random numbers, the same for all chains and all the way  (dim,)
    h       Hessian of f, times v                                           (chains, dim)
    F       -f - sum(log |h|) / 2                                           (chains,)

A limited-memory quasi-Newton method (Nocedal and Wright, 2006, Numerical Optimization, algorithms
7.4 and 7.5), all chains side by side: one call of the density evaluates one trial point of each.
(SciPy's L-BFGS-B takes one point a call.) Steps meet the weak Wolfe conditions, so that they grow
where the density rises by many orders, and far starts take some tens of evaluations.

Chains are to arrive at the bulk, not at the mode, which may be far from it, or infinitely high. A
normal draw has ``g' H^-1 g = dim`` on average, H being the Hessian. A chain has arrived after two
steps in a row that gained less than `depth` times dim, and of which no more was to be expected.
From there it goes to a draw from the normal distribution with the inverse Hessian estimated from
its last steps as covariance (as in Zhang, Carpenter, Gelman and Vehtari, 2022, Pathfinder, Journal
of Machine Learning Research 23, 306), or to a nearer place if the density there is too low.

A density may have no mode: in the funnel of a centred hierarchy it rises without bounds, in a
volume that shrinks faster. So it does where latent values explain all of an observation, and its
noise vanishes. A climb into it never arrives. F is the logarithm of the density times the volume,
so about that of the probability of a place, up to a constant: a chain that has not arrived goes
back to where F was highest on its way. One more gradient tells h after each step. Elements of h are
as large as the rows of the Hessian, and the product of their norms is an upper bound of the
determinant (Hadamard): what F is short of changes little along the way. (Random signs v, of which
v h is the diagonal on average, would not do: they cancel where coordinates move together, as
effects with their mean.) What changes of x and g told of the Hessian before is of no use here: a
step that rises by hundreds of nats ends where it is narrower by orders of magnitude.

Where h says that units of coordinates differ by many orders of magnitude, chains would have stopped
short: first directions follow the gradient, whose largest component alone decides. There they climb
on in units of their own, see `unit_search`, and along ridges, see `ridges`. For others nothing
changes.

Or the mode is far inside the funnel, as where the logarithm of the scale has a normal prior. A
chain that arrives there, far above the place where F was highest, goes back too, if F with the
determinant itself, by differences of the gradient, says so as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from probmodel.adaptation.ridges import top_of_ridge
from probmodel.adaptation.unit_search import InUnits, UnitSearch
from probmodel.types import Array, LogDensity

MEMORY = 12  # changes of x and g that are kept
DECREASE = 1e-4  # share of what the slope promises that a step has to gain
SLOPE = 0.9  # share of the slope that may be left
GROWTH = 2.5  # of a step that the slope says is too short
LONGEST = 1e3  # of such steps
FIRST = 1.0  # length of the first step in any coordinate, at most
NARROW = 1e-3  # of a search, relative to the step
SHORTEST = 1e-14  # step, in units of the first one
IN_A_ROW = 2  # small steps
HALVINGS = 5  # tries to leave the place of arrival
DEVIATIONS = 3.0  # of the log density of a normal draw, that it may be lower than the average
FAR, FAR_DEVIATIONS = 5.0, 2.0  # nats, and such deviations, above where F was highest
LARGEST = 500  # parameters whose Hessians are computed
APART = 1e-3  # largest distance of the points of a difference, in a coordinate
CHANGE = 1e-2  # largest change of the log density between them, about, due to one
FLATTEST = 1e-6  # of h: what is less may be rounding
USUAL = 1e-3, 1e6  # h of parameters in usual units
CLIMBS = 6  # in other units, at most
LARGEST_NEWTON = 50  # parameters, for ridges to be followed
OFF = 1e2  # factor by which a unit is far off


class _Memory:
    """Changes of positions and gradients, from which directions are made."""

    def __init__(self, g: Array) -> None:
        chains, dim = g.shape
        self._s, self._y = np.zeros((2, MEMORY, chains, dim))
        self._rho = np.zeros((MEMORY, chains))
        largest = np.abs(g).max(axis=1)
        self._gamma = np.minimum(1.0, FIRST / largest)
        self._first = MEMORY  # of the changes that some chain has made

    def direction(self, g: Array) -> Array:
        """Return minus the inverse Hessian times the gradient (algorithm 7.4)."""
        q, alpha = g.copy(), np.zeros_like(self._rho)
        for i in reversed(range(self._first, MEMORY)):
            alpha[i] = self._rho[i] * np.vecdot(self._s[i], q)
            q -= alpha[i][:, None] * self._y[i]
        q *= self._gamma[:, None]
        for i in range(self._first, MEMORY):
            beta = self._rho[i] * np.vecdot(self._y[i], q)
            q += (alpha[i] - beta)[:, None] * self._s[i]
        return -q

    def learn(self, s: Array, y: Array, rows: Array) -> None:
        """Take in the changes of some chains, where the curvature along them is positive."""
        products, squares = np.vecdot(s, y), np.vecdot(y, y)
        rows = rows & (products > 1e-10 * np.sqrt(np.vecdot(s, s) * squares)) & (squares > 0.0)
        for kept, new in ((self._s, s), (self._y, y)):
            kept[:-1, rows], kept[-1, rows] = kept[1:, rows], new[rows]
        self._rho[:-1, rows] = self._rho[1:, rows]
        self._rho[-1, rows] = 1.0 / products[rows]
        self._first = max(0, self._first - bool(rows.any()))
        self._gamma[rows] = products[rows] / squares[rows]

    def noise(self, rng: np.random.Generator) -> Array:
        """Draw from the normal distribution whose covariance is the inverse Hessian."""
        chains = self._s.shape[1:]
        w = np.sqrt(self._gamma)[:, None] * rng.standard_normal(chains)
        for s, y, rho in zip(self._s, self._y, self._rho, strict=True):
            along = np.sqrt(rho) * rng.standard_normal(len(rho)) - rho * np.vecdot(y, w)
            w += along[:, None] * s
        return w


class Climbers:
    """Chains, each with the line it searches.

    Parameters
    ----------
    density : the target
    x : (chains, dim), where they start
    depth : what a small step gains, in units of the dimension

    Attributes
    ----------
    x : (chains, dim), where they are
    unlike : (chains,), where h says that units may differ by orders of magnitude
    """

    @np.errstate(all="ignore")
    def __init__(self, density: LogDensity, x: Array, depth: float) -> None:
        logp, grad = density(x)
        self.x, self._f, self._g = x.copy(), -logp, -grad
        self._memory, self._little, self.depth = _Memory(self._g), depth * x.shape[1], depth
        self._p, self._slope = np.zeros_like(self.x), np.zeros_like(self._f)
        self._t, self._a, self._b = np.zeros((3, len(x)))
        self._small, self._arrived = np.zeros(len(x), dtype=int), ~np.isfinite(logp)
        self._probe = np.random.default_rng(0).standard_normal(x.shape[1])
        self._best, self._best_logp = self.x.copy(), -self._f
        self._here, self._highest = np.full((2, len(x)), -np.inf)  # F, and the highest so far
        self.unlike = np.zeros(len(x), dtype=bool)
        self._weigh(density, ~self._arrived)
        self._set_out(~self._arrived)

    @property
    def finite(self) -> Array:
        """Those whose log density is finite: (chains,)."""
        return np.isfinite(self._f)

    @property
    def climbing(self) -> Array:
        """Those that have not arrived: (chains,)."""
        return ~self._arrived

    @np.errstate(all="ignore")
    def step(self, density: LogDensity) -> None:
        """Evaluate a trial point of each that is climbing, and go there if it is good enough.

        Where a chain goes, a point beside is evaluated too.
        """
        rows, y = self.climbing, self.x.copy()
        y[rows] += self._t[rows, None] * self._p[rows]
        logp, grad = np.full_like(self._f, -np.inf), np.zeros_like(y)
        logp[rows], grad[rows] = density(y[rows])
        moved = self._search(y, logp, grad)
        self._weigh(density, moved)

    @np.errstate(all="ignore")
    def spread(self, density: LogDensity, noise: Array, rows: Array) -> Array:
        """Add noise where the density allows it; returns in which of ``rows`` it does."""
        y = self.x[rows] + noise[rows]
        logp, dim = density(y).logp, self.x.shape[1]
        drop = -self._f[rows] - logp
        fine = np.isfinite(logp) & (drop < 0.5 * dim + DEVIATIONS * np.sqrt(0.5 * dim))
        self.x[rows[fine]] = y[fine]
        return np.asarray(fine)

    def give_up(self) -> None:
        """Take chains that have not arrived back to where F was highest."""
        self.x[self.climbing] = self._best[self.climbing]

    @np.errstate(all="ignore")
    def too_far(self) -> Array:
        """Return indices of chains that arrived far above a place where F seems to be higher."""
        margin = FAR + FAR_DEVIATIONS * np.sqrt(0.5 * self.x.shape[1])
        lighter = ~(self._highest <= self._here)
        higher = -self._f - self._best_logp > margin
        return np.flatnonzero(self.finite & ~self.climbing & lighter & higher)

    @np.errstate(all="ignore")
    def reconsider(self, density: LogDensity, chain: int) -> None:
        """Take a chain back to where F was highest, if the Hessians say so too."""
        there, here = log_weight(density, self._best[chain]), log_weight(density, self.x[chain])
        if there > here or (np.isnan(here) and np.isfinite(there)):
            self.x[chain], self._f[chain] = self._best[chain], -self._best_logp[chain]
            self._arrived[chain] = False

    def take(self, part: Climbers, rows: Array, S: Array) -> None:
        """Take over some chains that climb in units S, (dim,)."""
        self.x[rows], self._f[rows] = part.x * S, part._f
        self._arrived[rows] = part._arrived

    @np.errstate(all="ignore")
    def follow_ridge(self, density: LogDensity, rng: np.random.Generator) -> tuple[Array, Array]:
        """Take chains that have arrived to the mode if it is far off along a ridge.

        Returns which are there, and draws of how far from it they may be.
        """
        rows = np.flatnonzero(self.finite & ~self.climbing)
        mode = top_of_ridge(density, self.x[rows], -self._f[rows], -self._g[rows])
        rows, root = rows[mode.found], mode.root[mode.found]
        self.x[rows] = mode.x[mode.found]
        if len(rows):
            self._f[rows] = -density(self.x[rows])[0]
        return rows, np.einsum("cij,cj->ci", root, rng.standard_normal(root.shape[:2]))

    def noise(self, rng: np.random.Generator) -> Array:
        """Draw how far from the mode a chain may be: (chains, dim)."""
        return self._memory.noise(rng)

    def _search(self, y: Array, logp: Array, grad: Array) -> Array:
        """Take in the density at the trial points, and move where it is good enough: (chains,)."""
        t, a, b = self._t, self._a, self._b
        enough = np.isfinite(logp) & (-logp <= self._f + DECREASE * t * self._slope)
        enough &= ~self._arrived
        flat = -np.vecdot(grad, self._p) >= SLOPE * self._slope
        done = enough & (flat | (t > LONGEST) | (b - a < NARROW * a))
        a[enough & ~done] = t[enough & ~done]
        b[~enough] = t[~enough]
        between = a + (b - a) * np.where(a == 0.0, 0.25, 0.5)
        self._t = np.where(np.isfinite(b), between, GROWTH * t)
        self._move(done, y, logp, grad)
        self._arrived |= self._t < SHORTEST
        return np.asarray(done)

    def _move(self, rows: Array, y: Array, logp: Array, grad: Array) -> None:
        """Let some chains go to their trial points, and choose new directions."""
        if not rows.any():
            return
        gained = self._f[rows] + logp[rows]
        self._memory.learn(y - self.x, -grad - self._g, rows)
        self.x[rows], self._f[rows], self._g[rows] = y[rows], -logp[rows], -grad[rows]
        self._set_out(rows)
        little = (gained < self._little) & (-0.5 * self._slope[rows] < self._little)
        self._small[rows] = np.where(little, self._small[rows] + 1, 0)
        self._arrived |= self._small >= IN_A_ROW

    def _weigh(self, density: LogDensity, rows: Array) -> None:
        """Compute F where some chains are, and keep the places where it is highest."""
        self._here[rows] = -np.inf
        rows = rows & np.isfinite(self._g).all(axis=1)
        if not rows.any():
            return
        g = self._g[rows]
        apart = np.minimum(APART, CHANGE / np.abs(g).max(axis=1, keepdims=True))
        _, ahead = density(self.x[rows] + apart * self._probe)
        h = np.abs((-ahead - g) / apart)
        unusual = ((h < USUAL[0]) & ((h > 0.0) | (g != 0.0))) | (h > USUAL[1])
        self.unlike[rows] = unusual.any(axis=1)
        h = np.maximum(h, FLATTEST)
        self._here[rows] = -self._f[rows] - 0.5 * np.sum(np.log(h), axis=1)
        better = rows & (self._here > self._highest)
        self._best[better], self._best_logp[better] = self.x[better], -self._f[better]
        self._highest[better] = self._here[better]

    def _set_out(self, rows: Array) -> None:
        """Begin a search along a new direction."""
        self._p[rows] = self._memory.direction(self._g)[rows]
        self._slope[rows] = np.vecdot(self._g, self._p)[rows]
        self._t[rows], self._a[rows], self._b[rows] = 1.0, 0.0, np.inf
        self._arrived |= rows & ~(self._slope < 0.0)


@np.errstate(all="ignore")
def log_weight(density: LogDensity, x: Array) -> float:
    """Return F at a place, (dim,), with the Hessian by central differences; NaN if not finite."""
    logp, grad = density(x[None])
    apart = np.minimum(APART, CHANGE / np.abs(grad[0]))
    ahead, behind = (density(x + sign * np.diag(apart))[1] for sign in (0.5, -0.5))
    hessian = (ahead - behind) / apart[:, None]
    return float(logp[0] - 0.5 * np.linalg.slogdet(0.5 * (hessian + hessian.T))[1])


def climb(
    density: LogDensity, x: Array, rng: np.random.Generator, most: int, depth: float
) -> Iterator[Array]:
    """Climb, evaluation by evaluation of all chains; yields where they are.

    Parameters
    ----------
    density : the target
    x : (chains, dim); a chain stays where the log density is not finite
    rng : of the draws around where they arrive
    most : trial points of each chain, at most, in one choice of units
    depth : what a small step gains, in units of the dimension
    """
    chains = Climbers(density, x, depth)
    for _ in _ascend(chains, density, most - 1 - HALVINGS):
        yield chains.x
    noise = chains.noise(rng)
    yield from _in_units(chains, density, rng, most - 1 - HALVINGS, noise)
    known = np.isfinite(noise).all(axis=1)  # not of a chain that has started without a gradient
    rows = np.flatnonzero(chains.finite & ~chains.climbing & known)
    for _ in range(HALVINGS):
        if not len(rows):
            return
        rows = rows[~chains.spread(density, noise, rows)]
        noise *= 0.5
        yield chains.x


def _ascend(chains: Climbers, density: LogDensity, most: int) -> Iterator[None]:
    """Climb by so many trial points at most."""
    yield
    for left in reversed(range(most)):
        if not chains.climbing.any():
            break
        chains.step(density)
        if not left:
            chains.give_up()
        yield
    if chains.x.shape[1] <= LARGEST:
        for chain in chains.too_far():
            chains.reconsider(density, chain)
            yield


def _in_units(
    chains: Climbers, density: LogDensity, rng: np.random.Generator, most: int, noise: Array
) -> Iterator[Array]:
    """Climb on in other units where those of some coordinates are far off; fills in ``noise``."""
    rows, before = np.flatnonzero(chains.finite & chains.unlike), np.ones(chains.x.shape[1])
    for n in range(CLIMBS):
        if not len(rows):
            return
        search = UnitSearch(density, chains.x[rows], np.random.default_rng(n))
        while not search.found:
            search.step(density)
            yield chains.x
        far = np.abs(np.log(search.S / before)).max(axis=1) > np.log(OFF)
        far |= (search.promised > chains.x.shape[1]) & ~chains.climbing[rows]
        rows = rows[far]
        if not len(rows):
            return
        S = np.exp(np.median(np.log(search.S[far]), axis=0))
        before = S
        target: Any = InUnits(density, S)
        part = Climbers(target, chains.x[rows] / S, chains.depth)
        for _ in _ascend(part, target, most):
            chains.take(part, rows, S)
            yield chains.x
        noise[rows] = part.noise(rng) * S
        if chains.x.shape[1] <= LARGEST_NEWTON:
            there, drawn = part.follow_ridge(target, rng)
            chains.take(part, rows, S)
            noise[rows[there]] = drawn * S
            yield chains.x
