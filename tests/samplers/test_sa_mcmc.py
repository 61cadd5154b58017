"""Sample-adaptive MCMC: its law, its adaptation, where it starts and what it says of itself."""

import numpy as np
import pytest
import scipy.stats
from scipy.special import logsumexp

from probmodel.adaptation.ensemble import WIDTHS, choose, diagonal_log_fit, full_fit, full_log_fit
from probmodel.density import LogDensity
from probmodel.errors import SamplerError
from probmodel.inference.groups import sample
from probmodel.samplers.random_walk import sa_mcmc
from probmodel.samplers.random_walk.sa_mcmc import SampleAdaptive
from probmodel.samplers.untuned import NoParams

NONE = NoParams()


def full_fits(points, tails=0.0):
    """log q_n of each point of an ensemble, the last of which is the proposed one."""
    return full_log_fit(full_fit(points[:, :-1]), points[:, -1], tails)


VARIANCES = {"full": [1.0], "diag": WIDTHS, "diag_normal": [1.0]}  # over those of the ensemble
FITS = {
    "full": full_fits,
    "diag": diagonal_log_fit,
    "diag_normal": lambda points, tails=0.0: diagonal_log_fit(points, tails, np.ones(1)),
}


def evolve(sampler, target, rng, state, steps):
    for _ in range(steps):
        state, _ = sampler.step(rng, target, state, NONE)
    return state


def proposal_density(covariance, theta, points, tails=0.0):
    """Log density of the proposal at one point or many, by SciPy and from the ensemble itself."""
    mean = points.mean(axis=0)
    if covariance == "full":
        cov = np.cov(points.T).reshape(len(mean), -1)
        body = scipy.stats.multivariate_normal(mean, cov).logpdf(theta)
    else:
        cov = np.diag(np.var(points, axis=0))
        widths = VARIANCES[covariance]
        normals = [scipy.stats.norm(mean, np.sqrt(c * np.diag(cov))) for c in widths]
        parts = [n.logpdf(theta).sum(axis=-1) for n in normals]
        body = logsumexp(parts, axis=0) - np.log(len(widths))
    if not tails:
        return body
    normal = scipy.stats.multivariate_normal(mean, cov).logpdf(theta)
    z = (theta - mean) / np.sqrt(np.diag(cov))
    ratio = scipy.stats.cauchy.logpdf(z) - scipy.stats.norm.logpdf(z)
    single = normal + logsumexp(ratio, axis=-1) - np.log(len(mean))
    together = scipy.stats.multivariate_t(mean, cov, df=1).logpdf(theta)
    return np.logaddexp(
        np.log(1.0 - tails) + body, np.log(0.5 * tails) + np.logaddexp(single, together)
    )


@pytest.mark.parametrize("tails", [0.0, 0.3])
@pytest.mark.parametrize("covariance", list(FITS))
@pytest.mark.parametrize("dim", [1, 2])
def test_detailed_balance_of_every_exchange(covariance, dim, tails, targets):
    """pi(S) K(S -> S') = pi(S') K(S' -> S), S' being S with any one point exchanged."""
    rng = np.random.default_rng(dim)
    target = targets.Gaussian(np.ones(dim), 2.0 * np.eye(dim)) if dim == 1 else targets.Banana()
    S, new = rng.standard_normal((5, dim)), rng.standard_normal(dim)

    def log_flow(points, theta, j):
        """log pi(S) + log q(theta | S) + log P(point j leaves), with the sampler's weights."""
        everything = np.concatenate([points, theta[None]])
        logp = target.log_density(everything)
        log_lambda = FITS[covariance](everything[None], tails)[0] - logp
        log_removal = log_lambda[j] - logsumexp(log_lambda)
        return logp[:-1].sum() + proposal_density(covariance, theta, points, tails) + log_removal

    for j in range(5):
        there = log_flow(S, new, j)
        exchanged = S.copy()
        exchanged[j] = new
        assert abs(there - log_flow(exchanged, S[j], j)) < 1e-11


