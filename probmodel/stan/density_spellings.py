"""Which of ``_lpdf`` and ``_lpmf`` a function's name ends in: that of its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from probmodel.stan.complaints import complaint
from probmodel.stan.library.stan_densities import DENSITIES
from probmodel.stan.side_by_side import parts
from probmodel.stan.syntax import nodes as n

# By suffix: whether it is of distributions of whole numbers, and its counterpart.
_SUFFIXES = {
    "_lpdf": (False, "_lpmf"), "_lupdf": (False, "_lupmf"),
    "_lpmf": (True, "_lpdf"), "_lupmf": (True, "_lupdf"),
}  # fmt: skip
_VALUES = {True: "whole numbers", False: "real numbers"}


def check_spellings(program: n.Program, sources: Mapping[str, str]) -> None:
    """Raise a `ModelError` for the first name that ends as those of the other sort do."""
    own = {function.name for function in program.functions}
    for function in program.functions:
        _check_function(function, sources)
    for node in parts((*program.functions, *program.blocks.values())):
        if isinstance(node, n.Call):
            _check_call(node, own, sources)


def _check_function(function: n.Function, sources: Mapping[str, str]) -> None:
    for suffix in ("_lpdf", "_lpmf"):
        if not function.name.endswith(suffix) or not function.arguments:
            continue
        discrete, other = _SUFFIXES[suffix]
        first = function.arguments[0]
        if first.type.kind != "tuple" and (first.type.kind == "int") != discrete:
            right = function.name.removesuffix(suffix) + other
            what = f"{first.name} is declared as {first.type.kind}"
            _refuse(function, function.name, right, what, discrete, sources)


def _check_call(node: n.Call, own: set[str], sources: Mapping[str, str]) -> None:
    for suffix, (discrete, other) in _SUFFIXES.items():
        stem = node.name.removesuffix(suffix)
        if stem == node.name:
            continue
        defined = stem + suffix.replace("_lup", "_lp")
        counterpart = stem + other.replace("_lup", "_lp")
        built_in = DENSITIES.get(stem)
        if defined in own or (built_in is not None and built_in.discrete == discrete):
            return
        if counterpart in own or built_in is not None:
            what = f"values of {stem} are {_VALUES[not discrete]}"
            _refuse(node, node.name, stem + other, what, discrete, sources)


def _refuse(
    node: n.Node, name: str, right: str, what: str, discrete: bool, sources: Mapping[str, str]
) -> NoReturn:
    suffix = name[name.rindex("_") :]
    raise complaint(
        f"{name}: names that end in {suffix} are of distributions of {_VALUES[discrete]}, and "
        f"{what}. Write {right}.",
        node.place,
        sources,
    )
