"""`infer` from its arguments to the ArviZ object, on a small posterior made by hand."""

import dataclasses
import inspect
import json
import pickle
import re
import signal
import sys
import time
import warnings
from importlib import metadata
from typing import ClassVar, NamedTuple

import arviz as az
import numpy as np
import pytest

import probmodel
from probmodel import Model, observed, param
from probmodel.constraints import Ordered
from probmodel.density import as_posterior
from probmodel.distributions import Dirichlet, HalfNormal, Normal
from probmodel.errors import (
    InitializationError,
    ModelError,
    SamplerError,
    SamplingWarning,
    TimeLimitError,
)
from probmodel.inference.request import ANSWERS, SETTING_SYNONYMS, SYNONYMS, Arguments
from probmodel.results.arviz_object import arviz_before_1, group, group_names
from probmodel.results.attributes import package_version
from probmodel.samplers import SAMPLERS, make_sampler
from probmodel.samplers.base import Info, Sampler, State
from probmodel.sampling import infer
from probmodel.types import Evaluation, Variable

COVARIANCE = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 0.25]])
SMALL = {"draws": 30, "warmup": 40, "chains": 2, "quiet": True}


class Gaussian:
    """Correlated normal ``w`` and a positive ``tau`` whose logarithm is normal."""

    name = "Gaussian"
    dim = 3
    coordinate_names = ("w[0]", "w[1]", "tau")
    variables = (
        Variable("w", (2,), ("feature",), {"feature": np.array(["a", "b"])}, "param"),
        Variable("tau", (), (), {}, "param"),
        Variable("total", (), (), {}, "deterministic"),
    )

    def __init__(self, interrupt_after=None):
        self.coords = {"feature": np.array(["a", "b"])}
        self.observed_data = {"y": (("obs",), np.arange(3.0))}
        self.constant_data = {}
        self.precision = np.linalg.inv(COVARIANCE)
        self.calls = 0
        self.interrupt_after = interrupt_after
        self.inits = None

    def __call__(self, x):
        self.calls += 1
        if self.interrupt_after is not None and self.calls > self.interrupt_after:
            raise KeyboardInterrupt
        slope = -x @ self.precision
        return Evaluation(0.5 * np.sum(x * slope, axis=1), slope)

    def log_density(self, x):
        return self(x).logp

    def constrain(self, x, names=None):
        w = x[:, :2]
        values = {"w": w, "tau": np.exp(x[:, 2]), "total": w.sum(axis=1)}
        return {name: values[name] for name in names or values}

    def initial_points(self, rng, chains, inits=None):
        self.inits = inits
        return rng.uniform(-2.0, 2.0, (chains, self.dim))


@pytest.fixture
def posterior():
    return Gaussian()


def w(result):
    return np.asarray(group(result, "posterior")["w"])


def test_groups_and_shapes(posterior):
    result = infer(posterior, seed=1, **SMALL)
    groups = {"posterior", "sample_stats", "observed_data", "sampler_state"}
    assert set(group_names(result)) == groups
    found = group(result, "posterior")
    assert list(found.data_vars) == ["w", "tau", "total"]
    assert found["w"].shape == (2, 30, 2)
    assert list(found.coords["feature"].values) == ["a", "b"]
    stats = group(result, "sample_stats")
    assert {"lp", "acceptance_rate", "step_size", "diverging"} <= set(stats.data_vars)


def test_draws_have_the_moments_of_the_target(posterior):
    result = infer(posterior, seed=2, warmup=1000, draws=2000, chains=4, quiet=True)
    draws = w(result)
    for values, expected in ((draws[..., 0], 0.0), (draws[..., 0] * draws[..., 1], 0.6)):
        error = values.std() / np.sqrt(float(az.ess(values, method="mean")))
        assert abs(values.mean() - expected) < 5.0 * error
    assert abs(draws[..., 0].mean() - 1.0) > 5.0 * error  # the check can tell a wrong mean


