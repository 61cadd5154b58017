"""Generated quantities that are drawn at random: moments, supports, kinds and shapes."""

import numpy as np
import pytest
from scipy import stats

from probmodel import Stan, infer
from probmodel.density.posterior import ModelDensity
from probmodel.errors import DataError, ModelError, SamplingWarning
from probmodel.stan.generated import Generated

TEXT = """
functions {
  real shifted_rng(real mu) { return mu + normal_rng(0, 1); }
  array[] int flips_rng(int n, real p) { array[n] int x; for (i in 1:n) x[i] = bernoulli_rng(p);
    return x; }
}
data { int N; vector[2] m; matrix[2, 2] S; }
transformed data { real fixed = 2; }
parameters { real mu; real<lower=0> s; simplex[3] p; }
model { mu ~ normal(0, 1); s ~ exponential(1); }
generated quantities {
  real x = normal_rng(mu, s);
  array[N] real xs = normal_rng(rep_vector(mu, N), s);
  vector[N] loop;
  int k = poisson_rng(4);
  array[3] int ks = binomial_rng(10, {0.1, 0.5, 0.9});
  int c = categorical_rng(p);
  vector[2] z = multi_normal_rng(m, S);
  array[2] vector[2] zs = multi_normal_rng({m, 2 * m}, S);
  vector[3] d = dirichlet_rng([1, 2, 3]');
  array[3] int counts = multinomial_rng(p, 7);
  matrix[2, 2] R = lkj_corr_rng(2, 1);
  matrix[2, 2] W = wishart_rng(5, S);
  real y = shifted_rng(mu);
  array[4] int f = flips_rng(4, 0.25);
  real g = gamma_rng(3, fixed);
  real picked;
  real many = 0;
  if (bernoulli_rng(0.5)) picked = uniform_rng(2, 3); else picked = -1;
  for (n in 1:N) loop[n] = student_t_rng(5, mu + n, s);
  while (many < 5) many += uniform_rng(0, 1);
}
"""


@pytest.fixture(
    scope="module", params=[1000, pytest.param(4000, marks=pytest.mark.statistical)], ids=str
)
def drawn(request):
    draws = request.param
    model = Stan(TEXT)(N=3, m=[1.0, -1.0], S=[[2.0, 0.5], [0.5, 1.0]])
    density = ModelDensity(model)
    x = np.tile([[0.4, -0.2, 0.3, -0.1]], (draws, 1))
    x[:, 0] += 1e-9 * np.arange(draws)
    return density, x, density.constrain(x)


def assert_mean(found, expected, sd):
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - expected), 5 * sd / len(found) ** 0.5)


def test_moments(drawn):
    _, _, v = drawn
    mu, s, p = v["mu"][0], v["s"][0], v["p"][0]
    assert_mean(v["x"], mu, s)
    assert_mean(v["x"] ** 2, mu**2 + s**2, 2 * s * (s + abs(mu)))
    assert_mean(v["xs"], [mu] * 3, s)
    assert_mean(v["loop"], mu + np.array([1, 2, 3]), s * (5 / 3) ** 0.5)
    assert_mean(v["k"], 4, 2)
    assert_mean(v["ks"], [1, 5, 9], 10**0.5 / 2)
    assert_mean(v["c"] == 2, p[1], 0.5)
    assert_mean(v["z"], [1, -1], 2**0.5)
    assert_mean(v["z"][:, 0] * v["z"][:, 1], 0.5 - 1, 3)
    assert_mean(v["zs"], [[1, -1], [2, -2]], 2**0.5)
    assert_mean(v["d"], np.array([1, 2, 3]) / 6, 0.3)
    assert_mean(v["counts"], 7 * p, 7**0.5)
    assert_mean(v["R"][:, 0, 1], 0, 3**-0.5)
    assert_mean(v["W"], 5 * np.array([[2, 0.5], [0.5, 1]]), 8)
    assert_mean(v["y"], mu, 1)
    assert_mean(v["f"], 0.25, 0.5)
    assert_mean(v["g"], 1.5, 1)
    assert stats.kstest((v["x"] - mu) / s, "norm").pvalue > 1e-4
    assert stats.kstest(v["g"], "gamma", (3, 0, 0.5)).pvalue > 1e-4
    assert abs(np.corrcoef(v["x"], v["y"])[0, 1]) < 0.1


