"""What the checks share: requirements, starts, and the numbers in nested objects."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from probmodel.samplers.langevin.mala import MALA
from probmodel.samplers.random_walk.rwm import RandomWalk
from probmodel.testing.runs import exact_starts, fingerprint, leaves, points_of, require
from probmodel.testing.targets import Banana


class Pair(NamedTuple):
    a: object
    b: object


@dataclasses.dataclass(frozen=True)
class Record:
    a: object
    b: object


class Bundles(RandomWalk):
    def points_per_chain(self, dim):
        return 3 * dim


class Ensemble(NamedTuple):
    x: object
    points: object


def test_require():
    require(np.bool_(True), "is not raised")
    with pytest.raises(AssertionError, match="is raised"):
        require(False, "is raised")


def test_starts_are_points_or_ensembles_of_points():
    rng = np.random.default_rng(1)
    assert exact_starts(MALA(), Banana(), rng, 5).shape == (5, 2)
    starts = exact_starts(Bundles(), Banana(), rng, 5)
    assert starts.shape == (5, 6, 2)
    np.testing.assert_array_equal(points_of(Ensemble(starts[:, 0], starts)), starts.reshape(30, 2))


def test_leaves_are_the_numbers_wherever_they_are():
    array = np.arange(3.0)
    value = Pair(array, {"k": [1, Record(True, None)], "f": len})
    found = leaves(value)
    assert [leaf.tolist() for leaf in found] == [[0.0, 1.0, 2.0], 1, True]
    assert leaves(Record) == leaves(None) == leaves(()) == []


@pytest.mark.parametrize(
    "other", [Pair(np.arange(3.0), 2), Pair(np.nextafter(np.arange(3.0), 9.0), 1)]
)
def test_fingerprints_differ_in_the_last_bit(other):
    value = Pair(np.arange(3.0), 1)
    assert fingerprint(value) == fingerprint(Pair(np.arange(3.0), 1))
    assert fingerprint(value) != fingerprint(other)
