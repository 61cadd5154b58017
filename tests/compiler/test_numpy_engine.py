"""NumPy programs: against plain NumPy chain by chain, machine code, and the engine by rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from probmodel import load_model, read_data
from probmodel.compiler.array_functions import recurrence as written_recurrence
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.symbols import Symbol, place, view
from probmodel.compiler.tracing import Program, traced
from probmodel.density import as_posterior
from probmodel.distributions.process.forward_algorithm import hmm_slopes
from probmodel.numerics import linalg, special

ROOT = Path(__file__).parents[2]
CHAINS = (0, 1, 2, 8, 17)
K = np.random.default_rng(5).standard_normal((4, 3))


def positive(a):
    return 0.3 + np.square(a)


def matrices(a, n=5):
    """Positive definite matrices of the first elements of (3, 4)."""
    fixed = np.random.default_rng(n).standard_normal((n, n))
    fixed = fixed @ fixed.T + n * np.eye(n)
    return fixed * np.reshape(positive(a[:, 0]), (3, 1, 1)) + np.eye(n)


def added(g, index, size):
    """What `place` does, for arrays."""
    return placed(g, index, (size,))


def placed(g, index, shape):
    if isinstance(g, Symbol):
        return place(g, index, shape)
    out = np.zeros(int(np.prod(shape)))
    np.add.at(out, index.reshape(-1), g.reshape(-1))
    return out.reshape(shape)


def cumulated(a, *ratios):
    """A recurrence in numbers, one after another."""
    y = np.array(a)
    for t in range(1, len(y)):
        y[t] += sum(r[t] * y[t - 1 - k] for k, r in enumerate(ratios[:t]))
    return y


def recurrence(a, *ratios):
    if not isinstance(a, Symbol):
        return cumulated(a, *(np.broadcast_to(r, a.shape) for r in ratios))
    return written_recurrence(a, *ratios)


def taken(a, index):
    return view(a, index) if isinstance(a, Symbol) else a.reshape(-1)[index]


ROWS = np.array([2, 0, 2, 1, 0, 2])
# Of arrays a, (3, 4), b, (4,), and c, a number.
OPERATIONS = {
    "arithmetic": lambda a, b, c: (a + b) * c - 2.0 * a / (1.0 + b * b) - (-c),
    "numbers": lambda a, b, c: -0.5 * (a * 3.0) + (a * 3.0) + (-0.5 * (a * 3.0)) - 2.0 * c,
    "same twice": lambda a, b, c: a + a + 3.0 * a - np.square(a) - a * a,
    "known": lambda a, b, c: K.T * a + K.T / (2.0 + np.square(c)) - a / K.T,
    "powers": lambda a, b, c: positive(a) ** b + positive(c) ** 1.7 + 2.0**a + a**3,
    "ranks": lambda a, b, c: np.reshape(a, (3, 1, 4)) * np.reshape(b, (4, 1)) + c,
    "smooth": lambda a, b, c: np.exp(a) + np.log1p(np.square(b)) + np.tanh(c) + np.arctan2(a, b),
    "logistic": lambda a, b, c: special.expit(a) + special.log_expit(b) + special.expit(-b),
    "softplus": lambda a, b, c: np.logaddexp(0.0, a) + np.logaddexp(a, 0.0) + np.logaddexp(a, c),
    "special": lambda a, b, c: special.gammaln(positive(a)) + special.digamma(positive(b)),
    "trigamma": lambda a, b, c: special.polygamma(1, positive(a)) + special.polygamma(2, 1.0 + c),
    "normal": lambda a, b, c: special.log_ndtr(a) + special.inverse_mills(b) + special.erf(c),
    "choice": lambda a, b, c: special.where(a > b, a, 2.0 * c) + special.where(c < 0.0, -a, 0.0),
    "truths": lambda a, b, c: (a > 0.0) + (b < c) * 1.0 - np.logical_not(a > b) * a,
    "logic": lambda a, b, c: np.logical_and(a > 0, b) + 1.0 * np.logical_or(a * 0.0, c > 0.0),
    "truths moved": lambda a, b, c: (a > 0.0)[::-1, 1:] * -1.0 + np.reshape(b > 0.0, (4, 1, 1))[0],
    "not finite": lambda a, b, c: np.isfinite(a / (b * 0.0)) + np.isnan(a) + np.isinf(1.0 / a),
    "extremes": lambda a, b, c: np.maximum(a, b) + np.minimum(c, a) + np.max(a) - np.min(-2.0 * b),
    "extremes of axes": lambda a, b, c: np.max(-3.0 * a, axis=0) + np.min(a * c, axis=0) + b,
    "remainders": lambda a, b, c: np.floor(a) + np.ceil(b) + np.remainder(a, 0.7) + np.sign(c),
    "sum": lambda a, b, c: np.sum(a) + np.sum(a * a) + np.sum(K.T * a) + np.sum(np.exp(b)),
    "sums of axes": lambda a, b, c: (np.sum(a, axis=1), np.sum(a * b, axis=1), np.sum(a, axis=0)),
    "sums of products": lambda a, b, c: (np.sum(a * K.T, axis=1), np.sum(a * np.square(c), axis=0)),
    "sums of repeated": lambda a, b, c: np.sum(np.reshape(a, (3, 1, 4)) + np.zeros((3, 5, 4)) * c),
    "sums apart": lambda a, b, c: np.sum(-0.5 * a * a - 0.9 - np.log(positive(c))) + c * np.sum(a),
    "sums of logarithms": lambda a, b, c: np.sum(a * b - K.T - np.log(positive(b)), axis=1),
    "sums of chosen": lambda a, b, c: (
        np.sum(special.where(K.T > 0.9, a, 0.0), axis=1),
        np.sum(special.where(K.T < 0.9, 0.0, -b), axis=0),
        np.sum(special.where(np.max(K.T, axis=1, keepdims=True) == K.T, b, 0.0), axis=1),
    ),
    "sums of truths": lambda a, b, c: np.sum(a > 0.0) + np.sum((a > 0.0) * (b > 0.0), axis=0),
    "slices": lambda a, b, c: a[1:, ::2] + a[0, 1] - b[::-1][1:3] + a[::-1, :2][:2],
    "transposes": lambda a, b, c: np.exp(np.transpose(a)) * 2.0 + np.reshape(a, (4, 3)) + K,
    "moved again": lambda a, b, c: np.reshape(np.exp(np.transpose(a)) + K, (3, 4)) + a,
    "repetitions": lambda a, b, c: np.repeat(a, 2, axis=0) + np.tile(b, (6, 1)) + np.tile(c, 4),
    "taken": lambda a, b, c: np.exp(-2.0 * taken(a, np.array([5, 0, 7, 7, 1]))) + taken(b, 1),
    "rows": lambda a, b, c: np.sin(np.take(a, ROWS, axis=0)) + b,
    "joined": lambda a, b, c: np.concatenate([a, np.reshape(b, (1, 4)), K.T, a * c], axis=0),
    "placed": lambda a, b, c: added(np.reshape(a, (12,)), np.arange(12) * 7 % 13, 13),
    "placed in order": lambda a, b, c: added(np.exp(a), np.arange(12).reshape(3, 4), 12),
    "placed apart": lambda a, b, c: added(a, 2 * np.arange(12), 24) + added(b, np.arange(4), 24),
    "placed over": lambda a, b, c: added(b, np.arange(4), 6) + added(b * c, np.arange(4) + 2, 6),
    "placed in two shapes": lambda a, b, c: (
        np.exp(placed(b, np.array([0, 2, 3, 5]), (6, 1)))
        * placed(b, np.array([0, 2, 3, 5]), (1, 6))
    ),
    "added up": lambda a, b, c: added(a, np.arange(12) ** 2 % 5, 7) + added(b, np.arange(4), 7),
    "added in order": lambda a, b, c: added(a, np.sort(np.arange(12) ** 2 % 5), 5),
    "added along axes": lambda a, b, c: added(a, np.tile(np.arange(4), (3, 1)), 4),
    "added in turn": lambda a, b, c: added(np.reshape(a, (12,)), np.tile(np.arange(4), 3), 4),
    "added at one": lambda a, b, c: added(a * b, np.full((3, 4), 2), 3) + added(c, np.array(0), 3),
    "product": lambda a, b, c: np.matmul(K, np.sum(a, axis=1)) - 2.0 * np.matmul(np.eye(4), -b),
    "cumulated": lambda a, b, c: np.cumsum(a, axis=1) + np.cumsum(2.0 * a[:, ::-1], axis=1),
    "cumulated from the end": lambda a, b, c: np.cumsum(b[::-1])[::-1] + np.cumsum(a, axis=0),
    "first order": lambda a, b, c: recurrence(b, c) + recurrence(b, np.tanh(b)),
    "first order turned": lambda a, b, c: recurrence(b[::-1], 0.7 * b[::-1])[::-1],
    "orders": lambda a, b, c: recurrence(b, c, 0.3) + recurrence(b, b, c),
    "factors": lambda a, b, c: linalg.cholesky(matrices(a)),
    "solutions": lambda a, b, c: linalg.solve_lower(
        linalg.cholesky(matrices(a)), np.reshape(a[:, :1] * np.arange(1.0, 6.0), (3, 5, 1)) + c
    ),
    "solutions turned": lambda a, b, c: sum(
        linalg.solve_lower(linalg.cholesky(matrices(a)), matrices(a) * k, transposed=turned)
        for k, turned in ((1.0, True), (2.0, False))
    ),
    "known factors": lambda a, b, c: linalg.solve_lower(
        np.tril(np.arange(36.0).reshape(6, 6) + 7.0), np.reshape(np.repeat(c, 6), (6, 1)) + b
    ),
    "matrix products": lambda a, b, c: np.matmul(matrices(a), matrices(a, 5) - c),
    "hidden Markov": lambda a, b, c: hmm_slopes(a[:, :3], positive(a[:, 0]), positive(a[:, 1:])),
    "nothing varies": lambda a, b, c: (np.zeros((2, 3)) + 0.0 * K[0], a, a, b[1:3]),
}  # fmt: skip


def outputs_of(found):
    return found if isinstance(found, tuple) else (found,)


def made(function):
    rng = np.random.default_rng(0)
    symbols = [Symbol("input", (), rng.standard_normal(shape)) for shape in ((3, 4), (4,), ())]
    return NumpyProgram(Program(tuple(symbols), tuple(outputs_of(function(*symbols)))))


def points(chains, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((chains, *shape)) for shape in ((3, 4), (4,), ())]


def assert_rows(function, found, arrays):
    """Compare outputs with those of one chain after another, and where they are not finite."""
    for i, row in enumerate(zip(*arrays, strict=True)):
        with np.errstate(all="ignore"):
            expected = outputs_of(function(*row))
        for own, value in zip(found, expected, strict=True):
            assert own.shape == (len(arrays[0]), *np.shape(value))
            fine = np.isfinite(value)
            assert np.array_equal(np.isfinite(own[i]), fine)
            size = np.max(np.abs(np.where(fine, value, 0.0)), initial=1.0)
            a, b = own[i][fine], np.asarray(value)[fine]
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13 * size)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name):
    compiled = made(OPERATIONS[name])
    for chains in CHAINS:
        arrays = points(chains)
        found = compiled(*arrays)
        assert all(o.dtype == float and len(o) == chains and o.flags.writeable for o in found)
        assert not any(np.shares_memory(o, x) for o in found for x in arrays)
        assert_rows(OPERATIONS[name], found, arrays)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, 0.0])
def test_bad_chains_and_elements_stay_alone(name, bad):
    if name == "hidden Markov" and bad == np.inf:
        return  # infinite probabilities: anything may come out
    compiled, arrays = made(OPERATIONS[name]), points(6, seed=2)
    before = compiled(*arrays)
    arrays[0][1] = bad
    arrays[0][2, 1, 2] = bad
    arrays[1][3, 2] = bad
    arrays[2][4] = bad
    after = compiled(*arrays)
    for own, old in zip(after, before, strict=True):
        np.testing.assert_allclose(own[[0, 5]], old[[0, 5]], rtol=1e-13)
    if name not in ("factors", "solutions", "solutions turned", "hidden Markov"):
        assert_rows(OPERATIONS[name], after, arrays)


def test_matrices_without_factors_are_alone():
    def function(a, b, c):
        return linalg.cholesky(np.reshape(c, (1, 1)) * np.eye(6) + 0.1)

    arrays = points(5)
    arrays[2][:] = [1.0, -1.0, 2.0, np.nan, 3.0]
    (found,) = made(function)(*arrays)
    assert np.isnan(found[[1, 3]][:, *np.tril_indices(6)]).all()
    for i in (0, 2, 4):
        np.testing.assert_allclose(found[i] @ found[i].T, arrays[2][i] * np.eye(6) + 0.1)


@pytest.mark.parametrize("n", [2, 3, 17, 64])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_recurrences(n, order):
    rng = np.random.default_rng(n)
    x, a = rng.standard_normal((7, n)), rng.uniform(-0.6, 0.6, (7, n, order)) / order
    constant = np.broadcast_to(a[:, :1], a.shape)
    for ratios in (a, constant):
        symbols = [Symbol("input", (), v[0]) for v in (x, ratios if ratios is a else a[:, 0])]
        own = symbols[1]
        own = [own[:, k] if ratios is a else own[k] for k in range(order)]
        compiled = NumpyProgram(Program(tuple(symbols), (recurrence(symbols[0], *own),)))
        (found,) = compiled(x, ratios if ratios is a else a[:, 0])
        expected = [cumulated(y, *r.T) for y, r in zip(x, ratios, strict=True)]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_calls():
    def function(x, y):
        return np.einsum("cij,ci->cj", x, y)

    a, b = (Symbol("input", (), np.zeros(shape)) for shape in ((3, 4), (4,)))
    args = (np.exp(a), np.sum(a, axis=1))
    called = Symbol("call", args, np.zeros(4), function)
    compiled = NumpyProgram(Program((a, b), (called + b, called)))
    x, y = np.random.default_rng(3).standard_normal((2, 9, 3, 4))[:, :, :, :]
    y = y[:, 0]
    found = compiled(x, y)
    expected = np.einsum("cij,ci->cj", np.exp(x), x.sum(axis=2))
    np.testing.assert_allclose(found[0], expected + y, rtol=1e-13)
    np.testing.assert_allclose(found[1], expected, rtol=1e-13)


def test_machine_code_tells_shapes_of_places_apart():
    x = Symbol("input", (), np.zeros(4))
    both = OPERATIONS["placed in two shapes"](x, x, x)
    machine = Machine(Program((x,), (np.sum(both), np.zeros(4))))
    rows = np.random.default_rng(4).standard_normal((3, 4))
    expected = [np.sum(OPERATIONS["placed in two shapes"](r, r, r)) for r in rows]
    np.testing.assert_allclose(machine(rows)[0], expected, rtol=1e-13)


def test_inputs_of_other_shapes_are_told():
    with pytest.raises(ValueError, match=r"shape \(5, 3\) instead of \(5, 4\)"):
        made(OPERATIONS["sum"])(np.zeros((5, 3, 4)), np.zeros((5, 3)), np.zeros(5))


def test_llvmlite_is_not_imported():
    code = (
        "import sys, probmodel.compiler.numpy_engine, probmodel.compiler.tracing; "
        "print('llvmlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# -- programs of gradients -------------------------------------------------------------------------


def assert_same(found, expected, tolerance=1e-12):
    """Compare values and gradients in the rows in which they are finite, and which these are."""
    (value, slope), (logp, grad) = found, expected
    fine = np.isfinite(logp) & np.isfinite(grad).all(axis=1)
    assert np.array_equal(fine, np.isfinite(value) & np.isfinite(slope).all(axis=1))
    size = 1.0 + np.abs(logp[fine])
    np.testing.assert_array_less(np.abs(value - logp)[fine], tolerance * size)
    size = 1.0 + np.max(np.abs(grad), axis=1, initial=0.0, keepdims=True)
    np.testing.assert_array_less(np.abs(slope - grad)[fine] / size[fine], tolerance)


GALLERY = {
    "logistic_regression": "pima.npz",
    "linear_regression": "kidiq.csv",
    "eight_schools": "eight_schools.json",
    "stochastic_volatility": "sp500_500.csv",
    "log_gaussian_cox": "finpines_16x16.npz",
    "gaussian_mixture": "gaussian_mixture.csv",
    "autoregression": "autoregression.csv",
    "gaussian_process_regression": "gp_regression.csv",
    "motorcycle": "motorcycle.csv",
    "hidden_markov": "hidden_markov.csv",
    "garch": "pound_dollar.csv",
    "bei": "bei_10x20.npz",
    "radon": "radon.json",
    "rats": "rats.json",
    "lip_cancer": "lip_cancer.json",
    "coal_change_point": "coal.json",
    "robust_regression": "earnings_logarithms.csv",
    "seeds_beta_binomial": "seeds.csv",
    "party_identification": "party1996.csv",
    "tobit": "finpines_sizes.csv",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.statistical) if i % 2 else n for i, n in enumerate(GALLERY)],
)
def test_gallery(name):
    values = read_data(ROOT / "models" / "data" / GALLERY[name])
    if name != "rats":
        values.pop("coords", None)
    density = as_posterior(load_model(ROOT / "models" / f"{name}.py")(**values))
    density.use_engine("numpy")
    written = traced(density._binding)
    compiled, machine = NumpyProgram(written), Machine(written)
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (17, density.dim))
    # Code for many chains serves fewer: of that for one and for four there is some in turn.
    narrow = ((), (1,), (2,))[list(GALLERY).index(name) % 3]
    for chains in (*narrow, *reversed(CHAINS)):
        if chains:
            assert_same(compiled(x[:chains]), density(x[:chains]))
        assert_same(compiled(x[:chains]), machine(x[:chains]))
    bad = x.copy()
    for row, value in ((2, np.nan), (3, np.inf), (5, -np.inf), (8, 1e300), (9, -800.0)):
        bad[row, row % density.dim] = value
    found, alone = compiled(bad), compiled(x)
    for own, before in zip(found, alone, strict=True):
        np.testing.assert_allclose(own[[0, 1, 4, 7]], before[[0, 1, 4, 7]], rtol=1e-13)
        assert not np.isfinite(found[0][2])
