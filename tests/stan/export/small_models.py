"""Small models, each for something that an export has to write."""

import numpy as np
from scipy.special import (
    betaln,
    erfinv,
    expit,
    gammaln,
    i0e,
    i1e,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
    xlog1py,
    xlogy,
)

from probmodel import Model, data, deterministic, observed, param, potential
from probmodel import constraints as c
from probmodel import distributions as d
from probmodel.distributions import kernels
from probmodel.functions import (
    linear_recurrence,
    log1m_exp,
    log_between,
    log_ccdf,
    log_cdf,
    log_density,
    log_determinant,
    log_diff_exp,
    log_softmax,
    logsumexp,
    matrix_recurrence,
    scan,
    segment_sum,
    softmax,
)

RNG = np.random.default_rng(3)
Y = RNG.normal(size=6)
COUNTS = np.array([0, 3, 1, 0, 2, 5])
MODELS = {}


def case(**values):
    """Register a model with its data."""

    def keep(cls):
        MODELS[cls.__name__] = (cls, values)
        return cls

    return keep


@case(y=Y, group=np.array([0, 2, 1, 0, 2, 1]))
class Groups(Model):
    group = data("obs", dtype=int, lower=0)
    mean = param(d.Normal(0, 1))
    tau = param(d.HalfCauchy(1))
    effect = param(d.StudentT(4, mean, tau), shape=3, noncentered=True)
    half = param(d.Exponential(2), shape=3)
    y = observed(d.Normal(effect[group], half[group]), dims="obs")


