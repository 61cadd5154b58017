"""Units of coordinates, and tops of ridges."""

import numpy as np
import pytest

from probmodel.adaptation.ascent import Climbers, climb
from probmodel.adaptation.ridges import curvature, top_of_ridge
from probmodel.adaptation.unit_search import InUnits, UnitSearch
from probmodel.testing.targets import Gaussian, random_covariance


def searched(target, x):
    search, n = UnitSearch(target, x, np.random.default_rng(0)), 0
    while not search.found:
        search.step(target)
        n += 1
    return search, n


@pytest.mark.parametrize("dim", [1, 3, 10])
def test_units_are_those_of_the_rows_of_the_hessian(dim):
    rng = np.random.default_rng(dim)
    scales = 10.0 ** rng.uniform(-9.0, 9.0, dim)
    cov = random_covariance(rng, dim)
    target = Gaussian(np.zeros(dim), cov * np.outer(scales, scales))
    search, n = searched(target, scales * rng.standard_normal((8, dim)))
    assert n <= 12
    S = np.exp(np.median(np.log(search.S), axis=0))
    rows = np.abs(np.linalg.inv(cov) * np.outer(S / scales, S / scales)).max(axis=1)
    assert np.all((rows > 0.05) & (rows < 20.0))


def test_a_coordinate_on_which_nothing_depends_keeps_its_unit():
    target = Gaussian(np.zeros(2), np.diag([1e12, 1.0]))

    def density(x):
        logp, grad = target(x * [1.0, 0.0])
        return logp, grad * [1.0, 0.0]

    search, _ = searched(density, np.full((4, 2), 3e5))
    np.testing.assert_array_equal(search.S[:, 1], 1.0)
    assert np.all((search.S[:, 0] > 1e5) & (search.S[:, 0] < 1e7))


def ridge(flat):
    """Two coordinates whose sum is held, and their difference by so much less."""

    def density(x):
        total, difference = x[:, 0] + x[:, 1] - 3.0, x[:, 0] - x[:, 1] - 5.0 / np.sqrt(flat)
        logp = -0.5 * (total**2 + flat * difference**2)
        grad = np.column_stack([-total - flat * difference, -total + flat * difference])
        return logp, grad

    return density


@pytest.mark.parametrize("flat", [1e-8, 1e-12, 1e-15])
def test_the_top_of_a_ridge_is_found(flat):
    density, x = ridge(flat), np.array([[1.5, 1.5], [0.0, 3.0]])
    logp, grad = density(x)
    w = np.abs(curvature(density, x, grad)[1])
    assert np.all(w.min(axis=1) > 0.0)
    mode = top_of_ridge(density, x, logp, grad)
    assert mode.found.all()
    assert np.all(density(mode.x)[0] > -0.01)
    cov = np.einsum("cij,ckj->cik", mode.root, mode.root)
    np.testing.assert_allclose(cov[:, 0, 0], 0.25 * (1.0 + 1.0 / flat), rtol=1e-3)


def test_places_near_the_mode_stay():
    density = ridge(1e-3)
    x = np.array([[1.5 + 2.5 / np.sqrt(1e-3), 1.5 - 2.5 / np.sqrt(1e-3)]]) + 0.1
    mode = top_of_ridge(density, x, *density(x))
    assert not mode.found.any()
    np.testing.assert_array_equal(mode.x, x)


def test_usual_units_are_not_asked_for():
    target = Gaussian(np.zeros(3), np.diag([1e-4, 1.0, 1e2]))
    chains = Climbers(target, np.full((4, 3), 2.0), 0.1)
    for _ in range(60):
        chains.step(target)
        assert not chains.unlike.any()


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_chains_arrive_in_any_units(scale):
    scales = scale ** np.linspace(0.0, 1.0, 4)
    target = Gaussian(2.0 * scales, np.diag(scales**2))
    x = np.random.default_rng(1).uniform(-2.0, 2.0, (8, 4))
    *_, last = climb(target, x, np.random.default_rng(2), 150, 0.1)
    z = last / scales - 2.0
    assert np.all(np.abs(z) < 5.0)
    assert np.all(z.std(axis=0) > 0.2)


def test_a_density_in_units_has_the_slope_of_the_whole():
    target, S = Gaussian(np.ones(2), np.diag([4.0, 9.0])), np.array([1e3, 1e-3])
    z = np.array([[1e-3, 2e3]])
    there = InUnits(target, S)(z)
    logp, grad = target(z * S)
    np.testing.assert_array_equal(there.logp, logp)
    np.testing.assert_array_equal(there.grad, grad * S)
