"""Reading results from netCDF files, which may be damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from probmodel.arguments import existing_file
from probmodel.errors import OutputError, reason
from probmodel.model.references import Reference
from probmodel.results import walk
from probmodel.results.arviz_object import (
    arviz_before_1,
    group,
    group_names,
    groups_of,
    import_arviz,
)
from probmodel.results.attributes import check_attributes

MAX_BYTES = 16 * 2**30


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Any:
    """Read a result that was saved as netCDF into memory, as the installed ArviZ's object.

    Parameters
    ----------
    path : a file that ``probmodel sample --out`` or a result's own ``to_netcdf`` wrote
    max_bytes : how many bytes its arrays may take; 16 GiB by default

    Raises
    ------
    OutputError
        If there is no such file, or it is no result, or it is damaged or too large.
    """
    file = existing_file(path, "file", OutputError)
    try:
        size = _walked(file)
        if size > max_bytes:
            raise ValueError(f"its arrays take {size} bytes, and {max_bytes=} is the limit")
        result = import_arviz().from_netcdf(str(file))
        for part in [result[n] for n in group_names(result)] if arviz_before_1() else [result]:
            part.load()
            part.close()  # so that the file can be written again
        _check(result)
    except Exception as error:  # ArviZ, xarray and h5py say of no kind of damage what they raise
        raise OutputError(
            f"{str(path)!r} cannot be read as a netCDF result: {reason(error)}.", path=str(path)
        ) from error
    return result


def bound_in(fit: Any) -> dict[str, Any] | None:
    """Return what the model of a fit was bound to, as `model.references.bound_model` does."""
    about = json.loads(fit.attrs.get("model") or "null")
    if about is None:
        return None
    labelled, origin = about.pop("labelled"), about.pop("origin", None)
    groups = groups_of(fit, "constant_data", "observed_data", "posterior")
    known = [groups[name] for name in groups if name != "posterior"]
    data = {str(n): v.values for g in known for n, v in g.data_vars.items()}
    labels = {d: g[d].values for g in groups.values() for d in labelled if d in g.coords}
    return {"reference": Reference(**about), "origin": origin, "data": data, "labels": labels}


def _walked(file: Path) -> int:
    """Return the size of a file's arrays, found by a process that may crash or loop in its place.

    Raises a ValueError if it does, or if the file is damaged in a way that the HDF5 library sees.
    """
    if not sys.executable or getattr(sys, "frozen", False):  # no interpreter to start
        return walk.walk(str(file))
    done = subprocess.run(
        [sys.executable, "-P", walk.__file__, str(file.absolute())],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    if done.returncode == walk.DAMAGED:
        raise ValueError(done.stdout or "the file is damaged")
    if done.returncode:
        raise ValueError("the file is damaged: the HDF5 library crashes or loops for ever in it")
    return int(done.stdout)


def _check(result: Any) -> None:
    """Raise a `ValueError` unless a result has what its summary is made of."""
    check_attributes(result.attrs)
    posterior = group(result, "posterior") if "posterior" in group_names(result) else None
    if posterior is None or not posterior.data_vars:
        return
    for name, values in posterior.data_vars.items():
        if values.dims[:2] != ("chain", "draw") or values.dtype.kind not in "biuf":
            raise ValueError(f"{name!r} is no array of numbers by chain and draw")
    for dim in ("chain", "draw"):
        if dim not in posterior.coords:
            raise ValueError(f"the dim {dim!r} of the posterior has no labels")
