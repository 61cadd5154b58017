"""Where one iteration's time goes: evaluations, the method's matrix products, and the rest.

    python benchmarks/steps.py --csv benchmarks/results/steps.csv

A logistic regression with 87 parameters and 5000 observations, written in the package's model
language, is sampled by 32 chains. For each method, in warm-up and in sampling, medians of several
rounds are shown of

- iteration: a transition, with the adaptation in the warm-up,
- evaluations: the time that the iteration spends in the log density, its gradient, its Hessian or
  its metric,
- products: the matrix products that the method is made of, alone, as plain NumPy; where they are
  few, passes over a learned matrix or an ensemble (residuals, copies) count too,
- ratio: iteration / (evaluations + products); one would be no overhead at all,
- strict: (iteration - products) / evaluations, in which all overhead is charged to the evaluations.

A second table has the same on a normal distribution, whose evaluation costs next to nothing, and
the third the largest amount of memory that an iteration allocates, over that of ``chains dim +
dim^2`` numbers; `mmala` keeps a matrix of each chain and `sa_mcmc` an ensemble (here of 2 dim
points). Exits with status 1 if a ratio of the first table exceeds 1.5.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from report import environment, markdown

from probmodel.blas import one_blas_thread
from probmodel.density import as_posterior
from probmodel.distributions import BernoulliLogit, Normal
from probmodel.model import Model, data, observed, param
from probmodel.numerics.linalg import solve_lower, solve_rows
from probmodel.samplers import SAMPLERS, make_sampler
from probmodel.samplers.base import Sampler
from probmodel.types import Array

DIM, CHAINS, OBSERVATIONS = 87, 32, 5000
MOST = 1.5
TIMES = 10  # iterations of a round
LEARNED = 40  # iterations before timing, in which every method reaches its usual course
SETTINGS: dict[str, dict[str, Any]] = {
    "am": {"initial_steps": 10},
    "ada_mala": {"initial_steps": 10},
    "fisher_mala": {"initial_steps": 10},
    "sa_mcmc": {"ensemble": 2 * DIM},
    # Trajectories of a fixed length.
    "ahmc": {"step_range": (0.05, 0.06), "steps_range": (4, 4)},
    "armhmc": {"step_range": (0.5, 0.6), "steps_range": (1, 1)},
    "entropy_hmc": {"n_steps": 4},
    "hmc": {"n_steps": 4, "random_steps": False},
    "mams": {"trajectory_length": 0.5, "metric": "diag"},
    "nuts": {"max_depth": 3},
    "rm_const_hmc": {"n_steps": 4, "random_steps": False},
    "rmhmc": {"n_steps": 1, "random_steps": False},
}
WARMUP = {
    "autostep": 30,
    "fisher_hmc": 30,
}  # iterations, so that those timed are no Langevin ones; else plenty


class LogisticRegression(Model):
    """Bayesian logistic regression."""

    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(BernoulliLogit(X @ beta), dims="obs")


class Normal87:
    """Independent normal coordinates of different scales: evaluations cost next to nothing."""

    dim, coordinate_names = DIM, ()
    precision = np.geomspace(0.1, 10.0, DIM)

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Log density and gradient."""
        grad = -x * self.precision
        return 0.5 * np.einsum("ij,ij->i", x, grad), grad

    def log_density(self, x: Array) -> Array:
        """Log density alone."""
        return self(x)[0]

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian times a vector."""
        return -v * self.precision

    def hessian(self, x: Array) -> Array:
        """Hessian."""
        return -self.metric(x)

    def metric(self, x: Array) -> Array:
        """Minus the Hessian."""
        return np.repeat(np.diag(self.precision)[None], len(x), axis=0)

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Return zero, as the metric is constant."""
        return np.zeros_like(x)


class Timed:
    """Passes everything on to a log density and adds up the time that it takes."""

    def __init__(self, density: Any) -> None:
        self._density = density
        self.dim, self.coordinate_names = density.dim, density.coordinate_names
        self.seconds = 0.0

    def _timed(self, function: Callable[..., Any], *args: Array) -> Any:
        begin = time.perf_counter()
        value = function(*args)
        self.seconds += time.perf_counter() - begin
        return value

    def __call__(self, x: Array) -> Any:
        """Log density and gradient."""
        return self._timed(self._density, x)

    def log_density(self, x: Array) -> Any:
        """Log density alone."""
        return self._timed(self._density.log_density, x)

    def hvp(self, x: Array, v: Array) -> Any:
        """Hessian times a vector."""
        return self._timed(self._density.hvp, x, v)

    def hessian(self, x: Array) -> Any:
        """Hessian."""
        return self._timed(self._density.hessian, x)

    def metric(self, x: Array) -> Any:
        """Metric."""
        return self._timed(self._density.metric, x)

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Any:
        """Gradient of the metric along some directions."""
        return self._timed(self._density.metric_gradient, x, vectors, weights)


# -- the products that a method cannot do without ---------------------------------------------

