"""One metric for all of a posterior: the information of the data, averaged over a Gaussian prior.

    x       unconstrained point; its prior is Gaussian                     (dim,)
    Q, m    precision and mean of the prior                                (dim, dim), (dim,)
    p(x)    the parameter of a likelihood that varies, affine in x         (elements,)
    J       its Jacobian; p has prior means p(m) and variances J Q^-1 J'   (dim, elements)
    I(p)    expected Fisher information of p, element by element           (elements,)
    Lambda  E I(p) under the prior                                         (elements,)
    G       Q + J Lambda J', summed over the likelihoods                   (dim, dim)

For a log-Gaussian Cox process, counts Poisson(m_i exp(x_i)) with x ~ N(mu, Sigma), that is
G = Sigma^-1 + diag(m_i exp(mu_i + Sigma_ii / 2)). Girolami and Calderhead (2011), "Riemann manifold
Langevin and Hamiltonian Monte Carlo methods", print Sigma_ii without the half, which is a metric as
good as any constant one: ``latent_mean="paper"`` takes what they print, for log rates of counts,
and ``"exact"`` the average.

A normal likelihood of known scale has the same information everywhere, and counts towards Q in G,
though not in the prior. What is in memory is a few times dim^2 and dim times elements numbers.
"""

from __future__ import annotations

from math import ceil
from typing import Literal, NamedTuple, cast

import numpy as np

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import Scope, dimension, gradient_of_terms
from probmodel.distributions import PoissonLog
from probmodel.errors import ModelError
from probmodel.geometry.metric import Structure
from probmodel.geometry.observations import (
    AffineObservation,
    Observation,
    check_information,
    observation,
)
from probmodel.model.binding import Binding
from probmodel.model.terms import Term
from probmodel.numerics.linalg import cholesky, invert_lower, solve_lower
from probmodel.types import Array

LatentMean = Literal["paper", "exact"]

REACH = 10.0  # standard deviations of the prior, each way, over which information is averaged
SPACING = 0.6  # of the nodes, in standard deviations and on the scale of the parameter
WIDEST = 100.0  # standard deviation of a parameter beyond which an average says nothing
_ENTRIES = 2**20  # of an array that is worked on at a time

_ADVICE = (
    "use latent_mean='mode', which takes the metric at the posterior mode instead, or a method "
    "that learns its metric, such as nuts or fisher_mala."
)


def constant_metric(binding: Binding, latent_mean: LatentMean = "paper") -> Array:
    """Return the prior precision plus the averaged information of the data: (dim, dim).

    Parameters
    ----------
    binding : a bound model with a Gaussian prior
    latent_mean : whether to average log rates of counts as published, or exactly

    Raises
    ------
    ModelError
        If the prior is not Gaussian, not proper, or too wide to average over, or if a likelihood
        has no information in closed form for one parameter that is affine.
    """
    return _LatentGaussian(binding).metric(latent_mean)


