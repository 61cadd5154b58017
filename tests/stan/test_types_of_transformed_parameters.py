"""Transformed parameters that are not of their type: such points have no density."""

import numpy as np
import pytest

from probmodel import Stan, infer
from probmodel.density import as_posterior

X = np.array([[0.1, 0.5, 0.9], [0.5, 0.1, 0.9], [-0.1, 0.5, 0.9], [0.9, 0.5, 0.1]])
RIGHT = np.ones(4, dtype=bool)
# By declaration: what is assigned, and at which points it is of its type.
CASES = {
    "ordered[3] t": ("t = c;", [True, False, True, False]),
    "positive_ordered[3] t": ("t = c;", [True, False, False, False]),
    "ordered[1] t": ("t = c[2:2];", RIGHT),
    "positive_ordered[1] t": ("t = c[1:1];", [True, True, False, True]),
    "array[2] ordered[2] t": ("t[1] = c[1:2]; t[2] = c[2:3];", [True, False, True, False]),
    "simplex[2] t": ("t = [c[1], 1 - c[1]]';", [True, True, False, True]),
    "array[2] simplex[3] t": ("t[1] = softmax(c); t[2] = c;", ~RIGHT),
    "simplex[3] t": ("t = softmax(c);", RIGHT),
    "simplex[1] t": ("t[1] = 1 + 0 * log(c[1]);", [True, True, False, True]),
    "ordered[2] t": ("t = [1 + log(c[1]), 9]';", [True, True, False, True]),
    "unit_vector[3] t": ("t = c / sqrt(dot_self(c));", RIGHT),
    "unit_vector[2] t": ("t = c[1:2];", ~RIGHT),
    "sum_to_zero_vector[3] t": ("t = c - mean(c);", RIGHT),
    "sum_to_zero_vector[2] t": ("t = [c[1], c[2]]' - 1;", ~RIGHT),
    "sum_to_zero_matrix[2, 2] t": ("t = [[c[1], -c[1]], [-c[1], c[1]]];", RIGHT),
    "sum_to_zero_matrix[2, 3] t": ("t[1] = c'; t[2] = -c';", ~RIGHT),
    "row_stochastic_matrix[2, 3] t": ("t[1] = softmax(c)'; t[2] = softmax(-c)';", RIGHT),
    "column_stochastic_matrix[3, 2] t": ("t[, 1] = softmax(c); t[, 2] = softmax(-c);", RIGHT),
    "column_stochastic_matrix[2, 3] t": ("t[1] = softmax(c)'; t[2] = softmax(-c)';", ~RIGHT),
    "cov_matrix[2] t": ("t = [[1, tanh(c[1])], [tanh(c[1]), 1]];", RIGHT),
}


@pytest.mark.parametrize("declaration", CASES)
@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_points_at_which_it_is_not_of_its_type(declaration, engine):
    assigned, right = CASES[declaration]
    program = f"""
        parameters {{ vector[3] c; }}
        transformed parameters {{ {declaration}; {assigned} }}
        model {{ c ~ normal(0, 1); }}"""
    density = as_posterior(Stan(program)())
    density.use_engine(engine)
    found = density(X)
    expected = -0.5 * np.sum(X**2 + np.log(2.0 * np.pi), axis=1)
    np.testing.assert_allclose(found.logp, np.where(right, expected, -np.inf), rtol=1e-13)
    np.testing.assert_allclose(found.grad[right], -X[right], rtol=1e-13)


def test_an_ordered_vector_is_sampled_in_its_order():
    program = """
        parameters { vector[3] c; }
        transformed parameters { ordered[3] t = c; }
        model { c ~ normal(0, 1); }"""
    fit = infer(Stan(program)(), seed=1, quiet=True)
    draws = fit.posterior["t"].values.reshape(-1, 3)
    assert (np.diff(draws) > 0).all()
    # Means of the order statistics of three normal numbers.
    expected = 1.5 / np.sqrt(np.pi) * np.array([-1.0, 0.0, 1.0])
    error = draws.std(axis=0) / np.sqrt(400.0)  # each has far more effective draws than that
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - expected), 4.0 * error)
