"""Types and their constraints, with Jacobians by hand; bounds that depend on other things."""

import numpy as np
from scipy.stats import norm
from stan_program import stan

normal = norm.logpdf


@stan(
    """
    data { int N; real a; real b; vector[N] low; array[N] real<lower=a> y; }
    transformed data { real<lower=a, upper=b> middle = (a + b) / 2; array[2] real o = {1, 2}; }
    parameters {
      real mu;
      real<lower=mu> above;
      real<upper=above> below;
      real<lower=below, upper=above> between;
      vector<lower=low>[N] each;
      vector<lower=low, upper=[b + 1, b + 2, b + 3]'>[N] boxed;
      array[2] real<lower=o[2]> same;
      real<offset=a, multiplier=2> affine;
      vector<offset=mu, multiplier=3>[N] shifted;
      vector<multiplier=above - mu>[N] scaled;
      matrix<lower=0, upper=1>[2, 2] M;
      array[2] vector<lower=mu>[2] nested;
      row_vector<upper=-1>[2] r;
      real<lower=negative_infinity(), upper=2> half;
    }
    transformed parameters {
      real<lower=0> positive = above - mu;
      vector<lower=0>[N] gap = each - low;
    }
    model {
      mu ~ normal(0, 1);
      above ~ exponential(1);
      each ~ normal(0, 1);
      boxed ~ normal(1, 2);
      between ~ normal(below, 1);
      below ~ normal(0, 1);
      same ~ normal(middle, 1);
      affine ~ normal(1, 2);
      shifted ~ normal(mu, 3);
      scaled ~ normal(0, above - mu);
      to_vector(M) ~ uniform(0, 1);
      for (i in 1:2) nested[i] ~ normal(0, 1);
      r ~ normal(0, 1);
      half ~ normal(0, 1);
      y ~ normal(mu, 1);
    }
    """,
    N=3,
    a=-1.0,
    b=2.0,
    low=[-1.0, 0.0, 1.0],
    y=[0.2, -0.5, 1.0],
    spread=0.3,
)
def bounds(v):
    # `above` is positive at the points that are tried.
    total = normal(v.mu) - v.above + normal(v.each).sum() + normal(v.boxed, 1, 2).sum()
    total += normal(v.between, v.below) + normal(v.below) + normal(v.same, 0.5).sum()
    total += normal(v.affine, 1, 2) + normal(v.shifted, v.mu, 3).sum()
    total += normal(v.scaled, 0, v.above - v.mu).sum() + normal(v.nested).sum()
    total += normal(v.r).sum() + normal(v.half) + normal(v.y, v.mu).sum()
    return total, {"positive": v.above - v.mu, "gap": v.each - v.low}


@stan(
    """
    data { int K; }
    parameters {
      simplex[K] p; unit_vector[K] u; ordered[K] o; positive_ordered[K] po;
      sum_to_zero_vector[K] z; cov_matrix[K] S; corr_matrix[K] R; cholesky_factor_cov[K] L;
      cholesky_factor_cov[K + 1, K] tall; cholesky_factor_corr[K] C;
      array[2] simplex[K] ps; array[2] ordered[2] os; array[2, 1] corr_matrix[2] Rs;
      row_stochastic_matrix[2, K] rs; column_stochastic_matrix[K, 2] cs;
      sum_to_zero_matrix[2, K] zm; array[2] unit_vector[2] us;
    }
    model {
      target += p[1] + 2 * u[2] + o[K] - po[1] + z[1] ^ 2 - trace(S) - R[1, 2] - sum(square(L));
      target += -sum(square(tall)) + C[2, 1] + ps[2, 1] + os[1, 2] - Rs[2, 1, 1, 2] + rs[1, 2];
      target += cs[2, 1] - zm[2, 1] + us[2, 2];
      target += -dot_self(o) - dot_self(po) - dot_self(z) - sum(square(zm));
      target += -sum(square(os[1])) - sum(square(os[2]));
    }
    """,
    {"K": 3},
    {"K": 2},
)
def constrained_types(v):
    total = v.p[0] + 2 * v.u[1] + v.o[-1] - v.po[0] + v.z[0] ** 2 - np.trace(v.S) - v.R[0, 1]
    total += -(v.L**2).sum() - (v.tall**2).sum() + v.C[1, 0] + v.ps[1, 0] + v.os[0, 1]
    total += -v.Rs[1, 0, 0, 1] + v.rs[0, 1] + v.cs[1, 0] - v.zm[1, 0] + v.us[1, 1]
    total -= sum((x**2).sum() for x in (v.o, v.po, v.z, v.zm, v.os))
    for simplex in (v.p, *v.ps, *v.rs, *v.cs.T):
        assert np.isclose(simplex.sum(), 1)
        assert (simplex > 0).all()
    for unit in (v.u, *v.us):
        assert np.isclose(unit @ unit, 1)
    for matrix in (v.R, *v.Rs[:, 0]):
        assert np.allclose(np.diag(matrix), 1)
        assert np.linalg.eigvalsh(matrix).min() > 0
    assert (np.diff(v.o) > 0).all()
    assert (np.diff(v.os) > 0).all()
    assert v.po[0] > 0
    assert np.isclose(v.z.sum(), 0)
    assert np.allclose(v.zm.sum(0), 0)
    assert np.allclose(v.zm.sum(1), 0)
    assert np.allclose(np.triu(v.L, 1), 0)
    assert np.allclose((v.C**2).sum(1), 1)
    assert v.tall.shape == (v.K + 1, v.K)
    return total


