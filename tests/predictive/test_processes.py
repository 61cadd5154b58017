"""Observed processes at new points, against the textbook's conditional normal distribution."""

import numpy as np
import pytest

from probmodel import (
    Model,
    SamplingWarning,
    data,
    deterministic,
    observed,
    param,
    posterior_predictive,
    predict,
)
from probmodel.distributions import (
    BYM2,
    CAR,
    ICAR,
    Affine,
    GaussianProcess,
    HalfNormal,
    MatrixNormal,
    MultiGP,
    MvNormal,
    MvStudentT,
    Normal,
)
from probmodel.distributions.kernels import ExpQuad, Matern32
from probmodel.errors import DataError, ModelError

DRAWS = 20_000  # as fit_to has them
LARGEST = 5.0  # standard errors: of some hundred comparisons none is beyond by chance
X = np.array([0.0, 0.7, 1.5, 2.4])
NEW = np.array([0.3, 1.9, 3.5, 9.0])
Y = np.array([0.3, -0.8, 1.1, 0.4])
ALPHA, RHO, SIGMA, SHIFT = 1.3, 0.9, 0.4, 0.7


def covariance(x):
    gap = np.subtract.outer(x, x)
    return ALPHA**2 * np.exp(-0.5 * (gap / RHO) ** 2) + SIGMA**2 * (gap == 0)


def conditional(mean, matrix, y):
    """Mean and covariance of the last elements given the first."""
    n = len(y)
    weights = np.linalg.solve(matrix[:n, :n], matrix[:n, n:]).T
    return mean[n:] + weights @ (y - mean[:n]), matrix[n:, n:] - weights @ matrix[:n, n:]


class Curve(Model):
    """A curve with noise, written as a covariance."""

    x = data("obs")
    alpha = param(HalfNormal(1.0))
    rho = param(HalfNormal(1.0))
    gap = x[:, None] - x
    y = observed(
        MvNormal(SHIFT * x, alpha**2 * np.exp(-0.5 * (gap / rho) ** 2) + SIGMA**2 * (gap == 0)),
        dims="obs",
    )
    twice = deterministic(2.0 * y, dims="obs")


class Root(Model):
    x = data("obs")
    alpha = param(HalfNormal(1.0))
    rho = param(HalfNormal(1.0))
    gap = x[:, None] - x
    matrix = alpha**2 * np.exp(-0.5 * (gap / rho) ** 2) + SIGMA**2 * (gap == 0)
    y = observed(MvNormal(SHIFT * x, cholesky=np.linalg.cholesky(matrix)), dims="obs")


class Kriged(Model):
    x = data("obs")
    alpha = param(HalfNormal(1.0))
    rho = param(HalfNormal(1.0))
    y = observed(GaussianProcess(ExpQuad(alpha, rho), x, mean=SHIFT, jitter=0.1), dims="obs")


class Shifted(Model):
    x = data("obs")
    alpha = param(HalfNormal(1.0))
    rho = param(HalfNormal(1.0))
    process = GaussianProcess(ExpQuad(1.0, rho), x, jitter=0.1)
    y = observed(Affine(process, SHIFT, alpha), dims="obs")


def truth_of(model, x):
    if model in (Curve, Root):
        return SHIFT * x, covariance(x)
    correlation = np.exp(-0.5 * (np.subtract.outer(x, x) / RHO) ** 2)
    return np.full(len(x), SHIFT), ALPHA**2 * (correlation + 0.1 * np.eye(len(x)))


def drawn(model, fit, values, name="y", **options):
    return values(predict(model, fit, seed=1, var_names=name, **options), "predictions", name)[0]


@pytest.mark.parametrize("model", [Curve, Root, Kriged, Shifted])
@pytest.mark.parametrize("count", [3, 4])
def test_new_points_are_given_the_observed_ones(model, count, fit_to, values, discrepancy):
    """Also where the data are replaced by as many: those are other points."""
    fit = fit_to(model(x=X, y=Y), alpha=ALPHA, rho=RHO)
    done = drawn(model(x=NEW[:count]), fit, values)
    assert done.shape == (DRAWS, count)
    mean, matrix = truth_of(model, np.concatenate([X, NEW[:count]]))
    assert discrepancy(done, *conditional(mean, matrix, Y)) < LARGEST
    # Negative control: draws that do not look at what was observed.
    assert discrepancy(done, mean[4:], matrix[4:, 4:]) > LARGEST


