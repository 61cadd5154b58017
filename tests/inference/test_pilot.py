"""Before the warm-up: chains arrive, hierarchies are standardised, and what comes in between."""

import json
import pickle

import numpy as np
import pytest

from probmodel import LogDensity, Model, data, infer, observed, param, sbc
from probmodel.adaptation.ascent import CLIMBS
from probmodel.density import as_posterior
from probmodel.density.engines import Switch
from probmodel.density.posterior import ModelDensity
from probmodel.distributions import BernoulliLogit, HalfCauchy, HalfNormal, Normal, RandomWalk
from probmodel.errors import TimeLimitError
from probmodel.inference import pilot as module
from probmodel.inference.counting import Work
from probmodel.inference.driver import drive
from probmodel.inference.pilot import FEWEST, MOST, ROUNDS, Pilot
from probmodel.model.pseudo_data import PseudoData
from probmodel.results.arviz_object import group

CLIMB = MOST * (1 + CLIMBS)  # in all units
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SHORT = {"draws": 20, "warmup": 30, "chains": 2, "seed": 1, "quiet": True}


class Schools(Model):
    sigma = data(dims="school")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="school")
    y = observed(Normal(theta, sigma), dims="school")


class Noncentred(Model):
    sigma = data(dims="school")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="school", noncentered=True)
    y = observed(Normal(theta, sigma), dims="school")


class AsDeclared(Model):
    sigma = data(dims="school")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="school", noncentered=False)
    y = observed(Normal(theta, sigma), dims="school")


class Logistic(Model):
    mu = param(Normal(0, 1))
    tau = param(HalfNormal(1))
    theta = param(Normal(mu, tau), shape=3)
    y = observed(BernoulliLogit(theta))


def schools(model=Schools):
    return model(sigma=SIGMA, y=Y)


def values(result, name):
    return np.asarray(group(result, "posterior")[name])


def standardised(result):
    return json.loads(result.attrs["standardised"])


# -- runs -----------------------------------------------------------------------------------------

QUANTITIES = {
    "mu": lambda v: v["mu"],
    "mu squared": lambda v: v["mu"] ** 2,
    "log tau": lambda v: np.log(v["tau"]),
    "log tau squared": lambda v: np.log(v["tau"]) ** 2,
    "first": lambda v: v["theta"][:, :, 0],
    "first squared": lambda v: v["theta"][:, :, 0] ** 2,
    "third": lambda v: v["theta"][:, :, 2],
}
CHAINS = 16


@pytest.fixture(scope="module")
def reference():
    return chain_means(schools(Noncentred), 1)


def chain_means(model, seed):
    """Means of some quantities, a row each, by chain: (quantities, chains)."""
    result = infer(model, draws=500, warmup=400, chains=CHAINS, seed=seed, quiet=True)
    found = {name: values(result, name) for name in ("mu", "tau", "theta")}
    return np.stack([np.mean(f(found), axis=1) for f in QUANTITIES.values()])


def deviations(a, b):
    """Differences of means, in standard errors that chains themselves tell."""
    error = np.sqrt((np.var(a, axis=1, ddof=1) + np.var(b, axis=1, ddof=1)) / CHAINS)
    return np.abs(np.mean(a, axis=1) - np.mean(b, axis=1)) / error


def test_the_posterior_is_that_of_the_noncentred_model(reference):
    assert np.all(deviations(chain_means(schools(), 2), reference) < 5.0)


def test_with_another_jacobian_it_is_another(reference, monkeypatch):
    """Negative control: the Jacobian twice, as without it the posterior would be improper."""
    once = Normal.noncentered_log_det

    def twice(self, *args):
        return 2.0 * once(self, *args)

    monkeypatch.setattr(Normal, "noncentered_log_det", twice)
    assert np.max(deviations(chain_means(schools(), 2), reference)) > 5.0


@pytest.mark.parametrize("chains", [1, 2, 3])
@pytest.mark.parametrize("pool", [True, False])
def test_what_was_chosen_is_told(chains, pool):
    result = infer(schools(), **{**SHORT, "chains": chains, "pool": pool})
    found = standardised(result)
    assert list(found) == ["theta"]
    shares = [found["theta"][which] for which in ("least", "median", "most")]
    assert 0.0 <= shares[0] <= shares[1] <= shares[2] <= 1.0
    assert values(result, "theta").shape == (chains, 20, 8)
    assert np.isfinite(values(result, "theta")).all()


def test_much_data_is_centred_and_little_is_not():
    result = infer(Schools(sigma=np.logspace(-3.0, 3.0, 8), y=Y), **SHORT)
    found = standardised(result)["theta"]
    assert found["least"] < 0.01
    assert found["most"] > 0.99


