"""Functions that take functions: equations, integrals, sums over slices, maps over rows."""

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, root
from scipy.stats import norm
from stan_program import noise, stan

normal = norm.logpdf


def solved(slope, start, times):
    found = solve_ivp(slope, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12)
    return found.y.T


@stan(
    """
    functions {
      vector decay(real t, vector y, real k, vector theta, data array[] real x, int power) {
        vector[2] slope;
        slope[1] = -k * y[1] + x[1] * sin(t);
        slope[2] = theta[1] * y[1] - theta[2] * y[2] ^ power;
        return slope;
      }
      vector still(real t, vector y, real k) { return -k * y; }
    }
    data { int T; array[T] real times; array[T] vector[2] y; array[2] real x; }
    parameters { real<lower=0> k; vector<lower=0>[2] theta; vector<lower=0>[2] start;
      real<lower=0> s; }
    transformed parameters {
      array[T] vector[2] mu = ode_rk45_tol(decay, start, 0.0, times, 1e-10, 1e-10, 10000, k,
        theta, x, 1);
      array[T] vector[2] stiff = ode_bdf_tol(decay, start, 0, times, 1e-9, 1e-9, 100000, k, theta,
        x, 2);
      array[T] vector[1] one = ode_adams_tol(still, [start[1]]', 0, times, 1e-10, 1e-10, 10000, k);
    }
    model {
      k ~ lognormal(0, 0.5);
      theta ~ normal(0, 1);
      start ~ normal(1, 1);
      s ~ exponential(1);
      for (t in 1:T) y[t] ~ normal(mu[t], s);
      target += -sum(square(stiff[T])) + one[1, 1];
    }
    generated quantities {
      array[2] vector[1] later = ode_rk45_tol(still, rep_vector(k, 1), 0, {1.0, 2.0}, 1e-10,
        1e-10, 10000, 0.5);
    }
    """,
    T=3,
    times=[0.5, 1.0, 2.0],
    y=1 + 0.3 * noise(3, 2),
    x=[0.3, 1.0],
    tolerance=1e-6,
    spread=0.4,
)
def differential_equations(v):
    def decay(power):
        return lambda t, y: [
            -v.k * y[0] + v.x[0] * np.sin(t),
            v.theta[0] * y[0] - v.theta[1] * y[1] ** power,
        ]

    mu, stiff = solved(decay(1), v.start, v.times), solved(decay(2), v.start, v.times)
    one = v.start[0] * np.exp(-v.k * v.times)[:, None]
    total = normal(np.log(v.k), 0, 0.5) - np.log(v.k) + normal(v.theta).sum()
    total += normal(v.start, 1).sum() - v.s + normal(v.y, mu, v.s).sum()
    total += -(stiff[-1] ** 2).sum() + one[0, 0]
    later = v.k * np.exp([[-0.5], [-1.0]])
    return total, {"mu": mu, "stiff": stiff, "one": one, "later": later}


@stan(
    """
    functions {
      real[] growth(real t, real[] y, real[] theta, real[] x_r, int[] x_i) {
        real dydt[2];
        dydt[1] = theta[1] * y[1] * (1 - y[1] / x_r[1]);
        dydt[2] = y[1] - x_i[1] * y[2];
        return dydt;
      }
    }
    data { int<lower=1> T; real ts[T]; real y[T]; int<lower=0> n[2]; }
    transformed data { real x_r[1]; int x_i[1]; x_r[1] <- 4; x_i[1] <- 2; }
    parameters { real<lower=0> theta[1]; real<lower=0> y0[2]; vector[2] a[2]; }
    transformed parameters {
      real y_hat[T, 2];
      y_hat <- integrate_ode_rk45(growth, y0, 0, ts, theta, x_r, x_i, 1e-10, 1e-10, 1e5);
    }
    model {
      # a comment of old
      theta ~ normal(0, 1);
      y0 ~ normal(1, 1);
      for (i in 1:2) increment_log_prob(normal_log(a[i], 0, 1));
      y ~ normal(y_hat[, 2], 0.5);
      n ~ poisson(multiply_log(theta[1], 2.0) + 3);
      increment_log_prob(-if_else(T > 1, theta[1], 0));
      target += normal_cdf_log(theta[1], 0, 1) + normal_ccdf_log(y0[1], 0, 1);
    }
    """,
    T=3,
    ts=[0.5, 1.0, 2.0],
    y=[0.5, 0.6, 0.7],
    n=[2, 3],
    tolerance=1e-6,
    spread=0.4,
)
def old_syntax(v):
    from scipy.stats import poisson

    theta = v.theta[0]
    slope = lambda t, y: [theta * y[0] * (1 - y[0] / 4), y[0] - 2 * y[1]]  # noqa: E731
    y_hat = solved(slope, v.y0, v.ts)
    total = normal(theta) + normal(v.y0, 1).sum() + normal(v.a).sum()
    total += normal(v.y, y_hat[:, 1], 0.5).sum() + poisson.logpmf(v.n, theta * np.log(2) + 3).sum()
    total += -theta + norm.logcdf(theta) + norm.logsf(v.y0[0])
    return total, {"y_hat": y_hat}


