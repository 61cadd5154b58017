"""Fits that are gone on with: the draws are those of one longer run."""

import json
from functools import partial

import numpy as np
import pytest

from probmodel import Converged, LogDensity, Model, extend, infer, load_model, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Dirichlet, Flat, HalfNormal, Multinomial, Normal
from probmodel.errors import ModelError, OutputError, SamplerError
from probmodel.results.arviz_object import group, group_names
from probmodel.results.reading import load
from probmodel.results.storage import keep
from probmodel.samplers.hamiltonian.fisher_hmc import FisherHMC

at_length = partial(pytest.param, marks=pytest.mark.statistical)
SIZES = {"chains": 4, "warmup": 120, "seed": 2, "quiet": True}
Y = [0.3, -1.0, 2.0, 0.1, 0.7]


class Groups(Model):
    """A hierarchy, which is standardised by what the data tell."""

    tau = param(HalfNormal(1))
    mu = param(Normal(0, tau), dims="group")
    y = observed(Normal(mu, 1.0), dims="group")


def same(result, expected):
    assert set(group_names(result)) == set(group_names(expected))
    for name in set(group_names(expected)) - {"sampler_state"}:
        found, known = group(result, name), group(expected, name)
        assert set(found.data_vars) == set(known.data_vars)
        for key in known.data_vars:
            np.testing.assert_array_equal(found[key].values, known[key].values)
    passing = {"created_at", "warmup_time", "sampling_time"}
    for key in expected.attrs.keys() - passing:
        assert result.attrs[key] == expected.attrs[key], key


@pytest.mark.parametrize(
    "method", ["fisher_hmc", "nuts", "rwm", "ahmc", "sa_mcmc", at_length("entropy_hmc")]
)
def test_more_draws_of_the_same_run(method):
    sizes = {**SIZES, "chains": None} if method == "sa_mcmc" else SIZES
    model = Groups(y=Y)
    fit, expected = (infer(model, method, draws=n, **sizes) for n in (150, 400))
    longer = extend(fit, 100, quiet=True)
    assert fit.posterior.sizes["draw"] == 150
    same(extend(longer, 150, quiet=True), expected)


@pytest.mark.parametrize(
    "arguments",
    [
        {"thin": 3}, {"pool": False}, {"save_warmup": True}, {"inits": {"tau": 0.5}},
        {"chains": 1}, at_length({"engine": "numpy"}), at_length({"standardise": False}),
        at_length({"method": FisherHMC(persistence=0.2)}), at_length({"target_accept": 0.9}),
    ],
    ids=str,
)  # fmt: skip
def test_whatever_the_arguments(arguments):
    model, settings = Groups(y=Y), {**SIZES, **arguments}
    fit, expected = (infer(model, draws=n, **settings) for n in (60, 150))
    same(extend(fit, 90, quiet=True), expected)


def test_a_fit_that_was_saved(tmp_path):
    (tmp_path / "groups.py").write_text(
        "from probmodel import Model, observed, param\n"
        "from probmodel.distributions import Dirichlet, Multinomial\n"
        "class Votes(Model):\n"
        "    p = param(Dirichlet([1.0, 2.0, 3.0]), dims='party')\n"
        "    n = observed(Multinomial(20, p), dims='party')\n"
    )
    Votes = load_model(tmp_path / "groups.py")
    model = Votes(n=[5, 7, 8], coords={"party": ["a", "b", "c"]})
    fit, expected = (infer(model, draws=n, **SIZES) for n in (100, 250))
    keep(fit, tmp_path / "fit.nc")
    again = extend(load(tmp_path / "fit.nc"), 150, quiet=True)
    same(again, expected)
    assert list(again.posterior["party"].values) == ["a", "b", "c"]
    (tmp_path / "groups.py").unlink()
    with pytest.raises(ModelError, match=r"is gone. Pass the model: extend\(fit, model=...\)"):
        extend(fit, 10)
    same(extend(fit, 150, model=model, quiet=True), expected)


def test_until_it_is_good_enough():
    fit = infer(Groups(y=Y), "nuts", draws=200, **SIZES)
    longer = extend(fit, until=Converged(ess=1500, r_hat=None), quiet=True)
    made = longer.attrs["draws"]
    assert made > 200
    assert "until" not in longer.attrs["warnings"]
    same_run = infer(Groups(y=Y), "nuts", draws=made, **SIZES)
    np.testing.assert_array_equal(longer.posterior["mu"], same_run.posterior["mu"])
    bounded = extend(fit, 100, ess=1e6, quiet=True)
    assert bounded.attrs["draws"] == 300
    assert "until" in {f["kind"] for f in json.loads(bounded.attrs["warnings"])}


def test_a_run_that_was_interrupted(monkeypatch):
    from probmodel.inference.chains import Group

    model = Groups(y=Y)
    expected, draw, calls = infer(model, "rwm", draws=100, **SIZES), Group.draw, 0

    def interrupted(self):
        nonlocal calls
        calls += 1
        if calls == 40:
            raise KeyboardInterrupt
        draw(self)

    with monkeypatch.context() as patch:
        patch.setattr(Group, "draw", interrupted)
        fit = infer(model, "rwm", draws=100, **SIZES)
    done = fit.attrs["draws_done"]
    assert fit.attrs["interrupted"] == 1
    assert done == 39
    found = extend(fit, 100 - done, quiet=True)
    assert found.attrs["interrupted"] == 0
    np.testing.assert_array_equal(found.posterior["mu"], expected.posterior["mu"])


