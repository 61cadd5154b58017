"""BlackJAX's ChEES-HMC on NumPyro's densities: 16 chains, 1000 + 1000 iterations.

The densities are those of `numpyro_models`, as BlackJAX's documentation takes them from NumPyro's
models. Chains start between -1/2 and 1/2: from NumPyro's wider starts some of those of volatility
are lost. The first step size is that of BlackJAX's own test of this adaptation, the optimiser that
of Hoffman, Radul and Sountsov (2021), *An adaptive-MCMC scheme for setting trajectory lengths in
Hamiltonian Monte Carlo*. The metric is the adaptation's diagonal estimate, without which targets of
different scales take a thousand leapfrog steps an iteration.
"""

from __future__ import annotations

from typing import Any

import blackjax
import jax
import numpy as np
import optax
from blackjax.adaptation.base import get_filter_adapt_info_fn
from numpyro.infer import init_to_uniform
from numpyro.infer.util import initialize_model

from peer_tools import Draws, Run
from peer_tools.cases import Case
from peer_tools.numpyro_models import MODELS

PACKAGES = ("blackjax", "numpyro", "jax", "optax", "arviz")
CHAINS = 16
WARMUP, DRAWS = 1000, 1000


def prepare(case: Case, data: dict[str, Any]) -> Run:
    """Return the run, compiled when it is first called with so many draws."""
    made: dict[int, Any] = {}

    def compiled(draws: int) -> Any:
        def whole(key: Any) -> Draws:
            begin, warm, follow = jax.random.split(key, 3)
            start = initialize_model(
                jax.random.split(begin, CHAINS), MODELS[case.model], model_kwargs=data,
                dynamic_args=True, init_strategy=init_to_uniform(radius=0.5),
            )  # fmt: skip
            potential, constrain = start.potential_fn(**data), start.postprocess_fn(**data)

            def density(z: Any) -> Any:
                return -potential(z)

            warmup = blackjax.chees_adaptation(
                density, CHAINS, mass_matrix_estimation="diagonal",
                adaptation_info_fn=get_filter_adapt_info_fn(),
            )  # fmt: skip
            (state, parameters), _ = warmup.run(
                warm, start.param_info.z, 0.1, optax.adam(0.025, b1=0, b2=0.95), WARMUP,
                max_sampling_steps=draws,
            )  # fmt: skip
            step = jax.vmap(blackjax.dynamic_hmc(density, **parameters).step)

            def one(state: Any, key: Any) -> tuple[Any, Draws]:
                state, _ = step(jax.random.split(key, CHAINS), state)
                values = jax.vmap(constrain)(state.position)
                return state, {name: values[name] for name in case.names}

            return jax.lax.scan(one, state, jax.random.split(follow, draws))[1]

        return jax.jit(whole)

    def run(seed: int, more: float) -> Draws:
        draws = int(DRAWS * more)
        sample = made.setdefault(draws, compiled(draws))
        found = sample(jax.random.PRNGKey(seed))
        return {name: np.asarray(values).swapaxes(0, 1) for name, values in found.items()}

    return run
