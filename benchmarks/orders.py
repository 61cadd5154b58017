"""In which order methods come, beside the orders that the papers show; and what that adds up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from explained import ORDERS, SLOWER
from published.ranking import Ranking
from report import Summary, held, markdown, number, numbered, shortfalls

SURE = 2.0  # standard errors by which two methods have to differ to be in an order
REVERSED = "does not hold here"  # of an order that is the other way round
MACHINES = "of two machines"  # of an order by seconds that tells of them
OPEN = ("?", MACHINES)


class Order(NamedTuple):
    """How two methods compare here, in an order that a paper shows.

    Attributes
    ----------
    ratio : of the one that the paper has ahead to the other, of means over repeats
    z : difference over its standard error; NaN where one of them was run once
    found : "yes", `REVERSED`, or "tie" within `SURE` standard errors; "?" after a single run,
        `MACHINES` where seconds do not compare
    """

    ratio: float
    z: float
    found: str


def order_of(better: Summary, worse: Summary, statistic: str) -> Order:
    """Compare two methods, the one that the paper has ahead first."""
    means = better.values[statistic][0], worse.values[statistic][0]
    z = (means[0] - means[1]) / np.hypot(better.error(statistic), worse.error(statistic))
    found = "?" if np.isnan(z) else "tie" if abs(z) < SURE else "yes" if z > 0 else REVERSED
    slower = [(s.target, s.method) in SLOWER for s in (better, worse)]
    if statistic.endswith("/s") and slower[0] != slower[1]:
        found = MACHINES
    return Order(means[0] / means[1], z, found)


def compared(
    summaries: Sequence[Summary], rankings: Sequence[Ranking]
) -> Iterator[tuple[Ranking, Order]]:
    """Yield the orders of methods that were both run."""
    by_key = {(s.paper, s.target, s.method): s for s in summaries if s.values}
    for r in rankings:
        better, worse = (by_key.get((r.paper, r.target, m)) for m in (r.better, r.worse))
        if better is not None and worse is not None:
            yield r, order_of(better, worse, r.statistic)


def ranking_table(summaries: Sequence[Summary]) -> str:
    """Whether the variants of a target rank as published, by smallest ESS.

    Compared are the pairs whose published means differ by more than two standard deviations of
    the difference of two runs; the others are ties in the paper.
    """
    rows = []
    for a, b in combinations(summaries, 2):
        if (a.paper, a.target) != (b.paper, b.target) or not (a.values and b.values):
            continue
        (mean_a, sd_a), (mean_b, sd_b) = a.reported("min"), b.reported("min")
        if not abs(mean_a - mean_b) > 2.0 * np.hypot(sd_a, sd_b):
            continue
        better, worse = (a, b) if mean_a > mean_b else (b, a)
        order = order_of(better, worse, "min")
        rows.append((
            a.target, f"{better.method} > {worse.method}",
            f"{number(better.reported('min')[0])} > {number(worse.reported('min')[0])}",
            f"{number(better.values['min'][0])}, {number(worse.values['min'][0])}",
            number(order.z), order.found,
        ))  # fmt: skip
    if not rows:
        return "No pair of variants differs in the paper by more than two standard deviations."
    header = ("target", "published order", "published", "ours", "z", "same order")
    return markdown(header, rows)


def order_table(summaries: Sequence[Summary], rankings: Sequence[Ranking]) -> str:
    """Whether methods come in the order that a paper shows; empty if none of them was run twice."""
    rows: list[tuple[str, ...]] = []
    sentences: list[str] = []
    for r, order in compared(summaries, rankings):
        found, sentence = order.found, ORDERS.get((r.target, r.better, r.worse), "")
        if found != "yes" and sentence:
            sentences += [sentence] * (sentence not in sentences)
            found += f" ({sentences.index(sentence) + 1})"
        rows.append((
            r.target, f"{r.better} > {r.worse}", r.statistic, r.source, number(r.ratio),
            number(order.ratio), number(order.z), found,
        ))  # fmt: skip
    if not rows:
        return ""
    header = (
        "target", "published order", "by", "where", "published ratio", "ours", "z", "same order"
    )  # fmt: skip
    return "\n".join([markdown(header, rows), *numbered(sentences)])


def _published(summaries: Sequence[Summary]) -> list[Summary]:
    """Rows of which the paper has figures."""
    return [s for s in summaries if s.published is not None and s.published.figures]


def verdict(
    summaries: Sequence[Summary], judged: Sequence[Summary], rankings: Sequence[Ranking]
) -> list[str]:
    """Say what was held to the paper, what was not, and which of its orders hold.

    Parameters
    ----------
    summaries : of all rows that were asked for
    judged : those with as many and as long runs as the paper's
    rankings : orders that the papers show
    """
    published = _published(summaries)
    lines = []
    if published:
        sizes = sum(bool(held(s)) for s in _published(judged))
        absent = sum(not s.values for s in published)
        lines.append(
            f"Of {len(published)} rows with published figures {sizes} are held to them, and "
            f"{absent} were not run. The others are shorter than the paper's, have too few "
            "repeats, or are of methods that are there for comparison."
        )
        if sizes and not shortfalls(judged):
            lines.append("None of those that are held to the paper falls short of it.")
    orders = list(compared(summaries, rankings))
    if orders:
        count = Counter(order.found for _, order in orders)
        lines.append(
            f"Of {len(orders)} orders that the paper shows {count['yes']} hold beyond {SURE:g} "
            f"standard errors, {count['tie']} are within them, {count[REVERSED]} are the other way "
            f"round, and {sum(count[word] for word in OPEN)} are open."
        )
        full = {s[:3] for s in judged}
        lines += [
            f"DOES NOT HOLD HERE: {r.target} {r.better} > {r.worse} by {r.statistic} "
            f"({r.source}): {number(o.ratio)}{_shortened(r, full)}"
            for r, o in orders
            if o.found == REVERSED
        ]
    return lines


def _shortened(r: Ranking, full: set[tuple[str, str, str]]) -> str:
    """Say so where the runs are less than the paper's, so that they may not show its order."""
    if all((r.paper, r.target, method) in full for method in (r.better, r.worse)):
        return ""
    return ", in runs that are shorter than the paper's or fewer than three"
