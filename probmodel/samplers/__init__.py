"""Samplers: one file an algorithm. To add one, write its file and add a line to `SAMPLERS`."""

from __future__ import annotations

import dataclasses
from typing import Any

from probmodel.errors import SamplerError, nearest
from probmodel.samplers.ada_mala import AdaMALA
from probmodel.samplers.am import AdaptiveMetropolis
from probmodel.samplers.base import Sampler
from probmodel.samplers.fisher_mala import FisherMALA
from probmodel.samplers.gad_mala import GradientAdaptiveMALA
from probmodel.samplers.gad_mala_exact import GradientAdaptiveMALAExact
from probmodel.samplers.gad_rwm import GradientAdaptiveRandomWalk
from probmodel.samplers.mala import MALA
from probmodel.samplers.mtm import MultipleTry
from probmodel.samplers.rwm import RandomWalk

SAMPLERS: dict[str, type[Sampler]] = {
    "ada_mala": AdaMALA,
    "am": AdaptiveMetropolis,
    "fisher_mala": FisherMALA,
    "gad_mala": GradientAdaptiveMALA,
    "gad_mala_exact": GradientAdaptiveMALAExact,
    "gad_rwm": GradientAdaptiveRandomWalk,
    "mala": MALA,
    "mtm": MultipleTry,
    "rwm": RandomWalk,
}


def make_sampler(method: str | Sampler, **settings: Any) -> Sampler:
    """Make the sampler called ``method`` with ``settings``.

    Parameters
    ----------
    method : str or Sampler
        A name from `SAMPLERS`, or a sampler whose ``settings`` are replaced.
    **settings
        Settings of that method; its own defaults for the others.

    Raises
    ------
    SamplerError
        If the method or a setting is unknown (it names the nearest), or a value is out of range.
    """
    if isinstance(method, Sampler):
        kind: type[Sampler] = type(method)
    elif isinstance(method, str) and method in SAMPLERS:
        kind = SAMPLERS[method]
    else:
        raise SamplerError(
            f"Unknown method {method!r}.{nearest(str(method), SAMPLERS)}", method=method
        )
    known = [field.name for field in dataclasses.fields(kind) if field.init]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise SamplerError(
                f"{kind.name} has no setting {name!r}.{nearest(name, known)}",
                method=kind.name, name=name,
            )  # fmt: skip
    if isinstance(method, Sampler):
        return dataclasses.replace(method, **settings)  # type: ignore[type-var]
    return kind(**settings)
