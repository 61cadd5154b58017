"""Does what people write converge? The default, Stan's way and `fisher_hmc` on many models.

    python benchmarks/corpus.py --csv benchmarks/results/corpus.csv
    python benchmarks/corpus.py --csv benchmarks/results/corpus.csv --resume
    python benchmarks/corpus.py --models pump bei --methods default nuts --seeds 1 --limit 60
    python benchmarks/corpus.py --make-references --limit 7200
    python benchmarks/corpus.py --rows benchmarks/results/corpus.csv

The models are

    posteriordb  the 26 that have published reference draws, see `posteriordb`
    gallery      the other pages of ``models/``, with each of their data sets
    users        21 models of users of Stan, as they wrote them, see `corpus_models`
    simulated    3 whose starts are far from the posterior, see `corpus_simulated`

and the methods

    default      ``infer(model, seed=seed)`` with no other setting
    nuts         as Stan runs it: 4 chains, 1000 + 1000 iterations, target 0.8, diagonal metric
    fisher_hmc   ``infer(model, "fisher_hmc", seed=seed)``

The stored rows of `nuts` and `fisher_hmc` are of an earlier state of the package, commit 7e5e7e9,
whose chains neither climb nor begin again, and which samples hierarchies as they are declared: they
say what has been gained since. A checkout of that commit runs them by the same command.

A run has converged if R-hat is 1.01 at most, and bulk and tail effective sample sizes (ESS) are 400
at least, for all quantities. One that exceeds ``--limit`` seconds is ended after its current
iteration and has not converged, whatever its draws are like. Shown are

- gradients of warm-up and sampling, over all chains, and to 400: those of the warm-up, and of as
  much of the sampling as takes the smaller of bulk and tail ESS to 400; of the whole run, after
  a >, if it has not converged,
- worst z: the distance of a posterior mean, or mean square, from its reference, in combined Monte
  Carlo standard errors, and of what; only where there is a reference,
- warnings: the kinds of what the run itself found.

``--csv`` writes each row as soon as its run has ended; with ``--resume`` what the file has is kept
and not run again. References of the models that posteriordb lacks are made by
``--make-references``: runs of `nuts` with small steps and many chains, which start at the true
values where data are simulated, and are kept only if they have converged and say nothing against
themselves. They sample hierarchies as they are declared, and standardised, with smaller steps, only
where that does not do (``standardised`` tells). The heavier the tail of a quantity, the less its z
says.

The summary says how many runs of a method converged; gradients to 400 relative to the better of
`nuts` and `fisher_hmc`, in the geometric mean over the models that both the method and one of these
solve, where a method's number is the median over seeds with runs that have not converged as
infinite; and how many runs are unnoticed: not converged, or with a z beyond the bound of Bonferroni
for all comparisons together, and without any warning.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import corpus_models
import default
import numpy as np
import posteriordb
from corpus_simulated import SIMULATED
from measures import NO, YES, Row, measured, recorded, stored, table, typical, varying
from posteriordb_references import Summary, rounded, text
from references import LONG_SEED, flat
from report import environment, markdown, number

from probmodel.density import ModelDensity

REFERENCES = Path(__file__).resolve().parent / "results" / "corpus_references.json"
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "nuts": {
        "method": "nuts", "chains": 4, "warmup": 1000, "draws": 1000, "target_accept": 0.8,
        "metric": "diag",
    },
    "fisher_hmc": {"method": "fisher_hmc"},
}  # fmt: skip
RIVALS = ("nuts", "fisher_hmc")
LONG = {"method": "nuts", "chains": 16, "warmup": 1000, "draws": 2000, "seed": LONG_SEED}
TRIES = (
    {"standardise": False, "target_accept": 0.95},
    {"standardise": True, "target_accept": 0.99},
)
WORDS = ("model", "from", "method", "converged", "worst_of", "warnings")
COLUMNS = (
    "model", "from", "dim", "method", "seed", "converged", "chains", "warmup", "draws", "rhat",
    "ess_bulk", "ess_tail", "gradients", "gradients_to_400", "seconds", "worst_z", "worst_of",
    "comparisons", "warnings",
)  # fmt: skip
SHOWN = {
    "model": "model", "dim": "d", "method": "method", "seed": "seed", "converged": "converged",
    "rhat": "R-hat", "ess_bulk": "bulk", "ess_tail": "tail", "gradients": "gradients",
    "gradients_to_400": "to 400", "seconds": "seconds", "worst_z": "worst z", "worst_of": "of",
    "warnings": "warnings",
}  # fmt: skip


class Case(NamedTuple):
    """A posterior to sample.

    Attributes
    ----------
    source : where it is from
    build : compiles it
    starts : where the chains of a reference begin; None for any place
    """

    source: str
    build: Callable[[], ModelDensity]
    starts: Mapping[str, Any] | None = None


PAGES: dict[str, default.Case] = {
    name: case for name, case in default.CASES.items() if case.kind != "published"
} | {
    name: default.Case(model, data, None)
    for name, model, data in (
        ("volatility_2515_centered", "stochastic_volatility_centered.py", "sp500.csv"),
        ("bei", "bei.py", "bei_10x20.npz"),
        ("coal_change_point", "coal_change_point.py", "coal.json"),
        ("coal_random_walk", "coal_random_walk.py", "coal.json"),
        ("dugongs", "dugongs.py", "dugongs.csv"),
        ("garch", "garch.py", "pound_dollar.csv"),
        ("lip_cancer", "lip_cancer.py", "lip_cancer.json"),
        ("local_level", "local_level.py", "temperatures.csv"),
        ("party_identification", "party_identification.py", "party1996.csv"),
        ("radon", "radon.py", "radon.json"),
        ("rats", "rats.py", "rats.json"),
        ("robust_regression", "robust_regression.py", "earnings_logarithms.csv"),
        ("seeds", "seeds.py", "seeds.csv"),
        ("seeds_beta_binomial", "seeds_beta_binomial.py", "seeds.csv"),
        ("tobit", "tobit.py", "finpines_sizes.csv"),
        ("wells", "wells.py", "wells.csv"),
    )
}
ON_REQUEST = (*default.ON_REQUEST, "volatility_2515_centered")

CASES: dict[str, Case] = {
    **{name: Case("posteriordb", case.build) for name, case in posteriordb.CASES.items()},
    **{name: Case("gallery", page.build) for name, page in PAGES.items()},
    **{name: Case("users", partial(corpus_models.build, name)) for name in corpus_models.MODELS},
    **{name: Case("simulated", made.build, made.truth) for name, made in SIMULATED.items()},
}


# -- references -----------------------------------------------------------------------------------


def known(title: str) -> posteriordb.Known | None:
    """Return the reference of a case, if there is one."""
    if title in posteriordb.CASES:
        return posteriordb.known(title)
    return posteriordb.read(REFERENCES, title) if title in made_references() else None


def made_references() -> dict[str, Summary]:
    """Return what `make_references` has written."""
    return json.loads(REFERENCES.read_text()) if REFERENCES.exists() else {}


def make_references(options: argparse.Namespace) -> None:
    """Make long runs of the cases that posteriordb lacks, and keep those that have converged."""
    for title in options.models:
        if title in posteriordb.CASES or (options.resume and title in made_references()):
            continue
        case = CASES[title]
        for settings in TRIES:
            row, run = measured(
                case.build(), {**LONG, **settings, "inits": case.starts}, options.limit
            )
            print(f"{title}, {settings}: {row['converged']} {row['warnings']}", file=sys.stderr)
            if row["converged"] == YES and not row["warnings"]:
                made = {"standardised": settings["standardise"], **summarised(run)}
                REFERENCES.write_text(text(made_references() | {title: made}))
                break


def summarised(run: Any) -> Summary:
    """Means, mean squares and their errors of the quantities that vary."""
    names, draws = flat(run)
    free = varying(draws)
    kept: Summary = {"names": [name for name, varies in zip(names, free, strict=True) if varies]}
    for entry, values in (("mean", draws[:, :, free]), ("mean_sq", draws[:, :, free] ** 2)):
        kept[entry] = rounded(values.mean(axis=(0, 1)))
        errors = [posteriordb.mean_error(values[:, :, i]) for i in range(values.shape[2])]
        kept[f"mcse_{entry}"] = rounded(errors)
    kept["sd"] = rounded(draws[:, :, free].std(axis=(0, 1)))
    return kept


# -- runs -----------------------------------------------------------------------------------------


def rows_of(title: str, options: argparse.Namespace, done: Sequence[Row]) -> Iterator[Row]:
    """Run every method with every seed on one model, but for what has been done."""
    over = {(row["model"], row["method"], row["seed"]) for row in done}
    left = [(m, s) for m in options.methods for s in options.seeds if (title, m, s) not in over]
    if not left:
        return
    density, reference = CASES[title].build(), known(title)
    for method, seed in left:
        row, run = measured(density, {**METHODS[method], "seed": seed}, options.limit)
        row |= {"model": title, "from": CASES[title].source, "method": method, "worst_of": ""}
        if reference is not None and row["converged"] in (YES, NO):
            row |= posteriordb.compared(run, reference)
        print(f"{title}, {method}, seed {seed}: {row['converged']}", file=sys.stderr)
        yield row


# -- summary --------------------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Format how often each method converged, and how many gradients it takes, line by line."""
    sources = list(dict.fromkeys(row["from"] for row in rows))
    compared = sum(row["comparisons"] for row in rows if row.get("comparisons", 0) > 0)
    bound = posteriordb.bound(max(1, int(compared)))
    ratios = relative_costs(rows)
    lines = []
    for method, own in _by(rows, "method").items():
        logs = np.log(ratios[method])
        lines.append((
            method, *(_converged([r for r in own if r["from"] == source]) for source in sources),
            _converged(own), number(float(np.exp(np.mean(logs)))) if len(logs) else "–",
            str(len(logs)), str(sum(unnoticed(row, bound) for row in own)),
        ))  # fmt: skip
    header = ("method", *sources, "all", f"gradients to 400 / better of {' and '.join(RIVALS)}",
              "models", "unnoticed")  # fmt: skip
    return f"{markdown(header, lines)}\n\nThe bound of |z| is {bound:.2f}."


