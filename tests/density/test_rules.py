"""Derivative rules as source, against autograd's tracer over the same steps."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd.core import make_vjp

from probmodel import special
from probmodel.density import primitives as own
from probmodel.density.codegen import gradient_source
from probmodel.density.program import Recorder

CHAINS = 3
UNARY = [anp.negative, anp.exp, anp.expm1, anp.log, anp.log1p, anp.sqrt, anp.square,
         anp.reciprocal, anp.sin, anp.cos, anp.tanh, anp.absolute, special.expit]  # fmt: skip
BINARY = [anp.add, anp.subtract, anp.multiply, anp.divide, anp.logaddexp, own.logaddexp]
SHAPES = [((4,), (4,)), ((1,), (4,)), ((4,), (1,)), ((2, 1), (1, 3)), ((1, 1), (2, 3)), ((), ())]


def values(recorder, seed=0):
    """Positive values for the inputs of a program."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.2, 1.5, (CHAINS, *ref.shape)) for ref in recorder.inputs]


def check(recorder, *outputs, calls=0):
    """Compare value and gradient with autograd; ``calls`` of its rules may be left."""
    program = recorder.finish(outputs)
    source, names = gradient_source(program)
    assert sum(name.startswith("m") for name in names) == calls, source
    inputs = values(recorder)
    vjp, expected = make_vjp(lambda z: program.traced_sum(z) + anp.zeros(CHAINS), tuple(inputs))
    total, slopes = program.sum_and_gradient(*inputs)
    np.testing.assert_allclose(total, expected, rtol=1e-13)
    for value, slope, reference in zip(inputs, slopes, vjp(np.ones(CHAINS)), strict=True):
        assert slope.shape == value.shape
        np.testing.assert_allclose(slope, reference, rtol=1e-12, atol=1e-14)


def total(recorder, ref):
    axes = tuple(range(1, len(ref.shape) + 1))
    return recorder.emit(anp.sum, ref, axis=axes, shape=()) if axes else ref


def weighted(recorder, ref):
    """Sum with weights, so that the derivative of ``ref`` is an array."""
    weights = np.linspace(-1.0, 2.0, int(np.prod(ref.shape))).reshape(ref.shape)
    return total(recorder, recorder.emit(anp.multiply, ref, weights, shape=ref.shape))


ENDS = [total, weighted]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary(function, end):
    recorder = Recorder()
    x = recorder.input((4,))
    check(recorder, end(recorder, recorder.emit(function, x, shape=(4,))))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary(function, shapes, end):
    recorder = Recorder()
    a, b = (recorder.input(shape) for shape in shapes)
    y = recorder.emit(function, a, b, shape=np.broadcast_shapes(*shapes))
    check(recorder, end(recorder, y))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("constant", [2.5, -1.0, 3, np.arange(1.0, 5.0)], ids=str)
@pytest.mark.parametrize("varying", [(4,), (1,)], ids=str)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("function", BINARY[:4], ids=lambda f: f.__name__)
def test_with_a_constant(function, first, varying, constant, end):
    recorder = Recorder()
    x = recorder.input(varying)
    shape = np.broadcast_shapes(varying, np.shape(constant))
    operands = (x, constant) if first else (constant, x)
    check(recorder, end(recorder, recorder.emit(function, *operands, shape=shape)))


INDICES = [(slice(None), 0), (slice(None), slice(1, None)), (slice(None), slice(None, None, -1)),
           (slice(None), None, np.int64(2)), (slice(None), Ellipsis, slice(0, 4, 2))]  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_index(index, end):
    recorder = Recorder()
    x = recorder.input((4,))
    shape = np.zeros((1, 4))[index].shape[1:]
    check(recorder, end(recorder, recorder.emit(own.basic_index, x, index, shape=shape)))


def test_indices_that_overlap_each_other_and_other_uses():
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        recorder = Recorder()
        x = recorder.input((4,))
        uses = [
            lambda r, x=x: r.emit(own.basic_index, x, (slice(None), slice(0, 3)), shape=(3,)),
            lambda r, x=x: r.emit(own.basic_index, x, (slice(None), slice(1, 4)), shape=(3,)),
            lambda r, x=x: r.emit(anp.square, x, shape=(4,)),
        ]
        check(recorder, *(weighted(recorder, uses[i](recorder)) for i in order))


