"""Pseudo-data of a parameter: what the rest of the model tells of it, to standardise it by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.model.declarations import Parameter
from probmodel.model.evaluation import Evaluator
from probmodel.types import Array


class PseudoData(NamedTuple):
    """Normal observations of a parameter, one of each element, that stand for all that is known.

    Attributes
    ----------
    information : inverse variance of each, 0 or above: () or the shape of the batch
    value : what was observed, the same shape
    """

    information: Array
    value: Array


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
    return not all(evaluator.is_constant(arg) for arg in prior.args.values())


def informed(prior: Distribution, pseudo_data: PseudoData) -> Distribution:
    """Return the distribution whose location and scale standardise a parameter with that prior."""
    if not np.any(pseudo_data.information):
        return prior
    frame = prior.informed(pseudo_data.information, pseudo_data.value)
    frame.location = prior.location
    return frame