def relative_costs(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Gradients to 400 over those of the better rival, for the models that both solve."""
    ratios: dict[str, list[float]] = {method: [] for method in _by(rows, "method")}
    for own in _by(rows, "model").values():
        costs = {m: typical(part, "gradients_to_400") for m, part in _by(own, "method").items()}
        best = min(costs.get(rival, np.inf) for rival in RIVALS)
        for method, cost in costs.items():
            if np.isfinite([cost, best]).all():
                ratios[method].append(cost / best)
    return ratios


def unnoticed(row: Row, bound: float) -> bool:
    """Whether a run is not to be trusted and does not say so."""
    far = abs(row.get("worst_z", 0.0)) > bound
    return (row["converged"] == NO or far) and not row["warnings"]


def unsolved(rows: Sequence[Row]) -> str:
    """Format which models some method does not solve with all seeds."""
    methods = list(_by(rows, "method"))
    lines = []
    for title, own in _by(rows, "model").items():
        if any(row["converged"] != YES for row in own):
            parts = _by(own, "method")
            lines.append((title, own[0]["from"], *(_converged(parts.get(m, [])) for m in methods)))
    return markdown(("model", "from", *methods), lines)


def _by(rows: Sequence[Row], name: str) -> dict[str, list[Row]]:
    """Group rows by an entry, in order of appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups


def _converged(rows: Sequence[Row]) -> str:
    return f"{sum(row['converged'] == YES for row in rows)} of {len(rows)}" if rows else "–"


# -- command line ---------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = [title for title in CASES if title not in ON_REQUEST]
    parser.add_argument(
        "--models", nargs="+", default=usual, choices=list(CASES), metavar="MODEL",
        help=f"by default all but {' and '.join(ON_REQUEST)}",
    )  # fmt: skip
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS", help="of each run")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="keep what is there, and go on")
    parser.add_argument("--make-references", action="store_true", help="by long runs; no others")
    parser.add_argument(
        "--rows", nargs="+", type=Path, metavar="FILE", help="report what --csv stored; run nothing"
    )
    options = parser.parse_args(arguments)
    if options.resume and not (options.csv or options.make_references):
        parser.error("--resume goes with --csv or --make-references")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the tables."""
    options = parse(arguments)
    if options.make_references:
        make_references(options)
        return 0
    if options.rows:
        rows = list(stored(options.rows, WORDS))
    else:
        resumed = options.resume and options.csv.exists()
        done = list(stored([options.csv], WORDS)) if resumed else []
        new = (row for title in options.models for row in rows_of(title, options, done))
        rows = list(recorded(options.csv, COLUMNS, chain(done, new)))
    print("\n".join(f"- {line}" for line in environment()) + f"\n\n{table(rows, SHOWN)}")
    print(f"\n## Not solved with every seed\n\n{unsolved(rows)}\n\n## Summary\n\n{summary(rows)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
