"""What a run knows survives being written and read, and nothing that is read is executed."""

import json
from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from probmodel.inference.counting import Work
from probmodel.inference.encoding import EncodingError, decode, encode
from probmodel.inference.restarts import Restarts
from probmodel.samplers.streams import Place

Foreign = namedtuple("Foreign", "a b")


def again(value, modules=()):
    tree, arrays = encode(value)
    return decode(json.loads(json.dumps(tree)), arrays, modules)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -(2**200), 0.1, np.inf, "text", (), (1, (2.5, None)), [1, [2]],
        {"a": 1, 2: ("b",), (1, 2): 3}, Work(1, 2, 3, 4), Place(({"state": 2**127},), 8, 3),
    ],
)  # fmt: skip
def test_plain_values(value):
    found = again(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [float, int, bool, np.uint64, np.float32])
def test_arrays(order, dtype):
    value = np.arange(6).reshape(2, 3).astype(dtype, order=order)
    found = again({"x": value, "y": value[0, 0]})
    np.testing.assert_array_equal(found["x"], value)
    assert found["x"].dtype == value.dtype
    assert found["x"].flags.f_contiguous == value.flags.f_contiguous
    assert type(found["y"]) is type(value[0, 0])


def test_objects_are_made_without_calling_their_class():
    value = Restarts(200)
    value.made.append("something")
    found = again(value)
    assert type(found) is Restarts
    assert vars(found) == vars(value)


def test_classes_of_others_are_known_by_their_module():
    value = Foreign(1, np.ones(2))
    assert again(value, [__name__]).a == 1
    with pytest.raises(EncodingError, match="Foreign, which is not known here"):
        again(value)


def test_what_is_computed_of_settings_is_left_out():
    @dataclass(frozen=True)
    class Settings:
        n: int = 3

        @cached_property
        def twice(self):
            return lambda: 2 * self.n

    value = Settings()
    assert value.twice() == 6
    assert encode(value)[0]["fields"] == [["n", 3]]


def test_circles_are_refused():
    value = []
    value.append(value)
    with pytest.raises(EncodingError, match="holds itself"):
        encode(value)


@pytest.mark.parametrize("value", [print, Work, lambda: 0, object(), np.array([None]), 1j, b"a"])
def test_what_is_no_data_is_refused(value):
    with pytest.raises(EncodingError, match="cannot be written"):
        encode({"x": (value,)})


@pytest.mark.parametrize(
    "tree",
    [
        {"class": ["os", "system"], "fields": []},
        {"class": ["probmodel.model", "load_model"], "fields": []},
        {"class": ["probmodel.results.reading", "subprocess.Popen"], "fields": []},
        {"class": ["probmodel.results.storage", "tempfile._TemporaryFileCloser"], "fields": []},
        {"class": ["probmodel.inference.encoding", "Sampler"], "fields": []},
        {"class": ["probmodel.inference.nowhere", "A"], "fields": []},
        {"class": ["probmodel.inference.counting", "Work"], "fields": [["logp", 1]]},
        {"class": ["probmodel.inference.counting"]},
        {"array": 7},
        {"tuple": 3},
        {"dict": [[1]]},
        {"unknown": 1},
        [1, 2],
    ],
)
def test_damaged_or_hostile_trees_are_refused(tree):
    with pytest.raises(EncodingError):
        decode(tree, [np.ones(1)])
