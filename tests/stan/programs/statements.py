"""Distributions of all mixtures of arguments, truncated, on elements, on the same variable."""

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp
from scipy.stats import norm
from stan_program import below, counts, noise, stan

normal = norm.logpdf


@stan(
    """
    data {
      int N; array[N] real y; vector[N] v; row_vector[N] r; array[2, N] real m; real one;
    }
    parameters {
      real a; vector[N] b; row_vector[N] c; array[N] real<lower=0> s; real<lower=0> t;
    }
    model {
      y ~ normal(a, t);
      y ~ normal(b, t);
      y ~ normal(a, s);
      v ~ normal(b, s);
      v ~ normal(c, s);
      r ~ normal(y, t);
      one ~ normal(b, s);
      one ~ normal(a, t);
      m[1] ~ student_t(4, b, t);
      m[2] ~ student_t(s, a, 2);
      b ~ normal(c, 1);
      c ~ normal(0, s);
      a ~ normal(y, t);
      to_vector(m[1]) ~ double_exponential(a, t);
      append_row(b, a) ~ logistic(0, 1);
      b - a ~ cauchy(0, 1);
      log(s) ~ normal(0, 1);
      target += -log(s);
      target += normal_lpdf(y | b, s) + normal_lpdf({a, t} | 0, 1);
      target += normal_lupdf(y | 0, t);
      t ~ std_normal();
    }
    """,
    N=2,
    y=noise(2),
    v=noise(2, seed=1),
    r=noise(2, seed=2),
    m=noise(2, 2, seed=3),
    one=0.4,
    spread=0.5,
)
def vectorised(v):
    y, a, b, c, s, t = v.y, v.a, v.b, v.c, v.s, v.t

    def student(x, nu, mu, sigma):
        return stats.t.logpdf(x, nu, mu, sigma).sum()

    total = normal(y, a, t).sum() + normal(y, b, t).sum() + normal(y, a, s).sum()
    total += normal(v.v, b, s).sum() + normal(v.v, c, s).sum() + normal(v.r, y, t).sum()
    total += normal(v.one, b, s).sum() + normal(v.one, a, t)
    total += student(v.m[0], 4, b, t) + student(v.m[1], s, a, 2)
    total += normal(b, c).sum() + normal(c, 0, s).sum() + normal(a, y, t).sum()
    total += (-np.abs(v.m[0] - a) / t - np.log(2 * t)).sum()
    both = np.append(b, a)
    total += (-both - 2 * np.log1p(np.exp(-both))).sum()
    total += stats.cauchy.logpdf(b - a).sum()
    total += normal(np.log(s)).sum() - np.log(s).sum()
    total += normal(y, b, s).sum() + normal(a) + normal(t)
    total += normal(y, 0, t).sum()
    return total + normal(t)


@stan(
    """
    data { int N; array[N] int k; array[N] int trials; }
    parameters {
      real a; vector[N] b; array[N] real<lower=0> s; real<lower=0> t;
      array[N] real<lower=0, upper=1> p;
    }
    model {
      k ~ binomial(trials, p);
      k ~ binomial(10, p[1]);
      k ~ poisson_log(b);
      k ~ neg_binomial_2_log(a, s);
      3 ~ poisson(t);
      target += poisson_lupmf(k | 3) + bernoulli_lpmf(1 | p);
    }
    """,
    N=2,
    k=[0, 2],
    trials=[3, 5],
)
def vectorised_counts(v):
    a, b, s, t, p, k = v.a, v.b, v.s, v.t, v.p, v.k

    def binomial(n, p):
        choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return (choose + k * np.log(p) + (n - k) * np.log1p(-p)).sum()

    total = binomial(v.trials, p) + binomial(10, p[0])
    total += (k * b - np.exp(b) - gammaln(k + 1)).sum()
    mu = np.exp(a)
    total += (gammaln(k + s) - gammaln(k + 1) - gammaln(s)).sum()
    total += (k * np.log(mu / (mu + s)) + s * np.log(s / (mu + s))).sum()
    total += 3 * np.log(t) - t - np.log(6) + stats.poisson.logpmf(k, 3).sum()
    return total + np.log(p).sum()


