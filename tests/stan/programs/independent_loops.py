"""Loops that may be run side by side, and loops that only look as if they might."""

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import norm, poisson
from stan_program import below, counts, noise, stan

normal = norm.logpdf
SIZES = (5, 16, 17, 40)


@stan(
    """
    data { int N; int J; array[N] int j; vector[N] x; vector[N] y; }
    parameters { vector[J] a; real b; real<lower=0> s; }
    model {
      a ~ normal(0, 1);
      s ~ exponential(1);
      for (n in 1:N) {
        real mu;
        mu = a[j[n]] + b * x[n];
        if (x[n] > 0.3) mu += square(b);
        else if (x[n] > 0) { real half = 0.5 * b; mu = mu * half; }
        y[n] ~ normal(mu, s);
      }
    }
    """,
    *({"N": n, "J": 3, "j": below(3, n) + 1, "x": noise(n), "y": noise(n, seed=1)} for n in SIZES),
)
def varying_intercepts(v):
    mu = v.a[v.j - 1] + v.b * v.x
    mu = np.where(v.x > 0.3, mu + v.b**2, np.where(v.x > 0, mu * 0.5 * v.b, mu))
    return normal(v.a).sum() - v.s + normal(v.y, mu, v.s).sum()


@stan(
    """
    data { int N; int K; matrix[N, K] X; array[N] int<lower=1, upper=K> y; }
    parameters { matrix[K, K] B; }
    transformed parameters {
      array[N] vector[K] eta;
      matrix[K, N] other;
      array[2, N] real third;
      for (n in 1:N) {
        vector[K] own;
        array[K] real copy;
        for (k in 1:K) {
          own[k] = 0;
          for (m in 1:k) own[k] += B[k, m] * X[n, m];
          copy[k] = own[k] * n;
        }
        eta[n] = own;
        other[1:2, n] = own[2:3];
        other[3, n] = own[1] + sum(copy);
        third[1, n] = own[1] / n;
        third[2, n] = third[1, n] + 1;
        if (n % 2 == 0) third[2, n] += own[2];
      }
    }
    model {
      to_vector(B) ~ normal(0, 1);
      for (n in 1:N) y[n] ~ categorical_logit(eta[n]);
      for (n in 1:N) target += -0.1 * third[2, n] - square(other[3, n]) / 100;
    }
    """,
    *({"N": n, "K": 3, "X": noise(n, 3), "y": below(3, n) + 1} for n in SIZES),
)
def local_vectors_filled_by_inner_loops(v):
    eta = v.X @ np.tril(v.B).T
    n = np.arange(1, v.N + 1)
    other = np.vstack([eta[:, 1], eta[:, 2], eta[:, 0] + n * eta.sum(axis=1)])
    third = np.vstack([eta[:, 0] / n, eta[:, 0] / n + 1 + np.where(n % 2 == 0, eta[:, 1], 0)])
    total = normal(v.B).sum() + (eta[n - 1, v.y - 1] - logsumexp(eta, axis=1)).sum()
    total += -0.1 * third[1].sum() - (other[2] ** 2).sum() / 100
    return total, {"eta": eta, "other": other, "third": third}


