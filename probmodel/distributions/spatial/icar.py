"""The intrinsic conditional autoregression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real, SumToZero
from probmodel.constraints.sum_to_zero import zero_sum_basis
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.informed_directions import Along, AlongDirections
from probmodel.distributions.spatial.neighbours import (
    MOST_AREAS,
    Graph,
    graph_product,
    node_count,
    read_graph,
    refuse_disconnected,
)
from probmodel.distributions.vector.whitening import Memory
from probmodel.distributions.vector.zero_sum_normal import ZeroSumNormal
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class ICAR(Distribution):
    r"""Intrinsic conditional autoregression over connected areas, summing to zero.

    .. math:: p(y) \propto \sigma^{-(n-1)}
              \exp\Bigl\{-\frac{1}{2 \sigma^2} \sum_{i \sim j} w_{ij} (y_i - y_j)^2\Bigr\}, \qquad
              \sum y_i = 0

    Parameters
    ----------
    adjacency : (n, n), symmetric, 0 or 1 or weights, with a zero diagonal; or edges,
        (n_edges, 2): pairs of neighbours that count from 0. The graph must be connected
    scale : standard deviation :math:`\sigma > 0` of differences between neighbours, given the
        others; 1 unless given

    Notes
    -----
    Differences say nothing about the level of a map. The sum is zero exactly, not nearly so as in
    a soft constraint: the density, normalised over the plane of such vectors, is proper, there is
    one coordinate fewer, and no stiff direction limits the step size. Add an intercept. The
    non-centred form takes a root of the generalised inverse, n by n. Stan: pairwise differences
    in a ``sum_to_zero_vector``. SciPy: ``multivariate_normal`` with the generalised inverse of the
    Laplacian as its covariance and ``allow_singular=True``.

    References
    ----------
    Besag, York and Mollie (1991), Bayesian image restoration, with two applications in spatial
    statistics. Rue and Held (2005), Gaussian Markov Random Fields, chapter 3.
    """

    parameters: ClassVar = {
        "adjacency": Parameter(Real(), event_ndim=2, known=True, along=(0, 0)),
        "scale": Parameter(Positive(), default=1.0),
    }
    domain = SumToZero()
    event_ndim = 1
    takes_pseudo_data = "elements"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._graph = Memory(self._read)
        self._log_det = Memory(self._read_log_det)
        self._roots = Memory(self._read_roots)

    def _read(self, adjacency: Array, size: int) -> Graph:
        graph = read_graph(adjacency, size, self.name, self.location)
        refuse_disconnected(graph, self.name, self.location)
        return graph

    def _read_log_det(self, adjacency: Array, size: int) -> float:
        """Log determinant of the Laplacian on the plane, by the matrix-tree theorem."""
        minor = self._graph(adjacency, size).laplacian.toarray()[1:, 1:]
        return float(np.linalg.slogdet(minor)[1] + np.log(size))

    def _read_roots(self, adjacency: Array, size: int) -> tuple[Array, Array]:
        """Symmetric roots of the generalised inverse and of the Laplacian: (n, n) each."""
        values, vectors = self._graph(adjacency, size).laplacian_spectrum
        root = np.sqrt(values)
        return (vectors / root) @ vectors.T, (vectors * root) @ vectors.T

    def plane_root(self, adjacency: Array, size: int) -> tuple[Array, float]:
        """Root of the generalised inverse in coordinates of the plane, and its log determinant."""
        values, vectors = self._graph(adjacency, size).laplacian_spectrum
        root = zero_sum_basis(size) @ vectors / np.sqrt(values)
        return root, -0.5 * float(np.sum(np.log(values)))

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One value for each area."""
        return (node_count(params[0]),)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from one product with the Laplacian: batch shape."""
        adjacency, scale = params
        n = value.shape[-1]
        pull = graph_product(value, self._graph(adjacency, n).laplacian)
        quadratic = xp.sum(value * pull, axis=-1) / (scale * scale)
        log_scale = (n - 1) * (xp.log(scale) + 0.5 * LOG_2PI)
        return 0.5 * (self._log_det(adjacency, n) - quadratic) - log_scale

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the scale."""
        adjacency, scale = params
        free = node_count(adjacency) - 1
        return {("scale", "scale"): lambda: 2.0 * free / (scale * scale)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw maps: ``shape`` ends with the number of areas."""
        return np.asarray(self.noncentered(np, rng.standard_normal(shape), *params))

    def standardised_by_default(self, event: tuple[int, ...], known: Callable[[Any], bool]) -> bool:
        """Whether there are so few areas that products of n by n cost little."""
        return event[0] <= MOST_AREAS

    @property
    def stand_in(self) -> Distribution:
        """The map in coordinates of its plane."""
        return _OnPlane(self)

    def base(self) -> Distribution:
        """Return the standard normal distribution on the same plane."""
        return ZeroSumNormal(1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Color with the root of the generalised inverse, and scale."""
        adjacency, scale = params
        root, _ = self._roots(adjacency, z.shape[-1])
        return xp.expand_dims(scale, -1) * xp.matmul(z, root)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Whiten with the root of the Laplacian."""
        adjacency, scale = params
        _, whiten = self._roots(adjacency, value.shape[-1])
        return np.asarray(value @ whiten / np.expand_dims(scale, -1))


class _OnPlane(AlongDirections):
    """An intrinsic autoregression in orthonormal coordinates of the plane of zero sums.

    Parameters
    ----------
    of : the autoregression
    """

    parameters = ICAR.parameters
    domain = Real()
    event_ndim = 1

    def __init__(self, of: ICAR) -> None:
        super().__init__(**of.args)
        self._spectrum = Memory(of.plane_root)

    def along(self, xp: Any, size: int, *params: Any) -> Along:
        """Return the eigenvectors of the Laplacian, scaled, and the variance that is left."""
        adjacency, scale = params
        root, log_det = self._spectrum(adjacency, size + 1)
        scale = xp.expand_dims(scale, -1)
        return Along(0.0, root, log_det, scale * scale * np.ones(size))
