"""A fit as one page: model, findings in words, summary, pictures. It needs nothing else to be read.

The pictures are ArviZ's, of the quantities that look worst first. Where there are many draws, every
so many are drawn; each picture says so. A picture that fails is named with its reason, and costs no
other one.
"""

from __future__ import annotations

import base64
import html
import io
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import path_of
from probmodel.errors import OutputError, ProbmodelError, reason
from probmodel.predictive import posterior_predictive
from probmodel.results.arviz_object import (
    arviz_before_1,
    as_numbers,
    group,
    group_names,
    groups_of,
    import_arviz,
    wrap,
)
from probmodel.results.convergence import convergence
from probmodel.results.quantities import element_rows
from probmodel.results.reading import load
from probmodel.results.storage import PAGE, check_place, write_text
from probmodel.results.summary import heading, summary_text
from probmodel.resuming import model_of

MOST = 4000  # draws in a picture, of all chains
QUANTITIES, PAIRED = 8, 4  # in pictures of one each, and of pairs
PREDICTED = 200  # draws of what is observed
_WIDTH = 100  # dots an inch
_STYLE = (
    "body{font-family:system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color:#111;background:#fff;line-height:1.45}pre{overflow-x:auto;font-size:.85rem}"
    "img{max-width:100%}li{margin:.4rem 0}.note{color:#555;font-size:.9rem}"
    "table{border-collapse:collapse}h2{margin-top:2.2rem;border-bottom:1px solid #ccc}"
)


class Picture(NamedTuple):
    """A picture of a report: its title, how it is read, and what draws it."""

    title: str
    caption: str
    draw: Callable[[], Any]


def report(fit: Any, path: str | os.PathLike[str], model: Any = None) -> Path:
    """Write a fit as a page of HTML.

    Parameters
    ----------
    fit : arviz.InferenceData, xarray.DataTree or path
        What `infer` returned, or a file of it.
    path : where to write, ``*.html``; a file that is there is replaced
    model : bound model, optional
        What was fitted, where it is not found; without it the page lacks the model and what it
        predicts. See `load_fit`.

    Raises
    ------
    OutputError
        If there is no such file, it holds no draws, the model that is given has other data, or the
        page cannot be written there.

    Warns
    -----
    SamplingWarning
        If the log density of the model that is given is not that of the fit.
    """
    file, stored = path_of("the path of a report", path), isinstance(fit, str | os.PathLike)
    check_place(file, PAGE, [fit] if stored else [])
    result = load(os.fspath(fit)) if stored else fit
    if not hasattr(result, "attrs") or "posterior" not in group_names(result):
        raise OutputError("a report takes a fit with posterior draws, as infer returns it.")
    model, missing = _model(result, model)
    page = _Page(result, model, missing)
    return write_text(file, page.text())


def _model(result: Any, model: Any) -> tuple[Any, str]:
    """Return the model of a fit, or why it is not known."""
    try:
        return model_of(
            model, result, "this fit", "Pass the model: report(fit, path, model=...)."
        ), ""
    except ProbmodelError as error:
        if model is not None:
            raise
        return None, error.message


