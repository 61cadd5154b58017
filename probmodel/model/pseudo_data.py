r"""Pseudo-data of a parameter: what the rest of the model tells of it, to standardise it by.

A parameter is standardised on its free scale, the one that it is sampled on as declared: u with
x = exp(u) for a positive number. Where the prior is not a density of u, another one stands for it.
`FreeScale` families have one of their own, and others say which normal distribution does, their
`stand_in`. For one with a location and a scale, cut by bounds or truncated, it is the normal
distribution with the mode of u and the second derivative of its log density there:

    x = a + exp(u)                     u = log m_a              1 / sd^2 = 1 + (m_a / scale)^2
    x = a + (b - a) / (1 + exp(-u))    u = log m_a - log m_b    1 / sd^2 = 1 - 2 w + (x' / scale)^2

with m_a = scale exp(asinh((loc - a) / (2 scale))), which is the distance from the bound a at the
mode with that bound alone, m_b for b likewise, w = p (1 - p) for the proportion p = 1 / (1 +
exp(-u)), and x' = (b - a) w. That is exact with one bound, and with two where the scale is small,
or large: far from the bounds u is what x is, in the limit of no scale at its location. Elements
with infinite bounds have what stands for them with the finite ones alone.
For a random walk without drift it is the walk of u if x were a straight line in u, the tangent
where the series was observed. (Where the steps vanish both stay where they are. Other series go
somewhere, on a straight line in x and on another one in u, which vanishing steps do not forgive.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from probmodel.constraints import Constraint, Real, SumToZero
from probmodel.constraints.partly_bounded import PartlyBounded
from probmodel.distributions.base import Distribution
from probmodel.distributions.compound.truncated import Truncated
from probmodel.distributions.links import along_known_directions
from probmodel.distributions.process.series import Series
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.normal import Normal
from probmodel.model.declarations import Parameter
from probmodel.model.evaluation import Evaluator
from probmodel.numerics.special import expit
from probmodel.types import Array


class PseudoData(NamedTuple):
    """Normal observations of a parameter, one of each element, that stand for all that is known.

    Attributes
    ----------
    information : inverse variance of each, 0 or above: () or the shape of the batch. Of a value as
        a whole it is 0 or infinite
    value : what was observed, the same shape
    location : where the location of the prior was then, the same shape; None if that does not
        matter
    follows : bool, the same shape: whether what is observed moves with that location. It does where
        data tell of the sum of two effects alone, as the other one gives way
    """

    information: Array
    value: Array
    location: Array | None = None
    follows: Array | None = None

    @property
    def is_all(self) -> bool:
        """Whether the parameter is sampled as declared, as if data told all of it."""
        return bool(np.all(np.isinf(self.information)))


def takes_pseudo_data(declaration: Parameter, evaluator: Evaluator) -> bool:
    """Whether a parameter is of a hierarchy, and how it is to be sampled is left open."""
    return declaration.noncentered is None and is_of_hierarchy(declaration, evaluator)


def is_of_hierarchy(declaration: Parameter, evaluator: Evaluator) -> bool:
    """Whether a parameter is of a hierarchy that can be standardised by pseudo-data.

    Its prior depends on other parameters, and is of a family that pseudo-data standardise.
    """
    prior = declaration.prior
    if prior is None or not prior.takes_pseudo_data:
        return False
    if 0 in evaluator.shape(declaration):
        return False
    if declaration.information is not None:
        return False
    if declaration.constraint is not None and not _sums_to_zero(declaration, prior, evaluator):
        return False
    if declaration.bounds and not _is_cut_by_data(declaration, prior, evaluator):
        return False
    shape = evaluator.shape(declaration)
    event = shape[len(shape) - prior.event_ndim :]
    if not prior.standardised_by_default(event, evaluator.is_constant):
        return False
    return not all(evaluator.is_constant(arg) for arg in prior.args.values())


def _sums_to_zero(declaration: Parameter, prior: Distribution, evaluator: Evaluator) -> bool:
    """Whether vectors sum to zero and the prior of each has one location and scale."""
    return (
        isinstance(declaration.constraint, SumToZero)
        and isinstance(prior, Normal)
        and all(set(evaluator.shape(arg)[-1:]) <= {1} for arg in prior.args.values())
    )


def _is_cut_by_data(declaration: Parameter, prior: Distribution, evaluator: Evaluator) -> bool:
    """Whether bounds are known, of a prior that another can stand for between them."""
    bounds = declaration.bounds
    known = all(evaluator.is_constant(bound) for bound in bounds.values())
    if not (known and set(bounds) <= {"lower", "upper"}):
        return False
    if isinstance(prior, Series):
        one = all(evaluator.value(bound).size == 1 for bound in bounds.values())
        return one and prior.is_walk(
            lambda arg: evaluator.value(arg) if evaluator.is_constant(arg) else np.full(1, np.nan)
        )
    return _is_line(prior)


def frame_of(
    declaration: Parameter,
    evaluator: Evaluator,
    link: Callable[[Parameter, Evaluator], Constraint],
    pseudo_data: PseudoData | None,
) -> Distribution | None:
    """Return what standardises a parameter: as it is declared, or by pseudo-data.

    ``link`` finds the map from the free scale to the parameter.
    """
    prior = declaration.prior
    if pseudo_data is not None and pseudo_data.is_all:
        pseudo_data = None
    if prior is None or (pseudo_data is None and declaration.information is None):
        return declaration.frame
    form = along_known_directions(prior.vector_form, evaluator)
    if pseudo_data is None:
        return declaration.frame if form is prior else form.informed(declaration.information)
    frame = informed(form, link(declaration, evaluator), pseudo_data)
    return prior if frame is form else frame


def informed(prior: Distribution, link: Constraint, pseudo_data: PseudoData) -> Distribution:
    """Return the distribution whose location and scale standardise a parameter with that prior.

    ``link`` maps the free scale to the parameter.
    """
    stands = on_free_scale(prior, link, pseudo_data.value)
    if stands is prior and prior.has_base and not np.any(pseudo_data.information):
        return prior
    value: Any = pseudo_data.value
    if pseudo_data.follows is not None:
        value = value + pseudo_data.follows * (location(stands) - pseudo_data.location)
    frame = stands.informed(pseudo_data.information, value)
    frame.location = prior.location
    return frame


def on_free_scale(prior: Distribution, link: Constraint, value: Any = 0.0) -> Distribution:
    """Return what stands for the prior on the free scale; families that know it stay themselves.

    ``value`` is that of the pseudo-data, on the free scale; it matters for walks alone.
    """
    if isinstance(link, SumToZero) and isinstance(prior, Normal):
        return Normal(0.0, prior.args["scale"])  # in an orthonormal basis of the plane
    line = prior.dist if isinstance(prior, Truncated) else prior
    known = link.limits if isinstance(line, Series) or _is_line(line) else None
    if known is None or all(bound is None for bound in known):
        return line.stand_in
    if isinstance(prior, Series):  # a walk: between bounds no others are standardised
        return prior.rescaled(*_tangent(known, value))
    args = line.stand_in.args
    between = _by_element if isinstance(link, PartlyBounded) else _between
    return Normal(*between(args["loc"], args["scale"], *known))


def _is_line(prior: Distribution) -> bool:
    """Whether values are all real numbers, and a location and a scale stand for them."""
    real = not prior.event_ndim and isinstance(prior.support(), Real)
    return real and prior.takes_pseudo_data == "elements"


def _between(loc: Any, scale: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return location and scale of what stands for a line between bounds; None is no bound."""
    if lower is None and upper is None:
        return loc, scale
    distances = [  # log m_a / scale, and log m_b / scale
        np.arcsinh(0.5 * sign * (loc - bound) / scale)
        for bound, sign in ((lower, 1.0), (upper, -1.0))
        if bound is not None
    ]
    if len(distances) == 1:
        (own,) = distances
        return np.log(scale) + own, 1.0 / np.sqrt(1.0 + np.exp(2.0 * own))
    log_odds = distances[0] - distances[1]
    w = 1.0 / (2.0 + np.exp(log_odds) + np.exp(-log_odds))
    steepness = (upper - lower) * w / scale
    return log_odds, 1.0 / np.sqrt(1.0 - 2.0 * w + steepness**2)


