"""Functions of the library on parameters, group by group."""

import numpy as np
from scipy import linalg, special, stats
from scipy.special import expit, gammaln, logsumexp
from scipy.stats import norm
from stan_program import noise, stan

normal = norm.logpdf


@stan(
    """
    parameters { real x; real<lower=0> p; real<lower=0, upper=1> u; vector[3] v; }
    transformed parameters {
      vector[27] a = [
        abs(x), fdim(x, 0.1), fmax(x, 0.2), fmin(x, 0.2), fma(x, p, u), exp(x), exp2(x), log(p),
        log2(p), log10(p), log1p(p), log1m(u), expm1(x), sqrt(p), cbrt(x), square(x), inv(p),
        inv_sqrt(p), inv_square(p), pow(p, x), p ^ x, hypot(x, p), logit(u), inv_logit(x),
        cloglog_of(u), inv_cloglog(x), fabs(x)]';
      vector[22] b = [
        sin(x), cos(x), tan(x), asin(u), acos(u), atan(x), atan2(x, p), sinh(x), cosh(x), tanh(x),
        asinh(x), acosh(1 + p), atanh(u), erf(x), erfc(x), Phi(x), Phi_approx(x), inv_Phi(u),
        step(x), sin(x) ^ 2, round(3.4) * x, -x + +p]';
      vector[23] c = [
        tgamma(p), lgamma(p), digamma(p), trigamma(p), lbeta(p, u), beta(p, u),
        gamma_p(p, 2), gamma_q(p, 2), inc_beta(p, 2, u), multiply_log(p, u), lmultiply(2, p),
          log_falling_factorial(5 + p, 2),
        log_rising_factorial(p, 3), rising_factorial(p, 2), falling_factorial(p + 4, 2),
          lchoose(7.5, p),
        log1p_exp(x), log1m_exp(-p), log1m_inv_logit(x), log_inv_logit(x),
        log_diff_exp(p + x, x), log_sum_exp(x, p), log_mix(u, x, p)]';
      vector[3] e = exp(v) .* tanh(v) + log1p_exp(v) - inv_logit(v) ./ square(v + 3);
      vector[3] f = fmax(v, x) + pow(abs(v) + 1, [1, 2, 3]') + v .^ 2;
      array[3] real g = sin({x, p, u});
      real h = lambert_w0(p) + lmgamma(2, p + 1) + owens_t(x, 0.5) + bessel_first_kind(2, 1.5)
        + modified_bessel_first_kind(1, 0.5) + binary_log_loss(1,
          u) + log_modified_bessel_first_kind(1, p);
    }
    model {
      x ~ normal(0, 1); v ~ normal(0, 1); p ~ exponential(1);
      target += -0.01 * (sum(a) + sum(b) + sum(c) + sum(e) + sum(f) + sum(g) + h);
    }
    """.replace("cloglog_of(u)", "log(-log1m(u))")
)
def functions_of_numbers(v):
    x, p, u = float(v.x), float(v.p), float(v.u)
    a = [
        abs(x), max(x - 0.1, 0), max(x, 0.2), min(x, 0.2), x * p + u, np.exp(x), 2**x, np.log(p),
        np.log2(p), np.log10(p), np.log1p(p), np.log1p(-u), np.expm1(x), p**0.5, np.cbrt(x), x * x,
        1 / p, p**-0.5, p**-2, p**x, p**x, np.hypot(x, p), special.logit(u), expit(x),
        np.log(-np.log1p(-u)), -np.expm1(-np.exp(x)), abs(x),
    ]  # fmt: skip
    approximate = expit(0.07056 * x**3 + 1.5976 * x)
    b = [
        np.sin(x), np.cos(x), np.tan(x), np.arcsin(u), np.arccos(u), np.arctan(x), np.arctan2(x, p),
        np.sinh(x), np.cosh(x), np.tanh(x), np.arcsinh(x), np.arccosh(1 + p), np.arctanh(u),
        special.erf(x), special.erfc(x), norm.cdf(x), approximate, norm.ppf(u), float(x >= 0),
        np.sin(x) ** 2, 3 * x, p - x,
    ]  # fmt: skip
    c = [
        special.gamma(p), gammaln(p), special.digamma(p), special.polygamma(1, p),
        special.betaln(p, u), special.beta(p, u), special.gammainc(p, 2), special.gammaincc(p, 2),
        special.betainc(p, 2, u),
        p * np.log(u), 2 * np.log(p), gammaln(6 + p) - gammaln(4 + p), gammaln(p + 3) - gammaln(p),
        p * (p + 1), (p + 4) * (p + 3), gammaln(8.5) - gammaln(p + 1) - gammaln(8.5 - p),
        np.log1p(np.exp(x)), np.log(-np.expm1(-p)), -np.log1p(np.exp(x)), -np.log1p(np.exp(-x)),
        x + np.log(np.expm1(p)), np.logaddexp(x, p), np.log(u * np.exp(x) + (1 - u) * np.exp(p)),
    ]  # fmt: skip
    w = v.v
    e = np.exp(w) * np.tanh(w) + np.log1p(np.exp(w)) - expit(w) / (w + 3) ** 2
    f = np.maximum(w, x) + (np.abs(w) + 1) ** [1, 2, 3] + w**2
    g = np.sin([x, p, u])
    h = special.lambertw(p).real + special.multigammaln(p + 1, 2) + special.owens_t(x, 0.5)
    h += special.jv(2, 1.5) + special.iv(1, 0.5) - np.log(u) + np.log(special.iv(1, p))
    total = normal(x) + normal(w).sum() - p
    total -= 0.01 * (sum(a) + sum(b) + sum(c) + e.sum() + f.sum() + g.sum() + h)
    return total, {"a": a, "b": b, "c": c, "e": e, "f": f, "g": g, "h": h}


