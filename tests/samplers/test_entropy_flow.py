"""The RealNVP preconditioner of entropy_hmc: its loss, its kernel, what it learns, bad input."""

import autograd.numpy as anp
import numpy as np
import pytest

from probmodel.adaptation import entropy_loss
from probmodel.adaptation.entropy_loss import Weights, penalty
from probmodel.adaptation.flow_loss import expand_flow, flow_gradient, pulled_hessian
from probmodel.adaptation.projections import Products
from probmodel.adaptation.realnvp import FlowPoint, RealNVP
from probmodel.adaptation.roulette import draw_signs, expand, weights
from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.groups import sample
from probmodel.samplers.hamiltonian.dynamics import simulate as simulate_with_a_matrix
from probmodel.samplers.hamiltonian.dynamics import with_momentum
from probmodel.samplers.hamiltonian.entropy_flow import FlowKernel, Params, begin, path_of, simulate
from probmodel.samplers.hamiltonian.entropy_hmc import EntropyHMC
from probmodel.samplers.metropolis import evaluate
from probmodel.testing.statistics import LIMIT, deviations, require_moments, tamed, worst

DIM, CHAINS = 4, 6
SINGLE = ("first", "middle", "hessian", "momentum", "uphill", "whole")  # fields by chain alone
H = {1: 1.0, 2: 0.7, 5: 0.4}  # step size for each number of steps: some energy errors either way


class Quartic:
    """``-x'Px/2 - sum log cosh(1.3 x) + 0.1 sum sin x``: not quadratic, with a Hessian."""

    coordinate_names = ()
    dim = DIM

    def __init__(self):
        root = np.random.default_rng(3).standard_normal((DIM, DIM))
        self.P = root @ root.T / DIM + np.eye(DIM)

    def __call__(self, x):
        bumps = np.log(np.cosh(1.3 * x)) - 0.1 * np.sin(x)
        logp = -0.5 * np.einsum("ci,ij,cj->c", x, self.P, x) - bumps.sum(axis=1)
        return logp, -x @ self.P - 1.3 * np.tanh(1.3 * x) + 0.1 * np.cos(x)

    def hessian(self, x):
        bumps = 1.69 / np.cosh(1.3 * x) ** 2 + 0.1 * np.sin(x)
        return -self.P - bumps[:, :, None] * np.eye(DIM)


class Linear:
    """The map f(z) = C z, with the entries of C as theta."""

    def weights(self, theta):
        return theta.reshape(DIM, DIM)

    def forward(self, C, z):
        return FlowPoint(z, z @ C.T, self._log_det(C, z), None)

    def inverse(self, C, x):
        return FlowPoint(x @ anp.linalg.inv(C).T, x, self._log_det(C, x), None)

    def gradient(self, C, point, u, log_det=1.0):
        return u @ C + 0.0 * point.z

    def second(self, C, z, u, a, b):
        return a @ C.T, b @ C.T, np.zeros(len(a))

    def _log_det(self, C, rows):
        return anp.linalg.slogdet(C)[1] * np.ones(len(rows))


def nonlinear():
    """A RealNVP far from a scaling, and theta."""
    rng = np.random.default_rng(5)
    flow = RealNVP(DIM, width=6)
    theta = flow.start(rng)
    return flow, theta + 0.3 * rng.standard_normal(theta.shape)


def linear():
    """A linear map, and theta."""
    rng = np.random.default_rng(6)
    return Linear(), (0.6 * np.eye(DIM) + 0.1 * rng.standard_normal((DIM, DIM))).ravel()


def trajectory(flow, theta, n_steps, h, chains=CHAINS):
    """Constants of the loss, the points of the trajectory, and signs."""
    rng = np.random.default_rng(7)
    density, w = Quartic(), flow.weights(theta)
    state = evaluate(density, rng.standard_normal((chains, DIM)))
    start = begin(flow, w, state, rng.standard_normal((chains, DIM)))
    points, _ = simulate(density, flow, w, start, h, n_steps)
    path, rows = path_of(density, tuple(points), h, robust=False)
    assert len(rows) == chains
    return density, path, points, draw_signs(rng, (chains, DIM))


# -- the loss ----------------------------------------------------------------------------------


def pulled_gradient(density, flow, w, z):
    """Gradient of log density(f(z)) + log|det Df(z)|."""
    point = flow.forward(w, z)
    return flow.gradient(w, point, density(point.x)[1])


