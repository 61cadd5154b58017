"""What `summary` can put into documents: figures of the runs of this package and of other tools."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import corpus
import default
import measures
import methods
import numpy as np
import posteriordb
import race
from measures import YES, Row
from method_posteriors import POSTERIORS
from report import markdown, number

RESULTS = Path(__file__).resolve().parent / "results"
JUDGED = race.JUDGED
CHAINS = 16  # of the engines' figures
LEADING = 8  # methods of the short ranking


@cache
def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text."""
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def stored(name: str, words: Sequence[str]) -> list[Row]:
    """Return the rows of a CSV file, in which all columns but ``words`` are numbers."""
    return list(measures.stored([RESULTS / f"{name}.csv"], words))


def column(rows: Iterable[dict[str, str]], name: str) -> np.ndarray:
    """Return the numbers of a column, without empty cells."""
    return np.array([float(row[name]) for row in rows if row[name]])


def median(values: Any) -> str:
    """Format a median."""
    return number(float(np.median(values)))


def span(values: Iterable[float], join: str = " to ") -> str:
    """Format the smallest and the largest."""
    found = list(values)
    return f"{number(min(found))}{join}{number(max(found))}"


def of(part: int, whole: int) -> str:
    """Format a count of a whole."""
    return f"{part} of {whole}"


# -- methods --------------------------------------------------------------------------------------


@cache
def _methods() -> tuple[list[Row], dict[tuple[str, str], methods.Cell]]:
    rows = [
        dict.fromkeys(methods.COLUMNS, np.nan) | row for row in stored("methods", methods.WORDS)
    ]
    return rows, methods.cells(rows)


@cache
def _lines() -> list[list[str]]:
    return methods.ranking(_methods()[0])


def _ranking(count: int) -> str:
    """Return the first lines of the ranking, without columns that are the same in all of them."""
    lines = [[f"`{line[0]}`", *line[1:]] for line in _lines()[:count]]
    shown = [
        i for i in range(len(methods.HEADER)) if i < 2 or any(line[i] != "0" for line in lines)
    ]
    return markdown(
        [methods.HEADER[i] for i in shown], [[line[i] for i in shown] for line in lines]
    )


def _ranked(method: str, heading: str) -> str:
    """Return an entry of the line of a method."""
    place = methods.HEADER.index(heading)
    return next(line[place] for line in _lines() if line[0] == method)


def _right_of(method: str) -> str:
    return f"{_ranked(method, methods.RIGHT)} of {len(POSTERIORS)}"


def _best(method: str) -> str:
    """Return on how many posteriors a method has the most effective draws a second, of all."""
    part = methods.shares(_methods()[1], ("second", True))
    return of(sum(share >= 1.0 for (name, _), share in part.items() if name == method),
              len(POSTERIORS))  # fmt: skip


def _right_on(title: str) -> str:
    """Return how many methods are right on a posterior."""
    table = _methods()[1]
    return str(sum(table[key].outcome == methods.RIGHT for key in table if key[1] == title))


def _runs_that_are(word: str) -> int:
    rows = _methods()[0]
    return sum(
        methods.outcome(row, bound) == word
        for row, bound in zip(rows, methods.bounds(rows), strict=True)
    )


def _share(method: str, posterior: str) -> str:
    """Return the share of the best rate by seconds, with the warm-up; the outcome if none."""
    key = method, posterior
    part = methods.shares(_methods()[1], ("second", True))
    return number(part[key]) if key in part else _methods()[1][key].outcome


# -- engines, machines, other tools ---------------------------------------------------------------


def _engines(over: str) -> np.ndarray:
    rows = [row for row in table("engines") if row["chains"] == str(CHAINS) and row[over]]
    return column(rows, "machine_us") / column(rows, over)


def _machines(what: str) -> str:
    text = (RESULTS / "machines.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{what} .*?([\d.]+) times$", text, re.MULTILINE)
    assert found, what
    return found[1]