def test_the_same_seed_gives_the_same_draws(posterior):
    first = w(infer(posterior, seed=3, **SMALL))
    np.testing.assert_array_equal(first, w(infer(posterior, seed=np.int64(3), **SMALL)))
    assert not np.array_equal(first, w(infer(posterior, seed=4, **SMALL)))
    sequence = np.random.SeedSequence(3)
    for _ in range(2):
        np.testing.assert_array_equal(first, w(infer(posterior, seed=sequence, **SMALL)))


def test_a_fresh_seed_is_recorded(posterior):
    first = infer(posterior, **SMALL)
    again = infer(posterior, seed=int(first.attrs["seed"]), **SMALL)
    np.testing.assert_array_equal(w(first), w(again))
    assert infer(posterior, **SMALL).attrs["seed"] != first.attrs["seed"]


def test_the_method_knows_its_sizes(posterior):
    result = infer(posterior, "rwm", seed=1, draws=5, warmup=5, quiet=True)
    assert result.attrs["chains"] == SAMPLERS["rwm"].default_chains


def test_thinning_keeps_the_number_of_draws(posterior):
    result = infer(posterior, seed=1, thin=3, **SMALL)
    assert w(result).shape == (2, 30, 2)
    assert result.attrs["thin"] == 3


def test_warmup_is_kept_on_request(posterior):
    result = infer(posterior, seed=1, save_warmup=True, **SMALL)
    assert group(result, "warmup_posterior")["w"].shape == (2, 40, 2)
    assert "lp" in group(result, "warmup_sample_stats")


@pytest.mark.parametrize("names", ["tau", ["tau"], ("tau",)])
def test_only_some_variables(posterior, names):
    found = group(infer(posterior, seed=1, var_names=names, **SMALL), "posterior")
    assert list(found.data_vars) == ["tau"]


@pytest.mark.parametrize("synonym", sorted(SYNONYMS))
def test_synonyms(posterior, synonym):
    target = SYNONYMS[synonym]
    value = {"target_accept": 0.5, "progressbar": False, "inits": 0, "thin": 2}.get(target, 21)
    sizes = {key: size for key, size in SMALL.items() if key != target}
    result = infer(posterior, "mala", **{"seed": 1, **sizes, synonym: value} if target != "seed"
                   else {**sizes, synonym: value})  # fmt: skip
    if target == "target_accept":
        assert json.loads(result.attrs["settings"])["target_accept"] == 0.5
    elif target == "inits":
        assert posterior.inits == 0
    elif target != "progressbar":
        assert result.attrs[target] == value


def test_a_synonym_beside_what_it_means(posterior):
    with pytest.raises(SamplerError, match="'warmup' and 'tune' mean the same"):
        infer(posterior, warmup=10, tune=20)
    with pytest.raises(SamplerError, match="'tune' and 'num_warmup' mean the same"):
        infer(posterior, tune=20, num_warmup=20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draw": 10}, "Did you mean 'draws'"),
        ({"warmupp": 10}, "Did you mean 'warmup'"),
        ({"target_acept": 0.5}, "Did you mean 'target_accept'"),
        ({"method": "fisher_mal"}, "Did you mean 'fisher_mala'"),
        ({"method": 3}, "Unknown method 3.* draws=3"),
        ({"method": SAMPLERS["mala"]}, "Unknown method"),
        ({"var_names": "tua"}, "Did you mean 'tau'"),
        ({"var_names": []}, "var_names is empty"),
        ({"draws": 0}, "draws must be a whole number of at least 1, got 0"),
        ({"draws": 10.0}, "got 10.0"),
        ({"draws": True}, "got True"),
        ({"draws": "10"}, "got '10'"),
        ({"warmup": 0}, "warmup must be"),
        ({"chains": -1}, "chains must be"),
        ({"thin": 0}, "thin must be"),
        ({"thin": None}, "thin must be"),
        ({"target_accept": 1.0}, "between 0 and 1, got 1.0"),
        ({"target_accept": "high"}, "between 0 and 1"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"seed": np.random.default_rng(1)}, "seed must be"),
    ],
)
def test_arguments_are_checked_before_any_work(posterior, arguments, message):
    with pytest.raises(SamplerError, match=message):
        infer(posterior, **arguments)
    assert posterior.calls == 0


