"""new_groups="zero": new elements deviate by zero from the population that they belong to."""

import numpy as np
import pytest

from probmodel import Model, data, deterministic, observed, param, predict
from probmodel.constraints import Ordered, SumToZero
from probmodel.distributions import (
    AR1,
    ICAR,
    Affine,
    Beta,
    Cauchy,
    Gamma,
    GaussianProcess,
    Gumbel,
    HalfNormal,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    MvNormal,
    MvStudentT,
    Normal,
    RandomWalk,
    StudentT,
    Truncated,
    Uniform,
    ZeroSumNormal,
)
from probmodel.distributions.kernels import ExpQuad
from probmodel.errors import DataError, ModelError

RNG = np.random.default_rng(0)
DRAWS = 7
MEAN = RNG.normal(50.0, 1.0, (1, DRAWS))
SPREAD = np.abs(RNG.normal(size=(1, DRAWS))) + 0.5


def along(size, values=None):
    known = RNG.normal(50.0, 1.0, (1, DRAWS, size)) if values is None else values
    return (("region",), known)


def model_of(prior, **options):
    """Model of an effect of regions, whose prior is a function of a mean and a spread."""

    class Effects(Model):
        m = param(Normal(50.0, 1.0))
        t = param(HalfNormal(1.0))
        e = param(prior(m, t), dims="region", **options)
        y = observed(Normal(e, 1.0), dims="region")

    return Effects


def predicted(model, fit, values, name="e", **options):
    return values(predict(model, fit, 1, "zero", name, **options), "predictions", name)


SYMMETRIC = {
    "normal": (lambda m, t: Normal(m, t), {}),
    "not centred": (lambda m, t: Normal(m, t), {"noncentered": True}),
    "informed": (lambda m, t: Normal(m, t), {"information": 2.0}),
    "offset": (lambda m, t: Normal(m, t), {"offset": 50.0, "multiplier": 2.0}),
    "t": (lambda m, t: StudentT(3.0, m, t), {}),
    "laplace": (lambda m, t: Laplace(m, t), {}),
    "logistic": (lambda m, t: Logistic(m, t), {}),
    "cauchy": (lambda m, t: Cauchy(m, t), {}),
    "affine": (lambda m, t: Affine(StudentT(3.0, 1.0, 2.0), m - t, t), {}),
}


@pytest.mark.parametrize("case", SYMMETRIC)
def test_new_groups_are_at_the_centre_of_their_population(case, make_fit, values):
    prior, options = SYMMETRIC[case]
    effect = along(2)
    fit = make_fit({"region": np.array(["N", "S"])}, m=MEAN, t=SPREAD, e=effect)
    model = model_of(prior, **options)(coords={"region": ["S", "E", "N"]})
    e = predicted(model, fit, values)
    np.testing.assert_array_equal(e[..., [2, 0]], effect[1])
    np.testing.assert_allclose(e[..., 1], MEAN, rtol=1e-14)


ASYMMETRIC = {
    "log-normal": (lambda m, t: LogNormal(0.0, t), {}, "LogNormal, which is not symmetric"),
    "gamma": (lambda m, t: Gamma(m, t), {}, "Gamma, which is not symmetric"),
    "beta": (lambda m, t: Beta(m, t), {}, "Beta, which is not symmetric"),
    "half": (lambda m, t: HalfNormal(t), {}, "HalfNormal, which is not symmetric"),
    "uniform": (lambda m, t: Uniform(0.0, t), {}, "Uniform, which is not symmetric"),
    "gumbel": (lambda m, t: Gumbel(m, t), {}, "Gumbel, which is not symmetric"),
    "shifted": (lambda m, t: Affine(Gamma(2.0, 1.0), m, t), {}, "Affine, which is not symmetric"),
    "truncated": (lambda m, t: Truncated(Normal(m, t), lower=0.0), {}, "Truncated"),
    "mixed": (lambda m, t: Mixture([0.5, 0.5], [Normal(m, t), Normal(0, 1)]), {}, "Mixture"),
    "cut": (lambda m, t: Normal(m, t), {"lower": 0.0}, "Normal cut by bounds"),
    "cut by another": (lambda m, t: Normal(m, t), {"upper": 90.0}, "Normal cut by bounds"),
    "ordered": (lambda m, t: Normal(m, t), {"constraint": Ordered()}, "held to be ordered"),
    "flat": (lambda m, t: None, {}, "flat prior"),
}


@pytest.mark.parametrize("case", ASYMMETRIC)
def test_populations_without_a_centre_are_refused(case, make_fit):
    prior, options, reason = ASYMMETRIC[case]
    known = np.sort(RNG.uniform(0.1, 0.2, (1, DRAWS, 2)), axis=-1)
    fit = make_fit({"region": np.arange(2)}, m=MEAN, t=SPREAD, e=along(2, known))
    model = model_of(prior, **options)(coords={"region": range(3)})
    with pytest.raises(DataError, match=rf"param 'e' .*{reason}.*new_groups=\"draw\""):
        predict(model, fit, 1, "zero")


class Coefficients(Model):
    """Rows of a matrix, each an intercept and a slope of a region."""

    mean = param(Normal(0.0, 50.0), shape=2)
    e = param(MvNormal(mean, np.array([[2.0, 0.5], [0.5, 1.0]])), dims=("region", "term"))
    h = param(MvStudentT(4.0, mean, np.eye(2)), dims=("region", "term"))
    y = observed(Normal(e[:, 0] + h[:, 1], 1.0), dims="region")