def _peers(mode: str, name: str) -> dict[str, float]:
    """Return ours over the best of the others by posterior, in medians over repeats."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in table("peers"):
        if row["mode"] == mode and not row["error"]:
            groups.setdefault((row["case"], row["tool"]), []).append(float(row[name]))
    middle = {key: float(np.median(values)) for key, values in groups.items()}
    best = min if name == "seconds" else max
    return {
        case: ours / best(v for (c, tool), v in middle.items() if c == case and tool != "probmodel")
        for (case, tool), ours in middle.items()
        if tool == "probmodel"
    }


def _nuts_race(name: str) -> str:
    return span(column(table("nuts_race"), f"{name}, ratio"))


# -- references and corpora -----------------------------------------------------------------------


def _posteriordb() -> list[Row]:
    return stored("posteriordb", posteriordb.WORDS)


def _agreeing(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["verdict"] == posteriordb.AGREES]


def _corpus(method: str) -> list[Row]:
    return [row for row in stored("corpus", corpus.WORDS) if row["method"] == method]


def _corpus_table() -> str:
    """Return the summary without the sentence below it."""
    return corpus.summary(stored("corpus", corpus.WORDS)).split("\n\n")[0]


def _unsolved() -> str:
    names = dict.fromkeys(row["model"] for row in _corpus("default") if row["converged"] != YES)
    return ", ".join(f"`{name}`" for name in names)


def _stan(stage: str) -> str:
    rows = table("stan_example_models")
    return of(Counter(row["stage"] for row in rows)[stage], len(rows))


def _drawn() -> list[dict[str, str]]:
    return [row for row in table("stan_posteriordb") if row["draws"]]


def _default() -> tuple[list[Row], int, int]:
    """Return the rows of the default, on how many models it is the fastest, and of how many."""
    rows = stored("default", default.WORDS)
    times: dict[str, dict[str, float]] = {}
    for model, method in dict.fromkeys((row["model"], row["method"]) for row in rows):
        own = [row for row in rows if (row["model"], row["method"]) == (model, method)]
        times.setdefault(model, {})[method] = measures.typical(own, "seconds_to_400")
    best = sum(min(each, key=lambda name: each[name]) == JUDGED for each in times.values())
    return [row for row in rows if row["method"] == JUDGED], best, len(times)


def _race() -> dict[str, float]:
    found = race.medians(list(_race_rows()))
    return {
        target: ratio for (target, label), ratio in race.ratios(found).items() if label == JUDGED
    }


def _race_rows() -> list[Row]:
    return list(measures.stored([RESULTS / "race.csv"], ("target", "method", "error")))


def _largest(name: str, unit: float = 1.0) -> str:
    return number(float(column(table("large"), name).max()) / unit)


def _scale(name: str) -> str:
    rows = [row for row in table("scale") if row["model"] == name]
    ends = [rows[0], rows[-1]]
    return " and ".join(number(float(row["microseconds"])) for row in ends)


def _steps(least: bool) -> str:
    rows = [row for row in table("steps") if row["target"] == "regression"]
    values = column(rows, "ratio")
    return number(float(values.min() if least else values.max()))


FIGURES: dict[str, Callable[[], str]] = {
    "methods leading": partial(_ranking, LEADING),
    **{
        f"{name}: {heading}": partial(_ranked, name, heading)
        for name in methods.methods()
        for heading in methods.HEADER[1:]
    },
    **{f"{name}: best": partial(_best, name) for name in methods.methods()},
    **{f"{name}: right of": partial(_right_of, name) for name in methods.methods()},
    **{f"right on {title}": partial(_right_on, title) for title in POSTERIORS},
    **{
        f"{name} on {title}": partial(_share, name, title)
        for name in methods.methods()
        for title in POSTERIORS
    },
    "methods runs": lambda: str(len(_methods()[0])),
    "methods posteriors": lambda: str(len({row["posterior"] for row in _methods()[0]})),
    "methods rows": lambda: str(len({row["method"] for row in _methods()[0]})),
    **{
        f"methods runs {word}": partial(lambda word: str(_runs_that_are(word)), word)
        for word in methods.OUTCOMES
    },
    "engines median": lambda: median(_engines("numpy_us")),
    "engines largest": lambda: number(float(_engines("numpy_us").max())),
    "engines by hand": lambda: median(_engines("hand_us")),
    "engines numba": lambda: median(_engines("numba_us")),
    "engines made": lambda: median(column(table("engines"), "made_s")),
    "machines parts": partial(_machines, "parts"),
    "machines calibration": partial(_machines, "calibration"),
    "peers bulk": lambda: span(_peers("warm", "bulk_per_second").values()),
    "peers tail": lambda: span(_peers("warm", "tail_per_second").values()),
    "peers cold": lambda: span(_peers("cold", "seconds").values()),
    "peers posteriors": lambda: str(len({row["case"] for row in table("peers")})),
    "trajectories median": lambda: median(column(table("trajectories"), "steps / one core")),
    "posteriordb agree": lambda: of(len(_agreeing(_posteriordb())), len(_posteriordb())),
    "posteriordb z": lambda: number(max(abs(r["worst_z"]) for r in _agreeing(_posteriordb()))),
    "posteriordb bound": lambda: number(posteriordb.bound()),
    "stan posteriordb": lambda: str(len(table("stan_posteriordb"))),
    "stan done": lambda: str(
        sum(r["stage"] in ("done", "draws") for r in table("stan_posteriordb"))
    ),
    "stan drawn": lambda: str(len(_drawn())),
    "stan agree": lambda: str(sum(row["draws"] == "agrees" for row in _drawn())),
    "stan gradient": lambda: median(column(table("stan_posteriordb"), "ratio")),
    "stan examples": lambda: _stan("done"),
    "corpus table": _corpus_table,
    "corpus unsolved": _unsolved,
    "default converged": lambda: of(
        sum(row["converged"] == YES for row in _default()[0]), len(_default()[0])
    ),
    "default best": lambda: of(*_default()[1:]),
    "race best": lambda: of(sum(ratio >= 1.0 for ratio in _race().values()), len(_race())),
    "race least": lambda: number(min(_race().values())),
    "large dim": partial(_largest, "dim"),
    "large rhat": lambda: measures.r_hat(float(column(table("large"), "rhat").max())),
    "large minutes": partial(_largest, "seconds", 60.0),
    "large memory": partial(_largest, "megabytes", 1024.0),
    "scale dense": partial(_scale, "Cox process"),
    "steps least": partial(_steps, True),
    "steps most": partial(_steps, False),
    "nuts_race gradients": partial(_nuts_race, "gradients/ESS"),
    "nuts_race gradient": partial(_nuts_race, "µs/gradient"),
    "nuts_race call": partial(_nuts_race, "whole call, s"),
}
