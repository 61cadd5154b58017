"""Riemannian manifold HMC: its forces, its integrator, its acceptance, and what it refuses."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from probmodel import LogDensity, Model, data, infer, load_model, observed, param, read_data
from probmodel.density import as_posterior
from probmodel.distributions import Censored, HalfNormal, Normal
from probmodel.errors import ModelError, SamplerError
from probmodel.inference.chains import run
from probmodel.inference.counting import counting
from probmodel.inference.driver import Collector
from probmodel.inference.groups import sample
from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian.bayes_adaptive import Params as Chosen
from probmodel.samplers.hamiltonian.dynamics import hamiltonian_step
from probmodel.samplers.riemannian import manifold as riemannian
from probmodel.samplers.riemannian.armhmc import AdaptiveRiemannianHMC
from probmodel.samplers.riemannian.manifold import (
    RiemannianState,
    checked,
    generalised_leapfrog,
    locate,
    riemannian_step,
)
from probmodel.samplers.riemannian.metrics import Frame, Metric
from probmodel.samplers.riemannian.rmhmc import Params, RiemannianHMC
from probmodel.types import Evaluation

# -- targets ---------------------------------------------------------------------------------------

rng_of_data = np.random.default_rng(1)
X = np.column_stack([np.ones(12), rng_of_data.standard_normal(12) * 2.0])
Y = (rng_of_data.random(12) < expit(X @ [1.0, 2.0])).astype(float)


def log_posterior(x):
    z = x @ X.T
    return z @ Y - np.logaddexp(0.0, z).sum(axis=1) - 0.5 * np.sum(x * x, axis=1) / 9.0


def skewed(**smooth):
    """Logistic regression on few data: two dimensions, skew, with its Fisher information."""

    def gradient(x):
        return (Y - expit(x @ X.T)) @ X - x / 9.0

    def metric(x):
        s = expit(x @ X.T)
        return np.einsum("cn,ni,nj->cij", s * (1 - s), X, X) + np.eye(2) / 9.0

    def metric_gradient(x, M):
        s = expit(x @ X.T)
        return (s * (1 - s) * (1 - 2 * s) * np.einsum("ni,cij,nj->cn", X, M, X)) @ X

    options = {"metric_gradient": metric_gradient} if smooth.get("gradient", True) else {}
    return LogDensity.from_function(log_posterior, 2, gradient=gradient, metric=metric, **options)


class Funnel(Model):
    spread = param(HalfNormal(1))
    x = param(Normal(0, spread), shape=2)
    y = observed(Normal(x, np.array([0.5, 1.0])))


class Groups(Model):
    group = data(dims="n", dtype=int, lower=0)
    mean = param(Normal(0, 1), shape=4)
    scale = param(HalfNormal(1))
    y = observed(Normal(mean[group], scale), dims="n")


def model_density(name):
    rng = np.random.default_rng(2)
    if name == "logistic":
        wine = read_data("models/data/ripley.npz")
        return as_posterior(load_model("models/logistic_regression.py")(**wine))
    if name == "volatility":
        model = load_model("models/stochastic_volatility_centered.py")
        return as_posterior(model(y=rng.standard_normal(6)))
    return as_posterior(Funnel(y=np.array([1.0, -1.5])))


def case(name, targets):
    """Target, metric and points of a test of the forces."""
    rng = np.random.default_rng(3)
    banana = targets.Banana()
    known = {
        "differences": (banana, Metric()),
        "neg_hessian": (skewed(), Metric("neg_hessian")),
        "softabs": (banana, Metric("softabs", 2.0)),
        "hard softabs": (banana, Metric("softabs")),
        "fisher": (skewed(), Metric()),
        "fisher by differences": (skewed(gradient=False), Metric()),
        "softabs of a model": (model_density("hierarchy"), Metric("softabs", 3.0)),
        "neg_hessian of a model": (model_density("logistic"), Metric("neg_hessian")),
    }
    target, metric = known.get(name) or (model_density(name), Metric())
    x = 0.7 * rng.standard_normal((300, target.dim))
    definite = np.linalg.eigvalsh(metric(target, x)).min(axis=1) > 0.3
    assert definite.sum() >= 3
    return target, metric, x[definite][:3]


CASES = ["differences", "neg_hessian", "softabs", "hard softabs", "fisher", "fisher by differences",
         "softabs of a model", "neg_hessian of a model", "logistic", "hierarchy",
         "volatility"]  # fmt: skip


def frame_of(state):
    positive = np.ones(len(state.x), dtype=bool)
    return Frame(state.root, state.columns, state.log_det, state.memory, positive)


def started(target, metric, x, seed=4):
    """State at ``x``, whitened momenta and momenta."""
    state, positive, _ = locate(metric, target, x)
    assert positive.all()
    z = np.random.default_rng(seed).standard_normal(x.shape)
    return state, z, np.einsum("cij,cj->ci", state.root, z)


def hamiltonian(target, metric, x, p):
    """H from dense linear algebra."""
    G = metric(target, x)
    quadratic = np.einsum("ci,ci->c", p, np.linalg.solve(G, p[..., None])[..., 0])
    return -target(x)[0] + 0.5 * np.linalg.slogdet(G)[1] + 0.5 * quadratic


# -- forces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_force_is_the_gradient_of_the_hamiltonian(targets, name):
    target, metric, x = case(name, targets)
    state, z, p = started(target, metric, x)
    bend, _ = metric.bend(target, x, state.grad, frame_of(state), state.memory, z)
    found = -state.grad + state.volume + bend
    expected = np.zeros(x.shape)
    for i in range(x.shape[1]):
        for shift, factor in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
            there = x.copy()
            there[:, i] += shift * 2e-3
            expected[:, i] += factor / 2e-3 * hamiltonian(target, metric, there, p)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-5, 1e-2])
def test_softabs_with_nearly_equal_eigenvalues(gap):
    """A Hessian that is almost a multiple of the identity, and turns as x moves."""

    class Round:
        dim, coordinate_names = 2, ()

        def __call__(self, x):
            r = np.sum(x * x, axis=1)
            cubic = x[:, 0] ** 2 * x[:, 1] + 0.3 * x[:, 1] ** 3
            logp = -0.5 * r - 0.5 * gap * x[:, 0] ** 2 - 0.2 * cubic
            g = -x - 0.2 * np.stack(
                [2 * x[:, 0] * x[:, 1], x[:, 0] ** 2 + 0.9 * x[:, 1] ** 2], axis=1
            )
            g[:, 0] -= gap * x[:, 0]
            return logp, g

        def hessian(self, x):
            H = np.zeros((len(x), 2, 2))
            H[:, 0, 0] = -1 - gap - 0.4 * x[:, 1]
            H[:, 0, 1] = H[:, 1, 0] = -0.4 * x[:, 0]
            H[:, 1, 1] = -1 - 0.36 * x[:, 1]
            return H

    target, metric, x = Round(), Metric("softabs", 0.8), np.zeros((3, 2))
    state, z, p = started(target, metric, x)
    bend, _ = metric.bend(target, x, state.grad, frame_of(state), state.memory, z)
    for i in range(2):
        up, down = x.copy(), x.copy()
        up[:, i], down[:, i] = 1e-4, -1e-4
        slope = (hamiltonian(target, metric, up, p) - hamiltonian(target, metric, down, p)) / 2e-4
        np.testing.assert_allclose((state.volume + bend - state.grad)[:, i], slope, atol=1e-7)


# -- integrator ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_reversible(targets, name):
    target, metric, x = case(name, targets)
    state, _, p = started(target, metric, x)
    h = np.full(len(x), 0.1)
    step = generalised_leapfrog(target, state, p, metric, h)
    assert step.fine.all()
    back = generalised_leapfrog(target, step.state, -step.momentum, metric, h)
    scale = 1.0 + np.abs(x).max() + np.abs(p).max()
    np.testing.assert_allclose(back.state.x, x, atol=1e-9 * scale)
    np.testing.assert_allclose(back.momentum, -p, atol=1e-9 * scale)
    again = generalised_leapfrog(target, step.state, step.momentum, metric, -h)
    np.testing.assert_allclose(again.state.x, back.state.x, atol=1e-12 * scale)


def jacobian(target, metric, x, p, h):
    """Jacobian of a step in (x, p), by differences of fourth order: (2 dim, 2 dim)."""
    dim = x.shape[1]
    out = np.zeros((2 * dim, 2 * dim))
    for shift, factor in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
        moves = np.concatenate([x, p], axis=1) + shift * 1e-3 * np.eye(2 * dim)
        state, _, _ = locate(metric, target, moves[:, :dim])
        step = generalised_leapfrog(target, state, moves[:, dim:], metric, np.full(2 * dim, h))
        assert step.fine.all()
        out += factor / 1e-3 * np.concatenate([step.state.x, step.momentum], axis=1).T
    return out


VOLUMES = ["differences", "neg_hessian", "softabs", "fisher", "hierarchy", "softabs of a model"]


@pytest.mark.parametrize("name", VOLUMES)
def test_a_step_keeps_volumes(targets, name):
    target, metric, x = case(name, targets)
    _, _, p = started(target, metric, x)
    J = jacobian(target, metric, x[:1], p[:1], 0.3)
    assert abs(np.linalg.det(J)) == pytest.approx(1.0, abs=2e-6)


def test_a_step_without_the_slopes_of_the_metric_does_not(targets, monkeypatch):
    """Negative control: an explicit leapfrog that takes the metric for constant."""
    target, metric, x = case("fisher", targets)
    _, _, p = started(target, metric, x)
    monkeypatch.setattr(Metric, "bend", lambda self, d, x, *rest: (0.0 * x, np.zeros(len(x), int)))
    J = jacobian(target, metric, x[:1], p[:1], 0.3)
    assert abs(abs(np.linalg.det(J)) - 1.0) > 1e-2


@pytest.mark.parametrize("name", ["differences", "fisher", "softabs"])
def test_error_of_the_energy_is_of_third_order(targets, name):
    target, metric, x = case(name, targets)
    state, z, p = started(target, metric, x)
    errors = []
    for h in (0.02, 0.01):
        step = generalised_leapfrog(target, state, p, metric, np.full(len(x), h))
        end = np.einsum("cji,cj->ci", step.state.columns, step.momentum)
        errors.append(step.state.energy(end) - state.energy(z))
        exact = hamiltonian(target, metric, step.state.x, step.momentum)
        np.testing.assert_allclose(step.state.energy(end), exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(errors[0] / errors[1], 8.0, rtol=0.25)


@pytest.mark.parametrize("metric", ["fisher", "neg_hessian", "softabs"])
def test_on_a_gaussian_target_it_is_hmc_with_that_mass(targets, metric):
    rng = np.random.default_rng(5)
    target = targets.Gaussian(rng.standard_normal(3), targets.random_covariance(rng, 3))
    x = rng.standard_normal((20, 3))
    state, _, _ = locate(Metric(metric), target, x)
    _, info = riemannian_step(np.random.default_rng(6), target, state, Metric(metric), 0.7, 4)
    if metric == "softabs":  # another root of the same matrix: another momentum
        assert np.mean(info.accept_prob) > 0.9
        return
    root = np.linalg.inv(np.linalg.cholesky(target.precision)).T
    _, other = hamiltonian_step(
        np.random.default_rng(6), target, State(x, *target(x)), root, 0.7, 4
    )
    np.testing.assert_allclose(info.proposal.x, other.proposal.x, atol=1e-9)
    np.testing.assert_allclose(info.accept_prob, other.accept_prob, atol=1e-9)


# -- the kernel as a whole -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quadrature():
    """Exact draws and moments of the skewed posterior, from a fine grid."""
    first, second = np.linspace(-6, 12, 500), np.linspace(-6, 16, 600)
    grid = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.exp(log_posterior(grid) - log_posterior(grid).max())
    weights /= weights.sum()
    cell = np.array([first[1] - first[0], second[1] - second[0]])

    def draw(rng, n):
        return grid[rng.choice(len(grid), n, p=weights)] + cell * rng.uniform(-0.5, 0.5, (n, 2))

    return draw, grid, weights


FEATURES = [
    lambda x: x[:, 0], lambda x: x[:, 1], lambda x: x[:, 0] ** 2, lambda x: x[:, 1] ** 2,
    lambda x: x[:, 0] * x[:, 1], lambda x: x[:, 1] > 2.0, lambda x: x[:, 1] > 4.0,
    lambda x: x[:, 0] > 1.0, log_posterior,
]  # fmt: skip


def worst_score(quadrature, metric, step_size=0.8, chains=2000, steps=6):
    """Largest deviation, in standard errors, after steps from exact draws."""
    draw, grid, weights = quadrature
    rng, target = np.random.default_rng(7), skewed()
    state, _, _ = locate(metric, target, draw(rng, chains))
    for _ in range(steps):
        state, _ = riemannian_step(rng, target, state, metric, step_size, 3)
    scores = []
    for feature in FEATURES:
        values = feature(grid).astype(float)
        exact = weights @ values
        sd = np.sqrt(weights @ (values - exact) ** 2)
        scores.append((feature(state.x).mean() - exact) / (sd / np.sqrt(chains)))
    return np.abs(scores).max()


@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["fisher", "neg_hessian"])
def test_the_posterior_is_invariant(quadrature, metric):
    assert worst_score(quadrature, Metric(metric)) < 4.0


def test_a_wrong_metric_gradient_is_found(quadrature, monkeypatch):
    """Negative control: the integrator that takes the metric for constant."""
    monkeypatch.setattr(Metric, "bend", lambda self, d, x, *rest: (0.0 * x, np.zeros(len(x), int)))
    assert worst_score(quadrature, Metric()) > 6.0


def test_a_forgotten_determinant_is_found(quadrature, monkeypatch):
    """Negative control: an energy without log |G|."""
    monkeypatch.setattr(
        RiemannianState, "energy", lambda self, z: 0.5 * np.sum(z * z, axis=1) - self.logp
    )
    assert worst_score(quadrature, Metric()) > 6.0


def test_gradients_are_counted(targets):
    """What it says it took is what the target was asked for: a metric is dim, a product two."""
    for target, metric in [(targets.Banana(), Metric()), (skewed(), Metric()),
                           (skewed(), Metric("neg_hessian")),
                           (targets.Banana(), Metric("softabs", 2.0))]:  # fmt: skip
        counted = counting(target)
        x = np.random.default_rng(8).standard_normal((9, 2))
        state, _, _ = locate(metric, counted, x)
        before = counted.work
        _, info = riemannian_step(
            np.random.default_rng(8), counted, state, metric, 0.5, np.arange(1, 10)
        )
        work = counted.work.minus(before)
        assert info.n_grad.sum() == work.grad + 2 * work.hvp + 2 * work.hessian
        assert (info.stats["n_steps"] <= np.arange(1, 10)).all()


def test_chains_have_their_own_lengths_and_steps(targets):
    """Each chain ends where it ends alone, with the same noise."""
    target, metric = targets.Banana(), Metric()
    x = np.random.default_rng(9).standard_normal((5, 2))
    state, z, _ = started(target, metric, x)
    n, h = np.array([1, 4, 2, 3, 1]), np.linspace(0.1, 0.5, 5)
    end, momentum, failed, taken, _ = riemannian.simulate(target, state, z, metric, h, n, False)
    assert not failed.any()
    np.testing.assert_array_equal(taken, n)
    for c in range(5):
        rows = slice(c, c + 1)
        alone = riemannian.simulate(target, state.rows(rows), z[rows], metric, h[c], n[c], False)
        np.testing.assert_allclose(alone[0].x[0], end.x[c], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(alone[1][0], momentum[c], rtol=1e-9, atol=1e-9)


# -- failures and refusals -------------------------------------------------------------------------


def test_trajectories_that_leave_the_metric_are_rejected(targets):
    """Minus the Hessian of the banana is indefinite where x1 is large."""
    target, metric = targets.Banana(), Metric("neg_hessian")
    x = np.array([[0.0, -0.5]] * 200)
    state, _, _ = locate(metric, target, x)
    new, info = riemannian_step(np.random.default_rng(10), target, state, metric, 0.7, 2)
    failed = info.stats["fixed_point_failed"]
    assert 0 < failed.sum() < 200
    np.testing.assert_array_equal(new.x[failed], x[failed])
    np.testing.assert_array_equal(info.accept_prob[failed], 0.0)
    assert np.isfinite(new.x).all()
    assert np.isfinite(info.proposal.x).all()
    assert metric.factor(target, new.x).positive.all()
    assert not info.diverging[info.accepted].any()
    (remark,) = RiemannianHMC(metric="neg_hessian").remarks(None, {"fixed_point_failed": failed})
    assert remark.kind == "fixed_point_failed"
    assert "softabs" in remark.message
    assert not RiemannianHMC().remarks(None, {"fixed_point_failed": np.zeros((2, 9), dtype=bool)})


def test_sharp_bends_are_taken_both_ways(targets):
    """Long steps in a metric with sharp bends: some do not come back."""
    target, metric = targets.Banana(), Metric("softabs", 2.0)
    x = target.exact(np.random.default_rng(11), 300)
    state, _, _ = locate(metric, target, x)
    failed, cost = {}, {}
    for check in (False, True):
        _, info = riemannian_step(np.random.default_rng(12), target, state, metric, 1.0, 1, check)
        failed[check], cost[check] = info.stats["fixed_point_failed"], info.n_grad
    assert (failed[True] & ~failed[False]).any()
    assert not (failed[False] & ~failed[True]).any()
    assert np.mean(cost[True]) > 1.3 * np.mean(cost[False])


class ZeroCount:
    """Logarithm of a rate with the posterior Gamma(1, 2): no event, and a prior Exponential(1).

    Its density falls to the left where the metric vanishes, so that long steps are common there.
    """

    dim, coordinate_names = 1, ()

    def __call__(self, x):
        return Evaluation(self.log_density(x), 1.0 - 2.0 * np.exp(x))

    def log_density(self, x):
        return (x - 2.0 * np.exp(x))[:, 0]

    def metric(self, x):
        return 2.0 * np.exp(x)[:, :, None]

    def metric_gradient(self, x, vectors, weights):
        return 2.0 * np.exp(x) * np.sum(weights * vectors[:, :, 0] ** 2, axis=1, keepdims=True)

    def exact(self, rng, n):
        return np.log(rng.gamma(1.0, 0.5, (n, 1)))


def ways_back(step_size, rng, chains=20_000):
    """Which steps from exact draws are kept by the check, and how far from the start each ends."""
    target, metric, h = ZeroCount(), Metric(), np.full(chains, step_size)
    state, _, p = started(target, metric, target.exact(rng, chains))
    step = generalised_leapfrog(target, state, p, metric, h)
    kept = checked(target, state, metric, h, step).fine
    rows = np.flatnonzero(step.fine)
    back = generalised_leapfrog(
        target, step.state.rows(rows), -step.momentum[rows], metric, h[rows]
    )
    moves = [back.state.x - state.x[rows], back.momentum + p[rows]]
    away = np.where(back.fine, np.abs(moves).max(axis=(0, 2)), np.inf)
    assert not (kept & ~step.fine).any()
    return kept[rows], away


@pytest.mark.parametrize("step_size", [0.5, 0.8])
def test_steps_that_are_kept_come_back(step_size):
    kept, away = ways_back(step_size, np.random.default_rng(18))
    assert kept.mean() > 0.98
    assert away[kept].max() < 1e-4
    # Negative control: of those that are not, none does.
    assert np.count_nonzero(~kept) > 10
    assert away[~kept].min() > 1e-4


KERNELS = [(RiemannianHMC, Params(1.0)), (AdaptiveRiemannianHMC, Chosen(1.0, 2, (0.1, 1.0), 0))]


def zero_count_scores(sampler, params, chains=40_000):
    """Changes of means by a transition from exact draws, in standard errors."""
    rng, target = np.random.default_rng(19), ZeroCount()
    state = sampler.init(rng, target, target.exact(rng, chains))
    new, _ = sampler.step(rng, target, state, params)
    features = [lambda x: x, np.square, np.exp, lambda x: np.exp(2.0 * x), lambda x: x < -1.5]
    changes = [f(new.x).astype(float) - f(state.x) for f in features]
    return np.abs([np.sqrt(chains) * change.mean() / change.std() for change in changes])


@pytest.mark.parametrize(("method", "params"), KERNELS)
def test_transitions_from_exact_draws_are_exact(method, params):
    assert zero_count_scores(method(), params).max() < 4.0


@pytest.mark.parametrize(("method", "params"), KERNELS)
def test_irreversible_transitions_are_not(method, params):
    """Negative control: without the check the left tail is lost."""
    assert zero_count_scores(method(check_reversibility=False), params).max() > 5.0


@pytest.mark.statistical
@pytest.mark.parametrize("method", [RiemannianHMC, AdaptiveRiemannianHMC])
def test_draws_after_a_warm_up_are_exact(method):
    """Posterior Gamma(4, 2) of a rate: the distribution function is uniform."""
    target = LogDensity.from_function(
        lambda x: (4.0 * x - 2.0 * np.exp(x))[:, 0], 1,
        gradient=lambda x: 4.0 - 2.0 * np.exp(x), metric=lambda x: 2.0 * np.exp(x)[:, :, None],
        metric_gradient=lambda x, M: 2.0 * np.exp(x) * M[:, :, 0],
    )  # fmt: skip
    starts = np.log(np.random.default_rng(20).gamma(4.0, 0.5, (200, 1)))
    sampled = sample(method(), target, starts, 21, draws=300, warmup=300)
    u = stats.gamma(4.0, scale=0.5).cdf(np.exp(sampled.x[..., 0]))
    for values, mean in ((u, 0.5), ((u - 0.5) ** 2, 1 / 12), (u < 0.02, 0.02), (u > 0.98, 0.02)):
        each = values.mean(axis=1)  # of a chain
        assert abs(each.mean() - mean) < 4.0 * each.std(ddof=1) / np.sqrt(len(each))


def test_start_without_a_metric(targets):
    x0 = np.array([[0.0, 0.0], [0.0, 3.0], [0.0, 0.1], [0.0, 4.0]])
    with pytest.raises(SamplerError, match="chain 1, 3 of 4") as error:
        RiemannianHMC(metric="neg_hessian").init(np.random.default_rng(13), targets.Banana(), x0)
    assert "softabs" in str(error.value)
    assert error.value.values["chains"] == [1, 3]
    RiemannianHMC(metric="softabs").init(np.random.default_rng(13), targets.Banana(), x0)


def test_density_without_a_metric(targets):
    with pytest.raises(SamplerError, match=r"rmhmc .* method metric"):
        RiemannianHMC().init(
            np.random.default_rng(14), targets.Logistic(np.eye(2), [0, 1]), np.zeros((2, 3))
        )


class Cut(Model):
    mu = param(Normal(0, 1))
    y = observed(Censored(Normal(mu, 1.0), lower=0.0))


def test_a_model_without_information_is_refused_before_it_is_run():
    model = Cut(y=np.array([0.0, 1.0]))
    with pytest.raises(ModelError, match=r"Censored.*metric=\"neg_hessian\""):
        infer(model, method=RiemannianHMC(), warmup=10**6, draws=1, quiet=True)
    RiemannianHMC(metric="softabs").init(
        np.random.default_rng(17), as_posterior(model), np.zeros((2, 1))
    )


def test_warm_up_reaches_the_acceptance():
    target = skewed()
    rng = np.random.default_rng(15)
    seen = []

    class Seen(Collector):
        def record(self, phase, i, state, info, params):
            if phase == "draw":
                seen.append((info.accept_prob.mean(), info.stats["n_steps"]))

    params = run(RiemannianHMC(target_accept=0.7), target, np.zeros((4, 2)), rng,
                 warmup=80, draws=60, collectors=[Seen()])  # fmt: skip
    accepted, lengths = zip(*seen, strict=True)
    assert np.mean(accepted) == pytest.approx(0.7, abs=0.15)
    assert params.step_size > 0.3
    assert set(np.max(lengths, axis=1)) == {1, 2, 3, 4, 5, 6}


class Untouched:
    """A model whose metric is cheap, and whose gradient of it must not be asked for."""

    def __init__(self, density):
        self.density, self.asked = density, 0

    def __call__(self, x):
        return self.density(x)

    def __getattr__(self, name):
        return getattr(self.density, name)

    def metric_gradient(self, x, vectors, weights):
        self.asked += 1
        return self.density.metric_gradient(x, vectors, weights)


def test_a_cheap_metric_is_differentiated_once_a_position(monkeypatch):
    density = model_density("hierarchy")
    assert density.metric_is_cheap
    x, ends = 0.2 * np.random.default_rng(4).standard_normal((3, density.dim)), []
    for cheap in (True, False):
        monkeypatch.setattr(density._metric, "is_cheap", cheap)
        target = Untouched(density)
        state, _, p = started(target, Metric(), x)
        step = generalised_leapfrog(target, state, p, Metric(), np.full(3, 0.3))
        assert step.fine.all()
        assert (target.asked == 0) is cheap
        ends.append(np.concatenate([step.state.x, step.momentum]))
    np.testing.assert_allclose(*ends, rtol=1e-6, atol=1e-7)


def test_a_metric_of_many_data_is_not_cheap():
    rng = np.random.default_rng(5)
    for n, cheap in ((50, True), (5000, False)):
        model = Groups(y=rng.standard_normal(n), group=np.arange(n) % 4)
        assert as_posterior(model).metric_is_cheap is cheap


def test_a_step_size_that_stays(targets):
    rng, banana = np.random.default_rng(0), targets.Banana()
    for adapts in (True, False):
        sampler = RiemannianHMC(step_size=0.3, adapt_step_size=adapts, metric="softabs")
        state = sampler.init(rng, banana, 0.1 * rng.standard_normal((3, banana.dim)))
        known = sampler.adapt_init(rng, banana, state)
        for i in range(5):
            state, info = sampler.step(rng, banana, state, sampler.params(known))
            known = sampler.adapt(rng, banana, i, 5, known, state, info)
        assert (sampler.params(known, final=True).step_size == pytest.approx(0.3)) is not adapts


def test_first_step_size_and_fixed_lengths(targets):
    rng, target = np.random.default_rng(16), targets.Banana()
    for given, first in ((None, 0.5), (0.2, 0.2)):
        sampler = RiemannianHMC(step_size=given, random_steps=False, n_steps=3)
        state = sampler.init(rng, target, np.zeros((4, 2)))
        params = sampler.params(sampler.adapt_init(rng, target, state))
        assert params.step_size == pytest.approx(first)
        _, info = sampler.step(rng, target, state, Params(0.1))
        assert info.stats["n_steps"].tolist() == [3] * 4


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("adapt_step_size", "no"),
        ("step_size", 0.0),
        ("n_steps", 0),
        ("n_steps", 2.5),
        ("random_steps", 1),
        ("metric", "Fisher"),
        ("softness", 0.0),
        ("check_reversibility", "yes"),
        ("check_reversibility", None),
    ],
)
def test_settings_out_of_range(setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        RiemannianHMC(**{setting: value})
    assert repr(value) in str(error.value)
