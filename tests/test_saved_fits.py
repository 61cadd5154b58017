"""Fits that were saved, and know their model."""

import json
import pickle
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from probmodel import (
    LogDensity,
    Model,
    data,
    extend,
    infer,
    load_fit,
    load_model,
    observed,
    param,
    predict,
)
from probmodel.distributions import Normal
from probmodel.errors import DataError, ModelError, OutputError, SamplingWarning, ShapeError
from probmodel.model import references
from probmodel.results.arviz_object import group, group_names
from probmodel.results.storage import keep
from probmodel.saved_fits import SavedFit

MODEL = """
from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import HalfNormal, Normal

class Line(Model):
    unit = data()
    x = data(dims="day")
    place = data(dims="day", dtype=int)
    a = param(Normal(0, 1), dims="town")
    b = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal(a[place] + b * x / unit, s), dims="day")
    twice = deterministic(2 * b)
"""
SIZES = {"chains": 2, "warmup": 100, "draws": 100, "seed": 1, "quiet": True}
NEW = {"x": [5.0, 6.0], "place": [1, 0]}


def bound(file, **changes):
    data = {"unit": 2.0, "x": [0.0, 1.0, 2.0], "place": [0, 1, 1], "y": [0.1, 0.8, 2.1]}
    return load_model(file)(**{**data, **changes}, coords={"town": ["Ulm", "Bonn"]})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "line.py"
    path.write_text(MODEL)
    return path


@pytest.fixture
def saved(tmp_path, file):
    """A model, its fit and the file of that."""
    model = bound(file)
    fit = infer(model, **SIZES)
    keep(fit, tmp_path / "fit.nc")
    return model, fit, tmp_path / "fit.nc"


def test_what_a_notebook_shows(saved):
    _, fit, path = saved
    html = load_fit(path)._repr_html_()
    root = ElementTree.fromstring(html)
    rows = [["".join(cell.itertext()) for cell in row] for row in root.find("table")][1:]
    known, attrs = dict(rows), fit.attrs
    assert "".join(root.find("table")[0].itertext()) == "Line"
    assert known["data"] == "unit, x (3), place (3), y (3)"
    assert known["method"] == f"fisher_hmc, seed {attrs['seed']}"
    assert known["draws"] == "2 chains of 100"
    assert known["warm-up"] == f"{attrs['warmup_done']} iterations"
    assert known["made"] == f"{attrs['created_at'][:10]} {attrs['created_at'][11:19]} UTC"
    assert f"probmodel {attrs['inference_library_version']}, numpy " in known["versions"]
    findings = [finding["message"] for finding in json.loads(attrs["warnings"])]
    assert [text for title, text in rows if title == "finding"] == findings
    assert ".predict(new_data)" in known["to use"]
    summary, model = ("".join(part.itertext()) for part in root.findall("details"))
    assert "a[Ulm]" in summary
    assert "a[town] ~ Normal(0, 1)" in model


def test_it_predicts_as_the_model_does(saved, file):
    model, fit, path = saved
    again = load_fit(path)
    found = again.predict(NEW, seed=3)
    new = type(model)(unit=2.0, **NEW, coords={"town": ["Ulm", "Bonn"]})
    expected = predict(new, fit, 3)
    np.testing.assert_array_equal(found.predictions["y"], expected.predictions["y"])
    assert found.predictions["y"].shape == (2, 100, 2)
    towns = np.array(["Ulm", "Bonn"])[NEW["place"]]
    frame = again.predict(pd.DataFrame({**NEW, "place": towns}), seed=3)
    np.testing.assert_array_equal(frame.predictions["y"], expected.predictions["y"])
    assert again.predict(seed=1).predictions["y"].shape == (2, 100, 3)


