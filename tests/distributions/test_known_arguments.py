"""Log densities whose arguments are known in part, above all those that a formula can leave out."""

from __future__ import annotations

import itertools

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from derivatives import evaluated, program
from examples.case import filled, moving
from scipy import special, stats

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.density import as_posterior

COUNT = 4
Z = np.array([0.0, 1.0, -30.0])


def alike(case, number, every):
    """What varies, and arguments of which one is known and consists of a number."""
    free = moving(case)
    changeable = [0, *free] if case.dist.discrete else free
    for turn, (varying, changed) in enumerate(itertools.product(free, changeable)):
        # Either it alone says how many elements there are, or what varies does, too.
        both = [(changed,), (changed, varying)]
        for several in both if every else both[turn % 2 :][:1]:
            shapes = [(COUNT,) if i in several else () for i in range(len(case.params[0]) + 1)]
            args = [filled(case, i, shape) for i, shape in enumerate(shapes)]
            args[changed] = np.full_like(args[changed], number)
            if varying != changed:
                yield varying, args


@pytest.mark.parametrize(
    ("number", "every"),
    [(1.0, False)]
    + [pytest.param(number, True, marks=pytest.mark.statistical) for number in (0.0, 1.0)],
)
@pytest.mark.filterwarnings("ignore:Output seems independent of input")
def test_known_arguments_that_are_all_the_same(case, number, every):
    """Zeros and ones may be left out of a formula; how many there are may not."""
    for varying, args in alike(case, number, every):

        def total(x, varying=varying, args=args):
            found = [x if i == varying else a for i, a in enumerate(args)]
            return anp.sum(case.dist.log_kernel(anp, *found) + np.zeros(COUNT))

        with np.errstate(all="ignore"):
            base = np.sum(np.zeros(COUNT) + case.dist.log_base(*args))
            expected, slope = total(args[varying]) + base, grad(total)(args[varying])
            if not np.isfinite(expected):
                continue
        logp, (found,) = evaluated(case.dist, [varying], *args)
        np.testing.assert_allclose(logp, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found, slope, rtol=1e-8, atol=1e-8)


SAME = {
    "Normal": (lambda m: d.Normal(m, 1.0), lambda m: stats.norm(m, 1)),
    "StudentT": (lambda m: d.StudentT(4.0, m, 1.0), lambda m: stats.t(4, m)),
    "Exponential": (lambda m: d.Exponential(np.exp(m)), lambda m: stats.expon(0, np.exp(-m))),
    "Poisson": (lambda m: d.Poisson(np.exp(m)), lambda m: stats.poisson(np.exp(m))),
    "BernoulliLogit": (d.BernoulliLogit, lambda m: stats.bernoulli(special.expit(m))),
    "a known location": (
        lambda m: d.Normal(np.zeros(17), np.exp(m)), lambda m: stats.norm(0, np.exp(m)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("number", [0, 1])
def test_data_that_are_all_the_same_are_counted(name, number):
    dist, family = SAME[name]

    class Alike(Model):
        m = param(d.Normal(0, 1))
        y = observed(dist(m), dims="obs")

    found = as_posterior(Alike(y=np.full(17, number))).log_density(np.array([[0.3], [-1.2]]))
    for logp, m in zip(found, (0.3, -1.2), strict=True):
        law = family(m)
        log_likelihood = getattr(law, "logpmf" if hasattr(law, "pmf") else "logpdf")(number)
        assert logp == pytest.approx(stats.norm.logpdf(m) + 17 * log_likelihood, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0, 400.0])
def test_long_rows_of_outcomes(scale):
    rng = np.random.default_rng(0)
    y, logit = rng.integers(0, 2, 3001), scale * rng.normal(0, 3, 3001)
    logp, (slope,) = evaluated(d.BernoulliLogit(0.0), [1], y, logit)
    side = np.where(y == 1, 1.0, -1.0)
    np.testing.assert_allclose(logp, special.log_expit(side * logit).sum(), rtol=1e-12)
    np.testing.assert_allclose(slope, side * special.expit(-side * logit), rtol=1e-10, atol=1e-300)


def test_outcomes_that_are_not_finite():
    logit = np.array([[0.3, np.nan], [0.1, 0.2]])
    logp, _ = program(d.BernoulliLogit(0.0), [1], np.array([0.0, 1.0]), logit[0])(logit)
    assert np.isnan(logp[0])
    assert np.isfinite(logp[1])


@pytest.mark.parametrize(
    ("dist", "frame"),
    [
        (d.Affine(d.Beta(2.0, 3.0), 1.0, 2.0), (1.0, 2.0)),
        (d.Affine(d.Affine(d.Beta(2.0, 3.0), 1.0, 2.0), 5.0, 4.0), (9.0, 8.0)),
        (d.Affine(d.Affine(d.Beta(2.0, 3.0), 0.0, 0.5), 0.0, 2.0), (0.0, 1.0)),
        (d.Affine(d.Beta(2.0, 3.0), 1e8, 1e-6), (1e8, 1e-6)),
    ],
    ids=["once", "twice", "and back", "narrow"],
)
def test_stretched_betas(dist, frame):
    loc, scale = frame
    value = loc + scale * np.array([0.1, 0.45, 0.8])
    logp, (slope,) = evaluated(dist, [0], value, *dist.args.values())
    u = (value - loc) / scale
    np.testing.assert_allclose(logp, np.sum(stats.beta(2, 3).logpdf(u) - np.log(scale)), rtol=1e-9)
    np.testing.assert_allclose(slope * scale, 1.0 / u - 2.0 / (1.0 - u), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-170, 1e-160, 1.0, 1e160])
@pytest.mark.parametrize("df", [1.0, 3.0, 1e12])
def test_tails_of_any_scale(df, scale):
    logp, (slope,) = evaluated(d.StudentT(df, 0.0, scale), [0], scale * Z, df, 0.0, scale)
    expected = np.sum(stats.t(df).logpdf(Z) - np.log(scale))
    np.testing.assert_allclose(logp, expected, rtol=1e-6 if df > 1e9 else 1e-9)
    np.testing.assert_allclose(slope * scale, -(df + 1.0) * Z / (df + Z * Z), rtol=1e-9)