def test_every_setting_of_a_method_is_an_argument(posterior):
    field = dataclasses.fields(SAMPLERS["mala"])[0]
    default = getattr(make_sampler("mala"), field.name)
    result = infer(posterior, "mala", seed=1, **{field.name: default}, **SMALL)
    assert field.name in json.loads(result.attrs["settings"])


def test_a_sampler_instead_of_a_name(posterior):
    sampler = make_sampler("mala", target_accept=0.4)
    result = infer(posterior, sampler, seed=1, **SMALL)
    assert json.loads(result.attrs["settings"])["target_accept"] == 0.4


def test_warnings_point_at_the_call(posterior):
    with pytest.warns(SamplingWarning) as caught:
        result = infer(posterior, seed=1, draws=50, warmup=50, chains=1, progressbar=False)
    assert "Only one chain" in str(caught[0].message)
    assert {warning.filename for warning in caught} == {__file__}
    stored = [finding["message"] for finding in json.loads(result.attrs["warnings"])]
    assert stored == [str(warning.message) for warning in caught]


def test_quiet_prints_and_warns_of_nothing(posterior, capfd):
    result = infer(posterior, seed=1, **SMALL)
    assert capfd.readouterr() == ("", "")
    assert json.loads(result.attrs["warnings"])


def test_an_interrupt_keeps_the_draws():
    with pytest.warns(SamplingWarning) as caught:
        result = infer(
            Gaussian(interrupt_after=150), "fisher_mala", seed=1, warmup=50, draws=1000, chains=2,
            progressbar=False,
        )  # fmt: skip
    assert str(caught[0].message).startswith("Interrupted after")
    assert result.attrs["interrupted"] == 1
    assert result.attrs["draws"] == 1000
    assert 50 < w(result).shape[1] < 150
    assert np.isfinite(w(result)).all()


def test_an_interrupt_before_the_first_draw():
    with pytest.raises(KeyboardInterrupt) as caught:
        infer(Gaussian(interrupt_after=30), seed=1, **SMALL)
    assert [set(inits) for inits in caught.value.inits] == [{"w", "tau"}] * 2


def test_an_interrupt_in_a_warmup_that_is_saved():
    result = infer(Gaussian(interrupt_after=90), seed=1, save_warmup=True, **SMALL)
    assert "posterior" not in group_names(result)
    assert 0 < group(result, "warmup_posterior")["w"].shape[1] < 40


class Slow(Gaussian):
    """Takes a millisecond for each evaluation."""

    def __call__(self, x):
        time.sleep(0.001)
        return super().__call__(x)


def test_a_time_limit_keeps_the_draws():
    with pytest.warns(SamplingWarning) as caught:
        result = infer(
            Slow(), "fisher_mala", seed=1, warmup=20, draws=10**6, chains=2, max_time=2,
            progressbar=False,
        )  # fmt: skip
    assert str(caught[0].message).startswith("The time limit of 2 s ended the run after")
    attrs = result.attrs
    assert (attrs["timed_out"], attrs["interrupted"], attrs["max_time"]) == (1, 0, 2.0)
    assert 0 < w(result).shape[1] == attrs["draws_done"] <= 2000
    assert attrs["warmup_time"] + attrs["sampling_time"] >= 1.9
    assert np.isfinite(w(result)).all()


def test_a_time_limit_that_is_not_reached_changes_nothing(posterior):
    limited = infer(posterior, seed=1, max_time=1000, **SMALL)
    assert (w(limited) == w(infer(posterior, seed=1, **SMALL))).all()
    assert limited.attrs["timed_out"] == 0


