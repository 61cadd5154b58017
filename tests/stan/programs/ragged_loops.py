"""Loops inside others whose ranges differ from one outer iteration to the next."""

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import norm
from stan_program import below, counts, noise, stan

normal = norm.logpdf
SIZES = (0, 1, 7, 8, 9, 16, 17, 40)


def _histories(n, occasions=6):
    """Return capture histories, some of which are empty."""
    return (below(3, n, occasions, seed=n) == 0).astype(int)


@stan(
    """
    functions {
      int first_capture(array[] int y) {
        for (k in 1:size(y)) if (y[k]) return k;
        return 0;
      }
      int last_capture(array[] int y) {
        for (back in 0:(size(y) - 1)) {
          int k = size(y) - back;
          if (y[k]) return k;
        }
        return 0;
      }
    }
    data { int I; int T; array[I, T] int<lower=0, upper=1> y; }
    transformed data {
      array[I] int first; array[I] int last;
      for (i in 1:I) first[i] = first_capture(y[i]);
      for (i in 1:I) last[i] = last_capture(y[i]);
    }
    parameters { vector[T - 1] a; real b; }
    transformed parameters {
      matrix[I, T - 1] phi; matrix[I, T] chi;
      for (i in 1:I) {
        for (t in 1:(first[i] - 1)) phi[i, t] = 0;
        for (t in max(1, first[i]):(T - 1)) phi[i, t] = inv_logit(a[t] + 0.1 * b * i);
        chi[i, T] = 1;
        for (back in 1:(T - 1)) {
          int t = T - back;
          chi[i, t] = 1 - phi[i, t] + phi[i, t] * (1 - inv_logit(b)) * chi[i, t + 1];
        }
      }
    }
    model {
      a ~ normal(0, 1); b ~ normal(0, 1);
      for (i in 1:I) {
        if (first[i] > 0) {
          for (t in (first[i] + 1):last[i]) {
            1 ~ bernoulli(phi[i, t - 1]);
            y[i, t] ~ bernoulli_logit(b);
          }
          1 ~ bernoulli(chi[i, last[i]]);
        }
      }
    }
    """,
    *({"I": n, "T": 6, "y": _histories(n)} for n in SIZES),
)
def captures(v):
    total = normal(v.a).sum() + normal(v.b)
    phi, chi = np.zeros((v.I, v.T - 1)), np.ones((v.I, v.T))
    for i in range(v.I):
        seen = np.flatnonzero(v.y[i])
        start = seen[0] if seen.size else 0
        slope = v.a + 0.1 * v.b * (i + 1)
        phi[i, start:] = 1 / (1 + np.exp(-slope[start:]))
        for t in range(v.T - 2, -1, -1):
            chi[i, t] = 1 - phi[i, t] + phi[i, t] / (1 + np.exp(v.b)) * chi[i, t + 1]
        if seen.size:
            at = np.arange(start + 1, seen[-1] + 1)
            total += np.log(phi[i, at - 1]).sum() + np.log(chi[i, seen[-1]])
            total += log_expit(np.where(v.y[i, at] == 1, v.b, -v.b)).sum()
    return total, {"phi": phi, "chi": chi}


