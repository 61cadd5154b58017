"""entropy_hmc with a matrix: Algorithm 1 transcribed, what it learns, bad input, remarks."""

import numpy as np
import pytest

from probmodel.adaptation.entropy_loss import Weights
from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.numerics.roots import InverseBidiagonal, times
from probmodel.samplers.hamiltonian.entropy_hmc import EntropyHMC
from probmodel.samplers.hamiltonian.entropy_linear import Params
from probmodel.testing.statistics import LIMIT, deviations, worst

LINEAR = ("diag", "dense", "tridiagonal")


def condition(params, precision):
    """Condition number of C' Sigma^-1 C."""
    C = times(params.root, np.eye(len(precision))).T
    return np.linalg.cond(C.T @ precision @ C)


def learned(sampler, target, warmup, seed=1, chains=10):
    rng = np.random.default_rng(seed)
    x0 = rng.uniform(-2.0, 2.0, (chains, target.dim))
    return run(sampler, target, x0, rng, warmup=warmup, draws=0)


class Poisson:
    """Poisson regression whose density falls off doubly exponentially: a cliff."""

    coordinate_names = ()
    dim = 2

    def __init__(self):
        self.X = np.column_stack([np.ones(50), np.linspace(-20.0, 20.0, 50)])
        self.y = np.round(np.exp(self.X @ [1.0, 0.05]))

    def __call__(self, x):
        z = x @ self.X.T
        with np.errstate(over="ignore", invalid="ignore"):
            rate = np.exp(z)
            logp = z @ self.y - rate.sum(axis=1) - 0.005 * np.sum(x * x, axis=1)
            return logp, (self.y - rate) @ self.X - 0.01 * x

    def log_density(self, x):
        return self(x)[0]

    def hvp(self, x, v):
        return -(np.exp(x @ self.X.T) * (v @ self.X.T)) @ self.X - 0.01 * v

    def hessian(self, x):
        return np.stack([self.hvp(x, np.tile(e, (len(x), 1))) for e in np.eye(2)], axis=2)


# -- Algorithm 1 -------------------------------------------------------------------------------


