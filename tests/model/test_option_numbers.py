"""Bounds and sizes that are numbers are checked where they are declared."""

import numpy as np
import pytest

from probmodel import Model, ModelError, ShapeError, data, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Normal


@pytest.mark.parametrize(
    "given",
    [
        lambda: param(Normal(0, 1), lower=np.nan),
        lambda: param(Normal(0, 1), upper=[1.0, np.nan], shape=2),
        lambda: param(Normal(0, 1), lower="0"),
        lambda: param(Normal(0, 1), lower=[[1.0], [1.0, 2.0]]),
        lambda: param(lower=1j),
        lambda: data(lower=np.nan),
        lambda: data(upper="1"),
    ],
)
def test_bounds_that_are_no_numbers(given):
    with pytest.raises(ModelError, match=r"er=\.\.\.\) takes numbers or symbols.*None is no bound"):
        given()


@pytest.mark.parametrize("option", ["offset", "multiplier"])
def test_units_that_are_nan(option):
    with pytest.raises(ModelError, match=rf"param\({option}=\.\.\.\) takes numbers.*got nan\.$"):
        param(Normal(0, 1), **{option: np.nan})


@pytest.mark.parametrize("shape", [-1, (2, -3), 2.0, 2.5, "3", [2, 3], True, np.array([2, 3])])
def test_sizes_that_are_none(shape):
    with pytest.raises(ShapeError, match=r"param\(shape=\.\.\.\) takes integers from 0"):
        param(Normal(0, 1), shape=shape)


def test_what_may_be_given():
    class Given(Model):
        n = data(dtype=int)
        low = data(lower=-np.inf)
        x = param(Normal(0, 1), lower=low, upper=np.inf, shape=(n, np.int64(2)))
        none = param(Normal(0, 1), shape=0)
        y = observed(Normal(x[0, 0], 1))

    assert as_posterior(Given(n=3, low=-1.0, y=0.5)).dim == 6
