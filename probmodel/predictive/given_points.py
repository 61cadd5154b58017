"""Drawing an observed process given those of its elements that a fit observed."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from probmodel.compiler.symbols import Symbol
from probmodel.density.forward_runs import Forward
from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError
from probmodel.model.binding import Binding
from probmodel.model.declarations import Observed
from probmodel.predictive.fits import FromFit
from probmodel.predictive.matching import all_known
from probmodel.types import Array

Places = list[Array]  # along each axis, where in the fit each element is; -1 for new ones

_DRAWS = 2  # in which two models are compared: if they differ, they do almost everywhere
_TOLERANCE = 1e-6  # relative; what differs by more was not computed from the same points


def given_old(
    forward: Forward, node: Observed, old: Binding, places: Places, rows: int, noise: bool = True
) -> Symbol:
    """Add a draw of a process given its values in the fit, which its known elements keep.

    ``forward`` is a run of a model that holds all points of the fit, ``old`` the model as it was
    fitted, ``places`` those of its elements in the fit. Without ``noise``, known elements are what
    it has been taken from.
    """
    distribution = node.distribution
    value = old.data[str(node.name)][np.ix_(*places)]
    known = all_known(places) & ~np.isnan(value)
    value = np.where(known, value, 0.0)
    if not noise:
        return without_noise(forward, node, value, known, rows)

    def draw(rng: np.random.Generator, n: int, given: Array, *params: Array) -> Array:
        free = _sample(rng, distribution, given.shape, params)
        done = distribution.condition(free, given, known, *params)
        if not np.isfinite(done).all():
            raise refusal(node, "their covariance is not positive definite")
        return done

    return _drawn(forward, node, draw, value, rows)


def given_part(forward: Forward, node: Observed, value: Array, rows: int) -> Symbol:
    """Add a draw of those elements of a quantity that are NaN, given the others."""
    known = ~np.isnan(value)

    def draw(rng: np.random.Generator, n: int, given: Array, *params: Array) -> Array:
        return node.distribution.complete(rng, given, known, *params)

    return _drawn(forward, node, draw, np.where(known, value, 0.0), rows)


def without_noise(
    forward: Forward, node: Observed, value: Array, known: Array, rows: int
) -> Symbol:
    """Add a draw of a process without its noise, given those of its noisy values that are known."""
    distribution = node.distribution

    def draw(rng: np.random.Generator, n: int, given: Array, *params: Array) -> Array:
        done = distribution.complete_without_noise(rng, given, known, *params)
        if not np.isfinite(done).all():
            raise refusal(node, "their covariance is not positive definite: raise jitter=")
        return done

    return _drawn(forward, node, draw, value, rows)


def _drawn(
    forward: Forward, node: Observed, draw: Callable[..., Array], value: Array, rows: int
) -> Symbol:
    """Add draws given one value, by a function of that and the parameters."""
    given = forward.given(np.broadcast_to(value, (rows, *value.shape)))
    operands = [given, *forward.parameters(node.distribution, value.shape)]
    return forward.draw(node, node.distribution, draw, operands)


def _sample(
    rng: np.random.Generator,
    distribution: Distribution,
    shape: tuple[int, ...],
    params: tuple[Array, ...],
) -> Array:
    """Draw normal values, also where points coincide, which leaves the covariance singular."""
    free = distribution.sample(rng, shape, *params)
    if np.isfinite(free).all():
        return free
    rows = len(shape) - distribution.event_ndim
    moments = distribution.moments(shape[rows:], *params)
    assert moments is not None
    mean, covariance = moments
    scales, directions = np.linalg.eigh(covariance)
    least = -_TOLERANCE * np.max(np.abs(scales), axis=-1, keepdims=True)
    scales = np.sqrt(np.where(scales < least, np.nan, np.maximum(scales, 0.0)))
    z = rng.standard_normal((*shape[:rows], covariance.shape[-1]))
    return np.asarray(mean + np.vecdot(directions, (scales * z)[..., None, :])).reshape(shape)


def check_old_points(
    node: Observed, old: Binding, now: Binding, places: Places, parameters: FromFit
) -> None:
    """Refuse a model that says something else of the points of the fit than the fit did.

    A covariance may be written so that it depends on which points are bound besides, such as by
    their mean or their number. ``now`` is the model bound to all points of the fit, and new ones;
    ``places`` are those of its elements in the fit, and ``parameters`` are from it. Raises a
    `ModelError` if mean or covariance differ, or are not known.
    """
    rows = len(places) - node.distribution.event_ndim
    here = tuple(int(np.flatnonzero(p >= 0)[0]) for p in places[:rows])
    there = tuple(int(p[i]) for p, i in zip(places[:rows], here, strict=True))
    before = _moments(node, old, there, parameters.at(old))
    after = _moments(node, now, here, parameters)
    known = all_known(places[rows:]).reshape(-1)
    sizes = old.data[str(node.name)].shape[rows:]
    order = np.arange(int(np.prod(sizes))).reshape(sizes)[np.ix_(*places[rows:])].reshape(-1)
    order, kept = order[known], np.flatnonzero(known)
    before = before[:, order][:, :, np.append(order, -1)]
    after = after[:, kept][:, :, np.append(kept, -1)]
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise refusal(
            node,
            "their covariance is not positive definite at some draws of the fit, which noise or "
            "more jitter prevents",
        )
    if not np.allclose(before, after, rtol=_TOLERANCE, atol=_TOLERANCE * np.abs(before).max()):
        raise refusal(
            node, "its mean or covariance at the points of the fit is another once new ones follow"
        )


def _moments(node: Observed, binding: Binding, row: tuple[int, ...], parameters: FromFit) -> Array:
    """Covariance of one value for a few draws, the mean as its last column: (draws, n, n + 1)."""
    distribution = node.distribution
    shape = binding.evaluator.shape(node)
    batch, event = shape[: len(row)], shape[len(row) :]

    def both(rng: np.random.Generator, n: int, *params: Array) -> Array:
        moments = distribution.moments(event, *params)
        if moments is None:
            raise refusal(
                node, f"{distribution.name} has no way to draw some elements given the others"
            )
        mean, covariance = (np.asarray(m) for m in moments)
        size = covariance.shape[-1]
        chosen: Any = (slice(None), *row)
        covariance = np.broadcast_to(covariance, (n, *batch, size, size))[chosen]
        mean = np.broadcast_to(mean, (n, *batch, size))[chosen]
        return np.concatenate([covariance, mean[..., None]], axis=-1)

    forward, size = Forward(binding, parameters), prod(event)
    params = forward.parameters(distribution, shape)
    output = forward.draw(node, distribution, both, params, np.zeros((size, size + 1)))
    plan = forward.plan({"moments": output})
    return plan.run(np.random.default_rng(0), min(_DRAWS, parameters.rows))["moments"]


def refusal(node: Observed, reason: str) -> ModelError:
    """Return an error about new points that cannot be predicted from the observed ones."""
    return node.model_error(
        f"{node.title}: its new elements depend on those that the fit observed, and cannot be "
        f"drawn given these: {reason}. Bind the model to the old points and the new ones together "
        f"(the labels of the fit in coords), observe a MvNormal or a GaussianProcess, or declare "
        "the process as a param, observed with noise.",
        name=node.name,
        distribution=node.distribution.name,
    )
