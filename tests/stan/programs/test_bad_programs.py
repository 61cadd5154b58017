"""Programs and data with a mistake: one error of the package each, with its place, and advice."""

from __future__ import annotations

import re

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.errors import DataError, ModelError

HEAD = "data { int N; vector[N] y; array[N] int k; } parameters { real a; vector[3] b; }\n"
DATA = {"N": 3, "y": [1.0, 2.0, 3.0], "k": [1, 2, 3]}
FUNCTIONS = """functions {
  real f(real x, int n) { return x * n; }
  real endless(real x) { return endless(x); }
  real lost(real x) { if (x > 0) return x; }
  vector slope(real t, vector y, real k) { return -k * y; }
  real wrong(vector x) { return x; }
  real own_lpdf(real x, real m) { return x - m; }
  real own_lpdf(vector x, real m) { return sum(x); }
  real pair(tuple(real, int) t) { return t.1; }
}
"""

# By what is wrong: a model block, or all but the head, and what the message says.
STATEMENTS = {
    "an index out of range": ("a ~ normal(y[4], 1);", "index 4 is out of range.*3 elements"),
    "an index of zero": ("target += b[0];", "index 0 is out of range"),
    "a slice out of range": ("target += sum(b[2:4]);", "index 4 is out of range"),
    "an element that is not there": ("b[7] ~ normal(0, 1);", "index 7 is out of range"),
    "too many indices": ("target += b[1, 2];", "2 indices for what has 1 axis"),
    "an assignment out of range": ("vector[2] x; x[3] = 1;", "index 3 is out of range"),
    "other sizes": ("b ~ normal(rep_vector(0, 2), 1);", "[sS]hape|size"),
    "a sum of other sizes": ("target += sum(b + y[1:2]);", "sizes differ"),
    "an assignment of another size": ("vector[2] x = b;", "x has shape"),
    "a slice of another size": ("vector[3] x; x[1:2] = b;", "shape"),
    "a matrix product that does not fit": (
        "matrix[2, 2] M = identity_matrix(2); target += sum(M * b);", "size|shape|fit|match"
    ),
    "an unknown function": ("target += nromal_lpdf(a | 0, 1);", "Did you mean 'normal_lpdf'"),
    "an unknown function of numbers": ("target += sqrtt(a);", "Did you mean 'sqrt'"),
    "an unknown variable": ("target += bb;", "'bb' is not declared.*Did you mean 'b'"),
    "an unknown distribution": ("a ~ noraml(0, 1);", "Did you mean 'normal'"),
    "an unknown variable that is assigned": ("c = 3;", "'c' is not declared"),
    "a parameter that is assigned": (
        "b[1] = 0; b ~ normal(0, 1);",
        "b is a parameter, and cannot be assigned.*in the transformed parameters block",
    ),
    "a parameter that is added to": ("if (N > 2) a += 1;", "a is a parameter, and cannot be"),
    "data that are assigned": ("y[2] = 1;", "y is data, and cannot.*transformed data block"),
    "a variable of a loop that is assigned": (
        "for (i in 1:3) { i = 2; target += a; }", "i is the variable of a for statement"
    ),
    "a function of another program": ("target += f(a, 1);", "no function 'f'"),
    "a variable declared twice": ("real a; a = 3;", "'a' is declared twice"),
    "a loop over a variable's name": ("for (a in 1:3) target += a;", "'a' is declared twice"),
    "a whole number from a real one": ("int i = 2.5;", "assigned a real"),
    "a whole number from a parameter": ("int i = a;", "assigned a real"),
    "an element of whole numbers": ("array[2] int i; i[1] = a;", "real cannot be assigned"),
    "a vector for a number": ("real x = b;", "assigned a vector"),
    "a row vector for a vector": ("vector[3] x = b';", "assigned a row_vector"),
    "an array for a vector": ("vector[3] x = {1.0, 2.0, 3.0};", "assigned a array|an array"),
    "a vector and a row vector": ("target += sum(b + b');", "transpose"),
    "a product of vectors": ("target += sum(b * b);", r"\.\*"),
    "a number that is transposed": ("target += a';", "only vectors and matrices"),
    "a negative size": ("vector[N - 5] x;", "size must be 0 or above"),
    "a size of a parameter": ("vector[size({a, a}) * (a > 0)] x;", "must come from data"),
    "a real size": ("vector[2.5] x;", "whole number"),
    "an assigned index of a parameter": (
        "int i = a > 0; vector[2] c; c[i + 1] = a;", "must come from data"
    ),
    "an index of many elements": (
        "int i = a > 0; target += rep_vector(a, 21)[i + 1];", "must come from data"
    ),
    "a bound of a loop": ("int n = a > 0; for (i in 1:n) target += i;", "must come from data"),
    "a condition of a loop": ("while (a > 0) target += 1;", "must come from data"),
    "a real bound of a loop": ("for (i in 1:2.5) target += i;", "whole number"),
    "a loop over a number": ("for (x in a) target += x;", "runs over a container"),
    "a function of data": ("target += sum(sort_asc(b));", "takes data|from data|depends on"),
    "sizes from parameters": ("target += sum(rep_vector(1, a > 0));", "must come from data"),
    "random numbers": ("a ~ normal(normal_rng(0, 1), 1);", "generated quantities|_rng"),
    "too few parameters": ("a ~ normal(0);", "takes 2 parameters; got 1"),
    "too many parameters": ("target += normal_lpdf(a | 0, 1, 2);", "takes 2 parameters; got 3"),
    "a number for a vector": ("b ~ multi_normal(0, identity_matrix(3));", "must be a vector"),
    "a discrete distribution of a parameter": ("a ~ poisson(3);", "must come from data"),
    "a real value of a discrete distribution": ("y ~ poisson(3);", "whole|int"),
    "the value of target": (
        "if (target() > 0) a ~ normal(0, 1);", r"the value of target\(\) is not known before"
    ),
    "the value of target in a sum": ("target += 2 * target();", "target.. is not known"),
    "an endless loop": ("while (1) { }", "endless"),
    "a loop that never ends": ("int i = 0; while (i < 1) { i = 0; }", "endless"),
    "a condition that is a vector": ("if (b) a ~ normal(0, 1);", "one number; got a vector"),
    "a comparison of vectors": ("if (b > y) a ~ normal(0, 1);", "> compares numbers"),
    "a variable of too many elements": ("matrix[1000000, 1000000] x;", "too much memory"),
    "too many copies": ("target += sum(rep_vector(a, 2000000000));", "too much memory"),
    "a rejection": ('reject("never ", N);', "never 3"),
    "a fatal error": ('fatal_error("stop");', "stop"),
    "an infinite density": ("target += negative_infinity();", "-inf"),
    "a division by zero": ("int i = N %/% (N - 3);", "divided by zero"),
    "a remainder by zero": ("int i = N % 0;", "divided by zero"),
    "a modulus by zero": ("int i = modulus(N, 0);", "divided by zero"),
    "a remainder of a real number": ("real x = a % 2;", "whole numbers"),
    "a matrix that has no factor": (
        "matrix[2, 2] L = cholesky_decompose([[1, 2], [2, 1]]);", "positive definite.*from data"
    ),
    "rows of other sizes": ("matrix[2, 2] M = [[1, 2], [3]];", "different sizes"),
    "elements of other types": ("array[2] real x = {1, b};", "different types"),
    "text for a number": ('target += "a";', "text in quotes"),
    "a tuple that has no such element": ("target += (a, 1).3;", "no .3|elements"),
    "an element of what is no tuple": ("target += a.1;", "no tuple"),
    "a call of a variable": ("target += a(3);", "no function 'a'|is not"),
    "a truncation of vectors": ("b ~ multi_normal(b, identity_matrix(3)) T[0, ];", ""),
    "a solver that is not there": ("target += sum(dae(f, b, b, 0, {1.0})[1]);", "dae"),
    "a Fourier transform of parameters": ("target += sum(get_real(fft(b)));", "fft takes data"),
    "a number too many": ("target += exp(a, 2);", r"exp takes one number; got \(real, int\)"),
    "a number too few": ("target += pow(a);", r"pow takes 2 numbers; got \(real\)"),
    "a vector too few": (
        "target += dot_product(b);", r"dot_product takes \(vector, vector\); got \(vector\)"
    ),
    "arguments in another order": (
        "target += sum(diag_pre_multiply(identity_matrix(3), b));",
        r"diag_pre_multiply takes \(vector, matrix\); got \(matrix, vector\)",
    ),
    "a vector for a matrix": ("target += trace(b);", r"trace takes \(matrix\); got \(vector\)"),
    "a vector of points": (
        "target += sum(gp_exp_quad_cov(b, a, a));", "an array of numbers or of vectors, and 2 num"
    ),
    "the larger of two vectors": ("target += max(a, b);", "max takes 2 numbers, or one container"),
    "a row of a vector": ("target += sum(row(b, 1));", r"row takes other.*got \(vector, int\)"),
    "a size too few": ("target += sum(head(b));", r"head takes other arguments; got \(vector\)"),
    "a sort of a matrix": ("target += sum(sort_asc(identity_matrix(2)));", "sort_asc takes other"),
    "sizes of two things": ("target += size(b, b);", "size takes one value"),
    "a constant with an argument": ("target += pi(a);", "pi takes no arguments"),
    "a distribution as a function": (
        "target += normal(a, 0, 1);", r"write x ~ normal\(...\), or normal_lpdf\(x \|"
    ),
    "a regression on a vector of matrices": (
        "y ~ normal_id_glm(b, a, identity_matrix(3), 1);", "parameter 3 is a matrix, and must be"
    ),
    "a generator of other arguments": (
        "} generated quantities { real r = normal_rng(a);", "normal_rng takes 2 arguments; got 1"
    ),
    "an embedded Laplace approximation of counts": (
        "k ~ laplace_marginal_poisson_log(k, b, 1, kernel, (a, ));", "_poisson_log is not supported"
    ),
    "an embedded Laplace approximation": (
        "target += laplace_marginal(f, (a, ), 1, g, (a, ));", "laplace_marginal is not supported"
    ),
    "an index of a number": ("target += a[1];", "1 ind.*0 axes"),
    "an empty array": ("array[0] real x = {};", "expected an expression"),
    "a choice of other sizes": ("vector[2] x = a > 0 ? b : b[1:2];", "one shape|shape"),
}  # fmt: skip

