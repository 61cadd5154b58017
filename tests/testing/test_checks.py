"""Negative controls: each check notices the samplers that are broken in its way."""

import contextlib
import dataclasses
import re
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from probmodel import testing
from probmodel.samplers.base import State
from probmodel.samplers.langevin.mala import MALA
from probmodel.samplers.metropolis import decide, evaluate, evaluate_value, select
from probmodel.samplers.random_walk.rwm import RandomWalk
from probmodel.samplers.step_size import Adaptation, Params
from probmodel.testing import CHECKS, STATISTICAL_CHECKS, Effort


class WithoutPaper(RandomWalk):
    paper = ""


class OfTwoLines(RandomWalk):
    summary = "random walk,\nno gradients"


class Uncoupled(RandomWalk):
    coupling = "none"


class WithoutChains(RandomWalk):
    def min_chains(self, dim):
        return 0


@dataclasses.dataclass(frozen=True)
class Undocumented(RandomWalk):
    """Random walk with a setting that nobody knows."""

    secret: float = 1.0


@dataclasses.dataclass
class Thawed:
    """Settings that can be changed afterwards."""

    name = "thawed"


@dataclasses.dataclass(frozen=True)
class Unchecked(RandomWalk):
    """Random walk with step_size, target_accept, step_rate, unchecked."""

    def __post_init__(self):
        """Accept anything."""


class WithColumns(RandomWalk):
    def step(self, rng, density, state, params):
        state, info = super().step(rng, density, state, params)
        return state, info._replace(accept_prob=info.accept_prob[:, None])


class WithFloats(RandomWalk):
    def step(self, rng, density, state, params):
        state, info = super().step(rng, density, state, params)
        return state, info._replace(n_grad=info.n_grad.astype(float))


class WithOldDensity(RandomWalk):
    def step(self, rng, density, state, params):
        new, info = super().step(rng, density, state, params)
        return new._replace(logp=state.logp), info


class InPlace(RandomWalk):
    def step(self, rng, density, state, params):
        new, info = super().step(rng, density, state, params)
        state.x[:] = new.x
        return new, info


class Remembering(RandomWalk):
    """Goes on adapting while it samples, in a place of its own."""

    memory: ClassVar = [0]

    def step(self, rng, density, state, params):
        self.memory[0] += 1
        return super().step(rng, density, state, Params(params.step_size / self.memory[0]))


class LearningInPlace(RandomWalk):
    def adapt_init(self, rng, density, state):
        return np.zeros(1)

    def adapt(self, rng, density, i, n_warmup, adaptation, state, info):
        adaptation += 0.1 * (info.accept_prob.mean() - 0.25)
        return adaptation

    def params(self, adaptation, final=False):
        return Params(float(np.exp(adaptation[0])))


class Deaf(RandomWalk):
    """Takes its randomness from elsewhere."""

    def step(self, rng, density, state, params):
        return super().step(np.random.default_rng(1), density, state, params)


class Unrepeatable(RandomWalk):
    def step(self, rng, density, state, params):
        return super().step(np.random.default_rng(), density, state, params)


class StartsAnywhere(RandomWalk):
    def init(self, rng, density, x):
        return evaluate_value(density, x)


class Unfrozen(RandomWalk):
    """Writes what it goes on learning into the parameters."""

    def params(self, adaptation, final=False):
        return Params(np.array(super().params(adaptation).step_size))

    def step(self, rng, density, state, params):
        state, info = super().step(rng, density, state, params)
        if isinstance(params.step_size, np.ndarray):
            params.step_size[...] *= np.exp(0.01 * (info.accept_prob.mean() - 0.25))
        return state, info


class Unteachable(RandomWalk):
    def rule(self, log_sigma2, info):
        return log_sigma2


class Chatty(RandomWalk):
    def remarks(self, params, stats):
        return ["it went well"]


class Infinite(RandomWalk):
    def params(self, adaptation, final=False):
        return Params(np.nan if final else super().params(adaptation).step_size)


class ForFree(MALA):
    def step(self, rng, density, state, params):
        state, info = super().step(rng, density, state, params)
        return state, info._replace(n_grad=np.zeros_like(info.n_grad))


