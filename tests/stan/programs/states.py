"""Loops over states: of filters, of learners, of grids."""

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import norm
from stan_program import below, noise, stan

normal = norm.logpdf


@stan(
    """
    data { int N; int S; array[N] int y; }
    parameters { real a; real<lower=0, upper=1> rho; vector[N] z; }
    transformed parameters {
      vector[N] season;
      vector[N] walk = rep_vector(0, N);
      season[1:S] = z[1:S];
      for (n in (S + 1):N) {
        season[n] = rho * season[n - S] + z[n];
        walk[n] = walk[n - 1] + 0.1 * season[n];
      }
    }
    model {
      z ~ normal(0, 1);
      a ~ normal(0, 1);
      for (n in 1:N) y[n] ~ bernoulli_logit(a + season[n] + walk[n]);
    }
    """,
    *({"N": n, "S": s, "y": below(2, n)} for n, s in ((5, 2), (30, 2), (30, 4), (60, 7))),
    observed=("y",),
)
def seasons(v):
    season, walk = v.z.copy(), np.zeros(v.N)
    for n in range(v.S, v.N):
        season[n] = v.rho * season[n - v.S] + v.z[n]
        walk[n] = walk[n - 1] + 0.1 * season[n]
    eta = v.a + season + walk
    total = normal(v.z).sum() + normal(v.a) + log_expit(np.where(v.y == 1, eta, -eta)).sum()
    return total, {"season": season, "walk": walk}


@stan(
    """
    data { int R; int C; matrix[R, C] y; }
    parameters { real a; real b; real c; }
    transformed parameters {
      matrix[R, C] g;
      for (i in 1:R)
        for (j in 1:C) {
          if (i == 1 && j == 1) g[i, j] = a;
          else if (i == 1) g[i, j] = b * g[i, j - 1];
          else if (j == 1) g[i, j] = c * g[i - 1, j];
          else g[i, j] = 0.5 * tanh(b * g[i, j - 1]) + 0.3 * g[i - 1, j] * c + g[i - 1, j - 1];
        }
    }
    model { to_vector(y) ~ normal(to_vector(g), 1); [a, b, c] ~ normal(0, 1); }
    """,
    *({"R": r, "C": c, "y": noise(r, c)} for r, c in ((2, 3), (3, 14), (14, 3), (17, 20))),
    spread=0.4,
)
def grid(v):
    g = np.empty((v.R, v.C))
    for i in range(v.R):
        for j in range(v.C):
            if i == j == 0:
                g[i, j] = v.a
            elif i == 0:
                g[i, j] = v.b * g[i, j - 1]
            elif j == 0:
                g[i, j] = v.c * g[i - 1, j]
            else:
                g[i, j] = 0.5 * np.tanh(v.b * g[i, j - 1]) + 0.3 * g[i - 1, j] * v.c
                g[i, j] += g[i - 1, j - 1]
    return normal(v.y, g).sum() + normal([v.a, v.b, v.c]).sum(), {"g": g}


@stan(
    """
    data { int N; vector[N] y; }
    parameters { real m0; real<lower=0> q; real<lower=0> r; }
    transformed parameters {
      real m = m0;
      real p = 1;
      vector[N] gain;
      vector[N] ll;
      for (n in N:1) reject("no such iterations");
      for (n in 1:N) {
        real f = p + q + r;
        gain[n] = (p + q) / f;
        ll[n] = normal_lpdf(y[n] | m, sqrt(f));
        m = m + gain[n] * (y[n] - m);
        p = (p + q) * (1 - gain[n]);
      }
    }
    model { target += sum(ll); q ~ exponential(1); r ~ exponential(1); m0 ~ normal(0, 1); }
    """,
    *({"N": n, "y": noise(n)} for n in (3, 13, 200)),
)
def kalman_filter(v):
    m, p, gain, ll = v.m0, 1.0, [], []
    for y in v.y:
        f = p + v.q + v.r
        gain.append((p + v.q) / f)
        ll.append(normal(y, m, np.sqrt(f)))
        m, p = m + gain[-1] * (y - m), (p + v.q) * (1 - gain[-1])
    total = np.sum(ll) - v.q - v.r + normal(v.m0)
    return total, {"m": m, "p": p, "gain": np.array(gain), "ll": np.array(ll)}


@stan(
    """
    data { int N; array[N] int group; array[N] real y; }
    parameters { real<lower=0, upper=1> rate; vector[3] start; }
    model {
      vector[3] value = start;
      for (n in 1:N) {
        y[n] ~ normal(value[group[n]], 1);
        value[group[n]] += rate * (y[n] - value[group[n]]);
      }
      start ~ normal(0, 1);
    }
    """,
    *({"N": n, "group": below(3, n) + 1, "y": noise(n)} for n in (4, 12, 40)),
    {"N": 30, "group": np.full(30, 2), "y": noise(30)},
)
def learning_by_group(v):
    value, total = v.start.copy(), normal(v.start).sum()
    for g, y in zip(v.group - 1, v.y, strict=True):
        total += normal(y, value[g])
        value[g] += v.rate * (y - value[g])
    return total


@stan(
    """
    data { int N; vector[N] y; }
    parameters { real a; real b; }
    model {
      real x = 0; real before = 0;
      for (n in 1:N) {
        real next;
        next = n <= 2 ? a : a * x - 0.4 * before + b;
        before = x;
        x = tanh(next);
        target += normal_lpdf(y[n] | x, 1) + normal_lpdf(y[n] | before, 2);
      }
      target += normal_lpdf(a | 0, 1) + normal_lpdf(b | 0, 1);
    }
    """,
    *({"N": n, "y": noise(n)} for n in (3, 13, 14, 15, 40)),
)
def first_iterations_of_their_own(v):
    x, before, total = 0.0, 0.0, normal(v.a) + normal(v.b)
    for n, y in enumerate(v.y):
        following = v.a if n < 2 else v.a * x - 0.4 * before + v.b
        before, x = x, np.tanh(following)
        total += normal(y, x) + normal(y, before, 2)
    return total


@stan(
    """
    data { int T; int K; matrix[T, K] X; array[T] int<lower=1, upper=K> choice; }
    parameters { real<lower=0> scale; real<lower=0, upper=1> decay; }
    model {
      vector[K] worth = rep_vector(0, K);
      row_vector[K] seen = zeros_row_vector(K);
      for (t in 1:T) {
        choice[t] ~ categorical_logit(scale * worth);
        worth = decay * worth + X[t]';
        seen += X[t] / t;
        for (k in 1:K) if (k != choice[t]) worth[k] *= 0.9;
      }
      target += -scale - sum(seen) * decay;
    }
    """,
    *({"T": n, "K": 3, "X": noise(n, 3), "choice": below(3, n) + 1} for n in (3, 13, 40)),
)
def learning_of_choices(v):
    worth, total, seen = np.zeros(v.K), 0.0, np.zeros(v.K)
    for i in range(v.T):
        logits = v.scale * worth
        total += logits[v.choice[i] - 1] - logsumexp(logits)
        worth = v.decay * worth + v.X[i]
        seen += v.X[i] / (i + 1)
        others = np.arange(v.K) != v.choice[i] - 1
        worth[others] *= 0.9
    return total - v.scale - seen.sum() * v.decay
