"""Gradients of models with every operation, by differences, at every length up to 17.

The value is that of NumPy, of one chain at a time. What has no length of its own is swept at every
length of its operands.
"""

from __future__ import annotations

import inspect
import types
from functools import partial

import numpy as np
import pytest
import scipy.special
from autograd.extend import defvjp, primitive
from scipy.interpolate import CubicSpline

from probmodel import Model, functions, param, potential
from probmodel import distributions as d
from probmodel.compiler import language, numpy_engine
from probmodel.constraints import CONSTRAINTS
from probmodel.density import as_posterior
from probmodel.expressions import OPERATIONS
from probmodel.functions import (
    component_log_densities,
    component_probabilities,
    hmm_log_likelihood,
    integrate_1d,
    linear_recurrence,
    matrix_recurrence,
    state_probabilities,
)

at_length = partial(pytest.param, marks=pytest.mark.statistical)
LENGTHS = range(1, 18)
ENGINE_LENGTHS = (1, 2, 8, 17)
POINTS = 3


def swept(check, function, shapes, n, reference=None):
    """Compare the gradient of a weighted sum of the function's results."""
    reference = reference or function
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    cuts, dim = np.cumsum(sizes)[:-1], sum(sizes)

    def arrays(row):
        return [u.reshape(s) for u, s in zip(np.split(row, cuts), shapes, strict=True)]

    rng = np.random.default_rng(n)
    # No two numbers are near each other, so that no maximum changes place within a difference.
    order = np.stack([rng.permutation(dim) for _ in range(POINTS)])
    x = 0.2 + 0.6 * (order + rng.uniform(0.35, 0.65, order.shape)) / dim
    weights = np.cos(1.0 + np.arange(np.size(reference(*arrays(x[0]))))) + 0.1

    def fill(names):
        for i, shape in enumerate(shapes):
            names[f"a{i}"] = param(shape=shape)
        result = function(*(names[f"a{i}"] for i in range(len(shapes))))
        names["term"] = potential(np.sum(np.ravel(result) * weights))

    def value(x):
        return np.array([np.sum(np.ravel(reference(*arrays(row))) * weights) for row in x])

    check(as_posterior(types.new_class("Swept", (Model,), {}, fill)()), value, x, f"length {n}")


def arity(name):
    """Number of operands of an elementwise function."""
    found = getattr(np, name, None) or getattr(scipy.special, name)
    return found.nin


def applied(name, *operands):
    """An elementwise function where it has a value and does not jump, times something smooth.

    What is flat, or true or false, is seen as a factor.
    """
    function = getattr(np, name, None) or getattr(scipy.special, name)
    first, *others = operands
    if name == "arccosh":
        first = first + 1.1
    if name == "rint":
        first = first + 0.5
    if name == "remainder":
        first, others = 0.05 * first + 3.3, [0.05 * b + 1.0 for b in others]
    return function(first, *others) * (1.0 + operands[0])


SHOWN_APART = ("where", "clip", "log1m_exp", "log_diff_exp")
NAMES = [n for n, op in OPERATIONS.items() if op.elementwise and n not in SHOWN_APART]
ONE = [name for name in NAMES if arity(name) == 1]
TWO = [name for name in NAMES if arity(name) == 2]


def all_of(results):
    return np.concatenate([np.ravel(result) for result in results])


@pytest.mark.parametrize("n", LENGTHS)
def test_functions_of_one_operand(n, assert_gradient):
    def every(v, m):
        return all_of([applied(name, a) for name in ONE for a in (v, m)])

    swept(assert_gradient, every, [(n,), (2, n)], n)


@pytest.mark.parametrize("n", LENGTHS)
def test_functions_of_two_operands(n, assert_gradient):
    high = np.linspace(1.1, 1.6, n)

    def every(number, v, w, column, row):
        pairs = [(v, w), (column, row), (number, v), (high, w), (v, 1.3)]
        if n % 2:
            pairs = [(w, v), (row, column), (w, number), (v, high), (2.5, v)]
        return all_of([applied(name, a, b) for name in TWO for a, b in pairs])

    swept(assert_gradient, every, [(), (n,), (n,), (2, 1), (1, n)], n)


def spd(a, n):
    return a @ a.T + np.eye(n)