WITH_FUNCTIONS = {
    "too few arguments": ("target += f(a);", r"takes \(.*\); got \("),
    "arguments of other types": ("target += f(b, 1);", r"takes .*; got \(vector, int\)"),
    "a real argument for a whole one": ("target += f(1, a);", r"takes \(.*\); got \("),
    "a tuple of other types": ("target += pair((1, a));", r"got \(tuple\(int, real\)\)"),
    "a tuple of another size": ("target += pair((a, 1, 2));", r"takes \(.*\); got \("),
    "a truncation without a distribution function": (
        "a ~ own(1) T[0, ];", "own is truncated here, which takes a function own_lccdf"
    ),
    "a truncation of many": ("b ~ own(1) T[0, ];", "own is the program's own, and is truncated"),
    "a result of another type": (
        "target += wrong(b);", "wrong is declared to return a real; it returns a vector"
    ),
    "a recursion without end": ("target += endless(a);", "calls itself"),
    "a function that returns nothing": ("target += lost(-1);", "without a return"),
    "a function that returns nothing in some cases": ("target += lost(a);", "returns nothing in"),
    "an unknown function of a solver": (
        "target += sum(ode_rk45(slop, b, 0, {1.0}, a)[1]);", "Did you mean 'slope'"
    ),
    "times of parameters": (
        "target += sum(ode_rk45(slope, b, 0, {exp(a)}, a)[1]);", "must come from data"
    ),
    "a function that is used as a variable": ("target += f;", "'f' is not declared"),
}  # fmt: skip

