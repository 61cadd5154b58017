"""Checks of the contract between a sampler and the driver: shapes, purity, settings, refusals."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, get_args

import numpy as np

from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.driver import Collector, Phase
from probmodel.inference.groups import sample
from probmodel.samplers import make_sampler
from probmodel.samplers.base import Coupling, Need, Remark, Sampler, Stretch
from probmodel.testing.runs import DEFAULT, Effort, exact_starts, fingerprint, leaves, require
from probmodel.testing.targets import Banana, HalfSpace
from probmodel.types import Array

SHORT = 60  # iterations of a phase, where more would show no more
FEW = 4  # chains, at least


def check_description(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require what `infer`, the command line and the tables say of a sampler."""
    for name in ("name", "summary", "paper", "learns", "cost"):
        text = getattr(sampler, name, None)
        require(
            isinstance(text, str) and bool(text) and "\n" not in text,
            f"{name} must be one line of text, is {text!r}.",
        )
    for name, choices in (("needs", get_args(Need)), ("coupling", get_args(Coupling))):
        value = getattr(sampler, name, None)
        require(value in choices, f"{name} must be one of {choices}, is {value!r}.")
    for name, least in (("default_warmup", 0), ("default_draws", 1), ("default_chains", 1)):
        _require_whole(name, getattr(sampler, name), least)
    _require_whole("min_chains(3)", sampler.min_chains(3), 1)
    _require_whole("points_per_chain(3)", sampler.points_per_chain(3), 1)


def _require_whole(name: str, value: Any, least: int) -> None:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    require(
        whole and value >= least,
        f"{name} must be a whole number of at least {least}, is {value!r}.",
    )