@stan(
    """
    data { int I; int T; array[I, T] int y; array[I] int first; }
    parameters { array[2] simplex[2] move; simplex[3] seen; real left_over; }
    model {
      array[2] real acc;
      array[T] vector[2] gamma;
      int steps = 0;
      for (t in 1:T) gamma[t] = [left_over, left_over]';
      for (i in 1:I) {
        if (first[i] > 0) {
          for (k in 1:2) gamma[first[i], k] = k == y[i, first[i]];
          for (t in (first[i] + 1):T) {
            for (k in 1:2) {
              for (j in 1:2) acc[j] = gamma[t - 1, j] * move[j, k] * (k == 2 ? seen[y[i, t]] : 0.5);
              gamma[t, k] = sum(acc);
            }
            steps = t;
          }
          target += log(sum(gamma[T]) + 0.01);
        }
      }
      left_over ~ normal(0, 1);
      for (t in 1:T) target += 0.1 * t * sum(square(gamma[t])) - square(steps - left_over);
    }
    """,
    *(
        {"I": n, "T": 5, "y": below(3, n, 5, seed=n) + 1, "first": below(6, n, seed=n)}
        for n in SIZES
    ),
)
def hidden_states(v):
    gamma, steps = np.full((v.T, 2), v.left_over), 0
    total = normal(v.left_over)
    for i in range(v.I):
        start = v.first[i] - 1
        if start < 0:
            continue
        gamma[start] = [v.y[i, start] == 1, v.y[i, start] == 2]
        for t in range(start + 1, v.T):
            gamma[t] = gamma[t - 1] @ v.move * [0.5, v.seen[v.y[i, t] - 1]]
            steps = t + 1
        total += np.log(gamma[-1].sum() + 0.01)
    t = np.arange(1, v.T + 1)
    return total + (0.1 * t * (gamma**2).sum(axis=1)).sum() - v.T * (steps - v.left_over) ** 2


def _panels(groups, seed=0):
    """Return a ragged panel: where each group starts and stops, some of them empty."""
    size = below(5, groups, seed=groups)
    stop = np.cumsum(size)
    rows = int(size.sum())
    return {
        "J": groups, "N": rows, "start": stop - size + 1, "stop": stop,
        "y": noise(rows, seed=seed), "m": below(4, rows, seed=1), "x": noise(4, seed=2),
    }  # fmt: skip


@stan(
    """
    functions {
      real bend(real x, int kind) {
        if (kind == 0) return x;
        if (kind == 1) { real half = x / 2; return half; }
        return x * x;
      }
    }
    data {
      int J; int N; array[J] int start; array[J] int stop; vector[N] y; array[N] int m; vector[4] x;
    }
    parameters { vector[J] a; vector[4] b; real<lower=0> s; }
    transformed parameters {
      vector[N] mu; vector[J] carried = a;
      for (j in 1:J) {
        for (k in start[j]:stop[j]) {
          mu[k] = a[j];
          for (l in 1:m[k]) mu[k] += b[l] * x[l];
          for (l in (m[k] + 1):4) if (b[l] > 0.1 && m[k] > 1) mu[k] += bend(b[l] - 0.1, m[k] % 3);
          carried[j] = carried[j] * 0.5 + bend(mu[k], m[k]);
        }
      }
    }
    model {
      a ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1);
      for (j in 1:J) {
        for (k in start[j]:stop[j]) {
          y[k] ~ normal(mu[k], s);
          if (b[1] > 0) target += -square(b[1] * a[j]);
        }
        target += -square(carried[j]);
      }
    }
    """,
    *(_panels(n) for n in SIZES[1:]),
)
def panels_in_one_vector(v):
    total = normal(v.a).sum() + normal(v.b).sum() - v.s
    mu, carried = np.empty(v.N), v.a.copy()

    def bend(x, kind):
        return x if kind == 0 else x / 2 if kind == 1 else x * x

    for j in range(v.J):
        for k in range(v.start[j] - 1, v.stop[j]):
            m = v.m[k]
            mu[k] = v.a[j] + v.b[:m] @ v.x[:m]
            mu[k] += sum(bend(b - 0.1, m % 3) for b in v.b[m:] if b > 0.1 and m > 1)
            carried[j] = carried[j] * 0.5 + bend(mu[k], m)
            total += normal(v.y[k], mu[k], v.s) - (v.b[0] * v.a[j]) ** 2 * (v.b[0] > 0)
    return total - (carried**2).sum(), {"mu": mu, "carried": carried}


