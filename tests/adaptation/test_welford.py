"""Batch moments equal those of all positions at once."""

import numpy as np

from probmodel.adaptation.welford import add_batch, no_moments


def test_batches_of_any_size_add_up():
    rng = np.random.default_rng(1)
    x = rng.normal(5.0, [1.0, 100.0, 1e-3], (60, 3))
    moments = no_moments(3)
    for batch in np.split(x, [1, 3, 3, 10, 40]):
        moments = add_batch(moments, batch)
    assert moments.n == 60
    np.testing.assert_allclose(moments.mean, x.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(moments.scatter, np.cov(x.T) * 59, rtol=1e-9, atol=1e-12)


def test_large_offsets_do_not_cancel():
    x = 1e8 + np.random.default_rng(2).normal(size=(500, 2))
    moments = no_moments(2)
    for row in x:
        moments = add_batch(moments, row[None])
    np.testing.assert_allclose(moments.scatter / 499, np.cov(x.T), rtol=1e-6)
