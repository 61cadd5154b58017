"""Draws of random numbers, as the functions whose names end in ``_rng`` make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel import distributions as d
from probmodel.distributions.process.forward_algorithm import batch_of_series
from probmodel.distributions.process.forward_passes import draw_states
from probmodel.errors import ModelError, reason
from probmodel.stan.library.stan_densities import DENSITIES
from probmodel.types import Array

Shape = tuple[int, ...]

# Distributions that Stan has a density of, and no generator.
WITHOUT_DRAWS = frozenset(
    {"wiener", "gaussian_dlm_obs", "multi_gp", "multi_gp_cholesky", "matrix_normal_prec"}
)


class Draw(NamedTuple):
    """A generator whose arguments are not those of the density.

    Attributes
    ----------
    make : of its arguments, to a distribution
    ranks : how many axes each argument has, before which there may be those of a batch
    event : of its arguments, to the shape of one value, where the distribution does not know it
    """

    make: Callable[..., d.Distribution]
    ranks: tuple[int, ...]
    event: Callable[..., Shape] | None = None


def _square(size: Any, eta: Any) -> Shape:
    sizes = np.unique(size)
    if sizes.size != 1 or sizes[0] < 1 or sizes[0] != np.floor(sizes[0]):
        raise ValueError("the size must be a whole number from 1 up, one for all matrices")
    return (int(sizes[0]),) * 2


RANDOM: dict[str, Draw] = {
    "multinomial": Draw(lambda p, n: d.Multinomial(n, p), (1, 0)),
    "multinomial_logit": Draw(lambda a, n: d.MultinomialLogit(n, a), (1, 0)),
    "dirichlet_multinomial": Draw(lambda a, n: d.DirichletMultinomial(n, a), (1, 0)),
    "lkj_corr": Draw(lambda size, eta: d.LKJ(eta), (0, 0), _square),
    "lkj_corr_cholesky": Draw(lambda size, eta: d.LKJCholesky(eta), (0, 0), _square),
}


def hidden_paths(rng: np.random.Generator, omega: Array, transition: Array, start: Array) -> Array:
    """Draw the states of hidden Markov models, given what was seen: (..., n); they count from 1.

    Parameters
    ----------
    rng : where the numbers come from
    omega : (..., k, n), log densities of what was seen in each state
    transition : (..., k, k), probabilities of a state after another
    start : (..., k), probabilities of the first state

    Raises
    ------
    ValueError
        If their sizes do not fit, or no states explain what was seen.
    """
    logs = np.swapaxes(omega, -1, -2)
    batch = batch_of_series(logs.shape, start.shape, transition.shape)
    args = [
        np.broadcast_to(a, (*batch, *a.shape[a.ndim - n :])).reshape(-1, *a.shape[a.ndim - n :])
        for a, n in ((logs, 2), (start, 1), (transition, 2))
    ]
    return np.asarray(1 + draw_states(rng, args).reshape(*batch, logs.shape[-2]))


def has_draws(name: str) -> bool:
    """Whether Stan draws from a distribution."""
    return name in DENSITIES and name not in WITHOUT_DRAWS


def draw_ranks(name: str) -> tuple[int, ...]:
    """Return how many axes each argument of a generator has."""
    return RANDOM[name].ranks if name in RANDOM else DENSITIES[name].ranks[1:]


def draw_kind(name: str) -> str:
    """Return what a generator returns, as `Value.kind` has it; counts are arrays of integers."""
    entry = DENSITIES[name]
    return "int" if entry.discrete else ("real", "vector", "matrix")[entry.ranks[0]]


def random(name: str, rng: np.random.Generator, args: Sequence[Any], batch: Shape = ()) -> Array:
    """Draw a value for each element of a batch, from a distribution that `has_draws`.

    Of the arrays ``args`` those of `draw_ranks` are their own axes, and axes before these are those
    of the batch, and broadcast; it has the axes ``batch`` at least. Returns the axes of the batch,
    then their own; whole numbers are integers. Raises a `ModelError` if an argument is not what the
    distribution takes.
    """
    special, entry = RANDOM.get(name), DENSITIES[name]
    args = [np.asarray(a) for a in args]
    try:
        made = special.make(*args) if special else entry.make(*args)
        params = [np.asarray(p) for p in made.args.values()]
        _check(name, made, params)
        own: Shape = ()
        if made.event_ndim:
            event = special.event if special else None
            own = (event(*args) if event else made.event_shape(*params)) or ()
        rows = (1,) * (entry.ranks[0] - made.event_ndim)
        shapes = [p.shape[: p.ndim - n] for p, n in zip(params, made.event_ndims[1:], strict=True)]
        shape = np.broadcast_shapes((*batch, *rows), *shapes)
        drawn = made.sample(rng, (*shape, *own), *params)
    except ValueError as error:
        raise ModelError(f"{name}_rng cannot draw: {reason(error)}.") from error
    return np.asarray(drawn)


def _check(name: str, made: d.Distribution, params: Sequence[Array]) -> None:
    """Raise a `ModelError` for the first parameter that is not in its set."""
    for (parameter, spec), given in zip(made.parameters.items(), params, strict=True):
        if not np.all(spec.constraint.check(given, *spec.constraint.bounds)):
            shown = f"; got {given:g}" if given.ndim == 0 else ""
            own = parameter.rpartition(".")[2]
            raise ModelError(f"{name}_rng needs a {own} that is {spec.constraint.name}{shown}.")
