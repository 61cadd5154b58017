"""Indices from data: a negative one is a mistake, one that is written out is not."""

import numpy as np
import pandas as pd
import pytest

from probmodel import DataError, Model, data, deterministic, infer, observed, param, predict
from probmodel.distributions import Normal
from probmodel.functions import scan


class Schools(Model):
    school = data("obs", dtype=int)
    effect = param(Normal(0, 1), dims="group")
    y = observed(Normal(effect[school], 1), dims="obs")


GROUPS = {"group": ["a", "b", "c"]}
CODES = pd.factorize(np.array(["a", None, "b", "c", None], dtype=object))[0]


def bound(subscript, codes=(0, 2, 1), n=1):
    """A model that takes elements of a vector and of a matrix by some subscript."""

    class Indexed(Model):
        code = data("obs", dtype=int)
        mask = data("obs", dtype=bool)
        n = data(dtype=int)
        a = param(Normal(0, 1), shape=3)
        B = param(Normal(0, 1), shape=(3, 3))
        chosen = deterministic(subscript(a, B, code, n, mask))

    return Indexed(code=codes, mask=[True, False, True], n=n)


def test_a_missing_category_is_refused_with_its_observation():
    with pytest.raises(DataError, match=r"school is -1 at \[1\] \(2 negative in all\)") as caught:
        Schools(school=CODES, y=np.zeros(5), coords=GROUPS)
    assert "missing category" in str(caught.value)
    assert caught.value.location.file == __file__
    assert caught.value.values["count"] == 2


@pytest.mark.parametrize(
    ("subscript", "given"),
    [
        (lambda a, B, code, n, mask: a[code], {"codes": [0, -1, 2]}),
        (lambda a, B, code, n, mask: a[code - 1], {"codes": [1, 0, 3]}),
        (lambda a, B, code, n, mask: B[code, code], {"codes": [1, 2, -1]}),
        (lambda a, B, code, n, mask: B[-1, code], {"codes": [1, 2, -1]}),
        (lambda a, B, code, n, mask: B[:, code], {"codes": [1, 2, -1]}),
        (lambda a, B, code, n, mask: code[code] * a[0], {"codes": [1, 2, -1]}),
        (lambda a, B, code, n, mask: a[n - 1], {"n": 0}),
        (lambda a, B, code, n, mask: a[[0, n]], {"n": -1}),
        (lambda a, B, code, n, mask: a[pd.Series(CODES)], {}),
        (lambda a, B, code, n, mask: a[np.array([0, -1])], {}),
        (
            lambda a, B, code, n, mask: scan(lambda s, a, i: s + a[i], a[0], length=2, args=(a, n)),
            {"n": -1},
        ),
    ],
)
def test_negative_indices_from_data(subscript, given):
    with pytest.raises(DataError, match=r"-1 at .* negative in all"):
        bound(subscript, **given)


@pytest.mark.parametrize(
    ("subscript", "shape"),
    [
        (lambda a, B, code, n, mask: a[-1], ()),
        (lambda a, B, code, n, mask: a[[-1, 0]], (2,)),
        (lambda a, B, code, n, mask: a[-n:], (1,)),
        (lambda a, B, code, n, mask: a[: code[0] - 1], (2,)),
        (lambda a, B, code, n, mask: B[-1, code], (3,)),
        (lambda a, B, code, n, mask: a[mask], (2,)),
        (lambda a, B, code, n, mask: B[code > -5, -1, None], (3, 1)),
    ],
)
def test_what_is_written_out_counts_from_the_end(subscript, shape):
    assert bound(subscript)._binding.variables[-1].shape == shape


def test_index_that_is_not_declared_as_integers():
    with pytest.raises(DataError, match=r"code \* 0\.5 is not of whole numbers.*dtype=int"):
        bound(lambda a, B, code, n, mask: a[code * 0.5])


def test_new_data_are_checked_alike():
    fitted = Schools(school=[0, 1, 2], y=np.zeros(3), coords=GROUPS)
    fit = infer(fitted, draws=10, chains=1, warmup=20, seed=1, quiet=True)
    with pytest.raises(DataError, match=r"school is -1 at \[1\]"):
        predict(Schools(school=[0, -1], coords=GROUPS), fit)