def test_derivatives_in_place_leave_others_alone():
    recorder = Recorder()
    x, z = recorder.input((2,)), recorder.input((2,))
    both = recorder.emit(anp.add, x, z, shape=(2,))  # one array is the derivative of x and of z
    one = recorder.emit(own.basic_index, x, (slice(None), 1), shape=())
    check(recorder, weighted(recorder, both), recorder.emit(anp.exp, one, shape=()))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("axis", [1, 2, (1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sum(axis, keepdims, end):
    recorder = Recorder()
    x = recorder.input((2, 3))
    shape = np.zeros((1, 2, 3)).sum(axis=axis, keepdims=keepdims).shape[1:]
    y = recorder.emit(anp.sum, x, axis=axis, keepdims=keepdims, shape=shape)
    check(recorder, end(recorder, recorder.emit(anp.square, y, shape=shape)))


STRUCTURES = {
    "cumsum": lambda r, x: r.emit(anp.cumsum, x, axis=2, shape=(2, 3)),
    "cumsum first": lambda r, x: r.emit(anp.cumsum, x, axis=1, shape=(2, 3)),
    "transpose": lambda r, x: r.emit(anp.transpose, x, (0, 2, 1), shape=(3, 2)),
    "reshape": lambda r, x: r.emit(own.reshape_rows, x, (6,), shape=(6,)),
    "insert": lambda r, x: r.emit(own.insert_axes, x, 1, shape=(1, 2, 3)),
    "spread": lambda r, x: r.emit(
        own.spread_rows, r.emit(own.insert_axes, x, 1, shape=(1, 2, 3)), (4, 2, 3), shape=(4, 2, 3)
    ),
    "squares": lambda r, x: r.emit(own.sum_squares, x, shape=()),
    "join": lambda r, x: r.emit(anp.concatenate_args, 1, x, x, shape=(4, 3)),
    "join last": lambda r, x: r.emit(anp.concatenate_args, 2, x, x, shape=(2, 6)),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", STRUCTURES)
def test_structure(name, end):
    recorder = Recorder()
    check(recorder, end(recorder, STRUCTURES[name](recorder, recorder.input((2, 3)))))


VECTORS = {
    "gather": lambda r, x: r.emit(
        own.gather, x, own.Gather(np.array([2, 0, 2, 2]), 3), shape=(4,)
    ),
    "linear map": lambda r, x: r.emit(own.linear_map, x, np.ones((3, 5)), shape=(5,)),
    "affine map": lambda r, x: r.emit(
        own.affine_map,
        x,
        np.vstack([np.arange(15.0).reshape(3, 5), np.ones(5)]),
        r.emit(own.basic_index, x, (slice(None), 1), shape=()),
        shape=(5,),
    ),
    "dot": lambda r, x: r.emit(own.row_dot, x, r.emit(anp.exp, x, shape=(3,)), shape=()),
    "dot with itself": lambda r, x: r.emit(own.row_dot, x, x, shape=()),
    "dot with a constant": lambda r, x: r.emit(own.row_dot, np.arange(3.0), x, shape=()),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name, end):
    recorder = Recorder()
    check(recorder, end(recorder, VECTORS[name](recorder, recorder.input((3,)))))


def test_numbers_and_arrays_join():
    recorder = Recorder()
    x = recorder.input((3,))
    y = recorder.emit(anp.exp, x, shape=(3,))
    negative = recorder.emit(anp.negative, y, shape=(3,))
    halved = recorder.emit(anp.divide, y, 2.0, shape=(3,))
    sine = recorder.emit(anp.sin, y, shape=(3,))
    for parts in ((y, sine), (negative, sine, halved), (sine, negative), (negative, halved)):
        check(recorder, *(weighted(recorder, p) for p in parts), total(recorder, parts[0]))


def test_what_has_no_source_rule_runs_that_of_autograd():
    recorder = Recorder()
    x = recorder.input((3,))
    y = recorder.emit(anp.arctan, recorder.emit(anp.negative, x, shape=(3,)), shape=(3,))
    check(recorder, total(recorder, y), weighted(recorder, y), calls=1)


def test_a_wrong_rule_is_noticed(monkeypatch):
    from probmodel.density import rules

    monkeypatch.setitem(rules._ELEMENTWISE, anp.exp, (rules.Slope(times="{a}"),))
    with pytest.raises(AssertionError):
        test_unary(anp.exp, total)


def test_logaddexp_far_apart():
    a = np.array([[0.0, -np.inf, -np.inf, 800.0, -800.0, np.inf]])
    b = np.array([[0.0, -np.inf, 3.0, -800.0, -801.0, np.inf]])
    with np.errstate(invalid="ignore"):  # as densities are evaluated
        value, vjp = own.logaddexp.with_vjp((0, 1), a, b)
        assert np.isnan(own.logaddexp.with_vjp((0,), np.full((1, 1), np.nan), b)[0]).all()
    np.testing.assert_allclose(value, np.logaddexp(a, b), rtol=1e-15)
    in_a, in_b = vjp(np.ones(a.shape))
    share = 1.0 / (1.0 + np.exp(-1.0))
    np.testing.assert_allclose(in_a[0], [0.5, 0.5, 0.0, 1.0, share, 0.5])
    np.testing.assert_allclose(in_b[0], [0.5, 0.5, 1.0, 0.0, 1.0 - share, 0.5])
