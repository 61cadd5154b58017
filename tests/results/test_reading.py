"""Reading results: what is no result, or a damaged one, is refused before it can do harm."""

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

from probmodel.errors import OutputError
from probmodel.results import walk
from probmodel.results.arviz_object import group
from probmodel.results.attributes import check_attributes
from probmodel.results.reading import load

ATTRIBUTES = {
    "name": "Toy",
    "method": "mala",
    "chains": 2,
    "draws_done": 3,
    "warmup_done": 4,
    "warmup_time": 0.5,
    "sampling_time": 0.5,
    "n_grad_sampling": 10,
    "warnings": '[{"message": "few draws"}]',
}
DRAWS = xr.Dataset(
    {"mu": (("chain", "draw"), np.zeros((2, 3)))}, coords={"chain": [0, 1], "draw": [0, 1, 2]}
)


def written(tmp_path, posterior=DRAWS, **attributes):
    path = tmp_path / "fit.nc"
    tree = {"/": xr.Dataset(attrs={**ATTRIBUTES, **attributes}), "posterior": posterior}
    xr.DataTree.from_dict(tree).to_netcdf(path, engine="h5netcdf")
    return path


def test_a_result_is_in_memory_and_its_file_free(tmp_path):
    path = written(tmp_path)
    result = load(path)
    path.write_bytes(b"")
    np.testing.assert_array_equal(group(result, "posterior")["mu"], np.zeros((2, 3)))
    assert result.attrs["method"] == "mala"


@pytest.mark.parametrize(
    ("posterior", "message"),
    [
        (DRAWS.transpose("draw", "chain"), "'mu' is no array of numbers by chain and draw"),
        (DRAWS.astype(str), "'mu' is no array of numbers"),
        (DRAWS.mean("draw"), "'mu' is no array of numbers"),
        (DRAWS.drop_vars("draw"), "the dim 'draw' of the posterior has no labels"),
    ],
)
def test_a_posterior_that_is_none(tmp_path, posterior, message):
    with pytest.raises(OutputError, match=message):
        load(written(tmp_path, posterior))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", 3),
        ("warmup_time", "0.5"),
        ("chains", None),
        ("n_grad_sampling", "x"),
        ("warnings", '["few draws"]'),
        ("warnings", "[{"),
    ],
)
def test_attributes_that_make_no_sense(name, value):
    check_attributes(ATTRIBUTES)
    check_attributes({})
    changed = {key: v for key, v in {**ATTRIBUTES, name: value}.items() if v is not None}
    with pytest.raises(ValueError, match=f"'{name}'|delimiter|property name"):
        check_attributes(changed)


def test_a_limit_of_the_size(tmp_path):
    path = written(tmp_path)
    size = walk.walk(str(path))
    assert size >= DRAWS.nbytes
    with pytest.raises(OutputError, match=f"its arrays take {size} bytes, and max_bytes=9"):
        load(path, max_bytes=9)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("none.nc", "there is no file"),
        ("fitt.nc", "Did you mean 'fit.nc'"),
        ("", "is a directory"),
        ("empty.nc", "cannot be read as a netCDF result"),
        ("words.nc", "cannot be read as a netCDF result"),
        ("half.nc", "truncated file"),
    ],
)
def test_places_without_a_result(tmp_path, name, text):
    content = written(tmp_path).read_bytes()
    (tmp_path / "empty.nc").write_bytes(b"")
    (tmp_path / "words.nc").write_text("no netCDF file")
    (tmp_path / "half.nc").write_bytes(content[: len(content) // 2])
    with pytest.raises(OutputError, match=text):
        load(tmp_path / name)


@pytest.mark.parametrize("harm", ["import os; os.abort()", "import sys; sys.exit(1)"])
def test_a_file_that_brings_the_library_down(tmp_path, monkeypatch, harm):
    program = tmp_path / "harm.py"
    program.write_text(harm)
    monkeypatch.setattr(walk, "__file__", str(program))
    with pytest.raises(OutputError, match="crashes or loops for ever"):
        load(written(tmp_path))


def test_a_step_that_does_not_end():
    code = "from probmodel.results import walk; walk.PATIENCE = 0.1; walk._be_patient()\nwhile 1: 0"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode not in (0, walk.DAMAGED)


def test_without_an_interpreter_to_start(tmp_path, monkeypatch):
    path = written(tmp_path)
    monkeypatch.setattr(sys, "executable", None)
    assert group(load(path), "posterior")["mu"].shape == (2, 3)
