"""The gradient-based adaptive samplers: gradients of adaptation, what they learn, bad input."""

import numpy as np
import pytest

from probmodel import infer, load_model, read_data
from probmodel.adaptation import speed_measure
from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.groups import sample
from probmodel.samplers import make_sampler
from probmodel.samplers.langevin.gradient_adaptive import FLOOR, Params
from probmodel.samplers.metropolis import evaluate

NAMES = ("gad_rwm", "gad_mala", "gad_mala_exact")


class Quartic:
    """``-x'Px/2 - sum log cosh(1.3 x) + 0.1 sum sin x``: not quadratic, with all derivatives."""

    coordinate_names = ()
    name = "quartic"

    def __init__(self, dim=5):
        rng = np.random.default_rng(3)
        root = rng.standard_normal((dim, dim))
        self.dim, self.P = dim, root @ root.T / dim + np.eye(dim)

    def __call__(self, x):
        bumps = np.log(np.cosh(1.3 * x)) - 0.1 * np.sin(x)
        logp = -0.5 * np.einsum("ci,ij,cj->c", x, self.P, x) - bumps.sum(axis=1)
        return logp, -x @ self.P - 1.3 * np.tanh(1.3 * x) + 0.1 * np.cos(x)

    def log_density(self, x):
        return self(x)[0]

    def hvp(self, x, v):
        return -v @ self.P - (1.69 / np.cosh(1.3 * x) ** 2 + 0.1 * np.sin(x)) * v

    def hessian(self, x):
        return np.stack([self.hvp(x, np.broadcast_to(e, x.shape)) for e in np.eye(self.dim)], 2)


def log_ratio(name, density, x, eps, L, fixed=None):
    """Log ratio of one proposal as a function of L; ``fixed`` is g(y) held constant in q."""
    logp, grad = (v[0] for v in density(x[None]))
    if name == "gad_rwm":
        return density((x + L @ eps)[None])[0][0] - logp
    y = x + 0.5 * L @ L.T @ grad + L @ eps
    logp_y, grad_y = (v[0] for v in density(y[None]))
    u = 0.5 * L.T @ (grad + (grad_y if fixed is None else fixed)) + eps
    return logp_y - logp - 0.5 * (u @ u - eps @ eps)


def objective(name, density, x, eps, L, beta, fixed):
    """``min(0, log ratio) + beta log det L``, averaged over the chains."""
    ratios = [log_ratio(name, density, *row, L, g) for *row, g in zip(x, eps, fixed, strict=True)]
    return np.mean(np.minimum(0.0, ratios)) + beta * np.sum(np.log(np.abs(np.diag(L))))


def numerical_gradient(function, L, step=1e-6):
    """Central differences in every entry on and below the diagonal."""
    G = np.zeros_like(L)
    for i, j in zip(*np.tril_indices(len(L)), strict=True):
        E = np.zeros_like(L)
        E[i, j] = step
        G[i, j] = (function(L + E) - function(L - E)) / (2.0 * step)
    return G


