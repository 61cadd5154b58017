"""Log densities and distribution functions of a distribution, at values that formulas give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from probmodel.distributions import tail_probabilities
from probmodel.distributions.base import Distribution
from probmodel.distributions.compound.components import inner_value
from probmodel.distributions.links import linked
from probmodel.distributions.printed import distribution_latex, distribution_text
from probmodel.distributions.sums import batch_shape
from probmodel.expressions import as_expression, call_error
from probmodel.functions.recorded_calls import call
from probmodel.numerics.special import where


def log_density(distribution: Distribution, value: Any) -> Any:
    """Log density, or log probability, of a distribution at a value.

    Parameters
    ----------
    distribution : any distribution; its arguments may be symbols
    value : numbers, data, parameters or expressions. Those of a discrete distribution must come
        from data.

    Returns
    -------
    One number for each value, with all constants; minus infinity outside the support. The batch
    axes of the value and the parameters broadcast. An expression if anything is symbolic, else an
    array.

    Raises
    ------
    ModelError
        If ``distribution`` is no distribution, or, when the model is bound, if its parameters or
        the value make no sense.
    """
    return _at("log_density", distribution, value)


def log_cdf(distribution: Distribution, value: Any) -> Any:
    """Log probability of values up to and including ``value``; see `log_density`.

    Raises
    ------
    ModelError
        If the distribution has no cumulative distribution function here, or as `log_density`.
    """
    return _at("log_cdf", distribution, value)


def log_ccdf(distribution: Distribution, value: Any) -> Any:
    """Log probability of values above ``value``; see `log_cdf`."""
    return _at("log_ccdf", distribution, value)


def log_between(distribution: Distribution, low: Any, high: Any) -> Any:
    """Log probability of values above ``low``, up to and including ``high``; see `log_cdf`.

    ``low`` and ``high`` may be infinite. It is accurate in both tails, where differences of
    `log_cdf` are not.
    """
    return _at("log_between", distribution, low, high)


class DensityFormula:
    """A method of a distribution that has batch shape, as the language records it.

    Parameters
    ----------
    method : ``"log_density"``, ``"log_cdf"``, ``"log_ccdf"`` or ``"log_between"``
    distribution : as it was declared
    form : of the same distribution, the one whose parameters the formula is called with
    """

    primitive = None

    def __init__(self, method: str, distribution: Distribution, form: Distribution) -> None:
        self.__name__ = method
        self.distribution, self.form = distribution, form

    def shown(self, latex: bool) -> str:
        """Return the distribution as it is printed."""
        return (distribution_latex if latex else distribution_text)(self.distribution)

    @property
    def values(self) -> int:
        """How many values it takes before the parameters."""
        return 2 if self.__name__ == "log_between" else 1

    def __call__(self, xp: Any, *args: Any) -> Any:
        """Evaluate, at a value or two and parameters: batch shape."""
        if xp is np and self.values == 1:
            self._check_event(args[0], args[1:])
        ndims = (0,) * (self.values - 1) + self.form.event_ndims
        args = _aligned(self.form, args, ndims)
        batch = batch_shape(args, ndims)
        own: dict[str, Any] = {
            "log_density": self._density,
            "log_cdf": self.form.log_cdf,
            "log_ccdf": self.form.log_ccdf,
            "log_between": partial(_between, self.form),
        }
        found = _with_infinities(self.__name__, own[self.__name__], self.form, xp, *args)
        return found if np.shape(found) == batch else found + np.zeros(batch)

    def _density(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density with all constants, also of values that the support does not have."""
        form, inside = self.form, None
        known = isinstance(value, np.ndarray)
        kernel_value, base = value, 0.0
        inner = None if form.discrete else inner_value(form.support())
        if inner is not None:
            plain = getval(value)
            inside = form.support().check(plain, *form.support().bounds) | xp.isnan(plain)
            inside = None if known and inside.all() else inside
            kernel_value = value if inside is None else where(inside, value, inner)
        if known or form.discrete:
            fixed = [p if isinstance(p, np.ndarray) else np.zeros(np.shape(p)) for p in params]
            base = form.log_base(value, *fixed)
        found = form.log_kernel(xp, kernel_value, *params) + base
        return found if inside is None else where(inside, found, -np.inf)

    def _check_event(self, value: Any, params: Sequence[Any]) -> None:
        """Raise a `ValueError` if the parameters are those of values of another shape."""
        form = self.form
        rank = np.ndim(value) - form.event_ndim
        if rank < 0:
            raise ValueError(f"a {form.name} value has {form.event_ndim} axes or more")
        expected = form.event_shape(*params) if form.event_ndim else None
        if expected is not None and np.shape(value)[rank:] != expected:
            raise ValueError(
                f"the parameters of {form.name} are those of values of shape {expected}"
            )


# What methods are at minus infinity and at infinity, for which formulas may have inf - inf.
_AT_INFINITY = {
    "log_density": (-np.inf, -np.inf), "log_cdf": (-np.inf, 0.0), "log_ccdf": (0.0, -np.inf)
}  # fmt: skip


def _with_infinities(
    method: str, function: Callable[..., Any], form: Distribution, xp: Any, value: Any, *args: Any
) -> Any:
    """Evaluate a method of a distribution of numbers, at known infinite values by their limits."""
    known = isinstance(value, np.ndarray) and not form.event_ndim and method in _AT_INFINITY
    if not known or not np.isinf(value).any():
        return function(xp, value, *args)
    infinite = np.isinf(value)
    found = function(xp, np.where(infinite, 1.0, value), *args)
    low, high = _AT_INFINITY[method]
    at = infinite & np.logical_not(xp.isnan(getval(found)))  # impossible parameters stay NaN
    return where(at, np.where(value < 0, low, high), found)


def _between(form: Distribution, xp: Any, low: Any, high: Any, *params: Any) -> Any:
    return tail_probabilities.log_between(xp, form, low, high, *params)


def _at(method: str, distribution: Any, *values: Any) -> Any:
    """Record a call of a method, or evaluate it."""
    if not isinstance(distribution, Distribution):
        raise call_error(
            f"{method} takes a distribution first, such as Normal(0, 1); got "
            f"{type(distribution).__name__}.",
            given=distribution,
        )
    if method != "log_density" and not distribution.has_cdf:
        raise call_error(
            f"{method}: {distribution.name} has no cumulative distribution function here.",
            given=distribution.name,
        )
    form, params = distribution, tuple(distribution.args.values())
    if method == "log_density":
        form, expressions = linked(form, tuple(map(as_expression, params)))
        params = params if form is distribution else expressions
    formula = DensityFormula(method, distribution, form)
    return call(formula, (*values, *params), (0,) * (len(values) - 1) + form.event_ndims)


def _aligned(form: Distribution, args: Sequence[Any], ndims: Sequence[int]) -> tuple[Any, ...]:
    """Give values and parameters axes that broadcast: event axes last, batch axes in front."""
    rank = max(np.ndim(a) - e for a, e in zip(args, ndims, strict=True))
    specs = [spec.known for spec in form.parameters.values()]
    known = [False] * (len(args) - len(specs)) + specs
    return tuple(
        a if is_known else _with_axes(a, (0 if np.ndim(a) < e else max(rank, 0)) + e)
        for a, e, is_known in zip(args, ndims, known, strict=True)
    )


def _with_axes(a: Any, ndim: int) -> Any:
    """Put axes of length one in front."""
    missing = ndim - np.ndim(a)
    return anp.reshape(a, (1,) * missing + np.shape(a)) if missing > 0 else a
