"""Samplers of other packages: found by entry points, used like others, harmless if broken."""

import dataclasses
import importlib.metadata
import io
import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from probmodel import LogDensity, infer
from probmodel.cli import main
from probmodel.errors import SamplerError
from probmodel.samplers import (
    SAMPLERS,
    available_samplers,
    find_sampler,
    list_samplers,
    make_sampler,
)
from probmodel.samplers.base import Sampler
from probmodel.samplers.random_walk.rwm import RandomWalk
from probmodel.samplers.registry import GROUP
from probmodel.types import Evaluation

PACKAGE = '''
"""A package with a sampler."""

from dataclasses import dataclass

from probmodel.samplers.random_walk.rwm import RandomWalk


@dataclass(frozen=True)
class Strider(RandomWalk):
    """Random walk with long legs."""

    target_accept: float = 0.1
    legs: int = 2

    name = "strider"
    summary = "random walk with long legs"
    paper = "Nobody (2026)"
    default_draws = 30


class Ranger(Strider):
    """Another name for it."""
'''
SIZES = {"draws": 30, "warmup": 40, "chains": 2, "seed": 1, "quiet": True}


class Distribution:
    """What an entry point knows of its package."""

    def __init__(self, name, version="1.0"):
        self.name, self.version = name, version


def entry(name, value, package=None):
    """Make an entry point, of a package if one is named."""
    point = EntryPoint(name, value, GROUP)
    return point if package is None else point._for(Distribution(package))


