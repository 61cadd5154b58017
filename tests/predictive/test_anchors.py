"""Values of a fit are taken for elements that stand for the same as in the fit, or refused."""

import numpy as np
import pytest

from probmodel import (
    Model,
    data,
    deterministic,
    infer,
    observed,
    param,
    posterior_predictive,
    predict,
)
from probmodel.distributions import ICAR, Affine, GaussianProcess, HilbertSpaceGP, Normal
from probmodel.distributions.kernels import ExpQuad
from probmodel.errors import DataError
from probmodel.predictive.anchors import same

X = np.linspace(0.0, 4.0, 9)


def short(model):
    return infer(model, draws=10, warmup=20, chains=1, seed=1, quiet=True)


class Smooth(Model):
    x = data("obs")
    process = HilbertSpaceGP(ExpQuad(1.0, 1.0), x, 6)
    w = param(process, shape=6)
    f = deterministic(process.basis(x) @ w)
    y = observed(Normal(f, 0.1), dims="obs")


class Apart(Model):
    """The points that make the box stay; the curve is evaluated at others."""

    x = data("obs")
    x_new = data("new")
    process = HilbertSpaceGP(ExpQuad(1.0, 1.0), x, 6)
    w = param(process, shape=6)
    y = observed(Normal(process.basis(x) @ w, 0.1), dims="obs")
    f = deterministic(process.basis(x_new) @ w, dims="new")


@pytest.mark.parametrize("new", [[1.0, 2.0, 3.0], X + 1.0], ids=["inside", "shifted"])
def test_weights_belong_to_the_box_of_the_fit(new):
    fit = short(Smooth(x=X, y=np.sin(X)))
    with pytest.raises(DataError, match=r"'w': the points of its HilbertSpaceGP.*basis\(new"):
        predict(Smooth(x=new), fit)
    posterior_predictive(Smooth(x=X, y=np.sin(X)), fit)
    predict(Smooth(x=[0.0, 1.3, 4.0]), fit)  # the box is the same


def test_a_basis_at_new_points(values):
    fit = short(Apart(x=X, y=np.sin(X), x_new=[0.0]))
    new = np.array([1.0, 2.5])
    f = values(predict(Apart(x=X, x_new=new), fit, var_names="f"), "predictions", "f")
    # Sine functions of a box 1.5 times as wide as the points: Riutort-Mayol et al. (2023), eq. 6.
    basis = np.sin(np.pi / 6.0 * (new[:, None] - 2.0 + 3.0) * np.arange(1, 7)) / np.sqrt(3.0)
    np.testing.assert_allclose(f, values(fit, "posterior", "w") @ basis.T, rtol=1e-10, atol=1e-12)


class Curve(Model):
    x = data("obs")
    f = param(GaussianProcess(ExpQuad(1.0, 1.0), x), dims="obs")
    g = param(Affine(GaussianProcess(ExpQuad(1.0, 1.0), x), 1.0, 2.0), dims="obs")
    y = observed(Normal(f + g, 0.1), dims="obs")


def test_values_of_a_process_belong_to_their_points(values):
    x = np.array([1.0, 2.0, 4.0])
    fit = short(Curve(x=x, y=[0.1, 0.2, 0.3]))
    for name in ("f", "g"):
        with pytest.raises(DataError, match=f"'{name}': the points .*labels along 'obs'"):
            predict(Curve(x=x + 10.0), fit, var_names=name)
        with pytest.raises(DataError, match=f"'{name}': the points"):
            predict(Curve(x=[1.0, 4.0], coords={"obs": [2, 0]}), fit, var_names=name)
    same = predict(Curve(x=[4.0, 1.0], coords={"obs": [2, 0]}), fit, var_names="f")
    np.testing.assert_array_equal(
        values(same, "predictions", "f"), values(fit, "posterior", "f")[..., [2, 0]]
    )
    more = Curve(x=[1.0, 2.0, 4.0, 9.0], coords={"obs": range(4)})
    assert values(predict(more, fit, 1, "draw", "f"), "predictions", "f").shape == (1, 10, 4)


class Map(Model):
    edges = data(("a", "b"))
    effect = param(ICAR(edges), dims="a")
    y = observed(Normal(effect, 1.0), dims="a")


def test_effects_of_a_graph_belong_to_its_edges():
    chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    other = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    labels = {"a": ["p", "q", "r"], "b": ["p", "q", "r"]}
    fit = short(Map(edges=chain, y=[0.0, 1.0, 2.0], coords=labels))
    with pytest.raises(DataError, match="'effect': the adjacency of its ICAR"):
        predict(Map(edges=other, coords=labels), fit)
    turned = {"a": ["q", "p", "r"], "b": ["q", "p", "r"]}
    predict(Map(edges=other, coords=turned), fit)


class Neighbours(Model):
    edges = data(("edge", "end"), dtype=int)
    effect = param(ICAR(edges), dims="a")
    y = observed(Normal(effect, 1.0), dims="a")


def test_two_edges_are_compared_as_a_whole():
    fit = short(Neighbours(edges=[[0, 1], [1, 2]], y=[0.0, 1.0, 2.0]))
    predict(Neighbours(edges=[[0, 1], [1, 2]], y=[0.0, 1.0, 2.0]), fit)
    with pytest.raises(DataError, match="'effect': the adjacency of its ICAR"):
        predict(Neighbours(edges=[[0, 2], [1, 2]], y=[0.0, 1.0, 2.0]), fit)


def test_lists_of_edges_are_compared_as_a_whole():
    model = Neighbours(edges=[[0, 1], [1, 2], [2, 3]], y=[0.0, 1.0, 2.0, 1.0])
    fit = short(model)
    replicates = posterior_predictive(model, fit, seed=1)
    assert replicates["posterior_predictive"]["y"].shape[-1] == 4
    with pytest.raises(DataError, match="'effect': the adjacency of its ICAR"):
        predict(Neighbours(edges=[[0, 2], [1, 2], [2, 3]], y=[0.0, 1.0, 2.0, 1.0]), fit)


def test_a_fit_without_its_data_is_not_compared(make_fit):
    fit = make_fit(f=(("obs",), np.zeros((1, 5, 3))), g=(("obs",), np.zeros((1, 5, 3))))
    predict(Curve(x=[5.0, 6.0, 7.0]), fit)


def test_missing_and_infinite_data_are_compared_too():
    ends = np.array([1.0, np.inf, np.nan])
    assert same(ends, ends * (1.0 + 1e-12))
    for other in ([2.0, np.inf, np.nan], [1.0, -np.inf, np.nan], [1.0, np.inf, 3.0]):
        assert not same(ends, np.array(other))
        assert not same(np.array(other), ends)
