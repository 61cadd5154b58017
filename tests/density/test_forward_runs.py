"""Runs forwards: which draws are made, in which order, in chunks, in threads, and of which type."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.stats

from probmodel import Model, data, deterministic, observed, param
from probmodel.constraints import Simplex
from probmodel.density import forward_runs as forward
from probmodel.density.forward_runs import Forward
from probmodel.density.prior import Start, draw_from_prior, prior_draws, prior_plan, simulate_once
from probmodel.distributions import (
    Bernoulli,
    Exponential,
    NegativeBinomial2Log,
    Normal,
    Poisson,
    PoissonLog,
)
from probmodel.errors import ModelError
from probmodel.expressions import as_expression
from probmodel.model.binding import redrawn


class Chain(Model):
    """Quantities that are declared in another order than the data need them."""

    first = param(Normal(0.0, 1.0))
    second = param(Exponential(1.0))
    unused = param(Normal(0.0, 1.0))
    y = observed(Normal(0.0, second), dims="obs")
    z = observed(Normal(first, 1.0))


BOUND = Chain(coords={"obs": ["a", "b"]})._binding


def outputs(binding, names):
    return {name: binding.declarations[name] for name in names}


def run(binding, names, rng, rows):
    return Forward(binding, draw_from_prior).plan(outputs(binding, names)).run(rng, rows)


def test_draws_are_made_in_the_order_in_which_they_are_needed():
    found = run(BOUND, ["y", "z"], np.random.default_rng(1), 5)
    rng = np.random.default_rng(1)
    second = Exponential(1.0).sample(rng, (5,), np.ones(()))
    y = Normal(0.0, 1.0).sample(rng, (5, 2), np.zeros(()), second[:, None])
    first = Normal(0.0, 1.0).sample(rng, (5,), np.zeros(()), np.ones(()))
    z = Normal(0.0, 1.0).sample(rng, (5,), first, np.ones(()))
    np.testing.assert_allclose(found["y"], y, rtol=1e-12)
    np.testing.assert_allclose(found["z"], z, rtol=1e-12)
    declared = run(BOUND, ["first", "y", "z"], np.random.default_rng(1), 5)
    assert not np.allclose(declared["y"], y)


def test_draws_that_nothing_needs_are_not_made():
    def refuse(forward, free):
        assert free.name != "unused"
        return draw_from_prior(forward, free)

    plan = Forward(BOUND, refuse).plan(outputs(BOUND, ["z", "y"]))
    assert set(plan.run(np.random.default_rng(1), 2)) == {"z", "y"}


def test_order_does_not_depend_on_what_formulas_are_simplified_to():
    class Plain(Model):
        a = param(Normal(0.0, 1.0))
        y = observed(Normal(a**0, 1.0))

    binding = Plain()._binding
    alone, both = (
        run(binding, names, np.random.default_rng(1), 3)["y"] for names in (["y"], ["a", "y"])
    )
    np.testing.assert_array_equal(alone, both)


class Twins(Model):
    """Quantities whose distributions are equal."""

    a = param(Normal(0.0, 1.0))
    b = param(Normal(0.0, 1.0))
    y = observed(Normal(0.0, 1.0), dims="obs")
    z = observed(Normal(0.0, 1.0), dims="obs")
    sums = deterministic(y + y)


def test_equal_distributions_give_different_draws_each_made_once(monkeypatch):
    made = []

    def sample(self, rng, shape, *params):
        made.append(shape)
        return plain(self, rng, shape, *params)

    plain = Normal.sample
    monkeypatch.setattr(Normal, "sample", sample)
    rng = np.random.default_rng(1)
    state = rng.bit_generator.state
    plan = prior_plan(Twins(coords={"obs": ["a", "b", "c"]})._binding)
    assert made == []  # nothing is drawn before the run
    assert rng.bit_generator.state == state
    found = plan.run(rng, 4)
    assert made == [(4,), (4,), (4, 3), (4, 3)]
    np.testing.assert_allclose(found.pop("sums"), 2.0 * found["y"])
    numbers = np.concatenate([x.ravel() for x in found.values()])
    assert len(np.unique(numbers)) == 4 * (1 + 1 + 3 + 3)


class Counts(Model):
    """Counts and truth values."""

    rate = param(Exponential(0.3))
    k = observed(Poisson(rate), dims="obs")
    hit = observed(Bernoulli(0.5))
    more = deterministic(k + 1)
    half = deterministic(k / 2)
    many = deterministic(k > 1)
    total = deterministic(np.sum(k))


def test_types_are_those_of_the_declarations():
    binding = Counts(k=[1, 2, 3], hit=0)._binding
    found = prior_plan(redrawn(binding)).run(np.random.default_rng(1), 50)
    kinds = {name: values.dtype.kind for name, values in found.items()}
    assert kinds == {
        "rate": "f", "k": "i", "hit": "i", "more": "i", "half": "f", "many": "i", "total": "i",
    }  # fmt: skip
    np.testing.assert_array_equal(found["more"], found["k"] + 1)
    np.testing.assert_array_equal(found["half"], found["k"] / 2)
    np.testing.assert_array_equal(found["many"], found["k"] > 1)
    np.testing.assert_array_equal(found["total"], found["k"].sum(axis=1))
    assert found["many"].any()
    assert not found["many"].all()


def test_counts_that_no_integer_of_64_bits_holds_are_floats():
    class Large(Model):
        e = param(Normal(42.5, 0.01))
        k = observed(NegativeBinomial2Log(e, 100.0))
        square = deterministic(k * k)

    found = prior_plan(Large()._binding).run(np.random.default_rng(1), 20)
    assert found["k"].dtype.kind == "i"
    assert found["square"].dtype.kind == "f"
    np.testing.assert_allclose(found["square"], found["k"].astype(float) ** 2)


def test_draws_in_chunks_are_runs_one_after_another(monkeypatch):
    binding = Counts(k=[1, 2, 3], hit=0)._binding
    monkeypatch.setattr(forward, "CHUNK", 64)
    plan = prior_plan(redrawn(binding))
    rows = 64 // plan._program.numbers
    assert 1 < rows < 10
    whole = plan.run(np.random.default_rng(1), 2 * rows + 1)
    rng = np.random.default_rng(1)
    parts = [plan.run(rng, n) for n in (rows, rows, 1)]
    for name, values in whole.items():
        np.testing.assert_array_equal(values, np.concatenate([part[name] for part in parts]))
        assert values.dtype == parts[0][name].dtype


def test_chunks_of_given_values_are_put_together(monkeypatch):
    values = np.random.default_rng(1).normal(size=(50, 2))
    monkeypatch.setattr(forward, "CHUNK", 20)

    class Given(Model):
        x = data(dims="obs")
        a = param(Normal(0.0, 1.0), shape=2)
        y = observed(Normal(a[0], 1.0))
        line = deterministic(a[0] + a[1] * x, dims="obs")

    binding = Given(x=[1.0, 2.0, 3.0])._binding
    plan = Forward(binding, lambda run, free: run.given(values)).plan(outputs(binding, ["line"]))
    line = plan.run(np.random.default_rng(1), 50)["line"]
    np.testing.assert_allclose(line, values[:, :1] + values[:, 1:] * [1.0, 2.0, 3.0], rtol=1e-12)


def test_runs_that_draw_nothing_make_longer_passes_in_the_same_blocks():
    values = np.random.default_rng(1).normal(size=(50, 2))

    class Line(Model):
        a = param(Normal(0.0, 1.0), shape=2)
        line = deterministic(a[0] + a[1])
        y = observed(Normal(line, 1.0))

    binding = Line()._binding
    passes = {}
    for name in ("line", "y"):
        run = Forward(binding, lambda run, free: run.given(values))
        passes[name] = run.plan(outputs(binding, [name]))
    for plan in passes.values():
        assert plan.block == forward.BLOCK * (forward.CHUNK // plan._program.numbers)
    assert passes["line"].step == forward.WIDER * passes["line"].block // forward.BLOCK
    assert passes["y"].step == passes["y"].block // forward.BLOCK


def test_runs_in_several_threads_have_their_own_randomness():
    plan = prior_plan(BOUND)

    def drawn(seed):
        return [plan.run(np.random.default_rng(seed), 50)["y"] for _ in range(20)]

    alone = [drawn(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(drawn, range(4))), alone)


def test_errors_name_the_declaration_and_come_with_the_run():
    class Extreme(Model):
        e = param(Normal(100.0, 0.1))
        fine = observed(Normal(e, 1.0))
        bad = observed(PoissonLog(e), dims="obs")
        last = observed(Normal(e, 1.0))

    plan = prior_plan(Extreme(coords={"obs": ["a"]})._binding)
    with pytest.raises(ModelError, match=r"observed 'bad' cannot be drawn from PoissonLog.*too la"):
        plan.run(np.random.default_rng(1), 3)


class Asking(Normal):
    """A formula that asks about numbers cannot be written down: it is called."""

    def log_kernel(self, xp, value, loc, scale):
        if not np.all(scale > 0.0):
            return np.nan
        return super().log_kernel(xp, value, loc, scale)


@pytest.mark.parametrize("kind", [Normal, Asking])
@pytest.mark.parametrize("chunk", [1 << 20, 30])
def test_log_densities_of_each_element(kind, chunk, monkeypatch):
    monkeypatch.setattr(forward, "CHUNK", chunk)

    class Elements(Model):
        a = param(Normal(0.0, 1.0))
        known = observed(kind(0.0, 1.0), dims="obs")
        y = observed(kind(a, 1.0 + a**2), dims="obs")

    y, a = np.array([0.3, -1.2, 2.0]), np.linspace(-1.0, 1.0, 20)
    binding = Elements(y=y, known=y)._binding
    made = Forward(binding, lambda made, free: made.given(a))
    elements = {}
    for name in ("known", "y"):
        distribution = binding.declarations[name].distribution
        params = map(as_expression, distribution.args.values())
        elements[name] = made.pointwise(distribution, params, binding.declarations[name])
    plan = made.plan(elements)
    assert ("call" in plan._program.source) == (kind is Asking)
    found = plan.run(np.random.default_rng(1), 20)
    np.testing.assert_allclose(
        found["y"], scipy.stats.norm(a[:, None], 1.0 + a[:, None] ** 2).logpdf(y)
    )
    np.testing.assert_allclose(found["known"], [scipy.stats.norm.logpdf(y)] * 20)


def test_coordinates_without_elements():
    class One(Model):
        share = param(shape=1, constraint=Simplex())
        a = param(Normal(0.0, 1.0))
        y = observed(Normal(share[0] + a, 1e-9))

    binding = One(y=0.0)._binding
    assert prior_draws(binding, np.random.default_rng(1), 3).shape == (3, 1)
    found = simulate_once(redrawn(binding), np.random.default_rng(1))
    np.testing.assert_allclose(found["share"], [1.0])
    np.testing.assert_allclose(found["y"], 1.0 + found["a"], atol=1e-7)


def test_no_draws_at_all():
    plan = Forward(BOUND, Start()).plan(outputs(BOUND, ["y"]))
    assert plan.run(np.random.default_rng(1), 0)["y"].shape == (0, 2)
