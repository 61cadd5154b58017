"""Binding of arguments, defaults and supports that depend on them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from probmodel import distributions as d
from probmodel import param
from probmodel.constraints import Positive
from probmodel.distributions.base import Distribution
from probmodel.distributions.sums import batch_shape, reduce_to
from probmodel.errors import ModelError


def test_arguments_are_bound_by_position_and_name():
    assert d.Normal(1.0, scale=2.0).args == {"loc": 1.0, "scale": 2.0}
    assert d.StudentT(3.0).args == {"df": 3.0, "loc": 0.0, "scale": 1.0}
    assert d.Normal(0, 1).location.file == __file__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.Normal(0), "needs 'scale'"),
        (lambda: d.Normal(0, 1, 2), "takes 2 parameters, 3 were given"),
        (lambda: d.Normal(0, sigma=1), r"no parameter 'sigma'. Its parameters: loc, scale\.$"),
        (lambda: d.Bernoulli(logits=0.2), r"p\. There is BernoulliLogit\(logit\)\.$"),
        (lambda: d.Beta(mu=0.2, kappa=3), r"alpha, beta\. There is BetaProportion\(mu, kappa\)\.$"),
        (lambda: d.Normal(0, 1, loc=1), "'loc' twice"),
        (lambda: d.Flat(1), "takes 0 parameters"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ModelError, match=message):
        call()


def test_supports_that_depend_on_arguments():
    assert d.Uniform(-1.0, 2.0).support().bounds == (-1.0, 2.0)
    assert d.Binomial(7, 0.5).support().bounds == (0, 7)
    assert d.Categorical([0.2, 0.8]).support().bounds == (0, 1)
    assert d.CategoricalLogit(np.zeros((5, 4))).support().bounds == (0, 3)
    assert d.Categorical(param()).support().bounds == (0,)


def test_the_domain_is_the_support():
    class Placeless(Distribution):
        parameters: ClassVar = {}

    class Placed(Placeless):
        domain = Positive()

    assert Placed().support() is Placed.domain
    with pytest.raises(NotImplementedError, match="Placeless has no domain"):
        Placeless().support()


def test_reduction_sums_over_what_was_broadcast():
    full = np.arange(6.0).reshape(2, 3)
    assert reduce_to(np.zeros((2, 1)), full).shape == (2, 1)
    np.testing.assert_array_equal(reduce_to(np.zeros(3), full), full.sum(0))
    np.testing.assert_array_equal(reduce_to(np.zeros(()), full), 15.0)
    np.testing.assert_array_equal(reduce_to(full, full), full)


def test_batch_shape_leaves_out_event_axes():
    assert batch_shape([np.zeros((2, 1, 3)), np.zeros((4, 3, 3))], [1, 2]) == (2, 4)
