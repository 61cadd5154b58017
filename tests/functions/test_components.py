"""Functions for hidden components and states, of symbols and of draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, check_model, data, deterministic, infer, observed, param, potential
from probmodel import distributions as d
from probmodel.constraints import PositiveOrdered
from probmodel.density import as_posterior
from probmodel.errors import ModelError, ShapeError
from probmodel.functions import (
    component_log_densities,
    component_probabilities,
    hmm_log_likelihood,
    logsumexp,
    most_likely_states,
    scan,
    state_probabilities,
)

START = np.array([0.5, 0.5])
ALPHA = np.array([[4.0, 2.0], [1.0, 4.0]])
U = np.random.default_rng(0).exponential(0.5, 9)
V = np.random.default_rng(1).exponential(1.5, 9)


class Drives(Model):
    """Two series that depend on one chain, and what the states were."""

    u = data("time", lower=0)
    v = data("time", lower=0)
    change = param(d.Dirichlet(ALPHA))
    u_rate = param(d.Normal(3, 1), shape=2, constraint=PositiveOrdered())
    v_rate = param(d.Normal(3, 1), shape=2, constraint=PositiveOrdered())
    of_u = component_log_densities(d.Exponential(u_rate), u)
    of_v = component_log_densities([d.Exponential(v_rate[0]), d.Exponential(v_rate[1])], v)
    term = potential(hmm_log_likelihood(of_u + of_v, START, change))
    state = deterministic(state_probabilities(of_u + of_v, START, change))
    path = deterministic(most_likely_states(of_u + of_v, START, change))


def paths(logs, initial, transition):
    """All paths of the states, and the log probability of each with the data."""
    length, states = logs.shape
    every = np.array(list(itertools.product(range(states), repeat=length)))
    moves = np.log(transition)[every[:, :-1], every[:, 1:]].sum(axis=1)
    seen = logs[np.arange(length), every].sum(axis=1)
    return every, np.log(initial)[every[:, 0]] + moves + seen


@pytest.fixture(scope="module")
def drawn():
    density = as_posterior(Drives(u=U, v=V))
    x = 0.5 * np.random.default_rng(2).standard_normal((5, density.dim))
    return density, x, density.constrain(x)


def logs_of(values, i):
    rates = values["u_rate"][i], values["v_rate"][i]
    return sum(
        stats.expon(0, 1 / rate).logpdf(y[:, None]) for rate, y in zip(rates, (U, V), strict=True)
    )


def test_states_of_every_draw_by_enumeration(drawn):
    _, _, values = drawn
    for i in range(5):
        every, logp = paths(logs_of(values, i), START, values["change"][i])
        share = np.exp(logp - np.logaddexp.reduce(logp))
        expected = np.stack([share @ (every == k) for k in range(2)], axis=1)
        np.testing.assert_allclose(values["state"][i], expected, rtol=1e-10)
        np.testing.assert_array_equal(values["path"][i], every[logp.argmax()])


def test_likelihood_of_several_series_and_its_gradient(drawn):
    density, x, values = drawn
    evaluation, h = density(x), 1e-6
    steps = [h * e for e in np.eye(density.dim)]
    slopes = [(density.log_density(x + e) - density.log_density(x - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(evaluation.grad, np.stack(slopes, axis=1), rtol=1e-6, atol=1e-7)
    totals = [
        np.logaddexp.reduce(paths(logs_of(values, i), START, values["change"][i])[1])
        for i in range(5)
    ]
    logs = np.stack([logs_of(values, i) for i in range(5)])
    found = hmm_log_likelihood(logs, START, values["change"])
    np.testing.assert_allclose(found, totals, rtol=1e-12)
    assert check_model(Drives(u=U, v=V)).ok


def test_second_derivatives_go_through(drawn):
    density, x, _ = drawn
    hessian, h = density.hessian(x[:2]), 1e-5
    slopes = [
        (density(x[:2] + h * e).grad - density(x[:2] - h * e).grad) / (2 * h)
        for e in np.eye(density.dim)
    ]
    np.testing.assert_allclose(hessian, np.stack(slopes, axis=1), rtol=1e-5, atol=1e-6)


def test_arrays_give_the_same_as_symbols(drawn):
    _, _, values = drawn
    rates = values["u_rate"][:, None], values["v_rate"][:, None]
    logs = component_log_densities(d.Exponential(rates[0]), U)
    logs = logs + component_log_densities(d.Exponential(rates[1]), V)
    assert logs.shape == (5, 9, 2)
    np.testing.assert_allclose(
        state_probabilities(logs, START, values["change"]), values["state"], rtol=1e-12
    )
    path = most_likely_states(logs, START, values["change"])
    assert path.dtype.kind == "i"
    np.testing.assert_array_equal(path, values["path"])


def test_paths_avoid_impossible_transitions():
    logs = np.log([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.2, 0.8]])
    cannot_return = np.array([[0.5, 0.5], [0.0, 1.0]])
    path = most_likely_states(logs, START, cannot_return)
    every, logp = paths_with_zeros(logs, cannot_return)
    np.testing.assert_array_equal(path, every[logp.argmax()])
    assert np.all(np.diff(path) >= 0)


def paths_with_zeros(logs, transition):
    with np.errstate(divide="ignore"):
        return paths(logs, START, transition)


def test_component_probabilities_are_responsibilities():
    y = np.array([-2.0, 0.1, 3.0])

    class Clusters(Model):
        weight = param(d.Dirichlet([2, 2]))
        mean = param(d.Normal(0, 5), shape=2)
        y = observed(d.Mixture(weight, d.Normal(mean, 1.0)), dims="obs")
        cluster = deterministic(component_probabilities(weight, d.Normal(mean, 1.0), y))

    density = as_posterior(Clusters(y=y))
    values = density.constrain(np.random.default_rng(3).standard_normal((4, density.dim)))
    for w, m, found in zip(values["weight"], values["mean"], values["cluster"], strict=True):
        joint = w * stats.norm(m).pdf(y[:, None])
        np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)


def test_counts_have_all_their_constants():
    y, rates = np.array([0, 2, 7]), [1.5, 6.0]
    logs = component_log_densities(d.Poisson(rates), y)
    np.testing.assert_allclose(logs, stats.poisson(rates).logpmf(y[:, None]), rtol=1e-12)


def test_states_are_saved_with_the_draws():
    result = infer(Drives(u=U, v=V), draws=20, warmup=50, seed=1, quiet=True)
    assert result.posterior["state"].shape[2:] == (9, 2)
    np.testing.assert_allclose(result.posterior["state"].sum(axis=-1), 1.0, rtol=1e-10)
    assert set(np.unique(result.posterior["path"])) <= {0, 1}


def test_printing_names_the_functions():
    text = str(Drives(u=U, v=V))
    assert "of_u = component_log_densities(u, u_rate)" in text
    assert "term = hmm_log_likelihood(of_u + of_v, [0.5, 0.5], change)" in text


def test_wrong_arguments_are_named():
    with pytest.raises(ModelError, match=r"components\[0\] is int"):
        component_log_densities([1, 2], U)

    class Bad(Model):
        u = data("time")
        rate = param(d.HalfNormal(1), shape=2)
        logs = component_log_densities(d.Exponential(rate), u)
        term = potential(hmm_log_likelihood(logs, START, np.ones((2, 3)) / 3))

    with pytest.raises(ShapeError, match=r"square transition matrix .* transition \(2, 3\)"):
        Bad(u=U)


@pytest.mark.parametrize(
    ("initial", "transition", "message"),
    [
        ([0.5, 0.6], np.full((2, 2), 0.5), "initial of NAME must be simplex; .* add up to 1.1"),
        ([1.5, -0.5], np.full((2, 2), 0.5), "initial of NAME must be simplex; an element is -0.5"),
        (START, np.full((2, 2), 0.55), "transition of NAME must be a row-.*; row 0 sums to 1.1"),
    ],
)
@pytest.mark.parametrize("function", [hmm_log_likelihood, state_probabilities, most_likely_states])
def test_data_that_are_no_probabilities_are_refused(function, initial, transition, message):
    class Chain(Model):
        initial = data("state")
        transition = data(("from", "to"))
        level = param(d.Normal(0, 1), dims="state")
        term = deterministic(function(np.zeros((5, 2)) + level, initial, transition))

    Chain(initial=START, transition=np.eye(2))
    message = message.replace("NAME", function.__name__)
    with pytest.raises(ModelError, match=f"deterministic 'term': {message}"):
        Chain(initial=initial, transition=transition)
    with pytest.raises(ModelError, match=message):
        function(np.zeros((5, 2)), initial, transition)


def test_weights_that_are_none_are_refused():
    three, level = [d.Normal(0, 1), d.Normal(1, 1), d.Normal(2, 1)], np.zeros(4)
    for weights, message in (
        ([1.0], "weights of component_probabilities must be 3 numbers; got 1"),
        ([0.5, 0.5], "must be 3 numbers; got 2"),
        ([0.5, 0.4, 0.2], "must be simplex; its elements add up to 1.1"),
    ):
        with pytest.raises(ModelError, match=message):
            component_probabilities(weights, three, level)

        class Given(Model):
            weights = data("k")
            mean = param(d.Normal(0, 1))
            each = deterministic(
                component_probabilities(weights, [*three[:2], d.Normal(mean, 1)], level)
            )

        with pytest.raises(ModelError, match=rf"'each': .*{message}|shapes \(4, 3\), \(2,\)"):
            Given(weights=weights)


@pytest.mark.parametrize("components", [d.Normal(np.arange(3.0), 1), [d.Normal(0, 1)] * 3])
@pytest.mark.parametrize("count", [1, 2])
def test_as_many_weights_as_components(components, count):
    """One weight would have stood for each of them."""
    message = rf"weights of component_probabilities must be 3 numbers; got {count}"
    y = np.zeros(4)
    with pytest.raises(ModelError, match=message):
        component_probabilities(np.full(count, 1.0 / count), components, y)

    class OfParameters(Model):
        share = param(d.Dirichlet(np.ones(count)))
        each = deterministic(component_probabilities(share, components, y))

    class OfNumbers(Model):
        level = param(d.Normal(0, 1))
        each = deterministic(
            component_probabilities(np.full(count, 1.0 / count), components, y + level)
        )

    for model in (OfParameters, OfNumbers):
        with pytest.raises(ModelError, match=rf"'each': {message}|shapes \(4, 3\), \(2,\)"):
            model()


def test_a_number_is_no_weight_of_each_component():
    with pytest.raises(ModelError, match="must be 3 numbers; got a number"):
        component_probabilities(1.0, d.Normal(np.arange(3.0), 1), np.zeros(4))


def test_scan_writes_the_forward_recursion_of_several_series():
    """Which is what is advised for transitions that change with time: here, all paths added up."""
    rng = np.random.default_rng(4)
    logs, moves = rng.normal(size=(3, 5, 2)), rng.dirichlet([1, 1], size=(4, 2))

    class Changing(Model):
        logs = data(("time", "series", "state"))
        moves = data(("step", "from", "to"), lower=0, upper=1)
        tilt = param(d.Normal(0, 1))
        first = logs[0] + tilt * np.array([1.0, 0.0]) + np.log(START)
        forward = scan(
            lambda last, now, move, tilt: now
            + tilt * np.array([1.0, 0.0])
            + logsumexp(last[:, :, None] + np.log(move), axis=1),
            first, logs[1:], moves, args=(tilt,),
        )  # fmt: skip
        term = potential(logsumexp(forward[-1], axis=-1))

    density = as_posterior(Changing(logs=np.swapaxes(logs, 0, 1), moves=moves))
    x = 0.7
    expected = stats.norm.logpdf(x)
    for series in logs + x * np.array([1.0, 0.0]):
        total = 0.0
        for path in itertools.product(range(2), repeat=5):
            steps = [moves[t, a, b] for t, (a, b) in enumerate(itertools.pairwise(path))]
            total += START[path[0]] * np.prod(steps) * np.exp(series[range(5), path].sum())
        expected += np.log(total)
    np.testing.assert_allclose(density.log_density(np.array([[x]])), expected, rtol=1e-12)


def test_transitions_that_change_with_time_are_refused():
    """Not taken for several models of one series, whose log likelihoods would be added up."""

    class Changing(Model):
        logs = data(dims=("time", "state"))
        stay = param(lower=0, upper=1, shape=4)
        rows = np.stack([stay, 1 - stay], axis=-1)
        change = np.stack([rows, 1 - rows], axis=-2)
        term = potential(hmm_log_likelihood(logs, START, change))

    with pytest.raises(ShapeError, match=r"shape \(4, 2, 2\), not one matrix for each series"):
        Changing(logs=np.zeros((5, 2)))

    class Series(Changing):
        logs = data(dims=("series", "time", "state"))
        term = potential(hmm_log_likelihood(logs, START, Changing.change))

    with pytest.raises(ShapeError, match=r"not one matrix for each series.*of several series"):
        Series(logs=np.zeros((3, 5, 2)))
    each = hmm_log_likelihood(np.zeros((3, 5, 2)), START, np.full((3, 2, 2), 0.5))
    np.testing.assert_allclose(each, np.zeros(3), atol=1e-12)


IMPOSSIBLE = {
    "number": (lambda: d.Normal([0.0, 1.0], -1.0), "scale of a Normal .* positive; got -1.0"),
    "element": (lambda: d.Normal(0.0, [1.0, 0.0]), "scale of a Normal .* positive; got 0.0"),
    "list": (lambda: [d.Poisson(1.0), d.Poisson(-2.0)], "rate of a Poisson .*; got -2.0"),
    "matrix": (
        lambda: d.MvNormal(np.zeros((2, 2)), np.array([np.eye(2), -np.eye(2)])),
        "covariance of a MvNormal component .* its smallest eigenvalue is -1",
    ),
}


@pytest.mark.parametrize(("components", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
@pytest.mark.parametrize(
    "function", [component_log_densities, lambda *args: component_probabilities(START, *args)]
)
def test_impossible_components_are_refused(function, components, message):
    with pytest.raises(ModelError, match=message):
        function(components(), np.ones((3, 2)))


def test_impossible_components_that_data_give_are_refused_where_they_stand():
    class Scaled(Model):
        scale = data()
        mean = param(d.Normal(0, 1), shape=2)
        logs = deterministic(component_log_densities(d.Normal(mean, scale), np.zeros(3)))

    Scaled(scale=1.0)
    with pytest.raises(ModelError, match=r"test_components.py:\d+: deterministic 'logs': scale of"):
        Scaled(scale=-1.0)


def test_arrays_that_do_not_fit_are_refused():
    message = r"component_log_densities was given arrays of shapes \(4,\), \(2,\), \(3,\): "
    with pytest.raises(ShapeError, match=message):
        component_log_densities(d.Normal(np.zeros(2), np.ones(3)), np.zeros(4))
