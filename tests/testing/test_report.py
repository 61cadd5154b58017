"""All checks at once, as text."""

from probmodel.samplers.random_walk.rwm import RandomWalk
from probmodel.testing import CHECKS, Effort, check_sampler
from probmodel.testing.report import run_checks


def check_that_fails(sampler, effort):
    """Refuse everything."""
    raise ValueError(f"{sampler.name} with {effort.warmup}")


def check_that_passes(sampler, effort):
    """Let everything pass."""


def test_a_report_names_what_failed():
    report = run_checks(RandomWalk(), (check_that_passes, check_that_fails), Effort(warmup=7))
    assert not report.ok
    assert str(report).splitlines() == [
        "rwm: some checks FAILED",
        "  ok      check_that_passes",
        "  FAILED  check_that_fails: ValueError: rwm with 7",
    ]


def test_a_sound_sampler():
    report = check_sampler(RandomWalk())
    assert report.ok
    assert str(report).startswith("rwm: all checks passed\n  ok      check_description\n")
    assert list(report.problems) == [check.__name__ for check in CHECKS]
