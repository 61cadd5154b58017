"""Functions of arrays that are written with others, compared with NumPy, in both engines."""

import types

import numpy as np
import pytest

from probmodel import Model, ModelError, ShapeError, data, deterministic, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import Normal

CASES = {
    "einsum": [
        (lambda A, b: np.einsum("ij,j->i", A, b), [(2, 3), (3,)]),
        (lambda A, b: np.einsum("ij,j", A, b), [(2, 3), (3,)]),
        (lambda A, b: np.einsum("ij,kj->ik", A, b), [(2, 3), (4, 3)]),
        (lambda A, b: np.einsum("ij,jk->ki", A, b), [(2, 3), (3, 4)]),
        (lambda A, b: np.einsum("ij,jk->ki", A, b, optimize=True), [(2, 3), (3, 4)]),
        (lambda A: np.einsum("ii", A), [(3, 3)]),
        (lambda A: np.einsum("ii->i", A), [(3, 3)]),
        (lambda A: np.einsum("bii->bi", A), [(2, 3, 3)]),
        (lambda A: np.einsum("ji", A), [(2, 3)]),
        (lambda A: np.einsum("ij->", A), [(2, 3)]),
        (lambda A: np.einsum("ij->j", A), [(2, 3)]),
        (lambda A: np.einsum("iij,j->ij", A, np.arange(2.0)), [(3, 3, 2)]),
        (lambda A, b: np.einsum("ij,ij->", A, b), [(2, 3), (2, 3)]),
        (lambda A, b: np.einsum("ij,ij->i", A, b), [(2, 3), (2, 3)]),
        (lambda A, b: np.einsum("i,j->ij", A, b), [(2,), (3,)]),
        (lambda A, b: np.einsum("i,i->i", A, b), [(3,), (3,)]),
        (lambda A, b: np.einsum("i,ij,j->", A, b, np.arange(3.0)), [(2,), (2, 3)]),
        (lambda A, b: np.einsum("i,ij,ik->jk", A, b, b), [(2,), (2, 3)]),
        (lambda A, b: np.einsum("bij,bjk->bik", A, b), [(2, 3, 4), (2, 4, 2)]),
        (lambda A, b: np.einsum("bij,bj->bi", A, b), [(2, 3, 4), (2, 4)]),
        (lambda A, b: np.einsum("bi,bi->b", A, b), [(2, 4), (2, 4)]),
        (lambda A, b: np.einsum("...ij,...j->...i", A, b), [(2, 3, 4), (4,)]),
        (lambda A, b: np.einsum("...ij,...jk", A, b), [(2, 3, 4), (2, 4, 2)]),
        (lambda A, b: np.einsum("ijk,jkl->il", A, b), [(2, 3, 4), (3, 4, 2)]),
        (lambda A, b: np.einsum("aijk,ajkl->ail", A, b), [(2, 2, 3, 4), (2, 3, 4, 2)]),
        (lambda A, b: np.einsum("abc,ad->bcd", A, b), [(2, 3, 4), (2, 5)]),
        (lambda A, b: np.einsum("ab,c->a", A, b), [(2, 3), (2,)]),
    ],
    "tensordot": [
        (lambda a, b: np.tensordot(a, b), [(2, 3), (2, 3)]),
        (lambda a, b: np.tensordot(a, b, 1), [(2, 3), (3,)]),
        (lambda a, b: np.tensordot(a, b, axes=1), [(2, 3), (3, 2, 2)]),
        (lambda a, b: np.tensordot(a, b, axes=0), [(2,), (3, 2)]),
        (lambda a, b: np.tensordot(a, b, axes=([1, 0], [0, 1])), [(2, 3, 4), (3, 2)]),
        (lambda a, b: np.tensordot(a, b, axes=(-1, -1)), [(2, 3), (4, 3)]),
        (lambda a, b: np.tensordot(a, b, axes=((1,), (0,))), [(2, 3), (3, 4)]),
        (lambda a: np.tensordot(np.arange(6.0).reshape(2, 3), a, 1), [(3,)]),
    ],
    "inner": [
        (np.inner, [(3,), (3,)]),
        (np.inner, [(2, 3), (3,)]),
        (np.inner, [(2, 3), (4, 3)]),
        (np.inner, [(2, 2, 3), (4, 3)]),
        (np.inner, [(), (4, 3)]),
    ],
    "vdot": [(np.vdot, [(3,), (3,)]), (np.vdot, [(2, 3), (2, 3)]), (np.vdot, [(2, 3), (3, 2)])],
    "kron": [
        (np.kron, [(3,), (2,)]),
        (np.kron, [(2, 3), (2, 2)]),
        (np.kron, [(3,), (2, 2)]),
        (np.kron, [(2, 2), (3,)]),
        (np.kron, [(), (2, 2)]),
        (np.kron, [(2, 1, 3), (2, 2)]),
        (lambda a: np.kron(np.eye(2), a), [(2, 3)]),
    ],
    "vstack": [
        (lambda a, b: np.vstack([a, b]), [(3,), (3,)]),
        (lambda a, b: np.vstack([a, b]), [(3,), (2, 3)]),
        (lambda a, b: np.vstack([a, [[1.0, 2.0, 3.0]], b]), [(3,), (2, 3)]),
        (lambda a: np.vstack([[1, 2, 3], a]), [(3,)]),
        (lambda a, b: np.vstack((a, b)), [(1, 2, 3), (2, 2, 3)]),
        (lambda a: np.vstack([[a[0], 1.0, 2.0], a]), [(3,)]),
    ],
    "hstack": [
        (lambda a, b: np.hstack([a, b]), [(3,), (2,)]),
        (lambda a, b: np.hstack([a, b]), [(2, 3), (2, 1)]),
        (lambda a, b: np.hstack([a, b]), [(2, 3, 2), (2, 1, 2)]),
        (lambda a: np.hstack([a, [1.0, 2.0]]), [(3,)]),
        (lambda a: np.hstack([0.0, a]), [(3,)]),
        (lambda a: np.hstack([a[0], 2, a]), [(3,)]),
    ],
    "dstack": [
        (lambda a, b: np.dstack([a, b]), [(3,), (3,)]),
        (lambda a, b: np.dstack((a, b)), [(2, 3), (2, 3)]),
        (lambda a, b: np.dstack([a, b]), [(2, 3, 2), (2, 3)]),
        (lambda a: np.dstack([a[0], [[2.0]]]), [(3,)]),
    ],
    "column_stack": [
        (lambda a, b: np.column_stack([a, b]), [(3,), (3,)]),
        (lambda a: np.column_stack([np.ones(3), a]), [(3, 2)]),
        (lambda a: np.column_stack([np.ones(3), a]), [(3,)]),
    ],
    "block": [
        (lambda a, b: np.block([[a, b], [np.zeros((1, 2)), np.ones((1, 3))]]), [(2, 2), (2, 3)]),
        (lambda a, b: np.block([a, b]), [(2,), (3,)]),
        (lambda a, b: np.block([[a], [b]]), [(3,), (2, 3)]),
        (lambda a, b: np.block([[a, 0.0], [np.zeros((1, 2)), b]]), [(1, 2), (1, 1)]),
        (lambda a: np.block([[a[0], 0], [1, a[1]]]), [(2,)]),
    ],
    "tile": [
        (lambda a: np.tile(a, 2), [(3,)]),
        (lambda a: np.tile(a, (2, 3)), [(3,)]),
        (lambda a: np.tile(a, 2), [(2, 3)]),
        (lambda a: np.tile(a, (2, 1, 2)), [(2, 3)]),
        (lambda a: np.tile(a, (2, 1)), [(2, 3)]),
        (lambda a: np.tile(a, 3), [()]),
        (lambda a: np.tile(a, 1), [(3,)]),
    ],
    "moveaxis": [
        (lambda a: np.moveaxis(a, 0, -1), [(2, 3)]),
        (lambda a: np.moveaxis(a, 0, -1), [(2, 3, 4)]),
        (lambda a: np.moveaxis(a, [0, 1], [-1, -2]), [(2, 3, 4)]),
    ],
    "diagonal": [
        (np.diagonal, [(3, 3)]),
        (lambda a: np.diagonal(a, 1), [(3, 4)]),
        (lambda a: np.diagonal(a, -1), [(3, 4)]),
        (lambda a: np.diagonal(a, axis1=1, axis2=2), [(2, 3, 3)]),
        (np.diagonal, [(2, 3, 4)]),
        (lambda a: np.diagonal(a, 1, 2, 0), [(3, 2, 4)]),
        (lambda a: np.diagonal(a, 0, -1, -2), [(2, 3, 4)]),
        (lambda a: a.diagonal(), [(3, 3)]),
    ],
    "diag": [
        (lambda a: np.diag(a, 1), [(3,)]),
        (lambda a: np.diag(a, -2), [(3,)]),
        (lambda a: np.diag(a, k=1), [(3, 4)]),
        (lambda a: np.diag(a, -1), [(3, 4)]),
        (lambda a: np.diag(a, 0), [(3,)]),
        (lambda a: np.diag(a, k=0) * 2, [(3, 3)]),
    ],
    "matrix_power": [
        (lambda a, n=n: np.linalg.matrix_power(a + 2 * np.eye(3), n) + a * 0, [(3, 3)])
        for n in (0, 1, 2, 3, 5, -1, -2)
    ]
    + [
        (lambda a: np.linalg.matrix_power(a, 3), [(2, 2, 2)]),
        (lambda a: np.linalg.matrix_power(a, 0) + 0 * a, [(2, 2, 2)]),
    ],
    "split": [
        (lambda a: np.split(a, 2)[1], [(4,)]),
        (lambda a: np.split(a, [1, 3])[1], [(4,)]),
        (lambda a: np.split(a, [1, 3])[2] * np.split(a, [1, 3], axis=0)[0], [(4, 2)]),
        (lambda a: np.split(a, 2, axis=1)[0] - np.split(a, 2, axis=-1)[1], [(3, 4)]),
        (lambda a: np.array_split(a, 3)[0] * np.array_split(a, 3)[1][0], [(4,)]),
        (lambda a: np.split(a, np.array([2]))[0], [(4,)]),
    ],
    "pad": [
        (lambda a: np.pad(a, 1), [(3,)]),
        (lambda a: np.pad(a, (1, 0)), [(3,)]),
        (lambda a: np.pad(a, ((1, 2), (0, 1)), constant_values=2.5), [(2, 3)]),
        (lambda a: np.pad(a, 1, constant_values=((1, 2), (3, 4))), [(2, 3)]),
        *[
            (lambda a, m=m: np.pad(a, ((1, 2), (2, 1)), mode=m), [(3, 4)])
            for m in ("edge", "reflect", "symmetric", "wrap")
        ],
        (lambda a: np.pad(a, [(1, 0)], mode="edge"), [(3,)]),
        (lambda a: np.pad(a, 1), [(2, 3)]),
    ],
    "average": [
        (np.average, [(2, 3)]),
        (lambda a: np.average(a, axis=0), [(2, 3)]),
        (lambda a, w: np.average(a, weights=w), [(3,), (3,)]),
        (lambda a, w: np.average(a, axis=0, weights=w), [(3, 2), (3,)]),
        (lambda a, w: np.average(a, 1, w), [(3, 2), (2,)]),
        (lambda a, w: np.average(a, axis=1, weights=w), [(3, 2), (3, 2)]),
        (lambda a, w: np.average(a, axis=-1, weights=w, keepdims=True), [(3, 2), (2,)]),
        (
            lambda a: np.average(a, axis=(1, 0), weights=np.arange(1.0, 7).reshape(3, 2)),
            [(2, 3, 2)],
        ),
        (lambda a: np.average(a, weights=[1, 2, 3]), [(3,)]),
    ],
    "norm": [
        (np.linalg.norm, [(3,)]),
        (np.linalg.norm, [(2, 3)]),
        (np.linalg.norm, [(2, 3, 2)]),
        *[
            (lambda a, o=o: np.linalg.norm(a - 0.45, o), [(3,)])
            for o in (1, 2, 3, 0.5, np.inf, -np.inf, -1, None)
        ],
        *[
            (lambda a, o=o: np.linalg.norm(a - 0.45, ord=o), [(2, 3)])
            for o in (1, -1, np.inf, -np.inf, "fro", None)
        ],
        *[
            (lambda a, o=o: np.linalg.norm(a - 0.45, ord=o, axis=(2, 0)), [(2, 3, 4)])
            for o in (1, -1, np.inf, -np.inf, "fro")
        ],
        (lambda a: np.linalg.norm(a, axis=-1, keepdims=True), [(2, 3)]),
        (lambda a: np.linalg.norm(a, axis=0), [(2, 3)]),
        (lambda a: np.linalg.norm(a, ord=1, axis=(0, 1), keepdims=True), [(2, 3)]),
        (lambda a: np.linalg.norm(a - 0.45, 0, axis=1) * a[:, 0], [(2, 3)]),
    ],
    "slogdet": [
        (lambda a: np.linalg.slogdet(a)[1], [(3, 3)]),
        (lambda a: np.linalg.slogdet(a).sign * a[0, 0], [(3, 3)]),
        (lambda a: np.linalg.slogdet(a).logabsdet, [(4, 4)]),
        (lambda a: np.linalg.slogdet(a)[0] * a[..., 0, 0], [(2, 4, 4)]),
    ],
    "like": [
        (lambda a: np.zeros_like(a) + a[0], [(3,)]),
        (lambda a: np.ones_like(a) * a[0], [(2, 3)]),
        (lambda a: np.full_like(a, 2.5) * a, [(2, 3)]),
        (lambda a: np.full_like(a, a[0]), [(3,)]),
        (lambda a: np.zeros_like(a, dtype=float) + a, [()]),
    ],
    "append": [
        (lambda a, b: np.append(a, b), [(3,), (2,)]),
        (lambda a, b: np.append(a, b, axis=0), [(3, 2), (1, 2)]),
        (lambda a: np.append(a, 1.0), [(3,)]),
        (lambda a: np.append(a, a), [(2, 3)]),
    ],
    "methods": [
        (lambda a: a.dot(a.T), [(2, 3)]),
        (lambda a: a.max(axis=0) + a.min(0) * a.prod(1)[0] * a.ravel()[0], [(2, 3)]),
        (lambda a: a.transpose(1, 0, 2) * 2 + a.transpose((1, 0, 2)), [(2, 3, 4)]),
        (lambda a: a.transpose() + a.mT + a.swapaxes(0, 1), [(2, 3)]),
        (lambda a: a.flatten().cumsum() * a.cumsum(axis=0).ravel(), [(2, 3)]),
        (lambda a: a.clip(0.4, 0.6) + a.clip(min=0.5) + a.clip(max=0.5), [(3,)]),
        (lambda a: a.repeat(2) + a.repeat(2, axis=0), [(3,)]),
        (lambda a: a.squeeze() * a.squeeze(axis=0), [(1, 3)]),
        (lambda a: a.std(ddof=1) + a.var() + a.cumprod(), [(3,)]),
        (lambda a: (a > 0.5).astype(float) * a, [(3,)]),
        (lambda a: a.copy() * a.trace(), [(3, 3)]),
        (lambda a: np.linalg.matrix_transpose(a), [(2, 3)]),
    ],
}


