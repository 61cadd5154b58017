"""Arrays put together from many parts: what each part covers is found once for the array."""

import autograd.numpy as anp
import numpy as np
import pytest
from both_engines import engines

from probmodel.compiler import emission


def in_parts(count):
    """Return a function of a vector that joins pieces of different lengths, some of them twice."""

    def function(x):
        pieces = [anp.exp(x[k : k + 1 + k % 3]) * (k + 1.0) for k in range(count)]
        joined = anp.concatenate([*pieces, *pieces[::2]])
        return anp.sum(anp.sin(joined) * np.arange(1.0, len(joined) + 1))

    return function


@pytest.mark.parametrize("count", [4, 40])
def test_parts_of_an_array_are_compared_once(count, monkeypatch):
    seen, plain = [], emission.covered_once

    def counted(place):
        seen.append(place)
        return plain(place)

    monkeypatch.setattr(emission, "covered_once", counted)
    dim = count + 3
    x = np.random.default_rng(count).uniform(0.5, 1.5, (1, dim))
    (machine, plainly) = (engine(x) for engine in engines(in_parts(count), dim))
    for found, expected in zip(machine, plainly, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    assert max(len(place.args) for place in seen) >= count  # one array of many parts at least
    assert len(seen) == len(set(seen))
