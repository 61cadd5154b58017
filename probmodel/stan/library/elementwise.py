"""Functions of numbers, which apply to each element of containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

# Functions of arrays, of numbers or of symbols: what the modelling language knows, and what is
# made of that.
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "square": np.square,
    "inv_logit": special.expit,
    "log1p": np.log1p,
    "abs": np.abs,
}

# Those that are whole numbers where all arguments are.
WHOLE_NUMBERS = frozenset({"abs"})