def test_groups_in_a_frame_are_those_of_the_fit(tmp_path):
    """Numbers of groups are looked up, not taken for positions."""
    (tmp_path / "groups.py").write_text(
        "from probmodel import Model, data, observed, param\n"
        "from probmodel.distributions import Normal\n"
        "class Groups(Model):\n"
        "    home = data(dims='row', dtype=int)\n"
        "    x = data(dims='row')\n"
        "    a = param(Normal(0, 100), dims='group')\n"
        "    y = observed(Normal(a[home] + x, 0.1), dims='row')\n"
    )
    Groups = load_model(tmp_path / "groups.py")
    homes = np.repeat([1, 2, 3], 20)
    frame = pd.DataFrame({"home": homes, "x": 0.0, "y": 10.0 * homes, "unused": "a"})
    keep(infer(Groups.from_frame(frame), **SIZES), tmp_path / "fit.nc")
    fit = load_fit(tmp_path / "fit.nc")
    found = fit.predict(pd.DataFrame({"home": [2, 1, 3, 3], "x": 1.0}), seed=1)
    means = found.predictions["y"].mean(("chain", "draw")).values
    np.testing.assert_allclose(means, [21.0, 11.0, 31.0, 31.0], atol=0.2)
    new = pd.DataFrame({"home": [4, 2], "x": 1.0})
    with pytest.raises(
        DataError, match=r"has 4, which the labels of the dim 'group' lack.*new_groups="
    ):
        fit.predict(new)
    zero = fit.predict(new, seed=1, new_groups="zero").predictions["y"].mean(("chain", "draw"))
    np.testing.assert_allclose(zero, [1.0, 21.0], atol=0.2)
    drawn = fit.predict(new, seed=1, new_groups="draw").predictions["y"].std(("chain", "draw"))
    assert 70.0 < drawn[0] < 130.0
    assert drawn[1] < 0.2
    with pytest.raises(DataError, match="has 'a', which the labels of the dim 'group' lack"):
        fit.predict(pd.DataFrame({"home": ["a"], "x": 1.0}), new_groups="draw")
    with pytest.raises(DataError, match="the column 'home' has no value in row 0"):
        fit.predict(pd.DataFrame({"home": [None, 4], "x": 1.0}), new_groups="draw")
    with pytest.raises(DataError, match="new_groups must be one of"):
        fit.predict(new, new_groups="drawn")


def test_new_groups_with_a_predictor_of_their_own(tmp_path):
    (tmp_path / "ores.py").write_text(
        "from probmodel import Model, data, observed, param\n"
        "from probmodel.distributions import Normal\n"
        "class Ores(Model):\n"
        "    ore = data(dims='group')\n"
        "    home = data(dims='row', dtype=int)\n"
        "    a = param(Normal(ore, 0.1), dims='group')\n"
        "    y = observed(Normal(a[home], 0.1), dims='row')\n"
    )
    Ores = load_model(tmp_path / "ores.py")
    frame = pd.DataFrame({"home": list("abb"), "ore": [1.0, 2.0, 2.0], "y": [1.0, 2.0, 2.0]})
    keep(infer(Ores.from_frame(frame), **SIZES), tmp_path / "fit.nc")
    fit, new = load_fit(tmp_path / "fit.nc"), pd.DataFrame({"home": ["z", "a"], "ore": [9.0, 1.0]})
    with pytest.raises(DataError, match=r"values for each group: ore\. Give the frame columns"):
        fit.predict(new[["home"]], new_groups="draw")
    for coords in (None, {"group": ["z", "a"]}):
        found = fit.predict(new, seed=1, new_groups="draw", coords=coords)
        means = found.predictions["y"].mean(("chain", "draw"))
        np.testing.assert_allclose(means, [9.0, 1.0], atol=0.2)
    # Groups of the fit that the frame has no row of keep their values, also where it has others.
    some = fit.predict(pd.DataFrame({"home": ["b"], "ore": [2.0]}), seed=1)
    np.testing.assert_array_equal(some.predictions_constant_data["ore"], [1.0, 2.0])
    np.testing.assert_allclose(some.predictions["y"].mean(), 2.0, atol=0.2)
    with pytest.raises(DataError, match="has no row of group 'b'"):
        fit.predict(new, new_groups="draw", coords={"group": ["z", "a", "b"]})


