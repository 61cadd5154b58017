"""Proportions of 0 and 1, at which no beta density is finite: the error says what to do."""

import pytest

from probmodel import InitializationError, Model, infer, observed, param
from probmodel.distributions import Beta, BetaProportion, Gamma, Normal


class Shares(Model):
    mean = param(Beta(1, 1))
    kappa = param(Gamma(1, 0.1))
    share = observed(BetaProportion(mean, kappa), dims="plot")


class Elsewhere(Model):
    """A model that is nowhere defined, whose proportions are not the reason."""

    scale = param(Normal(-5, 0.001), upper=-4)
    share = observed(Beta(scale, 1), dims="plot")


def test_proportions_of_zero_and_one():
    message = r"2 of 4 values of share are 0 or 1.*Hurdle\(p, BetaProportion\(\.\.\.\)\).*share \*"
    with pytest.raises(InitializationError, match=message):
        infer(Shares(share=[0.0, 0.2, 1.0, 0.4]), seed=1, quiet=True)


def test_another_reason_is_not_hidden():
    with pytest.raises(InitializationError, match="with values where the model is defined"):
        infer(Elsewhere(share=[0.1, 0.2]), seed=1, quiet=True)
