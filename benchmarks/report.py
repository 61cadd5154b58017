"""Tables of what was measured beside what was published, as Markdown and CSV."""

from __future__ import annotations

import csv
import datetime
import os
import platform
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from published import FROBENIUS, FROBENIUS_UPDATES, PUBLISHED, Published, variant_label

STATISTICS = {"max": "largest", "median": "median", "min": "smallest"}
FACTOR = 2.0  # Frobenius errors are held to this factor of the reference


class Summary(NamedTuple):
    """Mean and standard deviation over repeats for one target and method.

    Attributes
    ----------
    ess : "max", "median", "min" -> (mean, standard deviation)
    acceptance : mean acceptance rate
    step_size : mean final step size
    """

    target: str
    label: str
    repeats: int
    ess: dict[str, tuple[float, float]]
    acceptance: float
    step_size: float

    @property
    def published(self) -> Published | None:
        """The row of the paper, if it has one."""
        matches = (p for p in PUBLISHED if (p.target, p.label) == (self.target, self.label))
        return next(matches, None)

    def ratio(self, statistic: str) -> float:
        """Ours over published; NaN where nothing was published."""
        if self.published is None:
            return np.nan
        return self.ess[statistic][0] / getattr(self.published, STATISTICS[statistic])[0]


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and sample standard deviation (NaN for one value)."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


def summarise(rows: Iterable[dict[str, Any]]) -> list[Summary]:
    """Average the repeats of each target and method, in order of appearance."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        label = variant_label(row["method"], row["signal"])
        groups.setdefault((row["target"], label), []).append(row)
    return [
        Summary(
            target,
            label,
            len(members),
            {s: mean_and_sd([m[f"ess_{s}"] for m in members]) for s in STATISTICS},
            float(np.mean([m["acceptance_rate"] for m in members])),
            float(np.mean([m["step_size"] for m in members])),
        )
        for (target, label), members in groups.items()
    ]


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


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table with padded columns."""
    cells = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
             for row in cells]  # fmt: skip
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def ess_table(summaries: Sequence[Summary]) -> str:
    """Effective sample sizes beside the paper's, one line per statistic."""
    rows = []
    for s in summaries:
        for statistic, (mean, sd) in s.ess.items():
            paper = getattr(s.published, STATISTICS[statistic], (np.nan, np.nan))
            rows.append((
                s.target, s.label, statistic,
                f"{number(paper[0])} ± {number(paper[1])}",
                f"{number(mean)} ± {number(sd)}",
                number(s.ratio(statistic)), number(s.acceptance), number(s.step_size),
            ))  # fmt: skip
    header = ("target", "method", "ESS", "published", "ours", "ours/published", "accept", "step")
    return markdown(header, rows)


def shortfalls(summaries: Sequence[Summary], least: float) -> list[str]:
    """Name the FisherMALA rows whose smallest size is below ``least`` times the published one."""
    return [
        f"{s.target} {s.label}: smallest ESS is {s.ratio('min'):.2f} of the published one"
        for s in summaries
        if s.label == "fisher_mala" and s.ratio("min") < least
    ]


def ranking_table(summaries: Sequence[Summary]) -> str:
    """Whether the variants of a target rank as published, by smallest ESS.

    Compared are the pairs whose published means differ by more than two standard deviations of
    the difference of two runs; the others are ties in the paper.
    """
    rows = []
    for a, b in combinations(summaries, 2):
        if a.target != b.target or a.published is None or b.published is None:
            continue
        (mean_a, sd_a), (mean_b, sd_b) = a.published.smallest, b.published.smallest
        if abs(mean_a - mean_b) <= 2.0 * np.hypot(sd_a, sd_b):
            continue
        better, worse = (a, b) if mean_a > mean_b else (b, a)
        agrees = better.ess["min"][0] > worse.ess["min"][0]
        rows.append((
            a.target, f"{better.label} > {worse.label}",
            f"{number(better.published.smallest[0])} > {number(worse.published.smallest[0])}",
            f"{number(better.ess['min'][0])}, {number(worse.ess['min'][0])}",
            "yes" if agrees else "NO",
        ))  # fmt: skip
    if not rows:
        return "No pair of variants differs in the paper by more than two standard deviations."
    return markdown(("target", "published order", "published", "ours", "same order"), rows)


def frobenius_table(target: str, errors: dict[str, Sequence[float]]) -> str:
    """Errors after the reference's numbers of updates.

    Parameters
    ----------
    target : a key of `published.FROBENIUS`
    errors : mode of learning -> mean errors at `published.FROBENIUS_UPDATES`. The mode "robust" is
        shown beside the reference for "pooled": it learns earlier, and weighs later signals more,
        so that in the end its error is larger.
    """
    rows = []
    for mode, ours in errors.items():
        reference = FROBENIUS[target].of(mode)
        ratios = np.array(ours) / np.array(reference)
        rows.append((target, mode, "reference", *map(number, reference)))
        rows.append((target, mode, "ours", *map(number, ours)))
        rows.append((target, mode, "ratio", *(f"{r:.2f}" for r in ratios)))
    header = ("target", "learning", "", *(f"n={n}" for n in FROBENIUS_UPDATES))
    return markdown(header, rows)


def frobenius_shortfalls(target: str, errors: dict[str, Sequence[float]]) -> list[str]:
    """Name the errors of Algorithm 1 that are more than `FACTOR` times the reference."""
    return [
        f"{target} {mode} after {n} updates: {ours:.3g}, reference {reference:.3g}"
        for mode, values in errors.items()
        for n, ours, reference in zip(
            FROBENIUS_UPDATES, values, FROBENIUS[target].of(mode), strict=True
        )
        if mode != "robust" and ours > FACTOR * reference
    ]


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write one line per run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
