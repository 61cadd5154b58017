"""Checks of distributions: sound ones pass, and each check notices what is broken in its way."""

from __future__ import annotations

import numpy as np
import pytest
from autograd.extend import defvjp, primitive
from autograd.tracer import getval

from probmodel import distributions as d
from probmodel.testing import DISTRIBUTION_CHECKS, check_distribution

SCALE = np.array([[1.3, 0.4], [0.4, 0.9]])
SOUND = [
    (d.Normal(0.3, 1.2), 0.7),
    (d.Gamma(2.0, 1.5), 0.4),
    (d.Beta(2.0, 3.0), 0.3),
    (d.Poisson(2.5), 3),
    (d.Binomial(6, 0.3), 2),
    (d.Uniform(-1.0, 2.0), 0.5),
    (d.Dirichlet(np.array([2.0, 1.0, 3.0])), [0.2, 0.3, 0.5]),
    (d.MvNormal(np.zeros(2), precision=SCALE), [0.4, -1.0]),
    (d.LKJ(1.5), SCALE / np.sqrt(np.outer(np.diag(SCALE), np.diag(SCALE)))),
    (d.Wishart(4.0, SCALE), SCALE),
    (d.InverseWishartCholesky(4.0, SCALE), np.linalg.cholesky(SCALE)),
    (d.MatrixNormal(np.zeros((2, 2)), SCALE, SCALE), np.eye(2)),
]


@pytest.mark.parametrize(("dist", "value"), SOUND, ids=lambda x: getattr(x, "name", None))
def test_sound_ones_pass(dist, value):
    report = check_distribution(dist, value)
    assert report.ok, str(report)
    assert str(report).startswith(f"{dist.name}: all checks passed")


class Vector(d.Normal):
    def log_kernel(self, xp, value, *params):
        return super().log_kernel(xp, value, *params)[..., None]


class Infinite(d.Normal):
    def log_kernel(self, xp, value, *params):
        return super().log_kernel(xp, value, *params) + np.inf


class Half(d.Normal):
    def support(self):
        return d.HalfNormal(1.0).support()


class Wrong(d.Normal):
    """Its slope in the scale is not that of its values."""

    def log_kernel(self, xp, value, *params):
        scale = params[1]
        return super().log_kernel(xp, value, *params) + 0.001 * (scale - getval(scale))


class Frozen(d.Normal):
    """Its slopes are right, and have none themselves."""

    def log_kernel(self, xp, value, *params):
        loc, scale = params
        return -0.5 * square((value - loc) / scale) - xp.log(scale)


@primitive
def square(x):
    return x * x


defvjp(square, lambda ans, x: lambda g: 2.0 * g * getval(x))


class Wide(d.Normal):
    def sample(self, rng, shape, *params):
        return 1.2 * super().sample(rng, shape, *params)


class Flat(d.Normal):
    def sample(self, rng, shape, *params):
        return super().sample(rng, shape, *params).reshape(-1)[1:]


BROKEN = [
    (Vector(0.0, 1.0), "check_density", "must be one number"),
    (Infinite(0.0, 1.0), "check_density", "must be finite"),
    (Half(0.0, 1.0), "check_density", "support must contain"),
    (Wrong(0.0, 1.0), "check_gradient", "the derivative in scale must be that of log_kernel"),
    (
        Frozen(0.0, 1.0),
        "check_second_derivatives",
        "the second derivative in value and value must be right",
    ),
    (Wide(0.0, 1.0), "check_draws", "slope in scale must be zero on average"),
    (Flat(0.0, 1.0), "check_draws", "sample must return shape (4000,)"),
    (Half(0.0, 1.0), "check_draws", "draws must lie in the support"),
]


@pytest.mark.parametrize(("dist", "check", "message"), BROKEN)
def test_what_is_broken_is_noticed(dist, check, message):
    report = check_distribution(dist, np.asarray(-0.7))
    assert not report.ok
    assert message in report.problems[check]


def test_every_check_has_a_control():
    assert {check for _, check, _ in BROKEN} == {check.__name__ for check in DISTRIBUTION_CHECKS}