RNG = np.random.default_rng(0)
V = RNG.standard_normal((CHAINS, DIM))  # one vector of each chain
A = RNG.standard_normal((DIM, DIM))
S = A @ A.T + DIM * np.eye(DIM)
T = np.repeat(S[None], CHAINS, axis=0)  # a matrix of each chain
L = np.linalg.cholesky(T)
# Ensembles of each chain: several, because an iteration does not find its own in the cache either.
ENSEMBLES = cycle([RNG.standard_normal((CHAINS, 2 * DIM, DIM)) for _ in range(8)])


def scatter(E: Array) -> Array:
    """Sum of outer products of each ensemble."""
    return np.swapaxes(E, 1, 2) @ E


PRODUCTS: dict[str, Callable[[], Any]] = {
    "matrix times vectors": lambda: V @ A,
    "outer products": lambda: V.T @ V,
    "matrix times matrix": lambda: A @ S,
    "pass over a matrix": lambda: A + S,
    "factor": lambda: np.linalg.cholesky(S),
    "factor of each chain": lambda: np.linalg.cholesky(T),
    "system of each chain": lambda: solve_lower(L, V[:, :, None]),
    "scatter of each ensemble": lambda: scatter(next(ENSEMBLES)),
    "systems of each ensemble": lambda: solve_rows(L, next(ENSEMBLES).copy()),
    "pass over each ensemble": lambda: 1.0 - next(ENSEMBLES),
    "inverse of each chain": lambda: np.linalg.inv(T),
    "matrix of each chain times vector": lambda: T @ V[:, :, None],
}
# Of methods whose chains are points; those that begin from the prior have populations or ladders.
KERNEL: dict[str, dict[str, float]] = {
    "rwm": {}, "mtm": {}, "mala": {}, "ahmc": {}, "hmc": {}, "mams": {}, "nuts": {},
    "stretch": {},
    "rm_const_hmc": {"matrix times vectors": 9},
    "rm_const_mala": {"matrix times vectors": 3},
    "fisher_hmc": {"matrix times vectors": 5},
    "entropy_hmc": {"matrix times vectors": 9},
    "rmhmc": {
        "factor of each chain": 2, "inverse of each chain": 2,
        "matrix of each chain times vector": 12,
    },
    "armhmc": {
        "factor of each chain": 2, "inverse of each chain": 2,
        "matrix of each chain times vector": 12,
    },
    "am": {"matrix times vectors": 1},
    "ada_mala": {"matrix times vectors": 3},
    "autostep": {"matrix times vectors": 6},
    "barker": {"matrix times vectors": 3},
    "fisher_mala": {"matrix times vectors": 3},
    "gad_rwm": {"matrix times vectors": 1},
    "gad_mala": {"matrix times vectors": 3},
    "gad_mala_exact": {"matrix times vectors": 3},
    "mmala": {"factor of each chain": 1, "system of each chain": 5},
    "sa_mcmc": {
        "scatter of each ensemble": 1, "factor of each chain": 1, "systems of each ensemble": 1,
        "pass over each ensemble": 5,
    },
}  # fmt: skip
ADAPTATION: dict[str, dict[str, float]] = {
    "am": {"outer products": 1, "pass over a matrix": 2, "factor": 0.2},
    "ada_mala": {"outer products": 1, "pass over a matrix": 2, "factor": 0.2},
    "autostep": {"matrix times vectors": 2, "outer products": 1, "pass over a matrix": 4},
    "barker": {"matrix times vectors": 2, "outer products": 1, "pass over a matrix": 4},
    "fisher_mala": {"matrix times vectors": 2, "outer products": 1, "pass over a matrix": 4},
    "fisher_hmc": {"matrix times vectors": 4, "outer products": 2, "pass over a matrix": 5},
    "entropy_hmc": {
        "matrix times vectors": 12, "outer products": 7, "pass over a matrix": 12,
        "matrix times matrix": 2,
    },
    "gad_rwm": {"outer products": 1, "pass over a matrix": 10},
    "gad_mala": {"matrix times vectors": 1, "outer products": 1, "pass over a matrix": 10},
    "gad_mala_exact": {"matrix times vectors": 5, "outer products": 3, "pass over a matrix": 10},
}  # fmt: skip


def stated_products(method: str, phase: str) -> dict[str, float]:
    """Return how often an iteration takes each product."""
    stated = dict(KERNEL[method])
    if phase == "warm-up":
        for name, times in ADAPTATION.get(method, {}).items():
            stated[name] = stated.get(name, 0) + times
    return stated


def product_seconds(stated: dict[str, float]) -> float:
    """Seconds that the products of an iteration take alone."""
    return sum(times * seconds(PRODUCTS[name]) for name, times in stated.items())


def seconds(call: Callable[[], Any], times: int = TIMES) -> float:
    """Mean seconds of one call."""
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


# -- iterations ---------------------------------------------------------------------------------