@case(y=Y, k=2, first=np.arange(6) // 3)
class Indices(Model):
    k = data(dtype=int)
    first = data("obs", dtype=int)
    a = param(d.Normal(0, 1), shape=(2, 4))
    total = deterministic(a[1, 2] + a[0, k] + a[-1, -1])
    part = a[:, 1:3]
    row = a[first]
    mask = np.array([True, False, True, True])
    y = observed(d.Normal(row[:, 0] + a[first, first + 1] + part[first, 0] + total, 1), dims="obs")
    more = potential(
        -np.sum(a[:, mask] ** 2) - np.sum(a[::-1, ::2]) + np.sum(a[0, 1:-1] * a[1, 2:])
    )


@case(table=RNG.normal(size=(3, 2)), counts=np.arange(6).reshape(3, 2))
class Tables(Model):
    row = param(d.Normal(0, 1), dims="r")
    column = param(d.Normal(0, 1), dims="c")
    sigma = param(d.LogNormal(0, 1), dims="c")
    table = observed(d.Normal(row[:, None] + column, sigma), dims=("r", "c"))
    counts = observed(d.PoissonLog(row[:, None] * column), dims=("r", "c"))


@case(y=Y)
class Functions(Model):
    a = param(d.Uniform(0.1, 0.9))
    v = param(d.Normal(0, 1), shape=6)
    w = np.exp(-v) + np.maximum(v, 0.2) ** 3 + np.arctan2(v, 2.0) / a + np.where(v > 0, v, a)
    z = np.logaddexp(v, a) + log_ndtr(v) + ndtr(v) + np.clip(v, -1, 1) + expit(v) + logit(a)
    u = np.sign(v) + np.remainder(v, 0.7) + 2**v + gammaln(a + v**2) + (v < a) * (v > -a)
    y = observed(d.Normal(w + z + u, 1), dims="obs")


@case(y=Y, group=np.array([0, 2, 1, 0, 2, 1]))
class NewerFunctions(Model):
    group = data("obs", dtype=int)
    a = param(d.Uniform(0.1, 0.9))
    v = param(d.Normal(0, 1), shape=6)
    table = np.outer(v, [1.0, -1.0, 2.0])
    w = segment_sum(v, group, 3)[group] + softmax(v) * np.cumprod(v) + log_softmax(v)
    z = logsumexp(table, axis=1) + softmax(table, axis=0)[:, 1] + log_softmax(table)[:, 0]
    u = ndtri(expit(v)) + betaln(a, v**2) + xlogy(v, a) + xlog1py(v, a) + erfinv(a * np.sin(v))
    t = log1m_exp(-(v**2)) + log_diff_exp(v + 1, v) + i0e(v) + i1e(v) + np.prod(v)
    M = np.eye(2) + 0.1 * table[:2, :2] ** 2
    y = observed(d.Normal(w + z + u + t + np.linalg.det(M) + log_determinant(M), 3), dims="obs")


@case(y=Y, X=RNG.normal(size=(6, 2)))
class Arrays(Model):
    X = data(("obs", "k"))
    v = param(d.Normal(0, 1), shape=6)
    w = param(d.Normal(0, 1), shape=2)
    M = np.reshape(v, (2, 3))
    mean = np.einsum("ij,j->i", X, w) + np.inner(X, w) + np.tensordot(X, w, 1)
    more = np.einsum("ij,ik,k->j", X, np.column_stack([v, np.ones(6), X]), np.tile(w, 2))
    table = np.vstack([M, np.hstack([w, [1.0]]), np.pad(w, (0, 1), constant_values=2.0)])
    total = np.linalg.norm(table) + np.linalg.norm(table, 1) + np.average(v, weights=np.exp(v))
    ends = np.kron(w, w)[1:3] + np.split(v, 3)[1] + np.diagonal(M) + np.diag(M, 1)
    block = np.block([[np.eye(2), M], [np.diag(w, -1)[:, :2], np.ones((3, 3))]])
    sizes = np.average(block, axis=1, weights=np.append(w, np.full_like(M[0], 0.5)))[:2]
    A = 3 * np.eye(2) + 0.3 * np.outer(w, w)
    powers = np.linalg.matrix_power(A, 3)[0] + np.linalg.slogdet(A).logabsdet
    y = observed(d.Normal(mean + total, 3), dims="obs")
    z = potential(more + ends + sizes + powers + w.dot(M)[:2] + M.max(axis=1) * M.T.ravel()[1])


@case(y=Y)
class Shapes(Model):
    v = param(d.Normal(0, 1), shape=6)
    cube = v.reshape((1, 2, 3)) * np.stack([v, -v]).reshape((2, 2, 3))
    joined = np.concatenate([v[:2], [v[5]], np.flip(v)[:3]])
    turned = np.transpose(cube, (1, 0, 2))[1, 1]
    sums = np.sum(cube, axis=1)[0] + np.max(cube, axis=0)[1] + np.cumsum(v)[3:] + np.diff(v)[:3]
    spread = np.std(v) + np.var(v[:3], ddof=1) + np.mean(cube) + np.prod(v)
    both = np.concatenate([sums, turned])
    y = observed(d.Normal(joined + both * spread + np.roll(v, 2), 1), dims="obs")
    t = potential(np.sum(np.tril(np.outer(v, v))) + np.trace(np.diag(v)) + np.sum(np.repeat(v, 2)))


@case(y=Y[:3], A=RNG.normal(size=(3, 3)))
class Matrices(Model):
    A = data(("i", "j"))
    S = param(d.LKJ(2.0), shape=(3, 3))
    L = param(d.LKJCholesky(2.0), shape=(3, 3))
    scale = param(d.HalfNormal(1), shape=3)
    b = param(d.MvNormal(np.zeros(3), covariance=S), noncentered=True)
    x = np.linalg.solve(A @ A.T + np.eye(3), b) + np.linalg.inv(S) @ b + b @ A
    y = observed(d.MvNormal(x, cholesky=scale[:, None] * L))


@case(y=Y.reshape(2, 3))
class Priors(Model):
    W = param(d.Wishart(5, np.eye(3)))
    V = param(d.InverseWishart(5, cholesky=2 * np.eye(3)))
    p = param(d.Dirichlet(np.array([[1.0, 2, 3], [3, 2, 1]])))
    o = param(d.Normal(0, 1), shape=3, constraint=c.Ordered())
    q = param(d.Normal(0, 1), shape=3, constraint=c.PositiveOrdered())
    r = param(lower=0, upper=2)
    m = param(d.Normal(0, 1), offset=3, multiplier=2)
    low = param(d.Normal(0, 3), lower=r)
    y = observed(d.MvStudentT(4, o + p[0] * q, scale=W), dims=("obs", "axis"))
    t = potential(log_density(d.MvNormal(o, covariance=V), q) + low + m)


@case(y=np.abs(Y) + 0.1, u=expit(Y), k=COUNTS, g=COUNTS, n=COUNTS + 2)
class Families(Model):
    n = data("obs", dtype=int)
    a = param(d.Gamma(2, 3))
    b = param(d.InverseGamma(3, 2))
    v = param(d.VonMises(0, 2))
    w = param(d.Weibull(2, a))
    s = param(d.SkewNormal(0, b, a))
    x = param(d.Pareto(1.5, 2))
    h = param(d.HalfStudentT(3, b))
    ku = param(d.Kumaraswamy(2, 3))
    y = observed(d.ScaledInverseChi2(a, b), dims="obs")
    u = observed(d.BetaProportion(ku, b), dims="obs")
    k = observed(d.NegativeBinomial2(a, b), dims="obs")
    g = observed(d.Geometric(ku), dims="obs")
    t = potential(log_density(d.BinomialLogit(n, v), n - 1) + s + w + x + h)


@case(y=np.array([0, 2, 1, 1]), z=np.array([0, 2, 1, 1]), q=np.array([[1, 2, 0], [0, 1, 2]]))
class Categories(Model):
    cut = param(d.Normal(0, 2), shape=2, constraint=c.Ordered())
    logits = param(d.Normal(0, 1), shape=(4, 3))
    y = observed(d.OrderedLogistic(logits[:, 0], cut), dims="obs")
    z = observed(d.CategoricalLogit(logits), dims="obs")
    again = potential(log_density(d.CategoricalLogit(logits[0]), z))
    q = observed(d.MultinomialLogit(3, logits[0]))


@case(y=np.abs(Y), z=np.clip(Y, -0.5, 0.4), k=COUNTS, h=np.abs(COUNTS - 1.0), c=COUNTS + 1)
class Compounds(Model):
    m = param(d.Normal(0, 1))
    s = param(d.Truncated(d.Normal(0, 1), lower=0.2))
    r = param(d.Affine(d.Beta(2, 3), loc=-1, scale=2))
    p = param(d.Beta(2, 2))
    y = observed(d.Truncated(d.Normal(m, s), lower=0), dims="obs")
    z = observed(d.Censored(d.Normal(m, s), lower=-0.5, upper=0.4), dims="obs")
    c = observed(d.Truncated(d.PoissonLog(m), lower=1), dims="obs")
    far = param(d.Truncated(d.LogLogistic(s, 2), lower=0.5))
    k = observed(d.ZeroInflated(p, d.PoissonLog(m)), dims="obs")
    h = observed(d.Hurdle(p, d.LogNormal(m, s)), dims="obs")
    u = param(d.Truncated(d.HalfNormal(s), upper=2.0))
    v = param(d.Truncated(d.Affine(d.Normal(m, 1), loc=1, scale=2.0), lower=0, upper=3.0))
    w = potential(log_density(d.Truncated(d.HalfCauchy(s), upper=2.0), u) + v)
    both = potential(log_cdf(d.Normal(m, s), r) + log_ccdf(d.HalfNormal(s), p))
    inside = potential(log_between(d.Normal(m, s), -p, [0.3, np.inf]))
    partly = param(d.Normal(0, 1), lower=np.array([-np.inf, 0.0]), shape=2)


@case(y=Y, z=Y, k=COUNTS)
class Mixtures(Model):
    weight = param(d.Dirichlet([1, 2, 3]))
    mean = param(d.Normal(0, 1), shape=3, constraint=c.Ordered())
    share = param(d.Beta(2, 2))
    y = observed(d.Mixture(weight, d.Normal(mean, 1)), dims="obs")
    z = observed(
        d.Mixture(np.stack([share, 1 - share]), [d.Normal(mean[0], 1), d.Cauchy(0, 2)]), dims="obs"
    )
    k = observed(d.Hurdle(share, d.Poisson(np.exp(mean[1]))), dims="obs")


@case(y=Y, z=Y, w=Y, x=Y.reshape(2, 3))
class Series(Model):
    phi = param(lower=-1, upper=1)
    sigma = param(d.HalfNormal(1))
    theta = param(d.Normal(0, 1), shape=2)
    walk = param(d.RandomWalk(sigma, 2.0, drift=phi), shape=6, noncentered=True)
    path = param(d.AR1(phi, sigma, 1.0), shape=4, noncentered=True)
    y = observed(d.AR(theta, sigma, phi, initial=d.Normal(0, 2)))
    z = observed(d.ARMA(theta, theta[1:], sigma, 0.3))
    w = observed(d.RandomWalk(sigma, 1.0))
    x = observed(d.AR1(phi, sigma), dims=("series", "time"))
    t = potential(-np.sum(walk**2) - np.sum(path**2))


@case(y=Y, known=np.arange(6.0))
class Recurrences(Model):
    known = data("time")
    rate = param(lower=0, upper=1)
    A = param(d.Normal(0, 0.3), shape=(2, 2))
    level = linear_recurrence(1 - rate, rate * known, 0.5)
    pair = matrix_recurrence(A, np.stack([known, -known], axis=1))
    n = scan(lambda s, k, r: s * np.exp(r * (1 - s)) + 0.1 * k, 0.3, known, args=(rate,))
    v = scan(lambda s, k, A: A @ s + k, np.zeros(2), np.stack([known, rate + known], 1), args=(A,))
    y = observed(d.Normal(level + pair[:, 0] + n + v[:, 1], 1), dims="time")


@case(t=np.linspace(0, 2, 5), y=Y[:5], f=Y[:5])
class Processes(Model):
    t = data("time")
    amplitude = param(d.HalfNormal(1))
    length = param(d.InverseGamma(5, 5))
    kernel = kernels.Matern32(amplitude, length) + kernels.Periodic(1.0, length, 0.7)
    y = observed(d.GaussianProcess(kernel, t, mean=amplitude * t, noise=0.3), dims="time")
    g = param(d.GaussianProcess(kernels.ExpQuad(1.0, length), t), dims="time", noncentered=True)
    f = observed(d.Normal(g, 1), dims="time")


@case(y=Y.reshape(3, 2), z=Y.reshape(3, 2))
class Systems(Model):
    s = param(d.HalfNormal(1))
    L = param(d.LKJCholesky(2.0), shape=(2, 2))
    eye = np.eye(2)
    y = observed(d.GaussianDLM(eye, eye, s * eye, eye, np.array([0.0, 1.0]), eye), dims=("t", "k"))
    z = observed(d.MatrixNormal(0.5, row_precision=s * np.eye(3), column_cholesky=s * L))


EDGES = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)])


