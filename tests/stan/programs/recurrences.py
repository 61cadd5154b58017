"""Loops that carry something from iteration to iteration, unrolled or written as scans."""

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import gamma, norm, poisson, t
from stan_program import below, counts, noise, stan

normal = norm.logpdf
LENGTHS = (3, 11, 12, 13, 40, 200)


def exponential(x, rate):
    return np.log(rate) - rate * x


@stan(
    """
    data { int<lower=2> N; vector[N] y; }
    parameters { real a; real<lower=-1, upper=1> b; real<lower=0> sigma; }
    model {
      a ~ normal(0, 2);
      sigma ~ exponential(1);
      for (n in 2:N) y[n] ~ normal(a + b * y[n - 1], sigma);
    }
    """,
    *({"N": n, "y": noise(n)} for n in (3, 40)),
)
def autoregression_on_data(v):
    prior = normal(v.a, 0, 2) + exponential(v.sigma, 1)
    return prior + normal(v.y[1:], v.a + v.b * v.y[:-1], v.sigma).sum()


@stan(
    """
    data { int N; array[N] real y; }
    parameters { vector[N] z; real<lower=0, upper=1> phi; real<lower=0> tau; }
    transformed parameters {
      vector[N] h;
      h[1] = tau * z[1] / sqrt(1 - square(phi));
      for (n in 2:N) h[n] = phi * h[n - 1] + tau * z[n];
    }
    model {
      z ~ std_normal();
      tau ~ normal(0, 1);
      y ~ normal(0, exp(h / 2));
    }
    """,
    *({"N": n, "y": noise(n)} for n in LENGTHS),
    observed=("y",),
)
def stochastic_volatility(v):
    h = [v.tau * v.z[0] / np.sqrt(1 - v.phi**2)]
    for n in range(1, v.N):
        h.append(v.phi * h[-1] + v.tau * v.z[n])
    h = np.array(h)
    total = normal(v.z).sum() + normal(v.tau) + normal(v.y, 0, np.exp(h / 2)).sum()
    return total, {"h": h}


@stan(
    """
    data { int T; vector[T] y; real sigma1; }
    parameters {
      real mu; real<lower=0> a0; real<lower=0, upper=1> a1; real<lower=0, upper=1 - a1> b1;
    }
    model {
      array[T] real s;
      s[1] = sigma1;
      for (t in 2:T)
        s[t] = sqrt(a0 + a1 * pow(y[t - 1] - mu, 2) + b1 * pow(s[t - 1], 2));
      y ~ normal(mu, s);
    }
    """,
    *({"T": n, "y": noise(n), "sigma1": 0.9} for n in LENGTHS),
)
def garch(v):
    s = [v.sigma1]
    for t_ in range(1, v.T):
        s.append(np.sqrt(v.a0 + v.a1 * (v.y[t_ - 1] - v.mu) ** 2 + v.b1 * s[-1] ** 2))
    return normal(v.y, v.mu, s).sum()


@stan(
    """
    data { int<lower=1> K; int N; vector[N] y; }
    parameters { array[K] simplex[K] theta; ordered[K] mu; simplex[K] start; }
    model {
      array[N, K] real gamma;
      array[K] real acc;
      mu ~ normal(0, 3);
      for (k in 1:K) gamma[1, k] = log(start[k]) + normal_lpdf(y[1] | mu[k], 1);
      for (n in 2:N) {
        for (k in 1:K) {
          for (j in 1:K)
            acc[j] = gamma[n - 1, j] + log(theta[j, k]) + normal_lpdf(y[n] | mu[k], 1);
          gamma[n, k] = log_sum_exp(acc);
        }
      }
      target += log_sum_exp(gamma[N]);
    }
    """,
    *({"K": 2, "N": n, "y": noise(n)} for n in (3, 12, 40)),
    {"K": 3, "N": 13, "y": noise(13)},
)
def hidden_markov_by_hand(v):
    alpha = np.log(v.start) + normal(v.y[0], v.mu)
    for y in v.y[1:]:
        alpha = logsumexp(alpha[:, None] + np.log(v.theta), axis=0) + normal(y, v.mu)
    return normal(v.mu, 0, 3).sum() + logsumexp(alpha)


