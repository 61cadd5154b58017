"""Checks that every registered sampler passes; a new one gets them for free."""

import pytest

from probmodel.errors import SamplerError
from probmodel.samplers import SAMPLERS, make_sampler
from probmodel.samplers.base import Sampler
from probmodel.testing import CHECKS, STATISTICAL_CHECKS, Effort
from probmodel.testing.invariance import check_known_posterior

NAMES = sorted(SAMPLERS)
# What the checks run, where the defaults would take longer to learn than a test may last.
SETTINGS = {
    "gad_mala": {"learning_rate": 5e-3},
    "gad_mala_exact": {"learning_rate": 5e-3},
    "gad_rwm": {"learning_rate": 5e-3},
    # Exact draws between prior and posterior are not to be had, nor ones that hardly move.
    "tempering": {"temperatures": 2},
    "smc": {"particles": 16},
}
# What the checks at length take, where the usual number of iterations says too little, and where
# an iteration solves equations.
EFFORTS = {
    "sa_mcmc": Effort(warmup=3000, draws=6000),
    "rmhmc": Effort(warmup=300, draws=800),
    "armhmc": Effort(warmup=300, draws=800),
}
AT_LENGTH = (*STATISTICAL_CHECKS, check_known_posterior)
# Moments are compared in the checks at length, which take minutes.
SOON = [check for check in CHECKS if check is not check_known_posterior]
# Samplers that solve an equation in each step, and the checks that need many of them.
IMPLICIT = {"rmhmc", "armhmc"}
SAMPLING = {"check_invariance", "check_independence", "check_half_space"}


def sampler_of(name):
    """The sampler of that name, as it is checked."""
    return make_sampler(name, **SETTINGS.get(name, {}))


def name_of(check):
    return check.__name__


def cell(check, name):
    """A check of a sampler; those with implicit steps take long where they sample."""
    slow = name in IMPLICIT and check.__name__ in SAMPLING
    marks = [pytest.mark.statistical] if slow else []
    return pytest.param(check, name, marks=marks, id=f"{check.__name__}-{name}")


@pytest.mark.parametrize(("check", "name"), [cell(c, n) for c in SOON for n in NAMES])
def test_sampler(check, name):
    check(sampler_of(name))


@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", AT_LENGTH, ids=name_of)
def test_sampler_at_length(check, name):
    check(sampler_of(name), EFFORTS.get(name, Effort()))


@pytest.mark.parametrize("name", NAMES)
def test_names_agree(name):
    assert issubclass(SAMPLERS[name], Sampler)
    assert SAMPLERS[name].name == name


@pytest.mark.parametrize("name", NAMES)
def test_unknown_settings_are_refused(name):
    with pytest.raises(SamplerError, match="no_such_setting"):
        make_sampler(name, no_such_setting=1)


def test_unknown_method_names_the_nearest():
    with pytest.raises(SamplerError, match="fisher_mala"):
        make_sampler("fisher-mala")


def test_unknown_setting_names_the_nearest():
    with pytest.raises(SamplerError, match="'damping'"):
        make_sampler("fisher_mala", dampening=3.0)


def test_settings_of_an_instance_are_replaced():
    sampler = make_sampler(make_sampler("mala", step_rate=0.1), target_accept=0.7)
    assert (sampler.step_rate, sampler.target_accept) == (0.1, 0.7)
