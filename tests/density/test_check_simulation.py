"""What `check_model` says of a simulation: overflow of vague priors is no fault of a model."""

import numpy as np
import pytest

from probmodel import Model, check_model, data, deterministic, observed, param
from probmodel.distributions import Gamma, Normal, Poisson, PoissonLog

X = np.linspace(-1, 1, 5)


class Vague(Model):
    x = data("obs")
    a = param(Normal(0, 1e3))
    tau = param(Gamma(1e-3, 1e-3))
    b = param(Normal(0, 1 / np.sqrt(tau)), dims="obs")
    y = observed(PoissonLog(a + 10 * x + b), dims="obs")


class Overflowing(Model):
    a = param(Normal(0, 1e4))
    scale = deterministic(np.exp(a))
    y = observed(Normal(0, scale + 1e-300), dims="obs")


class WrongSign(Model):
    a = param(Normal(0, 1e3))
    y = observed(Poisson(a), dims="obs")


class NotANumber(Model):
    a = param(Normal(0, 1))
    b = deterministic(np.sqrt(np.minimum(a, 0.1 * a)))
    y = observed(Normal(a, 1), dims="obs")


def simulation(model, seed):
    (found,) = [c for c in check_model(model, seed=seed).checks if c.title == "prior simulation"]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_vague_priors_are_no_fault(seed):
    for model in (Vague(x=X, y=[0, 1, 2, 0, 3]), Overflowing(y=X)):
        report = check_model(model, seed=seed)
        assert report.ok, str(report)


def test_what_was_done_instead_is_said():
    found = [simulation(Vague(x=X, y=[0, 1, 2, 0, 3]), seed) for seed in range(8)]
    extreme = [c for c in found if "draws from the prior are too extreme" in c.detail]
    assert extreme
    assert "of zero, unconstrained" in extreme[0].detail


@pytest.mark.parametrize("seed", range(4))
def test_faults_are_still_found(seed):
    for model in (WrongSign(y=[1, 2, 1]), NotANumber(y=X)):
        found = [simulation(model, 10 * seed + k) for k in range(5)]
        assert not all(c.ok for c in found)
