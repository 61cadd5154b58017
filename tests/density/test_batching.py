"""Every operation on a batch of chains equals the same operation chain by chain."""

import itertools

import numpy as np
import pytest

from probmodel import LogDensity, Model, deterministic, param, potential
from probmodel.compiler.called_parts import CALLED
from probmodel.compiler.language import OPERATIONS as WRITTEN
from probmodel.density import as_posterior
from probmodel.expressions import OPERATIONS

CHAINS = 3
UNARY = [
    "negative",
    "absolute",
    "square",
    "exp",
    "expm1",
    "sin",
    "cos",
    "tan",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "sign",
    "floor",
    "ceil",
    "positive",
    "reciprocal",
    "exp2",
    "logical_not",
    "isnan",
    "isfinite",
]
POSITIVE = ["sqrt", "log", "log2", "log10", "log1p"]
UNIT = ["arcsin", "arccos", "arctanh"]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "logaddexp",
    "arctan2",
    "remainder",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
]
SPECIAL = ["gammaln", "psi", "expit", "logit", "log_expit", "erf", "erfc", "ndtr", "log_ndtr"]
FLAT = ["sign", "floor", "ceil", "logical_not", "isnan", "isfinite", *BINARY[9:]]


def build(function, shapes, constants=()):
    """Return the density of a model of flat parameters whose potential weighs ``function``."""

    class Built(Model):
        a = param(shape=shapes[0])
        b = param(shape=shapes[1] if len(shapes) > 1 else ())
        out = deterministic(function(a, b) if len(shapes) > 1 else function(a))
        spread = potential(-0.5 * np.sum(a**2) - 0.5 * np.sum(b**2))
        weighed = potential(
            out
            * np.cos(
                1.0 + np.arange(out_size(function, shapes)).reshape(out_shape(function, shapes))
            )
        )

    return as_posterior(Built())


def out_shape(function, shapes):
    values = [np.full(s, 0.4) for s in shapes]
    return np.shape(function(*values))


def out_size(function, shapes):
    return int(np.prod(out_shape(function, shapes), dtype=int))


def check(function, shapes, *, points=None, smooth=True):
    """Batched values equal NumPy's row by row; gradients equal central differences."""
    density = build(function, shapes)
    rng = np.random.default_rng(1)
    x = rng.uniform(0.2, 0.8, (CHAINS, density.dim)) if points is None else points(density.dim)
    batched = density.constrain(x)
    for row in range(CHAINS):
        values = [batched[name][row] for name in ("a", "b")[: len(shapes)]]
        np.testing.assert_allclose(batched["out"][row], function(*values), rtol=1e-12, atol=1e-13)
    together = density(x)
    for row in range(CHAINS):
        alone = density(x[row : row + 1])
        np.testing.assert_allclose(together.logp[row], alone.logp[0], rtol=1e-12)
        np.testing.assert_allclose(together.grad[row], alone.grad[0], rtol=1e-12, atol=1e-13)
    if smooth:
        np.testing.assert_allclose(together.grad, differences(density, x), rtol=2e-6, atol=2e-7)


def differences(density: LogDensity, x, step=1e-6):
    columns = []
    for i in range(density.dim):
        move = np.zeros(density.dim)
        move[i] = step
        columns.append((density.log_density(x + move) - density.log_density(x - move)) / (2 * step))
    return np.stack(columns, axis=1)


RANKS = [(), (1,), (3,), (2, 3), (2, 1), (4, 2, 3)]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(RANKS, RANKS)))
def test_all_pairs_of_ranks(left, right):
    try:
        np.broadcast_shapes(left, right)
    except ValueError:
        pytest.skip("these shapes do not broadcast")
    check(lambda a, b: np.exp(a) * b + a / (1 + b), (left, right))


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("constant", RANKS)
def test_parameter_against_constant_of_all_ranks(rank, constant):
    try:
        np.broadcast_shapes(rank, constant)
    except ValueError:
        pytest.skip("these shapes do not broadcast")
    fixed = np.random.default_rng(3).uniform(0.5, 1.5, constant)
    check(lambda a: fixed * a - np.exp(a * fixed), (rank,))


@pytest.mark.parametrize("name", [*UNARY, *POSITIVE, *UNIT])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_unary(name, shape):
    function = getattr(np, name)
    check(lambda a: 1.0 * function(a), (shape,), smooth=name not in FLAT)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shapes", [((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3))])
def test_binary(name, shapes):
    function = getattr(np, name)
    check(lambda a, b: 1.0 * function(a, b), shapes, smooth=name not in FLAT)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
    import scipy.special

    check(getattr(scipy.special, name), ((2, 3),))


