"""Simulation-based calibration: simulate, infer and rank, many times over.

    Talts, Betancourt, Simpson, Vehtari and Gelman (2018), "Validating Bayesian inference algorithms
    with simulation-based calibration", arXiv:1804.06788.
    Modrák, Moon, Kim, Bürkner, Huurre, Faltejsková, Gelman and Vehtari (2023), "Simulation-based
    calibration checking for Bayesian computation: the choice of test quantities shapes
    sensitivity", Bayesian Analysis.

A parameter from the prior and draws from its posterior given data simulated from it have the same
distribution. Its rank among L independent draws is uniform on 0, ..., L. The same holds of
functions of parameters and data: the log likelihood finds posteriors that do not use the data as
they should, which ranks of parameters need not show.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import flag, positive, seed_sequence
from probmodel.calibration.live_line import watched
from probmodel.calibration.ranking import LOG_LIKELIHOOD, Ranked, rank
from probmodel.calibration.result import Calibration
from probmodel.calibration.simulating import Simulated, Simulation
from probmodel.errors import DataError, InitializationError, ProbmodelError, SamplerError
from probmodel.inference.request import Arguments
from probmodel.inference.tasks import mapped
from probmodel.model import Model
from probmodel.results.drawn import Drawn
from probmodel.results.draws import element_labels
from probmodel.samplers import DEFAULT_METHOD
from probmodel.samplers.base import Sampler
from probmodel.sampling import draw, spawned
from probmodel.types import Array

_DRAWS = 200  # per chain, of the usual 16
_RHAT = 1.05  # above which chains are taken to disagree about what is ranked
_LONGEST = 10  # times longer a run may be made, to have effective draws enough
_MARGIN = 1.2
# Judgements of an inference that is read as a summary; ranks need less, and are checked here.
_OWN_CHECKS = frozenset({"few_draws", "rhat", "ess_bulk", "ess_tail"})


def sbc(
    model: type[Model],
    n: int = 200,
    *,
    data: Mapping[str, Any] | None = None,
    coords: dict[str, Any] | None = None,
    simulate_with: type[Model] | None = None,
    method: str | Sampler = DEFAULT_METHOD,
    draws: int | None = None,
    chains: int | None = None,
    thin_to: int = 99,
    seed: int | np.random.SeedSequence | None = None,
    var_names: str | Sequence[str] | None = None,
    executor: Any = None,
    progressbar: bool = True,
    **settings: Any,
) -> Calibration:
    """Check by simulation that true values are where the posterior says they are.

    Parameters
    ----------
    model : Model subclass
        Its parameters need proper priors.
    n : int
        Number of simulations, each followed by an inference.
    data : mapping, optional
        What is fixed: data and covariates. An observed quantity lends its shape, as its values are
        simulated.
    coords : dict, optional
        Labels by dim, for dims that no datum carries.
    simulate_with : Model subclass, optional
        The model that simulates, if it is another one. Parameters of the same names are ranked.
    method : str or Sampler
        As for `infer`.
    draws, chains : int, optional
        Draws per chain, 200 unless given, and chains; the method knows how many.
    thin_to : int
        L, the posterior draws that each true value is ranked among. A run with fewer effective
        draws is done again with more iterations, up to ten times as many.
    seed : int or SeedSequence, optional
        Decides everything.
    var_names : str or sequence of str, optional
        Parameters or deterministic quantities to rank; all parameters by default. The log
        likelihood is always ranked too, if both models have the same parameters.
    executor : optional
        Anything with a method ``submit``, whose workers do the simulations. The result does not
        depend on it.
    progressbar : bool
        Whether to show the progress on a terminal, or in a notebook.
    **settings
        Other arguments of `infer` such as ``warmup``, and settings of the method.

    Returns
    -------
    Calibration
        Print it for the table of verdicts. After Ctrl-C it holds what was done until then.

    Raises
    ------
    ModelError
        If a prior is improper or cannot be drawn from; the message names the parameter.
    DataError, ShapeError
        If a datum is missing, superfluous or of the wrong shape.
    SamplerError
        If an argument makes no sense.
    KeyboardInterrupt
        If it is interrupted before the first simulation is done.
    """
    asked, size = positive("n", n), positive("thin_to", thin_to, 2)
    bar = flag("progressbar", progressbar)
    given = {"draws": draws, "chains": chains, "seed": seed}
    arguments, rest = Arguments.named(given, settings)
    bar &= flag("progressbar", arguments.progressbar)
    root = seed_sequence(arguments.seed)
    own = replace(arguments, seed=None, progressbar=False)
    simulator = model if simulate_with is None else simulate_with
    simulation = (model, simulator, data, coords, var_names)
    study = _Study(simulation, method, own, rest, size)
    tally = _Tally(model.__name__, asked, size, root.entropy)
    try:
        with watched(asked, bar) as line:
            for i, found in enumerate(mapped(study, spawned(root, asked), executor)):
                tally.add(i, found)
                line.update(*tally.counts)
    except KeyboardInterrupt:
        if not tally.ranked:
            raise
        tally.interrupted = True
    return tally.result()


class _Found(NamedTuple):
    """What came of a simulation: ranks, names of the elements of what is ranked, and warnings."""

    ranked: Ranked
    labels: dict[str, list[str]]
    kinds: set[str]


class _Study:
    """Simulates, infers and ranks; it can be sent to other processes.

    Parameters
    ----------
    simulation : arguments of `Simulation`
    method, arguments, settings : of the inference
    size : draws that are ranked
    """

    def __init__(
        self,
        simulation: tuple[Any, ...],
        method: str | Sampler,
        arguments: Arguments,
        settings: dict[str, Any],
        size: int,
    ) -> None:
        self._given = simulation, method, arguments, settings, size
        self._simulation = Simulation(*simulation)
        self._inference = _Inference(method, arguments, settings, size)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given

    def __call__(self, seed: np.random.SeedSequence) -> _Found:
        """Do one simulation."""
        draws, moves, ties = spawned(seed, 3)
        simulated = self._simulation.draw(np.random.default_rng(draws))
        found, drawn = self._inference.ranks(simulated, moves, ties)
        return _Found(found, _labels(simulated), set(self._inference.kinds(found, drawn)))


class _Inference:
    """One inference, made longer until it has effective draws enough."""

    def __init__(
        self, method: str | Sampler, arguments: Arguments, settings: dict[str, Any], size: int
    ) -> None:
        draws = _DRAWS if arguments.draws is None else arguments.draws
        self._arguments = replace(arguments, draws=draws)
        self._method, self._settings, self._size = method, settings, size

    def ranks(
        self, simulated: Simulated, seed: np.random.SeedSequence, ties: np.random.SeedSequence
    ) -> tuple[Ranked, Drawn]:
        """Infer and rank."""
        drawn, found = self._once(simulated, seed, ties, 1)
        if self._is_short(found):
            times = math.ceil(_MARGIN * self._size / max(found.ess, 1.0))
            drawn, found = self._once(simulated, seed, ties, min(max(times, 2), _LONGEST))
        return found, drawn

    def kinds(self, found: Ranked, drawn: Drawn) -> list[str]:
        """Return the kinds of warnings of an inference."""
        kinds = [finding.kind for finding in drawn.findings if finding.kind not in _OWN_CHECKS]
        if found.rhat > _RHAT:
            kinds.append(f"R-hat > {_RHAT}")
        if found.ess < self._size:
            kinds.append(f"ESS < {self._size}")
        return kinds

    def _is_short(self, found: Ranked) -> bool:
        return found.ess < self._size or found.rhat > _RHAT

    def _once(
        self,
        simulated: Simulated,
        seed: np.random.SeedSequence,
        ties: np.random.SeedSequence,
        times: int,
    ) -> tuple[Drawn, Ranked]:
        names = [name for name in simulated.truth if name != LOG_LIKELIHOOD]
        own = replace(
            self._arguments, seed=seed, thin=self._arguments.thin * times, var_names=names
        )
        drawn = draw(simulated.density, self._method, own, dict(self._settings))
        made = drawn.run.x.shape[0] * drawn.run.x.shape[1]
        if drawn.interrupted:
            raise KeyboardInterrupt
        if made < self._size:
            raise SamplerError(
                f"{made} draws cannot be thinned to {self._size}: ask for more draws= or chains=, "
                "or a smaller thin_to=.",
                made=made, thin_to=self._size,
            )  # fmt: skip
        rng = np.random.default_rng(ties)
        return drawn, rank(drawn, simulated.truth, self._size, rng)


class _Tally:
    """Ranks, failures and warnings so far."""

    def __init__(self, name: str, asked: int, size: int, seed: Any) -> None:
        self._name, self._asked, self._size, self._seed = name, asked, size, seed
        self.ranked: list[Ranked] = []
        self.interrupted = False
        self._labels: dict[str, list[str]] = {}
        self._failures: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()
        self._warned = 0
        self._first: Exception | None = None

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many simulations are ranked, failed and had warnings."""
        return len(self.ranked), sum(self._failures.values()), self._warned

    def add(self, i: int, found: _Found | Exception) -> None:
        """Take a simulation. What failed is counted, unless the first fails for all of them."""
        if isinstance(found, Exception):
            by_chance = isinstance(found, DataError | InitializationError)
            if i == 0 and not by_chance:
                raise found
            self._first = self._first or found
            text = found.message if isinstance(found, ProbmodelError) else str(found)
            self._failures[f"{type(found).__name__}: {text.splitlines()[0] if text else ''}"] += 1
            return
        self._labels = self._labels or found.labels
        self.ranked.append(found.ranked)
        self._warnings.update(found.kinds)
        self._warned += bool(found.kinds)

    def result(self) -> Calibration:
        """Put everything together; if all simulations failed, raise what the first one raised."""
        if not self.ranked and self._first is not None:
            raise self._first
        names = self.ranked[0].ranks
        ranks = {name: np.stack([r.ranks[name] for r in self.ranked]) for name in names}
        constant: dict[str, Array] = {
            name: np.all([r.constant[name] for r in self.ranked], axis=0).reshape(-1)
            for name in names
        }
        labels = {
            name: [
                "" if same else label for label, same in zip(labels, constant[name], strict=True)
            ]
            for name, labels in self._labels.items()
        }
        return Calibration(
            self._name, self._asked, len(self.ranked), self._size, ranks, labels,
            self._failures, self._warnings, self._warned, self.interrupted, self._seed,
        )  # fmt: skip


def _labels(simulated: Simulated) -> dict[str, list[str]]:
    """Names of the elements of everything that is ranked."""
    variables = {v.name: v for v in simulated.density.variables}
    return {
        name: element_labels(variables[name], simulated.density.coords)
        if name in variables
        else [name]
        for name in simulated.truth
    }
