"""Pseudo-data of a parameter: what the rest of the model tells of it, to standardise it by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.distributions.free_scale import FreeScale
from probmodel.model.declarations import Parameter
from probmodel.model.evaluation import Evaluator
from probmodel.types import Array


class PseudoData(NamedTuple):
    """Normal observations of a parameter, one of each element, that stand for all that is known.

    Attributes
    ----------
    information : inverse variance of each, 0 or above: () or the shape of the batch
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


def takes_pseudo_data(declaration: Parameter, evaluator: Evaluator) -> bool:
    """Whether a parameter is of a hierarchy, and how it is to be sampled is left open.

    Its prior depends on other parameters, and is of a family that pseudo-data standardise.
    """
    prior = declaration.prior
    if prior is None or not prior.takes_pseudo_data or declaration.noncentered is not None:
        return False
    decided = declaration.information is not None or declaration.constraint is not None
    if decided or declaration.bounds:
        return False
    shape = evaluator.shape(declaration)
    event = shape[len(shape) - prior.event_ndim :]
    if not prior.standardised_by_default(event, evaluator.is_constant):
        return False
    return not all(evaluator.is_constant(arg) for arg in prior.args.values())


def informed(prior: Distribution, pseudo_data: PseudoData) -> Distribution:
    """Return the distribution whose location and scale standardise a parameter with that prior."""
    if prior.has_base and not np.any(pseudo_data.information):
        return prior
    value: Any = pseudo_data.value
    if pseudo_data.follows is not None:
        value = value + pseudo_data.follows * (location(prior) - pseudo_data.location)
    frame = prior.informed(pseudo_data.information, value)
    frame.location = prior.location
    return frame


def location(prior: Distribution) -> Any:
    """Location of a prior, on the scale that its parameter is sampled on; None if it has none."""
    if isinstance(prior, FreeScale):
        return prior.free_location_scale()[0]
    return prior.args.get("loc")
