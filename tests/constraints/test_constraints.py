"""Every constraint: there and back, its Jacobian, extreme values, what it refuses."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian

from probmodel.constraints import (
    CONSTRAINTS,
    CholeskyFactor,
    ColumnStochastic,
    Correlation,
    CorrelationCholesky,
    IntegerInterval,
    Interval,
    Lower,
    NonNegative,
    OffsetMultiplier,
    Ordered,
    Positive,
    PositiveDefinite,
    PositiveOrdered,
    Real,
    RowStochastic,
    Simplex,
    SumToZero,
    SumToZeroMatrix,
    UnitInterval,
    UnitVector,
    Upper,
    between,
)
from probmodel.constraints.ordered_interval import OrderedInterval
from probmodel.constraints.partly_bounded import PartlyBounded
from probmodel.testing import CONSTRAINT_CHECKS

EXAMPLES = {
    "real": Real(),
    "positive": Positive(),
    "non_negative": NonNegative(),
    "lower": Lower(-1.5),
    "upper": Upper(2.5),
    "interval": Interval(-1.0, 3.0),
    "unit_interval": UnitInterval(),
    "offset_multiplier": OffsetMultiplier(2.0, 0.5),
    "ordered": Ordered(),
    "positive_ordered": PositiveOrdered(),
    "simplex": Simplex(),
    "sum_to_zero": SumToZero(),
    "sum_to_zero_matrix": SumToZeroMatrix(),
    "row_stochastic": RowStochastic(),
    "column_stochastic": ColumnStochastic(),
    "unit_vector": UnitVector(),
    "cholesky_factor": CholeskyFactor(),
    "positive_definite": PositiveDefinite(),
    "correlation_cholesky": CorrelationCholesky(),
    "correlation": Correlation(),
}
CHECKS = {"integer_interval": IntegerInterval(0, 5)}
SIZE = 4
maps = pytest.mark.parametrize("name", sorted(EXAMPLES))
# Shapes of values by the axes of one: alone, of other sizes, and several at once.
SHAPES = {0: [(), (3,)], 1: [(4,), (2, 3)], 2: [(4, 4), (3, 5), (2, 3, 3), (2, 2, 4)]}


def spread(constraint):
    # Products of factors lose the digits that a wide spread asks for.
    return 0.75 if isinstance(constraint, (PositiveDefinite, Correlation)) else 1.5


def points(constraint, batch=(5,), seed=0):
    shape = constraint.free_shape((SIZE,) * constraint.event_ndim)
    return np.random.default_rng(seed).normal(0, spread(constraint), (*batch, *shape))


def test_every_constraint_has_an_example():
    assert set(EXAMPLES) | set(CHECKS) == set(CONSTRAINTS)


@maps
@pytest.mark.parametrize("check", CONSTRAINT_CHECKS, ids=lambda check: check.__name__)
def test_every_check(name, check):
    constraint = EXAMPLES[name]
    for shape in SHAPES[constraint.event_ndim]:
        if not constraint.square or shape[-1] == shape[-2]:
            check(constraint, shape, spread(constraint))


def test_a_dropped_factor_would_be_seen():
    """Negative control: the log-Jacobian without its constant differs by that constant."""
    constraint, u = Simplex(), points(Simplex(), (1,))[0]

    def free(v):
        return constraint.free_coords(constraint.forward(anp, v))

    stated = constraint.log_det(np, u) - 0.5 * np.log(SIZE)
    assert abs(stated - np.linalg.slogdet(jacobian(free)(u))[1]) > 0.5


PARTLY = between(np.array([-np.inf, -np.inf, 0.5, -1.0]), np.array([np.inf, 2.0, np.inf, 1.5]))


@pytest.mark.parametrize("check", CONSTRAINT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("shape", [(4,), (3, 4)])
def test_every_check_of_bounds_that_are_infinite_in_part(check, shape):
    check(PARTLY, shape, 1.5)


@pytest.mark.parametrize("check", CONSTRAINT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("shape", [(4,), (1,), (2, 3)])
def test_every_check_of_vectors_in_order_between_bounds(check, shape):
    check(OrderedInterval(-1.0, 3.5), shape, 1.5)


def test_vectors_in_order_between_bounds_are_checked():
    constraint = OrderedInterval(-1.0, 3.5)
    assert constraint.name == "ordered between -1 and 3.5"
    outside = [[-1.5, 0.0], [0.0, 4.0], [1.0, 0.5], [0.5, 0.5], [0.0, np.nan]]
    given = np.array([[-0.5, 3.0], *outside])
    assert constraint.check(given, *constraint.bounds).tolist() == [True] + [False] * 5


@pytest.mark.parametrize("size", [-700.0, -2.0, 0.0, 0.3, 700.0])
def test_each_element_has_the_map_of_its_own_bounds(size):
    alone = [Real(), Upper(2.0), Lower(0.5), Interval(-1.0, 1.5)]
    u = np.full(4, size)
    y, log_det = PARTLY.forward(np, u, *PARTLY.bounds), PARTLY.log_det(np, u, *PARTLY.bounds)
    for i, other in enumerate(alone):
        assert y[i] == other.forward(np, u[i], *other.bounds)
        assert log_det[i] == other.log_det(np, u[i], *other.bounds)
    if abs(size) < 100:
        np.testing.assert_allclose(PARTLY.inverse(y, *PARTLY.bounds), u, atol=1e-12)
    slopes = jacobian(lambda v: PARTLY.forward(anp, v, *PARTLY.bounds))(u)
    np.testing.assert_allclose(np.abs(np.diag(slopes)), np.exp(log_det), rtol=1e-12)


def test_bounds_that_are_infinite_everywhere_are_none():
    assert type(between(np.full(2, -np.inf), [0.0, 1.0])) is Upper
    assert type(between([0.0, 1.0], np.full(2, np.inf))) is Lower
    assert type(between(-np.inf, np.full(2, np.inf))) is Real
    assert not PARTLY.check(np.array([0.0, 2.1, 0.0, 1.6]), *PARTLY.bounds)[1:].any()
    assert not PARTLY.check(np.array([np.inf] * 4), *PARTLY.bounds).any()


@maps
@pytest.mark.parametrize("size", [-700.0, -40.0, 40.0, 700.0])
def test_extreme_values_do_not_overflow_silently(name, size):
    constraint = EXAMPLES[name]
    u = np.full(np.shape(points(constraint, (1,))), size)
    with np.errstate(all="ignore"):
        y = constraint.forward(np, u, *constraint.bounds)
        log_det = constraint.log_det(np, u, *constraint.bounds)
    assert not np.isnan(y).any()
    assert np.isfinite(log_det).all()


@pytest.mark.parametrize("name", ["positive", "non_negative", "unit_interval"])
def test_values_near_zero_stay_inside_and_keep_their_digits(name):
    constraint = EXAMPLES[name]
    u = np.array([-700.0, -40.0, -20.0])
    y = constraint.forward(np, u, *constraint.bounds)
    assert (y > 0).all()
    np.testing.assert_allclose(y, np.exp(u) / (1 + np.exp(u) * (name == "unit_interval")), 1e-12)
    np.testing.assert_allclose(constraint.inverse(y, *constraint.bounds), u, rtol=1e-12)


@pytest.mark.parametrize("u", [-700.0, -50.0, 0.0, 50.0, 700.0])
def test_log_det_of_an_interval_is_accurate_in_the_tails(u):
    expected = np.log(4.0) - abs(u) - 2 * np.log1p(np.exp(-abs(u)))
    np.testing.assert_allclose(Interval(-1.0, 3.0).log_det(np, u, -1.0, 3.0), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "centre"),
    [
        ("real", 0.0), ("positive", 1.0), ("unit_interval", 0.5), ("interval", 1.0),
        ("simplex", np.full(SIZE, 1 / SIZE)), ("lower", -0.5), ("upper", 1.5),
        ("offset_multiplier", 2.0), ("sum_to_zero", np.zeros(SIZE)),
        ("sum_to_zero_matrix", np.zeros((SIZE, SIZE))),
        ("row_stochastic", np.full((SIZE, SIZE), 1 / SIZE)),
        ("column_stochastic", np.full((SIZE, SIZE), 1 / SIZE)),
        ("cholesky_factor", np.eye(SIZE)), ("positive_definite", np.eye(SIZE)),
        ("correlation_cholesky", np.eye(SIZE)), ("correlation", np.eye(SIZE)),
    ],
)  # fmt: skip
def test_zero_maps_to_the_centre(name, centre):
    constraint = EXAMPLES[name]
    u = np.zeros(np.shape(points(constraint, ())))
    np.testing.assert_allclose(constraint.forward(np, u, *constraint.bounds), centre, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("real", [np.nan, np.inf]),
        ("positive", [0.0, -1.0, np.nan, np.inf]),
        ("non_negative", [-1e-9, np.nan]),
        ("lower", [-1.5001, -2.0, np.nan]),
        ("upper", [2.5001, 3.0, np.nan]),
        ("interval", [-1.1, 3.1, np.nan]),
        ("unit_interval", [-0.1, 1.1, np.nan]),
        ("offset_multiplier", [np.nan, np.inf]),
        ("ordered", [[1.0, 1.0], [2.0, 1.0], [0.0, np.nan]]),
        ("positive_ordered", [[-1.0, 1.0], [2.0, 1.0], [0.0, 1.0]]),
        ("simplex", [[0.5, 0.4], [1.5, -0.5], [np.nan, 1.0]]),
        ("integer_interval", [-1.0, 6.0, 1.5, np.nan]),
        (
            "positive_definite",
            [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]],
        ),
        (
            "cholesky_factor",
            [[[1.0, 0.5], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]],
        ),
        ("sum_to_zero", [[1.0, -0.9], [1e-7, 0.0], [np.nan, 0.0], [np.inf, -np.inf]]),
        (
            "sum_to_zero_matrix",
            [[[1.0, -1.0], [1.0, -1.0]], [[1.0, 1.0], [-1.0, -1.0]], [[np.nan, 0], [0.0, 0.0]]],
        ),
        (
            "row_stochastic",
            [[[0.5, 0.7], [0.5, 0.3]], [[1.2, -0.2], [0.5, 0.5]], [[np.nan, 1.0], [0.5, 0.5]]],
        ),
        (
            "column_stochastic",
            [[[0.5, 0.5], [0.7, 0.3]], [[1.2, 0.5], [-0.2, 0.5]], [[np.nan, 0.5], [1.0, 0.5]]],
        ),
        ("unit_vector", [[1.0, 1e-3], [0.0, 0.0], [0.6, 0.7], [np.nan, 1.0]]),
        (
            "correlation_cholesky",
            [
                [[1.0, 0.0], [0.6, 0.7]],
                [[1.0, 0.0], [0.6, -0.8]],
                [[2.0, 0.0], [0.6, 0.8]],
                [[0.8, 0.6], [0.0, 1.0]],
                [[1.0, 0.0], [np.nan, 0.8]],
            ],
        ),
        (
            "correlation",
            [
                [[1.0, 1.0], [1.0, 1.0]],
                [[1.0, 0.5], [0.4, 1.0]],
                [[1.0, 0.5], [0.5, 1.1]],
                [[1.0, 2.0], [2.0, 1.0]],
                [[np.nan, 0.5], [0.5, 1.0]],
            ],
        ),
    ],
)
def test_check_refuses(name, outside):
    constraint = (EXAMPLES | CHECKS)[name]
    assert not constraint.check(np.array(outside), *constraint.bounds).any()


def test_check_accepts_matrices_and_integers():
    assert PositiveDefinite().check(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert not PositiveDefinite().check(np.ones((2, 3)))
    assert CholeskyFactor().check(np.array([[2.0, 0.0], [1.0, 2.0]]))
    assert not CholeskyFactor().check(np.ones((2, 3)))
    assert CorrelationCholesky().check(np.array([[1.0, 0.0], [0.6, 0.8]]))
    assert Correlation().check(np.array([[1.0, 0.6], [0.6, 1.0]]))
    assert not Correlation().check(np.ones((2, 3)))
    assert IntegerInterval(0, 5).check(np.array([0, 5]), 0, 5).all()
    assert IntegerInterval().check(np.array([-7, 5])).all()


def test_limits_are_those_of_intervals():
    assert Real().limits == (None, None)
    assert Positive().limits == (0.0, None)
    assert Lower(1.0).limits == (1.0, None)
    assert Upper(1.0).limits == (None, 1.0)
    assert UnitInterval().limits == (0.0, 1.0)
    assert Simplex().limits is None


@pytest.mark.parametrize("constraint", [*EXAMPLES.values(), *CHECKS.values()])
def test_names_are_words(constraint):
    assert constraint.name == constraint.name.lower()
    assert constraint.name


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (None, None, Real),
        (-np.inf, np.inf, Real),
        (0.0, np.inf, Lower),
        (np.array([0.0, 1.0]), None, Lower),
        (None, 1, Upper),
        (-np.inf, np.float64(1.0), Upper),
        (0.0, 1.0, Interval),
        (np.array([0.0, -np.inf]), 1.0, PartlyBounded),
    ],
)
def test_missing_and_infinite_limits_are_no_limits(lower, upper, expected):
    constraint = between(lower, upper)
    assert type(constraint) is expected
    both = (Interval, PartlyBounded)
    kept = [
        limit for limit, is_kept in ((lower, expected in (Lower, *both)),
                                     (upper, expected in (Upper, *both))) if is_kept
    ]  # fmt: skip
    assert len(constraint.bounds) == len(kept)
    assert all(map(np.array_equal, constraint.bounds, kept))
