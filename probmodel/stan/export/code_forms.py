"""What an expression becomes: Stan code, with what kind of value it is and how tightly it binds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# How tightly Stan's operators bind.
CHOICE, OR, AND, EQUALITY, ORDER, SUM, PRODUCT, PREFIX, POWER, ATOM = range(10)

NUMBERS = ("int", "real")


class Form(NamedTuple):
    """Stan code of a value.

    Attributes
    ----------
    text : the code
    kind : ``int``, ``real``, ``vector``, ``row_vector``, ``matrix``, ``ints`` (an array of whole
        numbers, of any rank), ``vectors`` (an array of vectors or matrices)
    tight : how tightly the outermost operator binds
    """

    text: str
    kind: str
    tight: int = ATOM

    def inside(self, tight: int) -> str:
        """Return the code as an operand of something that binds so tightly."""
        return self.text if self.tight >= tight else f"({self.text})"


def transposed(form: Form) -> str:
    """Return the code of a transpose."""
    inside = form.inside(ATOM)
    return inside[:-1] if inside.endswith("'") else f"{inside}'"


class Place(NamedTuple):
    """An index or a size: a variable, or none, plus a whole number."""

    variable: str
    offset: int = 0

    def __add__(self, steps: int) -> Place:  # type: ignore[override]
        return Place(self.variable, self.offset + steps)

    def __str__(self) -> str:
        if not self.variable:
            return str(self.offset)
        if not self.offset:
            return self.variable
        return f"{self.variable} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"


def number(value: Any) -> Form:
    """Return the code of a number; whole ones are written without a decimal point."""
    plain = float(value)
    if np.isnan(plain):
        return Form("not_a_number()", "real")
    if np.isinf(plain):
        return Form("positive_infinity()" if plain > 0 else "negative_infinity()", "real")
    if plain == np.pi:
        return Form("pi()", "real")
    whole = plain == round(plain) and abs(plain) < 2**31
    text = str(round(plain)) if whole else repr(plain)
    return Form(text, "int" if whole else "real", ATOM if plain >= 0 else PREFIX)


def real(form: Form) -> Form:
    """Return a number that does not divide as whole numbers do."""
    if form.kind != "int":
        return form
    if form.text.lstrip("-").isdigit():
        return Form(f"{form.text}.0", "real", form.tight)
    return Form(f"1.0 * {form.inside(PREFIX)}", "real", PRODUCT)


def call(name: str, *args: str, kind: str = "real") -> Form:
    """Return the call of a function."""
    return Form(f"{name}({', '.join(args)})", kind)


def kind_of(rank: int, whole: bool = False) -> str:
    """Return the kind in which values of a rank are kept."""
    if whole:
        return "ints" if rank else "int"
    return ("real", "vector", "matrix")[rank] if rank < 3 else "vectors"


def trimmed(index: str) -> str:
    """Drop what Stan takes for granted: whole axes at the end."""
    while index.endswith(", "):
        index = index[:-2]
    return index
