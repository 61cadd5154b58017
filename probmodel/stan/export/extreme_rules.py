"""Distributions of extremes: Stan has their standard members, which reduced values have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.stan.export.code_forms import SUM, Form
from probmodel.stan.export.code_writer import Writer


def _density(standard: str, parameters: str) -> Callable[[Writer, Any], Form]:
    """Return the rule of a density: that of the reduced value, and its derivative."""

    def rule(writer: Writer, q: Any) -> Form:
        reduced = writer.whole(_reduced(writer, q)).text
        stretch = writer.whole(_log_growth(writer, q) + np.log(q.args["sigma"]))
        density = f"{standard}_lpdf({reduced} | {parameters})"
        return Form(f"{density} - {stretch.inside(SUM + 1)}", "real", SUM)

    return rule


def _probability(standard: str, parameters: str) -> Callable[[Writer, Any, bool], Form]:
    """Return the rule of a distribution function."""

    def rule(writer: Writer, q: Any, above: bool) -> Form:
        reduced = writer.whole(_reduced(writer, q)).text
        side = "lccdf" if above else "lcdf"
        return Form(f"{standard}_{side}({reduced} | {parameters})", "real")

    return rule


def _standardised(q: Any) -> Any:
    """Return an expression of its own at each call: what is used twice would get a name."""
    return (q.value - q.args["mu"]) / q.args["sigma"]


def _log_growth(writer: Writer, q: Any) -> Any:
    return 0.0 if _is_zero(writer, q.args["xi"]) else np.log1p(q.args["xi"] * _standardised(q))


def _reduced(writer: Writer, q: Any) -> Any:
    """Return what has the standard distribution: the value where the shape is zero."""
    xi = q.args["xi"]
    if _is_zero(writer, xi):
        return _standardised(q)
    whole = _log_growth(writer, q) / xi
    return whole if writer.is_constant(xi) else np.where(xi == 0, _standardised(q), whole)


def _is_zero(writer: Writer, xi: Any) -> bool:
    return writer.is_constant(xi) and not writer.value(xi)


FORMULAS: dict[str, Callable[[Writer, Any], Form]] = {
    "GeneralizedExtremeValue": _density("gumbel", "0, 1"),
    "GeneralizedPareto": _density("exponential", "1"),
}
PROBABILITIES: dict[str, Callable[[Writer, Any, bool], Form]] = {
    "GeneralizedExtremeValue": _probability("gumbel", "0, 1"),
    "GeneralizedPareto": _probability("exponential", "1"),
}
