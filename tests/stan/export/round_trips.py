"""The same log density twice: of a model, and of its Stan program, read again."""

import importlib.util
import subprocess
from pathlib import Path

import numpy as np

from probmodel.density import as_posterior
from probmodel.stan.stan_model import Stan

TOO_NEW = ("sum_to_zero_", "column_stochastic_matrix", "beta_neg_binomial", "yule_simon")


def gap(model, program, points=3, scale=0.4):
    """How much the difference of the two varies from point to point, and the values."""
    first, second = as_posterior(model), as_posterior(Stan(program.code)(**program.data))
    x = scale * np.random.default_rng(1).normal(size=(points, first.dim))
    values, blocks = first.constrain(x), {free.name: (free, cut) for free, cut in first._blocks}
    given, own_names = {}, {stan: name for name, stan in program.names.items()}
    for free in second._binding.free:
        name = own_names.get(free.name, free.name)
        if name in values:
            given[free.name] = values[name]
            continue
        own, cut = blocks[free.name.removesuffix("_raw")]
        raw = x[:, cut].reshape(points, *own.free_shape)
        given[free.name] = np.stack([own.constraint.forward(np, row) for row in raw])
    origin = np.zeros(second.dim)
    y = np.stack(
        [second.unconstrain({k: v[i] for k, v in given.items()}, origin) for i in range(points)]
    )
    one, other = without_jacobian(first, x), without_jacobian(second, y)
    return np.ptp(one - other) / (1 + np.abs(one).max()), one, other


def without_jacobian(density, x):
    """Log density on the scale of the model."""
    terms = density.terms(x)
    return sum(np.asarray(v) for name, v in terms.items() if not name.startswith("jacobian"))


def stanc():
    """Return Stan's compiler, if httpstan is installed, and None otherwise."""
    found = importlib.util.find_spec("httpstan")
    path = Path(found.origin).parent / "stanc" if found and found.origin else None
    return path if path is not None and path.exists() else None


def complaint(compiler, program, folder):
    """What the compiler has to say against a program."""
    file = folder / "program.stan"
    file.write_text(program.code)
    command = [str(compiler), f"--o={folder / 'program.hpp'}", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
