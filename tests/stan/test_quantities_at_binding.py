"""Generated quantities that are wrong whatever the draws are: found when data are bound."""

import numpy as np
import pytest

from probmodel import DataError, Stan
from probmodel.errors import ModelError, ProbmodelError

HEAD = """
functions { real f(vector x, int k) { return x[k]; } real f(matrix x) { return 1; } }
data { int N; vector[N] y; }
parameters { real a; vector[N] b; real<lower=0> s; simplex[3] p; cov_matrix[2] S; }
transformed parameters { matrix[2, 2] L = cholesky_decompose(S);
  tuple(real, vector[N]) t = (a, b); }
model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ normal(0, 1); y ~ normal(b + a, s); }
generated quantities { real first = a;
"""
DATA = {"N": 3, "y": [1.0, 2.0, 3.0]}


def bound(body):
    return Stan(f"{HEAD}{body}}}")(**DATA)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("real m = b;", "m is a real; it is assigned a vector"),
        ("int k = a;", "it is assigned a real"),
        ("vector[N + 1] m = b;", r"m has shape \(4,\); what is assigned to it has \(3,\)"),
        ("real m = b[N + 1];", "index 4 is out of range"),
        ("vector[N] m; m[5] = 3;", "index 5 is out of range"),
        ("for (i in 1:N) { real m = p[i + 1]; }", "index 4 is out of range"),
        ("real m = normal_rng(a);", "normal_rng takes 2 arguments; got 1"),
        ("vector[2] m = multi_normal_rng(L[1]', s);", "argument 2 is a real, and must be a matrix"),
        ("real m = sum(a, b);", "sum takes one container"),
        ("real m = t.2;", "m is a real; it is assigned a vector"),
        ("real m = f(a, 1);", r"f takes \(vector, int\) or \(matrix\); got \(real, int\)"),
        ("vector[2] m = L * a + b;", "sizes differ"),
        ("vector[2] m = L * b;", r"matrix \* vector: sizes do not go together: 2 x 2 and 3"),
    ],
)
def test_what_is_wrong_whatever_the_draws_are(body, says):
    with pytest.raises(ModelError, match=says) as caught:
        bound(body)
    assert caught.value.location == ("<stan>", 9)


@pytest.mark.parametrize("block", ["model", "generated quantities"])
def test_functions_that_there_are_not_are_found_where_nothing_runs(block):
    with pytest.raises(ModelError, match=r"'normal_rg' here\. Did you mean 'normal_rng'"):
        Stan(f"parameters {{ real a; }} {block} {{ if (0) {{ real m = normal_rg(a, 1); }} }}")


@pytest.mark.parametrize(
    "body",
    [
        "real m = normal_rng(0, -s);",
        "if (s < 10) reject(s);",
        "int k = poisson_rng(50); real m = b[k + 1];",
        "int k = 4 + poisson_rng(s); for (i in 1:k) { real m = b[i]; }",
        "int k = 4 + poisson_rng(s); vector[3] m = rep_vector(a, k);",
        "int i = 1; while (i < 9 + a) { real m = i > 3 ? b[i] : a; i += 1; }",
        "int k = 2 + poisson_rng(9); vector[3] m = b[1:k];",
        "matrix[2, 2] m = cholesky_decompose(-S);",
    ],
)
def test_what_the_draws_decide_is_left_to_them(body):
    """Each of these fails with the values of the trial, and may go right with others."""
    model = bound(body)
    assert model._generated is not None
    draws = {
        "a": np.full(1, 0.5), "b": np.full((1, 3), 0.5), "s": np.full(1, 0.5),
        "p": np.full((1, 3), 1 / 3), "S": np.eye(2)[None], "L": np.eye(2)[None],
        "t.1": np.full(1, 0.5), "t.2": np.full((1, 3), 0.5),
    }  # fmt: skip
    with pytest.raises(ProbmodelError):
        model._generated.at(draws, np.random.default_rng(1))


def test_missing_values_are_parameters_of_a_program():
    code = "data { vector%s[2] y; } parameters { real m; } model { y ~ %s(m, 1); }"
    for bounds, name in (("", "normal"), ("<lower=0>", "lognormal")):
        with pytest.raises(DataError, match="or declare the missing values as parameters"):
            Stan(code % (bounds, name))(y=[1.0, np.nan])
