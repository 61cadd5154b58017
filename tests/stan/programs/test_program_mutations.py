"""Programs with mistakes put in at random: each works, or ends in an error of the package."""

from __future__ import annotations

import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.errors import DataError, ModelError

sys.path.insert(0, str(Path(__file__).parent))

import assignments  # noqa: F401
import branches  # noqa: F401
import composites  # noqa: F401
import declarations  # noqa: F401
import independent_loops  # noqa: F401
import libraries  # noqa: F401
import recurrences  # noqa: F401
import solvers  # noqa: F401
import statements  # noqa: F401
from stan_program import PROGRAMS

SECONDS = 2.0
WORDS = re.compile(r"\d+\.?\d*(?:e-?\d+)?|\w+|\s+|[^\w\s]=?|.")
NUMBERS = ("0", "1", "2", "3", "5", "17", "-1", "0.5", "1000", "1e300", "2147483647")
TYPES = ("real", "int", "vector[2]", "matrix[2, 2]", "array[2] real", "row_vector[3]", "simplex[2]")


def first_of_each(programs):
    found = {}
    for program in programs:
        found.setdefault(program.text, program)
    return list(found.values())


SMALL = first_of_each(PROGRAMS)


def mutated(text, rng):
    """Return a text with one or two words deleted, doubled, moved or replaced."""
    words = WORDS.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2))):
        inked = [i for i, word in enumerate(words) if not word.isspace()]
        i, j = rng.choice(inked), rng.choice(inked)
        kind = rng.choice(("delete", "double", "swap", "next", "replace", "number", "name", "type"))
        if kind == "delete":
            words[i] = ""
        elif kind == "double":
            words[i] = f"{words[i]} {words[i]}"
        elif kind == "swap":
            words[i], words[j] = words[j], words[i]
        elif kind == "next":
            after = inked[min(inked.index(i) + 1, len(inked) - 1)]
            words[i], words[after] = words[after], words[i]
        elif kind == "replace":
            words[i] = words[j]
        else:
            replace_alike(words, kind, rng)
    return "".join(words)


def replace_alike(words, kind, rng):
    """Replace a number by another one, a name by another name, or a type by another type."""
    patterns = {"number": r"\d.*", "name": r"[A-Za-z_]\w*", "type": "real|int|vector|matrix"}
    alike = [i for i, word in enumerate(words) if re.fullmatch(patterns[kind], word)]
    if not alike:
        return
    others = {"number": NUMBERS, "name": [words[i] for i in alike], "type": TYPES}
    words[rng.choice(alike)] = rng.choice(others[kind])


class TooSlowError(Exception):
    """A program took too long."""


def stopped(number, frame):
    raise TooSlowError


def ends_well(program, text):
    """Whether a program works with data; False if it ends in an error of the package."""
    try:
        with np.errstate(all="ignore"):
            density = ModelDensity(Stan(text)(**program.data), engine="numpy")
            x = np.full((2, density.dim), 0.1)
            density(x)
            density.constrain(x)
    except (ModelError, DataError) as error:
        assert len(str(error)) < 2000, str(error)
        return False
    return True


def check(count, seed):
    """Try mutations; returns how many worked."""
    rng = random.Random(seed)
    found = Counter()
    before = signal.signal(signal.SIGALRM, stopped)
    faults = []
    try:
        for _ in range(count):
            program = rng.choice(SMALL)
            text = mutated(program.text, rng)
            start = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, 20 * SECONDS)
            try:
                found[ends_well(program, text)] += 1
            except Exception as error:
                faults.append((f"{type(error).__name__}: {error}"[:300], program.name, text))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if (took := time.process_time() - start) > SECONDS:
                faults.append((f"{took:.1f} s", program.name, text))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not faults, "\n\n".join("\n".join(fault) for fault in faults[:3])
    return found


def test_mutations_end_well_or_in_errors_of_the_package():
    found = check(60, seed=1)
    assert found[False] > 20


@pytest.mark.statistical
def test_many_mutations_end_well_or_in_errors_of_the_package():
    found = check(1000, seed=2)
    assert found[True] > 50
    assert found[False] > 400
