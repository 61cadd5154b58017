"""Digits of log densities and slopes at extreme parameters, by the formulas in many digits.

Parameters lie between 1e-8 and 1e8 and values near the ends of the support, in the bulk and in the
tails. The truth is the function of the very numbers that float64 stores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest
from derivatives import evaluated

from probmodel import distributions as d
from probmodel.numerics.special import betaln

DIGITS = 1e-8
EPS = float(np.finfo(float).eps)
log, exp, log1p, lgamma = mp.log, mp.exp, mp.log1p, mp.loggamma


# Log densities, as the docstrings have them.


def lbeta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def softplus(x):
    return log1p(exp(x)) if x < 0 else x + log1p(exp(-x))


def student_t(y, df, mu, s):
    z = (y - mu) / s
    gammas = lgamma((df + 1) / 2) - lgamma(df / 2)
    return gammas - log(df * mp.pi) / 2 - log(s) - (df + 1) / 2 * log1p(z * z / df)


def beta(y, a, b):
    return (a - 1) * log(y) + (b - 1) * log1p(-y) - lbeta(a, b)


def kumaraswamy(y, a, b):
    return log(a) + log(b) + (a - 1) * log(y) + (b - 1) * log1p(-(y**a))


def negative_binomial2(y, mu, phi):
    ways = lgamma(y + phi) - lgamma(phi) - lgamma(y + 1)
    return ways + y * log(mu / (mu + phi)) - phi * log1p(mu / phi)


def beta_binomial(y, n, a, b):
    return choose(n, y) + lbeta(a + y, b + n - y) - lbeta(a, b)


def exp_mod_normal(y, mu, s, rate):
    z, r = (y - mu) / s, rate * s
    return log(rate) + r * (r / 2 - z) + log(mp.erfc((r - z) / mp.sqrt(2)) / 2)


def lognormal(y, mu, s):
    return -(((log(y) - mu) / s) ** 2) / 2 - log(y * s) - log(2 * mp.pi) / 2


# Arguments: value first.


def wide(rng, low=-8.0, high=8.0):
    return 10.0 ** rng.uniform(low, high)


def signed(rng, low=-8.0, high=4.0):
    return rng.choice([-1.0, 0.0, 1.0]) * wide(rng, low, high)


def share(rng):
    """A number between zero and one, in the middle or close to an end."""
    near = wide(rng, -8.0, -0.5)
    return rng.choice([near, 1.0 - near, rng.uniform(0.01, 0.99)])


def deviation(rng):
    return rng.choice([-1.0, 1.0]) * rng.choice([1e-8, 1e-3, 0.3, 1, 3, 30, 1e4]) * rng.uniform()


def inside(y):
    return np.clip(y, 1e-300, 1.0 - EPS)


def count_of(rng, mu, phi):
    gamma = mu / phi * rng.standard_gamma(phi)
    return rng.choice([0, 1, 2, 7, rng.poisson(mu), rng.poisson(min(gamma, 1e15))])


def student_t_args(rng):
    mu, s = signed(rng), wide(rng)
    return mu + s * deviation(rng), wide(rng), mu, s


def half_student_t_args(rng):
    s = wide(rng)
    return abs(s * deviation(rng)), wide(rng), s


def beta_args(rng):
    a, b = wide(rng), wide(rng)
    if rng.uniform() < 0.2:
        b, y = a, 0.5 + rng.choice([0.0, 0.1, 0.4]) / np.sqrt(1.0 + 4.0 * a)
        return y, a, b
    return rng.choice([inside(rng.beta(a, b)), share(rng)]), a, b


def beta_proportion_args(rng):
    mu, kappa = share(rng), wide(rng)
    drawn = inside(rng.beta(mu * kappa, (1.0 - mu) * kappa))
    return rng.choice([mu, drawn, share(rng)]), mu, kappa


def kumaraswamy_args(rng):
    a, b = wide(rng), wide(rng)
    drawn = d.Kumaraswamy(1, 1).sample(rng, (), np.array(a), np.array(b))
    return rng.choice([inside(drawn), share(rng)]), a, b


def negative_binomial2_args(rng):
    mu, phi = wide(rng), wide(rng)
    return count_of(rng, mu, phi), mu, phi


def negative_binomial2_log_args(rng):
    y, mu, phi = negative_binomial2_args(rng)
    return y, np.log(mu), phi


def negative_binomial_args(rng):
    y, mu, phi = negative_binomial2_args(rng)
    return y, phi, phi / mu


def trials_args(rng):
    n = rng.choice([1.0, 2.0, 10.0, 100.0, 1e4, 1e8])
    a, b = wide(rng), wide(rng)
    b = rng.choice([a, b])
    drawn = rng.binomial(int(n), a / (a + b))
    return rng.choice([0.0, n, n // 2, drawn, rng.integers(int(n) + 1)]), n, a, b


def binomial_logit_args(rng):
    y, n, _, _ = trials_args(rng)
    return y, n, rng.choice([-1.0, 1.0]) * wide(rng, -6.0, 2.8)


def yule_simon_args(rng):
    return rng.choice([1, 2, 5, 1000, 1e6, 1e8]), wide(rng)


def exp_mod_normal_args(rng):
    mu, s, rate = signed(rng), wide(rng), wide(rng)
    normal = rng.choice([deviation(rng), rng.standard_normal()])
    return mu + s * normal + rng.choice([0.0, rng.exponential() / rate]), mu, s, rate


def lognormal_args(rng):
    mu, s = signed(rng, -8.0, 2.0), wide(rng)
    z = np.clip(s * deviation(rng), -600.0, 600.0)
    # Closer than this the last digit of the value would change the slopes visibly.
    return np.exp(mu + (z if abs(z) > 1e-9 * abs(mu) else 2.0 * s)), mu, s


def location_scale_args(rng):
    mu, s = signed(rng), wide(rng)
    return mu + s * deviation(rng), mu, s


def positive_args(rng):
    s = wide(rng)
    return s * abs(deviation(rng)), s


def binomial_args(rng):
    y, n, _, _ = trials_args(rng)
    return y, n, share(rng)


def poisson_args(rng):
    rate = wide(rng, -8.0, 7.0)  # the logarithm of the factorial is rounded by itself
    return rng.choice([0, 1, rng.poisson(rate)]), rate


def pareto_type2_args(rng):
    mu, s = signed(rng), wide(rng)
    return mu + s * abs(deviation(rng)), mu, s, wide(rng)


class Family(NamedTuple):
    dist: Any
    formula: Callable[..., Any]
    arguments: Callable[..., Any]
    fixed: tuple[int, ...] = ()


FAMILIES = [
    Family(d.StudentT(1), student_t, student_t_args),
    Family(
        d.HalfStudentT(1, 1), lambda y, df, s: log(2) + student_t(y, df, 0, s), half_student_t_args
    ),
    Family(d.Beta(1, 1), beta, beta_args),
    Family(
        d.BetaProportion(0.5, 1),
        lambda y, mu, kappa: beta(y, mu * kappa, (1 - mu) * kappa),
        beta_proportion_args,
    ),
    Family(d.Kumaraswamy(1, 1), kumaraswamy, kumaraswamy_args),
    Family(d.LogNormal(0, 1), lognormal, lognormal_args),
    Family(d.ExpModNormal(0, 1, 1), exp_mod_normal, exp_mod_normal_args),
    Family(
        d.ParetoType2(0, 1, 1),
        lambda y, mu, s, a: log(a) - log(s) - (a + 1) * log1p((y - mu) / s),
        pareto_type2_args,
    ),
    Family(d.NegativeBinomial2(1, 1), negative_binomial2, negative_binomial2_args, (0,)),
    Family(
        d.NegativeBinomial2Log(0, 1),
        lambda y, eta, phi: negative_binomial2(y, exp(eta), phi),
        negative_binomial2_log_args,
        (0,),
    ),
    Family(
        d.NegativeBinomial(1, 1),
        lambda y, a, b: negative_binomial2(y, a / b, a),
        negative_binomial_args,
        (0,),
    ),
    Family(d.BetaBinomial(1, 1, 1), beta_binomial, trials_args, (0, 1)),
    Family(
        d.BinomialLogit(1, 0),
        lambda y, n, x: choose(n, y) - y * softplus(-x) - (n - y) * softplus(x),
        binomial_logit_args,
        (0, 1),
    ),
    Family(
        d.Normal(0, 1),
        lambda y, mu, s: -(((y - mu) / s) ** 2) / 2 - log(s) - log(2 * mp.pi) / 2,
        location_scale_args,
    ),
    Family(
        d.Cauchy(0, 1),
        lambda y, mu, s: -log(mp.pi * s) - log1p(((y - mu) / s) ** 2),
        location_scale_args,
    ),
    Family(
        d.Logistic(0, 1),
        lambda y, mu, s: (mu - y) / s - log(s) - 2 * softplus((mu - y) / s),
        location_scale_args,
    ),
    Family(d.Rayleigh(1), lambda y, s: log(y) - 2 * log(s) - (y / s) ** 2 / 2, positive_args),
    Family(
        d.Binomial(1, 0.5),
        lambda y, n, p: choose(n, y) + y * log(p) + (n - y) * log1p(-p),
        binomial_args,
        (0, 1),
    ),
    Family(d.Poisson(1), lambda y, rate: y * log(rate) - rate - lgamma(y + 1), poisson_args, (0,)),
    Family(d.YuleSimon(1), lambda y, a: log(a) + lbeta(y, a + 1), yule_simon_args, (0,)),
]


def derivative(formula, args, i):
    """Central difference in one argument; in so many digits its error does not count."""
    h = (abs(args[i]) or 1) * mp.mpf(10) ** -30
    up, down = list(args), list(args)
    up[i], down[i] = args[i] + h, args[i] - h
    return (formula(*up) - formula(*down)) / (2 * h)


def losses(family, rng, points):
    """Values and slopes, and the truth about them, by what they are of, at several points."""
    args = [[float(a) for a in family.arguments(rng)] for _ in range(points)]
    columns = np.array(args).T
    wanted = [i for i in range(len(columns)) if i not in family.fixed]
    with np.errstate(all="ignore"):
        values = family.dist.log_density(np, *columns)
    # A program returns the sum of a batch: it has to be made for one point, or for all slopes.
    values[:40] = [evaluated(family.dist, wanted, *at)[0] for at in args[:40]]
    _, slopes = evaluated(family.dist, wanted, *columns)
    for k, at in enumerate(args):
        exact = [mp.mpf(a) for a in at]
        yield "value", float(values[k]), family.formula(*exact), at
        for i, slope in zip(wanted, slopes, strict=True):
            truth = derivative(family.formula, exact, i)
            if abs(truth) > 1e-60:  # else it is zero
                yield f"slope {i}", float(slope[k]), truth, at


@mp.workdps(120)  # squares of 1e15 cancel, and differences take half of what is left
def check(family, seed, points):
    for what, found, truth, args in losses(family, np.random.default_rng(seed), points):
        loss = float(abs(found - truth) / abs(truth)) if truth else abs(found)
        assert loss < DIGITS, (what, found, float(truth), args)


def named(family):
    return family.dist.name


@pytest.mark.parametrize("family", FAMILIES, ids=named)
def test_eight_digits_at_extreme_parameters(family):
    check(family, 1, 20)


@pytest.mark.statistical
@pytest.mark.parametrize("family", FAMILIES, ids=named)
def test_eight_digits_on_a_wide_grid(family):
    check(family, 2, 2000)


def test_lost_digits_are_noticed():
    class Careless(d.Beta):
        def log_kernel(self, xp, value, *params):
            a, b = params
            return (a - 1.0) * xp.log(value) + (b - 1.0) * xp.log1p(-value) - betaln(a, b)

    def near_an_end(rng):
        return 0.999999999, 2e6, 1e-3

    check(Family(d.Beta(1, 1), beta, near_an_end), 1, 1)
    with pytest.raises(AssertionError, match="slope 1"):
        check(Family(Careless(1, 1), beta, near_an_end), 1, 1)
