"""Arrays whose elements data choose."""

import numpy as np
import pytest

from probmodel import DataError, Model, data, deterministic, param
from probmodel.density import as_posterior
from probmodel.distributions import Normal
from probmodel.functions import take

TABLE = np.arange(6.0).reshape(2, 3)


class Tables(Model):
    kind = data("obs", dtype=int)
    b = param(Normal(0, 1), shape=3)
    number = deterministic(take([1.5, 0.2], kind), dims="obs")
    row = deterministic(take(TABLE, kind) @ b, dims="obs")
    own = deterministic(take(b, kind), dims="obs")


def test_rows_of_tables_and_elements_of_symbols():
    kind = np.array([1, 0, 1])
    density = as_posterior(Tables(kind=kind))
    b = np.array([[0.5, -1.0, 2.0]])
    values = density.constrain(b)
    np.testing.assert_array_equal(np.broadcast_to(values["number"], (1, 3))[0], [0.2, 1.5, 0.2])
    np.testing.assert_allclose(values["row"][0], TABLE[kind] @ b[0])
    np.testing.assert_array_equal(values["own"][0], b[0][kind])
    np.testing.assert_array_equal(take(TABLE, kind), TABLE[kind])


def test_an_index_beyond_the_table():
    with pytest.raises(DataError, match="index 2 is out of bounds for axis 0 with size 2"):
        Tables(kind=[0, 2])
