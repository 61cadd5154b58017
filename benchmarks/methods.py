"""Which method when? Every method on twenty posteriors, with its defaults and as papers have it.

    python benchmarks/methods.py --csv benchmarks/results/methods.csv --resume
    python benchmarks/methods.py --posteriors pima funnel --methods nuts sa_mcmc --seeds 1
    python benchmarks/methods.py --rows benchmarks/results/methods.csv --plot methods.png
    python benchmarks/methods.py --make-references

The methods are all that are registered, and those of papers whose settings are not the defaults,
called like ``am:td19`` (see `experiments`). The posteriors are those of `method_posteriors`. All
have the same budget: a run has the method's default chains, warm-up and draws, on one core, and is
ended after its current iteration when it has taken ``--limit`` seconds of the processor (`--limit`
and a few more, if that iteration does not end). Other runs on the machine do not count. A run
without a single draw is not repeated with other seeds.

A row has the smallest bulk and tail effective sample size (ESS) and the largest R-hat, over all
quantities and the log density; seconds of the processor, and evaluations, in the warm-up and in the
sampling. A log density alone counts as an evaluation like one with a gradient, a Hessian-vector
product as two, a Hessian or a metric as d. ``worst_z`` is the largest distance of a mean, or mean
square, from what is known of it, in combined Monte Carlo standard errors. A run is

- right      if it has no warning, and no z is beyond Bonferroni's bound for all runs together,
- warned     if it has a warning of its own, whatever its draws are like; that the time limit ended
             it is none,
- wrong      if it is too far from what is known, and does not say so,
- late       if it has no draws within the limit,
- cannot     if the model lacks what the method needs, and an error says what; also where there
             are no data, for a method that begins with draws from the prior,
- error      if anything else was raised.

A method is right on a posterior if it is with most seeds. Its share there is its rate, the median
over those seeds, over the best rate of all methods. Rates are the smaller of bulk and tail ESS by
evaluation or second, with the warm-up and without. ``--csv`` writes each row as soon as its run has
ended; with ``--resume`` what the file has is kept and not run again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median_high
from typing import Any, NamedTuple

import numpy as np
from corpus import LONG, TRIES, summarised
from ess import effective_sizes
from experiments import variants
from measures import FAILED, LATE, YES, Row, measured, per, recorded, stored, varying
from method_posteriors import MADE, POSTERIORS, REFERENCES, made_references
from posteriordb import FAMILY_LEVEL, Known
from posteriordb_references import text
from references import flat
from report import environment, markdown, number
from scipy import stats

from probmodel.density import ModelDensity
from probmodel.samplers import available_samplers, find_sampler
from probmodel.types import Array

ROOT = Path(__file__).resolve().parents[1]
RIGHT, WARNED, WRONG, LACKING, BROKEN = "right", "warned", "wrong", "cannot", "error"
OUTCOMES = (RIGHT, WARNED, WRONG, LATE, LACKING, BROKEN)
REFUSALS = ("SamplerError", "ModelError")  # raised before anything is sampled
TRIVIAL = {  # of methods that begin with draws from the prior, where that is the posterior
    "converged": FAILED, "warnings": "SamplerError: there are no data", "worst_of": "",
}  # fmt: skip
GRACE = 5  # seconds of the processor that an iteration, and the checks of a run, may take longer
LEAST_DRAWS = 100  # of a chain, for a comparison of means
PAPERS = {"td19": "caravan", "t23": "pima", "zhu": "mnist_7v9", "wang-figure2": "pima_wide",
          "hirt-logistic": "pima_unit"}  # a target of each, for what depends on it  # fmt: skip
CHOSEN = (  # method, paper, and what `experiments` calls it
    ("am", "td19", "am"),
    ("fisher_mala", "t23", "fisher_mala"),
    ("sa_mcmc", "zhu", "sa_mcmc:full"),
    ("ahmc", "wang-figure2", "ahmc"),
    ("nuts", "wang-figure2", "nuts"),
    ("entropy_hmc", "hirt-logistic", "entropy_hmc:gsm:5"),
)
COLUMNS = (
    "posterior", "dim", "method", "seed", "converged", "chains", "warmup", "draws", "rhat",
    "ess_bulk", "ess_tail", "seconds_warmup", "seconds_sampling", "gradients_warmup",
    "gradients_sampling", "densities_warmup", "densities_sampling", "worst_z", "worst_of",
    "comparisons", "warnings",
)  # fmt: skip
WORDS = ("posterior", "method", "converged", "worst_of", "warnings")
RATES = {"evaluation": ("gradients", "densities"), "second": ("seconds",)}


# -- methods --------------------------------------------------------------------------------------


def methods() -> dict[str, dict[str, Any]]:
    """Return settings of `infer` by the name of a row: all methods, then those of papers."""
    found: dict[str, dict[str, Any]] = {name: {"method": name} for name in available_samplers()}
    for method, paper, label in CHOSEN:
        settings = dict(variants(paper, PAPERS[paper])[label].settings)
        settings.pop("initial_scale", None)  # it goes by the dimension of that target
        found[f"{method}:{paper.split('-')[0]}"] = {"method": method, **settings}
    return found


# -- one run --------------------------------------------------------------------------------------


def compared(run: Any, known: Known) -> Row:
    """Say how far a result is from what is known, and in what."""
    names, draws = flat(run)
    column = {name: i for i, name in enumerate(names)}
    own = draws[:, :, [column[name] for name in known.names]]
    if own.shape[1] < LEAST_DRAWS:
        return {"worst_of": ""}
    z = np.concatenate([
        (values.mean(axis=(0, 1)) - truth) / np.hypot(_errors(values), error)
        for values, truth, error in (
            (own, known.mean, known.mean_error), (own**2, known.square, known.square_error)
        )
    ])  # fmt: skip
    words = [*known.names, *(f"{name} ** 2" for name in known.names)]
    k = int(np.nanargmax(np.abs(z))) if np.isfinite(z).any() else 0
    return {"worst_z": float(z[k]), "worst_of": words[k], "comparisons": len(z)}


def _errors(draws: Array) -> Array:
    """Monte Carlo standard errors of means: (chains, draws, quantities); NaN for what is stuck."""
    half = draws.shape[1] // 2
    split = np.concatenate([draws[:, :half], draws[:, -half:]])
    errors = draws.std(axis=(0, 1)) / np.sqrt(effective_sizes("stan", split))
    return np.where(varying(draws), errors, np.nan)


def _work(sender: Any, density: ModelDensity, known: Known, asked: Row, limit: float) -> None:
    """Make one run, in a process of its own, by the clock of its processor."""
    time.perf_counter = time.process_time  # what `max_time` and the times of a run go by
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + GRACE, resource.RLIM_INFINITY))
    row, run = measured(density, {**asked, "cores": 1}, limit, with_density=True)
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    row["warnings"] = row["warnings"].replace(f"{ROOT}/", "").split("\n")[0][:200]
    row["worst_of"] = ""
    if run is not None:
        row |= compared(run, known)
    sender.send(row)


def alone(density: ModelDensity, known: Known, asked: Row, limit: float) -> Row:
    """Make one run in a process forked for it, which is ended if an iteration does not end."""
    processes = multiprocessing.get_context("fork")
    receiver, sender = processes.Pipe(duplex=False)
    process = processes.Process(target=_work, args=(sender, density, known, asked, limit))
    process.start()
    sender.close()
    try:
        row: Row = receiver.recv()
    except EOFError:
        row = {"dim": density.dim, "converged": LATE, "warnings": "", "worst_of": ""}
    process.join()
    return row


def rows_of(title: str, seed: int, options: argparse.Namespace, done: list[Row]) -> Iterator[Row]:
    """Run methods on one posterior with one seed, but for what has been done or has no draws."""
    over = {row["method"] for row in done if row["posterior"] == title and _stands(row, seed)}
    left = [name for name in options.methods if name not in over]
    if not left:
        return
    case = POSTERIORS[title]
    density, known = case.build(), case.known()
    for name in left:
        asked = {**methods()[name], **case.settings, "seed": seed}
        trivial = find_sampler(asked["method"]).needs == "prior" and not _has_data(density)
        row = dict(TRIVIAL) if trivial else alone(density, known, asked, options.limit)
        row |= {"posterior": title, "method": name, "seed": seed}
        print(f"{title}, {name}, seed {seed}: {row['converged']}", file=sys.stderr, flush=True)
        done.append(row)
        yield row


def _has_data(density: ModelDensity) -> bool:
    """Whether there is anything but a prior."""
    titles = density.terms(np.zeros((1, density.dim)))
    return any(title.startswith(("likelihood", "potential")) for title in titles)


def _stands(row: Row, seed: int) -> bool:
    """Whether a row is that of a seed, or says that there is no use in trying it."""
    return bool(row["seed"] == seed or np.isnan(row.get("rhat", np.nan)))


def make_references(limit: float) -> None:
    """Make long runs of `MADE`, and keep those that have converged without a warning."""
    for title in MADE:
        row, run = measured(POSTERIORS[title].build(), {**LONG, **TRIES[1]}, limit)
        print(f"{title}: {row['converged']} {row['warnings']}", file=sys.stderr)
        if row["converged"] == YES and not row["warnings"]:
            REFERENCES.write_text(text(made_references() | {title: summarised(run)}))


# -- what came of it ------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A method on a posterior.

    Attributes
    ----------
    outcome : of most seeds; wrong if it is with any
    right : seeds with which it is right
    seeds : that were tried
    rates : by unit and whether the warm-up counts, the median over the right seeds; 0 without any
    """

    outcome: str
    right: int
    seeds: int
    rates: Mapping[tuple[str, bool], float]


