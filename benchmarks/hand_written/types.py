"""What a density written by hand takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Array = Any
Density = Callable[[Array], tuple[Array, Array]]