def model_of(cases):
    """Bind a model of all cases of a function; return it, and a function of its parameters."""
    shapes = [shape for _, own in cases for shape in own]
    cuts = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def results(arrays):
        rest = iter(arrays)
        return [function(*(next(rest) for _ in own)) for function, own in cases]

    def results_at(x):
        parts = np.split(x, cuts[:-1])
        return results([part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])

    def fill(names):
        for i, shape in enumerate(shapes):
            names[f"a{i}"] = param(shape=shape)
        for i, out in enumerate(results([names[f"a{i}"] for i in range(len(shapes))])):
            names[f"out{i}"] = deterministic(out)
            names[f"term{i}"] = potential(np.sin(1.3 * np.ravel(names[f"out{i}"]) + 1.0))

    return types.new_class("Arrays", (Model,), {}, fill)(), results_at


@pytest.mark.parametrize("name", CASES)
def test_functions_of_arrays_are_those_of_numpy(name, assert_engines):
    model, results_at = model_of(CASES[name])
    density = as_posterior(model)
    x = np.random.default_rng(1).uniform(0.2, 0.8, (3, density.dim))
    found = density.constrain(x)
    for row, at in enumerate(x):
        for i, expected in enumerate(results_at(at)):
            own = found[f"out{i}"][row]
            assert own.shape == np.shape(expected), f"case {i}"
            np.testing.assert_allclose(own, expected, rtol=1e-11, atol=1e-13, err_msg=f"case {i}")

    def value(x):
        return np.array(
            [sum(np.sum(np.sin(1.3 * np.ravel(y) + 1.0)) for y in results_at(at)) for at in x]
        )

    steps = 1e-6 * np.eye(density.dim)
    for at, grad in zip(x, density(x).grad, strict=True):
        slopes = (value(at + steps) - value(at - steps)) / 2e-6
        np.testing.assert_allclose(grad, slopes, rtol=3e-6, atol=2e-6)
    assert_engines(density, value, x)


