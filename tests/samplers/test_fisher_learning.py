"""What is learned of the shape, against direct linear algebra on draws and scores."""

import numpy as np
import pytest

from probmodel.adaptation.low_rank import scales
from probmodel.adaptation.welford import no_moments
from probmodel.numerics.roots import LowRank, times
from probmodel.samplers.base import Info
from probmodel.samplers.hamiltonian.fisher_learning import (
    AT_ONCE,
    BEYOND_CHANCE,
    FEWEST_ROWS,
    FEWEST_TIMES,
    MANY_ROWS,
    TRAVELLED,
    DenseShape,
    SampledShape,
    learning_rate,
    mean_squares,
    median,
    scaled,
    together,
)
from probmodel.samplers.metropolis import evaluate


class StudentT:
    """Multivariate t with few degrees of freedom: wider than its scores allow a normal density."""

    coordinate_names = ()

    def __init__(self, scale, df=3.0):
        self.scale, self.df, self.dim = np.asarray(scale), df, len(scale)

    def __call__(self, x):
        z = x / self.scale
        q = self.df + np.sum(z * z, axis=1)
        power = self.df + self.dim
        return -0.5 * power * np.log(q), -power * z / self.scale / q[:, None]

    def exact(self, rng, n):
        z = rng.standard_normal((n, self.dim))
        return self.scale * z / np.sqrt(rng.chisquare(self.df, (n, 1)) / self.df)


class Stretched:
    """x0 a t variable with few degrees of freedom, the others normal."""

    coordinate_names = ()

    def __init__(self, dim, df=2.5):
        self.dim, self.df = dim, df

    def __call__(self, x):
        logp, grad = -0.5 * np.sum(x[:, 1:] ** 2, axis=1), -x.copy()
        q = self.df + x[:, 0] ** 2
        grad[:, 0] = -(self.df + 1.0) * x[:, 0] / q
        return logp - 0.5 * (self.df + 1.0) * np.log(q), grad

    def exact(self, rng, n):
        x = rng.standard_normal((n, self.dim))
        x[:, 0] = rng.standard_t(self.df, n)
        return x


def independent(rng, target, chains):
    """A transition to a proposal that is independent of the draw, accepted with probability one."""
    before, after = (evaluate(target, target.exact(rng, chains)) for _ in range(2))
    yes = np.ones(chains, dtype=bool)
    return after, Info(np.ones(chains), yes, ~yes, np.full(chains, 2), before, after, {})


def taught(shape, rng, target, chains, iterations):
    for count in range(iterations):
        state, info = independent(rng, target, chains)
        shape = shape.learn(state, info, count)
    return shape.learned(), state


def dense(dim, n=1):
    return DenseShape(np.eye(dim), n, no_moments(dim))


def correlated(targets, dim=5):
    return targets.Gaussian(
        np.arange(dim), targets.random_covariance(np.random.default_rng(1), dim)
    )


# -- dense -------------------------------------------------------------------------------------


def test_dense_shape_of_a_normal_density_is_its_covariance(targets):
    target = correlated(targets)
    shape, state = taught(dense(5), np.random.default_rng(2), target, 16, 200)
    C = shape.root(state, None)
    A = np.linalg.solve(target.cov, C @ C.T)
    # 3200 signals, the last ones weighing four times more: each entry off by 0.03.
    np.testing.assert_allclose(A, np.eye(5), atol=0.15)


def test_root_is_the_inverse_of_the_weighted_signals(targets):
    """Signal i of n weighs i^3 or so: by the rates (4/(n + 3)) themselves."""
    target, rng = correlated(targets), np.random.default_rng(3)
    shape, mean = dense(5, n=40), np.eye(5)
    mean *= learning_rate(40)  # R = I is the root of gamma_n times its inverse
    for count in range(30):
        state, info = independent(rng, target, 3)
        alpha = rng.uniform(0.2, 1.0, 3)
        shape = shape.learn(state, info._replace(accept_prob=alpha), count)
        gamma = 4.0 / (41 + count + 3.0)
        S = np.sqrt(alpha)[:, None] * (info.proposal.grad - info.previous.grad)
        mean = (1.0 - gamma) * mean + gamma * S.T @ S
    expected, shape = learning_rate(70) * np.linalg.inv(mean), shape.learned()
    np.testing.assert_allclose(shape.R @ shape.R.T, expected, rtol=1e-9, atol=1e-12)


