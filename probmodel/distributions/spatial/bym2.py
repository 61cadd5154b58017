"""The Besag-York-Mollie model in its scaled form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real, UnitInterval
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.informed_directions import Along, AlongDirections
from probmodel.distributions.spatial.neighbours import Graph, is_matrix, read_graph
from probmodel.distributions.vector.whitening import Memory
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class BYM2(AlongDirections):
    r"""Sum of independent and spatially structured effects of areas, scaled.

    .. math:: y = \sigma \bigl(\sqrt{1 - \rho}\, v + \sqrt{\rho}\, u\bigr), \qquad
              v \sim N(0, I), \qquad u \sim N(0, R)

    Parameters
    ----------
    sigma : standard deviation :math:`\sigma > 0` of the sum, in a typical area
    rho : share :math:`0 \le \rho \le 1` of the variance that is spatially structured
    adjacency : (n, n), symmetric, 0 or 1 or weights, with a zero diagonal; or edges,
        (n_edges, 2): pairs of neighbours that count from 0

    Notes
    -----
    :math:`R` is the covariance of an intrinsic autoregression that sums to zero, the generalised
    inverse of the graph's Laplacian, over the geometric mean of its diagonal, so that ``sigma``
    and ``rho`` mean the same on every graph. Each connected component is scaled by itself, and an
    isolated area has the variance 1 (Freni-Sterrantino, Ventrucci and Rue 2018). With the
    eigenvectors of :math:`R`, found once, the two parts are summed out: there are n coordinates,
    not 2 n, and a product of n by n in each gradient. Add an intercept. Stan: written out, with
    both parts as parameters. SciPy: ``multivariate_normal`` with covariance
    ``sigma**2 * ((1 - rho) * np.eye(n) + rho * R)``.

    References
    ----------
    Riebler, Sorbye, Simpson and Rue (2016), An intuitive Bayesian spatial model for disease mapping
    that accounts for scaling. Simpson et al. (2017), Penalising model component complexity.
    """

    parameters: ClassVar = {
        "sigma": Parameter(Positive()),
        "rho": Parameter(UnitInterval()),
        "adjacency": Parameter(Real(), event_ndim=2, known=True, along=(0, 0)),
    }
    domain = Real()
    event_ndim = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._spectrum = Memory(self._find_spectrum)

    def _find_spectrum(self, adjacency: Array, size: int) -> tuple[Array, Array]:
        """Eigenvalues of R and its eigenvectors as columns."""
        graph = read_graph(adjacency, size, self.name, self.location)
        return scaled_spectrum(graph)

    def event_shape(self, *params: Array) -> tuple[int, ...] | None:
        """One value for each area; edges do not tell of isolated ones."""
        return (len(params[2]),) if is_matrix(params[2]) else None

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from coordinates along the eigenvectors: batch shape."""
        sigma, rho, adjacency = params
        n = value.shape[-1]
        eigenvalues, basis = self._spectrum(adjacency, n)
        variances = _variances(xp, rho, eigenvalues)
        turned = xp.matmul(value, basis) / xp.expand_dims(sigma, -1)
        quadratic = xp.sum(turned * turned / variances, axis=-1)
        log_scale = n * (xp.log(sigma) + 0.5 * LOG_2PI)
        return -log_scale - 0.5 * (xp.sum(xp.log(variances), axis=-1) + quadratic)

    def along(self, xp: Any, size: int, *params: Any) -> Along:
        """Return the eigenvectors of R, and the variances along them."""
        sigma, rho, adjacency = params
        eigenvalues, basis = self._spectrum(adjacency, size)
        scale = xp.expand_dims(sigma, -1)
        return Along(0.0, basis, 0.0, scale * scale * _variances(xp, rho, eigenvalues))

    def standardise(self, value: Array, *params: Any) -> Array:
        """Divide each coordinate along the eigenvectors by its standard deviation."""
        sigma, rho, adjacency = params
        eigenvalues, basis = self._spectrum(adjacency, value.shape[-1])
        spread = np.sqrt(_variances(np, np.asarray(rho), eigenvalues))
        return np.asarray(value @ basis / (np.expand_dims(sigma, -1) * spread))


def _variances(xp: Any, rho: Any, eigenvalues: Array) -> Any:
    """Variances along the eigenvectors of R, in units of sigma^2: batch + (n,)."""
    rho = where_valid((rho >= 0.0) & (rho <= 1.0), rho)
    return 1.0 + xp.expand_dims(rho, -1) * (eigenvalues - 1.0)


def scaled_spectrum(graph: Graph) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of the scaled covariance of a structured effect.

    Each component is block and scale of its own: the geometric mean of its variances is 1.
    """
    values, vectors = np.ones(graph.size), np.eye(graph.size)
    laplacian = graph.laplacian.toarray()
    for component in range(graph.components.max() + 1):
        nodes = np.flatnonzero(graph.components == component)
        if len(nodes) == 1:
            continue
        own, basis = np.linalg.eigh(laplacian[np.ix_(nodes, nodes)])
        inverse = np.concatenate([[0.0], 1.0 / own[1:]])
        scale = np.exp(np.mean(np.log((basis * basis) @ inverse)))
        values[nodes] = inverse / scale
        vectors[np.ix_(nodes, nodes)] = basis
    return values, vectors
