"""Tuples, complex numbers, generated quantities that are no random ones."""

import numpy as np
from scipy.stats import norm
from stan_program import noise, stan

normal = norm.logpdf


@stan(
    """
    functions {
      tuple(real, vector) both(vector x, tuple(real, int) t) { return (sum(x) * t.1, x * t.2); }
      real first(tuple(vector, real) t) { return t.1[1] + t.2; }
      array[] tuple(int, real) pairs(real a) { return {(1, a), (2, 2 * a)}; }
    }
    data {
      tuple(real, array[2] int) t; array[2] tuple(int, vector[2]) ts; tuple(real, tuple(int,
        real)) deep;
    }
    transformed data {
      tuple(real, int) own = (t.1 * 2, t.2[1]);
      array[2] tuple(int, real) made;
      for (i in 1:2) made[i] = (ts[i].1, sum(ts[i].2));
    }
    parameters { vector[2] a; real b; }
    transformed parameters {
      real c; vector[2] d; real e; real f = 0; real g; real h;
      (c, d) = both(a, own);
      e = first((d, b));
      {
        array[2] tuple(int, real) ps = pairs(b);
        array[2] tuple(int, real) copy = ps;
        tuple(real, vector[2]) u = (b, a);
        tuple(real, vector[2]) w = u;
        w.1 = 10;
        w.2[2] = 20;
        copy[1] = (5, 100.0);
        copy[2].2 = 7;
        for (p in ps) f += p.1 * p.2;
        g = u.1 + u.2[2] + 1000 * copy[1].2 + copy[2].2;
        h = w.1 + w.2[2] + w.2[1];
        if (b > 0) { u.1 = a[1]; ps[2].2 = a[2]; }
        g += u.1 + ps[2].2;
      }
    }
    model {
      a ~ normal(t.1, own.2);
      b ~ normal(deep.2.2, deep.2.1);
      for (p in ts) p.2 ~ normal(a, p.1);
      target += made[2].2 * b + e;
    }
    generated quantities {
      tuple(real, real) pair = (b, a[1]);
      real sum_of_pair = pair.1 + pair.2;
      array[2] real seconds;
      { array[2] tuple(int, real) ps = pairs(b); for (i in 1:2) seconds[i] = ps[i].2; }
    }
    """,
    t=(0.5, [2, 3]),
    ts=[(1, [0.1, 0.2]), (2, [0.3, -0.4])],
    deep=(1.0, (2, 0.25)),
)
def tuples(v):
    a, b = v.a, v.b
    c, d = a.sum() * 1.0, a * 2
    e, f = d[0] + b, b + 4 * b
    h = 10 + 20 + a[0]
    g = b + a[1] + 100000 + 7 + (a[0] if b > 0 else b) + (a[1] if b > 0 else 2 * b)
    total = normal(a, 0.5, 2).sum() + normal(b, 0.25, 2) + normal([0.1, 0.2], a, 1).sum()
    total += normal([0.3, -0.4], a, 2).sum() + (0.3 - 0.4) * b + e
    found = {"c": c, "d": d, "e": e, "f": f, "g": g, "h": h}
    return total, {**found, "sum_of_pair": b + a[0], "seconds": [b, 2 * b]}


@stan(
    """
    data { complex z; array[2] complex zs; real x; }
    transformed data {
      complex w = z * 2i + to_complex(1, x);
      real size = abs(w) + norm(z) + arg(z);
      complex q = sqrt(w) / zs[1] - conj(z);
      real a = get_real(q) + get_imag(q) + get_real(exp(z)) + get_imag(pow(z, 2));
      array[2] real parts = {get_real(zs[1] + zs[2]), get_imag(polar(2, x))};
      int same = z == z;
    }
    parameters { real b; }
    model { b ~ normal(size + a, 1 + parts[1] ^ 2 + same); target += b * parts[2]; }
    """,
    z=1.0 + 0.5j,
    zs=[0.3 - 1j, 2.0 + 0j],
    x=0.7,
)
def complex_numbers_of_data(v):
    w = v.z * 2j + 1 + 1j * v.x
    size = abs(w) + abs(v.z) ** 2 + np.angle(v.z)
    q = np.sqrt(w) / v.zs[0] - np.conj(v.z)
    a = q.real + q.imag + np.exp(v.z).real + (v.z**2).imag
    parts = [(v.zs[0] + v.zs[1]).real, 2 * np.sin(v.x)]
    return normal(v.b, size + a, 2 + parts[0] ** 2) + v.b * parts[1]


