"""Gradients of models with every distribution, by differences, at every length up to 17.

What a sampler calls is compared with the plain formula of the log density. Lengths are of values
that are independent, of series, and of vectors, matrices and what else has a size
(`examples.sizes`). Some arguments vary and the rest is known. Non-centred forms of series, vectors
and matrices are swept, too; those of numbers are made of operations of the language.
"""

from __future__ import annotations

import copy
import types

import numpy as np
import pytest
from autograd.tracer import getval
from examples.case import filled, moving
from examples.sizes import OF_ONE_SIZE, SIZED
from examples.table import CASES

from probmodel import Model, observed, param, potential
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.density import as_posterior
from probmodel.distributions import StudentT
from probmodel.distributions.base import Distribution

LENGTHS = range(1, 18)
POINTS = 3
FEW = (1, 2, 8, 17)
SOME = (1, 2, 3, 4, 8, 16, 17)  # the ends, and where a register or a row of 64 bytes is full
ANOTHER_LENGTH = {"HiddenMarkov in time"}  # its parameters are as long as the series
SHORTEST = {"AR": 3}  # it conditions on its first values
_SPREAD = 0.01  # of parameters about those of the example, relative to their size


def arguments_of_length(case, n):
    """n values, with one set of parameters for all and with one for each."""
    together = [filled(case, 0, (n,)), *case.params[0]]
    free, names = moving(case), ["value", *case.dist.parameters]
    each = [filled(case, i, (n,)) if i in free or names[i] == "n" else a
            for i, a in enumerate(together)]  # fmt: skip
    return together, [together[0], *each[1:]]


def arguments_of_size(name, case, n):
    """Arguments of which a value has that size, or is a series of that length."""
    found = []
    if name in SIZED and (args := SIZED[name](n)) is not None:
        found.append(list(args))
    if case.dist.sequential and name not in ANOTHER_LENGTH:
        start = np.asarray(case.values[0], dtype=float)
        if n >= SHORTEST.get(name, 1):
            found.append([np.resize(start, (n, *start.shape[1:])), *case.params[0]])
    return found


def lengths(name):
    """All lengths for a distribution's first example, some for those of its other forms."""
    kind = type(CASES[name].dist)
    first = next(other for other, case in CASES.items() if type(case.dist) is kind)
    return LENGTHS if name == first else SOME


def models(name, case, n):
    """Models as lists of quantities, of which some arguments vary and the rest is known.

    A value with known parameters, and a known value, at every length; at some, all together, and
    one argument that varies, each in its turn.
    """
    free = tuple(moving(case))
    value, params = tuple(i for i in free if i == 0), tuple(i for i in free if i)
    together, each = arguments_of_length(case, n)
    sized = arguments_of_size(name, case, n)
    alone, joint = [(args, value) for args in sized], [(args, params) for args in sized]
    if case.dist.event_ndim == 0:
        mixed = list(together)
        for i in params[n % 2 :: 2]:  # n of every second parameter
            mixed[i] = np.stack([together[i]] * n)
        joint += [(together, value), (mixed, params)]
    if n in SOME:
        joint.append((each, free[n % len(free) :][:1] if free else ()))
    if n in SOME or not joint:
        joint.append((each, free))
    models = [[Part(case, *kind) for kind in kinds if kind[1]] for kinds in (*zip(alone), joint)]
    if value and is_noncentered(case.dist) and (n in SOME or case.dist.sequential):
        models += [[Part(case, args, free, noncentered=True)] for args in sized]
    return [parts for parts in models if parts]


def is_noncentered(dist):
    """Whether it has a non-centred form."""
    return type(dist).noncentered is not Distribution.noncentered


