"""Loops that carry something on, in which data choose a branch each time."""

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import norm
from stan_program import below, noise, stan

normal = norm.logpdf


def shares(u):
    return u - logsumexp(u)


@stan(
    """
    data { int N; int T; array[N] int many; array[N, T] int choice; array[N, T] real out; }
    parameters {
      vector<lower=0, upper=1>[N] A; vector<lower=0, upper=2>[N] alpha; vector<lower=0>[N] loss;
      vector[N] bonus;
    }
    model {
      A ~ beta(2, 2);
      loss ~ gamma(2, 1);
      bonus ~ normal(0, 1);
      for (i in 1:N) {
        vector[4] ev = rep_vector(0, 4);
        vector[4] kept = rep_vector(0, 4);
        real u;
        for (t in 1:many[i]) {
          choice[i, t] ~ categorical_logit(ev + kept);
          if (out[i, t] >= 0) u = pow(out[i, t], alpha[i]);
          else u = -1 * loss[i] * pow(-1 * out[i, t], alpha[i]);
          ev *= A[i];
          ev[choice[i, t]] += u;
          kept *= 0.5;
          if (out[i, t] > 0.5) kept[choice[i, t]] += bonus[i];
          else if (out[i, t] < -0.5) { kept[choice[i, t]] -= bonus[i]; kept[1] = 0.1; }
        }
      }
    }
    """,
    *(
        {"N": n, "T": t, "many": np.full(n, t) - (below(5, n) if uneven else 0),
         "choice": below(4, n, t) + 1, "out": noise(n, t)}
        for n, t, uneven in ((1, 40, False), (3, 30, False), (17, 25, True))
    ),
)  # fmt: skip
def learning_from_gains_and_losses(v):
    total = np.log(6 * v.A * (1 - v.A)).sum() + (np.log(v.loss) - v.loss).sum()
    total += normal(v.bonus).sum()
    for i in range(v.N):
        ev, kept = np.zeros(4), np.zeros(4)
        for t in range(v.many[i]):
            c, x = v.choice[i, t] - 1, v.out[i, t]
            total += shares(ev + kept)[c]
            u = x ** v.alpha[i] if x >= 0 else -v.loss[i] * (-x) ** v.alpha[i]
            ev *= v.A[i]
            ev[c] += u
            kept *= 0.5
            if x > 0.5:
                kept[c] += v.bonus[i]
            elif x < -0.5:
                kept[c] -= v.bonus[i]
                kept[0] = 0.1
    return total


@stan(
    """
    data { int T; vector[T] y; vector[T] x; array[T] int k; }
    parameters { real<lower=0> w; real<lower=0, upper=0.5> a; real<lower=0, upper=0.4> b; real g; }
    transformed parameters {
      vector[T] h;
      h[1] = 0.5;
      for (t in 2:T) {
        int many = 0;
        real before = y[t - 1] < 0 ? (a + b) * square(y[t - 1]) : a * square(y[t - 1]);
        if (x[t] > 0) {
          many = k[t];
          h[t] = w + before + b * h[t - 1] + sqrt(x[t]) * log(h[t - 1]) / x[t];
          if (g > 0) h[t] += pow(g, 4.5) * x[t];
        } else h[t] = w + before + exp(b * x[t]) * h[t - 1];
        h[t] += 0.1 * many;
        h[t] = 0.5 + log1p_exp(h[t]);
      }
    }
    model {
      real state = 0.3;
      w ~ exponential(1);
      g ~ normal(0, 1);
      for (t in 1:T) {
        if (k[t] > 1) {
          y[t] ~ normal(state, h[t]);
          target += -0.1 * square(state);
        } else k[t] ~ poisson_log(g + state);
        if (t > 1 && y[t] > 0) state = a * state + y[t - 1];
        else {
          state = b * tanh(state) / (1 + x[t] ^ 2);
          state += x[t] > 0.5 ? 1 / x[t] : log1p(a * x[t] ^ 2);
        }
        if (x[t] > 1.5) state = lgamma(1 + x[t] + a) - 0.1 * state;
      }
    }
    """,
    {"T": 60, "y": noise(60), "x": noise(60, seed=1), "k": below(4, 60)},
    {"T": 13, "y": noise(13), "x": noise(13, seed=1), "k": below(4, 13)},
)
def a_volatility_that_falls_raise(v):
    h, total = np.full(v.T, 0.5), -v.w + normal(v.g)
    for t in range(1, v.T):
        before = (v.a + v.b * (v.y[t - 1] < 0)) * v.y[t - 1] ** 2
        if v.x[t] > 0:
            h[t] = v.w + before + v.b * h[t - 1] + np.log(h[t - 1]) / np.sqrt(v.x[t])
            h[t] += max(v.g, 0) ** 4.5 * v.x[t] + 0.1 * v.k[t]
        else:
            h[t] = v.w + before + np.exp(v.b * v.x[t]) * h[t - 1]
        h[t] = 0.5 + np.logaddexp(0, h[t])
    state = 0.3
    for t in range(v.T):
        x = v.x[t]
        if v.k[t] > 1:
            total += normal(v.y[t], state, h[t]) - 0.1 * state**2
        else:
            total += v.k[t] * (v.g + state) - np.exp(v.g + state) - gammaln(v.k[t] + 1)
        if t > 0 and v.y[t] > 0:
            state = v.a * state + v.y[t - 1]
        else:
            state = v.b * np.tanh(state) / (1 + x**2)
            state += 1 / x if x > 0.5 else np.log1p(v.a * x**2)
        if x > 1.5:
            state = gammaln(1 + x + v.a) - 0.1 * state
    return total, {"h": h}
