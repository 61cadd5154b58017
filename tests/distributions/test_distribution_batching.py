"""Batched formulas against a loop, for every combination of what is batched, and how."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from examples.case import known

from probmodel.distributions import sums
from probmodel.distributions.base import Distribution

CHAINS, COUNT = 2, 3
LAYOUTS = [
    [(), (CHAINS,)],
    [(), (COUNT,), (CHAINS, 1), (CHAINS, COUNT)],
    [(), (COUNT,), (1, 1), (1, COUNT)],
    [(), (2, 1), (CHAINS, 1, COUNT), (CHAINS, 2, 1), (CHAINS, 2, COUNT)],
]
MOST_COMBINATIONS = 12


def event_ndims(dist):
    return [dist.event_ndim, *(p.event_ndim for p in dist.parameters.values())]


def laid_out(case, position, layout):
    """An argument of the given batch shape, filled with the examples in turn."""
    examples = case.values if position == 0 else [p[position - 1] for p in case.params]
    examples = [np.asarray(e, dtype=float) for e in examples]
    index = np.arange(int(np.prod(layout))) % len(examples)
    return np.stack([examples[i] for i in index]).reshape(layout + examples[0].shape)


def chains_of(case):
    """Arguments with one value for each chain; data have none of their own."""
    data = [False, *known(case.dist)]
    return [laid_out(case, i, () if is_data else (CHAINS,)) for i, is_data in enumerate(data)]


def combinations(case):
    n = len(case.params[0]) + 1
    # Coordinates of Gaussian processes are data: they have no batch axes.
    data = [i for i, is_data in enumerate([False, *known(case.dist)]) if is_data]
    rng = np.random.default_rng(4)
    for choices in LAYOUTS:
        rank = len(choices[-1])
        found = [
            c
            for c in itertools.product(*([()] if i in data else choices for i in range(n)))
            if any(len(layout) == rank for layout in c)
        ]
        keep = rng.permutation(len(found))[:MOST_COMBINATIONS]
        yield from (found[i] for i in keep)


def looped(case, args, wanted):
    """Sum and partials by a loop over batch elements."""
    ndims = event_ndims(case.dist)
    batches = [a.shape[: a.ndim - e] for a, e in zip(args, ndims, strict=True)]
    batch = np.broadcast_shapes(*batches)
    logp, partials = np.zeros(batch[0]), {i: np.zeros(args[i].shape) for i in wanted}
    for index in np.ndindex(batch):
        where = [
            tuple(0 if n == 1 else i for n, i in zip(b, index[len(index) - len(b) :], strict=True))
            for b in batches
        ]
        one = [a[w] for a, w in zip(args, where, strict=True)]
        logp[index[0]] += case.dist.log_kernel(np, *one)
        thunks = case.dist.partials(np, *one)
        for i in wanted:
            partials[i][where[i]] += thunks[i]()
    return logp, [partials[i] for i in wanted]


def test_summed_equals_a_loop(case):
    with np.errstate(all="ignore"):
        for layouts in combinations(case):
            args = [laid_out(case, i, layout) for i, layout in enumerate(layouts)]
            wanted = [
                i
                for i in range(len(args))
                if i not in case.fixed and not (i == 0 and case.dist.discrete)
            ]
            expected, slopes = looped(case, args, wanted)
            for function in (case.dist.summed, lambda *a: Distribution._summed(case.dist, *a)):
                logp, partials = function(wanted, *args)
                assert logp.shape == expected.shape, layouts
                np.testing.assert_allclose(logp, expected, rtol=1e-10, err_msg=str(layouts))
                for i, partial, slope in zip(wanted, partials, slopes, strict=True):
                    assert partial.shape == args[i].shape, (layouts, i)
                    np.testing.assert_allclose(
                        partial, slope, rtol=1e-8, atol=1e-10, err_msg=f"{layouts} {i}"
                    )
                np.testing.assert_array_equal(function([], *args)[0], logp)


def test_blocks_of_chains_equal_the_whole(case, monkeypatch):
    layouts = [(), (7, 1), (7, 3), (3,)]
    for turn in range(len(layouts)):
        args = [laid_out(case, i, layouts[(i + turn) % 4]) for i in range(len(case.params[0]) + 1)]
        if not any(len(a) == 7 for a in args if a.ndim) or not case.dist.blockwise:
            continue
        wanted = [i for i in range(1, len(args)) if i not in case.fixed]
        with np.errstate(all="ignore"):
            logp, partials = case.dist.summed(wanted, *args)
            monkeypatch.setattr(sums, "BLOCK", 6)
            in_blocks, slopes = case.dist.summed(wanted, *args)
        np.testing.assert_allclose(in_blocks, logp, rtol=1e-12)
        for one, other in zip(partials, slopes, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_the_order_of_what_is_wanted_is_kept(case):
    args = chains_of(case)
    wanted = [i for i in range(1, len(args)) if i not in case.fixed]
    forwards = case.dist.summed(wanted, *args)[1]
    backwards = case.dist.summed(wanted[::-1], *args)[1]
    for one, other in zip(forwards, backwards[::-1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_bad_row_leaves_the_others_alone(case):
    for position, bad_values in case.invalid.items():
        args = chains_of(case)
        wanted = [i for i in range(1, len(args)) if i not in case.fixed]
        with np.errstate(all="ignore"):
            good, slopes = case.dist.summed(wanted, *args)
            for bad in bad_values:
                args[position + 1][0] = bad
                if position + 1 in case.fixed:
                    continue
                logp, partials = case.dist.summed(wanted, *args)
                assert not np.isfinite(logp[0]), (position, bad)
                assert not logp[0] > 0, (position, bad)
                assert logp[1] == pytest.approx(good[1], rel=1e-12)
                for i, partial, slope in zip(wanted, partials, slopes, strict=True):
                    if i not in case.fixed:
                        np.testing.assert_allclose(partial[1], slope[1], rtol=1e-10)


def test_impossible_values_of_one_row_leave_the_others_alone(case):
    if case.dist.discrete:
        pytest.skip("observed counts are the same for all chains")
    if not case.outside:
        pytest.skip("every value is possible")
    args = chains_of(case)
    with np.errstate(all="ignore"):
        good, _ = case.dist.summed([0], *args)
        for bad in case.outside:
            args[0][0] = bad
            logp, _ = case.dist.summed([0] if 0 not in case.fixed else [], *args)
            assert np.isnan(logp[0]) or logp[0] == -np.inf
            assert logp[1] == good[1]
