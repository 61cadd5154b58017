"""Write what the documents take from the code: tables of methods, and figures.

    python docs/generate.py                     rewrite the tables
    python docs/generate.py --figures           rewrite the tables and draw every figure
    python docs/generate.py --figures rwm am    rewrite the tables and draw these figures

A table stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``. Tables come from the class
variables, fields and docstrings of the classes in `probmodel.samplers.SAMPLERS`, the page of
distributions from the docstrings of those in `probmodel.distributions.DISTRIBUTIONS`, and the page
of Stan's functions from the tables of `probmodel.stan.library`. Figures are
made by running the methods, see ``figures.py``; they need matplotlib, which
``pip install ".[docs]"`` brings.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probmodel import distributions as package
from probmodel.distributions import DISTRIBUTIONS
from probmodel.samplers import SAMPLERS
from probmodel.samplers.base import Sampler
from probmodel.stan.library.data_functions import CONSTANTS, OF_DATA, SIZES
from probmodel.stan.library.elementwise import ELEMENTWISE, OF_NUMBERS
from probmodel.stan.library.entries import Whole
from probmodel.stan.library.moves import MOVES
from probmodel.stan.library.overloads import OPERATORS, TUPLES
from probmodel.stan.library.rng_functions import has_draws
from probmodel.stan.library.stan_densities import DENSITIES, Density
from probmodel.stan.library.whole import WHOLE
from probmodel.stan.solver_calls import ODES, ROOTS
from probmodel.stan.transform_calls import TRANSFORMS

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "probmodel" / "distributions" / "__init__.pyi"
DOCUMENTS = (
    "README.md",
    "docs/distributions.md",
    "docs/inference.md",
    "docs/methods.md",
    "docs/stan-functions.md",
    *(f"docs/methods/{name}.md" for name in SAMPLERS),
)
GENERATED = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
NEEDS = {
    "log density": "log density",
    "gradient": "gradient",
    "hvp": "gradient, Hessian-vector products",
    "metric": "gradient, metric",
    "prior": "gradient, proper priors",
}
RANKS = ("number", "vector", "matrix")  # of arguments with none, one and two axes
# Functions of Stan that take a function, and what they return.
FUNCTIONALS = {
    **{f"{name}{end}": "values at times, by `solve_ode`" for name in ODES
       for end in ("", "_tol" * name.startswith("ode_"))},
    **{f"{name}{end}": "a root, by `solve_newton`" for name in ROOTS
       for end in ("", "_tol" * name.startswith("solve_"))},
    "integrate_1d": "an integral, by `integrate_1d`",
    "map_rect": "what the function returns for each row",
    "reduce_sum": "what the function returns for all elements",
    "reduce_sum_static": "what the function returns for all elements",
}  # fmt: skip


def generate(text: str) -> str:
    """Return a document with every generated part written anew."""
    return GENERATED.sub(lambda found: f"{found[1]}\n{part(found[2])}\n\n{found[3]}", text)


def part(name: str) -> str:
    """Return the generated part called ``name``."""
    if name in PARTS:
        return PARTS[name]()
    method = name.removeprefix("settings of ")
    if method not in SAMPLERS:
        raise ValueError(f"nothing is generated under the name {name!r}")
    return settings(SAMPLERS[method])


def overview() -> str:
    """Return the table of methods, each linked to its page."""
    head = ("method", "what it is", "needs", "learns in the warm-up", "one iteration", "paper")
    return table(
        head,
        (
            (f"[`{s.name}`](methods/{s.name}.md)", s.summary, NEEDS[s.needs], s.learns, s.cost,
             s.paper)
            for s in samplers()
        ),
    )  # fmt: skip


def short_overview() -> str:
    """Return the table of methods for the front page."""
    return table(
        ("method", "what it is", "needs"),
        (
            (f"[`{s.name}`](docs/methods/{s.name}.md)", s.summary, NEEDS[s.needs])
            for s in samplers()
        ),
    )


def default_sizes() -> str:
    """Return the table of how long a method runs unless told otherwise."""
    return table(
        ("method", "warmup", "draws", "chains"),
        (
            (f"`{s.name}`", str(s.default_warmup), str(s.default_draws), str(s.default_chains))
            for s in samplers()
        ),
    )


def samplers() -> list[type[Sampler]]:
    """Return the methods, the least demanding first."""
    order = list(NEEDS)
    return sorted(SAMPLERS.values(), key=lambda s: (order.index(s.needs), s.name))


def settings(kind: type[Sampler]) -> str:
    """Return the table of a method's settings: its fields, and what the docstrings say of them."""
    meanings = {
        name: meaning for base in reversed(kind.__mro__) for name, meaning in documented(base)
    }
    fields = [field for field in dataclasses.fields(kind) if field.init]
    missing = [field.name for field in fields if field.name not in meanings]
    if missing:
        raise ValueError(f"the docstring of {kind.__name__} does not say what {missing} are")
    return table(
        ("setting", "default", "meaning"),
        ((f"`{f.name}`", f"`{literal(f.default)}`", meanings[f.name]) for f in fields),
    )


