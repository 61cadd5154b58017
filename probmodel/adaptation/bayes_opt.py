"""Annealed Bayesian optimisation of a step size and a number of steps.

    gamma     setting: step size epsilon and most leapfrog steps L
    Gamma     the settings to choose from, a grid over the box of their limits
    i         rewards so far
    r_i       reward of the i-th setting, the larger the better
    s         scale of the rewards: the best so far counts alpha
    mu, v     posterior mean and variance of the reward                  see `gaussian_process`
    k         rewards of the warm-up, before the annealing
    p_i       probability of choosing anew, (max(i - k + 1, 1))^-1/2
    beta      weight of the variance, beta_(i+1) = 2 log((i + 1)^(D/2 + 2) pi^2 / (3 delta))
    u         acquisition function, s mu + p_i (beta v)^1/2
    D         features of a setting, 2

    Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo
    samplers", Algorithm 2. p_i falls to zero, and with it the changes of the setting.

Deviations. The features are log epsilon and L, scaled to [0, 1], as in the authors' code. u is
maximised over the whole grid, where the code climbs from several starts; so Gamma is finite, as
Proposition 3 asks. Beyond `MOST_POINTS` distinct settings only those that were tried are
candidates. The annealing begins with the end of the warm-up, if that comes before the k-th reward.
In the kernel the squared difference of two settings stands in place of the product that is printed,
and pi^2 in beta is a factor, not a part of the exponent.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from probmodel.adaptation.surrogate import Kernel, Surrogate, add_values, no_values, posterior_mean
from probmodel.types import Array

Spacing = Literal["log", "linear"]

STEP_SIZES = 100  # epsilons to choose from
MOST_COUNTS = 200  # Ls to choose from, at most
MOST_POINTS = 500  # distinct settings that are tried, at most
FEATURES = 2  # D


class Grid(NamedTuple):
    """The settings to choose from: every pair of a step size and a number of steps.

    A cell of the grid is a row and a column; its first is the smallest of both.

    Attributes
    ----------
    step_sizes : (rows,), increasing
    n_steps : (columns,), increasing
    axes : (rows,) and (columns,), their features, between 0 and 1
    """

    step_sizes: Array
    n_steps: Array
    axes: tuple[Array, Array]


def make_grid(
    step_range: tuple[float, float], steps_range: tuple[int, int], spacing: Spacing = "log"
) -> Grid:
    """Return the settings between the limits of both, these included.

    ``spacing`` says whether step sizes are even on the log scale or as they are. Of the numbers of
    steps, all between are chosen from, or `MOST_COUNTS` of them.
    """
    space = np.geomspace if spacing == "log" else np.linspace
    low, high = steps_range
    counts = np.linspace(low, high, min(high - low + 1, MOST_COUNTS)).round().astype(int)
    even = np.linspace(0.0, 1.0, STEP_SIZES)
    return Grid(space(*step_range, STEP_SIZES), counts, (even, (counts - low) / max(high - low, 1)))


class Search(NamedTuple):
    """What the search has found, and where it goes on.

    Attributes
    ----------
    grid : the settings to choose from
    cell : row and column of the setting in force
    i : rewards so far
    free : how many of them came before the annealing, k at most
    waiting, total : how many of them came since a setting was last chosen, and their sum; they are
        all of one setting, and the surrogate learns them together when it is next asked
    cells : (n, 2), rows and columns of the settings that the surrogate knows
    rewards : the surrogate of the reward
    highest : largest single reward
    scale : s
    """

    grid: Grid
    cell: tuple[int, int]
    i: int
    free: int
    waiting: int
    total: float
    cells: Array
    rewards: Surrogate
    highest: float
    scale: float

    def setting(self, cell: tuple[int, int]) -> tuple[float, int]:
        """Step size and number of steps of a cell."""
        return float(self.grid.step_sizes[cell[0]]), int(self.grid.n_steps[cell[1]])


class AnnealedSearch(NamedTuple):
    """How settings are chosen; a `Search` is what they are chosen from.

    Attributes
    ----------
    k : rewards before p_i begins to fall, at most
    alpha : what the best reward counts
    delta : the smaller, the more the variance weighs
    kernel : of the rewards, in units in which the best counts alpha
    """

    k: int
    alpha: float
    delta: float
    kernel: Kernel

    def start(self, grid: Grid) -> Search:
        """Begin at the smallest step size and the fewest steps."""
        nothing = no_values(self.kernel, grid.axes)
        return Search(
            grid, (0, 0), 0, 0, 0, 0.0, np.empty((0, 2), dtype=int), nothing, -np.inf, 1.0
        )

    def choose(
        self, rng: np.random.Generator, search: Search, reward: float, warming_up: bool = True
    ) -> Search:
        """Learn the reward of the setting in force, and choose the next (lines 5 to 15).

        The ``reward`` is finite, and ``warming_up`` whether it is one of the warm-up. One uniform
        number is drawn.
        """
        is_highest = reward > search.highest and reward > 0.0
        search = search._replace(
            i=search.i + 1,
            free=min(search.free + warming_up, self.k),
            waiting=search.waiting + 1,
            total=search.total + reward,
            highest=max(search.highest, reward),
            scale=self.alpha / reward if is_highest else search.scale,
        )
        if rng.random() >= change_probability(search.i, search.free):
            return search
        search = self.learned(search)
        return search._replace(cell=self._most_promising(search))

    def best(self, search: Search) -> tuple[int, int]:
        """Cell with the highest posterior mean of those that were tried; the first without any."""
        if not search.i:
            return search.cell
        search = self.learned(search)
        return _first_of(search.cells, posterior_mean(self.kernel, search.rewards))

    def learned(self, search: Search) -> Search:
        """Let the surrogate learn the rewards that wait."""
        if not search.waiting:
            return search
        row, column = search.cell
        point = np.array([search.grid.axes[0][row], search.grid.axes[1][column]])
        mean = search.total / search.waiting
        rewards = add_values(self.kernel, search.rewards, point, mean, search.waiting)
        is_new = len(rewards.points) > len(search.cells)
        cells = np.append(search.cells, [search.cell], axis=0) if is_new else search.cells
        return search._replace(waiting=0, total=0.0, cells=cells, rewards=rewards)

    def _most_promising(self, search: Search) -> tuple[int, int]:
        """Cell at which u is largest."""
        p, beta = change_probability(search.i, search.free), variance_weight(search.i, self.delta)
        mean = posterior_mean(self.kernel, search.rewards)
        u = search.scale * mean + p * np.sqrt(beta * search.rewards.variance)
        if len(search.cells) >= MOST_POINTS:
            return _first_of(search.cells, u)
        row, column = divmod(int(np.argmax(u)), u.shape[1])
        return row, column


def change_probability(i: int, k: int) -> float:
    """Return p_i, with which the setting is chosen anew after ``i`` rewards."""
    return float(max(i - k + 1, 1) ** -0.5)


def variance_weight(i: int, delta: float) -> float:
    """Return beta_(i+1), with which the variance counts after ``i`` rewards."""
    return float(2.0 * ((FEATURES / 2 + 2) * np.log(i + 1) + np.log(np.pi**2 / (3.0 * delta))))


def _first_of(cells: Array, values: Array) -> tuple[int, int]:
    """Return the one of some cells, (n, 2), whose value is largest."""
    row, column = cells[np.argmax(values[cells[:, 0], cells[:, 1]])]
    return int(row), int(column)