PROGRAMS = {
    "an unknown type": ("data { float x; }", "float|type"),
    "a discrete parameter": ("parameters { int n; }", "sum over"),
    "a whole number that parameters decide": (
        "parameters { real x; } transformed parameters { int n = x > 0; }",
        "whole number",
    ),
    "a complex parameter": ("parameters { complex x; }", "parts"),
    "a tuple of parameters": ("parameters { tuple(real, real) x; }", "parts"),
    "a continue outside a loop": ("parameters { real x; } model { if (1) continue; }", "loop"),
    "a density in a function": (
        "functions { real f(real x) { x ~ normal(0, 1); return x; } } parameters { real x; }",
        "names end in _lp",
    ),
    "an addition in a function": (
        "functions { real f(real x) { target += x; return x; } } parameters { real x; }",
        "names end in _lp",
    ),
    "a Jacobian in generated quantities": (
        "parameters { real x; } generated quantities { jacobian += x; }",
        "_jacobian",
    ),
    "an array of discrete parameters": ("parameters { array[2] int n; }", "sum over"),
    "a parameter with a value": ("parameters { real x = 3; }", "expected|value|parameter"),
    "a statement in the data block": ("data { int n; n = 3; }", "only declarations"),
    "a missing semicolon": ("parameters { real x }", "';'"),
    "a missing brace": ("parameters { real x;", "never closed"),
    "a missing file": ('#include "nowhere.stan"\nparameters { real x; }', "nowhere.stan"),
    "an unknown block": ("transformed model { }", "block|expected"),
    "blocks in another order": ("model { } parameters { real x; }", "order|before|after|block"),
    "two blocks of a name": ("model { } model { }", "model|twice"),
    "a transformed parameter that is assigned": (
        "parameters { real y; } transformed parameters { real z = y; } model { z = 1; }",
        "z is a transformed parameter, and cannot be assigned",
    ),
    "an argument that is assigned": (
        "functions { real f(real x) { x = 1; return x; } } parameters { real y; }",
        "x is an argument of f, and cannot be assigned",
    ),
    "parts of a tuple that are data": (
        "data { int n; } transformed data { real r; (r, n) = (1.0, 2); } parameters { real y; }",
        "n is data, and cannot be assigned",
    ),
    "a distribution of transformed data": (
        "transformed data { real x; x ~ normal(0, 1); } parameters { real y; }",
        "model block",
    ),
    "a negative size of a parameter": ("parameters { vector[-1] x; }", "0 or above"),
    "an unknown name in a size": ("parameters { vector[K] x; }", "'K' is not declared"),
    "transformed data out of bounds": (
        "transformed data { real<lower=0> x = -1; } parameters { real y; }",
        "lower bound",
    ),
    "transformed data that are no simplex": (
        "transformed data { simplex[2] x = [0.5, 0.6]'; } parameters { real y; }",
        "simplex",
    ),
    "a break outside a loop": ("parameters { real x; } model { break; }", "loop"),
    "a return outside a function": ("parameters { real x; } model { return; }", "function|return"),
    "a character that is none": ("parameters { real x; } model { x @ 3; }", "@"),
    "a comment without end": ("parameters { real x; } /* model", "comment"),
    "text without end": ('parameters { real x; } model { print("x); }', "text|string|quot"),
    "a function that is missing": (
        "functions { real f(real x); } parameters { real x; } model { target += f(x); }",
        "'f'",
    ),
}


