"""What `summary` can put into documents: runs of papers' experiments beside the papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import stored_rows
from orders import OPEN, REVERSED, compared
from published.hirt2021 import HIRT_RANKINGS
from published.ranking import Ranking
from published.titsias2019 import TITSIAS_2019_RANKINGS
from published.titsias2023 import TITSIAS_2023_RANKINGS
from published.wang2013 import WANG_RANKINGS
from published.zhu2019 import ZHU_RANKINGS
from report import Summary, advantages, held, markdown, number, summarise

ORDERS = ("yes", "tie", REVERSED, *OPEN)  # what becomes of an order of methods
RESULTS = Path(__file__).resolve().parent / "results"


class Paper(NamedTuple):
    """A paper whose experiments were run.

    Attributes
    ----------
    title : authors and year
    file : of the rows
    rankings : orders of methods that it shows
    """

    title: str
    file: str
    rankings: Sequence[Ranking] = ()


PAPERS = (
    Paper("Titsias and Dellaportas (2019)", "titsias2019", TITSIAS_2019_RANKINGS),
    Paper("Titsias (2023)", "titsias2023", TITSIAS_2023_RANKINGS),
    Paper("Hirt, Titsias and Dellaportas (2021)", "hirt2021", HIRT_RANKINGS),
    Paper("Wang, Mohamed and de Freitas (2013)", "wang2013", WANG_RANKINGS),
    Paper("Zhu (2019)", "zhu2019", ZHU_RANKINGS),
)


@cache
def _summaries(file: str) -> tuple[Summary, ...]:
    return tuple(summarise(stored_rows.stored([RESULTS / f"{file}.csv"])))


def _ratios(summaries: Sequence[Summary], word: str) -> str:
    """Smallest and largest ratio to the paper's figures, of methods that are held to them."""
    found = [
        summary.ratio(statistic)
        for summary in summaries
        for statistic, name in held(summary).items()
        if name == word
    ]
    known = [ratio for ratio in found if np.isfinite(ratio)]
    return f"{number(min(known))} to {number(max(known))}" if known else "–"


def _orders(paper: Paper) -> list[str]:
    """Count the orders that hold, are within two standard errors, the other way round, or open."""
    count = Counter(o.found for _, o in compared(_summaries(paper.file), paper.rankings))
    assert set(count) <= {*ORDERS}, f"orders are counted as {sorted(count)}"
    found = [*(count[word] for word in ORDERS[:3]), sum(count[word] for word in OPEN)]
    return [str(number) if count else "–" for number in found]


def _table() -> str:
    header = ("paper", "file", "runs", "median ESS, ours over published", "smallest ESS",
              "orders that hold", "within errors", "other way round",
              "open")  # fmt: skip
    lines = []
    for paper in PAPERS:
        found = _summaries(paper.file)
        lines.append((
            paper.title, f"`{paper.file}.md`",
            str(sum(summary.repeats for summary in found)), _ratios(found, "median"),
            _ratios(found, "min"), *_orders(paper),
        ))  # fmt: skip
    return markdown(header, lines)


def _advantage(published: bool) -> str:
    found = advantages(_summaries("zhu2019")).values()
    *most, last = (number(paper if published else ours) for ours, paper in found)
    return f"{', '.join(most)} and {last}"


FIGURES: dict[str, Callable[[], str]] = {
    "papers table": _table,
    "zhu advantage": partial(_advantage, False),
    "zhu advantage published": partial(_advantage, True),
}
