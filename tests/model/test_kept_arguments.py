"""A model keeps what it was given as it was, whatever becomes of the caller's lists and arrays."""

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, data, deterministic, observed, param, potential
from probmodel.constraints import Interval, Lower
from probmodel.density import as_posterior
from probmodel.distributions import (
    CAR,
    CirculantGP,
    Dirichlet,
    GaussianProcess,
    HiddenMarkov,
    HilbertSpaceGP,
    Mixture,
    MvNormal,
    Normal,
    Truncated,
    kernels,
)
from probmodel.functions import (
    interpolate,
    linear_recurrence,
    log_density,
    logsumexp,
    scan,
    segment_sum,
    solve_ode,
)

THREE = np.array([0.5, 1.0, 2.0])
NEXT = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])


def double(state, factor):
    return state * factor


def slope(t, y, rates):
    return -rates * y


# What is given, and a declaration made from it in which a is a scalar, v a vector of three.
GIVEN = {
    "stack": (lambda: [1.0], lambda g, a, v: (g.append(a), deterministic(np.stack(g)))[1]),
    "concatenate": (
        lambda: [np.ones(2)],
        lambda g, a, v: (g.append(v), deterministic(np.concatenate(g, axis=0)))[1],
    ),
    "log density": (
        THREE.copy,
        lambda g, a, v: deterministic(log_density(Normal(v, 1), g) + log_density(Normal(g, 1), v)),
    ),
    "groups": (lambda: [0, 2, 1], lambda g, a, v: deterministic(segment_sum(v, g, 3))),
    "sum of exponentials": (
        lambda: [1.0],
        lambda g, a, v: (g.append(a), deterministic(logsumexp(np.stack(g))))[1],
    ),
    "operator": (THREE.copy, lambda g, a, v: deterministic(a * g)),
    "operator, number in an array": (lambda: np.array(2.0), lambda g, a, v: deterministic(a * g)),
    "operator, reflected": (THREE.copy, lambda g, a, v: deterministic(g**a)),
    "operator, list": (lambda: [0.5, 1.0, 2.0], lambda g, a, v: deterministic(v + g)),
    "operator, series": (lambda: pd.Series(THREE.copy()), lambda g, a, v: deterministic(v * g)),
    "function": (THREE.copy, lambda g, a, v: deterministic(np.where(g > a, v, g))),
    "index": (lambda: np.array([0, 2]), lambda g, a, v: deterministic(v[g])),
    "index, list": (lambda: [0, 2], lambda g, a, v: deterministic(v[g])),
    "constant": (THREE.copy, lambda g, a, v: deterministic(g)),
    "recurrence": (THREE.copy, lambda g, a, v: deterministic(linear_recurrence(a, g))),
    "scan": (THREE.copy, lambda g, a, v: deterministic(scan(double, v, length=2, args=(g,)))),
    "ode": (THREE.copy, lambda g, a, v: deterministic(solve_ode(slope, v, 0.0, g, g))),
    "interpolation": (THREE.copy, lambda g, a, v: deterministic(interpolate(v, g, g))),
    "prior": (THREE.copy, lambda g, a, v: param(Normal(g, 1))),
    "prior, vector": (THREE.copy, lambda g, a, v: param(Dirichlet(g))),
    "prior, matrix": (lambda: np.eye(3), lambda g, a, v: param(MvNormal(v, covariance=g))),
    "bounds": (THREE.copy, lambda g, a, v: param(lower=-g, upper=g, shape=3)),
    "offset": (THREE.copy, lambda g, a, v: param(Normal(0, 1), offset=g, multiplier=g, shape=3)),
    "constraint": (THREE.copy, lambda g, a, v: param(constraint=Interval(-g, g), shape=3)),
    "constraint, same limits": (
        THREE.copy,
        lambda g, a, v: param(Truncated(Normal(0, 1), lower=g), constraint=Lower(g), shape=3),
    ),
    "information": (THREE.copy, lambda g, a, v: param(Normal(0, 1), information=g, shape=3)),
    "truncation": (THREE.copy, lambda g, a, v: param(Truncated(Normal(0, 1), lower=g))),
    "mixture": (
        lambda: [Normal(0, 1), Normal(2, 1)],
        lambda g, a, v: param(Mixture([0.5, 0.5], g)),
    ),
    "weights": (
        lambda: np.array([0.25, 0.75]),
        lambda g, a, v: param(Mixture(g, [Normal(0, 1), Normal(2, 1)])),
    ),
    "states": (
        lambda: [[0.9, 0.1], [0.2, 0.8]],
        lambda g, a, v: param(HiddenMarkov(g[0], g, [Normal(0, 1), Normal(2, 1)]), shape=3),
    ),
    "map": (NEXT.copy, lambda g, a, v: param(CAR(1.0, 0.5, g), shape=3)),
    "kernel": (
        lambda: np.array(0.7),
        lambda g, a, v: param(GaussianProcess(kernels.ExpQuad(1, g), THREE)),
    ),
    "points": (THREE.copy, lambda g, a, v: param(GaussianProcess(kernels.ExpQuad(1, 1), g))),
    "grid": (
        lambda: [THREE.copy(), THREE.copy()],
        lambda g, a, v: param(GaussianProcess(kernels.ExpQuad(1, 1), grid=g)),
    ),
    "basis": (
        lambda: np.array([0.5, 1.0, 3.0]),
        lambda g, a, v: (
            p := HilbertSpaceGP(kernels.ExpQuad(1, 1), g, 3),
            deterministic(p.basis(np.array([0.7])) @ v),
        )[1],
    ),
    "basis, boundary": (
        lambda: np.array([1.5]),
        lambda g, a, v: param(HilbertSpaceGP(kernels.ExpQuad(1, 1), THREE, 3, g)),
    ),
    "torus": (
        lambda: np.arange(3.0),
        lambda g, a, v: param(CirculantGP(kernels.Exponential(1, 0.3), (g,))),
    ),
    "potential": (THREE.copy, lambda g, a, v: potential(-(v**2) @ g)),
}


