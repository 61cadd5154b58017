"""Figures in the documents that come from stored results: written from the CSV files, and compared.

    python benchmarks/summary.py            compare, and end with 1 if a document differs
    python benchmarks/summary.py --write    write the figures of all documents anew

A figure, or a table, stands between ``<!--= NAME -->`` and ``<!--/-->``, in a line or in lines of
its own. What it is comes from `measured_figures` and `paper_figures`, which read what
the other scripts have written to ``results``. After new rows, run this with ``--write``.

Reports of papers' experiments, `REPORTS`, begin with what `papers` prints of their rows, up to a
line `BY_HAND`; it is written and compared in the same way.

Outside of these, the page of results has no number: `loose_numbers` finds those that are not part
of a command, a link, a date, or the name of a paper's table. So no figure there can be other than
what was measured.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
from collections.abc import Sequence
from pathlib import Path

import papers
from measured_figures import FIGURES as MEASURED
from paper_figures import FIGURES as OF_PAPERS

ROOT = Path(__file__).resolve().parents[1]
PAGE = "benchmarks/results/README.md"
REPORTS = tuple(
    f"benchmarks/results/{name}.md"
    for name in ("hirt2021", "titsias2019", "titsias2023", "titsias2023_signals", "wang2013",
                 "zhu2019")
)  # fmt: skip
DOCUMENTS = (PAGE, "docs/which-method.md", *REPORTS)
BY_HAND = "<!-- By hand from here on. -->\n"
COMMAND = re.compile(r"\A- Command: python benchmarks/papers\.py (.*)\n")
FIGURES = MEASURED | OF_PAPERS
MARKED = re.compile(r"(<!--= ([^>]+?) -->)(.*?)(<!--/-->)", re.DOTALL)
FREE = re.compile(
    r"```.*?```|`[^`]*`"  # commands and code
    r"|\]\([^)]*\)"  # where links lead
    r"|\d{4}-\d{2}-\d{2}|\((?:19|20)\d{2}\)"  # dates, years of papers
    r"|(?:Tables?|Figures?) \d+(?:(?:,| and|–) ?\d+)*",
    re.DOTALL,
)


def written(text: str) -> str:
    """Return a document with every figure, and what is printed, as the stored results have it."""
    if command := COMMAND.match(text):
        _, mark, notes = text.partition("\n" + BY_HAND)
        text = printed(command[1].split()) + mark + notes

    def figure(found: re.Match[str]) -> str:
        name = found[2]
        if name not in FIGURES:
            raise KeyError(f"no figure is called {name!r}; there are {', '.join(FIGURES)}")
        value = FIGURES[name]()
        lines = f"\n\n{value}\n\n" if value.startswith("|") else value
        return f"{found[1]}{lines}{found[4]}"

    return MARKED.sub(figure, text)


def printed(arguments: Sequence[str]) -> str:
    """Return what `papers` prints of stored rows."""
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.chdir(ROOT):
        papers.main(arguments)
    return output.getvalue().rstrip("\n") + "\n"


def loose_numbers(text: str) -> list[str]:
    """Return the numbers of a document that nothing compares with results."""
    return re.findall(r"\d[\d.,]*", FREE.sub("", MARKED.sub("", text)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare or write; 1 if a document differs from the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the figures anew")
    options = parser.parse_args(arguments)
    different = 0
    for name in DOCUMENTS:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = written(before)
        if before == after:
            continue
        if options.write:
            path.write_text(after, encoding="utf-8")
            print(f"{name}: written")
        else:
            if COMMAND.match(before):
                print(f"{name}: not what its command prints")
            old, new = (MARKED.findall(text) for text in (before, after))
            for (_, figure, was, _), (_, _, now, _) in zip(old, new, strict=True):
                if was != now:
                    print(f"{name}: {figure}: {was.strip()!r} should be {now.strip()!r}")
            different = 1
    return different


if __name__ == "__main__":
    raise SystemExit(main())
