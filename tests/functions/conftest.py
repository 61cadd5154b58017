"""Derivatives of densities that go through solvers, by differences."""

import numpy as np
import pytest

from probmodel.density import as_posterior


@pytest.fixture
def assert_derivatives():
    """Check gradient and Hessian-vector product of a model, and that chains do not meet."""

    def check(model, x, tolerance=1e-6, second=1e-5):
        density = as_posterior(model)
        logp, grad = density(x)
        assert np.isfinite(logp).all()
        steps = 1e-5 * np.eye(density.dim)
        numeric = np.stack(
            [(density.log_density(x + h) - density.log_density(x - h)) / 2e-5 for h in steps], 1
        )
        np.testing.assert_allclose(grad, numeric, atol=tolerance * np.abs(grad).max())
        np.testing.assert_allclose(density.log_density(x), logp, rtol=1e-12)
        alone = [density(row[None]) for row in x]
        np.testing.assert_allclose(np.concatenate([a.logp for a in alone]), logp, rtol=1e-10)
        np.testing.assert_allclose(
            np.concatenate([a.grad for a in alone]), grad, atol=1e-9 * np.abs(grad).max()
        )
        if second is not None:
            v = np.random.default_rng(3).standard_normal(x.shape)
            product = density.hvp(x, v)
            numeric = (density(x + 1e-5 * v).grad - density(x - 1e-5 * v).grad) / 2e-5
            np.testing.assert_allclose(product, numeric, atol=second * np.abs(product).max())

    return check
