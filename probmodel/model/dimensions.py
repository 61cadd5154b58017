"""Sizes and labels of a model's dims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.errors import DataError, ShapeError, nearest
from probmodel.model.containers import Labels, as_dates, same_labels
from probmodel.model.declarations import Declaration
from probmodel.types import Array


class Dimensions:
    """What is known of each dim: its size, where that came from, and its labels."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.coords: dict[str, Array] = {}
        self._source: dict[str, str] = {}
        self._given: dict[str, tuple[str, Array]] = {}  # the first labels that came with data

    def label(self, coords: Mapping[str, Any], declared: Iterable[str]) -> None:
        """Take labels that the user passed as ``coords``.

        Raises a `DataError` if a dim is not declared in the model, or its labels repeat or are no
        labels.
        """
        if not isinstance(coords, Mapping):
            raise DataError(
                f"coords must be a dict of labels by dim, such as {{'school': ['A', 'B']}}; got "
                f"{type(coords).__name__}.",
                name="coords",
            )
        known = set(declared)
        for dim, given in coords.items():
            if dim not in known:
                raise DataError(
                    f"coords has the dim {dim!r}, which the model does not declare."
                    f"{nearest(dim, known)}",
                    dim=dim,
                )
            labels = _read_labels(dim, given)
            if len(np.unique(labels)) < len(labels):
                raise DataError(f"coords of dim {dim!r} repeat; labels must differ.", dim=dim)
            self._set(dim, len(labels), "coords")
            self.coords[dim] = labels

    def measure(
        self, declaration: Declaration, shape: tuple[int, ...], labels: Mapping[int, Labels]
    ) -> None:
        """Take sizes and labels from the data of a declaration.

        Data are paired by position, so labels that come with them must agree, also those that name
        nothing in the result, such as dates that repeat. Raises a `ShapeError` if two data disagree
        on the size of a dim, and a `DataError` if they disagree on its labels.
        """
        if declaration.dims is None:
            return
        for axis, (dim, size) in enumerate(zip(declaration.dims, shape, strict=True)):
            self._set(dim, size, str(declaration.name), declaration)
            if axis in labels:
                self._agree(dim, labels[axis], declaration)

    def _set(
        self, dim: str, size: int, source: str, declaration: Declaration | None = None
    ) -> None:
        known = self.sizes.setdefault(dim, size)
        first = self._source.setdefault(dim, source)
        if known != size:
            raise ShapeError(
                f"{source!r} has {size} along dim {dim!r}, but {first!r} has {known}. "
                "Data that share a dim must have the same length along it.",
                location=None if declaration is None else declaration.location,
                dim=dim,
                sizes={first: known, source: size},
            )

    def measure_axes(self, name: str, dims: Sequence[str], shape: Sequence[int]) -> None:
        """Take sizes from a variable whose shape is known.

        Raises a `ShapeError` if another variable, or its labels, have another size along a dim.
        """
        for dim, size in zip(dims, shape, strict=True):
            self._set(dim, size, name)

    def complete(self, declaration: Declaration, shape: tuple[int, ...]) -> None:
        """Take the sizes of dims that nothing else has given one, from what is computed."""
        dims = declaration.dims or ()
        if len(dims) == len(shape):
            for dim, size in zip(dims, shape, strict=True):
                if dim not in self.sizes:
                    self._set(dim, size, str(declaration.name), declaration)

    def complete_last(
        self, declaration: Declaration, sizes: Callable[[], Sequence[int | None]]
    ) -> None:
        """Take sizes of the last axes, where they are not None, for dims that have none yet."""
        dims = declaration.dims or ()
        if all(dim in self.sizes for dim in dims):
            return
        for dim, size in zip(reversed(dims), reversed(sizes()), strict=False):
            if size is not None and dim not in self.sizes:
                self._set(dim, size, str(declaration.name), declaration)

    def complete_square(self, declaration: Declaration) -> None:
        """Take the size of one of the last two dims, those of a square matrix, from the other."""
        last = (declaration.dims or ())[-2:]
        for dim, other in zip(last, reversed(last), strict=True):
            if dim not in self.sizes and other in self.sizes:
                self._set(dim, self.sizes[other], str(declaration.name), declaration)

    def compare(
        self, declaration: Declaration, labels: Mapping[int, Labels], dims: Sequence[str | None]
    ) -> None:
        """Compare labels of data without dims with those along the dims they are paired with.

        Raises a `DataError` if labels of the same number of elements differ.
        """
        for axis, dim in enumerate(dims):
            if dim not in self._given or axis not in labels:
                continue
            (other, known), own = self._given[dim], labels[axis].values
            if self.sizes[dim] == len(own) and not same_labels(known, own):
                raise _disagreement(dim, declaration, own, other, known)

    def _agree(self, dim: str, labels: Labels, declaration: Declaration) -> None:
        """Compare labels with those of the data before, and with the coords if they are names."""
        others = [self._given.setdefault(dim, (str(declaration.name), labels.values))]
        if labels.named:
            others.append(("coords", self.coords.setdefault(dim, labels.values)))
        for other, known in others:
            if not same_labels(known, labels.values):
                raise _disagreement(dim, declaration, labels.values, other, known)

    def labels(self, dim: str | None) -> Array | None:
        """Return the labels along a dim, those that name nothing in the result among them."""
        if dim is None or (dim not in self.coords and dim not in self._given):
            return None
        return self.coords[dim] if dim in self.coords else self._given[dim][1]

    def shape(self, declaration: Declaration) -> tuple[int, ...] | None:
        """Return the shape that a declaration's dims give it, None without dims.

        Raises a `ShapeError` if a dim has no size: no datum carries it, and coords do not name it.
        """
        if declaration.dims is None:
            return None
        for dim in declaration.dims:
            if dim not in self.sizes:
                raise declaration.shape_error(
                    f"{declaration.title} has the dim {dim!r}, whose size is not known: no datum "
                    f"carries it.{nearest(dim, self.sizes)} Or pass coords={{{dim!r}: labels}}.",
                    dim=dim,
                    needs=[declaration.name] if declaration.kind == "observed" else [],
                )
        return tuple(self.sizes[dim] for dim in declaration.dims)

    def names(self, declaration: Declaration, shape: tuple[int, ...]) -> tuple[str, ...]:
        """Return one dim name per axis of a saved quantity, made up where none was declared.

        Raises a `ShapeError` if declared dims do not fit the shape.
        """
        declared = self.shape(declaration)
        if declared is None and declaration.axes is not None:
            return declaration.axes
        if declared is None:
            return tuple(f"{declaration.name}_dim_{i}" for i in range(len(shape)))
        if declared != shape:
            raise declaration.shape_error(
                f"{declaration.title} has dims {', '.join(declaration.dims or ())} = {declared}, "
                f"but its expression has shape {shape}.",
                expected=declared,
                shape=shape,
            )
        return tuple(declaration.dims or ())