class Shops(Model):
    region = data("shop", dtype=int)
    size = data("shop")
    at = data("row", dtype=int)
    x = data("row")
    level = param(Normal(0, 100), dims="area")
    effect = param(Normal(level[region] + size, 0.1), dims="shop")
    y = observed(Normal(effect[at] + x, 0.1), dims="row")


@pytest.fixture
def shops():
    """Areas at 10 and 20, and shops whose size adds to that."""
    sizes = {"a": 1.5, "b": 2.0, "c": 3.0}
    frame = pd.DataFrame({"at": np.repeat(list(sizes), 10), "x": 0.0})
    frame["size"] = frame["at"].map(sizes)
    frame["region"] = np.where(frame["at"] == "b", "south", "east")
    frame["y"] = np.where(frame["at"] == "b", 20.0, 10.0) + frame["size"]
    model = Shops.from_frame(frame)
    return SavedFit(infer(model, **SIZES), model)


@pytest.mark.parametrize("new_groups", ["zero", "draw"])
def test_a_frame_with_some_groups_of_groups(shops, new_groups):
    """Groups of the fit without a row keep what they had, among it the group that they are in."""
    new = pd.DataFrame({"at": ["new", "b"], "region": "south", "size": [5, 2], "x": 0.0})
    found = shops.predict(new, seed=1, new_groups=new_groups)
    means = found.predictions["y"].mean(("chain", "draw"))
    np.testing.assert_allclose(means, [25.0, 22.0], atol=0.3)
    constant = found.predictions_constant_data
    assert constant["size"].sel(shop=["a", "b", "c", "new"]).values.tolist() == [1.5, 2, 3, 5]
    assert constant["region"].sel(shop=["a", "b", "c", "new"]).values.tolist() == [0, 1, 0, 1]


def test_new_groups_in_a_column_of_another_name(shops):
    new = pd.DataFrame({"shop": ["b", "new"], "region": "south", "size": [2.0, 5.0], "x": 0.0})
    found = shops.predict(new, seed=1, new_groups="zero", at="shop")
    means = found.predictions["y"].mean(("chain", "draw"))
    np.testing.assert_allclose(means, [22.0, 25.0], atol=0.3)


def test_groups_in_levels_of_the_index(shops):
    new = pd.DataFrame({"at": ["c", "b"], "day": [1, 2], "x": [0.0, 1.0]}).set_index(["at", "day"])
    means = shops.predict(new, seed=1).predictions["y"].mean(("chain", "draw"))
    np.testing.assert_allclose(means, [13.0, 23.0], atol=0.3)


class Scaled(Model):
    X = data(("row", "feature"))
    centre = data("feature")
    b = param(Normal(0, 10), dims="feature")
    y = observed(Normal((X - centre) @ b, 0.1), dims="row")


def test_a_frame_beside_data_along_its_columns():
    """They follow the order of the columns."""
    X = np.random.default_rng(1).normal(size=(30, 2))
    frame = pd.DataFrame(X, columns=["X.p", "X.q"])
    frame["y"] = 2.0 * (X[:, 0] - 1.0) - (X[:, 1] + 3.0)
    model = Scaled.from_frame(frame, centre={"p": 1.0, "q": -3.0})
    fit = SavedFit(infer(model, **SIZES), model)
    for columns in (["X.p", "X.q"], ["X.q", "X.p"]):
        means = fit.predict(frame[columns], seed=1).predictions["y"].mean(("chain", "draw"))
        np.testing.assert_allclose(means, frame["y"], atol=0.3)
    named = frame.rename(columns={"X.p": "p", "X.q": "q"})
    means = fit.predict(named, seed=1, X=["q", "p"]).predictions["y"].mean(("chain", "draw"))
    np.testing.assert_allclose(means, frame["y"], atol=0.3)


