"""Writing a result: whole or not at all, elsewhere if it must be, and with whose permissions."""

import os
import stat
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from probmodel.errors import OutputError
from probmodel.results import storage
from probmodel.results.arviz_object import arviz_object, group
from probmodel.results.draws import named_draws
from probmodel.results.reading import load
from probmodel.results.storage import NETCDF, check_place, keep


@pytest.fixture
def result(posterior, make_run):
    run = make_run()
    return arviz_object(run, posterior, named_draws(posterior, run.x), {"name": "Toy"})


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder for the result, and one for temporary files."""
    folders = tmp_path / "asked", tmp_path / "temporary"
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders[1]))
    monkeypatch.chdir(folders[0])
    monkeypatch.setenv("HOME", str(folders[0]))
    return folders


@pytest.fixture
def refuse(monkeypatch):
    """Function that makes writing netCDF fail in a folder, half-way."""

    def refuse(folder, error):
        write = storage._write

        def refused(result, path):
            if path.parent == folder:
                path.write_bytes(b"half")
                raise error
            write(result, path)

        writers = tuple((refused if w is write else w, *rest) for w, *rest in storage._WRITERS)
        monkeypatch.setattr(storage, "_WRITERS", writers)
        monkeypatch.setattr(storage, "_write", refused)

    return refuse


ERRORS = [
    OSError(28, "No space left on device"),
    RuntimeError("Unable to flush file"),  # as the HDF5 library says it
    MemoryError(),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_cannot_be_written_is_kept_elsewhere(result, places, refuse, error):
    asked, elsewhere = places
    path = asked / "fit.nc"
    path.write_text("old")
    refuse(asked, error)
    place, problem = keep(result, path)
    assert place.parent == elsewhere
    assert problem.startswith(f"cannot write {str(path)!r}: ")
    assert str(place) in problem
    found = group(load(place), "posterior")
    np.testing.assert_array_equal(found["w"], group(result, "posterior")["w"])
    assert path.read_text() == "old"
    assert list(asked.iterdir()) == [path]
    assert list(elsewhere.iterdir()) == [place]


def test_what_netcdf_cannot_hold_is_kept_as_arrays(result, places, refuse, monkeypatch):
    asked, elsewhere = places
    refuse(asked, ValueError("VLEN strings do not support embedded NULLs"))
    refuse(elsewhere, ValueError("nor here"))
    place, problem = keep(result, asked / "fit.nc")
    assert "numpy.load reads it" in problem
    with np.load(place) as arrays:
        np.testing.assert_array_equal(arrays["posterior.w"], group(result, "posterior")["w"])
        assert "sample_stats.lp" in arrays
    assert list(asked.iterdir()) == []


def test_a_file_that_may_not_grow_is_an_error_and_not_a_crash(tmp_path):
    """The HDF5 library, left alone with a full disk, ends the process."""
    pytest.importorskip("resource")  # not on Windows
    code = """
import resource, sys
import numpy as np, xarray as xr
from probmodel.results.arviz_object import wrap
from probmodel.results.storage import keep
draws = np.random.default_rng(1).standard_normal((4, 2000))
result = wrap({"posterior": xr.Dataset({"mu": (("chain", "draw"), draws)})}, {"name": "Toy"})
for limit in (0, 500, 3000, 20_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    place, problem = keep(result, sys.argv[1])
    assert place is None, place
    assert "File too large" in problem and problem.endswith("the draws are lost."), problem
print("survived")
"""
    for folder in ("asked", "home"):
        (tmp_path / folder).mkdir()
    path = tmp_path / "asked" / "fit.nc"
    path.write_text("old")
    environment = {**os.environ, "TMPDIR": str(path.parent), "HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=path.parent, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_mode_and_owner(result, tmp_path, mode):
    path = tmp_path / "fit.nc"
    path.write_text("old")
    path.chmod(mode)
    before = path.stat()
    assert keep(result, path).problem == ""
    after = path.stat()
    assert stat.S_IMODE(after.st_mode) == mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


def test_a_new_file_has_the_mode_of_the_umask(result, tmp_path):
    old = os.umask(0o027)
    try:
        keep(result, tmp_path / "fit.nc")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "fit.nc").stat().st_mode) == 0o640


def test_a_private_file_is_never_open_to_others(result, tmp_path, monkeypatch):
    path, modes = tmp_path / "fit.nc", []
    path.write_text("old")
    path.chmod(0o600)
    write = storage._write

    def spying(result, temporary):
        modes.append(stat.S_IMODE(temporary.stat().st_mode))
        write(result, temporary)

    monkeypatch.setattr(storage, "_write", spying)
    keep(result, path)
    assert modes == [0o600]


def test_a_link_is_followed(result, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "fit.nc").symlink_to(tmp_path / "there" / "real.nc")
    assert keep(result, tmp_path / "fit.nc").problem == ""
    assert (tmp_path / "fit.nc").is_symlink()
    assert group(load(tmp_path / "there" / "real.nc"), "posterior")["tau"].shape == (4, 500)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        check_place(tmp_path / "no" / "fit.nc")
    with pytest.raises(OutputError, match="not a regular file"):
        check_place(tmp_path)
    with pytest.raises(OutputError, match="File name too long"):
        check_place(tmp_path / ("x" * 300))
    check_place(tmp_path / ("x" * 250 + ".nc"))
    with pytest.raises(OutputError, match="it is what is read"):
        check_place(tmp_path / "fit.nc", read=["data.csv", tmp_path / "." / "fit.nc"])
    with pytest.raises(OutputError, match=r"'fit\.csv': the name of such a file ends in \.nc"):
        check_place(tmp_path / "fit.csv", NETCDF)
    for name in ("fit.NC", "fit", "fit.h5"):
        check_place(tmp_path / name, NETCDF, [tmp_path / "other.nc"])
    assert list(tmp_path.iterdir()) == []