def test_all_of_a_seed_counts(fit_to, values):
    fit, new = fit_to(Curve(x=X, y=Y), 3, alpha=ALPHA, rho=RHO), Curve(x=NEW[:3])
    first, second, third = (
        values(predict(new, fit, seed=np.random.SeedSequence(1, pool_size=n)), "predictions", "y")
        for n in (4, 4, 8)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.any(first == third)


@pytest.mark.parametrize("model", [Curve, Kriged])
def test_old_points_keep_their_observed_values_beside_new_ones(model, fit_to, values, discrepancy):
    fit = fit_to(model(x=X, y=Y), alpha=ALPHA, rho=RHO)
    mean, matrix = truth_of(model, np.append(X, NEW[:2]))
    truth = conditional(mean, matrix, Y)
    whole = model(x=[NEW[0], *X[::-1], NEW[1]], coords={"obs": [7, 3, 2, 1, 0, 8]})
    done = drawn(whole, fit, values)
    np.testing.assert_array_equal(done[:, 1:5], np.broadcast_to(Y[::-1], (DRAWS, 4)))
    assert discrepancy(done[:, [0, 5]], *truth) < LARGEST
    some = model(x=[X[2], *NEW[:2]], coords={"obs": [2, 7, 8]})
    done = drawn(some, fit, values)
    assert (done[:, 0] == Y[2]).all()
    assert discrepancy(done[:, 1:], *truth) < LARGEST


def test_every_draw_has_its_own_parameters(fit_to, values, discrepancy):
    """Draws of two kinds, half and half, in chains of one fit."""
    rhos = np.tile([0.5, 2.0], DRAWS // 2)
    fit = fit_to(Curve(x=X, y=Y), alpha=ALPHA, rho=RHO, draws={"rho": rhos})
    done = drawn(Curve(x=NEW), fit, values)
    for i, rho in enumerate((0.5, 2.0)):
        x = np.concatenate([X, NEW])
        gap = np.subtract.outer(x, x)
        matrix = ALPHA**2 * np.exp(-0.5 * (gap / rho) ** 2) + SIGMA**2 * (gap == 0)
        assert discrepancy(done[i::2], *conditional(SHIFT * x, matrix, Y)) < LARGEST


def test_what_follows_from_the_process_follows_from_its_draws(fit_to, values):
    fit = fit_to(Curve(x=X, y=Y), 50, alpha=ALPHA, rho=RHO)
    done = predict(Curve(x=NEW), fit, seed=1)
    y, twice = (values(done, "predictions", name) for name in ("y", "twice"))
    np.testing.assert_array_equal(twice, 2.0 * y)
    again = predict(Curve(x=NEW), fit, seed=1)
    np.testing.assert_array_equal(values(again, "predictions", "y"), y)


def test_points_that_coincide_with_observed_ones(fit_to, values):
    """As the covariance is written, the same point has the same noise."""
    fit = fit_to(Curve(x=X, y=Y), 100, alpha=ALPHA, rho=RHO)
    done = drawn(Curve(x=[X[1], NEW[0], X[1]]), fit, values)
    np.testing.assert_allclose(done[:, [0, 2]], Y[1], atol=1e-6)


def test_the_same_points_are_replicates(fit_to, values, discrepancy):
    """Neither of these asks for new points: data of the same process, from its start."""
    model = Curve(x=X, y=Y)
    fit = fit_to(model, alpha=ALPHA, rho=RHO)
    mean, matrix = truth_of(Curve, X)
    replicated = values(posterior_predictive(model, fit, seed=1), "posterior_predictive", "y")[0]
    assert discrepancy(replicated, mean, matrix) < LARGEST
    assert discrepancy(drawn(Curve(x=X), fit, values), mean, matrix) < LARGEST
    part = drawn(Curve(x=X[1:3], coords={"obs": [1, 2]}), fit, values)
    assert discrepancy(part, mean[1:3], matrix[1:3, 1:3]) < LARGEST


def test_labels_that_stand_for_other_points_are_refused(fit_to):
    fit = fit_to(Curve(x=X, y=Y), 5, alpha=ALPHA, rho=RHO)
    for labels in (range(4), range(1, 5)):
        with pytest.raises(DataError, match=r"'y': data 'x', .* differs .* coords=\{'obs'"):
            predict(Curve(x=X + 1.0, coords={"obs": labels}), fit)


class Several(Model):
    """Series that share their points and are independent of each other."""

    x = data("time")
    rho = param(HalfNormal(1.0))
    y = observed(GaussianProcess(Matern32(1.0, rho), x, jitter=0.1), dims=("series", "time"))


def test_each_of_several_series_goes_on_from_its_own(fit_to, values, discrepancy):
    names = {"series": ["a", "b"]}
    both = np.stack([Y, -2.0 * Y])
    fit = fit_to(Several(x=X, y=both, coords=names), rho=RHO)
    new = Several(x=NEW[:2], coords={"series": ["c", "b"]})
    done = drawn(new, fit, values)
    x = np.append(X, NEW[:2])
    s = np.sqrt(3.0) * np.abs(np.subtract.outer(x, x)) / RHO
    matrix = (1.0 + s) * np.exp(-s) + 0.1 * np.eye(6)
    assert discrepancy(done[:, 1], *conditional(np.zeros(6), matrix, both[1])) < LARGEST
    assert discrepancy(done[:, 0], np.zeros(2), matrix[4:, 4:]) < LARGEST


class Pairs(Model):
    """Rows of their own: new ones are independent of the observed ones."""

    x = data("obs")
    known = data(("obs", "axis", "other"))
    mean = param(Normal(0.0, 1.0), shape=2)
    y = observed(MvNormal(mean + x[:, None], known), dims=("obs", "axis"))


def test_new_rows_are_independent_of_the_observed_ones(fit_to, values, discrepancy):
    matrix = np.array([[1.0, 0.6], [0.6, 2.0]])
    known = np.broadcast_to(matrix, (3, 2, 2))
    fit = fit_to(Pairs(x=[0.0, 1.0, 2.0], known=known, y=np.ones((3, 2))), mean=np.zeros(2))
    for count in (2, 3):
        new = Pairs(x=np.full(count, 5.0), known=4.0 * known[:count])
        done = drawn(new, fit, values)
        assert discrepancy(done[:, 0], np.full(2, 5.0), 4.0 * matrix) < LARGEST


class Distances(Model):
    gaps = data(("site", "other"))
    rho = param(HalfNormal(1.0))
    y = observed(MvNormal(0.0, np.exp(-gaps / rho) + 0.1 * (gaps == 0)), dims="site")


def test_distances_are_those_of_old_and_new_points_together(fit_to, values, discrepancy):
    x = np.append(X, NEW[:2])
    gaps = np.abs(np.subtract.outer(x, x))
    fit = fit_to(Distances(gaps=gaps[:4, :4], y=Y), rho=RHO)
    with pytest.raises(ModelError, match=r"'y': its new elements .*'gaps' .*together"):
        predict(Distances(gaps=gaps[4:, 4:]), fit)
    whole = Distances(gaps=gaps, coords={"site": range(6), "other": range(6)})
    matrix = np.exp(-gaps / RHO) + 0.1 * np.eye(6)
    truth = conditional(np.zeros(6), matrix, Y)
    assert discrepancy(drawn(whole, fit, values)[:, 4:], *truth) < LARGEST
    unnamed = Distances(gaps=gaps, coords={"site": range(6)})
    assert discrepancy(drawn(unnamed, fit, values)[:, 4:], *truth) < LARGEST


class Centred(Model):
    """Its covariance depends on the mean of all points that are bound."""

    x = data("obs")
    rho = param(HalfNormal(1.0))
    c = x - np.mean(x)
    y = observed(MvNormal(0 * x, rho * c[:, None] * c + (x[:, None] == x)), dims="obs")


class Nameless(Model):
    x = data("obs")
    rho = param(HalfNormal(1.0))
    y = observed(GaussianProcess(ExpQuad(1.0, rho), x))


class OwnNoise(Model):
    x = data("obs")
    rho = param(HalfNormal(1.0))
    noise = param(Normal(7.0, 1.0), dims="obs")
    y = observed(MvNormal(noise, 0.5 + (x[:, None] == x) * rho), dims="obs")


class Layered(Model):
    x = data("obs")
    rho = param(HalfNormal(1.0))
    z = observed(Normal(x, 1.0), dims="obs")
    y = observed(MvNormal(z, rho * (x[:, None] == x)), dims="obs")


def test_models_that_do_not_say_how_old_and_new_points_go_together(fit_to):
    for model, reason in (
        (Centred, "is another once new ones follow"),
        (Nameless, "no dims="),
        (Layered, "depends on other observed"),
    ):
        seen = {"z": Y} if model is Layered else {}
        fit = fit_to(model(x=X, y=Y, **seen), 5, rho=RHO)
        with pytest.raises(ModelError, match=f"'y': its new elements .*{reason}"):
            predict(model(x=NEW[:3]), fit, var_names="y")


def test_effects_of_new_points_are_at_their_centre_or_refused(fit_to, values, discrepancy):
    """What is drawn for the other quantities cannot be shared with a model of all points."""
    fit = fit_to(OwnNoise(x=X, y=Y), rho=RHO, noise=np.zeros(4))
    new = OwnNoise(x=NEW[:2], coords={"obs": [4, 5]})
    done = drawn(new, fit, values, new_groups="zero")
    matrix = 0.5 + RHO * np.eye(6)
    truth = conditional(np.array([0.0, 0.0, 0.0, 0.0, 7.0, 7.0]), matrix, Y)
    assert discrepancy(done, *truth) < LARGEST
    with pytest.raises(ModelError, match=r"'noise' has .* are bound together\. Bind the"):
        predict(new, fit, new_groups="draw")
    both = OwnNoise(x=[*X, *NEW[:2]], coords={"obs": range(6)})
    done = predict(both, fit, seed=1, new_groups="draw", var_names=["y", "noise"])
    y, noise = (values(done, "predictions", name)[0] for name in ("y", "noise"))
    residual = y[:, 4:] - noise[:, 4:]
    assert discrepancy(residual, *conditional(np.zeros(6), matrix, Y)) < LARGEST


class Holes(Model):
    x = data("obs")
    rho = param(HalfNormal(1.0))
    y = observed(GaussianProcess(ExpQuad(1.0, rho), x, jitter=0.1), dims="obs", missing="impute")


def test_a_fit_without_its_data_warns(make_fit):
    fit = make_fit(alpha=np.ones((1, 5)), rho=np.ones((1, 5)))
    with pytest.warns(SamplingWarning, match="does not hold the data of observed 'y'"):
        predict(Curve(x=NEW), fit)


def test_missing_values_tell_nothing(fit_to, values, discrepancy):
    y = Y.copy()
    y[1] = np.nan
    fit = fit_to(Holes(x=X, y=y), rho=RHO)
    done = drawn(Holes(x=NEW[:2]), fit, values)
    x = np.concatenate([X[[0, 2, 3]], NEW[:2]])
    matrix = np.exp(-0.5 * (np.subtract.outer(x, x) / RHO) ** 2) + 0.1 * np.eye(5)
    assert discrepancy(done, *conditional(np.zeros(5), matrix, Y[[0, 2, 3]])) < LARGEST


class Heavy(Model):
    x = data("obs")
    s = param(HalfNormal(1.0))
    y = observed(MvStudentT(4.0, 0 * x, s * np.exp(-np.abs(x[:, None] - x))), dims="obs")


class Matrix(Model):
    x = data("obs")
    s = param(HalfNormal(1.0))
    row = s * np.exp(-np.abs(x[:, None] - x))
    y = observed(MatrixNormal(np.zeros((1, 2)) * x[:, None], row, np.eye(2)), dims=("obs", "of"))


class Multi(Model):
    x = data("obs")
    s = param(HalfNormal(1.0))
    y = observed(MultiGP(s * np.exp(-np.abs(x[:, None] - x)), np.ones(2)), dims=("of", "obs"))


RING = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
PATH = np.eye(5, k=1) + np.eye(5, k=-1)


class Areas(Model):
    edges = data(("obs", "other"))
    s = param(HalfNormal(1.0))
    y = observed(CAR(s, 0.5, edges), dims="obs")


class Convolved(Model):
    edges = data(("obs", "other"))
    s = param(HalfNormal(1.0))
    y = observed(BYM2(s, 0.5, edges), dims="obs")


class Intrinsic(Model):
    edges = data(("obs", "other"))
    s = param(HalfNormal(1.0))
    y = observed(ICAR(edges, s), dims="obs")


UNKNOWN = {
    "Heavy": (Heavy, {"x": X}, Y, {"x": NEW}),
    "Matrix": (Matrix, {"x": X}, np.stack([Y, Y], axis=1), {"x": NEW}),
    "Multi": (Multi, {"x": X}, np.stack([Y, Y]), {"x": NEW}),
    "Areas": (Areas, {"edges": RING}, np.arange(5.0), {"edges": PATH}),
    "Convolved": (Convolved, {"edges": RING}, np.arange(5.0), {"edges": PATH}),
    "Intrinsic": (Intrinsic, {"edges": RING}, np.arange(5.0) - 2.0, {"edges": PATH}),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_other_processes_at_new_points_are_refused(case, fit_to, values):
    model, before, y, now = UNKNOWN[case]
    coords = {"of": [0, 1]} if case in ("Matrix", "Multi") else {}
    fit = fit_to(model(**before, y=y, coords=coords), 5, s=1.0)
    with pytest.raises(ModelError, match="observed 'y': its new elements depend on those"):
        predict(model(**now, coords=coords), fit)
    same = values(predict(model(**before, coords=coords), fit, seed=1), "predictions", "y")
    assert same.shape == (1, 5, *y.shape)
