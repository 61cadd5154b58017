"""Conditions on parameters and on data, functions of the program's own."""

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import norm
from stan_program import below, noise, stan

normal = norm.logpdf


@stan(
    """
    data { int N; vector[N] x; vector[N] y; }
    parameters { real a; real b; real<lower=0> s; }
    transformed parameters {
      real root; vector[N] mu; real c = a; real pick; vector[2] two = [1, 2]';
      if (a > 0) root = sqrt(a); else root = log1p(-a);
      if (a > 0.2 && b < 0.1) { c = a * b; two[2] = a; }
      else if (a < -0.2 || b > 0.3) { real d = b - 1; c += square(d); two = [b, 3]'; }
      pick = a > b ? pow(a - b, 0.5) : -log1p(b - a);
      for (n in 1:N) {
        if (x[n] > a) mu[n] = a + b * (x[n] - a); else mu[n] = a;
      }
      if (!(b > 0)) two[1] *= 2;
    }
    model {
      a ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1);
      y ~ normal(mu + c + root, s);
      if (a > 0) target += -log(a + 1) * sqrt(a);
      if (b > 0) { b ~ gamma(2, 3); target += normal_lpdf(log(b) | 0, 1); }
      else y[1] ~ normal(sqrt(-b), 1);
      target += step(a) * b + fmax(a, b) + fmin(a, 0.1) + fabs(a - b);
    }
    """,
    *({"N": n, "x": noise(n), "y": noise(n, seed=1)} for n in (4, 20)),
)
def conditions_on_parameters(v):
    a, b = float(v.a), float(v.b)
    root = np.sqrt(a) if a > 0 else np.log1p(-a)
    c, two = a, np.array([1.0, 2.0])
    if a > 0.2 and b < 0.1:
        c, two[1] = a * b, a
    elif a < -0.2 or b > 0.3:
        c, two = c + (b - 1) ** 2, np.array([b, 3.0])
    pick = np.sqrt(a - b) if a > b else -np.log1p(b - a)
    mu = np.where(v.x > a, a + b * (v.x - a), a)
    if not b > 0:
        two[0] *= 2
    total = normal(a) + normal(b) - v.s + normal(v.y, mu + c + root, v.s).sum()
    total -= np.log(a + 1) * np.sqrt(a) if a > 0 else 0
    if b > 0:
        total += 2 * np.log(3) + np.log(b) - 3 * b + normal(np.log(b))
    else:
        total += normal(v.y[0], np.sqrt(-b))
    total += (a >= 0) * b + max(a, b) + min(a, 0.1) + abs(a - b)
    return total, {"root": root, "c": c, "pick": pick, "mu": mu, "two": two}


