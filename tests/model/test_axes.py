"""Axes with different dims do not meet element by element, whatever expression they come from."""

import sys
import types

import numpy as np
import pytest

from probmodel import Model, ShapeError, data, deterministic, observed, param, potential
from probmodel.distributions import LKJ, Dirichlet, HalfNormal, Mixture, MvNormal, Normal, Poisson
from probmodel.functions import linear_recurrence

CODES = np.array([0, 2, 1])


def bound(make, **dims):
    """Bind a model of three elements in each of two dims, with ``make`` of its declarations."""

    class Square(Model):
        a = param(Normal(0, 1), dims="i")
        b = param(Normal(0, 1), dims="j")
        A = param(Normal(0, 1), dims=("i", "k"))
        B = param(Normal(0, 1), dims=("j", "k"))
        one = param(Normal(0, 1), dims="single")
        j_of_i = data("i", dtype=int)
        nameless = param(Normal(0, 1), shape=3)
        x = make(a=a, b=b, A=A, B=B, one=one, code=j_of_i, free=nameless)

    coords = {"i": list("abc"), "j": list("def"), "k": list("gh"), "single": ["s"]}
    return Square(j_of_i=CODES, coords=coords)


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b, **_: a + b,
        lambda a, b, **_: np.exp(a) * (2 * b - 1),
        lambda a, b, **_: np.where(a > 0, a, b),
        lambda a, b, **_: np.clip(a, 0, b),
        lambda a, B, **_: a[:, None] + B,
        lambda a, B, **_: a + B.T,
        lambda a, B, **_: a + np.transpose(B),
        lambda a, B, **_: a + np.swapaxes(B, 0, 1),
        lambda a, B, **_: a + B[:, 0],
        lambda a, B, **_: a + B[..., 0],
        lambda a, B, **_: a + np.sum(B, axis=1),
        lambda a, B, **_: a[:, None] + np.mean(B, axis=1, keepdims=True),
        lambda a, B, **_: a + B @ np.ones(2),
        lambda a, b, **_: a @ b,
        lambda a, b, **_: np.dot(a, b),
        lambda A, b, **_: A.T @ b,
        lambda A, B, **_: A.T @ B,
        lambda A, b, **_: np.outer(b, b) @ A,
        lambda a, b, **_: np.stack([a, b]),
        lambda A, B, **_: np.concatenate([A, B], axis=1),
        lambda a, b, **_: np.expand_dims(a, 1) + np.expand_dims(b, -1),
        lambda a, b, **_: a[None, :] + np.cumsum(b),
        lambda a, b, code, **_: b[code] + b,
        lambda A, b, code, **_: b + A[code, 1],
        lambda a, b, **_: linear_recurrence(0.5 * a, b),
        lambda A, b, **_: np.diag(b) @ A,
        lambda A, b, **_: np.tril(np.outer(b, b)) @ A,
        lambda a, b, **_: np.broadcast_to(b, (2, 3)) + a,
    ],
)
@pytest.mark.parametrize("declare", [deterministic, potential])
def test_different_dims_of_equal_size_are_refused(expression, declare):
    with pytest.raises(ShapeError, match=r"the dim '\w' of .* meets the dim '\w' of") as caught:
        bound(lambda **given: declare(expression(**given)))
    assert set(caught.value.values["dims"]) == {"i", "j"}
    assert caught.value.location.file == __file__


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b, **_: a[:, None] + b,
        lambda a, b, **_: np.outer(a, b),
        lambda a, b, **_: np.sum(a) + b,
        lambda a, b, code, **_: a + b[code],
        lambda a, B, code, **_: a[:, None] + B[code],
        lambda a, B, code, **_: a + B[code, 0],
        lambda A, B, code, **_: A + B[code, :],
        lambda a, free, **_: a + free,
        lambda b, free, **_: b + free,
        lambda a, one, **_: a + one,
        lambda a, b, **_: a[1:] + b[:-1],
        lambda a, b, **_: a[::-1] + b,
        lambda a, b, **_: np.concatenate([a, b]),
        lambda a, b, **_: np.concatenate([a[0], b[1]]),
        lambda a, b, **_: a + np.reshape(b, (3, 1)),
        lambda A, B, **_: A.reshape(-1) + B.reshape(-1),
        lambda a, b, **_: np.max(a) + b,
        lambda A, B, **_: A @ B.T,
        lambda A, B, **_: np.sum(A, axis=0) + np.sum(B, axis=0),
        lambda a, b, **_: a + b[np.array([0, 1, 2])],
        lambda a, b, **_: a + b[np.array([True, True, True])],
        lambda a, b, **_: np.flip(a) + np.roll(b, 1) * np.diff(np.concatenate([b, b[:1]])),
        lambda A, b, **_: np.squeeze(A[:, :1]) @ np.diag(np.diag(np.outer(A[:, 0], b))),
        lambda a, b, **_: np.stack([a[0], b[0]]),
    ],
)
def test_what_fits_is_not_refused(expression):
    bound(lambda **given: deterministic(expression(**given)))