@case(edges=EDGES, y=np.array([9, 39, 11, 9]))
class Maps(Model):
    edges = data(("edge", "end"), dtype=int)
    tau = param(d.Gamma(2, 2))
    rho = param(lower=0, upper=1)
    a = param(d.CAR(tau, rho, edges), shape=4)
    b = param(d.BYM2(tau, rho, edges), shape=4)
    y = observed(d.PoissonLog(a + b), dims="area")


@case(edges=EDGES, y=np.array([9, 39, 11, 9]))
class ZeroSums(Model):
    edges = data(("edge", "end"), dtype=int)
    tau = param(d.Gamma(2, 2))
    a = param(d.ICAR(edges, tau), shape=4)
    b = param(d.ZeroSumNormal(tau), shape=4)
    y = observed(d.PoissonLog(a + b), dims="area")


@case(y=np.array([[0.3, np.nan], [np.nan, 1.1]]), z=np.array([1.0, np.nan, 2.0]))
class Missing(Model):
    mu = param(d.Normal(0, 1))
    y = observed(d.Normal(mu, 1), dims=("row", "column"), missing="impute")
    z = observed(d.LogNormal(mu, 1), dims="obs", missing="impute")


@case(y=Y)
class Words(Model):
    int = param(d.Normal(0, 1))
    exp = param(d.HalfNormal(1))
    i = param(d.Normal(0, 1), shape=6)
    μ = param(d.Normal(0, 1))
    y = observed(d.Normal(μ + int * np.exp(i), exp), dims="obs")


