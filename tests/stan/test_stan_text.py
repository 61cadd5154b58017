"""Trees turned back into Stan text, which gives the same tree when it is read."""

import sys
from dataclasses import fields
from pathlib import Path

import pytest

from probmodel.stan.syntax.nodes import Node, Place, Slice
from probmodel.stan.syntax.parser import parse

sys.path.insert(0, str(Path(__file__).parent))

from program_text import text_of


def shape(part):
    """Return a tree as tuples, without places."""
    if isinstance(part, Node):
        values = [shape(getattr(part, f.name)) for f in fields(part) if f.name != "place"]
        return (type(part), *values)
    if isinstance(part, tuple):
        return tuple(map(shape, part))
    if isinstance(part, dict):
        return [(key, shape(value)) for key, value in part.items()]
    return type(part), part


PROGRAM = """\
functions {
  real f(real x, data array[,] int n);
  void g_lp(array[] tuple(real, vector) x) {
    target += sum(x[1].2);
    return;
  }
}
data {
  int<lower=1, upper=10> N;
  array[N, 3] vector[2] y;
  tuple(int, array[N] real<lower=0>) pair;
}
transformed data {
  complex z = 2.0i + 1e-05;
}
parameters {
  vector<offset=0.5, multiplier=(N > 1)>[N] mu;
  cholesky_factor_cov[N, 2] L;
}
transformed parameters {
  real s;
  for (n in 1:N) {
    for (x in y[n])
      if (n == 1) {
        s += x[1];
      } else if (n == 2)
        s .*= -x[2] ^ -2;
      else {
        continue;
      }
  }
  while (s < 10)
    break;
}
model {
  {
    real q;
    (q, s) = f((1, 2), pair.2');
  }
  y[1, 1] ~ normal(mu[:2], {1, 2}[1:]) T[0, ];
  ({1, 2}[1]) ~ poisson(3);
  {1, 2} ~ poisson(3);
  target += normal_lpdf(y[1, 2] | (a + b)', -(a .* b \\ c)) - (d - e);
  jacobian += p ? q || !r : (u, [v, []]).1;
  f(1);
  print("N = ", N);
}
generated quantities {
}
"""


def test_text_of_a_program_is_the_program():
    program, _ = parse(PROGRAM)
    assert text_of(program) == PROGRAM


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data { real x[N], y; }", "data {\n  array[N] real x;\n  real y;\n}\n"),
        ("model { a <- 1; ; }", "model {\n  a = 1;\n}\n"),
        ("model { increment_log_prob(a); }", "model {\n  target += a;\n}\n"),
        ('model { profile("a") { } }', "model {\n  {\n  }\n}\n"),
        ("functions { } model { a[,1] = b[]; }", "model {\n  a[:, 1] = b[:];\n}\n"),
        ("model { if (a) ; }", "model {\n  if (a) {\n  }\n}\n"),
        ("functions { real[,] f(); }", "functions {\n  array[,] real f();\n}\n"),
    ],
)
def test_text_has_the_syntax_of_today(text, expected):
    program, _ = parse(text)
    assert text_of(program) == expected
    assert shape(parse(expected)[0]) == shape(program)


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c) - d",
        "a - b - c",
        "(a - b) * c",
        "a * (b * c)",
        "(-a) ^ b",
        "-a ^ b",
        "(a ^ b) ^ c",
        "a ^ b ^ c",
        "a ^ -b ^ c",
        "a ^ (b * c)",
        "(-a)'",
        "-a'",
        "(a * b)[1]",
        "(a ? b : c) ? d : e ? f : g",
        "a + (b ? c : d)",
        "-(-(!(a && b)))",
        "a || b && c",
        "(a || b) && c",
        "a < (b == c)",
        "a < -b",
        "x[(a ? b : c):d, :]",
        "(3).1",
        "(1.5).2",
        "x.1.2[3]'.4",
        "(a, b).1",
        "2i * .5i",
        "1e300 * 1e-300 + 12345678901234567890.0",
        "f(a | b, c) + g(a | ) + h()",
        "{{a}, {b}}[1, 1]",
    ],
)
def test_text_of_an_expression_reads_as_the_same(text):
    (statement,) = parse(f"model {{ x = {text}; }}")[0].blocks["model"]
    written = text_of(statement.value)
    (again,) = parse(f"model {{ x = {written}; }}")[0].blocks["model"]
    assert shape(again.value) == shape(statement.value)
    assert text_of(again.value) == written


def test_parts_of_programs_have_texts():
    program, _ = parse(PROGRAM)
    declared = program.blocks["data"][1]
    assert text_of(declared) == "array[N, 3] vector[2] y;"
    assert text_of(declared.type) == "array[N, 3] vector[2]"
    assert text_of(program.functions[0]) == "real f(real x, data array[,] int n);"
    assert text_of(program.functions[0].arguments[1]) == "data array[,] int n"
    assert text_of(Slice(Place("", 1, 1), None, None)) == ":"


def test_a_place_alone_has_no_text():
    with pytest.raises(TypeError, match="expected an expression, got Node"):
        text_of(Node(Place("", 1, 1)))


def test_long_programs_are_no_nested_ones():
    conditions = " else ".join(f"if (p == {n})\n  a = {n};" for n in range(2000))
    total = " + ".join("a" for _ in range(5000))
    (condition, assignment) = parse(f"model {{ {conditions} x = {total}; }}")[0].blocks["model"]
    assert text_of(assignment) == f"x = {total};"
    assert text_of(condition).count("else if") == 1999
