"""Functions of whole vectors and matrices by Stan's names, against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.linalg
from scipy import special

from probmodel.stan.library.matrix_functions import MATRIX_FUNCTIONS
from probmodel.stan.library.whole import WHOLE
from probmodel.stan.stan_values import Value
from probmodel.stan.traced_graph import Graph, Operation

RNG = np.random.default_rng(7)
V, W = RNG.normal(size=4), RNG.normal(size=4)
A, B = RNG.normal(size=(4, 4)) + 3.0 * np.eye(4), RNG.normal(size=(4, 4))
C, D = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
SPD = A @ A.T
SYMMETRIC = B + B.T
LOWER = np.linalg.cholesky(SPD)
X, Y = RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2))
P = np.array([0.1, 0.2, 0.3, 0.4])
OMEGA = RNG.normal(size=(2, 5))
MOVE, START = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.6, 0.4])
SPARSE = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.5, -1.0, 4.0], [0.0, 0.0, 0.3]])
NUMBERS = SPARSE[SPARSE != 0]
COLUMNS, STARTS = np.array([2, 1, 2, 3, 3]), np.array([1, 2, 2, 5, 6])
SIGMA, SCALE, SCALES, PERIOD = 1.3, 0.7, np.array([0.7, 1.9]), 2.5


def hidden_paths(omega, move, start):
    """Probability of each path of the states, and of what was seen with it."""
    states, length = omega.shape
    every = np.array(list(np.ndindex(*(states,) * length)))
    chance = start[every[:, 0]] * np.prod(move[every[:, :-1], every[:, 1:]], axis=1)
    return every, chance * np.exp(omega[every, np.arange(length)].sum(axis=1))


def shares(omega, move, start):
    every, chance = hidden_paths(omega, move, start)
    found = [[chance[every[:, t] == k].sum() for t in range(5)] for k in range(2)]
    return np.array(found) / chance.sum()


def apart(x, y, scale=1.0):
    x, y = (a.reshape(len(a), -1) / scale for a in (x, y))
    return np.array([[np.linalg.norm(p - q) for q in y] for p in x])


CORRELATIONS = {
    "gp_exp_quad_cov": lambda s: np.exp(-(s**2) / 2),
    "cov_exp_quad": lambda s: np.exp(-(s**2) / 2),
    "gp_exponential_cov": lambda s: np.exp(-s),
    "gp_matern32_cov": lambda s: (1 + np.sqrt(3) * s) * np.exp(-np.sqrt(3) * s),
    "gp_matern52_cov": lambda s: (1 + np.sqrt(5) * s + 5 * s**2 / 3) * np.exp(-np.sqrt(5) * s),
}


def covariances():
    """Cases of Gaussian processes: one set of points and two, of numbers and of vectors."""

    def of_points(name, function, args, x, y, suffix=""):
        yield f"{name}:{suffix}", (lambda x, *a: function(x, x, *a), [x, *args])
        yield f"{name}:two {suffix}", (function, [x, y, *args])

    for name, correlation in CORRELATIONS.items():

        def function(x, y, sigma, scale, correlation=correlation):
            return sigma**2 * correlation(apart(x, y, scale))

        for suffix, points, scale in (
            ("numbers", (X[:, 0], Y[:, 0]), SCALE),
            ("vectors", (X, Y), SCALE),
            ("vectors,scales", (X, Y), SCALES),
        ):
            yield from of_points(name, function, [SIGMA, scale], *points, suffix)
    for suffix, points in (("numbers", (X[:, 0], Y[:, 0])), ("vectors", (X, Y))):

        def periodic(x, y, sigma, scale, period):
            return sigma**2 * np.exp(-2 * np.sin(np.pi * apart(x, y) / period) ** 2 / scale**2)

        def dot(x, y, sigma):
            return sigma**2 + x.reshape(len(x), -1) @ y.reshape(len(y), -1).T

        yield from of_points("gp_periodic_cov", periodic, [SIGMA, SCALE, PERIOD], *points, suffix)
        yield from of_points("gp_dot_prod_cov", dot, [SIGMA], *points, suffix)


def slow_variance(x):
    return sum((x - sum(x) / len(x)) ** 2) / (len(x) - 1)


def softmax(x):
    return special.softmax(x)


# Name: an independent evaluation, and arguments.
CASES = {
    "sum": (lambda x: sum(x.tolist()), [V]),
    "prod": (lambda x: np.exp(np.log(x).sum()), [P]),
    "mean": (lambda x: sum(x) / len(x), [V]),
    "variance": (slow_variance, [V]),
    "sd": (lambda x: np.sqrt(slow_variance(x)), [V]),
    "max": (lambda x: max(x.tolist()), [V]),
    "min": (lambda x: min(x.tolist()), [V]),
    "log_sum_exp": (special.logsumexp, [V]),
    "norm1": (lambda x: sum(abs(x)), [V]),
    "norm2": (np.linalg.norm, [V]),
    "dot_product": (np.dot, [V, W]),
    "dot_self": (lambda x: np.dot(x, x), [V]),
    "distance": (lambda x, y: np.linalg.norm(x - y), [V, W]),
    "squared_distance": (lambda x, y: np.linalg.norm(x - y) ** 2, [V, W]),
    "columns_dot_product": (lambda x, y: np.diagonal(x.T @ y), [C, D]),
    "columns_dot_product:vector": (lambda x, y: [x @ y], [V, W]),
    "columns_dot_product:row_vector": (np.multiply, [V, W]),
    "rows_dot_product": (lambda x, y: np.diagonal(x @ y.T), [C, D]),
    "rows_dot_product:vector": (np.multiply, [V, W]),
    "rows_dot_product:row_vector": (lambda x, y: [x @ y], [V, W]),
    "columns_dot_self": (lambda x: np.diagonal(x.T @ x), [C]),
    "columns_dot_self:vector": (lambda x: [x @ x], [V]),
    "columns_dot_self:row_vector": (lambda x: x**2, [V]),
    "rows_dot_self": (lambda x: np.diagonal(x @ x.T), [C]),
    "rows_dot_self:vector": (lambda x: x**2, [V]),
    "rows_dot_self:row_vector": (lambda x: [x @ x], [V]),
    "cumulative_sum": (lambda x: [sum(x[: i + 1]) for i in range(len(x))], [V]),
    "softmax": (softmax, [V]),
    "log_softmax": (special.log_softmax, [V]),
    "log_mix:vector": (lambda p, x: np.log(p @ np.exp(x)), [P, V]),
    "log_mix:array": (lambda p, x: np.sum(np.log(np.exp(x) @ p)), [P, B[:3]]),
    "matrix*matrix": (np.dot, [A, C]),
    "matrix*vector": (np.dot, [C, V[:3]]),
    "row_vector*matrix": (np.dot, [V, C]),
    "row_vector*vector": (np.dot, [V, W]),
    "vector*row_vector": (np.outer, [V, W[:3]]),
    "crossprod": (lambda a: a.T.dot(a), [C]),
    "tcrossprod": (lambda a: a.dot(a.T), [C]),
    "multiply_lower_tri_self_transpose": (lambda a: np.tril(a) @ np.tril(a).T, [A]),
    "diag_pre_multiply": (lambda v, a: np.diag(v) @ a, [V, C]),
    "diag_post_multiply": (lambda a, v: a @ np.diag(v), [C, V[:3]]),
    "quad_form": (lambda a, b: b.T @ a @ b, [A, C]),
    "quad_form:vector": (lambda a, b: b @ a @ b, [A, V]),
    "quad_form_sym": (lambda a, b: b.T @ a @ b, [SPD, C]),
    "quad_form_sym:vector": (lambda a, b: b @ a @ b, [SPD, V]),
    "quad_form_diag": (lambda a, v: np.diag(v) @ a @ np.diag(v), [A, V]),
    "trace_quad_form": (lambda a, b: np.trace(b.T @ a @ b), [A, C]),
    "trace_quad_form:vector": (lambda a, b: b @ a @ b, [A, V]),
    "trace_dot": (lambda a, b: np.trace(a @ b), [A, SPD]),
    "trace_gen_quad_form": (lambda d, a, b: np.trace(d @ b.T @ a @ b), [B[:3, :3], A, C]),
    "inverse": (scipy.linalg.inv, [A]),
    "inverse_spd": (scipy.linalg.inv, [SPD]),
    "cholesky_decompose": (lambda a: scipy.linalg.cholesky(a, lower=True), [SPD]),
    "mdivide_left": (lambda a, b: scipy.linalg.inv(a) @ b, [A, C]),
    "mdivide_left:vector": (lambda a, b: scipy.linalg.inv(a) @ b, [A, V]),
    "mdivide_left_spd": (lambda a, b: scipy.linalg.inv(a) @ b, [SPD, C]),
    "mdivide_left_spd:vector": (lambda a, b: scipy.linalg.inv(a) @ b, [SPD, V]),
    "mdivide_left_tri_low": (lambda a, b: scipy.linalg.inv(a) @ b, [LOWER, C]),
    "mdivide_left_tri_low:vector": (lambda a, b: scipy.linalg.inv(a) @ b, [LOWER, V]),
    "mdivide_right": (lambda b, a: b @ scipy.linalg.inv(a), [C.T, A]),
    "mdivide_right:row_vector": (lambda b, a: b @ scipy.linalg.inv(a), [V, A]),
    "mdivide_right_spd": (lambda b, a: b @ scipy.linalg.inv(a), [C.T, SPD]),
    "mdivide_right_spd:row_vector": (lambda b, a: b @ scipy.linalg.inv(a), [V, SPD]),
    "mdivide_right_tri_low": (lambda b, a: b @ scipy.linalg.inv(a), [C.T, LOWER]),
    "mdivide_right_tri_low:row_vector": (lambda b, a: b @ scipy.linalg.inv(a), [V, LOWER]),
    "hmm_marginal": (lambda *a: np.log(hidden_paths(*a)[1].sum()), [OMEGA, MOVE, START]),
    "hmm_hidden_state_prob": (shares, [OMEGA, MOVE, START]),
    "trace": (lambda a: sum(a[i, i] for i in range(len(a))), [A]),
    "add_diag": (lambda a, d: a + np.diag(d), [A, V]),
    "add_diag:number": (lambda a, d: a + d * np.eye(4), [A, 0.7]),
    "determinant": (scipy.linalg.det, [A]),
    "log_determinant": (lambda a: np.log(abs(scipy.linalg.det(a))), [B]),
    "log_determinant_spd": (lambda a: np.log(scipy.linalg.det(a)), [SPD]),
    "chol2inv": (lambda a: scipy.linalg.inv(a @ a.T), [LOWER]),
    "generalized_inverse": (scipy.linalg.pinv, [C]),
    "matrix_exp": (lambda a: scipy.linalg.expm(a), [B]),
    "matrix_exp_multiply": (lambda a, b: scipy.linalg.expm(a) @ b, [B, C]),
    "scale_matrix_exp_multiply": (lambda t, a, b: scipy.linalg.expm(t * a) @ b, [0.7, B, C]),
    "matrix_power": (lambda a, n: a @ a @ a @ a @ a @ a, [A, 6]),
    "singular_values": (scipy.linalg.svdvals, [C]),
    "eigenvalues_sym": (scipy.linalg.eigvalsh, [SYMMETRIC]),
    "eigenvectors_sym": (None, [SYMMETRIC]),
    "csr_matrix_times_vector": (
        lambda m, n, w, v, u, b: SPARSE @ b, [4, 3, NUMBERS, COLUMNS, STARTS, V[:3]]
    ),
    "csr_to_dense_matrix": (lambda *a: SPARSE, [4, 3, NUMBERS, COLUMNS, STARTS]),
    **dict(covariances()),
}  # fmt: skip
SYMMETRIC_ONLY = {
    "cholesky_decompose", "log_determinant_spd", "eigenvalues_sym", "eigenvectors_sym"
}  # fmt: skip
FACTORS = {name for name in CASES if "tri_low" in name} | {"chol2inv"}


def prepared(name):
    """Return a function that is defined next to its arguments, whatever direction is taken."""
    function = WHOLE[name].single or WHOLE[name].function
    if name in SYMMETRIC_ONLY:
        return lambda a: function(0.5 * (a + a.T))
    if name in FACTORS:
        last = 1 if "right" in name else 0
        return lambda *a: function(*(np.tril(x) if i == last else x for i, x in enumerate(a)))
    return function


def test_every_entry_has_a_case():
    assert CASES.keys() == WHOLE.keys()
    for name, (_, args) in CASES.items():
        ranks = WHOLE[name].ranks
        assert list(ranks) == [np.ndim(a) for a in args], name


@pytest.mark.parametrize("name", CASES)
def test_numbers(name):
    oracle, args = CASES[name]
    entry = WHOLE[name]
    found = entry.function(*args)
    if oracle is not None:
        np.testing.assert_allclose(found, oracle(*args), rtol=1e-11, atol=1e-13)
    if entry.single is not None:
        np.testing.assert_allclose(entry.single(*args), found, rtol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_many_calls_at_once(name):
    args, entry = CASES[name][1], WHOLE[name]
    free = [i for i in range(len(args)) if i not in entry.sizes]
    factors = np.array([1.0, 1.05, 0.9])
    for alone in [None, *free] if len(free) > 1 else [None]:
        stacks = [
            np.multiply.outer(factors, a) if i in free and i != alone else a
            for i, a in enumerate(args)
        ]
        found = entry.function(*stacks)
        for k, factor in enumerate(factors):
            one = [a * factor if i in free and i != alone else a for i, a in enumerate(args)]
            expected = entry.function(*one)
            np.testing.assert_allclose(found[k], expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", sorted(name for name in CASES if not WHOLE[name].sizes))
def test_shapes_are_found_by_trying(name):
    args = CASES[name][1]
    graph = Graph()
    traced = [Value("real", graph.leaf("x", np.shape(a)), True) for a in args]
    laned = [Value("real", graph.leaf("x", (3, *np.shape(a))), True, True) for a in args]
    operation = Operation(name, WHOLE[name].function, WHOLE[name].ranks)
    expected = np.shape(WHOLE[name].function(*args))
    assert graph.apply(operation, traced, "real").shape == expected
    assert graph.apply(operation, laned, "real").shape == expected


@pytest.mark.parametrize("name", CASES)
def test_symbols(name, assert_symbols):
    args, entry = CASES[name][1], WHOLE[name]
    free = [i for i in range(len(args)) if i not in entry.sizes]
    assert_symbols(prepared(name), args, free, 1e-5, second=name in MATRIX_FUNCTIONS)
    for i in free if len(free) > 1 else []:
        assert_symbols(prepared(name), args, [i], 1e-5)


@pytest.mark.parametrize("name", sorted(CASES.keys() - SYMMETRIC_ONLY - FACTORS))
def test_symbols_of_many_calls_at_once(name, assert_symbols):
    args, entry = CASES[name][1], WHOLE[name]
    free = [i for i in range(len(args)) if i not in entry.sizes]
    factors = np.array([1.0, 1.05, 0.9])
    stacks = [np.multiply.outer(factors, a) if i in free else a for i, a in enumerate(args)]
    assert_symbols(entry.function, stacks, free, 1e-5)


def test_eigenvectors():
    vectors = WHOLE["eigenvectors_sym"].function(SYMMETRIC)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)
    values = WHOLE["eigenvalues_sym"].function(SYMMETRIC)
    np.testing.assert_allclose(SYMMETRIC @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("log_sum_exp", [[-np.inf, -np.inf]], -np.inf),
        ("log_sum_exp", [[-np.inf, 1.0]], 1.0),
        ("log_sum_exp", [[1000.0, 1000.0]], 1000.0 + np.log(2.0)),
        ("log_sum_exp", [[]], -np.inf),
        ("log_softmax", [[-np.inf, 1.0]], [-np.inf, 0.0]),
        ("softmax", [[1000.0, -1000.0]], [1.0, 0.0]),
        ("sum", [[]], 0.0),
        ("prod", [[]], 1.0),
        ("max", [[]], -np.inf),
        ("min", [[]], np.inf),
        ("variance", [[3.0]], 0.0),
        ("sd", [[3.0]], 0.0),
        ("log_mix:vector", [[0.0, 1.0], [3.0, 2.0]], 2.0),
        ("matrix_power", [A, 0], np.eye(4)),
        ("matrix_power", [A, 1], A),
        ("csr_matrix_times_vector", [2, 2, [], [], [1, 1, 1], [3.0, 4.0]], [0.0, 0.0]),
        ("csr_to_dense_matrix", [2, 2, [], [], [1, 1, 1]], np.zeros((2, 2))),
        ("add_diag", [C, V[:3]], C + np.eye(4, 3) * V[:3]),
        ("add_diag", [C.T, V[:3]], C.T + np.eye(3, 4) * V[:3, None]),
    ],
)
def test_edges(name, args, expected):
    whole = name.startswith("csr") or name == "matrix_power"
    kept = [np.asarray(a, dtype=int if whole and i in WHOLE[name].sizes else float)
            for i, a in enumerate(args)]  # fmt: skip
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(WHOLE[name].function(*kept), expected, atol=1e-14)


def test_whole_numbers_stay_whole():
    for name, expected in (("sum", 9), ("prod", 24), ("max", 4), ("min", 2), ("cumulative_sum", 2)):
        found = WHOLE[name].function(np.array([2, 3, 4]))
        assert np.asarray(found).dtype.kind == "i"
        assert np.ravel(found)[0] == expected


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([3, 3, NUMBERS, COLUMNS, STARTS, V[:3]], "u must be 4 numbers"),
        ([4, 2, NUMBERS, COLUMNS, STARTS, V[:2]], "between 1 and 2"),
    ],
)
def test_parts_of_sparse_matrices_must_fit(args, message):
    with pytest.raises(ValueError, match=message):
        WHOLE["csr_matrix_times_vector"].function(*args)


def test_negative_powers_are_refused():
    with pytest.raises(ValueError, match="power of 0 or more"):
        WHOLE["matrix_power"].function(A, -1)
