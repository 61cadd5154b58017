"""The cost of one gradient: compiled model, hand-written NumPy, and autograd's own tracer.

    python benchmarks/gradient.py

For each model of the gallery the log posterior density with its gradient, on the unconstrained
scale, is written by hand in NumPy as one would for this model alone: closed-form derivatives,
batched over chains, no work done twice. Both programs must agree before they are timed. Times are
medians over rounds; within a round the programs take turns, so that a noisy machine disturbs
all alike. Ratios are ours over the other program's.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autograd
import numpy as np
from autograd.core import make_vjp
from hand_written import HAND_WRITTEN

from probmodel import load_model, read_data
from probmodel.blas import one_blas_thread
from probmodel.density import ModelDensity, as_posterior

ROOT = Path(__file__).resolve().parent.parent
CASES = {
    "logistic regression (german)": ("logistic_regression", "german.npz"),
    "logistic regression (caravan)": ("logistic_regression", "caravan.npz"),
    "logistic regression (pima)": ("logistic_regression", "pima.npz"),
    "linear regression (kidiq)": ("linear_regression", "kidiq.csv"),
    "eight schools": ("eight_schools", "eight_schools.json"),
    "stochastic volatility (500)": ("stochastic_volatility_centered", "sp500_500.csv"),
    "Cox process (16 x 16)": ("log_gaussian_cox", "finpines_16x16.npz"),
    "normal mixture (1000)": ("gaussian_mixture", "gaussian_mixture.csv"),
    "autoregression of order 5": ("autoregression", "autoregression.csv"),
    "Gaussian process regression": ("gaussian_process_regression", "gp_regression.csv"),
    "two curves (motorcycle)": ("motorcycle", "motorcycle.csv"),
    "derived inputs (nes 1972)": ("nes", "nes1972.csv"),
    "far intercept (kilpisjarvi)": ("kilpisjarvi", "kilpisjarvi.json"),
}
CHAINS = (1, 4, 16, 32)


def traced(density: ModelDensity) -> Callable[[Any], Any]:
    """Return the same gradient by autograd's tracer."""

    def run(x: Any) -> Any:
        vjp, value = make_vjp(density._traced, x)
        return value, vjp(np.ones(len(x)))

    return run


def build(model: str, data: str) -> tuple[ModelDensity, Callable[[Any], Any]]:
    """Return the compiled density of a model and the hand-written one."""
    values = read_data(ROOT / "models" / "data" / data)
    values.pop("coords", None)
    density = as_posterior(load_model(ROOT / "models" / f"{model}.py")(**values))
    return density, HAND_WRITTEN[model](**values)


def check(ours: Any, theirs: Any, x: Any) -> None:
    """Stop unless both programs agree, up to a constant in the log density."""
    a, b = ours(x), theirs(x)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-8, atol=1e-8 * np.abs(b[1]).max())
    np.testing.assert_allclose(a[0] - a[0][0], b[0] - b[0][0], rtol=1e-8, atol=1e-7)


def times(programs: list[Callable[[Any], Any]], x: Any, rounds: int) -> list[float]:
    """Return the median seconds of one call of each program, taking turns."""
    for program in programs:
        program(x)
    start = time.perf_counter()
    programs[0](x)
    calls = max(1, int(0.004 / (time.perf_counter() - start)))
    taken: list[list[float]] = [[] for _ in programs]
    for _ in range(rounds):
        for program, record in zip(programs, taken, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                program(x)
            record.append((time.perf_counter() - start) / calls)
    return [float(np.median(record)) for record in taken]


def _by_model(rows: list[Any], chains: int, over: int, under: int) -> float:
    """Return the median over models of the median ratio of each model's data sets."""
    ratios: dict[str, list[float]] = {}
    for row in rows:
        if row[1] == chains:
            ratios.setdefault(CASES[row[0]][0], []).append(row[over] / row[under])
    return float(np.median([np.median(r) for r in ratios.values()]))


def main() -> None:
    """Print the table, and write it as CSV if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, autograd "
        f"{autograd.__version__ if hasattr(autograd, '__version__') else ''}, "
        f"OPENBLAS_NUM_THREADS={os.environ.get('OPENBLAS_NUM_THREADS', 'not set')}"
    )
    print(f"{'model':<30}{'chains':>7}{'ours µs':>10}{'NumPy µs':>10}{'tracer µs':>11}"
          f"{'ours/NumPy':>12}{'tracer/ours':>13}")  # fmt: skip
    rows = []
    for title, (model, data) in CASES.items():
        density, by_hand = build(model, data)
        for chains in CHAINS:
            x = density.initial_points(np.random.default_rng(chains), chains, inits=0.3)
            check(density, by_hand, x)
            ours, theirs, tracer = times([density, by_hand, traced(density)], x, options.rounds)
            rows.append((title, chains, ours * 1e6, theirs * 1e6, tracer * 1e6))
            print(f"{title:<30}{chains:>7}{ours * 1e6:>10.1f}{theirs * 1e6:>10.1f}"
                  f"{tracer * 1e6:>11.1f}{ours / theirs:>12.2f}{tracer / ours:>13.2f}")  # fmt: skip
    for chains in CHAINS:
        chosen = np.array([row[2:] for row in rows if row[1] == chains])
        over_hand = np.median(chosen[:, 0] / chosen[:, 1])
        over_ours = np.median(chosen[:, 2] / chosen[:, 0])
        print(
            f"median at {chains:>2} chains: ours/NumPy {over_hand:.2f}, tracer/ours "
            f"{over_ours:.2f}; over the models, each by the median of its data sets: "
            f"{_by_model(rows, chains, 2, 3):.2f}, {_by_model(rows, chains, 4, 2):.2f}"
        )
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["model", "chains", "ours_us", "numpy_us", "tracer_us"])
            writer.writerows(rows)


if __name__ == "__main__":
    with one_blas_thread():  # as in runs
        sys.exit(main())
