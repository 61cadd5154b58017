"""All examples, from all modules of this folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from examples.case import Case

MODULES = [
    import_module(f"examples.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem not in ("__init__", "case", "sizes", "table")
]
CASES: dict[str, Case] = {name: case for module in MODULES for name, case in module.CASES.items()}
NOT_NONCENTERED: set[str] = {name for module in MODULES for name in module.NOT_NONCENTERED}
NOT_INFORMED: dict[str, list[str]] = {
    name: parameters for module in MODULES for name, parameters in module.NOT_INFORMED.items()
}
