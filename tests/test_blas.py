"""The number of BLAS threads while runs last, and that it is given back."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from probmodel import LogDensity, Model, infer, observed, param, posterior_predictive
from probmodel.blas import blas_threads, one_blas_thread, suitable_blas_threads
from probmodel.density import check_model
from probmodel.distributions import Normal
from probmodel.inference.chains import Group
from probmodel.inference.counting import Work
from probmodel.samplers import make_sampler

MANY = 2


@pytest.fixture(autouse=True)
def _several_threads():
    """Give BLAS more threads than one, on machines with one core too."""
    with threadpool_limits(MANY, user_api="blas"):
        assert blas_threads() == MANY
        yield
        assert blas_threads() == MANY


class Mean(Model):
    mu = param(Normal(0, 1))
    y = observed(Normal(mu, 1), dims="obs")


MODEL = Mean(y=[0.5, 1.5])


class Watch:
    """A log density that notes how many threads BLAS has when it is evaluated."""

    def __init__(self):
        self.seen = set()

    def __call__(self, x):
        self.seen.add(blas_threads())
        return -0.5 * np.sum(x * x, axis=1)


def watched():
    watch = Watch()
    return watch, LogDensity.from_function(watch, 2, gradient=lambda x: -x)


def test_one_thread_and_back():
    with one_blas_thread():
        assert blas_threads() == 1
        with one_blas_thread():
            assert blas_threads() == 1
        assert blas_threads() == 1


def test_it_is_given_back_after_an_error():
    with pytest.raises(ValueError, match="lost"), one_blas_thread():
        raise ValueError("lost")
    assert blas_threads() == MANY


def test_runs_that_overlap_share_the_limit():
    """The first run to end does not lift the limit, and the last one restores what was there."""
    first_ends, second_has_begun = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            second_has_begun.wait(10)
        first_ends.set()

    run = threading.Thread(target=first)
    run.start()
    with one_blas_thread():
        second_has_begun.set()
        assert first_ends.wait(10)
        assert blas_threads() == 1
    run.join()
    assert blas_threads() == MANY


def test_infer_uses_one_thread_throughout():
    watch, density = watched()
    watch(np.zeros((1, 2)))
    assert watch.seen == {MANY}  # the control: outside a run there are more
    watch.seen.clear()
    fit = infer(density, draws=50, warmup=50, chains=2, seed=1, quiet=True)
    assert watch.seen == {1}
    assert fit.attrs["blas_threads"] == 1


def test_predictions_and_checks_use_one_thread(monkeypatch):
    from probmodel.compiler.numpy_engine import NumpyProgram
    from probmodel.density.posterior import ModelDensity

    seen = []

    def noting(method):
        def noted(self, *args):
            seen.append(blas_threads())
            return method(self, *args)

        return noted

    fit = infer(MODEL, draws=50, warmup=50, chains=2, seed=1, quiet=True)
    monkeypatch.setattr(NumpyProgram, "__call__", noting(NumpyProgram.__call__))
    posterior_predictive(MODEL, fit, seed=1)
    assert set(seen) == {1}
    seen.clear()
    check_model(MODEL)
    assert set(seen) == {1}
    seen.clear()
    ModelDensity(MODEL).constrain(np.zeros((1, 1)))
    assert set(seen) == {MANY}  # the control


class Trial:
    """An evaluation whose seconds follow from the number of threads; it is its own clock."""

    def __init__(self, *, one, many):
        self.seconds = {1: one, MANY: many}
        self.now = 0.0
        self.calls = {1: 0, MANY: 0}

    def __call__(self):
        threads = blas_threads()
        self.calls[threads] += 1
        self.now += self.seconds[threads]

    def clock(self):
        return self.now


@pytest.mark.parametrize(
    ("one", "many", "threads", "tried"),
    [
        (0.01, 0.001, 1, 0),  # too short to be tried
        (0.4, 0.2, MANY, 3),
        (0.4, 0.39, 1, 1),  # hardly faster
        (0.4, 40.0, 1, 1),  # on busy cores: tried once, never again
    ],
)
def test_more_threads_are_used_where_they_pay(one, many, threads, tried):
    trial = Trial(one=one, many=many)
    with one_blas_thread():
        with suitable_blas_threads(trial, clock=trial.clock) as chosen:
            assert chosen == blas_threads() == threads
        assert blas_threads() == 1
    assert trial.calls[MANY] == tried


def test_a_trial_that_fails_leaves_the_limit_as_it_was():
    def fail():
        raise FloatingPointError

    with one_blas_thread():
        with pytest.raises(FloatingPointError), suitable_blas_threads(fail):
            raise AssertionError("not reached")
        assert blas_threads() == 1


def test_a_trial_is_not_counted_as_work():
    watch, density = watched()
    group = Group(make_sampler("rwm"), density, np.zeros((3, 2)), np.random.default_rng(1))
    group.evaluate_once()
    assert watch.seen
    assert group.work[0] == Work()


def test_the_number_is_given_back_to_every_thread():
    """Whichever thread of the process limits first, the others can limit and lift."""
    for seed in range(2):
        infer(MODEL, draws=10, warmup=10, chains=2, seed=seed, quiet=True)
        assert blas_threads() == MANY
        seen = []
        run = threading.Thread(target=note, args=(seen,))
        run.start()
        run.join()
        assert seen == [(1, MANY)]


def note(seen):
    with one_blas_thread():
        inside = blas_threads()
    seen.append((inside, blas_threads()))
