"""Distributions as sampling statements, and as log densities in formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.expressions import Apply, Expression, Symbol, as_expression
from probmodel.stan.export import compound_rules, process_rules
from probmodel.stan.export.code_blocks import loops
from probmodel.stan.export.code_forms import SUM, Form, Place, call, number
from probmodel.stan.export.code_writer import Writer, element
from probmodel.stan.export.distributed_value import Quantity
from probmodel.stan.export.no_spelling import NoSpellingError
from probmodel.stan.export.stan_families import (
    ONE_BY_ONE,
    PROBABILITIES,
    WITHOUT_PROBABILITIES,
    Family,
    family_of,
)
from probmodel.stan.export.whole_arguments import in_whole_numbers

# -- statements ------------------------------------------------------------------------------------


def statements(writer: Writer, quantity: Quantity) -> None:
    """Add the statements that give a value its distribution.

    Raises a `NoSpellingError` if Stan has none.
    """
    quantity = _full(writer, quantity)
    rank = len(writer.shape(quantity.value)) - quantity.dist.event_ndim
    family = family_of(quantity.kind, quantity.dist.parameters)
    if family is not None and not quantity.dist.event_ndim and _at_once(writer, quantity, family):
        return
    if not rank:
        one(writer, quantity)
        return
    inner, part, variables, sizes = each(writer, quantity, rank)
    one(inner, part)
    writer.block.add(*loops(variables, sizes, inner.block.lines))


def _full(writer: Writer, quantity: Quantity) -> Quantity:
    """Return a quantity with vectors where numbers stand for all elements of these."""
    quantity = in_whole_numbers(writer, quantity)
    shape, event = writer.shape(quantity.value), quantity.dist.event_ndim
    args: dict[str, Any] = dict(quantity.args)
    for name, spec in quantity.dist.parameters.items():
        if spec.spreads and not writer.shape(args[name]) and event == 1:
            args[name] = np.broadcast_to(args[name], shape[-1:])
            writer.shared.sizes.tell(args[name], writer.sizes(quantity.value)[-1:])
    return Quantity(quantity.dist, quantity.value, args)


def _at_once(writer: Writer, quantity: Quantity, family: Family) -> bool:
    """Add one statement for all elements, where parameters are numbers or have their shape."""
    shape = writer.shape(quantity.value)
    specs = quantity.dist.parameters.values()
    shapes = [writer.shape(arg) for arg in quantity.args.values()]
    if len(shape) > 2 or quantity.kind in ONE_BY_ONE:
        return False
    if any(spec.event_ndim for spec in specs) and not _one_set(quantity, shapes):
        return False
    alike = all(s in ((), shape) or spec.event_ndim for s, spec in zip(shapes, specs, strict=True))
    if not alike:
        return False
    args = [as_expression(arg) for arg in family.arguments(quantity.args)]
    whole = writer.is_whole(quantity.value)
    if len(shape) == 2 and (quantity.dist.discrete or whole):
        return False
    value, given = observed_form(writer, quantity, family), [_argument(writer, a) for a in args]
    if value is None:
        return False
    if len(shape) == 2:
        flat = [f"to_vector({f.text})" if f.kind == "matrix" else f.text for f in (value, *given)]
    else:
        flat = [form.text for form in (value, *given)]
    writer.block.add(f"{flat[0]} ~ {family.stan}({', '.join(flat[1:])});")
    return True


def _one_set(quantity: Quantity, shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether one vector of parameters is for all values, and Stan takes many values with it."""
    known = ("OrderedLogistic", "OrderedProbit", "Categorical", "CategoricalLogit")
    specs = quantity.dist.parameters.values()
    return quantity.kind in known and all(
        len(s) == spec.event_ndim for s, spec in zip(shapes, specs, strict=True) if spec.event_ndim
    )


def _argument(writer: Writer, arg: Expression) -> Form:
    """Return a parameter: whole numbers as they are, else real ones."""
    return writer.whole(arg) if writer.is_whole(arg) else writer.reals(arg)


def observed_form(writer: Writer, quantity: Quantity, family: Family) -> Form | None:
    """Return a value as Stan's distribution takes it; None if it has to be taken one by one."""
    value = quantity.value
    if not quantity.dist.discrete:
        return writer.reals(value) if writer.shape(value) else writer.whole(value)
    form = writer.whole(value)
    name = str(getattr(value, "name", ""))
    if not family.from_one or name in writer.shared.from_one:
        return form
    return Form(f"{form.inside(SUM)} + 1", "int", SUM) if form.kind == "int" else None


def each(
    writer: Writer, quantity: Quantity, rank: int
) -> tuple[Writer, Quantity, list[str], Sequence[Place]]:
    """Return a writer inside loops over the batch, with the part of a quantity that is there."""
    places, sizes = writer.places(rank), writer.sizes(quantity.value)[:rank]
    inner = Writer(writer.shared, writer.block.inside(rank))
    value = cell(writer, inner, quantity.value, places, quantity.dist.event_ndim)
    args = _arguments_at(writer, inner, quantity, places)
    return inner, Quantity(quantity.dist, value, args), [p.variable for p in places], sizes


def _arguments_at(
    writer: Writer, inner: Writer, quantity: Quantity, places: Sequence[Place]
) -> dict[str, Any]:
    """Return the parameters of a quantity at some places of its batch."""
    specs = quantity.dist.parameters
    return {
        name: arg if specs[name].known else cell(writer, inner, arg, places, specs[name].event_ndim)
        for name, arg in quantity.args.items()
    }