@stan(
    """
    data { matrix[3, 3] D; int two; }
    parameters { vector[3] v; row_vector[3] r; matrix[3, 3] A; matrix[2, 3] B; cov_matrix[3] S; }
    transformed parameters {
      real a = sum(v) + prod(v) + mean(r) + variance(v) + sd(v) + min(v) + max(r) + norm1(v + 5)
        + norm2(r) + dot_product(v, r) + dot_self(v) + distance(v, r') + squared_distance(v, D[1]')
        + log_sum_exp(v) + sum(A) + mean(B) + min(A[1:1, 1:2] .* [[0,
          1]]) + max(D) + r * v + trace(A)
        + log_determinant(S) + determinant(A) + quad_form(S, v) + trace_quad_form(S, B')
        + trace_gen_quad_form(D[1:2, 1:2], S, B') + trace_dot(A, S) + rows(A) + cols(B)
        + num_elements(B) + size(v);
      vector[3] b = A * v + S \\ v + A' * r' + cumulative_sum(v) + softmax(v) + log_softmax(v)
        + to_vector(r) + reverse(v) + diagonal(A) + rows_dot_product(A, D) + rows_dot_self(A)
        + col(A, 2) + sub_col(A, 1, 2, 3) + mdivide_left_spd(S, v) + head(v, 3) + A[ : , 1];
      row_vector[3] c = r * A + r / S + v' + columns_dot_product(A, D) + columns_dot_self(A)
        + row(A, two) + to_row_vector(v) + sub_row(D, 1, 1, 3) + mdivide_right(r, S) + B[2];
      matrix[3, 3] d = A * D + A .* D + A ./ (D + 10) + D / 2 + 2 * A - A' + v * r + inverse(S)
        + inverse_spd(S) + crossprod(B) + diag_matrix(v) + diag_pre_multiply(v, A)
        + diag_post_multiply(A, v) + quad_form_diag(S, v) + quad_form_sym(S, A)
        + multiply_lower_tri_self_transpose(A) + cholesky_decompose(S) + add_diag(A, v)
        + add_diag(A, 2) + rep_matrix(v, 3) + rep_matrix(r, 3) + identity_matrix(3)
        + symmetrize_from_lower_tri(A) + append_col(v, append_col(A[ : , 1], r'))
        + append_row(B, r) + block(A, 1, 1, 3, 3) + add_diag(A,
          5) \\ D + D / S + matrix_exp(0.1 * A)
        + matrix_power(A, 2) + to_matrix(to_vector(A), 3, 3) + to_matrix(v, 3, 1) * to_matrix(r,
          1, 3);
      matrix[2, 2] e = tcrossprod(B) + quad_form(S, B') + mdivide_left_tri_low(
        [[2, 0], [1, 3]], B[ : , 1:2]) + to_matrix({v[1], v[2], r[1], r[2]}, 2, 2, 0);
      vector[7] f = append_row(append_row(v, r'), 1);
      array[3] real g = to_array_1d(v);
      array[4] real h = append_array({v[1], r[2]}, {1.5, v[3]});
      vector[4] k = [max({v[1], r[1]}), min({v[1], r[1]}), sum({v[1], r[1]}), prod({v[1], r[1]})]';
      vector[2] l = segment(v, 2, 2) + tail(v, 2) + head(r, 2)' + rep_vector(r[1], 2);
    }
    model {
      v ~ normal(0, 1); r ~ normal(0, 1); to_vector(A) ~ normal(0, 1); to_vector(B) ~ normal(0, 1);
      target += -trace(S) - 0.01 * (a + sum(b) + sum(c) + sum(d) + sum(e) + sum(f) + sum(l));
    }
    """,
    D=noise(3, 3) + 2 * np.eye(3),
    two=2,
    spread=0.5,
)
def linear_algebra(w):
    v, r, A, B, S, D = w.v, w.r, w.A, w.B, w.S, w.D
    inverse = np.linalg.inv(S)
    a = v.sum() + v.prod() + r.mean() + v.var(ddof=1) + v.std(ddof=1) + v.min() + r.max()
    a += np.abs(v + 5).sum() + np.sqrt(r @ r) + v @ r + v @ v + np.linalg.norm(v - r)
    a += (
        ((v - D[0]) ** 2).sum()
        + logsumexp(v)
        + A.sum()
        + B.mean()
        + min(0, A[0, 1])
        + D.max()
        + r @ v
    )
    a += np.trace(A) + np.linalg.slogdet(S)[1] + np.linalg.det(A) + v @ S @ v
    a += np.trace(A @ S) + np.trace(B @ S @ B.T) + np.trace(D[:2, :2] @ B @ S @ B.T) + 3 + 3 + 6 + 3
    soft = np.exp(v) / np.exp(v).sum()
    b = A @ v + inverse @ v + A.T @ r + np.cumsum(v) + soft + np.log(soft) + r + v[::-1]
    b = b + np.diag(A) + (A * D).sum(1) + (A * A).sum(1) + 2 * A[:, 1] + inverse @ v + v + A[:, 0]
    c = r @ A + 2 * r @ inverse + 2 * v + (A * D).sum(0) + (A * A).sum(0) + A[1] + D[0] + B[1]
    d = A @ D + A * D + A / (D + 10) + D / 2 + 2 * A - A.T + np.outer(v, r) + 2 * inverse
    d = d + B.T @ B + np.diag(v) + v[:, None] * A + A * v + np.outer(v, v) * S + A.T @ S @ A
    d = d + np.tril(A) @ np.tril(A).T + np.linalg.cholesky(S) + 2 * A + np.diag(v) + 2 * np.eye(3)
    d = d + v[:, None] + r + np.eye(3) + np.tril(A) + np.tril(A, -1).T
    d = (
        d
        + np.column_stack([v, A[:, 0], r])
        + np.vstack([B, r])
        + A
        + np.linalg.solve(A + 5 * np.eye(3), D)
    )
    d = d + D @ inverse + linalg.expm(0.1 * A) + A @ A + A + np.outer(v, r)
    e = B @ B.T + B @ S @ B.T + np.linalg.solve([[2.0, 0], [1, 3]], B[:, :2])
    e = e + np.array([v[:2], r[:2]])
    f = np.r_[v, r, 1]
    pair = np.array([v[0], r[0]])
    last = v[1:] + v[1:] + r[:2] + r[0]
    total = normal(v).sum() + normal(r).sum() + normal(A).sum() + normal(B).sum() - np.trace(S)
    total -= 0.01 * (a + b.sum() + c.sum() + d.sum() + e.sum() + f.sum() + last.sum())
    found = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": v, "l": last}
    found["h"] = np.array([v[0], r[1], 1.5, v[2]])
    return total, found | {"k": np.array([pair.max(), pair.min(), pair.sum(), pair.prod()])}


