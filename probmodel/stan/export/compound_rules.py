"""Distributions that are made of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.expressions import as_expression
from probmodel.functions import component_log_densities, hmm_log_likelihood
from probmodel.stan.export import extreme_rules
from probmodel.stan.export.code_forms import CHOICE, OR, SUM, Form, Place, call
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.distributed_value import Quantity
from probmodel.stan.export.no_spelling import NoSpellingError
from probmodel.stan.export.stan_families import PROBABILITIES as FOUND_OTHERWISE
from probmodel.stan.export.stan_families import family_of

# -- bounds ----------------------------------------------------------------------------------------


def _bounds(quantity: Any) -> tuple[Any, Any]:
    return quantity.args.get("lower"), quantity.args.get("upper")


def _log_mass(writer: Writer, quantity: Any) -> Form:
    """Return the log probability of what lies between the bounds."""
    lower, upper = _bounds(quantity)
    dist = quantity.dist.dist
    below = None if lower is None else (np.ceil(lower) - 1 if dist.discrete else lower)
    if lower is None:
        return writer.rules.log_probability(writer, quantity.inner(dist, "dist.", upper), False)
    if upper is None:
        return writer.rules.log_probability(writer, quantity.inner(dist, "dist.", below), True)
    parts = [writer.rules.log_probability(writer, quantity.inner(dist, "dist.", at), False)
             for at in (upper, below)]  # fmt: skip
    return call("log_diff_exp", *(part.text for part in parts))


def truncated_density(writer: Writer, quantity: Any) -> Form:
    """Return the log density over the probability of the interval."""
    density = writer.rules.log_density(writer, quantity.inner(quantity.dist.dist, "dist."))
    mass = _log_mass(writer, quantity)
    return Form(f"{density.inside(SUM)} - {mass.inside(SUM + 1)}", "real", SUM)


def truncated(writer: Writer, quantity: Any) -> None:
    """Add a statement with truncation; without it where data decide the probability."""
    dist = quantity.dist.dist
    writer.rules.one(writer, quantity.inner(dist, "dist."))
    if all(writer.is_constant(arg) for arg in quantity.args.values()):
        return
    kind = type(dist).__name__
    plain = family_of(kind, dist.parameters) is not None and kind not in FOUND_OTHERWISE
    if dist.discrete or not plain:
        mass = _log_mass(writer, quantity)
        writer.block.add(f"target += -{mass.inside(SUM + 1)};")
        return
    lower, upper = _bounds(quantity)
    if lower is None and kind.startswith("Half"):
        lower = 0  # Stan has the whole distribution, which goes on below zero
    texts = ["" if b is None else writer.scalar(b) for b in (lower, upper)]
    writer.block.lines[-1] = f"{writer.block.lines[-1][:-1]} T[{', '.join(texts)}];"


def censored_density(writer: Writer, quantity: Any) -> Form:
    """Return the log density, or at a bound the log probability of all beyond."""
    lower, upper = _bounds(quantity)
    dist = quantity.dist.dist
    form = writer.rules.log_density(writer, quantity.inner(dist, "dist."))
    value = writer.whole(quantity.value).inside(OR)
    for bound, above, sign in ((lower, False, "<="), (upper, True, ">=")):
        if bound is None:
            continue
        limit = writer.whole(bound)
        at = np.ceil(bound) - 1 if above and dist.discrete else bound
        beyond = writer.rules.log_probability(writer, quantity.inner(dist, "dist.", at), above)
        text = f"{value} {sign} {limit.inside(SUM)} ? {beyond.inside(OR)} : {form.inside(CHOICE)}"
        form = Form(text, "real", CHOICE)
    return Form(f"({form.text})", "real")


def affine_density(writer: Writer, quantity: Any) -> Form:
    """Return the log density of the standardised value."""
    inner, scale = _standardised(quantity)
    density = writer.rules.log_density(writer, inner)
    if writer.is_constant(scale) and float(writer.value(scale)) == 1.0:
        return density
    return Form(f"{density.inside(SUM)} - log({writer.scalar(scale)})", "real", SUM)


def affine(writer: Writer, quantity: Any) -> None:
    """Add a statement about the standardised value."""
    inner, scale = _standardised(quantity)
    writer.rules.one(writer, inner)
    if not writer.is_constant(scale):
        writer.block.add(f"target += -log({writer.scalar(scale)});")


def _standardised(quantity: Any) -> tuple[Any, Any]:
    if quantity.dist.event_ndim:
        raise NoSpellingError("Affine of vectors", "Declare the vector, and shift it in a formula.")
    loc, scale = quantity.args["loc"], quantity.args["scale"]
    return quantity.inner(quantity.dist.dist, "dist.", (quantity.value - loc) / scale), scale


# -- zeros -----------------------------------------------------------------------------------------


def _with_zeros(writer: Writer, quantity: Any) -> tuple[str, str, Form, Any]:
    """Return the value, the probability of zero, the density of others, and what is at zero."""
    dist = quantity.dist.dist
    value, p = writer.whole(quantity.value).inside(OR), writer.scalar(quantity.args["p"])
    density = writer.rules.log_density(writer, quantity.inner(dist, "dist."))
    return (
        value,
        p,
        density,
        lambda: writer.rules.log_density(writer, quantity.inner(dist, "dist.", 0)),
    )


def zero_inflated(writer: Writer, quantity: Any) -> Form:
    """Return a mixture of zero and of a distribution of counts."""
    value, p, density, at_zero = _with_zeros(writer, quantity)
    zero = f"log_mix({p}, 0, {at_zero().text})"
    return Form(f"({value} == 0 ? {zero} : log1m({p}) + {density.text})", "real")


def hurdle(writer: Writer, quantity: Any) -> Form:
    """Return the probability of zero, and a distribution without zero."""
    value, p, density, at_zero = _with_zeros(writer, quantity)
    other = f"log1m({p}) + {density.text}"
    if quantity.dist.discrete:
        other += f" - log1m_exp({at_zero().text})"
    return Form(f"({value} == 0 ? log({p}) : {other})", "real")


# -- mixtures --------------------------------------------------------------------------------------


def component_quantities(
    writer: Writer, parts: Any, args: Any, value: Any, label: str
) -> list[Any]:
    """Return the components as quantities of their own, each with its parameters."""
    if not parts.stacked:
        return [_member(parts.members[k], args, value, f"{label}[{k}].")
                for k in range(len(parts.members))]  # fmt: skip
    member = parts.members[0]
    count = max(
        _components(writer, args[f"{label}.{name}"], spec)
        for name, spec in member.parameters.items()
    )
    return [_member(member, args, value, f"{label}.", (writer, k)) for k in range(count)]


def _components(writer: Writer, arg: Any, spec: Any) -> int:
    shape = writer.shape(arg)
    at = len(shape) - spec.event_ndim - 1
    return 1 if at < 0 or spec.known else shape[at]


def _member(
    member: Distribution, args: Any, value: Any, prefix: str, at: tuple[Writer, int] | None = None
) -> Any:
    own = {}
    for name, spec in member.parameters.items():
        arg = as_expression(args[prefix + name])
        if at is not None and not spec.known:
            writer, k = at
            axis = len(writer.shape(arg)) - spec.event_ndim - 1
            if axis >= 0:
                index = 0 if writer.shape(arg)[axis] == 1 else k
                arg = arg[(..., index, *(slice(None),) * spec.event_ndim)]
        own[name] = _without_padding(arg)
    return Quantity(member, value, own)


def _without_padding(arg: Any) -> Any:
    """Return a parameter without axes of length one that stand for "the same for all"."""
    operation = getattr(arg, "operation", None)
    return arg.args[0] if operation is not None and operation.name == "pad_axes" else arg


def mixture(writer: Writer, quantity: Any) -> Form:
    """Return the log of the weighted sum of the densities of the components."""
    parts = component_quantities(
        writer, quantity.dist.components, quantity.args, quantity.value, "components"
    )
    densities = [writer.rules.log_density(writer, part) for part in parts]
    return mixed(writer, densities, quantity.args["weights"])


def mixed(writer: Writer, logs: list[Form], weights: Any) -> Form:
    """Return the log of a weighted sum."""
    shares = [writer.entry(weights, [Place("", k + 1)]).text for k in range(len(logs))]
    if len(logs) == 2:
        return call("log_mix", shares[0], *(form.text for form in logs))
    terms = [f"log({s}) + {f.inside(SUM)}" for s, f in zip(shares, logs, strict=True)]
    return call("log_sum_exp", f"[{', '.join(terms)}]")


def hidden_markov(writer: Writer, quantity: Any) -> None:
    """Add the marginal density of a series, by the function that formulas have too."""
    initial, transition, emission = quantity.dist._written
    if len(writer.shape(quantity.value)) != quantity.dist.event_ndim:
        raise NoSpellingError("HiddenMarkov of several series", "Declare each series by itself.")
    logs = component_log_densities(emission, quantity.value)
    whole = hmm_log_likelihood(logs, initial, transition)
    writer.block.add(f"target += {writer.whole(whole).text};")


# -- distribution functions ------------------------------------------------------------------------


def _half(stan: str, names: tuple[str, ...]) -> Callable[[Writer, Any, bool], Form]:
    """Return the rule of a distribution that is folded at zero."""

    def rule(writer: Writer, quantity: Any, above: bool) -> Form:
        args = ", ".join(writer.scalar(quantity.args[n]) if n else "0" for n in names)
        value = writer.scalar(quantity.value)
        if above:
            return Form(f"{stan}_lccdf({value} | {args}) + log2()", "real", SUM)
        text = f"log_diff_exp({stan}_lcdf({value} | {args}), -log2()) + log2()"
        return Form(text, "real", SUM)

    return rule


def truncated_probability(writer: Writer, quantity: Any, above: bool) -> Form:
    """Return the log probability of values on one side, of those between the bounds."""
    (lower, upper), value = _bounds(quantity), quantity.value
    start, end = lower, upper
    if above:
        first = np.floor(value) + 1 if quantity.dist.dist.discrete else value
        start = first if lower is None else np.maximum(first, lower)
    else:
        end = value if upper is None else np.minimum(value, upper)
    part = Quantity(quantity.dist, value, {**quantity.args, **_given(lower=start, upper=end)})
    mass, whole = _log_mass(writer, part), _log_mass(writer, quantity)
    return Form(f"{mass.inside(SUM)} - {whole.inside(SUM + 1)}", "real", SUM)


def _given(**bounds: Any) -> dict[str, Any]:
    return {name: bound for name, bound in bounds.items() if bound is not None}


def affine_probability(writer: Writer, quantity: Any, above: bool) -> Form:
    """Return the log probability of the standardised value."""
    return writer.rules.log_probability(writer, _standardised(quantity)[0], above)


PROBABILITIES: dict[str, Callable[[Writer, Any, bool], Form]] = {
    "HalfNormal": _half("normal", ("", "scale")),
    "HalfCauchy": _half("cauchy", ("", "scale")),
    "HalfStudentT": _half("student_t", ("df", "", "scale")),
    "Affine": affine_probability,
    "Truncated": truncated_probability,
    **extreme_rules.PROBABILITIES,
}
STATEMENTS: dict[str, Any] = {
    "Truncated": truncated,
    "Affine": affine,
    "HiddenMarkov": hidden_markov,
}
FORMULAS: dict[str, Any] = {
    "Truncated": truncated_density,
    "Censored": censored_density,
    "Affine": affine_density,
    **extreme_rules.FORMULAS,
    "ZeroInflated": zero_inflated,
    "Hurdle": hurdle,
    "Mixture": mixture,
}
