"""Data as a program declares them: shapes, kinds, bounds and constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from probmodel.errors import DataError
from probmodel.model.containers import unpack
from probmodel.model.declarations import MISSING_IN_PROGRAM
from probmodel.stan.complaints import Sources, complaint
from probmodel.stan.constrained import CONSTRAINED
from probmodel.stan.stan_values import Tuple, Value, is_complex_type
from probmodel.stan.syntax.nodes import Place, Type
from probmodel.types import Array

# What is stored of a type whose name is not that of a kind.
_KINDS = {
    "int": "int",
    "real": "real",
    "complex": "complex",
    "row_vector": "row_vector",
    "complex_vector": "vector",
    "complex_row_vector": "row_vector",
    "complex_matrix": "matrix",
    "vector": "vector",
    "simplex": "vector",
    "unit_vector": "vector",
    "sum_to_zero_vector": "vector",
    "ordered": "vector",
    "positive_ordered": "vector",
}
_SQUARE = ("cov_matrix", "corr_matrix", "cholesky_factor_cov", "cholesky_factor_corr")
_LARGEST = 2.0**63


def stored_kind(kind: str) -> str:
    """Return the kind of a value (`Value.kind`) of a type."""
    return _KINDS.get(kind, "matrix")


def declared_shape(type: Type, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a value of a type, no tuple: axes of the array, then its own.

    ``sizes`` are what the declaration's sizes are, those of the array first.
    """
    own = tuple(sizes[len(type.array) :])
    twice = type.kind in _SQUARE and len(own) == 1
    return (*sizes[: len(type.array)], *own, *own[:twice])


def declared_text(type: Type, sizes: Sequence[int]) -> str:
    """Return a type with its sizes, as in ``array[3] vector[2]``."""
    n = len(type.array)
    array = f"array[{', '.join(map(str, sizes[:n]))}] " if n else ""
    own = f"[{', '.join(map(str, sizes[n:]))}]" if len(sizes) > n else ""
    return f"{array}{type.kind}{own}"


def read_declared(
    type: Type,
    sizes: Sequence[Any],
    given: Any,
    name: str,
    place: Place | None = None,
    sources: Sources | None = None,
) -> Any:
    """Return what is given for a declaration as a value. Bounds are for `checked`.

    Parameters
    ----------
    type : of the declaration
    sizes : whole numbers, those of the array first; of a tuple, after these the sizes of each
        element, as a sequence of this kind
    given : a number, nested lists, an array, a pandas or xarray object, a tuple or, as Stan's JSON
        has it, an object with the names ``1``, ``2`` and so on. A complex number may be a pair
    name : of the variable
    place, sources : of the declaration, for messages

    Returns
    -------
    A `Value`, or a `Tuple`; an array of tuples becomes a tuple of arrays

    Raises
    ------
    DataError
        If the shape is another one, or an element is no number, or not whole where it has to be.
    """
    return _Reader(name, place, sources or {}).read(type, sizes, given, name)


