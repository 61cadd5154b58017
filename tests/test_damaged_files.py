"""Files damaged at random are read, or refused by an error of this package: no other, no hang.

The mutations of model files leave out what makes a program loop for ever, such as a huge number of
steps: that cannot be told from a long computation, in any language.
"""

import io
import json
import keyword
import re
import tokenize
import zipfile
from pathlib import Path

import numpy as np
import pytest

from probmodel import Model, ProbmodelError, data, infer, load_model, observed, param, read_data
from probmodel.cli import main
from probmodel.density import as_posterior
from probmodel.distributions import Normal

MODELS = Path(__file__).parents[1] / "models"
VALUES = ["", "0", "7", "-1.5", "1e999", "1_0", "9" * 30, "NaN", "null", "true", '"é"', "[]"]
FEW, MANY = [range(30)], [range(i, i + 100) for i in range(0, 200, 100)]
CASES = [*FEW, *(pytest.param(seeds, marks=pytest.mark.statistical) for seeds in MANY)]

pytestmark = pytest.mark.filterwarnings("ignore")


class Study(Model):
    X = data(("obs", "feature"))
    group = data("obs", dtype=int, lower=0)
    beta = param(Normal(0, 1), dims="feature")
    effect = param(Normal(0, 1), shape=3)
    y = observed(Normal(X @ beta + effect[group], 1), dims="obs")


ROWS = np.random.default_rng(1).normal(size=(12, 3)).round(2)
ARRAYS = {"X": ROWS[:, :2], "y": ROWS[:, 2], "group": np.arange(12) % 3}
LABELS = {"feature": ["age", "dose"]}


def csv_file(rows=12):
    lines = [f"{a},{b},{c},{i % 3}" for i, (a, b, c) in enumerate(ROWS[:rows])]
    return "\n".join(["# a study", "X.age,X.dose,y,group", *lines, ""]).encode()


def json_file(rows=12):
    values = {name: array[:rows].tolist() for name, array in ARRAYS.items()}
    return json.dumps({**values, "coords": LABELS}).encode()


def npz_file(rows=12):
    stream = io.BytesIO()
    labels = {f"coords.{dim}": np.array(names) for dim, names in LABELS.items()}
    np.savez_compressed(stream, **{n: a[:rows] for n, a in ARRAYS.items()}, **labels)
    return stream.getvalue()


def change_bytes(content, other, rng):
    """Flip, replace, cut off, double or splice bytes, once or twice."""
    for _ in range(rng.integers(1, 3)):
        i, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 65))
        start = int(rng.integers(len(other)))
        flipped = bytes(b ^ 1 << int(rng.integers(8)) for b in content[i : i + 1])
        new = [
            flipped + content[i + 1 :],
            rng.bytes(1) + content[i + 1 :],
            rng.bytes(length) + content[i + length :],
            b"",
            content[i : i + length] + content[i:],
            other[start : start + length] + content[i + length :],
            other[start:],
        ]
        content = content[:i] + new[rng.integers(len(new))]
    return content


def change_words(content, other, rng):
    """Replace, remove, double or exchange words of a text, or make something else of a number."""
    words = re.findall(r'"[^"]*"|[-+.\w]+|\s+|.', content.decode())
    numbers = [i for i, word in enumerate(words) if word[-1].isdigit()]
    for _ in range(rng.integers(1, 3)):
        i, j = (int(k) for k in rng.integers(len(words), size=2))
        number = numbers[rng.integers(len(numbers))]
        for place, word in [
            {number: VALUES[rng.integers(len(VALUES))]},
            {number: words[numbers[0]]},
            {i: ["", "[", "}", ","][rng.integers(4)]},
            {i: words[i] * 2},
            {i: words[j], j: words[i]},
            {i: words[j]},
        ][rng.integers(6)].items():
            words[place] = word
    return "".join(words).encode()


def change_member(content, other, rng):
    """Change what an archive holds, header or numbers, under a checksum that is right."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        chosen = old.namelist()[rng.integers(len(old.namelist()))]
        for name in old.namelist():
            member = old.read(name)
            if name == chosen and rng.integers(3):
                head = change_words(member[10:127], other, rng)[:117].ljust(117)
                member = member[:10] + head + member[127:]
            elif name == chosen:
                member = change_bytes(member, member, rng)
            new.writestr(name, member)
    return stream.getvalue()


def attempt(action):
    """Return what an action returns and the package's error that it ends with, one of them None."""
    try:
        return action(), None
    except ProbmodelError as error:
        return None, error


def is_evaluated(model, rng):
    """Whether there is a model, and its density has values: finite or not, or a typed error."""
    density, _ = attempt(lambda: as_posterior(model)) if model is not None else (None, None)
    if density is None:
        return False
    with np.errstate(all="ignore"):
        value, _ = attempt(lambda: density(rng.normal(size=(2, density.dim))))
    return value is not None and value.logp.shape == (2,)


KINDS = {
    ".csv": (csv_file, change_words),
    ".json": (json_file, change_words),
    ".npz": (npz_file, change_member),
}


@pytest.mark.parametrize("seeds", CASES)
@pytest.mark.parametrize("suffix", KINDS)
def test_data_files(tmp_path, suffix, seeds):
    make, change = KINDS[suffix]
    content, other, kept = make(), make(rows=7), 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        path = tmp_path / f"{seed}{suffix}"
        mutation = change if seed % 2 else change_bytes
        path.write_bytes(mutation(content, other, rng))
        values, error = attempt(lambda file=path: read_data(file))
        assert error is None or str(path) in str(error), f"seed {seed}: {error}"
        if error is None:
            model, _ = attempt(lambda given=values: Study(**given))
            kept += is_evaluated(model, rng)
    assert 0 < kept < len(seeds)


