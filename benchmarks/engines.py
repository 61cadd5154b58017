"""The cost of one gradient: machine code, the NumPy engine, and NumPy and loops written by hand.

    python benchmarks/engines.py --csv benchmarks/results/engines.csv

For 13 posteriors of the gallery the log density with its gradient, on the unconstrained scale, is
written by hand in NumPy as one would for this model alone: closed-form derivatives, batched over
chains, no work done twice. For the others the two engines are compared. For six
there are loops written by hand as well, which numba compiles: the limit (see `numba_loops`). Of
their two programs the faster counts; without numba their column is empty. All programs must agree
before they are timed. Times are medians over rounds; within a round the programs take turns, so
that a noisy machine disturbs all alike. One core is used. What has no machine code is left out, and
named. ``made`` is the time from the bound model to code that runs, of one kind of vector.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import corpus
import llvmlite
import numpy as np
from hand_written import HAND_WRITTEN

from probmodel import load_model, read_data
from probmodel.blas import one_blas_thread
from probmodel.compiler.machine import Machine
from probmodel.compiler.tracing import traced
from probmodel.density import ModelDensity, as_posterior

try:
    import numba
    import numba_loops
except ImportError:
    numba = numba_loops = None

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
    "hidden Markov model": ("hidden_markov", "hidden_markov.csv"),
}
LOOPS = (
    "eight schools",
    "logistic regression (pima)",
    "stochastic volatility (500)",
    "normal mixture (1000)",
    "hidden Markov model",
    "Gaussian process regression",
)
COLUMNS = (
    "posterior", "chains", "made_s", "machine_us", "numpy_us", "hand_us", "numba_us",
    "machine_over_numba",
)  # fmt: skip
CHAINS = (1, 4, 16, 64)
Program = Callable[[Any], Any]


def build(model: str, data: str) -> tuple[ModelDensity, Program | None]:
    """Return the density of a model, by the NumPy engine, and the one by hand, if there is one."""
    values = read(data)
    density = as_posterior(load_model(ROOT / "models" / f"{model}.py")(**values))
    density.use_engine("numpy")
    return density, HAND_WRITTEN[model](**values) if model in HAND_WRITTEN else None


def read(data: str) -> dict[str, Any]:
    """Read the data of a model, without labels."""
    values = read_data(ROOT / "models" / "data" / data)
    values.pop("coords", None)
    return values


def loops(title: str) -> list[Program]:
    """Return the programs of a posterior that numba compiles; none without it."""
    if numba_loops is None or title not in LOOPS:
        return []
    model, data = CASES[title]
    return numba_loops.programs(model, read(data))


def check(ours: Any, theirs: Any, x: Any) -> None:
    """Stop unless both programs agree, up to a constant in the log density."""
    a, b = ours(x), theirs(x)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-8, atol=1e-8 * np.abs(b[1]).max())
    np.testing.assert_allclose(a[0] - a[0][0], b[0] - b[0][0], rtol=1e-8, atol=1e-7)


def times(programs: Sequence[Program], x: Any, rounds: int) -> list[float]:
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


def machine(density: ModelDensity, x: Any) -> tuple[Machine | None, float]:
    """Return machine code that has run once, and the seconds that took; None if there is none."""
    start = time.perf_counter()
    try:
        made = Machine(traced(density._binding), cores=1)
        made(x)
    except Exception as error:  # formulas may do anything to symbols
        print(f"{density.name}: no machine code for {error}")
        return None, 0.0
    return made, time.perf_counter() - start


def rows_of(
    title: str, density: ModelDensity, by_hand: Program | None, rounds: int
) -> list[list[Any]]:
    """Time all programs of a posterior: the columns of the file."""
    rows = []
    made, seconds = machine(density, np.zeros((16, density.dim)))
    own = [] if by_hand is None else [by_hand]
    compiled = loops(title)
    for chains in CHAINS if made is not None else ():
        x = density.initial_points(np.random.default_rng(chains), chains, inits=0.3)
        programs = [made, density, *own, *compiled]
        for other in programs[1:]:
            check(programs[0], other, x)
        taken = [1e6 * t for t in times(programs, x, rounds)]
        hand = taken[2] if own else None
        limit = min(taken[-len(compiled) :]) if compiled else None
        ratio = taken[0] / limit if limit else None
        rows.append([title, chains, seconds, *taken[:2], hand, limit, ratio])
        print(shown(rows[-1]))
    return rows


def shown(row: list[Any]) -> str:
    """Return a line of the table."""
    title, chains, seconds, code, engine, by_hand, limit, over_limit = row
    text = f"{title:<50}{chains:>6}{seconds:>8.2f}{code:>11.1f}{engine:>11.1f}{code / engine:>8.2f}"
    blank = f"{'':>19}" if limit is not None else ""
    text += blank if by_hand is None else f"{by_hand:>11.1f}{code / by_hand:>8.2f}"
    return text if limit is None else f"{text}{limit:>11.1f}{over_limit:>8.2f}"


def summary(rows: list[list[Any]]) -> str:
    """Return medians over the posteriors, and the extremes."""
    lines = []
    for chains in CHAINS:
        chosen = [row for row in rows if row[1] == chains]
        engine = np.array([row[3] / row[4] for row in chosen])
        by_hand = np.array([row[3] / row[5] for row in chosen if row[5] is not None])
        text = f"{chains:>3} chains: machine code over {middle('the NumPy engine', engine)}"
        text += f"; over {middle('NumPy by hand', by_hand)}" if by_hand.size else ""
        limit = np.array([row[7] for row in chosen if row[7] is not None])
        text += f"; over {middle('loops by numba', limit)}" if limit.size else ""
        lines.append(text)
    made = np.array([row[2] for row in rows])
    lines.append(f"made in {np.median(made):.2f} s in the median, {made.max():.2f} s at most")
    return "\n".join(lines)


def middle(what: str, ratios: Any) -> str:
    """Return the median of ratios, and the largest."""
    return (
        f"{what} {np.median(ratios):.2f} in the median of {len(ratios)}, {ratios.max():.2f} at most"
    )


def main() -> None:
    """Print the table, and write it as CSV if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="+", choices=CASES, help="posteriors of the gallery")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, llvmlite "
        f"{llvmlite.__version__}, OPENBLAS_NUM_THREADS="
        f"{os.environ.get('OPENBLAS_NUM_THREADS', 'not set')}, "
        + (f"numba {numba.__version__}" if numba else "no numba: its column stays empty")
    )
    print(f"{'posterior':<50}{'chains':>6}{'made s':>8}{'machine µs':>11}{'engine µs':>11}"
          f"{'ratio':>8}{'by hand µs':>11}{'ratio':>8}{'numba µs':>11}{'ratio':>8}")  # fmt: skip
    rows = []
    for title in options.only or CASES:
        rows += rows_of(title, *build(*CASES[title]), options.rounds)
    for title, other in corpus.CASES.items() if not options.only else ():
        density = other.build()
        density.use_engine("numpy")
        rows += rows_of(title, density, None, options.rounds)
    print(summary(rows))
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(COLUMNS)
            writer.writerows(rows)


if __name__ == "__main__":
    with one_blas_thread():  # as in runs
        sys.exit(main())
