"""NumPyro's No-U-Turn sampler on four posteriors of the gallery, for `nuts_race`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Read by XLA when it is first imported.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from datasets import standardised
from numpyro.infer import MCMC, NUTS
from numpyro.infer.util import initialize_model
from peer_tools.numpyro_models import eight_schools, logistic_regression

from probmodel import read_data
from probmodel.results.convergence import convergence
from probmodel.types import Array

GALLERY = Path(__file__).resolve().parents[1] / "models"
CHAINS, WARMUP, DRAWS = 4, 1000, 1000


def stochastic_volatility(y: Array) -> None:
    """Write it centred, as ours: the autoregression as one term, which is faster than a scan."""
    mu = numpyro.sample("mu", dist.Cauchy(0, 2))
    u = numpyro.sample("u", dist.Beta(20, 1.5))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(1))
    phi = 2 * u - 1
    flat = dist.ImproperUniform(dist.constraints.real_vector, (), (len(y),))
    h = numpyro.sample("h", flat)
    spread = jnp.sqrt((1 - phi) * (1 + phi))
    numpyro.factor("start", dist.Normal(0, sigma / spread).log_prob(h[0]))
    numpyro.factor("steps", dist.Normal(phi * h[:-1], sigma).log_prob(h[1:]).sum())
    numpyro.sample("y", dist.Normal(0, jnp.exp((mu + h) / 2)), obs=y)


def log_gaussian_cox(y: Array, northing: Array, easting: Array, share: Array) -> None:
    """Write it centred, as ours; a precision matrix is faster than NumPyro's own solves."""
    variance, length_scale = 1.91, 10 / 33
    points = np.stack(np.meshgrid(northing, easting, indexing="ij"), axis=-1).reshape(-1, 2)
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    covariance = variance * (np.exp(-distance / length_scale) + 1e-8 * np.eye(len(points)))
    precision = np.linalg.inv(covariance)
    flat = dist.ImproperUniform(dist.constraints.real_vector, (), (len(points),))
    x = numpyro.sample("x", flat)
    r = x - (np.log(126) - variance / 2)
    numpyro.factor("process", -0.5 * r @ (precision @ r))
    numpyro.sample("y", dist.Poisson(share * jnp.exp(x)), obs=y.reshape(-1))


class Case(NamedTuple):
    """A posterior in both languages.

    Attributes
    ----------
    ours : file of the gallery, without its ending
    data : file of the gallery's data
    theirs : NumPyro model of the same data
    order : its parameters, in the order of our unconstrained ones
    standardise : whether to bring the inputs to mean 0 and variance 1
    """

    ours: str
    data: str
    theirs: Callable[..., None]
    order: tuple[str, ...]
    standardise: bool = False


CASES = {
    "eight schools": Case(
        "eight_schools", "eight_schools.json", eight_schools, ("mu", "tau", "z")
    ),
    "German": Case(
        "logistic_regression", "german.npz", logistic_regression, ("alpha", "beta"), True
    ),
    "volatility 500": Case(
        "stochastic_volatility_centered", "sp500_500.csv", stochastic_volatility,
        ("mu", "u", "sigma", "h"),
    ),
    "Cox 16 x 16": Case(
        "log_gaussian_cox", "finpines_16x16.npz", log_gaussian_cox, ("x",)
    ),
}  # fmt: skip


def read(case: Case) -> dict[str, Any]:
    """Read the data of a case."""
    values = read_data(GALLERY / "data" / case.data)
    values = {name: np.asarray(value) for name, value in values.items() if name != "coords"}
    if case.standardise:
        values["X"] = standardised(values["X"].astype(float))
    return values


class Clocks(NamedTuple):
    """Time of the wall, and of this process alone: the same where nobody else is at work."""

    wall: float
    processor: float

    @classmethod
    def read(cls) -> Clocks:
        """Read both."""
        return cls(time.perf_counter(), time.process_time())

    def since(self, start: Clocks) -> Clocks:
        """Return what has passed, in seconds."""
        return Clocks(self.wall - start.wall, self.processor - start.processor)


class Result(NamedTuple):
    """What one tool did in one run, after its warm-up.

    Attributes
    ----------
    x : (chains, draws, dim), unconstrained
    gradients : total
    seconds : total
    accept : mean acceptance of the trajectories
    way : how its chains were run
    """

    x: Array
    gradients: int
    seconds: Clocks
    accept: float
    way: str

    @property
    def microseconds(self) -> Clocks:
        """Time of one gradient."""
        return Clocks(*(1e6 * t / self.gradients for t in self.seconds))

    @property
    def ess(self) -> Array:
        """Effective draws of every parameter: (dim,)."""
        return convergence(np.moveaxis(self.x, 2, 0)).ess_bulk

    @property
    def cost(self) -> float:
        """Gradients of one effective draw."""
        return self.gradients / float(self.ess.min())