class _Predictor(NamedTuple):
    """A likelihood whose only parameter that varies is affine.

    Attributes
    ----------
    observation : the likelihood
    coordinates : (k,), those of x that move p
    slopes : (k, elements), the rows of J that belong to them
    """

    observation: Observation
    coordinates: Array
    slopes: Array

    @property
    def single(self) -> tuple[Array, Array] | None:
        """The coordinate that moves each element, and its slope, if there is one at most."""
        if not self.slopes.size or np.count_nonzero(self.slopes, axis=0).max() > 1:
            return None
        rows = np.argmax(self.slopes != 0.0, axis=0)
        return self.coordinates[rows], self.slopes[rows, np.arange(len(rows))]

    def variances(self, whitening: Array) -> Array:
        """Prior variances of p, (elements,), for a prior of covariance W'W with W given."""
        single = self.single
        if single is not None:
            coordinates, slope = single
            return np.asarray(slope**2 * np.einsum("ij,ij->j", whitening, whitening)[coordinates])
        variances = np.empty(self.slopes.shape[1])
        width = max(1, _ENTRIES // len(whitening))
        columns = whitening[:, self.coordinates]
        for start in range(0, len(variances), width):
            block = columns @ self.slopes[:, start : start + width]
            variances[start : start + width] = np.einsum("ij,ij->j", block, block)
        return variances

    def add(self, G: Array, weights: Array) -> None:
        """Add J diag(weights) J' to ``G``: (dim, dim)."""
        single = self.single
        if single is not None:
            coordinates, slope = single
            G[np.diag_indices(len(G))] += np.bincount(coordinates, slope**2 * weights, len(G))
            return
        rows = self.coordinates
        G[rows[:, None], rows] += (self.slopes * weights) @ self.slopes.T


class _LatentGaussian:
    """The parts of a model with a Gaussian prior.

    Parameters
    ----------
    binding : the bound model

    Raises
    ------
    ModelError
        If it has another prior, or a likelihood whose information cannot be averaged.
    """

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        structure = Structure(Scope.of(binding))
        quadratic = [term for term in binding.terms if structure.is_quadratic(term)]
        others = [term for term in binding.terms if not structure.is_quadratic(term)]
        _check_prior(binding.name, [term for term in others if term.kind != "likelihood"])
        self._prior = [term for term in quadratic if term.kind != "likelihood"]
        self._known = [term for term in quadratic if term.kind == "likelihood"]
        self._predictors = [_predictor(term, structure, binding) for term in others]

    def metric(self, latent_mean: LatentMean) -> Array:
        """Return G, with the information averaged over the prior."""
        slope, G = self._quadratic(self._prior)
        weights = self._weights(slope, G, latent_mean) if self._predictors else []
        if self._known:
            G += self._quadratic(self._known)[1]
        for predictor, weight in zip(self._predictors, weights, strict=True):
            predictor.add(G, weight)
        return G

    def _weights(self, slope: Array, Q: Array, latent_mean: LatentMean) -> list[Array]:
        """Return Lambda of each likelihood; ``slope`` is that of the log prior at zero."""
        root = cholesky(Q)
        if not np.isfinite(root).all():
            raise ModelError(
                f"{self._binding.name}: the Gaussian prior of its parameters is not proper, or its "
                "covariance is singular to machine precision, so that the information of the data "
                f"cannot be averaged over it. Give flat parameters a proper prior, or {_ADVICE}",
                model=self._binding.name,
            )
        mean = solve_lower(root, solve_lower(root, slope[:, None]), transposed=True)[:, 0]
        whitening = invert_lower(root)
        return [
            average_information(
                predictor.observation, predictor.observation.values(mean[None])[0],
                predictor.variances(whitening), latent_mean,
            )
            for predictor in self._predictors
        ]  # fmt: skip

    def _quadratic(self, terms: list[Term]) -> tuple[Array, Array]:
        """Return the slope at zero, (dim,), and minus the Hessian of the sum of some terms.

        The slope is affine, so that its differences are exact up to rounding.
        """
        dim = dimension(self._binding)
        gradient = NumpyProgram(gradient_of_terms(self._binding, terms))
        slope = gradient(np.zeros((1, dim)))[1][0]
        negative = np.empty((dim, dim))
        rows = max(1, _ENTRIES // dim)
        for start in range(0, dim, rows):
            stop = min(start + rows, dim)
            points = np.zeros((stop - start, dim))
            points[np.arange(stop - start), np.arange(start, stop)] = 1.0
            negative[start:stop] = slope - gradient(points)[1]
        return slope, 0.5 * (negative + negative.T)


def average_information(
    observation: Observation, mean: Array, variances: Array, latent_mean: LatentMean
) -> Array:
    """Information of a parameter that is normal under the prior, averaged: (elements,).

    Parameters
    ----------
    observation : one of its parameters varies
    mean : (1, *batch) or what broadcasts to it
    variances : (elements,)
    latent_mean : ``"paper"`` counts the variance of a log rate twice

    Raises
    ------
    ModelError
        If the average is not finite, or the prior is too wide for one.
    """
    centre = np.broadcast_to(mean, (1, *observation.batch)).reshape(-1)
    with np.errstate(all="ignore"):
        if isinstance(observation.distribution, PoissonLog):
            weights = np.exp(centre + (0.5 if latent_mean == "exact" else 1.0) * variances)
        else:
            weights = _quadrature(observation, centre, np.sqrt(variances))
    if np.isfinite(weights).all() and (weights >= 0.0).all():
        return weights
    term = observation.term
    raise term.model_error(
        f"observed {term.name!r}: under the prior the standard deviation of "
        f"{observation.names[0]} of {_title(observation)} reaches "
        f"{np.sqrt(variances.max()):.3g}, too much for its information to be averaged over. Give "
        f"the parameters a narrower prior, or {_ADVICE}",
        name=term.name,
    )


def _quadrature(observation: Observation, centre: Array, spread: Array) -> Array:
    """Average the information over normal distributions; NaN if one is too wide.

    By the trapezoidal rule, which for smooth functions under a normal weight converges faster than
    any power of the spacing, as Gauss and Hermite's rules do; but its nodes stay close together
    where the prior is wide, and see what happens on a scale of one.
    """
    widest = float(spread.max(initial=0.0))
    if not widest <= WIDEST:
        return np.full(len(centre), np.nan)
    half = ceil(REACH * max(widest, 1.0) / SPACING)
    z = np.linspace(-REACH, REACH, 2 * half + 1)
    share = np.exp(-0.5 * z * z)
    share /= share.sum()
    (moving,), (name,) = observation.varying, observation.names
    params = list(observation.params)
    total = np.zeros(len(centre))
    width = max(1, _ENTRIES // max(len(centre), 1))
    for start in range(0, len(z), width):
        nodes = z[start : start + width, None]
        batch = (len(nodes), *observation.batch)
        params[moving] = (centre + nodes * spread).reshape(batch)
        matrix = observation.distribution.information_matrix(*cast("list[Array]", params))
        values = np.broadcast_to(matrix[name, name](), batch).reshape(len(nodes), -1)
        total += share[start : start + width] @ values
    return total


def _title(observation: Observation) -> str:
    """Name of the distribution as it was declared."""
    return (observation.term.distribution or observation.distribution).name


def _predictor(term: Term, structure: Structure, binding: Binding) -> _Predictor:
    """Take apart a likelihood term.

    Raises
    ------
    ModelError
        If its information is not that of one affine parameter in closed form.
    """
    found = observation(binding, term)
    if len(found.varying) != 1 or not structure.is_affine_observation(found):
        raise term.model_error(
            f"observed {term.name!r}: {_obstacle(found, binding)}, so that it cannot be "
            f"averaged over the prior. Instead {_ADVICE}",
            name=term.name,
            distribution=_title(found),
        )
    ((coordinates, slopes),) = AffineObservation(found, dimension(binding)).jacobians.values()
    return _Predictor(found, coordinates, slopes)


def _obstacle(observation: Observation, binding: Binding) -> str:
    """Say why the information of a likelihood cannot be averaged."""
    names = ", ".join(observation.names)
    whose = f"the expected Fisher information of {_title(observation)}"
    try:
        check_information(observation, binding)
    except ModelError:
        return f"{whose} is not known in closed form for {names}"
    if len(observation.varying) > 1:
        return f"{whose} depends on several parameters that vary ({names})"
    return f"{whose} is that of {names}, which is not a number and affine in the parameters"


def _check_prior(model: str, others: list[Term]) -> None:
    """Refuse a model with terms besides the likelihood that are not Gaussian."""
    if not others:
        return
    titles = ", ".join(term.title for term in others[:4]) + (", ..." if len(others) > 4 else "")
    raise others[0].model_error(
        f"{model} is no latent Gaussian model with known hyperparameters, whose information could "
        f"be averaged over the prior: {titles} would have to be normal, with a known scale or "
        "covariance and a mean that is affine in the parameters. Give hyperparameters values, or "
        f"{_ADVICE}",
        model=model,
    )
