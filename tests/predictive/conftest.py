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