STRUCTURAL = {
    "sum": (lambda a: np.sum(a), [(3,), (2, 3)]),
    "sum axis": (lambda a: np.sum(a, axis=0) + a.sum(axis=-1, keepdims=True), [(3,), (2, 3)]),
    "mean": (lambda a: np.mean(a) + np.mean(a, axis=1), [(2, 3)]),
    "method mean": (lambda a: a.mean(axis=0), [(2, 3)]),
    "prod": (lambda a: np.prod(a, axis=-1), [(3,), (2, 3)]),
    "max": (lambda a: np.max(a, axis=0) + np.min(a), [(3,), (2, 3)]),
    "var": (lambda a: np.var(a, axis=-1, ddof=1) + np.std(a), [(3,), (2, 3)]),
    "cumsum": (lambda a: np.cumsum(a, axis=-1), [(3,), (2, 3)]),
    "cumsum flat": (lambda a: np.cumsum(a), [(2, 3)]),
    "diff": (lambda a: np.diff(a), [(3,), (2, 3)]),
    "diff axis": (lambda a: np.diff(a, axis=0), [(3, 2)]),
    "clip": (lambda a: np.clip(a, 0.3, 0.7), [(3,)]),
    "where": (lambda a: np.where(a > 0.5, a**2, -a), [(), (3,)]),
    "array and symbol": (lambda a: (np.array([True, False, True]) & (a > 0.5)) * a, [(3,)]),
    "array or symbol": (lambda a: (np.array([True, False, True]) | (a > 0.5)) * a, [(3,)]),
    "truth and symbol": (lambda a: (True & (a > 0.5)) * a + (False & (a < 0.5)), [(), (3,)]),
    "truth or symbol": (lambda a: (False | (a > 0.5)) * a + (True | (a < 0.5)), [(), (3,)]),
    "inverted": (lambda a: np.invert(a > 0.5) * a, [(), (3,)]),
    "power": (lambda a: a**2.5 + 2.0**a, [(), (3,)]),
    "transpose": (lambda a: np.transpose(a) * 1.0, [(2, 3), (2, 3, 4)]),
    "T": (lambda a: a.T * 2.0, [(2, 3)]),
    "swapaxes": (lambda a: np.swapaxes(a, 0, 2) * 1.0, [(2, 3, 4)]),
    "transpose axes": (lambda a: np.transpose(a, (1, 0, 2)) * 1.0, [(2, 3, 4)]),
    "reshape": (lambda a: np.reshape(a, (3, 2)) + a.reshape(3, 2), [(2, 3)]),
    "ravel": (lambda a: np.ravel(a) * 1.0, [(2, 3)]),
    "expand_dims": (lambda a: np.expand_dims(a, 1) * np.ones(4), [(3,)]),
    "squeeze": (lambda a: np.squeeze(a) * 1.0, [(1, 3)]),
    "broadcast_to": (lambda a: np.broadcast_to(a, (4, 3)) * 1.0, [(3,), (1, 3)]),
    "repeat": (lambda a: np.repeat(a, 2), [(3,), (2, 3)]),
    "repeat axis": (lambda a: np.repeat(a, [1, 3], axis=0), [(2, 3)]),
    "flip": (lambda a: np.flip(a) + np.flip(a, axis=0), [(3,), (2, 3)]),
    "roll": (lambda a: np.roll(a, 1) + np.roll(a, 1, axis=0), [(3,), (2, 3)]),
    "concatenate": (lambda a: np.concatenate([a, np.ones(2), a]), [(3,)]),
    "concatenate axis": (lambda a: np.concatenate([a, np.ones((2, 1))], axis=1), [(2, 3)]),
    "concatenate flat": (lambda a: np.concatenate([a, a[0], np.sum(a)], axis=None), [(3,), (2, 3)]),
    "concatenate lists": (lambda a: np.concatenate([[np.sum(a), 1.0], a, [a[0]]]), [(3,)]),
    "stack lists": (lambda a: np.stack([a, [a[1], 0.5, np.sum(a)]]), [(3,)]),
    "stack": (lambda a: np.stack([a, np.zeros(3), a**2]), [(3,)]),
    "stack axis": (lambda a: np.stack([a, 2 * a], axis=-1), [(3,), ()]),
    "diag": (lambda a: np.diag(a) * 1.0, [(3,), (3, 3)]),
    "trace": (lambda a: np.trace(a), [(3, 3), (2, 3), (2, 3, 4)]),
    "triangles": (lambda a: np.tril(a) + 2 * np.triu(a, 1), [(3, 3)]),
    "slices": (lambda a: a[1:] - a[:-1], [(4,)]),
    "integer": (lambda a: a[-1] + a[0] * 2, [(3,), (2, 3)]),
    "newaxis": (lambda a: a[:, None] - a[None, :], [(3,)]),
    "ellipsis": (lambda a: a[..., 0] * a[..., ::2][..., 0], [(2, 3)]),
    "gather": (lambda a: a[[2, 0, 0, -1]], [(3,)]),
    "gather matrix": (lambda a: a[np.array([[2, 0], [1, 1]])], [(3,)]),
    "gather rows": (lambda a: a[np.array([1, 0, 1])], [(2, 3)]),
    "gather columns": (lambda a: a[:, np.array([1, 0, 1])], [(2, 3)]),
    "gather pairs": (lambda a: a[np.array([1, 0]), np.array([2, 2])], [(2, 3)]),
    "separated arrays": (lambda a: a[np.array([1, 0]), :, np.array([2, 2])], [(2, 3, 4)]),
    "mask": (lambda a: a[np.array([True, False, True])], [(3,)]),
    "kron": (lambda a: np.kron(a, np.tril(a)), [(3, 2), (2, 2)]),
    "outer": (lambda a: np.outer(a, a + 1), [(3,)]),
}


