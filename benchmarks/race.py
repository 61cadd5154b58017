"""The samplers against each other, by effective draws per gradient.

    python benchmarks/race.py --csv benchmarks/results/race.csv
    python benchmarks/race.py --methods fisher_hmc nuts:low_rank --targets gp100 --repeats 3
    python benchmarks/race.py --rows benchmarks/results/race.csv

All samplers run at their defaults, with a mass matrix of the kind that stands after the colon, but
make the same number of draws with the same number of chains. Shown are medians over the repeats,
which differ in their seeds and starting points, of

- bulk, tail: bulk and tail effective sample size (ESS), the smallest over the unconstrained
  coordinates, per gradient of the sampling; both: the smaller of the two, which decides,
- / best: that over the largest of all methods on the target; methods with an R-hat above 1.05 have
  no part in this (0), because effective sample sizes mean nothing where chains disagree,
- R-hat: the largest over the coordinates,
- warm-up: gradients of the warm-up per chain; a Hessian-vector product counts as two and a Hessian
  as dim, here as elsewhere,
- acceptance: mean probability of acceptance while sampling.

    ripley, pima, heart, australian, german, caravan   logistic regressions on raw inputs
    neal100, gp100                                     Gaussians, see `targets`
    volatility                                         stochastic volatility of the gallery
    volatility_centered                                the same, in another form
    cox_pines                                          Cox process of the gallery, 16 x 16 cells
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measures import Row, gradients, per, r_hat, recorded, stored, worst
from report import environment, markdown, number
from targets import make_target

from probmodel import load_model, read_data
from probmodel.density import as_posterior
from probmodel.inference.groups import sample
from probmodel.inference.sample_run import SampleRun
from probmodel.samplers import make_sampler
from probmodel.samplers.base import Sampler
from probmodel.types import Array, LogDensity

Found = dict[tuple[str, str], dict[str, float]]  # (target, method) -> a name in SHOWN -> median

GALLERY = Path(__file__).resolve().parents[1] / "models"
JUDGED = "fisher_hmc"
AGREED = 1.05  # largest R-hat of chains whose effective sample sizes are compared
METHODS = (JUDGED, "nuts:dense", "nuts:diag", "fisher_mala")
COLUMNS = (
    "target", "dim", "method", "repeat", "chains", "warmup", "draws", "rhat", "ess_bulk",
    "ess_tail", "gradients_warmup", "gradients_sampling", "bulk_per_gradient", "tail_per_gradient",
    "ess_per_gradient", "warmup_per_chain", "acceptance_rate", "error",
)  # fmt: skip
SHOWN = ("bulk_per_gradient", "tail_per_gradient", "ess_per_gradient", "rhat", "warmup_per_chain",
         "acceptance_rate")  # fmt: skip


def gallery(model: str, data: str) -> LogDensity:
    """Compile a model of the gallery."""
    return as_posterior(load_model(GALLERY / model)(**read_data(GALLERY / "data" / data)))


NAMED = ("ripley", "pima", "heart", "australian", "german", "caravan", "neal100", "gp100")
TARGETS: dict[str, Callable[[], LogDensity]] = {
    **{name: partial(make_target, name) for name in NAMED},
    "volatility": partial(gallery, "stochastic_volatility.py", "sp500_500.csv"),
    "volatility_centered": partial(gallery, "stochastic_volatility_centered.py", "sp500_500.csv"),
    "cox_pines": partial(gallery, "log_gaussian_cox.py", "finpines_16x16.npz"),
}


class Sizes(NamedTuple):
    """Sizes of a run; the warm-up is that of the method if None."""

    chains: int = 32
    draws: int = 1000
    warmup: int | None = None


def sampler_of(label: str) -> Sampler:
    """Make the sampler of a label: the name of a method, or ``name:metric``."""
    name, _, metric = label.partition(":")
    return make_sampler(name, **({"metric": metric} if metric else {}))


def starting_points(density: Any, rng: np.random.Generator, chains: int) -> Array:
    """Points as `infer` takes them, or uniform ones: (chains, dim)."""
    if hasattr(density, "initial_points"):
        return density.initial_points(rng, chains)
    return rng.uniform(-2.0, 2.0, (chains, density.dim))


def measure(target: str, density: LogDensity, label: str, repeat: int, sizes: Sizes) -> Row:
    """Run a method once; an exception becomes the row's ``error``.

    Parameters
    ----------
    target, density : name and log density
    label : of the method
    repeat : fixes all randomness together with the target's name
    sizes : of the run
    """
    row: Row = {"target": target, "dim": density.dim, "method": label, "repeat": repeat}
    starts, moves = np.random.SeedSequence([repeat, zlib.crc32(target.encode())]).spawn(2)
    try:
        sampler = sampler_of(label)
        x0 = starting_points(density, np.random.default_rng(starts), sizes.chains)
        warmup = sizes.warmup or sampler.default_warmup
        run = sample(sampler, density, x0, moves, draws=sizes.draws, warmup=warmup)
    except Exception as error:
        return row | {"error": f"{type(error).__name__}: {error}"}
    if run.interrupted:
        raise KeyboardInterrupt
    return row | {"warmup": warmup} | described(run, density.dim)


def described(run: SampleRun, dim: int) -> Row:
    """Judge a run, and count what it cost."""
    found = worst(run.x)
    warmup, sampling = gradients(run.work_warmup, dim), gradients(run.work_sampling, dim)
    return {
        "chains": len(run.x), "draws": run.draws_done,
        "rhat": found.rhat, "ess_bulk": found.bulk, "ess_tail": found.tail,
        "gradients_warmup": warmup, "gradients_sampling": sampling,
        "bulk_per_gradient": per(found.bulk, sampling),
        "tail_per_gradient": per(found.tail, sampling),
        "ess_per_gradient": per(found.ess, sampling),
        "warmup_per_chain": warmup / len(run.x),
        "acceptance_rate": float(np.mean(run.stats["acceptance_rate"])), "error": "",
    }  # fmt: skip


def rows_of(target: str, methods: Sequence[str], repeats: int, sizes: Sizes) -> Iterator[Row]:
    """Run every method on one target, the repeats of a method after another."""
    density = TARGETS[target]()
    for label in methods:
        for repeat in range(repeats):
            row = measure(target, density, label, repeat, sizes)
            size = row["error"] or number(row["ess_per_gradient"])
            print(f"{target}, {label}, repeat {repeat}: {size}", file=sys.stderr)
            yield row


def medians(rows: Sequence[Row]) -> Found:
    """Medians over the repeats of each target and method; NaN where none came to its end."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["target"], row["method"]), []).append(row)
    good = {key: [row for row in rows if not row["error"]] for key, rows in groups.items()}
    return {
        key: {n: float(np.median([r[n] for r in rows])) if rows else np.nan for n in SHOWN}
        for key, rows in good.items()
    }


