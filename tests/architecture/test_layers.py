"""The shape of the package: layers, sizes, docstrings, and what importing it costs."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from probmodel import distributions, samplers

PACKAGE = Path(__file__).parents[2] / "probmodel"
MODULES = {
    ".".join(("probmodel", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

# Each package or module, from left to right; members of one group stand side by side.
LAYERS = (
    {"class_names", "errors", "types", "version"},
    {"arguments", "blas", "html_tables", "threads"},
    {"numerics"},
    {"expressions"},
    {"constraints"},
    {"distributions"},
    {"functions"},
    {"model"},
    {"stan"},
    {"compiler"},
    {"geometry"},
    {"density"},
    {"adaptation"},
    {"samplers"},
    {"inference"},
    {"results"},
    {"predictive"},
    {"sampling", "held_out"},
    {"resuming"},
    {"saved_fits", "fit_page"},
    {"calibration"},
    {"studies"},
    {"model_arguments", "gallery_pages"},
    {"cli", "testing"},
    {"", "__main__"},
)
# Samplers and the driver see a log density, never the model behind it.
BLIND = {"adaptation", "samplers", "inference"}
MODELLING = {"expressions", "constraints", "distributions", "model", "geometry", "density"}
ENTRY_POINTS = {"probmodel", "probmodel.__main__", "probmodel.cli"}
GLM = "probmodel.distributions.glm"  # spells regressions as Stan does; asked for by name, too
HEAVY = (
    "arviz", "xarray", "pandas", "matplotlib", "scipy.stats", "scipy.optimize", "probmodel.testing"
)  # fmt: skip
MOST_LINES = 400
MOST_FUNCTION_LINES = 40  # of code: signature and docstring come on top


@cache
def trees():
    """What is written in each module; parsed once, and not while tests are collected."""
    return {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def layer_of(module):
    """Position of a module's package, counted from the left."""
    found = [i for i, layer in enumerate(LAYERS) if part_of(module) in layer]
    assert found, f"{module} belongs to no layer; give it one"
    return found[0]


def part_of(module):
    """Package or module directly under probmodel; empty for the facade."""
    return [*module.split("."), ""][1]


def imports(tree):
    """Modules of probmodel that a module imports, wherever in its text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else str(node.module) for name in whole]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "probmodel")


def violations(module, tree):
    """Imports that a module must not have."""
    own = layer_of(module)
    for target in imports(tree):
        if target == "probmodel":
            yield f"{module} imports the facade"
        elif part_of(module) in BLIND and part_of(target) in MODELLING:
            yield f"{module} sees the model: it imports {target}"
        elif layer_of(target) >= own and part_of(target) != part_of(module):
            yield f"{module} imports {target}, which is not to its left"


def test_imports_go_to_the_left():
    assert [v for module, tree in trees().items() for v in violations(module, tree)] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("probmodel.errors", "import probmodel"),
        ("probmodel.model.values", "from probmodel import errors, Model"),
        ("probmodel.constraints.real", "from probmodel.distributions.base import Distribution"),
        ("probmodel.types", "from probmodel.errors import ModelError"),
        ("probmodel.numerics.special", "from probmodel.expressions import Expression"),
        (
            "probmodel.samplers.langevin.mala",
            "from probmodel.density.log_density import LogDensity",
        ),
        ("probmodel.density.check", "def f():\n    import probmodel.results.draws"),
    ],
)
def test_wrong_imports_are_found(module, line):
    assert len(list(violations(module, ast.parse(line)))) == 1


def test_every_part_has_a_layer():
    assert {part_of(module) for module in MODULES} == set().union(*LAYERS)


def listed():
    """Modules that are imported when what they define is asked for by name."""
    yield from (f"probmodel.distributions.{file}" for file in distributions.FILES.values())
    yield from (f"probmodel.samplers.{file}" for file, _ in samplers.FILES.values())


def test_every_module_is_used():
    used = {
        target for module, tree in trees().items() for target in imports(tree) if target != module
    }
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert MODULES.keys() - used - packages - ENTRY_POINTS - set(listed()) == {GLM}


def circles(targets):
    """Sets of modules that import each other in a circle, by Tarjan's algorithm."""
    numbers, lowest, stack, found = {}, {}, [], []

    def visit(module):
        numbers[module] = lowest[module] = len(numbers)
        stack.append(module)
        for target in targets[module]:
            if target not in numbers:
                visit(target)
            if target in stack:
                lowest[module] = min(lowest[module], lowest[target])
        if lowest[module] == numbers[module]:
            found.append(set(stack[stack.index(module) :]))
            del stack[stack.index(module) :]

    for module in targets:
        if module not in numbers:
            visit(module)
    return [circle for circle in found if len(circle) > 1]