@stan(
    """
    data { int N; array[N] int idx; vector[N] w; }
    parameters { vector[N] z; real a; }
    transformed parameters {
      vector[N] chain; vector[N] back; vector[4] bins = rep_vector(a, 4); vector[N] last;
      real s = 1; vector[N] doubled = z; array[N] real turned;
      chain[1] = a;
      for (n in 2:N) chain[n] = chain[n - 1] * 0.5 + z[n];
      for (n in 1:N) back[N - n + 1] = z[n] * w[n] + a;
      for (n in 1:N) bins[idx[n]] += z[n] * w[n];
      for (n in 1:N) s += square(z[n]) / (1 + s);
      for (n in 1:N) { last = z * n; last[1] = a; }
      for (n in 1:N) doubled[n] = doubled[n] * 2 + doubled[N];
      for (n in 1:N) turned[n] = z[N - n + 1] + n;
    }
    model {
      z ~ normal(0, 1);
      for (n in 1:N) a ~ normal(z[n], 1);
      target += -square(s) - sum(square(chain)) - sum(turned) + sum(w .* doubled) - sum(last);
      target += bins[1] - square(bins[4]) + dot_product(back, w);
    }
    """,
    *({"N": n, "idx": below(4, n) + 1, "w": noise(n)} for n in SIZES),
)
def loops_that_only_look_independent(v):
    chain, bins, s, doubled = [v.a], np.full(4, v.a), 1.0, v.z.copy()
    for n in range(v.N):
        if n:
            chain.append(0.5 * chain[-1] + v.z[n])
        bins[v.idx[n] - 1] += v.z[n] * v.w[n]
        s += v.z[n] ** 2 / (1 + s)
        doubled[n] = doubled[n] * 2 + doubled[-1]
    back = (v.z * v.w + v.a)[::-1]
    last = v.z * v.N
    last[0] = v.a
    turned = v.z[::-1] + np.arange(1, v.N + 1)
    chain = np.array(chain)
    total = normal(v.z).sum() + normal(v.a, v.z).sum() - s**2 - (chain**2).sum() - turned.sum()
    total += (v.w * doubled).sum() - last.sum() + bins[0] - bins[3] ** 2 + back @ v.w
    quantities = {"chain": chain, "back": back, "bins": bins, "last": last, "s": s}
    return total, {**quantities, "doubled": doubled, "turned": turned}


@stan(
    """
    data {
      int G; array[G] int size; int N; vector[N] y; vector[N] x;
    }
    parameters { vector[G] a; vector[G] b; real<lower=0> s; }
    model {
      int pos = 1;
      a ~ normal(0, 1); b ~ normal(0, 1);
      for (g in 1:G) {
        segment(y, pos, size[g]) ~ normal(a[g] + b[g] * segment(x, pos, size[g]), s);
        y[pos:(pos + size[g] - 1)] ~ normal(x[pos:(pos + size[g] - 1)] * s, 2);
        pos = pos + size[g];
      }
    }
    """,
    {"G": 3, "size": [2, 0, 3], "N": 5, "x": noise(5), "y": noise(5, seed=2)},
    {"G": 20, "size": [1, 2, 3, 0] * 5, "N": 30, "x": noise(30), "y": noise(30, seed=2)},
)
def ragged_slices(v):
    g = np.repeat(np.arange(v.G), v.size)
    total = normal(v.a).sum() + normal(v.b).sum() + normal(v.y, v.x * v.s, 2).sum()
    return total + normal(v.y, v.a[g] + v.b[g] * v.x, v.s).sum()


@stan(
    """
    data { int I; int J; array[I, J] int y; array[I] int group; vector[J] time; }
    parameters { matrix[2, J] m; vector<lower=0>[I] scale; real d; }
    transformed parameters {
      matrix[I, J] rate;
      array[I, J] real log_rate;
      for (i in 1:I) {
        for (j in 1:J) {
          if (j == 1) log_rate[i, j] = m[group[i], j] + d;
          else log_rate[i, j] = m[group[i], j] * scale[i] + log_rate[i, j - 1] * 0.1;
          rate[i, j] = exp(log_rate[i][j]);
        }
        rate[i] = rate[i] * time[1] + 0.01;
      }
    }
    model {
      for (i in 1:I) for (j in 1:J) y[i, j] ~ poisson(rate[i, j]);
      to_vector(m) ~ normal(0, 0.5);
      scale ~ exponential(1);
      d ~ normal(0, 1);
    }
    """,
    *(
        {"I": i, "J": j, "y": counts(i, j), "group": below(2, i) + 1, "time": 1 + abs(noise(j))}
        for i, j in ((2, 3), (3, 18), (18, 3), (20, 17))
    ),
    observed=("y",),
)
def panels(v):
    log_rate = np.empty((v.I, v.J))
    for i in range(v.I):
        for j in range(v.J):
            m = v.m[v.group[i] - 1, j]
            log_rate[i, j] = m * v.scale[i] + 0.1 * log_rate[i, j - 1] if j else m + v.d
    rate = np.exp(log_rate) * v.time[0] + 0.01
    total = poisson.logpmf(v.y, rate).sum() + normal(v.m, 0, 0.5).sum() - v.scale.sum()
    return total + normal(v.d), {"rate": rate, "log_rate": log_rate}