@pytest.mark.parametrize("tails", [0.0, 0.3])
@pytest.mark.parametrize("covariance", list(FITS))
def test_proposals_have_the_density_of_the_weights(covariance, tails, targets):
    """Many proposals from one ensemble, against the distribution function of their density."""
    target = targets.Gaussian(np.zeros(1), np.eye(1))
    points = np.random.default_rng(1).standard_normal((1, 6, 1))
    sampler = SampleAdaptive(covariance=covariance, ensemble=6, tails=tails)
    rng = np.random.default_rng(2)
    state = sampler.init(rng, target, np.repeat(points, 4000, axis=0))
    _, info = sampler.step(rng, target, state, NONE)
    mean, own = points.mean(), points.std(ddof=1 if covariance == "full" else 0)
    widths = np.sqrt(VARIANCES[covariance])

    def cdf(y, scale=1.0):
        body = np.mean([scipy.stats.norm.cdf(y, mean, scale * w * own) for w in widths], axis=0)
        return (1.0 - tails) * body + tails * scipy.stats.cauchy.cdf(y, mean, scale * own)

    assert scipy.stats.kstest(info.proposal.x[:, 0], cdf).pvalue > 1e-4
    assert scipy.stats.kstest(info.proposal.x[:, 0], lambda y: cdf(y, 1.3)).pvalue < 1e-4


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_proposals_with_fat_tails_in_three_dimensions(covariance, targets):
    """Means of bounded functions, by weights of proposals drawn from another distribution."""
    target = targets.Gaussian(np.zeros(3), np.eye(3))
    rng = np.random.default_rng(30)
    points = rng.standard_normal((1, 9, 3)) @ np.array(
        [[1.0, 0.6, -0.4], [0.0, 1.0, 0.5], [0, 0, 2]]
    )
    sampler = SampleAdaptive(covariance=covariance, ensemble=9, tails=0.6)
    state = sampler.init(rng, target, np.repeat(points, 40_000, axis=0))
    _, info = sampler.step(rng, target, state, NONE)
    wide = scipy.stats.multivariate_t(points[0].mean(axis=0), 4.0 * np.cov(points[0].T), df=1)
    y = wide.rvs(20_000, random_state=rng)
    weight = np.exp(proposal_density(covariance, y, points[0], 0.6) - wide.logpdf(y))

    def values(x):
        x = x - points[0].mean(axis=0)
        far, size = np.abs(x) > 4.0, np.sum(x * x, axis=1)
        return np.column_stack(
            [far, far[:, :2].all(axis=1), far.all(axis=1), size > 60.0, size < 1]
        )

    drawn, weighed = values(info.proposal.x), weight[:, None] * values(y)
    error = np.hypot(drawn.std(axis=0) / 200.0, weighed.std(axis=0) / np.sqrt(20_000))
    z = (drawn.mean(axis=0) - weighed.mean(axis=0)) / error
    assert np.all(np.abs(z) < 4.0)
    # Negative control: another share of fat tails.
    weight = np.exp(proposal_density(covariance, y, points[0], 0.5) - wide.logpdf(y))
    other = weight[:, None] * values(y)
    assert np.max(np.abs(drawn.mean(axis=0) - other.mean(axis=0)) / error) > 4.0


def heavy(dim):
    """A t distribution with 3 degrees of freedom."""
    return LogDensity.from_function(
        lambda x: -0.5 * (3.0 + dim) * np.log1p(np.sum(x * x, axis=1) / 3.0), dim, gradient=False
    )


def beyond(draws, share):
    """Share of draws beyond a quantile of a t distribution, over what it should be."""
    return np.mean(np.abs(draws) > scipy.stats.t(3.0).isf(0.5 * share)) / share


@pytest.mark.statistical
@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("dim", [1, 4])
def test_heavy_tails_are_visited_as_often_as_they_should(covariance, dim):
    """The warning is for a run without fat tails, which is also the negative control."""
    found, far, said = [], [], []
    for tails in (0.05, 0.0):
        sampler = SampleAdaptive(covariance=covariance, tails=tails, start="normal")
        run = sample(sampler, heavy(dim), np.zeros((32, dim)), 31, draws=6000, warmup=4000)
        each = [beyond(chain, 0.01) for chain in run.x]
        far.append(beyond(run.x, 0.0003))
        found.append((np.mean(each), np.std(each, ddof=1) / np.sqrt(32)))
        said.append([remark.kind for remark in sampler.remarks(NONE, run.stats)])
    mean, error = found[0]
    assert abs(mean - 1.0) < 4.0 * error < 0.4
    assert "light_tails" not in said[0]
    assert "light_tails" in said[1]
    assert far[0] > 0.3
    assert far[1] < 0.1


