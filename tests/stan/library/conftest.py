"""Checks of functions that take numbers and symbols."""

import numpy as np
import pytest

from probmodel import Model, param, potential
from probmodel.density import as_posterior


def weights_of(shape):
    return np.cos(1.0 + np.arange(np.prod(shape, dtype=int))).reshape(shape)


def on_symbols(function, args, varied):
    """Density of a model whose potential is a weighted sum of the function, and where it is."""
    sizes = [np.size(args[i]) for i in varied]
    ends = np.cumsum([0, *sizes])
    start = np.concatenate([np.ravel(args[i]) for i in varied]).astype(float)
    weights = weights_of(np.shape(function(*args)))

    def filled(x):
        full = list(args)
        for i, a, b in zip(varied, ends, ends[1:], strict=False):
            full[i] = x[a:b].reshape(np.shape(args[i])) if np.ndim(args[i]) else x[int(a)]
        return full

    class Made(Model):
        x = param(shape=len(start))
        term = potential(np.sum(weights * function(*filled(x))))

    def of_numbers(x):
        return np.sum(weights * function(*filled(x)))

    return as_posterior(Made()), start, of_numbers


@pytest.fixture(scope="session")
def assert_symbols():
    """Compare a function of symbols, and its gradient, with that of numbers."""

    def check(function, args, varied=None, tolerance=1e-6, second=False):
        args = [np.asarray(a) if np.ndim(a) else a for a in args]
        if varied is None:
            varied = range(len(args))
        density, x, of_numbers = on_symbols(function, args, tuple(varied))
        steps = 1e-6 * np.maximum(1.0, np.abs(x)) * np.eye(len(x))
        numeric = [(of_numbers(x + h) - of_numbers(x - h)) / (2.0 * h.sum()) for h in steps]
        logp, grad = density(x[None])
        np.testing.assert_allclose(logp[0], of_numbers(x), rtol=1e-11, atol=1e-13)
        scale = max(1.0, np.max(np.abs(numeric)))
        np.testing.assert_allclose(grad[0], numeric, rtol=tolerance, atol=tolerance * scale)
        if second:
            v = 1e-5 * weights_of(x.shape)
            numeric = (density((x + v)[None]).grad - density((x - v)[None]).grad) / 2.0
            product = density.hvp(x[None], v[None])
            scale = max(1e-5, np.max(np.abs(numeric)))
            np.testing.assert_allclose(product, numeric, atol=1e-5 * scale)

    return check


@pytest.fixture(scope="session")
def density_of():
    """Return the density of a model of a function of symbols, and where it is taken."""
    return lambda function, args: on_symbols(function, args, tuple(range(len(args))))[:2]
