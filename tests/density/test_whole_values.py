"""Processes on grids, matrices and vectors that are sampled non-centred or as declared, by data."""

import numpy as np
import pytest

from probmodel import Model, infer, observed, param
from probmodel.density import as_posterior
from probmodel.density.posterior import ModelDensity
from probmodel.density.standardising import hierarchies, measured
from probmodel.distributions import (
    DISTRIBUTIONS,
    CirculantGP,
    GaussianProcess,
    HalfNormal,
    LogNormal,
    MatrixNormal,
    MultiGP,
    MvStudentT,
    Normal,
    PoissonLog,
    kernels,
)
from probmodel.inference.counting import counting
from probmodel.model.pseudo_data import PseudoData
from probmodel.results.convergence import convergence

GRID = np.linspace(0, 1, 3), np.linspace(0, 2, 2)
ROOT = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.2, -0.3, 0.9]])
SIGMA = ROOT @ ROOT.T
PRIORS = {
    "GaussianProcess": ((3, 2), lambda s, r: GaussianProcess(kernels.ExpQuad(s, r), grid=GRID)),
    "GaussianProcess of distances": (
        (3, 2), lambda s, r: GaussianProcess(kernels.Exponential(s, r), grid=GRID, mean=0.3)
    ),
    "GaussianProcess of a sum": (
        (3, 2),
        lambda s, r: GaussianProcess(
            kernels.ExpQuad(s, 1.0) + kernels.Exponential(1.0, r), grid=GRID
        ),
    ),
    "CirculantGP": ((4, 2), lambda s, r: CirculantGP(kernels.Exponential(s, 0.1 * r), GRID)),
    "CirculantGP of one axis": (
        (8,), lambda s, r: CirculantGP(kernels.Exponential(s, 0.1 * r), [np.linspace(0, 1, 5)])
    ),
    "MatrixNormal": (
        (3, 2),
        lambda s, r: MatrixNormal(
            0.2, row_covariance=SIGMA * s**2, column_cholesky=r * ROOT[:2, :2]
        ),
    ),
    "MultiGP": ((2, 3), lambda s, r: MultiGP(SIGMA * s**2, w=np.array([1.0, 4.0]) * r)),
    "MvStudentT": ((3,), lambda s, r: MvStudentT(4.0, 0.5, SIGMA * s**2 * r)),
}  # fmt: skip


def bound(name, error=1.0, noncentered=None):
    size, prior = PRIORS[name]

    class Whole(Model):
        s = param(LogNormal(0, 0.3))
        r = param(LogNormal(0, 0.3))
        u = param(prior(s, r), shape=size, noncentered=noncentered)
        y = observed(Normal(u, error))

    return Whole(y=np.random.default_rng(0).standard_normal(size))


def points(density, n=3):
    return np.random.default_rng(1).uniform(-1.0, 1.0, (n, density.dim))


def test_every_family_that_is_taken_as_a_whole_is_here():
    taking = {name for name, kind in DISTRIBUTIONS.items() if kind.takes_pseudo_data == "whole"}
    assert taking | {"GaussianProcess"} == {name.partition(" ")[0] for name in PRIORS}


@pytest.mark.parametrize("name", PRIORS)
def test_the_spectrum_is_that_of_the_covariance(name):
    size, prior = PRIORS[name]
    family = prior(1.3, 0.7)
    params = [np.asarray(arg, dtype=float) for arg in family.args.values()]
    elements = int(np.prod(size))
    basis = [np.zeros(size), *np.eye(elements).reshape(-1, *size)]
    images = np.stack([family.noncentered(np, z, *params).reshape(-1) for z in basis])
    columns = images[1:] - images[0]
    expected = np.linalg.eigvalsh(columns.T @ columns)
    found = np.sort(family.spectrum(size, *params))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", PRIORS)
def test_they_are_noncentred_or_as_declared(name):
    model = bound(name)
    plain, declared = as_posterior(bound(name, noncentered=True)), as_posterior(model)
    none = ModelDensity(model, {"u": PseudoData(np.zeros(()), np.zeros(()))})
    everything = ModelDensity(model, {"u": PseudoData(np.array(np.inf), np.zeros(()))})
    x = points(declared)
    np.testing.assert_array_equal(none(x).logp, plain(x).logp)
    np.testing.assert_array_equal(everything(x).logp, declared(x).logp)
    assert np.max(np.abs(none(x).logp - declared(x).logp)) > 0.01
    assert everything.centring(x) == {}
    np.testing.assert_allclose(none.centring(x)["u"], 0.0)
    z = none.translated(x, declared)
    np.testing.assert_allclose(declared.translated(z, none), x, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(everything.translated(z, none), x, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(none.constrain(z)["u"], declared.constrain(x)["u"], atol=1e-8)
    given = {name: value[0] for name, value in declared.constrain(x).items()}
    found = none.unconstrain(given, np.zeros(none.dim))
    np.testing.assert_allclose(found, z[0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize(("error", "told"), [(30.0, 0.0), (1e-4, np.inf)])
def test_the_precision_of_data_decides(name, error, told):
    density = as_posterior(bound(name, error))
    assert density.hierarchical
    x = points(density, 6).reshape(2, 3, -1)
    for _ in range(2):  # from what is declared, and from what was found first
        found = measured(density, x, np.random.default_rng(2), counting)["u"]
        assert found.information == told
        density = ModelDensity(density.model, {"u": found})
        assert (hierarchies(density)[0][0].frame is None) == found.is_all


def test_points_where_nothing_is_finite_leave_it_noncentred():
    density = as_posterior(bound("GaussianProcess"))
    x = np.full((2, 3, density.dim), np.nan)
    assert measured(density, x, np.random.default_rng(2), counting)["u"].information == 0.0


def effective_draws_of_a_gradient(rate, noncentered=None):
    axis = np.linspace(0, 1, 6)

    class Field(Model):
        s = param(HalfNormal(1))
        length = param(LogNormal(np.log(0.2), 0.5))
        mean = param(Normal(0, 2))
        u = param(
            GaussianProcess(kernels.ExpQuad(s, length), grid=(axis, axis)),
            shape=(6, 6),
            noncentered=noncentered,
        )
        y = observed(PoissonLog(mean + u))

    counts = np.random.default_rng(0).poisson(rate, (6, 6))
    found = infer(Field(y=counts), seed=1, draws=100, quiet=True)
    ess = convergence(np.asarray(found.posterior["s"])[None]).ess_bulk[0]
    return ess / float(found.sample_stats["n_grad"].sum())


@pytest.mark.statistical
def test_a_process_on_a_grid_with_few_data_is_sampled_well():
    assert effective_draws_of_a_gradient(0.5) > 0.01
    # Negative control: as declared, the funnel of its scale keeps chains from moving.
    assert effective_draws_of_a_gradient(0.5, noncentered=False) < 0.001
