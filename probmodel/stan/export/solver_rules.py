"""Differential and other equations, which take a function."""

from __future__ import annotations

from probmodel.expressions import Apply, Closure, Expression, as_expression
from probmodel.stan.export.code_blocks import Block, braced, loops
from probmodel.stan.export.code_forms import Form, number
from probmodel.stan.export.code_writer import Writer

_ODE = {"rk45": "ode_rk45_tol", "esdirk43": "ode_bdf_tol"}


def ode_statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill a matrix with the states at each time."""
    how = node.kwargs
    times = writer.value(how["times"])
    function, captured = traced_function(writer, how["function"], writer.shape(node)[1:])
    start = writer.reals(node.args[0]).text
    later = writer.shared.from_data(times[1:], "times")
    settings = [number(how["rtol"]).text, number(how["atol"]).text, str(how["max_steps"])]
    times_asked = [number(times[0]).text, f"to_array_1d({later})"]
    asked = ", ".join([function, start, *times_asked, *settings, *captured])
    sizes = writer.sizes(node)
    at = writer.places(1)[0]
    states = writer.fresh("states")
    writer.block.add(
        f"array[{sizes[0]}] vector[{sizes[1]}] {states} = {_ODE[how['method']]}({asked});",
        *loops([at.variable], sizes[:1], [f"{name}[{at}] = {states}[{at}]';"]),
    )
    return True


def newton(writer: Writer, node: Apply) -> Form:
    """Return the root of a system of equations."""
    how = node.kwargs
    function, captured = traced_function(writer, how["function"], writer.shape(node))
    start = writer.reals(node.args[0]).text
    settings = ["1e-3", number(how["tolerance"]).text, str(how["max_steps"])]
    return Form(f"solve_newton_tol({', '.join([function, start, *settings, *captured])})", "vector")


def traced_function(
    writer: Writer, closure: Closure, state: tuple[int, ...]
) -> tuple[str, list[str]]:
    """Write a function of time, if it takes it, and state into the functions block.

    Returns its name, and what it is called with after its own arguments.
    """
    shared = writer.shared
    name = shared.names.function(closure.name if closure.name.isidentifier() else "slope")
    inner = Writer(shared, Block())
    names = shared.names.scope()
    parameters, given = [], []
    for symbol in closure.arguments:
        own = names.fresh(str(symbol.name))
        is_time = symbol.name == "t"
        kind = "real" if is_time else "vector"
        parameters.append(f"{kind} {own}")
        inner.let(symbol, Form(own, kind), () if is_time else state)
    for node in _arguments(closure):
        form = writer.whole(node)
        form = writer.reals(node) if form.kind == "row_vector" else form
        own = names.fresh(str(getattr(node, "name", None) or "argument"))
        parameters.append(f"{_unsized(form.kind, len(writer.shape(node)))} {own}")
        inner.block.know(node, Form(own, form.kind))
        given.append(form.text)
    value = inner.reals(closure.body)
    shared.functions += braced(
        f"vector {name}({', '.join(parameters)})", [*inner.block.lines, f"return {value.text};"]
    )
    return name, given


def _arguments(closure: Closure) -> list[Expression]:
    """Return what a function takes beyond its own arguments: symbols rather than their elements."""
    found: dict[int, Expression] = {}
    for node in closure.captured:
        while isinstance(node, Apply) and node.operation.name == "getitem":
            node = as_expression(node.args[0])
        found.setdefault(id(node), node)
    return list(found.values())


def _unsized(kind: str, rank: int) -> str:
    """Return the type of a function's argument."""
    if kind == "ints":
        return f"array[{',' * (rank - 1)}] int"
    if kind == "vectors":
        return f"array[{',' * (rank - 3)}] matrix"
    return kind
