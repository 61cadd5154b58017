"""What the gallery shows of each model: its data, and what the fit says of them.

One function a kind of picture; `PICTURES` says which one a model has. Each fit is made with the
defaults of `infer` and a fixed seed; it is refused if `infer` has a reason not to trust it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image  # comes with matplotlib

from probmodel import infer, posterior_predictive, predict
from probmodel.results.arviz_object import group_names

mpl.use("Agg")  # no screen needed
import matplotlib.pyplot as plt

STYLE = Path(__file__).with_name("probmodel.mplstyle")
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.35"
DRAWS = 2000  # of a predictive distribution


class Fit:
    """A model and its fit, read as arrays whose first axis is the draw."""

    def __init__(self, model: Any, result: Any) -> None:
        self.model, self._result = model, result
        self._replicates: Any = None

    def __getitem__(self, name: str) -> Any:
        """Return the posterior draws of a variable."""
        return self._flat(self._result["posterior"][name])

    def data(self, name: str, column: int | None = None) -> Any:
        """Return a datum or an observed quantity, or a column of it."""
        constants = "constant_data" in group_names(self._result)
        constants = constants and name in self._result["constant_data"]
        found = self._result["constant_data" if constants else "observed_data"][name]
        values = np.asarray(found.values, dtype=float)
        return values if column is None else values[:, column]

    def replicates(self, name: str) -> Any:
        """Return draws of an observed quantity from its posterior predictive distribution."""
        if self._replicates is None:
            self._replicates = posterior_predictive(self.model, self._result, seed=2)
        return self._flat(self._replicates["posterior_predictive"][name])

    def predicted(self, name: str, noise: bool = True, **data: Any) -> Any:
        """Return draws of an observed quantity at new data."""
        new = predict(type(self.model)(**data), self._result, seed=2, noise=noise)
        return self._flat(new["predictions"][name])

    @staticmethod
    def _flat(array: Any) -> Any:
        values = array.values.reshape((-1, *array.shape[2:]))
        return values[:: max(1, len(values) // DRAWS)]


class Picture(NamedTuple):
    """How a model is drawn, and what is to be seen."""

    draw: Callable[[Axes, Fit], None]
    caption: str


def drawn(name: str, model: Any) -> bytes:
    """Return the picture of a model as a PNG file of 640 by 400 dots."""
    result = infer(model, seed=1, quiet=True)
    found = [each["kind"] for each in json.loads(result.attrs["warnings"])]
    if found:
        raise ValueError(f"{name}: the fit for the gallery is not to be trusted: {found}")
    with plt.style.context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), dpi=100)
        PICTURES[name].draw(figure.subplots(), Fit(model, result))
        content = io.BytesIO()
        figure.savefig(content, format="png")
    image, small = Image.open(content).convert("RGB"), io.BytesIO()
    image.quantize(128).save(small, "PNG", optimize=True)
    return small.getvalue()


# -- kinds of pictures -------------------------------------------------------------------------


def curve(
    x: tuple[str, int | None], y: str, xlabel: str, ylabel: str, log: bool = False
) -> Picture:
    """Show data along one input, with the predictive distribution."""

    def draw(axes: Axes, fit: Fit) -> None:
        at = fit.data(*x)
        order = np.argsort(at, kind="stable")
        low, middle, high = np.quantile(fit.replicates(y), [0.05, 0.5, 0.95], axis=0)
        if len(np.unique(at)) < len(at):  # predictions at one place are put together
            at, low, middle, high = _pooled(at, fit.replicates(y))
            order = np.arange(len(at))
        axes.fill_between(at[order], low[order], high[order], color=BLUE, alpha=0.2, lw=0)
        axes.plot(at[order], middle[order], color=BLUE)
        axes.plot(fit.data(*x), fit.data(y), "o", color=GREY, ms=3, alpha=0.6, mew=0)
        axes.set(xlabel=xlabel, ylabel=ylabel, yscale="log" if log else "linear")
        if np.all(at == np.round(at)):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    return Picture(
        draw,
        "Dots: the data. Line and band: median and 90 % interval of the posterior predictive "
        "distribution.",
    )


def _pooled(at: Any, replicates: Any) -> tuple[Any, Any, Any, Any]:
    """Return the places in order, and quantiles of the replicates at each."""
    places = np.unique(at)
    rows = [np.quantile(replicates[:, at == place], [0.05, 0.5, 0.95]) for place in places]
    return places, *np.transpose(rows)


def agreement(y: str, label: str, log: bool = False) -> Picture:
    """Show what was observed against what is predicted."""

    def draw(axes: Axes, fit: Fit) -> None:
        seen = fit.data(y).ravel()
        replicates = fit.replicates(y).reshape((-1, seen.size))
        low, middle, high = np.quantile(replicates, [0.05, 0.5, 0.95], axis=0)
        axes.vlines(seen, low, high, color=BLUE, alpha=0.25, lw=1)
        axes.plot(seen, middle, "o", color=BLUE, ms=3, mew=0)
        ends = [seen.min(), seen.max()]
        axes.plot(ends, ends, ls="--", color=GREY, lw=1)
        scale = "log" if log else "linear"
        axes.set(xlabel=f"{label}, observed", ylabel="predicted", xscale=scale, yscale=scale)

    return Picture(
        draw,
        "Each observation against its posterior predictive distribution: median and 90 % "
        "interval. On the dashed line they agree.",
    )


def binned(y: str, label: str) -> Picture:
    """Show shares of a binary outcome against predicted probabilities, in ten groups."""

    def draw(axes: Axes, fit: Fit) -> None:
        replicates, seen = fit.replicates(y), fit.data(y)
        probability = replicates.mean(axis=0)
        for group in np.array_split(np.argsort(probability, kind="stable"), 10):
            at = probability[group].mean()
            low, high = np.quantile(replicates[:, group].mean(axis=1), [0.05, 0.95])
            axes.vlines(at, low, high, color=BLUE, alpha=0.4, lw=4)
            axes.plot(at, seen[group].mean(), "o", color=GREY, ms=5)
        axes.plot([0, 1], [0, 1], ls="--", color=GREY, lw=1)
        axes.set(xlabel=f"predicted probability of {label}", ylabel="share", ylim=(-0.02, 1.02))

    return Picture(
        draw,
        "Ten groups of equal size, by predicted probability. Dots: the share observed in each. "
        "Bars: 90 % intervals of that share in replicates of the data.",
    )


def bars(y: str, label: str) -> Picture:
    """Show how often a discrete outcome has each value, in data and replicates."""

    def draw(axes: Axes, fit: Fit) -> None:
        seen, replicates = fit.data(y).astype(int), fit.replicates(y).astype(int)
        values = np.arange(seen.min(), seen.max() + 1)
        counts = np.stack([(replicates == v).sum(axis=1) for v in values], axis=1)
        axes.bar(values, [(seen == v).sum() for v in values], color="0.8")
        low, middle, high = np.quantile(counts, [0.05, 0.5, 0.95], axis=0)
        axes.vlines(values, low, high, color=BLUE, lw=2)
        axes.plot(values, middle, "o", color=BLUE, ms=5)
        axes.set(xlabel=label, ylabel="number of observations", xticks=values)

    return Picture(
        draw,
        "Grey: how often each value was observed. Blue: medians and 90 % intervals of these "
        "numbers in replicates of the data.",
    )


def densities(y: str, label: str) -> Picture:
    """Show the histogram of data, and those of replicates."""

    def draw(axes: Axes, fit: Fit) -> None:
        seen, replicates = fit.data(y).ravel(), fit.replicates(y)
        edges = np.linspace(seen.min(), seen.max(), 31)
        axes.hist(seen, edges, density=True, color="0.8")
        heights = [np.histogram(row, edges, density=True)[0] for row in replicates]
        low, middle, high = np.quantile(heights, [0.05, 0.5, 0.95], axis=0)
        axes.fill_between(edges, [*low, low[-1]], [*high, high[-1]], step="post", color=BLUE,
                          alpha=0.25, lw=0)  # fmt: skip
        axes.stairs(middle, edges, color=BLUE)
        axes.set(xlabel=label, ylabel="density")

    return Picture(
        draw,
        "Grey: histogram of the data. Blue: medians and 90 % intervals of its bars in replicates "
        "of the data.",
    )


def forest(*names: str, log: bool = False) -> Picture:
    """Show intervals of parameters."""

    def draw(axes: Axes, fit: Fit) -> None:
        labels, columns = [], []
        for name in names:
            values = fit[name].reshape((len(fit[name]), -1))
            several = values.shape[1] > 1
            labels += [f"{name}[{i}]" if several else name for i in range(values.shape[1])]
            columns += list(values.T)
        _intervals(axes, np.array(columns), labels)
        if log:
            axes.set_xscale("log")

    return Picture(draw, "Posterior medians with 50 % and 90 % intervals.")


def _intervals(axes: Axes, columns: Any, labels: list[str]) -> None:
    rows = np.arange(len(columns))[::-1]
    low, lower, middle, upper, high = np.quantile(columns, [0.05, 0.25, 0.5, 0.75, 0.95], axis=1)
    axes.hlines(rows, low, high, color=BLUE, lw=1.2)
    axes.hlines(rows, lower, upper, color=BLUE, lw=4)
    axes.plot(middle, rows, "o", color="white", mec=BLUE, ms=5)
    if np.min(low) < 0 < np.max(high):
        axes.axvline(0, color=GREY, lw=0.8, ls="--", zorder=0)
    axes.set_yticks(rows, labels)


def sorted_intervals(name: str, label: str) -> Picture:
    """Show intervals of many like quantities, in the order of their medians."""

    def draw(axes: Axes, fit: Fit) -> None:
        low, middle, high = np.quantile(fit[name], [0.05, 0.5, 0.95], axis=0)
        order = np.argsort(middle)
        rows = np.arange(len(order))
        axes.vlines(rows, low[order], high[order], color=BLUE, alpha=0.5)
        axes.plot(rows, middle[order], "o", color=BLUE, ms=3)
        axes.set(xlabel=f"{label}, in order", ylabel=name)

    return Picture(draw, f"Posterior medians and 90 % intervals of `{name}`, in their order.")


def replicates(y: str, label: str) -> Picture:
    """Show a series, and others that the fit thinks as likely."""

    def draw(axes: Axes, fit: Fit) -> None:
        seen, others = fit.data(y), fit.replicates(y)
        seen, others = seen.ravel() - seen.mean(), others.reshape((len(others), -1)) - seen.mean()
        gap = 1.1 * max(np.ptp(seen), np.ptp(others[[500, 1000]]))
        for k, row in enumerate((seen, others[500], others[1000])):
            axes.plot(row - k * gap, color=GREY if k == 0 else BLUE, lw=0.9)
        axes.set(xlabel=label, yticks=[0, -gap, -2 * gap])
        axes.set_yticklabels(["observed", "replicate", "replicate"])
        axes.tick_params(left=False)

    return Picture(
        draw, "The observed series, and two that are drawn from its posterior predictive "
        "distribution: they should look alike.",
    )  # fmt: skip


def band(
    value: Callable[[Fit], Any], seen: Callable[[Fit], Any], xlabel: str, ylabel: str, caption: str
) -> Picture:
    """Show a quantity along time, with data."""

    def draw(axes: Axes, fit: Fit) -> None:
        low, middle, high = np.quantile(value(fit), [0.05, 0.5, 0.95], axis=0)
        at = np.arange(len(middle))
        axes.plot(at, seen(fit), "o", color=GREY, ms=3, alpha=0.5, mew=0)
        axes.fill_between(at, low, high, color=BLUE, alpha=0.25, lw=0)
        axes.plot(at, middle, color=BLUE)
        axes.set(xlabel=xlabel, ylabel=ylabel)

    return Picture(draw, caption)


# -- pictures of one model ---------------------------------------------------------------------


def _schools(axes: Axes, fit: Fit) -> None:
    theta, labels = fit["theta"], list("ABCDEFGH")
    _intervals(axes, np.array([*theta.T, fit["mu"]]), [*labels, "mu"])
    axes.plot(fit.data("y"), np.arange(8, 0, -1) - 0.25, "x", color=ORANGE, label="measured")
    axes.set(xlabel="effect of coaching, points")
    axes.legend()


def _schooling(axes: Axes, fit: Fit) -> None:
    school, iq = fit.data("X").T
    at, centre = np.linspace(iq.min(), iq.max(), 50), fit.data("X").mean(axis=0)
    beta = fit["beta"][:, :, None]
    for value, colour, label in ((0, ORANGE, "no"), (1, BLUE, "yes")):
        one, two = value - centre[0], at - centre[1]
        mean = beta[:, 0] + beta[:, 1] * one + beta[:, 2] * two + beta[:, 3] * one * two
        low, middle, high = np.quantile(mean, [0.05, 0.5, 0.95], axis=0)
        axes.fill_between(at, low, high, color=colour, alpha=0.25, lw=0)
        axes.plot(at, middle, color=colour, label=f"mother finished high school: {label}")
        chosen = school == value
        axes.plot(iq[chosen], fit.data("y")[chosen], "o", color=colour, ms=3, alpha=0.5, mew=0)
    axes.set(xlabel="IQ of the mother", ylabel="test score of the child")
    axes.legend()


def _process(axes: Axes, fit: Fit) -> None:
    grid = np.linspace(-11, 11, 89)
    for noise, alpha in ((True, 0.12), (False, 0.25)):
        new = fit.predicted("y", noise=noise, x=grid)
        low, middle, high = np.quantile(new, [0.05, 0.5, 0.95], axis=0)
        axes.fill_between(grid, low, high, color=BLUE, alpha=alpha, lw=0)
    axes.plot(grid, middle, color=BLUE)
    axes.plot(fit.data("x"), fit.data("y"), "o", color=GREY)
    axes.set(xlabel="x", ylabel="y")


def _animals(axes: Axes, fit: Fit) -> None:
    years = 1900 + fit.data("ts")
    for k, (colour, label) in enumerate(((BLUE, "hares"), (ORANGE, "lynxes"))):
        low, middle, high = np.quantile(fit["z"][..., k], [0.05, 0.5, 0.95], axis=0)
        axes.fill_between(years, low, high, color=colour, alpha=0.25, lw=0)
        axes.plot(years, middle, color=colour, label=label)
        axes.plot(years, fit.data("y", k), "o", color=colour, ms=4)
    axes.set(xlabel="year", ylabel="pelts, thousands")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()


def _growth(axes: Axes, fit: Fit) -> None:
    day, weight, effect = fit.data("day"), fit.data("weight"), np.median(fit["effect"], axis=0)
    for rat, (at_22, slope) in enumerate(effect):
        axes.plot(day, at_22 + slope * (day - 22), color=BLUE, lw=0.8, alpha=0.6)
        axes.plot(day, weight[rat], "o", color=GREY, ms=3, alpha=0.6, mew=0)
    axes.set(xlabel="age, days", ylabel="weight, grams", xticks=day)


def _saplings(axes: Axes, fit: Fit) -> None:
    mean = np.exp(fit["x"]).mean(axis=0) * float(fit.data("share"))
    north, east, count = fit.data("northing"), fit.data("easting"), fit.data("y")
    shown = axes.pcolormesh(east, north, mean, cmap="Blues", shading="nearest")
    rows, columns = np.nonzero(count)
    axes.scatter(east[columns], north[rows], s=12 * count[rows, columns], color=ORANGE, lw=0)
    axes.set(aspect="equal", xlabel="metres to the east", ylabel="metres to the north")
    axes.figure.colorbar(shown, ax=axes, label="expected saplings a cell")


def _forest_trees(axes: Axes, fit: Fit) -> None:
    east, north = fit.data("place").T
    mean = np.median(fit.replicates("count"), axis=0)
    shown = axes.scatter(east, north, c=mean, cmap="Blues", marker="s", s=230, lw=0)
    axes.scatter(east, north, s=fit.data("count") / 1.5, color=ORANGE, lw=0)
    axes.set(aspect="equal", xlabel="metres to the east", ylabel="metres to the north")
    axes.figure.colorbar(shown, ax=axes, label="trees a square, predicted", shrink=0.6)


def _states(axes: Axes, fit: Fit) -> None:
    y, second = fit.data("y"), fit["state"][..., 1].mean(axis=0)
    shown = axes.scatter(np.arange(len(y)), y, c=second, cmap="coolwarm", s=18, vmin=0, vmax=1)
    for level in np.median(fit["mu"], axis=0):
        axes.axhline(level, color=GREY, lw=0.8, ls="--", zorder=0)
    axes.set(xlabel="time", ylabel="y")
    axes.figure.colorbar(shown, ax=axes, label="probability of the second state")


def _risks(axes: Axes, fit: Fit) -> None:
    low, middle, high = np.quantile(fit["risk"], [0.05, 0.5, 0.95], axis=0)
    order, rows = np.argsort(middle), np.arange(len(middle))
    axes.vlines(rows, low[order], high[order], color=BLUE, alpha=0.5)
    axes.plot(rows, middle[order], "o", color=BLUE, ms=3, label="relative risk, smoothed")
    raw = fit.data("cases") / fit.data("expected")
    axes.plot(rows, raw[order], "x", color=ORANGE, ms=4, label="cases / expected")
    axes.axhline(1, color=GREY, lw=0.8, ls="--", zorder=0)
    axes.set(xlabel="districts, in order", ylabel="relative risk")
    axes.legend()


def _change(axes: Axes, fit: Fit) -> None:
    years = 1851 + np.arange(len(fit.data("disasters")))
    axes.vlines(years, 0, fit.data("disasters"), color="0.75", lw=2)
    axes.set(xlabel="year", ylabel="explosions")
    right = axes.twinx()
    right.plot(years, fit["probability"].mean(axis=0), color=BLUE)
    right.set_ylabel("probability of a change after this year", color=BLUE)


LATENT = "Dots: absolute returns. Line and band: median and 90 % interval of the deviation."
IQ = curve(("X", 1), "y", "IQ of the mother", "test score of the child")
HEIGHT = curve(("X", 0), "earn", "height, inches", "earnings, dollars a year", log=True)
PICTURES = {
    "linear_regression": agreement("y", "test score"),
    "kidscore_momhs": densities("y", "test score"),
    "kidscore_momiq": IQ,
    "kidscore_momhsiq": agreement("y", "test score"),
    "kidscore_interaction": Picture(
        _schooling, "Dots: the data. Lines and bands: medians and 90 % intervals of the mean."
    ),
    "kidscore_mom_work": curve(("mom_work", None), "y", "work of the mother", "test score"),
    "earnings_height": curve(("X", 0), "earn", "height, inches", "earnings, dollars a year"),
    "earnings_log_height": HEIGHT,
    "earnings_log10_height": HEIGHT,
    "earnings_log_height_male": agreement("earn", "earnings", log=True),
    "mesquite": agreement("weight", "weight, grams", log=True),
    "mesquite_volume": agreement("weight", "weight, grams", log=True),
    "mesquite_shape": agreement("weight", "weight, grams", log=True),
    "nes": forest("beta"),
    "kilpisjarvi": curve(("x", None), "y", "year + 2000", "mean summer temperature, degrees"),
    "correlated_regression": forest("beta"),
    "robust_regression": densities("log_earn", "logarithm of earnings"),
    "tobit": curve(("height", None), "diameter", "height, metres", "diameter, centimetres"),
    "dugongs": curve(("age", None), "length", "age, years", "length, metres"),
    "logistic_regression": binned("y", "diabetes"),
    "wells": binned("switched", "a switch"),
    "seeds_beta_binomial": agreement("germinated", "germinated seeds"),
    "party_identification": bars("party", "party, from 0, strong Democrat, to 6"),
    "eight_schools": Picture(
        _schools, "Posterior medians with 50 % and 90 % intervals, beside what was measured: "
        "schools are drawn towards their mean.",
    ),
    "seeds": agreement("germinated", "germinated seeds"),
    "radon": sorted_intervals("effect", "counties"),
    "rats": Picture(_growth, "Dots: weights. Lines: posterior median of each rat's growth."),
    "autoregression": forest("alpha", "beta", "sigma"),
    "local_level": replicates("y", "year"),
    "garch": replicates("y", "day"),
    "stochastic_volatility": band(
        lambda fit: np.exp(fit["h"] / 2), lambda fit: np.abs(fit.data("y")),
        "day", "return, per cent", LATENT,
    ),
    "stochastic_volatility_centered": band(
        lambda fit: np.exp((fit["mu"][:, None] + fit["h"]) / 2),
        lambda fit: np.abs(fit.data("y")), "day", "return, per cent", LATENT,
    ),
    "lotka_volterra": Picture(
        _animals, "Dots: counts of pelts. Lines and bands: medians and 90 % intervals of the "
        "solution.",
    ),
    "coal_random_walk": band(
        lambda fit: fit["rate"], lambda fit: fit.data("disasters"), "years after 1851",
        "explosions a year",
        "Dots: explosions in each year. Line and band: median and 90 % interval of their rate.",
    ),
    "gaussian_process_regression": Picture(
        _process, "Dots: the data. Line and inner band: median and 90 % interval of the curve. "
        "Outer band: 90 % interval of new observations.",
    ),
    "motorcycle": curve(("time", None), "accel", "milliseconds after the impact", "acceleration"),
    "lip_cancer": Picture(
        _risks, "Relative risks of the districts: medians and 90 % intervals, beside the ratios "
        "of counts, which are smoothed the more, the fewer cases were expected.",
    ),
    "log_gaussian_cox": Picture(
        _saplings, "Dots: saplings in each cell. Colour: posterior mean of their expected number."
    ),
    "bei": Picture(
        _forest_trees, "Dots: trees in each square, by area. Colour: predictive median."
    ),
    "gaussian_mixture": densities("y", "y"),
    "hidden_markov": Picture(
        _states, "The series, coloured by the probability of its second state. Dashed: posterior "
        "medians of the two levels.",
    ),
    "basketball_drive": forest("phi", "rate", "theta1", "theta2", log=True),
    "coal_change_point": Picture(
        _change, "Bars: explosions in each year. Line: posterior of the last year with the early "
        "rate.",
    ),
}  # fmt: skip