def test_kinds_shapes_and_supports(drawn):
    density, _, v = drawn
    assert {d.name: d.shape for d in density.variables}.items() >= {
        "xs": (3,), "zs": (2, 2), "counts": (3,), "R": (2, 2), "f": (4,), "picked": (),
    }.items()  # fmt: skip
    for name in ("k", "ks", "c", "counts", "f"):
        assert v[name].dtype.kind == "i", name
    assert set(np.unique(v["c"])) == {1, 2, 3}
    assert (v["counts"].sum(axis=1) == 7).all()
    np.testing.assert_allclose(v["d"].sum(axis=1), 1.0)
    np.testing.assert_allclose(v["R"][:, [0, 1], [0, 1]], 1.0)
    inside = (v["picked"] >= 2) & (v["picked"] <= 3)
    assert (inside | (v["picked"] == -1)).all()
    assert abs(inside.mean() - 0.5) < 0.05
    assert ((v["many"] >= 5) & (v["many"] < 6)).all()


def test_the_same_draws_give_the_same_quantities(drawn):
    density, x, v = drawn
    again = density.constrain(x[:50])
    once_more = density.constrain(x[:50])
    for name in again:
        np.testing.assert_array_equal(again[name], once_more[name])
    assert not np.array_equal(v["x"][:50], v["x"][50:100])


def test_generators_refuse_what_they_cannot_draw_from():
    program = "parameters { real s; } generated quantities { real x = normal_rng(0, s); }"
    density = ModelDensity(Stan(program)())
    with pytest.raises(ModelError, match="column"):
        density.constrain(np.array([[-1.0]]))


FAILING = """
parameters { real x; }
model { x ~ normal(0, 1); }
generated quantities {
  real a = 3 * x;
  array[2] int k = {1, 2};
  if (x > 1) %s("x is ", x);
  matrix[2, 2] L = cholesky_decompose([[1, x], [x, 1]]);
}
"""


def test_quantities_are_nan_at_draws_where_they_cannot_be_computed():
    generated = Stan(FAILING % "reject")()._generated
    x = np.array([0.5, 2.0, -0.2, -1.5, 0.1])
    with pytest.warns(SamplingWarning, match="NaN at draws where.* reject: x is"):
        found = generated.at({"x": x})
    good = np.abs(x) < 1
    np.testing.assert_array_equal(found["a"], np.where(good, 3 * x, np.nan))
    np.testing.assert_array_equal(found["k"], np.where(good[:, None], [1, 2], np.nan))
    expected = np.linalg.cholesky(np.stack([np.eye(2) + v * (1 - np.eye(2)) for v in x[good]]))
    np.testing.assert_array_equal(found["L"][good], expected)
    assert np.isnan(found["L"][~good]).all()
    assert generated.at({"x": x[good]})["k"].dtype.kind == "i"


def test_quantities_that_cannot_be_computed_at_any_draw_are_an_error():
    with pytest.raises(DataError, match="reject: x is"):
        Stan(FAILING % "reject")()._generated.at({"x": np.array([2.0, 3.0])})
    with pytest.raises(DataError, match=r"not positive definite\.\n"):
        Stan(FAILING % "reject")()._generated.at({"x": np.array([-2.0])})
    with pytest.raises(DataError, match="fatal_error: x is"):
        Stan(FAILING % "fatal_error")()._generated.at({"x": np.array([0.5, 2.0])})


def test_the_block_runs_once_for_all_draws(monkeypatch):
    """A run for a few draws takes as long as one for all of them."""
    program = Stan(
        "parameters { real a; } model { a ~ normal(0, 1); } generated quantities { int n = 3; }"
    )
    model = program()
    runs, run = [], Generated._run
    monkeypatch.setattr(
        Generated, "_run", lambda self, *args: runs.append(args) or run(self, *args)
    )
    infer(model, draws=20, warmup=50, chains=2, seed=1, quiet=True)
    assert len(runs) == 1