@stan(
    """
    data { int N; array[N] real x; array[N] vector[2] z; vector[N] y; array[2] real at; }
    transformed data { real jitter = 1e-6; }
    parameters {
      real<lower=0> alpha; real<lower=0> rho; real<lower=0> sigma; vector[N] eta;
      array[2] real<lower=0> scales;
    }
    transformed parameters {
      matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho) + diag_matrix(rep_vector(jitter, N));
      vector[N] f = cholesky_decompose(K) * eta;
      matrix[N, 2] cross = gp_exp_quad_cov(x, at, alpha, rho);
      matrix[N, N] K1 = gp_matern32_cov(x, alpha, rho) + gp_matern52_cov(x, alpha, rho)
        + gp_exponential_cov(x, alpha, rho) + gp_dot_prod_cov(x, alpha)
        + gp_periodic_cov(x, alpha, rho, 1.5) + gp_exp_quad_cov(z, alpha, rho)
        + gp_exp_quad_cov(z, alpha, scales) + gp_dot_prod_cov(z, sigma);
    }
    model {
      alpha ~ normal(0, 1); rho ~ inv_gamma(5, 5); sigma ~ exponential(1); eta ~ std_normal();
      scales ~ normal(1, 1);
      y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(add_diag(K, square(sigma))));
      y ~ normal(f, sigma);
      target += -0.01 * sum(K1) - sum(cross);
    }
    """,
    N=4,
    x=[0.0, 0.7, 1.1, 2.0],
    z=noise(4, 2),
    y=noise(4, seed=1),
    at=[0.5, 3.0],
)
def gaussian_processes(v):
    d = np.abs(np.subtract.outer(v.x, v.x))
    t = d / v.rho
    K = v.alpha**2 * np.exp(-0.5 * t**2) + 1e-6 * np.eye(v.N)
    f = np.linalg.cholesky(K) @ v.eta
    cross = v.alpha**2 * np.exp(-0.5 * (np.subtract.outer(v.x, v.at) / v.rho) ** 2)
    K1 = (1 + np.sqrt(3) * t) * np.exp(-np.sqrt(3) * t) + np.exp(-t)
    K1 += (1 + np.sqrt(5) * t + 5 * t**2 / 3) * np.exp(-np.sqrt(5) * t)
    K1 += np.exp(-2 * np.sin(np.pi * d / 1.5) ** 2 / v.rho**2)
    squares = (v.z[:, None] - v.z[None]) ** 2
    K1 += np.exp(-0.5 * squares.sum(2) / v.rho**2) + np.exp(-0.5 * (squares / v.scales**2).sum(2))
    K1 = v.alpha**2 * K1 + v.alpha**2 + np.outer(v.x, v.x) + v.sigma**2 + v.z @ v.z.T
    total = normal(v.alpha) + 5 * np.log(5) - gammaln(5) - 6 * np.log(v.rho) - 5 / v.rho - v.sigma
    total += normal(v.eta).sum() + normal(v.scales, 1).sum() + normal(v.y, f, v.sigma).sum()
    full = K + v.sigma**2 * np.eye(v.N)
    total -= 0.5 * (v.y @ np.linalg.solve(full, v.y) + np.linalg.slogdet(2 * np.pi * full)[1])
    return total - 0.01 * K1.sum() - cross.sum(), {"K": K, "f": f, "cross": cross, "K1": K1}