def evaluated(text, data):
    density = ModelDensity(Stan(text)(**data), engine="numpy")
    x = np.zeros((1, density.dim))
    density(x)
    density.constrain(x)


def refused(text, data, kinds=(ModelError, DataError)):
    """Return the message of the error that binding or evaluating a program ends in."""
    with pytest.raises(kinds) as caught:
        evaluated(text, data)
    return str(caught.value)


def assert_placed(message):
    assert re.search(r"<stan>:\d+: column \d+: ", message), message
    assert message.splitlines()[-1].strip() == "^", message
    assert len(message) < 700, message


@pytest.mark.parametrize("what", STATEMENTS)
def test_mistakes_of_statements(what):
    body, says = STATEMENTS[what]
    message = refused(HEAD + "model {\n  " + body + "\n}", DATA)
    assert_placed(message)
    assert re.search(says, message), message


@pytest.mark.parametrize("what", WITH_FUNCTIONS)
def test_mistakes_of_functions(what):
    body, says = WITH_FUNCTIONS[what]
    message = refused(FUNCTIONS + HEAD + "model {\n  " + body + "\n}", DATA)
    assert_placed(message)
    assert re.search(says, message), message


@pytest.mark.parametrize("what", PROGRAMS)
def test_mistakes_of_programs(what):
    text, says = PROGRAMS[what]
    message = refused(text, {})
    assert_placed(message)
    assert re.search(says, message), message


