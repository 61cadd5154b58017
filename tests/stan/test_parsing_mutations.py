"""Programs with mistakes put in at random: each is read, or ends in an error of the package."""

import random
import re
import sys
from pathlib import Path

import pytest

from probmodel.errors import ModelError
from probmodel.stan.syntax.parser import parse

sys.path.insert(0, str(Path(__file__).parent))

from program_text import text_of

PROGRAMS = [
    """
functions {
  real trend(data array[,] real t, vector b) { return t[1, 2] * b[1] ^ 2; }
  void add_lp(real x) { target += -x'; }
}
data { int<lower=0> N; array[N] vector[2] y; real<lower=-1, upper=1> c[N, 3]; }
transformed data { complex z = 2i + 1.5e-3; array[2] int k = {1, N}; }
parameters { vector<offset=0, multiplier=(N > 1)>[N] mu; cholesky_factor_corr[2] L; }
model {
  for (n in 1:N) { y[n] ~ multi_normal_cholesky(mu[n:], L) T[0, ]; }
  if (N % 2 == 0 && !(N < -3)) target += normal_lpdf(y[1] | 0, 1); else print("N = ", N);
}
""",
    """
// tuples and loops
data { int N; tuple(real, array[N] int) p; }
generated quantities {
  real a; real b = N > 3 ? p.1 : -p.2[1];
  (a, b) = pair(N, [1, 2]' .* [3, 4]');
  while (a <= b || N %/% 2 != 1) { a += .5; if (a == b) break; continue; }
  for (x in {1, 2}) reject("x", x);
  profile("p") { b ./= 3 \\ a; }
}
""",
    """
data { int N; real y[N]; } # old
parameters { real mu; simplex[3] s[2]; }
model {
  real lp;
  lp <- normal_log(y, mu, 1);
  increment_log_prob(lp); /* done */
}
""",
]
WORDS = re.compile(r"\s+|\w+|.")
INSERTED = ["(", ")", "{", "}", "[", "]", ";", ",", '"', "'", ".", ".1", "|", "<", ">", "=", "<-"]
INSERTED += ["~", "#include a", "/*", "//", "real", "int", "data", "model", "target", "if", "else"]
INSERTED += ["T", "array", "tuple", "1e999", "9" * 30, "\0", "é", "\ud800", "x__", "?", ":", "void"]


def mutated(text, random_):
    """Return a text with one to three parts left out, doubled, swapped, replaced or put in."""
    pattern = WORDS if random_.random() < 0.7 else re.compile(r"[\s\S]")
    parts = pattern.findall(text)
    for _ in range(random_.randint(1, 3)):
        i, j = random_.randrange(len(parts)), random_.randrange(len(parts))
        match random_.randrange(5):
            case 0:
                parts[i] = ""
            case 1:
                parts[i] *= 2
            case 2:
                parts[i], parts[j] = parts[j], parts[i]
            case 3:
                parts[i] = random_.choice(INSERTED)
            case _:
                parts[i] += f" {random_.choice(INSERTED)} "
    return "".join(parts)


def read(text):
    """Return the program, or None where the reader complains about a place in it."""
    try:
        return parse(text)[0]
    except ModelError as caught:
        error = caught
    assert error.location is not None
    assert error.values["column"] >= 1
    return None


@pytest.mark.parametrize("seed", range(4))
def test_mistakes_end_in_errors_of_the_package(seed):
    random_ = random.Random(seed)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(500):
        text = mutated(random_.choice(PROGRAMS), random_)
        program = read(text)
        outcomes["refused" if program is None else "read"] += 1
        if program is not None:
            written = text_of(program)
            assert text_of(parse(written)[0]) == written
    assert min(outcomes.values()) > 25


@pytest.mark.parametrize("program", PROGRAMS)
def test_beginnings_of_programs_end_in_errors_of_the_package(program):
    parse(program)
    for length in range(0, len(program), 3):
        read(program[:length])
