"""Settings and runs as attributes that files can hold."""

import functools
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from probmodel.results.attributes import run_attributes, settings_json


@dataclass(frozen=True)
class Window:
    size: int = 3
    weights: Any = field(default_factory=lambda: np.ones(2))


@dataclass(frozen=True)
class Settings:
    value: Any


def reward(x):
    return x


class Callable:
    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (0.25, 0.25),
        ("dense", "dense"),
        ((1, 2.5), [1, 2.5]),
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (np.eye(2), [[1.0, 0.0], [0.0, 1.0]]),
        (np.array(3.0), 3.0),
        (np.ones(20), [1.0] * 20),
        (np.ones(21), "array (21,)"),
        (np.eye(100), "array (100, 100)"),
        ((np.ones(2), np.ones(30)), [[1.0, 1.0], "array (30,)"]),
        (Window(), {"size": 3, "weights": [1.0, 1.0]}),
        (np.exp, "numpy.exp"),
        (len, "builtins.len"),
        (reward, f"{__name__}.reward"),
        (Callable, f"{__name__}.Callable"),
        (Callable(), f"{__name__}.Callable"),
        (functools.partial(reward, 1), "functools.partial"),
        (3 + 4j, "(3+4j)"),
    ],
)
def test_settings_of_any_kind(value, expected):
    assert json.loads(settings_json(Settings(value))) == {"value": expected}


def test_settings_that_cannot_be_copied():
    class Locked:
        def __deepcopy__(self, memo):
            raise TypeError("no copies")

        def __call__(self, x):
            return x

    assert json.loads(settings_json(Settings(Locked())))["value"].endswith("Locked")


@pytest.mark.parametrize("forever", [False, True])
def test_methods_that_adapt_for_ever_say_so(make_request, make_run, sampler, forever):
    kind = type("Forever", (type(sampler),), {"adapts_forever": forever})
    assert run_attributes(make_request(), kind(), make_run())["adapting"] == int(forever)
