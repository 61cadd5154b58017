"""What the figures share: style, targets with known truth, and runs that are watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image  # comes with matplotlib

from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.samplers import make_sampler
from probmodel.types import Array, Evaluation, LogDensity

mpl.use("Agg")  # no screen needed
import matplotlib.pyplot as plt

BLUE, ORANGE, GREEN, PURPLE, BLACK = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#222222"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, BLACK)  # told apart by the colour-blind too
REFERENCE = {"color": "0.55", "ls": "--", "lw": 1.0, "zorder": 0}
STYLE = {
    "figure.figsize": (8.0, 4.0),
    "figure.dpi": 100,
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
}

Look = Callable[[Any, Any, Any], Any]


# -- drawing -----------------------------------------------------------------------------------


def save(make: Callable[[], Figure], path: Path) -> None:
    """Write a figure as a PNG of 800 by 400 pixels, in a palette to keep it small."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        figure = make()
        figure.canvas.draw()
        image = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
        image.quantize(128).save(path, optimize=True)
        plt.close(figure)


def panels(left: str, right: str) -> tuple[Figure, Axes, Axes]:
    """Return a figure of two panels side by side, with their titles."""
    figure, axes = plt.subplots(1, 2, layout="constrained")
    for panel, title in zip(axes, (left, right), strict=True):
        panel.set_title(title)
    return figure, axes[0], axes[1]


def ellipse(axes: Axes, centre: Array, root: Array, radius: float = 2.0, **style: Any) -> None:
    """Draw the points ``radius`` standard deviations away under the covariance ``root root'``."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    edge = np.asarray(centre)[:, None] + radius * root @ np.array([np.cos(angle), np.sin(angle)])
    axes.plot(*edge, **style)


def decimal_ticks(axes: Axes, values: Sequence[float]) -> None:
    """Label a logarithmic axis of steps with plain numbers."""
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()


# -- targets -----------------------------------------------------------------------------------


class Gaussian:
    """N(0, covariance)."""

    coordinate_names = ()

    def __init__(self, covariance: Array) -> None:
        self.dim = len(covariance)
        self.covariance, self.precision = covariance, np.linalg.inv(covariance)

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient."""
        grad = -x @ self.precision
        return Evaluation(0.5 * np.sum(x * grad, axis=1), grad)

    def log_density(self, x: Array) -> Array:
        """Log density alone."""
        return self(x).logp

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian times ``v``."""
        return -v @ self.precision

    def hessian(self, x: Array) -> Array:
        """Hessian, the same everywhere."""
        return np.broadcast_to(-self.precision, (len(x), self.dim, self.dim))

    def start(self, chains: int) -> Array:
        """Exact draws: (chains, dim). Their seed is not that of any run."""
        root = np.linalg.cholesky(self.covariance)
        return np.random.default_rng(0).standard_normal((chains, self.dim)) @ root.T


class Banana:
    """x0 ~ N(0, 1) and x1 | x0 ~ N(x0², 0.5²), with the metric J'J of its residuals."""

    coordinate_names = ()
    dim, sd = 2, 0.5

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient."""
        e = (x[:, 1] - x[:, 0] ** 2) / self.sd**2
        grad = np.stack([-x[:, 0] + 2.0 * x[:, 0] * e, -e], axis=1)
        return Evaluation(-0.5 * (x[:, 0] ** 2 + (e * self.sd) ** 2), grad)

    def log_density(self, x: Array) -> Array:
        """Log density alone."""
        return self(x).logp

    def metric(self, x: Array) -> Array:
        """Return the metric, positive definite everywhere."""
        jacobian = np.zeros((len(x), 2, 2))
        jacobian[:, 0, 0] = 1.0
        jacobian[:, 1, 0] = -2.0 * x[:, 0] / self.sd
        jacobian[:, 1, 1] = 1.0 / self.sd
        return np.swapaxes(jacobian, 1, 2) @ jacobian

    def start(self, chains: int) -> Array:
        """Exact draws: (chains, 2). Their seed is not that of any run."""
        z = np.random.default_rng(0).standard_normal((chains, 2))
        return np.stack([z[:, 0], z[:, 0] ** 2 + self.sd * z[:, 1]], axis=1)


def rotated(scales: Array, seed: int) -> Array:
    """Return a covariance with these standard deviations along random orthogonal directions."""
    dim = len(scales)
    directions, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
    return (directions * scales**2) @ directions.T


# -- runs --------------------------------------------------------------------------------------


def watch(
    method: str,
    density: LogDensity,
    look: Look,
    *,
    warmup: int = 0,
    draws: int = 0,
    start: Array | int = 8,
    seed: int = 1,
    **settings: Any,
) -> list[Any]:
    """Run a method and return what ``look(state, info, params)`` says of every iteration.

    ``start`` holds starting points, (chains, dim), or says how many to draw from N(0, I).
    """
    seen: list[Any] = []

    class Seen(Collector):
        def record(self, phase: str, i: int, state: Any, info: Any, params: Any) -> None:
            seen.append(look(state, info, params))

    rng = np.random.default_rng(seed)
    x0 = rng.standard_normal((start, density.dim)) if isinstance(start, int) else start
    run(
        make_sampler(method, **settings), density, x0, rng,
        warmup=warmup, draws=draws, collectors=(Seen(),),
    )  # fmt: skip
    return seen


def smooth(values: Sequence[float], width: int = 50) -> Array:
    """Return the mean of the last ``width`` values at every place, of fewer at the beginning."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(total))
    begins = np.maximum(ends - width, 0)
    return (total[ends] - total[begins]) / (ends - begins)


def relative_error(learned: Array, truth: Array) -> float:
    """Return the distance in the Frobenius norm, relative to the norm of the truth."""
    return float(np.linalg.norm(learned - truth) / np.linalg.norm(truth))


def shape_error(root: Array | None, covariance: Array) -> float:
    """Return the relative error of ``root root'`` when both matrices have a mean diagonal of 1."""
    learned = np.eye(len(covariance)) if root is None else root @ root.T
    return relative_error(*(m * len(m) / np.trace(m) for m in (learned, covariance)))


def autocorrelation(x: Array, mean: float, lags: Sequence[int]) -> list[float]:
    """Autocorrelation of stationary series of known mean: (draws, chains)."""
    e = x - mean
    products = [np.mean(e[: len(e) - lag] * e[lag:]) for lag in lags]
    return [float(product / np.mean(e * e)) for product in products]
