"""The figure of the page on checking: calibration of a wrong inference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from probmodel import Model, data, load_model, observed, param, read_data, sbc
from probmodel.distributions import HalfNormal, Normal

MODELS = Path(__file__).resolve().parents[1] / "models"


class LargeErrors(Model):
    """Eight schools with errors twice as large as those that the inference is told."""

    sigma = data(dims="school", lower=0)
    mu = param(Normal(0, 5))
    tau = param(HalfNormal(5))
    theta = param(Normal(mu, tau), dims="school", noncentered=True)
    y = observed(Normal(theta, 2 * sigma), dims="school")


def checking() -> Figure:
    """Draw the ranks of some quantities of the eight schools under wrong errors."""
    result = sbc(
        load_model(MODELS / "eight_schools.py"), 100, draws=60, warmup=150, seed=1,
        data=read_data(MODELS / "data" / "eight_schools.json"), simulate_with=LargeErrors,
    )  # fmt: skip
    figure: Figure = result.plot(["mu", "tau", "theta[A]", "log likelihood"])
    figure.set_size_inches(8.0, 4.0)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"checking": checking}
