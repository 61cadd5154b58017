"""Names are looked for when a program is read, also where nothing runs before there are draws."""

import pytest

from probmodel import ModelError, Stan

CODE = """functions {
  real twice(real x) { %s return 2 * x; }
  void nothing(vector x) { print(x); }
  vector slope(real t, vector y, real k) { return -k * y; }
}
data { int N; vector[N] y; }
parameters { real mu; vector[2] b; }
model {
  real half = mu / 2;
  if (N > 1000) { %s }
  y ~ normal(half, 1);
}
generated quantities {
  %s
}
"""


def read(inside="", model="", generated=""):
    return Stan(CODE % (inside, model, generated))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"generated": "real a = half;"}, r":14: column 12: 'half' is not declared here\. Known"),
        ({"generated": "{ real s; } real a = s;"}, "column 24: 's' is not declared here"),
        ({"generated": "vector[M] a;"}, "column 10: 'M' is not declared here"),
        ({"generated": "if (mu > 100) print(nu);"}, "'nu' is not declared here"),
        ({"generated": "for (i in 1:N) {} real a = i;"}, "'i' is not declared here"),
        ({"generated": "real a = normal_rng(mu, sigma);"}, "'sigma' is not declared here"),
        ({"generated": "array[3] vector[2] a = ode_rk45(slope, b, 0, {1.0, 2, 3}, k);"},
         "'k' is not declared here"),
        ({"model": "mu ~ normal(0, tau);"}, ":10: column 34: 'tau' is not declared here"),
        ({"inside": "real a = mu;"}, ":2: column 33: 'mu' is not declared here"),
        ({"generated": "real a = nothing(b);"},
         "column 12: nothing returns nothing: it is called as a statement"),
        ({"model": "target += 1 + nothing(b);"}, "nothing returns nothing"),
        ({"inside": "real a = sum(nothing(x));"}, "nothing returns nothing"),
    ],
)  # fmt: skip
def test_names_that_are_not_declared_are_found_early(where, message):
    with pytest.raises(ModelError, match=message):
        read(**where)


def test_names_that_are_declared_are_found():
    read(
        "for (i in 1:2) { real u = x; print(u, i); }",
        "nothing(b); { real s = 1; target += s; }",
        """array[2] vector[2] z = ode_rk45(slope, b, 0, {1.0, 2.0}, mu);
        { real s = 1; for (v in b) { real t = v + s; print(t, z[1]); } }
        tuple(real, vector[2]) p = (mu, b); vector[N] q = y + p.1;""",
    )
