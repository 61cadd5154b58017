"""The scripts that write tables into the documents and draw their figures."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def load(name):
    """A script of `docs/` as a module; it is not kept, as `benchmarks/` has names in common."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def generator():
    """`docs/generate.py`."""
    return load("generate")


@pytest.fixture
def figures(monkeypatch):
    """`docs/figures.py`, where there is matplotlib."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(DOCS)
    return load("figures")