def algorithm_1(target, x, rng, iterations, L, rate):
    """Algorithm 1 with explicit matrices and loops over chains: C, beta and gamma at the end."""
    chains, dim = x.shape
    C = np.diag(0.3 * np.abs(rng.standard_normal(dim)))
    beta, gamma, kappa = 1.0, 1e4, (L**2 - 1) / 6
    m, s = np.zeros((dim, dim)), np.zeros((dim, dim))
    for t in range(1, iterations + 1):
        v, u = rng.standard_normal((chains, dim)), None
        ends, deltas, paths = [], [], []
        for c in range(chains):
            q, p = x[c], np.linalg.solve(C.T, v[c])
            path = [q]
            for _ in range(L):
                p = p + 0.5 * target(q[None])[1][0]
                q = q + C @ C.T @ p
                p = p + 0.5 * target(q[None])[1][0]
                path.append(q)
            U = [-target(z[None])[0][0] for z in (q, x[c])]
            deltas.append(U[0] - U[1] + 0.5 * (p @ C @ C.T @ p - v[c] @ v[c]))
            ends.append(q)
            paths.append(path)
        u = rng.random(chains)
        eps = 2.0 * rng.integers(0, 2, (chains, dim)) - 1.0
        N = 3 + rng.geometric(0.5) - 1
        gradient, excesses = np.zeros((dim, dim)), []
        for c in range(chains):
            g = [-target(z[None])[1][0] for z in paths[c]]
            H = -target.hessian(paths[c][L // 2][None])[0]
            D = -kappa * C.T @ H @ C
            if deltas[c] > 0.0:
                w = sum((L - i) * g[i] for i in range(1, L)) + 0.5 * L * g[0]
                s_ = 0.5 * (g[0] + g[L]) + sum(g[1:L])
                r = v[c] - C.T @ s_
                gradient += np.outer(L * g[L], v[c]) - np.outer(g[L], C.T @ w)
                gradient -= np.outer(w, C.T @ g[L]) + np.outer(s_, r)
            eta, y = eps[c], eps[c].copy()
            for k in range(1, N + 1):
                new = D @ eta
                shrink = min(1.0, 0.99 * np.linalg.norm(eta) / np.linalg.norm(new))
                eta = new * shrink
                y += (-1) ** k / (1.0 if k <= 3 else 0.5 ** (k - 3)) * eta
            b = eta / np.linalg.norm(eta)
            mu = b @ D @ b
            dD = kappa * (np.outer(H @ C @ eps[c], y) + np.outer(H @ C @ y, eps[c]))
            excess = max(abs(mu) - 0.75, 0.0)
            penalty, bend = (excess**2, 2 * excess) if excess < 1 else (excess, 1.0)
            d_mu = -2.0 * kappa * np.outer(H @ C @ b, b)
            gradient += beta * (dD + gamma * bend * np.sign(mu) * d_mu)
            gradient -= beta * np.linalg.inv(C).T
            excesses.append(penalty)
        G = np.clip(np.tril(gradient) / chains, -1e3, 1e3)
        m, s = 0.9 * m + 0.1 * G, 0.999 * s + 0.001 * G**2
        C = C - rate * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-7)
        a = np.minimum(1.0, np.exp(-np.array(deltas)))
        beta = np.clip(beta * (1 + 0.1 * (a.mean() - 0.67)), 1e-2, 1e2)
        gamma = np.clip(gamma * (1 + 0.1 * np.mean(excesses)), 1e3, 1e5)
        x = np.where((u < a)[:, None], ends, x)
    return C, beta, gamma, x


@pytest.mark.parametrize("L", [2, 5])
def test_a_run_that_is_not_robust_is_algorithm_1(targets, L):
    target, x0 = targets.Banana(), np.random.default_rng(2).standard_normal((3, 2))
    sampler = EntropyHMC(robust=False, n_steps=L, learning_rate=0.01, initial_scale=0.3)
    rng = np.random.default_rng(3)
    state = sampler.init(rng, target, x0)
    adaptation = sampler.adapt_init(rng, target, state)
    for i in range(12):
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, 12, adaptation, state, info)
    C, beta, gamma, x = algorithm_1(target, x0, np.random.default_rng(3), 12, L, 0.01)
    np.testing.assert_allclose(adaptation.theta, C, rtol=1e-7, atol=1e-9)
    assert adaptation.weights == pytest.approx((beta, gamma), rel=1e-9)
    np.testing.assert_allclose(state.x, x, rtol=1e-7, atol=1e-9)


def test_two_roots_of_one_matrix_make_the_same_moves(targets):
    """Banded solves against the inverse of the same B."""
    rng = np.random.default_rng(4)
    b, e = rng.uniform(0.5, 1.5, 5), rng.standard_normal(4)
    dense = np.linalg.inv(np.diag(b) + np.diag(e, 1))
    target = targets.Gaussian(np.zeros(5), targets.random_covariance(rng, 5))
    sampler, x = EntropyHMC(), rng.standard_normal((6, 5))
    moved = [
        sampler.step(np.random.default_rng(5), target, sampler.init(rng, target, x),
                     Params(root, 0.7, 0.0))
        for root in (dense, InverseBidiagonal(b, e))
    ]  # fmt: skip
    np.testing.assert_allclose(moved[0][0].x, moved[1][0].x, atol=1e-10)
    np.testing.assert_allclose(moved[0][1].accept_prob, moved[1][1].accept_prob, atol=1e-10)


# -- what is learned ---------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("preconditioner", LINEAR)
@pytest.mark.parametrize("units", [1e-4, 1.0, 1e4])
def test_the_covariance_is_learned_in_any_units(targets, preconditioner, units):
    dim = 5
    scales = units * np.geomspace(1.0, 100.0, dim)
    lags = np.abs(np.arange(dim)[:, None] - np.arange(dim))
    correlation = np.eye(dim) if preconditioner == "diag" else 0.9**lags
    target = targets.Gaussian(np.zeros(dim), correlation * np.outer(scales, scales))
    params = learned(EntropyHMC(preconditioner=preconditioner), target, 400)
    assert condition(params, target.precision) < 1.5
    assert params.mu == pytest.approx(1.0 / 3.0, abs=0.1)  # where the entropy is largest


def test_squared_jumps_do_not_teach_the_covariance(targets):
    """Negative control: the objective is satisfied with the widest direction."""
    target = targets.Gaussian(np.zeros(5), np.diag(np.geomspace(1.0, 100.0, 5) ** 2))
    params = learned(EntropyHMC(preconditioner="diag", objective="esjd"), target, 400)
    assert condition(params, target.precision) > 3.0


