"""Parameters that Stan takes as whole numbers, such as the number of trials."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints import IntegerInterval
from probmodel.expressions import Constant, Expression, Symbol, as_expression
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.distributed_value import Quantity


def in_whole_numbers(writer: Writer, quantity: Quantity) -> Quantity:
    """Return a quantity whose numbers of trials, and the like, are integers of the program.

    Data that are declared as real, and arrays that are written in the model, are real numbers in
    its program, which Stan does not take there: they come as data of their own.
    """
    args: dict[str, Any] = dict(quantity.args)
    for name, spec in quantity.dist.parameters.items():
        if isinstance(spec.constraint, IntegerInterval) and writer.is_constant(args[name]):
            args[name] = _whole(writer, as_expression(args[name]))
    return Quantity(quantity.dist, quantity.value, args)


def _whole(writer: Writer, node: Expression) -> Expression:
    value = np.asarray(writer.value(node))
    written = isinstance(node, Constant)
    if written and not value.ndim:
        return node
    if not written and value.dtype.kind in "iub":
        return node
    own, shared, symbol = getattr(node, "name", None), writer.shared, Symbol(None)
    plain = np.asarray(np.round(value), int)
    shared.evaluator.define(symbol, plain, random=False)
    shared.sizes.tell(symbol, writer.sizes(node))
    form = shared.given(symbol, plain, f"{own}_int" if own else "constant")
    shared.constants.know(symbol, form)
    return symbol
