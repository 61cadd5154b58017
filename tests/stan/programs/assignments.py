"""Assignments to elements, slices and blocks; copies; arrays part data, part parameters."""

import numpy as np
from scipy.stats import norm
from stan_program import below, noise, stan

normal = norm.logpdf


@stan(
    """
    functions {
      vector changed(vector x) { vector[num_elements(x)] y = x; y[1] = 100; return y; }
      array[] real grown(array[] real x, real by) {
        array[size(x)] real out = x;
        for (i in 1:size(x)) out[i] += by;
        return out;
      }
    }
    data { array[3] real d; vector[3] base; }
    transformed data {
      array[3] real copy = d;
      copy[1] = 7;
    }
    parameters { vector[3] a; }
    transformed parameters {
      vector[3] b = a;
      vector[3] c;
      vector[3] e = base;
      array[3] real mixed = d;
      array[2] vector[3] many = {a, base};
      vector[3] first;
      matrix[2, 3] M;
      c = b;
      b[1] = 2;
      c[2] += 5;
      e[2] = a[2];
      mixed[3] = a[1];
      first = many[1];
      many[1, 2] = 0;
      many[2][3] = a[3] * 2;
      M[1] = a';
      M[2] = base';
      M[2, 2] = M[1, 1] + 1;
      M[ : , 3] *= 3;
      M[1, 1:2] = M[2, 2:3];
      {
        vector[3] z = changed(a);
        e += z / 100;
        mixed = grown(mixed, a[2]);
      }
    }
    model {
      a ~ normal(base, 1);
      to_vector(copy) ~ normal(a, 2);
      to_vector(M) ~ normal(0, 5);
      b ~ normal(c, 0.1 + abs(e));
    }
    generated quantities {
      vector[3] untouched = a;
      array[3] real still = d;
      untouched[2] = base[1];
      still[1] += a[1];
    }
    """,
    d=[0.5, 1.5, -1.0],
    base=[1.0, 2.0, 3.0],
)
def copies_are_of_their_own(v):
    a, base, d = v.a, v.base, v.d
    b, c, e = a.copy(), a.copy(), base.copy()
    b[0], c[1], e[1] = 2, c[1] + 5, a[1]
    mixed = np.array([d[0], d[1], a[0]]) + a[1]
    many = np.array([[a[0], 0, a[2]], [base[0], base[1], 2 * a[2]]])
    M = np.array([a, base])
    M[1, 1] = a[0] + 1
    M[:, 2] *= 3
    M[0, :2] = M[1, 1:]
    e += np.array([100, a[1], a[2]]) / 100
    total = normal(a, base).sum() + normal([7, *d[1:]], a, 2).sum() + normal(M, 0, 5).sum()
    total += normal(b, c, 0.1 + abs(e)).sum()
    found = {"b": b, "c": c, "e": e, "mixed": mixed, "many": many, "first": a, "M": M}
    still = np.array([d[0] + a[0], *d[1:]])
    return total, {**found, "untouched": np.array([a[0], base[0], a[2]]), "still": still}


