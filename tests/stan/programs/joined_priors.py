"""Priors of the elements of arrays of vectors and matrices, by statements of their own."""

import numpy as np
from scipy import stats
from scipy.special import betaln
from scipy.stats import norm
from stan_program import noise, stan

ROOT = [[1.0, 0.0], [0.6, 0.9]]


def lkj(r, eta):
    """Log density of a correlation of two variables."""
    return (eta - 1) * np.log1p(-r * r) - (2 * eta - 1) * np.log(2) - betaln(eta, eta)


@stan(
    """
    data { vector[3] a; vector[3] b; matrix[2, 2] S; vector[4] y; }
    parameters {
      real<lower=0> s; vector[2] m;
      array[2] simplex[3] theta; array[3] simplex[3] later; array[2] cholesky_factor_corr[2] L;
      array[3] vector[2] beta; matrix[2, 2] rows; array[2] vector[2] walk;
      array[2, 2] vector[2] grid;
    }
    model {
      s ~ gamma(2, 1);
      m ~ normal(0, 1);
      theta[1] ~ dirichlet(a);
      theta[2] ~ dirichlet(b);
      later[3] ~ dirichlet(a);
      for (k in 1:2) later[k] ~ dirichlet(rep_vector(s * k, 3));
      L[2] ~ lkj_corr_cholesky(2);
      L[1] ~ lkj_corr_cholesky(s);
      beta[2] ~ multi_normal(m, S);
      beta[{3, 1}] ~ multi_normal(-m, s * S);
      rows[1] ~ multi_student_t(4, m, S);
      target += multi_student_t_lpdf(rows[2] | 5, [1, s]', S);
      walk[1] ~ multi_normal(m, S);
      walk[2] ~ multi_normal(walk[1], S);
      grid[1] ~ multi_normal(m, S);
      for (k in 1:2) grid[2, k] ~ multi_normal(m * k, S);
      y ~ normal(beta[3, 1] + theta[1, 2] + rows[2, 1] + L[2, 2, 1], s);
    }
    """,
    a=[1.0, 2.0, 3.0], b=[4.0, 0.5, 2.0], S=np.array(ROOT) @ np.transpose(ROOT), y=noise(4),
    spread=0.5,
)  # fmt: skip
def elements_with_priors_of_their_own(v):
    m, s, S = v.m, v.s, np.asarray(v.S)

    def dirichlet(x, alpha):
        return stats.dirichlet.logpdf(x / x.sum(), alpha)

    def gauss(x, mean, cov):
        return stats.multivariate_normal.logpdf(x, mean, cov)

    total = stats.gamma.logpdf(s, 2) + norm.logpdf(m).sum()
    total += dirichlet(v.theta[0], v.a) + dirichlet(v.theta[1], v.b) + dirichlet(v.later[2], v.a)
    total += dirichlet(v.later[0], [s] * 3) + dirichlet(v.later[1], [2 * s] * 3)
    total += lkj(v.L[0][1, 0], s) + lkj(v.L[1][1, 0], 2.0)
    total += gauss(v.beta[1], m, S) + gauss(v.beta[0], -m, s * S) + gauss(v.beta[2], -m, s * S)
    total += stats.multivariate_t.logpdf(v.rows[0], m, S, 4)
    total += stats.multivariate_t.logpdf(v.rows[1], [1, s], S, 5)
    total += gauss(v.walk[0], m, S) + gauss(v.walk[1], v.walk[0], S)
    total += sum(gauss(v.grid[0, k], m, S) + gauss(v.grid[1, k], (k + 1) * m, S) for k in (0, 1))
    mean = v.beta[2, 0] + v.theta[0, 1] + v.rows[1, 0] + v.L[1, 1, 0]
    return total + norm.logpdf(v.y, mean, s).sum()