def test_scores_whitened_by_the_root_have_mean_square_one(targets):
    target, rng = correlated(targets), np.random.default_rng(4)
    shape, state = taught(dense(5), rng, target, 1, 400)
    fresh = evaluate(target, target.exact(rng, 5000))
    assert mean_squares(shape.root(state, None), fresh.grad).mean() == pytest.approx(1.0, rel=0.15)


def test_scale_does_not_hang_on_the_scores_at_one_time(targets):
    """A single chain of one parameter that ends at the mode, where the score is zero."""
    target, rng = targets.Gaussian(np.zeros(1), np.eye(1)), np.random.default_rng(5)
    shape, _ = taught(dense(1), rng, target, 1, 200)
    mode = evaluate(target, np.array([[1e-6]]))
    assert shape.root(mode, None)[0, 0] == pytest.approx(1.0, rel=0.25)
    assert scaled(np.eye(1), mode)[0, 0] > 1e5  # what that time alone says


def test_wide_directions_are_widened(targets):
    """Along a t variable the inverse mass becomes the geometric mean of 1/F and the variance."""
    target, rng = Stretched(6), np.random.default_rng(6)
    shape, state = taught(dense(6), rng, target, 32, 200)
    widened = shape.root(state, None)
    without = shape._replace(moments=no_moments(6)).root(state, None)
    variance = shape.moments.scatter[0, 0] / shape.moments.n
    before, after = (without @ without.T)[0, 0], (widened @ widened.T)[0, 0]
    assert variance > 2.5 * before
    assert after == pytest.approx(np.sqrt(before * variance), rel=0.1)
    others = np.diag(widened @ widened.T)[1:] / np.diag(without @ without.T)[1:]
    np.testing.assert_allclose(others, 1.0, atol=0.1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("iterations", [5, 20, 100])
def test_chance_widens_nothing(targets, iterations, seed):
    """Draws of a normal density, as many as 4 to 80 a parameter."""
    dim, chains = 20, 16
    target, rng = targets.Gaussian(np.zeros(dim), np.eye(dim)), np.random.default_rng(seed)
    shape = DenseShape(np.eye(dim), 100000, no_moments(dim))  # knows the scores for certain
    shape, state = taught(shape, rng, target, chains, iterations)
    shape = shape._replace(R=np.eye(dim) * learning_rate(shape.n) ** 0.5, squares=np.ones(chains))
    e = np.linalg.eigvalsh(shape.moments.scatter / shape.moments.n)
    assert e[-1] > 1.05  # chance alone
    C = shape.root(state, None)
    np.testing.assert_allclose(C @ C.T, np.eye(dim), atol=1e-12)


def test_the_edge_of_chance(targets):
    """One direction just inside, one just outside."""
    dim, n = 3, 300
    edge = BEYOND_CHANCE * (1.0 + np.sqrt(dim / n)) ** 2
    e = np.array([1.0, 0.99 * edge, 1.01 * edge])
    shape = DenseShape(np.eye(dim), 1, no_moments(dim)._replace(n=n, scatter=n * np.diag(e)))
    state = evaluate(targets.Gaussian(np.zeros(dim), np.eye(dim)), np.ones((2, dim)))
    C = shape.root(state, None)
    np.testing.assert_allclose(C @ C.T, np.diag([1.0, 1.0, np.sqrt(e[2])]), atol=1e-12)


def test_few_draws_are_not_compared(targets):
    dim = 6
    shape = DenseShape(np.eye(dim), 1, no_moments(dim)._replace(n=11, scatter=1e6 * np.eye(dim)))
    state = evaluate(targets.Gaussian(np.zeros(dim), np.eye(dim)), np.ones((2, dim)))
    np.testing.assert_array_equal(shape.root(state, None), np.eye(dim))
    enough = shape._replace(moments=shape.moments._replace(n=12))
    assert enough.root(state, None)[0, 0] > 10.0


def test_a_window_forgets_its_draws_and_keeps_the_scores(targets):
    target = correlated(targets)
    shape, _ = taught(dense(5), np.random.default_rng(7), target, 4, 20)
    following = shape.next_window()
    assert following.moments.n == 0
    assert shape.moments.n == 80
    np.testing.assert_array_equal(following.R, shape.R)
    assert following[1] == shape.n
    np.testing.assert_array_equal(following.squares, shape.squares)


def test_what_is_learned_at_once_is_what_is_learned_one_by_one(targets):
    """But for the squares, which stay as they were meanwhile."""
    target, rng = correlated(targets), np.random.default_rng(21)
    together = alone = dense(5)._replace(squares=np.ones(4))
    for count in range(AT_ONCE - 1):
        state, info = independent(rng, target, 4)
        info = info._replace(accept_prob=rng.uniform(0.1, 1.0, 4))
        together = together.learn(state, info, count)
        alone = alone.learn(state, info, count).learned()._replace(squares=np.ones(4))
    assert together.n == 1
    together = together.learned()
    assert together.n == alone.n == AT_ONCE
    for a, b in ((together.R @ together.R.T, alone.R @ alone.R.T), *zip(
        together.moments, alone.moments, strict=True
    ), (together.sums, alone.sums)):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert together.learned() is together


def test_later_squares_weigh_more(targets):
    """Mean squares are averaged with the learning rates, whether at once or one by one."""
    target, rng = targets.Gaussian(np.zeros(2), np.eye(2)), np.random.default_rng(22)
    n, expected = 10**9, np.ones(3)  # it knows the scores for certain
    shape = dense(2, n)._replace(R=np.eye(2) * learning_rate(n) ** 0.5, squares=expected)
    for count in range(5):
        state, info = independent(rng, target, 3)
        shape = shape.learn(state, info, count)
        seen = np.mean(state.grad**2, axis=1)
        expected = expected + learning_rate(count + 1) * (seen - expected)
    np.testing.assert_allclose(shape.learned().squares, expected, rtol=1e-6)


@pytest.mark.parametrize("bad", [np.inf, 1e300])
def test_proposals_that_break_down_are_not_learned_from(targets, bad):
    target, rng = correlated(targets), np.random.default_rng(8)
    state, info = independent(rng, target, 4)
    grad = info.proposal.grad.copy()
    grad[1] = bad
    proposal = info.proposal._replace(
        logp=np.where([False, True, False, False], -np.inf, info.proposal.logp), grad=grad
    )
    kept = np.array([0, 2, 3])
    broken = dense(5).learn(state, info._replace(proposal=proposal), 0).learned()
    S = (info.proposal.grad - info.previous.grad)[kept]
    expected = np.linalg.inv(S.T @ S + 0.25 * np.eye(5))  # kept(4/5, 1) = 1/4
    np.testing.assert_allclose(broken.R @ broken.R.T, expected, rtol=1e-9, atol=1e-12)


def test_flat_densities_leave_the_scale(targets):
    target, rng = correlated(targets), np.random.default_rng(9)
    state, info = independent(rng, target, 4)
    shape = dense(5)._replace(squares=np.full(4, 2.0))
    flat = shape.learn(state._replace(grad=np.zeros((4, 5))), info, 3).learned()
    np.testing.assert_array_equal(flat.squares, 2.0)
    assert np.isfinite(flat.root(state, None)).all()


def test_a_chain_in_a_narrow_place_does_not_decide_alone(targets):
    """Three of 16 in modes a hundred times as narrow, and the same with all in one."""
    rng, roots = np.random.default_rng(11), []
    for narrow in (0, 3):
        width = np.where(np.arange(16) < narrow, 0.01, 1.0)[:, None]
        shape = dense(2)._replace(squares=np.ones(16))
        for count in range(200):
            info = independent(rng, targets.Gaussian(np.zeros(2), np.eye(2)), 16)[1]
            before, after = (
                state._replace(x=state.x * width, grad=state.grad / width)
                for state in (info.previous, info.proposal)
            )
            shape = shape.learn(after, info._replace(previous=before, proposal=after), count)
        roots.append(abs(np.linalg.det(shape.learned().root(after, None))) ** 0.5)
    assert roots[1] > 0.6 * roots[0]  # 0.15 if all counted alike


# -- from draws --------------------------------------------------------------------------------


def test_diagonal_shape_is_that_of_draws_and_scores(targets):
    target = targets.Gaussian(np.ones(4), np.diag([1e-6, 1.0, 4.0, 1e6]))
    rng = np.random.default_rng(10)
    shape, state = taught(SampledShape(rank=False), rng, target, 8, 30)
    root = shape.root(state, None)
    np.testing.assert_allclose(root**2, np.diag(target.cov), rtol=1e-6)
    x, grad = (np.concatenate(part) for part in zip(*shape.rows, strict=True))
    np.testing.assert_array_equal(root, scales(x, grad))


def test_low_rank_shape_of_a_normal_density_is_its_covariance(targets):
    target = correlated(targets)
    shape, state = taught(SampledShape(rank=True), np.random.default_rng(11), target, 8, 60)
    root = shape.root(state, None)
    assert isinstance(root, LowRank)
    C = times(root, np.eye(5)).T
    e = np.linalg.eigvals(np.linalg.solve(target.cov, C @ C.T)).real
    assert (e > 0.45).all()  # directions within a factor of two are left alone
    assert (e < 2.2).all()


def test_low_rank_shape_is_the_geometric_mean(targets):
    """Of a multivariate t: the scores alone are narrower, the draws alone wider."""
    target = StudentT([1.0, 10.0], df=5.0)
    rng = np.random.default_rng(12)
    shape, state = taught(SampledShape(rank=False), rng, target, 16, 100)
    root = shape.root(state, None)
    x, grad = (np.concatenate(part) for part in zip(*shape.rows, strict=True))
    of_draws, of_scores = x.std(axis=0), 1.0 / grad.std(axis=0)
    assert (of_scores < root).all()
    assert (root < of_draws).all()
    np.testing.assert_allclose(root, np.sqrt(of_draws * of_scores), rtol=1e-10)


def test_few_draws_leave_the_root(targets):
    target, rng, previous = correlated(targets), np.random.default_rng(13), np.full(5, 0.3)
    shape, state = taught(SampledShape(rank=True), rng, target, 1, FEWEST_ROWS - 1)
    assert shape.root(state, previous) is previous
    shape, state = taught(SampledShape(rank=True), rng, target, 1, FEWEST_ROWS)
    assert shape.root(state, previous) is not previous
    assert shape.next_window().root(state, previous) is previous
    assert shape.next_window().rank


@pytest.mark.parametrize("chains", [2, 5, 16])
def test_chains_that_travel_between_each_other_stay_where_they_are(chains):
    x = np.random.default_rng(21).standard_normal((12, chains, 3)) * [1e-6, 1.0, 1e6]
    np.testing.assert_allclose(together(x), x, rtol=1e-12)


def draws_apart(chains, distance):
    """Chains of two groups, that far apart along a diagonal of coordinates of unequal scales."""
    x = np.random.default_rng(22).standard_normal((200, chains, 4))
    x += distance * (np.arange(chains) % 2)[:, None]
    return x * [1e-4, 1.0, 1.0, 1e4]


@pytest.mark.parametrize("chains", [2, 5, 16])
def test_chains_that_lie_apart_are_moved_together(chains):
    x = draws_apart(chains, 50.0)
    moved = together(x) / [1e-4, 1.0, 1.0, 1e4]
    along = moved @ np.full(4, 0.5)  # the direction in which they differ
    within = np.var(along, axis=0).mean()
    assert np.var(along) == pytest.approx(TRAVELLED * within, rel=0.02)
    steps = np.diff(moved, axis=0) * [1e-4, 1.0, 1.0, 1e4]
    np.testing.assert_allclose(steps, np.diff(x, axis=0), rtol=1e-6, atol=1e-12)
    centre = x.mean(axis=(0, 1)) / [1e-4, 1.0, 1.0, 1e4]
    np.testing.assert_allclose(moved.mean(axis=(0, 1)), centre, rtol=1e-9)


def test_few_times_tell_nothing_of_how_far_chains_travel():
    x = draws_apart(6, 50.0)[: FEWEST_TIMES - 1]
    assert together(x) is x


@pytest.mark.parametrize("rank", [True, False])
def test_the_distance_between_modes_widens_no_root(targets, monkeypatch, rank):
    target, rng = targets.Gaussian(np.zeros(4), np.eye(4)), np.random.default_rng(23)
    shape, away = SampledShape(rank), 30.0 * (np.arange(12) % 3 == 0)[:, None]
    for count in range(60):
        state, info = independent(rng, target, 12)
        shape = shape.learn(state._replace(x=state.x + away), info, count)
    widest = []
    for change in (together, lambda x: x):  # without it: negative control
        monkeypatch.setattr("probmodel.samplers.hamiltonian.fisher_learning.together", change)
        widest.append(np.linalg.norm(times(shape.root(state, None), np.full((1, 4), 0.5))))
    assert widest[0] < 1.6
    assert widest[1] > 3.0


def test_ever_fewer_draws_of_a_long_window_are_kept(targets):
    target, rng = targets.Gaussian(np.zeros(1), np.eye(1)), np.random.default_rng(14)
    shape, _ = taught(SampledShape(rank=False), rng, target, 64, 32)
    assert len(shape.rows) * 64 == MANY_ROWS
    shape, _ = taught(SampledShape(rank=False), rng, target, 64, 200)
    assert MANY_ROWS < len(shape.rows) * 64 < 4 * MANY_ROWS


# -- the scale ---------------------------------------------------------------------------------


@pytest.mark.parametrize("root", [np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([2.0, 3.0])])
def test_scaled_roots(targets, root):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 1e-8]))
    state = evaluate(target, np.random.default_rng(15).standard_normal((5, 2)))
    C = scaled(root, state)
    matrix = C if C.ndim == 2 else np.diag(C)
    assert np.mean((state.grad @ matrix) ** 2) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(C / root.max(), root / root.max() * (C.max() / root.max()))


