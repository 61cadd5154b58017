"""What can swap or change sign without any change of the posterior is named, and nothing else."""

import json

import numpy as np
import pytest

from probmodel import Model, data, infer, observed, param, potential
from probmodel.constraints import Ordered
from probmodel.density import LogDensity, as_posterior
from probmodel.distributions import (
    BernoulliLogit,
    Beta,
    Dirichlet,
    HalfNormal,
    HiddenMarkov,
    Laplace,
    Mixture,
    Normal,
    StudentT,
)
from probmodel.functions import logsumexp
from probmodel.results.symmetries import symmetry

RNG = np.random.default_rng(11)


class Means(Model):
    mu = param(Normal(0, 5), shape=3)
    y = observed(Mixture([0.3, 0.3, 0.4], Normal(mu, 1)), dims="obs")


class Components(Model):
    w = param(Dirichlet(np.ones(3)))
    mu = param(Normal(0, 5), dims="component")
    sigma = param(HalfNormal(2), dims="component")
    other = param(Normal(0, 1), shape=3)
    slope = param(Normal(other[0], 1))
    y = observed(Mixture(w, Normal(mu + slope, sigma)), dims="obs")


class Regressions(Model):
    x = data(dims=("obs", "feature"))
    w = param(Dirichlet(np.ones(2)))
    a = param(Normal(0, 2), shape=2)
    b = param(Normal(0, 2), shape=2)
    c = param(Normal(0, 2), shape=2)
    d = param(Normal(0, 2), shape=2)
    e = param(Normal(0, 2), shape=2)
    sigma = param(HalfNormal(2), shape=2)
    nu = param(HalfNormal(9), shape=2)
    line = a + b * x[:, :1] + c * x[:, 1:2] + d * x[:, 2:3] + e * x[:, 3:]
    y = observed(Mixture(w, StudentT(nu, line, sigma)), dims="obs")


class Prior(Model):
    mu = param(Normal(np.array([0.0, 0.1]), 5))
    y = observed(Mixture([0.5, 0.5], Normal(mu, 1)), dims="obs")


class OrderedMeans(Model):
    mu = param(Normal(0, 5), shape=2, constraint=Ordered())
    y = observed(Mixture([0.5, 0.5], Normal(mu, 1)), dims="obs")


class Classes(Model):
    answers = data(dims=("person", "item"))
    share = param(Dirichlet(np.ones(2)))
    right = param(Beta(1, 1), shape=(2, 4))
    each = np.log(share) + answers @ np.log(right).T + (1 - answers) @ np.log1p(-right).T
    likelihood = potential(np.sum(logsumexp(each, axis=1)))


class States(Model):
    start = param(Dirichlet(np.ones(3)))
    moves = param(Dirichlet(np.ones((3, 3))))
    level = param(Normal(0, 5), shape=3)
    y = observed(HiddenMarkov(start, moves, Normal(level, 1)), dims="time")


class Factor(Model):
    loading = param(Normal(0, 1), dims="item")
    noise = param(HalfNormal(1), dims="item")
    score = param(Normal(0, 1), dims="person")
    y = observed(Normal(score[:, None] * loading, noise), dims=("person", "item"))


class BoundFactor(Model):
    loading = param(Normal(0, 1), dims="item", lower=np.array([0, -np.inf, -np.inf, -np.inf]))
    score = param(Normal(0, 1), dims="person")
    y = observed(Normal(score[:, None] * loading, 1), dims=("person", "item"))


class Factors(Model):
    loading = param(Normal(0, np.array([1.0, 2.0])), dims=("item", "factor"))
    score = param(Normal(0, 1), dims=("person", "factor"))
    y = observed(Normal(score @ loading.T, 1), dims=("person", "item"))


class Rotated(Model):
    loading = param(Laplace(0, 1), dims=("item", "factor"))
    score = param(Normal(0, 1), dims=("person", "factor"))
    y = observed(Normal(score @ loading.T, 1), dims=("person", "item"))