@pytest.mark.statistical
@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_a_normal_posterior_has_no_light_tails(covariance, targets):
    """Neither with fat tails, whose cost is their share of the acceptance, nor without."""
    target, rates = targets.Gaussian(np.zeros(4), np.eye(4)), []
    for tails in (0.05, 0.0):
        sampler = SampleAdaptive(covariance=covariance, tails=tails)
        run = sample(sampler, target, np.zeros((16, 4)), 32, draws=4000, warmup=2000)
        assert not [r for r in sampler.remarks(NONE, run.stats) if r.kind == "light_tails"]
        rates.append(np.mean(run.stats["acceptance_rate"]))
    assert 1.0 - 0.05 - 0.02 < rates[0] / rates[1] < 1.0


def scores(points):
    """z-scores of mean, second moment and ten bins of exact N(0, 1) points: (replicates, N)."""
    n = points.size
    values = points.ravel()
    expected = n / 10
    edges = scipy.stats.norm.ppf(np.linspace(0.1, 0.9, 9))
    chi2 = np.sum((np.bincount(np.searchsorted(edges, values), minlength=10) - expected) ** 2)
    return np.abs([
        values.mean() * np.sqrt(n),
        (np.mean(values**2) - 1.0) * np.sqrt(n / 2.0),
        (chi2 / expected - 9.0) / np.sqrt(18.0),
    ])  # fmt: skip


def exact_replicates(covariance, targets, fit=None, monkeypatch=None, tails=0.0):
    """All points of 4000 replicates with N = 8 after 40 iterations from exact draws."""
    rng = np.random.default_rng(3)
    target = targets.Gaussian(np.zeros(1), np.eye(1))
    sampler = SampleAdaptive(covariance=covariance, ensemble=8, tails=tails)
    state = sampler.init(rng, target, rng.standard_normal((4000, 8, 1)))
    assert max(scores(state.points)) < 4.0
    if fit is not None:
        monkeypatch.setattr(
            sa_mcmc, f"{'full' if covariance == 'full' else 'diagonal'}_log_fit", fit
        )
    return evolve(sampler, target, rng, state, 40)


@pytest.mark.parametrize("tails", [0.0, 0.3])
@pytest.mark.parametrize("covariance", list(FITS))
def test_exact_ensembles_stay_exact(covariance, tails, targets):
    """T-INV: the marginal law of every point, and of the one that is reported."""
    state = exact_replicates(covariance, targets, tails=tails)
    assert max(scores(state.points)) < 4.0
    for slot in range(8):
        assert max(scores(state.points[:, slot])) < 4.0
    assert max(scores(state.x)) < 4.0


def test_exact_pairs_stay_independent(targets):
    points = exact_replicates("full", targets).points[:, :, 0]
    products = points[:, 0] * points[:, 1]
    assert abs(products.mean()) * np.sqrt(4000) < 4.0
    squares = (points[:, 0] ** 2 - 1.0) * (points[:, 1] ** 2 - 1.0)
    assert abs(squares.mean()) / squares.std() * np.sqrt(4000) < 4.0


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_invariance_check_notices_a_fit_to_all_points(covariance, targets, monkeypatch):
    """Negative control: weights in which no point is left out of its own fit."""

    def wrong(points):
        return np.stack([
            [proposal_density(covariance, theta, chain) for theta in chain] for chain in points
        ])  # fmt: skip

    def fast(points, tails=0.0, widths=WIDTHS):
        mean, sd = points.mean(axis=1, keepdims=True), points.std(axis=1, keepdims=True)
        z2 = np.sum(np.square((points - mean) / sd), axis=2)
        if covariance == "full":
            return -0.5 * z2 * (points.shape[1] - 1) / points.shape[1]
        return logsumexp([-0.5 * np.log(c) - 0.5 * z2 / c for c in widths], axis=0)

    def fast_full(fit, point, tails):
        return fast(np.concatenate([fit.mean[:, None] + fit.e, point[:, None]], axis=1))

    few = np.random.default_rng(4).standard_normal((2, 9, 1))
    np.testing.assert_allclose(np.diff(fast(few)), np.diff(wrong(few)), rtol=1e-9)
    fit = fast_full if covariance == "full" else fast
    state = exact_replicates(covariance, targets, fit, monkeypatch)
    assert max(scores(state.points)) > 8.0


