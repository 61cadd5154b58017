"""How long a program may be that machine code is made of."""

from __future__ import annotations

from probmodel.compiler.simplify import shared
from probmodel.compiler.tracing import Program

MOST = 100_000  # operations of a program, at a tenth of a millisecond to one millisecond each


def without_repetition(program: Program) -> Program:
    """Return the program in which what is computed twice alike is computed once."""
    return program._replace(outputs=tuple(shared(program.outputs)))


def too_long(program: Program) -> int:
    """Return how many operations a program has, if they are too many for machine code; else 0."""
    if program.operations <= MOST:
        return 0
    operations = without_repetition(program).operations
    return operations if operations > MOST else 0
