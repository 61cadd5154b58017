"""`nuts` against an independent No-U-Turn sampler, NumPyro's, on the same posteriors.

    python benchmarks/nuts_race.py --csv benchmarks/results/nuts_race.csv

Both sample the same density of the same unconstrained parameters, which is checked first, with
4 chains, 1000 warm-up iterations and 1000 draws, a diagonal mass matrix, target acceptance 0.8 and
at most 10 doublings. A gradient is one leapfrog step of one chain. Draws and effective draws (bulk,
of the parameter that has fewest) are those after the warm-up, by one estimator for both tools. Time
is that of the sampling alone, compiled beforehand: of the wall, and of the processor, which others
at work on the same machine disturb less. NumPyro runs its chains in turn and in one batch; the way
that takes less time a gradient counts. A whole call is what a user waits for, from a model and its
data to the draws, warm-up included: by `infer` with its diagnostics, and by NumPyro's own driver,
which compiles; of its two ways the faster counts. NumPy and XLA have one thread each, and double
precision. Rows are medians over repeats with other seeds; z compares the pooled means.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpyro_side import (
    CASES,
    CHAINS,
    DRAWS,
    GALLERY,
    WARMUP,
    Call,
    Clocks,
    NumPyro,
    Result,
    check,
    jax,
    numpyro,
    read,
    whole_call,
)
from report import environment, markdown, number
from scipy.stats import norm

from probmodel import infer, load_model
from probmodel.blas import one_blas_thread
from probmodel.density import as_posterior
from probmodel.inference.chains import Group
from probmodel.inference.collectors import DrawStore
from probmodel.results.convergence import convergence
from probmodel.samplers import make_sampler
from probmodel.types import Array

WAYS = ("in turn", "in one batch")
LEVEL = 0.01  # at which the largest z of a posterior would be called too large


def our_run(density: Any, seed: int) -> Result:
    """Run `nuts` with its defaults."""
    x0 = density.initial_points(np.random.default_rng(seed), CHAINS)
    store = DrawStore("draw", CHAINS, DRAWS, density.dim)
    group = Group(make_sampler("nuts"), density, x0, np.random.default_rng(seed), [store])
    group.start()
    for i in range(WARMUP):
        group.warm_up(i, WARMUP)
    start = Clocks.read()
    group.freeze(WARMUP, DRAWS)
    while group.drawn < DRAWS:
        group.draw()
    elapsed = Clocks.read().since(start)
    accept = float(store.stats(DRAWS)["acceptance_rate"].mean())
    return Result(store.x(DRAWS), group.work[1].grad, elapsed, accept, "one batch")


def our_call(model: Any, seed: int) -> Call:
    """Call `infer` with a model that has its data."""
    start = time.perf_counter()
    result = infer(
        model,
        method="nuts",
        chains=CHAINS,
        warmup=WARMUP,
        draws=DRAWS,
        seed=seed,
        cores=1,
        quiet=True,
    )
    seconds = time.perf_counter() - start
    return Call(seconds, int(result.attrs["n_grad_sampling"]))


def fastest(rows: Sequence[Sequence[Any]], time_of: Callable[[Any], float]) -> Sequence[Any]:
    """Return the column that takes least, by the median over the rows."""
    columns = zip(*rows, strict=True)
    return min(columns, key=lambda column: np.median([time_of(run) for run in column]))


def pooled_z(ours: Sequence[Result], theirs: Sequence[Result]) -> Array:
    """Differences of the means of all repeats, in Monte Carlo standard errors: (dim,)."""
    means, variances = [], []
    for runs in (ours, theirs):
        x = np.concatenate([run.x for run in runs])
        ess = convergence(np.moveaxis(x, 2, 0)).ess_bulk
        means.append(x.mean(axis=(0, 1)))
        variances.append(x.var(axis=(0, 1)) / ess)
    return (means[0] - means[1]) / np.sqrt(variances[0] + variances[1])


def race(name: str, repeats: int) -> dict[str, Any]:
    """Run both tools by turns on one posterior, and compare them."""
    case = CASES[name]
    model = load_model(GALLERY / f"{case.ours}.py")(**read(case))
    density = as_posterior(model)
    check(case, density)
    ways = {way: NumPyro(case, way) for way in WAYS}
    ours, others, our_calls, other_calls = [], [], [], []
    for seed in range(repeats):
        ours.append(our_run(density, seed))
        others.append([way.run(seed) for way in ways.values()])
        our_calls.append(our_call(model, seed))
        other_calls.append([whole_call(case, way, seed) for way in WAYS])
    theirs = fastest(others, lambda run: run.microseconds.processor)
    their_calls = fastest(other_calls, lambda call: call.seconds)
    z = np.abs(pooled_z(ours, theirs))
    row: dict[str, Any] = {"posterior": name, "dim": density.dim, "NumPyro's chains": theirs[0].way}
    row |= {"max abs z": float(z.max()), "allowed": norm.isf(0.5 * LEVEL / density.dim)}
    runs, calls = (ours, theirs), (our_calls, their_calls)
    columns: dict[str, tuple[Any, Callable[[Any], float]]] = {
        "acceptance": (runs, lambda r: r.accept),
        "steps/draw": (runs, lambda r: r.gradients / (CHAINS * DRAWS)),
        "least ESS": (runs, lambda r: float(r.ess.min())),
        "gradients/ESS": (runs, lambda r: r.cost),
        "µs/gradient": (runs, lambda r: r.microseconds.wall),
        "processor µs/gradient": (runs, lambda r: r.microseconds.processor),
        "whole call, s": (calls, lambda call: call.seconds),
        "whole call, µs/gradient": (calls, lambda call: call.microseconds),
    }
    for column, (both, of) in columns.items():
        values = [float(np.median([of(run) for run in side])) for side in both]
        row |= {f"{column}": values[0], f"{column} (NumPyro)": values[1]}
        row |= {f"{column}, ratio": values[0] / values[1]}
    return row


def shown(value: Any) -> str:
    """Format one cell."""
    return value if isinstance(value, str) else number(value)


def main() -> None:
    """Print the tables, and write them as CSV if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case", action="append", choices=CASES, help="all by default")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    numpyro.enable_x64()
    warnings.simplefilter("ignore")
    print(*environment(), sep="\n")
    print(f"NumPyro {numpyro.__version__}, JAX {jax.__version__}, XLA_FLAGS: "
          f"{os.environ['XLA_FLAGS']}\n")  # fmt: skip
    rows = []
    for name in options.case or CASES:
        rows.append(race(name, options.repeats))
        print(f"{name}: done", file=sys.stderr, flush=True)
    table = [(c, *(shown(row[c]) for row in rows)) for c in list(rows[0])[1:]]
    print(markdown(("", *(row["posterior"] for row in rows)), table))
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    with one_blas_thread():  # as in runs
        main()