class Part:
    """A quantity with a distribution, and its log density by the formula.

    A parameter that varies moves about that of the example, in the directions it has (``tangent``).
    A value that varies is a parameter of the model, in the set where the distribution has it.
    """

    def __init__(self, case, args, varying, noncentered=False):
        self.dist, self.varying, self.noncentered = case.dist, varying, noncentered
        self.args = [np.asarray(a, dtype=float) for a in args]
        self.value = self.args[0]
        self.batch = self.value.shape[: self.value.ndim - self.dist.event_ndim]
        self.maps = {i: self._map(self.args[i], case.tangent.get(i)) for i in varying if i}
        self.support = self._prior(self.args[1:]).support()
        self.free_shape = self.support.free_shape(self.value.shape) if 0 in varying else (0,)
        self.sizes = [len(m.T) for m in self.maps.values()]
        self.dim = sum(self.sizes) + int(np.prod(self.free_shape))
        self.weights = np.cos(np.arange(self.value.size)).reshape(self.value.shape)

    def _map(self, a, tangent):
        """Matrix from unconstrained numbers to changes of a parameter."""
        if tangent is None:
            return np.diag(_SPREAD * np.maximum(np.abs(a), 0.1).reshape(-1))
        return _SPREAD * np.stack([tangent(e.reshape(a.shape)).ravel() for e in np.eye(a.size)]).T

    def _with(self, params):
        """Return the distribution with other parameters."""
        dist = copy.copy(self.dist)
        dist.args = dict(zip(dist.args, params, strict=True))
        return dist

    def _prior(self, params):
        """Return the distribution of the parameter that the sampler moves."""
        dist = self._with(params)
        return dist.base() if self.noncentered else dist

    def declare(self, names, name):
        """Put the quantity and its parameters into the body of a model."""
        params = list(self.args[1:])
        for i, matrix in self.maps.items():
            a = self.args[i]
            u = names[f"{name}_{i}"] = param(shape=a.shape)
            scaled = not matrix[~np.eye(a.size, dtype=bool)].any()
            change = np.diag(matrix).reshape(a.shape) * u if scaled else matrix @ np.ravel(u)
            params[i - 1] = a + (change if scaled else np.reshape(change, a.shape))
        if 0 in self.varying:
            dist, shape = self._with(params), self.value.shape
            y = names[name] = param(dist, shape=shape, noncentered=self.noncentered)
            if self.noncentered:
                names[f"{name}_weighed"] = potential(np.sum(self.weights * y))
        else:
            dims = tuple(f"{name}_axis{i}" for i in range(self.value.ndim))
            names[name] = observed(self._with(params), dims=dims)

    def start(self, noise):
        """Unconstrained rows of numbers near the example, by noise between -1 and 1."""
        x, split = np.array(noise), sum(self.sizes)
        if 0 in self.varying and not self.noncentered:
            with np.errstate(all="ignore"):
                centre = self.support.inverse(self.value, *map(np.asarray, self.support.bounds))
            x[:, split:] = np.reshape(centre, -1) + 0.05 * x[:, split:]
        return x

    def log_density(self, x):
        """Log density by the formula, of unconstrained rows: (rows, dim) -> (rows,)."""
        params, used = list(self.args[1:]), 0
        for i, matrix in self.maps.items():
            a, u = self.args[i], x[:, used : used + len(matrix.T)]
            ndim = list(self.dist.parameters.values())[i - 1].event_ndim
            ones = (1,) * (len(self.batch) - (a.ndim - ndim))
            params[i - 1] = (a.reshape(-1) + u @ matrix.T).reshape(len(x), *ones, *a.shape)
            used += len(matrix.T)
        if 0 not in self.varying:
            logp = self.dist.log_density(np, self.value, *params)
            return np.broadcast_to(logp, (len(x), *self.batch)).reshape(len(x), -1).sum(axis=1)
        prior, u = self._prior(params), x[:, used:].reshape(len(x), *self.free_shape)
        support, weighed = prior.support(), 0.0
        bounds = [np.asarray(b) for b in support.bounds]
        y = support.forward(np, u, *bounds)
        log_det = np.reshape(support.log_det(np, u, *bounds), (len(x), -1)).sum(axis=1)
        if self.noncentered:
            full = self.weights * self.dist.noncentered(np, y, *params)
            weighed = np.sum(full.reshape(len(x), -1), axis=1)
            params = [np.asarray(a, dtype=float) for a in prior.args.values()]
        logp = np.reshape(prior.log_density(np, y, *params), (len(x), -1)).sum(axis=1)
        return log_det + weighed + logp


