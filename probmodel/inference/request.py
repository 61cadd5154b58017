"""What is asked of a run: the arguments of `infer`, and what a method makes of them.

`Arguments` has the fields of `infer`'s signature; what each means is said there. A `Request` has
them filled in: numbers where the method decides, a seed where none was given.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.arguments import flag, must_be, positive, seed_sequence
from probmodel.errors import SamplerError
from probmodel.inference.tasks import check_executor
from probmodel.samplers.base import Sampler
from probmodel.types import Array

SYNONYMS = {
    "tune": "warmup",
    "num_warmup": "warmup",
    "iter_warmup": "warmup",
    "num_samples": "draws",
    "iter_sampling": "draws",
    "num_chains": "chains",
    "random_seed": "seed",
    "initvals": "inits",
    "init": "inits",
    "adapt_delta": "target_accept",
    "target_accept_prob": "target_accept",
    "progress_bar": "progressbar",
    "thinning": "thin",
}

# Settings of methods as other tools call them; a method takes those that it has.
SETTING_SYNONYMS = {
    "max_treedepth": "max_depth",
    "max_tree_depth": "max_depth",
    "stepsize": "step_size",
    "num_leapfrog_steps": "n_steps",
    "num_steps": "n_steps",
    "path_length": "trajectory_length",
    "int_time": "trajectory_length",
    "inverse_mass_matrix": "inv_metric",
}

# Arguments of other tools that have no equal here, and what to do.
ANSWERS = {
    "parallel_chains": "cores= limits the processor cores; all chains run at the same time",
    "n_jobs": "cores= limits the processor cores; all chains run at the same time",
    "num_cores": "cores= limits the processor cores; all chains run at the same time",
    "chain_method": "all chains run at the same time, on all cores; leave it out",
    "step": "method= names the sampler",
    "nuts_sampler": "method= names the sampler",
    "sampler": "method= names the sampler",
    "kernel": "method= names the sampler",
    "return_inferencedata": "the result is always an ArviZ object; leave it out",
    "idata_kwargs": "log_likelihood(model, fit) and log_prior(model, fit) add groups to a fit",
    "discard_tuned_samples": "save_warmup=True keeps the warm-up",
    "save_warmup_draws": "save_warmup=True keeps the warm-up",
    "dense_mass": 'the setting metric="dense" or metric="diag" chooses the mass matrix',
    "L": "n_steps=, or trajectory_length=, are settings of methods with trajectories",
    "target_ess": "ess= runs until an effective sample size is reached",
    "target_accept_rate": "target_accept= is the target acceptance rate",
    "adapt_engaged": "the warm-up always adapts; settings of the method say what",
    "compute_convergence_checks": "convergence is always checked; quiet=True hides the warnings",
    "show_progress": "progressbar=False shows none",
    "show_console": "progressbar=False shows none",
    "refresh": "progressbar=False shows none",
    "verbose": "quiet=True shows nothing at all",
    "trace": "checkpoint= keeps draws on the disk",
    "output_dir": "checkpoint= keeps draws on the disk",
    "resume": "resume(path) continues a checkpoint, and extend(fit, draws) a fit",
    "nuts": 'method="nuts" names it, and its settings are arguments, such as target_accept=0.9',
    "data": "bind the data first: infer(MyModel(**data))",
}

TOGETHER = 8  # chains that are sampled in a part on an executor, unless told otherwise

_POOL = "It says whether all chains share one adaptation; executor= takes a pool of processes."


@dataclasses.dataclass(frozen=True)
class Converged:
    """When a run may end: once chains agree, and draws are worth so many independent ones.

    Parameters
    ----------
    ess : float, optional
        The smallest effective sample size, bulk and tail, is to be this at least; None for any.
    r_hat : float, optional
        The largest rank-normalised split R-hat is to be this at most, above 1; None for any.
    var_names : str or sequence of str, optional
        What is looked at; all parameters by default. Deterministic quantities may be named.

    Raises
    ------
    SamplerError
        If a number makes no sense, or both are None.
    """

    ess: float | None = 400.0
    r_hat: float | None = 1.01
    var_names: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name, least in (("ess", 0.0), ("r_hat", 1.0)):
            value = getattr(self, name)
            real = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if value is not None and not (real and least < float(value) < math.inf):
                raise SamplerError(
                    f"Converged: {name} must be a number above {least:g}, or None; got {value!r}.",
                    name=name, value=value,
                )  # fmt: skip
        if self.ess is None and self.r_hat is None:
            raise SamplerError("Converged: ess and r_hat are both None, so there is no criterion.")

    def __str__(self) -> str:
        parts = [f"an effective sample size of {self.ess:g}"] * (self.ess is not None)
        return " and ".join(parts + [f"an R-hat of {self.r_hat:g}"] * (self.r_hat is not None))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of `infer`, but for the model, the method and its settings; see there."""

    draws: int | None = None
    warmup: int | None = None
    chains: int | None = None
    seed: int | np.random.SeedSequence | None = None
    thin: int = 1
    inits: Any = None
    target_accept: float | None = None
    max_time: float | None = None
    until: Converged | None = None
    ess: float | None = None
    pool: bool = True
    restarts: bool = True
    standardise: bool = True
    engine: str | None = None
    cores: int | None = None
    progressbar: bool = True
    quiet: bool = False
    save_warmup: bool = False
    var_names: str | Sequence[str] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    callback: Callable[[Any], Any] | None = None
    executor: Any = None
    parts: int | None = None

    @classmethod
    def named(
        cls, given: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> tuple[Arguments, dict[str, Any]]:
        """Return the arguments among what was given, and the settings that are left.

        ``given`` has some by name, of which others are passed over; ``settings`` are arguments,
        synonyms of these, and settings of the method. Raises a `SamplerError` if two names of one
        argument were given.
        """
        defaults = {field.name: field.default for field in dataclasses.fields(cls)}
        own = {name: value for name, value in given.items() if name in defaults}
        named = {name: name for name, value in own.items() if value is not defaults[name]}
        rest = {}
        for name, value in settings.items():
            target = SYNONYMS.get(name, name)
            if target not in defaults:
                rest[name] = value
                continue
            if target in named:
                raise SamplerError(
                    f"{named[target]!r} and {name!r} mean the same; give one of them.",
                    name=name, value=value,
                )  # fmt: skip
            named[target] = name
            own[target] = value
        return cls(**own), rest

    def checked(self) -> Arguments:
        """Return the same, once it is sure that each makes sense, whatever the model and method.

        Raises a `SamplerError` if one does not.
        """
        sizes: dict[str, Any] = {
            name: positive(name, value)
            for name in ("draws", "warmup", "chains", "thin", "parts")
            if (value := getattr(self, name)) is not None or name == "thin"
        }
        flags: dict[str, Any] = {
            name: flag(name, getattr(self, name), _POOL if name == "pool" else "")
            for name in ("pool", "restarts", "standardise", "progressbar", "quiet", "save_warmup")
        }
        accept, limit = self.target_accept, self.max_time
        if self.callback is not None and not callable(self.callback):
            raise SamplerError(f"callback must be a function, got {self.callback!r}.")
        return dataclasses.replace(
            self,
            **sizes,
            **flags,
            target_accept=None if accept is None else _between_0_and_1("target_accept", accept),
            max_time=math.inf if limit is None else _seconds("max_time", limit),
            until=_rule(self.until, self.ess),
            ess=None,
            seed=seed_sequence(self.seed),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request(Arguments):
    """Arguments of a run of one model, with what was left to the method filled in.

    Attributes
    ----------
    model : name of the model
    """

    model: str
    draws: int
    warmup: int
    chains: int
    seed: np.random.SeedSequence
    max_time: float = math.inf


def request(arguments: Arguments, sampler: Sampler, model: str, dim: int) -> Request:
    """Fill in the sizes that the method prefers, and check that the chains suffice for it.

    The arguments were checked; ``model`` is a name, with ``dim`` unconstrained parameters.
    """
    least, chains = sampler.min_chains(dim), arguments.chains
    if chains is None:
        chains = max(sampler.default_chains, least)
    if chains < least:
        raise SamplerError(
            f"{sampler.name} needs at least {least} chains for {dim} unconstrained parameters, got "
            f"chains={chains}.",
            chains=chains, least=least,
        )  # fmt: skip
    if arguments.inits is not None and not sampler.takes_inits:
        raise SamplerError(
            f"{sampler.name} begins with draws from the prior, so that inits= has no meaning. "
            "Leave it out.",
            method=sampler.name, name="inits",
        )  # fmt: skip
    own = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(Arguments)}
    own["draws"] = sampler.default_draws if arguments.draws is None else arguments.draws
    own["warmup"] = sampler.default_warmup if arguments.warmup is None else arguments.warmup
    return Request(**{**own, "chains": chains, "model": model})


def starting_points(
    sampler: Sampler, posterior: Any, rng: np.random.Generator, request: Request
) -> Array:
    """Return where chains start, (chains, dim): anywhere, if it does not matter to the method."""
    if not sampler.takes_inits:
        return np.asarray(posterior.prior_sample(rng, request.chains))
    return np.asarray(posterior.initial_points(rng, request.chains, request.inits))


def described(sampler: Sampler, arguments: Arguments, asked: Request) -> dict[str, Any]:
    """Return what a run of known starts was asked for, without what cannot be written to a file."""
    seed, parts = asked.seed, split(asked, sampler)
    own = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(Arguments)}
    own["inits"] = None if arguments.inits is None else "given"
    own["parts"] = None if parts is None else parts[1]
    return {
        "method": sampler.name, "sampler": sampler,
        "arguments": Arguments(**{**own, "seed": None, "checkpoint": None, "callback": None,
                                 "executor": None}),
        "seed": (seed.entropy, seed.spawn_key, seed.pool_size),
    }  # fmt: skip