@case(y=np.abs(Y) + 0.1, z=Y, c=np.clip(Y, -0.5, 0.4), k=np.array([1, 2, 3, 3]), t=np.abs(Y) + 0.1)
class Extremes(Model):
    s = param(d.HalfNormal(1))
    shapes = param(d.Normal(0, 0.1), shape=6)
    above = param(d.GeneralizedPareto(s, 1.0, 0.2))
    y = observed(d.GeneralizedPareto(0.1, s, shapes), dims="obs")
    z = observed(d.GeneralizedExtremeValue(0.0, 3 + s, 0.1 * s), dims="obs")
    c = observed(d.Censored(d.GeneralizedExtremeValue(0.0, 2 + s, -0.1), -0.5, 0.4), dims="obs")
    t = observed(d.Truncated(d.GeneralizedPareto(0.1, s, 0.0), lower=0.05), dims="obs")
    k = observed(d.Censored(d.Truncated(d.Poisson(s), lower=1), upper=3), dims="count")
    cut = d.Truncated(d.Normal(s, 1), -1.0, 2.0)
    sides = potential(log_cdf(cut, [-0.5, 3.0]) + log_ccdf(cut, [-2.0, 0.5]))


@case(n=np.array([5.0, 4, 3]), y=[1, 2, 3], z=np.ones((3, 2), int), h=[1, 1, 1], u=[0, 2, 1])
class Trials(Model):
    n = data("obs")
    p = param(d.Beta(1, 1))
    y = observed(d.Binomial(n, p), dims="obs")
    z = observed(d.Binomial(2 * n[:, None], np.stack([p, p**2])), dims=("obs", "k"))
    h = observed(d.Hypergeometric(np.array([3, 2, 1]), [5, 6, 7], 4), dims="obs")
    u = observed(d.ZeroInflated(p, d.BetaBinomial(n, 1 + p, p)), dims="obs")


@case(x=Y.reshape(2, 3))
class SeveralErrors(Model):
    phi = param(d.Normal(0, 1), shape=1)
    s = param(d.HalfNormal(1))
    L = param(d.LKJCholesky(2.0), shape=(3, 3))
    b = param(d.MvStudentT(4, 0.0, cholesky=s * L), shape=3, noncentered=True)
    x = observed(d.ARMA(phi, [0.3], s, 0.1), dims=("series", "time"))
    t = potential(-np.sum(b**2))