def ratios(found: Found) -> dict[tuple[str, str], float]:
    """Effective sample size per gradient over the best of the target.

    0 for a method whose chains disagree, NaN where those of all methods do.
    """
    sizes = {
        key: values["ess_per_gradient"] if values["rhat"] <= AGREED else 0.0
        for key, values in found.items()
    }
    best: dict[str, float] = {}
    for (target, _), size in sizes.items():
        best[target] = max(size, best.get(target, 0.0))
    return {key: per(size, best[key[0]]) for key, size in sizes.items()}


def table(found: Found) -> str:
    """Format the medians as Markdown."""
    header = ("target", "method", "bulk", "tail", "both", "/ best", "R-hat", "warm-up",
              "acceptance")  # fmt: skip
    relative = ratios(found)
    lines = []
    for key, values in found.items():
        bulk, tail, both, _, warmup, acceptance = (number(values[name]) for name in SHOWN)
        lines.append((
            *key, bulk, tail, both, number(relative[key]), r_hat(values["rhat"]), warmup,
            acceptance,
        ))  # fmt: skip
    return markdown(header, lines)


def verdict(found: Found) -> str:
    """Say on how many targets `JUDGED` is the best, and where it is below half of the best."""
    solved = {key: ratio for key, ratio in ratios(found).items() if not np.isnan(ratio)}
    own = {target: ratio for (target, label), ratio in solved.items() if label == JUDGED}
    best = sum(ratio >= 1.0 for ratio in own.values())
    behind = [f"{target} ({ratio:.2f})" for target, ratio in own.items() if ratio < 0.5]
    return (
        f"{JUDGED} has the most effective draws per gradient on {best} of the {len(own)} targets "
        f"that some method samples; below half of the best: {', '.join(behind) or 'never'}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the table and the verdict."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--targets", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="NAME[:METRIC]")
    parser.add_argument("--chains", type=int, default=Sizes().chains)
    parser.add_argument("--draws", type=int, default=Sizes().draws)
    parser.add_argument("--warmup", type=int, help="by default, that of each method")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument(
        "--rows", nargs="+", type=Path, metavar="FILE", help="report what --csv stored; run nothing"
    )
    options = parser.parse_args(arguments)
    if options.rows:
        report(medians(list(stored(options.rows, ("target", "method", "error")))))
        return 0
    for label in options.methods:
        sampler_of(label)  # a misspelt one is to be found before the first run
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    sizes = Sizes(options.chains, options.draws, options.warmup)
    every = (rows_of(t, options.methods, options.repeats, sizes) for t in options.targets)
    report(medians(list(recorded(options.csv, COLUMNS, chain.from_iterable(every)))))
    return 0


def report(found: Found) -> None:
    """Print the table, and the verdict if the method that it is about has run."""
    print(table(found))
    if any(method == JUDGED for _, method in found):
        print(f"\n{verdict(found)}")


if __name__ == "__main__":
    raise SystemExit(main())
