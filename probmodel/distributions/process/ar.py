"""Autoregression of any order, given the values that it starts from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.call_arguments import bind_arguments
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.process.series import COEFFICIENTS, Series, joined, over_time
from probmodel.distributions.scalar.normal import Normal
from probmodel.expressions import Expression, caller_location
from probmodel.numerics.recurrences import recursive_filter
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array

LONGEST = 1000  # series that are sampled by principal axes: a product of n by n at each gradient


class AR(Series):
    r"""Autoregressive process of order p, given its first p values.

    .. math:: y_t \sim N\Bigl(c + \sum_{k=1}^p \phi_k y_{t-k}, \sigma\Bigr),
              \qquad t = p + 1, \dots, n

    Parameters
    ----------
    coefficients : :math:`\phi`, (p,): the first belongs to the value just before
    sigma : standard deviation :math:`\sigma > 0` of the innovations
    intercept : :math:`c`, 0 unless given; not the mean, which is
        :math:`c / (1 - \sum_k \phi_k)` where there is one
    initial : distribution of the first p values, which are independent: any continuous
        distribution of one real number, such as ``Normal(0, 10)``. Without it they are
        conditioned on, and contribute nothing

    Notes
    -----
    The value is a vector longer than p: the process at equally spaced times. Time is the last axis.
    The coefficients may be anything: no stationarity is asked for. As the prior of a latent series
    it is flat on the first p values unless ``initial`` is given. `AR1` is the stationary
    process of order one. Stan: written out, as in the User's Guide; SciPy: none.

    Raises
    ------
    ModelError
        If ``initial`` is no distribution of one real number.
    """

    parameters: ClassVar = {
        "coefficients": COEFFICIENTS,
        "sigma": Parameter(Positive()),
        "intercept": Parameter(Real(), default=0.0),
    }
    takes_pseudo_data = "series"

    def __init__(self, *args: Any, initial: Distribution | None = None, **kwargs: Any) -> None:
        self.location = caller_location()
        self.initial = initial
        own = type(self).parameters
        bound = bind_arguments("AR", own, args, kwargs)
        first: dict[str, Parameter] = {}
        if initial is not None:
            self._check_initial(initial)
            first = {f"initial.{name}": spec for name, spec in initial.parameters.items()}
            bound |= {f"initial.{name}": arg for name, arg in initial.args.items()}
        self.args = bound
        self._take_form({**own, **first}, event_ndim=1)

    def _check_initial(self, initial: Any) -> None:
        fits = (
            isinstance(initial, Distribution)
            and not (initial.discrete or initial.event_ndim)
            and isinstance(initial.support(), Real)
        )
        if not fits:
            given = initial.name if isinstance(initial, Distribution) else type(initial).__name__
            raise self.model_error(
                "AR takes as initial= a distribution of one real number, such as Normal(0, 10); "
                f"{given} was given.",
                given=initial,
            )

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from the innovations: batch shape."""
        coefficients, sigma, intercept, *first = params
        n, p = self._lengths(value, coefficients)
        e = value[..., p:] - over_time(xp, intercept)
        for k in range(p):
            e = e - coefficients[..., k, None] * value[..., p - 1 - k : n - 1 - k]
        squares = xp.sum(e * e, axis=-1) / (sigma * sigma)
        logp = -0.5 * squares - (n - p) * (xp.log(sigma) + 0.5 * LOG_2PI)
        return logp + self._start(xp, value[..., :p], first)

    def _lengths(self, value: Any, coefficients: Any) -> tuple[int, int]:
        n, p = value.shape[-1], np.shape(coefficients)[-1]
        if not 0 < p < n:
            raise self.shape_error(
                f"AR with {p} coefficients takes a series of more than {max(p, 1)} values, and at "
                f"least one coefficient; the series has {n}.",
                length=n,
                order=p,
            )
        return n, p

    @property
    def flat_part(self) -> str:
        """The first values, unless they have a distribution of their own."""
        if self.initial is not None:
            return ""
        return "flat on its first values. Give it initial=, such as AR(..., initial=Normal(0, 10))"

    def flat_elements(self, shape: tuple[int, ...], *shapes: tuple[int, ...]) -> Array:
        """Mark the first values, unless they have a distribution of their own."""
        early = np.arange(shape[-1]) < (shapes[0][-1] if self.initial is None else 0)
        return np.broadcast_to(early, shape)

    def _start(self, xp: Any, value: Any, params: Sequence[Any]) -> Any:
        """Log density of the first values; zero if they are conditioned on."""
        if self.initial is None:
            return 0.0
        args = (value, *(over_time(xp, param) for param in params))
        return xp.sum(self.initial.log_kernel(xp, *args) * np.ones(value.shape[-1]), axis=-1)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw series: ``shape`` ends with their length.

        First values that are conditioned on have no distribution. They are drawn uniformly
        between -2 and 2, as flat parameters are.
        """
        coefficients, sigma, intercept, *first = (np.asarray(p, dtype=float) for p in params)
        p = coefficients.shape[-1]
        start_shape = (*shape[:-1], p)
        if self.initial is None:
            start = rng.uniform(-2.0, 2.0, start_shape)
        else:
            start = self.initial.sample(rng, start_shape, *(over_time(np, a) for a in first))
        shocks = rng.standard_normal((*shape[:-1], shape[-1] - p))
        return np.asarray(_continued(np, start, shocks, coefficients, sigma, intercept))

    def base(self) -> Distribution:
        """Return the standard normal, if the first values are normal too.

        Raises
        ------
        ModelError
            If ``initial`` is not given, or not normal.
        """
        if not isinstance(self.initial, Normal):
            raise self._without("non-centred form unless initial= is a Normal distribution")
        return Normal(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Run the process on standard normal innovations ``z``, the first p of them its start."""
        coefficients, sigma, intercept, loc, scale = params
        p = np.shape(coefficients)[-1]
        start = over_time(xp, loc) + over_time(xp, scale) * z[..., :p]
        return _continued(xp, start, z[..., p:], coefficients, sigma, intercept)

    def standardised_by_default(self, event: tuple[int, ...], known: Callable[[Any], bool]) -> bool:
        """Whether data decide the coefficients, of a series that is not too long."""
        return event[0] <= LONGEST and known(self.args["coefficients"])

    def is_walk(self, known: Callable[[Any], Any]) -> bool:
        """Whether the last value is where the next one is expected, and no other counts."""
        coefficients, intercept = (known(self.args[name]) for name in ("coefficients", "intercept"))
        return coefficients.shape[-1] == 1 and bool(
            np.all(coefficients == 1.0) and np.all(intercept == 0.0)
        )

    def rescaled(self, origin: Any, unit: Any) -> AR:
        """Return the walk of ``(x - origin) / unit``, without `initial`."""
        return AR(self.args["coefficients"], self.args["sigma"] / np.abs(unit))

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        """Return the conditional distribution given the observations, but for ``initial``.

        The first values are taken to be flat here: what their own distribution tells is left to
        the sampler.
        """
        args = (self.args[name] for name in ("coefficients", "sigma", "intercept"))
        return _InformedAR(*args, information, value)