def bound(function, *shapes):
    def fill(names):
        for i, shape in enumerate(shapes):
            names[f"a{i}"] = param(Normal(0, 1), shape=shape)
        names["out"] = deterministic(function(*(names[f"a{i}"] for i in range(len(shapes)))))

    return types.new_class("Arrays", (Model,), {}, fill)()


@pytest.mark.parametrize(
    ("function", "shapes", "message"),
    [
        (lambda a, b: np.einsum("ij,j->i", a, b), [(2, 3), (2,)], r'subscripts="ij,j->i"'),
        (lambda a, b: np.einsum("ij,j->i", a, b), [(2, 2, 3), (3,)], "more dimensions"),
        (lambda a: np.einsum(a, [0, 1]), [(2, 3)], "takes the letters of axes as text"),
        (lambda a: np.split(a, 2)[0], [(3,)], "equal division"),
        (lambda a: np.split(a, a), [(3,)], "places where to cut, as whole numbers"),
        (lambda a, b: np.vstack([a, b]), [(3,), (2,)], r"shapes \(3,\), \(2,\)"),
        (lambda a, b: np.hstack([a, b]), [(3,), (2, 2)], r"shapes \(3,\), \(2, 2\)"),
        (lambda a, b: np.average(a, weights=b), [(3, 2), (2,)], "Axis must be specified"),
        (lambda a, b: np.average(a, 0, b), [(3, 2), (2,)], "consistent with shape of a"),
        (lambda a: np.average(a, returned=True), [(3,)], "takes a, axis, weights, keepdims"),
        (lambda a: np.linalg.norm(a, 2), [(3, 3)], r"norm\(a0, ord=2\) is not .* axis=-1"),
        (lambda a: np.linalg.matrix_power(a, 2), [(2, 3)], "takes square matrices"),
        (lambda a: np.linalg.slogdet(a)[0], [(2, 3)], "takes square matrices"),
        (lambda a: np.pad(a, 1, mode="mean"), [(3,)], 'mode="mean".*Instead, write mode="const'),
        (lambda a: np.pad(a, ((1, 1), (2, 2))), [(3,)], "could not be broadcast"),
        (lambda a: np.tile(a, a), [(3,)], "must come from data"),
        (lambda a: np.moveaxis(a, 0, 3), [(3,)], "axis 3 is out of bounds"),
        (lambda a, b: np.inner(a, b), [(3,), (2,)], "not aligned"),
        (lambda a: np.zeros_like(a, shape=3), [(3,)], "takes a, dtype=None; got"),
        (lambda a: np.c_[a, a], [(3,)], r"in the place of np\.c_\[a, b\].* np\.column_stack"),
        (lambda a: a.any(), [(3,)], r"no attribute 'any'.*Use np\.max\(condition\)"),
        (lambda a: (a > 0).astype(int), [(3,)], r"np\.floor and np\.round give whole ones"),
    ],
)
def test_wrong_arguments_are_errors_at_the_line(function, shapes, message):
    with pytest.raises(ModelError, match=message) as caught:
        bound(function, *shapes)
    assert caught.value.location.file == __file__


