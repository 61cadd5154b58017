"""A model's graph as DOT text."""

import re

import numpy as np
import pytest

from probmodel import Model, ModelError, data, deterministic, observed, param, potential, to_dot
from probmodel.distributions import Exponential, HalfNormal, Normal, Truncated
from probmodel.model.model_graph import _quoted, dependencies, reachable


class Small(Model):
    n = data(dtype=int)
    x = data(dims="obs", upper=n)
    mu = param(Truncated(Normal(0, 1), lower=0))
    slope = param(dims=("obs", "side"), lower=mu)
    eta = mu + x
    total = deterministic(np.sum(eta))
    tilt = potential(-total)
    y = observed(Normal(eta, 1), dims="obs")


GOLDEN = """\
digraph "Small" {
  rankdir=TB;
  "n" [label="n", shape=box, style=filled, fillcolor="lightgrey"];
  "mu" [label="mu\\n~ Truncated(Normal)", shape=ellipse];
  "total" [label="total", shape=box, style=rounded];
  "tilt" [label="tilt", shape=octagon];
  subgraph cluster_0 {
    label="obs";
    "x" [label="x", shape=box, style=filled, fillcolor="lightgrey"];
    "y" [label="y\\n~ Normal", shape=ellipse, style=filled, fillcolor="lightgrey"];
  }
  subgraph cluster_1 {
    label="obs × side";
    "slope" [label="slope\\n~ Flat", shape=ellipse];
  }
  "n" -> "x";
  "mu" -> "slope";
  "x" -> "total";
  "mu" -> "total";
  "total" -> "tilt";
  "x" -> "y";
  "mu" -> "y";
}"""


def test_golden():
    assert to_dot(Small) == GOLDEN


def test_a_bound_model_shows_sizes():
    text = to_dot(Small(n=3, x=[0.0, 1.0], y=[0.0, 1.0], coords={"side": ["left"]}))
    assert 'label="obs (2)";' in text
    assert 'label="obs (2) × side (1)";' in text


def test_shapes_without_dims_are_in_the_label():
    class Shapes(Model):
        k = data(dtype=int)
        a = param(Normal(0, 1), shape=(k, 2))
        b = deterministic(np.exp(a))
        y = observed(Normal(np.sum(a), 1))

    text = to_dot(Shapes(k=3, y=0.0))
    assert '"a (3, 2)\\n~ Normal"' in text
    assert '"b (3, 2)"' in text
    assert 'label="y\\n~ Normal"' in text
    assert '"a\\n~ Normal"' in to_dot(Shapes)


def test_information_is_no_edge():
    """It tells the sampler how to move; the density does not depend on it."""

    class Informed(Model):
        precision = data()
        mu = param(Normal(0, 1), information=precision)
        y = observed(Normal(mu, 1), dims="obs")

    assert '"precision" ->' not in to_dot(Informed)


def test_every_declaration_is_a_node_and_every_edge_joins_two():
    class Inherited(Small):
        rate = param(Exponential(1))
        z = observed(Normal(Small.slope, rate), dims=("obs", "side"))

    text = to_dot(Inherited)
    nodes = re.findall(r'^ +"(\w+)" \[label', text, re.MULTILINE)
    assert sorted(nodes) == sorted(["n", "x", "mu", "slope", "total", "tilt", "y", "rate", "z"])
    edges = re.findall(r'"(\w+)" -> "(\w+)"', text)
    assert {("slope", "z"), ("rate", "z")} <= set(edges)
    assert {name for edge in edges for name in edge} <= set(nodes)
    assert text.count("{") == text.count("}")


def test_names_that_are_words_of_the_language_are_quoted():
    class Words(Model):
        node = param(HalfNormal(1))
        edge = observed(Normal(0, node), dims="subgraph")

    text = to_dot(Words)
    assert '"node" -> "edge";' in text
    assert 'label="subgraph";' in text


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("a", '"a"'), ('a "b"', r'"a \"b\""'), ("a\\n", r'"a\\n"'), ("a\nb", r'"a\nb"'), ("ψ", '"ψ"')],
)
def test_quoting(text, quoted):
    assert _quoted(text) == quoted


@pytest.mark.parametrize("given", [None, 3, int, Model.__init__])
def test_something_else_is_refused(given):
    with pytest.raises(ModelError, match="to_dot takes a model class or a bound model"):
        to_dot(given)


def test_dependencies_and_what_can_be_reached():
    parents = dependencies(Small._declarations)
    assert parents["tilt"] == ["total"]
    assert parents["y"] == ["x", "mu"]
    assert reachable(["tilt"], parents) == {"tilt", "total", "x", "mu", "n"}
