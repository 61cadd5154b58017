"""The proper conditional autoregression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Interval, Positive, Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.informed_directions import Along, AlongDirections
from probmodel.distributions.spatial.neighbours import (
    MOST_AREAS,
    Graph,
    graph_product,
    node_count,
    read_graph,
    refuse_isolated,
)
from probmodel.distributions.vector.whitening import Memory
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class CAR(AlongDirections):
    r"""Proper conditional autoregression over neighbouring areas.

    .. math:: y \sim N\bigl(\mu 1, \{\tau (D - \alpha W)\}^{-1}\bigr), \qquad
              y_i \mid y_{-i} \sim N\Bigl(\mu + \frac{\alpha}{d_i} \sum_j w_{ij} (y_j - \mu),
              \frac{1}{\tau d_i}\Bigr)

    Parameters
    ----------
    tau : precision :math:`\tau > 0` of a conditional distribution, for each neighbour
    alpha : spatial dependence, :math:`-1 < \alpha < 1`
    adjacency : :math:`W`, (n, n), symmetric, 0 or 1 or weights, with a zero diagonal; or edges,
        (n_edges, 2): pairs of neighbours that count from 0. :math:`d_i` are its row sums
    mean : :math:`\mu`, one number for each map; 0 unless given

    Notes
    -----
    The determinant is :math:`\tau^n \prod d_i \prod (1 - \alpha \lambda_i)` with the eigenvalues
    of :math:`D^{-1/2} W D^{-1/2}`, computed once; the rest takes one sparse product. The
    non-centred form takes the eigenvectors, n by n. Stan: written out; the ``sparse_car`` of its
    case studies. SciPy: ``multivariate_normal``.

    References
    ----------
    Jin, Carlin and Banerjee (2005), Generalized hierarchical multivariate CAR models for areal
    data.
    """

    parameters: ClassVar = {
        "tau": Parameter(Positive()),
        "alpha": Parameter(Interval(-1.0, 1.0)),
        "adjacency": Parameter(Real(), event_ndim=2, known=True, along=(0, 0)),
        "mean": Parameter(Real(), default=0.0),
    }
    domain = Real()
    event_ndim = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._graph = Memory(self._read)

    def _read(self, adjacency: Array, size: int) -> Graph:
        graph = read_graph(adjacency, size, self.name, self.location)
        refuse_isolated(graph, self.name, self.location)
        return graph

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One value for each area."""
        return (node_count(params[2]),)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from one product with the neighbours: batch shape."""
        tau, alpha, adjacency, mean = params
        n = value.shape[-1]
        graph = self._graph(adjacency, n)
        alpha = where_valid((alpha > -1.0) & (alpha < 1.0), alpha)
        ratios = 1.0 - xp.expand_dims(alpha, -1) * graph.normalised_eigenvalues
        residual = value - xp.expand_dims(mean, -1)
        around = graph_product(residual, graph.adjacency)
        pull = graph.degrees * residual - xp.expand_dims(alpha, -1) * around
        quadratic = xp.sum(residual * pull, axis=-1)
        constant = 0.5 * np.sum(np.log(graph.degrees)) - 0.5 * n * LOG_2PI
        log_det = 0.5 * (n * xp.log(tau) + xp.sum(xp.log(ratios), axis=-1))
        return constant + log_det - 0.5 * tau * quadratic

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on tau, alpha and mean."""
        tau, alpha, adjacency, _ = params
        graph = self._graph(adjacency, node_count(adjacency))
        eigenvalues = graph.normalised_eigenvalues
        shares = eigenvalues / (1.0 - alpha[..., None] * eigenvalues)
        return {
            ("tau", "tau"): lambda: 0.5 * graph.size / (tau * tau),
            ("tau", "alpha"): lambda: -0.5 * shares.sum(axis=-1) / tau,
            ("alpha", "alpha"): lambda: 0.5 * (shares * shares).sum(axis=-1),
            ("mean", "mean"): lambda: tau * (1.0 - alpha) * graph.degrees.sum(),
        }

    def standardised_by_default(self, event: tuple[int, ...], known: Callable[[Any], bool]) -> bool:
        """Whether there are so few areas that products of n by n cost little."""
        return event[0] <= MOST_AREAS

    def along(self, xp: Any, size: int, *params: Any) -> Along:
        """Return the eigenvectors, over the roots of the degrees, and the variances along them."""
        tau, alpha, adjacency, mean = params
        graph = self._graph(adjacency, size)
        ratios = 1.0 - xp.expand_dims(alpha, -1) * graph.normalised_eigenvalues
        log_det = -0.5 * float(np.sum(np.log(graph.degrees)))
        variances = 1.0 / (xp.expand_dims(tau, -1) * ratios)
        return Along(xp.expand_dims(mean, -1), graph.normalised_basis, log_det, variances)