class Season(Model):
    week = data("obs")
    region = data("obs", dtype=int)
    a = param(Normal(0, 5))
    u = param(Normal(0, 1), dims="area")
    y = observed(Normal(a * week / 100 + u[region], 0.1), dims="obs")


@pytest.fixture
def season(tmp_path):
    days = pd.to_datetime("2023-01-02") + pd.to_timedelta(np.tile([0, 50, 100, 150], 3), unit="D")
    areas = np.repeat(["south", "east", "north"], 4)
    y = np.tile([0.0, 0.5, 1.0, 1.5], 3) + np.repeat([2.0, 0.0, 1.0], 4)
    frame = pd.DataFrame({"week": days, "region": areas, "y": y})
    model = Season.from_frame(frame, origin="2023-01-02")
    keep(infer(model, **SIZES), tmp_path / "season.nc")
    return load_fit(tmp_path / "season.nc"), model


def test_dates_count_from_the_origin_of_the_fit(season):
    fit, model = season
    new = pd.DataFrame({"week": pd.to_datetime(["2023-07-21"]), "region": ["east"]})
    found = group(fit.predict(new, seed=1), "predictions")["y"].values
    np.testing.assert_allclose(found.mean(), 2.0, atol=0.1)
    again = group(fit.predict(new, seed=1, origin=np.datetime64("2023-01-02")), "predictions")
    np.testing.assert_array_equal(again["y"], found)
    with pytest.raises(DataError, match=r"since 2023-01-02, .* since 2023-07-21.*'2023-01-02'"):
        fit.predict(new, origin="2023-07-21")
    other = Season.from_frame(new, origin="2023-07-21", coords={"area": ["east", "north", "south"]})
    with pytest.raises(DataError, match="Give from_frame the origin of the fit"):
        predict(other, fit.result)
    copied = pickle.loads(pickle.dumps(model))
    assert copied._origin == fit.model._origin == "2023-01-02"


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pd.Categorical])
def test_text_in_a_mapping_is_looked_up_in_the_labels_of_the_fit(season, kind):
    fit, _ = season
    new = {"week": [0.0, 0.0], "region": kind(["south", "north"])}
    found = group(fit.predict(new, seed=1), "predictions")["y"]
    np.testing.assert_allclose(found.mean(("chain", "draw")), [2.0, 1.0], atol=0.2)
    coded = group(fit.predict({**new, "region": [2, 1]}, seed=1), "predictions")["y"]
    np.testing.assert_array_equal(found, coded)
    with pytest.raises(DataError, match=r"'west'.*no label of 'area' in the fit: east, north, sou"):
        fit.predict({**new, "region": kind(["south", "west"])})


def test_labels_of_rows_stay_with_text_that_is_looked_up(season):
    fit, _ = season
    new = {
        "week": pd.Series([0.0, 0.0], index=["p", "q"]),
        "region": pd.Series(["south", "north"], index=["p", "q"]),
    }
    found = group(fit.predict(new, seed=1), "predictions")["y"]
    assert list(found["obs"].values) == ["p", "q"]
    turned = {**new, "region": new["region"][::-1]}
    with pytest.raises(DataError, match="obs"):
        fit.predict(turned, seed=1)


def test_a_mapping_may_hold_labels_as_files_of_data_do(season):
    fit, _ = season
    new = {"week": [0.0, 0.0], "region": [2, 1], "coords": {"obs": ["p", "q"]}}
    assert list(group(fit.predict(new, seed=1), "predictions")["obs"].values) == ["p", "q"]
    given = {**new, "coords": {"obs": ["p", "p"]}}
    found = group(fit.predict(given, coords={"obs": ["r", "s"]}, seed=1), "predictions")
    assert list(found["obs"].values) == ["r", "s"]