@pytest.mark.parametrize(
    ("name", "shape"),
    [(name, shape) for name, (_, shapes) in STRUCTURAL.items() for shape in shapes],
)
def test_structure(name, shape):
    check(STRUCTURAL[name][0], (shape,))


PRODUCTS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((2, 2, 3), (3, 4)),
    ((2, 2, 3), (3,)),
]


@pytest.mark.parametrize("shapes", PRODUCTS)
def test_matrix_product_of_parameters(shapes):
    check(lambda a, b: a @ b, shapes)


@pytest.mark.parametrize("shapes", PRODUCTS)
@pytest.mark.parametrize("function", [np.matmul, np.dot])
def test_matrix_product_with_a_constant(shapes, function):
    rng = np.random.default_rng(5)
    left, right = rng.normal(size=shapes[0]), rng.normal(size=shapes[1])
    check(lambda a: function(a, right), (shapes[0],))
    check(lambda a: function(left, a), (shapes[1],))


@pytest.mark.parametrize("shapes", [((2, 3), (4, 3, 2)), ((2, 2, 3), (2, 3, 2)), ((3,), (2, 3, 2))])
def test_dot_of_stacks(shapes):
    check(np.dot, shapes)


def positive_definite(a):
    return a @ np.swapaxes(a, 0, 1) + np.eye(3)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linalg.cholesky(positive_definite(a)),
        lambda a: np.linalg.inv(a + 3 * np.eye(3)),
        lambda a: np.linalg.solve(a + 3 * np.eye(3), np.arange(3.0)),
        lambda a: np.linalg.solve(np.eye(3) * 2.0 + np.ones((3, 3)), a),
        lambda a: np.linalg.solve(a + 3 * np.eye(3), a),
    ],
)
def test_matrix_functions(function):
    check(function, ((3, 3),))


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (3, 4)),
        ((3, 3), (2, 3, 4)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((1, 3, 3), (2, 3, 1)),
    ],
)
def test_solutions_of_stacks(shapes):
    rng = np.random.default_rng(5)
    left, right = (rng.normal(size=shape) for shape in shapes)
    check(lambda a, b: np.linalg.solve(a + 3 * np.eye(3), b), shapes)
    check(lambda a: np.linalg.solve(a + 3 * np.eye(3), right), shapes[:1])
    check(lambda a: np.linalg.solve(left + 3 * np.eye(3), a), shapes[1:])


def test_the_shape_of_solutions_of_a_stack_that_is_singular():
    class Singular(Model):
        a = param(shape=3)
        out = deterministic(np.linalg.solve(a * np.ones((2, 3, 3)), a))
        near = potential(-0.5 * np.sum(a**2))

    (out,) = (v for v in as_posterior(Singular()).variables if v.name == "out")
    assert out.shape == (2, 3)


def test_singular_rows_leave_the_others_alone():
    class Singular(Model):
        u = param(shape=(2, 2))
        a = 0.5 * (u + np.transpose(u))
        near = potential(-0.5 * np.sum(u**2))
        term = potential(np.sum(np.linalg.inv(a)) + np.sum(np.log(np.linalg.cholesky(a)[0, 0])))

    density = as_posterior(Singular())
    x = np.array([[2.0, 0.5, 0.5, 1.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.2, 0.2, 3.0]])
    logp, grad = density(x)
    assert logp[1] == -np.inf
    assert not grad[1].any()
    for row in (0, 2):
        alone = density(x[row : row + 1])
        np.testing.assert_allclose(logp[row], alone.logp[0], rtol=1e-13)
        np.testing.assert_allclose(grad[row], alone.grad[0], rtol=1e-12)


def test_every_operation_can_be_written_down():
    of_data = {name for name, operation in OPERATIONS.items() if operation.static}
    composed = {name for name, operation in OPERATIONS.items() if operation.written is not None}
    assert {"getitem", *of_data, *composed, *WRITTEN, *CALLED} == set(OPERATIONS)
