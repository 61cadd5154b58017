"""The documents: every example runs, every table agrees with the code, every link resolves."""

import ast
import contextlib
import inspect
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import probmodel.errors
import probmodel.functions
from probmodel import LogDensity, infer
from probmodel.cli import main
from probmodel.constraints import CONSTRAINTS
from probmodel.distributions import DISTRIBUTIONS, kernels
from probmodel.distributions.base import Distribution
from probmodel.expressions import supported_functions
from probmodel.inference.request import SYNONYMS
from probmodel.results.arviz_object import group
from probmodel.samplers import DEFAULT_METHOD, SAMPLERS

ROOT = Path(__file__).parents[2]
GUIDES = ("README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")))
PAGES = tuple(f"docs/methods/{name}.md" for name in SAMPLERS)
TUTORIALS = tuple(
    str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs" / "tutorials").glob("*.md"))
)
DOCUMENTS = (*GUIDES, *PAGES, "CONTRIBUTING.md")
LINKED = (*DOCUMENTS, *TUTORIALS, "CHANGELOG.md", "models/README.md", "models/data/README.md")
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FEW = ["--draws", "100", "--warmup", "100", "--chains", "4", "--quiet"]


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    options: str
    text: str
    line: int


def read(document):
    return (ROOT / document).read_text()


def blocks(document, language):
    text = read(document)
    return [
        Block(match[1], match[2].strip(), match[3], text[: match.start(3)].count("\n") + 1)
        for match in FENCE.finditer(text)
        if match[1] == language
    ]


def prose(document):
    return FENCE.sub("", read(document))


