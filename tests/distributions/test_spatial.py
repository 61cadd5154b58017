"""Maps over neighbouring areas: graphs, bad input and models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, check_model, data, infer, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import BYM2, CAR, ICAR, Beta, HalfNormal, Normal, PoissonLog
from probmodel.distributions.spatial.neighbours import read_graph
from probmodel.errors import DataError, ModelError

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
MATRIX = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0.0]])


def changed(i, j, value):
    weights = MATRIX.copy()
    weights[i, j] = value
    return weights


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (RING + 1, r"edge 2 joins 3 and 4; nodes are whole numbers from 0 to 3. Write edges - 1"),
        (RING - 1, "edge 0 joins -1 and 0"),
        (RING + 0.5, "whole numbers"),
        (RING * np.nan, "whole numbers"),
        (np.array([[0, 1], [2, 2]]), "edge 1 joins 2 to it"),
        (changed(0, 2, 1.0), r"symmetric; got 1 at \[0, 2\] and 0 at \[2, 0\]"),
        (changed(1, 1, 1.0), r"no node is its own neighbour, but \[1, 1\] is 1"),
        (changed(0, 1, -1.0), r"0 or above; got -1 at \[0, 1\]"),
        (changed(0, 1, np.nan), "0 or above; got nan"),
        (np.zeros((3, 3)), r"expected 4 by 4 for 4 values, or two columns of nodes; got shape \(3"),
    ],
)
def test_graphs_that_are_none_are_refused(adjacency, message):
    for dist in (CAR(1.0, 0.5, adjacency), ICAR(adjacency), BYM2(1.0, 0.5, adjacency)):
        params = [np.asarray(a, dtype=float) for a in dist.args.values()]
        with pytest.raises(DataError, match=message) as caught:
            dist.log_kernel(np, np.zeros(4), *params)
        assert f"adjacency of {dist.name}" in str(caught.value)
        assert __file__ in str(caught.value)


def test_matrices_and_edges_say_the_same():
    both = np.concatenate([RING, RING[:, ::-1]])
    for edges in (RING, RING[:, ::-1], both):
        graph = read_graph(np.asarray(edges, dtype=float), 4, "CAR", None)
        np.testing.assert_array_equal(graph.adjacency.toarray(), MATRIX)
    np.testing.assert_array_equal(read_graph(MATRIX, 4, "CAR", None).degrees, 2.0)


def test_two_areas_are_a_matrix():
    dist = ICAR(np.array([[0.0, 2.0], [2.0, 0.0]]))
    logp = dist.log_kernel(np, np.array([0.5, -0.5]), dist.args["adjacency"], np.array(1.0))
    # The difference of the two, 1 here, has the variance 1 / 2; along the line it is sqrt(2) long.
    assert logp == pytest.approx(stats.norm.logpdf(1.0, 0.0, np.sqrt(0.5)) + 0.5 * np.log(2.0))


@pytest.mark.parametrize(
    ("edges", "neighbours"),
    [
        ([(0, 1), (1, 2)], [[0, 1], [1, 2]]),
        ([(0, 1), (2, 0)], [[0, 1], [0, 2]]),
        ([(1, 0), (0, 1)], [[0, 1]]),
    ],
)
def test_two_edges_are_edges(edges, neighbours):
    size = np.max(edges) + 1
    expected = np.zeros((size, size))
    expected[tuple(np.transpose(neighbours))] = 1.0
    expected += expected.T

    class Two(Model):
        a = param(ICAR(edges))
        b = param(CAR(1.0, 0.5, edges))
        c = param(BYM2(1.0, 0.5, edges), shape=int(size))

    class Whole(Model):
        a = param(ICAR(expected))
        b = param(CAR(1.0, 0.5, expected))
        c = param(BYM2(1.0, 0.5, expected))

    two, whole = as_posterior(Two()), as_posterior(Whole())
    x = np.random.default_rng(1).standard_normal((3, whole.dim))
    np.testing.assert_allclose(two(x).logp, whole(x).logp, rtol=1e-12)


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        ([[0.0, 0.5], [0.7, 0.0]], r"symmetric; got 0.5 at \[0, 1\]"),
        ([[0.0, -1.0], [-1.0, 0.0]], "0 or above"),
        ([[1, 1], [1, 1]], "edge 0 joins 1 to it"),
        ([[1, 2], [2, 3]], "edge 0 joins 1 and 2; .* Write edges - 1"),
    ],
)
def test_two_by_two_numbers_that_are_no_graph_are_refused(adjacency, message):
    with pytest.raises(DataError, match=message):
        read_graph(np.asarray(adjacency, dtype=float), 2, "CAR", None)


def bound(make, **values):
    class Map(Model):
        edges = data(("edge", "end"), dtype=int)
        field = param(make(edges), dims="area")

    return Map(coords={"area": ["a", "b", "c", "d", "e"]}, **values)


def test_isolated_areas_and_pieces_point_to_the_model_that_takes_them():
    with pytest.raises(DataError, match=r"node 4 has no neighbours \(1 such in all\).*BYM2"):
        bound(lambda edges: CAR(1.0, 0.5, edges), edges=RING)
    with pytest.raises(DataError, match=r"connected; its 2 components have 4, 1 nodes.*BYM2"):
        bound(lambda edges: ICAR(edges), edges=RING)
    model = bound(lambda edges: BYM2(1.0, 0.5, edges), edges=RING)
    assert check_model(model).ok


def test_graphs_come_from_data():
    class Guessed(Model):
        w = param(HalfNormal(1), shape=(3, 3))
        field = param(CAR(1.0, 0.5, w))

    with pytest.raises(ModelError, match="CAR's adjacency must come from data"):
        Guessed()


def test_sizes_follow_from_the_graph_where_they_can():
    class Sizes(Model):
        edges = data(("edge", "end"), dtype=int)
        a = param(CAR(1.0, 0.5, edges - 1))
        b = param(ICAR(edges - 1))
        c = param(BYM2(1.0, 0.5, MATRIX))

    assert [f.shape for f in Sizes(edges=RING + 1)._binding.free] == [(4,)] * 3

    class Unknown(Model):
        edges = data(("edge", "end"), dtype=int)
        c = param(BYM2(1.0, 0.5, edges))

    with pytest.raises(ModelError, match=r"size of a BYM2 does not follow .* give dims= or shape="):
        Unknown(edges=RING)


@pytest.mark.parametrize("noncentered", [False, True])
@pytest.mark.parametrize("kind", ["CAR", "ICAR", "BYM2"])
def test_models_of_maps_have_the_right_derivatives(kind, noncentered):
    make = {
        "CAR": lambda edges, s, r: CAR(s, r, edges, mean=0.3),
        "ICAR": lambda edges, s, r: ICAR(edges, s),
        "BYM2": lambda edges, s, r: BYM2(s, r, edges),
    }[kind]

    class Counts(Model):
        edges = data(("edge", "end"), dtype=int, lower=0)
        s = param(HalfNormal(1))
        r = param(Beta(2, 2))
        field = param(make(edges, s, r), dims="area", noncentered=noncentered)
        y = observed(PoissonLog(field), dims="area")

    report = check_model(Counts(edges=RING, y=[3, 0, 1, 4]))
    assert report.ok, report


@pytest.mark.parametrize("noncentered", [False, True])
def test_the_posterior_of_an_intrinsic_map_is_the_conditional_normal(noncentered):
    path = np.stack([np.arange(7), np.arange(1, 8)], axis=1)

    class Smooth(Model):
        edges = data(("edge", "end"), dtype=int)
        field = param(ICAR(edges, 0.7), dims="area", noncentered=noncentered)
        y = observed(Normal(field, 0.5), dims="area")

    y = np.sin(np.arange(8.0))
    posterior = infer(Smooth(edges=path, y=y), draws=2000, seed=1, quiet=True).posterior
    W = np.zeros((8, 8))
    W[tuple(path.T)] = 1.0
    Q = np.diag((W + W.T).sum(axis=1)) - W - W.T
    basis = np.linalg.svd(np.ones((1, 8)))[2][1:]
    covariance = np.linalg.inv(basis @ (Q / 0.7**2 + np.eye(8) / 0.25) @ basis.T)
    mean, spread = basis.T @ covariance @ basis @ y / 0.25, basis.T @ covariance @ basis
    draws = np.asarray(posterior["field"]).reshape(-1, 8)
    error = np.sqrt(np.diagonal(spread) / 2000)  # of 8000 draws at least as many count
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * error)
    assert np.any(np.abs(draws.mean(axis=0) - 1.3 * mean) > 5 * error)
    assert np.abs(draws.sum(axis=1)).max() < 1e-10
