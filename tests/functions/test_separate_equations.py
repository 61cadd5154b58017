"""Equations of one unknown each are solved one by one, which the traced program tells."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Model, deterministic, param
from probmodel.density import as_posterior
from probmodel.density.equations import Equations
from probmodel.distributions import Normal
from probmodel.functions import solve_newton

APART = {
    "elementwise": (lambda x, a: x**3 + x - a * np.exp(-x), True),
    "constants": (lambda x, a: x - np.array([1.0, 2.0, 3.0]) * a[0], True),
    "list": (lambda x, a: [x[0] - a[0], x[1] ** 3 - a[1], np.exp(x[2]) - 2.0], True),
    "sums of its own": (lambda x, a: np.sum(np.exp(x[:, None] * a), axis=1) - 4.0, True),
    "where": (lambda x, a: np.where(x > 0, x, 2 * x) - a, True),
    "reversed": (lambda x, a: x[::-1] - a, False),
    "condition of another": (lambda x, a: np.where(x[0] > 0, x, 2 * x) - a, False),
    "sum of all": (lambda x, a: x + np.sum(x) - a, False),
    "maximum": (lambda x, a: x - 0.1 * np.max(x) - a, False),
    "differences": (lambda x, a: np.concatenate([x[:1], x[1:] - x[:-1]]) - a, False),
    "matrix": (lambda x, a: np.eye(3) @ x + np.ones((3, 3)) @ x - a, False),
    "cumulative": (lambda x, a: np.cumsum(x) - a, False),
}


@pytest.mark.parametrize("name", APART)
def test_structure_and_roots(name, monkeypatch):
    function, apart = APART[name]

    class Roots(Model):
        a = param(Normal(1.0, 0.1), shape=3)
        x = deterministic(solve_newton(function, [0.3, 0.4, 0.5], a))
        y = param(Normal(np.sum(x * np.array([1.0, 2.0, 3.0])), 1.0))

    seen = []
    whole = Equations.apart.func

    def noted(self):
        seen.append(whole(self))
        return seen[-1]

    def together(self):
        return False

    results = []
    for rule in (noted, together):
        monkeypatch.setattr(Equations, "apart", property(rule))
        density = as_posterior(Roots())
        at = np.random.default_rng(1).normal(1.0, 0.1, (5, 4))
        slopes = density._value_and_gradient(at)
        hessian = density.hvp(at, np.ones((5, 4)))
        results.append((*slopes, hessian, density.constrain(at, ("x",))["x"]))
    assert set(seen) == {apart}
    for one, other in zip(*results, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
