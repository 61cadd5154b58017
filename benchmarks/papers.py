"""Run the experiments of Titsias (2023) and print them beside the published tables.

Examples
--------
All FisherMALA rows, three repeats::

    OPENBLAS_NUM_THREADS=1 python benchmarks/papers.py --table all --repeats 3

Table 1 with two methods; the signals of Tables 7 and 8 on one target; the Frobenius errors::

    python benchmarks/papers.py --table t23-1 --methods fisher_mala mala
    python benchmarks/papers.py --table pima --signals
    python benchmarks/papers.py --frobenius --plots figures/

Exits with status 1 if a FisherMALA row has less than 85 % of the published smallest ESS, or a
Frobenius error is more than twice the reference.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ess import ESTIMATORS
from frobenius import MODES, checkpoints, learn
from published import FROBENIUS, FROBENIUS_UPDATES, PUBLISHED
from report import (
    environment,
    ess_table,
    frobenius_shortfalls,
    frobenius_table,
    ranking_table,
    shortfalls,
    summarise,
    write_csv,
)
from runs import Job, run_jobs
from targets import TARGETS

TABLES = sorted({p.table for p in PUBLISHED})
SIGNALS = ("rb", "increment", "paired", "score")
LEAST_RATIO = 0.85


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--table", nargs="+", default=[], choices=["all", *TABLES, *TARGETS], metavar="NAME",
        help=f"tables ({', '.join(TABLES)}), targets ({', '.join(TARGETS)}), or all",
    )  # fmt: skip
    parser.add_argument("--methods", nargs="+", default=["fisher_mala"], metavar="METHOD")
    parser.add_argument("--signals", action="store_true", help="all signals of fisher_mala")
    parser.add_argument("--frobenius", action="store_true", help="errors of the preconditioner")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the iterations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ess", choices=sorted(ESTIMATORS), default="tfp")
    parser.add_argument("--engine", choices=["numpy", "model"], default="numpy")
    parser.add_argument("--standardise", action="store_true", help="scale the inputs")
    parser.add_argument("--processes", type=int, choices=[1, 2], default=1)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="one line per run")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="figures as PNG")
    options = parser.parse_args(arguments)
    if not (options.table or options.frobenius):
        parser.error("nothing to do: give --table NAME or --frobenius")
    return options


def chosen_targets(names: Sequence[str]) -> list[str]:
    """Targets of the chosen tables, in the order of the tables."""
    tables = set(TABLES) if "all" in names else set(names)
    of_tables = dict.fromkeys(p.target for p in PUBLISHED if p.table in tables)
    return list(of_tables | dict.fromkeys(n for n in names if n in TARGETS))


def planned_jobs(options: argparse.Namespace) -> list[Job]:
    """List the runs that the command line asks for."""
    variants: list[tuple[str, str | None]] = []
    for method in options.methods:
        if method == "fisher_mala":
            variants += [
                (method, signal) for signal in SIGNALS if options.signals or signal == "rb"
            ]
        else:
            variants.append((method, None))
    return [
        Job(
            target, method, signal, options.seed, repeat, options.scale,
            options.engine, options.standardise, options.ess,
        )
        for target in chosen_targets(options.table)
        for method, signal in variants
        for repeat in range(options.repeats)
    ]  # fmt: skip


def report_sizes(options: argparse.Namespace) -> list[str]:
    """Run the tables' experiments, print them, and return what falls short."""
    rows: list[dict[str, Any]] = []
    for row in run_jobs(planned_jobs(options), options.processes):
        rows.append(row)
        print(
            f"  {row['target']} {row['method']} {row['signal'] or ''} repeat {row['repeat']}: "
            f"min ESS {row['ess_min']:.0f}",
            file=sys.stderr,
        )
    summaries = summarise(rows)
    print(f"\n## Effective sample size ({options.ess}), mean ± sd over {options.repeats} repeats\n")
    print(ess_table(summaries))
    if options.signals:
        print("\n## Ranking of the signals by smallest ESS\n")
        print(ranking_table(summaries))
    if options.csv:
        write_csv(options.csv, rows)
    if options.plots:
        from figures import ess_figure

        ess_figure(
            options.plots / f"ess_{'signals' if options.signals else 'tables'}.png", summaries
        )
    comparable = options.scale >= 1.0 and not options.standardise
    return shortfalls(summaries, LEAST_RATIO) if comparable else []


def report_frobenius(options: argparse.Namespace) -> list[str]:
    """Follow the preconditioners, print their errors, and return what falls short."""
    problems: list[str] = []
    rows: list[dict[str, Any]] = []
    updates = sorted({*checkpoints(FROBENIUS_UPDATES[-1]), *FROBENIUS_UPDATES})
    print("\n## Frobenius error of the learned covariance\n")
    print("\n".join(f"- {mode}: {meaning}" for mode, meaning in MODES.items()) + "\n")
    for target in FROBENIUS:
        trajectories = {
            mode: learn(target, mode, updates=updates, seed=options.seed) for mode in MODES
        }
        errors = {
            mode: [float(t.errors[:, updates.index(n)].mean()) for n in FROBENIUS_UPDATES]
            for mode, t in trajectories.items()
        }
        print(frobenius_table(target, errors), end="\n\n")
        problems += frobenius_shortfalls(target, errors)
        rows += [
            {"target": target, "learning": mode, "chain": c, "updates": int(n), "error": f"{e:.6g}"}
            for mode, t in trajectories.items()
            for (c, k), e in np.ndenumerate(t.errors)
            for n in (t.updates[k],)
        ]
        if options.plots:
            from figures import frobenius_figure

            frobenius_figure(options.plots / f"frobenius_{target}.png", target, trajectories)
    if options.csv:
        write_csv(options.csv.with_name(f"{options.csv.stem}_frobenius.csv"), rows)
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if something falls short of the paper."""
    options = parse_arguments(arguments)
    given = sys.argv[1:] if arguments is None else arguments
    lines = [f"Command: python benchmarks/papers.py {' '.join(given)}", *environment()]
    print("\n".join(f"- {line}" for line in lines))
    problems = report_sizes(options) if options.table else []
    if options.frobenius:
        problems += report_frobenius(options)
    print("\n" + "\n".join([f"- FALLS SHORT: {p}" for p in problems] or ["Nothing falls short."]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