@pytest.fixture(scope="module")
def result_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "fit.nc"
    model = Study(**ARRAYS, coords=LABELS)
    infer(model, "mala", chains=2, draws=20, warmup=20, seed=1, quiet=True).to_netcdf(str(path))
    return path


@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(6, 100), marks=pytest.mark.statistical)]
)
def test_result_files(tmp_path, capsys, result_file, seeds):
    content, codes = result_file.read_bytes(), []
    for seed in seeds:
        path = tmp_path / f"{seed}.nc"
        path.write_bytes(change_bytes(content, content, np.random.default_rng(seed)))
        codes.append(main(["summary", str(path)]))
        printed = capsys.readouterr()
        assert "unexpected error" not in printed.err, f"seed {seed}: {printed.err}"
        assert (str(path) in printed.err) == bool(codes[-1])
    assert set(codes) == {0, 2}


PROGRAMS = {
    "eight_schools": "eight_schools.json",
    "hidden_markov": "hidden_markov.csv",
    "linear_regression": "kidiq.csv",
    "radon": "radon.json",
    "rats": "rats.json",
    "seeds": "seeds.csv",
    "wells": "wells.csv",
}
LITERALS = ["0", "-1", "1e400", "10**30", "None", "'x'", "2.5", "[]", "np", "(1, 2)"]
OPERATORS = ["+", "-", "/", "@", "**", ",", "<", "==", "%", "."]


def change_program(text, rng):
    """Change a word of a program, or the order or the indentation of its lines."""

    def pick(choices):
        return choices[rng.integers(len(choices))]

    lines = text.splitlines(keepends=True)
    i, j = (int(k) for k in rng.integers(len(lines), size=2))
    change = rng.integers(12)
    if change == 0:
        lines[i] = " " * int(rng.integers(6)) + lines[i].lstrip()
    elif change == 1:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        tokens = [t for t in tokens if t.string.strip() and "\n" not in t.string]
        names = [t for t in tokens if t.type == tokenize.NAME and not keyword.iskeyword(t.string)]
        token = pick(names if change % 2 else tokens)
        word = token.string
        new = {tokenize.OP: OPERATORS, tokenize.NAME: [pick(names).string, word[:-1] + "q"]}
        new = pick(new.get(token.type, LITERALS)) if change > 3 else pick(LITERALS)
        row, start, end = token.start[0] - 1, token.start[1], token.end[1]
        new = pick(["", f"{word} {word}"]) if change == 3 else new
        lines[row] = lines[row][:start] + new + lines[row][end:]
    return "".join(lines)


def is_placed(error, path):
    """Whether an error names a line of the file, or else something that has none."""
    at = re.search(rf'{re.escape(str(path))}(:|", line )\d+', str(error))
    return at or re.search("must hold one class|no datum|needs the datum|no param", str(error))


@pytest.mark.parametrize("seeds", CASES)
def test_model_files(tmp_path, seeds):
    programs, kept = list(PROGRAMS.items()), 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        name, file = programs[seed % len(programs)]
        content = (MODELS / f"{name}.py").read_bytes()
        path = tmp_path / f"m{seed}.py"
        if seed % 5:
            path.write_text(change_program(content.decode(), rng), encoding="utf-8")
        else:
            path.write_bytes(change_bytes(content, content, rng))
        values = read_data(MODELS / "data" / file)
        model, error = attempt(lambda given=values, file=path: load_model(file)(**given))
        assert error is None or is_placed(error, path), f"seed {seed}: {error}"
        kept += is_evaluated(model, rng)
    assert 0 < kept < len(seeds)


MODEL = """
from probmodel import Model, observed, param
from probmodel.distributions import Normal

class Line(Model):
    mu = param(Normal(0, 1))
    y = observed(Normal(mu, 1), dims="obs")
"""


@pytest.mark.parametrize(
    "name", ["none", "folder", "empty", "wrong.txt", "~nobody-at-all/x", "a\0b"]
)
@pytest.mark.parametrize("command", ["sample", "check", "show"])
def test_places_on_the_command_line(tmp_path, monkeypatch, capsys, command, name):
    monkeypatch.chdir(tmp_path)
    Path("line.py").write_text(MODEL)
    Path("y.csv").write_text("y\n1\n2\n")
    for suffix in ("py", "csv", "nc"):
        Path(f"folder.{suffix}").mkdir()
        Path(f"empty.{suffix}").touch()
    Path("wrong.txt").write_text("y\n1\n")
    full = {s: name if name == "wrong.txt" else f"{name}.{s}" for s in ("py", "csv", "nc")}
    for words in (
        [command, "line.py", "--data", full["csv"]],
        [command, full["py"], "--data", "y.csv"],
        ["summary", full["nc"]],
    ):
        assert main(words) == 2
        printed = capsys.readouterr()
        assert printed.err.startswith("error: ")
        assert "unexpected error" not in printed.err
        assert name.replace("\0", "") in printed.err.replace("\\x00", "").replace("\0", "")
        assert printed.out == ""


def test_odd_names_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "my study"
    folder.mkdir()
    (folder / "A LINE.PY").write_text(MODEL)
    (folder / "Y.CSV").write_text("\ufeffy\n1\n2\n", encoding="utf-8")
    for place in (folder, "~/my study"):
        words = [f"{place}/A LINE.PY", "--data", f"{place}/Y.CSV"]
        assert main(["show", *words]) == 0
        assert main(["sample", *words, "--draws", "20", "--out", str(folder / "FIT.NC")]) == 0
        assert main(["summary", f"{place}/FIT.NC"]) == 0
    assert "error" not in capsys.readouterr().err
