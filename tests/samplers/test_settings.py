"""Checks of settings."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.samplers import SAMPLERS, make_sampler
from probmodel.samplers.settings import (
    check_choice,
    check_number,
    check_share,
    check_types,
    check_whole,
)


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


@pytest.mark.parametrize(
    ("method", "setting"),
    [("hmc", "n_steps"), ("entropy_hmc", "n_steps"), ("entropy_hmc", "width"), ("mtm", "tries"),
     ("rmhmc", "n_steps"), ("rm_const_hmc", "n_steps")],
)  # fmt: skip
def test_numbers_of_steps_beyond_reason_are_refused(method, setting):
    with pytest.raises(SamplerError, match=f"{setting} must be a whole number from 1 to 1000000,"):
        make_sampler(method, **{setting: 10**30})
    assert getattr(make_sampler(method, **{setting: 1000}), setting) == 1000


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


@dataclass
class Settings:
    """Those of a method; what is neither a flag nor one of some names is not looked at."""

    flag: bool = True
    maybe: bool | None = None
    kind: Literal["a", "b"] = "a"
    other: Literal["a", "b"] | None = None
    number: float | None = 1.0


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("flag", 1, "True or False"),
        ("flag", None, "True or False"),
        ("maybe", "yes", "True, False or None"),
        ("kind", "c", "one of 'a', 'b'"),
        ("kind", None, "one of 'a', 'b'"),
        ("other", "c", "one of 'a', 'b'"),
    ],
)
def test_flags_and_names_are_those_of_the_annotations(setting, value, allowed):
    check_types("mala", Settings())
    check_types("mala", Settings(False, True, "b", "b", "anything"))
    with pytest.raises(SamplerError, match=f"mala: {setting} must be {allowed}, got {value!r}"):
        check_types("mala", Settings(**{setting: value}))


def test_settings_of_other_packages_may_have_annotations_for_type_checkers_alone():
    @dataclass
    class Others(Settings):
        more: "Unknown" = None  # noqa: F821

    check_types("mala", Others())
    with pytest.raises(SamplerError, match="flag must be True or False"):
        check_types("mala", Others(flag=2))


@pytest.mark.parametrize(
    ("method", "setting"),
    [("hmc", "random_steps"), ("nuts", "metric"), ("fisher_mala", "robust"), ("am", "variant"),
     ("ahmc", "freeze"), ("entropy_hmc", "objective"), ("fisher_hmc", "metric"),
     ("rmhmc", "check_reversibility"), ("rm_const_mala", "latent_mean"), ("barker", "noise"),
     ("gad_mala", "diagonal"), ("autostep", "metric"), ("sa_mcmc", "start"), ("mmala", "drift")],
)  # fmt: skip
def test_methods_check_flags_and_names(method, setting):
    with pytest.raises(SamplerError, match=f"{method}: {setting} must be "):
        SAMPLERS[method](**{setting: 3})
