"""Checks that samplers, constraints and distributions have to pass, wherever they are defined.

Each of a sampler is a function of it that raises AssertionError with what is wrong. They need no
test runner; with pytest a sampler of your own is tested by

    import pytest
    from probmodel.testing import CHECKS

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_sampler(check):
        check(MySampler())

`CHECKS` takes a second or two, `STATISTICAL_CHECKS` longer. A sampler that learns slowly is given
longer: ``check(MySampler(), Effort(warmup=5000))``.

Those of constraints are `CONSTRAINT_CHECKS`, functions of a constraint and the shape of a value;
``check_constraint(MyConstraint(), shape=(3,))`` runs them all. Those
of distributions are `DISTRIBUTION_CHECKS`, and ``check_distribution(MyDistribution(2.0), value)``.
"""

from __future__ import annotations

from typing import Any

from probmodel.constraints import Constraint
from probmodel.distributions.base import Distribution
from probmodel.samplers.base import Sampler
from probmodel.testing.constraints import (
    CONSTRAINT_CHECKS,
    check_batches,
    check_derivatives,
    check_free_shape,
    check_in_a_model,
    check_log_det,
    check_there_and_back,
    check_values,
)
from probmodel.testing.contract import (
    check_description,
    check_frozen_parameters,
    check_purity,
    check_remarks,
    check_same_seed,
    check_settings,
    check_shapes,
    check_start,
)
from probmodel.testing.distributions import (
    DISTRIBUTION_CHECKS,
    check_density,
    check_draws,
    check_gradient,
    check_second_derivatives,
)
from probmodel.testing.invariance import (
    check_cost,
    check_half_space,
    check_independence,
    check_invariance,
    check_known_posterior,
    check_ten_dimensions,
)
from probmodel.testing.report import Check, Report, run_checks
from probmodel.testing.runs import DEFAULT, Effort
from probmodel.testing.targets import Banana, Gaussian, HalfSpace, KnownTarget, Target

CHECKS: tuple[Check, ...] = (
    check_description,
    check_settings,
    check_shapes,
    check_purity,
    check_same_seed,
    check_start,
    check_frozen_parameters,
    check_remarks,
    check_cost,
    check_half_space,
    check_independence,
    check_invariance,
    check_known_posterior,
)
STATISTICAL_CHECKS: tuple[Check, ...] = (check_ten_dimensions,)

__all__ = [
    "CHECKS",
    "CONSTRAINT_CHECKS",
    "DISTRIBUTION_CHECKS",
    "STATISTICAL_CHECKS",
    "Banana",
    "Check",
    "Effort",
    "Gaussian",
    "HalfSpace",
    "KnownTarget",
    "Report",
    "Target",
    "check_batches",
    "check_constraint",
    "check_cost",
    "check_density",
    "check_derivatives",
    "check_description",
    "check_distribution",
    "check_draws",
    "check_free_shape",
    "check_frozen_parameters",
    "check_gradient",
    "check_half_space",
    "check_in_a_model",
    "check_independence",
    "check_invariance",
    "check_known_posterior",
    "check_log_det",
    "check_purity",
    "check_remarks",
    "check_same_seed",
    "check_sampler",
    "check_second_derivatives",
    "check_settings",
    "check_shapes",
    "check_start",
    "check_ten_dimensions",
    "check_there_and_back",
    "check_values",
]


def check_sampler(sampler: Sampler, effort: Effort = DEFAULT) -> Report:
    """Run all of `CHECKS`, for a notebook.

    Parameters
    ----------
    sampler : a sampler with its settings
    effort : how long it is run

    Returns
    -------
    Report
        ``report.ok`` tells whether all passed; ``print(report)`` shows what did not.
    """
    return run_checks(sampler, CHECKS, effort)


def check_constraint(constraint: Constraint, shape: tuple[int, ...], scale: float = 1.0) -> Report:
    """Run all of `CONSTRAINT_CHECKS`.

    Parameters
    ----------
    constraint : a constraint with its bounds, if any, as numbers
    shape : shape of one value, such as (3,) for a vector
    scale : standard deviation of the unconstrained points at which it is tried; less for maps that
        lose many digits far out

    Returns
    -------
    Report
        ``report.ok`` tells whether all passed; ``print(report)`` shows what did not.
    """
    return run_checks(constraint, CONSTRAINT_CHECKS, shape, scale)


def check_distribution(dist: Distribution, value: Any) -> Report:
    """Run all of `DISTRIBUTION_CHECKS`.

    Parameters
    ----------
    dist : a distribution whose parameters are given as numbers and arrays, in full shape
    value : one possible value; not at the edge of the support

    Returns
    -------
    Report
        ``report.ok`` tells whether all passed; ``print(report)`` shows what did not.
    """
    return run_checks(dist, DISTRIBUTION_CHECKS, value)
