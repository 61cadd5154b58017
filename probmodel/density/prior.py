"""Draws from priors: exactly, or as places to start from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.compiler.symbols import Symbol
from probmodel.constraints import Interval, Ordered, PositiveOrdered, SumToZero
from probmodel.constraints.containment import limits, same_limits
from probmodel.density.forward_runs import Forward, Plan
from probmodel.density.restricted_draws import are_alike, centred, in_order, is_zero_sum, within
from probmodel.distributions import Flat, Truncated, Uniform
from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError
from probmodel.model.binding import Binding
from probmodel.model.declarations import Declaration, Observed
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array

_RADIUS = 2.0  # of uniform draws on the unconstrained scale, as starting points have it


def prior_draws(binding: Binding, rng: np.random.Generator, n: int) -> Array:
    """Draw all parameters from their priors: (n, dim), in the order of the log density.

    Each parameter is drawn given those declared before it. One that has no distribution to draw
    from, such as a flat one, is drawn uniformly in (-2, 2) on the unconstrained scale, as starting
    points are. Observed quantities keep their data, and potentials are left out. Draws are not
    finite where one falls on the boundary of its support.
    """
    return _points(binding, Start())(rng, n)


def exact_draws(binding: Binding) -> Callable[[np.random.Generator, int], Array]:
    """Return what draws all parameters from their priors, exactly: ``(rng, n)`` to (n, dim).

    Raises a `ModelError` as `draw_from_prior` does; or if observed quantities have missing
    elements, whose distribution is that of data.
    """
    for name, imputed in binding.imputed.items():
        raise binding.declarations[name].model_error(
            f"{binding.declarations[name].title} has {int(imputed.missing.sum())} missing "
            "elements, which are sampled with the parameters, but have no prior to be drawn from. "
            "Leave these elements out of the data.",
            name=name,
        )
    return _points(binding, Start(exact=True))


def _points(binding: Binding, start: Start) -> Callable[[np.random.Generator, int], Array]:
    """Return what draws unconstrained points of all parameters."""
    forward = Forward(binding, start)
    for free in binding.free:
        forward.value(free.declaration)
    names = [free.name for free in binding.free if 0 not in free.shape]
    plan = forward.plan({name: start.points[name] for name in names})

    def draw(rng: np.random.Generator, n: int) -> Array:
        drawn = plan.run(rng, n)
        return np.concatenate([drawn[name].reshape(n, -1) for name in names], axis=1)

    return draw


def simulate_once(binding: Binding, rng: np.random.Generator) -> dict[str, Array]:
    """Draw every parameter, deterministic and observed quantity once: values by name.

    Parameters are drawn as `prior_draws` does. ``binding`` has no data for what is to be drawn.
    """
    plan = Forward(binding, Start()).plan(_all_outputs(binding))
    return {name: value[0] for name, value in plan.run(rng, 1).items()}


def simulate_near_zero(
    binding: Binding, rng: np.random.Generator, radius: float, n: int
) -> dict[str, Array]:
    """Draw observed quantities, from parameters that are uniform in ``(-radius, radius)``.

    That is on the unconstrained scale. Returns all values by name: (n, *shape).
    """

    def resolve(forward: Forward, free: FreeParameter) -> Any:
        return forward.set_free(free, _uniform_draw(forward, free, radius))

    return Forward(binding, resolve).plan(_all_outputs(binding)).run(rng, n)


def prior_plan(binding: Binding) -> Plan:
    """Return what draws every parameter, deterministic and observed quantity by name, exactly.

    ``binding`` has no data for what is to be drawn. Raises a `ModelError` as `draw_exactly` does.
    """
    return Forward(binding, draw_exactly).plan(_all_outputs(binding))


def _all_outputs(binding: Binding) -> dict[str, Declaration]:
    return {
        name: declaration
        for name, declaration in binding.declarations.items()
        if name in binding.saved or isinstance(declaration, Observed)
    }


class Start:
    """Draws parameters from their priors, or as starting points where there is no distribution.

    Parameters
    ----------
    exact : whether a parameter without a distribution is an error

    Attributes
    ----------
    points : the unconstrained value of each parameter that was drawn
    """

    def __init__(self, exact: bool = False) -> None:
        self.points: dict[str, Symbol] = {}
        self._exact = exact

    def __call__(self, forward: Forward, free: FreeParameter) -> Any:
        """Draw one parameter."""
        declaration, prior = free.declaration, free.declaration.prior
        flat = prior is None or isinstance(prior, Flat)
        if self._exact:
            check_whole(free)
        if not self._exact and (flat or not _is_drawable(forward, free)):
            u = _uniform_draw(forward, free, _RADIUS)
        elif free.frame is prior is not None:
            z = forward.sample(declaration, prior.base())
            u = self._inverse(forward, free, z)
        else:
            value = draw_from_prior(forward, free)
            self.points[free.name] = self._inverse(
                forward, free, _standardised(forward, free, value)
            )
            return value
        self.points[free.name] = u
        return forward.set_free(free, u)

    def _inverse(self, forward: Forward, free: FreeParameter, value: Symbol) -> Symbol:
        """Map a value to unconstrained space."""
        bounds = forward.aligned(free.bounds, free.shape)
        operands, like = [value, *bounds], np.zeros(free.free_shape)
        return forward.apply(free.declaration, free.constraint.inverse, operands, like)


def _standardised(forward: Forward, free: FreeParameter, value: Symbol) -> Symbol:
    """Undo the location and scale of the frame of a parameter, if it has one."""
    frame = free.frame
    if frame is None:
        return value
    like = np.zeros(free.link.free_shape(free.shape))
    params = forward.parameters(frame, like.shape)
    value = forward.apply(free.declaration, free.link.inverse, [value, *free.link.bounds], like)
    return forward.apply(free.declaration, frame.standardise, [value, *params], like)


def _uniform_draw(forward: Forward, free: FreeParameter, radius: float) -> Symbol:
    """Draw the unconstrained value of a parameter uniformly in ``(-radius, radius)``."""
    shape = free.free_shape

    def draw(rng: np.random.Generator, rows: int) -> Array:
        return rng.uniform(-radius, radius, (rows, *shape))

    return forward.draw(free.declaration, Flat(), draw, [], np.zeros(shape))


def _is_drawable(forward: Forward, free: FreeParameter) -> bool:
    """Whether there is a way to draw a parameter from its prior, with its restrictions."""
    try:
        drawable(forward, free)
    except ModelError:
        return False
    return True


def check_whole(free: FreeParameter) -> None:
    """Raise a `ModelError` if some elements of a parameter have no distribution: they are flat."""
    prior = free.declaration.prior
    if prior is not None and prior.flat_part:
        raise free.declaration.model_error(
            f"{free.declaration.title} has a prior {prior.name} that is {prior.flat_part}.",
            name=free.name,
        )


def draw_exactly(forward: Forward, free: FreeParameter) -> Symbol:
    """Draw a parameter from its prior, as `draw_from_prior`, if all of it has a distribution.

    Raises a `ModelError` as that does, or if the prior is flat on some elements.
    """
    check_whole(free)
    return draw_from_prior(forward, free)


def draw_from_prior(forward: Forward, free: FreeParameter) -> Symbol:
    """Draw a parameter from its prior, restricted by its bounds or constraint.

    Raises a `ModelError` if the prior is improper, or a restriction leaves it without a known
    normalisation.
    """
    declaration = free.declaration
    distribution = drawable(forward, free)
    if isinstance(declaration.constraint, Ordered | PositiveOrdered):
        function = in_order(distribution, free, are_alike(forward, distribution))
    elif is_zero_sum(forward, free):
        function = centred(distribution, free)
    elif needs_redraws(free, distribution):
        bounds = limits(free.constraint) or (None, None)
        low, high = (None if b is None else forward.evaluator.value(b) for b in bounds)
        function = within(distribution, free, low, high)
    else:
        return forward.sample(declaration, distribution)
    params = forward.parameters(distribution, free.shape)
    return forward.draw(declaration, distribution, function, params)


def needs_redraws(free: FreeParameter, distribution: Distribution) -> bool:
    """Whether draws from ``distribution`` may lie outside the bounds of a parameter."""
    return distribution is free.declaration.prior and _is_cut(free)


def drawable(forward: Forward, free: FreeParameter) -> Distribution:
    """Return the distribution of a parameter given those before it, bounds included if possible.

    Raises a `ModelError` as `draw_from_prior` does.
    """
    declaration, prior = free.declaration, free.declaration.prior
    flat = prior is None or isinstance(prior, Flat)
    if not flat and not _is_cut(free):
        assert prior is not None
        _check_constraint(forward, free, prior)
        return prior
    args = [] if prior is None else list(prior.args.values())
    fixed = all(forward.evaluator.is_constant(a) for a in (*args, *free.bounds))
    if flat:
        if fixed and isinstance(free.constraint, Interval):
            return Uniform(*free.constraint.bounds)
        raise declaration.model_error(
            f"{declaration.title} has a flat prior, which is no distribution to draw from. Give it "
            f"a proper one{_example(free)}; to simulate data, its value can be given.",
            name=free.name,
        )
    assert prior is not None
    if not fixed:
        raise declaration.model_error(
            f"{declaration.title} has the prior {prior.name}, cut by bounds without being "
            "normalised again. As the bounds or the prior depend on other parameters, it has no "
            "distribution given those. Write "
            f"Truncated({prior.name}(...), lower, upper) or a distribution on the interval.",
            name=free.name,
        )
    lower, upper = free.constraint.limits or (None, None)
    return Truncated(prior, lower, upper) if prior.has_cdf and not prior.event_ndim else prior


def _example(free: FreeParameter) -> str:
    """Return what a flat parameter could be instead, in words."""
    if limits(free.constraint) is None:
        return f" on {free.constraint.name} values"
    return (
        f", such as {free.declaration.name} = param(Normal(0, 10)), or two bounds that are numbers "
        "or data"
    )


def _is_cut(free: FreeParameter) -> bool:
    """Whether bounds may restrict the prior to less than its support."""
    prior = free.declaration.prior
    if prior is None or (free.frame is not None and not free.declaration.bounds):
        return False
    support, cut = prior.support(), free.constraint if free.frame is None else free.link
    if limits(support) is None or limits(cut) is None:
        return False
    return not same_limits(support, cut)


def _check_constraint(forward: Forward, free: FreeParameter, prior: Distribution) -> None:
    """Refuse constraints that leave a prior without a known way to draw from it."""
    constraint = free.declaration.constraint
    if constraint is None or isinstance(prior.support(), type(constraint)):
        return
    if isinstance(constraint, Ordered | PositiveOrdered) and prior.event_ndim == 0:
        fixed = all(forward.evaluator.is_constant(a) for a in prior.args.values())
        if fixed or (isinstance(constraint, Ordered) and are_alike(forward, prior)):
            return  # what it weighs is the same for all values of other parameters
    if limits(constraint) is not None or is_zero_sum(forward, free):
        return
    instead = "a distribution on that set"
    if isinstance(constraint, SumToZero) and prior.name == "Normal":
        instead += ", ZeroSumNormal(scale), which needs no constraint"
    raise free.declaration.model_error(
        f"{free.declaration.title} has the prior {prior.name} restricted to {constraint.name}; how "
        f"to draw from that is not known. Give it {instead}; to simulate data, its value can be "
        "given.",
        name=free.name,
    )