class _Reader:
    """What belongs to one declaration."""

    def __init__(self, name: str, place: Place | None, sources: Sources) -> None:
        self.name, self.place, self.sources = name, place, sources

    def refuse(self, message: str, **values: Any) -> NoReturn:
        """Raise a `DataError` that points at the declaration."""
        raise complaint(message, self.place, self.sources, DataError, name=self.name, **values)

    def read(self, type: Type, sizes: Sequence[Any], given: Any, name: str) -> Any:
        """Return a value, or a tuple of them."""
        if type.kind == "tuple":
            return self._tuple(type, sizes, given, name)
        shape, what = declared_shape(type, sizes), declared_text(type, sizes)
        found = self._numbers(given, name, what)
        if is_complex_type(type.kind):
            found = self._complex(found, shape)
        elif found.dtype.kind == "c":
            self.refuse(f"{name} is declared as {what}; it is given as complex numbers.")
        found = self._fitted(found, shape, name, what)
        if type.kind == "int":
            found = self._whole(found, name, what)
        elif found.dtype.kind != "c":
            found = found.astype(float)
        kept = found if shape else found.item()
        positions = np.arange(found.size).reshape(shape)[()]
        source = (name, positions) if name == self.name else None
        return Value(stored_kind(type.kind), kept, source=source)

    def _numbers(self, given: Any, name: str, what: str) -> Array:
        """Return an array of numbers in whatever shape."""
        try:
            found = np.asarray(unpack(given, None).values)
        except ValueError:
            self.refuse(
                f"{name} is declared as {what}; it is given as lists that differ in length."
            )
        if found.dtype.kind in "biufc":
            return found.astype(np.int64) if found.dtype.kind == "b" else found
        wrong = [i for i, item in np.ndenumerate(found) if not _is_number(item)]
        if wrong:
            shown = repr(found[wrong[0]])[:40]
            self.refuse(f"{element(name, wrong[0])} must be a number; it is given as {shown}.")
        return found.astype(complex if any(map(np.iscomplexobj, found.flat)) else float)

    def _complex(self, found: Array, shape: tuple[int, ...]) -> Array:
        """Return pairs as complex numbers."""
        if found.dtype.kind != "c" and found.shape == (*shape, 2):
            return np.asarray(found[..., 0] + 1j * found[..., 1])
        return found.astype(complex)

    def _fitted(self, found: Array, shape: tuple[int, ...], name: str, what: str) -> Array:
        """Check the shape; what is empty has any, and a number may stand for an array of one."""
        if found.shape == shape:
            return found
        both_empty = found.size == 0 and 0 in shape
        if both_empty or (found.ndim == 0 and shape == (1,) * len(shape)):
            return found.reshape(shape)
        hint = " Is it transposed?" if found.ndim > 1 and found.T.shape == shape else ""
        self.refuse(
            f"{name} is declared as {what}, which is {_shape_text(shape)}; it is given as "
            f"{_shape_text(found.shape)}.{hint}",
            expected=shape,
            given=found.shape,
        )

    def _whole(self, found: Array, name: str, what: str) -> Array:
        """Return whole numbers as integers."""
        if found.dtype.kind == "i" or (found.dtype.kind == "u" and (found < _LARGEST).all()):
            return found.astype(np.int64)
        good = np.isfinite(found) & (found == np.floor(found)) & (np.abs(found) < _LARGEST)
        if not good.all():
            index = _first(~good)
            self.refuse(
                f"{element(name, index)} is {found[index]:.9g}; {name} is declared as {what}, "
                "which takes whole numbers.",
                given=found[index],
            )
        return found.astype(np.int64)

    def _tuple(self, type: Type, sizes: Sequence[Any], given: Any, name: str) -> Tuple:
        """Return the elements of a tuple, or the arrays of these."""
        n = len(type.array)
        items = []
        for k, (item, own) in enumerate(zip(type.items, sizes[n:], strict=True)):
            part = self._component(given, sizes[:n], k, len(type.items), name)
            whole = replace(item, array=(*type.array, *item.array))
            items.append(self.read(whole, (*sizes[:n], *own), part, f"{name}.{k + 1}"))
        return Tuple(items)

    def _component(self, given: Any, axes: Sequence[int], k: int, size: int, name: str) -> Any:
        """Return one element of a tuple, or nested lists of these."""
        if axes:
            if not isinstance(given, list | tuple) or len(given) != axes[0]:
                shown = len(given) if isinstance(given, list | tuple) else "none"
                self.refuse(f"{name} must be a list of {axes[0]} tuples; {shown} came.")
            return [
                self._component(each, axes[1:], k, size, f"{name}[{i + 1}]")
                for i, each in enumerate(given)
            ]
        if isinstance(given, Mapping) and set(given) == {str(i + 1) for i in range(size)}:
            return given[str(k + 1)]
        if isinstance(given, list | tuple) and len(given) == size:
            return given[k]
        self.refuse(
            f"{name} must be a tuple of {size} elements, or an object with the names 1 to {size}."
        )


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float | complex | np.number) and not isinstance(item, str)