def test_other_labels(saved):
    path = saved[2]
    found = load_fit(path).predict(
        {"x": [1.0], "place": [2]}, coords={"town": ["Ulm", "Bonn", "Kiel"]}, new_groups="draw"
    )
    assert found.predictions["y"].shape == (2, 100, 1)
    labelled = load_fit(path).predict(NEW, coords={"day": ["Mon", "Tue"]})
    assert list(labelled.predictions["day"].values) == ["Mon", "Tue"]


SIZED = """
from probmodel import Model, data, observed, param
from probmodel.distributions import Normal

class Sized(Model):
    X = data(("obs", "feature"))
    e = param(Normal(0, 1), dims="g")
    b = param(Normal(0, 1), dims="feature")
    z = observed(Normal(e, 1), dims="g")
    y = observed(Normal(X @ b, 1), dims="obs")
"""


@pytest.fixture
def sized(tmp_path):
    path = tmp_path / "sized.py"
    path.write_text(SIZED)
    frame = pd.DataFrame({"age": [1.0, 2.0, 4.0], "dose": [0.0, 1.0, 1.0], "y": [0.0, 1.0, 2.0]})
    return load_model(path), frame, tmp_path / "sized.nc"


def saved_from(frame, kind, path, **more):
    keep(infer(kind.from_frame(frame, X=["age", "dose"], **more), **SIZES), path)
    return load_fit(path)


@pytest.mark.parametrize("labels", [None, ["p", "q"]])
def test_dims_along_which_there_is_only_what_was_observed(sized, labels):
    kind, frame, path = sized
    coords = {} if labels is None else {"coords": {"g": labels}}
    fit = saved_from(frame, kind, path, z=[0.0, 5.0], **coords)
    X = pd.DataFrame([[1.0, 1.0]], columns=["age", "dose"])
    for new, rows, options in (
        ({}, 3, {}), ({"X": X}, 1, {}), (frame[["age", "dose"]][:2], 2, {"X": ["age", "dose"]}),
    ):  # fmt: skip
        found = group(fit.predict(new, seed=1, **options), "predictions")
        assert dict(found["z"].sizes) == {"chain": 2, "draw": 100, "g": 2}
        assert found["y"].sizes["obs"] == rows
        assert list(found["g"].values) == (labels or [0, 1])


def test_columns_of_a_frame_are_named_as_for_the_fit(sized):
    kind, frame, path = sized
    fit = saved_from(frame, kind, path, z=[0.0, 5.0])
    found = fit.predict(frame.drop(columns="y"), X=["age", "dose"], seed=1)
    expected = predict(
        kind.from_frame(frame.drop(columns="y"), X=["age", "dose"], coords={"g": [0, 1]}),
        fit.result,
        1,
    )
    np.testing.assert_array_equal(*(group(f, "predictions")["y"] for f in (found, expected)))
    with pytest.raises(DataError, match=r"no column 'X'.*predict\(frame, X=...\)"):
        fit.predict(frame)
    with pytest.raises(DataError, match="no argument 'new_group'"):
        fit.predict({"X": [[1.0, 1.0]]}, new_group="draw")
    with pytest.raises(DataError, match="new_group"):
        fit.predict(frame, X=["age", "dose"], new_group="draw")


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_everything_else_it_does(saved):
    model, fit, path = saved
    again = load_fit(path)
    assert "log_likelihood" in group_names(again.log_likelihood())
    assert again.posterior_predictive(seed=1).posterior_predictive["y"].shape == (2, 100, 3)
    b = fit.posterior["b"].values
    np.testing.assert_allclose(again.log_prior().log_prior["b"], norm.logpdf(b))
    np.testing.assert_allclose(again.compute_deterministics("twice").posterior["twice"], 2 * b)
    with pytest.raises(DataError, match="no variable 'z'"):
        again.posterior_predictive(1, "z")
    with pytest.raises(DataError, match="no variable 'b'"):
        again.compute_deterministics("b")
    assert "elpd" in str(again.loo())
    longer = again.extend(50, quiet=True)
    assert longer.result.posterior.sizes["draw"] == 150
    expected = infer(model, **{**SIZES, "draws": 150})
    np.testing.assert_array_equal(longer.result.posterior["a"], expected.posterior["a"])
    assert repr(again).startswith("Line: fisher_hmc, 2 chains of 100 draws")


