"""Models in three languages: the versions of one model have the same density, up to a constant."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from probmodel.density import as_posterior

PAGE = Path(__file__).parents[2] / "docs" / "from-stan-and-pymc.md"
FENCE = re.compile(r"^```(python|stan|python pymc)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ["python", "stan", "python pymc"]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(12, 2))
LINE = RNG.normal(size=12)
HOME = np.repeat(np.arange(3), 4)
DATA = {
    "LinearRegression": {"X": X, "y": X @ [1.0, -1.0] + LINE},
    "LogisticRegression": {"X": X, "y": (LINE > 0).astype(int)},
    "Counts": {"exposure": np.full(12, 2.5), "x": LINE, "y": RNG.poisson(3.0, 12)},
    "EightSchools": {"sigma": [15.0, 10.0, 16.0, 11.0], "y": [28.0, 8.0, -3.0, 7.0]},
    "Radon": {"uranium": [0.1, -0.3, 0.5], "home": HOME, "floor": np.arange(12) % 2, "y": LINE},
    "RobustRegression": {"x": LINE, "y": 2 * LINE + X[:, 0]},
    "TwoGroups": {"y": np.concatenate([LINE - 2, LINE + 2])},
    "Volatility": {"y": LINE},
    "SmoothCurve": {"x": np.linspace(0, 3, 8), "y": np.sin(np.linspace(0, 3, 8))},
    "Opinions": {"x": LINE, "y": np.arange(12) % 4},
}
DATA = {name: {k: np.asarray(v) for k, v in given.items()} for name, given in DATA.items()}


def examples():
    """The three versions of each model, by the name of ours."""
    found = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        versions = dict(FENCE.findall(part))
        if versions:
            assert list(versions) == LANGUAGES, part.splitlines()[0]
            found[re.search(r"^class (\w+)", versions["python"], re.MULTILINE)[1]] = versions
    return found


EXAMPLES = examples()


@pytest.fixture(scope="module")
def models():
    """Our classes, bound to small data."""
    namespace = {}
    for code in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        exec(code, namespace)
    return {name: namespace[name](**given) for name, given in DATA.items()}


def test_there_are_ten_models():
    assert set(EXAMPLES) == set(DATA)
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("name", EXAMPLES)
def test_ours_have_densities(models, name):
    density = as_posterior(models[name])
    logp, gradient = density(density.initial_points(np.random.default_rng(1), 4))
    assert np.isfinite(logp).all()
    assert np.isfinite(gradient).all()


# -- PyMC --------------------------------------------------------------------------------------


def ours(model, standardise_by_hand):
    """Values of our parameters at some points, and the log density without Jacobians there."""
    density = as_posterior(model)
    x = np.random.default_rng(2).normal(scale=0.7, size=(5, density.dim))
    terms = density.terms(x)
    total = sum(value for key, value in terms.items() if not key.startswith("jacobian"))
    values = density.constrain(x)
    if standardise_by_hand:
        scale = values["tau"][:, None]
        values["theta_raw"] = (values["theta"] - values["mu"][:, None]) / scale
    return values, total


def pymc_values(name, values):
    """Our values under the names that the PyMC version has."""
    if name == "Volatility":
        values["share"] = (values["phi"] + 1) / 2
        values["path"] = values["h"] - values["mu"][:, None]
    return values


@pytest.mark.statistical
@pytest.mark.parametrize("name", EXAMPLES)
def test_pymc_has_the_same_density(models, name):
    pm = pytest.importorskip("pymc")
    namespace = {"pm": pm, **DATA[name]}
    exec(EXAMPLES[name]["python pymc"], namespace)
    model = namespace["model"]
    values, expected = ours(models[name], name == "EightSchools")
    values = pymc_values(name, values)
    log_density = model.compile_fn(model.logp(jacobian=False), inputs=model.value_vars)
    found = []
    for i in range(len(expected)):
        point = {}
        for rv in model.free_RVs:
            value, transform = np.asarray(values[rv.name][i]), model.rvs_to_transforms[rv]
            if transform is not None:
                value = transform.forward(value, *rv.owner.inputs).eval()
            point[model.rvs_to_values[rv].name] = value
        found.append(float(log_density(point)))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-6, atol=1e-6)


# -- Stan --------------------------------------------------------------------------------------


def stan_data(name):
    """Small data under the names that the Stan version has; it counts from 1."""
    given = {k: v.tolist() for k, v in DATA[name].items()}
    n = len(given["y"])
    sizes = {"EightSchools": {"J": n}, "Volatility": {"T": n}}.get(name, {"N": n})
    if "X" in given:
        sizes["K"] = len(given["X"][0])
    if name == "Radon":
        given["floor_measure"] = given.pop("floor")
        given["home"] = [home + 1 for home in given["home"]]
        sizes["J"] = 3
    if name == "Opinions":
        given["y"] = [y + 1 for y in given["y"]]
    return given | sizes


def stan_parameters(code):
    """Names of a model's parameters in their order."""
    block = re.search(r"^parameters \{\n(.*?)^\}", code, re.MULTILINE | re.DOTALL)[1]
    lines = (re.sub(r"^\s*\w+(<[^>]*>)?(\[\w+\])? |;$", "", line) for line in block.splitlines())
    return [name.strip() for line in lines for name in line.split(",")]


@pytest.mark.statistical
@pytest.mark.parametrize("name", EXAMPLES)
def test_stan_has_the_same_density(models, name, tmp_path):
    spec, compiler = importlib.util.find_spec("httpstan"), shutil.which("g++")
    if spec is None or compiler is None:
        pytest.skip("stanc, which comes with httpstan, or g++ is not installed")
    stan, code = Path(spec.origin).parent, EXAMPLES[name]["stan"]
    (tmp_path / "model.stan").write_text(code)
    (tmp_path / "data.json").write_text(json.dumps(stan_data(name)))
    values, expected = ours(models[name], name == "EightSchools")
    rows = [[values[p][i].ravel() for p in stan_parameters(code)] for i in range(len(expected))]
    (tmp_path / "points").write_text(
        "\n".join(" ".join(map(repr, np.concatenate(row).tolist())) for row in rows)
    )
    steps = (
        [stan / "stanc", "--o", "model.hpp", "model.stan"],
        [compiler, "-O0", "-std=c++17", "-w", "-D_REENTRANT", f"-I{stan}/include", "-include",
         "model.hpp", PAGE.parents[1] / "tests" / "docs" / "stan_density.cpp", "-o", "density",
         f"-L{stan}/lib", f"-Wl,-rpath,{stan}/lib", "-ltbb"],
        [tmp_path / "density", "data.json", "points"],
    )  # fmt: skip
    for step in steps:
        done = subprocess.run(step, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    found = np.array(done.stdout.split(), dtype=float)
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-6, atol=1e-6)
