"""Functions of whole vectors and matrices."""

from __future__ import annotations

import numpy as np

from probmodel.stan.library.entries import Whole

WHOLE: dict[str, Whole] = {
    "sum": Whole(lambda x: np.sum(x, axis=-1), (1,), lambda v: "int" if v[0].kind == "int" else "real", flat=True),
    "dot_product": Whole(lambda a, b: np.sum(a * b, axis=-1), (1, 1)),
    "cumulative_sum": Whole(lambda x: np.cumsum(x, axis=-1), (1,), lambda v: v[0].kind),
}