def test_what_has_changed_is_said(saved, file):
    path = saved[2]
    file.write_text(MODEL.replace("HalfNormal(1)", "HalfNormal(3)"))
    with pytest.raises(ModelError, match=r"has changed since[\s\S]*HalfNormal\(3\)[\s\S]*load_fit"):
        load_fit(path)
    with pytest.warns(SamplingWarning, match="another log density than Line has"):
        changed = load_fit(path, bound(file))
    assert changed.predict(NEW).predictions["y"].shape == (2, 100, 2)
    with pytest.raises(OutputError, match="is of another model or data: y has other values"):
        load_fit(path, bound(file, y=[0.0, 0.0, 0.0]))
    file.unlink()
    with pytest.raises(ModelError, match="is gone"):
        load_fit(path)


def test_a_model_that_says_the_same_in_other_words(saved, file, recwarn):
    file.write_text(MODEL.replace("b = param(Normal(0, 1))", "b = param(Normal(1 - 1, 2 / 2))"))
    load_fit(saved[2], bound(file))
    assert not [w for w in recwarn if issubclass(w.category, SamplingWarning)]


def test_a_model_with_another_parameter(saved, file):
    file.write_text(MODEL.replace("    s = param", "    more = param(Normal(0, 1))\n    s = param"))
    with pytest.warns(SamplingWarning, match="another log density"):
        load_fit(saved[2], bound(file))


@pytest.mark.parametrize("change", [{"source": ""}, {"file": "line.py"}])
def test_a_file_is_run_only_if_its_source_is_known(saved, tmp_path, monkeypatch, change):
    """A fit that was tampered with cannot have another file run."""
    _, fit, _ = saved
    fit.attrs["model"] = json.dumps({**json.loads(fit.attrs["model"]), **change})
    keep(fit, tmp_path / "other.nc")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="it is not known what the model file"):
        load_fit(tmp_path / "other.nc")


