"""What the rest of a model tells of a parameter, by which infer standardises hierarchies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.model.declarations import Parameter
from probmodel.model.evaluation import Evaluator
from probmodel.types import Array


class Evidence(NamedTuple):
    """Normal observations of a parameter, one of each element, that stand for all that is known.

    Attributes
    ----------
    information : inverse variance of each, 0 or above: () or the shape of the batch
    value : what was observed, the same shape
    """

    information: Array
    value: Array


def takes_evidence(declaration: Parameter, evaluator: Evaluator) -> bool:
    """Whether a parameter is of a hierarchy, and how it is to be sampled is left open.

    Its prior depends on other parameters, and is of a family that evidence standardises.
    """
    prior = declaration.prior
    if prior is None or not prior.takes_evidence or declaration.noncentered is not None:
        return False
    decided = declaration.information is not None or declaration.constraint is not None
    if decided or declaration.bounds:
        return False
    return not all(evaluator.is_constant(arg) for arg in prior.args.values())


def informed(prior: Distribution, evidence: Evidence) -> Distribution:
    """Return the distribution whose location and scale standardise a parameter with that prior."""
    if not np.any(evidence.information):
        return prior
    frame = prior.informed(evidence.information, evidence.value)
    frame.location = prior.location
    return frame