def test_rows_of_a_matrix(make_fit, values):
    mean = RNG.normal(50.0, 1.0, (1, DRAWS, 2))
    known = (("region", "term"), RNG.normal(50.0, 1.0, (1, DRAWS, 2, 2)))
    fit = make_fit({"region": np.array(["N", "S"])}, mean=(("mean_dim_0",), mean), e=known, h=known)
    model = Coefficients(coords={"region": ["N", "E"], "term": [0, 1]})
    for name in ("e", "h"):
        done = predicted(model, fit, values, name)
        np.testing.assert_array_equal(done[..., 0, :], known[1][..., 0, :])
        np.testing.assert_allclose(done[..., 1, :], mean, rtol=1e-14)


class Nested(Model):
    """Regions of countries: the centre of a region is its country's, which may be new too."""

    country = data(dims="region", dtype=int)
    x = data(dims="land")
    m = param(Normal(50.0, 1.0))
    c = param(Normal(m + x, 1.0), dims="land")
    e = param(Normal(c[country], 1.0), dims="region", noncentered=True)
    both = param(Normal(c[:, None], 1.0), dims=("land", "year"))
    total = deterministic(e + 1.0, dims="region")


def test_nested_populations_and_two_dims(make_fit, values):
    known = RNG.normal(50.0, 1.0, (1, DRAWS, 2))
    both = RNG.normal(50.0, 1.0, (1, DRAWS, 2, 2))
    fit = make_fit(
        {"land": np.array(["A", "B"]), "region": np.array(["N", "S"]), "year": np.arange(2)},
        m=MEAN, c=(("land",), known), e=(("region",), known + 1.0),
        both=(("land", "year"), both),
    )  # fmt: skip
    labels = {"land": ["B", "new"], "region": ["N", "E", "F"], "year": [1, 2]}
    model = Nested(country=[0, 0, 1], x=[3.0, 4.0], coords=labels)
    total = predicted(model, fit, values, "total")
    np.testing.assert_array_equal(total[..., 0], known[..., 0] + 2.0)
    np.testing.assert_allclose(total[..., 1], known[..., 1] + 1.0, rtol=1e-14)
    np.testing.assert_allclose(total[..., 2], MEAN + 5.0, rtol=1e-14)
    table = predicted(model, fit, values, "both")
    np.testing.assert_array_equal(table[..., 0, 0], both[..., 1, 1])
    np.testing.assert_allclose(table[..., 0, 1], known[..., 1], rtol=1e-14)
    np.testing.assert_allclose(table[..., 1, 0], MEAN + 4.0, rtol=1e-14)


def test_sums_of_zero_stay(make_fit, values):
    known = np.array([-1.5, 1.5]) + np.zeros((1, DRAWS, 1))
    fit = make_fit({"region": np.arange(2)}, m=MEAN, t=SPREAD, e=along(2, known))
    for prior, options in (
        (lambda m, t: ZeroSumNormal(t), {}),
        (lambda m, t: Normal(0.0, t), {"constraint": SumToZero()}),
    ):
        model = model_of(prior, **options)(coords={"region": range(4)})
        np.testing.assert_array_equal(predicted(model, fit, values)[0, 0], [-1.5, 1.5, 0.0, 0.0])
    uneven = model_of(lambda m, t: Normal(m, t), constraint=SumToZero())
    with pytest.raises(DataError, match="'e' is a vector that sums to zero, which the known"):
        predict(uneven(coords={"region": range(3)}), fit, 1, "zero")


def test_new_times_and_places_follow_from_the_known_ones(make_fit, values):
    """Zero is the mean of what "draw" draws: innovations of zero, and kriging."""
    known = RNG.normal(50.0, 1.0, (1, DRAWS, 3))
    fit = make_fit({"region": np.arange(3)}, m=MEAN, t=SPREAD, e=along(3, known))
    labels = {"coords": {"region": range(5)}}
    series = predicted(model_of(lambda m, t: AR1(0.8, t, m))(**labels), fit, values)
    last, ahead = known[..., 2:] - MEAN[..., None], 0.8 ** np.array([1, 2])
    np.testing.assert_allclose(series[..., 3:], MEAN[..., None] + ahead * last, rtol=1e-12)
    walk = predicted(model_of(lambda m, t: RandomWalk(t, 1.0, 0.5, m))(**labels), fit, values)
    np.testing.assert_allclose(walk[..., 3:], known[..., 2:] + [0.5, 1.0], rtol=1e-12)

    class Field(Model):
        x = data(dims="region")
        m = param(Normal(50.0, 1.0))
        e = param(GaussianProcess(ExpQuad(2.0, 1.0), x, mean=m), dims="region")

    x = np.array([0.0, 1.0, 2.5, 0.5, 9.0])
    field = predicted(Field(x=x, **labels), fit, values)
    covariance = np.exp(-0.5 * np.subtract.outer(x, x) ** 2) + 1e-8 * np.eye(5)
    weights = np.linalg.solve(covariance[:3, :3], covariance[:3, 3:])
    means = MEAN[..., None] + (known - MEAN[..., None]) @ weights
    np.testing.assert_allclose(field[..., 3:], means, rtol=1e-12)


def test_places_of_a_graph_have_no_centre_of_their_own(make_fit):
    class Map(Model):
        edges = data(("region", "other"))
        e = param(ICAR(edges), dims="region")

    ring = np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0)
    fit = make_fit({"region": np.arange(3)}, e=along(3, np.zeros((1, DRAWS, 3))))
    with pytest.raises(ModelError, match="ICAR has no way to draw some elements"):
        predict(Map(edges=ring, coords={"region": range(4)}), fit, 1, "zero", "e")
