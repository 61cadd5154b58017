"""Unknown elements given the known ones, against the textbook's conditional normal distribution."""

import numpy as np
import pytest

from probmodel.distributions import AR1, GaussianProcess, MvNormal, MvStudentT, Normal, RandomWalk
from probmodel.distributions.kernels import ExpQuad, Matern32
from probmodel.errors import ModelError

ROWS = 20_000
LARGEST = 5.0  # in standard errors: of some hundred comparisons none is beyond by chance


def conditional(mean, covariance, value, known):
    """Mean and covariance of the unknown elements."""
    unknown = ~known
    weights = np.linalg.solve(
        covariance[np.ix_(known, known)], covariance[np.ix_(known, unknown)]
    ).T
    m = mean[unknown] + weights @ (value[known] - mean[known])
    return m, covariance[np.ix_(unknown, unknown)] - weights @ covariance[np.ix_(known, unknown)]


def discrepancies(draws, mean, covariance):
    """Errors of first and second moments, in their standard errors."""
    n = len(draws)
    sd = np.sqrt(np.diag(covariance))
    centred = draws - mean
    first = centred.mean(axis=0) / (sd / np.sqrt(n))
    products = centred[:, :, None] * centred[:, None, :]
    spread = np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / n)
    return np.concatenate([first, ((products.mean(axis=0) - covariance) / spread).ravel()])


def ar1_covariance(phi, sigma, n):
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return sigma**2 * phi**lags / (1 - phi**2)


POINTS = np.array([0.0, 0.4, 1.1, 1.5, 2.6])
MATRIX = np.array(
    [
        [2.0, 0.6, -0.3, 0.2, 0.1],
        [0.6, 1.5, 0.4, 0.0, 0.3],
        [-0.3, 0.4, 1.0, 0.2, 0.1],
        [0.2, 0.0, 0.2, 0.8, -0.2],
        [0.1, 0.3, 0.1, -0.2, 1.2],
    ]
)
LOC = np.array([0.5, -1.0, 0.0, 2.0, 1.0])
ROOT = np.linalg.cholesky(MATRIX)
DISTANCES = np.abs(np.subtract.outer(POINTS, POINTS))
KRIGING = 1.3**2 * (np.exp(-0.5 * (DISTANCES / 0.7) ** 2) + 1e-8 * np.eye(5))
CASES = {
    "ar1": (AR1(0.8, 0.5, 1.5), (0.8, 0.5, 1.5), np.full(5, 1.5), ar1_covariance(0.8, 0.5, 5)),
    "alternating ar1": (AR1(-0.6, 2.0), (-0.6, 2.0, 0.0), np.zeros(5), ar1_covariance(-0.6, 2, 5)),
    "white ar1": (AR1(0.0, 2.0), (0.0, 2.0, 0.0), np.zeros(5), 4 * np.eye(5)),
    "covariance": (MvNormal(LOC, MATRIX), (LOC, MATRIX), LOC, MATRIX),
    "cholesky": (MvNormal(LOC, cholesky=ROOT), (LOC, ROOT), LOC, MATRIX),
    "precision": (
        MvNormal(LOC, precision=np.linalg.inv(MATRIX)),
        (LOC, np.linalg.inv(MATRIX)),
        LOC,
        MATRIX,
    ),
    "walk": (
        RandomWalk(0.7, 1.5, drift=0.2, initial_loc=-1.0),
        (0.7, 1.5, 0.2, -1.0),
        -1.0 + 0.2 * np.arange(5),
        1.5**2 + 0.7**2 * np.minimum.outer(np.arange(5), np.arange(5)),
    ),
    "kriging": (
        GaussianProcess(ExpQuad(1.3, 0.7), POINTS, mean=-0.5),
        (-0.5, 1.3, 0.7, POINTS),
        np.full(5, -0.5),
        KRIGING,
    ),
}
KNOWN = {
    "past": [True, True, True, False, False],
    "future": [False, False, True, True, True],
    "gap": [True, False, False, True, False],
    "one": [False, False, True, False, False],
}
VALUE = np.array([0.7, -0.4, 1.3, 2.2, 0.1])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pattern", KNOWN)
def test_moments_are_those_of_the_conditional_distribution(case, pattern):
    dist, params, mean, covariance = CASES[case]
    known = np.array(KNOWN[pattern])
    value = np.where(known, VALUE, np.nan) + np.zeros((ROWS, 1))
    params = [np.asarray(p, dtype=float) for p in params]
    done = dist.complete(np.random.default_rng(1), value, known, *params)
    np.testing.assert_array_equal(done[:, known], value[:, known])
    m, c = conditional(mean, covariance, VALUE, known)
    assert np.abs(discrepancies(done[:, ~known], m, c)).max() < LARGEST
    # Negative control: draws that do not look at the known elements.
    free = dist.sample(np.random.default_rng(2), value.shape, *params)[:, ~known]
    independent = np.allclose(covariance[np.ix_(known, ~known)], 0.0)
    assert independent or np.abs(discrepancies(free, m, c)).max() > LARGEST