class _InformedAR(OfStandardNormal):
    r"""What an autoregression with known coefficients is sampled by once data tell about it.

    The innovations are :math:`A y - c`. With the eigenvalues :math:`\lambda` and eigenvectors V of
    :math:`A^T A`, which do not depend on sigma, the inverse covariance is
    :math:`V (\lambda / \sigma^2 + J) V^T`. Where nothing at all is known of an eigenvector, its
    precision is 1.

    Parameters
    ----------
    coefficients, sigma, intercept : of the autoregression, the first of them known
    information, center : J, and the value that was observed at all times
    """

    name = "AR"
    parameters: ClassVar = {
        "coefficients": COEFFICIENTS,
        "sigma": Parameter(Positive()),
        "intercept": Parameter(Real()),
        "information": Parameter(Real()),
        "center": Parameter(Real()),
    }
    event_ndim = 1

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Scale ``z`` along the eigenvectors, and add the conditional mean."""
        axes, precision, pull = self._along_axes(xp, z.shape[-1], *params)
        return _times(z / xp.sqrt(precision) + pull / precision, np.swapaxes(axes, -1, -2))

    def standardise(self, value: Array, *params: Any) -> Array:
        """Undo `noncentered`."""
        axes, precision, pull = self._along_axes(np, value.shape[-1], *params)
        return np.asarray((_times(value, axes) - pull / precision) * np.sqrt(precision))

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Add up the logarithms of the scales along the eigenvectors."""
        return -0.5 * xp.sum(xp.log(self._along_axes(xp, event[0], *params)[1]), axis=-1)

    def _along_axes(
        self, xp: Any, n: int, coefficients: Any, sigma: Any, intercept: Any, *told: Any
    ) -> tuple[Array, Any, Any]:
        """Return the eigenvectors, and in their directions precision, and precision times mean."""
        if isinstance(coefficients, Expression):
            raise self._without("form for information= where its coefficients depend on parameters")
        information, center = (over_time(xp, part) for part in told)
        known = np.asarray(coefficients, dtype=np.float64)
        lagged = _lagged(known.tobytes(), known.shape, n)
        ratio = 1.0 / over_time(xp, sigma) ** 2
        unknown = (lagged.values == 0.0) & (information == 0.0)
        precision = lagged.values * ratio + information + unknown
        pull = lagged.of_intercept * ratio * over_time(xp, intercept)
        return lagged.axes, precision, pull + information * center * lagged.of_center


