"""Programs and machine code that a model keeps, and that are shared."""

from __future__ import annotations

import copy
import pickle
import threading
import weakref

import numpy as np
import pytest
from line import Line, Y

from probmodel import Model, blas, infer, observed, param
from probmodel.density import as_posterior
from probmodel.density.engines import Switch
from probmodel.distributions import HalfNormal, Normal


class Groups(Model):
    spread = param(HalfNormal(1))
    theta = param(Normal(0, spread), dims="group")
    y = observed(Normal(theta, 1.0), dims="group")


def points(density, chains=3, seed=0):
    return 0.3 * np.random.default_rng(seed).standard_normal((chains, density.dim))


@pytest.fixture
def codes(monkeypatch):
    """The lanes of all machine code that is made."""
    from probmodel.compiler import machine

    made, plain = [], machine.Emission

    def counted(*args):
        made.append(args[-1])
        return plain(*args)

    monkeypatch.setattr(machine, "Emission", counted)
    return made


def test_a_model_keeps_its_machine_code(codes):
    model, settings = Line(x=np.arange(4.0), y=Y), {"draws": 50, "seed": 1, "quiet": True}
    first = infer(model, **settings)
    assert codes == [8]
    again = infer(model, **settings)
    assert codes == [8]
    assert again.attrs["engine"] == "llvm"
    assert first.posterior.equals(again.posterior)
    few = infer(model, chains=1, **settings)
    assert codes == [8, 1]  # the same as without what was made for more
    assert few.posterior.equals(infer(Line(x=np.arange(4.0), y=Y), chains=1, **settings).posterior)


def test_draws_do_not_depend_on_how_often_an_evaluation_was_timed(monkeypatch):
    """As it is where the machine pauses; the control counts these evaluations."""
    settings = {"draws": 50, "warmup": 300, "seed": 1, "quiet": True, "chains": 2}
    x, switches = np.arange(4.0), []
    plain = infer(Line(x=x, y=Y), **settings)

    def tried(evaluate, clock):
        for _ in range(20):
            evaluate()
        return False

    monkeypatch.setattr(blas, "_more_pay", tried)
    assert plain.posterior.equals(infer(Line(x=x, y=Y), **settings).posterior)
    monkeypatch.setattr(Switch, "rehearse", lambda self, x: switches.append(self._spent) or self(x))
    control = infer(Line(x=x, y=Y), **settings)
    assert len(switches) >= 20
    assert switches[-1] > switches[0]
    assert not plain.posterior.equals(control.posterior)


def test_models_share_no_machine_code(codes):
    one, two = (Line(x=np.arange(4.0), y=y) for y in (Y, -Y))
    x = points(as_posterior(one))
    values = []
    for model in (one, two, copy.copy(one), pickle.loads(pickle.dumps(one))):
        density = as_posterior(model)
        density.use_engine("llvm")
        values.append(density(x).logp)
    assert len(codes) == 4
    assert not np.allclose(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    np.testing.assert_array_equal(values[0], values[3])


def emptied():
    """Return what makes machine code, with nothing kept but what serves all programs."""
    from probmodel.compiler.native import compiled
    from probmodel.compiler.routine_calls import routines

    for lanes in (4, 8):
        routines(lanes)
    compiled.cache_clear()
    return compiled


def test_programs_that_differ_in_their_data_alone_share_machine_code():
    compiled, densities = (
        emptied(),
        [as_posterior(Line(x=np.arange(4.0), y=y)) for y in (Y, -Y, 2.0 * Y)],
    )
    x = points(densities[0])
    expected = [density(x) for density in densities]
    for density in densities:
        density.use_engine("llvm")
        density(x)
    assert (compiled.cache_info().misses, compiled.cache_info().hits) == (1, 2)
    for density, (logp, grad) in zip(densities, expected, strict=True):
        found = density(x)
        assert density.engine == "llvm"
        np.testing.assert_allclose(found.logp, logp, rtol=1e-13)
        np.testing.assert_allclose(found.grad, grad, rtol=1e-12)


def test_the_scales_of_a_hierarchy_share_machine_code(codes):
    compiled, density = (
        emptied(),
        as_posterior(Groups(y=np.random.default_rng(0).standard_normal(8))),
    )
    x = points(density, 16)
    for seed in range(3):
        visited = x[None] + 0.1 * np.random.default_rng(seed).standard_normal(x.shape)
        other = density.standardised(visited, np.random.default_rng(seed), lambda d: d)
        other.use_engine("llvm")
        other(x)
    assert len(codes) == 3
    assert compiled.cache_info().misses == 1


def test_threads_that_share_machine_code_do_not_share_memory():
    model = Line(x=np.arange(4.0), y=Y)
    densities = [as_posterior(model) for _ in range(4)]
    x = [points(density, 64, seed) for seed, density in enumerate(densities)]
    expected = [density(at) for density, at in zip(densities, x, strict=True)]
    wrong = []

    def evaluate(k):
        densities[k].use_engine("llvm")
        for _ in range(200):
            wrong.extend(~np.isclose(densities[k](x[k]).logp, expected[k].logp, rtol=1e-12))

    threads = [threading.Thread(target=evaluate, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 4 * 200 * 64
    assert not any(wrong)


def test_what_is_kept_lasts_as_long_as_the_model():
    model = Line(x=np.arange(4.0), y=Y)
    programs = weakref.ref(as_posterior(model)._programs)
    assert programs() is as_posterior(model)._programs
    del model
    assert programs() is None


def test_models_of_many_data_keep_nothing(monkeypatch):
    monkeypatch.setattr("probmodel.density.programs._MOST_KEPT", 63)
    model = Line(x=np.arange(4.0), y=Y)
    assert as_posterior(model)._programs is not as_posterior(model)._programs