@pytest.mark.parametrize("objective", ["esjd", "l2hmc"])
def test_jumps_grow_with_the_objectives_made_of_them(targets, objective):
    target = targets.Gaussian(np.zeros(3), np.eye(3))
    sampler = EntropyHMC(objective=objective, initial_scale=0.02, n_steps=2)
    params = learned(sampler, target, 300)
    assert 0.06 < np.linalg.norm(params.root, 2) < 2.0


@pytest.mark.parametrize("settings", [{"exact": True}, {"n_steps": 1}, {"momentum": 0.0}])
def test_variants_learn_the_covariance_too(targets, settings):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 1e4]))
    params = learned(EntropyHMC(**settings), target, 600)
    assert condition(params, target.precision) < 2.0


def test_chains_that_start_on_a_cliff_catch_up():
    target, rng = Poisson(), np.random.default_rng(6)
    x0 = rng.uniform(-2.0, 2.0, (10, 2))
    sampler = EntropyHMC()
    state = sampler.init(rng, target, x0)
    adaptation = sampler.adapt_init(rng, target, state)
    for i in range(400):
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, 400, adaptation, state, info)
    assert adaptation.own.whole.all()
    assert np.ptp(state.logp) < 30.0
    assert np.isscalar(sampler.params(adaptation, final=True).step_size)


def test_steps_shrink_where_no_proposal_is_finite(targets):
    target, sampler = targets.HalfSpace(2), EntropyHMC(robust=False, initial_scale=1e6)
    rng = np.random.default_rng(7)
    state = sampler.init(rng, target, np.array([[1e-9, 0.0], [1e-9, 0.0]]))
    adaptation = sampler.adapt_init(rng, target, state)
    proposal = state._replace(logp=np.full(2, -np.inf))
    _, info = sampler.step(rng, target, state, sampler.params(adaptation))
    after = sampler.adapt(rng, target, 0, 10, adaptation, state, info._replace(proposal=proposal))
    assert after.step_size == pytest.approx(1.0 - sampler.rate)
    np.testing.assert_array_equal(after.theta, adaptation.theta)


