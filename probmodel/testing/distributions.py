"""Checks of a distribution: its density at a value, derivatives to second order, draws.

Each takes the distribution, declared with numbers, and one possible value; it raises AssertionError
with what is wrong. None of them knows the density by other means: compare that with a formula of
your own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import grad

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import Scope, Trace, differentiated
from probmodel.constraints import Constraint
from probmodel.distributions.base import Distribution
from probmodel.model.evaluation import Evaluator
from probmodel.testing.runs import require
from probmodel.types import Array

Check = Callable[[Distribution, Any], None]
Path = Callable[[float], Array]

_STEP = 1e-3  # of fourth-order differences along unconstrained coordinates
_TOLERANCE = 1e-6
_DRAWS = 4000
_ERRORS = 6.0  # standard errors of a mean over draws


def check_density(dist: Distribution, value: Any) -> None:
    """Require a finite log density of one value, and a support that contains it."""
    args = _arguments(dist, value)
    log_density = np.asarray(dist.log_density(np, *args))
    require(
        log_density.shape == (),
        f"the log density of one value must be one number, has shape {log_density.shape}.",
    )
    require(np.isfinite(log_density), f"the log density must be finite, is {log_density}.")
    support = dist.support()
    require(np.all(support.check(args[0], *support.bounds)), "the support must contain the value.")


def check_gradient(dist: Distribution, value: Any) -> None:
    """Require the derivatives that a compiled density has to be those of the log kernel."""
    args, names = _arguments(dist, value), ["value", *dist.parameters]
    paths = dict(_paths(dist, args))

    def log_density(trace: Trace, *moving: Any) -> Any:
        given = dict(zip(paths, moving, strict=True))
        return trace.density(dist, [given.get(i, arg) for i, arg in enumerate(args)])

    shapes = [args[i].shape for i in paths]
    program = NumpyProgram(differentiated(Scope(Evaluator(), {}), log_density, shapes))
    _, *slopes = program(*(args[i][None] for i in paths))
    for (i, path), slope in zip(paths.items(), slopes, strict=True):

        def along(t: float, i: int = i, path: Path = path) -> Any:
            return dist.log_kernel(np, *args[:i], path(t), *args[i + 1 :])

        what = f"the derivative in {names[i]} must be that of log_kernel"
        _require_close(np.sum(slope[0] * _slope(path)), _slope(along), what)


def check_second_derivatives(dist: Distribution, value: Any) -> None:
    """Require autograd to differentiate the log kernel twice."""
    args, names = _arguments(dist, value), ["value", *dist.parameters]
    paths = dict(_paths(dist, args))

    def log_kernel(*at: Any) -> Any:
        return dist.log_kernel(anp, *at)

    for i in paths:
        direction = _slope(paths[i])

        def partial(*at: Any, i: int = i, direction: Array = direction) -> Any:
            return anp.sum(grad(log_kernel, i)(*at) * direction)

        for j, path in paths.items():

            def along(t: float, j: int = j, path: Path = path, partial: Any = partial) -> Any:
                return partial(*args[:j], path(t), *args[j + 1 :])

            with warnings.catch_warnings():
                # Autograd says so of derivatives that are zero, as some are.
                warnings.filterwarnings("ignore", "Output seems independent of input")
                found = np.sum(np.asarray(grad(partial, j)(*args)) * _slope(path))
                expected = _slope(along)
            what = f"the second derivative in {names[i]} and {names[j]} must be right"
            _require_close(found, expected, what)


def check_draws(dist: Distribution, value: Any) -> None:
    """Require possible draws, over which the slopes in the parameters are zero on average.

    The slopes are not, where the support of a continuous distribution depends on its parameters.
    """
    one, *params = _arguments(dist, value)
    draws = dist.sample(np.random.default_rng(0), (_DRAWS, *one.shape), *params)
    require(
        draws.shape == (_DRAWS, *one.shape),
        f"sample must return shape {(_DRAWS, *one.shape)}; returned {draws.shape}.",
    )
    support = dist.support()
    require(np.all(support.check(draws, *support.bounds)), "draws must lie in the support.")
    if support.bounds and not dist.discrete:
        return
    each = [draws, *(np.broadcast_to(p, (_DRAWS, *p.shape)) for p in params)]
    for i, path in _paths(dist, [one, *params]):
        if i == 0:
            continue
        slopes = grad(lambda *at: anp.sum(dist.log_kernel(anp, *at)), i)(*each)
        scores = (slopes * _slope(path)).reshape(_DRAWS, -1).sum(axis=1)
        mean, error = scores.mean(), scores.std() / np.sqrt(_DRAWS)
        require(
            abs(mean) <= _ERRORS * error + 1e-12,
            f"the slope in {list(dist.parameters)[i - 1]} must be zero on average over draws; is "
            f"{mean:.3g}, {abs(mean) / error:.0f} standard errors away: sample and log_kernel do "
            "not agree.",
        )


DISTRIBUTION_CHECKS: tuple[Check, ...] = (
    check_density,
    check_gradient,
    check_second_derivatives,
    check_draws,
)


def _arguments(dist: Distribution, value: Any) -> list[Array]:
    """Value and parameters as arrays."""
    return [np.asarray(a, dtype=float) for a in (value, *dist.args.values())]


def _paths(dist: Distribution, args: list[Array]) -> Iterator[tuple[int, Path]]:
    """Yield a curve through each continuous argument, inside the set of its possible values."""
    rng = np.random.default_rng(1)
    constraints = [dist.support(), *(p.constraint for p in dist.parameters.values())]
    for i, (arg, constraint) in enumerate(zip(args, constraints, strict=True)):
        if constraint.bijective and not (i == 0 and dist.discrete):
            yield i, _path(constraint, arg, rng)


def _path(constraint: Constraint, arg: Array, rng: np.random.Generator) -> Path:
    origin = constraint.inverse(arg, *constraint.bounds)
    direction = rng.standard_normal(np.shape(origin))

    def path(t: float) -> Array:
        return np.asarray(constraint.forward(np, origin + t * direction, *constraint.bounds))

    return path


def _slope(function: Callable[[float], Any], h: float = _STEP) -> Any:
    """Fourth-order central difference at zero."""
    near, far = function(h) - function(-h), function(2 * h) - function(-2 * h)
    return (8.0 * near - far) / (12.0 * h)


def _require_close(actual: Any, expected: Any, what: str) -> None:
    close = np.isclose(actual, expected, rtol=_TOLERANCE, atol=_TOLERANCE)
    require(close, f"{what}: {actual:.9g} where differences give {expected:.9g}.")
