"""Every declaration that is made in a class body has a name at its end."""

import sys
import threading
import types

import numpy as np
import pytest
from scipy.stats import norm

from probmodel import Model, ModelError, data, deterministic, observed, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import HalfNormal, Normal


def here():
    return sys._getframe(1).f_lineno


def lost(declare):
    """Make a model whose body calls ``declare`` and check the error; returns its line."""
    with pytest.raises(ModelError, match=r"potential\(\.\.\.\) has no name in Bad") as caught:

        class Bad(Model):
            a = param(Normal(0, 1))
            kept = declare(a)

    assert caught.value.location.file == __file__
    return caught.value.location.line


@pytest.mark.parametrize(
    ("kind", "declare"),
    [
        ("potential", lambda a: potential(-100 * a**2)),
        ("observed", lambda a: observed(Normal(a, 1), dims="obs")),
        ("param", lambda a: param(Normal(a, 1))),
        ("data", lambda a: data("obs")),
        ("deterministic", lambda a: deterministic(2 * a)),
    ],
)
def test_a_bare_declaration_is_an_error_at_its_line(kind, declare):
    with pytest.raises(ModelError, match=rf"this {kind}\(.*no name in Bad.*`a = {kind}") as caught:

        class Bad(Model):
            a = param(Normal(0, 1))
            declare(a)

    assert caught.value.values["model"] == "Bad"


@pytest.mark.parametrize(
    "declare",
    [
        lambda a: [potential(-(a**2)), potential(-(a**4))],
        lambda a: {"terms": ({"first": potential(-(a**2))},)},
        lambda a: (1, (2, [potential(-(a**2))])),
        lambda a: (lambda: None, potential(-(a**2))),
        lambda a: [potential(-i * a**2) for i in range(3)],
        lambda a: np.sum(potential(-(a**2)) + a),
    ],
)
def test_one_in_a_container_or_an_expression_is_an_error(declare):
    lost(declare)


def shrink(a):
    potential(-100 * a**2)
    return 2 * a


def test_one_made_by_a_function_is_an_error_at_the_line_in_it():
    assert lost(shrink) == shrink.__code__.co_firstlineno + 1


def test_one_made_in_a_branch_or_a_loop_is_an_error():
    with pytest.raises(ModelError, match="has no name") as caught:

        class Bad(Model):
            a = param(Normal(0, 1))
            if True:
                for i in range(1):
                    potential(-i * a**2)

    assert caught.value.location.line == here() - 2


def test_branches_and_loops_may_declare_by_name():
    class Fine(Model):
        a = param(Normal(0, 1))
        if True:
            b = param(Normal(a, 1))
        for i in range(2):
            locals()[f"pull_{i}"] = potential(-(i + 1) * a**2)

    assert list(Fine._declarations) == ["a", "b", "pull_0", "pull_1"]


def test_a_declaration_stands_where_it_is_made():
    """And not where something else had its name."""

    class Measured(Model):
        w = None
        x = param(Normal(0, 1), dims="obs")
        w = observed(Normal(x, 1), dims="obs")

    assert "w[obs] ~ Normal(x, 1)" in repr(Measured(w=[1.0, 2.0]))


def test_what_is_computed_may_be_added_to():
    class Polynomial(Model):
        x = data(dims="obs")
        a = param(Normal(0, 1), shape=3)
        line = a[0] + a[1] * x
        eta = line
        first = observed(Normal(eta, 1), dims="obs")
        eta = eta + a[2] * x**2
        second = observed(Normal(eta, 1), dims="obs")
        total = 0.0
        for i in range(3):
            total += a[i]
        third = observed(Normal(total, 2))

    x, first, second, third = np.arange(2.0), np.ones(2), np.zeros(2), 0.5
    posterior = as_posterior(Polynomial(x=x, first=first, second=second, third=third))
    a = np.array([0.3, -1.2, 0.7])
    line = a[0] + a[1] * x
    residuals = [a, first - line, second - line - a[2] * x**2, (third - a.sum()) / 2]
    expected = -0.5 * sum(np.sum(r**2) for r in residuals)
    values, _ = posterior(np.stack([a, np.zeros(3)]))
    zero = -0.5 * (np.sum(first**2) + np.sum(second**2) + (third / 2) ** 2)
    np.testing.assert_allclose(values[0] - values[1], expected - zero, rtol=1e-12)
    shown = " ".join(repr(posterior.model).split())
    assert "where line = a[0] + a[1] * x (2) eta = line + a[2] * x ** 2 (2) total =" in shown
    assert "first[obs] ~ Normal(line, 1)" in shown
    assert "second[obs] ~ Normal(eta, 1)" in shown