WAYS = tuple((unit, warm) for unit in RATES for warm in (True, False))


def bounds(rows: Sequence[Row]) -> list[float]:
    """Largest absolute z that is allowed of each run: Bonferroni's, two-sided, for all together."""
    counts = np.array([row["comparisons"] for row in rows], dtype=float)
    runs = max(1, np.sum(counts > 0.0))
    level = FAMILY_LEVEL / (2.0 * runs * np.maximum(counts, 1.0))
    return np.where(counts > 0.0, stats.norm.isf(level), np.inf).tolist()


def outcome(row: Row, bound: float) -> str:
    """Say what came of a run."""
    if row["converged"] == FAILED:
        return LACKING if row["warnings"].startswith(REFUSALS) else BROKEN
    if np.isnan(row["rhat"]) and not row["warnings"]:
        return LATE
    if set(row["warnings"].split()) - {"time_limit"}:
        return WARNED
    return WRONG if abs(row["worst_z"]) > bound else RIGHT


def rate(row: Row, unit: str, warm: bool) -> float:
    """Return the smaller of bulk and tail ESS by evaluation or second, with the warm-up or not.

    Where sampling evaluates nothing, as that of smc, draws are made in the warm-up: it counts then.
    """
    made = any(row[f"{what}_sampling"] for what in RATES["evaluation"])
    phases = ("sampling",) if made and not warm else ("warmup", "sampling")
    cost = sum(row[f"{what}_{phase}"] for what in RATES[unit] for phase in phases)
    return per(min(row["ess_bulk"], row["ess_tail"]), cost)


