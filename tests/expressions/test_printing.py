"""Expressions and models as text and LaTeX."""

import operator

import numpy as np
import pytest
import scipy.special

from probmodel import Model, data, deterministic, load_model, observed, param, potential, read_data
from probmodel.distributions import HalfNormal, Normal
from probmodel.expressions import Apply
from probmodel.expressions.text import to_latex, to_text
from probmodel.functions import log_density


def symbols():
    found = []
    for name in ("x", "beta_age", "n"):
        symbol = param()
        symbol.name = name
        found.append(symbol)
    return found


x, beta, n = symbols()


@pytest.mark.parametrize(
    ("expression", "text", "latex"),
    [
        (x + beta * 2, "x + beta_age * 2", r"\beta_{\mathrm{age}}"),
        ((x + beta) * 2, "(x + beta_age) * 2", r"\left("),
        (x - (beta - 1), "x - (beta_age - 1)", "x - "),
        (x / (beta / n), "x / (beta_age / n)", r"\frac{x}{"),
        (-(x**2), "-x ** 2", "-x^{2}"),
        ((-x) ** 2, "(-x) ** 2", r"\left(-x\right)^{2}"),
        (2**x**2, "2 ** x ** 2", "2^{"),
        (x @ beta, "x @ beta_age", "x"),
        (np.exp(x), "exp(x)", r"\exp\left(x\right)"),
        (np.sqrt(x), "sqrt(x)", r"\sqrt{x}"),
        (scipy.special.expit(x), "expit(x)", r"\operatorname{expit}"),
        (np.sum(x, axis=0), "sum(x, axis=0)", "sum"),
        (np.where(x > 0, x, n), "where(x > 0, x, n)", "x > 0"),
        (x[1:], "x[1:]", "x_{[1:]}"),
        (x[..., ::2], "x[..., ::2]", r"\ldots"),
        (x[np.array([0, 1])], "x[[0, 1]]", "x"),
        (x[[0, n]], "x[[0, n]]", "x"),
        (x.reshape(n), "reshape(x, shape=n)", "reshape"),
        (np.repeat(x, np.array([1, 2])), "repeat(x, repeats=[1 2])", "repeat"),
        (x.T, "x.T", r"x^\top"),
        (np.stack([x, n]), "stack([x, n])", "stack"),
        (x * np.ones((3, 4)), "x * <3x4 array>", "array"),
        (abs(x) + (+n), "absolute(x) + n", "n"),
        (
            (x < 1) & (n >= 2) | ~(x == n),
            "(x < 1) & (n >= 2) | logical_not(x == n)",
            r"x < 1 \land n \ge 2 \lor \operatorname{logical\_not}",
        ),
        ((x < 1) == (n < 1), "(x < 1) == (n < 1)", r"\left(x < 1\right) = \left(n < 1\right)"),
        (((x < 1) | (n < 1)) & (x > n), "((x < 1) | (n < 1)) & (x > n)", r"\right) \land x > n"),
        ((x < 1) | (n < 1) & (x > n), "(x < 1) | (n < 1) & (x > n)", r"\lor n < 1 \land x"),
        ((x < 1) + 2 * (x < n), "(x < 1) + 2 * (x < n)", r"\left(x < 1\right) + 2"),
        (np.array([True, False]) & (x > n), "[1, 0] & (x > n)", r"\land x > n"),
        (np.array([True, False]) | (x > n), "[1, 0] | (x > n)", r"\lor x > n"),
        (True & (x > n), "True & (x > n)", r"\land x > n"),
        (False | (x > n), "False | (x > n)", r"\lor x > n"),
        (np.invert(x > n), "logical_not(x > n)", r"logical\_not"),
        (x % 2, "x % 2", r"\bmod"),
        (x.mean() + x.sum(axis=1), "mean(x) + sum(x, axis=1)", "mean"),
        (1 - x, "1 - x", "1 - x"),
        (1 / x, "1 / x", r"\frac{1}{x}"),
        ((1 / x) ** 2, "(1 / x) ** 2", r"\left(\frac{1}{x}\right)^{2}"),
        (np.ones(3) @ x, "[1, 1, 1] @ x", "x"),
        (x != -1.5, "x != -1.5", r"\ne"),
        (x <= 1, "x <= 1", r"\le"),
    ],
)
def test_expression(expression, text, latex):
    assert to_text(expression) == text
    assert repr(expression) == text
    assert latex in to_latex(expression)


