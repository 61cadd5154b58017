"""Regressions, and numbers that are added to the log density."""

import numpy as np
from scipy import stats
from scipy.special import gammaln, log_expit, logsumexp
from scipy.stats import norm
from stan_program import below, counts, noise, stan

normal = norm.logpdf


@stan(
    """
    data {
      int N; int K; matrix[N, K] X; vector[N] y; array[N] int b; array[N] int c; array[N] int d;
      array[N] int trials;
    }
    parameters {
      real a; vector[N] each; vector[K] beta; real<lower=0> s; matrix[K, 3] B; vector[3] A;
      ordered[2] cuts;
    }
    model {
      y ~ normal_id_glm(X, a, beta, s);
      y ~ normal_id_glm(X, each, beta, s);
      target += normal_id_glm_lpdf(y | X, 0, beta, 1);
      b ~ bernoulli_logit_glm(X, a, beta);
      c ~ poisson_log_glm(X, each, beta);
      c ~ neg_binomial_2_log_glm(X, a, beta, s);
      d ~ categorical_logit_glm(X, A, B);
      d ~ ordered_logistic_glm(X, beta, cuts);
      c ~ binomial_logit_glm(trials, X, a, beta);
      target += bernoulli_logit_glm_lupmf(b | X, each, beta);
      each ~ normal_id_glm(X, a, beta, s);
    }
    """,
    *(
        {
            "N": n, "K": 2, "X": noise(n, 2), "y": noise(n, seed=1), "b": below(2, n),
            "c": counts(n), "d": 1 + below(3, n, seed=2), "trials": 9 + counts(n),
        }
        for n in (3, 20)
    ),
    spread=0.5,
)  # fmt: skip
def regressions(v):
    eta = v.X @ v.beta
    one, many = v.a + eta, v.each + eta
    total = normal(v.y, one, v.s).sum() + normal(v.y, many, v.s).sum() + normal(v.y, eta).sum()
    total += log_expit(np.where(v.b, one, -one)).sum() + log_expit(np.where(v.b, many, -many)).sum()
    total += (v.c * many - np.exp(many) - gammaln(v.c + 1)).sum()
    mu, s, c = np.exp(one), v.s, v.c
    total += (gammaln(c + s) - gammaln(c + 1) - gammaln(s)).sum()
    total += (c * np.log(mu / (mu + s)) + s * np.log(s / (mu + s))).sum()
    logits = v.A + v.X @ v.B
    total += (logits[np.arange(v.N), v.d - 1] - logsumexp(logits, axis=1)).sum()
    edges = np.r_[-np.inf, v.cuts, np.inf]
    total += np.log(
        1 / (1 + np.exp(eta - edges[v.d])) - 1 / (1 + np.exp(eta - edges[v.d - 1]))
    ).sum()
    n = v.trials
    total += (gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)).sum()
    total += (c * log_expit(one) + (n - c) * log_expit(-one)).sum()
    return total + normal(v.each, one, v.s).sum()


@stan(
    """
    data { int N; vector[N] y; vector[N] z; }
    parameters { real a; real<lower=0> s; real<lower=0> k; real<lower=0, upper=1> u; vector[2] b; }
    model {
      target += sum(y) * a - square(a) - s;
      target += {a, s, 2.0};
      target += b;
      target += y * k;
      target += -dot_self(b) + normal_lpdf(y | a, s) - lgamma(k);
      target += (a + s);
      target += 2 * normal_lpdf(z | 0, k);
      target += -(a * s) / 2;
      target += -k;
      for (n in 1:N) target += log_mix(u, normal_lpdf(y[n] | a, s), normal_lpdf(y[n] | 0, 5));
      for (n in 1:N)
        target += log_sum_exp({log(u) + normal_lpdf(z[n] | a, 1), log1m(u) + cauchy_lpdf(z[n] | 0,
          s)});
      target += log_mix([u, 1 - u]', b);
      target += log_mix([u, 1 - u]', {[a, s]', b});
    }
    """,
    *({"N": n, "y": noise(n), "z": noise(n, seed=1)} for n in (3, 18)),
)
def numbers_that_are_added(v):
    y, z, a, s, k, u, b = v.y, v.z, v.a, v.s, v.k, v.u, v.b
    total = y.sum() * a - a**2 - s + a + s + 2 + b.sum() + y.sum() * k - b @ b
    total += normal(y, a, s).sum() - gammaln(k) + a + s + 2 * normal(z, 0, k).sum()
    total += -a * s / 2 - k
    l0, l1 = np.log(u), np.log1p(-u)
    total += np.logaddexp(l0 + normal(y, a, s), l1 + normal(y, 0, 5)).sum()
    total += np.logaddexp(l0 + normal(z, a), l1 + stats.cauchy.logpdf(z, 0, s)).sum()
    total += 2 * np.logaddexp(l0 + b[0], l1 + b[1]) + np.logaddexp(l0 + a, l1 + s)
    return total