def cells(rows: Sequence[Row]) -> dict[tuple[str, str], Cell]:
    """Put together the seeds of each method, by it and the posterior."""
    groups: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row, bound in zip(rows, bounds(rows), strict=True):
        groups.setdefault((row["method"], row["posterior"]), []).append((outcome(row, bound), row))
    found = {}
    for key, runs in groups.items():
        words = [word for word, _ in runs]
        good = [row for word, row in runs if word == RIGHT]
        usual = RIGHT if 2 * len(good) > len(runs) else max(
            (word for word in words if word != RIGHT), key=words.count)  # fmt: skip
        found[key] = Cell(
            WRONG if WRONG in words else usual, len(good), len(runs),
            {way: median_high([rate(row, *way) for row in good] or [0.0]) for way in WAYS},
        )  # fmt: skip
    return found


def shares(table: Mapping[tuple[str, str], Cell], way: tuple[str, bool]) -> dict[Any, float]:
    """Rates over the best on each posterior, of the methods that are right there."""
    right = {key: cell for key, cell in table.items() if cell.outcome == RIGHT}
    best: dict[str, float] = {}
    for (_, title), cell in right.items():
        best[title] = max(best.get(title, 0.0), cell.rates[way])
    return {key: cell.rates[way] / best[key[1]] for key, cell in right.items()}


