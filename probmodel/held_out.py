"""Rewards of predictions: how well draws predict data that the model was not given.

The Bayesian optimisation of `ahmc` and `armhmc` can be led by predictions in place of the squared
jumps of the chains: Wang, Mohamed and de Freitas (2013), section 5.4.

    train, test = folds(len(y), 5, seed=1)[0]
    reward = HeldOut(Regression(X=X[test], y=y[test]))
    infer(Regression(X=X[train], y=y[train]), method="ahmc", reward=reward, budget=2000)

For cross-validation the same is done for each of the folds, as the authors do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from probmodel.arguments import LARGEST, seed_sequence
from probmodel.density.posterior import ModelDensity
from probmodel.errors import DataError, ModelError
from probmodel.model import Model
from probmodel.types import Array

Score = Callable[[Mapping[str, Array]], float]

LIKELIHOOD = "likelihood of "  # what the terms that count are called


class HeldOut:
    """How well the draws of a block predict held-out data, as a ``reward``.

    It is the geometric mean, over held-out observations and draws, of their density, up to a factor
    that depends on the data alone; or what ``score`` says.

    Parameters
    ----------
    model : Model
        The model that is sampled, bound to held-out data. Its parameters must have the same sizes,
        so none of them may belong to single observations.
    score : callable, optional
        ``score(values)``, the larger the better: a number made of the parameters and deterministic
        quantities at the draws, each of (draws, ...). Deterministic quantities are those of
        the held-out data, so that predictions are at hand: the share of correct ones, say.
    baseline : float
        Score of predictions that are of no use; it is taken off, so that good settings stand out.

    Raises
    ------
    ModelError
        If ``model`` is no bound model, or observes nothing and there is no ``score``.
    DataError
        If it lacks observed data.
    """

    def __init__(self, model: Model, score: Score | None = None, baseline: float = 0.0) -> None:
        if not isinstance(model, Model):
            raise ModelError(
                "HeldOut takes a model bound to held-out data, HeldOut(Regression(X=..., y=...)); "
                f"got {model!r}.",
                given=model,
            )
        number: Any = baseline
        if not isinstance(number, Real):
            raise ModelError(
                f"HeldOut(baseline=...) must be a number, got {baseline!r}.", given=baseline
            )
        self._density = ModelDensity(model)
        self._score, self._baseline = score, float(baseline)
        self._observations = sum(values.size for _, values in self._density.observed_data.values())
        if score is None and not self._observations:
            raise ModelError(
                f"{self._density.name} observes nothing, so nothing can be held out. Give score=.",
                model=self._density.name,
            )

    def __call__(self, draws: Array, step_size: float, n_steps: int) -> float:
        """Reward of a block: ``draws`` are unconstrained, (chains, block, dim).

        Raises
        ------
        ModelError
            If the sampled model has another number of parameters.
        """
        dim = self._density.dim
        if draws.shape[-1] != dim:
            raise ModelError(
                f"the sampled model has {draws.shape[-1]} unconstrained parameters and the one "
                f"with held-out data, {self._density.name}, has {dim}. Parameters of single "
                "observations cannot be used for others: leave them out of the model.",
                sampled=draws.shape[-1], held_out=dim,
            )  # fmt: skip
        x = draws.reshape(-1, dim)
        score = self._likelihood if self._score is None else self._score_of
        return score(x) - self._baseline

    def __repr__(self) -> str:
        return f"HeldOut({self._density.name})"

    def _likelihood(self, x: Array) -> float:
        """Geometric mean of the density of one observation."""
        terms = self._density.terms(x)
        total = sum(
            np.mean(value) for title, value in terms.items() if title.startswith(LIKELIHOOD)
        )
        return float(np.exp(total / self._observations))

    def _score_of(self, x: Array) -> float:
        """Return what the user's score says."""
        assert self._score is not None
        return float(self._score(self._density.constrain(x)))


def folds(n: int, k: int, seed: int = 0) -> list[tuple[Array, Array]]:
    """Split n observations at random into k parts for cross-validation.

    Parameters
    ----------
    n : number of observations
    k : number of parts, from 2 to n; their sizes differ by one at most
    seed : of the order of the observations

    Returns
    -------
    list of (train, test)
        Increasing indices: each observation is in one ``test``, and in the other ``train``.

    Raises
    ------
    DataError
        If there are fewer than two parts, or more than observations, or no whole number of them.
    SamplerError
        If the seed makes no sense.
    """
    given: tuple[Any, ...] = (n, k)
    whole = all(isinstance(m, Integral) and not isinstance(m, bool) for m in given)
    if not (whole and 2 <= k <= n <= LARGEST):
        raise DataError(
            f"cross-validation takes from 2 to n folds, here of {n} observations; got {k}.",
            n=n, k=k,
        )  # fmt: skip
    order = np.random.default_rng(seed_sequence(seed)).permutation(n)
    parts = [np.sort(part) for part in np.array_split(order, k)]
    return [(np.setdiff1d(np.arange(n), part, assume_unique=True), part) for part in parts]
