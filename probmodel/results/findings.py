"""A finding: one reason not to trust a result as it stands, and what to do about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from probmodel.errors import SamplingWarning
from probmodel.types import Array

MOST_NAMED = 5  # quantities that one message names


@dataclass(frozen=True)
class Finding:
    """One reason not to trust a result as it stands.

    Attributes
    ----------
    kind : a short name that programs can look for, such as ``"rhat"``
    message : what was found and what to do, in plain words
    variables : the quantities concerned, worst first (at most five)
    """

    kind: str
    message: str
    variables: tuple[str, ...] = ()


def emit(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Warn of each finding once."""
    for finding in findings:
        warnings.warn(finding.message, SamplingWarning, stacklevel=stacklevel + 1)


def worst(scores: Array, flagged: Array, *, highest: bool) -> Array:
    """Positions of the worst of the flagged scores, worst first: at most five."""
    positions = np.flatnonzero(flagged)
    # Rounded, so that among equals the first comes first: parameters before what is derived.
    key = np.round(scores[positions], 3) * (-1.0 if highest else 1.0)
    return positions[np.argsort(key, kind="stable")][:MOST_NAMED]


def listed(names: Sequence[str], values: Sequence[str], total: int) -> str:
    """Join names and their numbers as in ``a 1.08, b 1.05 and 3 more``."""
    text = ", ".join(f"{name} {value}".rstrip() for name, value in zip(names, values, strict=True))
    return f"{text} and {total - len(names)} more" if total > len(names) else text


def share(part: float, whole: float) -> str:
    """Return a percentage that never rounds something to nothing."""
    percent = 100.0 * part / whole if whole else 0.0
    return "< 0.1 %" if 0.0 < percent < 0.1 else f"{percent:.1f} %"
