"""Fits made by hand from exact draws, in the container of the installed ArviZ."""

import numpy as np
import pytest


@pytest.fixture
def make_fit():
    """Function of named (dims, values (chains, draws, *shape)) and labels: a fit."""
    from probmodel.results.arviz_object import draws_group, wrap

    def make(labels=None, name="Toy", **arrays):
        arrays = {
            key: value if isinstance(value, tuple) else ((), value) for key, value in arrays.items()
        }
        group = draws_group(arrays, labels or {}, {})
        return wrap({"posterior": group}, {"name": name})

    return make


@pytest.fixture
def values():
    """Function of a result, a group and a name: the values as an array."""
    from probmodel.results.arviz_object import group

    def of(result, group_name, name):
        return np.asarray(group(result, group_name)[name].values)

    return of


@pytest.fixture
def fit_to():
    """Function of a bound model and draws, the same in each: a fit that holds its data."""
    from probmodel.predictive.models import binding_of, dims_of
    from probmodel.results.arviz_object import data_group, draws_group, wrap

    def fit(model, rows=20_000, draws=(), names=("y",), **values):
        binding = binding_of(model)
        labels = binding.dimensions.coords
        arrays = {n: np.broadcast_to(v, (1, rows, *np.shape(v))) for n, v in values.items()}
        arrays |= {name: v[None] for name, v in dict(draws).items()}
        draws = {name: (dims_of(binding, name), array) for name, array in arrays.items()}
        seen = {n: (dims_of(binding, n), binding.data[n]) for n in binding.data if n in names}
        groups = {
            "posterior": draws_group(draws, labels, {}),
            "observed_data": data_group(seen, labels, {}),
        }
        constants = binding.data_groups()[1]
        if constants:
            groups["constant_data"] = data_group(constants, labels, {})
        return wrap(groups, {})

    return fit


@pytest.fixture
def discrepancy():
    """Function of draws, mean and covariance: largest error of moments, in standard errors."""

    def of(draws, mean, matrix):
        n, sd = len(draws), np.sqrt(np.diag(matrix))
        centred = draws - mean
        first = centred.mean(axis=0) / sd * np.sqrt(n)
        products = centred[:, :, None] * centred[:, None, :]
        spread = np.sqrt((np.outer(sd, sd) ** 2 + matrix**2) / n)
        second = (products.mean(axis=0) - matrix) / spread
        return max(np.abs(first).max(), np.abs(second).max())

    return of
