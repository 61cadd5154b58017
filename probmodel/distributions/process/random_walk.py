"""The Gaussian random walk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.process.series import Series, joined, over_time
from probmodel.distributions.vector.conditioning import at_times, nearest_known
from probmodel.numerics.linalg import geometric_filter
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class RandomWalk(OfStandardNormal, Series):
    r"""Gaussian random walk with drift, of any length.

    .. math:: y_1 \sim N(m, s), \qquad y_t \sim N(y_{t-1} + \delta, \sigma)

    Parameters
    ----------
    sigma : standard deviation :math:`\sigma > 0` of the steps
    initial_scale : standard deviation :math:`s > 0` of the first value
    drift : mean :math:`\delta` of the steps, 0 unless given
    initial_loc : mean :math:`m` of the first value, 0 unless given

    Notes
    -----
    The value is a vector: the walk at equally spaced times. Time is the last axis. Its non-centred
    form is a cumulative sum. Stan: written out as the two sampling statements above. SciPy: none.
    """

    parameters: ClassVar = {
        "sigma": Parameter(Positive()),
        "initial_scale": Parameter(Positive()),
        "drift": Parameter(Real(), default=0.0),
        "initial_loc": Parameter(Real(), default=0.0),
    }
    takes_pseudo_data = "series"

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from the steps: batch shape."""
        sigma, initial_scale, drift, initial_loc = params
        n = value.shape[-1]
        first = (value[..., 0] - initial_loc) / initial_scale
        steps = value[..., 1:] - value[..., :-1] - over_time(xp, drift)
        squares = xp.sum(steps * steps, axis=-1) / (sigma * sigma) + first * first
        scales = (n - 1) * xp.log(sigma) + xp.log(initial_scale) + 0.5 * n * LOG_2PI
        return -0.5 * squares - scales

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        r"""Give the unknown times what follows from known ones: on from the last, and between.

        In the clock :math:`s^2 + (t - 1) \sigma^2` the walk is a Brownian motion. An unconditional
        walk is corrected by what it misses at the known times on either side, in proportion.
        """
        missed = np.where(known, value - free, 0.0)
        before, after = nearest_known(known)
        n = known.shape[-1]
        sigma, initial_scale = (over_time(np, np.asarray(p)) for p in params[:2])
        clock = initial_scale**2 + sigma**2 * np.arange(n) + np.zeros(value.shape)
        start = np.where(before < 0, 0.0, at_times(clock, before))
        with np.errstate(all="ignore"):  # nothing is between known times
            share = (clock - start) / (at_times(clock, after) - start)
        share = np.where(after == n, 0.0, share)
        bridge = (1.0 - share) * at_times(missed, before) + share * at_times(missed, after)
        return np.where(known, value, free + bridge)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Add up steps made of standard normal ``z``."""
        sigma, initial_scale, drift, initial_loc = (over_time(xp, p) for p in params)
        start = initial_loc + initial_scale * z[..., :1]
        steps = drift + sigma * z[..., 1:]
        return xp.cumsum(joined(xp, start, steps), axis=-1)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Return the steps, less the drift, in their standard deviations."""
        sigma, initial_scale, drift, initial_loc = (over_time(np, p) for p in params)
        start = (value[..., :1] - initial_loc) / initial_scale
        return np.asarray(joined(np, start, (np.diff(value, axis=-1) - drift) / sigma))

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Count sigma for every step, and the scale of the first value."""
        sigma, initial_scale = params[:2]
        return (event[0] - 1) * xp.log(sigma) + xp.log(initial_scale)

    def is_walk(self, known: Callable[[Any], Any]) -> bool:
        """Whether there is no drift."""
        return bool(np.all(known(self.args["drift"]) == 0.0))

    def rescaled(self, origin: Any, unit: Any) -> RandomWalk:
        """Return the walk of ``(x - origin) / unit``, without drift."""
        size = np.abs(unit)
        sigma, initial_scale = (self.args[name] / size for name in ("sigma", "initial_scale"))
        return RandomWalk(sigma, initial_scale, 0.0, (self.args["initial_loc"] - origin) / unit)

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        r"""Return the conditional distribution given the observations, but for the last value.

        The inverse covariance has the rows :math:`(-1, 2, -1) / \sigma^2`. With :math:`w` added
        in the middle they are those of an autoregression with the persistence :math:`1 / k` and
        the standard deviation :math:`\sigma / \sqrt{k}`, where
        :math:`k^2 - (2 + w \sigma^2) k + 1 = 0`. The first row settles the scale of its first
        value. The variance of the last value alone is larger than it should be.
        """
        names = ("sigma", "initial_scale", "drift", "initial_loc")
        sigma, initial_scale, drift, initial_loc = (self.args[name] for name in names)
        # The roots are taken apart so that no information has a derivative in sigma too.
        told = information * sigma**2
        k = 1.0 + 0.5 * told + 0.5 * np.sqrt(information) * sigma * np.sqrt(4.0 + told)
        precision, initial_precision = 1.0 / sigma**2, 1.0 / initial_scale**2
        first = initial_precision + information + (1.0 - 1.0 / k) * precision
        return _InformedWalk(
            1.0 / k,
            sigma / np.sqrt(k),
            1.0 / np.sqrt(first),
            initial_precision * (initial_loc - value) - precision * drift,
            precision * drift,
            value,
        )


class _InformedWalk(OfStandardNormal):
    r"""What a random walk is sampled by once data tell about it: an autoregression with a start.

    Its inverse covariance :math:`Q` is that of :math:`y_1` with the standard deviation
    ``initial_scale`` and :math:`y_t \sim N(\phi y_{t-1}, \sigma)`. Its mean solves
    :math:`Q m = q`, with :math:`q` zero but at both ends.

    Parameters
    ----------
    phi : persistence, up to 1
    sigma, initial_scale : standard deviations
    start, end : first and last element of :math:`q`; with one value, their sum
    center : added to all values
    """

    parameters: ClassVar = {
        "phi": Parameter(Real()),
        "sigma": Parameter(Positive()),
        "initial_scale": Parameter(Positive()),
        "start": Parameter(Real()),
        "end": Parameter(Real()),
        "center": Parameter(Real()),
    }
    event_ndim = 1

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Run the process on ``z`` and on the innovations that give the mean."""
        phi, sigma, initial_scale, start, end, center = (over_time(xp, p) for p in params)
        n = z.shape[-1]
        pull = end * phi ** np.arange(n - 1.0, -1.0, -1.0)
        first = initial_scale * (z[..., :1] + initial_scale * (start + pull[..., :1]))
        later = sigma * (z[..., 1:] + sigma * pull[..., 1:])
        return center + geometric_filter(params[0], joined(xp, first, later))

    def standardise(self, value: Array, *params: Any) -> Array:
        """Undo `noncentered`."""
        phi, sigma, initial_scale, start, end, center = (over_time(np, p) for p in params)
        n = value.shape[-1]
        pull = end * phi ** np.arange(n - 1.0, -1.0, -1.0)
        first = (value[..., :1] - center) / initial_scale
        first = first - initial_scale * (start + pull[..., :1])
        steps = value[..., 1:] - center - phi * (value[..., :-1] - center)
        return np.asarray(np.concatenate([first, steps / sigma - sigma * pull[..., 1:]], axis=-1))

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Count sigma for every step, and the scale of the first value."""
        return (event[0] - 1) * xp.log(params[1]) + xp.log(params[2])
