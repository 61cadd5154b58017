"""All checks of one sampler, constraint or distribution at once, where there is no test runner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from probmodel.html_tables import table
from probmodel.samplers.base import Sampler
from probmodel.testing.runs import Effort


class Check(Protocol):
    """A check: it raises AssertionError with what is wrong, and else returns nothing."""

    __name__: str

    def __call__(self, sampler: Sampler, effort: Effort = ..., /) -> None:
        """Check ``sampler``."""
        ...


@dataclass(frozen=True)
class Report:
    """What the checks found; printing it shows one line a check.

    Attributes
    ----------
    name : name of what was checked
    problems : what is wrong, by check; empty for a check that passed
    """

    name: str
    problems: dict[str, str]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return not any(self.problems.values())

    def _repr_html_(self) -> str:
        rows = [("FAILED" if p else "ok", check, p) for check, p in self.problems.items()]
        return table(self.name, rows, about=self._verdict, strong=("FAILED",))

    @property
    def _verdict(self) -> str:
        return "all checks passed" if self.ok else "some checks FAILED"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self._verdict}"]
        for check, problem in self.problems.items():
            lines.append(f"  FAILED  {check}: {problem}" if problem else f"  ok      {check}")
        return "\n".join(lines)


def run_checks(subject: Any, checks: Iterable[Callable[..., None]], *settings: Any) -> Report:
    """Run ``checks`` of a subject that has a name one after the other, whatever they find."""
    problems = {}
    for check in checks:
        try:
            check(subject, *settings)
        except Exception as error:
            problems[check.__name__] = f"{type(error).__name__}: {error}"
        else:
            problems[check.__name__] = ""
    return Report(subject.name, problems)