def _by_element(loc: Any, scale: Any, lower: Array, upper: Array) -> tuple[Any, Any]:
    """Return location and scale of what stands for each element; infinity is no bound."""
    has_low, has_high = np.isfinite(lower), np.isfinite(upper)
    low, high = np.where(has_low, lower, 0.0), np.where(has_high, upper, 0.0)
    found = loc, scale
    for below, above in ((True, False), (False, True), (True, True)):
        own = (has_low == below) & (has_high == above)
        if own.any():
            stands = _between(loc, scale, low if below else None, high if above else None)
            found = tuple(np.where(own, *pair) for pair in zip(stands, found, strict=True))
    return found


def _tangent(known: tuple[Any, Any], u: Any) -> tuple[Any, Any]:
    """Return where the tangent at u meets u = 0, and its slope: x is about their sum times u."""
    lower, upper = (None if bound is None else np.squeeze(bound) for bound in known)
    if lower is not None and upper is not None:
        p = expit(u)
        x, slope = lower + (upper - lower) * p, (upper - lower) * p * (1.0 - p)
    else:
        slope = np.exp(u) if upper is None else -np.exp(u)
        x = slope + (lower if upper is None else upper)
    return x - slope * u, slope


def location(prior: Distribution) -> Any:
    """Location of what stands for a prior on the free scale; None if it has none."""
    if isinstance(prior, FreeScale):
        return prior.free_location_scale()[0]
    return prior.args.get("loc")


def check_information(declaration: Parameter, shape: tuple[int, ...], evaluator: Evaluator) -> None:
    """Check ``information=`` against the shape and, if data alone decide it, for its values."""
    if declaration.information is None or declaration.prior is None:
        return
    information = declaration.information
    given = evaluator.value(information)
    series = declaration.prior.takes_pseudo_data == "series"
    batch = shape[: len(shape) - declaration.prior.event_ndim] if series else shape
    if given.shape not in ((), batch):
        tied = declaration.prior.event_ndim and declaration.prior.stand_in is not declaration.prior
        what = "series" if series else "free coordinates" if tied else "elements"
        each = f", or one for each of its {what}, shape {batch}" if batch else ""
        raise declaration.shape_error(
            f"{declaration.title}: information= has shape {given.shape}; {declaration.prior.name} "
            f"takes one number{each}.",
            expected=batch,
            shape=given.shape,
        )
    fine = np.isfinite(given) & (given >= 0.0)
    if evaluator.is_constant(information) and not fine.all():
        raise declaration.model_error(
            f"{declaration.title}: information= must be the inverse of a variance, 0 or above; got "
            f"{given[~fine].flat[0] if given.ndim else given:g}.",
            value=given,
        )