def test_what_is_not_to_be_standardised_is_left():
    result = infer(schools(), standardise=False, **SHORT)
    assert result.attrs["standardised"] == "{}"
    assert (result.attrs["standardise"], standardised(infer(schools(), **SHORT)) != {}) == (0, True)
    for model in (AsDeclared, Noncentred):
        assert standardised(infer(schools(model), **SHORT)) == {}


def test_the_same_seed_gives_the_same_draws():
    first, second = (infer(schools(), **SHORT) for _ in range(2))
    np.testing.assert_array_equal(values(first, "theta"), values(second, "theta"))
    other = infer(schools(), **{**SHORT, "seed": 2})
    assert not np.array_equal(values(first, "theta"), values(other, "theta"))


@pytest.mark.parametrize(
    ("method", "settings"),
    [("rmhmc", {"metric": "softabs"}), ("mmala", {"metric": "softabs"}), ("rwm", {}), ("am", {})],
)
def test_methods_that_need_a_metric_or_no_gradient_leave_it_as_declared(method, settings):
    sizes = {**SHORT, "draws": 4, "warmup": 4}
    result = infer(Logistic(y=np.array([1, 0, 1])), method, **sizes, **settings)
    assert standardised(result) == {}
    assert standardised(infer(Logistic(y=np.array([1, 0, 1])), **SHORT)) != {}


# -- the pilot by itself --------------------------------------------------------------------------


class Counted:
    """Counts rows that are evaluated, and keeps all else of a density."""

    has_gradient = True

    def __init__(self, density):
        self.density, self.dim, self.grad, self.logp = density, density.dim, 0, 0

    def __call__(self, x):
        self.grad += len(x)
        return self.density(x)

    def log_density(self, x):
        self.logp += len(x)
        return self.density.log_density(x)

    def __getattr__(self, name):
        return getattr(self.density, name)


def driven(pilot, iterations=None):
    """Run a pilot; returns the positions after each iteration."""
    pilot.start()
    places = []
    for i in range(pilot.steps if iterations is None else iterations):
        pilot.warm_up(i, pilot.steps)
        places.append(pilot.positions)
    return places


def starts(density, chains=4):
    return density.initial_points(np.random.default_rng(3), chains)


def a_pilot(density, chains=4, **options):
    return Pilot(density, starts(density, chains), np.random.default_rng(4), **options)


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, 2 * CLIMB + sum(ROUNDS) + 1),
        ({"standardise": False}, CLIMB),
        ({"arrive": False}, sum(ROUNDS) + 1),
        ({"arrive": False, "standardise": False}, 0),
    ],
)
@pytest.mark.parametrize("chains", [1, 2, 3])
def test_steps_bound_what_is_done(options, steps, chains):
    pilot = a_pilot(as_posterior(schools()), chains, **options)
    assert pilot.steps == steps
    pilot.start()
    assert pilot.work.grad == 0
    work = [pilot.work]
    for i in range(steps):
        pilot.warm_up(i, steps)
        work.append(pilot.work)
        assert np.isfinite(pilot.positions).all()
    pilot.warm_up(steps, steps)
    assert pilot.work == work[-1]
    pilot.freeze(steps, 0)
    pilot.draw()
    assert pilot.work == work[-1]
    assert np.isfinite(pilot.density(pilot.positions).logp).all()


def test_a_step_less_would_not_do(monkeypatch):
    """Negative control: where chains rise for ever, all steps but the last do something."""
    monkeypatch.setattr(module, "RISE", -np.inf)
    steps = sum(ROUNDS) + 1
    pilot = a_pilot(as_posterior(schools()), arrive=False)
    scales = []
    pilot.start()
    for i in range(steps):
        pilot.warm_up(i, steps)
        scales.append(pilot.density)
    assert scales[-1] is not scales[-2]


def test_only_the_scale_that_is_sampled_has_machine_code(monkeypatch):
    made, make = [], Switch._made
    monkeypatch.setattr(
        Switch, "_made", lambda self, x: (made.append(self._binding), make(self, x))[1]
    )
    infer(schools(), **SHORT)
    (scale,) = {id(binding) for binding in made}
    assert scale == id(made[-1])
    assert made[-1].pseudo_data  # not as declared


class FarScales(Model):
    """Groups whose scale of measurement is steep in a parameter, so that the bulk is far away."""

    x = data(dims="obs")
    group = data(dims="obs", dtype=int)
    mu = param(Normal(0, 5))
    tau = param(HalfNormal(1))
    phi = param(Normal(0, 5))
    theta = param(Normal(mu, tau), shape=12)
    y = observed(Normal(theta[group], np.exp(phi * x)), dims="obs")