def test_a_time_limit_before_the_first_draw():
    with pytest.raises(TimeLimitError, match=r"^max_time=0.05 .* of 1000 warm-up") as caught:
        infer(Slow(), seed=1, warmup=1000, draws=10, chains=2, max_time=0.05, quiet=True)
    assert isinstance(caught.value, TimeoutError)
    assert [set(inits) for inits in caught.value.inits] == [{"w", "tau"}] * 2
    settings = {"warmup": 10**5, "chains": 2, "max_time": 0.5, "save_warmup": True}
    result = infer(Slow(), seed=1, quiet=True, **settings)
    assert "posterior" not in group_names(result)
    assert 0 < group(result, "warmup_posterior")["w"].shape[1] <= 500


class Late(Gaussian):
    """Takes long for its first evaluation, as where machine code is made."""

    late = 0.3

    def __call__(self, x):
        time.sleep(self.late)
        self.late = 0.0
        return super().__call__(x)


def test_a_time_limit_counts_the_first_evaluation():
    with pytest.raises(TimeLimitError, match=r"^max_time=0.25 .* after 0 of 1000 warm-up"):
        infer(Late(), seed=1, warmup=1000, draws=10, chains=2, max_time=0.25, quiet=True)


class Mixed(Model):
    """Parameters of several kinds, of which some depend on others."""

    tau = param(HalfNormal(2))
    shares = param(Dirichlet(np.ones(3)))
    cuts = param(Normal(0, 2), constraint=Ordered(), shape=2)
    effect = param(Normal(cuts[0], tau), shape=4, noncentered=True)
    y = observed(Normal(effect[0] + shares[1], 1), dims="obs")


def test_a_run_goes_on_from_where_the_time_limit_ended_it():
    model, sizes = Mixed(y=[0.3, 1.2]), {"chains": 3, "seed": 1, "quiet": True}
    with pytest.raises(TimeLimitError, match=r"inits=error.inits\)") as caught:
        infer(model, warmup=10**6, draws=5, max_time=0.3, **sizes)
    inits = pickle.loads(pickle.dumps(caught.value)).inits
    assert [set(chain) for chain in inits] == [{"tau", "shares", "cuts", "effect"}] * 3
    density = as_posterior(model)
    x = density.initial_points(np.random.default_rng(1), 3, inits)
    again = density.constrain(x, ("effect", "cuts"))
    for chain in range(3):
        for name in ("effect", "cuts"):
            np.testing.assert_allclose(again[name][chain], inits[chain][name], rtol=1e-9)
    assert infer(model, inits=inits, warmup=20, draws=5, **sizes).attrs["draws_done"] == 5


@pytest.mark.parametrize("value", [0, -1.0, np.nan, True, "1h"])
def test_a_time_limit_that_makes_no_sense(posterior, value):
    with pytest.raises(SamplerError, match="max_time must be a positive number of seconds"):
        infer(posterior, max_time=value, **SMALL)


def test_an_error_in_the_diagnostics_does_not_lose_the_draws(posterior, monkeypatch):
    def broken(*arguments):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(sys.modules["probmodel.results.drawn"], "diagnose", broken)
    with pytest.warns(SamplingWarning, match="ZeroDivisionError: by nothing"):
        result = infer(posterior, seed=1, draws=100, warmup=40, chains=2, progressbar=False)
    assert w(result).shape == (2, 100, 2)


def test_an_interrupt_of_the_diagnostics_does_not_lose_the_draws(posterior, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["probmodel.results.drawn"], "diagnose", interrupted)
    assert w(infer(posterior, seed=1, **SMALL)).shape == (2, 30, 2)


