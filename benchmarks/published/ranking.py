"""One order of two methods, by a figure, by numbers without unit, or by the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from published.row import Published


class Ranking(NamedTuple):
    """That one method is better than another on a target.

    Attributes
    ----------
    paper, target : as in `Published`
    better, worse : methods
    statistic : a key of `report.STATISTICS`
    source : where the paper shows it
    ratio : how many times better, NaN where it is only plotted
    """

    paper: str
    target: str
    better: str
    worse: str
    statistic: str
    source: str
    ratio: float = np.nan


def of_tables(rows: Iterable[Published], statistic: str) -> Iterator[Ranking]:
    """Put each method of a table before the next one that is worse, on each target.

    Worse by more than two standard deviations of the difference of two runs, where the paper has
    them; others are ties in the paper.
    """
    by_target: dict[tuple[str, str], list[Published]] = {}
    for row in rows:
        if statistic in row.figures:
            by_target.setdefault((row.paper, row.target), []).append(row)
    for found in by_target.values():
        found.sort(key=lambda row: -row.figures[statistic][0])
        for i, better in enumerate(found):
            mean, sd = better.figures[statistic]
            for worse in found[i + 1 :]:
                other, spread = worse.figures[statistic]
                if mean - other > 2.0 * np.nan_to_num(np.hypot(sd, spread)):
                    yield Ranking(
                        better.paper, better.target, better.method, worse.method, statistic,
                        better.table, mean / other,
                    )  # fmt: skip
                    break
