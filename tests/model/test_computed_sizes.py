"""Dims that no data carry have the size of what is computed, or has a prior, along them."""

import numpy as np
import pytest

from probmodel import Model, ShapeError, data, deterministic, infer, observed, param, predict
from probmodel.constraints import PositiveDefinite, RowStochastic
from probmodel.density import as_posterior
from probmodel.distributions import (
    Dirichlet,
    HalfNormal,
    LKJCholesky,
    LogNormal,
    Multinomial,
    MvNormal,
    Normal,
)
from probmodel.functions import scan


class Population(Model):
    years = data(dtype=int)
    first = param(LogNormal(3, 0.1))
    growth = param(Normal(0, 0.1))
    n = deterministic(
        scan(lambda n, growth: n * np.exp(growth), first, length=years, args=(growth,)), dims="year"
    )
    rate = deterministic(n[1:] / n[:-1], dims="interval")
    effort = param(Normal(0, 1), dims="interval")
    count = observed(LogNormal(np.log(n), 0.2), dims="year")


def test_of_deterministic_quantities_and_of_what_comes_after_them():
    counts = [20.0, 22.0, 21.0, 25.0]
    assert as_posterior(Population(years=4, count=counts)).dim == 2 + 3
    fit = infer(Population(years=4, count=counts), draws=50, chains=2, seed=1, quiet=True)
    assert dict(fit.posterior["rate"].sizes) == {"chain": 2, "draw": 50, "interval": 3}
    ahead = predict(Population(years=6), fit, seed=2, new_groups="draw")
    assert ahead.predictions["count"].sizes["year"] == 6
    named = Population(years=4, count=counts, coords={"interval": ["a", "b", "c"]})
    assert list(named._binding.labels["interval"]) == ["a", "b", "c"]


def test_data_and_coords_come_first():
    with pytest.raises(ShapeError, match=r"'n' has dims year = \(3,\), but its expression"):
        Population(years=4, count=[20.0, 22.0, 21.0])
    with pytest.raises(ShapeError, match=r"'rate' has dims interval = \(2,\), but its expression"):
        Population(years=4, coords={"interval": ["a", "b"]})


def test_axes_that_do_not_fit_the_dims_give_none():
    class Wide(Model):
        a = param(Normal(0, 1), shape=3)
        b = deterministic(a, dims=("row", "column"))

    with pytest.raises(ShapeError, match="whose size is not known"):
        Wide()


def test_a_dim_has_the_size_of_the_first():
    class Twice(Model):
        a = param(Normal(0, 1), shape=3)
        b = deterministic(a, dims="place")
        c = deterministic(a[1:], dims="place")

    with pytest.raises(ShapeError, match=r"'c' has dims place = \(3,\), but its expression"):
        Twice()


def test_of_the_arguments_of_a_prior():
    class Slopes(Model):
        pid = data("row", dtype=int)
        spread = param(HalfNormal(1), shape=2)
        effect = param(MvNormal(np.zeros(2), cholesky=np.diag(spread)), dims=("patient", "term"))
        centre = param(Normal([0.0, 1.0, 2.0], 1), dims="coefficient")
        own = param(Normal(centre, 1), dims=("patient", "coefficient"))
        share = param(Dirichlet(np.ones(4)), dims="part")
        y = observed(Normal(effect[pid, 0] + own[pid, 2], 1), dims="row")

    model = Slopes(pid=[0, 1, 1], y=[0.1, 0.2, 0.3], coords={"patient": ["A", "B"]})
    assert as_posterior(model).dim == 2 + 4 + 3 + 6 + 3
    with pytest.raises(ShapeError, match=r"'effect' of shape \(2, 3\) does not fit"):
        Slopes(pid=[0, 1], y=[0.1, 0.2], coords={"patient": ["A", "B"], "term": ["a", "b", "c"]})


def test_of_no_argument_that_fits_any_size():
    class Broadcast(Model):
        a = param(Normal([0.0], 1), dims="place")

    with pytest.raises(ShapeError, match="whose size is not known"):
        Broadcast()


def test_names_of_a_dim_that_do_not_agree_are_told():
    class Misspelt(Model):
        votes = data("school")
        slope = param(Normal(0, 1))
        effect = param(Normal(slope * votes, 1), dims="shcool")

    with pytest.raises(ShapeError, match=r"the dim 'shcool' of param 'effect' .* meets the dim"):
        Misspelt(votes=[1.0, 2.0, 3.0])


def test_of_the_arguments_of_what_is_to_be_predicted():
    class Choices(Model):
        asked = data("place", dtype=int)
        share = param(Dirichlet(np.ones(3)), shape=3)
        counts = observed(Multinomial(asked, share), dims=("place", "answer"))

    counts = [[9, 1, 0], [15, 3, 2]]
    fit = infer(Choices(asked=[10, 20], counts=counts), draws=50, chains=2, seed=1, quiet=True)
    ahead = predict(Choices(asked=[30]), fit, seed=2).predictions["counts"]
    assert ahead.sizes["answer"] == 3
    assert (ahead.sum("answer") == 30).all()
    with pytest.raises(ShapeError, match=r"'counts' of shape \(1, 2\)"):
        Choices(asked=[30], coords={"answer": ["yes", "no"]})


def test_of_the_other_dim_of_a_square_matrix():
    class Slopes(Model):
        x = data(("row", "term"))
        root = param(LKJCholesky(2.0), dims=("term", "other"))
        covariance = param(constraint=PositiveDefinite(), dims=("group", "across", "term"))
        y = observed(Normal(x @ root[1], 1), dims="row")

    model = Slopes(x=np.ones((4, 3)), y=np.zeros(4), coords={"group": ["a", "b"]})
    assert as_posterior(model).dim == 3 + 2 * 6

    class Rows(Model):
        x = data("term")
        shares = param(constraint=RowStochastic(), dims=("term", "other"))

    with pytest.raises(ShapeError, match="'other', whose size is not known"):
        Rows(x=np.ones(3))
