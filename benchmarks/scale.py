"""How the cost of one gradient grows with dimension and data, and the memory that it takes.

    python benchmarks/scale.py --csv scale.csv --plot scale.png

The gallery's log-Gaussian Cox process, stochastic volatility and logistic regression, compiled from
the model language, in several sizes; data are simulated. Shown are

- d, n: unconstrained parameters and observations,
- us: microseconds of one log density with its gradient, by chain, the median over rounds,
- us/(d + n): the same by the numbers that go in, which is constant where the cost is linear,
- ours/NumPy: over the same density written by hand (`hand_written.py`), in turns,
- MB: the most memory that one call allocates, for all chains.

The Cox process takes a product with a dense precision matrix, of order d^2; beside it stands the
one whose field is made by FFT (`joint_cox.py`), of order d log d, which is hand-written itself.
"""

from __future__ import annotations

import argparse
import csv
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from engines import check, times
from hand_written import HAND_WRITTEN
from latent_targets import GALLERY, cox_counts, cox_inputs, joint_cox, simulated_returns
from report import environment, markdown, number

from probmodel import load_model
from probmodel.blas import one_blas_thread
from probmodel.density import ModelDensity
from probmodel.types import Array, LogDensity

GRIDS = (8, 16, 24, 32, 48, 64)
DAYS = (100, 300, 1000, 2000, 5000)
TABLES = ((1000, 10), (10_000, 10), (100_000, 10), (1000, 100), (10_000, 100), (1000, 300))
TABLE = "logistic regression"
SPREAD = 0.3  # of the points, about zero


class Built(NamedTuple):
    """A density in one size, and the same by hand, if it is written by hand besides."""

    density: LogDensity
    by_hand: Callable[[Array], Any] | None
    observations: int


class Case(NamedTuple):
    """A size of a model that can be built.

    Attributes
    ----------
    model, size : names for the table
    dim : unconstrained parameters
    build : makes it
    """

    model: str
    size: str
    dim: int
    build: Callable[[], Built]


def gallery(name: str, observations: int, values: dict[str, Any]) -> Built:
    """Compile a model of the gallery with its data, and write it by hand."""
    model = load_model(GALLERY / f"{name}.py")
    return Built(ModelDensity(model(**values)), HAND_WRITTEN[name](**values), observations)


def cox(n: int) -> Built:
    """Log-Gaussian Cox process on n x n cells."""
    counts = cox_counts(n).astype(int)
    return gallery("log_gaussian_cox", n * n, {**cox_inputs(n), "y": counts})


def cox_by_fft(n: int) -> Built:
    """Log-Gaussian Cox process on n x n cells with its hyperparameters."""
    return Built(joint_cox(n), None, n * n)


def volatility(days: int) -> Built:
    """Stochastic volatility of so many days."""
    return gallery("stochastic_volatility_centered", days, {"y": simulated_returns(days)})


def logistic(rows: int, columns: int) -> Built:
    """Logistic regression on normal inputs and a coin's labels."""
    rng = np.random.default_rng(rows + columns)
    X = rng.standard_normal((rows, columns)) / np.sqrt(columns)
    return gallery("logistic_regression", rows, {"X": X, "y": rng.integers(0, 2, rows)})


def all_cases() -> Iterator[Case]:
    """List the sizes, model by model."""
    for n in GRIDS:
        yield Case("Cox process", f"{n} x {n}", n * n, partial(cox, n))
    for n in GRIDS:
        yield Case("Cox process by FFT", f"{n} x {n}", 4 * n * n + 3, partial(cox_by_fft, n))
    for days in DAYS:
        yield Case("stochastic volatility", f"{days}", days + 3, partial(volatility, days))
    for rows, columns in TABLES:
        name = f"{rows} x {columns}"
        yield Case(TABLE, name, columns + 1, partial(logistic, rows, columns))


class Measured(NamedTuple):
    """One line of the table; ``ratio`` is NaN without a hand-written program.

    Attributes
    ----------
    model, size, dim, observations, chains : which
    microseconds : of one gradient, by chain
    ratio : ours over hand-written NumPy
    megabytes : largest allocation of one call
    """

    model: str
    size: str
    dim: int
    observations: int
    chains: int
    microseconds: float
    ratio: float
    megabytes: float


def measure(case: Case, chains: int, rounds: int) -> Measured:
    """Time one size, in turns with the hand-written program, and follow its memory."""
    density, by_hand, observations = case.build()
    x = SPREAD * np.random.default_rng(chains).standard_normal((chains, density.dim))
    programs = [density] if by_hand is None else [density, by_hand]
    if by_hand is not None:
        check(density, by_hand, x)
    seconds = times(programs, x, rounds)
    ratio = np.nan if by_hand is None else seconds[0] / seconds[1]
    microseconds = 1e6 * seconds[0] / chains
    return Measured(
        case.model, case.size, density.dim, observations, chains, microseconds, ratio,
        peak_megabytes(density, x),
    )  # fmt: skip


def peak_megabytes(density: LogDensity, x: Array) -> float:
    """Most memory that one call holds beyond what is there before it, in MB."""
    density(x)
    tracemalloc.start()
    try:
        density(x)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def table(rows: Sequence[Measured]) -> str:
    """Format the measurements as Markdown."""
    header = ("model", "size", "d", "n", "chains", "us", "us/(d + n)", "ours/NumPy", "MB")
    lines = [
        (
            row.model, row.size, str(row.dim), str(row.observations), str(row.chains),
            number(row.microseconds), number(row.microseconds / (row.dim + row.observations)),
            number(row.ratio), number(row.megabytes),
        )
        for row in rows
    ]  # fmt: skip
    return markdown(header, lines)


def write_csv(path: Path, rows: Sequence[Measured]) -> None:
    """Write one line a measurement."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Measured._fields)
        writer.writerows(rows)


def draw(path: Path, rows: Sequence[Measured]) -> None:
    """Draw the cost of a gradient against parameters and observations, and the ratios."""
    from figures import plt, save

    figure, (cost, ratio) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    for model in dict.fromkeys(row.model for row in rows):
        chosen = sorted((r for r in rows if r.model == model), key=lambda r: r.dim + r.observations)
        size = [r.dim + r.observations for r in chosen]
        style = "o" if model == TABLE else "o-"  # whose sizes differ in rows and in columns
        (line,) = cost.plot(size, [r.microseconds for r in chosen], style, label=model)
        ratio.plot(size, [r.ratio for r in chosen], style, color=line.get_color())
    cost.set(xscale="log", yscale="log", ylabel="microseconds a gradient and chain")
    ratio.set(xscale="log", ylabel="compiled model over hand-written NumPy")
    ratio.axhline(1.0, color="0.6", ls=":")
    ratio.set_ylim(bottom=0.0)
    for axes in (cost, ratio):
        axes.set_xlabel("parameters and observations")
    cost.legend(frameon=False, fontsize="small")
    figure.suptitle(f"Cost of one gradient, {rows[0].chains} chains together")
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sizes, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--largest", type=int, default=20_000, help="leave out more parameters")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    chosen = [case for case in all_cases() if case.dim <= options.largest]
    rows = [measure(case, options.chains, options.rounds) for case in chosen]
    print(table(rows))
    if options.csv:
        write_csv(options.csv, rows)
    if options.plot:
        draw(options.plot, rows)
    return 0


if __name__ == "__main__":
    with one_blas_thread():  # as in runs
        raise SystemExit(main())