class Alike(Model):
    mu = param(Normal(np.array([0.0, 0.0, 0.1, 0.0]), 5))
    y = observed(Mixture([0.25, 0.25, 0.25, 0.25], Normal(mu, 1)), dims="obs")


class Answers(Model):
    ability = param(Normal(0, 1), dims="person")
    discrimination = param(Normal(0, 1), dims="item")
    difficulty = param(Normal(0, 1), dims="item")
    y = observed(
        BernoulliLogit(discrimination * (ability[:, None] - difficulty)), dims=("person", "item")
    )


class Regression(Model):
    x = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(Normal(x @ beta, 1), dims="obs")


VALUES = RNG.normal(size=7)
TABLE = RNG.normal(size=(5, 4))
TRUTHS = RNG.integers(0, 2, size=(5, 4))


def sampled(model, chains=4, length=100):
    """Draws close to a point: name -> (chains, draws, *shape)."""
    posterior = as_posterior(model)
    x = RNG.normal(size=posterior.dim) + 0.2 * RNG.normal(size=(chains * length, posterior.dim))
    values = posterior.constrain(x)
    return posterior, {k: v.reshape(chains, length, *v.shape[1:]) for k, v in values.items()}


def asked(model, *names):
    """What is said of models whose chains disagree about ``names``."""
    return symmetry(*sampled(model), list(names))[0]


@pytest.mark.parametrize(
    ("model", "name", "expected"),
    [
        (Means(y=VALUES), "mu[0]", "some elements of mu swap: labels"),
        (Alike(y=VALUES), "mu[0]", "some elements of mu swap: labels"),
        (Components(y=VALUES, coords={"component": list("abc")}), "mu[a]",
         "elements of w, mu and sigma swap together: labels"),
        (Regressions(x=TABLE, y=VALUES[:5]), "a[0]",
         "elements of w, a, b, c, d, e, sigma and nu swap together"),
        (Classes(answers=TRUTHS), "right[0, 1]",
         "elements of share and rows of right swap together"),
        (States(y=VALUES), "level[2]",
         "elements of start and level, rows of moves and columns of moves swap together"),
        (Factor(y=TABLE), "loading[0]", "loading and score change sign together: signs"),
        (Factors(y=TABLE, coords={"factor": [1, 2]}), "score[0, 1]",
         "one of the columns of loading and score change sign together"),
        (Answers(y=TRUTHS), "difficulty[1]",
         "ability, discrimination and difficulty change sign together"),
    ],
)  # fmt: skip
def test_what_leaves_the_posterior_as_it_is(model, name, expected):
    assert f"The posterior is the same when {expected}" in asked(model, name)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Prior(y=VALUES), "mu[0]"),
        (OrderedMeans(y=VALUES), "mu[0]"),
        (BoundFactor(y=TABLE), "loading[1]"),
        (Regression(x=TABLE, y=VALUES[:5]), "beta[0]"),
        (Components(y=VALUES, coords={"component": list("abc")}), "slope"),
    ],
)
def test_what_does_not(model, name):
    """Of components that swap nothing is said where chains disagree about something else."""
    assert asked(model, name) == ""


def moved(value, axis, order=None, signs=None):
    """Put the elements of a chain, (draws, *shape), in an order and change their signs."""
    if order is not None:
        value = np.take(value, order, axis=axis)
    return (
        value if signs is None else value * np.reshape(signs, (-1, *(1,) * (value.ndim - axis - 1)))
    )


ROTATED = Rotated(y=TABLE, coords={"factor": [1, 2]})
FACTORS = Factors(y=TABLE, coords={"factor": [1, 2]})
STATES = {"start": [1], "moves": [1, 2], "level": [1]}
COLUMNS = {"loading": [2], "score": [2]}
WHOLE = {"loading": [1], "score": [1]}


