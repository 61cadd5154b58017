import json
import sys
from pathlib import Path

import numpy as np
import pytest

from probmodel import (
    DataError,
    Model,
    ModelError,
    SamplingWarning,
    data,
    deterministic,
    load_model,
    observed,
    param,
    potential,
    read_data,
    to_stan,
)
from probmodel import distributions as d
from probmodel.cli import main
from probmodel.expressions import as_expression
from probmodel.functions import component_log_densities, most_likely_states
from probmodel.model.gallery import pages
from probmodel.stan.export.stan_families import FAMILIES
from probmodel.stan.library.stan_densities import DENSITIES

sys.path.insert(0, str(Path(__file__).parent))
from round_trips import TOO_NEW, complaint, gap, stanc
from small_models import MODELS

GALLERY = [*pages()]


def of_gallery(name):
    return load_model(f"gallery:{name}")(**read_data(f"gallery:{name}"))


def of_name(name):
    if name in MODELS:
        cls, values = MODELS[name]
        return cls(**values)
    return of_gallery(name)


@pytest.mark.parametrize("name", [*MODELS, *GALLERY])
def test_program_has_the_same_density(name):
    model = of_name(name)
    difference, one, other = gap(model, to_stan(model))
    assert difference < 1e-9, (one, other)


@pytest.mark.skipif(stanc() is None, reason="Stan's compiler is not installed")
@pytest.mark.parametrize("name", [*MODELS, *GALLERY])
def test_stan_accepts_the_program(name, tmp_path):
    program = to_stan(of_name(name))
    if any(word in program.code for word in TOO_NEW):
        pytest.skip("the compiler at hand may be older than a type that the program has")
    assert complaint(stanc(), program, tmp_path) == ""


class Clinics(Model):
    clinic = data("day", dtype=int, lower=0)
    level = param(d.Normal(0, 1), dims="place")
    visits = observed(d.Poisson(np.exp(level[clinic])), dims="day")


CLINICS = Clinics(clinic=[0, 0, 1], visits=[3, 5, 1], coords={"place": ["north", "south"]})


def test_a_program_in_full():
    assert (
        str(to_stan(CLINICS))
        == """\
data {
  int<lower=0> n_day;
  int<lower=0> n_place;
  array[n_day] int<lower=1> clinic;  // counts from 1
  array[n_day] int visits;
}
parameters {
  vector[n_place] level;
}
model {
  level ~ normal(0, 1);
  visits ~ poisson(exp(level[clinic]));
}
"""
    )


def test_data_count_from_one():
    expected = {"n_day": 3, "n_place": 2, "clinic": [1, 1, 2], "visits": [3, 5, 1]}
    assert to_stan(CLINICS).data == expected


def test_categories_count_from_one_where_they_are_nothing_else():
    class Votes(Model):
        p = param(d.Dirichlet(np.ones(3)))
        y = observed(d.Categorical(p), dims="obs")

    class Again(Votes):
        also = potential(-np.sum(Votes.y) * Votes.p[0])

    assert to_stan(Votes(y=[0, 2])).data["y"] == [1, 3]
    assert to_stan(Again(y=[0, 2])).data["y"] == [0, 2]
    assert "(y[i] + 1) ~ categorical(p)" in to_stan(Again(y=[0, 2])).code.replace(
        "y[i] + 1 ~", "(y[i] + 1) ~"
    )


def test_files(tmp_path):
    program, data_file = to_stan(CLINICS).write(tmp_path / "new")
    assert program.read_text() == to_stan(CLINICS).code
    assert json.loads(data_file.read_text()) == to_stan(CLINICS).data
    assert [program.name, data_file.name] == ["Clinics.stan", "Clinics.json"]


def test_log_likelihoods():
    program = to_stan(CLINICS, log_lik=True)
    assert "log_lik[i] = poisson_lpmf(visits[i] | exp(level[clinic[i]]));" in program.code
    assert "generated quantities {\n  vector[n_day] log_lik;" in program.code


@pytest.mark.parametrize("series", [d.AR1(0.5, 1), d.RandomWalk(1, 1), d.GARCH(0, 1, 0.1, 0.1, 1)])
def test_series_have_no_log_likelihood_of_each_value(series):
    class Series(Model):
        unused = param(d.Normal(0, 1))
        y = observed(series, dims="day")

    model = Series(y=[1.0, 2.0, 3.0])
    assert "generated quantities" not in to_stan(model).code
    with pytest.raises(ModelError, match=rf"'y': log_lik=True has nothing .* {series.name}, whose"):
        to_stan(model, log_lik=True)


