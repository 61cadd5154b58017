"""Recurrences as loops over time."""

from __future__ import annotations

from typing import Any

from probmodel.expressions import Apply, Closure, as_expression
from probmodel.stan.export.code_blocks import braced, declared, loops
from probmodel.stan.export.code_forms import AND, PRODUCT, SUM, Form, Place, kind_of
from probmodel.stan.export.code_writer import Writer, element
from probmodel.stan.export.elementwise_rules import aligned
from probmodel.stan.export.scalar_rules import infix


def linear(writer: Writer, node: Apply, name: str) -> bool:
    """Fill the solution of ``y[t] = coefficient[t] * y[t-1] + input[t]``."""
    coefficient, term, *rest = node.args
    initial: Any = rest[0] if rest else node.kwargs.get("initial", 0.0)
    sizes = writer.sizes(node)
    places = writer.places(len(sizes))
    time, others = places[0], places[1:]
    factor = writer.entry(coefficient, aligned(writer, coefficient, places))
    added = writer.entry(term, aligned(writer, term, places))
    start = writer.entry(initial, aligned(writer, initial, others))
    before = Form(f"{name}[{', '.join(map(str, (time + -1, *others)))}]", "real")
    first = Form(f"({time.variable} > 1 ? {before.text} : {_as_real(start)})", "real")
    step = infix(infix(factor, "*", first, PRODUCT), "+", added, SUM)
    target = f"{name}[{', '.join(map(str, places))}]"
    writer.block.add(*loops([p.variable for p in places], sizes, [f"{target} = {step.text};"]))
    return True


def _as_real(form: Form) -> str:
    """Return a number so that both sides of a choice are real."""
    return f"{form.text}.0" if form.text.lstrip("-").isdigit() else form.inside(AND)


def of_matrices(writer: Writer, node: Apply, name: str) -> bool:
    """Fill the solution of ``y[t] = matrix[t] @ y[t-1] + input[t]``."""
    matrix, term, *rest = node.args
    initial: Any = rest[0] if rest else node.kwargs.get("initial", 0.0)
    sizes = writer.sizes(node)
    time = writer.places(1)[0]
    state = writer.fresh("state")
    given = writer.define(as_expression(matrix))
    changing = len(writer.shape(matrix)) == 3
    factor = f"{given.text}[{time}]" if changing else given.text
    added = writer.define(as_expression(term))
    start = writer.whole(initial)
    if not writer.shape(initial):
        start = Form(f"rep_vector({start.text}, {sizes[1]})", "vector")
    writer.block.add(
        f"vector[{sizes[1]}] {state} = {start.text};",
        *braced(
            f"for ({time} in 1:{sizes[0]})",
            [
                f"{state} = {factor} * {state} + {added.text}[{time}]';",
                f"{name}[{time}] = {state}';",
            ],
        ),
    )
    return True


def scan(writer: Writer, node: Apply, name: str) -> bool:
    """Fill the states of a recurrence, one after another."""
    closure: Closure = node.kwargs["function"]
    initial, sequences = node.args[0], node.args[1]
    sizes = writer.sizes(node)
    shape = writer.shape(node)[1:]
    for captured in closure.captured:
        if writer.shape(captured):
            writer.named(captured)
    series = [writer.named(as_expression(s)) for s in sequences]
    time = writer.places(1)[0]
    state = writer.fresh("state")
    kind = kind_of(len(shape))
    start = writer.reals(initial) if shape else writer.whole(initial)
    inner = Writer(writer.shared, writer.block.inside(1))
    inner.let(closure.arguments[0], Form(state, kind), shape)
    for symbol, sequence, form in zip(closure.arguments[1:], sequences, series, strict=True):
        inner.let(symbol, _step(form, time), writer.shape(sequence)[1:])
    value = inner.reals(closure.body) if shape else inner.whole(closure.body)
    back = f"{state}'" if kind == "vector" else state
    body = [*inner.block.lines, f"{state} = {value.text};", f"{name}[{time}] = {back};"]
    writer.block.add(
        f"{declared(kind, sizes[1:])} {state} = {start.text};",
        *braced(f"for ({time} in 1:{sizes[0]})", body),
    )
    return True


def _step(form: Form, time: Place) -> Form:
    """Return what a sequence holds at one time."""
    one = element(form, [time])
    kinds = {"matrix": "row_vector", "vectors": "matrix"}
    return Form(one.text, kinds.get(form.kind, one.kind))
