"""Special functions with derivatives: SciPy's ufuncs as autograd primitives.

Every function takes NumPy arrays, autograd boxes, and objects that implement NumPy's protocols
(symbols): for those the SciPy ufunc itself is called, so that ``__array_ufunc__`` sees it.
Derivative rules are written with these functions, so they can be differentiated again.
`scipy.special` is imported when the first of them is called. The modules beside have the special
functions of one family of distributions each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from math import factorial, pi, sqrt
from typing import Any, TypeVar, cast

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box, defjvp, defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

LOG_2PI = float(np.log(2 * np.pi))
_TWO_OVER_ROOT_PI = 2.0 / sqrt(pi)
_LOG_2 = float(np.log(2.0))
_ROOT_HALF = sqrt(0.5)
_ROOT_TWO_OVER_PI = sqrt(2.0 / pi)


_Function = TypeVar("_Function", bound=Callable[..., Any])


class Recorded:
    """What stands for an array that is not known yet: it writes functions of it down."""

    def record(self, function: Callable[..., Any], args: tuple[Any, ...], **kwargs: Any) -> Any:
        """Return what stands for the result of a function."""
        raise NotImplementedError


def differentiable(function: _Function) -> _Function:
    """Make a function an autograd primitive; `defvjp` then gives it a derivative rule."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if isinstance(arg, Recorded):
                return arg.record(function, args, **kwargs)
        return function(*args, **kwargs)

    return cast("_Function", primitive(run))


@cache
def scipy_special() -> Any:
    """Return the module `scipy.special`, imported on first use."""
    import scipy.special

    return scipy.special


def from_scipy(name: str, what: str, of_scipy: str = "") -> Any:
    """Make a primitive of a ufunc of `scipy.special`, with ``what`` as its docstring.

    ``of_scipy`` is what SciPy calls it, if not the same.
    """
    own = of_scipy or name

    def run(*args: Any) -> Any:
        return getattr(scipy_special(), own)(*args)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = what
    return differentiable(run)


@differentiable
def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose element by element; unlike autograd's own rule, this one lets operands broadcast."""
    return np.where(condition, x, y)


defvjp(
    where,
    lambda ans, c, x, y: unbroadcast_f(x, lambda g: where(c, g, 0.0)),
    lambda ans, c, x, y: unbroadcast_f(y, lambda g: where(c, 0.0, g)),
    argnums=(1, 2),
)
defjvp(
    where,
    lambda g, ans, c, x, y: where(c, g, np.zeros(np.shape(ans))),
    lambda g, ans, c, x, y: where(c, np.zeros(np.shape(ans)), g),
    argnums=(1, 2),
)


gammaln = from_scipy("gammaln", "Logarithm of the absolute value of the gamma function.")
digamma = from_scipy("digamma", "Logarithmic derivative of the gamma function.")
betaln = from_scipy("betaln", "Logarithm of the absolute value of the beta function.")
expit = from_scipy("expit", "Logistic function ``1 / (1 + exp(-x))``.")
logit = from_scipy("logit", "Log odds ``log(p / (1 - p))``, the inverse of `expit`.")
log_expit = from_scipy("log_expit", "Logarithm of `expit`, accurate for large negative ``x``.")
erf = from_scipy("erf", "Error function.")
erfc = from_scipy("erfc", "Complementary error function ``1 - erf(x)``.")
erfinv = from_scipy("erfinv", "Inverse of `erf`.")
ndtr = from_scipy("ndtr", "Cumulative distribution function of the standard normal.")
log_ndtr = from_scipy("log_ndtr", "Logarithm of `ndtr`, accurate in the lower tail.")
ndtri = from_scipy("ndtri", "Quantiles of the standard normal, the inverse of `ndtr`.")


@differentiable
def polygamma(n: int, x: Any) -> Any:
    """Return the derivative of order ``n`` >= 1 of `digamma`, for positive ``x``."""
    return (-1.0) ** (n + 1) * factorial(n) * scipy_special().zeta(n + 1.0, x)


def trigamma(x: Any) -> Any:
    """Second logarithmic derivative of the gamma function, for positive ``x``."""
    return polygamma(1, x)


@differentiable
def log1p_exp(x: Any) -> Any:
    """Softplus ``log(1 + exp(x))``, without overflow."""
    if isinstance(x, np.ndarray | float | int | np.generic):
        return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
    return np.logaddexp(0.0, x)


@differentiable
def log1m_exp(x: Any) -> Any:
    """``log(1 - exp(-x))`` for ``x >= 0``, accurate at both ends; NaN below."""
    small = np.log(-np.expm1(-np.minimum(x, _LOG_2)))
    return np.where(x < _LOG_2, small, np.log1p(-np.exp(-np.maximum(x, _LOG_2))))


@differentiable
def inverse_expm1(x: Any) -> Any:
    """``1 / (exp(x) - 1)`` for ``x >= 0``, the derivative of `log1m_exp`; zero at infinity."""
    return np.exp(-x) / -np.expm1(-x)


@differentiable
def inverse_mills(x: Any) -> Any:
    """Return the standard normal density over `ndtr`, the derivative of `log_ndtr`."""
    return _ROOT_TWO_OVER_PI / scipy_special().erfcx(-_ROOT_HALF * x)