def cell(
    writer: Writer, inner: Writer, value: Any, places: Sequence[Place], event: int
) -> Expression:
    """Return the part of a value at some places of its batch, as a symbol of the inner writer."""
    node = as_expression(value)
    shape = writer.shape(node)
    batch = max(len(shape) - event, 0)
    if not batch:
        if shape and isinstance(node, Apply) and not writer.is_constant(node):
            writer.define(node)
        return node
    own = places[len(places) - batch :]
    at = [Place("", 1) if n == 1 else p for n, p in zip(shape[:batch], own, strict=True)]
    name = str(getattr(node, "name", ""))
    symbol = Symbol(name if name in writer.shared.from_one else None)
    if len(shape) == batch:
        return inner.let(symbol, writer.entry(node, at), ())
    form = writer.named(node)
    one_form = element(form, at)
    rest = len(shape) - batch
    whole = form.kind == "ints"
    kinds = {1: "vector" if form.kind == "vectors" and len(shape) == 2 else "row_vector"}
    if form.kind == "vectors" and len(shape) > 2 and batch == len(shape) - 2:
        kinds[2] = "matrix"
    symbol = inner.let(symbol, Form(one_form.text, "ints" if whole else kinds.get(rest, "vectors")),
                       shape[batch:])  # fmt: skip
    inner.shared.sizes.tell(symbol, writer.sizes(node)[batch:])
    return symbol


# -- one value -------------------------------------------------------------------------------------


def one(writer: Writer, quantity: Quantity) -> None:
    """Add the statements of a quantity without batch."""
    rule = STATEMENTS.get(quantity.kind)
    if rule is not None:
        rule(writer, quantity)
        return
    family = family_of(quantity.kind, quantity.dist.parameters)
    if family is None or quantity.kind in _FORMULAS:
        writer.block.add(f"target += {log_density(writer, quantity).text};")
        return
    value, args = _operands(writer, quantity, family)
    writer.block.add(f"{value} ~ {family.stan}({', '.join(args)});")


def _operands(writer: Writer, quantity: Quantity, family: Family) -> tuple[str, list[str]]:
    form = observed_form(writer, quantity, family)
    if form is None:
        raise NoSpellingError(
            f"{quantity.kind} of {quantity.value!r}", "Give it data of their own."
        )
    args = family.arguments(_with_forms(quantity))
    return form.text, [_argument(writer, as_expression(a)).text for a in args]


def _with_forms(quantity: Quantity) -> dict[str, Any]:
    """Return parameters, with the matrix in the form that Stan's distribution takes."""
    args: dict[str, Any] = dict(quantity.args)
    if quantity.kind in ("Wishart", "InverseWishart") and "cholesky" in args:
        root = args.pop("cholesky")
        args["scale"] = root @ root.T
    if quantity.kind in ("WishartCholesky", "InverseWishartCholesky") and "scale" in args:
        args["cholesky"] = np.linalg.cholesky(args.pop("scale"))
    return args


def log_density(writer: Writer, quantity: Quantity) -> Form:
    """Return the log density of one value, with all constants.

    Raises a `NoSpellingError` if Stan has none.
    """
    quantity = _full(writer, quantity)
    rule = _FORMULAS.get(quantity.kind)
    if rule is not None:
        return rule(writer, quantity)
    family = family_of(quantity.kind, quantity.dist.parameters)
    if family is None:
        raise NoSpellingError(
            f"the distribution {quantity.dist.name}", INSTEAD, distribution=quantity.kind
        )
    value, args = _operands(writer, quantity, family)
    suffix = "lpmf" if quantity.dist.discrete else "lpdf"
    form = Form(f"{family.stan}_{suffix}({value} | {', '.join(args)})", "real")
    if family.constant:
        form = Form(f"{form.text} + {number(family.constant).text}", "real", SUM)
    return form


def log_probability(writer: Writer, quantity: Quantity, above: bool) -> Form:
    """Return the log probability of values up to one, or above it."""
    quantity = in_whole_numbers(writer, quantity)
    family = family_of(quantity.kind, quantity.dist.parameters)
    rule = compound_rules.PROBABILITIES.get(quantity.kind)
    if rule is not None:
        return rule(writer, quantity, above)
    if family is None or quantity.kind in WITHOUT_PROBABILITIES:
        raise NoSpellingError(f"the distribution function of {quantity.dist.name}", INSTEAD)
    stan, arguments, of = PROBABILITIES.get(
        quantity.kind, (family.stan, family.arguments, lambda y: y)
    )
    value = writer.whole(of(quantity.value)).text
    args = [writer.whole(a).text for a in arguments(quantity.args)]
    return call(f"{stan}_{'lccdf' if above else 'lcdf'}", f"{value} | {', '.join(args)}")


def entry(
    writer: Writer, dist: Distribution, value: Any, args: Mapping[str, Any],
    places: Sequence[Place], method: str,
) -> Form:  # fmt: skip
    """Return one element of a log density, or of a log probability, in a formula."""
    quantity = in_whole_numbers(writer, Quantity(dist, value, args))
    inner = Writer(writer.shared, writer.block)
    own = _arguments_at(writer, inner, quantity, places)
    at = cell(writer, inner, quantity.value, places, dist.event_ndim)
    part = Quantity(dist, at, own)
    if method == "log_density":
        return log_density(inner, part)
    return log_probability(inner, part, method == "log_ccdf")


INSTEAD = "Write its log density with potential(...), or choose another distribution."
Rule = Callable[[Writer, Quantity], Any]
STATEMENTS: dict[str, Rule] = {**compound_rules.STATEMENTS, **process_rules.STATEMENTS}
_FORMULAS: dict[str, Rule] = {**compound_rules.FORMULAS, **process_rules.FORMULAS}