@stan(
    """
    data { int N; array[N] int k; array[N] int trials; }
    parameters { vector<lower=0>[N] s; real<lower=0> t; row_vector<lower=0, upper=1>[N] p; }
    model {
      k ~ beta_binomial(trials, t, s);
      target += beta_lpdf(p | 2, 3) / 2;
    }
    """,
    N=2,
    k=[0, 2],
    trials=[3, 5],
)
def vectorised_shapes(v):
    s, t, k, n = v.s, v.t, v.k, v.trials
    total = (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)).sum()
    total += (betaln(k + t, n - k + s) - betaln(t, s)).sum()
    return total + stats.beta.logpdf(v.p, 2, 3).sum() / 2


@stan(
    """
    data { int N; vector[N] y; array[N] int k; real low; }
    parameters {
      real mu; real<lower=0> s; real<lower=0> tau; real<lower=1, upper=4> x; vector[N] u;
    }
    model {
      tau ~ normal(0, 2) T[0, ];
      x ~ cauchy(mu, s) T[1, 4];
      s ~ exponential(1) T[, 50];
      mu ~ normal(0, 1);
      for (n in 1:N) y[n] ~ normal(mu, s) T[low, ];
      for (n in 1:N) y[n] ~ normal(u[n], tau) T[, 5 + square(mu)];
      for (n in 1:N) y[n] ~ cauchy(mu, tau) T[low - tau, 6];
      for (n in 1:N) k[n] ~ poisson(tau + 1) T[1, ];
      for (n in 1:N) k[n] ~ poisson(s + 1) T[, 12];
      for (n in 1:N) k[n] ~ poisson_log(mu) T[1, 12];
      for (n in 1:N) u[n] ~ normal(mu, 1) T[mu - 3, mu + 3];
      target += normal_lcdf(u[1] | mu, s) + normal_lccdf(u[2] | 0, tau);
      target += log(normal_cdf(y | mu, s)) + poisson_lcdf(k | tau) + exponential_lccdf(s | 2);
      target += log_diff_exp(normal_lcdf(2 | mu, s), normal_lcdf(-1 | mu, s));
    }
    """,
    *({"N": n, "y": 1 + np.abs(noise(n)), "k": 1 + below(6, n), "low": 0.5} for n in (3, 17)),
    spread=0.3,
)
def truncated(v):
    # `u` lies in its interval for the points that are tried.
    y, mu, s, tau, u, k = v.y, v.mu, v.s, v.tau, v.u, v.k
    total = normal(tau, 0, 2) - np.log(0.5)
    cauchy = stats.cauchy(mu, s)
    total += cauchy.logpdf(v.x) - np.log(cauchy.cdf(4) - cauchy.cdf(1))
    total += -s - np.log1p(-np.exp(-50)) + normal(mu)
    total += (normal(y, mu, s) - norm.logsf(v.low, mu, s)).sum()
    total += (normal(y, u, tau) - norm.logcdf(5 + mu**2, u, tau)).sum()
    t = stats.cauchy(mu, tau)
    total += (t.logpdf(y) - np.log(t.cdf(6) - t.cdf(v.low - tau))).sum()
    total += (stats.poisson.logpmf(k, tau + 1) - np.log(-np.expm1(-tau - 1))).sum()
    total += (stats.poisson.logpmf(k, s + 1) - stats.poisson.logcdf(12, s + 1)).sum()
    count = stats.poisson(np.exp(mu))
    total += (count.logpmf(k) - np.log(count.cdf(12) - count.pmf(0))).sum()
    total += (normal(u, mu) - np.log(norm.cdf(3) - norm.cdf(-3))).sum()
    total += norm.logcdf(u[0], mu, s) + norm.logsf(u[1], 0, tau)
    total += norm.logcdf(y, mu, s).sum() + stats.poisson.logcdf(k, tau).sum() - 2 * s
    return total + np.log(norm.cdf(2, mu, s) - norm.cdf(-1, mu, s))


