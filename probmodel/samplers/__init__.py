"""Samplers: one file an algorithm. To add one, write its file and add a line to `FILES`.

They are imported when they are first asked for, all of them by `SAMPLERS`, which maps names to
classes. Other packages add theirs through the entry point group ``probmodel.samplers``.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from numbers import Integral
from typing import Any

from probmodel.errors import SamplerError, nearest
from probmodel.samplers.base import Sampler
from probmodel.samplers.registry import Listing, list_offered, load_offered, offered, setting_names

DEFAULT_METHOD = "fisher_hmc"  # see docs/methods.md for the reasons

FILES = {
    "ada_mala": ("langevin.ada_mala", "AdaMALA"),
    "ahmc": ("hamiltonian.ahmc", "AdaptiveHMC"),
    "am": ("random_walk.am", "AdaptiveMetropolis"),
    "armhmc": ("riemannian.armhmc", "AdaptiveRiemannianHMC"),
    "autostep": ("langevin.autostep", "AutoStep"),
    "barker": ("langevin.barker", "Barker"),
    "entropy_hmc": ("hamiltonian.entropy_hmc", "EntropyHMC"),
    "fisher_hmc": ("hamiltonian.fisher_hmc", "FisherHMC"),
    "fisher_mala": ("langevin.fisher_mala", "FisherMALA"),
    "gad_mala": ("langevin.gad_mala", "GradientAdaptiveMALA"),
    "gad_mala_exact": ("langevin.gad_mala_exact", "GradientAdaptiveMALAExact"),
    "gad_rwm": ("random_walk.gad_rwm", "GradientAdaptiveRandomWalk"),
    "hmc": ("hamiltonian.hmc", "HMC"),
    "mala": ("langevin.mala", "MALA"),
    "mams": ("hamiltonian.mams", "MAMS"),
    "mmala": ("riemannian.mmala", "ManifoldMALA"),
    "mtm": ("random_walk.mtm", "MultipleTry"),
    "nuts": ("hamiltonian.nuts", "NUTS"),
    "rm_const_hmc": ("riemannian.rm_const_hmc", "ConstantMetricHMC"),
    "rm_const_mala": ("riemannian.rm_const_mala", "ConstantMetricMALA"),
    "rmhmc": ("riemannian.rmhmc", "RiemannianHMC"),
    "rwm": ("random_walk.rwm", "RandomWalk"),
    "sa_mcmc": ("random_walk.sa_mcmc", "SampleAdaptive"),
    "smc": ("tempered.smc", "SequentialMonteCarlo"),
    "stretch": ("random_walk.stretch", "AffineEnsemble"),
    "tempering": ("tempered.tempering", "ParallelTempering"),
}


def __getattr__(name: str) -> Any:
    if name == "SAMPLERS":
        return {each: _built_in(each) for each in FILES}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _built_in(name: str) -> type[Sampler]:
    file, kind = FILES[name]
    found: type[Sampler] = getattr(import_module(f"{__name__}.{file}"), kind)
    return found


def available_samplers() -> tuple[str, ...]:
    """Names of all methods: the built-in ones, then those of other packages, not yet imported."""
    return (*FILES, *(name for name in offered() if name not in FILES))


def list_samplers() -> list[Listing]:
    """Return all methods with their classes, and the reason where one cannot be used."""
    own = [Listing(name, _built_in(name)) for name in FILES]
    return [*own, *list_offered(set(FILES))]


def find_sampler(name: Any) -> type[Sampler]:
    """Return the class of the method called ``name``; a built-in one comes first.

    Raises a `SamplerError` if there is none (it names the nearest), or the package that offers it
    is broken.
    """
    if isinstance(name, str) and name in FILES:
        return _built_in(name)
    others = offered()
    if isinstance(name, str) and name in others:
        return load_offered(name, others[name])
    if isinstance(name, Integral):
        raise SamplerError(
            f"Unknown method {name}. It is a name, such as 'nuts', or a sampler. The number of "
            f"draws is given by its name: draws={name}.",
            method=name,
        )
    raise SamplerError(
        f"Unknown method {name!r}.{nearest(str(name), {*FILES, *others})}", method=name
    )


def make_sampler(method: str | Sampler, **settings: Any) -> Sampler:
    """Make the sampler called ``method`` with ``settings``.

    Parameters
    ----------
    method : str or Sampler
        A name from `available_samplers`, or a sampler whose ``settings`` are replaced.
    **settings
        Settings of that method; its own defaults for the others.

    Raises
    ------
    SamplerError
        If the method or a setting is unknown (it names the nearest), or a value is out of range.
    """
    kind = type(method) if isinstance(method, Sampler) else find_sampler(method)
    known = setting_names(kind)
    for name in settings:
        if name not in known:
            raise SamplerError(
                f"{kind.name} has no setting {name!r}.{nearest(name, known)}",
                method=kind.name, name=name,
            )  # fmt: skip
    if isinstance(method, Sampler):
        return dataclasses.replace(method, **settings)  # type: ignore[type-var]
    return kind(**settings)


def methods_text() -> str:
    """Return a table of all methods, as text; what cannot be used is explained below it."""
    listed = list_samplers()
    rows = [("method", "what it does", "paper", "package")]
    for name, kind, package, _ in listed:
        summary, paper = (kind.summary, kind.paper) if kind else ("cannot be used, see below", "")
        rows.append((name, summary, paper, package))
    columns = 4 if any(method.package for method in listed) else 3
    widths = [max(len(row[column]) for row in rows) for column in range(columns)]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *(f"\n{method.problem}" for method in listed if method.problem)])
