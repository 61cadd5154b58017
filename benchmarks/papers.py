"""Run the experiments of five papers and print them beside the published figures.

    t23-1 ... t23-8          Titsias (2023), FisherMALA
    td19-1                   Titsias and Dellaportas (2019), gradient-based adaptive MCMC
    zhu-1 zhu-linear zhu-2   Zhu (2019), sample-adaptive MCMC; MiniBooNE, of its Table 2, is left
                             out: no copy of it was to be had
    wang-figure2 wang-figure3 wang-table1 wang-bnn
                             Wang, Mohamed and de Freitas (2013), adaptive HMC
    hirt-gaussians hirt-anisotropic hirt-logistic hirt-cox hirt-sv hirt-banana
                             Hirt, Titsias and Dellaportas (2021), entropy-based adaptive HMC

Examples
--------
All methods of a table; some methods of all tables; a target with the settings of its paper, and
with those of another that has it too::

    python benchmarks/papers.py --table td19-1 --repeats 3
    python benchmarks/papers.py --table all --methods fisher_mala ada_mala --repeats 3
    python benchmarks/papers.py --table pima --signals
    python benchmarks/papers.py --table td19:pima --methods hmc:5

One repeat of a hundredth of the length, in which all of a table runs; one family of its methods::

    python benchmarks/papers.py --table wang-figure2 --repeats 1 --scale 0.01
    python benchmarks/papers.py --table hirt-gaussians --methods entropy_hmc:gsm --repeats 1

Everything at a tenth of the length, every table and figure, with nobody watching, in less than two
hours on two cores. Rows that would take most of the time, see `experiments.FEWER`, have one repeat
only then, and Zhu's are a fifth as long as the others, see `experiments.SHORTER`::

    python benchmarks/papers.py --all --scale 0.1 --processes 2 --csv all.csv --plots figures/

A twentieth of the draws after a full warm-up, which ensembles need to find the posterior, rows
written as they come; a figure::

    python benchmarks/papers.py --table zhu-1 --scale 0.05 --warmup-scale 1 --csv zhu.csv
    python benchmarks/papers.py --figure td19-1 --plots figures/

The tables of runs that were stored::

    python benchmarks/papers.py --table td19-1 --rows benchmarks/results/titsias2019.csv

Exits with status 1 if a run failed; or if, at full length and with three repeats, an adaptive
method's median ESS is more than 10 % from the published one or its smallest below 75 % of it,
unless `explained.EXPLAINED` says why; or if SA-MCMC is not far enough ahead of adaptive Metropolis,
or a Frobenius error more than twice that of a second program.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ess import ESTIMATORS
from experiments import COSTLY, FEWER, PROTOCOLS, SHORTER, SIGNALS, variants
from figure_runs import FIGURES, Settings, run_figure
from orders import order_table, ranking_table, verdict
from published import PUBLISHED, RANKINGS, TABLES
from report import (
    UNAVAILABLE,
    Summary,
    advantage_table,
    advantages,
    comparison_table,
    environment,
    lost_advantages,
    origins,
    shortfalls,
    summarise,
)
from runs import Job, is_full, run_jobs
from stored_rows import Row, stored, written
from targets import TARGETS

from probmodel.samplers import SAMPLERS

NAMES = {
    "t23": "Titsias (2023)",
    "td19": "Titsias and Dellaportas (2019)",
    "zhu": "Zhu (2019)",
    "wang": "Wang, Mohamed and de Freitas (2013)",
    "hirt": "Hirt, Titsias and Dellaportas (2021)",
}
FULL_REPEATS = 3  # that a comparison needs, at scale 1
LIMIT = 600.0  # seconds of one run of everything
ADVANTAGE_SCALES = (0.02, 0.5)  # of draws and warm-up: what comparing SA-MCMC with AM needs

Choice = tuple[str, str, str]  # paper, target, method


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--table", nargs="+", default=[], metavar="NAME",
        choices=["all", *TABLES, *TARGETS, *(f"{row.paper}:{row.target}" for row in PUBLISHED)],
        help=f"tables ({', '.join(TABLES)}), targets ({', '.join(TARGETS)}), or all",
    )  # fmt: skip
    parser.add_argument(
        "--figure", nargs="+", default=[], choices=["all", *FIGURES], metavar="NAME",
        help=f"figures ({', '.join(FIGURES)}), or all",
    )  # fmt: skip
    parser.add_argument(
        "--methods", nargs="+", metavar="METHOD",
        help="by default all that the table has; am stands for am:diag and am:full",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="every table and every figure")
    parser.add_argument("--signals", action="store_true", help="all signals of fisher_mala")
    parser.add_argument("--frobenius", action="store_true", help="short for --figure t23-1 t23-2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the iterations")
    parser.add_argument("--warmup-scale", type=float, metavar="SCALE",
                        help="multiplies those of the warm-up, instead of --scale")  # fmt: skip
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help=f"a run fails that takes longer; {LIMIT:g} with --all")  # fmt: skip
    parser.add_argument("--chains", type=int, help="of each run, instead of the paper's number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ess", choices=ESTIMATORS, help="by default the paper's estimator")
    parser.add_argument("--engine", choices=["numpy", "model"], default="numpy",
                        help="targets by hand, or as models of the package's language")  # fmt: skip
    parser.add_argument("--standardise", action="store_true", help="scale the inputs")
    parser.add_argument("--processes", type=int, choices=[1, 2], default=1)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="one line per run")
    parser.add_argument("--rows", type=Path, nargs="+", metavar="FILE",
                        help="report runs that --csv stored; nothing is run")  # fmt: skip
    parser.add_argument("--plots", type=Path, metavar="DIR", help="figures as PNG")
    options = parser.parse_args(arguments)
    if options.frobenius:
        options.figure += ["t23-1", "t23-2"]
    if options.all:
        options.table, options.figure = ["all"], ["all"]
    if options.limit is None:
        options.limit = LIMIT if options.all else math.inf
    if not (options.table or options.figure):
        parser.error("nothing to do: give --table NAME, --figure NAME or --all")
    if options.table and not chosen(options):
        parser.error(f"none of --methods {' '.join(options.methods)} is in the tables named")
    return options


def paper_of(target: str) -> str:
    """Return the paper whose settings a target gets that is named by itself."""
    return next((row.paper for row in PUBLISHED if row.target == target), "t23")


def named_targets(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Papers and targets that the command line names, such as ``pima`` or ``td19:pima``."""
    parts = [name.rpartition(":") for name in options.table if name.rpartition(":")[2] in TARGETS]
    return [(paper or paper_of(target), target) for paper, _, target in parts]