def section(document, heading):
    """Text between a heading and the next one of its level or above."""
    level = heading.split(" ")[0]
    _, found, rest = read(document).partition(f"\n{heading}\n")
    assert found, f"{document} has no heading {heading!r}"
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text):
    """Cells of every table row, head and rule left out: the first cell is in backticks."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def runs_of(commands):
    """Words of each line that calls the command line, whichever environment it names."""
    for line in commands.replace("\\\n", " ").splitlines():
        for part in line.split("&&"):
            words = shlex.split(part)
            if words and Path(words[0]).name == "probmodel":
                yield words[1:]


@pytest.fixture
def workplace(tmp_path, monkeypatch, small_pictures):
    """An empty folder: examples need no checkout, and what they write is thrown away."""
    monkeypatch.chdir(tmp_path)


def write_files(document):
    """Write the files that blocks of a document stand for: ` ```stan file=model.stan `."""
    for match in FENCE.finditer(read(document)):
        _, named, name = match[2].strip().partition("file=")
        if named:
            Path(name).write_text(match[3])


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "python")])
def test_python_examples_run_in_order(document, capsys):
    write_files(document)
    namespace = {"__name__": "example"}
    for block in blocks(document, "python"):
        if block.options == "pymc":  # another package's; see test_from_stan_and_pymc.py
            continue
        code = compile("\n" * (block.line - 1) + block.text, str(ROOT / document), "exec")
        expected = contextlib.nullcontext()
        if block.options:
            assert block.options.startswith("raises="), block
            expected = pytest.raises(getattr(probmodel.errors, block.options[len("raises=") :]))
        with expected:
            exec(code, namespace)
    output = capsys.readouterr().out
    shown = [block for block in blocks(document, "text") if block.options == "printed"]
    assert [block for block in shown if block.text not in output] == []


COMMANDS = {
    document: [words for b in blocks(document, "bash") for words in runs_of(b.text)]
    for document in DOCUMENTS
}


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("document", [d for d, commands in COMMANDS.items() if commands])
def test_commands_run(document):
    write_files(document)
    for words in COMMANDS[document]:
        assert main([*words, *(FEW if words[0] == "sample" else [])]) == 0, words


def test_every_command_is_shown():
    shown = {words[0] for words in COMMANDS["docs/command-line.md"]}
    assert shown == {"sample", "resume", "report", "summary", "show", "check", "gallery", "methods"}


def anchors(document):
    headings = re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def is_broken(document, link):
    if link.startswith("https://"):
        return False
    path, _, anchor = link.partition("#")
    target = (ROOT / document).parent / path if path else ROOT / document
    return not target.exists() or (bool(anchor) and anchor not in anchors(target))


@pytest.mark.parametrize("document", LINKED)
def test_links_resolve(document):
    links = re.findall(r"\[[^\]]+\]\(([^)\s]+)\)", prose(document))
    assert [link for link in links if is_broken(document, link)] == []


@pytest.mark.parametrize("link", ["nowhere.md", "density.md#nowhere", "#nowhere"])
def test_broken_links_are_found(link):
    assert is_broken("docs/density.md", link)
    assert not is_broken("docs/density.md", "checking.md#checking-a-model")


def test_every_guide_is_indexed():
    indexed = set(re.findall(r"\]\(([\w-]+\.md)\)", read("docs/README.md")))
    assert indexed == {Path(g).name for g in GUIDES if g.startswith("docs/")} - {"README.md"}


# -- the modelling language --------------------------------------------------------------------


def calls(text):
    """Name and arguments of each first cell that is a call: `Normal(loc, scale)`."""
    found = {}
    for cells in rows(text):
        match = re.fullmatch(r"(\w+)\((.*)\)", quoted(cells[0])[0])
        if match:
            arguments = [a.strip() for a in match[2].split(",") if a.strip()]
            found[match[1]] = (arguments, cells)
    return found


def parameters_of(kind):
    """Names of the arguments, in order; a form of its own is given to the instance."""
    if not hasattr(kind, "parameters"):
        return list(inspect.signature(kind).parameters)
    return list(kind.parameters)


def test_distributions_are_listed_with_their_parameters():
    text = section("docs/modelling-language.md", "## Distributions")
    simple = set(kernels.__all__) - {"Kernel", "Isotropic", "Sum", "Product", "Exponential"}
    of_kernels = {n: a for n, (a, _) in calls(text).items() if n in simple}
    listed = {n: a for n, (a, _) in calls(text).items() if n not in of_kernels}
    process = re.search(r"`GaussianProcess\((.*?)\)`", text)
    listed["GaussianProcess"] = process[1].split(", ")
    assert listed == {name: parameters_of(kind) for name, kind in DISTRIBUTIONS.items()}
    assert of_kernels == {name: list(getattr(kernels, name)().arguments) for name in simple}


FUNCTIONS = {
    "## Functions for hidden components and states": "component_functions",
    "## Log densities in formulas": "log_densities",
    "## Sums of exponentials and log determinants": "log_scale",
    "## Arrays whose sizes are data": "data_arrays",
    "## Groups that differ in size": "segments",
}


@pytest.mark.parametrize("heading", FUNCTIONS)
def test_functions_are_listed_with_their_arguments(heading):
    listed = calls(section("docs/modelling-language.md", heading))
    assert {name: arguments for name, (arguments, _) in listed.items()} == {
        name: list(inspect.signature(function).parameters)
        for name, function in vars(probmodel.functions).items()
        if getattr(function, "__module__", "") == f"probmodel.functions.{FUNCTIONS[heading]}"
    }


def test_number_of_distributions_in_the_readme():
    assert f"**{len(DISTRIBUTIONS)} distributions**" in read("README.md")


def test_distributions_are_marked_as_noncentered_and_cut():
    text = section("docs/modelling-language.md", "## Distributions").split("###")[0]
    for name, (_, cells) in calls(text).items():
        kind = DISTRIBUTIONS[name]
        known = (
            kind.noncentered is not Distribution.noncentered,
            kind.log_cdf is not Distribution.log_cdf,
        )
        assert tuple({"yes": True, "no": False}[c] for c in cells[-2:]) == known, name


@pytest.mark.parametrize(
    ("document", "start", "end"),
    [
        ("docs/modelling-language.md", "`print(model)` marks the parameters", "[What infer does"),
        ("docs/what-infer-does.md", "`infer` does this, element by element", "Hierarchies in a"),
    ],
)
def test_families_that_data_standardise_are_listed(document, start, end):
    listed = read(document).partition(start)[2].partition(end)[0]
    taking = {name for name, kind in DISTRIBUTIONS.items() if kind.takes_pseudo_data}
    # Only that of some families is standardised.
    assert taking | {"Truncated"} == set(re.findall(r"`(\w+)`", listed)) & set(DISTRIBUTIONS)


def test_constraints_are_listed_with_their_bounds():
    listed = calls(section("docs/modelling-language.md", "## Bounds and constraints"))
    assert {name: arguments for name, (arguments, _) in listed.items()} == {
        kind.__name__: [
            p.name
            for p in inspect.signature(kind).parameters.values()
            if p.kind is not inspect.Parameter.VAR_POSITIONAL
        ]
        for kind in CONSTRAINTS.values()
    }


def test_functions_of_symbols_are_listed():
    text = section("docs/modelling-language.md", "## Functions of symbols")
    cells = [line.split("|")[2] for line in text.splitlines() if line.startswith("| ")]
    names = [name.rsplit(".", 1)[-1] for cell in cells for name in quoted(cell)]
    assert sorted(names) == supported_functions()


@pytest.mark.parametrize("name", ["data", "param", "observed", "deterministic", "potential"])
def test_declarations_are_listed_with_their_arguments(name):
    headings = re.findall(rf"^### `{name}\((.*)\)`$", read("docs/modelling-language.md"), re.M)
    assert len(headings) == 1
    written = ast.parse(f"def f({headings[0].replace('dtype=float', 'dtype=0')}): ...").body[0].args
    signature = inspect.signature(getattr(probmodel, name))
    assert [a.arg for a in (*written.args, *written.kwonlyargs)] == list(signature.parameters)
    assert len(written.kwonlyargs) == sum(
        p.kind is inspect.Parameter.KEYWORD_ONLY for p in signature.parameters.values()
    )


def test_errors_are_listed():
    table = rows(section("docs/modelling-language.md", "## Errors"))
    known = {name for name in probmodel.__all__ if name.endswith("Error")}
    assert {quoted(row[0])[0] for row in table} == known - {"ProbmodelError"}


# -- inference ---------------------------------------------------------------------------------


def test_arguments_of_infer_are_listed_with_defaults_and_synonyms():
    signature = inspect.signature(infer)
    known = {
        name: repr(p.default).replace("'", '"')
        for name, p in signature.parameters.items()
        if name not in ("model", "settings")
    }
    synonyms = {}
    listed = {}
    for name, default, _, others in rows(section("docs/inference.md", "## Arguments"))[
        : len(known)
    ]:
        listed[quoted(name)[0]] = quoted(default)[0]
        synonyms.update({other: quoted(name)[0] for other in quoted(others)})
    assert listed == known
    assert synonyms == SYNONYMS


def test_default_sizes_are_those_of_the_table_in_the_readme():
    """But for the warm-up, which may end early."""
    kind = SAMPLERS[DEFAULT_METHOD]
    line = (
        rf"{DEFAULT_METHOD}, {kind.default_chains} chains of {kind.default_draws} draws after "
        r"(\d+) warm-up iterations, seed 1"
    )
    found = re.search(line, read("README.md"))
    assert found is not None
    assert int(found[1]) <= kind.default_warmup


@pytest.fixture(scope="module")
def result():
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 2, gradient=np.negative
    )
    return infer(density, "mala", draws=200, warmup=200, chains=2, seed=1, quiet=True)


def test_statistics_are_listed(result):
    tables = section("docs/inference.md", "## The result").split("The names in `sample_stats`")[1]
    listed = rows(tables.split("The attributes")[0])
    assert {quoted(row[0])[0] for row in listed} == set(group(result, "sample_stats").data_vars)


def test_attributes_are_listed(result):
    table = section("docs/inference.md", "## The result").split("The attributes")[1]
    assert {name for row in rows(table) for name in quoted(row[0])} == set(result.attrs)


def test_kinds_of_warnings_are_listed():
    package = ROOT / "probmodel"
    folders = [*(package / "results").glob("*.py"), *(package / "samplers").rglob("*.py")]
    known = {"ess_bulk", "ess_tail", "range", "variance_as_scale"}
    for source in (*folders, package / "sampling.py"):
        known |= set(re.findall(r'(?:Finding|Remark)\(\s*"(\w+)"', source.read_text()))
    table = rows(section("docs/inference.md", "## Warnings"))
    assert {quoted(row[0])[0] for row in table} == known
    assert all(len(row) == 3 and all(row) for row in table)


# -- the command line --------------------------------------------------------------------------


def test_options_of_sample_are_listed(capsys):
    with pytest.raises(SystemExit):
        main(["sample", "--help"])
    text = capsys.readouterr().out
    known = set(re.findall(r"^  (?:-\w[^,\n]*, )?(--[\w-]+)", text, re.MULTILINE))
    table = section("docs/command-line.md", "## sample")
    listed = {option for row in rows(table) for option in re.findall(r"--[\w-]+", row[0])}
    assert listed == known - {"--help"}


# -- continuous integration --------------------------------------------------------------------


def test_continuous_integration_runs_the_commands_of_the_readme():
    patterns = re.findall(r"readme_command '([^']+)'", (ROOT / ".ci" / "run").read_text())
    commands = [
        line for block in blocks("README.md", "bash") for line in block.text.splitlines() if line
    ]
    chosen = [[c for c in commands if re.search(pattern, c)] for pattern in patterns]
    assert all(len(found) == 1 for found in chosen), chosen
    assert {found[0] for found in chosen} == set(commands)
    assert '.venv/bin/pip install ".[test]" && .venv/bin/python -m pytest' in commands
