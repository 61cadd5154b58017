"""One order of two methods, where a paper shows figures and no numbers, or numbers without unit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