@pytest.mark.parametrize(
    ("model", "axes", "changes", "said"),
    [
        (Means(y=VALUES), {"mu": [1]}, [{"order": [1, 0, 2]}], ["swap"]),
        (Alike(y=VALUES), {"mu": [1]}, [{"order": [3, 1, 2, 0]}, {"order": [1, 3, 2, 0]}],
         ["swap"]),
        (States(y=VALUES), STATES, [{"order": [1, 2, 0]}, {"order": [2, 1, 0]}], ["swap"]),
        (Factor(y=TABLE), WHOLE, [{"signs": [-1]}], ["sign"]),
        (FACTORS, COLUMNS, [{"signs": [-1, 1]}, {"signs": [-1, -1]}], ["sign"]),
        (ROTATED, COLUMNS, [{"order": [1, 0]}], ["swap"]),
        (ROTATED, COLUMNS, [{"signs": [1, -1]}], ["sign"]),
        (ROTATED, COLUMNS, [{"order": [1, 0], "signs": [-1, 1]}, {"signs": [1, -1]}],
         ["swap", "sign"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("halves", [False, True])
def test_chains_that_differ_in_nothing_else(model, axes, changes, said, halves):
    """Whole chains have other labels or signs than the first, or only the second halves."""
    posterior, draws = sampled(model)
    start = 50 if halves else 0
    for chain, change in enumerate(changes, 1):
        for name, along in axes.items():
            for axis in along:
                draws[name][chain, start:] = moved(draws[name][chain, start:], axis, **change)
    text, explained = symmetry(posterior, draws, list(axes))
    assert text.endswith("Chains differ in nothing else.")
    assert explained
    assert [word for word in ("swap", "sign") if f" {word}" in text.replace("signs", "")] == said


@pytest.mark.parametrize(
    ("model", "name", "others"),
    [
        (Means(y=VALUES), "mu", "mu"),
        (Components(y=VALUES, coords={"component": list("abc")}), "other", "other"),
        (Factor(y=TABLE), "noise", "noise"),
        (Factor(y=TABLE), "score", "score"),
        (Alike(y=VALUES), "mu", "mu"),
    ],
)
def test_chains_that_differ_in_more(model, name, others):
    """One chain has other labels or signs, and another has other values: no symmetry's doing."""
    posterior, draws = sampled(model)
    for swapping in ("mu", "sigma", "w"):
        if swapping in draws:
            draws[swapping][1, :, :2] = draws[swapping][1][:, [1, 0]]
    for signed in ("loading", "score"):
        if signed in draws:
            draws[signed][1] *= -1.0
    draws[name][2] += 1.5
    text, explained = symmetry(posterior, draws, ["mu", "loading", "score", name])
    assert text.endswith(f"Chains differ in more, as in {others}")
    assert not explained
    assert "The posterior is the same when" in text


def test_variables_that_were_not_kept_and_densities_without_a_model():
    posterior = as_posterior(Means(y=VALUES))
    assert symmetry(posterior, {}, ["mu[0]"]) == ("", False)
    plain = LogDensity.from_function(lambda x: -np.sum((x**2 - 9.0) ** 2, axis=1), dim=2)
    (name,) = [v.name for v in plain.variables]
    assert symmetry(plain, {name: np.ones((4, 6, 2))}, [f"{name}[0]"]) == ("", False)


def test_warnings_say_it_in_place_of_longer_runs():
    y = np.concatenate([VALUES - 10, VALUES + 10])

    class Far(Model):
        mu = param(Normal(0, 10), shape=2)
        y = observed(Mixture([0.5, 0.5], Normal(mu, 1)), dims="obs")

    result = infer(Far(y=y), draws=300, chains=4, seed=1, quiet=True, inits=[
        {"mu": [-10, 10]}, {"mu": [-10, 10]}, {"mu": [10, -10]}, {"mu": [10, -10]}
    ])  # fmt: skip
    found = {f["kind"]: f["message"] for f in json.loads(result.attrs["warnings"])}
    assert "The posterior is the same when elements of mu swap" in found["separated_chains"]
    assert found["separated_chains"].endswith("Chains differ in nothing else.")
    assert "the same distribution; see the modes." in found["rhat"]
    assert "uncertain; see the modes." in found["ess_bulk"]
    assert not any("raise" in message for message in found.values())
