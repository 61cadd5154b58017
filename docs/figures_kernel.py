"""The figure of the page on what `infer` does by itself: what a draw costs by either kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from figure_parts import BLUE, ORANGE
from matplotlib.figure import Figure
from matplotlib.pyplot import subplots

from probmodel import infer, load_model, read_data
from probmodel.density import ModelDensity, as_posterior
from probmodel.results.convergence import convergence

MODELS = Path(__file__).resolve().parents[1] / "models"
CASES = {
    "wells": ("logistic regression", "wells.csv"),
    "logistic_regression": ("15 regressors", "heart.npz"),
    "coal_change_point": ("change point", "coal.json"),
    "dugongs": ("growth curve", "dugongs.csv"),
    "garch": ("GARCH", "pound_dollar.csv"),
    "eight_schools": ("eight schools", "eight_schools.json"),
    "seeds": ("21 plates", "seeds.csv"),
    "rats": ("30 growth curves", "rats.json"),
    "lip_cancer": ("56 districts", "lip_cancer.json"),
    "radon": ("85 counties", "radon.json"),
}
KERNELS = {
    "fisher_hmc": ({}, BLUE, "fisher_hmc, the default"),
    "nuts": (
        {"method": "nuts", "metric": "dense", "chains": 16, "warmup": 1000, "draws": 1000},
        ORANGE,
        "nuts, with a dense metric",
    ),
}


def price(density: ModelDensity, settings: dict[str, object]) -> float:
    """Gradients while sampling for each effective draw of the worst quantity."""
    run = infer(density, seed=1, quiet=True, **settings)  # type: ignore[arg-type]
    values = [np.asarray(run.posterior[name]) for name in run.posterior.data_vars]
    rows = np.concatenate([v.reshape(*v.shape[:2], -1) for v in values], axis=2)
    rows = np.moveaxis(rows[:, :, np.ptp(rows, axis=(0, 1)) > 0.0], 2, 0)
    found = convergence(np.ascontiguousarray(rows))
    ess = np.nanmin([found.ess_bulk, found.ess_tail])
    return float(run.attrs["n_grad_sampling"] / ess)


def kernel_figure() -> Figure:
    """Prices of both kernels on ten models of the gallery."""
    figure, panel = subplots(layout="constrained")
    for row, (name, (_, data)) in enumerate(reversed(CASES.items())):
        density = as_posterior(
            load_model(MODELS / f"{name}.py")(**read_data(MODELS / "data" / data))
        )
        prices = [price(density, settings) for settings, _, _ in KERNELS.values()]
        panel.plot(prices, [row, row], color="0.8", zorder=0)
        for value, (_, colour, label) in zip(prices, KERNELS.values(), strict=True):
            panel.plot(value, row, "o", color=colour, label=label if row == 0 else None)
    panel.set_yticks(range(len(CASES)), [title for title, _ in reversed(CASES.values())])
    panel.set_xscale("log")
    panel.set_xticks([2, 5, 10, 20, 50, 100, 200], ["2", "5", "10", "20", "50", "100", "200"])
    panel.minorticks_off()
    panel.set_xlabel("gradients for one effective draw, while sampling")
    panel.set_xlim(left=1.5)
    panel.legend(loc="upper right")
    return figure


FIGURES = {"kernel": kernel_figure}
