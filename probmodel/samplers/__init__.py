"""Samplers: one file an algorithm. To add one, write its file and add a line to `SAMPLERS`.

Other packages add theirs through the entry point group ``probmodel.samplers``.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from probmodel.errors import SamplerError, nearest
from probmodel.samplers.ada_mala import AdaMALA
from probmodel.samplers.ahmc import AdaptiveHMC
from probmodel.samplers.am import AdaptiveMetropolis
from probmodel.samplers.armhmc import AdaptiveRiemannianHMC
from probmodel.samplers.base import Sampler
from probmodel.samplers.entropy_hmc import EntropyHMC
from probmodel.samplers.fisher_hmc import FisherHMC
from probmodel.samplers.fisher_mala import FisherMALA
from probmodel.samplers.gad_mala import GradientAdaptiveMALA
from probmodel.samplers.gad_mala_exact import GradientAdaptiveMALAExact
from probmodel.samplers.gad_rwm import GradientAdaptiveRandomWalk
from probmodel.samplers.hmc import HMC
from probmodel.samplers.mala import MALA
from probmodel.samplers.mmala import ManifoldMALA
from probmodel.samplers.mtm import MultipleTry
from probmodel.samplers.nuts import NUTS
from probmodel.samplers.registry import (
    Listing,
    list_offered,
    load_offered,
    offered,
    setting_names,
)
from probmodel.samplers.rm_const_hmc import ConstantMetricHMC
from probmodel.samplers.rm_const_mala import ConstantMetricMALA
from probmodel.samplers.rmhmc import RiemannianHMC
from probmodel.samplers.rwm import RandomWalk
from probmodel.samplers.sa_mcmc import SampleAdaptive

DEFAULT_METHOD = "fisher_hmc"  # see docs/methods.md for the reasons

SAMPLERS: dict[str, type[Sampler]] = {
    "ada_mala": AdaMALA,
    "ahmc": AdaptiveHMC,
    "am": AdaptiveMetropolis,
    "armhmc": AdaptiveRiemannianHMC,
    "entropy_hmc": EntropyHMC,
    "fisher_hmc": FisherHMC,
    "fisher_mala": FisherMALA,
    "gad_mala": GradientAdaptiveMALA,
    "gad_mala_exact": GradientAdaptiveMALAExact,
    "gad_rwm": GradientAdaptiveRandomWalk,
    "hmc": HMC,
    "mala": MALA,
    "mmala": ManifoldMALA,
    "mtm": MultipleTry,
    "nuts": NUTS,
    "rm_const_hmc": ConstantMetricHMC,
    "rm_const_mala": ConstantMetricMALA,
    "rmhmc": RiemannianHMC,
    "rwm": RandomWalk,
    "sa_mcmc": SampleAdaptive,
}


def available_samplers() -> tuple[str, ...]:
    """Names of all methods: the built-in ones, then those of other packages, not yet imported."""
    return (*SAMPLERS, *(name for name in offered() if name not in SAMPLERS))


def list_samplers() -> list[Listing]:
    """Return all methods with their classes, and the reason where one cannot be used."""
    own = [Listing(name, kind) for name, kind in SAMPLERS.items()]
    return [*own, *list_offered(set(SAMPLERS))]


def find_sampler(name: str) -> type[Sampler]:
    """Return the class of the method called ``name``; a built-in one comes first.

    Raises
    ------
    SamplerError
        If there is none (it names the nearest), or the package that offers it is broken.
    """
    if isinstance(name, str) and name in SAMPLERS:
        return SAMPLERS[name]
    others = offered()
    if isinstance(name, str) and name in others:
        return load_offered(name, others[name])
    raise SamplerError(
        f"Unknown method {name!r}.{nearest(str(name), {*SAMPLERS, *others})}", method=name
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
