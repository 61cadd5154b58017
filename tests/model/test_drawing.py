"""A model's picture: every declaration is in it, below what it depends on, and nothing overlaps."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from probmodel import Model, data, deterministic, load_model, observed, param, potential, to_svg
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import ModelError
from probmodel.model import drawing
from probmodel.model.model_graph import dependencies

SVG = "{http://www.w3.org/2000/svg}"


class Every(Model):
    """One of each kind, with an edge over several layers, and a name that needs escaping."""

    x = data(dims="day")
    tau = param(HalfNormal(1))
    mu = param(Normal(0, tau), dims="day")
    level = deterministic(mu + x, dims="day")
    scaled = level * 2
    far = deterministic(tau * np.sum(scaled))
    held = potential(-(far**2))
    y = observed(Normal(scaled + far, tau), dims="day")


def parsed(model):
    return ElementTree.fromstring(to_svg(model))


def boxes(kind):
    """Left, right, top and bottom of each declaration, by name."""
    made = {name: drawing._box(d, None) for name, d in kind._declarations.items()}
    layers = drawing._layers(made, dependencies(kind._declarations))
    x, y, width, height = drawing._positions(layers, made)
    return {
        name: (x[name] - b.width / 2, x[name] + b.width / 2, y[name] - b.height / 2,
               y[name] + b.height / 2)
        for name, b in made.items()
    }, (width, height)  # fmt: skip


def test_it_shows_every_declaration_and_dependency():
    found = parsed(Every)
    texts = [text.text for text in found.iter(f"{SVG}text")]
    assert {"x", "tau", "mu", "level", "far", "held", "y", "~ HalfNormal", "day"} <= set(texts)
    edges = [path for path in found.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(edges) == sum(map(len, dependencies(Every._declarations).values()))
    kinds = [len(list(found.iter(f"{SVG}{tag}"))) for tag in ("ellipse", "rect", "polygon")]
    assert kinds == [3, 3, 1]


def test_a_bound_model_shows_sizes():
    model = Every(x=[1.0, 2.0], y=[0.0, 1.0])
    assert "day (2)" in [text.text for text in parsed(model).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", ["radon", "rats", "seeds", "stochastic_volatility", "garch"])
def test_nothing_overlaps_and_edges_go_down(name):
    kind = load_model(f"models/{name}.py")
    found, (width, height) = boxes(kind)
    for own, (left, right, top, bottom) in found.items():
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        for other, (a, b, c, d) in found.items():
            apart = right <= a or b <= left or bottom <= c or d <= top
            assert own == other or apart, (own, other)
    for child, parents in dependencies(kind._declarations).items():
        for parent in parents:
            assert found[parent][3] < found[child][2]
    parsed(kind)


def test_what_is_used_once_stands_right_above():
    found, _ = boxes(Every)
    middles = {name: (top + bottom) / 2 for name, (_, _, top, bottom) in found.items()}
    assert middles["x"] == pytest.approx(middles["mu"])  # both of what `level` is made of


def test_a_model_without_declarations():
    class Nothing(Model):
        pass

    assert len(list(parsed(Nothing))) == 1


def test_html_is_a_table_and_the_graph():
    class Escaped(Model):
        x = data()
        a = param(Normal(0, 1))
        y = observed(Normal(np.where(a < x, a, x), 1.0), dims="day")

    html = Escaped(x=1.0, y=[0.0, 1.0])._repr_html_()
    assert "<b>Escaped</b>" in html
    assert "a &lt; x" in html
    assert "(2)" in html
    assert html.count("<svg") == 1
    assert re.search(r"<td[^>]*>parameters</td><td[^>]*>a ~ Normal\(0, 1\)</td>", html)
    assert "where" in Every(x=[1.0], y=[0.0])._repr_html_()


@pytest.mark.parametrize("given", [None, 3, Normal(0, 1)])
def test_what_is_no_model(given):
    with pytest.raises(ModelError, match="to_svg takes a model class or a bound model"):
        to_svg(given)