class Broken(Gaussian):
    """Cannot compute some variables; ``calls_left`` counts what it can before."""

    def __init__(self, error, names, calls_left=0):
        super().__init__()
        self.error, self.names, self.calls_left = error, names, calls_left

    def constrain(self, x, names=None):
        if set(self.names) & set(names):
            self.calls_left -= 1
            if self.calls_left < 0:
                raise self.error
        return super().constrain(x, names)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by nothing"), MemoryError(), KeyboardInterrupt(), SystemExit(3)]
)
def test_a_quantity_that_fails_costs_only_itself(error):
    result = infer(Broken(error, ["total"]), seed=1, **SMALL)
    assert list(group(result, "posterior").data_vars) == ["w", "tau"]
    assert w(result).shape == (2, 30, 2)
    assert findings(result)["variables_left_out"]["variables"] == ["total"]
    assert result.attrs["interrupted"] == isinstance(error, KeyboardInterrupt)


def test_parameters_that_fail_are_kept_unconstrained():
    density = Broken(MemoryError(), ["tau"])
    result = infer(density, seed=1, save_warmup=True, **SMALL)
    assert list(group(result, "posterior").data_vars) == ["w", "total"]
    raw = group(result, "unconstrained_posterior")["x"]
    assert list(raw["coordinate"].values) == list(density.coordinate_names)
    np.testing.assert_array_equal(raw[:, :, :2], w(result))
    assert "unconstrained_posterior" in findings(result)["variables_left_out"]["message"]


def test_an_interrupt_after_the_last_draw_is_told(posterior, monkeypatch):
    module = sys.modules["probmodel.results.drawn"]
    make = module.arviz_object

    def interrupted(*arguments, **settings):
        signal.raise_signal(signal.SIGINT)
        return make(*arguments, **settings)

    monkeypatch.setattr(module, "arviz_object", interrupted)
    result = infer(posterior, seed=1, **SMALL)
    assert w(result).shape == (2, 30, 2)
    assert result.attrs["interrupted"] == 1
    assert "after the last draw" in findings(result)["interrupted"]["message"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_run_in_a_script(posterior, number):
    class Ending(Gaussian):
        def __call__(self, x):
            if self.calls == 150:
                signal.raise_signal(number)
            return super().__call__(x)

    before = signal.getsignal(number)
    result = infer(Ending(), "mala", seed=1, warmup=50, draws=1000, chains=2, quiet=True)
    assert signal.getsignal(number) is before
    assert result.attrs["interrupted"] == 1
    assert 50 < w(result).shape[1] < 150


def test_warnings_that_are_errors_carry_the_result(posterior):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SamplingWarning)
        with pytest.raises(SamplingWarning, match="Only 30 draws") as caught:
            infer(posterior, seed=1, draws=30, warmup=40, chains=2, progressbar=False)
    assert w(caught.value.result).shape == (2, 30, 2)
    assert "`result`" in caught.value.__notes__[0]


@pytest.mark.parametrize("name", ["chain", "draw"])
def test_what_does_not_go_into_the_result_fails_before_the_run(posterior, name):
    posterior.variables = (Variable(name, (), (), {}, "param"), *posterior.variables)
    with pytest.raises(ModelError, match=f"cannot be stored in an ArviZ object: .*{name}"):
        infer(posterior, seed=1, **SMALL)
    assert posterior.calls == 0


def test_packages_that_are_not_installed(posterior, monkeypatch):
    """A source tree on the path has no metadata."""

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    arviz_before_1.cache_clear()
    package_version.cache_clear()
    attrs = infer(posterior, seed=1, **SMALL).attrs
    assert attrs["inference_library_version"] == probmodel.__version__
    assert attrs["numpy_version"] == np.__version__


def test_a_model_that_was_not_bound_comes_after_the_arguments():
    with pytest.raises(SamplerError, match="draws must be"):
        infer(object, draws=0)
    with pytest.raises(ModelError):
        infer(object)


