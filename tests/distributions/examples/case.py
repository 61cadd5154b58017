"""What an example of a distribution is, over which every distribution is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats


class Case(NamedTuple):
    """One distribution with parameters, values and the truth about them.

    Attributes
    ----------
    dist : the instance whose formulas are checked
    params : two sets of parameters of one batch element
    values : values of positive density under the first set, stacked; their event axes come last
    reference : log density by other means, of one value and one set of parameters
    invalid : bad values, by parameter position
    outside : values that are impossible under both sets
    fixed : positions of arguments that are not differentiated in
    law : how draws are checked: a distribution function; or, for vectors, a map of draws and
        parameters to independent standard normal numbers; counts use the reference
    tangent : projections onto the directions in which an argument may move, by position
    edges : where the support ends or the density jumps, as a function of the parameters
    outcomes : all values of a discrete distribution that matter, stacked, as such a function
    atoms : values of a continuous distribution that have a probability, which is their density
    """

    dist: Any
    params: Sequence[tuple[Any, ...]]
    values: Any
    reference: Callable[..., float]
    invalid: dict[int, list[Any]]
    outside: Sequence[Any] = ()
    fixed: tuple[int, ...] = ()
    law: Callable[..., Any] | None = None
    tangent: dict[int, Callable[[Any], Any]] = {}  # noqa: RUF012 (read only)
    edges: Callable[..., Sequence[float]] = lambda *params: ()
    outcomes: Callable[..., Any] = lambda *params: np.arange(200)
    atoms: Sequence[float] = ()


def known(dist: Any) -> list[bool]:
    """Whether each parameter is data, without batch axes and derivatives."""
    return [spec.known for spec in dist.parameters.values()]


def moving(case: Case) -> list[int]:
    """Positions of the arguments that derivatives are taken in; the value has position 0."""
    held = [case.dist.discrete, *known(case.dist)]
    return [i for i, is_held in enumerate(held) if not is_held and i not in case.fixed]


def filled(case: Case, position: int, batch: tuple[int, ...]) -> Any:
    """An argument of a batch shape, filled with the examples in turn."""
    examples = case.values if position == 0 else [p[position - 1] for p in case.params]
    examples = [np.asarray(e, dtype=float) for e in examples]
    index = np.arange(int(np.prod(batch))) % len(examples)
    return np.stack([examples[i] for i in index]).reshape(batch + examples[0].shape)


def symmetric(a: Any) -> Any:
    return a + np.swapaxes(a, -1, -2)


def zero_sum(a: Any) -> Any:
    return a - a.mean(axis=-1, keepdims=True)


LINE = np.array([-2.3, -0.4, 0.2, 1.7])
HALF = np.array([0.05, 0.6, 1.3, 4.2])
UNIT = np.array([0.02, 0.3, 0.55, 0.97])
COUNTS = np.array([0, 1, 3, 7])
BAD_SCALE = [-1.0, 0.0, np.nan]
NEGATIVE = [-0.5, -1.0, -2.5, np.nan]
NOT_COUNTS = [-1, 0.5, np.nan]


def scipy_case(
    dist: Any,
    family: Any,
    arguments: Callable[..., Any],
    params: Any,
    values: Any,
    invalid: Any,
    outside: Any = (),
    **more: Any,
) -> Case:
    """Case of a distribution that SciPy has, with SciPy's arguments as a function of ours."""
    density = "logpmf" if hasattr(family, "pmf") else "logpdf"

    def reference(value: Any, *p: Any) -> float:
        return getattr(family(*arguments(*p)), density)(value)

    def law(draws: Any, *p: Any) -> Any:
        return family(*arguments(*p)).cdf(draws)

    return Case(dist, params, values, reference, invalid, outside, law=law, **more)


def location_scale(dist: Any, family: Any) -> Case:
    return scipy_case(
        dist, family, lambda m, s: (m, s), [(0.3, 0.8), (-0.5, 1.6)], LINE, {1: BAD_SCALE}
    )


def half(dist: Any, family: Any) -> Case:
    return scipy_case(
        dist, family, lambda s: (0, s), [(0.8,), (1.9,)], HALF, {0: BAD_SCALE}, [-0.1]
    )


def normal_vector(dist: Any, params: Any, moments: Any, shape: Any, **more: Any) -> Case:
    """Case of a Gaussian vector or array with given ``moments(*params)``: mean, covariance."""
    size = int(np.prod(shape))
    values = np.random.default_rng(5).standard_normal((4, *shape))

    def reference(value: Any, *p: Any) -> float:
        mean, covariance = moments(*p)
        # `allow_singular` also stops SciPy from refusing ill-conditioned covariances.
        return stats.multivariate_normal(mean, covariance).logpdf(value.reshape(size))

    def law(draws: Any, *p: Any) -> Any:
        mean, covariance = moments(*p)
        centred = draws.reshape(-1, size) - mean
        return np.linalg.solve(np.linalg.cholesky(covariance), centred.T).T

    return Case(dist, params, values, reference, law=law, **more)
