"""Codes from -1 in frames, which pandas writes for what is missing."""

import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, data, observed, param
from probmodel.distributions import Normal
from probmodel.errors import SamplingWarning


class Groups(Model):
    mu = param(Normal(0, 1), dims="county")
    home = data("house", dtype=int)
    y = observed(Normal(mu[home], 1.0), dims="house")


NAMES = pd.Series(["a", "b", None, "a", "c", "d"])
FRAME = pd.DataFrame({"y": np.arange(6.0)})
SAID = r"the column 'home' counts from -1: -1 is taken as the label of one of the 5 groups of 'cou"


@pytest.mark.parametrize("codes", [NAMES.astype("category").cat.codes, pd.factorize(NAMES)[0]])
def test_codes_of_what_is_missing_have_a_warning(codes):
    with pytest.warns(SamplingWarning, match=SAID):
        Groups.from_frame(FRAME.assign(home=codes))


def test_the_small_type_of_such_codes_is_enough():
    with pytest.warns(SamplingWarning, match="one of the 3 groups"):
        Groups.from_frame(FRAME.assign(home=np.array([0, 1, -1, 0, 1, 1], dtype=np.int8)))


@pytest.mark.parametrize(
    "labels", [[-1, 0, 1, -1, 0, 1], [-2, -1, 0, 1, 2, 3], [-1, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2]]
)
def test_other_whole_numbers_are_labels(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Groups.from_frame(FRAME.assign(home=labels))


def test_labels_that_are_given_are_meant():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Groups.from_frame(
            FRAME.assign(home=pd.factorize(NAMES)[0]), coords={"county": [-1, 0, 1, 2, 3]}
        )
    assert model._binding.data["home"].tolist() == [1, 2, 0, 1, 3, 4]
