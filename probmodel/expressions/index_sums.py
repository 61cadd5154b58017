"""Einstein's sums over indices, written with products of matrices where these do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.expressions.compositions import Shape

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(shape: Shape, *operands: Any, subscripts: str) -> Any:
    """Multiply arrays and sum over indices, from the left to the right."""
    ranks = [len(shape(x)) for x in operands]
    terms, result = _letters(subscripts.replace(" ", ""), ranks)
    arrays = [_diagonals(x, term) for x, term in zip(operands, terms, strict=True)]
    (whole, term), *rest = arrays
    for i, (x, own) in enumerate(rest):
        later = {*result, *(letter for _, other in rest[i + 1 :] for letter in other)}
        whole, term = _product(
            _summed(whole, term, later | {*own}), _summed(x, own, later | {*term}), later
        )
    whole, term = _summed(whole, term, set(result))
    order = [term.index(letter) for letter in result]
    if order == sorted(order):
        return whole
    return whole.T if len(order) == 2 else np.transpose(whole, order)


def _letters(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the letters of the axes of each operand, and of the result; no ellipsis is left."""
    inputs, arrow, result = subscripts.partition("->")
    terms = inputs.split(",")
    free = [letter for letter in _LETTERS if letter not in subscripts]
    hidden = [
        rank - len(term.replace("...", "")) if "..." in term else 0
        for term, rank in zip(terms, ranks, strict=True)
    ]
    dots = "".join(free[: max(hidden)])
    terms = [
        term.replace("...", dots[len(dots) - n :]) for term, n in zip(terms, hidden, strict=True)
    ]
    if arrow:
        return terms, result.replace("...", dots)
    every = "".join(terms)
    named = (letter for letter in {*every} - {*dots} if every.count(letter) == 1)
    return terms, dots + "".join(sorted(named))


def _diagonals(x: Any, term: str) -> tuple[Any, str]:
    """Take the diagonal of axes that have the same letter."""
    for letter in sorted({*term}):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            x = np.diagonal(x, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    return x, term


def _summed(x: Any, term: str, kept: set[str]) -> tuple[Any, str]:
    """Sum over the axes whose letters nothing else needs."""
    axes = tuple(i for i, letter in enumerate(term) if letter not in kept)
    if not axes:
        return x, term
    return np.sum(x, axis=axes), "".join(letter for letter in term if letter in kept)


def _product(one: tuple[Any, str], other: tuple[Any, str], later: set[str]) -> tuple[Any, str]:
    """Multiply two arrays, and sum over the letters of both that nothing later needs."""
    (a, left), (b, right) = one, other
    both = [letter for letter in left if letter in right]
    summed = [letter for letter in both if letter not in later]
    rows = "".join(letter for letter in left if letter not in right)
    columns = "".join(letter for letter in right if letter not in left)
    if len(summed) == len(both):
        axes = [left.index(s) for s in summed], [right.index(s) for s in summed]
        return np.tensordot(a, b, axes), rows + columns
    batch = "".join(letter for letter in both if letter in later)
    if len(summed) == 1 and len(rows) < 2 and len(columns) < 2:
        x = _spread(a, left, batch + (rows or "1") + summed[0])
        y = _spread(b, right, batch + summed[0] + (columns or "1"))
        gone = tuple(i for i, n in ((-2, rows), (-1, columns)) if not n)
        return (np.squeeze(x @ y, axis=gone) if gone else x @ y), batch + rows + columns
    term = batch + rows + columns + "".join(summed)
    product = _spread(a, left, term) * _spread(b, right, term)
    return _summed(product, term, later)


def _spread(x: Any, term: str, wanted: str) -> Any:
    """Put axes into an order, with axes of length one for the letters that are missing."""
    order = [term.index(letter) for letter in wanted if letter in term]
    x = x if order == sorted(order) else np.transpose(x, order)
    index = tuple(slice(None) if letter in term else None for letter in wanted)
    return x if None not in index else x[index]
