"""Draws from priors and for given parameters, against SciPy's distributions."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import xarray as xr

from probmodel import (
    Model,
    data,
    deterministic,
    observed,
    param,
    potential,
    predict,
    prior_predictive,
    simulate,
)
from probmodel.constraints import Ordered, Simplex
from probmodel.distributions import (
    AR,
    Binomial,
    Dirichlet,
    Exponential,
    Flat,
    Gamma,
    HalfNormal,
    MvNormal,
    Normal,
    StudentT,
)
from probmodel.errors import DataError, ModelError, SamplerError
from probmodel.results.arviz_object import group, group_names


class Hierarchy(Model):
    n = data(dtype=int)
    tau = param(HalfNormal(2.0))
    mu = param(Normal(1.0, tau))
    effect = param(Normal(mu, 0.5), dims="school", noncentered=True)
    gap = deterministic(effect[0] - effect[1])
    y = observed(Normal(effect, tau), dims="school")
    k = observed(Binomial(n, 0.3))


SCHOOLS = {"school": ["A", "B"]}


def fits(sample, law):
    return scipy.stats.kstest(np.ravel(sample), law if isinstance(law, str) else law.cdf).pvalue


def test_parameters_and_data_follow_the_model():
    result = prior_predictive(Hierarchy(n=10, coords=SCHOOLS), draws=4000, seed=1)
    assert set(group_names(result)) == {"prior", "prior_predictive", "constant_data"}
    prior, drawn = group(result, "prior"), group(result, "prior_predictive")
    assert set(prior.data_vars) == {"tau", "mu", "effect", "gap"}
    assert set(drawn.data_vars) == {"y", "k"}
    assert prior["effect"].dims == ("chain", "draw", "school")
    assert list(prior["school"].values) == ["A", "B"]
    tau, mu, effect = (prior[n].values[0] for n in ("tau", "mu", "effect"))
    assert fits(tau, scipy.stats.halfnorm(0, 2)) > 1e-4
    assert fits((mu - 1.0) / tau, "norm") > 1e-4
    assert fits((effect - mu[:, None]) / 0.5, "norm") > 1e-4
    np.testing.assert_allclose(prior["gap"].values[0], effect[:, 0] - effect[:, 1])
    assert fits((drawn["y"].values[0] - effect) / tau[:, None], "norm") > 1e-4
    # Negative control: data that do not follow the scale of their draw.
    assert fits((drawn["y"].values[0] - effect) / tau.mean(), "norm") < 1e-4
    k = drawn["k"].values[0]
    assert k.dtype.kind == "i"
    assert abs(k.mean() - 3.0) < 4.5 * np.sqrt(2.1 / 4000)


def test_seeds_and_data_that_are_there():
    model = Hierarchy(n=10, y=[1.0, 2.0], k=3, coords=SCHOOLS)
    one, two, other = (prior_predictive(model, draws=5, seed=s) for s in (1, 1, 2))
    assert group(one, "prior").equals(group(two, "prior"))
    assert not group(one, "prior").equals(group(other, "prior"))
    np.testing.assert_array_equal(group(one, "observed_data")["y"].values, [1.0, 2.0])
    assert not np.array_equal(group(one, "prior_predictive")["y"].values[0, 0], [1.0, 2.0])


class Cut(Model):
    low = param(Normal(0.0, 1.0), lower=0.5)
    heavy = param(StudentT(3.0, 0.0, 1.0), lower=-1.0, upper=2.0)
    flat = param(lower=1.0, upper=3.0)
    same = param(Exponential(2.0), lower=0.0)
    order = param(Normal(0.0, 2.0), shape=3, constraint=Ordered())
    pair = param(MvNormal(np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]])), lower=0.0)
    scaled = param(Normal(5.0, 2.0), offset=5.0, multiplier=2.0)
    y = observed(Normal(low, 1.0), dims="obs")


def test_bounds_and_constraints_cut_priors():
    prior = group(prior_predictive(Cut(y=[0.0]), draws=4000, seed=1), "prior")
    value = {name: prior[name].values[0] for name in prior.data_vars}
    assert fits(value["low"], scipy.stats.truncnorm(0.5, np.inf)) > 1e-4
    t = scipy.stats.t(3)
    u = (t.cdf(value["heavy"]) - t.cdf(-1)) / (t.cdf(2) - t.cdf(-1))
    assert fits(u, "uniform") > 1e-4
    assert fits(value["flat"], scipy.stats.uniform(1, 2)) > 1e-4
    assert fits(value["same"], scipy.stats.expon(0, 0.5)) > 1e-4
    assert fits(value["scaled"], scipy.stats.norm(5, 2)) > 1e-4
    assert (np.diff(value["order"]) > 0).all()
    # The middle one of three: a beta variable of their distribution function.
    assert fits(scipy.stats.norm(0, 2).cdf(value["order"][:, 1]), scipy.stats.beta(2, 2)) > 1e-4
    # In the positive quadrant, where there is 1/4 + arcsin(rho) / 2 pi of a normal pair.
    rng = np.random.default_rng(5)
    pairs = rng.multivariate_normal(np.zeros(2), [[1.0, 0.8], [0.8, 1.0]], 40000)
    kept = pairs[(pairs > 0).all(axis=1)]
    assert scipy.stats.ks_2samp(value["pair"].sum(axis=1), kept.sum(axis=1)).pvalue > 1e-4
    assert (value["pair"] > 0).all()


def model_with(declare):
    class Case(Model):
        a = declare()
        y = observed(Normal(0.0, 1.0), dims="obs")

    return Case(y=[0.0])


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (param, "param 'a' has a flat prior.*proper"),
        (lambda: param(Flat()), "param 'a' has a flat prior"),
        (lambda: param(lower=0.0), "param 'a' has a flat prior.*two bounds"),
        (lambda: param(shape=3, constraint=Simplex()), "param 'a' has a flat prior"),
        (lambda: param(Normal(0, 1), shape=3, constraint=Simplex()), "how to draw from that"),
        (
            lambda: param(MvNormal(np.zeros(2), np.eye(2)), shape=2, lower=1e3),
            "did not fall within its bounds",
        ),
    ],
)
def test_priors_that_cannot_be_drawn_from_are_refused_by_name(declare, words):
    with pytest.raises(ModelError, match=words):
        prior_predictive(model_with(declare), 5)


def test_what_is_cut_far_out_is_drawn_all_the_same():
    model = model_with(lambda: param(Normal(0, 1), shape=2, lower=8.0, upper=8.5))
    a = group(prior_predictive(model, 2000, seed=1), "prior")["a"].values
    assert fits(a, scipy.stats.truncnorm(8.0, 8.5)) > 1e-4


def test_bounds_that_depend_on_parameters_are_refused():
    class Varying(Model):
        top = param(Normal(0.0, 1.0))
        low = param(Normal(0.0, 1.0), upper=top)
        y = observed(Normal(low, 1.0), dims="obs")

    with pytest.raises(ModelError, match=r"'low' has the prior Normal.*Truncated\(Normal"):
        prior_predictive(Varying(y=[0.0]))


def test_potentials_are_left_out_and_draws_are_counted():
    class Pushed(Model):
        a = param(Normal(0.0, 1.0))
        push = potential(100.0 * a)

    result = prior_predictive(Pushed(), draws=500, seed=1)
    assert group_names(result) == ("prior",)
    assert fits(group(result, "prior")["a"].values, "norm") > 1e-4
    for wrong in (0, 2.5, True):
        with pytest.raises(SamplerError, match="draws must be a whole number"):
            prior_predictive(Pushed(), draws=wrong)
    with pytest.raises(SamplerError, match="seed"):
        prior_predictive(Pushed(), seed=-1)


def test_fake_data_for_given_parameters():
    model = Hierarchy(n=10, coords=SCHOOLS)
    fake = simulate(model, {"effect": [1.0, -1.0], "tau": 0.5}, seed=1, draws=4000)
    assert fake["y"].shape == (4000, 2)
    assert fake["k"].shape == (4000,)
    assert fits((fake["y"] - [1.0, -1.0]) / 0.5, "norm") > 1e-4
    one = simulate(model, {"effect": [1.0, -1.0], "tau": 0.5}, seed=1)
    assert one["y"].shape == (2,)
    again = Hierarchy(n=10, coords=SCHOOLS, **one)
    np.testing.assert_array_equal(again._binding.data["y"], one["y"])


def test_parameters_that_are_not_given_follow_those_that_are():
    fake = simulate(Hierarchy(n=10, coords=SCHOOLS), {"mu": 100.0, "tau": 1.0}, seed=2, draws=4000)
    spread = np.sqrt(0.25 + 1.0)
    assert fits((fake["y"][:, 0] - 100.0) / spread, "norm") > 1e-4
    assert fits((fake["y"][:, 0] - 100.0) / 1.0, "norm") < 1e-4


def test_the_data_of_the_model_are_not_simulated_from():
    """A quantity that depends on another one follows its fake value, not its datum."""

    class Chain(Model):
        a = param(Normal(0.0, 1.0))
        first = observed(Normal(a, 0.1), dims="obs")
        second = observed(Normal(first, 0.1), dims="obs")

    fake = simulate(Chain(first=[50.0], second=[50.0]), {"a": 0.0}, seed=1, draws=2000)
    assert fits((fake["second"] - fake["first"]) / 0.1, "norm") > 1e-4
    assert np.abs(fake["second"]).max() < 1.0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"mue": 1.0}, "Did you mean 'mu'"),
        ({"gap": 1.0}, "no param of Hierarchy"),
        ({"effect": [1.0, 2.0, 3.0]}, r"shape \(3,\); expected"),
        ({"tau": -1.0}, r"params\['tau'\] is not possible"),
        ({"tau": "large"}, "holds text; expected a number"),
        ({"tau": 1.0 + 1.0j}, "holds complex numbers; expected a number"),
        ({"effect": [None, 1.0]}, r"of type list; expected numbers of shape \(2,\)"),
        ({"effect": [[1.0, 2.0], [1.0]]}, "ragged list"),
    ],
)
def test_wrong_values(params, words):
    with pytest.raises(DataError, match=words):
        simulate(Hierarchy(n=10, coords=SCHOOLS), params)


def test_flat_parameters_can_be_given():
    class FlatMean(Model):
        mu = param()
        rate = param(Gamma(2.0, 1.0))
        y = observed(Normal(mu, 1.0), dims="obs")

    fake = simulate(FlatMean(coords={"obs": range(5)}), {"mu": 7.0}, seed=1, draws=1000)
    assert fits(fake["y"] - 7.0, "norm") > 1e-4
    with pytest.raises(ModelError, match="'mu' has a flat prior"):
        simulate(FlatMean(coords={"obs": range(5)}), {})


def test_given_values_that_nothing_depends_on_are_checked():
    class Unused(Model):
        mu = param(Normal(0.0, 1.0))
        w = param(Dirichlet(np.ones(3)))
        y = observed(Normal(mu, 1.0), dims="obs")

    model = Unused(coords={"obs": range(5)})
    with pytest.raises(DataError, match=r"params\['w'\] is not possible"):
        simulate(model, {"mu": 0.0, "w": [0.2, 0.2, 0.2]})
    assert set(simulate(model, {"mu": 0.0, "w": [0.2, 0.3, 0.5]}, seed=1)) == {"y"}


class Grid(Model):
    a = param(Normal(0.0, 1.0), dims=("row", "column"))
    y = observed(Normal(a, 1e-9), dims=("row", "column"))


def test_labels_of_given_values_are_matched():
    labels = {"row": ["p", "q"], "column": np.array(["2021", "2020"], dtype="datetime64[D]")}
    model = Grid(coords=labels)
    expected = np.array([[1.0, 2.0], [3.0, 4.0]])
    frame = pd.DataFrame(expected, index=labels["row"], columns=labels["column"])
    turned = frame.iloc[::-1, ::-1]
    array = xr.DataArray(turned.to_numpy(), dims=("row", "column"), coords={
        "row": turned.index, "column": turned.columns,
    })  # fmt: skip
    for given in (expected, frame, turned, array, array.T):
        np.testing.assert_allclose(simulate(model, {"a": given}, seed=1)["y"], expected, atol=1e-6)
    drawn = prior_predictive(model, draws=1, seed=1)
    mean = group(drawn, "prior")["a"].mean(("chain", "draw"))
    reversed_labels = {dim: values[::-1] for dim, values in labels.items()}
    again = simulate(Grid(coords=reversed_labels), {"a": mean}, seed=1)["y"]
    np.testing.assert_allclose(again, mean.values[::-1, ::-1], atol=1e-6)
    with pytest.raises(DataError, match=r"params\['a'\] has the labels p, r along 'row'"):
        simulate(model, {"a": frame.rename(index={"q": "r"})})


@pytest.mark.parametrize("initial", [None, Normal(5.0, 2.0)])
def test_a_series_that_is_flat_on_its_first_values(initial, make_fit):
    class Series(Model):
        x = param(AR([0.5], 1.0, initial=initial), dims=("patient", "day"))
        y = observed(Normal(x, 0.1), dims=("patient", "day"))

    model = Series(coords={"patient": ["a", "b"], "day": range(4)})
    known = {"patient": np.array(["a"]), "day": np.arange(4)}
    fit = make_fit(known, x=(("patient", "day"), np.zeros((1, 500, 1, 4))))

    def first():
        yield group(prior_predictive(model, draws=500, seed=1), "prior")["x"].values[0, :, :, 0]
        yield simulate(model, {}, seed=1, draws=500)["y"][:, :, 0]
        yield group(predict(model, fit, 1, "draw", var_names="x"), "predictions")["x"][0, :, 1, 0]

    if initial is None:
        for make in (
            prior_predictive,
            lambda m: simulate(m, {}),
            lambda m: predict(m, fit, 1, "draw"),
        ):
            with pytest.raises(ModelError, match=r"'x' has a prior AR that is flat on its first"):
                make(model)
    else:
        for drawn in first():
            assert fits((np.asarray(drawn).ravel() - 5.0) / 2.0, "norm") > 1e-4