@stan(
    """
    data { int N; array[N] int<lower=0, upper=1> y; array[N] int<lower=1, upper=N> perm; }
    parameters { vector[N] a; real b; }
    model {
      a ~ normal(0, 1);
      for (n in 1:N) y[perm[n]] ~ bernoulli_logit(a[n] + b * n);
    }
    """,
    *({"N": n, "y": below(2, n), "perm": np.argsort(noise(n)) + 1} for n in SIZES),
    observed=("y",),
)
def data_in_another_order(v):
    eta = v.a + v.b * np.arange(1, v.N + 1)
    y = v.y[v.perm - 1]
    return normal(v.a).sum() + log_expit(np.where(y == 1, eta, -eta)).sum()


@stan(
    """
    data { int N; vector[N] y; array[N] int seen; int M; array[M] int at; }
    parameters { vector[N] mu; real<lower=0> s; }
    model {
      for (n in 1:N) if (seen[n]) y[n] ~ normal(mu[n], s);
      for (n in 1:N) if (!seen[n]) target += normal_lccdf(1.5 | mu[n], s);
      y[at] ~ cauchy(mu[at], 2);
      mu ~ normal(0, 1);
      s ~ gamma(2, 2);
    }
    """,
    *({"N": n, "y": noise(n), "seen": below(2, n, seed=3), "M": 3, "at": [2, 1, 4]} for n in SIZES),
)
def part_of_the_data(v):
    seen = v.seen == 1
    at = v.at - 1
    total = normal(v.mu).sum() + np.log(4 * v.s) - 2 * v.s
    total += normal(v.y, v.mu, v.s)[seen].sum() + norm.logsf(1.5, v.mu, v.s)[~seen].sum()
    return total - np.log(np.pi * 2 * (1 + ((v.y[at] - v.mu[at]) / 2) ** 2)).sum()


@stan(
    """
    data { int N; vector[N] x; array[N] int k; vector[N] y; }
    parameters { array[3] vector[2] theta; vector[2] w; }
    model {
      for (n in 1:N) {
        vector[2] now = theta[k[n]];
        matrix[2, 2] M = rep_matrix(0, 2, 2);
        array[2, 2] real inner;
        now[1] *= x[n];
        M[1] = now';
        M[2, 1] = x[n];
        M[ : , 2] += w;
        for (i in 1:2) for (j in 1:2) inner[i, j] = M[j, i] + i;
        y[n] ~ normal(inner[1, 2] + M[1, 2] * inner[2, 1], 1 + square(theta[k[n], 2]));
      }
      for (i in 1:3) theta[i] ~ normal(0, 1);
      w ~ normal(0, 1);
    }
    """,
    *({"N": n, "x": noise(n), "k": below(3, n) + 1, "y": noise(n, seed=4)} for n in SIZES),
)
def local_matrices(v):
    total = normal(v.theta).sum() + normal(v.w).sum()
    for x, k, y in zip(v.x, v.k - 1, v.y, strict=True):
        now = v.theta[k] * [x, 1]
        M = np.array([now, [x, 0.0]])
        M[:, 1] += v.w
        inner = M.T + np.array([[1], [2]])
        total += normal(y, inner[0, 1] + M[0, 1] * inner[1, 0], 1 + v.theta[k, 1] ** 2)
    return total