@pytest.mark.parametrize("grad", [0.0, 1e200])
def test_scores_without_a_scale_leave_the_root(targets, grad):
    state = evaluate(targets.Banana(), np.zeros((2, 2)))._replace(grad=np.full((2, 2), grad))
    root = np.array([2.0, 3.0])
    np.testing.assert_array_equal(scaled(root, state), root)


# -- chains that begin again ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "low_rank"])
@pytest.mark.parametrize("forgets", [True, False])
def test_the_way_that_chains_did_not_travel_is_forgotten(targets, kind, forgets):
    """Half of the chains are far away at first, and begin again where the others are."""
    target, rng = correlated(targets), np.random.default_rng(9)
    shape = dense(5) if kind == "dense" else SampledShape(rank=True)
    away = np.where(np.arange(8) < 4, 0.0, 1000.0)[:, None]
    for count in range(50):
        state, info = independent(rng, target, 8)
        shape = shape.learn(state._replace(x=state.x + away), info, count)
    if forgets:
        shape = shape.restarted(np.array([0, 1, 2, 3, 0, 1, 2, 3]))
    for count in range(50, 150):
        state, info = independent(rng, target, 8)
        shape = shape.learn(state, info, count)
    C = times(shape.root(state, np.eye(5)), np.eye(5)).T
    widths = np.sqrt(np.linalg.eigvals(np.linalg.solve(target.cov, C @ C.T)).real)
    assert (widths.max() < 1.6) == forgets  # a low-rank root leaves small differences as they are
    assert (widths.max() > 4.0) != forgets


@pytest.mark.parametrize("n", [1, 2, 3, 8, 15, 16])
def test_the_median(n):
    values = np.random.default_rng(n).standard_normal(n)
    assert median(values) == np.median(values)
