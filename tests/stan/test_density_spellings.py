"""Names of densities end in _lpdf for real numbers and in _lpmf for whole ones, as stanc has it."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.errors import ModelError

PROGRAM = """
functions {{ {} }}
data {{ int k; array[2] int ks; }}
parameters {{ real<lower=0> a; }}
model {{ target += {}; }}
"""
OWN = """
  real g_lpdf(real x, real m) { return -x * m; }
  real h_lpmf(int x, real m) { return -x * m; }
"""


@pytest.mark.parametrize(
    ("functions", "call", "says"),
    [
        ("", "poisson_lpdf(k | a)", "values of poisson are whole numbers. Write poisson_lpmf."),
        ("", "poisson_lupdf(k | a)", "Write poisson_lupmf."),
        ("", "normal_lpmf(k | 0, a)", "values of normal are real numbers. Write normal_lpdf."),
        ("", "normal_lupmf(a | 0, 1)", "Write normal_lupdf."),
        ("", "categorical_lpdf(k | [0.5, 0.5]')", "Write categorical_lpmf."),
        ("", "poisson_log_glm_lpdf(ks | [[1], [2]], a, [a]')", "Write poisson_log_glm_lpmf."),
        (OWN, "g_lpmf(k | a)", "values of g are real numbers. Write g_lpdf."),
        (OWN, "g_lupmf(k | a)", "Write g_lupdf."),
        (OWN, "h_lpdf(k | a)", "Write h_lpmf."),
        (OWN, "h_lupdf(k | a)", "Write h_lupmf."),
        ("real f_lpdf(int x) { return 1; }", "a", "x is declared as int. Write f_lpmf."),
        ("real f_lpdf(array[] int x) { return 1; }", "a", "x is declared as int. Write f_lpmf."),
        ("real f_lpmf(real x) { return 1; }", "a", "x is declared as real. Write f_lpdf."),
        ("real f_lpmf(vector x) { return 1; }", "a", "x is declared as vector. Write f_lpdf."),
        ("real f(int y) { return bernoulli_lpdf(y | 0.5); }", "a", "Write bernoulli_lpmf."),
    ],
)
def test_wrong_endings_name_the_right_one(functions, call, says):
    with pytest.raises(ModelError) as caught:
        Stan(PROGRAM.format(functions, call))
    message = str(caught.value)
    assert says in message
    assert "^" in message.splitlines()[-1]


@pytest.mark.parametrize(
    ("functions", "call", "expected"),
    [
        (OWN, "g_lupdf(a | 1) + h_lupmf(k | a) + h_lpmf(k | a)", lambda a: -a - 2 * 3 * a),
        (OWN, "g_lpdf(k | a)", lambda a: -3 * a),
        (
            "real poisson_lpdf(real x, real m) { return -x; }",
            "poisson_lpdf(a | a) + poisson_lupdf(a | a) + poisson_lpmf(0 | a)",
            lambda a: -3 * a,
        ),
        ("real f_lpmf(tuple(int, int) x, real m) { return m; }", "f_lpmf((1, 2) | a)", lambda a: a),
        ("", "-poisson_lcdf(0 | a)", lambda a: a),
    ],
)
def test_right_endings(functions, call, expected):
    density = ModelDensity(Stan(PROGRAM.format(functions, call))(k=3, ks=[1, 2]))
    x = np.array([[-0.3], [0.7]])
    jacobian = x[:, 0]
    np.testing.assert_allclose(density.log_density(x) - jacobian, expected(np.exp(x[:, 0])))