@stan(
    """
    data { int N; matrix[3, 4] D; array[2] int rows; array[3] int cols; }
    parameters { matrix[3, 4] A; vector[4] w; array[2, 3] vector[2] cube; }
    transformed parameters {
      matrix[3, 4] B = D;
      matrix[3, 4] C = A;
      array[2, 3] vector[2] turned = cube;
      vector[6] long;
      row_vector[4] r;
      array[3, 2] real plain;
      B[2] = w';
      B[rows, cols] = A[1:2, 2:4];
      B[3, {4, 1}] = A[1, 1:2];
      C[cols, 3] = w[1:3];
      C[ : , 1:0] = rep_matrix(0, 3, 0);
      C[2:, 2] = A[{1, 1}, 4];
      turned[1, 2] = w[3:4];
      turned[2, : , 1] = {A[1, 1], A[2, 2], A[3, 3]};
      turned[ : , 3] = {w[1:2], w[2:3]};
      long[{6, 2, 4}] = w[1:3];
      long[{1, 3, 5}] = long[{2, 4, 6}] * 2;
      r = A[2, : ] - D[3];
      plain[1:2] = {{w[1], 0}, {1.5, w[2]}};
      plain[3] = plain[1];
      plain[3, 2] = plain[2, 1];
    }
    model {
      to_vector(A) ~ normal(0, 1);
      w ~ normal(0, 1);
      for (i in 1:2) for (j in 1:3) cube[i, j] ~ normal(i, j);
      target += -sum(square(B)) - sum(square(C)) - dot_self(long) - r * r';
      target += -squared_distance(turned[1, 2], turned[2, 1]);
    }
    """,
    N=3,
    D=noise(3, 4),
    rows=[3, 1],
    cols=[2, 1, 3],
)
def blocks(v):
    A, w, B, C, turned = v.A, v.w, v.D.copy(), v.A.copy(), v.cube.copy()
    B[1] = w
    B[np.ix_(v.rows - 1, v.cols - 1)] = A[:2, 1:]
    B[2, [3, 0]] = A[0, :2]
    C[v.cols - 1, 2] = w[:3]
    C[1:, 1] = A[0, 3]
    turned[0, 1] = w[2:]
    turned[1, :, 0] = np.diag(A)
    turned[:, 2] = [w[:2], w[1:3]]
    long = np.empty(6)
    long[[5, 1, 3]] = w[:3]
    long[[0, 2, 4]] = 2 * long[[1, 3, 5]]
    r = A[1] - v.D[2]
    plain = np.array([[w[0], 0], [1.5, w[1]], [w[0], 1.5]])
    i, j = np.mgrid[1:3, 1:4]
    total = normal(A).sum() + normal(w).sum()
    total += normal(v.cube, i[..., None], j[..., None]).sum()
    total -= (B**2).sum() + (C**2).sum() + (long**2).sum() + (r**2).sum()
    total -= ((turned[0, 1] - turned[1, 0]) ** 2).sum()
    return total, {"B": B, "C": C, "turned": turned, "long": long, "r": r, "plain": plain}


@stan(
    """
    data { int N; vector[N] y; }
    transformed data {
      int a = 17 %/% 5;
      int b = -17 / 5;
      int c = -17 % 5 + modulus(17, -5) - 2;
      int d = 7;
      real e = 17 / 5.0;
      array[3] int counts = {1, 2, 3};
      d += 3; d *= 2; d -= 1; d /= 4;
      counts[2] *= 5;
    }
    parameters { real x; vector[2] w; }
    transformed parameters {
      real y1 = x; vector[2] q = w; row_vector[2] r = w'; matrix[2, 2] M = w * w';
      y1 += a; y1 *= 2; y1 -= x * b; y1 /= d;
      q .*= w; q ./= [2, 4]'; q += 1; q -= w; q *= 3; q /= 2;
      r *= M;
      M *= M;
      M += 1;
      M[1, 2] -= c;
      q[2] = q[2] ^ 2;
    }
    model {
      y ~ normal(y1 + e, 1);
      w ~ normal(q, 1);
      target += -dot_self(r) - sum(square(M)) + sum(counts);
    }
    """,
    N=2,
    y=[0.3, 0.1],
    spread=0.4,
)
def compound_assignments(v):
    y1 = ((v.x + 3) * 2 - v.x * -3) / 4
    q = ((v.w * v.w / [2, 4]) + 1 - v.w) * 3 / 2
    q[1] = q[1] ** 2
    M = np.outer(v.w, v.w)
    r = v.w @ M
    M = M @ M + 1
    M[0, 1] += 2
    total = normal(v.y, y1 + 3.4).sum() + normal(v.w, q).sum() - r @ r - (M**2).sum() + 14
    return total, {"y1": y1, "q": q, "r": r, "M": M}


@stan(
    """
    data { int N; vector[N] x; int fixed; array[fixed] real values; array[fixed] int at; }
    parameters { vector[N - fixed] free; real<lower=0> s; }
    transformed parameters {
      vector[N] theta;
      {
        array[N] int is_fixed = rep_array(0, N);
        int k = 1;
        for (i in 1:fixed) { theta[at[i]] = values[i]; is_fixed[at[i]] = 1; }
        for (n in 1:N)
          if (!is_fixed[n]) { theta[n] = free[k]; k += 1; }
      }
    }
    model {
      for (n in 1:N) theta[n] ~ normal(0, 1);
      x ~ normal(theta, s);
      s ~ exponential(1);
    }
    """,
    {"N": 6, "x": noise(6), "fixed": 2, "values": [0.5, -0.5], "at": [5, 2]},
    {"N": 6, "x": noise(6), "fixed": 0, "values": [], "at": []},
    {"N": 30, "x": noise(30), "fixed": 6, "values": noise(6, seed=2), "at": [1, 2, 9, 30, 17, 4]},
)
def part_data_part_parameters(v):
    theta = np.full(v.N, np.nan)
    theta[np.asarray(v.at, dtype=int) - 1] = v.values
    theta[np.isnan(theta)] = v.free
    return normal(theta).sum() + normal(v.x, theta, v.s).sum() - v.s, {"theta": theta}