@stan(
    """
    data { int T; array[T] int<lower=0> cases; real population; }
    parameters { real<lower=0> beta; real<lower=0, upper=1> recovery; real<lower=0> seeds; }
    transformed parameters {
      vector[T] S; vector[T] I; vector[T] R;
      vector[T] flow;
      {
        real s = population - seeds;
        real i = seeds;
        real r = 0;
        for (t in 1:T) {
          real new_cases = s * (1 - exp(-beta * i / population));
          real out = recovery * i;
          s -= new_cases;
          i += new_cases - out;
          r += out;
          S[t] = s; I[t] = i; R[t] = r; flow[t] = new_cases;
        }
      }
    }
    model {
      beta ~ lognormal(0, 0.5);
      recovery ~ beta(2, 3);
      seeds ~ gamma(3, 1);
      cases ~ poisson(flow + 0.1);
    }
    """,
    *({"T": n, "cases": counts(n), "population": 200.0} for n in LENGTHS),
)
def epidemic(v):
    s, i, r, rows = v.population - v.seeds, v.seeds, 0.0, []
    for _ in range(v.T):
        new, out = s * (1 - np.exp(-v.beta * i / v.population)), v.recovery * i
        s, i, r = s - new, i + new - out, r + out
        rows.append((s, i, r, new))
    S, I, R, flow = np.array(rows).T  # noqa: E741
    x = v.recovery
    total = normal(np.log(v.beta), 0, 0.5) - np.log(v.beta)
    total += np.log(12.0) + np.log(x) + 2 * np.log(1 - x) + gamma.logpdf(v.seeds, 3)
    total += poisson.logpmf(v.cases, flow + 0.1).sum()
    return total, {"S": S, "I": I, "R": R, "flow": flow}


@stan(
    """
    data { int N; vector[N] y; }
    parameters { vector<lower=-0.5, upper=0.5>[3] phi; real mu; real<lower=0> sigma; }
    transformed parameters {
      vector[N] e;
      for (n in 1:N) {
        real forecast = mu;
        if (n > 1) forecast += phi[1] * e[n - 1];
        if (n > 2) forecast += phi[2] * e[n - 2];
        if (n > 3) forecast += phi[3] * e[n - 3];
        e[n] = y[n] - forecast;
      }
    }
    model { e ~ normal(0, sigma); target += -sigma; }
    """,
    *({"N": n, "y": noise(n)} for n in LENGTHS),
)
def moving_average_of_order_three(v):
    e = []
    for n in range(v.N):
        back = [e[n - j] if n >= j else 0.0 for j in (1, 2, 3)]
        e.append(v.y[n] - v.mu - np.dot(v.phi, back))
    return normal(e, 0, v.sigma).sum() - v.sigma, {"e": np.array(e)}


@stan(
    """
    data { int N; vector[N] y; array[N] int<lower=0, upper=1> open; }
    parameters { real<lower=0, upper=1> keep; real level; real<lower=0> s; }
    model {
      real state = level;
      for (n in 1:N) {
        if (open[n]) state = keep * state + (1 - keep) * y[n];
        else state *= 0.5;
        y[n] ~ student_t(4, state, s);
      }
      level ~ normal(0, 1);
      s ~ normal(0, 1);
    }
    """,
    *({"N": n, "y": noise(n), "open": below(2, n)} for n in (3, 13, 40)),
    {"N": 40, "y": noise(40), "open": np.r_[np.zeros(10, int), np.ones(30, int)]},
)
def smoothing_that_data_switch(v):
    state, total = v.level, normal(v.level) + normal(v.s)
    for y, is_open in zip(v.y, v.open, strict=True):
        state = v.keep * state + (1 - v.keep) * y if is_open else 0.5 * state
        total += t.logpdf(y, 4, state, v.s)
    return total