def test_every_row_has_its_own_parameters_and_every_series_its_own_gaps():
    """Series of a batch that are known in different places, with parameters that vary by row."""
    rows = 4
    rng = np.random.default_rng(3)
    known = np.array([[True, True, False, False], [True, False, True, False]])
    value = np.broadcast_to(rng.normal(size=(2, 4)), (rows, 2, 4)).copy()
    roots = np.stack(
        [np.diag(np.full(4, s)) + 0.3 * np.tril(np.ones((4, 4)), -1) for s in (0.5, 1.0, 1.5, 2.0)]
    )[:, None]
    loc = rng.normal(size=(rows, 1, 4))
    dist = MvNormal(LOC, cholesky=ROOT)
    many = dist.complete(
        np.random.default_rng(5), np.repeat(value, 4000, axis=0), known,
        np.repeat(loc, 4000, axis=0), np.repeat(roots, 4000, axis=0),
    ).reshape(rows, 4000, 2, 4)  # fmt: skip
    for r in range(rows):
        for b in range(2):
            covariance = roots[r, 0] @ roots[r, 0].T
            m, c = conditional(loc[r, 0], covariance, value[r, b], known[b])
            assert np.abs(discrepancies(many[r, :, b, ~known[b]].T, m, c)).max() < LARGEST


def test_kriging_on_a_grid_with_length_scales_that_vary():
    axes = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5])
    dist = GaussianProcess(ExpQuad(1.0, 1.0), grid=axes, mean=0.0)
    known = np.array([[True, True], [True, False], [False, False]])
    value = np.random.default_rng(6).normal(size=(3, 2))
    scales = np.array([0.5, 1.0])
    stacked = np.broadcast_to(value, (2 * ROWS, 3, 2))
    params = [np.zeros((1, 1, 1)), np.full(2 * ROWS, 2.0), np.repeat(scales, ROWS), *axes]
    done = dist.complete(np.random.default_rng(7), stacked, known, *params)
    for i, scale in enumerate(scales):
        factors = [
            np.exp(-0.5 * (np.subtract.outer(x, x) / scale) ** 2) + 1e-8 * np.eye(len(x))
            for x in axes
        ]
        covariance = 4.0 * np.kron(*factors)
        m, c = conditional(np.zeros(6), covariance, value.ravel(), known.ravel())
        draws = done[i * ROWS : (i + 1) * ROWS].reshape(ROWS, 6)[:, ~known.ravel()]
        assert np.abs(discrepancies(draws, m, c)).max() < LARGEST


def test_kernels_of_scattered_points_in_the_plane():
    points = np.array([[0.0, 0.0], [1.0, 0.5], [0.3, 0.9]])
    dist = GaussianProcess(Matern32(1.0, 1.0), points)
    known = np.array([True, False, True])
    value = np.array([1.0, 0.0, -1.0]) + np.zeros((ROWS, 1))
    done = dist.complete(
        np.random.default_rng(8), value, known, *map(np.asarray, (0.0, 1.0, 1.0, points))
    )
    d = np.sqrt(3) * np.linalg.norm(points[:, None] - points, axis=-1)
    m, c = conditional(np.zeros(3), (1 + d) * np.exp(-d) + 1e-8 * np.eye(3), value[0], known)
    assert np.abs(discrepancies(done[:, ~known], m, c)).max() < LARGEST


def test_numbers_are_independent():
    value = np.broadcast_to([1.0, np.nan, 3.0], (ROWS, 3))
    known = np.array([True, False, True])
    done = Normal(0, 1).complete(
        np.random.default_rng(9), value, known, np.asarray([0.0, 5.0, 0.0]), np.asarray(2.0)
    )
    np.testing.assert_array_equal(done[:, known], value[:, known])
    assert (
        np.abs(discrepancies(done[:, ~known], np.array([5.0]), np.array([[4.0]]))).max() < LARGEST
    )


def test_whole_values_can_be_new_and_parts_are_refused():
    dist = MvStudentT(5.0, LOC, MATRIX)
    params = [np.asarray(p) for p in (5.0, LOC, MATRIX)]
    value = np.zeros((3, 2, 5))
    known = np.zeros((2, 5), dtype=bool)
    known[0] = True
    done = dist.complete(np.random.default_rng(1), value, known, *params)
    assert (done[:, 0] == 0).all()
    assert (done[:, 1] != 0).all()
    known[1, 0] = True
    with pytest.raises(ModelError, match="MvStudentT has no way to draw some elements"):
        dist.complete(np.random.default_rng(1), value, known, *params)