def test_a_log_density_is_given_again():
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 2, gradient=lambda x: -x
    )
    fit, expected = (infer(density, draws=n, **SIZES) for n in (50, 120))
    with pytest.raises(OutputError, match="of a log density, which is not stored with it"):
        extend(fit, 70)
    same(extend(fit, 70, model=density, quiet=True), expected)


# -- what may be wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [None, 0, 1.5, "many"])
def test_it_has_to_be_said_how_far(draws):
    fit = infer(Groups(y=Y), draws=50, **SIZES)
    with pytest.raises(SamplerError, match=r"how many draws to add|draws must be a whole number"):
        extend(fit, draws)


def test_other_data():
    fit = infer(Groups(y=Y), draws=50, **SIZES)
    with pytest.raises(OutputError, match="of another model or data: y has other values"):
        extend(fit, 10, model=Groups(y=[0.0, *Y[1:]]))


class Mean(Model):
    """The parameter of a hierarchy without its scale."""

    mu = param(Normal(0, 1), dims="group")
    y = observed(Normal(mu, 1.0), dims="group")


class OtherScale(Model):
    """The same parameters with another prior."""

    tau = param(HalfNormal(3))
    mu = param(Normal(0, tau), dims="group")
    y = observed(Normal(mu, 1.0), dims="group")


@pytest.mark.parametrize("engine", ["auto", "numpy", "llvm"])
def test_another_model_with_the_same_data(engine):
    fit = infer(Groups(y=Y), draws=100, engine=engine, **SIZES)
    with pytest.raises(ModelError, match="has 5 unconstrained coordinates, of mu; the run had 6"):
        extend(fit, 100, model=Mean(y=Y), quiet=True)
    with pytest.raises(SamplerError, match="the log density has changed"):
        extend(fit, 100, model=OtherScale(y=Y), quiet=True)


def test_parameters_that_were_not_saved():
    fit = infer(Groups(y=Y), draws=50, var_names="tau", **SIZES)
    with pytest.raises(OutputError, match="made without the draws of mu"):
        extend(fit, 10)


@pytest.mark.parametrize("given", [None, 3, {"mu": 1}])
def test_what_is_no_fit(given):
    with pytest.raises(OutputError, match="does not hold the state of its run"):
        extend(given, 10)


def test_a_setting_that_is_a_function_leaves_no_state():
    fit = infer(Groups(y=Y), "ahmc", draws=50, reward=lambda x, h, n: 0.0, **SIZES)
    assert "sampler_state" not in group_names(fit)
    with pytest.raises(OutputError, match="does not hold the state of its run"):
        extend(fit, 10)


def test_a_damaged_state():
    fit = infer(Groups(y=Y), draws=50, **SIZES)
    state = group(fit, "sampler_state")["state"]
    state.values = np.roll(state.values, 5)
    with pytest.raises(OutputError, match="the state in this fit is damaged"):
        extend(fit, 10)


def test_another_version(monkeypatch):
    fit = infer(Groups(y=Y), draws=50, **SIZES)
    fit.attrs["inference_library_version"] = "0.0.1"
    with pytest.raises(
        OutputError, match=r"made by probmodel 0\.0\.1, and only that version can extend it"
    ):
        extend(fit, 10)


# -- points of unconstrained space -----------------------------------------------------------------


class Bounded(Model):
    least = param(HalfNormal(1))
    a = param(Normal(0, 1), lower=least, shape=3)
    b = param(Normal(0, 1), lower=0, upper=np.array([1.0, 2.0]), shape=(3, 2))
    y = observed(Normal(a, 1))


def test_one_bound_for_many_elements():
    density = as_posterior(Bounded(y=[1.0, 2.0, 3.0]))
    x = np.random.default_rng(1).normal(size=(4, density.dim))
    np.testing.assert_allclose(density.unconstrained(density.constrain(x)), x, atol=1e-9)


def test_draws_as_points():
    """Of every kind of parameter: with bounds, of constrained events, standardised or not."""

    class Kinds(Model):
        low = param(Normal(0, 1), lower=-1, upper=2)
        scale = param(HalfNormal(1))
        p = param(Dirichlet([1.0, 2.0, 3.0]), dims=("row", "part"))
        above = param(Normal(0, 1), lower=low)
        z = param(Normal(low, scale), noncentered=True, dims="k")
        flat = param(Flat())
        n = observed(Multinomial(20, p), dims=("row", "part"))

    density = as_posterior(Kinds(n=[[5, 7, 8], [1, 1, 18]], coords={"k": range(3)}))
    for rows in (1, 7):
        x = np.random.default_rng(rows).standard_normal((rows, density.dim))
        draws = density.constrain(x)
        np.testing.assert_allclose(density.unconstrained(draws), x, rtol=1e-9, atol=1e-9)