@differentiable
def xlogy(x: Any, y: Any) -> Any:
    """``x log(y)``, zero where ``x`` is zero (unless ``y`` is NaN)."""
    return _times_log(scipy_special().xlogy, np.log, x, y)


@differentiable
def xlog1py(x: Any, y: Any) -> Any:
    """``x log(1 + y)``, zero where ``x`` is zero (unless ``y`` is NaN)."""
    return _times_log(scipy_special().xlog1py, np.log1p, x, y)


def _times_log(function: Any, log: Any, x: Any, y: Any) -> Any:
    """Return a product with a logarithm, which is found once where it serves several elements."""
    if np.size(y) >= np.prod(np.broadcast_shapes(np.shape(x), np.shape(y))):
        return function(x, y)
    with np.errstate(all="ignore"):
        result = np.multiply(x, log(y))
    if not np.isnan(result).any():
        return result
    return np.where(np.equal(x, 0.0) & ~np.isnan(y), 0.0, result)


@differentiable
def ratio(x: Any, y: Any) -> Any:
    """``x / y`` for ``y >= 0``, zero where ``y`` is zero.

    That is the slope of ``x log(y)``, a constant where ``x`` is zero. Where ``y`` alone is zero the
    logarithm is minus infinity, and the slope has no bound: zero stands for it, so that what has
    no probability adds nothing to the slopes of a mixture.
    """
    if np.min(y, initial=1.0) > 0.0:
        return np.divide(x, y)
    zero = np.equal(y, 0.0)
    return np.where(zero, 0.0, x / np.where(zero, 1.0, y))


@differentiable
def product(x: Any, y: Any) -> Any:
    """``x y``, zero where ``x`` is zero even if ``y`` is infinite, as logarithms may be."""
    result = np.multiply(x, y)
    if not np.isnan(result).any():
        return result
    return np.where((np.equal(x, 0.0)) & np.isinf(y), 0.0, result)


def logsumexp(x: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over ``axis``, without overflow; minus infinity adds nothing.

    Composed of NumPy functions, so it works on whatever implements their protocols.
    """
    xp = anp if isinstance(x, Box) else np
    largest = np.max(getval(x), axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)  # nothing depends on it: no derivative
    result = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    return result if keepdims else xp.squeeze(result, axis=axis)


def _rule(derivative: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return autograd's form of ``derivative(ans, x)`` for an elementwise function."""
    return lambda ans, x: lambda g: g * derivative(ans, x)


defvjp(gammaln, _rule(lambda ans, x: digamma(x)))
defvjp(digamma, _rule(lambda ans, x: polygamma(1, x)))
defvjp(polygamma, lambda ans, n, x: lambda g: g * polygamma(n + 1, x), argnums=(1,))
defvjp(
    betaln,
    lambda ans, a, b: unbroadcast_f(a, lambda g: g * (digamma(a) - digamma(a + b))),
    lambda ans, a, b: unbroadcast_f(b, lambda g: g * (digamma(b) - digamma(a + b))),
)
defvjp(expit, _rule(lambda ans, x: ans * expit(-x)))
defvjp(logit, _rule(lambda ans, p: 1.0 / (p * (1.0 - p))))
defvjp(log_expit, _rule(lambda ans, x: expit(-x)))
defvjp(log1p_exp, _rule(lambda ans, x: expit(x)))
defvjp(log1m_exp, _rule(lambda ans, x: inverse_expm1(x)))
defvjp(inverse_expm1, _rule(lambda ans, x: -ans * (1.0 + ans)))
defvjp(erf, _rule(lambda ans, x: _TWO_OVER_ROOT_PI * anp.exp(-x * x)))
defvjp(erfc, _rule(lambda ans, x: -_TWO_OVER_ROOT_PI * anp.exp(-x * x)))
defvjp(ndtr, _rule(lambda ans, x: anp.exp(-0.5 * x * x - 0.5 * LOG_2PI)))
defvjp(log_ndtr, _rule(lambda ans, x: inverse_mills(x)))
defvjp(ndtri, _rule(lambda ans, p: anp.exp(0.5 * ans * ans + 0.5 * LOG_2PI)))
defvjp(erfinv, _rule(lambda ans, y: anp.exp(ans * ans) / _TWO_OVER_ROOT_PI))
defvjp(inverse_mills, _rule(lambda ans, x: -ans * (x + ans)))
defvjp(
    xlogy,
    lambda ans, x, y: unbroadcast_f(x, lambda g: g * anp.log(y)),
    lambda ans, x, y: unbroadcast_f(y, lambda g: g * ratio(x, y)),
)
defvjp(
    xlog1py,
    lambda ans, x, y: unbroadcast_f(x, lambda g: g * anp.log1p(y)),
    lambda ans, x, y: unbroadcast_f(y, lambda g: g * ratio(x, 1.0 + y)),
)
defvjp(
    ratio,
    lambda ans, x, y: unbroadcast_f(x, lambda g: ratio(g, y)),
    lambda ans, x, y: unbroadcast_f(y, lambda g: -g * ratio(ans, y)),
)
defvjp(
    product,
    lambda ans, x, y: unbroadcast_f(x, lambda g: g * y),
    lambda ans, x, y: unbroadcast_f(y, lambda g: g * x),
)
