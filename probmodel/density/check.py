"""Checking a model before it is sampled: derivatives, transforms, a simulation, and advice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from probmodel.arguments import seed_sequence
from probmodel.blas import one_blas_thread
from probmodel.density.posterior import ModelDensity, as_posterior
from probmodel.density.prior import simulate_near_zero, simulate_once
from probmodel.errors import ModelError, ProbmodelError
from probmodel.html_tables import table
from probmodel.model import Model
from probmodel.model.binding import redrawn
from probmodel.model.lints import Advice, lint
from probmodel.model.parameters import FreeParameter
from probmodel.numerics.jumps import find_jumps
from probmodel.types import Array

_POINTS = 3
_STEP = 1e-5
_TOLERANCE = 1e-5
_SHORTER, _SHORTEST = 1e-3, 1e-40  # each step beside the one before, and the last of them
_CHANGE = 1e-10  # of a log density that is more than its rounding, relative to its size
_RADII = tuple(2.0 * 0.25**k for k in range(6))  # of unconstrained values about zero
_DRAWS = 8
_PLACES = 16  # between which jumps are looked for


@dataclass(frozen=True)
class Check:
    """One check and what it found."""

    title: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Report:
    """What `check_model` found; printing it shows one line a check and a line of advice each.

    Attributes
    ----------
    name : the model's name
    checks : what must hold
    advice : what may not be meant; it says nothing about correctness
    """

    name: str
    checks: tuple[Check, ...]
    advice: tuple[Advice, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    def _repr_html_(self) -> str:
        rows = [("ok" if c.ok else "FAILED", c.title, c.detail) for c in self.checks]
        rows += [("advice", a.declaration, a.message) for a in self.advice]
        return table(self.name, rows, about=self._verdict, strong=("FAILED", "advice"))

    @property
    def _verdict(self) -> str:
        return "all checks passed" if self.ok else "some checks FAILED"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self._verdict}"]
        for check in self.checks:
            lines.append(f"  {'ok    ' if check.ok else 'FAILED'}  {check.title}: {check.detail}")
        lines += [f"  advice  {advice}" for advice in self.advice]
        return "\n".join(lines)


def check_model(model: Model, *, seed: int = 0) -> Report:
    """Check a bound model.

    The gradient is compared with central differences, every transform is taken there and back,
    its log-Jacobian is compared with the determinant of a numerical Jacobian, and the model is
    simulated once, from the prior or, where its draws overflow, from values near zero.
    Declarations that may not say what was meant get advice, such as flat priors, data that nothing
    uses and parameters that no likelihood depends on. So do parameters in which the log density
    jumps, as it does in a change point, and a log density that is too long for machine code.

    Parameters
    ----------
    model : a bound model with its observed data
    seed : of the points at which it is checked

    Returns
    -------
    Report
        ``report.ok`` tells whether all passed; ``print(report)`` shows how well, and the advice,
        which has no part in ``ok``.

    Raises
    ------
    InitializationError
        If no point with a finite log density is found.
    ModelError
        If it is no bound model.
    """
    rng = np.random.default_rng(seed_sequence(seed))
    density = as_posterior(model)
    if not isinstance(density, ModelDensity):
        raise ModelError(f"check_model takes a bound model; got {type(model).__name__}.")
    with one_blas_thread():
        x = density.initial_points(rng, _POINTS)
        checks = [_check_gradient(density, x)]
        for free, cut in density._blocks:
            if not x[:, cut].size:
                continue  # a constraint that leaves one value, such as a simplex of one element
            if free.constraint.bijective and free.terms and free.value is not free.free:
                checks += _check_transform(density, free, x[:, cut], x)
        checks.append(_check_simulation(model, rng))
        jumps = find_jumps(density, density.initial_points(rng, _PLACES))
    advice = (*lint(model), *_jumps(density, jumps), *_length(density))
    return Report(density.name, tuple(checks), advice)


def _jumps(density: ModelDensity, jumps: Array) -> list[Advice]:
    message = (
        "the log density jumps, or ends, as it changes, which gradients do not show. The default "
        "method moves such parameters by themselves; others that follow gradients hardly move them."
    )
    return [
        Advice("jumps", free.name, free.declaration.location, message)
        for free, cut in density._blocks
        if jumps[cut].any()
    ]


def _length(density: ModelDensity) -> list[Advice]:
    message = density.about_length()
    return [Advice("length", density.name, None, message)] if message else []


def _check_gradient(density: ModelDensity, x: Array) -> Check:
    grad = density(x).grad
    worst, place = 0.0, ""
    for i in range(density.dim):
        error = np.max(_slope_error(density, x, grad, i))
        if not error <= worst:
            worst, place = float(error), density.coordinate_names[i]
    return Check(
        "gradient against finite differences",
        worst <= _TOLERANCE,
        f"largest relative difference {worst:.1e}" + (f" at {place}" if place else ""),
    )


def _slope_error(density: ModelDensity, x: Array, grad: Array, i: int) -> Array:
    """Return how far a coordinate's slopes are from differences, at each point: (points,).

    Quantities in units far from one need shorter steps than the usual one. What counts are steps
    over which the log density changes by more than its rounding; the usual one, if none does.
    """
    error, usual, length = np.full(len(x), np.inf), np.full(len(x), np.nan), _STEP
    while length > _SHORTEST and not np.all(error <= _TOLERANCE):
        step = np.zeros(density.dim)
        step[i] = length
        ends = density.log_density(x + step), density.log_density(x - step)
        with np.errstate(all="ignore"):  # what is not finite counts for nothing
            change, size = ends[0] - ends[1], 1.0 + np.max(np.abs(ends), axis=0)
            found = np.abs(change / (2 * length) - grad[:, i]) / (1.0 + np.abs(grad).max())
            error = np.where(np.abs(change) > _CHANGE * size, np.fmin(error, found), error)
        usual = found if length == _STEP else usual
        length *= _SHORTER
    return np.where(np.isinf(error), usual, error)


def _check_transform(density: ModelDensity, free: FreeParameter, u: Array, x: Array) -> list[Check]:
    if free.frame is not None:
        return []
    values = density.values_at(x, free.bounds)
    bounds = [[value[i] for value in values] for i in range(len(x))]
    u = u.reshape(len(u), *free.free_shape)
    constraint, name = free.constraint, f"{free.name} ({free.constraint.name})"
    there = [constraint.forward(np, ui, *b) for ui, b in zip(u, bounds, strict=True)]
    back = [constraint.inverse(y, *b) for y, b in zip(there, bounds, strict=True)]
    if not constraint.one_to_one:
        again = [constraint.forward(np, ui, *b) for ui, b in zip(back, bounds, strict=True)]
        error = float(np.max(np.abs(np.stack(again) - np.stack(there))))
        return [Check(f"transform of {name}", error <= 1e-8, f"back and there within {error:.1e}")]
    error = float(np.max(np.abs(np.stack(back) - u)))
    jacobian = _jacobian_error(free, u[0], bounds[0])
    return [
        Check(f"transform of {name}", error <= 1e-8, f"there and back within {error:.1e}"),
        Check(f"Jacobian of {name}", jacobian <= 1e-5, f"log determinant within {jacobian:.1e}"),
    ]


def _jacobian_error(free: FreeParameter, u: Array, bounds: list[Array]) -> float:
    constraint, flat = free.constraint, u.reshape(-1)
    columns = []
    for i in range(flat.size):
        step = np.zeros(flat.size)
        step[i] = _STEP
        ends = [
            constraint.free_coords(
                constraint.forward(np, (flat + sign * step).reshape(u.shape), *bounds)
            ).reshape(-1)
            for sign in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / (2 * _STEP))
    numeric = np.linalg.slogdet(np.stack(columns, axis=1))[1]
    return float(abs(numeric - np.sum(constraint.log_det(np, u, *bounds))))


def _check_simulation(model: Model, rng: np.random.Generator) -> Check:
    """Simulate from the prior; where that fails, from parameters near zero, unconstrained.

    Draws from a vague prior may overflow though nothing is wrong with the model. Whatever is wrong
    with signs and shapes fails near zero as well, at all scales.
    """
    title, binding = "prior simulation", redrawn(model._binding)
    names, fault = _simulated(partial(simulate_once, binding, rng))
    if not fault:
        return Check(title, True, f"drew {', '.join(names)}")
    for radius in _RADII:
        names, still = _simulated(partial(simulate_near_zero, binding, rng, radius, _DRAWS))
        if not still:
            detail = f"drew {', '.join(names)} within {radius:g} of zero, unconstrained"
            return Check(title, True, f"{detail}; draws from the prior are too extreme: {fault}")
    return Check(title, False, fault)


def _simulated(simulate: Callable[[], Mapping[str, Array]]) -> tuple[list[str], str]:
    """Return the names of what was drawn, and what went wrong; empty if nothing did."""
    try:
        with np.errstate(all="ignore"):  # what is not finite is reported
            drawn = simulate()
    except ProbmodelError as error:
        return [], error.message
    bad = [name for name, value in drawn.items() if not np.isfinite(value).all()]
    return list(drawn), f"not finite: {', '.join(bad)}" if bad else ""