@stan(
    """
    data { int N; int M; matrix[N, M] X; vector[N] y; matrix[3, 2] Y; int T; matrix[T, 2] o; }
    transformed data {
      vector[num_nonzero(X)] w = csr_extract_w(X);
      array[size(csr_extract_v(X))] int v = csr_extract_v(X);
      array[N + 1] int u = csr_extract_u(X);
      matrix[N, M] Q = qr_thin_Q(X) * sqrt(N - 1.0);
      matrix[M, M] R = qr_thin_R(X) / sqrt(N - 1.0);
      matrix[M, M] R_inverse = inverse(R);
    }
    parameters {
      vector[M] beta; real<lower=0> s; array[2] simplex[2] gamma; simplex[2] start; vector[2] mu;
      vector[num_nonzero(X)] values; cov_matrix[2] S;
    }
    transformed parameters {
      vector[N] eta = csr_matrix_times_vector(N, M, w, v, u, beta);
      matrix[N, M] dense = csr_to_dense_matrix(N, M, values, v, u);
      matrix[2, T] omega;
      matrix[2, 2] G = [gamma[1]', gamma[2]'];
      vector[2] values_of_S = eigenvalues_sym(S);
      for (t in 1:T) for (k in 1:2) omega[k, t] = normal_lpdf(o[t, k] | mu[k], 1);
    }
    model {
      y ~ normal(eta, s);
      y ~ normal(Q * beta, 1);
      R_inverse * beta ~ normal(0, 3);
      values ~ normal(1, 1);
      csr_matrix_times_vector(N, M, values, v, u, beta) ~ normal(0, 1);
      target += hmm_marginal(omega, G, start);
      target += sum(log(values_of_S)) - sum(values_of_S) - log(values_of_S[2]);
      target += -sum(square(eigenvalues_sym(S))) + log_determinant_spd(S) + sum(singular_values(S));
      mu ~ normal(0, 1);
      s ~ exponential(1);
    }
    generated quantities {
      matrix[2, T] states = hmm_hidden_state_prob(omega, G, start);
      array[T] int path = hmm_latent_rng(omega, G, start);
      matrix[2, 2] vectors = eigenvectors_sym(S);
      matrix[2, 2] again = vectors * diag_matrix(values_of_S) * vectors';
      array[3] int order = sort_indices_desc({values_of_S[1], 100.0, mu[1] - 50});
      vector[2] sorted = sort_asc(mu);
    }
    """.replace("num_nonzero(X)", "size(csr_extract_w(X))"),
    N=4,
    M=3,
    X=[[1.0, 0, 2], [0, 3, 0], [0.5, 0, 0], [0, -1, 1]],
    y=noise(4),
    Y=noise(3, 2),
    T=5,
    o=noise(5, 2),
)
def sparse_and_hidden(w):
    X = w.X
    eta = X @ w.beta
    dense = np.zeros(X.shape)
    dense[X != 0] = w.values
    q, r = np.linalg.qr(X)
    sign = np.sign(np.diag(r))
    q, r = q * sign * np.sqrt(w.N - 1), sign[:, None] * r / np.sqrt(w.N - 1)
    total = normal(w.y, eta, w.s).sum() + normal(w.y, q @ w.beta).sum() + normal(w.mu).sum() - w.s
    total += normal(np.linalg.solve(r, w.beta), 0, 3).sum() + normal(w.values, 1).sum()
    total += normal(dense @ w.beta).sum()
    omega = normal(w.o, w.mu).T
    forward = [np.log(w.start) + omega[:, 0]]
    for t in range(1, w.T):
        last = forward[-1][:, None] + np.log(w.gamma)
        forward.append(logsumexp(last, axis=0) + omega[:, t])
    total += logsumexp(forward[-1])
    backward = [np.zeros(2)]
    for t in range(w.T - 1, 0, -1):
        backward.append(logsumexp(np.log(w.gamma) + omega[:, t] + backward[-1], axis=1))
    states = np.exp(np.array(forward) + np.array(backward[::-1]) - logsumexp(forward[-1])).T
    values = np.linalg.eigvalsh(w.S)
    total += np.log(values).sum() - values.sum() - np.log(values[1]) - (values**2).sum()
    total += np.log(values).sum() + values.sum()
    order = np.array([2, 1, 3])
    found = {"eta": eta, "dense": dense, "omega": omega, "values_of_S": values, "states": states}
    return total, found | {"again": w.S, "order": order, "sorted": np.sort(w.mu)}


