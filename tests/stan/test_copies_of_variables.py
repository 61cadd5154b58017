"""What is assigned is a copy: a change of either variable leaves the other as it is."""

import numpy as np
import pytest

from probmodel.density import ModelDensity
from probmodel.stan.stan_model import Stan

CODE = """
functions {
  vector own_copy(tuple(vector, real) x) { tuple(vector[3], real) u = x; u.1[1] = 9; return u.1; }
  vector first(tuple(vector, real) x) { return x.1; }
}
data { vector[3] w; matrix[1, 3] W; tuple(vector[3], real) d; }
parameters { vector[3] a; row_vector[3] b; matrix[3, 2] M; matrix[1, 3] R; real q; }
model {
  tuple(vector[3], real) t = (a + 0, q);
  array[2] tuple(vector[3], real) T = {t, (2 * a, q)};
  {
    %s
  }
  target += sum(w) * q + sum(W) * q^2 + sum(d.1) * a[1] + sum(a) + sum(b) + sum(M) + sum(R);
  target += 3 * sum(t.1) + dot_product(T[1].1, [1, 2, 3]') + 5 * sum(T[2].1);
}
"""
DATA = {"w": [1.0, 2.0, 3.0], "W": [[1.0, 2.0, 3.0]], "d": ([0.1, 0.2, 0.3], 0.4)}
# What is done to copies, and nothing to the variables that are looked at.
COPIES = (
    "row_vector[3] u = a'; u[1] = 9;",
    "vector[3] u; u = b'; u[{1, 3}] = [9, q]';",
    "row_vector[3] u = w'; u[1] = 9;",
    "matrix[3, 1] u = R'; u[1, 1] = 9;",
    "matrix[3, 1] u = W'; u[ : , 1] = [9, 9, 9]';",
    "matrix[3, 2] u = (M')'; u[1] = [9, 9];",
    "for (i in 1:9) { row_vector[3] u = a'; u[1] = i; }",
    "vector[3] u = t.1; u[1] = 9;",
    "row_vector[3] u = T[1].1'; u[1] = 9;",
    "tuple(vector[3], real) u = t; u.1[1] = 9; u.2 = 9;",
    "array[2] tuple(vector[3], real) u = T; u[1].1[2] = 9; u[2] = (a, 1); u[2].1[1] = 9;",
    "vector[3] u = own_copy(t);",
    "vector[3] u = first(T[2]); u[1] = 9;",
    "vector[3] u; real v; (u, v) = d; u[1] = 9;",
    "for (x in T) { tuple(vector[3], real) u = x; u.1[1] = 9; }",
    "tuple(vector[3], real) u = d; if (q > 0) u.1[1] = 9; else u.1[2] = 9;",
)


def density(statements, x):
    return ModelDensity(Stan(CODE % statements)(**DATA)).log_density(x)


@pytest.mark.parametrize("statements", COPIES)
def test_a_changed_copy_leaves_the_variable_alone(statements):
    x = np.random.default_rng(1).standard_normal((4, 16))
    np.testing.assert_allclose(density(statements, x), density("", x), rtol=1e-12)


CHANGES = {
    "T[1].1[1] = 9;": lambda a, q: 9 - a[:, 0],
    "T[1] = t; t.1[1] = 9;": lambda a, q: 3 * (9 - a[:, 0]),
    "t.1[1] = 9;": lambda a, q: 3 * (9 - a[:, 0]),
    "t = T[2]; T[2].1[1] = 9;": lambda a, q: 3 * a.sum(1) + 5 * (9 - 2 * a[:, 0]),
    "if (q > 0) t.1[1] = 9; else T[1].1[2] = 9;": lambda a, q: np.where(
        q > 0, 3 * (9 - a[:, 0]), 2 * (9 - a[:, 1])
    ),
}


@pytest.mark.parametrize("statements", CHANGES)
def test_a_changed_variable_leaves_its_copies_alone(statements):
    x = np.random.default_rng(2).standard_normal((6, 16))
    expected = CHANGES[statements](x[:, :3], x[:, -1])
    found = density(statements, x) - density("", x)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
