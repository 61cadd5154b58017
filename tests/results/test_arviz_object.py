"""Groups, dims, coords, types and attributes of the result, in memory and through a file."""

import json

import arviz as az
import numpy as np
import pytest

from probmodel import Model, deterministic, param
from probmodel.arguments import seed_sequence
from probmodel.density import as_posterior
from probmodel.distributions import Normal
from probmodel.errors import OutputError
from probmodel.results import draws as draws_module
from probmodel.results.arviz_object import arviz_before_1, arviz_object, group, group_names
from probmodel.results.attributes import run_attributes
from probmodel.results.draws import element_labels, named_draws
from probmodel.results.findings import Finding
from probmodel.results.reading import load
from probmodel.results.storage import keep
from probmodel.types import Variable


@pytest.fixture
def build(posterior, sampler, make_request):
    def build(run, names=None, findings=(), **request):
        draws = named_draws(posterior, run.x, names)
        warmup = None if run.warmup_x is None else named_draws(posterior, run.warmup_x, names)
        attributes = run_attributes(make_request(**request), sampler, run, findings)
        return arviz_object(run, posterior, draws, attributes, warmup)

    return build


def test_kind_is_what_the_installed_arviz_uses(build, make_run):
    result = build(make_run())
    assert type(result).__name__ == ("InferenceData" if arviz_before_1() else "DataTree")
    assert arviz_before_1() == (int(az.__version__.split(".")[0]) < 1)


def test_groups(build, make_run):
    usual = {"posterior", "sample_stats", "observed_data", "constant_data"}
    assert set(group_names(build(make_run()))) == usual
    warm = {"warmup_posterior", "warmup_sample_stats"}
    assert set(group_names(build(make_run(warmup=20)))) == usual | warm


def test_no_draws_leave_only_the_warmup(build, make_run):
    run = make_run(np.empty((4, 0, 3)), warmup=20)
    names = set(group_names(build(run)))
    assert names == {"warmup_posterior", "warmup_sample_stats", "observed_data", "constant_data"}


def test_posterior_values_dims_and_coords(build, make_run):
    run = make_run(chains=2, draws=7)
    found = group(build(run), "posterior")
    assert found["w"].dims == ("chain", "draw", "feature")
    assert found["tau"].dims == ("chain", "draw")
    assert found["table"].dims == ("chain", "draw", "feature", "row")
    assert list(found.coords["feature"].values) == ["age", "sex"]
    assert list(found.coords["row"].values) == [0, 1, 2]
    assert list(found.coords["draw"].values) == list(range(7))
    np.testing.assert_array_equal(found["tau"], np.exp(run.x[:, :, 2]))
    np.testing.assert_array_equal(found["w"].sel(feature="sex"), run.x[:, :, 1])


def test_statistics_and_data_keep_their_types(build, make_run):
    result = build(make_run())
    stats = group(result, "sample_stats")
    assert stats["diverging"].dtype == bool
    assert stats["n_steps"].dtype.kind == "i"
    assert stats["lp"].dims == ("chain", "draw")
    data = group(result, "observed_data")
    assert data["y"].dtype.kind == "i"
    assert list(data.coords["obs"].values) == [0, 1, 2, 3]
    assert list(group(result, "constant_data").coords["feature"].values) == ["age", "sex"]


def test_statistics_of_trajectories_survive_a_file(build, make_run, tmp_path):
    run = make_run()
    rng = np.random.default_rng(1)
    shape = run.x.shape[:2]
    own = {
        "n_steps": rng.integers(1, 1023, shape),
        "tree_depth": rng.integers(1, 10, shape).astype(np.int8),
        "reached_max_treedepth": rng.random(shape) < 0.1,
        "energy": rng.standard_normal(shape),
    }
    run.stats.update(own)
    path = tmp_path / "fit.nc"
    assert keep(build(run), path) == (path, "")
    stats = group(load(path), "sample_stats")
    for name, values in own.items():
        np.testing.assert_array_equal(stats[name], values)
        assert stats[name].dtype == values.dtype


def test_only_the_variables_asked_for(build, make_run):
    found = group(build(make_run(), names=("tau",)), "posterior")
    assert list(found.data_vars) == ["tau"]


