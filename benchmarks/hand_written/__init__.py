"""The gallery's log posterior densities with gradients, written by hand in NumPy.

Each function takes the model's data and returns a function of unconstrained points, (chains,
dim), that gives (chains,) log densities up to a constant and (chains, dim) gradients. They are
what one would write for one model alone: closed-form derivatives, batched over chains, no work
done twice.
"""

from __future__ import annotations

from collections.abc import Callable

from hand_written.gaussian_processes import (
    gaussian_process_regression,
    log_gaussian_cox,
    motorcycle,
)
from hand_written.groups import eight_schools, gaussian_mixture
from hand_written.regressions import (
    autoregression,
    kilpisjarvi,
    linear_regression,
    logistic_regression,
    nes,
)
from hand_written.series import stochastic_volatility
from hand_written.types import Density

HAND_WRITTEN: dict[str, Callable[..., Density]] = {
    "autoregression": autoregression,
    "kilpisjarvi": kilpisjarvi,
    "linear_regression": linear_regression,
    "logistic_regression": logistic_regression,
    "nes": nes,
    "eight_schools": eight_schools,
    "gaussian_mixture": gaussian_mixture,
    "stochastic_volatility_centered": stochastic_volatility,
    "gaussian_process_regression": gaussian_process_regression,
    "log_gaussian_cox": log_gaussian_cox,
    "motorcycle": motorcycle,
}
