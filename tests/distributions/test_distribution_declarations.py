"""Binding of arguments, defaults and supports that depend on them."""

from __future__ import annotations

from inspect import signature
from typing import ClassVar

import numpy as np
import pytest

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.constraints import Positive
from probmodel.distributions.base import Distribution
from probmodel.distributions.other_names import OTHER_PARAMETERS
from probmodel.distributions.sums import batch_shape, reduce_to
from probmodel.errors import DataError, ModelError


def test_arguments_are_bound_by_position_and_name():
    assert d.Normal(1.0, scale=2.0).args == {"loc": 1.0, "scale": 2.0}
    assert d.StudentT(3.0).args == {"df": 3.0, "loc": 0.0, "scale": 1.0}
    assert d.Normal(0, 1).location.file == __file__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.Normal(0), "needs 'scale'"),
        (lambda: d.Normal(0, 1, 2), "takes 2 parameters, 3 were given"),
        (lambda: d.Normal(0, eps=1), r"no parameter 'eps'. Its parameters: loc, scale\.$"),
        (lambda: d.Bernoulli(logits=0.2), r"p\. There is BernoulliLogit\(logit\)\.$"),
        (lambda: d.Beta(mu=0.2, kappa=3), r"alpha, beta\. There is BetaProportion\(mu, kappa\)\.$"),
        (lambda: d.Normal(0, 1, loc=1), "'loc' twice"),
        (lambda: d.Flat(1), "takes 0 parameters"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ModelError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.Normal(0, sigma=1), r"scale\. Here, sigma is called scale\.$"),
        (lambda: d.Normal(mu=0, tau=2), r"mu is called loc, tau is written scale=1 / np"),
        (lambda: d.Normal(0, sd=2), "Here, sd is called scale"),
        (lambda: d.LogNormal(0, tau=2), r"tau is written sigma=1 / np\.sqrt\(tau\)"),
        (lambda: d.Gamma(concentration=1, rate=2), "concentration is called alpha, rate .* beta"),
        (lambda: d.Gamma(mu=1, sigma=2), r"written alpha=mu\*\*2 / sigma\*\*2, .* beta=mu / sig"),
        (lambda: d.MvNormal(np.zeros(2), scale_tril=np.eye(2)), "scale_tril is called cholesky"),
        (lambda: d.MvNormal(mu=np.zeros(2), chol=np.eye(2)), "mu .* loc, chol is called cholesky"),
        (lambda: d.MvNormal(np.zeros(2), tau=np.eye(2)), "tau is called precision"),
        (lambda: d.HalfCauchy(beta=1), "beta is called scale"),
        (lambda: d.StudentT(nu=3, mu=0, sigma=1), "nu is called df, mu is called loc, sigma"),
        (lambda: d.Exponential(lam=1), "lam is called rate"),
        (lambda: d.Exponential(scale=1), "scale is written rate=1 / scale"),
        (lambda: d.LKJCholesky(2, 1.0), r"2 were given.* param\(LKJCholesky\(eta\), shape="),
        (lambda: d.LKJCholesky(n=2, eta=1.0), r"'n'\..* size is that of the parameter"),
        (lambda: d.LKJ(2, eta=1.0), r"'eta' twice\. The size is that of the parameter"),
    ],
)
def test_parameters_of_other_programs_say_what_they_are_called_here(call, message):
    with pytest.raises(ModelError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.ZeroInflated(psi=0.3, dist=d.Poisson(2)), r"^[^ ]*: ZeroInflated has no "
         r"parameter 'psi'\. Its parameters: p, dist\. .* psi = 1 - p\."),
        (lambda: d.Hurdle(psi=0.3, dist=d.Poisson(2)), "Hurdle has no .*'psi'.* psi = 1 - p"),
        (lambda: d.ZeroInflated(0.3), "ZeroInflated: missing a required argument: 'dist'"),
        (lambda: d.Mixture([1.0], comp_dists=[]), "comp_dists is called components"),
        (lambda: d.Truncated(d.Normal(0, 1), low=0), "low is called lower"),
        (lambda: d.Censored(d.Normal(0, 1), uper=3), r"uper.* upper=None\. Did you mean 'upper'\?"),
        (lambda: d.Truncated(d.Normal(0, 1), 0, 1, 2), "Truncated: too many positional arguments"),
        (lambda: d.HiddenMarkov(start=1), "HiddenMarkov has no parameter 'start'"),
    ],
)  # fmt: skip
def test_arguments_of_distributions_of_distributions(call, message):
    with pytest.raises(ModelError, match=message) as caught:
        call()
    assert __file__ in str(caught.value)


def test_names_of_parameters_stand_for_what_there_is():
    parameters = {name: set(signature(kind).parameters) for name, kind in d.DISTRIBUTIONS.items()}
    every = set.union(*parameters.values())
    for key, candidates in OTHER_PARAMETERS.items():
        name, _, other = key.rpartition(".")
        known = parameters[name] if name else every
        if other != "*":
            assert {text.partition("=")[0] for text in candidates} <= known, key


def test_imports_of_other_names_say_what_is_meant():
    with pytest.raises(ImportError, match="it is called OrderedLogistic here"):
        from probmodel.distributions import OrderedLogit  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'Elsewhere'"):
        from probmodel.distributions import Elsewhere  # noqa: F401


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


def test_angles_of_another_interval_get_an_error_that_says_how_to_turn_them():
    class Onset(Model):
        mu = param(d.Normal(0, 1))
        y = observed(d.VonMises(mu, 2.0), dims="obs")

    day = 2 * np.pi * np.array([10, 200, 350]) / 365
    with pytest.raises(DataError, match=r"2 such in all\)\. .*np\.angle\(np\.exp\(1j \* y\)\)"):
        Onset(y=day)
    assert Onset(y=np.angle(np.exp(1j * day))) is not None
