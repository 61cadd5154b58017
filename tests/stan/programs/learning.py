"""Loops that learn from one trial to the next: data say which of a few values change."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm
from stan_program import below, noise, stan

normal = norm.logpdf


def shares(u):
    return u - logsumexp(u)


@stan(
    """
    data { int N; int T; array[N, T] int choice; array[N, T] real out; }
    parameters { vector<lower=0, upper=1>[N] A; real<lower=0> tau; }
    transformed parameters {
      array[N] vector[3] last;
      for (i in 1:N) {
        vector[3] ev = rep_vector(0, 3);
        for (t in 1:T) ev[choice[i, t]] += A[i] * (out[i, t] - ev[choice[i, t]]);
        last[i] = ev;
      }
    }
    model {
      tau ~ normal(0, 2);
      A ~ beta(2, 2);
      for (i in 1:N) {
        vector[3] ev = rep_vector(0, 3);
        for (t in 1:T) {
          real surprise;
          choice[i, t] ~ categorical_logit(tau * ev);
          surprise = out[i, t] - ev[choice[i, t]];
          ev[choice[i, t]] += A[i] * surprise;
        }
      }
    }
    """,
    *(
        {"N": n, "T": t, "choice": below(3, n, t) + 1,
         "out": noise(n, t)}
        for n, t in ((1, 11), (1, 60), (2, 13), (5, 40), (17, 30))
    ),
)  # fmt: skip
def learning_from_rewards(v):
    total = normal(v.tau, 0, 2) + np.log(6 * v.A * (1 - v.A)).sum()
    last = np.zeros((v.N, 3))
    for i in range(v.N):
        for t in range(v.T):
            c = v.choice[i, t] - 1
            total += shares(v.tau * last[i])[c]
            last[i, c] += v.A[i] * (v.out[i, t] - last[i, c])
    return total, {"last": last}


@stan(
    """
    data {
      int N; array[N] int many; array[N, 40] int choice; array[N, 40] int cue;
      array[N, 40] real out;
    }
    parameters {
      vector<lower=0, upper=1>[N] A; vector<lower=0, upper=1>[N] keep; real tau; real lean;
    }
    model {
      tau ~ normal(0, 2);
      lean ~ normal(0, 1);
      A ~ beta(2, 2);
      keep ~ beta(2, 2);
      for (i in 1:N) {
        matrix[4, 2] value = rep_matrix(0.5, 4, 2);
        vector[2] before = [0, 0]';
        real mood = 0;
        for (t in 1:many[i]) {
          int c = choice[i, t];
          real error = out[i, t] - value[cue[i, t], c];
          c ~ categorical_logit(tau * value[cue[i, t]]' + lean * before + mood);
          value[cue[i, t], c] += A[i] * error;
          value[cue[i, t], 3 - c] *= keep[i];
          if (t % 10 == 0) value[1, 2] = 0.25;
          mood = keep[i] * mood + error * value[cue[i, t], 3 - c];
          before = rep_vector(0, 2);
          before[c] = value[1 + t % 4, c];
        }
      }
    }
    """,
    *(
        {"N": n, "many": np.full(n, 40) if even else 21 + below(20, n),
         "choice": below(2, n, 40) + 1,
         "cue": below(4, n, 40, seed=3) + 1, "out": noise(n, 40)}
        for n, even in ((1, True), (20, False), (6, False), (20, True), (3, True))
    ),
)  # fmt: skip
def learning_in_tables(v):
    total = normal(v.tau, 0, 2) + normal(v.lean)
    total += np.log(6 * v.A * (1 - v.A)).sum() + np.log(6 * v.keep * (1 - v.keep)).sum()
    for i in range(v.N):
        value, before, mood = np.full((4, 2), 0.5), np.zeros(2), 0.0
        for t_ in range(1, v.many[i] + 1):
            c, s = v.choice[i, t_ - 1] - 1, v.cue[i, t_ - 1] - 1
            error = v.out[i, t_ - 1] - value[s, c]
            total += shares(v.tau * value[s] + v.lean * before + mood)[c]
            value[s, c] += v.A[i] * error
            value[s, 1 - c] *= v.keep[i]
            if t_ % 10 == 0:
                value[0, 1] = 0.25
            mood = v.keep[i] * mood + error * value[s, 1 - c]
            before = np.zeros(2)
            before[c] = value[t_ % 4, c]
    return total


@stan(
    """
    data { int N; int T; array[N, T] int choice; array[N, T] real out; }
    parameters { vector<lower=0, upper=1>[N] keep; vector[N] a; }
    model {
      keep ~ beta(2, 2);
      a ~ normal(0, 1);
      for (i in 1:N) {
        vector[3] ev = [0, 0.5, -0.5]';
        for (t in 1:T) {
          choice[i, t] ~ categorical_logit(a[i] * ev);
          ev *= keep[i];
          ev[choice[i, t]] += a[i] * out[i, t];
        }
      }
    }
    """,
    *(
        {"N": n, "T": t, "choice": below(3, n, t) + 1, "out": noise(n, t)}
        for n, t in ((1, 40), (2, 13), (5, 40))
    ),
)  # fmt: skip
def learning_from_numbers(v):
    total = np.log(6 * v.keep * (1 - v.keep)).sum() + normal(v.a).sum()
    for i in range(v.N):
        ev = np.array([0, 0.5, -0.5])
        for t in range(v.T):
            c = v.choice[i, t] - 1
            total += shares(v.a[i] * ev)[c]
            ev *= v.keep[i]
            ev[c] += v.a[i] * v.out[i, t]
    return total
