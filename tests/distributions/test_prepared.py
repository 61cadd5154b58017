"""What a distribution prepares for known arguments equals the general computation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from examples.case import known as known_parameters
from scipy import stats

from probmodel.distributions import (
    Affine,
    BernoulliLogit,
    Beta,
    GaussianProcess,
    MvNormal,
    StudentT,
    kernels,
)
from probmodel.numerics import row_sum_log

CHAINS, COUNT = 3, 4
KNOWN = [(), (COUNT,)]
VARYING = [(CHAINS, COUNT), (CHAINS, 1)]


def filled(case, position, batch):
    """An argument of a batch shape, filled with the examples in turn."""
    examples = case.values if position == 0 else [p[position - 1] for p in case.params]
    examples = [np.asarray(e, dtype=float) for e in examples]
    index = np.arange(int(np.prod(batch))) % len(examples)
    return np.stack([examples[i] for i in index]).reshape(batch + examples[0].shape)


def arrangements(case):
    """Which arguments vary, and the batch shapes of all."""
    n = len(case.params[0]) + 1
    names = ["value", *case.dist.parameters]
    settled = ("n", "lower", "upper")  # as good as data
    is_data = [False, *known_parameters(case.dist)]
    fixed = {i for i, name in enumerate(names) if name in settled or is_data[i]}
    free = [i for i in range(n) if i not in fixed and (i or not case.dist.discrete)]
    for size in (1, 2):
        for varying in itertools.combinations(free, size):
            for known, moving in itertools.product(KNOWN, VARYING):
                batches = [moving if i in varying else known for i in range(n)]
                batches = [() if i in fixed and names[i] != "n" else b
                           for i, b in enumerate(batches)]  # fmt: skip
                if np.broadcast_shapes(*batches)[0] == CHAINS:
                    yield varying, batches


def test_prepared_equals_summed(case):
    for varying, batches in arrangements(case):
        args = [filled(case, i, b) for i, b in enumerate(batches)]
        known = [None if i in varying else a for i, a in enumerate(args)]
        with np.errstate(all="ignore"):
            expected, slopes = case.dist.summed(varying, *args)
            logp, found = case.dist.prepared(known)(varying, *args)
            alone, nothing = case.dist.prepared(known)((), *args)
        np.testing.assert_allclose(logp, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(alone, expected, rtol=1e-9, atol=1e-9)
        assert len(nothing) == 0
        for i, a, b in zip(varying, found, slopes, strict=True):
            assert np.shape(a) == np.shape(args[i])
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("number", [0.0, 1.0])
def test_known_arguments_that_are_all_the_same(case, number):
    """Zeros and ones may be left out of a formula; how many there are may not."""
    for varying, batches in arrangements(case):
        args = [filled(case, i, b) for i, b in enumerate(batches)]
        settled = [i for i in range(len(args)) if i not in varying and batches[i] == (COUNT,)]
        for changed, alone in itertools.product(settled, (False, True)):
            same = [np.full_like(a, number) if i == changed else a for i, a in enumerate(args)]
            if alone:  # the only one that says how many there are
                same = [a[0] if i in settled and i != changed else a for i, a in enumerate(same)]
            known = [None if i in varying else a for i, a in enumerate(same)]
            with np.errstate(all="ignore"):
                try:
                    expected, slopes = case.dist.summed(varying, *same)
                except (np.linalg.LinAlgError, ValueError):
                    continue
                logp, found = case.dist.prepared(known)(varying, *same)
            fine = np.isfinite(expected)
            np.testing.assert_allclose(logp[fine], expected[fine], rtol=1e-9, atol=1e-9)
            for a, b in zip(found, slopes, strict=True):
                np.testing.assert_allclose(a[fine], b[fine], rtol=1e-8, atol=1e-8)


def test_scalar_parameters_of_priors(case):
    """A value with nothing but a chain axis, as scalar parameters have it."""
    if case.dist.discrete:
        pytest.skip("no prior")
    args = [filled(case, 0, (CHAINS,)), *(np.asarray(p, dtype=float) for p in case.params[0])]
    expected, (slope,) = case.dist.summed((0,), *args)
    logp, (found,) = case.dist.prepared([None, *args[1:]])((0,), *args)
    np.testing.assert_allclose(logp, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found, slope, rtol=1e-8, atol=1e-8)


def test_long_rows_of_outcomes():
    rng = np.random.default_rng(0)
    y, logit = rng.integers(0, 2, 3001), rng.normal(0, 3, (4, 3001))
    dist = BernoulliLogit(0.0)
    for scale in (1.0, 30.0, 400.0):
        expected, (slope,) = dist.summed((1,), y, scale * logit)
        logp, (found,) = dist.prepared([y, None])((1,), y, scale * logit)
        np.testing.assert_allclose(logp, expected, rtol=1e-12)
        np.testing.assert_allclose(found, slope, rtol=1e-10, atol=1e-300)


def test_outcomes_that_are_not_finite():
    y = np.array([0.0, 1.0])
    logit = np.array([[0.3, np.nan], [0.1, 0.2]])
    logp, _ = BernoulliLogit(0.0).prepared([y, None])((1,), y, logit)
    assert np.isnan(logp[0])
    assert np.isfinite(logp[1])


@pytest.mark.parametrize("largest", [1.0, 3.0, 1e4, 1e30])
@pytest.mark.parametrize("shape", [(3, 5), (4, 3001), (9, 1024)])
def test_row_sum_log(shape, largest):
    w = np.random.default_rng(1).uniform(1.0, largest, shape)
    expected = np.log(w).sum(axis=1)
    np.testing.assert_allclose(row_sum_log(w, largest), expected, rtol=1e-12, atol=1e-11)


def test_matrices_too_close_to_singular_keep_their_roots():
    points = np.linspace(0, 1, 40)
    process = GaussianProcess(kernels.ExpQuad(1.0, 2.0), points, jitter=1e-10)
    arguments = [np.asarray(a, dtype=float) for a in process.args.values()]
    assert process.prepared([None, *arguments]) == process.summed
    normal = MvNormal(np.zeros(2), covariance=np.diag([1e-12, 1.0]))
    assert normal.prepared([None, np.zeros(2), np.diag([1e-12, 1.0])]) == normal.summed


@pytest.mark.parametrize(
    ("dist", "frame"),
    [
        (Affine(Beta(2.0, 3.0), 1.0, 2.0), (1.0, 2.0)),
        (Affine(Affine(Beta(2.0, 3.0), 1.0, 2.0), 5.0, 4.0), (9.0, 8.0)),
        (Affine(Affine(Beta(2.0, 3.0), 0.0, 0.5), 0.0, 2.0), (0.0, 1.0)),
        (Affine(Beta(2.0, 3.0), 1e8, 1e-6), (1e8, 1e-6)),
    ],
    ids=["once", "twice", "and back", "narrow"],
)
def test_stretched_betas(dist, frame):
    loc, scale = frame
    params = [np.asarray(p, dtype=float) for p in dist.args.values()]
    value = loc + scale * np.array([0.1, 0.45, 0.8])
    logp, (slope,) = dist.prepared([None, *params])((0,), value, *params)
    expected, (other,) = dist.summed((0,), value, *params)
    np.testing.assert_allclose(logp, expected, rtol=1e-9)
    np.testing.assert_allclose(slope, other, rtol=1e-9)
    if scale > 1e-3:
        np.testing.assert_allclose(logp, stats.beta(2, 3, loc, scale).logpdf(value), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-170, 1e-160, 1.0, 1e160])
@pytest.mark.parametrize("df", [1.0, 3.0, 1e12])
def test_tails_of_any_scale(df, scale):
    dist = StudentT(df, 0.0, scale)
    params = [np.asarray(p, dtype=float) for p in (df, 0.0, scale)]
    value = scale * np.array([0.0, 1.0, -30.0])
    logp, (slope,) = dist.prepared([None, *params])((0,), value, *params)
    expected = stats.t(df).logpdf(value / scale) - np.log(scale)
    np.testing.assert_allclose(logp, expected, rtol=1e-6 if df > 1e9 else 1e-9)
    np.testing.assert_allclose(slope * scale, -(df + 1.0) * np.array([0.0, 1.0, -30.0])
                               / (df + np.array([0.0, 1.0, 900.0])), rtol=1e-9)  # fmt: skip
