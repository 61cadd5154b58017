"""Iterations side by side do what they do one after another: values, order, and errors."""

import sys
from pathlib import Path

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.errors import ProbmodelError
from probmodel.stan import loop_statements
from probmodel.stan.running import Run

sys.path.insert(0, str(Path(__file__).parent))

import independent_loops  # noqa: F401
import ragged_loops  # noqa: F401
from stan_program import PROGRAMS

NAMES = ("independent_loops", "ragged_loops")
LOOPS = [p for p in PROGRAMS if p.reference.__module__ in NAMES]
NEVER = 10**9


@pytest.fixture
def bound(monkeypatch):
    """Return what binds a program whose loops run side by side from some iterations on."""

    def bind(text, data, fewest):
        monkeypatch.setattr(loop_statements, "_FEWEST_LANES", fewest)
        return Stan(text)(**data)

    return bind


@pytest.mark.parametrize("program", LOOPS, ids=lambda p: p.name)
def test_side_by_side_is_one_after_another(program, bound):
    one, many = (
        ModelDensity(bound(program.text, program.data, fewest), engine="numpy")
        for fewest in (NEVER, 2)
    )
    x = program.spread * np.random.default_rng(3).uniform(-1.0, 1.0, (5, one.dim))
    for found, expected in zip(many(x), one(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    values, expected_values = many.constrain(x), one.constrain(x)
    assert list(values) == list(expected_values)
    for name, value in values.items():
        np.testing.assert_allclose(value, expected_values[name], rtol=1e-10, atol=1e-12)
    assert set(many.observed_data) == set(one.observed_data)
    for name, (_, data) in many.observed_data.items():
        np.testing.assert_array_equal(data, one.observed_data[name][1])


@pytest.mark.parametrize("name", ["captures_8", "sizes_and_slices_8", "hidden_states_8"])
def test_rounds_of_all_iterations_are_run_together(name, monkeypatch):
    program, steps = next(p for p in LOOPS if p.name == name), []
    for fewest in (NEVER, 16):
        monkeypatch.setattr(loop_statements, "_FEWEST_LANES", fewest)
        of = Stan(program.text)
        steps.append(len(Run(of.program, of.sources, program.data).interpreter.graph.steps))
    assert steps[1] < steps[0] / 4


MISTAKES = {
    "an index beyond the end": "for (k in from[n]:to[n]) z[k] += x[k + 3];",
    "an index of a few": "for (k in from[n]:to[n]) if (n == 17 && k == 4) z[k] = x[k + to[n]];",
    "a size": "for (k in from[n]:to[n]) { vector[k - n] own; z[k] = sum(own); }",
    "a rejection": 'for (k in from[n]:to[n]) if (n == 19 && k == 3) reject("n is ", n);',
    "a slice": "for (k in from[n]:to[n]) z[k] = sum(x[k:(k + 4)]);",
    "a function": "for (k in from[n]:to[n]) z[k] = f(k, to[n]) * x[1];",
    "a name that is taken": "for (k in 1:20) { for (k in from[n]:to[n]) z[k] = 1; }",
    "an end that is no number": "for (k in from[n]:x[n]) z[k] = 1;",
    "an end that is no whole number": "for (k in 1:(0.5 * n)) z[k] = 1;",
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_told_as_of_one_iteration(what, bound):
    text = f"""
    functions {{
      real f(int k, int n) {{
        if (n > 4 && k > 3) {{
          array[2] int two = {{k, n}};
          return two[k];
        }}
        return k;
      }}
    }}
    data {{ int N; array[N] int from; array[N] int to; }}
    parameters {{ vector[6] x; }}
    transformed parameters {{
      vector[6] z = x;
      for (n in 1:N) {{
        {MISTAKES[what]}
      }}
    }}
    """
    rng = np.random.default_rng(1)
    data = {"N": 24, "from": rng.integers(1, 3, 24), "to": rng.integers(0, 6, 24)}
    data["to"][[16, 18]] = 5
    messages = []
    for fewest in (NEVER, 2):
        with pytest.raises(ProbmodelError) as caught:
            bound(text, data, fewest)
        messages.append((type(caught.value), str(caught.value)))
    assert messages[0] == messages[1]
    assert "column" in messages[0][1]


def test_quantities_whose_loops_end_where_draws_say():
    code = """
    data { int N; }
    parameters { real<lower=0> rate; }
    model { rate ~ exponential(1); }
    generated quantities {
      int count = 0; real total = 0; int half; array[N] real seen = rep_array(0, N);
      for (k in 1:to_int(floor(3 * rate))) { count += 1; total += rate / k; }
      half = 8;
      while (half > rate) { half = half %/% 2; if (half == 1) break; }
      for (k in 1:N) { if (k > 2 * rate) break; if (k == 2) continue; seen[k] = rate; }
    }
    """
    model = Stan(code)(N=6)
    rate = np.array([0.1, 0.4, 1.3, 2.6, 4.2, 0.9])
    found = model._generated.at({"rate": rate})
    rounds = np.floor(3 * rate).astype(int)
    np.testing.assert_array_equal(found["count"], rounds)
    totals = [(r / np.arange(1, n + 1)).sum() for r, n in zip(rate, rounds, strict=True)]
    np.testing.assert_allclose(found["total"], totals, rtol=1e-12)
    half = []
    for r in rate:
        h = 8
        while h > r:
            h //= 2
            if h == 1:
                break
        half.append(h)
    np.testing.assert_array_equal(found["half"], half)
    k = np.arange(1, 7)
    seen = np.where((k <= 2 * rate[:, None]) & (k != 2), rate[:, None], 0)
    np.testing.assert_array_equal(found["seen"], seen)