class NumPyro:
    """NumPyro's sampler on one posterior, compiled once: its own driver compiles in every run.

    Parameters
    ----------
    case : the posterior
    way : "in turn" or "in one batch", how the chains are run
    """

    def __init__(self, case: Case, way: str) -> None:
        self._order, self._way = case.order, way
        data = read(case)
        kernel = NUTS(case.theirs, target_accept_prob=0.8, dense_mass=False, max_tree_depth=10)

        def begin(key: Any) -> Any:
            return kernel.init(key, WARMUP, None, (), data)

        def step(state: Any, _: Any) -> tuple[Any, Any]:
            state = kernel.sample(state, (), data)
            return state, (state.z, state.num_steps, state.accept_prob)

        def follow(state: Any) -> tuple[Any, Any]:
            return jax.lax.scan(step, state, length=DRAWS)

        def warm_up(key: Any) -> Any:
            return jax.lax.fori_loop(0, WARMUP, lambda _, state: step(state, None)[0], begin(key))

        begin(jax.random.PRNGKey(0))  # the kernel is set up when it is first called
        if way == "in one batch":
            self._warm_up, self._follow = jax.jit(jax.vmap(warm_up)), jax.jit(jax.vmap(follow))
        else:
            self._warm_up, self._follow = in_turn(jax.jit(warm_up)), in_turn(jax.jit(follow))
        self.run(2**20)

    def run(self, seed: int) -> Result:
        """Warm up, and draw."""
        keys = jax.random.split(jax.random.PRNGKey(seed), CHAINS)
        state = jax.block_until_ready(self._warm_up(keys))
        start = Clocks.read()
        z, steps, accept = jax.block_until_ready(self._follow(state))[1]
        elapsed = Clocks.read().since(start)
        columns = [np.asarray(z[name]).reshape(CHAINS, DRAWS, -1) for name in self._order]
        x = np.concatenate(columns, axis=2)
        return Result(x, int(steps.sum()), elapsed, float(accept.mean()), self._way)


class Call(NamedTuple):
    """What a user waits for: one call with a model and its data, to the draws.

    Attributes
    ----------
    seconds : total, of the wall
    gradients : those after the warm-up
    """

    seconds: float
    gradients: int

    @property
    def microseconds(self) -> float:
        """Time of the call for each gradient after the warm-up."""
        return 1e6 * self.seconds / self.gradients


def whole_call(case: Case, way: str, seed: int) -> Call:
    """Run NumPyro's own driver, which compiles."""
    data = read(case)
    kernel = NUTS(case.theirs, target_accept_prob=0.8, dense_mass=False, max_tree_depth=10)
    method = "vectorized" if way == "in one batch" else "sequential"
    start = time.perf_counter()
    mcmc = MCMC(
        kernel, num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS, chain_method=method,
        progress_bar=False,
    )  # fmt: skip
    key = jax.random.PRNGKey(seed)
    mcmc.run(key, **data, extra_fields=("num_steps",))
    mcmc.get_samples()
    steps = np.asarray(mcmc.get_extra_fields()["num_steps"])
    return Call(time.perf_counter() - start, int(steps.sum()))


def in_turn(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of arrays that lead with a chain axis that takes chain after chain."""

    def chain(batch: Any, i: int) -> Any:
        return jax.tree.map(lambda a: a[i], batch)

    def run(batch: Any) -> Any:
        parts = [function(chain(batch, i)) for i in range(CHAINS)]
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts)

    return run


def check(case: Case, density: Any) -> None:
    """Stop unless both tools have the same log density, up to a constant."""
    start = initialize_model(jax.random.PRNGKey(0), case.theirs, model_kwargs=read(case))
    shapes = {name: np.shape(value) for name, value in start.param_info.z.items()}
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (5, density.dim))

    def potential(point: Array) -> float:
        z, begin = {}, 0
        for name in case.order:
            size = int(np.prod(shapes[name], dtype=int))
            z[name] = jnp.reshape(point[begin : begin + size], shapes[name])
            begin += size
        return float(start.potential_fn(z))

    difference = density.log_density(points) + [potential(point) for point in points]
    scale = np.abs(density.log_density(points)).max()
    np.testing.assert_allclose(difference, difference[0], atol=1e-9 * scale)
