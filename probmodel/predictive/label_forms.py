"""New labels that are labels of the fit in another form, ``2024-01-01`` and ``2024-01``.

Such elements are taken as new ones, and what the fit knows of them is not looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from probmodel.model.binding import Binding
from probmodel.predictive.fits import Fit
from probmodel.predictive.matching import find_labels, kind_of
from probmodel.predictive.models import dims_of
from probmodel.results.draws import plain_labels
from probmodel.types import Array

_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?([ t]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


def other_forms(binding: Binding, fit: Fit, filled: Sequence[str]) -> Iterator[str]:
    """Yield a warning for each dim whose new labels are known ones in another form.

    ``filled`` are parameters of which the fit does not know all elements.
    """
    told = set[str]()
    for name in (n for n in filled if n in binding.declarations):
        values = fit.result["posterior"][name]
        for own, dim in zip(values.dims[2:], dims_of(binding, name), strict=False):
            labels = binding.dimensions.coords.get(dim)
            if labels is None or own not in values.coords or dim in told:
                continue
            new, known = alike(labels, values.coords[own].values)
            if new:
                told.add(dim)
                yield taken_as_new(dim, new, known)


def taken_as_new(dim: str, new: Sequence[str], known: Sequence[str]) -> str:
    """Return the warning of new labels that look like these known ones."""
    several = f", and so {len(new) - 1} more" if len(new) > 1 else ""
    return (
        f"predict: along {dim!r} {new[0]!r} is taken as new, though it looks like "
        f"{known[0]!r} of the fit{several}. Of new elements the fit knows nothing. If "
        "they are the same, give the labels in the form that they have in the fit."
    )


def alike(labels: Array, known: Array) -> tuple[list[str], list[str]]:
    """Return labels that are not known, and the known ones, not among them, that look the same.

    Where two of either kind look alike, their form tells them apart, and nothing is said.
    """
    labels, known = plain_labels(labels), plain_labels(known)
    if kind_of(labels) != "text" or kind_of(known) != "text":
        return [], []
    new = labels[find_labels(labels, known) < 0]
    left = known[find_labels(known, labels) < 0]
    forms = Counter(_form(label) for label in known), Counter(_form(label) for label in labels)
    by_form = {_form(label): str(label) for label in left}
    found = [
        (str(label), by_form[form])
        for label in new
        if (form := _form(label)) in by_form and all(counts[form] == 1 for counts in forms)
    ]
    return [one for one, _ in found], [other for _, other in found]


def _form(label: Any) -> Any:
    """Return what stays of a label without case, spaces, leading zeros and midnights."""
    text = " ".join(re.split(r"[\s_-]+", str(label).strip().casefold())).strip()
    plain = str(label).strip().casefold()
    if _DATE.fullmatch(plain):
        try:
            return np.datetime64(plain.upper(), "ns")
        except ValueError:  # the 31st of a shorter month
            return text
    try:
        return float(plain)
    except ValueError:
        return text