def asked_again(description: dict[str, Any], **changes: Any) -> Arguments:
    """Return the arguments of a run that was `described`, with changes."""
    entropy, key, pool_size = description["seed"]
    seed = np.random.SeedSequence(entropy, spawn_key=key, pool_size=pool_size)
    arguments: Arguments = description["arguments"]
    return dataclasses.replace(arguments, seed=seed, **changes)


def _rule(until: Any, ess: Any) -> Converged | None:
    """Return when the run may end, of which ``ess`` is the short form."""
    if ess is not None:
        if until is not None:
            raise SamplerError(
                f"ess={ess!r} is short for until=Converged(ess={ess!r}); give one of them.",
                name="ess", value=ess,
            )  # fmt: skip
        return Converged(ess=ess)
    if until is None or isinstance(until, Converged):
        return until
    raise must_be("until", until, "a rule such as Converged(ess=400, r_hat=1.01)")


def split(request: Request, sampler: Sampler) -> tuple[Any, int] | None:
    """Return the executor and the number of parts of a run that is sampled in parts.

    Raises a `SamplerError` if it cannot be.
    """
    executor, parts = request.executor, request.parts
    if executor is None and parts is None:
        return None
    check_executor(executor)
    if not request.pool:
        raise SamplerError("executor= and parts= need pool=True: all chains warm up together.")
    if sampler.coupling == "ensemble" or sampler.adapts_forever:
        raise SamplerError(
            f"{sampler.name} cannot be drawn in parts: its chains depend on each other also "
            "after the warm-up. "
            "Leave out executor= and parts=.",
            method=sampler.name,
        )
    parts = max(2, request.chains // TOGETHER) if parts is None else parts
    return executor, min(parts, request.chains)


def _between_0_and_1(name: str, value: Any) -> float:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (real and 0.0 < float(value) < 1.0):
        raise must_be(name, value, "a number between 0 and 1")
    return float(value)


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not float(value) > 0.0:
        raise must_be(name, value, "a positive number of seconds")
    return float(value)