def test_initial_points_that_fail(posterior, monkeypatch):
    def fail(rng, chains, inits):
        raise InitializationError("no start")

    monkeypatch.setattr(posterior, "initial_points", fail)
    with pytest.raises(InitializationError, match="no start"):
        infer(posterior, seed=1, **SMALL)


class Breakdown(NamedTuple):
    divergence: np.ndarray


@dataclasses.dataclass(frozen=True)
class Diverging(Sampler):
    """Independent draws from ``Gaussian``, whose trajectories break down at the starts below.

    A trajectory from ``log tau < edge`` breaks down one further down. It is accepted all the same,
    so that the draws are exact.
    """

    edge: float = -0.8
    weights: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(100))

    name: ClassVar[str] = "diverging"
    summary: ClassVar[str] = "breaks down in a known region"
    paper: ClassVar[str] = "none"
    coupling: ClassVar[str] = "independent"
    adapts_forever: ClassVar[bool] = False

    def init(self, rng, density, x):
        return State(x, *density(x))

    def step(self, rng, density, state, params):
        x = rng.standard_normal(state.x.shape) @ np.linalg.cholesky(COVARIANCE).T
        proposal = State(x, *density(x))
        diverging = state.x[:, 2] < self.edge
        depth = rng.integers(1, 5, len(x))
        stats = {
            "n_steps": 2**depth - 1,
            "tree_depth": depth,
            "reached_max_treedepth": depth == 4,
            "energy": -proposal.logp,
        }
        yes = np.ones(len(x), dtype=bool)
        broken = np.where(diverging[:, None], state.x - 1.0, np.nan)
        return proposal, Info(
            0.8 * yes, yes, diverging, stats["n_steps"], state, proposal, stats, Breakdown(broken)
        )

    def adapt_init(self, rng, density, state):
        return ()

    def adapt(self, rng, density, i, n_warmup, adaptation, state, info):
        return adaptation

    def params(self, adaptation, final=False):
        return ()


def findings(result):
    return {finding["kind"]: finding for finding in json.loads(result.attrs["warnings"])}


@pytest.mark.parametrize("pool", [True, False])
def test_divergences_are_reported_where_they_happened(posterior, pool):
    result = infer(
        posterior, Diverging(), seed=1, draws=500, warmup=5, chains=4, pool=pool, quiet=True
    )
    stats, found = group(result, "sample_stats"), group(result, "divergences")
    where = np.argwhere(stats["diverging"].values)
    pairs = np.stack([found["chain"], found["draw"]], axis=1)
    assert sorted(map(tuple, pairs)) == sorted(map(tuple, where))
    later = found["draw"].values > 0
    tau = group(result, "posterior")["tau"].values
    start = found["tau"].sel(point="start").values
    np.testing.assert_array_equal(
        start[later], tau[found["chain"].values[later], found["draw"].values[later] - 1]
    )
    assert (start < np.exp(-0.8)).all()
    np.testing.assert_allclose(found["tau"].sel(point="breakdown"), start * np.exp(-1.0))
    finding = findings(result)["divergences"]
    assert finding["variables"] == ["tau"]
    assert finding["message"].startswith(f"{len(where)} of 2000 trajectories diverged")
    assert result.attrs["divergences"] == len(where)
    assert {"tree_depth", "reached_max_treedepth", "energy", "n_steps"} <= set(stats.data_vars)
    assert len(np.unique(stats["n_steps"])) == 4


def test_divergences_that_were_thinned_out_are_counted(posterior):
    result = infer(posterior, Diverging(), seed=1, draws=200, warmup=5, thin=5, quiet=True)
    count = result.attrs["divergences"]
    assert count > 2 * int(group(result, "sample_stats")["diverging"].sum())
    assert findings(result)["divergences"]["message"].startswith(f"{count} of 4000 trajectories")
    assert int(group(result, "divergences")["draw"].max()) < 200


