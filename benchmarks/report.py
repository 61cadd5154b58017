"""Tables of what was measured beside what was published, as Markdown."""

from __future__ import annotations

import datetime
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from explained import explanation
from published import FROBENIUS, FROBENIUS_UPDATES, LEAST_ADVANTAGE, Published, find

FACTOR = 2.0  # Frobenius errors are held to this factor of a second program's
MEDIAN_TOLERANCE = 0.10  # of median sizes, either way
LEAST_MINIMUM = 0.75  # of the published smallest size
HELD = ("gad_rwm", "gad_mala", "gad_mala_exact", "am", "ada_mala", "mmala", "fisher_mala")

# statistic -> column of a row
STATISTICS = {
    "max": "ess_max",
    "median": "ess_median",
    "min": "ess_min",
    "accept": "acceptance_rate",
    "min/1000": "ess_min_per_1000",
    "median/1000": "ess_median_per_1000",
    "min/s": "ess_min_per_second",
    "median/s": "ess_median_per_second",
    "R-hat max": "rhat_max",
    "R-hat median": "rhat_median",
}
# shown where they are known
SOMETIMES = ("condition", "eigenvalue", "sigma^2", "R-hat max", "R-hat median")


def _per_thousand(row: Mapping[str, Any]) -> float:
    """Largest size a thousand evaluations."""
    return float(row["ess_max"] / row["ess_min"] * row["ess_min_per_1000"])


def _per_step(row: Mapping[str, Any]) -> float:
    """Smallest size a thousand leapfrog steps, whatever else a step may cost."""
    steps = row.get("gradients_sampling", 0)
    return float(1000.0 * row["ess_min"] / steps) if steps else np.nan


def _condition(row: Mapping[str, Any]) -> float:
    """Condition number of what the sampler sees of a Gaussian target."""
    return float(row.get("condition", np.nan))


def _eigenvalue(row: Mapping[str, Any]) -> float:
    """Return the largest of D, in size; NaN for other methods and in older rows."""
    return float(row.get("eigenvalue", np.nan))


def _sigma2(row: Mapping[str, Any]) -> float:
    """Return sigma^2 of a Langevin method: of the unit of its preconditioner, which has trace d."""
    langevin = row["method"] in ("mala", "ada_mala", "fisher_mala")
    return float(row.get("step_size", np.nan)) ** 2 if langevin else np.nan


def _per_chain(column: str, row: Mapping[str, Any]) -> float:
    """Size of one chain, by the seconds after the warm-up that all chains take together."""
    seconds = row.get("seconds_sampling", np.nan)
    return float(row[column] / (row.get("chains", np.nan) * seconds))


# statistic -> what it is made of, where no column has it
DERIVED: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "max/1000": _per_thousand,
    "min/1000 steps": _per_step,
    "condition": _condition,
    "eigenvalue": _eigenvalue,
    "sigma^2": _sigma2,
    "chain min/s": partial(_per_chain, "ess_min"),
    "chain median/s": partial(_per_chain, "ess_median"),
}
SHOWN = {
    "t23": ("max", "median", "min", "accept", "sigma^2"),
    "td19": ("max", "median", "min", "accept", "min/s"),
    "zhu": ("accept", "min/1000", "median/1000", "min/s", "median/s"),
    "wang": ("min/1000", "median/1000", "max/1000", "min/1000 steps", "accept"),
    "hirt": (
        "chain min/s",
        "chain median/s",
        "min/1000",
        "median/1000",
        "accept",
        "condition",
        "eigenvalue",
        "R-hat max",
        "R-hat median",
    ),
}
UNKNOWN = (np.nan, np.nan)
NOT_RUN = "not run"
UNAVAILABLE = "not available"  # note on a method that this package does not have


class Summary(NamedTuple):
    """Means and standard deviations over the repeats of one method on one target.

    Attributes
    ----------
    paper, target, method : which
    repeats : that came to an end
    values : a key of `STATISTICS` or `DERIVED` -> (mean, standard deviation)
    note : why there are no values, if there are none
    capped : "max", "median" or "min" -> repeats whose size is the number of draws, which is the
        most that Geyer's estimator gives
    """

    paper: str
    target: str
    method: str
    repeats: int
    values: Mapping[str, tuple[float, float]]
    note: str = ""
    capped: Mapping[str, int] = {}

    @property
    def published(self) -> Published | None:
        """The row of the paper, if it has one."""
        return find(self.paper, self.target, self.method)

    def reported(self, statistic: str) -> tuple[float, float]:
        """Return what the paper reports; NaN where it does not."""
        return UNKNOWN if self.published is None else self.published.figures.get(statistic, UNKNOWN)

    def ratio(self, statistic: str) -> float:
        """Ours over published; NaN where one of them is missing."""
        return self.values.get(statistic, UNKNOWN)[0] / self.reported(statistic)[0]

    def error(self, statistic: str) -> float:
        """Return the standard error of a mean over repeats; NaN after a single one."""
        return self.values[statistic][1] / np.sqrt(self.repeats)


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and sample standard deviation (NaN for one value)."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