def change(given):
    """Change a list or an array, and everything inside it, in place."""
    if isinstance(given, list):
        for item in given:
            if isinstance(item, list | np.ndarray):
                change(item)
        given.reverse()
        given.append(given[0])
    elif isinstance(given, pd.Series):
        given.iloc[0] += 1
    else:
        given[...] = given[..., ::-1] if given.ndim and (given != given[..., ::-1]).any() else 1


def evaluate(what, *, changed):
    """Log density and gradient of a model made from what is given, and perhaps changes later."""
    make, declare = GIVEN[what]
    given = make()

    class Kept(Model):
        a = param(Normal(0, 1))
        v = param(Normal(0, 1), shape=3)
        x = declare(given, a, v)
        total = potential(0.0 if what == "potential" else -np.sum(x**2))

    if changed:
        change(given)
    density = as_posterior(Kept())
    return density(np.random.default_rng(1).normal(size=(2, density.dim)))


@pytest.mark.parametrize("what", GIVEN)
def test_changing_an_argument_afterwards_changes_nothing(what):
    expected, found = evaluate(what, changed=False), evaluate(what, changed=True)
    assert np.isfinite(expected.logp).all()
    np.testing.assert_array_equal(found.logp, expected.logp)
    np.testing.assert_array_equal(found.grad, expected.grad)


class Regression(Model):
    x = data("obs")
    slope = param(Normal(0, 1))
    y = observed(Normal(slope * x, 1), dims="obs")


@pytest.mark.parametrize("kind", [np.array, pd.Series, list])
def test_changing_data_and_labels_after_binding_changes_nothing(kind):
    x, y = kind([0.0, 1.0, 2.0]), kind([1.0, 0.0, 3.0])
    labels = np.array(["a", "b", "c"])
    model = Regression(x=x, y=y, coords={"obs": labels})
    change(x)
    change(y)
    labels[:] = "z"
    density = as_posterior(model)
    untouched = as_posterior(Regression(x=[0.0, 1.0, 2.0], y=[1.0, 0.0, 3.0]))
    assert density(np.ones((1, 1))).logp == untouched(np.ones((1, 1))).logp
    assert list(density.coords["obs"]) == ["a", "b", "c"]


def test_changing_dims_and_an_index_after_the_call_changes_nothing():
    dims, table = ["row", "column"], pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["p", "q"])

    class Table(Model):
        mean = param(Normal(0, 1))
        y = observed(Normal(mean, 1), dims=dims)

    dims.reverse()
    model = Table(y=table)
    table.columns = ["r", "s"]
    assert Table._declarations["y"].dims == ("row", "column")
    assert list(as_posterior(model).coords["column"]) == ["p", "q"]
