"""Products, factors and solutions of matrices."""

from __future__ import annotations

from probmodel.expressions import Apply
from probmodel.stan.export.code_forms import PRODUCT, Form, Place, call, transposed
from probmodel.stan.export.code_writer import Writer, element
from probmodel.stan.export.no_spelling import NoSpellingError


def matmul(writer: Writer, node: Apply) -> Form | None:
    """Return a product of vectors and matrices."""
    left, right = node.args
    ranks = len(writer.shape(left)), len(writer.shape(right))
    if ranks == (1, 1):
        return call("dot_product", writer.reals(left).text, writer.reals(right).text)
    if max(ranks) > 2:
        return None
    one, other = writer.reals(left), writer.reals(right)
    if ranks == (1, 2):  # a row vector times a matrix, as a vector
        return Form(f"{transposed(other)} * {one.inside(PRODUCT + 1)}", "vector", PRODUCT)
    kind = "vector" if ranks == (2, 1) else "matrix"
    text = f"{one.inside(PRODUCT)} * {other.inside(PRODUCT + 1)}"
    return Form(text, kind, PRODUCT)


def matmul_entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return one element of a product of stacks of matrices."""
    left, right = (writer.shape(arg) for arg in node.args)
    if max(len(left), len(right)) < 3:
        return None
    forms = [writer.define(arg) for arg in node.args]
    batch = places[: max(len(left), len(right)) - 2]
    rest = list(places[len(batch) :])
    row = [rest.pop(0)] if len(left) > 1 else []
    column = [rest.pop(0)] if len(right) > 1 else []
    ones = Place("", 1)
    own = [
        [
            ones if n == 1 else p
            for n, p in zip(s[:-2], batch[len(batch) - len(s) + 2 :], strict=True)
        ]
        for s in (left, right)
    ]
    one = element(forms[0], [*own[0], *row]) if own[0] or row else forms[0]
    index = ", ".join([*map(str, own[1]), *(["", str(column[0])] if column else [])])
    other = f"{forms[1].text}[{index}]" if index else forms[1].text
    return call("dot_product", one.text, other)


def outer(writer: Writer, node: Apply) -> Form:
    """Return a column times a row."""
    one, other = (writer.reals(arg) for arg in node.args)
    return Form(f"{one.inside(PRODUCT)} * {transposed(other)}", "matrix", PRODUCT)


def diagonal(writer: Writer, node: Apply) -> Form:
    """Return the diagonal of a matrix, or a matrix with a diagonal."""
    form = writer.reals(node.args[0])
    if len(writer.shape(node)) == 2:
        return call("diag_matrix", form.text, kind="matrix")
    return call("diagonal", form.text, kind="vector")


def dot_entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return one element of a product; of stacks, `numpy.dot` is another than `numpy.matmul`."""
    left, right = (len(writer.shape(arg)) for arg in node.args)
    if left > 1 and right > 2:
        raise NoSpellingError("np.dot of stacks of matrices", "Write @.")
    return matmul_entry(writer, node, places)


def solve(writer: Writer, node: Apply) -> Form | None:
    """Return the solution of linear equations."""
    if max(len(writer.shape(arg)) for arg in node.args) > 2:
        raise NoSpellingError("np.linalg.solve of several matrices", "Solve one at a time.")
    one, other = (writer.reals(arg) for arg in node.args)
    text = f"{one.inside(PRODUCT + 1)} \\ {other.inside(PRODUCT + 1)}"
    return Form(f"({text})", other.kind)


def function(name: str, kind: str = "matrix"):  # type: ignore[no-untyped-def]
    """Return the rule of a function of one matrix."""

    def rule(writer: Writer, node: Apply) -> Form | None:
        if len(writer.shape(node.args[0])) != 2:
            raise NoSpellingError(
                f"{node.operation.name}(...) of several matrices", "Take one at a time."
            )
        return call(name, writer.reals(node.args[0]).text, kind=kind)

    return rule