def summarise(rows: Iterable[Mapping[str, Any]]) -> list[Summary]:
    """Average the repeats of each target and method, in order of appearance."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["paper"], row["target"], row["method"]), []).append(row)
    summaries = []
    for key, members in groups.items():
        good = [m for m in members if not m["error"]]
        values = {
            name: mean_and_sd([m.get(column, np.nan) for m in good])
            for name, column in STATISTICS.items()
            if good
        }
        values |= {name: mean_and_sd([of(m) for m in good]) for name, of in DERIVED.items() if good}
        note = "" if good else str(members[0]["error"])
        capped = {
            name: sum(_is_number_of_draws(m[STATISTICS[name]], m) for m in good)
            for name in ("max", "median", "min")
        }
        summaries.append(Summary(*key, len(good), values, note, capped))
    return summaries


def _is_number_of_draws(size: float, row: Mapping[str, Any]) -> bool:
    draws = row.get("draws", np.nan) * row.get("chains", np.nan)
    return bool(abs(size / draws - 1.0) < 1e-9)


def environment() -> list[str]:
    """Date, machine, versions and threads, one line each."""
    import scipy

    import probmodel

    versions = {
        "probmodel": probmodel.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "not set")
    return [
        f"Date: {datetime.date.today().isoformat()}",
        f"Machine: {processor_name()}, {os.cpu_count()} cores, {platform.system()}",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()),
        f"OPENBLAS_NUM_THREADS: {threads}",
    ]


def origins(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """When, where and with what stored runs were made, one line for each that differs."""
    names = ("date", "machine", "probmodel", "python", "numpy", "clock")
    count = Counter(tuple(str(row[name]) for name in names) for row in rows)
    lines = []
    for (date, machine, package, python, arrays, clock), n in count.items():
        made = (
            f"{date}, {machine}, probmodel {package}, Python {python}, NumPy {arrays}, seconds of "
            f"{clock}"
        )
        if len({date, machine, package}) == 1:
            made = f"date, machine and versions {date}"
        lines.append(f"{n} runs: {made}")
    return lines


def processor_name() -> str:
    """Return the processor's name where the system tells it, else its architecture."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def number(value: float) -> str:
    """About four significant digits, without an exponent."""
    if np.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def with_spread(pair: tuple[float, float]) -> str:
    """Value and standard deviation, where there is one."""
    value, spread = pair
    return number(value) if np.isnan(spread) else f"{number(value)} ± {number(spread)}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table with padded columns."""
    cells = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
             for row in cells]  # fmt: skip
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def comparison_table(summaries: Sequence[Summary]) -> str:
    """Ours beside the paper's, one line per statistic; the notes' sentences follow the table.

    A row that was not run has lines for what the paper reports of it, or else a single one.
    """
    rows: list[tuple[str, ...]] = []
    sentences: list[str] = []
    for s in summaries:
        statistics = SHOWN[s.paper.split("-")[0]]
        if not s.values:
            reported = [name for name in statistics if not np.isnan(s.reported(name)[0])]
            statistics = tuple(reported) or statistics[:1]
        for statistic in statistics:
            if statistic in SOMETIMES and np.isnan(s.values.get(statistic, UNKNOWN)[0]):
                continue
            note = s.note or explanation(s.paper, s.target, s.method, statistic)
            note = note or ("" if s.values else NOT_RUN)
            if note not in ("", UNAVAILABLE, NOT_RUN):
                sentences += [note] * (note not in sentences)
                note = f"({sentences.index(note) + 1})"
            if capped := s.capped.get(statistic.split("/")[0], 0):
                note = f"{note} at the cap in {capped} of {s.repeats}".strip()
            rows.append((
                s.target, s.method, statistic, with_spread(s.reported(statistic)),
                with_spread(s.values.get(statistic, UNKNOWN)), number(s.ratio(statistic)), note,
            ))  # fmt: skip
    header = ("target", "method", "statistic", "published", "ours", "ours/published", "note")
    return "\n".join([markdown(header, rows), *numbered(sentences)])