@stan(
    """
    data { int N; int K; matrix[N, K] y; }
    parameters { matrix[K, K] A; vector[K] x0; cholesky_factor_cov[K] L; }
    transformed parameters {
      array[N] vector[K] x;
      for (n in 1:N) {
        vector[K] before = n == 1 ? x0 : x[n - 1];
        x[n] = tanh(A * before) + 0.1 * before;
      }
    }
    model {
      for (n in 1:N) y[n]' ~ multi_normal_cholesky(x[n], L);
      to_vector(A) ~ normal(0, 1);
      x0 ~ normal(0, 1);
      for (k in 1:K) L[k, 1:k] ~ normal(0, 1);
    }
    """,
    *({"N": n, "K": 2, "y": noise(n, 2)} for n in (3, 12, 13, 40)),
    {"N": 20, "K": 3, "y": noise(20, 3)},
)
def state_vectors(v):
    x, before = [], v.x0
    for _ in range(v.N):
        before = np.tanh(v.A @ before) + 0.1 * before
        x.append(before)
    x = np.array(x)
    z = np.linalg.solve(v.L, (v.y - x).T)
    total = normal(z).sum() - v.N * np.log(np.diag(v.L)).sum()
    total += normal(v.A).sum() + normal(v.x0).sum() + normal(v.L[np.tril_indices(v.K)]).sum()
    return total, {"x": x}


@stan(
    """
    data { int N; vector[N] y; }
    parameters { real<lower=0, upper=1> a; real<lower=0, upper=1> b; real l0; real t0; }
    transformed parameters {
      vector[N] level; vector[N] trend; vector[N] fit; real total = 0;
      level[1] = l0; trend[1] = t0; fit[1] = l0;
      for (n in 2:N) {
        fit[n] = level[n - 1] + trend[n - 1];
        level[n] = a * y[n] + (1 - a) * fit[n];
        trend[n] = b * (level[n] - level[n - 1]) + (1 - b) * trend[n - 1];
        total += square(fit[n]) / n;
      }
    }
    model { y ~ normal(fit, 1); l0 ~ normal(0, 1); t0 ~ normal(0, 0.1); target += -total; }
    """,
    *({"N": n, "y": noise(n)} for n in LENGTHS),
    observed=("y",),
)
def several_recurrences_in_one_loop(v):
    level, trend, fit = np.empty(v.N), np.empty(v.N), np.empty(v.N)
    level[0], trend[0], fit[0], total = v.l0, v.t0, v.l0, 0.0
    for n in range(1, v.N):
        fit[n] = level[n - 1] + trend[n - 1]
        level[n] = v.a * v.y[n] + (1 - v.a) * fit[n]
        trend[n] = v.b * (level[n] - level[n - 1]) + (1 - v.b) * trend[n - 1]
        total += fit[n] ** 2 / (n + 1)
    value = normal(v.y, fit).sum() + normal(v.l0) + normal(v.t0, 0, 0.1) - total
    return value, {"level": level, "trend": trend, "fit": fit, "total": total}


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
    data { int N; vector[N] y; int doublings; }
    parameters { real<lower=0> x; real<lower=0, upper=2> r; }
    transformed parameters {
      real state = x;
      array[2] real ends = {0, 0};
      {
        int k = 0;
        while (k < doublings) {
          if (k % 3 == 1) { k += 1; ends[1] += 1; continue; }
          state = state + r * state * (1 - state / 5);
          k += 1;
          if (k > 50) break;
        }
        ends[2] = k;
      }
    }
    model { y ~ normal(state, 1); x ~ exponential(2); }
    generated quantities { real last = ends[2] + 1; }
    """,
    *({"N": 2, "y": noise(2), "doublings": n} for n in (0, 3, 20, 60)),
)
def growth_by_while(v):
    state, k, skipped = v.x, 0, 0
    while k < v.doublings:
        if k % 3 == 1:
            k, skipped = k + 1, skipped + 1
            continue
        state, k = state + v.r * state * (1 - state / 5), k + 1
        if k > 50:
            break
    total = normal(v.y, state).sum() + exponential(v.x, 2)
    return total, {"state": state, "last": k + 1}


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