WRONG_DATA = {
    "one is missing": ({"y": ...}, "lack 'y'"),
    "two are missing": ({"y": ..., "k": ...}, "lack 'y', 'k'"),
    "one is misspelt": ({"y": ..., "Y": [1.0, 2.0, 3.0]}, "Did you mean 'Y'"),
    "too few": ({"y": [1.0, 2.0]}, "y.*3"),
    "too many axes": ({"y": [[1.0, 2.0, 3.0]]}, "y"),
    "text": ({"y": "abc"}, "y"),
    "text in a list": ({"y": ["a", "b", "c"]}, "y"),
    "real numbers for whole ones": ({"k": [1.5, 2.0, 3.0]}, "k"),
    "a real size": ({"N": 3.5}, "N"),
    "a negative size": ({"N": -3}, "N|size"),
    "nothing": ({"y": None}, "y"),
    "an object": ({"y": object()}, "y"),
    "ragged": ({"y": [[1.0], [2.0, 3.0]]}, "y"),
}


LEFT_OUT = """
data { int N; vector[N] x; vector[N] y; }
parameters { real a; }
model {
  a ~ normal(0, 1);
  y[1] ~ normal(a * x[1], 1);
  for (n in 2:N) y[n] ~ student_t(4, a * x[n], 1);
}
"""


def test_data_that_may_be_left_out_are_not_asked_for():
    with pytest.raises(DataError, match="the data lack 'N', 'x': the program") as caught:
        Stan(LEFT_OUT)()
    assert caught.value.values["needs"] == ["N", "x"]
    with pytest.raises(DataError, match=r"vector.N. x.\n"):
        Stan(LEFT_OUT)(N=2, y=[1.0, 2.0])  # names that the program declares are no misspellings
    model = Stan(LEFT_OUT, name="Line")(N=2, x=[1.0, 2.0])
    with pytest.raises(DataError, match=r"observed data 'y', .* Pass them: Line\(..., y=...\)"):
        ModelDensity(model)


@pytest.mark.parametrize("what", WRONG_DATA)
def test_wrong_data(what):
    change, says = WRONG_DATA[what]
    data = {k: v for k, v in {**DATA, **change}.items() if v is not ...}
    message = refused(HEAD + "model { y ~ normal(a + size(k), 1); target += sum(y); }", data)
    assert re.search(says, message), message
    assert "<stan>:1" in message, message


BOUNDED = {
    "a lower bound": ("real<lower=0> x;", -1.0, "lower bound is 0"),
    "an upper bound": ("array[2] int<upper=3> x;", [1, 4], r"x\[2\] is 4"),
    "a simplex": ("simplex[2] x;", [0.5, 0.6], "sum 1"),
    "an ordered vector": ("ordered[3] x;", [1.0, 3.0, 2.0], "increasing"),
    "a covariance matrix": ("cov_matrix[2] x;", [[1.0, 2.0], [2.0, 1.0]], "positive definite"),
    "a correlation matrix": ("corr_matrix[2] x;", [[1.0, 0.1], [0.1, 2.0]], "ones"),
    "a factor": ("cholesky_factor_cov[2] x;", [[1.0, 1.0], [0.0, 1.0]], "lower triangular"),
    "a unit vector": ("unit_vector[2] x;", [1.0, 1.0], "length 1"),
    "a tuple": ("tuple(int, real<lower=0>) x;", (1, -2.0), "x.2"),
    "a tuple of others": ("tuple(int, real) x;", (1.5, -2.0), "x.1"),
    "a tuple of three": ("tuple(int, real) x;", (1, 2.0, 3), "x"),
}


@pytest.mark.parametrize("what", BOUNDED)
def test_data_that_their_type_does_not_allow(what):
    declaration, value, says = BOUNDED[what]
    message = refused(f"data {{ {declaration} }} parameters {{ real a; }}", {"x": value})
    assert_placed(message)
    assert re.search(says, message), message


def test_transformed_parameters_that_fail_are_named_by_their_lines():
    text = """functions { vector f(real t, vector y, real k) { return -k * y; } }
    parameters { real a; }
    transformed parameters {
      array[2] vector[1] y = ode_rk45(f, [1]', 0, {1.0, 0.5}, a);
    }"""
    with pytest.raises(ModelError, match=r"^<stan>:4: deterministic 'y'.*increase"):
        Stan(text)()


def test_what_was_not_assigned_is_not_a_number():
    model = Stan("parameters { real a; } transformed parameters { vector[2] x; x[1] = a; }")()
    values = ModelDensity(model).constrain(np.full((1, 1), 0.5))
    np.testing.assert_array_equal(values["x"], [[0.5, np.nan]])
