"""Loops made at random: side by side, they do what they do one iteration after another."""

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density.posterior import ModelDensity
from probmodel.errors import ProbmodelError
from probmodel.stan import loop_statements

FRAME = """
functions {{
  real f(real x, int k) {{
    if (k > 3) return x;
    for (i in 1:k) {{ if (i == 2) return x / 2; }}
    return x * k;
  }}
}}
data {{ int N; array[N] int lo; array[N] int hi; array[N] int kind; vector[N] w; vector[N] y; }}
parameters {{ vector[N] z; vector[6] a; }}
model {{
  vector[N] own = z; matrix[N, 6] table = rep_matrix(0.1, N, 6); vector[6] shared = a;
  real s = 0.5; real c = a[1]; int count = 0; array[6] int ints = rep_array(1, 6);
  array[3] vector[2] pair = rep_array([a[1], 0.2]', 3);
  z ~ normal(0, 1); a ~ normal(0, 1);
  for (n in 1:N) {{
{body}
  }}
  for (n in 1:N) {{
    for (k in lo[n]:hi[n]) y[n] ~ normal(table[n, k] + own[n] / 10, 1);
    if (hi[n] > 3) 1.5 ~ normal(s, 1 + kind[n]);
  }}
  target += 0.1 * (square(s) + c + dot_product(w, own) + 0.01 * count * sum(pair[1]));
  for (k in 1:6) target += 0.1 * k * (dot_product(w, table[ : , k]) + shared[k] + ints[k] * c);
  for (k in 1:3) target += 0.1 * k * (pair[k, 1] - k * pair[k, 2]);
}}
"""
STATEMENTS = (
    "own[n] += {x};", "own[n] = {x};", "table[n, {k}] = {x};", "shared[{k}] = {x};",
    "shared[{k}] += {x} / 4;", "s = {x};", "s = tanh(s) + {x};", "c = {x};", "count += 1;",
    "count = n;", "ints[{k}] = n % 4;", "ints[{k}] = ints[{k}] % 3 + 1;", "pair[2][1] = {x};",
    "pair[1 + {k} % 3] = [{x}, 0.1]';", "pair[1, 2] = pair[1][1] / 2;", "target += 0.1 * {x};",
    "{{ real t = {x}; own[n] -= t; t *= 2; c = t; }}",
    "{{ vector[{k}] t = a[1:{k}]; t[{k}] = 0.3; own[n] += sum(t) / 5; }}",
)  # fmt: skip
VALUES = (
    "z[n]", "w[n]", "own[n]", "table[n, {k}]", "a[{k}]", "shared[{k}]", "s", "c", "0.7",
    "f(z[n], {k})", "tanh(own[n]) * w[n]", "sum(table[n, 1:{k}])", "ints[{k}] * z[n]",
    "pair[1 + {k} % 3][2]", "prod(a[min(kind[n] + 1, {k}):{k}])",
)  # fmt: skip
CONDITIONS = ("kind[n] == 1", "w[n] > 0", "{k} > 2", "hi[n] > {k}", "z[n] > 5", "ints[{k}] == 1")


class Writer:
    """Writes statements at random."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one(self, options):
        return options[self.rng.integers(len(options))]

    def index(self, loops):
        return self.one([*loops, *loops, "2", "5", "1 + kind[n]", "max(1, hi[n])"])

    def value(self, loops):
        return self.one(VALUES).format(k=self.index(loops))

    def statement(self, loops, depth):
        kind = self.rng.random()
        if depth and kind < 0.35 and len(loops) < 2:
            name = "kl"[len(loops)]
            lower = self.one(["lo[n]", "1", "kind[n] + 1", *loops])
            upper = self.one(["hi[n]", "hi[n]", "kind[n]", "4", *loops])
            inner = self.block([*loops, name], depth - 1)
            return f"for ({name} in {lower}:{upper}) {{\n{inner}\n}}"
        condition = self.one(CONDITIONS).format(k=self.index(loops))
        if depth and kind < 0.5:
            other = f" else {{ {self.block(loops, depth - 1)} }}" if self.rng.random() < 0.4 else ""
            return f"if ({condition}) {{ {self.block(loops, depth - 1)} }}{other}"
        if kind < 0.57 and "z[" not in condition:
            word = self.one(["break", "continue"]) if loops else "continue"
            return f"if ({condition}) {word};"
        return self.one(STATEMENTS).format(k=self.index(loops), x=self.value(loops))

    def block(self, loops, depth):
        count = self.rng.integers(1, 4)
        return "\n".join(self.statement(loops, depth) for _ in range(count))


def outcome(text, data):
    """Return what comes of a program: numbers, or the error."""
    try:
        density = ModelDensity(Stan(text)(**data), engine="numpy")
    except ProbmodelError as error:
        return str(error)
    x = np.random.default_rng(5).uniform(-0.7, 0.7, (3, density.dim))
    logp, grad = density(x)
    observed = {k: v[1] for k, v in density.observed_data.items()}
    return {"logp": logp, "grad": grad, **observed, **density.constrain(x)}


@pytest.mark.parametrize(
    "seed", [*range(30), *(pytest.param(s, marks=pytest.mark.statistical) for s in range(30, 100))]
)
def test_random_loops(seed, monkeypatch):
    text = FRAME.format(body=Writer(seed).block([], 3))
    size = (1, 7, 8, 9, 17, 24)[seed % 6]
    rng = np.random.default_rng(seed)
    data = {
        "N": size, "lo": rng.integers(1, 4, size), "hi": rng.integers(0, 7, size),
        "kind": rng.integers(0, 3, size), "w": rng.normal(size=size), "y": rng.normal(size=size),
    }  # fmt: skip
    found = []
    for fewest in (10**9, 2):
        monkeypatch.setattr(loop_statements, "_FEWEST_LANES", fewest)
        found.append(outcome(text, data))
    one, many = found
    if isinstance(one, str):
        assert many == one, text
        return
    assert not isinstance(many, str), many
    assert set(one) == set(many)
    for name, value in one.items():
        np.testing.assert_allclose(many[name], value, rtol=1e-8, atol=1e-9, err_msg=text)