def test_circles_of_imports_are_short():
    """Two modules, one of which imports the other in a function; packages gather their modules."""
    files = {name for name, path in MODULES.items() if path.name != "__init__.py"}
    targets = {
        name: [t for t in imports(without_types(trees()[name])) if t in files and t != name]
        for name in sorted(files)
    }
    assert max(map(len, circles(targets)), default=0) <= 2
    targets["probmodel.errors"] = ["probmodel.sampling"]  # a control
    assert max(map(len, circles(targets))) > 2


def without_types(tree):
    """Return a module without what only type checkers read."""
    kept = [
        n for n in tree.body if not (isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))
    ]
    return ast.Module(body=kept, type_ignores=[])


def test_file_names_are_unique():
    names = Counter(path.name for path in MODULES.values())
    assert {name for name, n in names.items() if n > 1} == {"__init__.py", "base.py"}


def test_importing_is_light():
    code = (
        "import sys, probmodel; names = [getattr(probmodel, n) for n in probmodel.__all__]; "
        f"print(*[m for m in {HEAVY!r} if m in sys.modules], sep=',', end='')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    # The same question about something that is imported shows that it would be answered.
    control = code.replace("'arviz'", "'numpy'")
    done = subprocess.run(
        [sys.executable, "-c", control], capture_output=True, text=True, check=True
    )
    assert done.stdout == "numpy"


def test_files_are_short():
    sizes = {module: len(path.read_text().splitlines()) for module, path in MODULES.items()}
    assert {module: n for module, n in sizes.items() if n > MOST_LINES} == {}


def functions(tree):
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_lines(function):
    """Lines of a function's code, without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_are_short():
    sizes = {
        f"{module}, line {f.lineno}: {f.name}": body_lines(f)
        for module, tree in trees().items()
        for f in functions(tree)
    }
    assert {name: n for name, n in sizes.items() if n > MOST_FUNCTION_LINES} == {}


def undocumented(tree):
    """Public classes, functions and methods without a docstring."""
    pending = [(tree, "")]
    while pending:
        node, prefix = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and not child.name.startswith("_"):
                name = f"{prefix}{child.name}"
                if ast.get_docstring(child) is None and not is_overload(child):
                    yield name
                if isinstance(child, ast.ClassDef):
                    pending.append((child, f"{name}."))


def is_overload(node):
    return any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)


def test_what_is_public_is_documented():
    assert [module for module, tree in trees().items() if not ast.get_docstring(tree)] == []
    assert [(module, x) for module, tree in trees().items() for x in undocumented(tree)] == []


def test_missing_docstrings_are_found():
    code = "class A:\n    '''Doc.'''\n    def f(self): ...\n    def _g(self): ...\ndef h(): ..."
    assert sorted(undocumented(ast.parse(code))) == ["A.f", "h"]


def test_nothing_is_left_to_do():
    texts = {module: path.read_text() for module, path in MODULES.items()}
    left = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert [module for module, text in texts.items() if left.search(text)] == []
    printing = re.compile(r"^\s*print\(", re.MULTILINE)
    assert {m for m, text in texts.items() if printing.search(text)} <= {"probmodel.cli"}


# NumPy 2.4 computes these wrongly into an ``out`` whose elements are not side by side: `negative`
# where the elements it reads are 8 doubles apart, as in the last column of a matrix with 8, and
# the others for 16 elements or more. Without ``out`` they are right whatever they read.
WRONG_WITH_OUT = {"negative", "isfinite", "isinf", "isnan", "signbit"}


def written_elsewhere(tree):
    """Calls of these functions that say where the result goes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            options = {keyword.arg for keyword in node.keywords}
            if name in WRONG_WITH_OUT and (len(node.args) > 1 or options & {"out", None}):
                yield f"np.{name} in line {node.lineno}"


def test_results_go_where_numpy_computes_them_rightly():
    assert [(module, x) for module, tree in trees().items() for x in written_elsewhere(tree)] == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("np.negative(x, out=y)", 1),
        ("np.negative(x[:, -1], y)", 1),
        ("isnan(x, **options)", 1),
        ("y[:, -1] = -x[:, -1]", 0),
        ("np.isfinite(x)", 0),
        ("np.multiply(x, -1.0, out=y)", 0),
    ],
)
def test_results_that_go_elsewhere_are_found(line, count):
    assert len(list(written_elsewhere(ast.parse(line)))) == count
