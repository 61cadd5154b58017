"""Which method should be the default? Four candidates at their defaults on models of the gallery.

    python benchmarks/default.py --csv benchmarks/results/default.csv
    python benchmarks/default.py --chains 4 8 32
    python benchmarks/default.py --methods fisher_mala --models pima heart --references
    python benchmarks/default.py --rows benchmarks/results/default.csv

Each run is ``infer(model, method=method, seed=seed)`` with no other setting, but the number of
chains if given. Shown are

- converged: whether the largest R-hat over all parameters is 1.01 at most, and the smallest bulk
  and tail effective sample sizes (ESS) are 400 at least. A run that exceeds the time limit is
  ended after its current iteration, and has not converged, whatever its draws are like,
- s to 400: seconds of the warm-up, and of as much of the sampling as takes the smaller of bulk and
  tail ESS to 400; of the whole run, after a >, if it has not converged,
- gradients of the warm-up and of the sampling, over all chains; a Hessian-vector product counts as
  two and a Hessian as dim,
- ESS/gradient: the smaller of bulk and tail ESS per gradient of the sampling,
- worst z, with --references: the largest distance of a posterior mean from its reference (see
  `references`), in combined Monte Carlo standard errors,
- warnings: the kinds of what the run itself found.

The summary says how many runs of a method converged, and how long it takes to 400 relative to the
best on each model, in the median over models. A method's time on a model is the median over seeds,
with runs that have not converged as infinitely long (inf); models that no method solves are left
out. With several numbers of chains, the best is that over all of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measures import YES, Row, measured, recorded, stored, table, typical
from references import distance, flat, reference
from report import environment, markdown, number

from probmodel import load_model, read_data
from probmodel.density import ModelDensity, as_posterior
from probmodel.samplers import SAMPLERS

GALLERY = Path(__file__).resolve().parents[1] / "models"
CANDIDATES = ("fisher_mala", "nuts", "fisher_hmc", "entropy_hmc")
COLUMNS = (
    "model", "dim", "method", "chains", "seed", "converged", "rhat", "ess_bulk", "ess_tail",
    "warmup", "draws", "seconds_warmup", "seconds_sampling", "seconds_to_400",
    "gradients_warmup", "gradients_sampling", "ess_per_gradient", "worst_z", "warnings",
)  # fmt: skip
WORDS = ("model", "method", "converged", "warnings")
SHOWN = {
    "model": "model", "dim": "d", "method": "method", "chains": "chains", "seed": "seed",
    "converged": "converged", "rhat": "R-hat", "ess_bulk": "bulk", "ess_tail": "tail",
    "seconds_to_400": "s to 400", "gradients_warmup": "gradients, warm-up",
    "gradients_sampling": "sampling", "ess_per_gradient": "ESS/gradient", "worst_z": "worst z",
    "warnings": "warnings",
}  # fmt: skip


class Case(NamedTuple):
    """A model of the gallery with data.

    Attributes
    ----------
    model, data : files in `GALLERY` and its folder of data
    kind : of `references.reference`; None where a long run of its sampler would not converge
    """

    model: str
    data: str
    kind: str | None

    def build(self) -> ModelDensity:
        """Compile the posterior."""
        data = read_data(GALLERY / "data" / self.data)
        return as_posterior(load_model(GALLERY / self.model)(**data))


CASES: dict[str, Case] = {
    "ripley": Case("logistic_regression.py", "ripley.npz", "importance"),
    "pima": Case("logistic_regression.py", "pima.npz", "importance"),
    "heart": Case("logistic_regression.py", "heart.npz", "importance"),
    "australian": Case("logistic_regression.py", "australian.npz", "importance"),
    "german": Case("logistic_regression.py", "german.npz", "importance"),
    "caravan": Case("logistic_regression.py", "caravan.npz", "long"),
    "kidiq": Case("linear_regression.py", "kidiq.csv", "long"),
    "eight_schools": Case("eight_schools.py", "eight_schools.json", "published"),
    "cox_16": Case("log_gaussian_cox.py", "finpines_16x16.npz", "long"),
    "volatility_500": Case("stochastic_volatility.py", "sp500_500.csv", "long"),
    "volatility_500_centered": Case("stochastic_volatility_centered.py", "sp500_500.csv", None),
    "volatility_2515": Case("stochastic_volatility.py", "sp500.csv", None),
}
ON_REQUEST = ("volatility_2515",)  # 2518 parameters: hours for all methods and seeds


# -- one run --------------------------------------------------------------------------------------


def measure(
    density: ModelDensity, method: str, chains: int | None, seed: int, limit: float
) -> tuple[Row, Any]:
    """Run a method at its defaults; return what is measured, and the result, if there is one."""
    asked = {} if chains is None else {"chains": chains}
    row, run = measured(density, {"method": method, "seed": seed, **asked}, limit)
    return {"method": method, "chains": chains or SAMPLERS[method].default_chains} | row, run


def rows_of(title: str, options: argparse.Namespace) -> Iterator[Row]:
    """Run every method with every number of chains and seed on one model."""
    density, kind = CASES[title].build(), CASES[title].kind
    known = reference(density, kind) if options.references and kind else None
    for chains in options.chains:
        for method in options.methods:
            for seed in options.seeds:
                row, run = measure(density, method, chains, seed, options.time_limit)
                if known is not None and run is not None:
                    row["worst_z"] = distance(*flat(run), known)
                print(f"{title}, {method}, seed {seed}: {row['converged']}", file=sys.stderr)
                yield {"model": title, "asked": chains} | row


# -- tables ---------------------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Format how often each method converged, and how its time compares with the best."""
    ways = list(dict.fromkeys((row["method"], row["asked"]) for row in rows))
    times: dict[tuple[str, Any], dict[str, float]] = {way: {} for way in ways}
    for title in dict.fromkeys(row["model"] for row in rows):
        for way in ways:
            times[way][title] = typical(_chosen(rows, way, title), "seconds_to_400")
    best = {title: min(times[way][title] for way in ways) for title in times[ways[0]]}
    solved = [title for title in best if np.isfinite(best[title])]
    lines = []
    for way in ways:
        own = _chosen(rows, way)
        converged = sum(row["converged"] == YES for row in own)
        ratios = [times[way][title] / best[title] for title in solved]
        lines.append((
            way[0], "default" if way[1] is None else str(way[1]), f"{converged} of {len(own)}",
            number(float(np.median(ratios))) if ratios else "–", str(sum(np.equal(ratios, 1.0))),
        ))  # fmt: skip
    header = ("method", "chains", "converged", "median time to 400 / best",
              f"best, of {len(solved)} models")  # fmt: skip
    return markdown(header, lines)