def transition(name, scale, chains=6, diagonal=False):
    """One transition with a root of that scale: sampler, density, root, noise, states."""
    rng = np.random.default_rng(4)
    density = Quartic()
    sampler = make_sampler(name, diagonal=diagonal)
    L = scale * (np.eye(5) + 0.3 * np.tril(rng.standard_normal((5, 5)), -1))
    L = np.diag(L).copy() if diagonal else L
    state = sampler.init(rng, density, rng.standard_normal((chains, 5)))
    new, info = sampler.step(rng, density, state, Params(L, 1.3, True))
    return sampler, density, L, new, info


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("scale", [0.2, 0.9, 3.0])
@pytest.mark.parametrize("name", NAMES)
def test_gradient_of_the_adaptation(name, scale, diagonal):
    """T-FD: mixed signs at once, and all ratios below or nearly all above one."""
    sampler, density, L, new, info = transition(name, scale, diagonal=diagonal)
    beta = 1.3
    start = sampler.adapt_init(None, density, new)._replace(L=L, beta=beta)
    after = sampler.adapt(None, density, 0, 10, start, new, info)
    ours = (after.L - L) / sampler.learning_rate
    fixed = info.proposal.grad if name == "gad_mala" else [None] * len(new.x)
    whole = np.diag(L) if diagonal else L
    G = numerical_gradient(
        lambda M: objective(name, density, info.previous.x, info.record, M, beta, fixed), whole
    )
    G = np.diag(G) if diagonal else G
    np.testing.assert_allclose(ours, G / (1.0 + np.abs(G)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_both_signs_of_the_ratio_were_met(name):
    ratios = np.concatenate([transition(name, s)[-1].accept_prob for s in (0.2, 0.9, 3.0)])
    assert np.any(ratios == 1.0)
    assert np.any(ratios < 1.0)


def test_the_fast_gradient_is_not_the_exact_one():
    """Negative control of the differences: the term through g(y) shows."""
    *_, exact, info = transition("gad_mala_exact", 0.9)
    sampler, density, L, _, _ = transition("gad_mala_exact", 0.9)
    fast = make_sampler("gad_mala")
    start = sampler.adapt_init(None, density, exact)._replace(L=L)
    a, b = (s.adapt(None, density, 0, 10, start, exact, info).L for s in (sampler, fast))
    assert np.max(np.abs(a - b)) > 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_detailed_balance_of_the_ratio(name):
    """T-DB: against explicit normal densities, and minus itself for the way back."""
    _, density, L, _, info = transition(name, 0.5)
    A = L @ L.T

    def log_q(to, origin):
        mean = origin.x if name == "gad_rwm" else origin.x + 0.5 * origin.grad @ A
        r = np.linalg.solve(L, (to.x - mean).T)
        return -0.5 * np.sum(r * r, axis=0)

    x, y = info.previous, info.proposal
    there = y.logp + log_q(x, y) - x.logp - log_q(y, x)
    for row in range(len(x.x)):
        eps = info.record[row]
        assert log_ratio(name, density, x.x[row], eps, L) == pytest.approx(there[row], abs=1e-9)
    np.testing.assert_allclose(info.accept_prob, np.exp(np.minimum(0.0, there)), rtol=1e-9)


def test_hessian_vector_products_are_for_ratios_below_one():
    class Watched(Quartic):
        rows = 0

        def hvp(self, x, v):
            self.rows += len(x)
            return super().hvp(x, v)

    for scale in (1e-4, 0.9):
        sampler, _, L, new, info = transition("gad_mala_exact", scale)
        density = Watched()
        start = sampler.adapt_init(None, density, new)._replace(L=L)
        sampler.adapt(None, density, 0, 10, start, new, info)
        assert density.rows == np.sum(info.accept_prob < 1.0)


def test_chains_with_failing_second_derivatives_are_left_out():
    class Failing(Quartic):
        def hvp(self, x, v):
            product = super().hvp(x, v)
            product[0] = np.nan
            return product

    sampler, good, L, new, info = transition("gad_mala_exact", 3.0, chains=4)
    assert np.all(info.accept_prob < 1.0)
    start = sampler.adapt_init(None, good, new)._replace(L=L)
    with_nan = sampler.adapt(None, Failing(), 0, 10, start, new, info)
    rest = info._replace(
        **{f: getattr(info, f)[1:] for f in ("accept_prob", "accepted", "record")},
        previous=type(new)(*(v[1:] for v in info.previous)),
        proposal=type(new)(*(v[1:] for v in info.proposal)),
    )
    without = sampler.adapt(None, good, 0, 10, start, new, rest)
    np.testing.assert_allclose(with_nan.L, without.L, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_proposals_that_are_not_finite_are_left_out(name):
    sampler, density, L, new, info = transition(name, 0.9)
    start = sampler.adapt_init(None, density, new)._replace(L=L)
    proposal = info.proposal
    marked = proposal._replace(
        logp=np.where(np.arange(6) < 3, -np.inf, proposal.logp),
        grad=np.where(np.arange(6)[:, None] < 3, 0.0, proposal.grad),
    )
    half = info._replace(proposal=marked)
    rest = info._replace(
        **{f: getattr(info, f)[3:] for f in ("accept_prob", "accepted", "record")},
        previous=type(new)(*(v[3:] for v in info.previous)),
        proposal=type(new)(*(v[3:] for v in info.proposal)),
    )
    a, b = (sampler.adapt(None, density, 0, 10, start, new, i) for i in (half, rest))
    np.testing.assert_allclose(a.L, b.L, rtol=1e-12)
    assert a.beta == b.beta
    nothing = info._replace(proposal=proposal._replace(logp=np.full(6, -np.inf)))
    shorter = sampler.adapt(None, density, 0, 10, start, new, nothing)
    np.testing.assert_allclose(shorter.L, 0.9 * L)
    assert shorter.beta < start.beta


@pytest.mark.statistical
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_scales_and_correlations_are_learned(name, diagonal, targets):
    cov = np.diag([0.25, 4.0]) if diagonal else np.array([[1.0, 0.9], [0.9, 1.0]])
    target, rng = targets.Gaussian([0.0, 0.0], cov), np.random.default_rng(5)
    sampler = make_sampler(name, diagonal=diagonal, learning_rate=2e-3)
    params = run(
        sampler, target, target.exact(rng, 8), rng, warmup=4000, draws=1
    )  # fmt: skip
    L = params.root
    learned = np.diag(L**2) if diagonal else L @ L.T
    np.testing.assert_allclose(learned / np.trace(learned), cov / np.trace(cov), atol=0.12)


@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
def test_acceptance_meets_its_target(name, targets):
    target = targets.Gaussian([0.0, 0.0, 0.0], np.diag([1.0, 0.3, 2.0]))
    sampler = make_sampler(name, learning_rate=2e-3, target_accept=0.4)
    x0 = target.exact(np.random.default_rng(6), 8)
    result = sample(sampler, target, x0, 7, draws=1000, warmup=4000)
    assert abs(result.stats["acceptance_rate"].mean() - 0.4) < 0.05


@pytest.mark.statistical
def test_scales_far_above_the_first_ones_are_reached_without_overshooting(monkeypatch):
    """The weight of the entropy is bounded; without a bound, the negative control, it winds up."""
    model = load_model("gallery:logistic_regression")(**read_data("gallery:ripley.npz"))

    def acceptance():
        fit = infer(model, method="gad_rwm", draws=2000, seed=1, quiet=True)
        rate = float(fit["sample_stats"]["acceptance_rate"].mean())
        return rate, "acceptance" in fit.attrs["warnings"]

    rate, warned = acceptance()
    assert abs(rate - 0.25) < 0.08
    assert not warned
    monkeypatch.setattr(speed_measure, "LARGEST_BETA", np.inf)
    rate, warned = acceptance()
    assert rate < 0.1
    assert warned


def test_random_walk_needs_no_gradient_once_it_has_learned(targets):
    target = targets.Banana()
    x0 = target.exact(np.random.default_rng(8), 4)
    result = sample(make_sampler("gad_rwm"), target, x0, 9, draws=20, warmup=10)
    assert result.work_warmup == (0, 44, 0, 0)
    assert result.work_sampling == (80, 0, 0, 0)
    assert np.all(result.stats["n_grad"] == 0)


def test_scales_on_their_floor_are_remarked_on(targets):
    target = targets.Gaussian([0.0, 0.0], np.diag([1e-12, 1.0]))
    sampler = make_sampler("gad_rwm", learning_rate=1e-2)
    x0 = target.exact(np.random.default_rng(10), 4)
    result = sample(sampler, target, x0, 11, draws=50, warmup=500)
    (remark,) = sampler.remarks(result.params[0], result.stats)
    assert remark.kind == "scale_floor"
    assert remark.message.startswith("1 of 2 scales")
    fine = Params(np.array([2.0 * FLOOR, 1.0]), 1.0, False)
    assert sampler.remarks(fine, {}) == []


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("learning_rate", 0.0), ("learning_rate", np.nan), ("entropy_rate", 1.0),
        ("initial_scale", -1.0), ("diagonal", "yes"), ("target_accept", 1.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_settings_out_of_range(name, setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        make_sampler(name, **{setting: value})
    assert repr(value) in str(error.value)


def test_exact_variant_needs_second_derivatives(flat_density):
    with pytest.raises(SamplerError, match="Hessian-vector products"):
        sample(make_sampler("gad_mala_exact"), flat_density, np.ones((2, 2)), 1, draws=1, warmup=1)


@pytest.fixture
def flat_density():
    class Flat:
        dim, coordinate_names = 2, ()

        def __call__(self, x):
            return evaluate(self, x)

        def log_density(self, x):
            return np.zeros(len(x))

    return Flat()
