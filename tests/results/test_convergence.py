"""R-hat and effective sample sizes agree with the installed ArviZ."""

import arviz as az
import numpy as np
import pytest

from probmodel.results.convergence import (
    ESS_LIMIT,
    RHAT_LIMIT,
    convergence,
    ensemble_convergence,
    screened,
    screening_stride,
)


def reference(draws):
    """ArviZ's own rhat, bulk and tail ESS of each row of (rows, chains, draws)."""
    return [
        np.array([float(f(row)) for row in draws])
        for f in (
            az.rhat,
            lambda row: az.ess(row, method="bulk"),
            lambda row: az.ess(row, method="tail", prob=(0.05, 0.95)),
        )
    ]


def autoregression(rng, rows, chains, draws, phi):
    x = rng.standard_normal((rows, chains, draws))
    for t in range(1, draws):
        x[:, :, t] += phi * x[:, :, t - 1]
    return x


@pytest.mark.parametrize("chains", [2, 4, 7])
@pytest.mark.parametrize("draws", [4, 5, 6, 7, 9, 50, 101, 400])
@pytest.mark.parametrize("phi", [-0.8, 0.0, 0.9])
def test_agrees_with_arviz(chains, draws, phi):
    rng = np.random.default_rng(draws + 1000 * chains)
    x = autoregression(rng, 12, chains, draws, phi)
    x[3] += 2.0 * np.arange(chains)[:, None]
    x[4] = np.exp(3.0 * x[4])
    for ours, theirs in zip(convergence(x), reference(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_agrees_with_arviz_when_moves_were_rejected():
    rng = np.random.default_rng(5)
    x = autoregression(rng, 10, 4, 300, 0.5)
    repeat = np.maximum.accumulate(np.where(rng.random(300) < 0.5, np.arange(300), 0))
    x = x[:, :, repeat]
    for ours, theirs in zip(convergence(x), reference(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_agrees_with_arviz_on_whole_numbers():
    x = np.random.default_rng(6).integers(0, 6, (5, 4, 200)).astype(float)
    for ours, theirs in zip(convergence(x), reference(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_blocks_do_not_matter(monkeypatch):
    x = np.random.default_rng(7).standard_normal((9, 4, 100))
    whole = convergence(x)
    monkeypatch.setattr("probmodel.results.convergence._BLOCK", 800)
    for ours, theirs in zip(convergence(x), whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_not_finite_rows_are_nan_and_leave_the_others_alone():
    x = np.random.default_rng(8).standard_normal((4, 4, 100))
    alone = convergence(x)
    bad = x.copy()
    bad[1, 2, 30] = np.nan
    bad[3, 0, 0] = np.inf
    for ours, theirs in zip(convergence(bad), alone, strict=True):
        assert np.isnan(ours[[1, 3]]).all()
        np.testing.assert_allclose(ours[[0, 2]], theirs[[0, 2]], rtol=1e-12)


def test_constant_rows():
    x = np.ones((2, 4, 100))
    x[1] = np.arange(4)[:, None]
    rhat, ess_bulk, _ = convergence(x)
    assert np.isnan(rhat[0])
    assert rhat[1] > 1e6
    assert ess_bulk[0] == 400
    assert ess_bulk[1] < 10


@pytest.mark.parametrize("shape", [(3, 4, 3), (3, 4, 0), (0, 4, 100), (3, 0, 100)])
def test_too_little_to_work_on(shape):
    for values in convergence(np.zeros(shape)):
        assert values.shape == (shape[0],)
        assert np.isnan(values).all()


def test_one_chain_has_no_rhat():
    x = np.random.default_rng(9).standard_normal((2, 1, 400))
    rhat, ess_bulk, ess_tail = convergence(x)
    assert np.isnan(rhat).all()
    np.testing.assert_allclose(ess_bulk, reference(x)[1], rtol=1e-8)
    np.testing.assert_allclose(ess_tail, reference(x)[2], rtol=1e-8)


def test_independent_members_of_an_ensemble_count_in_full():
    x = np.random.default_rng(10).standard_normal((3, 20, 500))
    for groups in (1, 2, 6):
        rhat, ess_bulk, ess_tail = ensemble_convergence(x, groups)
        assert (rhat < 1.01).all()
        assert (ess_bulk > 0.7 * 20 * 500).all()
        assert (ess_tail > 0.7 * 20 * 500).all()


def test_members_that_repeat_each_other_count_once():
    x = np.repeat(np.random.default_rng(11).standard_normal((1, 2, 500)), 10, axis=1)
    assert convergence(x).ess_bulk[0] > 5000
    _, ess_bulk, ess_tail = ensemble_convergence(x, 2)
    assert 700 < ess_bulk[0] < 1400
    assert 700 < ess_tail[0] < 1400


def test_ensembles_with_nothing_to_work_on():
    x = np.random.default_rng(13).standard_normal((3, 4, 100))
    x[1, 0, 0] = np.nan
    x[2] = 1.0
    rhat, ess_bulk, _ = ensemble_convergence(x, 2)
    assert np.isnan(rhat[1:]).all()
    assert np.isnan(ess_bulk[1])
    assert ess_bulk[2] == 400
    assert ensemble_convergence(x[:0], 2).rhat.shape == (0,)


def troubled(rng, chains, draws):
    """Rows that mix well, and rows that are beyond a limit in many ways, some of them barely."""
    x = rng.standard_normal((60, chains, draws))
    x[:8, 0] += np.linspace(0.1, 0.8, 8)[:, None]  # one chain elsewhere
    x[8:16, 0] *= np.linspace(1.1, 2.5, 8)[:, None]  # or wider
    x[16:20] += np.linspace(0.1, 1.0, 4)[:, None, None] * np.linspace(-1.0, 1.0, draws)  # drifts
    for row, phi in zip(range(20, 28), np.linspace(0.9, 0.999, 8), strict=True):
        x[row] = autoregression(rng, 1, chains, draws, phi)[0]
    x[28, 1, 3], x[29, 0, draws - 1] = np.nan, np.inf
    x[30] = 1.0
    held = autoregression(rng, 1, chains, draws, 0.99)[0]
    x[31] = np.where(np.abs(held) > np.quantile(np.abs(held), 0.9), held, x[31])  # tails alone
    return x


def beyond(found):
    """Rows beyond a limit, or without figures: by R-hat, bulk and tail."""
    return [~(found.rhat <= RHAT_LIMIT), ~(found.ess_bulk >= ESS_LIMIT),
            ~(found.ess_tail >= ESS_LIMIT)]  # fmt: skip


@pytest.mark.parametrize(
    ("chains", "draws"),
    [
        (16, 1003),
        *(
            pytest.param(*size, marks=pytest.mark.statistical)
            for size in [(16, 2000), (8, 4000), (4, 8000)]
        ),
    ],
)
def test_screening_misses_nothing(chains, draws):
    exact_ones = 0
    for seed in range(3):
        x = troubled(np.random.default_rng(seed), chains, draws)
        stride = screening_stride(chains, draws)
        assert stride > 1
        found, exact = screened(x, stride), convergence(x)
        for ours, theirs, mine, known in zip(
            beyond(found), beyond(exact), found, exact, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_allclose(mine[theirs], known[theirs], rtol=1e-12)
        exact_ones += sum(int(flags.sum()) for flags in beyond(exact))
        # The control: every so many draws alone have other figures.
        alone = convergence(x[:, :, ::stride])
        assert not np.allclose(alone.ess_bulk[20:28], exact.ess_bulk[20:28], rtol=1e-3)
        assert np.isfinite(alone.ess_bulk[29])
    assert exact_ones > 60


def test_few_draws_are_not_screened():
    assert screening_stride(4, 1000) == screening_stride(400, 100) == screening_stride(4, 0) == 1
    assert screening_stride(16, 2000) == 8