@stan(
    """
    data { int<lower=0> J; array[J] real y; vector[3] x; }
    parameters {
      vector[3] beta; matrix[2, 2] M; real a; real b; array[3] real<lower=0> tau; vector[J] theta;
      vector[4] g; ordered[3] c; simplex[3] p; real<lower=0, upper=1> q; vector[5] w;
      real<lower=2> shifted; real<upper=0> negative;
    }
    model {
      theta ~ normal(a, tau[2]);
      a ~ normal(b, 1);
      b ~ normal(a, 1);
      beta[1] ~ normal(0, 1);
      beta[2] ~ normal(0, 10);
      beta[3] ~ student_t(3, 0, 1);
      M[1, 1] ~ normal(0, 1);
      M[1, 2] ~ normal(1, 1);
      M[2] ~ normal(2, 1);
      for (j in 1:3) tau[j] ~ cauchy(0, j);
      for (i in 2:4) g[i] ~ normal(g[i - 1], tau[1]);
      g[1] ~ normal(0, 1);
      g ~ normal(0, 5);
      g ~ normal(0, 5);
      c ~ normal(0, 1);
      p ~ dirichlet([1, 2, 3]');
      p[1] ~ beta(2, 2);
      q ~ beta(2, 3);
      q ~ uniform(0, 1);
      w[{2, 4}] ~ normal(0, 1);
      w[{5, 1, 3}] ~ normal([1, 2, 3]', 2);
      w[1:2] ~ normal(0, 3);
      shifted ~ lognormal(0, 1);
      negative ~ normal(1, 1);
      y ~ normal(theta, 1);
      x ~ normal(beta, 1);
      sum(w) ~ normal(0, 0.1);
    }
    """,
    J=3,
    y=[1.0, 2.0, 0.5],
    x=noise(3),
)
def priors(v):
    total = normal(v.theta, v.a, v.tau[1]).sum() + 2 * normal(v.a, v.b)
    total += normal(v.beta[:2], 0, [1, 10]).sum() + stats.t.logpdf(v.beta[2], 3)
    total += normal(v.M, [[0, 1], [2, 2]]).sum()
    total += stats.cauchy.logpdf(v.tau, 0, [1, 2, 3]).sum()
    total += normal(np.diff(v.g), 0, v.tau[0]).sum() + normal(v.g[0])
    total += 2 * normal(v.g, 0, 5).sum() + normal(v.c).sum()
    total += np.log(60) + np.log(v.p[1]) + 2 * np.log(v.p[2])
    total += np.log(6 * v.p[0] * (1 - v.p[0])) + np.log(12 * v.q * (1 - v.q) ** 2)
    total += normal(v.w[[1, 3]]).sum() + normal(v.w[[4, 0, 2]], [1, 2, 3], 2).sum()
    total += normal(v.w[:2], 0, 3).sum()
    total += normal(np.log(v.shifted)) - np.log(v.shifted) + normal(v.negative, 1)
    total += normal(v.y, v.theta).sum() + normal(v.x, v.beta).sum()
    return total + normal(v.w.sum(), 0, 0.1)