@stan(
    """
    data { int N; vector[N] y; int M; array[M] real z; }
    transformed data { vector[0] nothing; matrix[0, 3] no_rows; array[0] int none; }
    parameters {
      vector[M] a; real mu; array[0] real b; simplex[1] only; matrix[0, 2] c; cov_matrix[M] S;
    }
    transformed parameters { vector[M] twice = 2 * a; real total = sum(a) + sum(b) + mu; }
    model {
      a ~ normal(0, 1);
      b ~ normal(0, 1);
      to_vector(c) ~ normal(0, 1);
      z ~ normal(twice, 1);
      nothing ~ normal(mu, 1);
      for (n in 1:M) z[n] ~ normal(mu, 1);
      for (x in none) reject("never");
      for (x in y) x ~ normal(mu, 2);
      for (n in 1:0) { real k = y[100]; target += k; }
      mu ~ normal(0, 1);
      target += sum(no_rows * [1, 2, 3]') + size(none) + rows(no_rows) + cols(no_rows);
      target += log_sum_exp(y) + prod(nothing) + max(y);
    }
    """,
    {"N": 2, "y": [1.0, 2.0], "M": 0, "z": []},
)
def nothing_in_it(v):
    from scipy.special import logsumexp

    return normal(v.y, v.mu, 2).sum() + normal(v.mu) + 3 + logsumexp(v.y) + 1 + 2


@stan(
    """
    data { array[2, 3] int k; array[2] matrix[2, 2] ms; array[3] vector[2] vs; }
    parameters { vector[2] a; }
    transformed parameters {
      real total = 0;
      vector[2] path = a;
      for (row in k) for (element in row) total += element * a[1];
      for (m in ms) path = m * path;
      for (v in vs) { vector[2] own = v; own[1] *= a[2]; total += sum(own); }
      for (x in ms[1]) total = total * 0.5 + x;
      for (x in a) { if (x == 100) continue; total += x; }
    }
    model { a ~ normal(total, 1); path ~ normal(0, 1); }
    """,
    k=[[1, 2, 3], [4, 5, 6]],
    ms=noise(2, 2, 2),
    vs=noise(3, 2),
)
def loops_over_elements(v):
    total = v.k.sum() * v.a[0] + v.vs[:, 0].sum() * v.a[1] + v.vs[:, 1].sum()
    for x in v.ms[0].T.ravel():
        total = total / 2 + x
    total += v.a.sum()
    path = v.ms[1] @ v.ms[0] @ v.a
    return normal(v.a, total).sum() + normal(path).sum(), {"total": total, "path": path}


@stan(
    """
    data { int N; array[N] int c; }
    parameters { real a; }
    model {
      vector[2] filled = rep_vector(0, 2);
      matrix[2, 2] table = rep_matrix(1, 2, 2);
      row_vector[2] turned = rep_vector(2, 2)';
      vector[2] taken = to_vector({1, 2});
      filled[1] = 0.7;
      table[2, 1] = 0.5;
      turned[c[1]] += 0.25;
      taken[1:1] = [2.5]';
      for (n in 1:N) {
        filled = rep_vector(n, 2);
        filled[c[n]] = 0.3 * n;
        target += a * filled[2] - square(a) * filled[1];
      }
      target += a * (table[2, 1] + turned[c[1]] + taken[1]) - square(a);
    }
    """,
    *({"N": n, "c": below(2, n) + 1} for n in (3, 20)),
)
def parts_of_what_whole_numbers_fill(v):
    total = v.a * (0.5 + 2.25 + 2.5) - v.a**2
    for n in range(1, v.N + 1):
        filled = np.full(2, float(n))
        filled[v.c[n - 1] - 1] = 0.3 * n
        total += v.a * filled[1] - v.a**2 * filled[0]
    return total