@stan(
    """
    functions {
      real f(real x) { return x + 1; }
      real f(vector x) { return sum(x); }
      real f(real x, real y) { return x * y; }
      real f(array[] real x) { return x[1] - x[size(x)]; }
      real f(int x) { return x * 10; }
      int factorial(int n) { if (n <= 1) return 1; return n * factorial(n - 1); }
      real power(real x, int n);
      real power(real x, int n) { return n == 0 ? 1 : x * power(x, n - 1); }
      int even(int n) { return n == 0 ? 1 : odd(n - 1); }
      int odd(int n) { return n == 0 ? 0 : even(n - 1); }
      real clipped(real x) {
        if (x < -0.3) return -0.3;
        if (x > 0.3) { real over = x - 0.3; return 0.3 + 0.1 * over; }
        return x;
      }
      real nested(real x, int k) {
        if (k > 0) {
          for (i in 1:10) { if (i > k) return x * i; }
          return -1;
        } else if (x > 0) return x * x;
        else { return -x; }
      }
      real shape_lpdf(vector y, real mu, real s) {
        return -num_elements(y) * log(s) - sum(abs(y - mu)) / s; }
      real pick_lpmf(int n, vector logits) { return log_softmax(logits)[n]; }
      void prior_lp(real x, real s) { x ~ normal(0, s); target += -square(x); }
      real both_lp(real x) { target += x; return x * 2; }
      matrix outer(vector a, data vector b) { return a * b'; }
      array[] vector pair(vector a) { return {a, 2 * a}; }
      void nothing(real x) { print("x = ", x); }
    }
    data { int N; vector[N] y; array[3] int k; }
    transformed data { int six = factorial(3); int is_even = even(7); real ff = f(2); }
    parameters { real x; vector[N] z; real<lower=0> s; }
    transformed parameters {
      real a = f(x); real b = f(z); real c = f(x, 2); real d = f({x, 1.0, s});
      real e = power(x, 5); real g = clipped(x); real h0 = nested(x, 0); real h1 = nested(x, 4);
      matrix[N, N] O = outer(z, y);
      array[2] vector[N] p = pair(z);
    }
    model {
      real twice;
      nothing(x);
      prior_lp(x, 2);
      z ~ shape(x, s);
      target += shape_lpdf(y | 0, s);
      target += shape_lupdf(y | x, 1);
      for (i in 1:3) k[i] ~ pick(z);
      s ~ exponential(1);
      twice = both_lp(s);
      target += twice * six + is_even + ff;
    }
    """,
    N=3,
    y=[0.5, -0.3, 1.0],
    k=[1, 3, 3],
)
def functions_of_the_program(v):
    def shape(y, mu, s):
        return -len(y) * np.log(s) - np.abs(y - mu).sum() / s

    x, z, s, y = float(v.x), v.z, float(v.s), v.y
    clipped = -0.3 if x < -0.3 else 0.3 + 0.1 * (x - 0.3) if x > 0.3 else x
    total = normal(x, 0, 2) - x**2 + shape(z, x, s) + shape(y, 0, s) + shape(y, x, 1)
    total += (z[v.k - 1] - logsumexp(z)).sum() - s + s + 2 * s * 6 + 0 + 20
    found = {"a": x + 1, "b": z.sum(), "c": 2 * x, "d": x - s, "e": x**5, "g": clipped}
    found |= {"h0": x * x if x > 0 else -x, "h1": 5 * x, "O": np.outer(z, y), "p": [z, 2 * z]}
    return total, found


@stan(
    """
    functions {
      real loglik(real y, real m, int kind) {
        if (kind == 1) { if (y > m) return -square(y - m); return -abs(y - m); }
        if (m > 0) return normal_lpdf(y | m, 1);
        return cauchy_lpdf(y | m, 1);
      }
    }
    data { int N; vector[N] y; array[N] int kind; }
    parameters { vector[N] m; }
    model {
      m ~ normal(0, 1);
      for (n in 1:N) target += loglik(y[n], m[n], kind[n]);
    }
    """,
    *({"N": n, "y": noise(n), "kind": below(2, n) + 1} for n in (4, 17, 40)),
)
def early_returns(v):
    total = normal(v.m).sum()
    for y, m, kind in zip(v.y, v.m, v.kind, strict=True):
        if kind == 1:
            total -= (y - m) ** 2 if y > m else abs(y - m)
        else:
            total += normal(y, m) if m > 0 else -np.log(np.pi * (1 + (y - m) ** 2))
    return total


@stan(
    """
    data { int N; array[N] int<lower=0> y; real<lower=0> change; array[N] real time; }
    parameters { real<lower=0> early; real<lower=0> late; real<lower=0, upper=10> at; real q; }
    transformed parameters {
      vector[N] lp = rep_vector(-log(N), N);
      for (s in 1:N) for (t in 1:N) lp[s] += poisson_lpmf(y[t] | t < s ? early : late);
    }
    model {
      early ~ exponential(1); late ~ exponential(1);
      target += log_sum_exp(lp);
      for (n in 1:N) {
        real rate = time[n] > at ? early * 2 : late;
        y[n] ~ poisson(rate);
        if (q > 0 || time[n] > 3) target += -0.1 * square(q);
        if (q < 0 && time[n] > 3) target += 0.2 * q;
      }
    }
    """,
    *(
        {"N": n, "y": below(6, n), "change": 1.0, "time": np.linspace(0, 9, n) ** 1.1 / 3}
        for n in (5, 18)
    ),
)
def change_points(v):
    def poisson(rate):
        return v.y * np.log(rate) - rate - gammaln(v.y + 1)

    t = np.arange(v.N)
    lp = [poisson(np.where(t < s, v.early, v.late)).sum() - np.log(v.N) for s in range(v.N)]
    total = -v.early - v.late + logsumexp(lp)
    total += poisson(np.where(v.time > v.at, 2 * v.early, v.late)).sum()
    total -= 0.1 * v.q**2 * ((v.q > 0) | (v.time > 3)).sum()
    total += 0.2 * v.q * ((v.q < 0) & (v.time > 3)).sum()
    return total, {"lp": np.array(lp)}