@stan(
    """
    functions {
      real wait_lpdf(real y, real rate) { return log(rate) - rate * y; }
      real wait_lcdf(real y, real rate) { return log1m_exp(-rate * y); }
      real wait_lccdf(real y, real rate) { return -rate * y; }
      real tries_lpmf(int k, real p) { return log(p) + k * log1m(p); }
      real tries_lcdf(int k, real p) { return log1m_exp((k + 1) * log1m(p)); }
      real tries_lccdf(int k, real p) { return (k + 1) * log1m(p); }
    }
    data { int n; vector[n] y; array[n] int k; }
    parameters { real<lower=0> rate; real<lower=0, upper=1> p; real<lower=1, upper=5> x; }
    model {
      for (i in 1:n) {
        y[i] ~ wait(rate) T[0.5, ];
        y[i] ~ wait(rate) T[ , 4];
        y[i] ~ wait(rate) T[0.5, 4];
        y[i] ~ wait(rate) T[ , ];
        k[i] ~ tries(p) T[1, ];
        k[i] ~ tries(p) T[ , 6];
        k[i] ~ tries(p) T[1, 6];
      }
      x ~ wait(rate) T[1, 5];
      x ~ wait(rate) T[p, ];
    }
    """,
    n=3,
    y=np.array([0.7, 2.0, 3.5]),
    k=np.array([1, 4, 6]),
)
def distributions_of_the_programs_own_are_truncated(v):
    wait, tries = stats.expon(scale=1 / v.rate), stats.geom(v.p, loc=-1)
    total = 4 * wait.logpdf(v.y).sum() + 3 * tries.logpmf(v.k).sum()
    total -= 3 * (wait.logsf(0.5) + wait.logcdf(4) + np.log(wait.cdf(4) - wait.cdf(0.5)))
    total -= 3 * (tries.logsf(0) + tries.logcdf(6) + np.log(tries.cdf(6) - tries.cdf(0)))
    total += 2 * wait.logpdf(v.x) - np.log(wait.cdf(5) - wait.cdf(1)) - wait.logsf(v.p)
    return total


@stan(
    """
    functions {
      real add_lp(vector y, real mu, real s) {
        if (s < 0) return target();
        y ~ normal(mu, s);
        target += -square(mu);
        return target();
      }
      real first_lp(real x) { real before = target(); x ~ normal(0, 2); return target() - before; }
    }
    data { int N; vector[N] y; }
    parameters { real mu; real<lower=0> s; }
    model {
      real dummy = add_lp(y, mu, s);
      dummy = first_lp(mu);
      for (n in 1:2) dummy += add_lp(y[n:N], mu, s + n);
      s ~ exponential(1);
    }
    """,
    N=3, y=[0.3, -1.0, 0.5],
)  # fmt: skip
def values_of_target_that_nothing_needs(v):
    total = normal(v.mu, 0, 2) - v.s - 3 * v.mu**2
    return total + sum(normal(v.y[max(n - 1, 0) :], v.mu, v.s + n).sum() for n in range(3))
