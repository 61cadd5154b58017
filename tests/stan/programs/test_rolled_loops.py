"""Loops in which data choose what is carried on: written as scans, they mean what they did."""

import sys
from pathlib import Path

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.stan import data_branches, held_elements, loop_statements, lowering

sys.path.insert(0, str(Path(__file__).parent))

import branching_recurrences  # noqa: F401
import learning  # noqa: F401
from stan_program import PROGRAMS

LEARNING = {p.name: p for p in PROGRAMS if p.reference.__module__ == "learning"}


@pytest.fixture
def lengths(monkeypatch):
    """How many times each scan repeats its step, of programs that are lowered."""
    found, plain = [], lowering.scanned

    def counted(part, *rest):
        found.append(part.length)
        return plain(part, *rest)

    monkeypatch.setattr(lowering, "scanned", counted)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("learning_from_rewards_2", 2), ("learning_from_rewards_4", 2),
        ("learning_from_rewards_5", 2), ("learning_in_tables_5", 1), ("learning_in_tables_4", 1),
        ("learning_from_numbers_1", 1), ("learning_from_numbers_3", 1),
    ],
)  # fmt: skip
def test_all_subjects_learn_in_one_scan(name, expected, lengths):
    program = LEARNING[name]
    density = ModelDensity(Stan(program.text)(**program.data), engine="numpy")
    density.log_density(np.zeros((1, density.dim)))
    trials = np.shape(program.data["choice"])[1]
    assert len(lengths) == expected
    assert min(lengths) >= trials - 12  # the first trials differ, until all has been chosen once


BRANCHING = {p.name: p for p in PROGRAMS if p.reference.__module__ == "branching_recurrences"}


@pytest.mark.parametrize(
    ("name", "expected", "trials"),
    [
        ("learning_from_gains_and_losses_1", 1, 40), ("learning_from_gains_and_losses_2", 1, 30),
        ("learning_from_gains_and_losses_3", 1, 20), ("a_volatility_that_falls_raise_1", 2, 59),
    ],
)  # fmt: skip
def test_branches_on_data_are_part_of_one_scan(name, expected, trials, lengths):
    program = BRANCHING[name]
    density = ModelDensity(Stan(program.text)(**program.data), engine="numpy")
    density.log_density(np.zeros((1, density.dim)))
    assert len(lengths) == expected
    assert min(lengths) >= trials - 5


def test_loops_of_many_sources_are_left_as_they_are(lengths, monkeypatch):
    monkeypatch.setattr(held_elements, "_MOST", 1)
    program = LEARNING["learning_from_rewards_2"]
    density = ModelDensity(Stan(program.text)(**program.data), engine="numpy")
    assert np.isfinite(density.log_density(np.zeros((1, 2)))).all()
    assert not lengths


FRAME = """
data {{ int N; int T; array[N, T] int i; array[N, T] int j; array[N, T] real y; }}
parameters {{ vector[N] a; vector[3] start; }}
model {{
  matrix[N, T] table = rep_matrix(0.1, N, T);
  a ~ normal(0, 1); start ~ normal(0, 1);
  for (n in 1:N) {{
    vector[3] v = {start}; array[2] vector[2] w = rep_array([0.1, a[n]]', 2); real s = a[n];
    for (t in 1:T) {{
{body}
      y[n, t] ~ normal(v[j[n, t]] + s + sum(w[1 + t % 2]), 1);
    }}
    target += 0.1 * sum(v) + s * w[2][1];
  }}
  target += 0.1 * sum(table);
}}
"""
STATEMENTS = (
    "v[{i}] = {x};", "v[{i}] += {x};", "v[{i}] *= 0.5;", "s = {x};", "s += 0.3 * {x};",
    "w[1 + {i} % 2][1 + {i} % 2] = {x};", "w[2] = [{x}, w[1, 1]]';", "v = v * 0.9;",
    "v[{i}] = v[{i}];", "{{ real k = v[{i}]; v[{i}] = v[{i}]; v[{i}] = k; }}", "v[2] = 0.4;",
    "v[2:3] = v[1:2] + {x};", "target += 0.1 * {x};",
    "if (y[n, t] > 0) v[{i}] += {x}; else s = {x};",
    "if (y[n, t] > 0) table[n, t] = {x}; else if (i[n, t] == 3) table[n, t] = s;",
    "if (a[n] > 0.2) {{ if (y[n, t] > 0) s = 0.5 * s; else s -= sqrt(a[n] - 0.2); }}",
    "s = y[n, t] > 0 ? {x} : {x};",
    "if (i[n, t] == 2) {{ v[{i}] = {x}; w[1, 2] = {x}; }} else if (y[n, t] < 0) v = v * {x};",
    "if (j[n, t] > 1) {{ real k = {x}; y[n, t] ~ normal(k, 1); s += log1p(square(k)); }}",
)  # fmt: skip
VALUES = (
    "tanh(v[{i}])", "a[n] * v[{i}]", "y[n, t] - v[{i}]", "sin(s)", "w[1 + {i} % 2, 1 + t % 2]",
    "0.2", "start[{i}]", "exp(a[n] * y[n, t] / 9)", "0.3 * sum(v)", "tanh(v[{i}] * w[1, 2])",
)  # fmt: skip
INDICES = (
    "i[n, t]",
    "j[n, t]",
    "(1 + (i[n, t] + j[n, t]) % 3)",
    "(4 - i[n, t])",
    "(1 + t % 3)",
    "2",
)


def program_at_random(seed):
    rng = np.random.default_rng(seed)

    def filled(text):
        while "{x}" in text or "{i}" in text:
            text = text.replace("{x}", VALUES[rng.integers(len(VALUES))], 1)
            text = text.replace("{i}", INDICES[rng.integers(len(INDICES))], 1)
        return text.replace("{{", "{").replace("}}", "}")

    chosen = rng.choice(len(STATEMENTS), rng.integers(2, 6))
    body = "\n".join(filled(STATEMENTS[k]) for k in chosen)
    start = ("rep_vector(0, 3)", "start", "start * a[n]")[rng.integers(3)]
    n, t = (1, 3, 17)[seed % 3], 30
    data = {
        "N": n, "T": t, "i": rng.integers(1, 4, (n, t)), "j": rng.integers(1, 4, (n, t)),
        "y": rng.normal(size=(n, t)),
    }  # fmt: skip
    return FRAME.format(body=body, start=start), data


@pytest.mark.parametrize(
    "seed", [*range(24), *(pytest.param(s, marks=pytest.mark.statistical) for s in range(24, 150))]
)
def test_random_loops_are_as_if_unrolled(seed, monkeypatch):
    text, data = program_at_random(seed)
    found = []
    for fewest, lanes in ((10**9, 10**9), (12, 10**9), (12, 16)):
        monkeypatch.setattr(lowering, "FEWEST", fewest)
        monkeypatch.setattr(data_branches, "FEWEST", fewest)
        monkeypatch.setattr(loop_statements, "_FEWEST_LANES", lanes)
        density = ModelDensity(Stan(text)(**data), engine="numpy")
        x = np.random.default_rng(5).uniform(-0.7, 0.7, (3, density.dim))
        found.append(density(x))
    for rolled in found[1:]:
        for one, expected in zip(rolled, found[0], strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-8, atol=1e-9, err_msg=text)


def test_many_random_loops_are_rolled(lengths):
    for seed in range(24):
        text, data = program_at_random(seed)
        density = ModelDensity(Stan(text)(**data), engine="numpy")
        density.log_density(np.zeros((1, density.dim)))
    assert len(lengths) >= 8