@stan(
    """
    data {
      int N; int K; array[N] vector[K] y; vector[K] m; matrix[K, K] S; row_vector[K] r;
      array[N] row_vector[K] z; matrix[N, K] rows; array[N] int cat; array[N, K] int many;
    }
    parameters {
      vector[K] mu; array[N] vector[K] mus; cov_matrix[K] Sigma; cholesky_factor_corr[K] L;
      vector<lower=0>[K] sd; row_vector[K] rho; ordered[K - 1] cuts; simplex[K] p; real eta;
      vector<lower=0>[K] alpha;
    }
    model {
      y ~ multi_normal(mu, Sigma);
      y ~ multi_normal(mus, S);
      y[1] ~ multi_normal(m, Sigma);
      z ~ multi_normal(rho, Sigma);
      r ~ multi_normal_prec(mu, S);
      mus ~ multi_normal_cholesky(mu, diag_pre_multiply(sd, L));
      for (n in 1:N) rows[n]' ~ multi_student_t(5, mus[n], Sigma);
      mu ~ multi_normal(m, S);
      rho ~ multi_normal(y[1], S);
      L ~ lkj_corr_cholesky(2);
      Sigma ~ wishart(K + 1, S);
      cat ~ ordered_logistic(eta, cuts);
      cat ~ categorical(p);
      cat ~ categorical_logit(mu);
      for (n in 1:N) many[n] ~ multinomial(p);
      p ~ dirichlet(alpha);
      sd ~ lognormal(mu, 1);
      alpha ~ gamma(2, sd);
    }
    """,
    N=4,
    K=3,
    y=noise(4, 3),
    m=noise(3, seed=1),
    S=[[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]],
    r=noise(3, seed=2),
    z=noise(4, 3, seed=4),
    rows=noise(4, 3, seed=5),
    cat=[1, 3, 2, 3],
    many=counts(4, 3),
    spread=0.4,
)
def multivariate(v):
    def mvn(y, mu, cov):
        gap = np.atleast_2d(y - mu)
        quad = np.einsum("ni,ij,nj->n", gap, np.linalg.inv(cov), gap)
        const = v.K * np.log(2 * np.pi) + np.linalg.slogdet(cov)[1]
        return -0.5 * (quad + const).sum()

    total = mvn(v.y, v.mu, v.Sigma) + mvn(v.y, v.mus, v.S) + mvn(v.y[0], v.m, v.Sigma)
    total += mvn(v.z, v.rho, v.Sigma) + mvn(v.r, v.mu, np.linalg.inv(v.S))
    factor = v.sd[:, None] * v.L
    total += mvn(v.mus, v.mu, factor @ factor.T)
    for row, mu in zip(v.rows, v.mus, strict=True):
        total += stats.multivariate_t.logpdf(row, mu, v.Sigma, df=5)
    total += mvn(v.mu, v.m, v.S) + mvn(v.rho, v.y[0], v.S)
    # The density of a factor of a correlation matrix, for three rows and shape 2.
    diagonal = np.diag(v.L)[1:]
    exponents = v.K - np.arange(2, v.K + 1) + 2 * (2 - 1)
    total += (exponents * np.log(diagonal)).sum() + lkj_constant(2, v.K)
    total += stats.wishart.logpdf(v.Sigma, v.K + 1, v.S)
    edges = np.r_[-np.inf, v.cuts, np.inf]
    upper, lower = (
        1 / (1 + np.exp(v.eta - edges[v.cat])),
        1 / (1 + np.exp(v.eta - edges[v.cat - 1])),
    )
    total += np.log(upper - lower).sum() + np.log(v.p[v.cat - 1]).sum()
    total += (v.mu[v.cat - 1] - logsumexp(v.mu)).sum()
    many = v.many
    total += (gammaln(many.sum(axis=1) + 1) - gammaln(many + 1).sum(axis=1)).sum()
    total += (many * np.log(v.p)).sum()
    total += gammaln(v.alpha.sum()) - gammaln(v.alpha).sum() + ((v.alpha - 1) * np.log(v.p)).sum()
    total += (normal(np.log(v.sd), v.mu) - np.log(v.sd)).sum()
    return total + stats.gamma.logpdf(v.alpha, 2, scale=1 / v.sd).sum()


def lkj_constant(eta, K):
    """Return the log of what normalises the density of correlation matrices."""
    total = 0.0
    # The volume of correlation matrices with weights |R|^(eta - 1), row by row.
    for k in range(1, K):
        total -= (
            0.5 * k * np.log(np.pi)
            + gammaln(eta + 0.5 * (K - 1 - k))
            - gammaln(eta + 0.5 * (K - 1))
        )
    return total