def test_invariance_check_notices_weights_without_the_density(targets, monkeypatch):
    """Negative control: lambda without 1/pi."""
    normal = targets.Gaussian(np.zeros(1), np.eye(1))

    def without(fit, point, tails):
        points = np.concatenate([fit.mean[:, None] + fit.e, point[:, None]], axis=1)
        logp = normal.log_density(points.reshape(-1, 1)).reshape(points.shape[:2])
        return full_log_fit(fit, point) + logp

    state = exact_replicates("full", targets, without, monkeypatch)
    assert max(scores(state.points)) > 8.0


@pytest.mark.statistical
@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize(
    ("centre", "spread", "sd"), [(-10.0, 10.0, 1.0), (-4.0, 1.0, 3.0), (-5.0, 1.0, 1.0)]
)
def test_ensembles_find_the_target(covariance, centre, spread, sd, targets):
    """The three starts of figure 2 of the paper, with N = 40."""
    rng = np.random.default_rng(5)
    target = targets.Gaussian(np.zeros(1), sd**2 * np.eye(1))
    sampler = SampleAdaptive(
        covariance=covariance, ensemble=40, initial_scale=spread, start="normal"
    )
    state = sampler.init(rng, target, np.full((1, 1), centre))
    assert abs(state.points.mean() - centre) < 5.0 * spread / np.sqrt(40)
    assert abs(state.points.std() - spread) < 0.5 * spread
    total, squares = 0.0, 0.0
    state = evolve(sampler, target, rng, state, 2000)
    for _ in range(4000):
        state, _ = sampler.step(rng, target, state, NONE)
        total, squares = total + state.points.mean(), squares + np.mean(state.points**2)
    mean = total / 4000
    assert abs(mean) < 0.1 * sd
    assert abs(np.sqrt(squares / 4000 - mean**2) / sd - 1.0) < 0.1


def regression(targets):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((120, 2)) * [1.0, 3.0]
    return targets.Logistic(X, rng.random(120) < 1.0 / (1.0 + np.exp(-X @ [1.0, -0.5])))


@pytest.mark.statistical
def test_initial_scale_does_not_matter(targets):
    """The widest start, 80 times too wide, takes several thousand iterations to arrive."""
    target = regression(targets)
    results = []
    for scale in (0.05, 1.0, 20.0):
        sampler = SampleAdaptive(initial_scale=scale, start="normal")
        results.append(sample(sampler, target, np.zeros((8, 3)), 7, draws=1000, warmup=8000).x)
    means = np.array([x.mean(axis=1) for x in results])
    sds = np.array([x.std(axis=(0, 1)) for x in results])
    error = means.std(axis=1, ddof=1) / np.sqrt(8.0)
    for i in (0, 2):
        z = (means[i].mean(axis=0) - means[1].mean(axis=0)) / np.hypot(error[i], error[1])
        assert np.all(np.abs(z) < 5.0)
        np.testing.assert_allclose(sds[i], sds[1], rtol=0.1)


def test_replicates_do_not_touch_each_other(targets):
    """Another start of one chain changes that chain only."""
    target = targets.Banana()
    x = np.random.default_rng(8).standard_normal((3, 20, 2))
    moved = x.copy()
    moved[1] += 0.5
    sampler = SampleAdaptive(ensemble=20)
    ends = []
    for start in (x, moved):
        rng = np.random.default_rng(9)
        ends.append(evolve(sampler, target, rng, sampler.init(rng, target, start), 50))
    np.testing.assert_array_equal(ends[0].points[[0, 2]], ends[1].points[[0, 2]])
    assert not np.array_equal(ends[0].points[1], ends[1].points[1])


