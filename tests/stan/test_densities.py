"""Stan's distributions against SciPy and the formulas of the manual; names; draws."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from probmodel import Model, data, observed, param
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.errors import ModelError
from probmodel.stan.library.density_names import split_density_name
from probmodel.stan.library.rng_functions import draw_kind, draw_ranks, has_draws, random
from probmodel.stan.library.stan_densities import DENSITIES, density_of, raised

sys.path.insert(0, str(Path(__file__).parent))

from density_formulas import dlm
from density_rows import BETA, C1, CUTS1, ROWS, X


def log_density(entry, value, params):
    made = entry.make(value, *params) if entry.takes_value else entry.make(*params)
    arrays = [np.asarray(p) for p in made.args.values()]
    return made.log_density(np, np.asarray(value), *arrays)


def test_every_distribution_has_a_row():
    assert set(ROWS) == set(DENSITIES)


@pytest.mark.parametrize("name", DENSITIES)
def test_log_densities(name):
    entry, row = DENSITIES[name], ROWS[name]
    for value, params in zip(row.values, row.params, strict=True):
        assert len(entry.ranks) == 1 + len(params)
        for rank, each in zip(entry.ranks, (value, *params), strict=True):
            assert np.ndim(each) == rank
        found = log_density(entry, np.asarray(value), [np.asarray(p) for p in params])
        np.testing.assert_allclose(found, row.reference(value, *params), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_batch_of_values_and_parameters(name):
    entry, row = DENSITIES[name], ROWS[name]
    params = [np.stack(p) for p in zip(*row.params, strict=True)]
    truth = np.stack([row.reference(y, *p) for y, p in zip(row.values, row.params, strict=True)])
    found = log_density(entry, np.stack(row.values), params)
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in DENSITIES if len(ROWS[n].params[0])])
def test_a_batch_of_the_first_parameter_alone(name):
    entry, row = DENSITIES[name], ROWS[name]
    (value, _), (params, _) = row.values, row.params
    batch = [np.stack([params[0]] * 2), *params[1:]]
    truth = np.stack([row.reference(value, *params)] * 2)
    found = log_density(entry, np.stack([value] * 2), batch)
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-9)


def test_names_of_discrete_distributions():
    made = {n: ROWS[n].params[0] for n, e in DENSITIES.items() if not e.takes_value}
    for name, params in made.items():
        assert DENSITIES[name].make(*params).discrete == DENSITIES[name].discrete, name


def test_errors_that_are_independent_may_be_given_as_a_vector():
    (value, _), (params, _) = ROWS["gaussian_dlm_obs"].values, ROWS["gaussian_dlm_obs"].params
    F, G, _, *others = params
    V = np.array([0.5, 1.2])
    entry = density_of("gaussian_dlm_obs", ["matrix", "matrix", "vector"])
    found = log_density(entry, value, (F, G, V, *others))
    assert found == pytest.approx(dlm(value, F, G, V, *others), abs=1e-9)
    assert density_of("gaussian_dlm_obs", ["matrix"] * 4) is DENSITIES["gaussian_dlm_obs"]
    made = entry.make(F, G, V, *others)
    arrays = [np.asarray(p) for p in made.args.values()]
    assert np.isnan(log_density(density_of("gaussian_dlm_obs", []), value, (F, G, -C1, *others)))
    assert arrays[2].shape == (2,)


def test_series_are_drawn_with_time_as_the_second_axis():
    params = ROWS["gaussian_dlm_obs"].params[0]
    made = DENSITIES["gaussian_dlm_obs"].make(*params)
    assert made.sample(np.random.default_rng(0), (5, 2, 3), *params).shape == (5, 2, 3)


def test_regressions_take_numbers_and_single_rows():
    assert raised(0.5, 0, 1).shape == (1,)
    assert raised(np.zeros(4), 0, 1).shape == (4, 1)
    assert raised(X[0], 1, 2).shape == (1, 2)
    assert raised(X, 2, 2) is X
    alpha, sigma = raised(np.array([0.2, 0.3]), 0, 1), raised(1.5, 0, 1)
    found = log_density(DENSITIES["normal_id_glm"], X[:, 0], (X, alpha, BETA, sigma))
    truth = [
        d.Normal(a + X @ BETA, 1.5).log_density(np, X[:, 0], a + X @ BETA, 1.5) for a in (0.2, 0.3)
    ]
    np.testing.assert_allclose(found, truth)


@pytest.mark.parametrize("number", [False, True])
def test_regressions_of_symbols(number):
    y, entry = np.array([1, 0, 3]), DENSITIES["poisson_log_glm"]

    class Regression(Model):
        x = data(("obs", "feature"))
        a = param(d.Normal(0, 1)) if number else param(d.Normal(0, 1), dims="obs")
        b = param(d.Normal(0, 1), dims="feature")
        y = observed(entry.make(x, raised(a, 0, 1) if number else a, b), dims="obs")

    class Plain(Model):
        x = data(("obs", "feature"))
        a = param(d.Normal(0, 1)) if number else param(d.Normal(0, 1), dims="obs")
        b = param(d.Normal(0, 1), dims="feature")
        y = observed(d.PoissonLog(a + x @ b), dims="obs")

    point = np.linspace(-0.5, 0.5, 3 if number else 5)[None]
    found, truth = (as_posterior(m(x=X, y=y)).log_density(point) for m in (Regression, Plain))
    np.testing.assert_allclose(found, truth)


def test_angles_of_many_turns_as_parameters():
    class Turning(Model):
        y = param(DENSITIES["von_mises"].make(0.3, 2.0))

    at = as_posterior(Turning()).log_density(np.array([[0.5], [0.5 + 4 * np.pi]]))
    assert at[0] == pytest.approx(at[1])


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("normal_lpdf", ("normal", "density")),
        ("normal_lupdf", ("normal", "density")),
        ("normal_log", ("normal", "density")),
        ("poisson_log", ("poisson", "density")),
        ("poisson_log_lpmf", ("poisson_log", "density")),
        ("poisson_log_log", ("poisson_log", "density")),
        ("poisson_log_rng", ("poisson_log", "rng")),
        ("neg_binomial_2_log_glm_lupmf", ("neg_binomial_2_log_glm", "density")),
        ("normal_cdf", ("normal", "cdf")),
        ("normal_lcdf", ("normal", "lcdf")),
        ("normal_cdf_log", ("normal", "lcdf")),
        ("normal_lccdf", ("normal", "lccdf")),
        ("normal_ccdf_log", ("normal", "lccdf")),
        ("lognormal_log", ("lognormal", "density")),
        ("binomial_coefficient_log", None),
        ("normal", None),
        ("log", None),
        ("_log", None),
        ("foo_lpdf", None),
        ("std_normal_log_qf", None),
    ],
)
def test_split_names(name, found):
    assert split_density_name(name) == found


# -- draws -----------------------------------------------------------------------------------------

DRAWN = [name for name in DENSITIES if has_draws(name)]


@pytest.mark.parametrize("name", DRAWN)
def test_draws(name):
    """Their mean is the analytic one within five of its errors; both elements of a batch."""
    row, entry, rng, n = ROWS[name], DENSITIES[name], np.random.default_rng(1), 4000
    args = [row.arguments(*p) if row.arguments else p for p in row.params]
    ranks = draw_ranks(name)
    batched = [
        np.broadcast_to(np.stack(a)[None], (n, 2, *np.shape(a[0]))) for a in zip(*args, strict=True)
    ]
    assert [np.ndim(a) - 2 for a in batched] == list(ranks)
    drawn = random(name, rng, batched, (n, 2))
    assert drawn.shape == (n, 2, *np.shape(row.values[0]))
    assert (drawn.dtype.kind == "i") == entry.discrete == (draw_kind(name) == "int")
    if row.mean is not None:
        truth = np.stack([row.mean(*p) for p in row.params])
        error = drawn.std(axis=0) / np.sqrt(n)
        assert (np.abs(drawn.mean(axis=0) - truth) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("name", ["wishart_cholesky", "inv_wishart_cholesky"])
def test_draws_of_factors(name):
    """Their products have the means of the matrices."""
    row, rng = ROWS[name], np.random.default_rng(2)
    nu, root = row.params[0]
    factors = random(name, rng, (nu, root), (6000,))
    products = factors @ np.swapaxes(factors, -1, -2)
    scale = root @ root.T
    truth = nu * scale if name == "wishart_cholesky" else scale / (nu - 3)
    assert (np.abs(products.mean(0) - truth) < 5 * products.std(0) / np.sqrt(6000)).all()


def test_draws_of_correlations_have_the_size_that_is_asked_for():
    rng = np.random.default_rng(3)
    matrices = random("lkj_corr", rng, (4, np.full(2000, 1.5)))
    assert matrices.shape == (2000, 4, 4)
    factors = random("lkj_corr_cholesky", rng, (4, 1.5), (2000,))
    for drawn in (matrices, factors @ np.swapaxes(factors, -1, -2)):
        # Each correlation is a beta variable on (-1, 1) with shape eta - 1 + K / 2.
        assert np.mean(drawn[:, 2, 1] ** 2) == pytest.approx(1 / 6, abs=0.02)
    with pytest.raises(ModelError, match="one for all matrices"):
        random("lkj_corr", rng, (np.array([2, 3]), 1.0))


def test_draws_without_arguments():
    assert random("std_normal", np.random.default_rng(0), ()).shape == ()
    assert random("std_normal", np.random.default_rng(0), (), (3,)).shape == (3,)


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("normal", (0.0, -1.0), "normal_rng needs a scale that is positive; got -1"),
        ("poisson", (np.array([1.0, -1.0]),), "poisson_rng needs a rate"),
        ("categorical", (np.array([0.2, 0.3]),), "categorical_rng needs a p"),
        ("normal", (np.zeros(2), np.ones(3)), "normal_rng cannot draw"),
        ("poisson", (1e30,), "poisson_rng cannot draw"),
        ("multi_normal", (CUTS1, -C1), "multi_normal_rng needs a covariance"),
        ("wishart", (0.5, C1), "wishart_rng"),
    ],
)
def test_arguments_that_nothing_is_drawn_from(name, args, said):
    with pytest.raises(ModelError, match=said):
        random(name, np.random.default_rng(0), args)


def test_what_has_no_draws():
    assert not has_draws("wiener")
    assert not has_draws("no_such")
    assert has_draws("poisson_log")
