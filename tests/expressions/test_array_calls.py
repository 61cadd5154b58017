"""Functions of NumPy that are recorded with others, and those that symbols do not support."""

import numpy as np
import pytest
import scipy.special

from probmodel import Model, ModelError, data, deterministic, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import Normal

ENDS = np.array([0.0, 0.3, 1.1, 1.2])


class Formulas(Model):
    x = param(Normal(0, 1), shape=3)
    grid = data("point")
    values = param(Normal(0, 1), shape=(2, 4))
    length = deterministic(np.hypot(x, 2.0))
    angle = deterministic(np.deg2rad(x) + np.radians(x))
    degrees = deterministic(np.rad2deg(x) - 3 * np.degrees(x))
    root = deterministic(np.cbrt(x))
    slit = deterministic(np.sinc(x))
    area = deterministic(np.trapezoid(values, grid))
    even = deterministic(np.trapezoid(values, dx=0.5))
    parts = deterministic(np.trapezoid([x[0], x[1], 1.0], x))
    columns = deterministic(np.trapezoid(np.swapaxes(values, 0, -1), values[:, 0]))


def test_functions_that_are_recorded_with_others_agree_with_numpy():
    density = as_posterior(Formulas(grid=ENDS))
    at = np.random.default_rng(1).normal(size=(5, density.dim))
    found = density.constrain(at)
    for i, (x, y) in enumerate(zip(found["x"], found["values"], strict=True)):
        expected = {
            "length": np.hypot(x, 2.0),
            "angle": 2 * np.deg2rad(x),
            "degrees": -2 * np.degrees(x),
            "root": np.cbrt(x),
            "slit": np.sinc(x),
            "area": np.trapezoid(y, ENDS),
            "even": np.trapezoid(y, dx=0.5),
            "parts": np.trapezoid([x[0], x[1], 1.0], x),
            "columns": np.trapezoid(y, y[:, 0], axis=0),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(found[name][i], value, rtol=1e-13, err_msg=name)


def test_sinc_has_its_own_slope_near_zero():
    class Slit(Model):
        x = param(shape=7)
        term = potential(np.sum(np.sinc(x)))

    x = np.array([0.0, 1e-15, -1e-9, 1e-4, 0.00318, 0.0032, 0.4])
    value, slope = as_posterior(Slit())(x[None])
    np.testing.assert_allclose(value, np.sum(np.sinc(x)), rtol=1e-15)
    y = np.pi * x
    exact = np.empty_like(y)
    small = np.abs(y) < 0.1
    exact[small] = -y[small] / 3 + y[small] ** 3 / 30 - y[small] ** 5 / 840
    exact[~small] = (np.cos(y[~small]) - np.sin(y[~small]) / y[~small]) / y[~small]
    np.testing.assert_allclose(slope[0], np.pi * exact, rtol=1e-9, atol=1e-30)


def test_trapezoid_integrates_along_the_last_axis_alone():
    with pytest.raises(ModelError, match=r"last axis.*np\.swapaxes\(y, 0, -1\)"):
        np.trapezoid(param(), ENDS, axis=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: scipy.special.exp1(a), r"exp1 is not supported .* docs/modelling-language\.md"),
        (lambda a: np.fmax(a, 0.0), r"np\.fmax is not supported .* Instead, write np\.maximum\."),
        (lambda a: np.cross(a, a), r"write np\.stack of its three components"),
        (lambda a: np.exp(a, where=True), r"np\.exp with where= is not possible"),
    ],
)
def test_functions_without_symbols_are_not_taken_for_misspelt_ones(call, message):
    with pytest.raises(ModelError, match=message) as raised:
        call(param())
    assert "Did you mean" not in str(raised.value)


def test_complex_numbers_in_a_formula_say_what_to_write():
    class Wave(Model):
        a = param(Normal(0, 1))
        term = potential(np.absolute(a + 1j * a))

    with pytest.raises(ModelError, match="1j is complex, and models compute with real numbers"):
        Wave()
