"""Array operations that know the leading chain axis, with their derivative rules.

Everything else that a program runs is a primitive of autograd with autograd's own rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp
from autograd.extend import defvjp, defvjp_argnums, primitive

from probmodel import special
from probmodel.types import Array


@primitive
def insert_axes(x: Array, count: int) -> Array:
    """Put ``count`` axes of length 1 behind the chain axis: (c, n) -> (c, 1, n)."""
    return x.reshape(x.shape[:1] + (1,) * count + x.shape[1:])


@primitive
def remove_axes(x: Array, count: int) -> Array:
    """Undo `insert_axes`."""
    return x.reshape(x.shape[:1] + x.shape[1 + count :])


defvjp(insert_axes, lambda ans, x, count: lambda g: remove_axes(g, count), argnums=(0,))
defvjp(remove_axes, lambda ans, x, count: lambda g: insert_axes(g, count), argnums=(0,))


@primitive
def reshape_rows(x: Array, shape: tuple[int, ...]) -> Array:
    """Reshape each chain's value: (c, *old) -> (c, *shape)."""
    return x.reshape(x.shape[:1] + shape)


defvjp(
    reshape_rows,
    lambda ans, x, shape: lambda g: reshape_rows(g, anp.shape(x)[1:]),
    argnums=(0,),
)


@primitive
def linear_map(x: Array, matrix: Array) -> Array:
    """Multiply rows by a constant matrix: (c, k), (k, n) -> (c, n)."""
    return x @ matrix


defvjp(linear_map, lambda ans, x, matrix: lambda g: linear_map(g, matrix.T), argnums=(0,))


@primitive
def row_dot(a: Array, b: Array) -> Array:
    """Inner product of each chain's vectors: (c, n), (c, n) or (n,) -> (c,)."""
    return np.vecdot(a, b)


defvjp(
    row_dot,
    lambda ans, a, b: lambda g: g[:, None] * b,
    lambda ans, a, b: lambda g: g[:, None] * a,
)


@primitive
def sum_squares(x: Array) -> Array:
    """Sum of the squares of each chain's elements: (c, ...) -> (c,)."""
    rows = x.reshape(len(x), -1)
    return np.vecdot(rows, rows)


defvjp(
    sum_squares,
    lambda ans, x: lambda g: 2.0 * x * anp.reshape(g, anp.shape(g) + (1,) * (anp.ndim(x) - 1)),
)