def waves(*shape):
    return np.sin(np.arange(1.0 + np.prod(shape))[1:].reshape(shape))


def many(n):
    """Whole numbers below n, some of them often."""
    return (np.arange(2 * n + 1) * 7) % n


def below(n):
    return np.cumsum(np.arange(n) % 3 == 0) - 1


def gaussian(x, m, s):
    return np.exp(-0.5 * ((x - m) / s) ** 2)


PLACES = np.array([-0.3, 0.4, 0.8, 1.9, 6.0])
TWO_STATES = np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]])


# Functions of operands, which may ask for the length, and the operands' shapes for a length.
def shares(a):
    """Positive numbers over their sums."""
    return a / np.sum(a, axis=-1, keepdims=True)


EXAMPLES = {
    "where": [(lambda a, b: np.where(a > b, a * b, np.exp(b)), lambda n: [(n,), (2, n)]),
              (lambda a, *, n: np.where(np.arange(n) % 2, a**2, 1.5), lambda n: [(n,)])],
    "clip": [(lambda a: np.clip(a, 0.1, 0.9) * a, lambda n: [(n,)]),
             (lambda a, b: np.clip(a, 0.1, b), lambda n: [(n,), (n,)])],
    "sum": [(lambda a: np.sum(a) ** 2 + np.sum(a, axis=0) ** 2, lambda n: [(n,)]),
            (lambda a: np.sum(a, axis=1) ** 2, lambda n: [(2, n)]),
            (lambda a: np.sum(a, axis=0, keepdims=True) * a, lambda n: [(n, 3)])],
    "mean": [(lambda a: np.mean(a) * a, lambda n: [(n,)]),
             (lambda a: np.mean(a, axis=1) ** 2, lambda n: [(3, n)])],
    "log1m_exp": [(lambda a: functions.log1m_exp(-a), lambda n: [(n,)])],
    "log_diff_exp": [(lambda a, b: functions.log_diff_exp(a + b, b), lambda n: [(n,), (2, n)])],
    "logsumexp": [(functions.logsumexp, lambda n: [(n,)]),
                  (lambda a: functions.logsumexp(a, 0, keepdims=True) * a, lambda n: [(n, 3)]),
                  (lambda a: functions.logsumexp(a, axis=(0, 2)), lambda n: [(2, 3, n)])],
    "softmax": [(lambda a: functions.softmax(a) * a, lambda n: [(n,)]),
                (lambda a: functions.softmax(a, axis=0), lambda n: [(n, 2)])],
    "log_softmax": [(lambda a: functions.log_softmax(a) * a, lambda n: [(n,)]),
                    (lambda a: functions.log_softmax(a, axis=-2), lambda n: [(3, n)])],
    "round": [(lambda a: np.round(a + 0.5) * a, lambda n: [(n,)]),
              (lambda a: np.round(3.3 + 0.01 * a, 1) * a, lambda n: [(2, n)])],
    "cumprod": [(lambda a: np.cumprod(a + 0.5) ** 2, lambda n: [(n,)]),
                (lambda a: np.cumprod(a + 0.5, axis=0), lambda n: [(n, 2)]),
                (lambda a: np.cumprod(a + 0.5), lambda n: [(2, n)])],
    "segment_sum": [(lambda a, *, n: functions.segment_sum(a, many(n)[:n], n + 1) ** 2,
                     lambda n: [(n,)]),
                    (lambda a, *, n: functions.segment_sum(a, below(n), n) ** 2,
                     lambda n: [(n, 2)])],
    "det": [(lambda a, *, n: np.linalg.det(np.eye(n) + 0.1 * a), lambda n: [(n, n)]),
            (lambda a: np.linalg.det(a), lambda n: [(n, 3, 3)])],
    "log_determinant": [
        (lambda a, *, n: functions.log_determinant(np.eye(n) + 0.1 * a), lambda n: [(n, n)]),
        (lambda a, *, n: functions.log_determinant(np.eye(2) + 0.1 * a), lambda n: [(n, 2, 2)])],
    "prod": [(lambda a: np.prod(a + 0.5), lambda n: [(n,)]),
             (lambda a: np.prod(a + 0.5, axis=0), lambda n: [(n, 2)])],
    "max": [(lambda a: np.max(a) * a, lambda n: [(n,)]),
            (lambda a: np.max(a, axis=1) ** 2, lambda n: [(2, n)])],
    "min": [(lambda a: np.min(a) * a, lambda n: [(n,)]),
            (lambda a: np.min(a, axis=0) ** 2, lambda n: [(n, 2)])],
    "var": [(lambda a: np.var(a) * a, lambda n: [(n,)]),
            (lambda a: np.var(a, axis=1, ddof=1), lambda n: [(2, n + 1)])],
    "std": [(lambda a: np.std(a) * a, lambda n: [(n,)]),
            (lambda a: np.std(a, axis=0, ddof=1), lambda n: [(n + 1, 2)])],
    "cumsum": [(lambda a: np.cumsum(a) ** 2, lambda n: [(n,)]),
               (lambda a: np.cumsum(a, axis=0) ** 2, lambda n: [(n, 2)]),
               (lambda a: np.cumsum(a, axis=-1) ** 2, lambda n: [(2, n)])],
    "diff": [(lambda a: np.diff(a) ** 2, lambda n: [(n + 1,)]),
             (lambda a: np.diff(a, n=2, axis=0) ** 2, lambda n: [(n + 2, 2)])],
    "matmul": [(lambda a, b: (a @ b) ** 2, lambda n: [(2, n), (n, 3)]),
               (lambda a, b: (a @ b) ** 2, lambda n: [(n, 2), (2,)]),
               (lambda a, b: (a @ b) ** 2, lambda n: [(n,), (n,)]),
               (lambda a, *, n: (waves(2, n) @ a) ** 2, lambda n: [(n,)]),
               (lambda a, *, n: (a @ waves(n, 3)) ** 2, lambda n: [(2, n)])],
    "dot": [(lambda a, b: np.dot(a, b) ** 2, lambda n: [(2, n), (n,)]),
            (lambda a, b: np.dot(a, b) * a, lambda n: [(n,), (n,)])],
    "outer": [(lambda a, b: np.outer(a, b) ** 2, lambda n: [(n,), (3,)])],
    "kron": [
        (lambda a, b: np.kron(a, b) ** 2, lambda n: [(n, 2), (2, 3)]),
        (lambda a, b: np.kron(a, b) ** 2, lambda n: [(n,), (2, 2)]),
    ],
    "trace": [(lambda a: np.trace(a) ** 2, lambda n: [(n, n)])],
    "diag": [(lambda a: np.diag(a) @ a, lambda n: [(n,)]),
             (lambda a: np.diag(a) ** 2, lambda n: [(n, n)])],
    "tril": [(lambda a: np.tril(a) @ a, lambda n: [(n, n)])],
    "triu": [(lambda a: np.triu(a, 1) @ a, lambda n: [(n, n)])],
    "transpose": [(lambda a: a.T**2 - a.T, lambda n: [(2, n)]),
                  (lambda a: np.transpose(a, (1, 2, 0)) ** 2, lambda n: [(n, 2, 3)])],
    "swapaxes": [(lambda a: np.swapaxes(a, 0, 2) ** 2, lambda n: [(2, 3, n)])],
    "reshape": [(lambda a: np.reshape(a, (-1, 2)) ** 2, lambda n: [(2, n)])],
    "ravel": [(lambda a: np.ravel(a) ** 2, lambda n: [(n, 2)])],
    "expand_dims": [(lambda a: np.expand_dims(a, 1) * a, lambda n: [(n,)])],
    "squeeze": [(lambda a: np.squeeze(a, axis=0) ** 2, lambda n: [(1, n)])],
    "broadcast_to": [(lambda a, *, n: np.broadcast_to(a, (3, n)) ** 2, lambda n: [(n,)])],
    "repeat": [(lambda a: np.repeat(a, 3) ** 2, lambda n: [(n,)]),
               (lambda a: np.repeat(a, 2, axis=0) ** 2, lambda n: [(n, 2)])],
    "flip": [(lambda a: np.flip(a) * a, lambda n: [(n,)]),
             (lambda a: np.flip(a, axis=1) * a, lambda n: [(2, n)])],
    "roll": [(lambda a: np.roll(a, 1) * a, lambda n: [(n,)]),
             (lambda a: np.roll(a, -1, axis=0) * a, lambda n: [(n, 2)])],
    "concatenate": [(lambda a, b: np.concatenate([a, b, a]) ** 2, lambda n: [(n,), (2,)]),
                    (lambda a, b: np.concatenate([a, b], axis=1) ** 2, lambda n: [(2, n), (2, 3)])],
    "stack": [(lambda a, b: np.stack([a, b], axis=-1) ** 2, lambda n: [(n,), (n,)])],
    "getitem": [(lambda a: a[1:] * a[:-1] - a[-1], lambda n: [(n,)]),
                (lambda a: -a[:, -1] * a[:, 0], lambda n: [(3, n)]),
                (lambda a, *, n: -(a[many(n)] ** 2) + a[0], lambda n: [(n,)]),
                (lambda a, *, n: a[many(n)] ** 2, lambda n: [(n, 2)]),
                (lambda a, *, n: a[:, below(n)] ** 2, lambda n: [(2, n)]),
                (lambda a: (a[:, None] - a[None, :]) ** 2, lambda n: [(n,)])],
    "cholesky": [(lambda a, *, n: np.linalg.cholesky(spd(a, n)), lambda n: [(n, n)])],
    "inv": [(lambda a, *, n: np.linalg.inv(spd(a, n)), lambda n: [(n, n)])],
    "solve": [(lambda a, b, *, n: np.linalg.solve(spd(a, n), b), lambda n: [(n, n), (n,)]),
              (lambda a, b: np.linalg.solve(spd(a, 2), b), lambda n: [(2, 2), (2, n)])],
}  # fmt: skip
OF_FUNCTIONS = {
    "component_log_densities": [
        (lambda a, b: component_log_densities(d.Normal(a, 1.0 + b), np.ones(2)),
         lambda n: [(n,), (n,)])],
    "component_probabilities": [
        (lambda a, b: component_probabilities(shares(a), d.Normal(b, 1.0), np.array([0.3, 1.2])),
         lambda n: [(n,), (n,)])],
    "hmm_log_likelihood": [
        (lambda a: hmm_log_likelihood(a, *TWO_STATES), lambda n: [(n, 2)]),
        (lambda e, p, t: hmm_log_likelihood(e, shares(p), shares(t)),
         lambda n: [(3, n), (n,), (n, n)])],
    "state_probabilities": [(lambda a: state_probabilities(a, *TWO_STATES), lambda n: [(n, 2)])],
    "linear_recurrence": [
        (linear_recurrence, lambda n: [(n,), (n,), ()]),
        (linear_recurrence, lambda n: [(), (n, 2), (2,)])],
    "matrix_recurrence": [
        (matrix_recurrence, lambda n: [(2, 2), (n, 2), (2,)]),
        (matrix_recurrence, lambda n: [(n, 2, 2), (n, 2), (2,)]),
        (lambda a, x: matrix_recurrence(0.3 * a, x), lambda n: [(n, n), (3, n)])],
    "segment_max": [
        (lambda a, *, n: functions.segment_max(a, below(n), 1 + below(n)[-1]) ** 2,
         lambda n: [(n,)])],
    "segment_logsumexp": [
        (lambda a, *, n: functions.segment_logsumexp(a, below(n), 1 + below(n)[-1]),
         lambda n: [(n,)])],
    "full": [(lambda a: functions.full(3, np.sum(a)) ** 2, lambda n: [(n,)])],
    "linspace": [(lambda a: functions.linspace(a[0], 2.0, 5) ** 2, lambda n: [(n,)])],
    "take": [(lambda a: functions.take(a**2, [0, -1, 0]), lambda n: [(n,)])],
    "integrate_1d": [
        (lambda m, s: integrate_1d(gaussian, -1.0, 2.0, m[:, None], s[:, None]),
         lambda n: [(n,), (n,)])],
}  # fmt: skip