def _disagreement(
    dim: str, declaration: Declaration, labels: Array, other: str, known: Array
) -> DataError:
    source = str(declaration.name)
    permuted = len(labels) == len(known) and same_labels(np.sort(labels), np.sort(known))
    how = "are the same in another order" if permuted else "differ"
    first = next(
        i for i in range(len(labels)) if not same_labels(labels[i : i + 1], known[i : i + 1])
    )
    what, example = "the coords", ""
    if other != "coords":
        what, example = repr(other), f", as {source}.reindex({other}.index) does in pandas"
    return declaration.data_error(
        f"the labels of dim {dim!r} in {source!r} and in {what} {how}: {labels[first]} and "
        f"{known[first]} at [{first}]. Data are paired by position: bring both to the same labels "
        f"in the same order{example}; or pass values without labels, such as {source}.to_numpy(), "
        "if they belong together as they stand.",
        dim=dim,
        name=declaration.name,
        labels=labels,
        expected=known,
    )


def _read_labels(dim: str, given: Any) -> Array:
    """Return the labels of a dim as an array, whose elements can be told apart."""
    labels = as_dates(np.array(given if hasattr(given, "__array__") else _listed(dim, given)))
    if labels.ndim != 1:
        raise DataError(
            f"coords of dim {dim!r} have {labels.ndim} axes; expected a list of labels, such as "
            "text or numbers.",
            dim=dim,
        )
    if any(label is None or label != label for label in labels.tolist()) or _has_nat(labels):
        raise DataError(
            f"coords of dim {dim!r} have labels that are None or NaN, which stand for nothing. "
            "Give each element a label.",
            dim=dim,
        )
    if labels.dtype.kind == "O":
        try:
            np.unique(labels)
        except TypeError as error:
            kinds = sorted({type(label).__name__ for label in labels})
            raise DataError(
                f"coords of dim {dim!r} have labels that cannot be compared: {', '.join(kinds)}. "
                "Give labels of one type.",
                dim=dim,
            ) from error
    return labels


def _listed(dim: str, given: Any) -> list[Any]:
    try:
        if isinstance(given, (str, bytes)):
            raise TypeError("text is one label, no list of letters")
        return list(given)
    except TypeError as error:
        raise DataError(
            f"coords of dim {dim!r} must be a list of labels; got {type(given).__name__}.", dim=dim
        ) from error


def _has_nat(labels: Array) -> bool:
    return labels.dtype.kind in "mM" and bool(np.isnat(labels).any())