@stan(
    """
    functions {
      vector equations(vector x, vector theta, data array[] real x_r, data array[] int x_i) {
        return [x[1] + 0.2 * sin(x[2]) - theta[1], x_i[1] * x[2] + x[1] ^ 3 * x_r[1] - theta[2]]';
      }
      vector simple(vector x, real a) { return [exp(x[1]) + x[1] - a]'; }
      real integrand(real x, real xc, array[] real theta, data array[] real x_r,
        data array[] int x_i) {
        return exp(-theta[1] * square(x)) * (1 + theta[2] * x) ;
      }
    }
    data { real y; }
    transformed data { array[0] int none; array[1] real half = {0.5}; array[1] int two = {2}; }
    parameters { vector[2] theta; real<lower=0> a; real<lower=0> b; }
    transformed parameters {
      vector[2] x = algebra_solver(equations, [0.1, 0.2]', theta, half, two);
      vector[2] z = algebra_solver_newton(equations, [0.1, 0.2]', theta, half, two);
      vector[1] s = solve_newton(simple, [0.5]', 1 + a);
      vector[1] p = solve_powell_tol(simple, [0.5]', 1e-10, 1e-10, 200, 2 + b);
      real whole = integrate_1d(integrand, negative_infinity(), positive_infinity(), {a, b}, half,
        none);
      real part = integrate_1d(integrand, 0, b, {a, b}, half, none, 1e-8);
      real fixed = integrate_1d(integrand, a, 5, {1.0, 0.0}, half, none, 1e-8);
    }
    model {
      theta ~ normal(0, 1); a ~ exponential(1); b ~ exponential(1);
      y ~ normal(x[1] + z[2] + s[1] + p[1], 1);
      target += -log(whole) - part + fixed;
    }
    generated quantities { vector[1] again = solve_newton(simple, [0.5]', 1 + a); }
    """,
    y=0.4,
    tolerance=1e-7,
)
def roots_and_integrals(v):
    def equations(x):
        return [x[0] + 0.2 * np.sin(x[1]) - v.theta[0], 2 * x[1] + 0.5 * x[0] ** 3 - v.theta[1]]

    x = root(equations, [0.1, 0.2], tol=1e-13).x
    s, p = (brentq(lambda x, c=c: np.exp(x) + x - c, -9, 9, xtol=1e-14) for c in (1 + v.a, 2 + v.b))
    part = quad(lambda t: np.exp(-v.a * t * t) * (1 + v.b * t), 0, v.b, epsabs=1e-13)[0]
    fixed = np.sqrt(np.pi) * (norm.cdf(5 * 2**0.5) - norm.cdf(v.a * 2**0.5))
    whole = np.sqrt(np.pi / v.a)
    total = normal(v.theta).sum() - v.a - v.b + normal(v.y, x[0] + x[1] + s + p)
    found = {"x": x, "z": x, "s": [s], "p": [p], "whole": whole, "part": part, "fixed": fixed}
    return total - np.log(whole) - part + fixed, {**found, "again": [s]}