# Programs whose whole log density, Jacobians included, is that of the unconstrained scale.

JACOBIANS = {
    "lower bound": (
        "parameters { real<lower=2> x; } model { x ~ normal(3, 1); }",
        lambda v: normal(v["x"], 3) + np.log(v["x"] - 2),
    ),
    "upper bound": (
        "parameters { real<upper=2> x; } model { x ~ normal(3, 1); }",
        lambda v: normal(v["x"], 3) + np.log(2 - v["x"]),
    ),
    "both bounds": (
        "parameters { real<lower=1, upper=4> x; } model { x ~ normal(3, 1); }",
        lambda v: normal(v["x"], 3) + np.log((v["x"] - 1) * (4 - v["x"]) / 3),
    ),
    "bounds of others": (
        """parameters { real a; array[2] real<lower=a> x; vector<lower=a, upper=x[1]>[2] y; }
        model { a ~ normal(0, 1); x ~ normal(a, 2); y ~ normal(0, 1); }""",
        lambda v: (
            normal(v["a"])
            + normal(v["x"], v["a"], 2).sum()
            + normal(v["y"]).sum()
            + np.log(v["x"] - v["a"]).sum()
            + np.log((v["y"] - v["a"]) * (v["x"][0] - v["y"]) / (v["x"][0] - v["a"])).sum()
        ),
    ),
    "affine": (
        """parameters { real<lower=0> s; vector<offset=1, multiplier=s>[3] x; }
        model { s ~ exponential(1); x ~ normal(0, 1); }""",
        lambda v: -v["s"] + np.log(v["s"]) + normal(v["x"]).sum() + 3 * np.log(v["s"]),
    ),
    "ordered": (
        "parameters { ordered[3] x; } model { x ~ normal(0, 1); }",
        lambda v: normal(v["x"]).sum() + np.log(np.diff(v["x"])).sum(),
    ),
    "positive ordered": (
        "parameters { positive_ordered[3] x; } model { x ~ normal(0, 1); }",
        lambda v: normal(v["x"]).sum() + np.log(np.diff(v["x"], prepend=0)).sum(),
    ),
    "tall factors": (
        """parameters { cholesky_factor_cov[4, 2] L; array[2] cholesky_factor_cov[3, 1] Ls; }
        model { for (k in 1:2) L[k:4, k] ~ normal(0, 1); to_vector(Ls[1]) ~ normal(0, 1);
          Ls[2, : , 1] ~ normal(1, 1); }""",
        lambda v: (
            normal(v["L"][:, 0]).sum()
            + normal(v["L"][1:, 1]).sum()
            + normal(v["Ls"][0]).sum()
            + normal(v["Ls"][1], 1).sum()
            + np.log(v["L"][0, 0] * v["L"][1, 1] * v["Ls"][0, 0, 0] * v["Ls"][1, 0, 0])
        ),
    ),
    "adjustments of the program's own": (
        """parameters { real x; vector[2] y; }
        transformed parameters { real z = exp(x); vector[2] w = inv_logit(y); }
        model {
          z ~ gamma(2, 1); target += x;
          w ~ beta(2, 2); target += log(w) + log1m(w);
        }""",
        lambda v: (
            2 * np.log(v["z"]) - v["z"] + (np.log(6) + 2 * np.log(v["w"] * (1 - v["w"]))).sum()
        ),
    ),
    "statements of Jacobians": (
        """functions { real positive_jacobian(real u) { jacobian += u; return exp(u); } }
        parameters { real x; vector[2] y; }
        transformed parameters {
          real z = positive_jacobian(x);
          vector[2] w = exp(y);
          jacobian += sum(y);
        }
        model { z ~ exponential(1); w ~ exponential(2); }""",
        lambda v: -v["z"] + v["x"] + v["y"].sum() + 2 * np.log(2) - 2 * v["w"].sum(),
    ),
}
