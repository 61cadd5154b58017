"""Matrices made of parameters: symmetric or triangular where a distribution needs it."""

import numpy as np
import pytest

from probmodel import Model, ModelError, data, observed, param, potential
from probmodel.distributions import (
    LKJ,
    GaussianDLM,
    HalfNormal,
    LKJCholesky,
    MvNormal,
    Normal,
    Wishart,
)
from probmodel.functions import log_density


def test_one_matrix_of_a_stack():
    class Stack(Model):
        s = param(HalfNormal(1), shape=2)
        y = observed(MvNormal(np.zeros(2), np.stack([np.eye(2) * s, s[:, None] * np.ones((2, 2))])))

    with pytest.raises(ModelError, match=r"elements \[0, 1\] and \[1, 0\]"):
        Stack(y=np.zeros((2, 2)))


def test_parameters_differ_at_the_point_where_patterns_are_looked_at():
    """Scales of rows and of columns: symmetric only where they are the same."""

    class Two(Model):
        a = param(HalfNormal(1), shape=2)
        b = param(HalfNormal(1), shape=2)
        y = observed(MvNormal(np.zeros(2), a[:, None] * np.array([[1.0, 0.5], [0.5, 1.0]]) * b))

    with pytest.raises(ModelError, match="symmetric"):
        Two(y=np.zeros(2))


def test_effects_that_are_zero_at_the_origin_are_seen():
    class Skewed(Model):
        r = param(Normal(0, 0.1))
        y = observed(MvNormal(np.zeros(2), np.eye(2) + r * np.array([[0.0, 1.0], [0.0, 0.0]])))

    with pytest.raises(ModelError, match="symmetric"):
        Skewed(y=np.zeros(2))


@pytest.mark.parametrize(
    ("distribution", "fault"),
    [
        (Wishart(5.0, np.eye(2)), "symmetric positive definite matrix; elements"),
        (LKJ(2.0), "correlation matrix; elements"),
        (LKJCholesky(2.0), "factor of a correlation matrix; the squares of row 1 add up to"),
    ],
)
def test_values_in_potentials(distribution, fault):
    class Term(Model):
        s = param(HalfNormal(1), shape=2)
        term = potential(log_density(distribution, s[:, None] * np.array([[1.0, 0.0], [0.5, 1.0]])))

    with pytest.raises(ModelError, match=fault):
        Term()


def test_a_covariance_is_no_correlation_matrix():
    class Term(Model):
        s = param(HalfNormal(1))
        term = potential(log_density(LKJ(2.0), s * np.eye(2)))

    with pytest.raises(ModelError, match=r"on the diagonal, is"):
        Term()


def test_a_noise_matrix_of_a_dynamic_linear_model():
    class Level(Model):
        s = param(HalfNormal(1), shape=2)
        y = observed(
            GaussianDLM(
                np.eye(2), np.eye(2), s[:, None] * np.array([[1.0, 0.3], [0.3, 1.0]]), np.eye(2),
                np.zeros(2), np.eye(2),
            )
        )  # fmt: skip

    with pytest.raises(ModelError, match="GaussianDLM's V must be a symmetric"):
        Level(y=np.zeros((2, 5)))


@pytest.mark.parametrize("from_data", [True, False])
def test_the_cholesky_factor_of_a_matrix_that_is_not_symmetric(from_data):
    class Root(Model):
        r = data(("a", "b"))
        s = param(HalfNormal(1), shape=2)
        y = observed(
            MvNormal(np.zeros(2), cholesky=np.linalg.cholesky(r if from_data else s[:, None] * r))
        )

    given = np.array([[1.0, 0.0], [0.5, 1.0]]) if from_data else np.array([[1.0, 0.5], [0.5, 1.0]])
    with pytest.raises(ModelError, match=r"a symmetric matrix, .* in which elements") as caught:
        Root(r=given, y=np.zeros(2))
    assert caught.value.location.file == __file__