def test_log_likelihoods_beside_a_series_are_written():
    class Joint(Model):
        level = param(d.Normal(0, 1))
        path = observed(d.AR1(0.5, 1), dims="day")
        count = observed(d.Poisson(np.exp(level)), dims="visit")

    model = Joint(path=[1.0, 2.0, 3.0], count=[1, 0])
    with pytest.warns(SamplingWarning, match="leaves out observed 'path': AR1 has") as caught:
        code = to_stan(model, log_lik=True).code
    assert caught[0].filename == __file__
    assert "vector[n_visit] log_lik_count;" in code
    assert "log_lik_path" not in code


def test_what_the_density_does_not_need_comes_after_the_draws():
    class Two(Model):
        a = param(d.Normal(0, 1))
        b = deterministic(a + 1)
        c = deterministic(b**2)
        y = observed(d.Normal(b, 1))

    code = to_stan(Two(y=1.0)).code
    assert "transformed parameters {\n  real b = a + 1;\n}" in code
    assert "generated quantities {\n  real c = square(b);\n}" in code


def test_names_that_are_words_of_stan():
    cls, values = MODELS["Words"]
    names = to_stan(cls(**values)).names
    assert names == {"int": "int_value", "exp": "exp_value", "i": "i", "μ": "mu", "y": "y"}


def test_what_has_no_spelling_names_the_declaration():
    x = np.linspace(0, 1, 4)

    class Torus(Model):
        f = param(d.CirculantGP(d.kernels.ExpQuad(1.0, 0.1), (x,)))
        y = observed(d.Normal(f[:4], 1))

    with pytest.raises(ModelError, match=r"param 'f': the distribution CirculantGP has no spell"):
        to_stan(Torus(y=x))


def test_formulas_without_a_spelling():
    class States(Model):
        mu = param(d.Normal([0, 1], 1))
        y = observed(d.HiddenMarkov([0.5, 0.5], np.full((2, 2), 0.5), d.Normal(mu, 1)))
        logs = component_log_densities(d.Normal(mu, 1), y)
        path = deterministic(most_likely_states(logs, [0.5, 0.5], np.full((2, 2), 0.5)))

    with pytest.raises(ModelError, match=r"deterministic 'path': most_likely_states\(...\) has"):
        to_stan(States(y=[0.1, 0.2, 1.0]))


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.dot(a[0], a),
        lambda a: np.trace(a),
        lambda a: np.concatenate([a[0], a[1]], axis=None),
    ],
)
def test_arrays_without_a_spelling(function):
    class Arrays(Model):
        a = param(d.Normal(0, 1), shape=(2, 3, 3))
        out = deterministic(function(a))

    with pytest.raises(ModelError, match=r"deterministic 'out': .* has no spelling in Stan"):
        to_stan(Arrays())


def test_only_bound_models():
    with pytest.raises(ModelError, match="bound model"):
        to_stan(Clinics)
    with pytest.raises(DataError, match="'visits'"):
        to_stan(Clinics(clinic=[0], coords={"place": ["north"], "day": [1]}))


def test_numbers_of_trials_are_integers_of_the_program():
    cls, values = MODELS["Trials"]
    program = to_stan(cls(**values))
    assert "  array[n_obs] int n_int;\n" in program.code
    assert "y ~ binomial(n_int, p);" in program.code
    assert "for (i in 1:n_obs) h[i] ~ hypergeometric(constant_2[i], " in program.code
    assert program.data["n_int"] == [5, 4, 3]
    assert "n" not in program.data


def added(x, times):
    total = x
    for k in range(times):
        total = total + k * x
    return total


def test_long_chains_of_operations():
    class Chain(Model):
        a = param(d.Normal(0, 1))
        y = observed(d.Normal(added(a, 300), 1))

    class LongChain(Model):
        a = param(d.Normal(0, 1))
        y = observed(d.Normal(added(a, 1500), 1))

    difference, one, other = gap(Chain(y=1.0), to_stan(Chain(y=1.0)))
    assert difference < 1e-9, (one, other)
    assert "1499 * a" in to_stan(LongChain(y=1.0)).code


def test_of_the_command_line(capsys):
    assert main(["show", "gallery:eight_schools", "--format", "stan"]) == 0
    assert "theta_raw ~ std_normal();" in capsys.readouterr().out


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_come_in_the_order_of_stan(name):
    family, cls = FAMILIES[name], getattr(d, name)
    given = {parameter: as_expression(0.5) for parameter in cls.parameters}
    entry = DENSITIES[family.stan]
    arguments = [as_expression(value) for value in family.arguments(given)]
    made = entry.make(*([np.array([1, 2])] if entry.takes_value else []), *arguments)
    made = getattr(made, "dist", made)
    if type(made) is cls:
        names = [n for n in given if n != "n"] if entry.takes_value else list(given)
        assert all(made.args[parameter] is given[parameter] for parameter in names)
    else:  # a half of another one, and another name of a special case, which small models have
        assert name.startswith("Half") or name in ("Geometric", "VonMises")