@stan(
    """
    functions {
      real curve(real x, vector p, int kind) {
        real scaled = x * p[1];
        if (kind == 1) return scaled;
        if (kind == 2) { scaled += 1; return square(scaled); }
        return p[2] + scaled;
      }
      vector both(real x, vector p) { return [x * p[1], p[2] - x]'; }
    }
    data { int N; vector[N] x; array[N] int kind; array[N] vector[2] y; }
    parameters { vector[2] p; cov_matrix[2] S; }
    model {
      for (n in 1:N) y[n] ~ multi_normal(both(x[n], p) + curve(x[n], p, kind[n]), S);
      S ~ inv_wishart(4, identity_matrix(2));
      p ~ normal(0, 1);
    }
    """,
    *({"N": n, "x": noise(n), "kind": below(3, n) + 1, "y": noise(n, 2)} for n in SIZES),
    observed=("y",),
)
def functions_by_iteration(v):
    a, b = v.p
    curve = np.select([v.kind == 1, v.kind == 2], [v.x * a, (v.x * a + 1) ** 2], b + v.x * a)
    gap = v.y - np.stack([v.x * a + curve, b - v.x + curve], axis=1)
    log_det = np.linalg.slogdet(v.S)[1]
    total = -0.5 * (gap * np.linalg.solve(v.S, gap.T).T).sum()
    total -= v.N * (np.log(2 * np.pi) + 0.5 * log_det)
    # Inverse Wishart with 4 degrees of freedom, scale I, in two dimensions.
    log_gamma_2 = 0.5 * np.log(np.pi) + 0.0 + np.log(np.sqrt(np.pi) / 2)
    wishart = -4 * np.log(2) - log_gamma_2 - 3.5 * log_det - 0.5 * np.trace(np.linalg.inv(v.S))
    return total + wishart + normal(v.p).sum()


@stan(
    """
    data { int N; int K; array[N] vector[K] y; array[N] real w; }
    parameters { array[K] real mu; vector<lower=0>[K] s; real<lower=0, upper=1> share; }
    model {
      for (n in 1:N) {
        array[2] real parts = rep_array(0.0, 2);
        real total = 0;
        for (k in 1:K) {
          parts[1] += normal_lpdf(y[n][k] | mu[k], s[k]);
          parts[2] += cauchy_lpdf(y[n, k] | mu[k], s[k]);
          total += w[n] * mu[k];
        }
        target += log_mix(share, parts[1], parts[2]);
        target += -square(total) * 0.01;
        target += log_sum_exp(log(share) + w[n], log1m(share) - mu[1]);
      }
      mu ~ normal(0, 1); s ~ lognormal(0, 1);
    }
    """,
    *({"N": n, "K": 2, "y": noise(n, 2), "w": noise(n, seed=5)} for n in SIZES),
)
def mixtures(v):
    from scipy.stats import cauchy

    one = normal(v.y, v.mu, v.s).sum(axis=1)
    two = cauchy.logpdf(v.y, v.mu, v.s).sum(axis=1)
    total = np.logaddexp(np.log(v.share) + one, np.log1p(-v.share) + two).sum()
    total -= 0.01 * (np.outer(v.w, v.mu).sum(axis=1) ** 2).sum()
    total += np.logaddexp(np.log(v.share) + v.w, np.log1p(-v.share) - v.mu[0]).sum()
    return total + normal(v.mu).sum() + (normal(np.log(v.s)) - np.log(v.s)).sum()


@stan(
    """
    data { int N; }
    parameters { real a; }
    transformed parameters {
      vector[N] one; vector[N] two; vector[N] three; vector[N] four;
      {
        vector[3] x = [a, a, a]'; vector[3] y = x; vector[3] z = x; real keep = 0;
        for (n in 1:N) { for (k in 1:2) x[k] = n * a; one[n] = sum(x); x[3] = n; }
        for (n in 1:N) {
          for (k in 1:2) y[k] = n * a;
          two[n] = sum(y);
          for (k in 1:3) y[k] = n;
        }
        for (n in 1:N) { for (k in 1:2) z[k] = n * a; for (k in 1:2) z[k] += k; three[n] = sum(z); }
        for (n in 1:N) { if (n % 3 != 0) keep = n * a; four[n] = keep; }
        four[1] += z[1] + x[3];
      }
    }
    model { a ~ normal(0, 1); }
    """,
    *({"N": n} for n in (5, 16, 20)),
)
def variables_that_iterations_set_in_part(v):
    n = np.arange(1, v.N + 1)
    last = np.r_[v.a, n[:-1]]
    kept = v.a * np.where(n % 3 == 0, n - 1, n)
    kept[0] += v.N * v.a + 1 + v.N
    one = 2 * n * v.a + last
    return normal(v.a), {"one": one, "two": one, "three": 2 * n * v.a + 3 + v.a, "four": kept}
