"""Roots, integrals and interpolants: SciPy's values, derivatives by differences."""

import numpy as np
import pytest
from scipy import integrate, special
from scipy import interpolate as scipy_interpolate

from probmodel import Model, ModelError, ShapeError, data, deterministic, observed, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import LogNormal, Normal
from probmodel.functions import integrate_1d, interpolate, solve_newton


def intersection(x, a, b):
    return [x[0] ** 2 + x[1] ** 2 - a, x[1] - b * x[0]]


class Circle(Model):
    a = param(LogNormal(0, 0.5))
    b = param(LogNormal(0, 0.5))
    at = deterministic(solve_newton(intersection, [1.0, 1.0], a, b))
    y = observed(Normal(at, 0.3), dims="axis")


def test_roots_of_a_circle_and_a_line(assert_derivatives):
    model = Circle(y=[0.5, 0.9])
    x = 0.5 * np.random.default_rng(1).standard_normal((4, 2))
    values = as_posterior(model).constrain(x)
    across = np.sqrt(values["a"] / (1 + values["b"] ** 2))
    np.testing.assert_allclose(values["at"], np.stack([across, values["b"] * across], 1), rtol=1e-9)
    assert_derivatives(model, x)


def test_no_root_rejects_the_point():
    class Impossible(Model):
        a = param(Normal(0, 1))
        root = solve_newton(lambda x, a: x**2 + a, [1.0], a)
        y = observed(Normal(root, 1.0), dims="d")

    density = as_posterior(Impossible(y=[0.3]))
    logp, grad = density(np.array([[1.0], [-2.0]]))
    assert np.isneginf(logp[0])
    assert grad[0] == 0.0
    assert np.isfinite(logp[1])


def test_a_root_of_data_alone():
    class Known(Model):
        c = data()
        root = deterministic(solve_newton(lambda x, c: np.exp(x) - c, [0.0], c))
        a = param(Normal(0, 1))

    values = as_posterior(Known(c=3.0)).constrain(np.zeros((1, 1)))
    np.testing.assert_allclose(values["root"], [[np.log(3.0)]], rtol=1e-9)


def bump(x, m, s):
    return np.exp(-0.5 * ((x - m) / s) ** 2)


class Areas(Model):
    m = param(Normal(0, 1))
    s = param(LogNormal(0, 0.3))
    inside = deterministic(integrate_1d(bump, 0.0, 1.0 + s, m, s))
    above = deterministic(integrate_1d(bump, 0.5, np.inf, m, s))
    below = deterministic(integrate_1d(bump, -np.inf, m, m, s))
    everywhere = deterministic(integrate_1d(bump, -np.inf, np.inf, m, s))
    y = observed(Normal(inside + above + below + everywhere, 0.5), dims="d")


def test_integrals_of_a_normal_density(assert_derivatives):
    model = Areas(y=[2.0])
    x = 0.5 * np.random.default_rng(2).standard_normal((5, 2))
    v = as_posterior(model).constrain(x)
    m, s = v["m"], v["s"]
    whole = s * np.sqrt(2 * np.pi)
    np.testing.assert_allclose(v["everywhere"], whole, rtol=1e-8)
    np.testing.assert_allclose(v["below"], whole / 2, rtol=1e-8)
    np.testing.assert_allclose(v["above"], whole * special.ndtr((m - 0.5) / s), rtol=1e-8)
    share = special.ndtr((1 + s - m) / s) - special.ndtr(-m / s)
    np.testing.assert_allclose(v["inside"], whole * share, rtol=1e-8)
    assert_derivatives(model, x)


def test_a_singularity_at_a_limit_and_several_integrals():
    class Betas(Model):
        a = param(LogNormal(0, 0.5), shape=2)
        b = deterministic(integrate_1d(lambda x, a: x ** (a - 0.5), 0.0, 1.0, a[:, None]))

    values = as_posterior(Betas()).constrain(np.log([[0.8, 1.7]]))
    # The points stop 1e-15 from the limits, and the square root of that is left out.
    np.testing.assert_allclose(values["b"], 1.0 / (values["a"] + 0.5), rtol=1e-7)


