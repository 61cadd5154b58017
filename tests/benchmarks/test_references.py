"""Posterior means from elsewhere agree with closed forms, and so do distances from them."""

import numpy as np
import pytest
import references

from probmodel import infer
from probmodel.density import as_posterior
from probmodel.distributions import Normal
from probmodel.model import Model, data, observed, param

X = np.random.default_rng(5).standard_normal((30, 2)) * [1.0, 20.0]
Y = X @ [1.0, -0.1] + np.random.default_rng(6).standard_normal(30)


class Conjugate(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(Normal(X @ beta, 1), dims="obs")


@pytest.fixture(scope="module")
def density():
    return as_posterior(Conjugate(X=X, y=Y))


def exact():
    return np.linalg.solve(X.T @ X + np.eye(2), X.T @ Y)


def test_importance_sampling_finds_the_mean_of_a_conjugate_model(density):
    known = references.importance(density, draws=20_000)
    assert list(known.names) == ["beta[0]", "beta[1]"]
    assert np.all(np.abs(known.mean - exact()) < 4.5 * known.error)
    spread = np.sqrt(np.diagonal(np.linalg.inv(X.T @ X + np.eye(2))))
    # Draws of another law with the same mean and nearly the same variance are worth about as many.
    assert np.all(known.error < 1.2 * spread / np.sqrt(20_000))


def test_a_run_is_near_its_reference_and_far_from_a_wrong_one(density):
    run = infer(density, "fisher_mala", chains=4, warmup=300, draws=500, seed=7, quiet=True)
    names, draws = references.flat(run)
    assert draws.shape == (4, 500, 2)
    error = references.standard_error(draws)
    right = references.Reference(["beta[1]", "beta[0]"], exact()[::-1], np.zeros(2))
    assert references.distance(names, draws, right) < 4.5
    wrong = right._replace(mean=right.mean + np.array([0.0, 10.0 * error[0]]))
    assert references.distance(names, draws, wrong) > 5.5


def test_published_means_are_of_the_eight_schools():
    known = references.reference(None, "published")
    assert len(known.names) == len(known.mean) == len(known.error) == 10
    assert known.mean[known.names.index("theta[0]")] == pytest.approx(6.1505)