@stan(
    """
    functions {
      real summed(vector x, int most, real limit) {
        real total = 0;
        for (k in 1:most) {
          if (k > limit) break;
          if (k % 2 == 0) continue;
          total += x[k];
        }
        return total;
      }
      int doublings(int n) {
        int k = 1; int found = 0;
        while (k < n) { k *= 2; found += 1; }
        return found;
      }
    }
    data { int N; array[N] int most; vector[N] limit; }
    parameters { vector[8] x; vector[N] z; }
    transformed parameters {
      vector[N] one; vector[N] two; vector[N] three; real last = x[1];
      for (n in 1:N) {
        one[n] = summed(x, most[n], limit[n]);
        two[n] = z[n];
        for (k in 1:most[n]) {
          if (k == 3 && n % 2 == 0) break;
          if (limit[n] > 2 && k < 3) { two[n] -= x[k]; continue; }
          two[n] += x[k] * z[n];
          last = z[n] * k;
        }
        three[n] = 0;
        for (k in 1:most[n]) for (l in k:(most[n] - 1)) { if (l > 5) break; three[n] += x[l]; }
        if (most[n] == 0) continue;
        three[n] += doublings(most[n]) * z[n];
      }
    }
    model {
      x ~ normal(0, 1); z ~ normal(0, 1);
      target += -square(last) - sum(square(one)) - sum(square(two - three));
    }
    """,
    *({"N": n, "most": below(9, n, seed=n), "limit": 4 + 2 * noise(n, seed=n)} for n in SIZES[1:]),
)
def rounds_that_end_early(v):
    one, two, three, last = np.zeros(v.N), v.z.copy(), np.zeros(v.N), v.x[0]
    for n in range(v.N):
        most = v.most[n]
        one[n] = sum(v.x[k - 1] for k in range(1, most + 1) if k <= v.limit[n] and k % 2)
        for k in range(1, most + 1):
            if k == 3 and n % 2 == 1:
                break
            if v.limit[n] > 2 and k < 3:
                two[n] -= v.x[k - 1]
                continue
            two[n] += v.x[k - 1] * v.z[n]
            last = v.z[n] * k
        three[n] = sum(v.x[k - 1 : min(most - 1, 5)].sum() for k in range(1, most + 1))
        if most:
            three[n] += np.ceil(np.log2(most)) * v.z[n]
    total = normal(v.x).sum() + normal(v.z).sum()
    total -= last**2 + (one**2).sum() + ((two - three) ** 2).sum()
    return total, {"one": one, "two": two, "three": three, "last": last}


@stan(
    """
    functions {
      real cell(row_vector s, int first, int last) {
        vector[5] pr = rep_vector(0.1, 5);
        pr[first] = 1 - s[first];
        for (j in (first + 1):4) pr[j] = prod(s[first:(j - 1)]) * (1 - s[j]);
        return pr[last];
      }
    }
    data { int N; array[N] int size; array[N] int first; array[N] int last; vector[4] x; }
    parameters { vector[4] a; real<lower=0, upper=1> q; }
    transformed parameters {
      matrix[N, 4] s;
      for (n in 1:N) for (k in 1:4) s[n, k] = inv_logit(a[k] + 0.2 * n);
    }
    model {
      a ~ normal(0, 1);
      for (n in 1:N) {
        vector[size[n]] own;
        vector[size[n]] twice;
        for (k in 1:size[n]) own[k] = a[k] * x[k];
        twice = 2 * own;
        target += log_sum_exp(append_row(twice, q));
        own[first[n]:size[n]] ~ normal(q, 1);
        1 ~ bernoulli(cell(s[n], first[n], last[n]));
      }
    }
    """,
    *(
        {
            "N": n, "size": below(4, n, seed=n) + 1, "first": below(4, n, seed=1) + 1,
            "last": below(5, n, seed=2) + 1, "x": noise(4),
        }
        for n in SIZES
    ),
)  # fmt: skip
def sizes_and_slices(v):
    total = normal(v.a).sum()
    s = 1 / (1 + np.exp(-v.a - 0.2 * np.arange(1, v.N + 1)[:, None]))
    for n in range(v.N):
        own, first = (v.a * v.x)[: v.size[n]], v.first[n] - 1
        total += logsumexp(np.r_[2 * own, v.q])
        total += normal(own[first:], v.q).sum()
        pr = np.full(5, 0.1)
        for j in range(first, 4):
            pr[j] = np.prod(s[n, first:j]) * (1 - s[n, j])
        total += np.log(pr[v.last[n] - 1])
    return total, {"s": s}