def test_an_integral_that_does_not_exist_rejects_the_point():
    class Divergent(Model):
        a = param(Normal(0, 1))
        z = integrate_1d(lambda x, a: x ** (-a), 0.0, 1.0, a)
        y = observed(Normal(z, 1.0), dims="d")

    logp = as_posterior(Divergent(y=[1.0])).log_density(np.array([[1.5], [0.2]]))
    assert np.isneginf(logp[0])
    assert np.isfinite(logp[1])


def declare(call):
    class Wrong(Model):
        a = param(Normal(0, 1))
        z = deterministic(call(a))

    return Wrong()


KNOTS = np.array([0.0, 0.5, 2.0, 3.0, 4.5])
AT = np.array([-1.0, 0.0, 0.2, 0.5, 1.1, 2.9, 3.7, 4.5, 6.0])


class Curve(Model):
    knots = data("knot")
    at = data("obs")
    heights = param(Normal(0, 1), dims="knot")
    shift = param(Normal(0, 0.1))
    straight = deterministic(interpolate(at, knots, heights), dims="obs")
    smooth = deterministic(interpolate(at, knots, heights, kind="cubic"), dims="obs")
    moved = interpolate(at + shift, knots, heights, kind="cubic")
    y = observed(Normal(straight + smooth + moved, 0.5), dims="obs")


def test_interpolants_are_scipys(assert_derivatives):
    rng = np.random.default_rng(5)
    model = Curve(knots=KNOTS, at=AT, y=rng.standard_normal(len(AT)))
    x = 0.3 * rng.standard_normal((3, 6))
    values = as_posterior(model).constrain(x)
    inside = np.clip(AT, KNOTS[0], KNOTS[-1])
    for i, h in enumerate(values["heights"]):
        np.testing.assert_allclose(values["straight"][i], np.interp(AT, KNOTS, h), atol=1e-12)
        spline = scipy_interpolate.CubicSpline(KNOTS, h, bc_type="natural")
        np.testing.assert_allclose(values["smooth"][i], spline(inside), atol=1e-12)
    assert_derivatives(model, x)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_a_number_is_interpolated_to_a_number(kind, assert_derivatives):
    heights = np.array([0.3, -1.0, 0.4, 2.0, 1.0])

    class Point(Model):
        at = param(Normal(1, 1))
        fixed = data()
        moved = deterministic(interpolate(at, KNOTS, heights, kind=kind))
        still = deterministic(interpolate(fixed, KNOTS, at * heights, kind=kind))
        pull = potential(-moved * still)

    x = np.array([[0.2], [1.1], [3.7]])
    values = as_posterior(Point(fixed=2.9)).constrain(x)
    if kind == "linear":
        expected, fixed = np.interp(x[:, 0], KNOTS, heights), np.interp(2.9, KNOTS, heights)
    else:
        spline = scipy_interpolate.CubicSpline(KNOTS, heights, bc_type="natural")
        expected, fixed = spline(x[:, 0]), spline(2.9)
    np.testing.assert_allclose(values["moved"], expected, atol=1e-12)
    np.testing.assert_allclose(values["still"], x[:, 0] * fixed, atol=1e-12)
    assert_derivatives(Point(fixed=2.9), x)


def test_two_points_make_a_line():
    class Line(Model):
        a = param(Normal(0, 1))
        z = deterministic(interpolate([0.25], [0.0, 1.0], np.stack([a, 2 * a]), kind="cubic"))

    values = as_posterior(Line()).constrain(np.array([[4.0]]))
    np.testing.assert_allclose(values["z"], [[5.0]])


