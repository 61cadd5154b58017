"""Recurrences of any kind: a step is written down once, and repeated at each time.

    s      state, a vector                                     (n,)
    e_t    elements of sequences at a time
    c      what is the same at all times
    f, h   the step:  s_t = f(s_{t-1}, e_t, c); what is added up, h(s_{t-1}, e_t, c)  (n,), (m,)

The result is flat: all states, then the sums of h. With derivatives g_t in the states and k in the
sums, those in what is given come from another scan, from the other end: its state begins with the
derivative in s_t of all that comes later, a_t, and

    a_{t-1} = d/ds w, with w = (a_t + g_t)' f(s, e_t, c) + k' h(s, e_t, c) at s = s_{t-1};

derivatives of w in e_t are the rest of its state, and those in c are what it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp_argnums, primitive
from autograd.tracer import getval

from probmodel.compiler.differentiation import gradient_of
from probmodel.compiler.over_rows import OverRows
from probmodel.compiler.python_calls import is_unknown
from probmodel.compiler.symbols import FORMULAS, Symbol, value_of
from probmodel.compiler.tracing import Scope, Trace
from probmodel.model.evaluation import Evaluator
from probmodel.types import Array


class Scan:
    """A recurrence.

    Parameters
    ----------
    step : of the state, elements of sequences, and what is the same at all times; it returns the
        new state and what is added up, one behind the other
    length : number of times
    sequences : how many there are
    back : whether the last time comes first

    Attributes
    ----------
    step, length, sequences, back : as given
    size : of the state
    added : how many numbers are added up
    """

    def __init__(self, step: OverRows, length: int, sequences: int, *, back: bool = False) -> None:
        self.step, self.length, self.sequences, self.back = step, length, sequences, back
        (self.size,) = step.shapes[0]
        (result,) = step.program.outputs
        self.added = np.size(result) - self.size

    @property
    def times(self) -> range:
        """The times, in order."""
        return range(self.length)[:: -1 if self.back else 1]

    @property
    def operations(self) -> int:
        """How many operations on arrays it takes."""
        return self.length * self.step.compiled.operations

    def __call__(self, initial: Array, *rest: Array) -> Array:
        """Return the result, from what leads with rows: (rows, length * size + added)."""
        sequences, same = rest[: self.sequences], rest[self.sequences :]
        out = np.zeros((len(initial), self.length * self.size + self.added))
        states = out[:, : self.length * self.size].reshape(-1, self.length, self.size)
        sums, state = out[:, self.length * self.size :], initial
        for t in self.times:
            both = self.step.compiled(state, *(s[:, t] for s in sequences), *same)[0]
            state = states[:, t] = both[:, : self.size]
            sums += both[:, self.size :]
        return out

    def example(self) -> Array:
        """Return values of the shape of one row's result."""
        both = value_of(self.step.program.outputs[0])
        states = np.tile(both[: self.size], self.length)
        return np.concatenate([states, both[self.size :]])


@primitive
def scanned(scan: Scan, initial: Any, *rest: Any) -> Any:
    """Write down a recurrence; what is given may be known. Returns its flat result."""
    given = (initial, *rest)
    if not any(map(is_unknown, given)):
        return scan(*(np.asarray(a, dtype=float)[None] for a in given))[0]
    args = tuple(a if isinstance(a, Symbol) else np.asarray(a, dtype=float) for a in given)
    return Symbol("scan", args, scan.example(), scan)


def _pull(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: Any) -> Any:
    scan, *own = args
    wanted = [i - 1 for i in argnums]
    return lambda g: _pulled(scan, wanted, ans, own, g)


defvjp_argnums(scanned, _pull)


