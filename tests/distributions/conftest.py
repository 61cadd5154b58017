"""Fixtures of the examples; their folder is made importable for these tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examples.case import Case
from examples.table import CASES


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    return CASES