def _chosen(rows: Sequence[Row], way: tuple[str, Any], title: str | None = None) -> list[Row]:
    """Rows of a method and number of chains, on one model or all."""
    return [
        row
        for row in rows
        if (row["method"], row["asked"]) == way and title in (None, row["model"])
    ]


# -- command line ---------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = [title for title in CASES if title not in ON_REQUEST]
    parser.add_argument("--models", nargs="+", default=usual, choices=list(CASES))
    parser.add_argument(
        "--methods", nargs="+", default=list(CANDIDATES), choices=list(SAMPLERS), metavar="METHOD"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--chains", type=int, nargs="+", default=[None], help="by default, what each method has"
    )
    parser.add_argument("--time-limit", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--references", action="store_true", help="compare means (takes a while)")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument(
        "--rows", nargs="+", type=Path, metavar="FILE", help="report what --csv stored; run nothing"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the tables."""
    options = parse(arguments)
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    if options.rows:
        rows = [row | {"asked": row["chains"]} for row in stored(options.rows, WORDS)]
        print(f"{table(rows, SHOWN)}\n\n## Summary\n\n{summary(rows)}")
        return 0
    every = (row for title in options.models for row in rows_of(title, options))
    rows = list(recorded(options.csv, COLUMNS, every))
    for chains in options.chains:
        title = "Default number of chains" if chains is None else f"{chains} chains"
        print(f"## {title}\n\n{table([r for r in rows if r['asked'] == chains], SHOWN)}\n")
    print(f"## Summary\n\n{summary(rows)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