@stan(
    """
    data { int N; vector[N] y; }
    parameters { real mu; real<lower=0> k; real<lower=-1, upper=2> z; }
    transformed parameters { real c = von_mises_cdf(0.5 | mu, k); }
    model {
      target += von_mises_lcdf(y | mu, k);
      target += von_mises_lccdf(z | mu, k);
      z ~ von_mises(mu, k) T[-1, 2];
    }
    """,
    N=2,
    y=[0.3, -1.2],
)
def arcs_of_angles(v):
    law = stats.vonmises(v.k, v.mu)

    def below(x):
        return law.cdf(x) - law.cdf(-np.pi)

    total = np.log(below(v.y)).sum() + np.log(1 - below(v.z)) + law.logpdf(v.z)
    return total - np.log(below(2) - below(-1)), {"c": below(0.5)}


@stan(
    """
    data {; int n;; }
    parameters { array[n, 2] vector[3] v;; array[n] row_vector[2] r; }
    transformed parameters {
      array[n, 2] vector[3] a = softmax(v);
      array[n] row_vector[2] b = log_softmax(r);
    }
    model { target += -sum(square(to_array_1d(v))) - sum(square(to_array_1d(r))) + b[1, 1]; }
    """,
    n=3,
)
def functions_of_each_vector_of_an_array(v):
    b = v.r - logsumexp(v.r, axis=-1, keepdims=True)
    total = -(v.v**2).sum() - (v.r**2).sum() + b[0, 0]
    return total, {"a": special.softmax(v.v, axis=-1), "b": b}