def assert_examples(check, examples, lengths=LENGTHS):
    for function, shapes in examples:
        for n in lengths:
            asks = "n" in inspect.signature(function).parameters
            swept(check, partial(function, n=n) if asks else function, shapes(n), n)


def at_one_length_in_turn(names, every=ENGINE_LENGTHS):
    """Each name at one of the lengths, and at the others where there is time: code takes long."""
    cells = []
    for i, name in enumerate(names):
        one = ENGINE_LENGTHS[i % len(ENGINE_LENGTHS)]
        others = tuple(n for n in every if n != one)
        cells.append(pytest.param(name, (one,), id=f"{name}-{one}"))
        cells.append(at_length(name, others, id=f"{name}-others"))
    return pytest.mark.parametrize(("name", "lengths"), cells)


@pytest.mark.parametrize("n", [*map(at_length, ENGINE_LENGTHS[:-1]), ENGINE_LENGTHS[-1]])
def test_engines_agree_on_functions_of_numbers(n, assert_engines):
    test_functions_of_one_operand(n, assert_engines)
    test_functions_of_two_operands(n, assert_engines)


@at_one_length_in_turn(EXAMPLES)
def test_engines_agree_on_operations(name, lengths, assert_engines):
    assert_examples(assert_engines, EXAMPLES[name], lengths)