def documented(kind: type) -> list[tuple[str, str]]:
    """Return the parameters that a NumPy docstring describes, with their meanings in Markdown."""
    doc = inspect.cleandoc(kind.__dict__.get("__doc__") or "")
    _, found, rest = doc.partition("Parameters\n----------\n")
    if not found:
        return []
    body = re.split(r"\n\S+\n-+\n", f"{rest}\n", maxsplit=1)[0]
    entries = re.findall(r"^(\w+) : (.+)\n((?:[ ]+.+\n|\n)+)", f"{body}\n", re.MULTILINE)
    return [(name, meaning(kind, of, text)) for name, of, text in entries]


def meaning(kind: type, of: str, text: str) -> str:
    """Return a description as Markdown on one line; the values of a choice are listed after it."""
    words = " ".join(text.split())
    source = f"probmodel/{kind.__module__.partition('.')[2].replace('.', '/')}.py"
    words = words.replace("this file", f"[its source](../../{source})")
    if of.startswith("{"):
        values = ", ".join(f"`{value}`" for value in re.findall(r'"[^"]+"', of))
        words = f"{words} One of {values}."
    return words.replace("``", "`").replace("|", r"\|").replace("*", r"\*")


def distributions() -> str:
    """Return an entry for each distribution: density, parameters, conventions, references."""
    kinds = sorted(DISTRIBUTIONS.items(), key=lambda item: item[0].lower())
    return "\n\n".join(f"### `{name}`\n\n{entry(kind)}" for name, kind in kinds)


def entry(kind: type) -> str:
    """Return the docstring of a distribution as Markdown, with its formulas as mathematics."""
    first, *rest = re.split(
        r"^(\w+)\n-+\n", inspect.cleandoc(kind.__doc__ or ""), flags=re.MULTILINE
    )
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    parts = [mathematics(first)]
    entries = re.findall(
        r"^([\w, ]+) : (.+(?:\n(?:[ ]+.*|(?=\n)))*)", sections.get("Parameters", ""), re.MULTILINE
    )
    parts += ["\n".join(f"- `{name}`: {inline(' '.join(text.split()))}" for name, text in entries)]
    parts += [mathematics(sections[name]) for name in ("Notes", "References") if name in sections]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def mathematics(text: str) -> str:
    """Return text with its displayed formulas fenced."""
    pieces = re.split(r"^\.\. math:: (.+(?:\n[ ]+.+)*)", text, flags=re.MULTILINE)
    for i, piece in enumerate(pieces):
        if i % 2:
            formula = "\n".join(line.strip() for line in piece.splitlines())
            pieces[i] = f"```math\n{formula}\n```"
        else:
            pieces[i] = inline(piece)
    return "".join(pieces)


def inline(text: str) -> str:
    """Return text with the roles and literals of a docstring as Markdown."""
    text = text.replace("``", "`")
    return re.sub(r":math:`([^`]+)`", lambda found: f"$`{' '.join(found[1].split())}`$", text)


def stan_functions() -> str:
    """Return the table of Stan's functions that are not of a distribution."""
    rows: dict[str, list[tuple[str, str]]] = {}

    def add(name: str, arguments: str, result: str) -> None:
        stem = name.partition(":")[0]  # meanings of one name have an entry each
        if stem.isidentifier():  # operators have entries too
            rows.setdefault(stem, []).append((arguments, result))

    for name in ELEMENTWISE:
        of_data = " of data" if name in OF_NUMBERS else ""
        add(name, f"numbers{of_data}, or containers of them", "element by element")
    for name, entry in WHOLE.items():
        add(name, whole_arguments(name, entry), result_of(entry.kind))
    for name in MOVES:
        add(name, "a container", "elements in another place or shape")
    for name in SIZES:
        add(name, "a container", "whole numbers")
    for name, (_, kind) in OF_DATA.items():
        add(name, "data", result_of(kind))
    for name in CONSTANTS:
        add(name, "none", "a number")
    for name, operator in OPERATORS.items():
        add(name, f"operands of `{operator}`", "that of the operator")
    for name, parts in TUPLES.items():
        add(name, "a matrix", f"a tuple: {', '.join(f'`{part}`' for part in parts)}")
    for name, result in FUNCTIONALS.items():
        add(name, "a function, and what it takes", result)
    for name, transform in TRANSFORMS.items():
        more = ", ".join(["bounds"] * bool(transform.bounds) + ["sizes"] * bool(transform.sizes))
        behind = f", {more}" if more else ""
        add(f"{name}_constrain", f"unconstrained{behind}", "constrained")
        add(f"{name}_jacobian", f"unconstrained{behind}", "constrained; adds the log Jacobian")
        add(
            f"{name}_unconstrain",
            f"constrained{', bounds' * bool(transform.bounds)}",
            "unconstrained",
        )
    return table(
        ("function", "arguments", "result"),
        (
            (f"`{name}`", *("; or ".join(dict.fromkeys(c)) for c in zip(*entries, strict=True)))
            for name, entries in sorted(rows.items(), key=lambda row: row[0].lower())
        ),
    )