@stan(
    """
    data { int N; array[N] int size; array[N] int from; }
    parameters { vector[N] z; real a; }
    transformed parameters {
      vector[6] x = rep_vector(a, 6); array[6, 2] real y; real total = 0; real most = a;
      vector[6] when;
      {
        array[6] int last = rep_array(0, 6);
        for (n in 1:N) {
          for (k in from[n]:size[n]) { x[k] = z[n] * k; last[k] = n; }
          if (size[n] > 2) { most = z[n]; most += x[size[n]] - size[n]; }
        }
        when = to_vector(last);
      }
      for (k in 1:6) y[k] = {a, 0};
      for (n in 1:N) {
        for (k in 1:size[n]) { y[k][1] = z[n]; y[k][2] = y[k][1] + k; }
      }
      for (n in 1:N) {
        for (k in 1:size[n]) x[k] += z[n];
        for (k in from[n]:size[n]) total += x[k] / n;
      }
    }
    model {
      z ~ normal(0, 1); a ~ normal(0, 1);
      target += dot_product(when, x) - square(total - most);
    }
    """,
    *({"N": n, "size": below(7, n, seed=n), "from": below(3, n) + 1} for n in SIZES[1:]),
    tolerance=1e-8,
)
def elements_that_iterations_leave(v):
    x, y = np.full(6, v.a), np.array([[v.a, 0.0]] * 6)
    total, most, last = 0.0, v.a, np.zeros(6, dtype=int)
    before = getattr(v, "from")
    for n in range(v.N):
        for k in range(before[n], v.size[n] + 1):
            x[k - 1], last[k - 1] = v.z[n] * k, n + 1
        if v.size[n] > 2:
            most = v.z[n] + x[v.size[n] - 1] - v.size[n]
    for n in range(v.N):
        k = np.arange(v.size[n])
        y[k] = np.stack([np.full(len(k), v.z[n]), v.z[n] + k + 1], axis=1)
    for n in range(v.N):
        x[: v.size[n]] += v.z[n]
        total += x[before[n] - 1 : v.size[n]].sum() / (n + 1)
    found = normal(v.z).sum() + normal(v.a) + last @ x - (total - most) ** 2
    return found, {"x": x, "y": y, "total": total, "most": most, "when": last}


@stan(
    """
    data { int G; array[G] int size; array[G, 5] int y; array[G] real<lower=0> top; }
    parameters { vector<lower=0>[G] rate; matrix[G, 5] e; }
    model {
      for (g in 1:G) {
        for (k in 1:size[g]) {
          y[g, k] ~ poisson(rate[g] + 0.1 * k);
          e[g, k] ~ normal(rate[g], 1) T[ , 5 + top[g]];
          if (rate[g] > -1) e[g, k] ~ normal(0, 2);
          if (rate[g] > 0.7) target += (rate[g] - 0.7)^5;
        }
        for (k in (size[g] + 1):5) e[g, k] ~ normal(0, k);
      }
      rate ~ exponential(1);
    }
    """,
    *(
        {"G": n, "size": below(6, n, seed=n), "y": counts(n, 5), "top": abs(noise(n)) + 0.5}
        for n in SIZES[1:]
    ),
)
def densities_of_some(v):
    from scipy.stats import poisson

    total = -v.rate.sum()
    for g in range(v.G):
        k = np.arange(1, v.size[g] + 1)
        own = v.e[g, : v.size[g]]
        total += poisson.logpmf(v.y[g, : v.size[g]], v.rate[g] + 0.1 * k).sum()
        total += (normal(own, v.rate[g]) - norm.logcdf(5 + v.top[g], v.rate[g])).sum()
        total += normal(own, 0, 2).sum() + max(v.rate[g] - 0.7, 0) ** 5 * len(k)
        total += normal(v.e[g, v.size[g] :], 0, np.arange(v.size[g] + 1, 6)).sum()
    return total