def differences(function, z, step=1e-4):
    """Central differences of rows: (rows, ..., dim), the direction last."""
    columns = [function(z + step * e) - function(z - step * e) for e in np.eye(z.shape[1])]
    return np.stack(columns, axis=-1) / (2.0 * step)


def losses(density, flow, theta, path, expansion, eps, betas, start, slope):
    """E of every row as a function of theta, from the target itself."""
    w, L, h = flow.weights(theta), path.n_steps, path.step_size
    first = flow.inverse(w, path.first)
    slopes = [
        flow.gradient(w, flow.forward(w, z), g) for z, g in zip(path.z, path.grad, strict=True)
    ]
    inner = range(1, L)
    z = first.z + L * h * path.momentum + L * h**2 / 2 * slopes[0]
    z = z + h**2 * sum((L - i) * slopes[i] for i in inner)
    r = path.momentum + h / 2 * (slopes[0] + slopes[L]) + h * sum(slopes[i] for i in inner)
    last = flow.forward(w, z)
    delta = density(path.first)[0] - density(last.x)[0] + first.log_det - last.log_det
    delta = delta + 0.5 * np.sum(r**2 - path.momentum**2, axis=1)
    middle = flow.inverse(w, path.middle).z
    D = h**2 * (L**2 - 1) / 6 * differences(lambda z: pulled_gradient(density, flow, w, z), middle)
    mu = np.einsum("ni,nij,nj->n", expansion.direction, D, expansion.direction)
    entropy = last.log_det + np.einsum("ni,nij,nj->n", expansion.y, D, eps)
    punished = entropy - betas.gamma * penalty(np.abs(mu), start, slope)[0]
    return np.maximum(0.0, delta) - betas.beta * punished, delta


@pytest.mark.parametrize("piece", ["none", "square", "line"])
@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_gradient_of_the_loss(n_steps, piece):
    """T-FD: both signs of the energy error in each case, and the three pieces of the penalty."""
    flow, theta = nonlinear()
    density, path, _, eps = trajectory(flow, theta, n_steps, h=H[n_steps])
    expansion = expand_flow(flow, theta, path, eps, weights(3, 2))
    size, betas, slope = np.abs(expansion.mu), Weights(0.7, 3.0), 1.5
    start = {"none": size.max() + 0.1, "square": size.max() - 0.9, "line": size.min() - 1.1}[piece]
    bend = penalty(size, start, slope)[1]
    if n_steps > 1:
        assert {"none": bend == 0.0, "square": bend < 2.0, "line": bend == slope}[piece].all()
        assert piece == "none" or bend.any()
    ours = flow_gradient(flow, theta, path, expansion, eps, betas, bend)

    def value(t):
        each, delta = losses(density, flow, t, path, expansion, eps, betas, start, slope)
        return np.mean(each), delta

    np.testing.assert_array_equal(value(theta)[1] > 0.0, path.uphill)
    assert 0 < np.sum(path.uphill) < CHAINS
    for direction in np.random.default_rng(8).standard_normal((10, len(theta))):
        step = 1e-5 * direction
        numerical = (value(theta + step)[0] - value(theta - step)[0]) / 2e-5
        assert ours @ direction == pytest.approx(numerical, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_gradient_of_a_linear_map(n_steps):
    """With f(z) = C z it is the gradient that `entropy_loss` has in closed form."""
    flow, theta = linear()
    C, betas, h = theta.reshape(DIM, DIM), Weights(0.7, 3.0), H[n_steps]
    _, path, points, eps = trajectory(flow, theta, n_steps, h)
    products, terms = Products(lambda v: v @ C.T, lambda v: v @ C), weights(4, 2)
    ends = points[0].momentum, points[-1].momentum
    delta = points[-1].energy - points[0].energy
    x = np.stack([point.x for point in points])
    matrix_path = entropy_loss.Path(x, -path.grad, x[1:], *ends, delta)

    def curve(v):
        return -np.einsum("nij,nj->ni", path.hessian, v)

    ours, theirs = (
        expand_flow(flow, theta, path, eps, terms),
        expand(curve, products, path.kappa, eps, terms),
    )
    np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.log_det, theirs.log_det, rtol=1e-10, atol=1e-12)
    bend = penalty(np.abs(theirs.mu), 0.1, 1.0)[1]
    outer = (
        entropy_loss.energy_outer(matrix_path, h, products),
        entropy_loss.entropy_outer(theirs, eps, path.kappa, betas, bend),
    )
    closed = sum(np.einsum("kni,knj->ij", *pair) for pair in outer) / CHAINS
    closed -= betas.beta * np.linalg.inv(C).T
    gradient = flow_gradient(flow, theta, path, ours, eps, betas, bend)
    np.testing.assert_allclose(gradient.reshape(DIM, DIM), closed, rtol=1e-9, atol=1e-10)