def line():
    return sys._getframe(1).f_lineno


def test_the_message_names_expression_line_dims_and_declarations():
    class Table(Model):
        row = param(Normal(0, 1), dims="row_of_table")
        column = param(Normal(0, 1), dims="column_of_table")
        mean = row + column
        y = observed(Normal(mean, 1), dims=("row_of_table", "column_of_table"))

    first = line() - 5
    with pytest.raises(ShapeError, match=r"row \+ column|mean") as caught:
        Table(y=np.zeros((3, 3)))
    message = str(caught.value)
    assert caught.value.location.line == first + 2
    assert f"'row_of_table' of param 'row' ({__file__}:{first})" in message
    assert f"'column_of_table' of param 'column' ({__file__}:{first + 1})" in message
    assert "a[code]" in message
    assert "a[:, None] + b" in message


class Answers(Model):
    ability = param(Normal(0, 1), dims="person")
    difficulty = param(Normal(0, 1), dims="item")
    guess = param(Normal(0, 1), shape=4)
    scaled = 2 * np.exp(ability)
    y = observed(Normal(scaled - difficulty, 1), dims=("person", "item"))


def test_dims_of_different_sizes_are_named_alike():
    with pytest.raises(ShapeError, match="scaled - difficulty: the dim") as caught:
        Answers(y=np.zeros((5, 3)))
    message = str(caught.value)
    assert caught.value.location.file == __file__
    assert "the dim 'person' of param 'ability'" in message
    assert "meets the dim 'item' of param 'difficulty'" in message
    assert "They have 5 and 3 elements, which cannot be paired" in message
    assert "a[:, None] + b" in message
    with pytest.raises(ShapeError, match="Both happen to have 3 elements"):
        Answers(y=np.zeros((3, 3)))


def test_axes_without_a_dim_that_do_not_fit_have_their_shapes_in_the_message():
    class Nameless(Answers):
        total = deterministic(Answers.ability + Answers.guess)
        y = observed(Normal(total[0], 1), dims=("person", "item"))

    with pytest.raises(ShapeError, match=r"its operands have shapes \(5,\), \(4,\)"):
        Nameless(y=np.zeros((5, 3)))


@pytest.mark.parametrize(
    "declare",
    [
        lambda b, **_: param(Normal(b, 1), dims="i"),
        lambda b, **_: param(Normal(0, np.exp(b)), dims="i", noncentered=True),
        lambda b, **_: param(lower=b, dims="i"),
        lambda b, **_: param(Normal(0, 1), offset=b, dims="i"),
        lambda b, **_: param(Normal(0, 1), information=np.exp(b), dims="i"),
        lambda b, **_: param(Normal(b[:, None], 1), dims=("i", "k")),
        lambda b, **_: param(Normal(0, 1), upper=b[:, None], dims=("i", "k")),
        lambda b, **_: observed(Normal(b, 1), dims="i"),
        lambda b, **_: observed(Poisson(np.exp(b)), dims=("k", "i")),
        lambda b, **_: observed(MvNormal(b, covariance=np.eye(3)), dims=("k", "i")),
        lambda b, **_: observed(Mixture([0.3, 0.7], [Normal(b, 1), Normal(0, 1)]), dims="i"),
        lambda a, b, **_: param(Normal(a, np.exp(b))),
        lambda b, **_: param(Dirichlet(np.exp(b)), dims="i"),
    ],
)
def test_declarations_with_other_dims_than_their_arguments_are_refused(declare):
    class Declared(Model):
        a = param(Normal(0, 1), dims="i")
        b = param(Normal(0, 1), dims="j")
        c = param(Normal(0, 1), dims="k")
        x = declare(a=a, b=b)

    with pytest.raises(ShapeError, match=r"(param|observed) 'x'.* meets the dim"):
        Declared(coords={"i": list("abc"), "j": list("def"), "k": list("gh")})


def test_data_with_other_dims_than_their_bounds_are_refused():
    class Bounded(Model):
        low = data("j")
        x = data("i", lower=low)
        a = param(Normal(0, 1), dims="i")
        b = param(Normal(0, 1), dims="j")

    with pytest.raises(ShapeError, match=r"data 'x', its lower: the dim 'i'.*'j' of data 'low'"):
        Bounded(low=np.zeros(3), x=np.ones(3))