def far_scales():
    rng = np.random.default_rng(8)
    x, group = rng.uniform(1.0, 3.0, 240), np.arange(240) % 12
    y = 400.0 + rng.normal(0, 0.5, 12)[group] + np.exp(-3.0 * x) * rng.standard_normal(240)
    return as_posterior(FarScales(x=x, group=group, y=y))


def test_there_are_as_many_rounds_as_chains_rise():
    rounds = []

    class Watched(Pilot):
        def _langevin(self, n):
            visited = yield from super()._langevin(n)
            rounds.append((n, visited.rising))
            return visited

    for density, arrive in ((as_posterior(schools()), True), (far_scales(), False)):
        rounds.clear()
        x0 = density.initial_points(np.random.default_rng(2), 16, inits=2.0)
        driven(Watched(density, x0, np.random.default_rng(4), arrive=arrive))
        assert [n for n, _ in rounds] == list(ROUNDS[: len(rounds)])
        assert len(rounds) >= FEWEST
        assert all(rising for _, rising in rounds[FEWEST - 1 : -1])
        assert not rounds[-1][1] or len(rounds) == len(ROUNDS)
    assert len(rounds) > FEWEST


@pytest.mark.parametrize("arrive", [True, False])
def test_work_is_counted(arrive, monkeypatch):
    counted = {"grad": 0}
    call = ModelDensity.__call__

    def counting(self, x):
        counted["grad"] += len(x)
        return call(self, x)

    density = as_posterior(schools())
    pilot = a_pilot(density, arrive=arrive)
    monkeypatch.setattr(ModelDensity, "__call__", counting)
    driven(pilot)
    assert counted["grad"] > 4 * sum(ROUNDS[:FEWEST])
    assert pilot.work == (0, counted["grad"], 0, 0)
    before = pilot.work
    state, timed = pilot.density.engine_state, []
    rehearse = ModelDensity.rehearse
    monkeypatch.setattr(
        ModelDensity,
        "rehearse",
        lambda self, x, *rest: timed.append(len(x)) or rehearse(self, x, *rest),
    )
    pilot.evaluate_once()
    assert timed == [1]
    assert pilot.work == before
    assert pilot.density.engine_state == state


def test_work_of_a_target_that_is_no_model():
    counted = Counted(LogDensity.from_function(lambda x: -0.5 * (x**2).sum(axis=1), dim=3))
    pilot = Pilot(counted, np.full((4, 3), 50.0), np.random.default_rng(4))
    assert pilot.steps == CLIMB
    driven(pilot)
    assert pilot.work == (0, counted.grad, 0, 0)
    assert 0 < counted.grad <= 4 * MOST
    assert pilot.density is counted
    assert np.all(np.abs(pilot.positions) < 10.0)


@pytest.fixture
def pilots(monkeypatch):
    """The pilots of runs."""
    made = []

    class Watched(Pilot):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr("probmodel.inference.groups.Pilot", Watched)
    return made


def test_the_pilot_is_part_of_the_work_of_the_warmup(pilots, monkeypatch):
    whole = infer(schools(), **SHORT).attrs["n_grad_warmup"]
    spent = pilots[0].work.grad
    assert spent > 2 * sum(ROUNDS[:FEWEST])
    monkeypatch.setattr(Pilot, "work", Work())
    assert infer(schools(), **SHORT).attrs["n_grad_warmup"] == whole - spent


@pytest.mark.parametrize("inits", [1, {"mu": 3.0}, "prior", [{"mu": 1.0}, {"tau": 2.0}]])
def test_chains_do_not_climb_from_where_they_are_told_to_start(inits, pilots):
    infer(schools(), inits=inits, **SHORT)
    infer(schools(), inits=inits, standardise=False, **SHORT)
    infer(schools(), standardise=False, **SHORT)
    assert [pilot.steps for pilot in pilots] == [sum(ROUNDS) + 1, 0, CLIMB]
    assert [pilot.work.grad > 0 for pilot in pilots] == [True, False, True]


@pytest.mark.parametrize("method", ["rwm", "am"])
def test_without_a_gradient_nothing_is_evaluated_before_the_warmup(method):
    rows = []

    def function(x):
        rows.append(len(x))
        return -0.5 * np.sum(x * x, axis=1)

    density = LogDensity.from_function(function, dim=2, gradient=False)
    result = infer(density, method, **SHORT)
    assert result.attrs["n_grad_warmup"] == 0
    assert standardised(result) == {}


# -- ends before their time -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_chains_do_not_climb_into_a_funnel(seed):
    """Of what is sampled as declared: the scale is below 1e-3 with a probability of 2e-4."""
    density = as_posterior(schools(AsDeclared))
    x0 = density.initial_points(np.random.default_rng(seed), 16)
    pilot = Pilot(density, x0, np.random.default_rng(seed + 10))
    drive([pilot], warmup=pilot.steps, iterations=0)
    tau = density.constrain(pilot.positions, ("tau",))["tau"]
    assert np.mean(tau > 1e-3) > 0.8
    assert np.median(tau) > 0.01