def test_divergences_of_an_interrupted_run():
    result = infer(
        Gaussian(interrupt_after=150), Diverging(), seed=1, warmup=50, draws=1000, chains=4,
        quiet=True,
    )  # fmt: skip
    done = result.attrs["draws_done"]
    assert done < 150
    assert int(group(result, "divergences")["draw"].max()) < done
    count = int(group(result, "sample_stats")["diverging"].sum())
    assert result.attrs["divergences"] == group(result, "divergences")["draw"].size == count


def test_many_divergences_are_counted_and_some_are_kept(posterior):
    result = infer(posterior, Diverging(edge=9.0), seed=1, draws=500, warmup=5, quiet=True)
    assert result.attrs["divergences"] == 2000
    assert group(result, "divergences")["tau"].shape == (1000, 2)
    assert "the steps are far too long" in findings(result)["divergences"]["message"]


def test_a_run_without_divergences_does_not_speak_of_them(posterior):
    result = infer(posterior, Diverging(edge=-99.0), seed=1, draws=500, warmup=5, quiet=True)
    assert "divergences" not in group_names(result)
    assert findings(result) == {}


def test_what_arviz_makes_of_divergences(posterior):
    result = infer(posterior, Diverging(), seed=1, draws=500, warmup=5, quiet=True)
    assert list(az.summary(result).index) == ["w[a]", "w[b]", "tau", "total"]
    energies = az.bfmi(result)
    energies = energies if isinstance(energies, np.ndarray) else energies["energy"].values
    assert (energies > 0.3).all()
    assert group(result.sel(chain=[0, 1]), "divergences").equals(group(result, "divergences"))


def test_settings_that_are_arrays_are_described(posterior):
    result = infer(posterior, Diverging(), seed=1, **SMALL)
    assert json.loads(result.attrs["settings"]) == {"edge": -0.8, "weights": "array (100,)"}


@pytest.mark.parametrize("forever", [False, True])
def test_methods_that_adapt_for_ever_are_marked(posterior, forever):
    kind = type("Forever", (Diverging,), {"adapts_forever": forever})
    assert infer(posterior, kind(), seed=1, **SMALL).attrs["adapting"] == int(forever)


def test_arguments_are_those_of_the_signature():
    signature = inspect.signature(infer).parameters
    own = {name: p.default for name, p in signature.items() if p.kind is p.KEYWORD_ONLY}
    assert {field.name: field.default for field in dataclasses.fields(Arguments)} == own


@pytest.mark.parametrize("name", sorted(SETTING_SYNONYMS))
def test_settings_as_other_tools_call_them(posterior, name):
    target = SETTING_SYNONYMS[name]
    method, value = {
        "max_depth": ("nuts", 3), "step_size": ("mala", 0.4), "n_steps": ("hmc", 7),
        "trajectory_length": ("fisher_hmc", 1.1), "inv_metric": ("nuts", [1.0, 2.0, 1.0]),
    }[target]  # fmt: skip
    result = infer(posterior, method, seed=1, **SMALL, **{name: value})
    assert json.loads(result.attrs["settings"])[target] == value
    with pytest.raises(SamplerError, match=f"'{target}' and '{name}' mean the same"):
        infer(posterior, method, **{name: value, target: value})
    with pytest.raises(SamplerError, match=f"Methods that have it call it '{target}'"):
        infer(posterior, "sa_mcmc", **{name: value})


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_arguments_of_other_tools_are_answered(posterior, name):
    with pytest.raises(SamplerError, match=re.escape(f"Here {ANSWERS[name]}.")):
        infer(posterior, **{name: 1})
    assert posterior.calls == 0


def test_answers_name_what_there_is():
    """Each word with an equals sign is an argument of `infer`, or a setting of a method."""
    known = set(inspect.signature(infer).parameters)
    for kind in SAMPLERS.values():
        known |= {field.name for field in dataclasses.fields(kind)}
    used = {word for text in ANSWERS.values() for word in re.findall(r"(\w+)=", text)}
    assert used <= known
    assert not set(ANSWERS) & known