class _Page:
    """The page of a fit."""

    def __init__(self, result: Any, model: Any, missing: str) -> None:
        self._result, self._model, self._missing = result, model, missing
        self._posterior = as_numbers(group(result, "posterior"))
        sizes = self._posterior.sizes
        self._stride = -(-sizes["chain"] * sizes["draw"] // MOST)
        self._names = _worst(self._posterior)

    def text(self) -> str:
        """Return the page."""
        attrs = self._result.attrs
        title = html.escape(str(attrs.get("name", "Fit")))
        about = heading(attrs) if "method" in attrs else ""
        parts = [
            f"<h1>{title}</h1><p>{html.escape(about)}</p>",
            f"<h2>Findings</h2>{_findings(attrs)}",
            f"<h2>Model</h2>{self._shown_model()}",
            f"<h2>Summary</h2><pre>{html.escape(summary_text(self._result))}</pre>",
            *self._pictures(),
        ]
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
        )

    def _shown_model(self) -> str:
        if self._model is not None:
            return str(self._model._repr_html_())
        return f'<p class="note">The model is not shown: {html.escape(self._missing)}</p>'

    def _pictures(self) -> Iterator[str]:
        """Yield a section for each picture."""
        try:
            import matplotlib
        except ImportError:
            yield "<h2>Pictures</h2><p>There are none: matplotlib is not installed.</p>"
            return
        before = matplotlib.get_backend()
        matplotlib.use("Agg")
        try:
            for picture in self._all():
                caption = f'<p class="note">{html.escape(picture.caption)}</p>'
                yield f"<h2>{picture.title}</h2>{caption}{_drawn(picture)}"
        finally:
            matplotlib.use(before)

    def _all(self) -> Iterator[Picture]:
        az, old = import_arviz(), arviz_before_1()
        combined = {"combined": True} if old else {}
        drawn = self._chosen(self._names, self._stride)
        yield Picture(
            "Traces", f"Chains should look alike, and like noise without trend.{self._note}",
            lambda: az.plot_trace(drawn),
        )  # fmt: skip
        yield Picture(
            "Ranks", f"Ranks of each chain's draws among all: they should be even.{self._note}",
            lambda: az.plot_rank(drawn),
        )  # fmt: skip
        yield Picture(
            "Intervals", f"Point estimates and intervals.{self._note}",
            lambda: az.plot_forest(drawn, combined=True),
        )  # fmt: skip
        if len(self._names) > 1:
            options = {"divergences": True} if old else {"visuals": {"divergence": True}}
            yield Picture(
                "Pairs", f"Two quantities at a time; all divergences are marked.{self._note}",
                lambda: az.plot_pair(self._with_divergences(), **options),
            )  # fmt: skip
        if "energy" in group(self._result, "sample_stats"):
            options = {"bfmi": False} if old else {}
            yield Picture(
                "Energy", "Of all draws. The two should overlap: else energy changes too slowly.",
                lambda: az.plot_energy(self._chosen(self._names[:1], 1), **options),
            )  # fmt: skip
        yield Picture(
            "Autocorrelation", "Of all draws. It should fall to zero soon.",
            lambda: az.plot_autocorr(self._chosen(self._names[:PAIRED], 1), **combined),
        )  # fmt: skip
        if self._model is not None and "observed_data" in group_names(self._result):
            plot = az.plot_ppc if old else az.plot_ppc_dist
            yield Picture(
                "Posterior predictive",
                f"What the model would observe, {PREDICTED} times at most, and what was observed.",
                lambda: plot(self._predicted()),
            )  # fmt: skip

    @property
    def _note(self) -> str:
        """Which draws a picture shows."""
        return f" Every {self._stride}th draw is shown." if self._stride > 1 else ""

    def _chosen(self, names: list[tuple[str, dict[str, Any]]], stride: int) -> Any:
        """Return draws of some quantities alone, each under a name of its own."""
        import xarray as xr

        some = {"draw": slice(None, None, stride)}
        columns = {}
        for name, where in names:
            one = self._posterior[name].isel({**where, **some})
            label = ", ".join(str(one[dim].values) if dim in one.coords else str(i)
                              for dim, i in where.items())  # fmt: skip
            columns[f"{name}[{label}]" if where else name] = one.reset_coords(drop=True)
        stats = group(self._result, "sample_stats").isel(some)
        return wrap({"posterior": xr.Dataset(columns), "sample_stats": stats}, {})

    def _with_divergences(self) -> Any:
        """Return draws of a few quantities as those of one chain: some, and all that diverged."""
        import xarray as xr

        whole = self._chosen(self._names[:PAIRED], 1)
        stats = group(whole, "sample_stats")
        shape = stats["lp"].shape
        diverging = stats.get("diverging", xr.zeros_like(stats["lp"])).values.astype(bool).ravel()
        rows = np.union1d(np.arange(0, diverging.size, self._stride), np.flatnonzero(diverging))

        def one_chain(dataset: Any) -> Any:
            columns = {
                name: (("chain", "draw"), values.values.ravel()[rows][None])
                for name, values in dataset.data_vars.items()
                if values.shape == shape
            }
            return xr.Dataset(columns, {"chain": [0], "draw": np.arange(len(rows))})

        groups = ("posterior", "sample_stats")
        return wrap({name: one_chain(group(whole, name)) for name in groups}, {})

    def _predicted(self) -> Any:
        """Draw what was observed anew, a few times."""
        sizes, some = self._posterior.sizes, {}
        some["draw"] = slice(None, None, -(-sizes["draw"] * sizes["chain"] // PREDICTED))
        known = groups_of(self._result, "observed_data", "constant_data")
        return posterior_predictive(
            self._model, wrap({"posterior": self._posterior.isel(some), **known}, {}), seed=1
        )


def _worst(posterior: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the quantities that look worst: names of variables, and places in them."""
    found: list[tuple[float, str, dict[str, Any]]] = []
    for name, values in posterior.data_vars.items():
        rows = element_rows(values.values)
        ess = convergence(rows.astype(float)).ess_bulk
        for i, row in enumerate(rows):
            place = np.unravel_index(i, values.shape[2:]) if values.ndim > 2 else ()
            where = dict(zip(values.dims[2:], map(int, place), strict=True))
            if np.ptp(row) > 0.0:
                found.append((float(np.nan_to_num(ess[i])), str(name), where))
    found.sort(key=lambda one: one[0])
    return [(name, where) for _, name, where in found[:QUANTITIES]]


def _findings(attrs: Any) -> str:
    """Return what speaks against the draws, in words."""
    found = json.loads(attrs.get("warnings", "[]"))
    if not found:
        return "<p>No problems were found.</p>"
    items = "".join(f"<li>{html.escape(finding['message'])}</li>" for finding in found)
    return f"<ol>{items}</ol>"


def _drawn(picture: Picture) -> str:
    """Return a picture as part of the page."""
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture.draw()
            content = io.BytesIO()
            plt.gcf().tight_layout()
            plt.gcf().savefig(content, format="png", dpi=_WIDTH, bbox_inches="tight")
    except Exception as error:  # of ArviZ, which has its own ideas of what can be drawn
        return f"<p>It could not be drawn: {html.escape(reason(error))}.</p>"
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)
    encoded = base64.b64encode(content.getvalue()).decode()
    return f'<img alt="{picture.title}" src="data:image/png;base64,{encoded}">'