def _pulled(
    scan: Scan, wanted: Sequence[int], ans: Any, own: Sequence[Any], g: Any
) -> tuple[Any, ...]:
    """Return derivatives in some of what was given, by the scan from the other end."""
    initial, n, times, k = own[0], scan.size, scan.length, scan.sequences
    states = anp.reshape(ans[: times * n], (times, n))
    first = anp.reshape(initial, (1, n))
    parts = [states[1:], first] if scan.back else [first, states[:-1]]
    before = anp.concatenate(parts) if times > 1 else first
    weights = anp.reshape(g[: times * n], (times, n))
    moving = [i for i in wanted if 0 < i <= k]
    same = [i for i in wanted if i > k]
    step = _step_back(scan, moving, same)
    widths = [prod(scan.step.shapes[i]) for i in moving]
    start = np.zeros(n + sum(widths))
    added = [g[times * n :]] if scan.added else []
    turned = Scan(step, times, k + 2, back=not scan.back)
    found = scanned(turned, start, before, weights, *own[1:], *added)
    rows = anp.reshape(found[: times * turned.size], (times, turned.size))
    slopes = {0: rows[turned.times[-1], :n]}
    ends = np.cumsum([n, *widths])
    for i, a, b in zip(moving, ends, ends[1:], strict=False):
        slopes[i] = anp.reshape(rows[:, a:b], (times, *scan.step.shapes[i]))
    at = times * turned.size
    for i in same:
        end = at + prod(scan.step.shapes[i])
        slopes[i] = anp.reshape(found[at:end], scan.step.shapes[i])
        at = end
    return tuple(slopes[i] for i in wanted)


def _step_back(scan: Scan, moving: Sequence[int], same: Sequence[int]) -> OverRows:
    """Return the step of the scan from the other end, whose derivatives are wanted.

    ``moving`` and ``same`` are positions of the sequences, and of what is the same at all times, in
    which.
    """
    step, n, m = scan.step, scan.size, scan.added

    def back(trace: Trace, later: Any, before: Any, weight: Any, *own: Any) -> Any:
        arguments, added = (own[:-1], [own[-1]]) if m else (own, [])
        weights = anp.concatenate([later[:n] + weight, *added]) if m else later[:n] + weight
        chosen = [i - 1 for i in (*moving, *same)]

        def total(state: Any, *some: Any) -> Any:
            full = list(arguments)
            for i, x in zip(chosen, some, strict=True):
                full[i] = x
            return anp.sum(step.function(trace, state, *full) * weights)

        _, slopes = gradient_of(total, before, *(arguments[i] for i in chosen))
        return anp.concatenate([anp.reshape(s, (-1,)) for s in slopes])

    state = n + sum(prod(step.shapes[i]) for i in moving)
    shapes = [(state,), (n,), (n,), *step.shapes[1:], *([(m,)] if m else [])]
    return OverRows(step.scope, back, shapes)


# -- `recurrences.repeat` --------------------------------------------------------------------------


def _repeated(
    step: Callable[..., Any], state: Sequence[Any], sequences: Sequence[Any], same: Sequence[Any]
) -> tuple[list[Any], Any]:
    """Write `recurrences.repeat` down."""
    unknown = [i for i, x in enumerate(same) if is_unknown(x)]

    def full(values: Sequence[Any]) -> list[Any]:
        found = dict(zip(unknown, values, strict=True))
        return [found.get(i, x) for i, x in enumerate(same)]

    values = [value_of(getval(x)) for x in (*state, *(s[0] for s in sequences), *same)]
    n, k = len(state), len(sequences)
    with np.errstate(all="ignore"):
        after, added = step(values[:n], values[n : n + k], values[n + k :])
    shapes, times = [np.shape(a) for a in after], len(sequences[0])
    ends = [0, *accumulate(map(prod, shapes))]

    def unpacked(flat: Any) -> list[Any]:
        cuts = zip(ends, ends[1:], shapes, strict=False)
        return [anp.reshape(flat[a:b], shape) for a, b, shape in cuts]

    def written(trace: Trace, flat: Any, *rest: Any) -> Any:
        after, added = step(unpacked(flat), list(rest[:k]), full(rest[k:]))
        return _packed([*after, *([] if added is None else [added])])

    elements = [np.shape(s)[1:] for s in sequences]
    moving = [same[i] for i in unknown]
    inputs = [(ends[-1],), *elements, *map(np.shape, moving)]
    scan = Scan(OverRows(Scope(Evaluator(), {}), written, inputs), times, k)
    start = [x + np.zeros(shape) for x, shape in zip(state, shapes, strict=True)]
    found = scanned(scan, _packed(start), *sequences, *moving)
    rows = anp.reshape(found[: times * scan.size], (times, scan.size))
    states = [
        anp.reshape(rows[:, a:b], (times, *shape))
        for a, b, shape in zip(ends, ends[1:], shapes, strict=False)
    ]
    if added is None:
        return states, None
    return states, anp.reshape(found[times * scan.size :], np.shape(added))


def _packed(arrays: Sequence[Any]) -> Any:
    """Put arrays one behind the other."""
    return anp.concatenate([anp.reshape(a, (-1,)) for a in arrays])


FORMULAS["repeat"] = _repeated
