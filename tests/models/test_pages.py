"""The pages of `models/`: each does what its docstring says, and the index lists them all."""

import ast
import copy
import re
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from probmodel import infer, load_model, read_data
from probmodel.cli import _parser, _setting
from probmodel.density import as_posterior

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
PAGES = sorted(path.name for path in MODELS.glob("*.py"))
DATA = {path.name for path in (MODELS / "data").iterdir()} - {"README.md"}
STEP = 1e-5
# A solver's steps, chosen by tolerance, leave differences rougher than this test can use; the
# gradients of solutions are tested with the solver.
SOLVED = {"lotka_volterra.py"}


def docstring(page):
    return ast.get_docstring(ast.parse((MODELS / page).read_text()))


def options_of(page):
    """What the page's own command says, as the command line reads it."""
    return _parser().parse_args(command(page)[1:])


@cache
def posterior(page):
    """The posterior with the data that the page's own command names."""
    options = options_of(page)
    return as_posterior(load_model(options.model)(**read_data(options.data)))


def command(page):
    found = [line for line in docstring(page).splitlines() if line.startswith("    probmodel ")]
    assert len(found) == 1, f"{page} shows {len(found)} commands, not one"
    return shlex.split(found[0])


# -- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_it_is_and_how_it_is_run(page):
    first, _, rest = docstring(page).partition("\n\n")
    assert first.endswith(".")
    assert "\n" not in first
    assert "\nReference: " in rest
    assert command(page)[1:3] == ["sample", f"gallery:{page.removesuffix('.py')}"]


def slope_error(density, x, v, factor=1.0):
    """How far ``factor`` times the gradient along v is off, in units of what may be.

    Central differences err by a third derivative times the square of the step, and by rounding of
    the log densities, divided by the step.
    """
    logp, grad = density(x)
    numeric = (density.log_density(x + STEP * v) - density.log_density(x - STEP * v)) / (2 * STEP)
    rounding = 10 * np.finfo(float).eps * np.abs(logp) / STEP
    allowed = 1e-6 * (1 + np.linalg.norm(grad, axis=1)) + rounding
    return np.abs(numeric - factor * np.sum(grad * v, axis=1)) / allowed


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_a_density_and_its_gradient(page):
    density = posterior(page)
    rng = np.random.default_rng(7)
    x = density.initial_points(rng, 4)
    logp, grad = density(x)
    assert np.isfinite(logp).all()
    assert np.isfinite(grad).all()
    if page in SOLVED:
        return
    v = grad / np.linalg.norm(grad, axis=1)[:, None]
    w = rng.normal(size=x.shape)
    w /= np.linalg.norm(w, axis=1)[:, None]
    assert np.all(slope_error(density, x, v) < 1)
    assert np.all(slope_error(density, x, w) < 1)
    assert np.all(slope_error(density, x, v, factor=1.001) > 1)  # it would be seen


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_machine_code(page):
    machine, reference = copy.copy(posterior(page)), copy.copy(posterior(page))
    machine.use_engine("llvm")
    reference.use_engine("numpy")
    x = machine.initial_points(np.random.default_rng(7), 4)
    found, expected = machine(x), reference(x)
    assert machine.engine == "llvm"
    np.testing.assert_allclose(found.logp, expected.logp, rtol=1e-10)
    np.testing.assert_allclose(machine.log_density(x), reference.log_density(x), rtol=1e-10)
    scale = np.abs(expected.grad).max(axis=1, keepdims=True)
    assert np.all(np.abs(found.grad - expected.grad) < 1e-10 * (1.0 + scale))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_sampled(page):
    settings = dict(_setting(text) for text in options_of(page).settings)
    few = {"chains": 4, "warmup": 20, "draws": 20, "seed": 1, "quiet": True}
    run = infer(posterior(page), **few, **settings)
    assert run.attrs["draws_done"] == 20


# -- index ----------------------------------------------------------------------------------------


def rows():
    """Cells of the index: page, what it teaches, data, dim."""
    lines = (MODELS / "README.md").read_text().splitlines()
    return [[cell.strip() for cell in x.strip("|").split(" | ")] for x in lines if x[:4] == "| [`"]


def files(cell):
    """Names in links, which lead where they say."""
    links = re.findall(r"\[`([^`]+)`\]\((?:data/)?([^)]+)\)", cell)
    assert all(name == target for name, target in links)
    return [name for name, _ in links]


def test_the_index_has_every_page_once():
    assert sorted(name for row in rows() for name in files(row[0])) == PAGES


def test_the_index_has_every_data_file_and_each_is_documented():
    named = {name for row in rows() for name in files(row[2])}
    assert named == DATA
    documented = (MODELS / "data" / "README.md").read_text()
    assert {name for name in DATA if f"`{name}`" not in documented} == set()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].split("`")[1])
def test_the_index_says_data_and_dim_of_a_page(row):
    page, teaches, data, dim = row
    (name,) = files(page)
    assert teaches
    assert options_of(name).data == f"gallery:{files(data)[0]}"
    assert posterior(name).dim == int(dim)
