"""Normal vectors that vary along known directions, and what data make of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.expressions import Expression, as_expression, call_of
from probmodel.types import Array


class Along(NamedTuple):
    """A normal vector ``loc + R x``, with independent x of some variances.

    Attributes
    ----------
    loc : () or (..., n)
    root : R, known, (n, n)
    log_det : log absolute determinant of the root
    variances : (..., n)
    """

    loc: Any
    root: Array
    log_det: float
    variances: Any


class AlongDirections(OfStandardNormal):
    """A normal vector whose covariance varies along known directions alone."""

    takes_pseudo_data = "elements"

    def along(self, xp: Any, size: int, *params: Any) -> Along:
        """Return what a vector of a size is made of."""
        raise NotImplementedError

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Give each direction its standard deviation."""
        loc, root, _, variances = self.along(xp, z.shape[-1], *params)
        return loc + (variances**0.5 * z) @ root.T

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        """Return about the conditional distribution given the observations."""
        return InformedAlong(self, information, value)


class InformedAlong(OfStandardNormal):
    r"""What an `AlongDirections` is sampled by once data tell about its elements.

    With the variances :math:`v_k` along the columns of R and a diagonal matrix J of information on
    each element, the standardised vector has the variance :math:`1 / (1 / v_k + j_k)` in direction
    k, with :math:`j_k` the diagonal of :math:`R' J R`. Where that matrix is diagonal this is the
    conditional distribution. Else correlations are left to the sampler, and nothing is factorised.

    Parameters
    ----------
    prior : what is informed
    information, value : J and what was observed, (n,)
    turn : an orthogonal matrix by which the columns of R are turned before, (n, n)
    """

    event_ndim = 1

    def __init__(self, prior: Any, information: Any, value: Any, turn: Array | None = None) -> None:
        self.location = prior.location
        self._prior, self._turn = prior, turn
        self.args = {**prior.args, "information": information, "value": value}
        told = Parameter(Real(), event_ndim=1, spreads=True)
        self._take_form({**prior.parameters, "information": told, "value": told}, event_ndim=1)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Scale independent standard normal coordinates, turn and shift them."""
        (loc, root, _, variances), information, value = self._split(xp, z.shape[-1], params)
        left = variances / (1.0 + variances * (information @ np.square(root)))
        pull = (information * (value - loc)) @ root
        return loc + (left * pull + left**0.5 * z) @ root.T

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Return the log determinant of the map."""

        def log_det(xp: Any, *params: Any) -> Any:
            (_, root, known, variances), information, _ = self._split(xp, event[-1], params)
            left = variances / (1.0 + variances * (information @ np.square(root)))
            return known + 0.5 * xp.sum(xp.log(left), axis=-1)

        if not any(isinstance(param, Expression) for param in params):
            return log_det(np, *params)
        return call_of(log_det, [as_expression(p) for p in params], self.event_ndims[1:])

    def _split(self, xp: Any, size: int, params: Any) -> tuple[Along, Any, Any]:
        *own, information, value = params
        along = self._prior.along(xp, size, *own)
        if self._turn is not None:
            along = along._replace(root=along.root @ self._turn)
        return along, information, value