class WithoutGradients(MALA):
    needs = "log density"


class WithoutCurvature(RandomWalk):
    needs = "gradient"

    def adapt_init(self, rng, density, state):
        density.hessian(state.x)
        return super().adapt_init(rng, density, state)


class EverywhereAtHome(RandomWalk):
    """Looks at no value that is not finite."""

    def step(self, rng, density, state, params):
        y = state.x + params.step_size * rng.standard_normal(state.x.shape)
        proposal = State(y, density.log_density(y), np.zeros_like(y))
        with np.errstate(all="ignore"):
            accept_prob = np.exp(np.minimum(proposal.logp - state.logp, 0.0))
        accepted = ~(rng.random(len(y)) > accept_prob)  # NaN is accepted
        _, info = decide(rng, proposal.logp - state.logp, state, proposal, n_grad=0)
        return select(accepted, proposal, state), info


class BlindToGradients(MALA):
    """Looks at the log density only."""

    def step(self, rng, density, state, params):
        y = state.x + params.step_size * rng.standard_normal(state.x.shape)
        proposal = State(y, *density(y))
        return decide(rng, proposal.logp - state.logp, state, proposal, n_grad=1)


class Sociable(RandomWalk):
    """Shrinks its steps by what all the chains do."""

    def step(self, rng, density, state, params):
        spread = np.exp(-np.std(state.x))
        return super().step(rng, density, state, Params(params.step_size * spread))


class Sparing(RandomWalk):
    """Draws noise for those chains only that need it."""

    def step(self, rng, density, state, params):
        if np.any(state.x[:, 0] > 0.0):
            rng.standard_normal(len(state.x))
        return super().step(rng, density, state, params)


class AllAccepted(MALA):
    """Runs away while it learns, and then takes steps so short that they are right."""

    def step(self, rng, density, state, params):
        _, info = super().step(rng, density, state, params)
        return info.proposal, info


class AllAcceptedAtLength(AllAccepted):
    """Takes the steps that would be right for `mala`."""

    def params(self, adaptation, final=False):
        return Params(1.0)


class OfAnotherProposal(MALA):
    """The Metropolis ratio of a symmetric proposal, which Langevin's is not."""

    def step(self, rng, density, state, params):
        _, info = super().step(rng, density, state, params)
        accepted = np.log(rng.random(len(state.x))) < info.proposal.logp - state.logp
        return select(accepted, info.proposal, state), info


class Wide(RandomWalk):
    """Samples a flatter density, whose variances are larger by 1.3."""

    def step(self, rng, density, state, params):
        y = state.x + params.step_size * rng.standard_normal(state.x.shape)
        proposal = evaluate_value(density, y)
        return decide(rng, (proposal.logp - state.logp) / 1.3, state, proposal, n_grad=0)


class Immobile(RandomWalk):
    def params(self, adaptation, final=False):
        return Params(1e-3)


BROKEN = [
    ("check_description", WithoutPaper, "paper"),
    ("check_description", OfTwoLines, "summary must be one line"),
    ("check_description", Uncoupled, "coupling must be one of"),
    ("check_description", WithoutChains, "min_chains"),
    ("check_settings", Undocumented, "lacks secret"),
    ("check_settings", Thawed, "frozen dataclass"),
    ("check_settings", Unchecked, "target_accept=0.0 must be refused"),
    ("check_shapes", WithColumns, r"accept_prob must have the shape \(4,\)"),
    ("check_shapes", WithFloats, "n_grad has the wrong type float64"),
    ("check_shapes", WithOldDensity, "log density at state.x"),
    ("check_purity", InPlace, "step must leave the state"),
    ("check_purity", Remembering, "something that it remembers"),
    ("check_purity", LearningInPlace, "adapt must leave the adaptation"),
    ("check_same_seed", Deaf, "Another seed gives the same"),
    ("check_same_seed", Unrepeatable, "The same seed gives other"),
    ("check_start", StartsAnywhere, "init must raise"),
    ("check_frozen_parameters", Unfrozen, "changed while sampling"),
    ("check_frozen_parameters", Unteachable, "adapt learns nothing"),
    ("check_remarks", Chatty, "list of Remark"),
    ("check_remarks", Infinite, "not finite"),
    ("check_cost", ForFree, "reports 0 gradients"),
    ("check_cost", WithoutGradients, "needs 'log density'"),
    ("check_cost", WithoutCurvature, "needs 'gradient'"),
    ("check_half_space", EverywhereAtHome, "entered a region where the target returns nan"),
    ("check_half_space", BlindToGradients, "the target returns nan gradient"),
    ("check_independence", Sociable, "moves otherwise"),
    ("check_independence", Sparing, "one chain alone asks for"),
    ("check_invariance", AllAccepted, "a wrong kernel would not show"),
    ("check_invariance", AllAcceptedAtLength, "does not leave the target invariant"),
    ("check_invariance", OfAnotherProposal, "does not leave the target invariant"),
    ("check_invariance", Wide, "does not leave the target invariant"),
    ("check_known_posterior", Wide, "off by"),
    ("check_known_posterior", Immobile, "effective sample size"),
    ("check_ten_dimensions", Wide, "off by"),
]