def test_a_time_limit_in_the_pilot():
    with pytest.raises(TimeLimitError, match="after 0 of 30 warm-up") as caught:
        infer(schools(), **SHORT, max_time=1e-9)
    inits = caught.value.inits
    assert [set(init) for init in inits] == [{"mu", "tau", "theta"}] * 2
    result = infer(schools(), **SHORT, inits=inits)
    assert values(result, "mu").shape == (2, 20)


@pytest.mark.parametrize("calls", [12, 60, 100, 140])
def test_an_interrupt_in_the_pilot(calls, monkeypatch):
    call, count = ModelDensity.__call__, {"calls": 0}

    def interrupting(self, x):
        count["calls"] += 1
        if count["calls"] == calls:
            raise KeyboardInterrupt
        return call(self, x)

    monkeypatch.setattr(ModelDensity, "__call__", interrupting)
    with pytest.raises(KeyboardInterrupt) as caught:
        infer(schools(), **SHORT)
    assert count["calls"] == calls
    inits = caught.value.inits
    assert [set(init) for init in inits] == [{"mu", "tau", "theta"}] * 2
    assert all(np.isfinite(value).all() for init in inits for value in init.values())
    monkeypatch.undo()
    infer(schools(), **SHORT, inits=inits)


# -- scales that are lost -------------------------------------------------------------------------


def test_where_all_places_are_lost_the_scale_stays(monkeypatch):
    monkeypatch.setattr(ModelDensity, "translated", lambda self, x, origin: np.full_like(x, np.nan))
    density = as_posterior(schools())
    pilot = a_pilot(density)
    driven(pilot)
    assert pilot.density is density
    assert np.isfinite(density(pilot.positions).logp).all()
    result = infer(schools(), **SHORT)
    assert result.attrs["draws_done"] == 20
    assert standardised(result) == {}


def test_chains_whose_place_is_lost_go_on_from_others(monkeypatch):
    translated = ModelDensity.translated

    def lossy(self, x, origin):
        moved = translated(self, x, origin)
        moved[0] = np.nan
        return moved

    monkeypatch.setattr(module, "ROUNDS", ())
    density = as_posterior(schools())
    pilot = a_pilot(density, arrive=False)
    monkeypatch.setattr(ModelDensity, "translated", lossy)
    driven(pilot)
    assert pilot.density is not density
    x = translated(pilot.density, starts(density), density)
    np.testing.assert_array_equal(pilot.positions[1:], x[1:])
    assert (pilot.positions[0] == x[1:]).all(axis=1).any()


def test_the_scale_that_is_sampled_can_be_sent_elsewhere():
    pilot = a_pilot(as_posterior(schools()))
    driven(pilot)
    again = pickle.loads(pickle.dumps(pilot.density))
    np.testing.assert_array_equal(again(pilot.positions).logp, pilot.density(pilot.positions).logp)


class Unseen(Model):
    """Nothing is told of the effects, nor of the walk."""

    tau = param(HalfNormal(1))
    effect = param(Normal(0, tau), shape=3)
    walk = param(RandomWalk(tau, 1.0), shape=4)
    y = observed(Normal(0, tau), dims="obs")


def test_what_the_data_say_nothing_of_is_non_centred():
    fit = infer(Unseen(y=[0.3, -0.2]), seed=1, draws=20, warmup=50, chains=4, quiet=True)
    told = json.loads(fit.attrs["standardised"])
    assert set(told) == {"effect", "walk"}
    for share in told.values():
        assert set(share.values()) == {0.0}


def test_draws_that_are_kept_unconstrained_are_on_the_declared_scale():
    declared = as_posterior(Unseen(y=[0.3, -0.2]))
    x = declared.initial_points(np.random.default_rng(3), 6)
    pseudo_data = {"effect": PseudoData(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))}
    sampled = ModelDensity(declared.model, pseudo_data)
    there = sampled.translated(x, declared)
    assert np.abs(there - x).max() > 0.01
    back = sampled.as_declared(there.reshape(2, 3, -1))
    np.testing.assert_allclose(back.reshape(x.shape), x, atol=1e-12)
    assert declared.as_declared(x) is x


def test_simulations_for_calibration_may_leave_hierarchies_as_declared():
    sizes = {"draws": 40, "warmup": 60, "chains": 4, "thin_to": 9, "seed": 1, "progressbar": False}
    result = sbc(Unseen, 2, data={"y": np.zeros(2)}, standardise=False, **sizes)
    assert "log likelihood" in str(result)
