"""Times that labels stand for, and the calendars in which they follow one another step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from probmodel.model.containers import as_labels
from probmodel.types import Array

# Steps are steps of one size if all but a tenth are, or all but one of at least five.
_OTHERS, _FEW = 0.1, 5
_LONG = 1.5  # times the usual step: from there on at least one label is left out
_LONGEST_CLOSING = 6  # steps of business days: five days may be holidays, a week with its weekends
_RTOL = 1e-6

# Dates as text: what pandas writes for periods and for times with a time zone, and people in files.
_DATE = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?:/\d{4}-\d\d-\d\d)?"
    r"(?:[ T](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?P<offset>Z|[+-]\d\d:\d\d)?)?"
)
_MONTH = re.compile(r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])")
_QUARTER = re.compile(r"(?P<year>\d{4})-?Q(?P<quarter>[1-4])")
_YEAR = re.compile(r"(?:1[5-9]|2[01])\d\d")


class Times(NamedTuple):
    """What labels of an axis say of time.

    Attributes
    ----------
    instants : numbers that grow with time
    dates : days and times of day by the clock of the place, datetime64; None where labels are
        numbers or durations
    """

    instants: Array
    dates: Array | None = None


class Calendar(NamedTuple):
    """One way to count steps in which labels follow one another regularly.

    Attributes
    ----------
    unit : in which steps are counted: instants, or days, business days or months
    steps : from each label to the next
    gaps : of each step, whether it leaves out labels
    """

    unit: str
    steps: Array
    gaps: Array

    def goes_on(self, times: Times, new: Array) -> bool:
        """Whether steps between other labels are like the usual ones of this calendar.

        ``new`` says which of the steps are asked about.
        """
        steps = dict(_counted(times)).get(self.unit)
        if steps is None:
            return False
        usual = self.steps[~self.gaps]
        slack = _slack(self.unit, times, np.median(usual))
        inside = (steps >= usual.min() - slack) & (steps <= usual.max() + slack)
        return bool(inside[new].all())


def read_times(labels: Array) -> Times | None:
    """Return the times that labels are; None if they are names, or some are missing.

    Numbers, durations and dates are times. So is text, if all of it is written as dates are:
    2024-01-31, with a time of day or without, 2024-01, 2024Q1, and years from 1500 to 2199.
    """
    labels = as_labels(labels)
    kind = labels.dtype.kind
    if kind in "US":
        return _dates_in_text([str(label) for label in labels])
    if kind in "iuf":
        numbers = labels.astype(float)
        return Times(numbers) if np.isfinite(numbers).all() else None
    if kind not in "mM" or np.isnat(labels).any():
        return None
    exact = labels.astype(f"{'timedelta' if kind == 'm' else 'datetime'}64[us]")
    return Times(exact.astype(np.int64), exact if kind == "M" else None)


def calendars(times: Times) -> list[Calendar]:
    """Return the calendars in which labels in order follow one another regularly but for a few.

    There may be several, as for Mondays, which are seven days and five business days apart; or
    none, for times that are irregular by design.
    """
    found = []
    for unit, steps in _counted(times):
        usual = np.median(steps) if steps.size else 0.0
        others = int(np.sum(np.abs(steps - usual) > _slack(unit, times, usual)))
        few = max(_OTHERS * steps.size, 1.0 if steps.size >= _FEW else 0.0)
        if usual > 0.0 and others <= few:
            closing = unit == "business days" and usual == 1.0
            gaps = steps > _LONGEST_CLOSING if closing else steps >= _LONG * usual
            found.append(Calendar(unit, steps, gaps))
    return found


def _counted(times: Times) -> Iterator[tuple[str, Array]]:
    """Yield the steps from label to label, in each unit that may make them equal."""
    yield "instants", np.diff(times.instants).astype(float)
    if times.dates is None:
        return
    days = times.dates.astype("datetime64[D]")
    yield "days", np.diff(days).astype(float)
    if np.is_busday(days).all():
        yield "business days", np.busday_count(days[:-1], days[1:]).astype(float)
    yield "months", np.diff(times.dates.astype("datetime64[M]")).astype(float)


def _slack(unit: str, times: Times, usual: float) -> float:
    """Return by how much steps differ that are the same but for rounding."""
    if unit != "instants" or times.instants.dtype.kind != "f" or not times.instants.size:
        return 0.0
    return float(_RTOL * usual + 4.0 * np.spacing(np.max(np.abs(times.instants))))


def _dates_in_text(labels: list[str]) -> Times | None:
    """Read text as dates, if all of it is."""
    for read in (_day_and_clock, _month, _quarter, _year):
        found = []
        for label in labels:
            parsed = read(label)
            if parsed is None:
                break
            found.append(parsed)
        if found and len(found) == len(labels):
            return _parsed(found)
    return None


def _parsed(found: list[tuple[str, int]]) -> Times | None:
    """Make times of dates and of what their clocks are ahead, in minutes."""
    try:
        dates = np.array([date for date, _ in found], dtype="datetime64[us]")
    except ValueError:  # no such day, as 2024-02-30
        return None
    ahead = np.array([minutes for _, minutes in found]).astype("timedelta64[m]")
    return Times((dates - ahead).astype(np.int64), dates)


def _day_and_clock(label: str) -> tuple[str, int] | None:
    found = _DATE.fullmatch(label)
    if found is None:
        return None
    date, clock, offset = found["date"], found["clock"], found["offset"]
    text = f"{date}T{clock}" if clock else date
    if offset in (None, "Z"):
        return text, 0
    minutes = 60 * int(offset[1:3]) + int(offset[4:])
    return text, -minutes if offset[0] == "-" else minutes


def _month(label: str) -> tuple[str, int] | None:
    return (label, 0) if _MONTH.fullmatch(label) else None


def _quarter(label: str) -> tuple[str, int] | None:
    found = _QUARTER.fullmatch(label)
    return (f"{found['year']}-{3 * int(found['quarter']) - 2:02}", 0) if found else None


def _year(label: str) -> tuple[str, int] | None:
    return (label, 0) if _YEAR.fullmatch(label) else None
