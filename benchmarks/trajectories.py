"""The cost of a leapfrog step: trajectories in machine code, step by step, and on two cores.

    python benchmarks/trajectories.py --csv benchmarks/results/trajectories.csv

16 chains follow trajectories of ten leapfrog steps with a diagonal mass matrix. ``steps`` takes
them in NumPy, with gradients in machine code; ``one core`` and ``two cores`` are machine code
throughout. All programs must end at the same place before they are timed. Times are medians over
rounds; within a round the programs take turns.
"""

from __future__ import annotations

import argparse
import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
from engines import CASES, ROOT, times

from probmodel import load_model, read_data
from probmodel.blas import one_blas_thread
from probmodel.density import ModelDensity, as_posterior
from probmodel.samplers.hamiltonian.dynamics import Phase, simulate, with_momentum
from probmodel.samplers.metropolis import evaluate

CHAINS, STEPS = 16, 10
FINE = "Cox process (64 x 64)"
LONG = {
    "stochastic volatility (2515)": ("stochastic_volatility", "sp500.csv"),
    FINE: ("log_gaussian_cox", "finpines_16x16.npz"),
}


class Steps:
    """A density that is asked for one gradient at a time."""

    def __init__(self, density: ModelDensity) -> None:
        self._density, self.dim, self.coordinate_names = density, density.dim, ()

    def __call__(self, x: Any) -> Any:
        """Log density and gradient."""
        return self._density(x)

    def log_density(self, x: Any) -> Any:
        """Log density alone."""
        return self._density.log_density(x)


def refined(values: dict[str, Any], parts: int) -> dict[str, Any]:
    """Cut the cells of a grid into parts; points go to one of their cell's parts at random."""
    rng, y = np.random.default_rng(0), np.asarray(values["y"])
    fine = np.zeros(tuple(parts * n for n in y.shape))
    for i, j in np.argwhere(y):
        for _ in range(int(y[i, j])):
            fine[tuple(parts * np.array([i, j]) + rng.integers(parts, size=2))] += 1.0
    grid = {}
    for name in ("northing", "easting"):
        centres = np.asarray(values[name])
        width = (centres[1] - centres[0]) / parts
        offsets = width * (np.arange(parts) - 0.5 * (parts - 1))
        grid[name] = (centres[:, None] + offsets).reshape(-1)
    return {**values, **grid, "share": values["share"] / parts**2, "y": fine}


def density_of(name: str, model: str, data: str, cores: int) -> ModelDensity:
    """Return the density of a model of the gallery, in machine code."""
    values = read_data(ROOT / "models" / "data" / data)
    values.pop("coords", None)
    values = refined(values, 4) if name == FINE else values
    density = as_posterior(load_model(ROOT / "models" / f"{model}.py")(**values))
    assert isinstance(density, ModelDensity)
    density.use_engine("llvm", cores)
    return density


def row(name: str, model: str, data: str, rounds: int) -> dict[str, Any]:
    """Measure one model."""
    one, two = (density_of(name, model, data, cores) for cores in (1, 2))
    rng = np.random.default_rng(0)
    x = 0.1 * rng.standard_normal((CHAINS, one.dim))
    start = with_momentum(evaluate(one, x), rng.standard_normal(x.shape))
    evaluate(two, x)
    root, h = np.ones(one.dim), 1e-3 / np.sqrt(1.0 + np.abs(start.grad).max())

    def follow(density: Any) -> Any:
        def run(begin: Phase) -> Phase:
            return simulate(density, begin, root, h, STEPS)[0]

        return run

    programs = [follow(Steps(one)), follow(one), follow(two)]
    ends = [program(start).x for program in programs]
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=1e-9, atol=1e-12)
    seconds = times(programs, start, rounds)
    by_step, single, double = (1e6 * s / STEPS for s in seconds)
    return {
        "posterior": name, "dim": one.dim, "steps": by_step, "one core": single,
        "two cores": double, "steps / one core": by_step / single,
        "one core / two cores": single / double,
    }  # fmt: skip


def main(args: list[str] | None = None) -> None:
    """Measure all models and print a table, microseconds a step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--only", help="a part of the names of the posteriors to measure")
    options = parser.parse_args(args)
    rows = []
    print(f"{os.cpu_count()} cores; microseconds of one step of {CHAINS} chains")
    with one_blas_thread():
        for name, (model, data) in {**CASES, **LONG}.items():
            if options.only and options.only not in name:
                continue
            rows.append(row(name, model, data, options.rounds))
            numbers = " ".join(f"{k} {v:.2f}" for k, v in rows[-1].items() if isinstance(v, float))
            print(f"{name:32s} {numbers}", flush=True)
    ratios = [r["steps / one core"] for r in rows]
    print(
        f"steps over trajectories: {np.median(ratios):.1f} in the median, {min(ratios):.2f} least"
    )
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
