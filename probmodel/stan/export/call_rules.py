"""Formulas that models record as calls: log densities, hidden states, covariances."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from probmodel.expressions import Apply, as_expression
from probmodel.functions.log_densities import DensityFormula
from probmodel.stan.export.code_blocks import loops
from probmodel.stan.export.code_forms import Form, Place, call, transposed
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.compound_rules import component_quantities
from probmodel.stan.export.kernel_rules import covariance
from probmodel.stan.export.no_spelling import NoSpellingError

_CHAIN = ("hmm_log_likelihood", "state_probabilities")


def whole(writer: Writer, node: Apply) -> Form | None:
    """Return a call as a whole, where Stan has a function for it."""
    name = node.kwargs["function"].__name__ if _named(node) else "covariance"
    if name == "log_density" and not writer.shape(node):
        return entry(writer, node, ())
    if name in _CHAIN:
        return _chain(writer, node, name)
    kernel = getattr(node.kwargs["function"], "kernel", None)
    if kernel is not None:
        return _covariance(writer, node, kernel)
    return None


def _named(node: Apply) -> bool:
    return hasattr(node.kwargs["function"], "__name__")


def entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return one element of log densities."""
    function = node.kwargs["function"]
    if isinstance(function, DensityFormula):
        dist = function.distribution
        element = partial(writer.rules.element, writer, dist)
        if function.__name__ != "log_between":
            return element(node.args[0], dist.args, places, function.__name__)
        low, high = node.args[:2]
        ends = (element(end, dist.args, places, "log_cdf").text for end in (high, low))
        return call("log_diff_exp", *ends)
    if _named(node) and function.__name__ in (*_CHAIN, "component_log_densities"):
        return None
    if getattr(function, "kernel", None) is not None:
        return None
    name = getattr(function, "__name__", type(function).__name__)
    raise NoSpellingError(
        f"{name}(...)", "Write it out with operations that Stan has.", operation=name
    )


def statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill a matrix with the log density of each value under each component."""
    function = node.kwargs["function"]
    parts = getattr(function, "components", None)
    if parts is None:
        return False
    value, *given = node.args
    args = dict(zip(parts.parameters, given, strict=True))
    sizes = writer.sizes(node)
    rank = len(writer.shape(node)) - 1
    places = writer.places(rank)
    members = component_quantities(writer, parts, args, value, "components")
    body = []
    for k, member in enumerate(members):
        form = writer.rules.element(
            writer, member.dist, member.value, member.args, places, "log_density"
        )
        body.append(f"{name}[{', '.join(map(str, [*places, k + 1]))}] = {form.text};")
    writer.block.add(*loops([p.variable for p in places], sizes[:rank], body))
    return True


def _chain(writer: Writer, node: Apply, name: str) -> Form:
    """Return a function of a hidden Markov model, for which states are the rows."""
    logs, initial, transition = node.args
    if len(writer.shape(logs)) != 2:
        raise NoSpellingError(f"{name} of several series", "Take one series at a time.")
    seen = writer.reals(logs)
    parts = [transposed(seen), writer.reals(transition).text, writer.reals(initial).text]
    if name == "hmm_log_likelihood":
        return call("hmm_marginal", *parts)
    return Form(f"hmm_hidden_state_prob({', '.join(parts)})'", "matrix")


def _covariance(writer: Writer, node: Apply, kernel: Any) -> Form:
    count = len(kernel.arguments)
    values = dict(zip(kernel.arguments, map(as_expression, node.args[:count]), strict=True))
    points = [np.asarray(writer.value(arg), dtype=float) for arg in node.args[count:]]
    return covariance(writer, kernel, values, *points)