@pytest.mark.parametrize("hold", [1, 3])
def test_every_slot_is_reported_in_turn(hold, targets):
    rng = np.random.default_rng(10)
    target = targets.Banana()
    sampler = SampleAdaptive(ensemble=6, hold=hold)
    state = sampler.init(rng, target, rng.standard_normal((2, 6, 2)))
    np.testing.assert_array_equal(state.x, state.points[:, 0])
    for t in range(1, 6 * hold * 2 + 1):
        state, _ = sampler.step(rng, target, state, NONE)
        np.testing.assert_array_equal(state.x, state.points[:, t // hold % 6])
        np.testing.assert_array_equal(state.logp, state.log_densities[:, t // hold % 6])


def test_an_iteration_exchanges_one_point_or_none(targets):
    rng = np.random.default_rng(11)
    target = targets.Banana()
    sampler = SampleAdaptive(ensemble=10)
    state = sampler.init(rng, target, rng.standard_normal((200, 10, 2)))
    new, info = sampler.step(rng, target, state, NONE)
    changed = (new.points != state.points).any(axis=2)
    np.testing.assert_array_equal(changed.sum(axis=1), info.accepted.astype(int))
    np.testing.assert_array_equal(new.points[changed], info.proposal.x[info.accepted])
    np.testing.assert_array_equal(new.initial, ~changed)
    flat = new.points.reshape(-1, 2)
    np.testing.assert_allclose(new.log_densities.ravel(), target.log_density(flat), rtol=1e-12)
    everything = np.concatenate([state.points, info.proposal.x[:, None]], axis=1)
    logp = target.log_density(everything.reshape(-1, 2)).reshape(200, 11)
    log_lambda = full_fits(everything, sampler.tails) - logp
    stays = np.exp(log_lambda[:, -1] - logsumexp(log_lambda, axis=1))
    np.testing.assert_allclose(info.accept_prob, 1.0 - stays, atol=1e-12)


def test_an_ensemble_without_a_fit_stays_where_it_is(targets):
    """Such a state comes from rounding; it is reached here by hand."""
    rng = np.random.default_rng(12)
    target = targets.Banana()
    sampler = SampleAdaptive(ensemble=8)
    state = sampler.init(rng, target, rng.standard_normal((3, 8, 2)))
    points, logp = state.points.copy(), state.log_densities.copy()
    points[1], logp[1] = points[1, 0], logp[1, 0]
    state = state._replace(points=points, log_densities=logp)
    new, info = sampler.step(rng, target, state, NONE)
    np.testing.assert_array_equal(new.points[1], points[1])
    assert np.isfinite(info.proposal.x).all()
    assert info.diverging[1]
    assert info.accept_prob[1] == 0.0
    assert not info.accepted[1]


def test_log_densities_of_any_size(targets):
    """Constants of the log density cancel, as far as its own rounding allows."""
    target = targets.Banana()
    shifted = LogDensity.from_function(lambda x: target.log_density(x) - 1e6, 2)
    sampler = SampleAdaptive(ensemble=10)
    x = np.random.default_rng(13).standard_normal((4, 10, 2))
    ends = []
    for density in (target, shifted):
        rng = np.random.default_rng(14)
        ends.append(evolve(sampler, density, rng, sampler.init(rng, density, x), 20).points)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)


def test_a_start_at_the_mode_has_its_covariance(targets):
    rng = np.random.default_rng(15)
    scales = np.array([1e-4, 1.0, 1e3])
    target = targets.Gaussian(
        scales * rng.standard_normal(3),
        targets.random_covariance(rng, 3) * np.outer(scales, scales),
    )
    sampler = SampleAdaptive(start="mode", ensemble=4000)
    state = sampler.init(rng, target, scales * rng.standard_normal((2, 3)))
    sd = np.sqrt(np.diag(target.cov))
    for chain in state.points:
        assert np.all(np.abs(chain.mean(axis=0) - target.mean) < 5.0 * sd / np.sqrt(4000))
        np.testing.assert_allclose(
            np.cov(chain.T) / np.outer(sd, sd), target.cov / np.outer(sd, sd), atol=0.15
        )


def test_by_default_ensembles_start_at_the_mode_if_there_is_one(targets):
    """A chain on the slope of a flat tail finds none, and starts wide around where it is."""
    target = LogDensity.from_function(lambda x: -np.minimum(0.5 * x[:, 0] ** 2, 8.0), 1)
    x = np.array([[1.0], [50.0]])
    state = SampleAdaptive(ensemble=2000).init(np.random.default_rng(24), target, x)
    error = 5.0 / np.sqrt(2000)
    np.testing.assert_allclose(state.points.mean(axis=1), [[0.0], [50.0]], atol=3.0 * error)
    np.testing.assert_allclose(state.points.std(axis=1), [[1.0], [3.0]], rtol=error)
    target.has_gradient = False
    state = SampleAdaptive(ensemble=2000).init(np.random.default_rng(25), target, x)
    np.testing.assert_allclose(state.points.std(axis=1), 3.0, rtol=error)


def test_a_start_from_the_prior_draws_from_it(targets):
    target = targets.Gaussian(np.zeros(2), np.eye(2))
    target.prior_draws = lambda rng, n: 7.0 + rng.standard_normal((n, 2))
    sampler = SampleAdaptive(start="prior", ensemble=500)
    state = sampler.init(np.random.default_rng(16), target, np.zeros((2, 2)))
    np.testing.assert_allclose(state.points.mean(axis=1), 7.0, atol=5.0 / np.sqrt(500))
    np.testing.assert_allclose(state.points.std(axis=1), 1.0, atol=0.2)


def test_first_points_without_a_density_are_drawn_nearer(targets):
    """Around a start next to the edge of the half space half of them fall outside."""
    target = targets.HalfSpace(2)
    sampler = SampleAdaptive(ensemble=200, start="normal")
    state = sampler.init(np.random.default_rng(17), target, np.array([[0.1, 0.0], [50.0, 0.0]]))
    assert np.all(state.points[:, :, 0] > 0.0)
    assert np.isfinite(state.log_densities).all()
    np.testing.assert_allclose(state.points[1].mean(axis=0), [50.0, 0.0], atol=2.0)

    def needle(x):
        return np.where(np.sum(x * x, axis=1) < 0.1**2, 0.0, -np.inf)

    narrow = LogDensity.from_function(needle, 2, gradient=lambda x: 0.0 * x)
    state = sampler.init(np.random.default_rng(18), narrow, np.zeros((2, 2)))
    assert np.isfinite(state.log_densities).all()


def test_a_start_without_a_neighbourhood_is_refused():
    def point(x):
        return np.where((x == 0.0).all(axis=1), 0.0, -np.inf)

    density = LogDensity.from_function(point, 2, gradient=lambda x: 0.0 * x)
    with pytest.raises(SamplerError, match="finite"):
        SampleAdaptive().init(np.random.default_rng(19), density, np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ("covariance", ("low rank", None)),
        ("ensemble", (2, 40.0, True)),
        ("start", ("posterior", 0)),
        ("initial_scale", (0.0, -1.0, np.inf, "wide")),
        ("hold", (0, 1.5)),
        ("tails", (-0.1, 1.0, "fat")),
    ],
)
def test_bad_settings(setting, values):
    for value in values:
        with pytest.raises(SamplerError, match=setting):
            SampleAdaptive(**{setting: value})


def test_too_small_an_ensemble_says_how_many_are_needed(targets):
    target = targets.Gaussian(np.zeros(5), np.eye(5))
    with pytest.raises(SamplerError, match="at least 7"):
        SampleAdaptive(ensemble=6).init(np.random.default_rng(20), target, np.zeros((2, 5)))
    assert SampleAdaptive(ensemble=7).points_per_chain(5) == 7
    assert SampleAdaptive(ensemble=3, covariance="diag").points_per_chain(5) == 3


def test_the_default_ensemble_grows_with_the_dimension():
    full, diag = SampleAdaptive(), SampleAdaptive(covariance="diag")
    assert [full.points_per_chain(d) for d in (1, 7, 55)] == [40, 105, 825]
    assert [diag.points_per_chain(d) for d in (1, 10, 100)] == [40, 40, 400]


def test_starts_that_the_density_does_not_offer():
    density = LogDensity.from_function(lambda x: -0.5 * (x * x).sum(axis=1), 2)
    rng, x = np.random.default_rng(21), np.zeros((2, 2))
    with pytest.raises(SamplerError, match="prior"):
        SampleAdaptive(start="prior").init(rng, density, x)
    density.has_gradient = False
    with pytest.raises(SamplerError, match="gradient"):
        SampleAdaptive(start="mode").init(rng, density, x)


def test_a_start_without_a_mode_is_refused():
    unbounded = LogDensity.from_function(lambda x: x[:, 0] ** 2 - x[:, 1] ** 2, 2)
    with pytest.raises(SamplerError, match="no mode"):
        SampleAdaptive(start="mode").init(np.random.default_rng(22), unbounded, np.ones((2, 2)))


def test_given_ensembles_are_checked(targets):
    target, rng = targets.Banana(), np.random.default_rng(23)
    sampler = SampleAdaptive(ensemble=6)
    with pytest.raises(SamplerError, match=r"\(2, 6, 2\)"):
        sampler.init(rng, target, rng.standard_normal((2, 5, 2)))
    with pytest.raises(SamplerError, match="no volume"):
        sampler.init(rng, target, np.ones((2, 6, 2)))
    line = np.repeat(rng.standard_normal((2, 6, 1)), 2, axis=2)
    with pytest.raises(SamplerError, match="no volume"):
        sampler.init(rng, target, line)
    with pytest.raises(SamplerError, match="finite"):
        sampler.init(rng, targets.HalfSpace(2), rng.standard_normal((2, 6, 2)))
    x = rng.standard_normal((2, 6, 2))
    state = sampler.init(rng, target, x)
    np.testing.assert_array_equal(state.points, x)
    assert state.points is not x


def test_a_warm_up_that_keeps_first_points_is_remarked_on(targets):
    target = targets.Gaussian(np.zeros(2), np.eye(2))
    x = np.random.default_rng(24).standard_normal((4, 2))
    short, long = (sample(SampleAdaptive(), target, x, 25, draws=400, warmup=w) for w in (20, 2000))
    kinds = [[r.kind for r in SampleAdaptive().remarks(NONE, run.stats)] for run in (short, long)]
    assert kinds == [["initial_points"], []]


def test_ensembles_that_drift_are_remarked_on(targets):
    """One slot after the other, and a log density that changes slowly."""
    rng = np.random.default_rng(26)
    noise = rng.standard_normal((8, 4000))
    drift = np.repeat(rng.standard_normal((8, 8)), 500, axis=1)
    stats = {
        "initial_point": np.zeros((8, 4000), dtype=bool),
        "lp": noise,
        "log_weight": 0.3 * noise,
    }
    assert SampleAdaptive(hold=1).remarks(NONE, stats) == []
    remarks = SampleAdaptive(hold=1).remarks(NONE, {**stats, "lp": noise + drift})
    assert [r.kind for r in remarks] == ["slow_ensemble"]
    assert "hold" in remarks[0].message


def test_tails_that_proposals_do_not_reach_are_remarked_on():
    noise = np.random.default_rng(33).standard_normal((8, 4000))
    stats = {"initial_point": np.zeros((8, 4000), dtype=bool), "lp": noise}
    for spread, kinds in ((1.0, []), (3.0, ["light_tails"])):
        weight = np.random.default_rng(34).exponential(spread, (8, 4000))
        for tails, remedy in ((0.05, "raise tails"), (0.0, "set tails")):
            remarks = SampleAdaptive(tails=tails).remarks(NONE, {**stats, "log_weight": weight})
            assert [r.kind for r in remarks] == kinds
            assert all(remedy in r.message for r in remarks)


@pytest.mark.statistical
def test_effective_sizes_are_about_right_for_a_normal_posterior(targets):
    """Against the variance of the means of independent chains; and what hold=1 does to them."""
    from probmodel.results.convergence import convergence

    target = targets.Gaussian(np.zeros(3), np.eye(3))
    x0 = np.random.default_rng(27).standard_normal((96, 3))
    ratio = {}
    for hold in (1, 5):
        x = sample(SampleAdaptive(hold=hold), target, x0, 28, draws=3000, warmup=1000).x
        true = x.var(axis=(0, 1)) / x.mean(axis=1).var(axis=0, ddof=1)
        parts = [np.moveaxis(x[c : c + 8], 2, 0) for c in range(0, 96, 8)]
        claimed = np.mean([convergence(part).ess_bulk / 8.0 for part in parts], axis=0)
        ratio[hold] = np.mean(claimed / true)
    assert 0.7 < ratio[5] < 1.4
    assert ratio[1] > 2.0


def test_choice_is_made_with_the_weights_of_the_step(targets, monkeypatch):
    """What `step` hands to `choose` is the fit over the density, the proposal last."""
    seen = []

    def spy(rng, log_lambda):
        seen.append(log_lambda)
        return choose(rng, log_lambda)

    monkeypatch.setattr(sa_mcmc, "choose", spy)
    rng, target = np.random.default_rng(29), targets.Banana()
    sampler = SampleAdaptive(covariance="diag", ensemble=9)
    state = sampler.init(rng, target, rng.standard_normal((3, 9, 2)))
    _, info = sampler.step(rng, target, state, NONE)
    everything = np.concatenate([state.points, info.proposal.x[:, None]], axis=1)
    logp = target.log_density(everything.reshape(-1, 2)).reshape(3, 10)
    np.testing.assert_allclose(seen[0], diagonal_log_fit(everything, 0.05) - logp, rtol=1e-12)