@at_one_length_in_turn(OF_FUNCTIONS)
def test_engines_agree_on_functions(name, lengths, assert_engines):
    assert_examples(assert_engines, OF_FUNCTIONS[name], lengths)


@pytest.mark.parametrize("name", EXAMPLES)
def test_operations(name, assert_gradient):
    assert_examples(assert_gradient, EXAMPLES[name])


@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_functions(name, assert_gradient):
    assert_examples(assert_gradient, OF_FUNCTIONS[name])


def looped(start, rain, rate):
    states, state = [], start
    for water in rain:
        state = state * np.exp(rate * (1.0 - state) + 0.1 * water)
        states.append(state)
    return np.stack(states)


def growth(state, water, rate):
    return state * np.exp(rate * (1.0 - state) + 0.1 * water)


def decay(t, y, rate, level):
    return rate * (level - y)


def decayed(times, y, rate, level):
    return level + (y - level) * np.exp(-np.multiply.outer(times, np.broadcast_to(rate, y.shape)))


def real_root(a):
    """Solve ``x**3 + x = a`` by Cardano's formula."""
    half, rest = a / 2.0, np.sqrt(a**2 / 4.0 + 1.0 / 27.0)
    return np.cbrt(half + rest) + np.cbrt(half - rest)


def solution(times, *args):
    return functions.solve_ode(decay, args[0], 0.0, times, *args[1:], rtol=1e-10, atol=1e-10)


