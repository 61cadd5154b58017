"""The path from the prior of a model to its posterior: draws from the one, densities in between.

    x       unconstrained parameters                         (n, dim)
    beta    inverse temperature, from 0 to 1                 (n,)
    L       likelihood: observed quantities and potentials

    log pi_beta(x) = log prior(x) + beta log L(x)

The inverse temperature is one more coordinate of the program that computes it: the last entry of
the gradient is log L.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from probmodel.compiler.differentiation import taken
from probmodel.compiler.tracing import Program, Scope, Trace, differentiated, dimension
from probmodel.density.engines import Engine, Switch
from probmodel.density.prior import exact_draws
from probmodel.density.programs import Gradients
from probmodel.distributions import Flat
from probmodel.model.binding import Binding
from probmodel.types import Array, Tempered

TRIED = 1000  # draws from the prior that tell how many are not finite


class Tempering:
    """Prior draws of a bound model, and its log density at any inverse temperature.

    Parameters
    ----------
    binding : the bound model
    engine, cores : as of `engines.Switch`; ``"auto"`` makes machine code at once, as nobody asks
        for a few densities of this kind

    Raises
    ------
    ModelError
        If a parameter has no proper prior that can be drawn from.
    """

    def __init__(self, binding: Binding, engine: Engine, cores: int | None) -> None:
        self._binding, self._draws = binding, exact_draws(binding)
        programs = Gradients(lambda: _program(binding), exact=True)  # calls are of many sizes
        self._switch = Switch(binding, engine, programs, cores, enough=0.0)

    @property
    def engine(self) -> str:
        """What computes the density now: ``"numpy"`` or ``"llvm"``."""
        return self._switch.in_use

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        """Draw from the prior: (n, dim)."""
        return self._draws(rng, n)

    def __call__(self, x: Array, beta: Array) -> Tempered:
        """Return the density at points, (n, dim), and inverse temperatures, (n,)."""
        with np.errstate(all="ignore"):
            logp, slopes = self._switch(np.column_stack([x, beta]))
        return Tempered.marked(logp, slopes[:, :-1], slopes[:, -1])

    def doubts(self, rng: np.random.Generator) -> list[str]:
        """Return, in words, what makes the evidence another one than is meant."""
        return [*_uniform(self._binding), *_constant(self._binding), *self._impossible(rng)]

    def _impossible(self, rng: np.random.Generator) -> Iterator[str]:
        share = 1.0 - np.mean(np.isfinite(self.draws(rng, TRIED)).all(axis=1))
        if share:
            yield (
                f"of draws from the prior {share:.1%} lie at the edge of what floating-point "
                "numbers can tell, and count as impossible: the estimate is too low"
            )


def _uniform(binding: Binding) -> Iterator[str]:
    """Say which parameters without a prior count as uniform, if potentials may be their prior."""
    if not any(term.kind == "potential" for term in binding.terms):
        return
    for free in binding.free:
        prior = free.declaration.prior
        if 0 not in free.shape and (prior is None or isinstance(prior, Flat)):
            yield (
                f"{free.declaration.title} has bounds and no prior, and counts as uniform between "
                "them: if a potential is its prior, add the logarithm of the distance between the "
                "bounds for each element"
            )


def _constant(binding: Binding) -> Iterator[str]:
    """Say which terms are constants, as those that normalise a prior are."""
    cut = any(free.declaration.bounds for free in binding.free)
    for term in binding.terms:
        known = term.kind == "potential" and binding.evaluator.is_constant(term.expression)
        total = float(np.sum(binding.evaluator.value(term.expression))) if known else 0.0
        if cut and total:
            yield (
                f"{term.title} is the constant {total:.3g}: if it normalises a prior that is cut "
                "by bounds, subtract it, as such priors are normalised already"
            )


def _program(binding: Binding) -> Program:
    """Write down the density at an inverse temperature, and its gradient, for one chain."""
    dim = dimension(binding)
    of_prior = {id(term) for free in binding.free for term in free.terms}

    def total(trace: Trace, x: Any) -> Any:
        trace.place(binding, x)
        prior, likelihood = (
            sum((trace.term(t) for t in binding.terms if (id(t) in of_prior) is wanted), 0.0)
            for wanted in (True, False)
        )
        return prior + taken(x, np.array(dim)) * likelihood

    return differentiated(Scope.of(binding), total, [(dim + 1,)])
