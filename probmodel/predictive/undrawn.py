"""What could not be drawn at some draws, because the parameters there are impossible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from probmodel.model.binding import Binding
from probmodel.model.declarations import Observed, Parameter
from probmodel.types import Array


def undrawn(binding: Binding, arrays: Mapping[str, Array]) -> Iterator[str]:
    """Yield a warning for each quantity with a distribution that is NaN in some draws.

    The arrays, (rows, *shape), are by name.
    """
    for name, values in arrays.items():
        declaration = binding.declarations[name]
        of_kind = isinstance(declaration, Observed | Parameter)
        if not of_kind or values.dtype.kind != "f" or not len(values):
            continue
        lost = int(np.sum(np.isnan(values).reshape(len(values), -1).any(axis=1)))
        source = (
            declaration.distribution if isinstance(declaration, Observed) else declaration.prior
        )
        if lost and source is not None:
            yield (
                f"{declaration.title} is NaN in {lost} of {len(values)} draws: its {source.name} "
                "cannot be drawn from with the parameters there. The usual reasons are a negative "
                "scale, a logarithm of a negative number, and a covariance that is not positive "
                "definite: restrict what it depends on, look at new data, add noise or jitter to "
                "a covariance."
            )
