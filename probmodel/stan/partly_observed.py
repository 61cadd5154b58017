"""Data of which some elements follow a distribution, and others enter the density in another way.

As in a program for censored data or surplus zeros:

    if (censored[n]) target += normal_lccdf(y[n] | mu, sigma);
    else y[n] ~ normal(mu, sigma);
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from probmodel.stan.library.density_names import split_density_name
from probmodel.stan.side_by_side import parts, root
from probmodel.stan.syntax import nodes as n


def shared_data(program: n.Program) -> dict[str, int]:
    """Return data whose likelihood has other parts than a distribution of each, and a line of one.

    These are data to which a branch of an ``if`` statement gives a distribution where another
    branch adds something else, or to whose density ``target +=`` adds other terms.
    """
    found: dict[str, int] = {}
    for node in parts(program.blocks.get("model", ())):
        if isinstance(node, n.If):
            branches = [list(_terms(branch)) for branch in (node.then, node.otherwise)]
            for own, other in (branches, branches[::-1]):
                names = {_followed(term) for term in own} - {""}
                rest = [term for term in other if _followed(term) not in names]
                found |= {name: rest[0].place.line for name in names if rest}
        elif isinstance(node, n.Target) and not _followed(node):
            names = {_modelled(part) for part in parts(node.value)} - {""}
            found |= dict.fromkeys(names, node.place.line)
    return found


def _terms(node: Any) -> Iterator[n.Tilde | n.Target]:
    """Yield what a statement adds to the log density."""
    for part in parts(node):
        if isinstance(part, n.Tilde | n.Target):
            yield part


def _followed(term: n.Tilde | n.Target) -> str:
    """Return the variable to which a statement gives a distribution and nothing else."""
    return root(term.value) if isinstance(term, n.Tilde) else _modelled(term.value)


def _modelled(node: Any) -> str:
    """Return the variable of which a call is the log density."""
    if isinstance(node, n.Call) and node.args:
        split = split_density_name(node.name)
        if split and split[1] == "density":
            return root(node.args[0])
    return ""