@pytest.fixture
def offer(monkeypatch):
    """Let these entry points be all that are installed."""

    def install(*points):
        def entry_points(*, group):
            return [point for point in points if point.group == group]

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)

    install()
    return install


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package as pip would, in a directory of its own."""
    (tmp_path / "striders").mkdir()
    (tmp_path / "striders" / "__init__.py").write_text(PACKAGE)
    info = tmp_path / "striders-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: striders\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        f"[{GROUP}]\nstrider = striders:Strider\ngone = striders:Gone\nmala = striders:Strider\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield info
    sys.modules.pop("striders", None)


@pytest.fixture
def density():
    return LogDensity.from_function(lambda x: -0.5 * np.sum(x**2, axis=1), 2, gradient=np.negative)


def test_a_package_on_the_path_is_found_without_being_imported(installed):
    assert available_samplers() == (*SAMPLERS, "gone", "strider")
    assert "striders" not in sys.modules
    kind = find_sampler("strider")
    assert kind is sys.modules["striders"].Strider
    assert make_sampler("strider", legs=4) == kind(legs=4)


def test_it_is_used_like_a_built_in_one(installed, density):
    result = infer(density, "strider", legs=3, **SIZES)
    assert result.attrs["method"] == "strider"
    assert json.loads(result.attrs["settings"])["legs"] == 3
    with pytest.raises(SamplerError, match="Did you mean 'legs'"):
        infer(density, "strider", leg=3, **SIZES)


def test_a_missing_class_harms_nobody_else(installed, density):
    with pytest.raises(SamplerError) as error:
        infer(density, "gone", **SIZES)
    for part in ("gone = striders:Gone", "striders 1.2", "AttributeError", "'Gone'"):
        assert part in str(error.value)
    assert isinstance(error.value.__cause__, AttributeError)
    assert infer(density, "mala", **SIZES).attrs["method"] == "mala"


def test_damaged_metadata(installed):
    (installed / "METADATA").unlink()
    with pytest.raises(SamplerError, match="AttributeError"):
        find_sampler("gone")


def test_the_command_line_lists_them(installed, capsys):
    assert main(["methods"]) == 0
    output = capsys.readouterr().out
    table, *problems = output.split("\n\n")
    own, foreign = table.splitlines()[1 : len(SAMPLERS) + 1], table.splitlines()[-3:]
    assert [line.split()[0] for line in own] == list(SAMPLERS)
    lines = {line.split()[0]: line for line in foreign}
    assert "random walk with long legs" in lines["strider"]
    assert lines["strider"].endswith("striders 1.2")
    assert "cannot be used" in lines["gone"]
    assert "cannot be used" in lines["mala"]
    assert "failed with AttributeError" in problems[0]
    assert "there is a built-in method 'mala'" in problems[1]


def test_nearest_of_all(offer):
    offer(entry("strider", "striders:Strider"))
    with pytest.raises(SamplerError, match="Did you mean 'strider'"):
        make_sampler("stridor")
    with pytest.raises(SamplerError, match="Unknown method 3"):
        find_sampler(3)


def test_built_in_names_read_no_metadata(monkeypatch):
    def refuse(**selection):
        raise AssertionError("not needed")

    monkeypatch.setattr(importlib.metadata, "entry_points", refuse)
    assert find_sampler("mala") is SAMPLERS["mala"]
    assert make_sampler("rwm") == RandomWalk()


def test_importing_the_samplers_reads_no_metadata():
    code = "import sys, probmodel.samplers; sys.exit('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@dataclasses.dataclass(frozen=True)
class Unfinished(Sampler):
    name = "unfinished"


@dataclasses.dataclass(frozen=True)
class Renamed(RandomWalk):
    name = "walker"


class Plain(Sampler):
    """A sampler that is no dataclass."""

    name = "plain"
    coupling = "independent"
    init = step = adapt_init = adapt = params = None


NOT_A_CLASS = "rwm"
HERE = __name__


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("nowhere", "no_such_package:Sampler", "ModuleNotFoundError: No module named"),
        ("constant", f"{HERE}:NOT_A_CLASS", "derived from probmodel.samplers.base.Sampler"),
        ("stranger", f"{HERE}:Distribution", "derived from probmodel.samplers.base.Sampler"),
        ("unfinished", f"{HERE}:Unfinished", "lacks the methods adapt, adapt_init, init"),
        ("plain", f"{HERE}:Plain", "is no dataclass"),
        ("runner", f"{HERE}:Renamed", "a sampler called 'walker'"),
    ],
)
def test_what_is_no_sampler_is_named_with_its_package(offer, name, value, message):
    offer(entry(name, value, "makers"))
    with pytest.raises(SamplerError, match=message) as error:
        find_sampler(name)
    assert f"{name} = {value} (probmodel.samplers) of makers 1.0" in str(error.value)
    assert error.value.values["package"] == "makers 1.0"
    listed = {method.name: method for method in list_samplers()}
    assert listed[name].kind is None
    assert message.split(":")[0] in listed[name].problem
    assert [method.kind for method in list_samplers() if not method.problem] == [*SAMPLERS.values()]


def test_two_packages_with_one_name(offer):
    offer(entry("strider", "a:A", "a"), entry("strider", "b:B", "b"))
    with pytest.raises(SamplerError, match=r"Several packages .* 'strider': a 1.0, b 1.0"):
        find_sampler("strider")
    assert available_samplers().count("strider") == 1
    assert list_samplers()[-1].package == "a 1.0, b 1.0"


def test_a_built_in_method_comes_first(offer):
    offer(entry("mala", "striders:Strider", "striders"))
    assert find_sampler("mala") is SAMPLERS["mala"]
    assert available_samplers() == tuple(SAMPLERS)
    conflict = list_samplers()[-1]
    assert conflict.name == "mala"
    assert "striders 1.0 is not used" in conflict.problem


def test_an_unknown_package(offer):
    offer(entry("nowhere", "no_such_package:Sampler"))
    with pytest.raises(SamplerError, match="of an unknown package failed"):
        find_sampler("nowhere")


# -- objects of classes that are registered nowhere ----------------------------------------------


@dataclasses.dataclass(frozen=True)
class Weighted(RandomWalk):
    """Random walk with a step for each coordinate."""

    weights: np.ndarray | None = None
    rule_of_thumb: object = None

    name = "weighted"
    summary = "random walk with a step for each coordinate"
    paper = "Nobody (2026)"
    default_draws, default_warmup, default_chains = 31, 41, 3


@pytest.fixture
def weighted():
    return Weighted(weights=np.array([1.0, 2.0]), rule_of_thumb=len)


def test_its_defaults_and_settings_are_in_the_result(density, weighted):
    attrs = infer(density, weighted, seed=1, quiet=True, target_accept=0.5).attrs
    assert [attrs[name] for name in ("method", "draws", "warmup", "chains", "coupling")] == [
        "weighted", 31, 41, 3, "pooled_warmup",
    ]  # fmt: skip
    settings = json.loads(attrs["settings"])
    assert settings["weights"] == [1.0, 2.0]
    assert settings["rule_of_thumb"] == "builtins.len"
    assert settings["target_accept"] == 0.5
    with pytest.raises(SamplerError, match="weighted no such setting"):
        infer(density, weighted, no_such_setting=1, **SIZES)


def test_its_progress_is_shown(density, weighted, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.warns():
        infer(density, weighted, **{**SIZES, "quiet": False})
    assert "sampling" in terminal.getvalue()
    assert "(100 %)" in terminal.getvalue()


def test_an_object_of_no_dataclass(density):
    with pytest.raises(SamplerError, match="Plain must be a frozen dataclass"):
        infer(density, Plain(), **SIZES)


class Valued:
    """A target that says it has no gradient."""

    name, dim, coordinate_names, variables = "Valued", 2, (), ()
    coords, observed_data, constant_data = {}, {}, {}
    has_gradient = False

    def __call__(self, x):
        raise AssertionError("has no gradient")

    def log_density(self, x):
        return Evaluation(np.zeros(len(x)), x).logp

    def constrain(self, x, names=None):
        return {}

    def initial_points(self, rng, chains, inits=None):
        raise AssertionError("nothing is computed")


def test_what_the_model_lacks_is_said_before_anything_is_computed():
    with pytest.raises(SamplerError, match="mala follows gradients, and Valued"):
        infer(Valued(), "mala", **SIZES)