def check_settings(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require settings that are frozen, documented, and refused where they make no sense."""
    kind = type(sampler)
    parameters: Any = getattr(kind, "__dataclass_params__", None)
    require(
        parameters is not None and parameters.frozen,
        f"{kind.__name__} must be a frozen dataclass, whose fields are its settings.",
    )
    settings = [field.name for field in dataclasses.fields(sampler) if field.init]  # type: ignore[arg-type]
    text = "\n".join(base.__doc__ or "" for base in kind.__mro__ if issubclass(base, Sampler))
    missing = [name for name in settings if f"{name} :" not in text and f"{name}," not in text]
    require(
        not missing,
        f"The docstring of {kind.__name__}, or of a class that it derives from, must list its "
        f"settings as `name : type`; it lacks {', '.join(missing)}.",
    )
    if "target_accept" not in settings:
        return
    for value in (0.0, 1.0, -0.2, np.nan, "high", True):
        try:
            make_sampler(sampler, target_accept=value)
        except SamplerError as error:
            text = str(error)
        else:
            raise AssertionError(f"target_accept={value!r} must be refused with a SamplerError.")
        require(
            "target_accept" in text and repr(value) in text,
            f"The error about target_accept={value!r} must name the setting and the value; it is: "
            f"{text}",
        )


def check_shapes(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require the shapes and types of a transition, and a log density that belongs to its place."""
    target, rng = Banana(), np.random.default_rng(9)
    state, params = _started(sampler, rng)
    new, info = sampler.step(rng, target, state, params)
    chains = len(state.x)
    by_chain, by_coordinate = (chains,), (chains, target.dim)
    shapes = {
        "state.x": (new.x, by_coordinate),
        "state.logp": (new.logp, by_chain),
        "state.grad": (new.grad, by_coordinate),
        "info.proposal.x": (info.proposal.x, by_coordinate),
        "info.proposal.logp": (info.proposal.logp, by_chain),
        "info.accept_prob": (info.accept_prob, by_chain),
        "info.accepted": (info.accepted, by_chain),
        "info.diverging": (info.diverging, by_chain),
        "info.n_grad": (info.n_grad, by_chain),
        **{f"info.stats[{name!r}]": (value, by_chain) for name, value in info.stats.items()},
    }
    for name, (value, shape) in shapes.items():
        require(
            np.shape(value) == shape,
            f"{name} must have the shape {shape} of {chains} chains in 2 dimensions, has "
            f"{np.shape(value)}.",
        )
    for name, kinds in (("accepted", "b"), ("diverging", "b"), ("n_grad", "iu")):
        dtype = getattr(info, name).dtype
        require(dtype.kind in kinds, f"info.{name} has the wrong type {dtype}.")
    p = info.accept_prob
    require(bool(np.all((p >= 0.0) & (p <= 1.0))), f"info.accept_prob is no probability: {p}.")
    require(
        fingerprint(info.previous.x) == fingerprint(state.x),
        "info.previous must be the state before the transition.",
    )
    np.testing.assert_allclose(
        new.logp, target.log_density(new.x), rtol=1e-12,
        err_msg="state.logp must be the log density at state.x",
    )  # fmt: skip


def _started(sampler: Sampler, rng: np.random.Generator) -> tuple[Any, Any]:
    """State of a few chains, and parameters of a sampler that has learned a little."""
    target = Banana()
    x0 = exact_starts(sampler, target, rng, max(FEW, sampler.min_chains(target.dim)))
    params = run(sampler, target, x0, rng, warmup=SHORT // 2, draws=1)
    return sampler.init(rng, target, x0), params


def check_purity(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require methods that leave their arguments alone and keep no memory of their own.

    A kernel that remembers anything outside its state and parameters, such as what it has learned
    while sampling, gives other draws when it is asked again.
    """
    target = Banana()
    state, params = _started(sampler, np.random.default_rng(9))
    results = []
    for _ in range(2):
        rng, now = np.random.default_rng(10), state
        for _ in range(SHORT // 2):
            before, given = fingerprint((now, params)), now
            now, _ = sampler.step(rng, target, now, params)
            require(
                fingerprint((given, params)) == before,
                "step must leave the state and the parameters it is given as they are.",
            )
        results.append(fingerprint(now))
    require(
        results[0] == results[1],
        "step gives other results when it is called again with the same arguments and noise: it "
        "depends on something that it remembers.",
    )
    _check_adapt(sampler, state, params)


def _check_adapt(sampler: Sampler, state: Any, params: Any) -> None:
    """Require the same of the methods that learn."""
    target, results = Banana(), []
    new, info = sampler.step(np.random.default_rng(11), target, state, params)
    for _ in range(2):
        rng = np.random.default_rng(12)
        adaptation = sampler.adapt_init(rng, target, state)
        before = fingerprint((adaptation, new, info))
        after = sampler.adapt(rng, target, 0, 10, adaptation, new, info)
        require(
            fingerprint((adaptation, new, info)) == before,
            "adapt must leave the adaptation, the state and the info it is given as they are, and "
            "return a new adaptation.",
        )
        results.append(fingerprint((sampler.params(after), sampler.params(after, final=True))))
    require(
        results[0] == results[1],
        "adapt gives other results when it is called again with the same arguments and noise: it "
        "depends on something that it remembers.",
    )


def check_frozen_parameters(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require parameters that stay the same, bit by bit, once the warm-up is over.

    During the warm-up they have to change, unless there are none. A sampler that adapts for ever,
    and says so, need not freeze them.
    """
    seen: dict[str, list[tuple[bytes, ...]]] = {"warmup": [], "draw": []}

    class Parameters(Collector):
        def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
            seen[phase].append(fingerprint(params))

    target, rng = Banana(), np.random.default_rng(4)
    x0 = target.exact(rng, max(FEW, sampler.min_chains(target.dim)))
    run(sampler, target, x0, rng, warmup=SHORT, draws=SHORT, collectors=[Parameters()])
    require(
        not any(seen["warmup"]) or len(set(seen["warmup"])) > 1,
        f"The parameters did not change in {SHORT} iterations of warm-up: adapt learns nothing. "
        "Constants are no parameters: keep them in the sampler, and Params without fields.",
    )
    require(
        sampler.adapts_forever or len(set(seen["draw"])) == 1,
        "The parameters changed while sampling: step must not write into them. (A method that goes "
        "on learning says so: adapts_forever.)",
    )


def check_same_seed(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require the same draws from the same seed, and others from another."""
    target = Banana()
    x0 = target.exact(np.random.default_rng(10), max(FEW, sampler.min_chains(target.dim)))
    runs = [sample(sampler, target, x0, seed, draws=20, warmup=10).x for seed in (11, 11, 12)]
    require(
        np.array_equal(runs[0], runs[1]),
        "The same seed gives other draws: all randomness must come from the generator rng.",
    )
    require(
        not np.array_equal(runs[0], runs[2]),
        "Another seed gives the same draws: the chains stand still, or do not use rng.",
    )


def check_start(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require that a start without a log density is refused, before anything else is done."""
    target, rng = HalfSpace(2), np.random.default_rng(13)
    x0 = exact_starts(sampler, target, rng, max(FEW, sampler.min_chains(target.dim)))
    x0[1, ..., 0] *= -1.0
    try:
        sampler.init(rng, target, x0)
    except SamplerError as error:
        require("finite" in str(error), f"The error must say what is not finite; it is: {error}")
    else:
        raise AssertionError(
            "init must raise SamplerError where the log density of a start is minus infinity; "
            "probmodel.samplers.metropolis.check_start does."
        )


def check_remarks(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require remarks about a finished run that can be shown, and numbers that are finite."""
    target = Banana()
    x0 = target.exact(np.random.default_rng(14), max(FEW, sampler.min_chains(target.dim)))
    result = sample(sampler, target, x0, 15, draws=20, warmup=20)
    remarks = sampler.remarks(result.params[0], result.stats)
    require(
        isinstance(remarks, list) and all(isinstance(remark, Remark) for remark in remarks),
        f"remarks must return a list of Remark, returned {remarks!r}.",
    )
    require_finite(result.params)


def require_finite(params: Any) -> None:
    """Require parameters that are finite."""
    numeric: list[Array] = [leaf for leaf in leaves(params) if leaf.dtype.kind in "fc"]
    require(all(np.isfinite(leaf).all() for leaf in numeric), f"not finite: {params}.")
