"""What computes densities: NumPy at first, then machine code, and what happens where that fails."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from line import Line, Y

from probmodel import (
    Model,
    check_model,
    data,
    extend,
    infer,
    load_model,
    observed,
    param,
    potential,
)
from probmodel.compiler import length
from probmodel.compiler.machine import Machine
from probmodel.density import LogDensity, as_posterior, engines
from probmodel.distributions import Beta, HalfNormal, Normal, Poisson
from probmodel.errors import SamplerError
from probmodel.functions import log_density, scan, solve_ode


class Flat(Model):
    a = param(shape=3)


def line(engine="auto"):
    density = as_posterior(Line(x=np.arange(4.0), y=Y))
    density.use_engine(engine)
    return density


def points(density, chains=3, seed=0):
    return 0.3 * np.random.default_rng(seed).standard_normal((chains, density.dim))


def test_it_turns_to_machine_code_once_that_pays():
    density, reference = line(), line("numpy")
    x = points(density)
    calls = 0
    while density.engine == "numpy":
        calls += 1
        assert calls < 10_000
        found = density(x)
        np.testing.assert_allclose(found.logp, reference(x).logp, rtol=1e-13)
        np.testing.assert_allclose(found.grad, reference(x).grad, rtol=1e-12)
    assert calls > 50
    assert reference.engine == "numpy"
    density.use_engine()  # a new start
    assert density.engine == "numpy"


def test_large_gradients_turn_sooner():
    def calls(n):
        density = as_posterior(Line(x=np.arange(float(n)), y=np.ones(n)))
        x, made = points(density), 0
        while density.engine == "numpy":
            density(x)
            made += 1
        return made

    assert calls(200_000) < 0.2 * calls(4)


@pytest.mark.parametrize("chains", range(1, 18))
def test_any_number_of_chains(chains):
    machine, reference = line("llvm"), line("numpy")
    x = points(machine, chains, seed=chains)
    found, expected = machine(x), reference(x)
    assert machine.engine == "llvm"
    np.testing.assert_allclose(found.logp, expected.logp, rtol=1e-13)
    np.testing.assert_allclose(found.grad, expected.grad, rtol=1e-12)


def test_points_in_any_order_of_memory():
    machine, reference = line("llvm"), line("numpy")
    x = points(machine, 12)
    for given in (x[::2], np.asfortranarray(x), x.astype(np.float32)):
        found = machine(given).grad
        np.testing.assert_allclose(found, reference(np.array(given, dtype=float)).grad, rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_rows_that_are_not_finite_stay_alone(bad):
    machine = line("llvm")
    x = points(machine, 9)
    expected = machine(x)
    x[4, 2] = bad
    found = machine(x)
    assert found.logp[4] == -np.inf
    np.testing.assert_array_equal(found.grad[4], 0.0)
    others = np.arange(9) != 4
    np.testing.assert_array_equal(found.logp[others], expected.logp[others])
    np.testing.assert_array_equal(found.grad[others], expected.grad[others])


def test_a_model_without_terms_that_vary():
    machine = as_posterior(Flat())
    machine.use_engine("llvm")
    found = machine(np.ones((5, 3)))
    assert machine.engine == "llvm"
    np.testing.assert_array_equal(found.logp, 0.0)
    np.testing.assert_array_equal(found.grad, 0.0)


def test_where_rates_overflow_engines_agree():
    """A rate that is the exponential of a predictor is not taken apart from its logarithm."""

    class Counts(Model):
        a = param(Normal(0, 100))
        y = observed(Poisson(np.exp(a)), dims="obs")

    x = np.array([[700.0], [-800.0], [3.0]])
    densities = [as_posterior(Counts(y=np.array([3, 0]))) for _ in range(2)]
    for density, engine in zip(densities, ("llvm", "numpy"), strict=True):
        density.use_engine(engine)
    found, expected = (density(x) for density in densities)
    np.testing.assert_allclose(found.logp, expected.logp, rtol=1e-13)
    np.testing.assert_allclose(found.grad, expected.grad, rtol=1e-13)


def test_threads_do_not_share_memory():
    machine = line("llvm")
    x = [points(machine, 16, seed) for seed in range(4)]
    expected = [machine(p) for p in x]
    wrong = []

    def work(k):
        for _ in range(300):
            found = machine(x[k])
            if not np.array_equal(found.grad, expected[k].grad):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_copies_and_pickles_have_the_engine():
    machine = line("llvm")
    x = points(machine)
    expected = machine(x)
    for other in (copy.copy(machine), pickle.loads(pickle.dumps(machine))):
        found = other(x)
        assert other.engine == "llvm"
        np.testing.assert_array_equal(found.grad, expected.grad)


# -- densities without gradients -------------------------------------------------------------------


def test_a_density_alone_turns_to_machine_code_once_that_pays():
    density, reference = line(), line("numpy")
    x = points(density, 16)
    calls = 0
    while density.engine == "numpy":
        calls += 1
        assert calls < 10_000
        np.testing.assert_allclose(density.log_density(x), reference.log_density(x), rtol=1e-13)
    assert calls > 50
    assert density.engine_state[0][2] == "numpy"  # nobody has asked for a gradient
    np.testing.assert_allclose(density.log_density(x), reference.log_density(x), rtol=1e-13)
    assert reference.engine == "numpy"


@pytest.mark.parametrize("chains", range(1, 18))
def test_densities_alone_of_any_number_of_chains(chains):
    machine, reference = line("llvm"), line("numpy")
    x = points(machine, chains, seed=chains)
    np.testing.assert_allclose(machine.log_density(x), reference.log_density(x), rtol=1e-13)
    np.testing.assert_array_equal(machine.log_density(x), machine(x).logp)
    x[chains // 2, 0] = np.nan
    found, expected = machine.log_density(x), reference.log_density(x)
    assert found[chains // 2] == -np.inf
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_machine_code_that_is_exact_does_not_depend_on_what_was_asked_before():
    returns = np.random.default_rng(3).standard_normal(50)
    volatility = load_model("gallery:stochastic_volatility_centered")(y=returns)
    density = as_posterior(volatility)
    x = points(density, 9)

    def same(exact):
        asked, fresh = (Machine(density._programs.gradient, exact=exact) for _ in range(2))
        asked(x)
        return np.array_equal(asked(x[:1])[1], fresh(x[:1])[1])

    assert same(exact=True)
    assert not same(exact=False)  # else the test would notice nothing


def test_a_run_without_gradients_has_machine_code(monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 1000.0)
    model = Line(x=np.arange(4.0), y=Y)
    settings = {"method": "rwm", "chains": 8, "seed": 1, "quiet": True}
    by_numpy = infer(model, engine="numpy", draws=300, **settings)
    usual = infer(model, draws=300, **settings)
    assert by_numpy.attrs["engine"] == "numpy"
    assert usual.attrs["engine"] == "llvm"
    # Rounding decides next to none of so few moves.
    np.testing.assert_allclose(usual.posterior["a"], by_numpy.posterior["a"], rtol=1e-9)
    longer = extend(infer(model, draws=120, **settings), 180, quiet=True)
    np.testing.assert_array_equal(longer.posterior["a"], usual.posterior["a"])


def test_machine_code_that_is_put_off_comes_late_and_then_soon(monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 1000.0)
    monkeypatch.setattr(engines, "LATE", 3000.0)

    def evaluations(density):
        """How many there are until machine code is made."""
        n, x = 1, points(density)
        density(x)
        while density.engine == "numpy":
            density(x)
            n += 1
        return n

    usual, late, again = line(), line(), line()
    late.put_off_machine_code(True)
    again.put_off_machine_code(True)
    again.put_off_machine_code(False)
    soon = evaluations(usual)
    assert soon > 3
    assert evaluations(again) == soon
    assert 2.5 * soon < evaluations(late) <= 3 * soon
    late.put_off_machine_code(True)
    assert late.engine == "llvm"  # what is made stays


# -- where there is no machine code ----------------------------------------------------------------


def test_a_formula_that_asks_for_numbers_is_called():
    class Own(Normal):
        def log_kernel(self, xp, value, *params):
            if xp.sum(params[0]) > 1e300:
                return super().log_kernel(xp, value + 1.0, *params)
            return super().log_kernel(xp, value, *params)

    class Asks(Model):
        m = param(Normal(0, 1))
        a = param(Own(m, 1), noncentered=False)

    density, x = as_posterior(Asks()), np.array([[0.3, -0.2], [1.5, 0.4]])
    for engine in ("llvm", "numpy"):
        density.use_engine(engine)
        m, a = x.T
        found = density(x)
        assert density.engine == engine
        expected = -0.5 * m**2 - 0.5 * (a - m) ** 2 - np.log(2.0 * np.pi)
        np.testing.assert_allclose(found.logp, expected, rtol=1e-13)
        np.testing.assert_allclose(found.grad, np.stack([a - 2.0 * m, m - a], 1), rtol=1e-13)


def test_programs_that_are_too_long_stay_with_numpy(monkeypatch):
    monkeypatch.setattr(length, "MOST", 20)
    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    density = line()
    density(points(density))
    assert density.engine == "numpy"
    assert "operations, which would take long to make" in density._engines.gradient.reason


def test_programs_whose_code_has_too_many_lines_stay_with_numpy(monkeypatch):
    from probmodel.compiler import machine

    monkeypatch.setattr(machine, "LONGEST", 20)
    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    density = line()
    density(points(density))
    assert density.engine == "numpy"
    assert "instructions, which would take long to make" in density._engines.gradient.reason


@pytest.mark.parametrize(("steps", "late"), [(20, False), (400, True)])
def test_long_loops_have_machine_code_after_more_work(monkeypatch, steps, late):
    class Loop(Model):
        a = param(Normal(0, 1))
        x = np.zeros(())
        path = []  # noqa: RUF012
        for t in range(steps):
            x = np.tanh(a * x + np.sin(t))
            path.append(x)
        y = observed(Normal(np.stack(path), 1))

    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    density, reference = as_posterior(Loop(y=np.ones(steps))), as_posterior(Loop(y=np.ones(steps)))
    reference.use_engine("numpy")
    points = np.array([[0.3], [-1.2], [2.0]])
    expected = reference(points)
    calls = 1
    density(points)
    assert (density.engine == "numpy") == late
    operations = density._engines.gradient._programs.gradient.operations
    assert (operations > 2000) == late
    while density.engine == "numpy":
        calls += 1
        found = density(points)
    found = density(points)
    np.testing.assert_allclose(found.logp, expected.logp, rtol=1e-12)
    np.testing.assert_allclose(found.grad, expected.grad, rtol=1e-11)
    assert calls <= 101  # each counts at least what its operations do


@pytest.mark.parametrize("slow", [1, 10**6])
def test_code_that_takes_long_to_make_is_announced_once(monkeypatch, slow):
    monkeypatch.setattr(engines, "_SLOW", slow)
    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    density, said = line(), []
    with engines.announcing(said.append):
        density(points(density))
        density(points(density))
    assert density.engine == "llvm"
    operations = density._engines.gradient._programs.gradient.operations
    text = f"making machine code for {operations} operations, which takes seconds"
    assert said == ([text] if slow == 1 else [])
    density.use_engine()
    density(points(density))  # outside of it nobody is told
    density.use_engine()
    monkeypatch.setattr(length, "MOST", 1)
    with engines.announcing(said.append):  # nor of code that is not made
        density(points(density))
    assert density.engine == "numpy"
    assert len(said) == (slow == 1)


class Decay(Model):
    """A differential equation, which a solver follows with many steps."""

    rate = param(HalfNormal(1))
    level = solve_ode(lambda t, x, rate: -rate * x, np.ones(1), 0.0, np.arange(1.0, 9.0), rate)
    y = observed(Normal(level[:, 0], 0.1))


class Walk(Model):
    """A recurrence of many steps."""

    rate = param(Normal(0, 0.1))
    level = scan(lambda x, t, k: np.tanh(k * x + t), 0.0, np.linspace(0, 1, 500), args=(rate,))
    y = observed(Normal(level, 0.1))


@pytest.mark.parametrize("model", [Decay(y=np.ones(8)), Walk(y=np.ones(500))])
def test_what_is_repeated_within_an_operation_puts_nothing_off(model):
    density = as_posterior(model)
    x, calls = points(density), 0
    while density.engine == "numpy":
        density(x)
        calls += 1
    assert density._engines.gradient._programs.by_numpy.operations > 2000  # NumPy does as many
    assert calls <= 5


def test_engines_are_compared_in_some_of_many_chains(monkeypatch):
    seen, agree = [], engines._agree

    def counted(found, expected):
        seen.append((len(found[0]), len(expected[0])))
        return agree(found, expected)

    monkeypatch.setattr(engines, "_agree", counted)
    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    for chains, compared in ((1, 1), (64, 64), (65, 33), (1000, 63)):
        density = line()
        x = np.random.default_rng(0).normal(size=(chains, density.dim))
        density(x)
        assert seen.pop() == (compared, compared)
        assert density.engine == "llvm"


@pytest.mark.parametrize("method", ["smc", "tempering"])
def test_the_engine_of_tempered_densities_is_told(method):
    sizes = {"draws": 10, "warmup": 10, "chains": 2, "seed": 1, "quiet": True}
    fit = infer(Decay(y=np.ones(8)), method, **sizes)
    assert fit.attrs["engine"] == "llvm"  # so few draws suffice for it
    fit = infer(Decay(y=np.ones(8)), method, **sizes, engine="numpy")
    assert fit.attrs["engine"] == "numpy"


class Volatility(Model):
    """A recurrence that is written as a `for` statement."""

    y = data("day")
    start = param(HalfNormal(1))
    rate = param(Beta(2, 2))
    now = 1.0 * start
    total = log_density(Normal(0, now), y[0])
    for t in range(1, 150):
        now = start + rate * np.abs(y[t - 1]) + 0.5 * rate * now
        total = total + log_density(Normal(0, now), y[t])
    fit = potential(total)


def test_a_model_that_is_too_long_for_machine_code_says_so(monkeypatch):
    monkeypatch.setattr(length, "MOST", 2000)
    monkeypatch.setattr(engines, "ENOUGH", 1000.0)  # the first draws would have it
    monkeypatch.setattr(engines, "_EACH", 0.0)
    model = Volatility(y=np.random.default_rng(0).normal(size=150))
    sizes = {"draws": 10, "warmup": 10, "chains": 2, "seed": 1, "progressbar": False}
    said = {}
    for name, asked in (("", {}), ("quiet", {"quiet": True}), ("numpy", {"engine": "numpy"})):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run = infer(model, **sizes, **asked)
        said[name] = [w for w in seen if "machine code" in str(w.message)]
        assert run.attrs["engine"] == "numpy"
    assert said["quiet"] == said["numpy"] == []
    (found,) = said[""]
    assert re.match(r"Volatility: the log density has \d{4} operations", str(found.message))
    assert (found.category, found.filename) == (UserWarning, __file__)
    density = as_posterior(model)
    assert "machine code" in density.explain(points(density, 1)[0])
    assert [a.kind for a in check_model(model).advice] == ["length"]


def test_a_model_of_usual_length_says_nothing():
    density = line()
    assert density.about_length() == density.about_length(gradient=False) == ""
    engines.note_length(density, "gradient", quiet=False)
    engines.note_length(LogDensity.from_function(lambda x: x[:, 0], 1), "gradient", quiet=False)


def test_machine_code_that_is_wrong_is_not_used(monkeypatch):
    from probmodel.compiler import machine

    right = machine.Machine.__call__
    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    monkeypatch.setattr(
        machine.Machine, "__call__", lambda self, x: (right(self, x)[0], 1.001 * right(self, x)[1])
    )
    density, reference = line(), line("numpy")
    x = points(density)
    with pytest.warns(UserWarning, match="Machine code for Line does not agree with NumPy"):
        found = density(x)
    np.testing.assert_array_equal(found.grad, reference(x).grad)
    assert density.engine == "numpy"


def test_engines_that_differ_by_rounding_are_compared_again_elsewhere(monkeypatch):
    """Where a chain begins gradients may be ill-conditioned: that is no reason to give up."""
    monkeypatch.setattr(engines, "ENOUGH", 200.0)
    seen, agree = [], engines._agree

    def ill_conditioned_twice(found, expected):
        seen.append(len(seen))
        return len(seen) > 2 and agree(found, expected)

    monkeypatch.setattr(engines, "_agree", ill_conditioned_twice)
    density, reference = line(), line("numpy")
    x, calls = points(density), []
    while density.engine == "numpy":
        np.testing.assert_allclose(density(x).grad, reference(x).grad, rtol=1e-12)
        calls.append(len(seen))
        assert len(calls) < 1000
    assert len(seen) == 3
    assert calls.count(1) > calls.count(0)  # after twice as much work, and so on
    np.testing.assert_allclose(density(x).grad, reference(x).grad, rtol=1e-12)


def test_without_llvmlite_numpy_runs_and_says_so_once():
    code = (
        "import sys, warnings; sys.modules['llvmlite'] = None\n"
        "import numpy as np\n"
        "from probmodel.density import engines; engines.ENOUGH = 0.0\n"
        "from probmodel import Model, infer, observed, param\n"
        "from probmodel.distributions import Normal\n"
        "class Mean(Model):\n"
        "    a = param(Normal(0, 1))\n"
        "    y = observed(Normal(a, 1))\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    runs = [infer(Mean(y=1.0), draws=10, warmup=10, quiet=True) for _ in range(2)]\n"
        "print(*(run.attrs['engine'] for run in runs))\n"
        "print(*(str(w.message) for w in seen if 'llvmlite' in str(w.message)), sep='\\n')\n"
    )
    file = "\n".join(["", code])  # classes of models are found in files
    done = subprocess.run(
        [sys.executable, "-c", file], capture_output=True, text=True, check=True, timeout=300
    )
    first, *said = done.stdout.strip().splitlines()
    assert first == "numpy numpy"
    assert len(said) == 1
    assert said[0].startswith("Densities run in NumPy, as llvmlite cannot be imported")


# -- runs ------------------------------------------------------------------------------------------


def test_a_run_says_what_computed_its_gradients(monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 1000.0)
    model = Line(x=np.arange(4.0), y=Y)
    by_numpy = infer(model, draws=200, seed=1, quiet=True, engine="numpy")
    usual = infer(model, draws=200, seed=1, quiet=True)
    assert by_numpy.attrs["engine"] == "numpy"
    assert usual.attrs["engine"] == "llvm"
    for name in ("a", "b", "s"):
        found, expected = (run.posterior[name].values for run in (usual, by_numpy))
        error = expected.std() * np.sqrt(2.0 / 800.0)
        assert abs(found.mean() - expected.mean()) < 5.0 * error


def test_the_same_seed_has_the_same_draws_whatever_was_asked_before():
    density = line()
    first = infer(density, draws=100, seed=1, quiet=True)
    for _ in range(20):
        density(points(density))
    again = infer(density, draws=100, seed=1, quiet=True)
    np.testing.assert_array_equal(first.posterior["a"].values, again.posterior["a"].values)


def test_an_engine_that_is_none():
    with pytest.raises(SamplerError, match="engine must be one of 'auto', 'numpy', 'llvm'"):
        infer(Line(x=np.arange(4.0), y=Y), engine="lvm")
    plain = LogDensity.from_function(lambda x: -0.5 * np.sum(x**2, axis=1), 2, name="x")
    with pytest.raises(SamplerError, match="engine must be one of"):
        infer(plain, engine="cuda")
    run = infer(plain, engine="llvm", draws=50, seed=1, quiet=True)  # it has a function of its own
    assert run.attrs["engine"] == "numpy"


# -- cores -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chains", [1, 4, 5, 8, 9, 16, 17, 40])
def test_cores_change_nothing(chains, monkeypatch):
    from probmodel.compiler import machine

    monkeypatch.setattr(machine, "WORTH_A_THREAD", 0.0)
    one, many = line(), line()
    one.use_engine("llvm", cores=1)
    many.use_engine("llvm", cores=3)
    x = points(one, chains)
    for _ in range(3):  # the first call of each size is on one core
        found, expected = many(x), one(x)
        np.testing.assert_array_equal(found.logp, expected.logp)
        np.testing.assert_array_equal(found.grad, expected.grad)


def test_long_gradients_take_several_threads(monkeypatch):
    from probmodel.compiler import routine_calls as calls

    parts = []
    right = calls._function

    def watched(*args):
        function = right(*args)

        def call(*args):
            first, end = args[-2:]
            parts.append((end - first, threading.current_thread() is threading.main_thread()))
            function(*args)

        return call

    monkeypatch.setattr(calls, "_function", watched)
    calls.routines.cache_clear()
    n = 200_000
    density = as_posterior(Line(x=np.linspace(-1, 1, n), y=np.zeros(n)))
    density.use_engine("llvm", cores=2)
    x = points(density, 16)
    expected = density(x)
    parts.clear()
    found = density(x)
    assert sorted(parts) == [(8, False), (8, True)]
    np.testing.assert_array_equal(found.grad, expected.grad)
    density.use_engine("llvm", cores=1)
    parts.clear()
    density(x)
    density(x)
    assert parts == [(16, True)] * 3  # when it is made, it is compared with NumPy
    calls.routines.cache_clear()


def test_cores_that_make_no_sense():
    with pytest.raises(SamplerError, match="cores must be a whole number of at least 1"):
        infer(Line(x=np.arange(4.0), y=Y), cores=0)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_again_afterwards(enabled):
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        density = as_posterior(Line(x=np.arange(4.0), y=Y))
        density.use_engine("llvm")
        density(points(density, 3))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()
