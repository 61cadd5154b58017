"""Checks of settings."""

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.samplers.settings import check_choice, check_number, check_share, check_whole


@pytest.mark.parametrize("value", [0.0, 1.0, np.inf, np.nan, "0.5", True, None])
def test_number_out_of_range(value):
    with pytest.raises(SamplerError, match="above 0 and below 1") as error:
        check_number("mala", "rate", value, above=0.0, below=1.0)
    assert repr(value) in str(error.value)
    assert error.value.values["setting"] == "rate"


def test_numbers_in_range():
    check_number("mala", "rate", 0.5, above=0.0, below=1.0)
    check_number("mala", "rate", np.float32(0.5), above=0.0)
    check_number("mala", "rate", None, above=0.0, optional=True)
    check_number("mala", "shift", -3)


@pytest.mark.parametrize("value", [-1, 1.5, "1", True, None])
def test_whole_number_out_of_range(value):
    with pytest.raises(SamplerError, match="at least 0"):
        check_whole("mala", "steps", value, least=0)


def test_whole_numbers_in_range():
    check_whole("mala", "steps", np.int64(3), least=0)
    check_whole("mala", "steps", None, least=0, optional=True)


def test_choice():
    check_choice("mala", "kind", "a", ("a", "b"))
    with pytest.raises(SamplerError, match="'a', 'b'"):
        check_choice("mala", "kind", "c", ("a", "b"))


@pytest.mark.parametrize("value", [-0.1, 1.0, np.inf, np.nan, "0.5", True, None])
def test_share_out_of_range(value):
    with pytest.raises(SamplerError, match="at least 0 and below 1") as error:
        check_share("mala", "jitter", value)
    assert repr(value) in str(error.value)
    assert error.value.values["setting"] == "jitter"


@pytest.mark.parametrize("value", [0, 0.0, 0.5, np.float32(0.999)])
def test_shares_in_range(value):
    check_share("mala", "jitter", value)