def test_files_of_one_name_are_told_apart(tmp_path):
    import pickle

    found = []
    for folder, prior in (("a", "Normal(0, 1)"), ("b", "Normal(0, 2)")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "line.py"
        path.write_text(MODEL.replace("b = param(Normal(0, 1))", f"b = param({prior})"))
        found.append(bound(path))
    for model, prior in zip(found, ("Normal(0, 1)", "Normal(0, 2)"), strict=True):
        assert f"b ~ {prior}" in str(pickle.loads(pickle.dumps(model)))
        about = json.loads(infer(model, **SIZES).attrs["model"])
        assert f"b = param({prior})" in about["source"]
    (tmp_path / "a" / "line.py").write_text(MODEL + "\n# changed")
    sent = pickle.dumps(found[0])
    with pytest.raises(ModelError, match="has changed since it was loaded"):
        pickle.loads(sent)


def test_long_sources_are_compared_by_their_hash(tmp_path, file, monkeypatch):
    monkeypatch.setattr(references, "_LONGEST", 20)
    keep(infer(bound(file), **SIZES), tmp_path / "fit.nc")
    assert "sha256:" in load_fit(tmp_path / "fit.nc").result.attrs["model"]
    file.write_text(MODEL + "\n")
    with pytest.raises(ModelError, match="has changed since"):
        load_fit(tmp_path / "fit.nc")


@pytest.mark.parametrize(
    ("new", "error"),
    [({"x": [1.0]}, ShapeError), ({"x": [1.0], "place": [1], "z": 3}, DataError),
     ({"x": ["a"], "place": [1]}, DataError)],
)  # fmt: skip
def test_new_data_that_do_not_fit(saved, new, error):
    with pytest.raises(error):
        load_fit(saved[2]).predict(new)


def test_a_model_in_the_place_of_new_data(saved):
    for given in (saved[0], type(saved[0])):
        with pytest.raises(DataError, match=r"takes new data first.* fit\.result\)"):
            load_fit(saved[2]).predict(given)


def test_a_class_in_the_place_of_a_model(saved):
    with pytest.raises(ModelError, match=r"bound to the data of the fit.* got the class Line"):
        load_fit(saved[2], type(saved[0]))
    with pytest.raises(OutputError, match="of type ModelMeta, is no bound model"):
        extend(saved[1], 10, model=type(saved[0]))


@pytest.mark.parametrize("draws", [None, 10])
def test_a_path_in_the_place_of_a_fit(saved, draws):
    with pytest.raises(OutputError, match=r"Read it first: load_fit\(.*\)\.extend\(draws\)"):
        extend(saved[2], draws)


def test_a_frame_without_any_datum_is_refused(saved):
    """The data of the fit are not predicted in place of a frame that the model takes nothing of."""
    fit = load_fit(saved[2])
    with pytest.raises(
        DataError, match=r"it has 'Place', 'X'\. Did you mean 'place'\? Line takes: "
    ):
        fit.predict(pd.DataFrame({"Place": ["Ulm"], "X": [5.0]}))
    with pytest.raises(DataError, match="the frame has no column 'x', and the model has a value"):
        fit.predict(pd.DataFrame({"place": ["Ulm"]}))
    with pytest.raises(DataError, match=r"it has no columns\. Line takes: unit, x, place, y\."):
        fit.predict(pd.DataFrame())
    known = pd.DataFrame({"x": [5.0], "place": ["Ulm"], "other": [1.0]})
    assert fit.predict(known, seed=1).predictions["y"].shape == (2, 100, 1)


def test_the_file_can_be_written_again(saved):
    """The cell of a notebook that saves a fit runs again after the fit was read."""
    _, fit, path = saved
    again = load_fit(path)
    for result in (fit, again.result):
        result.to_netcdf(str(path))
    later = load_fit(path)
    path.unlink()  # nothing more is read from it
    np.testing.assert_array_equal(later.result.posterior["b"], fit.posterior["b"])
    np.testing.assert_array_equal(again.result.posterior["b"], fit.posterior["b"])


def test_a_fit_of_no_model(tmp_path):
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 2, gradient=lambda x: -x
    )
    keep(infer(density, **SIZES), tmp_path / "fit.nc")
    with pytest.raises(OutputError, match="of a log density, which is not stored with it"):
        load_fit(tmp_path / "fit.nc")


def test_a_fit_of_another_program(saved, tmp_path, file):
    model, fit, _ = saved
    del fit.attrs["model"]
    keep(fit, tmp_path / "other.nc")
    with pytest.raises(DataError, match="does not name its model"):
        load_fit(tmp_path / "other.nc")
    assert load_fit(tmp_path / "other.nc", model).model is model


def test_no_file(tmp_path):
    with pytest.raises(OutputError, match="there is no file"):
        load_fit(tmp_path / "none.nc")


def test_what_is_kept_of_the_model(saved, file):
    about = json.loads(saved[1].attrs["model"])
    assert about == {
        "name": "Line", "module": "", "file": str(file), "source": MODEL, "labelled": ["town"],
    }  # fmt: skip
    assert group(saved[1], "constant_data")["unit"].values == 2.0


class Cities(Model):
    city = data("row", dtype=int)
    u = param(Normal(0, 10), dims="place")
    y = observed(Normal(u[city], 0.1), dims="row")