@stan(
    """
    functions {
      real partial_sum(array[] int slice, int start, int end, vector beta, data vector x) {
        return bernoulli_logit_lpmf(slice | beta[1] + beta[2] * x[start:end]);
      }
      real part_lpdf(array[] vector ys, int start, int end, vector mu) {
        real total = 0;
        for (i in 1:size(ys)) total += normal_lpdf(ys[i] | mu, 1);
        return total;
      }
      vector shard(vector beta, vector theta, data array[] real x, data array[] int y) {
        real lp = poisson_log_lpmf(y | beta[1] + theta[1] * to_vector(x));
        return [lp + normal_lpdf(theta | beta[2], 1)]';
      }
    }
    data {
      int N; array[N] int y; vector[N] x; int grain; array[N] vector[2] z; array[3, 2] real xs;
      array[3, 2] int ys;
    }
    parameters { vector[2] beta; array[3] vector[1] theta; }
    model {
      beta ~ normal(0, 1);
      target += reduce_sum(partial_sum, y, grain, beta, x);
      target += reduce_sum_static(part_lpdf, z, 1, beta);
      target += reduce_sum(part_lupdf, z, 1, beta);
      target += sum(map_rect(shard, beta, theta, xs, ys));
    }
    """,
    *(
        {"N": n, "y": np.arange(n) % 2, "x": noise(n), "grain": 1, "z": noise(n, 2),
         "xs": noise(3, 2, seed=2), "ys": [[1, 2], [0, 3], [1, 0]]}
        for n in (4, 20)
    ),
)  # fmt: skip
def slices_and_shards(v):
    from scipy.special import gammaln, log_expit

    a, b = v.beta
    eta = a + b * v.x
    total = normal(v.beta).sum() + log_expit(np.where(v.y == 1, eta, -eta)).sum()
    rate = a + v.theta * v.xs
    total += 2 * normal(v.z, v.beta).sum()
    total += (v.ys * rate - np.exp(rate) - gammaln(v.ys + 1)).sum() + normal(v.theta, b).sum()
    return total


@stan(
    """
    functions {
      vector curve(vector x, real a) { return [exp(x[1]) + x[1] - a]'; }
      vector pair(vector x, vector y, array[] real x_r, array[] int x_i) {
        return [x[1] * x[1] - y[1], x[1] + x[2] - y[2]]';
      }
    }
    data { real y; }
    transformed data { array[0] int none; array[0] real nothing; vector[2] known = [4.0, 1.0]'; }
    parameters { real a; real<lower=0> b; }
    transformed parameters {
      vector[1] s = solve_newton(curve, [a]', 2 + b);
      vector[1] t = solve_newton(curve, [a + b]', 2.0);
      vector[2] x = algebra_solver(pair, [b, a]', known, nothing, none);
      vector[2] minus = algebra_solver(pair, [-b, a]', [b, a]', nothing, none, 1e-8, 1e-8, 100);
    }
    model { a ~ normal(0, 1); b ~ gamma(4, 4); y ~ normal(s[1] + t[1] + x[1] - minus[1], 1); }
    generated quantities { vector[1] again = solve_newton(curve, [a]', 2 + b); }
    """,
    y=0.4,
    tolerance=1e-7,
)
def roots_from_guesses_of_parameters(v):
    s, t = (brentq(lambda x, c=c: np.exp(x) + x - c, -9, 9, xtol=1e-14) for c in (2 + v.b, 2.0))
    minus = -np.sqrt(v.b)
    total = normal(v.a) + 4 * np.log(4) - np.log(6) + 3 * np.log(v.b) - 4 * v.b
    total += normal(v.y, s + t + 2.0 - minus)
    found = {"s": [s], "t": [t], "x": [2.0, -1.0], "minus": [minus, v.a - minus]}
    return total, {**found, "again": [s]}


@stan(
    """
    functions {
      vector decay(real t, vector y, tuple(real, vector) p, array[] tuple(real, int) more) {
        return -p.1 * more[2].2 * y .* p.2 + more[1].1;
      }
      vector equation(vector y, tuple(real, array[] real) p) { return y .^ 3 - p.1 * p.2[1]; }
    }
    parameters { real<lower=0> k; vector<lower=0>[2] w; }
    transformed parameters {
      array[1] vector[2] y = ode_rk45_tol(decay, [1, 2]', 0, {2.0}, 1e-10, 1e-10, 10000, (k, w),
        {(0.0, 1), (k, 3)});
      vector[1] r = solve_newton(equation, [1]', (k, {w[1], 1}));
    }
    model { k ~ exponential(1); w ~ exponential(1); target += -sum(y[1]) - r[1]; }
    """,
    tolerance=1e-7,
)
def tuples_are_handed_to_solvers(v):
    y = np.array([1, 2]) * np.exp(-2 * v.k * 3 * v.w)
    r = np.cbrt(v.k * v.w[0])
    return -v.k - v.w.sum() - y.sum() - r, {"y": y[None], "r": [r]}