def published_methods(options: argparse.Namespace) -> dict[tuple[str, str], list[str]]:
    """Methods of the chosen tables, and of targets named by themselves, by paper and target."""
    tables = set(TABLES if "all" in options.table else options.table)
    named = named_targets(options)
    found: dict[tuple[str, str], list[str]] = {}
    for row in PUBLISHED:
        is_signal = row.method.startswith("fisher_mala:")
        if row.table in tables or ((row.paper, row.target) in named and not is_signal):
            methods = found.setdefault((row.paper, row.target), [])
            methods += [row.method] * (row.method not in methods)
    for choice in named:
        found.setdefault(choice, ["fisher_mala"])
    return found


def wanted_methods(options: argparse.Namespace, paper: str, target: str) -> list[str]:
    """Methods that the command line names, as labels of a paper's variants on a target."""
    known, is_named = variants(paper, target), (paper, target) in named_targets(options)
    wanted: list[str] = []
    for name in options.methods or ["fisher_mala"]:
        labels = [label for label in known if label.startswith(f"{name}:")]
        if name in known or (name in SAMPLERS and is_named and not labels):
            labels = [name]
        wanted += labels
        if name == "fisher_mala" and options.signals and paper == "t23":
            wanted += [f"fisher_mala:{signal}" for signal in SIGNALS[1:]]
    return wanted


def chosen(options: argparse.Namespace) -> list[Choice]:
    """Rows that the command line asks for, in the order of the tables."""
    by_name = options.methods is not None or options.signals
    return [
        (paper, target, method)
        for (paper, target), methods in published_methods(options).items()
        for method in (wanted_methods(options, paper, target) if by_name else methods)
    ]


def obstacle(choice: Choice, named: Sequence[str]) -> str:
    """Why a row is not run; empty if it is."""
    paper, target, method = choice
    variant = variants(paper, target).get(method)
    if (method if variant is None else variant.method) not in SAMPLERS:
        return UNAVAILABLE
    if choice in COSTLY and method not in named:
        return f"not run: {COSTLY[choice]}"
    return ""


def planned_jobs(options: argparse.Namespace) -> list[Job]:
    """List the runs that the command line asks for."""
    return [
        Job(
            *choice, seed=options.seed, repeat=repeat, scale=scale_of(options, choice[0]),
            engine=options.engine, standardise=options.standardise, estimator=options.ess,
            warmup_scale=options.warmup_scale, chains=options.chains, limit=options.limit,
        )
        for choice in chosen(options)
        if not obstacle(choice, options.methods or ())
        for repeat in range(repeats_of(options, choice))
    ]  # fmt: skip


def scale_of(options: argparse.Namespace, paper: str) -> float:
    """Scale of a paper's runs: less than asked for, of the longest in a short run of everything."""
    shorter = SHORTER.get(paper, 1.0) if options.all and options.scale < 1.0 else 1.0
    return float(options.scale * shorter)


def repeats_of(options: argparse.Namespace, choice: Choice) -> int:
    """Repeats of a row: fewer than asked for, of the costly ones of a short run of everything."""
    few = options.all and options.scale < 1.0 and choice[:2] in FEWER
    return min(options.repeats, 1) if few else int(options.repeats)


def announced(rows: Iterator[Row]) -> Iterator[Row]:
    """Say on the error stream which run has ended."""
    for row in rows:
        end = row["error"] or f"min ESS {row['ess_min']:.0f}"
        print(
            f"  {row['paper']} {row['target']} {row['method']} repeat {row['repeat']}: {end}",
            file=sys.stderr, flush=True,
        )  # fmt: skip
        yield row