def test_functions_are_printed_as_they_are_written():
    out = bound(lambda a, b: np.einsum("ij,j->i", np.vstack([b, a]), b), (2, 3), (3,)).out
    assert repr(out.expression) == 'einsum(vstack([a1, a0]), a1, subscripts="ij,j->i")'
    out = bound(lambda a: np.block([[a, np.zeros((2, 1))]]), (2, 2)).out
    assert repr(out.expression) == "block([[a0, <2x1 array>]])"


def test_sizes_and_options_may_be_data():
    class Repeated(Model):
        n = data(dtype=int)
        x = data("obs")
        a = param(Normal(0, 1), shape=2)
        out = deterministic(np.tile(a, n))
        known = deterministic(np.average(x, weights=np.zeros_like(x) + 1) * np.sum(a))

    found = as_posterior(Repeated(n=3, x=[1.0, 5.0])).constrain(np.array([[0.5, 2.0]]))
    np.testing.assert_array_equal(found["out"][0], np.tile([0.5, 2.0], 3))
    assert found["known"][0] == 7.5


def test_whole_numbers_of_data_stay_indices():
    class Doubled(Model):
        g = data("obs", dtype=int)
        x = data("obs")
        u = param(Normal(0, 1), shape=3)
        out = deterministic(u[np.tile(g, 2)] + u[np.hstack([g, np.append(g[1:], g[0])])])
        first = deterministic(u[np.zeros_like(g)] + u[np.ones_like(x, dtype=int)])
        half = deterministic(np.full_like(g, 0.5) * u)

    found = as_posterior(Doubled(g=[0, 2, 1], x=[0.1, 0.2, 0.3])).constrain(np.eye(3)[:1] * 2.0)
    np.testing.assert_array_equal(found["out"][0], [4, 0, 0, 2, 0, 2])
    np.testing.assert_array_equal(found["first"][0], [2, 2, 2])
    np.testing.assert_array_equal(found["half"][0], [1, 0, 0])