def trees(depth):
    """All ways to join two expressions, each of them a joined pair or a number, to some depth."""
    joins = [
        operator.lt, operator.eq, operator.and_, operator.or_, operator.add, operator.sub,
        operator.mul, operator.truediv, operator.mod, operator.pow,
    ]  # fmt: skip
    rng = np.random.default_rng(depth)
    found = [x, n, beta]
    for _ in range(depth):
        left, right = rng.integers(len(found), size=(2, 40))
        chosen = rng.integers(len(joins), size=40)
        made = [joins[j](found[a], found[b]) for j, a, b in zip(chosen, left, right, strict=True)]
        found += [*made, *(-tree for tree in made[:9])]
    return found


@pytest.mark.parametrize("tree", trees(3), ids=lambda tree: repr(tree)[:60])
def test_python_reads_what_is_printed_as_the_same_expression(tree):
    read = eval(to_text(tree), {"x": x, "n": n, "beta_age": beta})
    assert _structure(read) == _structure(tree)


def _structure(node):
    if not isinstance(node, Apply):
        return repr(node)
    return node.operation.name, [_structure(arg) for arg in node.args]


class Everything(Model):
    X = data(dims=("obs", "feature"), lower=0)
    beta = param(Normal(0, 1), dims="feature")
    low = param(lower=0, upper=3)
    sigma = param(HalfNormal(1))
    effect = param(Normal(0, sigma), shape=2, noncentered=True)
    eta = X @ beta
    y = observed(Normal(eta + low, sigma), dims="obs")
    total = deterministic(np.sum(effect))
    pull = potential(-(total**2))


def test_model_as_text():
    lines = repr(Everything(X=np.ones((4, 2)), y=np.zeros(4))).splitlines()
    assert lines[0] == "Everything"
    text = {" ".join(line.split()) for line in lines}
    assert text >= {
        "X[obs, feature], lower=0 (4, 2)",
        "beta[feature] ~ Normal(0, 1) (2)",
        "low ~ Flat(), lower=0, upper=3",
        "effect ~ Normal(0, sigma) (noncentered) (2)",
        "eta = X @ beta (4)",
        "y[obs] ~ Normal(eta + low, sigma) (4)",
        "total = sum(effect)",
        "pull = -total ** 2",
    }


def test_model_as_latex():
    latex = Everything(X=np.ones((4, 2)), y=np.zeros(4))._repr_latex_()
    assert latex.startswith("$$\n\\begin{aligned}")
    assert r"\sigma &\sim \operatorname{HalfNormal}\left(1\right)" in latex
    assert r"\eta &= X \, \beta" in latex
    assert r"\mathrm{low} &\sim \mathrm{Flat}" in latex
    assert latex.count("{") == latex.count("}")


def test_gallery_prints_its_shapes():
    model = load_model("models/eight_schools.py")(**read_data("models/data/eight_schools.json"))
    assert "theta[school] ~ Normal(mu, tau) (noncentered)  (8)" in repr(model)


def nested(levels):
    value = x
    for i in range(levels):
        value = np.exp(-value * value) + i
    return value


@pytest.mark.parametrize("levels", [8, 60, 5000])
@pytest.mark.parametrize("show", [to_text, to_latex])
def test_deep_expressions_are_shown_in_outline(show, levels):
    left_out = {to_text: "...", to_latex: r"\ldots"}[show]
    shown = show(nested(levels))
    assert left_out in shown
    assert len(shown) < 1000
    assert shown.endswith(f" + {levels - 1}")
    assert left_out not in show(nested(3))


def test_outlines_keep_the_outermost_operations():
    shown = to_text(nested(40))
    assert shown.startswith("exp(-(exp(-")
    assert shown.count("(") == shown.count(")")
    assert to_text(np.sqrt(nested(40))).startswith("sqrt(exp(")


def test_long_sums_end_with_their_last_terms():
    total = x
    for i in range(300):
        total = total + i * n
    shown = to_text(total)
    assert shown.startswith("... + ")
    assert shown.endswith(" + 298 * n + 299 * n")
    assert len(shown) < 300


def test_long_lists_are_shown_by_their_ends():
    shown = to_text(np.stack([x * i for i in range(500)]))
    assert shown == "stack([x * 0, x * 1, x * 2, ..., x * 499])"
    assert to_text(np.stack([x] * 9)) == f"stack([{', '.join(['x'] * 9)}])"
    assert to_text(np.repeat(x, np.arange(40))) == "repeat(x, repeats=<40 array>)"


def test_distributions_in_long_expressions_are_part_of_the_outline():
    value = x
    for i in range(200):
        value = np.exp(log_density(Normal(value, np.exp(value)), i))
    shown = to_text(value)
    assert shown.startswith("exp(log_density(Normal(exp(log_density(Normal(")
    assert len(shown) < 1000
    assert len(to_latex(value)) < 2000


def test_names_end_an_expression():
    long = nested(200)
    long.name = "long"
    assert to_text(long * 2 + 1) == "long * 2 + 1"
    assert to_text(long) == "long"
    assert "..." in to_text(long, definition=True)