class _Lagged:
    """What maps series of a length to their innovations, taken apart once.

    Attributes
    ----------
    values, axes : squares of its singular values, (..., n), and the directions of series that they
        belong to, as columns, (..., n, n)
    of_intercept, of_center : (..., n), along these directions: what innovations of 1 come from in
        the least squares, and a series of ones
    """

    def __init__(self, coefficients: Array, n: int) -> None:
        p = coefficients.shape[-1]
        rows = np.zeros((*coefficients.shape[:-1], n - p, n))
        for k in range(p + 1):
            part = -coefficients[..., k - 1, None] if k else 1.0
            rows[..., np.arange(n - p), np.arange(p - k, n - k)] = part
        _, singular, rotation = np.linalg.svd(rows)
        self.values = np.concatenate([singular**2, np.zeros((*singular.shape[:-1], p))], axis=-1)
        self.axes = np.swapaxes(rotation, -1, -2)
        self.of_intercept = np.vecdot(rotation, rows.sum(axis=-2)[..., None, :])
        self.of_center = rotation.sum(axis=-1)


@lru_cache(maxsize=8)
def _lagged(coefficients: bytes, shape: tuple[int, ...], n: int) -> _Lagged:
    """Keep what was taken apart: a density asks for it at each evaluation."""
    return _Lagged(np.frombuffer(coefficients).reshape(shape), n)


def _placed(xp: Any, part: Any, start: int, n: int) -> Any:
    """Put a stretch of time into a series of zeros."""
    return joined(xp, np.zeros(start), part, np.zeros(n - start - np.shape(part)[-1]))


def _continued(
    xp: Any, start: Any, shocks: Any, coefficients: Any, sigma: Any, intercept: Any
) -> Any:
    """Let a process go on from its first values."""
    p = np.shape(coefficients)[-1]
    # What has to drive the recurrence from zeros so that it begins with these values.
    driven = start
    for k in range(p - 1):
        earlier = _placed(xp, start[..., : p - 1 - k], k + 1, p)
        driven = driven - coefficients[..., k, None] * earlier
    pushed = over_time(xp, intercept) + over_time(xp, sigma) * shocks
    return recursive_filter(coefficients, joined(xp, driven, pushed))


def _times(rows: Array, matrix: Array) -> Array:
    """Multiply rows by a matrix, or each by its own: (..., k), (..., k, m) -> (..., m)."""
    if matrix.ndim == 2:
        return rows @ matrix
    return (rows[..., None, :] @ matrix)[..., 0, :]