def spline(a, n):
    places = np.clip(PLACES, 0.0, n)
    return CubicSpline(np.arange(n + 1.0), a, bc_type="natural")(places)


# Functions of operands, the same by other means, and shapes.
SOLVERS = {
    "interpolate": [
        (lambda a, *, n: functions.interpolate(PLACES, np.arange(n + 1.0), a, kind="cubic"), spline,
         lambda n: [(n + 1,)]),
        (lambda x, a: functions.interpolate(x, np.array([0.0, 0.1, 0.9]), a),
         lambda x, a: np.interp(x, [0.0, 0.1, 0.9], a), lambda n: [(n,), (3,)])],
    "scan": [
        (lambda a, b, r: functions.scan(growth, a, b, args=(r,)), looped,
         lambda n: [(), (n,), ()]),
        (lambda a, b, r: functions.scan(growth, a, b, args=(r,)), looped,
         lambda n: [(n,), (3, n), (n,)])],
    "solve_newton": [
        (lambda a: functions.solve_newton(lambda x, a: x**3 + x - a, 0.0 * a + 0.5, a), real_root,
         lambda n: [(n,)])],
    "solve_ode": [
        (partial(solution, np.array([0.1, 0.3])), partial(decayed, np.array([0.1, 0.3])),
         lambda n: [(n,), (n,), (n,)]),
        (lambda *args, n: solution(0.02 * np.arange(1.0, n + 1), *args),
         lambda *args, n: decayed(0.02 * np.arange(1.0, n + 1), *args),
         lambda n: [(2,), (), (2,)])],
}  # fmt: skip