def assert_swept(check, parts, n):
    """Compare a model of some quantities with their formulas."""

    def fill(names):
        for k, part in enumerate(parts):
            part.declare(names, f"y{k}")

    seen = {f"y{k}": part.value for k, part in enumerate(parts) if 0 not in part.varying}
    density = as_posterior(types.new_class("Swept", (Model,), {}, fill)(**seen))
    cuts = np.cumsum([part.dim for part in parts])[:-1]
    noise = np.split(np.random.default_rng(3).uniform(-1, 1, (POINTS, density.dim)), cuts, axis=1)
    x = np.hstack([part.start(u) for part, u in zip(parts, noise, strict=True)])

    def by_formulas(x):
        pieces = np.split(x, cuts, axis=1)
        with np.errstate(all="ignore"):
            return sum(part.log_density(u) for part, u in zip(parts, pieces, strict=True))

    varying = " and ".join(str(part.varying) for part in parts)
    check(density, by_formulas, x, f"length {n}, of {parts[0].dist.name} vary {varying}")


def sweep(check, name, n):
    """Sweep a distribution at one length."""
    for parts in models(name, CASES[name], n):
        assert_swept(check, parts, n)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name, assert_gradient):
    for n in (2, 8):
        sweep(assert_gradient, name, n)


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_gradients_at_every_length(name, assert_gradient):
    for n in sorted(set(lengths(name)) - {2, 8}):
        sweep(assert_gradient, name, n)


def assert_engines_agree(check, name, n):
    for parts in models(name, CASES[name], n):
        # Of the longest formula several together are more than machine code is made of.
        for some in [[p] for p in parts] if name == "BetaBinomial" else [parts]:
            assert_swept(check, some, n)


FIRST = {type(case.dist): name for name, case in reversed(CASES.items())}.values()


@pytest.mark.parametrize("name", sorted(FIRST))
def test_engines_agree(name, assert_engines):
    """The first example of each distribution, at one length in turn."""
    assert_engines_agree(assert_engines, name, FEW[list(CASES).index(name) % len(FEW)])


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_engines_agree_at_lengths(name, assert_engines):
    """Every example, at a length in turn: another one than above."""
    assert_engines_agree(assert_engines, name, FEW[(list(CASES).index(name) + 1) % len(FEW)])


def test_every_size_is_swept():
    """Sizes of parameters with axes come from an example of any size; series have any length."""
    have_sizes = {name for name, case in CASES.items() if any(case.dist.event_ndims)}
    series = {name for name, case in CASES.items() if case.dist.sequential}
    assert set(SIZED) - have_sizes == set()
    assert have_sizes - set(SIZED) - series == OF_ONE_SIZE


def test_the_gradient_of_another_chain_would_be_found(assert_gradient, monkeypatch):
    right = NumpyProgram.__call__

    def elsewhere(self, x):
        logp, *slopes = right(self, x)
        return logp, *(np.roll(s, x.shape[1] == 8, axis=0) for s in slopes)

    monkeypatch.setattr(NumpyProgram, "__call__", elsewhere)
    found = []
    for n in LENGTHS:
        try:
            sweep(assert_gradient, "AR1", n)
        except AssertionError as error:
            found.append(str(error).partition(":")[0])
    of_eight = (5, "(0, 1, 2, 3)"), (8, "(0,)")
    assert found == [f"gradient, 2 chains, length {n}, of AR1 vary {v}" for n, v in of_eight]


def test_a_wrong_derivative_would_be_found_at_every_length(assert_gradient, monkeypatch):
    right = StudentT.log_kernel

    def wrong(self, xp, value, *params):
        kernel = right(self, xp, value, *params)
        return 1.001 * kernel - 0.001 * getval(kernel)

    monkeypatch.setattr(StudentT, "log_kernel", wrong)
    for n in LENGTHS:
        with pytest.raises(AssertionError, match=f"gradient, 1 chains, length {n},"):
            sweep(assert_gradient, "StudentT", n)