@pytest.mark.parametrize("loss", ["pull = 3.0", "pull = None", "del pull"])
def test_a_name_that_is_taken_away_again_is_an_error(loss):
    code = f"""
class Bad(Model):
    a = param(Normal(0, 1))
    pull = potential(-100 * a**2)
    {loss}
"""
    with pytest.raises(ModelError, match="potential 'pull' is lost") as caught:
        exec(code, dict(globals()))
    assert caught.value.location.line == 4


def test_a_second_name_is_refused_and_saved_as_deterministic():
    with pytest.raises(ModelError, match=r"Use one of them; .* b = deterministic\(a\)"):

        class Bad(Model):
            a = param(Normal(0, 1))
            b = a

    class Good(Model):
        a = param(Normal(0, 1))
        b = deterministic(a)

    values = as_posterior(Good()).constrain(np.array([[0.3], [-1.0]]))
    assert values["b"].tolist() == values["a"].tolist() == [0.3, -1.0]


def test_layers_may_begin_as_a_declaration():
    class Layers(Model):
        x = data(("obs", "unit"))
        w = param(Normal(0, 1), shape=(3, 2, 2))
        h = x
        for i in range(3):
            h = np.tanh(h @ w[i])
        y = observed(Normal(np.sum(h, axis=1), 1), dims="obs")

    with pytest.raises(ModelError, match="'mu' is declared twice"):

        class Worse(Model):
            mu = param(Normal(0, 1))
            h = mu
            mu = 2 * h

    x, y = np.array([[0.3, -1.0], [0.5, 2.0]]), np.array([0.1, 0.4])
    w = np.random.default_rng(1).normal(size=(3, 2, 2))
    h = x
    for one in w:
        h = np.tanh(h @ one)
    posterior = as_posterior(Layers(x=x, y=y))
    likelihood = posterior.terms(w.reshape(1, -1))["likelihood of y"]
    np.testing.assert_allclose(likelihood[0], norm.logpdf(y, h.sum(axis=1)).sum(), rtol=1e-12)
    assert "where h = tanh" in " ".join(repr(posterior.model).split())


outside = param(Normal(0, 1))
potential(-(outside**2))  # belongs to no model, and to no one's error


def test_declarations_made_outside_are_used_by_name():
    class First(Model):
        mu = outside
        y = observed(Normal(mu, 1), dims="obs")

    class Second(Model):
        mu = outside

    assert First._declarations["mu"] is Second._declarations["mu"] is outside


def test_inherited_declarations_keep_their_names():
    class Base(Model):
        mu = param(Normal(0, 1))

    class Derived(Base):
        mu = Base.mu
        scaled = deterministic(2 * Base.mu)
        pull = potential(-(Base.mu**2))

    assert list(Derived._declarations) == ["mu", "scaled", "pull"]


def test_what_is_declared_anew_may_use_what_is_new():
    class Base(Model):
        mu = param(Normal(0, 1))
        y = observed(Normal(mu, 1), dims="obs")

    class Derived(Base):
        mu = Base.mu
        sigma = param(HalfNormal(1))
        y = observed(Normal(Base.mu, sigma), dims="obs")

    assert list(Derived._declarations) == ["mu", "sigma", "y"]
    assert "Normal(mu, sigma)" in str(Derived(y=[1.0, 2.0]))


def test_a_body_inside_a_body_keeps_its_own():
    class Outer(Model):
        a = param(Normal(0, 1))

        class Inner(Model):
            b = param(Normal(0, 1))

        c = param(HalfNormal(1))

    assert list(Outer._declarations) == ["a", "c"]
    assert list(Outer.Inner._declarations) == ["b"]


def test_a_body_that_failed_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError):

        class Broken(Model):
            a = param(Normal(0, 1))
            potential(-(a**2))
            b = 1 / 0

    potential(-(outside**2))

    class Fine(Model):
        a = param(Normal(0, 1))

    assert list(Fine._declarations) == ["a"]


def test_bodies_of_several_threads_do_not_meet():
    barrier, made, failed = threading.Barrier(2, timeout=30), {}, []

    def make(name):
        try:

            class Local(Model):
                a = param(Normal(0, 1))
                barrier.wait()
                b = param(Normal(a, 1))
                barrier.wait()

            made[name] = list(Local._declarations)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=make, args=(name,)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert made == {"x": ["a", "b"], "y": ["a", "b"]}


def test_a_class_made_by_a_call_names_its_declarations():
    made = {"a": param(Normal(0, 1))}
    made["pull"] = potential(-(made["a"] ** 2))
    for kind in (
        type(Model)("Called", (Model,), made),
        types.new_class("Called", (Model,), exec_body=lambda names: names.update(made)),
    ):
        density = as_posterior(kind())
        assert np.isclose(density(np.array([[2.0]])).logp[0], -2.0 - 0.5 * np.log(2 * np.pi) - 4.0)