def test_dims_go_through_functions_that_are_written_out():
    class Mixed(Model):
        X = data(("obs", "feature"))
        z = data("group")
        beta = param(Normal(0, 1), dims="feature")
        out = deterministic(np.einsum("ij,j->i", X, beta) + z)

    with pytest.raises(ShapeError, match=r"the dim 'obs' of .* meets the dim 'group'") as caught:
        Mixed(X=np.ones((3, 2)), z=np.ones(3))
    assert caught.value.location.file == __file__


def test_the_sign_of_determinants_that_no_number_holds():
    n = 400
    known = np.diag(np.where(np.arange(n) % 2, 1e-3, 1.0))
    known[[0, 1]] = known[[1, 0]]

    class Large(Model):
        a = param(Normal(0, 1))
        sign = deterministic(np.linalg.slogdet(known * a).sign)
        size = deterministic(np.linalg.slogdet(known * a).logabsdet)

    found = as_posterior(Large()).constrain(np.array([[0.5], [0.0]]))
    np.testing.assert_array_equal(found["sign"], [-1.0, 0.0])
    np.testing.assert_allclose(found["size"][0], np.linalg.slogdet(known * 0.5)[1])


def test_products_too_large_for_sums_of_products():
    class Large(Model):
        a = param(Normal(0, 1), shape=(80, 80))
        term = potential(np.einsum("ij,kj->ik", a, a)[0, 1] + np.tensordot(a, a, 1)[2, 0])

    x = np.random.default_rng(2).normal(size=(1, 6400))
    a = x.reshape(80, 80)
    logp = as_posterior(Large())(x).logp[0] + 0.5 * np.sum(x**2) + 3200 * np.log(2 * np.pi)
    np.testing.assert_allclose(logp, (a @ a.T)[0, 1] + (a @ a)[2, 0], rtol=1e-9)
