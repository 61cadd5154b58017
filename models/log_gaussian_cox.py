"""Log-Gaussian Cox process on a grid: counts in cells with a smooth random log intensity.

The data are 126 Scots pine saplings in a plot of 10 m by 10 m, counted in 16 by 16 cells. The mean,
variance and length scale of the log intensity are fixed at the values that Moller, Syversveen and
Waagepetersen fitted to these trees. The intensity is per plot.

    probmodel sample gallery:log_gaussian_cox --data gallery:finpines_16x16.npz

Reference: Moller, Syversveen and Waagepetersen (1998), Log Gaussian Cox processes.
Scandinavian Journal of Statistics 25; Girolami and Calderhead (2011), section 9.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import GaussianProcess, PoissonLog, kernels


class LogGaussianCox(Model):
    northing = data(dims="row")
    easting = data(dims="column")
    share = data(lower=0)  # of the plot's area in one cell

    variance = 1.91
    covariance = kernels.Exponential(np.sqrt(variance), length_scale=10 / 33)
    x = param(
        GaussianProcess(covariance, grid=(northing, easting), mean=np.log(126) - variance / 2),
        dims=("row", "column"),
    )

    y = observed(PoissonLog(np.log(share) + x), dims=("row", "column"))
