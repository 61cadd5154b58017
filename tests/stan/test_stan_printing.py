"""Bound models of Stan programs as text, tables and graphs, and what their classes say."""

import numpy as np
import pytest

from probmodel import DataError, ModelError, Stan, check_model, infer, to_dot, to_svg

SCHOOLS = """
data {
  int<lower=0> J;
  int unused;
  vector[J] y;
  vector<lower=0>[J] sigma;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] theta;
}
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 5);
  theta ~ normal(mu, tau);
  y ~ normal(theta, sigma);
}
"""
GARCH = """
data {
  int<lower=1> T;
  array[T] real r;
}
parameters {
  real<lower=0> a;
  real<lower=0, upper=1> b;
}
transformed parameters {
  array[T] real<lower=0> scale;
  scale[1] = 1;
  for (t in 2:T) scale[t] = sqrt(a * r[t - 1]^2 + b * scale[t - 1]^2);
}
model {
  a ~ exponential(1);
  r ~ normal(0, scale);
}
"""
DEEP = """
data {
  int n;
}
parameters {
  real x;
}
model {
  real y = x;
  for (i in 1:n) {
    if (i % 2 == 0) y = sin(y) + i;
    else y = exp(-y * y) * i;
  }
  target += y;
}
"""


@pytest.fixture
def schools():
    return Stan(SCHOOLS, name="Schools")(J=3, unused=1, y=[1.0, 2.0, 3.0], sigma=[1.0, 1.0, 2.0])


def garch(n):
    return Stan(GARCH, name="Garch")(T=n, r=np.random.default_rng(1).normal(size=n))


def test_text_has_a_line_for_each_variable(schools):
    assert str(schools).splitlines() == [
        "Schools",
        "  data",
        "    J",
        "    unused",
        "    sigma[sigma_dim_0]                      (3)",
        "  parameters",
        "    mu ~ Normal(0, 5)",
        "    tau ~ Normal(0, 5), lower=0",
        "    theta ~ Normal(mu, tau) (standardised)  (3)",
        "  observed",
        "    y ~ Normal(theta, [1, 1, 2])            (3)",
    ]


@pytest.mark.parametrize("n", [6, 200])
def test_transformed_parameters_are_printed_by_their_names(n):
    lines = str(garch(n)).splitlines()
    assert any(line.startswith("    r ~ Normal(0, scale) ") for line in lines)
    (definition,) = (line for line in lines if line.startswith("    scale = "))
    assert len(definition) < 400


@pytest.mark.parametrize("n", [30, 2000])
def test_unrolled_loops_are_printed_in_outline(n):
    model = Stan(DEEP, name="Deep")(n=n)
    text = str(model)
    assert "..." in text
    assert max(map(len, text.splitlines())) < 500
    assert len(model._repr_latex_()) < 1000
    assert len(model._repr_html_()) < 10_000


def test_bound_models_are_drawn():
    dot = to_dot(garch(6))
    assert {line.strip() for line in dot.splitlines() if "->" in line} == {
        '"a" -> "scale";',
        '"b" -> "scale";',
        '"scale" -> "r";',
    }
    assert '"T"' not in dot  # a number in expressions, from which no edge comes
    svg = to_svg(garch(6))
    assert all(f">{name}" in svg for name in ("a", "b", "scale (6)", "r (6)"))


@pytest.mark.parametrize("function", [to_dot, to_svg, infer])
def test_classes_say_that_they_need_data(function):
    with pytest.raises(ModelError, match=rf"{function.__name__}\(Garch\(T=\.\.\., r=\.\.\.\)\)"):
        function(Stan(GARCH, name="Garch"))


def test_data_are_given_by_name():
    kind = Stan(GARCH, name="Garch")
    with pytest.raises(DataError, match=r"Garch\(T=\.\.\., r=\.\.\.\)"):
        kind([1.0, 2.0])
    with pytest.raises(
        DataError, match=r"not bound to a frame\. Write Garch\(T=\.\.\., r=\.\.\.\)"
    ):
        kind.from_frame(None)


def test_advice_names_the_data_that_the_program_does_not_use(schools):
    report = check_model(schools)
    assert report.ok
    said = [str(advice) for advice in report.advice]
    assert [text for text in said if "nothing uses it" in text] == [
        "unused (<stan>:4): nothing uses it. Use it or leave it out."
    ]
