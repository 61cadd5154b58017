"""Functions that cut, join, repeat and reshape."""

from __future__ import annotations

import numpy as np

from probmodel.stan.library.entries import Move, same

MOVES: dict[str, Move] = {
    "head": Move(lambda x, n: x[:n], same, sizes=(1,)),
    "append_row": Move(lambda a, b: np.concatenate([np.atleast_1d(a), np.atleast_1d(b)]), "vector"),
    "rep_vector": Move(lambda x, n: np.full(n, x), "vector", sizes=(1,)),
    "to_vector": Move(lambda x: x.T.reshape(-1), "vector"),
}
