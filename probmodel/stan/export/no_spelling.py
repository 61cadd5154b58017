"""What cannot be written in Stan."""

from __future__ import annotations

from typing import Any

from probmodel.errors import ModelError


class NoSpellingError(ModelError):
    """An operation or a distribution that Stan has no spelling for, or none is known here."""

    def __init__(self, what: str, advice: str, **values: Any) -> None:
        super().__init__(f"{what} has no spelling in Stan. {advice}", **values)
        self.what, self.advice = what, advice

    def of(self, declaration: Any) -> ModelError:
        """Return the error that names a declaration."""
        return declaration.model_error(
            f"{declaration.title}: {self.what} has no spelling in Stan. {self.advice}",
            **self.values,
        )