@at_one_length_in_turn(SOLVERS)
def test_engines_agree_on_solvers(name, lengths, assert_engines):
    assert_solvers(assert_engines, name, lengths)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers(name, assert_gradient):
    # Solutions of differential equations take long.
    assert_solvers(assert_gradient, name, (1, 2, 3, 8, 17) if name == "solve_ode" else LENGTHS)


def assert_solvers(check, name, lengths):
    for function, reference, shapes in SOLVERS[name]:
        for n in lengths:
            asks = "n" in inspect.signature(function).parameters
            pair = [partial(f, n=n) if asks else f for f in (function, reference)]
            swept(check, pair[0], shapes(n), n, pair[1])


BOUNDS = {
    "lower": (-1.5,),
    "upper": (2.5,),
    "interval": (-1.0, 3.0),
    "offset_multiplier": (2.0, 0.5),
}
MAPS = {name: kind for name, kind in CONSTRAINTS.items() if not kind.integer}


@pytest.mark.parametrize("name", MAPS)
def test_constraints(name, assert_gradient):
    assert_constraints(assert_gradient, name, LENGTHS)


def assert_constraints(check, name, lengths):
    constraint = MAPS[name](*BOUNDS.get(name, ()))
    for n in lengths:
        shape = (n,) * max(constraint.event_ndim, 1)
        if n % 2 and constraint.event_ndim:
            shape = (2, *shape)  # several of them
        free_shape = constraint.free_shape(shape)
        if 0 in free_shape:
            continue
        weights = np.cos(np.arange(np.prod(shape))).reshape(shape)

        class Constrained(Model):
            a = param(constraint=constraint, shape=shape)
            term = potential(np.sum(a * weights))

        def value(x, free_shape=free_shape, weights=weights):
            u = x.reshape(len(x), *free_shape)
            y = constraint.forward(np, u, *constraint.bounds)
            log_det = constraint.log_det(np, u, *constraint.bounds).reshape(len(x), -1)
            return np.sum(log_det, axis=1) + np.sum((y * weights).reshape(len(x), -1), axis=1)

        density = as_posterior(Constrained())
        x = np.random.default_rng(n).uniform(-0.5, 0.5, (POINTS, density.dim))
        check(density, value, x, f"shape {shape}")


@at_one_length_in_turn(MAPS, LENGTHS)
def test_engines_agree_on_constraints(name, lengths, assert_engines):
    assert_constraints(assert_engines, name, lengths)


def test_everything_is_swept():
    shown = {"call", "pad_axes"}  # by functions that are made of them
    shown |= {name for name, operation in OPERATIONS.items() if operation.static}
    # in tests/expressions, with NumPy's functions
    shown |= {name for name, operation in OPERATIONS.items() if operation.written is not None}
    assert {*ONE, *TWO, *EXAMPLES, *OF_FUNCTIONS, *SOLVERS} | shown >= set(OPERATIONS)
    no_derivative = {"most_likely_states", "arange", "zeros", "ones", "eye"}
    # in tests/distributions, of all of them
    elsewhere = {"log_density", "log_cdf", "log_ccdf", "log_between"}
    of_others = {*OF_FUNCTIONS, *SOLVERS} | no_derivative | elsewhere
    assert of_others | EXAMPLES.keys() >= set(functions.__all__)


@pytest.mark.parametrize("n", LENGTHS)
def test_a_wrong_rule_would_be_found(n, assert_gradient, monkeypatch):
    @primitive
    def exp(x):
        return np.exp(x)

    defvjp(exp, lambda ans, x: lambda g: 1.00001 * g * ans)
    monkeypatch.setitem(language.OPERATIONS, "exp", exp)
    with pytest.raises(AssertionError, match=f"gradient, 1 chains, length {n}:"):
        swept(assert_gradient, np.exp, [(n,)], n)


def test_a_wrong_chain_of_many_would_be_found(assert_gradient, monkeypatch):
    right = numpy_engine.NumpyProgram.__call__

    def of_few(self, *inputs):
        logp, *slopes = right(self, *inputs)
        return logp, *(s if len(s) < 4 else np.roll(s, 1, axis=0) for s in slopes)

    monkeypatch.setattr(numpy_engine.NumpyProgram, "__call__", of_few)
    with pytest.raises(AssertionError, match="gradient, 16 chains"):
        assert_examples(assert_gradient, EXAMPLES["getitem"])