def in_order(options: argparse.Namespace, measured: Sequence[Summary]) -> list[Summary]:
    """Summaries of all rows that were asked for, those that were not run with the reason."""
    by_key = {(s.paper, s.target, s.method): s for s in measured}
    return [
        by_key.get(choice) or Summary(*choice, 0, {}, obstacle(choice, options.methods or ()))
        for choice in chosen(options)
    ]


def report_tables(options: argparse.Namespace) -> list[str]:
    """Run the tables' experiments, print them, and return what falls short."""
    if options.all and options.scale < 1.0:
        print("- " + short_of_everything())
    if options.rows:
        rows = list(stored(options.rows))
        print("\n".join(f"- {line}" for line in origins(rows)))
    else:
        runs = written(options.csv, run_jobs(planned_jobs(options), options.processes))
        rows = list(announced(runs))
    summaries = in_order(options, summarise(rows))
    for paper, protocol in PROTOCOLS.items():
        shown = [s for s in summaries if s.paper == paper]
        if not shown:
            continue
        estimator = options.ess or protocol.estimator
        print(f"\n## {title(paper)}: effective sample size ({estimator}), mean ± sd over repeats\n")
        print(lengths([row for row in rows if row["paper"] == paper]) + "\n")
        print(comparison_table(shown))
        if options.plots:
            from figures import ess_figure

            kind = "signals" if options.signals else "tables"
            ess_figure(options.plots / f"ess_{paper}_{kind}.png", shown)
    if options.signals:
        print("\n## Ranking of the signals by smallest ESS\n")
        print(ranking_table(summaries))
    if orders := order_table(summaries, RANKINGS):
        print("\n## Methods in the order of the papers' figures\n")
        print(orders)
    ahead = advantages(summaries)
    if ahead:
        print("\n## Smallest ESS a log density, sa_mcmc:full over am:full\n")
        print(advantage_table(ahead))
    problems = [f"{row['target']} {row['method']} failed: {row['error']}"
                for row in rows if row["error"]]  # fmt: skip
    full = {(r["paper"], r["target"], r["method"]) for r in rows if is_full(r)}
    judged = [s for s in summaries if s[:3] in full and s.repeats >= FULL_REPEATS]
    print("\n## What this shows\n")
    print("\n".join(f"- {line}" for line in verdict(summaries, judged, RANKINGS)))
    problems += shortfalls(judged)
    return problems + lost_advantages({t: r for t, r in ahead.items() if long_enough(rows, t)})


def short_of_everything() -> str:
    """Say what a short run of everything leaves out."""
    targets = ", ".join(f"{target} ({title(paper)})" for paper, target in FEWER)
    factors = ", ".join(f"{title(paper)} {factor:g}" for paper, factor in SHORTER.items())
    return f"One repeat only of {targets}; times the scale: {factors}"


def title(paper: str) -> str:
    """Name of a paper, and of the experiment where a paper has several."""
    name, _, experiment = paper.partition("-")
    return f"{NAMES[name]}, {experiment}" if experiment else NAMES[name]


def lengths(rows: Sequence[Row]) -> str:
    """Say how long the runs were, where they were shorter than the paper's."""
    short: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        if not row["error"] and not is_full(row):
            names = short.setdefault((row["warmup"], row["draws"]), [])
            label = f"{row['target']} {row['method']}"
            names += [label] * (label not in names)
    if not short:
        return "All runs are as long as the paper's."
    return "\n".join(
        ["Shorter than the paper's:", ""]
        + [f"- {w:,.0f} + {d:,.0f} iterations: {', '.join(n)}" for (w, d), n in short.items()]
    )


def long_enough(rows: Sequence[Row], target: str) -> bool:
    """Whether the runs of SA-MCMC and AM suffice to compare them."""
    protocol = PROTOCOLS["zhu"]
    least = (
        s * n for s, n in zip(ADVANTAGE_SCALES, (protocol.draws, protocol.warmup), strict=True)
    )
    draws, warmup = least
    compared = [r for r in rows if r["target"] == target and r["method"] == "sa_mcmc:full"]
    return all(r["draws"] >= draws and r["warmup"] >= warmup for r in compared)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if something failed or falls short of the paper."""
    options = parse_arguments(arguments)
    given = sys.argv[1:] if arguments is None else arguments
    lines = [f"Command: python benchmarks/papers.py {' '.join(given)}"]
    lines += [] if options.rows else environment()
    print("\n".join(f"- {line}" for line in lines), flush=True)
    problems = report_tables(options) if options.table else []
    for name in FIGURES if "all" in options.figure else dict.fromkeys(options.figure):
        settings = Settings(
            options.plots or Path("figures"), scale_of(options, name.partition("-")[0]),
            options.seed, options.processes, options.warmup_scale, options.chains,
        )  # fmt: skip
        problems += run_figure(name, settings)
    print("\n".join(f"- FALLS SHORT: {problem}" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
