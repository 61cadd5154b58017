"""Every distribution against independent densities, at good and at impossible arguments."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from derivatives import evaluated
from scipy import integrate, stats

from probmodel.distributions import DISTRIBUTIONS, kernels
from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError


def density(dist, value, params):
    arrays = [np.asarray(p, dtype=float) for p in params]
    with np.errstate(all="ignore"):
        return dist.log_density(np, np.asarray(value, dtype=float), *arrays)


def test_every_distribution_has_a_case(cases):
    covered = {name.split()[0] for name in cases}
    assert set(DISTRIBUTIONS) <= covered
    assert all(issubclass(kind, Distribution) for kind in DISTRIBUTIONS.values())


def test_density_is_that_of_an_independent_formula(case):
    for params in case.params:
        for value in case.values:
            expected = case.reference(value, *params)
            assert density(case.dist, value, params) == pytest.approx(
                expected, rel=1e-10, abs=1e-12
            )


def edges(name, params):
    """Where the support of an example ends, or its density jumps."""
    if name.startswith("Truncated"):
        return list(params[2 - (len(params) == 2) :])
    return {"Uniform": list(params), "Beta": [1.0], "Affine": [-1.0, 1.0]}.get(name, [])


def test_density_integrates_to_one(cases):
    for name, case in cases.items():
        if case.dist.event_ndim or case.law is None or case.dist.discrete:
            continue
        params = case.params[0]
        # The substitution y = sinh(t) brings in the heaviest tails here.
        inside = sorted([*case.values, *edges(name, params), *case.edges(*params)])
        low = -40.0 if min(inside) < 0 else 0.0
        total = sum(np.exp(density(case.dist, atom, params)) for atom in case.atoms)
        for a, b in itertools.pairwise([low, *np.arcsinh(inside), 40.0]):
            total += integrate.quad(
                lambda t: (
                    np.exp(np.nan_to_num(density(case.dist, np.sinh(t), params), nan=-np.inf))  # noqa: B023
                    * np.cosh(t)
                ),
                a,
                b,
                limit=500,
            )[0]
        assert total == pytest.approx(1.0, abs=1e-6), name


def test_masses_add_up_to_one(case):
    if not case.dist.discrete:
        pytest.skip("continuous")
    params = case.params[0]
    total = sum(np.exp(density(case.dist, k, params)) for k in case.outcomes(*params))
    assert total == pytest.approx(1.0, abs=1e-10)


def test_values_outside_the_support_are_impossible(case):
    for value in case.outside:
        logp = density(case.dist, value, case.params[0])
        assert np.isnan(logp) or logp == -np.inf, value


def test_invalid_parameters_have_no_density(case):
    for position, bad_values in case.invalid.items():
        for bad in bad_values:
            for value in case.values:
                params = list(case.params[0])
                params[position] = bad
                logp = density(case.dist, value, params)
                assert np.isnan(logp) or logp == -np.inf, (position, bad, value)


def test_support_accepts_the_values(case):
    if case.dist.name in {"Truncated", "Censored", "Affine", "Uniform", "Binomial"}:
        pytest.skip("the support depends on declared arguments: tested by themselves")
    support = case.dist.support()
    assert np.all(support.check(case.values, *support.bounds))
    for value in case.outside:
        assert not np.all(support.check(np.asarray(value, dtype=float), *support.bounds)), value


def test_every_parameter_but_locations_has_invalid_examples(cases):
    free = {"loc", "mean", "mu", "logit", "log_rate", "logits", "center_2"}
    for name, case in cases.items():
        for i, (parameter, spec) in enumerate(case.dist.parameters.items()):
            known = parameter.rpartition(".")[2] in free or spec.known
            bounds = name.startswith(("Truncated", "Censored")) and i >= 1
            assert i in case.invalid or known or bounds, (name, parameter)


@pytest.mark.parametrize(
    "kernel", [kernels.ExpQuad, kernels.Exponential, kernels.Matern32, kernels.Matern52]
)
def test_kernel_correlation_starts_at_one_and_its_stretch_is_its_derivative(kernel):
    s, h = np.linspace(0.0, 4.0, 9), 1e-5
    assert kernel.correlation(np, np.array(0.0)) == 1.0
    longer = kernel.correlation(np, s * np.exp(-h)) - kernel.correlation(np, s * np.exp(h))
    np.testing.assert_allclose(
        kernel.stretch(s, kernel.correlation(np, s)), longer / (2 * h), atol=1e-9
    )


TAILS = [
    ("Normal", 1e150, (0.0, 1.0), stats.norm.logpdf(1e150)),
    ("StudentT", 1e100, (3.0, 0.0, 1.0), stats.t.logpdf(1e100, 3.0)),
    ("StudentT", 2.0, (1e12, 0.0, 1.0), stats.norm.logpdf(2.0)),
    ("Cauchy", 1e100, (0.0, 1.0), stats.cauchy.logpdf(1e100)),
    ("Logistic", -1e6, (0.0, 1.0), -1e6),
    ("BernoulliLogit", 1, (-1e5,), -1e5),
    ("BernoulliLogit", 1, (60.0,), -np.exp(-60.0)),
    ("BernoulliLogit", 0, (1e5,), -1e5),
    ("BinomialLogit", 5, (5.0, -1e5), -5e5),
    ("BinomialLogit", 0, (5.0, -60.0), -5 * np.exp(-60.0)),
    ("PoissonLog", 0, (-1e3,), 0.0),
    ("PoissonLog", 3, (-1e3,), -3e3 - np.log(6.0)),
    ("NegativeBinomial2", 4, (2.0, 1e10), stats.poisson.logpmf(4, 2.0)),
    ("Bernoulli", 1, (1.0,), 0.0),
    ("Bernoulli", 0, (0.0,), 0.0),
    ("Binomial", 0, (4.0, 0.0), 0.0),
    ("Poisson", 0, (0.0,), 0.0),
    ("Gamma", 1e-300, (0.5, 1.0), stats.gamma.logpdf(1e-300, 0.5)),
    ("Beta", 1e-300, (0.5, 0.5), stats.beta.logpdf(1e-300, 0.5, 0.5)),
    ("HalfCauchy", 1e100, (1.0,), stats.halfcauchy.logpdf(1e100)),
    ("LogNormal", 1e300, (0.0, 1.0), stats.lognorm.logpdf(1e300, 1.0)),
]


@pytest.mark.parametrize(("name", "value", "params", "expected"), TAILS)
def test_tails_are_accurate(cases, name, value, params, expected):
    actual = density(cases[name].dist, value, params)
    assert actual == pytest.approx(expected, rel=1e-8, abs=0.0 if expected else 1e-15)


@pytest.mark.parametrize("eta", [-1e5, -50.0, 0.0, 50.0, 1e5])
def test_slopes_in_logits_are_accurate_in_the_tails(cases, eta):
    dist = cases["BernoulliLogit"].dist
    logp, (slope,) = evaluated(dist, [1], [1, 0], [eta, 0.3])
    assert logp == pytest.approx(density(dist, 1, (eta,)) + density(dist, 0, (0.3,)), rel=1e-12)
    assert slope[0] == pytest.approx(1.0 if eta < -1e4 else 1 / (1 + np.exp(min(eta, 700))))


def test_flat_cannot_be_sampled(cases):
    with pytest.raises(ModelError, match="improper"):
        cases["Flat"].dist.sample(np.random.default_rng(0), (3,))