@pytest.mark.parametrize(
    ("check", "kind", "message"), BROKEN, ids=[f"{name}-{k.__name__}" for name, k, _ in BROKEN]
)
def test_broken_sampler_is_caught(check, kind, message):
    with pytest.raises(AssertionError, match=f"(?i){message}"):
        getattr(testing, check)(kind())


def test_every_check_has_a_control_and_is_documented():
    names = {check.__name__ for check in (*CHECKS, *STATISTICAL_CHECKS)}
    assert {name for name, _, _ in BROKEN} == names
    guide = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
    guide = guide.partition("## A sampler")[2]
    rows = [line for line in guide.splitlines() if line.startswith("| `check_")]
    assert {name for row in rows for name in re.findall(r"`(check_\w+)`", row)} == names


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [RandomWalk, MALA])
def test_what_the_broken_samplers_are_made_from_is_sound(kind):
    for check in CHECKS:
        check(kind())


class Coupled(Sociable):
    coupling = "ensemble"


def test_members_of_ensembles_need_not_be_independent():
    testing.check_independence(Coupled())
    testing.check_known_posterior(Coupled())


class Constants(NamedTuple):
    """Parameters of a sampler that learns nothing."""


class Fixed(RandomWalk):
    def step(self, rng, density, state, params):
        return super().step(rng, density, state, Params(1.0))

    def params(self, adaptation, final=False):
        return Constants()


def test_without_parameters_there_is_nothing_to_learn():
    testing.check_frozen_parameters(Fixed())


class Sluggish(RandomWalk):
    """Takes thousands of iterations to find its step size."""

    def adapt_init(self, rng, density, state):
        return Adaptation(-12.0)

    def rule(self, log_sigma2, info):
        return log_sigma2 + 0.01 * (info.accept_prob.mean() - 0.25)


def test_a_slow_learner_is_given_longer():
    with pytest.raises(AssertionError, match="raise warmup"):
        testing.check_known_posterior(Sluggish())
    testing.check_known_posterior(Sluggish(), Effort(warmup=3000))


class Patient(MALA):
    """Evaluates beyond what ``evaluate`` marks, and asks for curvature in every step."""

    needs = "hvp"

    def step(self, rng, density, state, params):
        density.hvp(state.x, state.x)
        y = state.x + params.step_size * rng.standard_normal(state.x.shape)
        proposal = evaluate(density, y)
        return decide(rng, proposal.logp - state.logp, state, proposal, n_grad=3)


def test_hessian_vector_products_count_twice():
    testing.check_cost(Patient())


class Metrical(Patient):
    needs = "metric"

    def step(self, rng, density, state, params):
        density.metric(state.x)
        return super().step(rng, density, state, params)


@pytest.mark.parametrize("reported", [2, 3, 4, 5, 6])
def test_a_metric_counts_as_a_hessian_at_most(reported):
    class Reporting(Metrical):
        def step(self, rng, density, state, params):
            state, info = super().step(rng, density, state, params)
            return state, info._replace(n_grad=np.full_like(info.n_grad, reported))

    fine = 3 <= reported <= 5
    with contextlib.nullcontext() if fine else pytest.raises(AssertionError, match="reports"):
        testing.check_cost(Reporting())