@stan(
    """
    parameters { real<lower=-1, upper=1> x; real y; vector[3] v; }
    model {
      x ~ normal(0, 1);
      if (x < -2) reject("far out: x = ", x);
      if (y > 5) { reject("y"); }
      y ~ normal(x, 1);
      v ~ std_normal();
      profile("sum") {
        real local = sum(v);
        target += -square(local);
      }
      { real local = 3; target += local * v[1]; }
      print("target is not shown", x);
    }
    generated quantities {
      real z;
      profile("z") { z = x + y; }
      if (z > 100) reject("too much");
      if (x > 0) z = 1; else z = -1;
    }
    """
)
def reject_print_profile(v):
    total = normal(v.x) + normal(v.y, v.x) + normal(v.v).sum() - v.v.sum() ** 2 + 3 * v.v[0]
    return total, {"z": 1 if v.x > 0 else -1}


@stan(
    """
    functions {
      real first_above(real a) {
        for (i in 1:20) {
          if (a < 0.1 * i - 0.5) { if (a > 0) return a * i; return -a * i; }
        }
        return 100;
      }
      real graded(real a) {
        if (a > 0) { if (a > 0.4) return 1 + a; return 2 * a; }
        return 3;
      }
      real root_of(real a) {
        real x = 1;
        for (i in 1:30) {
          real step_size = (square(x) - a) / (2 * x);
          x -= step_size;
          if (abs(step_size) < 1e-12) break;
        }
        return x;
      }
    }
    parameters { real a; vector[4] v; }
    transformed parameters {
      real above = first_above(a); real grade = graded(a); real root = root_of(exp(a));
      real skipped = 0; real counted = 0; real reached = 0;
      for (i in 1:10) { if (a > 0.05 * i) continue; skipped += i * a; }
      for (i in 1:30) { counted += a; if (a < 0.05 * i - 0.2) break; counted += 0.5; }
      for (x in v) { if (x < 0) { reached -= x; break; } reached += x; }
    }
    model { a ~ normal(0, 1); v ~ normal(0, 1); target += -square(root) - grade; }
    """
)
def leaving_loops_where_parameters_say(v):
    a = float(v.a)
    above = next((a * i if a > 0 else -a * i for i in range(1, 21) if a < 0.1 * i - 0.5), 100)
    grade = 3 if a <= 0 else 1 + a if a > 0.4 else 2 * a
    skipped = a * sum(i for i in range(1, 11) if a <= 0.05 * i)
    counted = reached = 0.0
    for i in range(1, 31):
        counted += a
        if a < 0.05 * i - 0.2:
            break
        counted += 0.5
    for x in v.v:
        reached += abs(x)
        if x < 0:
            break
    total = normal(a) + normal(v.v).sum() - np.exp(a) - grade
    found = {"above": above, "grade": grade, "root": np.exp(a / 2), "skipped": skipped}
    return total, {**found, "counted": counted, "reached": reached}


@stan(
    """
    data { int N; vector[N] x; vector[N] y; }
    parameters { real a; vector[2] mu; array[3] vector[2] each; matrix[2, 3] table; }
    model {
      int above = a > 0;
      a ~ normal(0, 1); mu ~ normal(0, 1); to_vector(table) ~ normal(0, 1);
      for (j in 1:3) each[j] ~ normal(0, 1);
      for (n in 1:N) {
        int k = 1 + (x[n] > a);
        int m = 2;
        if (x[n] > a + 0.5) m = 3; else if (x[n] < a - 0.5) m = 1;
        y[n] ~ normal(mu[k] + each[m][k] * table[k, m], 1);
      }
      target += 0.1 * sum(table[1 + above]) + each[1 + 2 * above, 2];
    }
    """,
    *({"N": n, "x": below(3, n) / 2 - 0.5, "y": noise(n, seed=1)} for n in (3, 20)),
)  # fmt: skip
def elements_that_parameters_decide(v):
    total = normal(v.a) + normal(v.mu).sum() + normal(v.each).sum() + normal(v.table).sum()
    for x, y in zip(v.x, v.y, strict=True):
        k = int(x > v.a)
        m = 2 if x > v.a + 0.5 else 0 if x < v.a - 0.5 else 1
        total += normal(y, v.mu[k] + v.each[m, k] * v.table[k, m])
    above = int(v.a > 0)
    return total + 0.1 * v.table[above].sum() + v.each[2 * above, 1]