def numbered(sentences: Sequence[str]) -> list[str]:
    """Return the notes under a table, numbered."""
    return [f"\n({i}) {sentence}" for i, sentence in enumerate(sentences, 1)]


def held(summary: Summary) -> dict[str, str]:
    """Statistics in which a method is held to the paper, and the word for each."""
    if not summary.values:
        return {}
    if summary.paper == "zhu":
        return {} if np.isnan(summary.ratio("min/1000")) else {"min/1000": "min"}
    return {"median": "median", "min": "min"} if summary.method in HELD else {}


def shortfalls(summaries: Sequence[Summary]) -> list[str]:
    """Name the figures of the adaptive methods that are not as published, and not explained."""
    problems = []
    for s in summaries:
        for statistic, word in held(s).items():
            ratio = s.ratio(statistic)
            differs = (
                abs(ratio - 1.0) > MEDIAN_TOLERANCE if word == "median" else ratio < LEAST_MINIMUM
            )
            if differs and not explanation(s.paper, s.target, s.method, statistic):
                problems.append(
                    f"{s.target} {s.method}: {word} ESS is {ratio:.2f} of the published"
                )
    return problems


def advantages(summaries: Sequence[Summary]) -> dict[str, tuple[float, float]]:
    """Smallest size a log density of full SA-MCMC over that of full AM, ours and the paper's."""
    by_key = {(s.target, s.method): s for s in summaries if s.paper == "zhu" and s.values}
    found = {}
    for (target, method), ours in by_key.items():
        other = by_key.get((target, "am:full"))
        if method != "sa_mcmc:full" or other is None:
            continue
        ratio = ours.values["min/1000"][0] / other.values["min/1000"][0]
        found[target] = (ratio, ours.reported("min/1000")[0] / other.reported("min/1000")[0])
    return found


def advantage_table(found: Mapping[str, tuple[float, float]]) -> str:
    """How far SA-MCMC is ahead of AM."""
    rows = [(target, number(paper), number(ours)) for target, (ours, paper) in found.items()]
    return markdown(("target", "published", "ours"), rows)


def lost_advantages(found: Mapping[str, tuple[float, float]]) -> list[str]:
    """Name the targets where SA-MCMC is not far enough ahead."""
    return [
        f"{target}: sa_mcmc:full has {ours:.1f} times the ESS a log density of am:full, "
        f"at least {LEAST_ADVANTAGE:g} are expected"
        for target, (ours, _) in found.items()
        if ours < LEAST_ADVANTAGE
    ]


def frobenius_table(target: str, errors: Mapping[str, Sequence[float]]) -> str:
    """Errors beside those of a second program, after its numbers of updates.

    Parameters
    ----------
    target : a Gaussian; a key of `published.FROBENIUS` where there is a second program's run of it
    errors : mode of learning -> mean errors at `published.FROBENIUS_UPDATES`, NaN where the run
        ended before. The mode "robust" is shown beside the second program's "pooled": it learns
        earlier, and weighs later signals more, so that in the end its error is larger. "ada_mala"
        was run to the end only there.
    """
    rows = []
    for mode, ours in errors.items():
        rows.append((target, mode, "ours", *map(number, ours)))
        if target not in FROBENIUS:
            continue
        second = FROBENIUS[target].of(mode)
        ratios = np.array(ours) / np.array(second)
        rows.append((target, mode, "second program", *map(number, second)))
        rows.append((target, mode, "ratio", *("–" if np.isnan(r) else f"{r:.2f}" for r in ratios)))
    header = ("target", "learning", "", *(f"n={n}" for n in FROBENIUS_UPDATES))
    return markdown(header, rows)


def frobenius_shortfalls(target: str, errors: Mapping[str, Sequence[float]]) -> list[str]:
    """Name the errors of Algorithm 1 that are more than `FACTOR` times the second program's."""
    if target not in FROBENIUS:
        return []
    return [
        f"{target} {mode} after {n} updates: {ours:.3g}, second program {second:.3g}"
        for mode, values in errors.items()
        for n, ours, second in zip(
            FROBENIUS_UPDATES, values, FROBENIUS[target].of(mode), strict=True
        )
        if mode != "robust" and ours > FACTOR * second
    ]
