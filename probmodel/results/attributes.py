"""What a result says about its own making, in types that netCDF files can hold."""

from __future__ import annotations

import dataclasses
import json
import numbers
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.model.references import bound_model
from probmodel.results.evidence import evidence_attributes
from probmodel.version import __version__

if TYPE_CHECKING:
    from probmodel.inference.request import Request
    from probmodel.inference.sample_run import SampleRun
    from probmodel.results.findings import Finding
    from probmodel.samplers.base import Sampler

Attributes = dict[str, str | int | float]

_LISTED = 20  # entries of an array that are listed one by one
_LARGEST = 2**63  # netCDF has no whole numbers beyond 64 bits


def run_attributes(
    request: Request, sampler: Sampler, run: SampleRun, findings: Sequence[Finding] = ()
) -> Attributes:
    """Attributes of the result as a whole: the settings, the cost, the versions, the warnings.

    ``warnings`` is a JSON list of the findings and ``settings`` a JSON object; ``interrupted`` and
    ``timed_out`` are 0 or 1, because netCDF attributes know no truth values.
    """
    return {
        **library_attributes(),
        "name": request.model,
        "model": _model_json(getattr(run.density, "model", None)),
        "method": sampler.name,
        "coupling": sampler.coupling,
        "adapting": int(sampler.adapts_forever),
        "settings": settings_json(sampler),
        **seed_attributes(request.seed),
        "draws": request.draws,
        "warmup": request.warmup,
        "chains": request.chains,
        "thin": request.thin,
        "pool": int(request.pool),
        "max_time": float(request.max_time),
        "until": "" if request.until is None else json.dumps(_fields(request.until)),
        "restarts": int(request.restarts),
        "restarted": json.dumps([restart._asdict() for restart in run.restarted]),
        "standardise": int(request.standardise),
        "standardised": json.dumps(_centring(run)),
        "groups": int(run.groups),
        "draws_done": int(run.draws_done),
        "warmup_done": int(run.warmup_done),
        "interrupted": int(run.interrupted),
        "timed_out": int(run.timed_out),
        **{f"n_{kind}_warmup": int(n) for kind, n in run.work_warmup._asdict().items()},
        **{f"n_{kind}_sampling": int(n) for kind, n in run.work_sampling._asdict().items()},
        "nonfinite": int(run.nonfinite),
        "divergences": int(run.divergences.counts.sum()),
        **evidence_attributes(run.stats, getattr(sampler, "evidence_is_ratio", False)),
        "warmup_time": float(run.seconds_warmup),
        "sampling_time": float(run.seconds_sampling),
        "blas_threads": int(run.blas_threads),
        "engine": getattr(run.density, "engine", "numpy"),
        **_versions(),
        "warnings": findings_json(findings),
    }


def _model_json(model: Any) -> str:
    """Return what finds the class of a model again, its origin and dims with labels, as JSON."""
    known = bound_model(model)
    if known is None:
        return ""
    about = {k: v for k, v in known["reference"]._asdict().items() if v is not None}
    if known["origin"] is not None:
        about["origin"] = known["origin"]
    return json.dumps({**about, "labelled": sorted(known["labels"])})


def _centring(run: SampleRun) -> dict[str, dict[str, float]]:
    """Return how centred the elements of standardised parameters are, where the chains ended."""
    centring = getattr(run.density, "centring", None)
    if centring is None:
        return {}
    with np.errstate(all="ignore"):
        shares = {name: np.median(value, axis=0) for name, value in centring(run.positions).items()}
    return {
        name: {"least": _short(share.min()), "median": _short(np.median(share)),
               "most": _short(share.max())}
        for name, share in shares.items()
    }  # fmt: skip


def _short(number: Any) -> float:
    return float(f"{number:.3g}")


def findings_json(findings: Sequence[Finding]) -> str:
    """Return findings as a JSON list of objects."""
    return json.dumps([dataclasses.asdict(finding) for finding in findings])


def check_attributes(attributes: Mapping[str, Any]) -> None:
    """Raise a `ValueError` unless what is read of `run_attributes` has the types it was given."""
    if "method" in attributes:
        needed = {"name", "chains", "draws_done", "warmup_done", "warmup_time", "sampling_time"}
        for name in needed | {name for name in attributes if name.startswith("n_")}:
            kind = str if name == "name" else numbers.Real
            if not isinstance(attributes.get(name), kind):
                raise ValueError(f"the attribute {name!r} is missing or damaged")
    findings = json.loads(attributes.get("warnings", "[]"))
    if not all(isinstance(finding, dict) and "message" in finding for finding in findings):
        raise ValueError("the attribute 'warnings' is damaged")


def library_attributes() -> Attributes:
    """Who made a result, and when."""
    return {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "inference_library": "probmodel",
        "inference_library_version": package_version("probmodel"),
    }


@cache
def package_version(name: str) -> str:
    """Return the version of a package; its own word where it is on the path but not installed."""
    from importlib import import_module, metadata

    if name == "probmodel":  # metadata of another installation may be on the path, too
        return __version__
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = None
    # Metadata without a version are those of an installation that was not finished.
    return str(found or getattr(import_module(name), "__version__", "unknown"))


def settings_json(sampler: Sampler) -> str:
    """Return the settings of a sampler as a JSON object."""
    return json.dumps(_fields(sampler), default=_plain)


def _fields(settings: Any) -> dict[str, Any]:
    """Fields of a dataclass; their values are not copied."""
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}


def _plain(value: Any) -> Any:
    """Return what JSON can say of a setting.

    Short arrays become lists and long ones their shape; functions and classes their qualified name;
    dataclasses objects. Anything else is printed.
    """
    if isinstance(value, np.generic):
        return value.item()
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        small = isinstance(value, np.ndarray) and value.size <= _LISTED
        return value.tolist() if small else f"{_kind(value)} {shape}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return repr(value)


def _kind(value: Any) -> str:
    return "array" if isinstance(value, np.ndarray) else type(value).__name__


def seed_attributes(seed: np.random.SeedSequence) -> Attributes:
    """Return the seed as a whole number (text where it has more than 63 bits or parts)."""
    entropy = seed.entropy
    if isinstance(entropy, int | np.integer):
        value: str | int = int(entropy) if entropy < _LARGEST else str(entropy)
    else:
        value = json.dumps([int(part) for part in entropy or ()])
    attributes: Attributes = {"seed": value}
    if seed.spawn_key:
        attributes["seed_spawn_key"] = json.dumps([int(key) for key in seed.spawn_key])
    return attributes


def _versions() -> Attributes:
    return {f"{name}_version": package_version(name) for name in ("numpy", "scipy", "autograd")}
