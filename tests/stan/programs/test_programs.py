"""Programs of every sort, against what each says by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity

sys.path.insert(0, str(Path(__file__).parent))

import declarations
from all_programs import PROGRAMS, evaluated

CHAINS = 8


def points(density, program, chains=CHAINS):
    rng = np.random.default_rng(len(program.text))
    return program.spread * rng.uniform(-1.0, 1.0, (chains, density.dim))


def but_jacobians(density, x):
    """Return the log density on the scale of the parameters: (chains,)."""
    kinds = [term.kind for term in density._binding.terms]
    values = density._programs.terms(x)
    plain = [v for kind, v in zip(kinds, values, strict=True) if kind != "jacobian"]
    return np.sum([np.broadcast_to(v, len(x)) for v in plain], axis=0)


def differences(density, x):
    """Return slopes of the log density along each coordinate, from four values: (chains, dim)."""
    h = 2e-3
    moves = h * np.multiply.outer([1.0, -1.0, 2.0, -2.0], np.eye(density.dim))
    at = x + moves[:, :, None]  # (steps, coordinates, chains, dim)
    values = density.log_density(at.reshape(-1, density.dim)).reshape(at.shape[:-1])
    return (8.0 * (values[0] - values[1]) - (values[2] - values[3])).T / (12.0 * h)


def close(found, expected, tolerance):
    scale = np.maximum(1.0, np.abs(expected))
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0.0, atol=tolerance)


@pytest.fixture(scope="module")
def densities():
    """What was made of programs, by name."""
    made = {}

    def density(program):
        if program.name not in made:
            model = Stan(program.text, name=program.name)(**program.data)
            made[program.name] = ModelDensity(model, engine="numpy")
        return made[program.name]

    return density


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_programs_mean_what_the_manual_says(program, densities):
    density = densities(program)
    x = points(density, program)
    values = density.constrain(x)
    plain = but_jacobians(density, x)
    found, quantities = zip(
        *(evaluated(program, {k: v[i] for k, v in values.items()}) for i in range(CHAINS)),
        strict=True,
    )
    assert np.isfinite(found).all()
    close(plain, np.array(found), program.tolerance)
    for name in quantities[0]:
        rows = np.stack([np.asarray(q[name], dtype=float) for q in quantities])
        assert values[name].shape == rows.shape, name
        close(values[name], rows, program.tolerance)
    if program.observed is not None:
        assert set(density.observed_data) == set(program.observed)
        for name in program.observed:
            np.testing.assert_array_equal(density.observed_data[name][1], program.data[name])
    logp, grad = density(x)
    close(logp, density.log_density(x), 1e-9)
    close(grad, differences(density, x), 1e-6)


# One variant of each program, and every other one where there is time: machine code takes long to
# make.
LAST = list({program.text: program for program in PROGRAMS}.values())
LAST[1::2] = [pytest.param(p, marks=pytest.mark.statistical) for p in LAST[1::2]]


@pytest.mark.parametrize("program", LAST, ids=lambda p: p.name)
def test_engines_and_numbers_of_chains_agree(program, densities):
    density = densities(program)
    x = points(density, program, 9)
    logp, grad = density(x)
    machine = ModelDensity(density.model, engine="llvm")
    for rows in (x, x[:8], x[-1:]):
        found, slope = machine(rows)
        start = 0 if len(rows) > 1 else 8
        close(found, logp[start : start + len(rows)], 1e-9)
        close(slope, grad[start : start + len(rows)], 1e-7)
    assert machine.engine == "llvm"


@pytest.mark.parametrize("name", declarations.JACOBIANS)
def test_jacobians(name):
    text, reference = declarations.JACOBIANS[name]
    density = ModelDensity(Stan(text)(), engine="numpy")
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (CHAINS, density.dim))
    values = density.constrain(x)
    expected = [reference({k: v[i] for k, v in values.items()}) for i in range(CHAINS)]
    close(density.log_density(x), np.array(expected), 1e-9)
