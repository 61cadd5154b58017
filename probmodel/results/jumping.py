"""Log densities that jump: a warning where gradients were followed and chains have not converged.

`numerics.jumps` says how jumps are found. `fisher_hmc` moves a few coordinates in which the density
jumps by themselves, see `samplers.hamiltonian.within_gibbs`; other methods, and more coordinates,
need another way to write the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probmodel.numerics.jumps import find_jumps
from probmodel.results.convergence import ESS_LIMIT, RHAT_LIMIT
from probmodel.results.draws import coordinate_labels
from probmodel.results.findings import MOST_NAMED, Finding, listed
from probmodel.results.quantities import Quantities
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun
    from probmodel.samplers.base import Sampler


def jumping(run: SampleRun, found: Quantities, sampler: Sampler) -> Array:
    """Return the coordinates in which the density jumps near the last draws: (k,).

    It is asked only where chains have not converged by a method that takes gradients.
    """
    rhat, bulk, _ = found.convergence
    with np.errstate(invalid="ignore"):
        doubtful = (rhat > RHAT_LIMIT).any() or (bulk < ESS_LIMIT).any()
    last, density = run.x[:, -1], run.density
    if not doubtful or sampler.needs == "log density" or not np.isfinite(last).all():
        return np.zeros(0, dtype=int)
    if density is None or not density.has_gradient:
        return np.zeros(0, dtype=int)
    return np.flatnonzero(find_jumps(density, last))


def check_jumps(
    run: SampleRun, posterior: Posterior, sampler: Sampler, jumps: Array
) -> list[Finding]:
    """Say which coordinates gradients tell nothing of, unless the method moves them otherwise."""
    apart = [getattr(params, "gibbs", None) for params in run.params]
    if not jumps.size or any(gibbs is not None for gibbs in apart):
        return []
    names = coordinate_labels(posterior, jumps[:MOST_NAMED])
    what = listed(names, [""] * len(names), len(jumps))
    if sampler.name == "fisher_hmc":
        instead = (
            "It did not move these by themselves, as they are too many or were not met in the "
            "warm-up: raise warmup"
        )
    else:
        instead = "The default method moves such parameters by themselves: leave out method="
    message = (
        f"The log density jumps, or ends, along {what}. Gradients do not show that, and "
        f"{sampler.name} follows gradients. {instead}, or write the model without jumps: sum over "
        "what is discrete, or let the change be gradual."
    )
    return [Finding("jumps", message, names)]