def _shape_text(shape: tuple[int, ...]) -> str:
    if not shape:
        return "a single number"
    if len(shape) == 1:
        return f"{shape[0]} number{'' if shape[0] == 1 else 's'} in a list"
    return f"{' by '.join(map(str, shape))} numbers"


def element(name: str, index: Sequence[int]) -> str:
    """Return the text of an element, whose index counts from 0, as Stan has it: ``x[1, 2]``."""
    return f"{name}[{', '.join(str(i + 1) for i in index)}]" if len(index) else name


def _first(where: Array) -> tuple[int, ...]:
    """Return the index of the first element that is true."""
    return tuple(int(i) for i in np.argwhere(where)[0])


# -- bounds and constraints ------------------------------------------------------------------------


def checked(
    value: Any,
    type: Type,
    bounds: Any,
    name: str,
    place: Place | None = None,
    sources: Sources | None = None,
) -> None:
    """Raise an error for a value that its declaration does not allow.

    Parameters
    ----------
    value : what is declared; elements that parameters decide are not looked at
    type : of the declaration
    bounds : by ``lower`` and ``upper``, values, numbers or arrays; others are not looked at. Of a
        tuple, those of each element, in order
    name : of the variable
    place, sources : of the declaration, for messages

    Raises
    ------
    DataError
        With the first element that is wrong, whose index counts from 1, and the bound.
    """
    if isinstance(value, Tuple):
        for k, (each, item) in enumerate(zip(value.items, type.items, strict=True)):
            whole = replace(item, array=(*type.array, *item.array))
            own = bounds[k] if bounds else {}
            checked(each, whole, own, f"{name}.{k + 1}", place, sources)
        return
    if value.traced:
        return
    message = ""
    for side in ("lower", "upper"):
        if not message and (bound := (bounds or {}).get(side)) is not None:
            message = _beyond(value, bound, side, name)
    if not message and type.kind in CONSTRAINED:
        message = _unfit(value, type.kind, name)
    if message:
        raise complaint(message, place, sources or {}, DataError, name=name)


def _beyond(value: Value, bound: Any, side: str, name: str) -> str:
    """Say which element is beyond a bound; empty if none is."""
    if isinstance(bound, Value):
        if bound.traced:
            return ""
        limits = np.asarray(bound.array)
        if bound.laned:  # axes of the value that the bound lacks
            lanes, *own = limits.shape
            limits = limits.reshape(lanes, *(1,) * (value.rank - len(own)), *own)
    else:
        limits = np.asarray(bound)
    array, limits = np.broadcast_arrays(np.asarray(value.array), limits)
    bad = ~(array >= limits) if side == "lower" else ~(array <= limits)
    if not bad.any():
        return ""
    index = _first(bad)
    where = element(name, index[value.laned :])
    hint = f" Remove it, {MISSING_IN_PROGRAM}" if np.isnan(array[index]) else ""
    return f"{where} is {_text(array[index])}; its {side} bound is {_text(limits[index])}.{hint}"


def _text(number: Any) -> str:
    return str(number) if np.asarray(number).dtype.kind in "iu" else f"{number:.9g}"


def _unfit(value: Value, kind: str, name: str) -> str:
    """Say which vector or matrix is not of its kind, and why; empty if all are."""
    entry, array = CONSTRAINED[kind], np.asarray(value.array)
    if not array.size:
        return ""
    good = np.asarray(entry.check(array))
    if good.all():
        return ""
    index = _first(~good)
    why = entry.fault(array[index])
    where = element(name, index[value.laned :])
    return f"{where} is declared as {kind}, and must be {entry.what}; {why}."
