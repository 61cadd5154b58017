"""One row of a published table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NO_SPREAD = np.nan  # of a figure that was published without one


class Published(NamedTuple):
    """What a paper reports of one method on one target.

    Attributes
    ----------
    paper : "t23", "td19" or "zhu"; for Wang et al. (2013) and Hirt et al. (2021), whose experiments
        differ in length, the table's name
    table : name of the table on the command line
    target : a name in `targets.TARGETS`
    method : name of a sampler, with its variant after a colon
    figures : statistic -> (value, standard deviation over repeats or NaN). The statistics are those
        of `report.STATISTICS` and `report.DERIVED`: effective sample size over coordinates ("max",
        "median", "min"), the smallest and median of them a second ("min/s", "median/s") and a
        thousand log densities or gradients ("min/1000", "median/1000"), those of one chain a second
        of sampling ("chain min/s"), and the acceptance rate ("accept"). Empty where a paper has
        plots only.
    """

    paper: str
    table: str
    target: str
    method: str
    figures: dict[str, tuple[float, float]]
