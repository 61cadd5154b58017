"""Advice on models: each rule speaks where it should, and is silent where it should be."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from probmodel import (
    Model,
    check_model,
    data,
    deterministic,
    load_model,
    observed,
    param,
    potential,
    read_data,
)
from probmodel.constraints import Ordered, Simplex, SumToZero
from probmodel.distributions import (
    AR1,
    Bernoulli,
    Beta,
    Exponential,
    Flat,
    Gamma,
    HalfNormal,
    InverseGamma,
    LogNormal,
    Normal,
    Truncated,
    Uniform,
    ZeroSumNormal,
)
from probmodel.model.lints import lint, mistakes

ROOT = Path(__file__).parents[2]
Y = np.array([0.5, 1.5, 2.5])


def advice(model):
    """Kind and declaration of each piece of advice."""
    return [(a.kind, a.declaration) for a in lint(model)]


def about(**declared):
    """Advice on a normal model whose location is the sum of some parameters."""
    total = sum(declared.values())
    body = {**declared, "y": observed(Normal(total, 1.0), dims="obs")}
    for name, declaration in body.items():
        declaration.name = name
    return advice(type("Case", (Model,), body)(y=Y))


# -- priors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "kinds"),
    [
        (lambda: param(), ["flat prior"]),
        (lambda: param(Flat()), ["flat prior"]),
        (lambda: param(lower=0), ["flat prior"]),
        (lambda: param(upper=3.0), ["flat prior"]),
        (lambda: param(lower=0, upper=1), []),
        (lambda: param(lower=0, upper=50), ["hard bounds"]),
        (lambda: param(Uniform(0, 50)), ["hard bounds"]),
        (lambda: param(Uniform(-10, 30)), ["hard bounds"]),
        (lambda: param(Uniform(0, 1)), []),
        (lambda: param(Uniform(-1, 1)), []),
        (lambda: param(Uniform(-np.pi, np.pi)), []),
        (lambda: param(Normal(0, 1000)), ["extreme constant"]),
        (lambda: param(Normal(0, 1e-4)), ["extreme constant"]),
        (lambda: param(Truncated(Normal(0, 1e4), lower=0)), ["extreme constant"]),
        (lambda: param(Normal(1990, 10)), []),
        (lambda: param(Normal(0, 100)), []),
        (lambda: param(Normal(1e6, 500)), []),
        (lambda: param(LogNormal(0, 1)), []),
        (lambda: param(InverseGamma(0.001, 0.001)), ["vague gamma prior"]),
        (lambda: param(Gamma(0.01, 0.01)), ["vague gamma prior"]),
        (lambda: param(Gamma(2, 0.1)), []),
        (lambda: param(InverseGamma(3, 0.001)), []),
    ],
)
def test_priors(declare, kinds):
    assert about(a=declare()) == [(kind, "a") for kind in kinds]


def test_flat_on_sets_of_finite_size_is_proper():
    class Vectors(Model):
        weights = param(constraint=Simplex(), shape=3)
        cuts = param(constraint=Ordered(), shape=3)
        y = observed(Normal(np.sum(weights * cuts), 1), dims="obs")

    assert advice(Vectors(y=Y)) == [("flat prior", "cuts")]


def test_a_potential_may_be_the_prior():
    class ByHand(Model):
        a = param()
        b = param()
        twice = deterministic(2 * b)
        prior = potential(-0.5 * a**2)
        other = potential(-0.5 * twice**2)
        y = observed(Normal(a + b, 1), dims="obs")

    assert advice(ByHand(y=Y)) == []


def test_bounds_that_data_set_are_not_guesses():
    class ChangePoint(Model):
        last = data()
        when = param(Uniform(0, last))
        y = observed(Normal(when, 1), dims="obs")

    assert advice(ChangePoint(last=10.0, y=Y)) == []


# -- distributions -----------------------------------------------------------------------------


def test_ranges_of_parameters_of_distributions():
    class Ranges(Model):
        scale = param(Normal(1, 1))
        chance = param(HalfNormal(1))
        cut = param(Normal(0, 1), lower=-1)
        good = param(Normal(0, 1), lower=0)
        share = param(Beta(2, 2))
        a = observed(Normal(0, scale), dims="obs")
        b = observed(Normal(0, cut), dims="obs")
        c = observed(Normal(0, good), dims="obs")
        d = observed(Bernoulli(chance), dims="obs")
        e = observed(Bernoulli(share), dims="obs")
        f = observed(Normal(0, np.exp(scale)), dims="obs")

    ones = np.ones(3)
    found = lint(Ranges(a=Y, b=Y, c=Y, d=ones, e=ones, f=Y))
    assert [(a.kind, a.declaration) for a in found] == [
        ("range", "scale"), ("range", "chance"), ("range", "cut"),
    ]  # fmt: skip
    assert "as scale of the Normal of a it must be above 0" in found[0].message
    assert "must be below 1" in found[1].message


def test_variances_in_the_place_of_scales():
    class Squares(Model):
        sigma = param(HalfNormal(1))
        y_sd = param(HalfNormal(1))
        v = param(HalfNormal(1))
        a = observed(Normal(0, sigma**2), dims="obs")
        b = observed(Normal(0, y_sd * y_sd), dims="obs")
        c = observed(Normal(0, np.square(sigma)), dims="obs")
        d = observed(Normal(sigma**2, v**2), dims="obs")
        e = observed(Normal(0, np.sqrt(sigma)), dims="obs")
        f = observed(Exponential(sigma**2), dims="obs")

    found = advice(Squares(**dict.fromkeys("abcdef", Y)))
    assert found == [("variance as scale", name) for name in "abc"]


def test_scales_of_zero_sums_that_are_counted_once_too_often():
    class Sums(Model):
        scale = param(HalfNormal(1))
        other = param(HalfNormal(1))
        a = param(Normal(0, scale), constraint=SumToZero(), shape=3)
        b = param(Normal(0, 2.0), constraint=SumToZero(), shape=3)
        c = param(Normal(0, other), constraint=SumToZero(), shape=3)
        d = param(ZeroSumNormal(scale), shape=3)
        lift = potential(np.log(other))
        y = observed(Normal(a + b + c + d, 1), dims="obs")

    model = Sums(y=Y)
    found = [a for a in lint(model) if a.kind == "zero sum"]
    assert [a.declaration for a in found] == ["a"]
    assert "ZeroSumNormal" in found[0].message
    assert found == mistakes(model)


# -- who depends on whom -----------------------------------------------------------------------


class Unused(Model):
    x = data(dims="obs")
    n = data(dtype=int)
    bound = data()
    z = data(dims="obs", upper=bound)
    where = data(dims="new")
    mu = param(Normal(0, 1))
    tau = param(HalfNormal(1))
    theta = param(Normal(mu, tau))
    alone = param(Normal(0, 1))
    shown = param(Normal(0, 1))
    above = param(HalfNormal(1))
    below = param(Normal(0, above))
    prediction = param(Normal(theta, 1), dims="new")
    plot = deterministic(shown + z[0])
    y = observed(Normal(theta, 1), dims="obs")
    fixed = observed(Normal(0, bound), dims="obs")
    nothing = potential(-bound)


def test_who_depends_on_whom():
    model = Unused(x=Y, n=1, bound=9.0, z=Y, where=[1.0, 2.0], y=Y, fixed=Y)
    assert advice(model) == [
        ("unused data", "x"),
        ("unused data", "n"),
        ("unused parameter", "alone"),
        ("unused parameter", "shown"),
        ("unused parameter", "above"),
        ("unused parameter", "below"),
        ("constant term", "fixed"),
        ("constant term", "nothing"),
    ]


def test_a_model_without_likelihood_is_a_prior():
    class Prior(Model):
        mu = param(Normal(0, 1))
        x = param(AR1(0.5, 1.0), shape=5)

    assert advice(Prior()) == []


# -- what is said ------------------------------------------------------------------------------


class Careless(Model):
    x = data(dims="obs")
    mu = param()
    y = observed(Normal(mu, 1), dims="obs")


def test_advice_names_the_declaration_and_its_line_and_leaves_ok_alone():
    report = check_model(Careless(x=Y, y=Y))
    assert report.ok
    first = inspect.getsourcelines(Careless)[1]
    unused, flat = str(report).splitlines()[-2:]
    assert unused.startswith(f"  advice  x (test_lints.py:{first + 1}): nothing uses it.")
    assert flat.startswith(f"  advice  mu (test_lints.py:{first + 2}): its prior is flat, which")
    assert flat.endswith("such as Normal(0, 1).")
    assert str(report).startswith("Careless: all checks passed")


@pytest.mark.parametrize("path", sorted((ROOT / "models").glob("*.py")), ids=lambda p: p.stem)
def test_models_to_start_from(path):
    """Of the models, nothing is said but that some have flat priors, as they do.

    Between two bounds a flat prior is proper, and nothing is said of it.
    """
    text = path.read_text()
    file = re.search(r"probmodel sample \S+ --data (\S+)", text)[1]
    model = load_model(path)(**read_data(file))
    flat = re.findall(r"^    (\w+) = param\((?!\s*\w+\()(?!lower=.*upper=)", text, re.MULTILINE)
    assert advice(model) == [("flat prior", name) for name in flat]