def test_numbers_in_a_mapping_that_may_be_meant_as_labels(tmp_path, recwarn):
    frame = pd.DataFrame({"city": [3, 1, 2, 1], "y": [30.0, 10.0, 20.0, 10.0]})
    keep(infer(Cities.from_frame(frame), **SIZES), tmp_path / "cities.nc")
    fit = load_fit(tmp_path / "cities.nc")

    def means(new):
        return group(fit.predict(new, seed=1), "predictions")["y"].mean(("chain", "draw")).values

    np.testing.assert_allclose(means(pd.DataFrame({"city": [3, 1]})), [30.0, 10.0], atol=0.5)
    np.testing.assert_allclose(means({"city": [0, 2, 1]}), [10.0, 30.0, 20.0], atol=0.5)
    assert not [w for w in recwarn if w.category is SamplingWarning]
    with pytest.warns(SamplingWarning, match=r"'city' has numbers, .*'place' from 0: 1 is 2\. All"):
        np.testing.assert_allclose(means({"city": [1, 2]}), [20.0, 30.0], atol=0.5)


class Designed(Model):
    X = data(dims=("row", "feature"))
    a = param(Normal(0, 1))
    b = param(Normal(0, 1), dims="feature")
    y = observed(Normal(a + X @ b, 1.0), dims="row")


def test_more_draws_of_a_parameter_without_elements():
    model = Designed(X=np.zeros((3, 0)), y=[0.1, 0.2, 0.3])
    longer = extend(infer(model, **SIZES), 10, quiet=True)
    whole = infer(model, **{**SIZES, "draws": 110})
    for name in ("a", "b"):
        np.testing.assert_array_equal(
            group(longer, "posterior")[name], group(whole, "posterior")[name]
        )


class Regions(Model):
    k = data("row", dtype=int)
    z = data("area")
    u = param(Normal(z, 10), dims="area")
    y = observed(Normal(u[k], 0.01), dims="row")


@pytest.fixture(scope="module")
def regions(tmp_path_factory):
    path = tmp_path_factory.mktemp("regions") / "fit.nc"
    given = {"k": [0, 1, 2, 0, 1, 2], "z": [0.1, 0.2, 0.3], "y": [1.0, 2.0, 3.0] * 2}
    keep(infer(Regions(**given, coords={"area": ["a", "b", "c"]}), **SIZES), path)
    return load_fit(path)


@pytest.mark.parametrize(
    ("new", "coords", "expected"),
    [
        ({"z": {"c": 0.3, "b": 0.2, "a": 0.1}, "k": ["a", "c"]}, None, [1.0, 3.0]),
        ({"z": {"c": 0.3, "b": 0.2, "a": 0.1}}, None, [1.0, 2.0, 3.0] * 2),
        ({"z": pd.Series({"b": 0.2, "a": 0.1}), "k": ["a", "b"]}, None, [1.0, 2.0]),
        ({"k": ["a", "c"]}, {"area": ["c", "b", "a"]}, [1.0, 3.0]),
        ({"k": [0, 2]}, {"area": ["c", "b", "a"]}, [3.0, 1.0]),
        ({"k": ["c", "b"]}, {"area": ["b", "c"]}, [3.0, 2.0]),
        ({}, {"area": ["c", "b", "a"]}, [1.0, 2.0, 3.0] * 2),
        (pd.DataFrame({"k": ["a", "c"]}), {"area": ["c", "b", "a"]}, [1.0, 3.0]),
    ],
)
def test_data_of_the_fit_follow_new_labels(regions, new, coords, expected):
    found = group(regions.predict(new, coords=coords, seed=1), "predictions")["y"]
    np.testing.assert_allclose(found.mean(("chain", "draw")), expected, atol=0.05)


@pytest.mark.parametrize(
    ("new", "coords", "message"),
    [
        ({}, {"area": ["x", "b", "c"]}, "data 'k' is not among .* 'area': .* of a. Give k too"),
        ({"k": ["x"]}, {"area": ["x", "b"]}, "data 'z' is not among .* of x. Give z too"),
        ({"z": {"b": 0.2, "c": 0.3}}, None, "data 'k' is not among .* becomes of a. Give k too"),
    ],
)
def test_data_of_the_fit_that_new_labels_leave_without_meaning(regions, new, coords, message):
    with pytest.raises(DataError, match=message):
        regions.predict(new, coords=coords, new_groups="draw")
