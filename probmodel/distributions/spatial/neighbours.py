"""Graphs of neighbouring areas, from an adjacency matrix or a list of edges."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from autograd.extend import defvjp

from probmodel.errors import DataError, Location
from probmodel.numerics.special import differentiable
from probmodel.types import Array

MOST_AREAS = 500  # that are standardised by data: it takes products of n by n


class Graph:
    """An undirected graph with weights, and the spectra of its matrices, computed when needed.

    Parameters
    ----------
    first, second : nodes of each edge, each edge once
    weights : (n_edges,), positive
    size : number of nodes
    """

    def __init__(self, first: Array, second: Array, weights: Array, size: int) -> None:
        from scipy.sparse import csr_array

        self.size = size
        both = (np.concatenate([first, second]), np.concatenate([second, first]))
        self.adjacency = csr_array((np.tile(weights, 2), both), shape=(size, size))
        self.degrees = np.asarray(self.adjacency.sum(axis=1), dtype=float).reshape(size)

    @cached_property
    def laplacian(self) -> Any:
        """Degrees on the diagonal less the adjacency matrix, sparse: (n, n)."""
        from scipy.sparse import diags_array

        return (diags_array(self.degrees) - self.adjacency).tocsr()

    @cached_property
    def components(self) -> Array:
        """Number of the connected component of each node, from 0: (n,)."""
        from scipy.sparse.csgraph import connected_components

        return np.asarray(connected_components(self.adjacency, directed=False)[1])

    @property
    def isolated(self) -> Array:
        """Nodes without neighbours."""
        return np.flatnonzero(self.degrees == 0.0)

    @cached_property
    def normalised_eigenvalues(self) -> Array:
        """Eigenvalues of the adjacency matrix divided by the roots of the degrees: (n,)."""
        return np.linalg.eigvalsh(self._normalised())

    @cached_property
    def normalised_basis(self) -> Array:
        """Eigenvectors to `normalised_eigenvalues`, as columns, over the roots of the degrees."""
        vectors = np.linalg.eigh(self._normalised())[1]
        return vectors / np.sqrt(self.degrees)[:, None]

    def _normalised(self) -> Array:
        root = np.sqrt(self.degrees)
        return np.asarray(self.adjacency.toarray()) / root / root[:, None]

    @cached_property
    def laplacian_spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues of the Laplacian of a connected graph but the zero; vectors as columns."""
        values, vectors = np.linalg.eigh(self.laplacian.toarray())
        return values[1:], vectors[:, 1:]


@differentiable
def graph_product(vectors: Array, matrix: Any) -> Array:
    """Multiply vectors (..., n) by a symmetric sparse matrix that is known, (n, n)."""
    rows = np.reshape(vectors, (-1, matrix.shape[0]))
    return np.ascontiguousarray((matrix @ rows.T).T).reshape(np.shape(vectors))


defvjp(graph_product, lambda ans, vectors, matrix: lambda g: graph_product(g, matrix), argnums=(0,))


def is_matrix(adjacency: Array) -> bool:
    """Whether a graph is given as a matrix.

    Two pairs of nodes are as long as they are wide. They are told from a matrix by its diagonal,
    which is zero, and its symmetry.
    """
    rows, columns = adjacency.shape
    if rows != columns or rows != 2 or np.any(np.diagonal(adjacency)):
        return rows == columns != 2
    whole = np.array_equal(adjacency, np.floor(adjacency))
    return adjacency[0, 1] == adjacency[1, 0] or not whole


def node_count(adjacency: Array) -> int:
    """Nodes of a graph without isolated ones at its end: the side of a matrix, or by the edges."""
    if is_matrix(adjacency):
        return len(adjacency)
    return int(np.max(adjacency, initial=0)) + 1


def read_graph(adjacency: Array, size: int, name: str, location: Location | None) -> Graph:
    """Read a graph of ``size`` nodes and check it; messages name the distribution and its line.

    ``adjacency`` is symmetric, with weights >= 0 and a zero diagonal; or edges, (n_edges, 2), as
    pairs of nodes that count from 0. An edge that is given twice, once in each direction for
    instance, counts once. Raises a `DataError` that says what is wrong with another graph.
    """
    problem = _Problem(name, location)
    if adjacency.shape == (size, size) and is_matrix(adjacency):
        return _from_matrix(adjacency, problem)
    if adjacency.shape[1] == 2:
        return _from_edges(adjacency, size, problem)
    raise problem(
        f"expected {size} by {size} for {size} values, or two columns of nodes; got shape "
        f"{adjacency.shape}."
    )


class _Problem:
    """Makes the errors of one distribution's graph."""

    def __init__(self, name: str, location: Location | None) -> None:
        self.name, self.location = name, location

    def __call__(self, what: str) -> DataError:
        return DataError(f"adjacency of {self.name}: {what}", location=self.location)


def _from_matrix(weights: Array, problem: _Problem) -> Graph:
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise problem(f"weights are 0 or above; got {weights[i, j]:g} at [{i}, {j}].")
    if np.diagonal(weights).any():
        i = np.flatnonzero(np.diagonal(weights))[0]
        raise problem(f"no node is its own neighbour, but [{i}, {i}] is {weights[i, i]:g}.")
    unequal = np.argwhere(weights != weights.T)
    if len(unequal):
        i, j = unequal[0]
        raise problem(
            f"the matrix must be symmetric; got {weights[i, j]:g} at [{i}, {j}] and "
            f"{weights[j, i]:g} at [{j}, {i}]. np.maximum(W, W.T) makes neighbours mutual."
        )
    first, second = np.nonzero(np.triu(weights))
    return Graph(first, second, weights[first, second], len(weights))


def _from_edges(edges: Array, size: int, problem: _Problem) -> Graph:
    bad = (edges != np.floor(edges)) | ~((edges >= 0) & (edges < size))
    if bad.any():
        i = np.flatnonzero(bad.any(axis=1))[0]
        raise problem(
            f"edge {i} joins {edges[i, 0]:g} and {edges[i, 1]:g}; nodes are whole numbers from 0 "
            f"to {size - 1}. Write edges - 1 if they count from 1."
        )
    if np.any(edges[:, 0] == edges[:, 1]):
        i = np.flatnonzero(edges[:, 0] == edges[:, 1])[0]
        raise problem(f"no node is its own neighbour, but edge {i} joins {edges[i, 0]:g} to it.")
    pairs = np.unique(np.sort(edges.astype(np.intp), axis=1), axis=0)
    return Graph(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)), size)


def refuse_isolated(graph: Graph, name: str, location: Location | None) -> None:
    """Raise a `DataError` if some node has no neighbours."""
    if graph.isolated.size:
        raise _Problem(name, location)(
            f"node {graph.isolated[0]} has no neighbours ({graph.isolated.size} such in all), so "
            "it has no variance. BYM2 takes such graphs."
        )


def refuse_disconnected(graph: Graph, name: str, location: Location | None) -> None:
    """Raise a `DataError` if the graph is in several pieces."""
    sizes = np.bincount(graph.components)
    if len(sizes) > 1 or graph.size == 1:
        shown = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
        raise _Problem(name, location)(
            f"the graph must be connected; its {len(sizes)} components have {shown} nodes. "
            f"Give each component an {name} of its own, or take BYM2, which takes such graphs."
        )
