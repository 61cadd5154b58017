"""Transforms of variables as functions: they are those of the declared types."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.errors import ModelError

# The declared type, that of the unconstrained value, that of the constrained one, and what follows
# the value in calls.
CASES = {
    "lower_bound": ("real<lower=2>", "real", "real", "2"),
    "upper_bound": ("vector<upper=-1>[3]", "vector[3]", "vector[3]", "-1"),
    "lower_upper_bound": (
        "array[2] real<lower=-1, upper=2>", "array[2] real", "array[2] real", "-1, 2"
    ),
    "offset_multiplier": (
        "matrix<offset=1, multiplier=3>[2, 2]", "matrix[2, 2]", "matrix[2, 2]", "1, 3"
    ),
    "ordered": ("ordered[3]", "vector[3]", "vector[3]", ""),
    "positive_ordered": (
        "array[2] positive_ordered[3]", "array[2] vector[3]", "array[2] vector[3]", ""
    ),
    "simplex": ("simplex[4]", "vector[3]", "vector[4]", ""),
    "unit_vector": ("unit_vector[3]", "vector[3]", "vector[3]", ""),
    "sum_to_zero": ("sum_to_zero_vector[3]", "vector[2]", "vector[3]", ""),
    "sum_to_zero:matrix": ("sum_to_zero_matrix[3, 2]", "matrix[2, 1]", "matrix[3, 2]", ""),
    "stochastic_row": ("row_stochastic_matrix[2, 3]", "matrix[2, 2]", "matrix[2, 3]", ""),
    "stochastic_column": ("column_stochastic_matrix[3, 2]", "matrix[2, 2]", "matrix[3, 2]", ""),
    "cholesky_factor_corr": ("cholesky_factor_corr[3]", "vector[3]", "matrix[3, 3]", "3"),
    "cholesky_factor_cov": ("cholesky_factor_cov[2]", "vector[3]", "matrix[2, 2]", "2, 2"),
    "cholesky_factor_cov:tall": (
        "cholesky_factor_cov[3, 2]", "vector[5]", "matrix[3, 2]", "3, 2"
    ),
    "corr_matrix": ("corr_matrix[3]", "vector[3]", "matrix[3, 3]", "3"),
    "cov_matrix": ("array[2] cov_matrix[2]", "array[2] vector[3]", "array[2] matrix[2, 2]", "2"),
}  # fmt: skip
# Where Stan has the elements of a triangle row by row: their places in a declared parameter.
ORDERS = {
    "cholesky_factor_cov": [0, 2, 1],
    "cholesky_factor_cov:tall": [0, 2, 1, 3, 4],
    "cov_matrix": [0, 2, 1, 3, 5, 4],
}
WITH_SIZES = ("cholesky_factor_corr", "cholesky_factor_cov", "corr_matrix", "cov_matrix")


def density_of(code, engine="numpy", **data):
    return ModelDensity(Stan(code)(**data), engine=engine)


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("case", CASES)
def test_they_are_those_of_the_declared_types(case, engine):
    declared, raw, typed, more = CASES[case]
    name, rest = case.partition(":")[0], f", {more}" if more else ""
    back = "" if name in WITH_SIZES else rest
    first = "x" if typed == "real" else f"x[{', '.join(['1'] * typed.count(','))}1]"
    first = "x[1, 1, 1]" if case == "cov_matrix" else "x[1, 1]" if "matrix" in typed else first
    first = "x[1, 2]" if case == "positive_ordered" else first
    model = f"model {{ target += -square({first}) + 2 * {first}; }}"
    one = density_of(f"parameters {{ {declared} x; }} {model}", engine)
    two = density_of(
        f"""
        parameters {{ {raw} y; }}
        transformed parameters {{ {typed} x = {name}_jacobian(y{rest}); }}
        {model}
        generated quantities {{
          {typed} again = {name}_constrain(y{rest});
          {raw} back = {name}_unconstrain(x{back});
        }}
        """,
        engine,
    )
    x = np.random.default_rng(len(case)).normal(size=(5, one.dim))
    order = ORDERS.get(case, slice(None))
    (found, slope), (expected, other) = two(x), one(x[:, order])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slope[:, order], other, rtol=1e-12, atol=1e-12)
    values = two.constrain(x)
    expected = one.constrain(x[:, order])["x"]
    np.testing.assert_allclose(values["x"], expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(values["again"], expected, rtol=1e-12, atol=1e-12)
    if name != "unit_vector":  # of which lengths are lost
        np.testing.assert_allclose(values["back"], values["y"], rtol=1e-9, atol=1e-9)


def test_triangles_are_read_row_by_row():
    density = density_of("""
        parameters { vector[6] u; }
        transformed parameters {
          matrix[3, 3] L = cholesky_factor_cov_constrain(u, 3, 3);
          matrix[3, 3] S = cov_matrix_jacobian(u, 3);
        }
    """)
    u = np.array([0.4, -0.3, 0.2, 1.1, -0.7, 0.5])
    L = np.array([[np.exp(0.4), 0, 0], [-0.3, np.exp(0.2), 0], [1.1, -0.7, np.exp(0.5)]])
    values = density.constrain(u[None])
    np.testing.assert_allclose(values["L"][0], L)
    np.testing.assert_allclose(values["S"][0], L @ L.T)
    jacobian = 3 * np.log(2) + 4 * 0.4 + 3 * 0.2 + 2 * 0.5
    np.testing.assert_allclose(density.log_density(u[None]), jacobian)


def test_bounds_of_parameters_and_containers():
    code = """
    data { int N; vector[N] low; }
    parameters { vector[N] y; real a; real z; }
    transformed parameters {
      vector[N] x = lower_bound_jacobian(y, low + a);
      vector[N] each;
      real unbounded = lower_upper_bound_jacobian(z, negative_infinity(), positive_infinity());
      real above = lower_upper_bound_jacobian(z, a, positive_infinity());
      real below = lower_upper_bound_jacobian(z, negative_infinity(), a);
      real between = lower_upper_bound_jacobian(z, a, a + 2);
      for (n in 1:N) each[n] = upper_bound_jacobian(y[n], low[n]);
    }
    """
    for n in (2, 20):
        low = np.linspace(-1, 1, n)
        density = density_of(code, N=n, low=low)
        x = np.random.default_rng(n).normal(size=(4, density.dim))
        v = density.constrain(x)
        y, a, z = v["y"], v["a"], v["z"]
        np.testing.assert_allclose(v["x"], np.exp(y) + low + a[:, None])
        np.testing.assert_allclose(v["each"], low - np.exp(y))
        np.testing.assert_array_equal(v["unbounded"], z)
        np.testing.assert_allclose(v["above"], a + np.exp(z))
        np.testing.assert_allclose(v["below"], a - np.exp(z))
        np.testing.assert_allclose(v["between"], a + 2 * expit(z))
        adds = 2 * y.sum(axis=1) + 2 * z + np.log(2 * expit(z) * expit(-z))
        np.testing.assert_allclose(density.log_density(x), adds)


def test_functions_of_the_program_use_them():
    code = """
    functions {
      vector both_jacobian(vector y) { return simplex_jacobian(y); }
      real lower_bound_constrain(real y, real low) { return y + low; }
    }
    parameters { vector[2] y; }
    transformed parameters { vector[3] x = both_jacobian(y); }
    generated quantities { real own = lower_bound_constrain(3, 4); }
    """
    density = density_of(code)
    declared = density_of("parameters { simplex[3] x; }")
    x = np.array([[0.3, -0.4]])
    np.testing.assert_allclose(density.log_density(x), declared.log_density(x))
    assert density.constrain(x)["own"] == 7


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("generated quantities { real x = lower_bound_jacobian(a, 1); }",
         "the generated quantities block. lower_bound_constrain computes the same"),
        ("transformed parameters { real x = lower_bound_jacobian(a); }", r"than \(real\)"),
        ("transformed parameters { vector[2] x = simplex_jacobian(a); }", r"than \(real\)"),
        ("transformed parameters { vector[2] x = lower_bound_jacobian(b, b[1:1]); }",
         "bounds of the size of its value"),
        ("transformed parameters { matrix[2, 2] x = corr_matrix_jacobian(b, 2); }",
         "2 by 2 is made of 1 numbers; got 2"),
        ("transformed parameters { real x = lower_bound_unconstrain(1, 2); }",
         "does not satisfy the constraint"),
        ("transformed parameters { vector[1] x = simplex_unconstrain(b); }",
         "simplex_unconstrain has no derivative here"),
        ("transformed parameters { vector[2] x = upper_bound_jacobian(b, [1, -log(0)]'); }",
         "finite, or infinite all together"),
    ],
)  # fmt: skip
def test_mistakes(block, says):
    with pytest.raises(ModelError, match=says):
        Stan(f"parameters {{ real a; vector[2] b; }} {block}")()
