"""Hidden Markov models in models: forms that say the same, shapes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, check_model, observed, param
from probmodel import distributions as d
from probmodel.constraints import Ordered
from probmodel.density import as_posterior
from probmodel.errors import DataError, ModelError, ShapeError

START = np.array([0.5, 0.5])
ALPHA = np.array([[9.0, 1.0], [2.0, 8.0]])
Y = np.concatenate([np.linspace(-3, -1, 20), np.linspace(1, 3, 21)])


class Stacked(Model):
    change = param(d.Dirichlet(ALPHA))
    mean = param(d.Normal(0, 5), shape=2, constraint=Ordered())
    sigma = param(d.HalfNormal(2))
    y = observed(d.HiddenMarkov(START, change, d.Normal(mean, sigma)), dims="time")


class Listed(Model):
    change = param(d.Dirichlet(ALPHA))
    mean = param(d.Normal(0, 5), shape=2, constraint=Ordered())
    sigma = param(d.HalfNormal(2))
    y = observed(
        d.HiddenMarkov(START, change, [d.Normal(mean[0], sigma), d.Normal(mean[1], sigma)]),
        dims="time",
    )


def test_one_distribution_with_an_axis_says_the_same_as_a_list():
    stacked, listed = as_posterior(Stacked(y=Y)), as_posterior(Listed(y=Y))
    x = np.random.default_rng(0).standard_normal((4, stacked.dim))
    one, other = stacked(x), listed(x)
    np.testing.assert_allclose(one.logp, other.logp, rtol=1e-13)
    np.testing.assert_allclose(one.grad, other.grad, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(stacked.hessian(x), listed.hessian(x), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", [Stacked, Listed])
def test_all_checks_pass(kind):
    assert check_model(kind(y=Y)).ok


def test_equal_rows_make_a_mixture():
    w, loc, scale = np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 1.5])
    hidden = d.HiddenMarkov(w, np.stack([w, w]), d.Normal(loc, scale))
    mixture = d.Mixture(w, d.Normal(loc, scale))
    actual = hidden.log_kernel(np, Y, loc[None], scale[None], w, np.stack([w, w]))
    expected = mixture.log_kernel(np, Y, loc, scale, w).sum()
    assert actual == pytest.approx(expected, rel=1e-12)


def test_counts_have_all_their_constants():
    w, rate = np.array([0.3, 0.7]), np.array([[1.5, 6.0]])
    y = np.array([0, 3, 7, 2])
    dist = d.HiddenMarkov(w, np.stack([w, w]), d.Poisson(rate[0]))
    expected = np.log(stats.poisson(rate).pmf(y[:, None]) @ w).sum()
    actual = dist.log_density(np, y, rate, w, np.stack([w, w]))
    assert actual == pytest.approx(expected, rel=1e-12)


def test_vectors_at_each_time():
    class Tracks(Model):
        change = param(d.Dirichlet(ALPHA))
        center = param(d.Normal(0, 5), shape=(2, 3))
        y = observed(
            d.HiddenMarkov(START, change, d.MvNormal(center, covariance=np.eye(3))),
            dims=("time", "axis"),
        )

    y = np.random.default_rng(1).standard_normal((15, 3))
    model = Tracks(y=y)
    assert check_model(model).ok
    density = as_posterior(model)
    x = np.random.default_rng(2).standard_normal((2, density.dim))
    values = density.constrain(x)
    dist = d.HiddenMarkov(START, ALPHA / 10, [d.Normal(0, 1)] * 2)
    for i in range(2):
        logs = stats.norm(values["center"][i]).logpdf(y[:, None]).sum(axis=-1)
        args = [np.array([0.0]), np.array([1.0])] * 2
        # A normal emission at zero with these means has the log densities that are wanted.
        shift = np.sqrt(-2.0 * (logs - logs.max()))
        args[0], args[2] = shift[:, 0], shift[:, 1]
        actual = dist.log_kernel(np, np.zeros(15), *args, START, values["change"][i])
        expected = actual + 15 * (logs.max() + 0.5 * np.log(2 * np.pi))
        prior = stats.norm(0, 5).logpdf(values["center"][i]).sum()
        prior += sum(
            stats.dirichlet(a).logpdf(p) for a, p in zip(ALPHA, values["change"][i], strict=True)
        )
        jacobian = np.log(values["change"][i]).sum() + 2 * 0.5 * np.log(2)
        assert density.log_density(x)[i] == pytest.approx(expected + prior + jacobian)


def test_several_series_at_once():
    class Panel(Model):
        change = param(d.Dirichlet(ALPHA))
        mean = param(d.Normal(0, 5), shape=2)
        y = observed(d.HiddenMarkov(START, change, d.Normal(mean, 1.0)), dims=("unit", "time"))

    class One(Model):
        change = param(d.Dirichlet(ALPHA))
        mean = param(d.Normal(0, 5), shape=2)
        y = observed(d.HiddenMarkov(START, change, d.Normal(mean, 1.0)), dims="time")

    y = np.random.default_rng(3).standard_normal((3, 12))
    both = as_posterior(Panel(y=y))
    x = np.random.default_rng(4).standard_normal((2, both.dim))
    alone = [as_posterior(One(y=row))(x) for row in y]
    prior = as_posterior(One(y=y[0, :1]))(x)
    # Three series count the prior once; one value has a likelihood of its own.
    first = [
        np.logaddexp.reduce(np.log(START) + stats.norm(m).logpdf(y[0, 0]))
        for m in both.constrain(x)["mean"]
    ]
    expected = sum(a.logp for a in alone) - 2 * (prior.logp - first)
    np.testing.assert_allclose(both(x).logp, expected, rtol=1e-12)


def test_draws_follow_the_chain():
    loc, scale = np.array([[0.0, 100.0]]), np.array([[1.0, 1.0]])
    change = np.array([[0.9, 0.1], [0.3, 0.7]])
    dist = d.HiddenMarkov(START, change, d.Normal(loc[0], scale[0]))
    draws = dist.sample(np.random.default_rng(5), (4000, 6), loc, scale, START, change)
    states = (draws > 50).astype(int)
    assert draws.shape == (4000, 6)
    for i in range(2):
        follows = states[:, 1:][states[:, :-1] == i]
        error = np.sqrt(change[i, 1] * (1 - change[i, 1]) / len(follows))
        assert abs(follows.mean() - change[i, 1]) < 5 * error
    assert abs(states[:, 0].mean() - 0.5) < 5 * 0.5 / np.sqrt(4000)


def bound(initial=START, change=ALPHA / 10, mean=2, y=Y):
    class Bad(Model):
        loc = param(d.Normal(0, 1), shape=mean)
        y = observed(d.HiddenMarkov(initial, change, d.Normal(loc, 1.0)), dims="time")

    return Bad(y=y)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"initial": [0.5, 0.6]}, ModelError, "HiddenMarkov's initial must be simplex"),
        ({"change": ALPHA}, ModelError, "transition must be a row-stochastic matrix"),
        ({"change": START}, ShapeError, "transition must be a matrix"),
        ({"change": np.ones((3, 2)) / 2}, ShapeError, r"transition of shape \(3, 2\).*square"),
        ({"initial": np.ones(3) / 3}, ShapeError, r"initial of shape \(3,\)"),
        ({"change": np.full((7, 2, 2), 0.5)}, ShapeError, "change with time .* functions.scan"),
        ({"mean": 3}, ShapeError, r"emission.loc of shape \(1, 3\).*transition of shape \(2, 2\)"),
        ({"mean": (7, 2)}, ShapeError, r"emission.loc of shape \(7, 2\)"),
    ],
)
def test_wrong_probabilities_and_shapes_are_named(changed, error, message):
    with pytest.raises(error, match=message):
        bound(**changed)


def test_emissions_are_checked():
    with pytest.raises(ModelError, match=r"emission\[1\] is float"):
        d.HiddenMarkov(START, ALPHA / 10, [d.Normal(0, 1), 1.0])
    with pytest.raises(ModelError, match=r"emission\[1\], Poisson, has discrete"):
        d.HiddenMarkov(START, ALPHA / 10, [d.Normal(0, 1), d.Poisson(1.0)])
    with pytest.raises(ModelError, match="of the emission Hurdle and Gamma only one has values"):
        d.HiddenMarkov(START, ALPHA / 10, [d.Hurdle(0.9, d.Gamma(1, 1)), d.Gamma(2, 1)])

    class Waits(Model):
        rate = param(d.HalfNormal(1), shape=2)
        y = observed(d.HiddenMarkov(START, ALPHA / 10, d.Exponential(rate)), dims="time")

    with pytest.raises(DataError, match="HiddenMarkov"):
        Waits(y=-np.ones(4))


def test_a_length_that_is_not_given_is_asked_for():
    class Unknown(Model):
        loc = param(d.Normal(0, 1), shape=2)
        y = observed(d.HiddenMarkov(START, ALPHA / 10, d.Normal(loc, 1.0)))

    with pytest.raises(ShapeError, match="size of a HiddenMarkov does not follow"):
        Unknown()


def test_a_length_follows_from_parameters_that_differ_in_time():
    class Known(Model):
        loc = param(d.Normal(0, 1), shape=(7, 2))
        y = observed(d.HiddenMarkov(START, ALPHA / 10, d.Normal(loc, 1.0)))

    class Vectors(Model):
        loc = param(d.Normal(0, 1), shape=(7, 1, 3))
        spread = np.stack([np.eye(3), 2.0 * np.eye(3)])
        y = observed(d.HiddenMarkov(START, ALPHA / 10, d.MvNormal(loc, covariance=spread)))

    assert "(7)\n" in f"{Known()}\n".split("observed")[1]
    assert "(7, 3)\n" in f"{Vectors()}\n".split("observed")[1]


def test_printing_shows_the_chain_and_the_emission():
    assert "HiddenMarkov([0.5, 0.5], change, Normal(mean, sigma))" in str(Stacked(y=Y))
    assert "[Normal(mean[0], sigma), Normal(mean[1], sigma)])" in str(Listed(y=Y))
