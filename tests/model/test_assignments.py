"""Assignments that a model cannot heed, and names that functions or the package have too."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from probmodel import (
    DataError,
    Model,
    ModelError,
    data,
    deterministic,
    infer,
    load_model,
    observed,
    param,
    prior_predictive,
)
from probmodel.density import as_posterior
from probmodel.distributions import Beta, HalfNormal, Normal
from probmodel.functions import arange, zeros


class Line(Model):
    x = data(dims="obs")
    b = param(Normal(0, 1))
    y = observed(Normal(b * x, 1), dims="obs")


@pytest.mark.parametrize(("name", "value"), [("s", param(HalfNormal(1))), ("b", 3.0)])
def test_a_class_takes_no_declaration_after_its_body(name, value):
    with pytest.raises(ModelError, match=f"test_assignments.py:.*Line.{name} = ... would be lost"):
        setattr(Line, name, value)


@pytest.mark.parametrize("name", ["x", "y", "b", "coords"])
def test_a_bound_model_does_not_change(name):
    model = Line(x=[1.0, 2.0], y=[1.0, 2.0])
    message = rf"'{name}' of a bound Line does not change.*Line\(x=..., y=...\)"
    with pytest.raises(DataError, match=message):
        setattr(model, name, [3.0, 4.0])


def test_other_attributes_are_free_and_models_are_copied():
    model = Line(x=[1.0, 2.0], y=[1.0, 2.0])
    model.note = "first try"
    assert copy.copy(model).note == "first try"
    Line.purpose = "test"
    gallery = load_model("gallery:eight_schools")
    schools = gallery(y=[1.0, 2.0], sigma=[1.0, 1.0])
    assert repr(pickle.loads(pickle.dumps(schools))) == repr(schools)


def test_declarations_in_a_method():
    class InMethod(Model):
        def __init__(self):
            self.b = param(Normal(0, 1))

    with pytest.raises(ModelError, match=r"self.b = \.\.\. would be lost.*in the body of InMethod"):
        InMethod()


def test_an_init_that_binds_nothing():
    class Unbound(Model):
        b = param(Normal(0, 1))

        def __init__(self):
            self.note = "no data"

    for use in (repr, infer):
        with pytest.raises(ModelError, match=r"this Unbound has no data.*super\(\).__init__"):
            use(Unbound())


def test_a_declaration_called_generated():
    class Power(Model):
        generated = data(dims="plant")
        price = param(Normal(0, 1))
        income = observed(Normal(price * generated, 1), dims="plant")

    model = Power(generated=[1.0, 2.0], income=[1.0, 2.5])
    fit = infer(model, draws=300, chains=4, seed=1, quiet=True)
    np.testing.assert_allclose(fit["posterior"]["price"].mean(), 1.0, atol=0.1)  # 6 / 6
    assert prior_predictive(model, draws=3, seed=1)["prior_predictive"]["income"].shape[-1] == 2


def test_a_symbol_is_no_function():
    with pytest.raises(ModelError, match=r"test_assignments.py:.*Normal is a symbol.*another name"):

        class Hidden(Model):
            Normal = param(HalfNormal(1))
            y = observed(Normal(0, Normal), dims="obs")

    with pytest.raises(ModelError, match=r"a \+ b is a symbol.*have a \*"):

        class Product(Model):
            a = param(Normal(0, 1))
            b = data()
            c = deterministic((a + b)(b + 1))


def test_what_pandas_is_indexed_by_is_not_called():
    with pytest.raises(ModelError, match=r"an element of an array at a symbol.*take\(.*, g\)"):

        class Indexed(Model):
            g = data(dims="obs", dtype=int)
            c = deterministic(pd.Series([1.0, 2.0])[g])


@pytest.mark.parametrize("made", [np.zeros, zeros])
def test_an_array_of_which_a_symbol_says_what_changes(made):
    advice = r"q\[c\[t\]\], an .* np\.where\(arange\(n\) == c\[t\], new, q\).*scan"
    with pytest.raises(ModelError, match=advice):

        class Learner(Model):
            c = data(dims="trial", dtype=int)
            rate = param(Beta(1, 1))
            q = made(2)
            for t in range(3):
                q[c[t]] = q[c[t]] + rate * (1.0 - q[c[t]])


def test_what_is_advised_for_it():
    class Learner(Model):
        c = data(dims="trial", dtype=int)
        rate = param(Beta(1, 1))
        q = zeros(2)
        for t in range(3):
            q = np.where(arange(2) == c[t], q + rate * (1.0 - q), q)
        last = deterministic(q)

    found = as_posterior(Learner(c=[0, 1, 0])).constrain(np.zeros((1, 1)))
    np.testing.assert_allclose(found["last"], [[0.75, 0.5]])


@pytest.mark.parametrize(
    "draw",
    [
        lambda a: np.random.normal(a, 1),  # noqa: NPY002
        lambda a: np.random.default_rng(1).normal(a, 1),
        lambda a: np.random.poisson(np.exp(a)),  # noqa: NPY002
    ],
)
def test_random_numbers_of_a_symbol(draw):
    with pytest.raises(ModelError, match=r"draws numbers once.*param\(Normal\(a, 1\)\)"):

        class Drawn(Model):
            a = param(Normal(0, 1))
            b = draw(a)