def test_hessian_of_the_pulled_back_density():
    flow, theta = nonlinear()
    density, path, points, _ = trajectory(flow, theta, 5, h=0.3)
    w = flow.weights(theta)
    truth = differences(lambda z: pulled_gradient(density, flow, w, z), points[2].z, step=1e-5)
    np.testing.assert_allclose(pulled_hessian(flow, theta, path), truth, rtol=1e-6, atol=1e-7)


# -- the kernel --------------------------------------------------------------------------------


def test_a_linear_map_is_a_mass_matrix():
    flow, theta = linear()
    density, _, points, _ = trajectory(flow, theta, 5, h=0.4)
    C = theta.reshape(DIM, DIM)
    start = with_momentum(points[0].state, points[0].momentum)
    end, _ = simulate_with_a_matrix(density, start, C, 0.4, 5)
    np.testing.assert_allclose(points[-1].x, end.x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(points[-1].momentum, end.momentum, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        points[-1].energy - points[0].energy, end.energy - start.energy, rtol=1e-9, atol=1e-9
    )


def test_trajectories_go_back():
    flow, theta = nonlinear()
    density, _, points, _ = trajectory(flow, theta, 5, h=0.3)
    w, end = flow.weights(theta), points[-1]
    back, _ = simulate(density, flow, w, begin(flow, w, end.state, -end.momentum), 0.3, 5)
    np.testing.assert_allclose(back[-1].x, points[0].x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(back[-1].momentum, -points[0].momentum, rtol=1e-9, atol=1e-9)


class WrongSign(RealNVP):
    """A map that gets the sign of its log determinant wrong."""

    def forward(self, weights, z):
        point = super().forward(weights, z)
        return point._replace(log_det=-point.log_det)

    def inverse(self, weights, x):
        point = super().inverse(weights, x)
        return point._replace(log_det=-point.log_det)


class WrongKernel(FlowKernel):
    """The kernel with that map."""

    def _flow(self, x):
        return WrongSign(x.shape[1], self._settings.width)


@pytest.mark.parametrize(("kernel", "valid"), [(FlowKernel, True), (WrongKernel, False)])
def test_exact_draws_stay_exact(targets, kernel, valid):
    """T-INV with a map far from a scaling; the sign of the log determinant shows."""
    target, rng = targets.Banana(), np.random.default_rng(11)
    sampler = kernel(EntropyHMC(preconditioner="realnvp", n_steps=3, width=8))
    flow = RealNVP(2, width=8)
    theta = flow.start(rng)
    params = Params(theta + 0.3 * rng.standard_normal(theta.shape), 0.8, 0.0)
    start = target.exact(rng, 4000)
    state = sampler.init(rng, target, start)
    for _ in range(20):
        state, info = sampler.step(rng, target, state, params)
    exact = target.exact(rng, 4000)
    assert 0.3 < info.accept_prob.mean() < 0.95
    assert np.sum((state.x - start) ** 2) > 0.5 * np.sum((exact - start) ** 2)
    name, score = worst(deviations(tamed(state.x, exact), exact))
    assert (abs(score) < LIMIT) == valid, name


def test_chains_without_a_density_stop(targets):
    """A marked row goes no further, costs nothing more and is left out of the loss."""
    target, rng = targets.HalfSpace(2), np.random.default_rng(12)
    flow = RealNVP(2, width=8)
    theta, h = flow.start(rng), 1.0
    w = flow.weights(theta)
    state = evaluate(target, target.exact(rng, 200))
    start = begin(flow, w, state, rng.standard_normal((200, 2)))
    points, taken = simulate(target, flow, w, start, h, 5)
    lost = ~np.isfinite(points[-1].logp)
    assert 10 < lost.sum() < 190
    np.testing.assert_array_equal(taken == 5, ~lost | np.isfinite(points[-2].logp))
    assert np.all(points[-1].energy[lost] == np.inf)
    path, rows = path_of(target, tuple(points), h, robust=False)
    np.testing.assert_array_equal(rows, np.flatnonzero(~lost))
    assert path.z.shape == (6, len(rows), 2)


# -- what is learned ---------------------------------------------------------------------------


class Nowhere:
    """Has a density at the start alone."""

    dim, coordinate_names = 2, ()

    def __call__(self, x):
        inside = np.all(x == 0.5, axis=1)
        return np.where(inside, 0.0, -np.inf), np.zeros_like(x)


def test_nothing_finite_shortens_the_steps():
    sampler = FlowKernel(EntropyHMC(preconditioner="realnvp", learning_rate=0.1, robust=False))
    rng = np.random.default_rng(13)
    state = sampler.init(rng, Nowhere(), np.full((3, 2), 0.5))
    start = sampler.adapt_init(rng, Nowhere(), state)
    state, info = sampler.step(rng, Nowhere(), state, sampler.params(start))
    after = sampler.adapt(rng, Nowhere(), 0, 10, start, state, info)
    assert after.step_size == pytest.approx(0.9 * start.step_size)
    np.testing.assert_array_equal(after.theta, start.theta)


class Ridge:
    """The published banana: x0 ~ N(0, 100), x1 | x0 ~ N((x0^2 - 100)/10, 1)."""

    dim, coordinate_names = 2, ()

    def __call__(self, x):
        e = x[:, 1] - 0.1 * (x[:, 0] ** 2 - 100.0)
        logp = -0.005 * x[:, 0] ** 2 - 0.5 * e**2
        return logp, np.stack([-0.01 * x[:, 0] + 0.2 * x[:, 0] * e, -e], axis=1)

    def hessian(self, x):
        e, slope = x[:, 1] - 0.1 * (x[:, 0] ** 2 - 100.0), 0.2 * x[:, 0]
        H = np.empty((len(x), 2, 2))
        H[:, 0, 0] = -0.01 + 0.2 * e - slope**2
        H[:, 0, 1] = H[:, 1, 0] = slope
        H[:, 1, 1] = -1.0
        return H

    def exact(self, rng, n):
        x0 = 10.0 * rng.standard_normal(n)
        return np.stack([x0, 0.1 * (x0**2 - 100.0) + rng.standard_normal(n)], axis=1)


def unevenness(target, flow, theta, x):
    """How much the curvature of the pulled-back density differs between places."""
    w = flow.weights(theta)
    slope = differences(
        lambda z: pulled_gradient(target, flow, w, z), flow.inverse(w, x).z, step=1e-5
    )
    size = np.linalg.norm(slope, 2, axis=(1, 2))
    return np.quantile(size, 0.9) / np.median(size)


def learned_on_a_ridge(warmup, seed):
    """Exact draws, and parameters before and after a warm-up."""
    target, rng = Ridge(), np.random.default_rng(seed)
    sampler = EntropyHMC(preconditioner="realnvp", penalty_start=0.95, clip=100.0, least_terms=2)
    x0, x = target.exact(rng, 10), target.exact(rng, 2000)
    first = sampler.params(sampler.adapt_init(rng, target, sampler.init(rng, target, x0)))
    return sampler, x, (first, run(sampler, target, x0, rng, warmup=warmup, draws=1))


@pytest.mark.statistical
def test_learning_straightens_a_banana():
    """The map evens out the curvature, which no matrix can."""
    _, x, both = learned_on_a_ridge(warmup=200, seed=16)
    before, after = (unevenness(Ridge(), RealNVP(2), p.theta, x) for p in both)
    assert before > 3.5
    assert after < 0.7 * before


@pytest.mark.statistical
def test_learning_lengthens_jumps():
    sampler, x, both = learned_on_a_ridge(warmup=1500, seed=16)
    rng = np.random.default_rng(17)
    state = sampler.init(rng, Ridge(), x)
    jumps = [np.mean((sampler.step(rng, Ridge(), state, p)[0].x - x) ** 2, axis=0) for p in both]
    assert np.all(jumps[1] > 3.0 * jumps[0])


@pytest.mark.statistical
@pytest.mark.parametrize("dim", [2, 4])
def test_moments_of_a_long_run(targets, dim):
    rng = np.random.default_rng(18)
    target = targets.Gaussian(rng.standard_normal(dim), targets.random_covariance(rng, dim))
    sampler = EntropyHMC(preconditioner="realnvp", width=16)
    x0 = rng.uniform(-2.0, 2.0, (8, dim))
    require_moments(target, sample(sampler, target, x0, 19, draws=1500, warmup=1000).x)


def test_diverged_trajectories_count_as_standing_still():
    """In a robust run they teach the curvature at their start; those of other chains are whole."""
    flow, theta = nonlinear()
    density, rng, w = Quartic(), np.random.default_rng(20), flow.weights(theta)
    x = rng.standard_normal((CHAINS, DIM))
    x[0] *= 100.0
    start = begin(flow, w, evaluate(density, x), rng.standard_normal((CHAINS, DIM)))
    points, _ = simulate(density, flow, w, start, 0.9, 5)
    assert points[-1].energy[0] - start.energy[0] > 1000.0
    path, rows = path_of(density, tuple(points), 0.9, robust=True)
    np.testing.assert_array_equal(rows, np.arange(CHAINS))
    np.testing.assert_array_equal(path.whole, rows != 0)
    assert not path.uphill[0]
    np.testing.assert_array_equal(path.z[:, 0], np.tile(start.z[0], (6, 1)))
    np.testing.assert_array_equal(path.grad[:, 0], np.tile(start.grad[0], (6, 1)))
    np.testing.assert_array_equal(path.middle[0], x[0])
    np.testing.assert_array_equal(path.hessian, density.hessian(path.middle))
    np.testing.assert_array_equal(path.z[:, 1:], np.stack([p.z[1:] for p in points]))
    only = path._replace(**{name: getattr(path, name)[:1] for name in SINGLE},
                         z=path.z[:, :1], grad=path.grad[:, :1])  # fmt: skip
    eps = np.ones((1, DIM))
    expansion = expand_flow(flow, theta, only, eps, weights(2, 2))
    nothing = expansion._replace(y=0.0 * eps)
    gradient = flow_gradient(flow, theta, only, nothing, eps, Weights(), np.zeros(1))
    np.testing.assert_array_equal(gradient, 0.0)


def test_large_gradients_keep_their_direction_in_robust_runs():
    gradient = np.array([1e6, -2e6, 3.0, np.nan])
    robust, published = (
        FlowKernel(EntropyHMC(preconditioner="realnvp", clip=50.0, robust=robust))
        for robust in (True, False)
    )
    np.testing.assert_allclose(robust._clipped(gradient), [25.0, -50.0, 7.5e-5, 0.0])
    np.testing.assert_allclose(published._clipped(gradient), [50.0, -50.0, 3.0, 0.0])
    np.testing.assert_array_equal(robust._clipped(gradient[2:]), [3.0, 0.0])


def test_robust_runs_do_not_depend_on_the_scale(targets):
    """The first scale of the map follows that of the target, up to the steps of the search."""
    rng = np.random.default_rng(15)
    found = []
    for scale in (1e-3, 1.0, 1e3):
        target = targets.Gaussian(np.zeros(2), scale**2 * np.eye(2))
        sampler = FlowKernel(EntropyHMC(preconditioner="realnvp", width=8))
        state = sampler.init(rng, target, target.exact(rng, 50))
        theta = sampler.adapt_init(rng, target, state).theta
        found.append(np.exp(RealNVP(2, width=8).weights(theta).log_scale[0]) / scale)
    assert max(found) < 10.0 * min(found)


def test_the_published_start():
    rng = np.random.default_rng(16)
    sampler = FlowKernel(EntropyHMC(preconditioner="realnvp", robust=False))
    state = sampler.init(rng, Ridge(), Ridge().exact(rng, 3))
    start = sampler.adapt_init(rng, Ridge(), state)
    assert start.step_size == 0.1
    np.testing.assert_array_equal(start.theta[-2:], -1.0)


# -- bad input ---------------------------------------------------------------------------------


def test_odd_dimensions_are_refused(targets):
    target = targets.Gaussian(np.zeros(3), np.eye(3))
    sampler = EntropyHMC(preconditioner="realnvp")
    with pytest.raises(SamplerError, match="RealNVP needs an even number of unconstrained"):
        run(sampler, target, np.zeros((4, 3)), np.random.default_rng(0), warmup=1, draws=1)
