"""Requirements of samplers: checks that a target offers what a sampler needs."""

from __future__ import annotations

import numpy as np

from probmodel.errors import ModelError, SamplerError
from probmodel.samplers.base import Sampler
from probmodel.types import CurvedLogDensity, LogDensity, TemperedLogDensity


def check_density(sampler: Sampler, density: LogDensity) -> None:
    """Check that ``density`` offers what ``sampler`` asks for.

    Raises a `SamplerError` if the sampler needs gradients, second derivatives or a prior, and the
    density has none.
    """
    if sampler.needs == "log density":
        return
    name = getattr(density, "name", type(density).__name__)
    if not getattr(density, "has_gradient", True):
        raise SamplerError(
            f"{sampler.name} follows gradients, and {name} was made without one "
            f"(gradient=False). Give it a gradient, or use {_without_gradient()}, which need the "
            "log density only.",
            method=sampler.name, density=name,
        )  # fmt: skip
    if sampler.needs == "hvp" and not isinstance(density, CurvedLogDensity):
        raise SamplerError(
            f"{sampler.name} needs Hessian-vector products, and {name} has no methods hvp and "
            "hessian. A model and LogDensity.from_function have them.",
            method=sampler.name, density=name,
        )  # fmt: skip
    if sampler.needs == "prior":
        _check_prior(sampler, density, name)


def _check_prior(sampler: Sampler, density: LogDensity, name: str) -> None:
    """Check that there is a prior to draw from."""
    if not isinstance(density, TemperedLogDensity):
        raise SamplerError(
            f"{sampler.name} goes from the prior to the posterior, and {name} is a density without "
            "a prior. Write it as a model, with priors for its parameters; potential(...) takes "
            "any other term.",
            method=sampler.name, density=name,
        )  # fmt: skip
    try:
        density.prior_sample(np.random.default_rng(0), 1)
    except ModelError as error:
        raise SamplerError(
            f"{sampler.name} begins with draws from the prior. {error.message}",
            method=sampler.name, location=error.location,
        ) from error  # fmt: skip


def _without_gradient() -> str:
    """Return the names of the methods that need the log density only."""
    from probmodel.samplers import SAMPLERS

    *names, last = (name for name, kind in SAMPLERS.items() if kind.needs == "log density")
    return f"{', '.join(names)} or {last}"