def ranking(rows: Sequence[Row]) -> list[list[str]]:
    """Return a line for each method, the best first: outcomes on the posteriors, and shares."""
    table = cells(rows)
    parts = {way: shares(table, way) for way in WAYS}
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {key: cell for key, cell in table.items() if key[0] == method}
        counts = [sum(cell.outcome == word for cell in own.values()) for word in OUTCOMES]
        typical = [
            float(np.median([parts[way][key] for key in own if key in parts[way]] or [np.nan]))
            for way in WAYS
        ]
        lines.append((-counts[0], -np.nan_to_num(typical[2]), [
            method, *(str(count) for count in counts), *map(number, typical),
        ]))  # fmt: skip
    return [line for _, _, line in sorted(lines, key=lambda entry: entry[:2])]


HEADER = ("method", *OUTCOMES, "ESS/evaluation", "ESS/evaluation, sampling", "ESS/second",
          "ESS/second, sampling")  # fmt: skip


def report(rows: Sequence[Row]) -> str:
    """Format the ranking, the shares on each posterior, and what was wrong without a warning."""
    lines, table = ranking(rows), cells(rows)
    part = shares(table, ("second", True))
    titles = list(dict.fromkeys(row["posterior"] for row in rows))
    matrix = [
        [line[0], *(_share(table.get((line[0], t)), part.get((line[0], t))) for t in titles)]
        for line in lines
    ]
    wrong = [
        [row["posterior"], row["method"], str(row["seed"]), number(row["worst_z"]), row["worst_of"]]
        for row, bound in zip(rows, bounds(rows), strict=True)
        if outcome(row, bound) == WRONG
    ]
    unsaid = markdown(("posterior", "method", "seed", "z", "of"), wrong) if wrong else "None."
    return (
        f"## Methods\n\nPosteriors by outcome, and the median share of the best rate where right."
        f"\n\n{markdown(HEADER, lines)}\n\n## ESS per second with the warm-up, over the best\n\n"
        f"{markdown(('method', *titles), matrix)}\n\n## Wrong without a warning\n\n{unsaid}"
    )


def _share(cell: Cell | None, share: float | None) -> str:
    if cell is None:
        return "–"
    return cell.outcome if share is None else f"{share:.2g}"


# -- command line ---------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = list(POSTERIORS)
    parser.add_argument("--posteriors", nargs="+", default=every, choices=every, metavar="NAME")
    names = list(methods())
    parser.add_argument("--methods", nargs="+", default=names, choices=names, metavar="METHOD")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--limit", type=float, default=4.0, metavar="SECONDS", help="of a run")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="keep what is there, and go on")
    parser.add_argument("--make-references", action="store_true", help="by long runs; no others")
    parser.add_argument(
        "--rows", nargs="+", type=Path, metavar="FILE", help="report what --csv stored; run nothing"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the shares")
    options = parser.parse_args(arguments)
    if options.resume and not options.csv:
        parser.error("--resume goes with --csv")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the tables."""
    options = parse(arguments)
    if options.make_references:
        make_references(600.0)
        return 0
    if options.rows:
        rows = list(stored(options.rows, WORDS))
    else:
        print("\n".join(f"- {line}" for line in environment()) + "\n", flush=True)
        resumed = options.resume and options.csv.exists()
        done = list(stored([options.csv], WORDS)) if resumed else []
        new = (
            row for seed in options.seeds for title in options.posteriors
            for row in rows_of(title, seed, options, done)
        )  # fmt: skip
        rows = list(recorded(options.csv, COLUMNS, chain(list(done), new)))
    rows = [dict.fromkeys(COLUMNS, np.nan) | row for row in rows]
    print(report(rows))
    if options.plot:
        from method_picture import draw

        draw(options.plot, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