@stan(
    """
    functions {
      real f(real x) { if (x > 0) return sqrt(x); return -1; }
      vector cut(vector x, real low) { vector[size(x)] y = x;
        for (i in 1:size(x)) if (x[i] < low) y[i] = low; return y; }
    }
    data { int N; vector[N] y; array[N] int g; }
    parameters { real mu; real<lower=0> s; vector[3] a; }
    transformed parameters { vector[N] m = mu + a[g]; }
    model { y ~ normal(m, s); a ~ normal(0, 1); mu ~ normal(0, 1); s ~ exponential(1); }
    generated quantities {
      vector[N] log_lik;
      real total = 0;
      int above = 0;
      array[N] int flags;
      array[2, 3] real table;
      int<lower=1, upper=3> best = 1;
      real root = f(mu);
      vector[3] cuts = cut(a, mu);
      matrix[2, 2] M = rep_matrix(mu, 2, 2);
      vector[2] w;
      vector[0] nothing;
      real steps = 0;
      real unused;
      row_vector[3] ranks;
      array[3] int order = sort_indices_asc(a);
      for (n in 1:N) {
        log_lik[n] = normal_lpdf(y[n] | m[n], s);
        total += log_lik[n];
        flags[n] = y[n] > m[n];
        if (flags[n]) above += 1;
      }
      for (k in 2:3) if (a[k] > a[best]) best = k;
      for (i in 1:2) for (j in 1:3) table[i, j] = i * a[j];
      M[1, 2] = best; M[2] += a[1:2]';
      w[1] = a[best];
      w[2] = a[1] > 0 ? 1 : log1p(-a[1]);
      { real x = s; while (x > 0.1 && steps < 100) { x /= 2; steps += 1; if (steps == 50) break; } }
      for (k in 1:3) { ranks[k] = rank(a, k); if (mu > 100) continue; ranks[k] += 1; }
      unused = cauchy_lcdf(mu | 0, s);
    }
    """,
    *({"N": n, "y": noise(n), "g": np.arange(n) % 3 + 1} for n in (5, 20)),
    observed=("y",),
)
def generated_quantities(v):
    m = v.mu + v.a[v.g - 1]
    lik = normal(v.y, m, v.s)
    total = lik.sum() + normal(v.a).sum() + normal(v.mu) - v.s
    best = int(np.argmax(v.a))
    M = np.full((2, 2), v.mu)
    M[0, 1] = best + 1
    M[1] += v.a[:2]
    x, steps = v.s, 0
    while x > 0.1 and steps < 50:
        x, steps = x / 2, steps + 1
    found = {
        "m": m, "log_lik": lik, "total": lik.sum(), "above": (v.y > m).sum(), "flags": v.y > m,
        "table": np.outer([1, 2], v.a), "best": best + 1, "nothing": np.zeros(0),
        "root": np.sqrt(v.mu) if v.mu > 0 else -1, "cuts": np.maximum(v.a, v.mu), "M": M,
        "w": [v.a[best], 1 if v.a[0] > 0 else np.log1p(-v.a[0])], "steps": steps,
        "ranks": np.argsort(np.argsort(v.a)) + 1, "order": np.argsort(v.a) + 1,
        "unused": np.log(0.5 + np.arctan(v.mu / v.s) / np.pi),
    }  # fmt: skip
    return total, found