def test_transforming_in_chunks_changes_nothing(posterior, make_run, monkeypatch):
    run = make_run(chains=3, draws=11)
    whole = named_draws(posterior, run.x)
    posterior.largest = 0
    monkeypatch.setattr(draws_module, "_CHUNK", 60)
    for name, values in named_draws(posterior, run.x).items():
        np.testing.assert_array_equal(values, whole[name])
    assert posterior.largest == 3  # one draw of each chain


def test_integers_that_are_too_large_at_some_draws(monkeypatch):
    class Powers(Model):
        a = param(Normal(0, 1))
        made = deterministic(((a < 0) * 7) ** 40)

    density = as_posterior(Powers())
    for chunk in (1, 4, 100):
        monkeypatch.setattr(draws_module, "_CHUNK", chunk)
        for signs in ([-1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0]):
            found = named_draws(density, np.array(signs)[None, :, None])["made"][0]
            np.testing.assert_array_equal(found, np.where(np.array(signs) < 0, 7.0**40, 0.0))
    few = named_draws(density, np.ones((2, 3, 1)))["made"]
    assert few.dtype == np.int64


def test_element_labels():
    matrix = Variable("L", (2, 2), ("r", "c"), {"c": np.array(["a", "b"])}, "param")
    assert element_labels(matrix, {"c": np.array([8, 9])}) == [
        "L[0, a]",
        "L[0, b]",
        "L[1, a]",
        "L[1, b]",
    ]
    assert element_labels(Variable("mu", (), (), {}, "param"), {}) == ["mu"]


def test_attributes(build, make_run):
    finding = Finding("rhat", "R-hat above 1.01", ("w[age]",))
    attrs = build(make_run(interrupted=True), findings=[finding]).attrs
    assert attrs["method"] == "fake_mala"
    assert attrs["coupling"] == "pooled_warmup"
    assert json.loads(attrs["settings"])["target_accept"] == 0.574
    assert attrs["seed"] == 42
    assert attrs["interrupted"] == 1
    assert (attrs["n_logp_warmup"], attrs["n_grad_warmup"]) == (30, 2000)
    assert (attrs["n_grad_sampling"], attrs["n_hvp_sampling"]) == (2000, 2)
    assert (attrs["n_hvp_warmup"], attrs["n_hessian_sampling"]) == (0, 1)
    assert attrs["sampling_time"] == 0.5
    assert attrs["inference_library"] == "probmodel"
    assert attrs["numpy_version"] == np.__version__
    stored = json.loads(attrs["warnings"])
    assert stored == [{"kind": "rhat", "message": "R-hat above 1.01", "variables": ["w[age]"]}]


@pytest.mark.parametrize(("entropy", "expected"), [(7, 7), (2**80, str(2**80)), ([1, 2], "[1, 2]")])
def test_seed_attribute(build, make_run, entropy, expected):
    attrs = build(make_run(), seed=np.random.SeedSequence(entropy)).attrs
    assert attrs["seed"] == expected
    assert "seed_spawn_key" not in attrs
    again = seed_sequence(attrs["seed"])
    state = np.random.SeedSequence(entropy).generate_state(4)
    np.testing.assert_array_equal(again.generate_state(4), state)


def test_seed_of_a_child(build, make_run):
    child = np.random.SeedSequence(3).spawn(2)[1]
    attrs = build(make_run(), seed=child).attrs
    assert (attrs["seed"], attrs["seed_spawn_key"]) == (3, "[1]")


def test_round_trip_through_a_file(build, make_run, tmp_path):
    result = build(make_run(warmup=10), findings=[Finding("few_draws", "few")])
    path = tmp_path / "fit.nc"
    assert keep(result, path) == (path, "")
    again = load(path)
    assert set(group_names(again)) == set(group_names(result))
    for name in group_names(result):
        before, after = group(result, name), group(again, name)
        for key in before.data_vars:
            np.testing.assert_array_equal(before[key], after[key])
            assert after[key].dtype == before[key].dtype
            assert after[key].dims == before[key].dims
    assert list(group(again, "posterior").coords["feature"].values) == ["age", "sex"]
    for key, value in result.attrs.items():
        assert again.attrs[key] == value
    assert list(tmp_path.iterdir()) == [path]


def test_unreadable_files(tmp_path):
    with pytest.raises(OutputError, match="no file"):
        load(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("not a netCDF file")
    with pytest.raises(OutputError, match="cannot be read"):
        load(tmp_path / "text.nc")