def whole_arguments(name: str, entry: Whole) -> str:
    """Return what a function of whole vectors and matrices takes."""
    if entry.flat:
        return "a container"
    named = [RANKS[rank] + " of data" * (i in entry.sizes) for i, rank in enumerate(entry.ranks)]
    stem, _, meaning = name.partition(":")
    if meaning and "cov" in stem:  # covariances of one set of points, or of two
        named[: 2 if meaning.startswith("two") else 1] = ["points, once or twice"]
    return ", ".join(named)


def result_of(kind: Any) -> str:
    """Return the kind of a result in words."""
    if callable(kind):
        return "of the argument's kind"
    words = {"int": "whole numbers", "real": "a number", "row_vector": "a row vector"}
    return words.get(kind, f"a {kind}")


def stan_distributions() -> str:
    """Return the table of Stan's distributions."""
    head = ("Stan", "value", "parameters", "here", "distribution function", "draws")
    return table(
        head, ((f"`{name}`", *density_row(name, DENSITIES[name])) for name in sorted(DENSITIES))
    )


def density_row(name: str, entry: Density) -> tuple[str, ...]:
    """Return the cells of a distribution behind its name."""
    value, *ranks = entry.ranks
    examples = (np.array(0.5), np.full(2, 0.5), np.eye(2))
    args = [examples[rank] + i * (rank == 0) for i, rank in enumerate(ranks)]
    made = entry.make(*([np.ones(2, dtype=int)] if entry.takes_value else []), *args)
    inside = getattr(made, "dist", made)
    kind = next(k.__name__ for k in type(inside).__mro__ if k.__name__ in DISTRIBUTIONS)
    return (
        f"whole number{'s' * value}" if entry.discrete else RANKS[value],
        ", ".join(RANKS[rank] for rank in ranks) or "none",
        f"{'1 + ' * (inside is not made)}[`{kind}`](distributions.md#{kind.lower()})",
        "yes" if made.has_cdf else "no",
        "yes" if has_draws(name) else "no",
    )


def literal(value: object) -> str:
    """Return a default value as Python source, with double quotes."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PARTS = {
    "methods": overview,
    "methods in short": short_overview,
    "default sizes": default_sizes,
    "distributions": distributions,
    "functions of Stan": stan_functions,
    "distributions of Stan": stan_distributions,
}


def stub() -> str:
    """Return what type checkers and editors read of `probmodel.distributions`."""
    lines = [
        "# Written by docs/generate.py: constructors with the parameters that the classes declare.",
        "",
        "from typing import Any",
        "",
    ]
    classes = ["DISTRIBUTIONS: dict[str, type[Distribution]]"]
    for name in sorted(package.__all__):
        member = getattr(package, name)
        if inspect.ismodule(member):
            lines.append(f"from {package.__name__} import {name} as {name}")
        elif name == "DISTRIBUTIONS":
            continue
        elif getattr(member, "__signature__", None) is None:
            lines.append(f"from {member.__module__} import {name} as {name}")
        else:
            lines.append(f"from {member.__module__} import {name} as _{name}")
            classes += [
                "",
                f"class {name}(_{name}):",
                f"    def __init__({given(member)}) -> None: ...",
            ]
    names = [f'    "{name}",' for name in sorted(package.__all__)]
    return "\n".join([*lines, "", *classes, "", "__all__ = [", *names, "]", ""])


def given(kind: type) -> str:
    """Return what a constructor takes, as its definition has it."""
    texts = ["self"]
    for p in inspect.signature(kind).parameters.values():
        if p.kind is p.KEYWORD_ONLY and "*" not in texts:
            texts.append("*")
        texts.append(f"{p.name}: Any" + ("" if p.default is p.empty else " = ..."))
    return ", ".join(texts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the tables, and draw the figures that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--figures", nargs="*", metavar="NAME", help="draw these figures, all if none is named"
    )
    wanted = parser.parse_args(arguments).figures
    for document in DOCUMENTS:
        path = ROOT / document
        text = path.read_text(encoding="utf-8")
        path.write_text(generate(text), encoding="utf-8")
    STUB.write_text(stub(), encoding="utf-8")
    if wanted is not None:
        import figures  # beside this script; matplotlib is needed for nothing else

        names = wanted or [*SAMPLERS, *figures.GUIDES]
        docs = ROOT / "docs"
        figures.draw([n for n in names if n in figures.GUIDES], docs / "figures")
        figures.draw([n for n in names if n not in figures.GUIDES], docs / "methods" / "figures")


if __name__ == "__main__":
    main()
