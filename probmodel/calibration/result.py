"""What simulation-based calibration found: ranks, p-values and a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from probmodel.calibration.uniformity import fewest, p_values
from probmodel.html_tables import table
from probmodel.types import Array

LEVEL = 0.01
_SHOWN = 30  # quantities that str() shows
_TOO_FEW = "too few"
_CLEAR = 3.0  # standard errors from which a verdict says what is wrong


@dataclass(frozen=True)
class Calibration:
    """Ranks of true values among posterior draws, and whether they are uniform.

    Attributes
    ----------
    name : the model's name
    asked : simulations that were asked for
    n : simulations whose true values were ranked
    L : draws that each was ranked among
    ranks : name -> (n, *shape), whole numbers from 0 to L
    labels : name -> names of the elements, in C order; empty for those that never vary
    failures : how often what happened in the simulations that could not be ranked
    warnings : how many of the ranked simulations had each kind of warning
    warned : how many of them had any
    interrupted : whether Ctrl-C ended it early
    seed : gives the same ranks again
    """

    name: str
    asked: int
    n: int
    L: int
    ranks: dict[str, Array]
    labels: dict[str, list[str]]
    failures: Mapping[str, int] = field(default_factory=Counter)
    warnings: Mapping[str, int] = field(default_factory=Counter)
    warned: int = 0
    interrupted: bool = False
    seed: Any = None

    @cached_property
    def series(self) -> dict[str, Array]:
        """Ranks of each scalar quantity that varies: (n,) each, by name such as ``theta[2]``."""
        found: dict[str, Array] = {}
        for name, ranks in self.ranks.items():
            columns = ranks.reshape(self.n, -1).T
            found.update(
                (label, column)
                for label, column in zip(self.labels[name], columns, strict=True)
                if label
            )
        return found

    @cached_property
    def p_values(self) -> dict[str, float]:
        """P-value of uniform ranks of each quantity, by the simultaneous test of their ECDF."""
        stacked = np.array(list(self.series.values())).reshape(len(self.series), self.n)
        return dict(zip(self.series, p_values(stacked, self.L).tolist(), strict=True))

    @property
    def level(self) -> float:
        """P-value below which a quantity is refuted: 0.01, shared out among all quantities."""
        return LEVEL / max(len(self.series), 1)

    @property
    def ok(self) -> bool:
        """Whether no quantity is refuted.

        Ranks of correct inference are refuted, in any of the quantities, with a probability of at
        most 0.01 (Bonferroni). Simulations that failed do not count; look at `failures`. Where
        there are fewer than `fewest`, it tells nothing that they are not refuted.
        """
        return all(p > self.level for p in self.p_values.values())

    @cached_property
    def fewest(self) -> int:
        """Simulations from which on the test finds posteriors that are far too wide.

        Then every true value is in the middle of its draws. Fewer simulations that refute nothing
        tell nothing.
        """
        return fewest(self.L, self.level)

    def refuted(self, quantity: str) -> bool:
        """Whether the ranks of a quantity are not uniform."""
        return self.p_values[quantity] <= self.level

    def verdict(self, quantity: str) -> str:
        """Return ``"ok"``, or what the ranks of a quantity say against the posterior.

        It is ``"too few"`` where nothing is refuted by fewer simulations than `fewest`.
        """
        if not self.refuted(quantity):
            return "ok" if self.n >= self.fewest else _TOO_FEW
        mean, spread = self._moments(quantity)
        # Mean and mean square of a uniform variable on (-1, 1) have variances 1/3 and 4/45.
        shift = (2.0 * mean - 1.0) * np.sqrt(3.0 * self.n)
        width = (spread**2 - 1.0) / 3.0 * np.sqrt(45.0 / 4.0 * self.n)
        if max(abs(shift), abs(width)) < _CLEAR:
            return "NOT UNIFORM"
        if abs(shift) > abs(width):
            return f"posterior TOO {'LOW' if shift > 0 else 'HIGH'}"
        return f"posterior TOO {'NARROW' if width > 0 else 'WIDE'}"

    def _moments(self, quantity: str) -> tuple[float, float]:
        """Mean of the ranks in (0, 1), and their standard deviation over that of uniform ones."""
        place = (self.series[quantity] + 0.5) / (self.L + 1.0)
        return float(place.mean()), float(np.sqrt(12.0) * place.std())

    def summary(self, most: int | None = None) -> str:
        """Return a table of the quantities, after what was run and before what went wrong.

        Parameters
        ----------
        most : rows to show, those with the smallest p-values; all by default
        """
        names = self._first(most)
        rows = [("", "mean", "spread", "p", "verdict"), *(self._row(name) for name in names)]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [f"{self.name}: {self._headline()}"]
        for name, *numbers, verdict in rows:
            cells = (c.rjust(w) for c, w in zip(numbers, widths[1:], strict=True))
            lines.append(f"  {name:<{widths[0]}}  {'  '.join(cells)}  {verdict}")
        return "\n".join([*lines, *self._more(names), *self._remarks()])

    def _first(self, most: int | None) -> list[str]:
        """Names of the quantities with the smallest p-values, in their order."""
        names = list(self.series)
        kept = set(sorted(names, key=self.p_values.__getitem__)[:most])
        return [name for name in names if name in kept]

    def _more(self, shown: list[str]) -> list[str]:
        left = len(self.series) - len(shown)
        return [f"  ... and {left} with larger p-values"] if left else []

    def _row(self, name: str) -> tuple[str, str, str, str, str]:
        mean, spread = self._moments(name)
        p = self.p_values[name]
        shown = f"{p:.2g}" if p > 1e-10 else "< 1e-10"
        return name, f"{mean:.2f}", f"{spread:.2f}", shown, self.verdict(name)

    def _headline(self) -> str:
        refuted = sum(map(self.refuted, self.series))
        found = f"{refuted} of {len(self.series)} quantities are NOT calibrated"
        if not refuted:
            found = "ranks are uniform" if self.n >= self.fewest else self._nothing_told()
        return (
            f"{found} ({self.n} simulations, ranks among {self.L} draws, level {LEVEL:g} for all)"
        )

    def _nothing_told(self) -> str:
        return (
            f"TOO FEW simulations to tell: not even posteriors that are far too wide are found "
            f"before {self.fewest}"
        )

    def _remarks(self) -> list[str]:
        lines = []
        if fixed := [name for name, labels in self.labels.items() if not any(labels)]:
            lines.append(f"  constant, not ranked: {', '.join(fixed)}")
        if self.interrupted:
            lines.append(f"  interrupted: {self.n} of {self.asked} simulations are done")
        if failed := sum(self.failures.values()):
            lines.append(f"  FAILED, left out of the ranks: {failed} of {self.asked} simulations")
            lines += [
                f"    {count}: {what}" for what, count in Counter(self.failures).most_common()
            ]
        if self.warned:
            kinds = ", ".join(f"{k} in {c}" for k, c in Counter(self.warnings).most_common())
            lines.append(f"  with warnings: {self.warned} of {self.n} simulations ({kinds})")
        return lines

    def __str__(self) -> str:
        return self.summary(_SHOWN)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names = self._first(_SHOWN)
        rows: list[tuple[str, ...]] = [self._row(name) for name in names]
        strong = {row[-1] for row in rows} - {"ok", _TOO_FEW}
        rows += [(line.strip(),) for line in (*self._more(names), *self._remarks())]
        heads = ("", "mean", "spread", "p", "verdict")
        return table(self.name, rows, about=self._headline(), heads=heads, strong=tuple(strong))

    def plot(self, var_names: Any = None, *, most: int = 12) -> Any:
        """Draw the ECDF of the ranks less that of uniform ones, with simultaneous bands.

        Parameters
        ----------
        var_names : str or sequence of str, optional
            Variables, or quantities such as ``"theta[2]"``; by default those with the smallest
            p-values.
        most : panels to draw

        Returns
        -------
        matplotlib.figure.Figure
            The inner band holds the whole curve of a correct posterior with probability 0.95. A
            quantity whose curve leaves the outer band is refuted.

        Raises
        ------
        OutputError
            If matplotlib is not installed.
        SamplerError
            If a name is unknown.
        """
        from probmodel.calibration.figure import draw_figure

        return draw_figure(self, var_names, most)
