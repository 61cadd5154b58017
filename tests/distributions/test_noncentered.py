"""Non-centred forms: the map from a standard distribution, and its density."""

from __future__ import annotations

import copy

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian
from examples.case import known
from examples.table import NOT_NONCENTERED

from probmodel import Model, check_model, param
from probmodel import distributions as d
from probmodel.constraints import SumToZero
from probmodel.distributions import DISTRIBUTIONS
from probmodel.errors import ModelError


def base_parameters(case, params):
    """Values of the parameters of the base: its own numbers, or those of the case by name."""
    own = dict(zip(case.dist.parameters, params, strict=True))
    own |= {name.removeprefix("dist."): v for name, v in own.items()}
    base = case.dist.base()
    shared = case.dist.name in {"Affine", "StudentT", "HalfStudentT"}
    return base, [
        np.asarray(own[name] if shared and name not in {"loc", "scale"} else arg, dtype=float)
        for name, arg in base.args.items()
    ]


def log_volume(case, slopes):
    """Log determinant of a linear map, on the plane that it is a map of."""
    if isinstance(case.dist.support(), SumToZero):
        basis = np.linalg.svd(np.ones((1, len(slopes))))[2][1:]
        slopes = basis @ slopes @ basis.T
    return np.linalg.slogdet(slopes)[1]


def test_density_of_the_map_is_that_of_the_base(case):
    if case.dist.name in NOT_NONCENTERED:
        pytest.skip("has no such form: tested below")
    params = [np.asarray(p, dtype=float) for p in case.params[0]]
    base, base_params = base_parameters(case, params)
    shape = np.shape(case.values)[1:]
    z = base.sample(np.random.default_rng(6), shape, *base_params)
    y = case.dist.noncentered(np, z, *params)
    assert np.shape(y) == shape
    size = int(np.prod(shape))
    slopes = np.reshape(jacobian(lambda z: case.dist.noncentered(anp, z, *params))(z), (size, size))
    expected = np.sum(base.log_density(np, z, *base_params)) - log_volume(case, slopes)
    actual = case.dist.log_density(np, y, *params)
    assert actual == pytest.approx(expected, rel=1e-9)


def test_map_of_a_batch_is_the_map_of_each(case):
    if case.dist.name in NOT_NONCENTERED:
        pytest.skip("has no such form")
    data = known(case.dist)
    stacked = [
        np.asarray(case.params[0][i]) if is_data else np.stack([p[i] for p in case.params])
        for i, is_data in enumerate(data)
    ]
    z = np.random.default_rng(7).random((2, *np.shape(case.values)[1:]))
    together = case.dist.noncentered(np, z, *stacked)
    for i in range(2):
        params = [s if is_data else s[i] for s, is_data in zip(stacked, data, strict=True)]
        np.testing.assert_allclose(
            together[i], case.dist.noncentered(np, z[i], *params), rtol=1e-12
        )


def test_models_take_the_map(case):
    if case.dist.name in NOT_NONCENTERED:
        pytest.skip("has no such form")

    dist = copy.copy(case.dist)
    dist.args = dict(zip(dist.args, case.params[0], strict=True))

    class Alone(Model):
        x = param(dist, shape=np.shape(case.values)[1:] or 2, noncentered=True)

    report = check_model(Alone())
    assert report.ok, report


@pytest.mark.parametrize("name", sorted(NOT_NONCENTERED))
def test_distributions_without_one_say_so(cases, name):
    dist = cases[name].dist
    with pytest.raises(ModelError, match=f"{name} has no non-centred form"):
        dist.base()
    with pytest.raises(ModelError, match=f"{name} has no non-centred form"):
        dist.noncentered(np, np.zeros(3), *cases[name].params[0])


def test_the_two_lists_are_all_distributions(cases):
    with_form = {case.dist.name for case in cases.values()} - NOT_NONCENTERED
    assert with_form | NOT_NONCENTERED >= set(DISTRIBUTIONS)


def test_base_of_student_t_keeps_its_degrees_of_freedom():
    assert d.StudentT(4.0, 2.0, 3.0).base().args == {"df": 4.0, "loc": 0.0, "scale": 1.0}
    assert d.HalfStudentT(4.0, 3.0).base().args == {"df": 4.0, "scale": 1.0}
