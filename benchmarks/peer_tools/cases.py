"""The posteriors that all tools sample: their data, and the parameters that are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

GALLERY = Path(__file__).resolve().parents[2] / "models"


class Case(NamedTuple):
    """A posterior.

    Attributes
    ----------
    model : file of the gallery, or the name of a model that is written for the race
    file : its data in the gallery, if they are there
    names : the parameters whose draws are compared, on the scale of the model
    standardise : whether inputs are brought to mean 0 and variance 1, as users of NUTS do
    """

    model: str
    file: str
    names: tuple[str, ...]
    standardise: bool = False

    def data(self) -> dict[str, Any]:
        """Read the data as plain arrays, without labels."""
        # Imports that other tools are not to wait for.
        from datasets import standardised

        from probmodel import read_data

        if not self.file:
            return {"sd": 0.01 * np.arange(1, 101)}
        values = read_data(GALLERY / "data" / self.file)
        found = {name: np.asarray(value) for name, value in values.items() if name != "coords"}
        if self.standardise:
            found["X"] = standardised(found["X"].astype(float))
        return found


CASES = {
    "pima": Case("logistic_regression", "pima.npz", ("alpha", "beta"), standardise=True),
    "german": Case("logistic_regression", "german.npz", ("alpha", "beta"), standardise=True),
    "eight_schools": Case("eight_schools", "eight_schools.json", ("mu", "tau", "theta")),
    "neal": Case("neal", "", ("x",)),
    "gp_regression": Case(
        "gaussian_process_regression", "gp_regression.csv", ("rho", "alpha", "sigma")
    ),
    "cox_16": Case("log_gaussian_cox", "finpines_16x16.npz", ("x",)),
    "volatility_500": Case(
        "stochastic_volatility", "sp500_500.csv", ("mu", "phi", "sigma", "h")
    ),
}  # fmt: skip
