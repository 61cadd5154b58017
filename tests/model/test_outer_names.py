"""Comprehensions and functions of a class body that take an array of the same name outside."""

import numpy as np
import pytest

from probmodel import Model, data, deterministic, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import ModelError
from probmodel.functions import scan

b = np.array([1.0, 2.0, -1.0])  # the truth of a simulation, by the name of the parameter
K = 3
rate = [0.1, 0.2]


def test_a_comprehension_that_takes_the_global_array_of_a_parameter_is_an_error():
    # The sum would be of numbers: the model would not depend on b, whose posterior was its prior.
    with pytest.raises(ModelError, match=r"'b' in a comprehension is the array .* not param 'b'"):

        class Line(Model):
            b = param(Normal(0, 10), shape=3)
            eta = sum(b[j] for j in range(3))
            y = observed(Normal(eta, 1), dims="n")


def test_the_error_names_the_line_of_the_comprehension():
    with pytest.raises(ModelError) as caught:

        class Line(Model):
            K = data(dtype=int)
            a = param(Normal(0, 1))
            terms = tuple(2.0 * K for _ in range(2))
            y = observed(Normal(a * terms[0], 1), dims="n")

    assert caught.value.location.line == caught.traceback[0].lineno + 4
    assert "the number of that name" in str(caught.value)
    assert "`for` statement" in str(caught.value)


def test_a_local_array_of_a_function_counts_as_a_global_one_does():
    X = np.ones((4, 2))
    with pytest.raises(ModelError, match=r"'X' in a comprehension is the array .* not data 'X'"):

        class Line(Model):
            X = data(("n", "k"))
            a = param(Normal(0, 1))
            squares = np.stack([X[:, j] ** 2 for j in range(2)])
            y = observed(Normal(a * np.sum(squares, axis=0), 1), dims="n")

    assert X.shape == (4, 2)


def test_a_function_that_takes_the_global_of_a_parameter_is_an_error():
    advice = "the function 'grow' is the list .* not param 'rate'.* Pass it as an argument"
    with pytest.raises(ModelError, match=advice):

        class Growth(Model):
            rate = param(HalfNormal(1))

            def grow(n):  # noqa: N805
                return n + rate[0]

            n = scan(grow, 1.0, length=4)
            y = observed(Normal(n, 1), dims="n")

    with pytest.raises(ModelError, match=r"the lambda is the number .* not the 'K' of Lambda"):

        class Lambda(Model):
            a = param(HalfNormal(1))
            K = 2 * a
            n = scan(lambda n: n + K, 1.0, length=4)
            y = observed(Normal(n, a), dims="n")


def test_names_that_mean_what_they_say_are_none():
    scale, names = 2.0, ["first", "second"]

    class Sound(Model):
        rate = param(HalfNormal(1))
        b = param(Normal(0, 1), shape=2)

        def grow(n, rate):  # noqa: N805
            return n + rate * sum(scale for rate in range(2))

        n = scan(grow, 1.0, length=2, args=(rate,))
        parts = tuple(len(name) for name in names)
        eta = b[0] * parts[0]
        for j in range(1, 2):
            eta = eta + b[j] * parts[j]
        total = deterministic(eta + rate)
        y = observed(Normal(n + eta, 1), dims="n")

        def known(self):
            return b  # a method, which runs later, and sees the array of the module

        @staticmethod
        def truth():
            return [b[j] for j in range(3)]

    model = Sound(y=[1.0, 2.0])
    assert np.isfinite(as_posterior(model)(np.zeros((1, 3))).logp[0])
    assert model.known() is b
    assert len(Sound.truth()) == 3