@primitive
def product(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """Product of the elements along some axes; its derivative exists where elements are zero."""
    return np.prod(x, axis=axis, keepdims=keepdims)


def _product_vjp(ans: Array, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    shape = anp.shape(x)
    kept = tuple(1 if i in axis else n for i, n in enumerate(shape))
    rest = [i for i in range(len(shape)) if i not in axis]
    order = [*rest, *axis]
    size = int(np.prod([shape[i] for i in axis], dtype=int))

    def others() -> Any:
        """Product of the other elements, for each: that of a row with a one in its place."""
        rows = anp.reshape(anp.transpose(x, order), (*(shape[i] for i in rest), 1, size))
        others = special.where(np.eye(size, dtype=bool), 1.0, rows)
        found = product(others, (len(rest) + 1,), False)
        found = anp.reshape(found, tuple(shape[i] for i in order))
        return anp.transpose(found, np.argsort(order))

    return lambda g: anp.reshape(g, kept) * others()


defvjp(product, _product_vjp, argnums=(0,))


def repeat_for_chains(constant: Array, like: Any) -> Array:
    """Give a constant the chain axis of ``like``: (n,) -> (c, n). Nothing flows back."""
    return np.broadcast_to(constant, (anp.shape(like)[0], *np.shape(constant)))


@primitive
def spread_rows(x: Array, shape: tuple[int, ...]) -> Array:
    """Broadcast each chain's value: (c, *old) -> (c, *shape), old and new of equal rank."""
    return np.broadcast_to(x, x.shape[:1] + shape)


def _spread_vjp(ans: Array, x: Array, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    old = anp.shape(x)[1:]
    axes = tuple(i + 1 for i, (m, n) in enumerate(zip(old, shape, strict=True)) if m != n)
    return lambda g: anp.sum(g, axis=axes, keepdims=True) if axes else g


defvjp(spread_rows, _spread_vjp, argnums=(0,))


def formula(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make one primitive of a formula whose first argument is a NumPy-like namespace."""

    @primitive
    def run(*args: Any) -> Any:
        return function(np, *args)

    def rule(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        def of_active(active: Any) -> Any:
            full = list(args)
            for position, value in zip(argnums, active, strict=True):
                full[position] = value
            return function(anp, *full)

        return make_vjp(of_active, tuple(args[i] for i in argnums))[0]

    defvjp_argnums(run, rule)
    return run


class Gather:
    """``x[:, index]`` for a constant integer index of a vector, with a fast transpose.

    The transpose sums what was gathered from each element. Sorting the index once turns that
    into one segmented sum for all chains; `numpy.add.at` would take ten times as long.

    Parameters
    ----------
    index : integers of any shape, with values in 0 .. size - 1
    size : length of the vector
    """

    def __init__(self, index: Array, size: int) -> None:
        self.index = np.asarray(index)
        self.size = size
        flat = self.index.reshape(-1)
        self.order = np.argsort(flat, kind="stable")
        self.present, self.starts = np.unique(flat[self.order], return_index=True)

    def gather(self, x: Array) -> Array:
        """(c, size) -> (c, *index.shape)."""
        return np.take(x, self.index, axis=1)

    def scatter(self, g: Array) -> Array:
        """Transpose of `gather`: (c, *index.shape) -> (c, size)."""
        rows = np.take(g.reshape(len(g), -1), self.order, axis=1)
        out = np.zeros((len(g), self.size))
        out[:, self.present] = np.add.reduceat(rows, self.starts, axis=1)
        return out


@primitive
def gather(x: Array, plan: Gather) -> Array:
    """Gather elements of each chain's vector: (c, size) -> (c, *index.shape)."""
    return plan.gather(x)


@primitive
def scatter(g: Array, plan: Gather) -> Array:
    """Transpose of `gather`."""
    return plan.scatter(g)


defvjp(gather, lambda ans, x, plan: lambda g: scatter(g, plan), argnums=(0,))
defvjp(scatter, lambda ans, g, plan: lambda h: gather(h, plan), argnums=(0,))


@primitive
def basic_index(x: Array, index: tuple[Any, ...]) -> Array:
    """``x[:, *index]`` for slices, integers, None and Ellipsis: a view."""
    return x[index]


@primitive
def basic_place(g: Array, index: tuple[Any, ...], shape: tuple[int, ...]) -> Array:
    """Transpose of `basic_index`: zeros with ``g`` put in place."""
    out = np.zeros(g.shape[:1] + shape)
    out[index] = g
    return out


defvjp(
    basic_index,
    lambda ans, x, index: lambda g: basic_place(g, index, anp.shape(x)[1:]),
    argnums=(0,),
)
defvjp(basic_place, lambda ans, g, index, shape: lambda h: basic_index(h, index), argnums=(0,))


@primitive
def fancy_index(x: Array, index: tuple[Any, ...], source: int, target: int) -> Array:
    """``x[:, *index]`` with integer arrays; result axis ``source`` (chains) moved to the front."""
    return np.moveaxis(x[index], source, target)


@primitive
def fancy_place(
    g: Array, index: tuple[Any, ...], source: int, target: int, shape: tuple[int, ...]
) -> Array:
    """Transpose of `fancy_index`: equal indices add up."""
    out = np.zeros(g.shape[:1] + shape)
    np.add.at(out, index, np.moveaxis(g, target, source))
    return out


defvjp(
    fancy_index,
    lambda ans, x, index, source, target: (
        lambda g: fancy_place(g, index, source, target, anp.shape(x)[1:])
    ),
    argnums=(0,),
)
defvjp(
    fancy_place,
    lambda ans, g, index, source, target, shape: lambda h: fancy_index(h, index, source, target),
    argnums=(0,),
)
