"""The operation `scan` of the language: a function of a model's, repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.called_parts import CALLED
from probmodel.compiler.python_calls import is_unknown
from probmodel.compiler.scans import Scan, scanned
from probmodel.density.batched_function import BatchedFunction
from probmodel.expressions import Closure


def scan(
    shape: tuple[int, ...],
    initial: Any,
    sequences: Sequence[Any],
    *captured: Any,
    function: Closure,
    length: Any,
) -> Any:
    """Write down ``state = function(state, elements of sequences)`` at each time: all states."""
    elements = [np.shape(sequence)[1:] for sequence in sequences]
    kinds = [np.shape(c) if is_unknown(c) else c for c in captured]
    step = BatchedFunction(function, [shape[1:], *elements], kinds).step
    same = [c for c in captured if is_unknown(c)]
    states = scanned(
        Scan(step, shape[0], len(sequences)), anp.reshape(initial, (-1,)), *sequences, *same
    )
    return anp.reshape(states, shape)


CALLED["scan"] = scan