def test_chains_whose_hessian_is_not_finite_teach_nothing(targets):
    target, sampler = targets.Banana(), EntropyHMC()
    rng = np.random.default_rng(8)
    state = sampler.init(rng, target, rng.standard_normal((4, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    state, info = sampler.step(rng, target, state, sampler.params(adaptation))

    class Holed(targets.Banana):
        bad = slice(0, 1)

        def hvp(self, x, v):
            product = super().hvp(x, v)
            product[self.bad] = np.nan
            return product

    holed = Holed()
    after = sampler.adapt(rng, holed, 0, 10, adaptation, state, info)
    assert np.isfinite(after.theta).all()
    assert not np.array_equal(after.theta, adaptation.theta)
    holed.bad = slice(0, 4)
    after = sampler.adapt(rng, holed, 0, 10, adaptation, state, info)
    np.testing.assert_array_equal(after.theta, adaptation.theta)
    assert after.step_size < adaptation.step_size


def test_the_warm_up_costs_what_it_says(targets):
    """A gradient a leapfrog step; in the warm-up a product for each term of the series."""

    class Counted(targets.Banana):
        grads = products = 0

        def __call__(self, x):
            self.grads += 1
            return super().__call__(x)

        def hvp(self, x, v):
            self.products += 1
            return super().hvp(x, v)

    for settings, least, most in (({}, 4, 30), ({"n_steps": 1}, 0, 0),
                                  ({"objective": "esjd", "n_steps": 3}, 3, 3)):  # fmt: skip
        target, sampler, rng = Counted(), EntropyHMC(**settings), np.random.default_rng(9)
        state = sampler.init(rng, target, rng.standard_normal((4, 2)))
        adaptation = sampler.adapt_init(rng, target, state)
        target.grads = 0
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        assert target.grads == sampler.n_steps
        sampler.adapt(rng, target, 0, 10, adaptation, state, info)
        assert target.grads == sampler.n_steps
        assert least <= target.products <= most


# -- invariance --------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("preconditioner", LINEAR)
def test_the_frozen_kernel_leaves_the_target_invariant(targets, preconditioner):
    target, rng = targets.Banana(), np.random.default_rng(10)
    sampler = EntropyHMC(preconditioner=preconditioner, n_steps=3)
    params = run(sampler, target, target.exact(rng, 20), rng, warmup=500, draws=0)
    state = sampler.init(rng, target, target.exact(rng, 8000))
    for _ in range(20):
        state, _ = sampler.step(rng, target, state, params)
    name, score = worst(deviations(state.x, target.exact(rng, 8000)))
    assert abs(score) < LIMIT, name


@pytest.mark.statistical
def test_learning_rate_falls_where_it_is_to():
    falling = [1.0, 1.0, 1.0, 0.5, 0.0]
    for settings, expected in (
        ({}, falling),
        ({"robust": False}, [1.0] * 5),
        ({"robust": False, "decay": True}, falling),
        ({"decay": False}, [1.0] * 5),
    ):
        sampler = EntropyHMC(learning_rate=1.0, **settings)
        assert [sampler.rate_at(i, 8) for i in (0, 2, 4, 6, 8)] == expected


@pytest.mark.statistical
def test_published_settings_learn_an_anisotropic_target(targets):
    """Variances from 1 to 100 in 100 dimensions, fixed steps of 0.001: 303 falls to about 1."""
    dim = 100
    target = targets.Gaussian(np.zeros(dim), np.diag(np.geomspace(1.0, 100.0, dim)))
    sampler = EntropyHMC(preconditioner="diag", robust=False)
    rng = np.random.default_rng(11)
    params = run(sampler, target, rng.standard_normal((10, dim)), rng, warmup=10_000, draws=0)
    assert condition(params, target.precision) < 1.5
    early = run(sampler, target, rng.standard_normal((10, dim)), rng, warmup=300, draws=0)
    assert condition(early, target.precision) > 10.0  # negative control


# -- bad input, remarks ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"preconditioner": "full"}, "preconditioner must be one of 'diag', 'dense'"),
        ({"objective": "entropy"}, "objective must be one of 'gsm', 'esjd', 'l2hmc'"),
        ({"n_steps": 0}, "n_steps must be a whole number of at least 1, got 0"),
        ({"n_steps": 2.5}, "n_steps"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"momentum": 1.0}, "momentum"),
        ({"momentum": -0.1}, "momentum"),
        ({"penalty_start": 1.0}, "penalty_start"),
        ({"clip": 0.0}, "clip"),
        ({"decay": 1}, "decay"),
        ({"initial_scale": -1.0}, "initial_scale"),
        ({"robust": 1}, "robust must be True or False"),
        ({"preconditioner": "realnvp", "objective": "esjd"}, 'learned with objective="gsm"'),
        ({"preconditioner": "realnvp", "exact": True}, "exact=False"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(SamplerError, match=words):
        EntropyHMC(**settings)


def test_a_start_without_a_density_is_refused(targets):
    with pytest.raises(SamplerError, match="finite"):
        EntropyHMC().init(np.random.default_rng(1), targets.HalfSpace(2), -np.ones((3, 2)))


@pytest.mark.parametrize(
    ("mu", "accepted", "kinds"),
    [
        (0.33, 0.9, []),
        (1.2, 0.9, ["large_eigenvalue"]),
        (0.33, 0.1, ["low_acceptance"]),
        (2.0, 0.1, ["low_acceptance", "large_eigenvalue"]),
    ],
)
def test_remarks(mu, accepted, kinds):
    stats = {"acceptance_rate": np.full((2, 5), accepted)}
    remarks = EntropyHMC().remarks(Params(np.ones(2), 1.0, mu), stats)
    assert [remark.kind for remark in remarks] == kinds
    assert all("warmup" in remark.message for remark in remarks)


def test_an_objective_without_a_target_acceptance_is_not_told_of_one():
    stats = {"acceptance_rate": np.full((2, 5), 0.1)}
    for objective, told in (("gsm", True), ("esjd", False), ("l2hmc", False)):
        (remark,) = EntropyHMC(objective=objective).remarks(Params(np.ones(2), 1.0, 0.3), stats)
        assert "0.10 of its proposals" in remark.message
        assert ("target_accept" in remark.message) == told


def test_first_weights_are_those_of_the_paper():
    assert Weights() == (1.0, 1e4)
