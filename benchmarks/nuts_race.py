"""`nuts` against an independent No-U-Turn sampler, NumPyro's, on the same posteriors.

    OPENBLAS_NUM_THREADS=1 python benchmarks/nuts_race.py --csv benchmarks/results/nuts_race.csv

Both sample the same density of the same unconstrained parameters, which is checked first, with
4 chains, 1000 warm-up iterations and 1000 draws, a diagonal mass matrix, target acceptance 0.8 and
at most 10 doublings. A gradient is one leapfrog step of one chain. Draws and effective draws (bulk,
of the parameter that has fewest) are those after the warm-up, by one estimator for both tools. Time
is that of the sampling alone, compiled beforehand. NumPyro runs its chains in turn and in one
batch; the way that takes less time a gradient counts. NumPy and XLA have one thread each, and
double precision. Rows are medians over repeats with other seeds; z compares the pooled means.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Sequence
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
from numpyro.infer import NUTS
from numpyro.infer.util import initialize_model
from report import environment, markdown, number
from scipy.stats import norm

from probmodel import load_model, read_data
from probmodel.density import as_posterior
from probmodel.inference.collectors import DrawStore
from probmodel.inference.driver import Group
from probmodel.results.convergence import convergence
from probmodel.samplers import make_sampler
from probmodel.types import Array

GALLERY = Path(__file__).resolve().parents[1] / "models"
CHAINS, WARMUP, DRAWS = 4, 1000, 1000
LEVEL = 0.01  # at which the largest z of a posterior would be called too large


# -- the posteriors, in NumPyro's language -------------------------------------------------------


def eight_schools(y: Array, sigma: Array) -> None:
    """Non-centred, as ours."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([len(y)]).to_event(1))
    numpyro.sample("y", dist.Normal(mu + tau * z, sigma), obs=y)


def logistic_regression(X: Array, y: Array) -> None:
    """Standard normal priors."""
    alpha = numpyro.sample("alpha", dist.Normal(0, 1))
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([X.shape[1]]).to_event(1))
    numpyro.sample("y", dist.BernoulliLogits(alpha + X @ beta), obs=y)


def stochastic_volatility(y: Array) -> None:
    """Centred, as ours: the autoregression as one term, which is faster than a scan."""
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
    """Centred, as ours; with a precision matrix, which is faster than NumPyro's own solves."""
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
        "stochastic_volatility", "sp500_500.csv", stochastic_volatility, ("mu", "u", "sigma", "h")
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


# -- the runs ------------------------------------------------------------------------------------


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


def our_run(density: Any, seed: int) -> Result:
    """Run `nuts` with its defaults."""
    x0 = density.initial_points(np.random.default_rng(seed), CHAINS)
    store = DrawStore("draw", CHAINS, DRAWS, density.dim)
    group = Group(make_sampler("nuts"), density, x0, np.random.default_rng(seed), [store])
    group.start()
    for i in range(WARMUP):
        group.warm_up(i, WARMUP)
    start = Clocks.read()
    group.freeze(WARMUP, DRAWS)
    for i in range(DRAWS):
        group.draw(i)
    elapsed = Clocks.read().since(start)
    accept = float(store.stats(DRAWS)["acceptance_rate"].mean())
    return Result(store.x(DRAWS), group.work[1].grad, elapsed, accept, "one batch")


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


def in_turn(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of arrays that lead with a chain axis that takes chain after chain."""

    def run(batch: Any) -> Any:
        parts = [function(jax.tree.map(lambda a: a[i], batch)) for i in range(CHAINS)]
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


def pooled_z(ours: Sequence[Result], theirs: Sequence[Result]) -> Array:
    """Differences of the means of all repeats, in Monte Carlo standard errors: (dim,)."""
    means, variances = [], []
    for runs in (ours, theirs):
        x = np.concatenate([run.x for run in runs])
        ess = convergence(np.moveaxis(x, 2, 0)).ess_bulk
        means.append(x.mean(axis=(0, 1)))
        variances.append(x.var(axis=(0, 1)) / ess)
    return (means[0] - means[1]) / np.sqrt(variances[0] + variances[1])


def race(name: str, repeats: int) -> dict[str, Any]:
    """Run both tools by turns on one posterior, and compare them."""
    case = CASES[name]
    density = as_posterior(load_model(GALLERY / f"{case.ours}.py")(**read(case)))
    check(case, density)
    ways = [NumPyro(case, way) for way in ("in turn", "in one batch")]
    ours, others = [], []
    for seed in range(repeats):
        ours.append(our_run(density, seed))
        others.append([way.run(seed) for way in ways])
    times = [float(np.median([r.microseconds.processor for r in runs])) for runs in zip(*others, strict=True)]
    theirs = [runs[int(np.argmin(times))] for runs in others]
    z = np.abs(pooled_z(ours, theirs))
    row: dict[str, Any] = {"posterior": name, "dim": density.dim, "NumPyro's chains": theirs[0].way}
    row |= {"max |z|": float(z.max()), "allowed": norm.isf(0.5 * LEVEL / density.dim)}
    for column, of in {
        "acceptance": lambda r: r.accept,
        "steps/draw": lambda r: r.gradients / (CHAINS * DRAWS),
        "least ESS": lambda r: float(r.ess.min()),
        "gradients/ESS": lambda r: r.cost,
        "µs/gradient": lambda r: r.microseconds.wall,
        "processor µs/gradient": lambda r: r.microseconds.processor,
    }.items():
        values = [float(np.median([of(r) for r in runs])) for runs in (ours, theirs)]
        row |= {f"{column}": values[0], f"{column} (NumPyro)": values[1]}
        row |= {f"{column}, ratio": values[0] / values[1]}
    return row


def main() -> None:
    """Print the tables, and write them as CSV if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case", action="append", choices=CASES, help="all by default")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    numpyro.enable_x64()
    warnings.simplefilter("ignore")
    print(*environment(), sep="\n")
    print(f"NumPyro {numpyro.__version__}, JAX {jax.__version__}, XLA_FLAGS: "
          f"{os.environ['XLA_FLAGS']}\n")  # fmt: skip
    rows = [race(name, options.repeats) for name in options.case or CASES]
    columns = list(rows[0])
    cells = [[f if isinstance(f, str) else number(f) for f in row.values()] for row in rows]
    print(markdown(("", *(row["posterior"] for row in rows)),
                   [(name, *values) for name, *values in zip(columns[1:], *(c[1:] for c in cells), strict=True)]))
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, columns)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