@pytest.mark.parametrize(
    ("knots", "message"),
    [
        ([3.0, 2.0, 1.0], r"points\[1\] is 2, and points\[0\] is 3"),
        ([1.0, 3.0, 2.0], r"points\[2\] is 2, and points\[1\] is 3"),
        ([1.0, 2.0, 2.0], r"points\[2\] is 2, and points\[1\] is 2"),
        ([1.0], "two or more numbers"),
    ],
)
def test_points_from_data_that_do_not_increase(knots, message):
    class Points(Model):
        knots = data(dims="knot")
        a = param(Normal(0, 1))
        z = deterministic(interpolate(a, knots, knots**2))

    with pytest.raises(ModelError, match=message) as caught:
        as_posterior(Points(knots=knots))
    assert caught.value.location.file == __file__


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: solve_newton(lambda x: x, [a], tolerance=0.0), ModelError, "must be positive"),
        (lambda a: solve_newton(lambda x: [x[0], x[0]], [a]), ShapeError, "one equation for each"),
        (lambda a: solve_newton(lambda x: x, a), ShapeError, "guess must be a vector"),
        (lambda a: integrate_1d(bump, 1.0, 0.0, a, 1.0), ModelError, "lower < upper"),
        (lambda a: integrate_1d(bump, 0.0, [1.0, 2.0], a, 1.0), ModelError, r"a\[:, None\]; got"),
        (lambda a: integrate_1d(bump, np.zeros(2), 1.0, a, 1.0), ModelError, r"got shape \(2,\)"),
        (lambda a: integrate_1d(bump, "a", 1.0, a, 1.0), ModelError, "for each limit.*; got 'a'"),
        (lambda a: integrate_1d(bump, 0.0, None, a, 1.0), ModelError, "for each limit.*; got None"),
        (lambda a: integrate_1d(bump, 0.0, 1.0, a, 1.0, rtol=2), ModelError, "between 0 and 1"),
        (lambda a: integrate_1d(lambda x: b, 0, 1), ModelError, "not see the names"),  # noqa: F821
        (lambda a: integrate_1d(lambda x: x, 0.0, 1.0, a), ModelError, r"with \(x, argument 1\)"),
        (lambda a: integrate_1d(lambda x: None, 0.0, 1.0), ModelError, "returns nothing"),
        (lambda a: integrate_1d(a, 0.0, 1.0), ModelError, "expected a function of"),
        (lambda a: interpolate([1.0], [1.0, 0.0], [a, a]), ModelError, "must increase"),
        (lambda a: interpolate([1.0], np.stack([a, a + 1]), [0.0, 1.0]), ModelError, "from data"),
        (lambda a: interpolate([1.0], [0.0, 1.0], [a, a], kind="step"), ModelError, "'linear'"),
    ],
)
def test_wrong_declarations_name_the_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        declare(call)
    assert caught.value.location.file == __file__


def test_limits_of_several_integrals():
    for upper in ([[0.5], [1.0]], np.array([[0.5], [1.0]])):
        found = integrate_1d(lambda x: 2.0 * x, 0.0, upper)
        np.testing.assert_allclose(found, [0.25, 1.0], rtol=1e-12)


def test_quadrature_agrees_with_scipys():
    class One(Model):
        a = param(Normal(0, 1))
        z = deterministic(integrate_1d(lambda x, a: np.cos(3 * x) * np.exp(-a * x), 0.0, 5.0, a))

    values = as_posterior(One()).constrain(np.array([[0.7]]))
    exact = integrate.quad(lambda x: np.cos(3 * x) * np.exp(-0.7 * x), 0, 5, epsrel=1e-12)[0]
    np.testing.assert_allclose(values["z"], [exact], rtol=1e-10)


def test_a_vector_as_a_limit_is_told_how_several_integrals_are_written():
    with pytest.raises(ModelError, match=r"'end' is a vector along 'patient'.*end\[:, None\]"):

        class Vector(Model):
            end = data("patient")
            a = param(Normal(0, 1))
            total = potential(-integrate_1d(lambda x, a: np.exp(a * x), 0.0, end, a))

    class Column(Model):
        end = data("patient")
        a = param(Normal(0, 1))
        total = deterministic(
            integrate_1d(lambda x, a: np.exp(a * x), 0.0, end[:, None], a), dims="patient"
        )

    value = as_posterior(Column(end=[0.5, 2.0])).constrain(np.array([[0.7]]))["total"]
    np.testing.assert_allclose(value[0], np.expm1(0.7 * np.array([0.5, 2.0])) / 0.7, rtol=1e-9)
