"""NumPyro's No-U-Turn sampler: 4 chains, 1000 + 1000 iterations, diagonal mass matrix, by threads.

NumPyro has no defaults for the numbers of iterations; these are those of its examples. Chains are
spread by ``pmap``, as its documentation shows, so that compiled code serves several runs, which its
own driver of several chains does not manage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import numpyro
from numpyro.infer import MCMC, NUTS

from peer_tools import Draws, Run
from peer_tools.cases import Case
from peer_tools.numpyro_models import MODELS

PACKAGES = ("numpyro", "jax", "arviz")
CHAINS = 4
numpyro.set_host_device_count(CHAINS)  # before the first computation


def prepare(case: Case, data: dict[str, Any]) -> Run:
    """Return the run, compiled when it is first called with so many draws."""
    made: dict[int, Any] = {}

    def compiled(draws: int) -> Callable[[Any], Draws]:
        def one(key: Any) -> Draws:
            kernel = NUTS(MODELS[case.model])
            driver = MCMC(kernel, num_warmup=1000, num_samples=draws, progress_bar=False)
            driver.run(key, **data)
            samples = driver.get_samples()
            return {name: samples[name] for name in case.names}

        return jax.pmap(one)

    def run(seed: int, more: float) -> Draws:
        draws = int(1000 * more)
        sample = made.setdefault(draws, compiled(draws))
        found = sample(jax.random.split(jax.random.PRNGKey(seed), CHAINS))
        return {name: np.asarray(values) for name, values in found.items()}

    return run
