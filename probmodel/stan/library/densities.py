"""Distributions of the Stan language, in terms of those of the modelling language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from probmodel import distributions as d


class Density(NamedTuple):
    """A distribution of the Stan language.

    Attributes
    ----------
    make : of its parameters, in Stan's order, arrays or symbols, to a distribution
    ranks : how many axes a value has, and each parameter: 0 for numbers, 1 for vectors, 2 for
        matrices; axes before these are those of a batch, and broadcast
    discrete : whether Stan's names are ``_lpmf`` and ``_lupmf``
    first : what Stan's smallest value is, where it counts from 1 and the distribution from 0
    """

    make: Callable[..., d.Distribution]
    ranks: tuple[int, ...]
    discrete: bool = False
    first: int = 0


DENSITIES: dict[str, Density] = {
    "normal": Density(lambda mu, sigma: d.Normal(mu, sigma), (0, 0, 0)),
    "std_normal": Density(lambda: d.Normal(0.0, 1.0), (0,)),
    "bernoulli": Density(lambda p: d.Bernoulli(p), (0, 0), True),
    "multi_normal": Density(lambda mu, S: d.MvNormal(mu, cov=S), (1, 1, 2)),
}
