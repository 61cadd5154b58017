"""What the papers report, as data: one file a paper."""

from __future__ import annotations

from published.frobenius import FROBENIUS, FROBENIUS_UPDATES, FrobeniusErrors
from published.hirt2021 import HIRT_2021, HIRT_RANKINGS
from published.ranking import Ranking
from published.row import Published
from published.titsias2019 import FIGURE_1_BETA, TITSIAS_2019, TITSIAS_2019_RANKINGS
from published.titsias2023 import TITSIAS_2023, TITSIAS_2023_RANKINGS
from published.wang2013 import WANG_2013, WANG_RANKINGS
from published.zhu2019 import LEAST_ADVANTAGE, ZHU_2019, ZHU_RANKINGS

PUBLISHED: tuple[Published, ...] = (*TITSIAS_2023, *TITSIAS_2019, *ZHU_2019, *WANG_2013, *HIRT_2021)
RANKINGS: tuple[Ranking, ...] = (
    *TITSIAS_2019_RANKINGS,
    *TITSIAS_2023_RANKINGS,
    *ZHU_RANKINGS,
    *WANG_RANKINGS,
    *HIRT_RANKINGS,
)
TABLES: tuple[str, ...] = tuple(dict.fromkeys(row.table for row in PUBLISHED))


def find(paper: str, target: str, method: str) -> Published | None:
    """Return the row of a paper for a target and method, if it has one."""
    rows = (r for r in PUBLISHED if (r.paper, r.target, r.method) == (paper, target, method))
    return next(rows, None)


__all__ = [
    "FIGURE_1_BETA",
    "FROBENIUS",
    "FROBENIUS_UPDATES",
    "LEAST_ADVANTAGE",
    "PUBLISHED",
    "RANKINGS",
    "TABLES",
    "FrobeniusErrors",
    "Published",
    "find",
]