class Iteration:
    """A warmed-up sampler, one iteration of which can be repeated.

    Parameters
    ----------
    method : a name in `SAMPLERS`
    density : the target
    phase : "warm-up" or "sampling"
    """

    def __init__(self, method: str, density: Any, phase: str) -> None:
        self.sampler: Sampler = make_sampler(method, **SETTINGS.get(method, {}))
        self.rng = np.random.default_rng(1)
        self.density, self.phase = Timed(density), phase
        self.n_warmup = WARMUP.get(method, 100_000)
        chains = max(CHAINS, self.sampler.min_chains(DIM))  # an ensemble of chains takes more
        x0 = 0.01 * self.rng.standard_normal((chains, DIM))
        self.state: Any = self.sampler.init(self.rng, self.density, x0)
        self.adaptation = self.sampler.adapt_init(self.rng, self.density, self.state)
        self.i = 0
        for _ in range(LEARNED):
            self.warm_up()
        self.frozen = self.sampler.params(self.adaptation, final=True)

    def __call__(self) -> None:
        """Run one iteration."""
        if self.phase == "warm-up":
            self.warm_up()
        else:
            self.state, _ = self.sampler.step(self.rng, self.density, self.state, self.frozen)

    def warm_up(self) -> None:
        """Run one iteration that learns."""
        params = self.sampler.params(self.adaptation)
        state, info = self.sampler.step(self.rng, self.density, self.state, params)
        self.adaptation = self.sampler.adapt(
            self.rng, self.density, self.i, self.n_warmup, self.adaptation, state, info
        )
        self.state, self.i = state, self.i + 1


def measure(method: str, density: Any, phase: str, rounds: int) -> Array:
    """Seconds of an iteration, of the evaluations in it, and of its products alone: (3,).

    Medians over rounds; each round measures all three, because the machine's speed drifts.
    """
    iteration = Iteration(method, density, phase)
    stated = stated_products(method, phase)
    spent = []
    for _ in range(rounds):
        iteration.density.seconds = 0.0
        whole = seconds(iteration)
        spent.append((whole, iteration.density.seconds / TIMES, product_seconds(stated)))
    return np.median(spent, axis=0)


def peak_memory(method: str, phase: str) -> float:
    """Most memory that an iteration allocates: bytes over those of chains dim + dim^2 numbers."""
    iteration = Iteration(method, Normal87(), phase)
    tracemalloc.start()
    for _ in range(3):
        iteration()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (8.0 * (CHAINS * DIM + DIM**2))


def targets() -> dict[str, Any]:
    """Return the regression, and the normal distribution."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((OBSERVATIONS, DIM)) / np.sqrt(DIM)
    y = (rng.random(OBSERVATIONS) < 1.0 / (1.0 + np.exp(-X @ rng.standard_normal(DIM)))).astype(int)
    return {"regression": as_posterior(LogisticRegression(X=X, y=y)), "normal": Normal87()}


def rows_of(method: str, densities: dict[str, Any], rounds: int) -> Any:
    """Yield one row for each target and phase."""
    for target, density in densities.items():
        for phase in ("warm-up", "sampling"):
            whole, evaluations, stated = measure(method, density, phase, rounds)
            yield {
                "target": target, "method": method, "phase": phase,
                "iteration_us": 1e6 * whole, "evaluations_us": 1e6 * evaluations,
                "products_us": 1e6 * stated,
                "rest_us": 1e6 * (whole - evaluations - stated),
                "ratio": whole / (evaluations + stated),
                "strict": (whole - stated) / evaluations,
                "memory": peak_memory(method, phase),
            }  # fmt: skip


def table(rows: Sequence[dict[str, Any]], target: str) -> str:
    """Format the rows of one target."""
    header = (
        "method",
        "phase",
        "iteration µs",
        "evaluations",
        "products",
        "rest",
        "ratio",
        "strict",
    )
    columns = ("iteration_us", "evaluations_us", "products_us", "rest_us")
    return markdown(
        header,
        [
            (
                r["method"],
                r["phase"],
                *(f"{r[c]:.0f}" for c in columns),
                *(f"{r[c]:.2f}" for c in ("ratio", "strict")),
            )
            for r in rows
            if r["target"] == target
        ],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a ratio on the regression is above the limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=list(SAMPLERS), choices=list(SAMPLERS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--csv", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    densities = targets()
    rows = [row for m in options.methods for row in rows_of(m, densities, options.rounds)]
    for target, title in (
        ("regression", f"Logistic regression, {OBSERVATIONS} observations"),
        ("normal", "Normal distribution"),
    ):
        print(f"## {title}: {DIM} parameters, {CHAINS} chains\n\n{table(rows, target)}\n")
    memory = [(r["method"], r["phase"], f"{r['memory']:.1f}") for r in rows if
              r["target"] == "normal"]  # fmt: skip
    print("## Memory of an iteration, over chains dim + dim² numbers\n")
    print(markdown(("method", "phase", "times"), memory))
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: shown(v) for k, v in row.items()} for row in rows)
    above = [r for r in rows if r["target"] == "regression" and r["ratio"] > MOST]
    for r in above:
        print(f"- ABOVE {MOST}: {r['method']} in {r['phase']}: {r['ratio']:.2f}")
    return 1 if above else 0


def shown(value: Any) -> Any:
    """Round what was measured."""
    return f"{value:.4g}" if isinstance(value, float) else value


if __name__ == "__main__":
    with one_blas_thread():  # as in runs
        sys.exit(main())
