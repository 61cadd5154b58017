"""Sums over batches against a loop, for every combination of what is batched, and how."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import program
from examples.case import filled, known, moving

CHAINS, COUNT = 2, 3
LAYOUTS = [[(), (COUNT,)], [(), (COUNT,), (1,)], [(), (COUNT,), (2, 1), (2, COUNT), (1, 1, 1)]]
ATTEMPTS = 20  # at drawing one that differs from the others


@pytest.fixture
def moved(case):
    """Positions of the arguments that move."""
    if not moving(case):
        pytest.skip("nothing to differentiate in")
    return moving(case)


def combinations(case, most):
    # Coordinates of Gaussian processes are data: they have no batch axes.
    data = [False, *known(case.dist)]
    rng = np.random.default_rng(4)
    for choices in LAYOUTS:
        rank = max(map(len, choices))
        found = set()
        for _ in range(ATTEMPTS):
            picked = rng.integers(len(choices), size=len(data))
            layouts = tuple(
                () if is_data else choices[i] for is_data, i in zip(data, picked, strict=True)
            )
            if any(len(layout) == rank for layout in layouts):
                found.add(layouts)
            if len(found) == most:
                break
        yield from sorted(found)


def looped(case, moved, args, programs):
    """Sum and derivatives by a loop over chains and batch elements."""
    ndims = case.dist.event_ndims
    batches = [a.shape[i in moved : a.ndim - ndims[i]] for i, a in enumerate(args)]
    logp, slopes = np.zeros(CHAINS), [np.zeros(args[i].shape) for i in moved]
    for chain, *index in np.ndindex(CHAINS, *np.broadcast_shapes(*batches)):
        where = [
            (chain,) * (i in moved)
            + tuple(np.minimum(index[len(index) - len(b) :], np.array(b) - 1))
            for i, b in enumerate(batches)
        ]
        one = [a[w] for a, w in zip(args, where, strict=True)]
        key = tuple(a.tobytes() for i, a in enumerate(one) if i not in moved)
        if key not in programs:
            programs[key] = program(case.dist, moved, *one)
        terms, *found = programs[key](*(one[i][None] for i in moved))
        logp[chain] += terms[0]
        for slope, i, part in zip(slopes, moved, found, strict=True):
            slope[where[i]] += part[0]
    return logp, slopes


@pytest.mark.parametrize("most", [2, pytest.param(6, marks=pytest.mark.statistical)])
def test_sums_over_batches_equal_a_loop(case, moved, most):
    programs = {}
    for layouts in combinations(case, most):
        args = [
            filled(case, i, (CHAINS, *layout) if i in moved else layout)
            for i, layout in enumerate(layouts)
        ]
        expected, others = looped(case, moved, args, programs)
        one_chain = [a[0] if i in moved else a for i, a in enumerate(args)]
        logp, *slopes = program(case.dist, moved, *one_chain)(*(args[i] for i in moved))
        np.testing.assert_allclose(logp, expected, rtol=1e-10, err_msg=str(layouts))
        for slope, other in zip(slopes, others, strict=True):
            np.testing.assert_allclose(slope, other, rtol=1e-8, atol=1e-10, err_msg=str(layouts))


def of_chains(case, moved):
    """Arguments with a value for each chain, where they move; and a function of these."""
    args = [filled(case, i, (CHAINS,) * (i in moved)) for i in range(len(case.params[0]) + 1)]
    one_chain = [a[0] if i in moved else a for i, a in enumerate(args)]
    return [args[i] for i in moved], program(case.dist, moved, *one_chain)


def test_a_bad_row_leaves_the_others_alone(case, moved):
    for position, bad_values in case.invalid.items():
        rows, run = of_chains(case, moved)
        good, *slopes = run(*rows)
        for bad in bad_values if position + 1 in moved else ():
            rows[moved.index(position + 1)][0] = bad
            logp, *others = run(*rows)
            assert not np.isfinite(logp[0]), (position, bad)
            assert not logp[0] > 0, (position, bad)
            assert logp[1] == pytest.approx(good[1], rel=1e-12)
            for slope, other in zip(slopes, others, strict=True):
                np.testing.assert_allclose(other[1], slope[1], rtol=1e-10)


def test_impossible_values_of_one_row_leave_the_others_alone(case):
    if case.dist.discrete:
        pytest.skip("observed counts are the same for all chains")
    if not case.outside:
        pytest.skip("every value is possible")
    rows, run = of_chains(case, sorted({0, *moving(case)}))
    good = run(*rows)[0]
    for bad in case.outside:
        rows[0][0] = bad
        logp = run(*rows)[0]
        assert np.isnan(logp[0]) or logp[0] == -np.inf
        assert logp[1] == good[1]