def test_deterministic_renames_an_axis():
    class Renamed(Model):
        a = param(Normal(0, 1), dims="i")
        b = param(Normal(0, 1), dims="j")
        a_of_j = deterministic(a, dims="j")
        y = observed(Normal(a_of_j + b, 1), dims="j")

    Renamed(y=np.zeros(3), coords={"i": list("abc")})


def test_the_second_axis_of_a_square_matrix_fits_the_first():
    class Neighbours(Model):
        weight = data(("area", "neighbour"))
        distance = data(("area", "other_area"))
        effect = param(Normal(0, 1), dims="area")
        change = data(("before", "after"))
        start = param(Dirichlet(np.ones(3)), dims="state")
        end = deterministic(start @ change)
        covariance = np.exp(-distance) + np.eye(3)
        around = deterministic(weight @ effect + np.sum(distance * (effect - effect[:, None])))
        y = observed(MvNormal(around, covariance=covariance), dims="area")

    square = dict.fromkeys(("weight", "distance", "change"), np.eye(3))
    Neighbours(**square, y=np.zeros(3), coords={"state": list("abc")})


def test_the_other_axis_of_a_square_table_does_not():
    class Regression(Model):
        X = data(("obs", "feature"))
        beta = param(Normal(0, 1), dims="group")
        slope = param(Normal(0, 1), dims="feature")
        y = observed(Normal(X @ beta, 1), dims="obs")

    with pytest.raises(ShapeError, match=r"'feature' of data 'X'.*'group' of param 'beta'"):
        Regression(X=np.eye(3), y=np.zeros(3), coords={"group": list("abc")})


@pytest.mark.parametrize(
    "declare",
    [
        lambda a: {"y": observed(Poisson(np.exp(a)), dims=("i", "visit"))},
        lambda a: {"y": observed(MvNormal(a, np.eye(3)), dims=("i", "visit"))},
        lambda a: {"y": observed(Normal(a, 1), dims=("visit", "i", "again"))},
        lambda a: {
            "z": param(Normal(a, 1), dims=("i", "visit")),
            "y": observed(Normal(0, 1), dims=("i", "visit")),
        },
    ],
)
def test_a_parameter_is_not_paired_with_the_other_axis_of_a_square_value(declare):
    """Of three sites by three visits, a number for each site is one of each row."""

    def fill(names):
        names["a"] = param(Normal(0, 1), dims="i")
        names.update(declare(names["a"]))

    square = types.new_class("Square", (Model,), {}, fill)
    y = np.zeros((3,) * len(square._declarations["y"].dims), dtype=int)
    with pytest.raises(ShapeError, match=r"the dim '(visit|again)' of .* meets the dim 'i' of"):
        square(y=y)


def test_rows_and_columns_of_a_square_value_are_not_refused():
    class Network(Model):
        sends = param(Normal(0, 1), dims="node")
        receives = param(Normal(0, 1), dims="node")
        shift = param(Normal(0, 1), dims="node")
        visits = param(Normal(0, 1), shape=3)
        y = observed(Normal(sends[:, None] + receives, 1), dims=("node", "other"))
        x = observed(Normal(shift[:, None], 1), dims=("node", "other"))
        z = observed(Normal(visits, 1), dims=("node", "other"))
        v = observed(MvNormal(shift, np.eye(3)), dims=("other", "node"))

    square = np.zeros((3, 3))
    Network(y=square, x=square, z=square, v=square)


def test_a_row_is_not_paired_with_the_columns_of_square_data():
    class Visits(Model):
        x = data(("site", "visit"))
        rate = param(Normal(0, 1), dims="site")
        y = observed(Normal(rate * x, 1), dims=("site", "visit"))

    match = (
        r"'visit' of data 'x'.* meets the dim 'site' of param 'rate'.*a\[:, None\] is one number"
    )
    with pytest.raises(ShapeError, match=match):
        Visits(x=np.eye(3), y=np.zeros((3, 3)))


def test_rows_and_columns_of_square_data_are_not_refused():
    class Square(Model):
        weight = data(("area", "neighbour"))
        effect = param(Normal(0, 1), dims="area")
        other = param(Normal(0, 1), shape=3)
        around = deterministic(np.sum(weight * effect[None, :] + weight * other, axis=1))
        within = deterministic(np.sum(weight * effect[:, None], axis=1) + weight @ effect)
        y = observed(Normal(around + within, 1), dims="area")

    Square(weight=np.eye(3), y=np.zeros(3))


def test_scales_meet_both_axes_of_a_correlation():
    class Traits(Model):
        known = data(("trait", "again"))
        scale = param(HalfNormal(1), dims="trait")
        correlation = param(LKJ(1), dims=("trait", "again"))
        covariance = scale[:, None] * correlation * scale
        y = observed(MvNormal(np.zeros(3), covariance), dims=("person", "trait"))

    Traits(known=np.eye(3), y=np.zeros((5, 3)))
