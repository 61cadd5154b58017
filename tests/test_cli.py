"""The command line: what it prints, where, and with which exit status."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from probmodel.cli import main
from probmodel.results import storage
from probmodel.results.arviz_object import group
from probmodel.results.reading import load
from probmodel.samplers import SAMPLERS

MODEL = '''
"""A coin."""
from probmodel import Model, observed, param
from probmodel.distributions import BernoulliLogit, Normal

class Coin(Model):
    p = param(Normal(0, 1.5))
    heads = observed(BernoulliLogit(p), dims="toss")

class Other(Model):
    q = param(Normal(0, 1))
    heads = observed(BernoulliLogit(q), dims="toss")
'''
SIZES = ["--chains", "2", "--draws", "200", "--warmup", "200", "--seed", "1"]


@pytest.fixture
def coin(tmp_path):
    """Words that sample the model with its data."""
    (tmp_path / "coin.py").write_text(MODEL)
    (tmp_path / "coin.json").write_text(json.dumps({"heads": [1, 0, 1, 1, 0, 1]}))
    return [f"{tmp_path / 'coin.py'}:Coin", "--data", str(tmp_path / "coin.json")]


PROGRAM = """\
data {
  int<lower=0> n;
  array[n] int<lower=0, upper=1> heads;
}
parameters {
  real<lower=0, upper=1> p;
}
model {
  heads ~ bernoulli(p);
}
generated quantities {
  int next = bernoulli_rng(p);
}
"""


@pytest.fixture
def stan(tmp_path):
    """Words that sample a Stan program with its data."""
    (tmp_path / "coin.stan").write_text(PROGRAM)
    (tmp_path / "coin.json").write_text(json.dumps({"n": 4, "heads": [1, 0, 1, 1]}))
    return [f"{tmp_path / 'coin.stan'}", "--data", str(tmp_path / "coin.json")]


def failed(capsys, code, *texts):
    """Assert an error of one screen on standard error, with these texts and no traceback."""
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err
    assert len(captured.err.splitlines()) <= 24
    assert captured.out == ""
    for text in texts:
        assert text in captured.err


def test_sample_until_there_are_effective_draws(coin, capsys):
    assert main(["sample", *coin, "--ess", "300", "--seed", "1"]) == 0
    assert "chains of 200 draws" in capsys.readouterr().out
    failed(capsys, main(["sample", *coin, "--ess", "-1"]), "ess must be a number above 0")


def test_resume_goes_on_with_a_checkpoint(coin, tmp_path, capsys):
    folder, out = tmp_path / "coin.run", tmp_path / "coin.nc"
    assert main(["sample", *coin, *SIZES, "--checkpoint", str(folder)]) == 0
    table = capsys.readouterr().out
    assert main(["resume", str(folder), "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1:] == table.splitlines()[1:]
    assert f"Written to {out}" in captured.err
    assert load(out).attrs["draws_done"] == 200
    failed(capsys, main(["resume", str(tmp_path / "other")]), "holds no checkpoint of a run")
    failed(capsys, main(["sample", *coin, *SIZES, "--checkpoint", str(folder)]), "exists already")


def test_sample_prints_the_table(coin, capsys):
    assert main(["sample", *coin, *SIZES]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Coin: fisher_hmc, 2 chains of 200 draws after 200 warm-up")
    assert "seed 1" in captured.out
    assert "\np " in captured.out
    assert all(line.startswith("warning: ") for line in captured.err.splitlines())


@pytest.mark.parametrize(
    ("method", "words"),
    [("mala", " gradients\n"), ("rwm", " log densities\n"), ("mmala", " gradients, ")],
)
def test_the_work_is_told_by_kind(coin, capsys, method, words):
    assert main(["sample", *coin, *SIZES, "--method", method]) == 0
    head = capsys.readouterr().out.splitlines(keepends=True)[0]
    assert words in head
    assert " 0 " not in head
    assert head.endswith("s\n")


def test_the_same_seed_prints_the_same_table(coin, capsys):
    tables = []
    for _ in range(2):
        main(["sample", *coin, *SIZES])
        tables.append(capsys.readouterr().out.splitlines()[1:])
    assert len(tables[0]) == 2
    assert tables[0] == tables[1]


def test_warnings_go_to_standard_error(coin, capsys):
    assert main(["sample", *coin, "--chains", "1", "--draws", "20", "--warmup", "50"]) == 0
    assert "warning: Only one chain" in capsys.readouterr().err


def test_quiet(coin, capsys, tmp_path):
    out = tmp_path / "coin.nc"
    assert main(["sample", *coin, *SIZES, "--quiet", "--out", str(out)]) == 0
    assert capsys.readouterr() == ("", "")
    assert out.exists()


def test_out_and_summary(coin, capsys, tmp_path):
    out = tmp_path / "coin.nc"
    out.write_text("an older file")
    words = ["--method", "mala", "--thin", "2", "--set", "target_accept=0.6", "--out", str(out)]
    assert main(["sample", *coin, *SIZES, *words]) == 0
    printed = capsys.readouterr().out
    result = load(out)
    assert group(result, "posterior")["p"].shape == (2, 200)
    assert result.attrs["thin"] == 2
    assert json.loads(result.attrs["settings"])["target_accept"] == 0.6
    assert main(["summary", str(out)]) == 0
    assert capsys.readouterr().out == printed
    assert sorted(p.suffix for p in tmp_path.iterdir() if p.is_file()) == [".json", ".nc", ".py"]


def test_a_bad_place_is_found_before_anything_is_done(capsys, tmp_path):
    words = ["sample", "no_such_model.py", "--out", str(tmp_path / "no" / "coin.nc")]
    failed(capsys, main(words), "there is no folder")


def test_a_failed_run_leaves_an_existing_file(coin, capsys, tmp_path):
    out = tmp_path / "coin.nc"
    out.write_text("precious")
    code = main(["sample", *coin, "--method", "mula", "--out", str(out)])
    failed(capsys, code, "Did you mean 'mala'")
    assert out.read_text() == "precious"
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--draws", "0"], "draws must be a whole number of at least 1"),
        (["--set", "target_accept"], "--set takes KEY=VALUE"),
        (["--set", "target_acept=0.5"], "Did you mean 'target_accept'"),
        (["--set", "target_accept=high"], "between 0 and 1, got 'high'"),
        (["--draws", "5", "--set", "draws=6"], "--set draws=... clashes with --draws"),
        (["--set", "method=mala"], "--set method=... clashes with --method"),
        (["--set", "model=x.py"], "--set model=... is no setting"),
        (["--set", "tune=5", "--warmup", "6"], "mean the same"),
    ],
)
def test_arguments_that_make_no_sense(coin, capsys, words, text):
    failed(capsys, main(["sample", *coin, *words]), text)


def test_files_that_make_no_sense(coin, capsys, tmp_path):
    model, _, data = coin
    path = model.removesuffix(":Coin")
    failed(capsys, main(["sample", f"{path}:Coyn", "--data", data]), "Did you mean 'Coin'")
    failed(capsys, main(["sample", path, "--data", data]), "Coin", "Other")
    failed(capsys, main(["sample", model, "--data", "none.json"]), "no data file 'none.json'")
    failed(capsys, main(["sample", "none.py", "--data", data]), "none.py")
    failed(capsys, main(["sample", model]), "heads", "--data FILE gives the data, with 'heads'.")
    failed(capsys, main(["summary", "none.nc"]), "no file 'none.nc'")
    (tmp_path / "more.json").write_text('{"heads": [1], "tails": [0]}')
    failed(capsys, main(["sample", model, "--data", str(tmp_path / "more.json")]), "tails")


def test_unforeseen_errors_fit_on_a_screen(coin, capsys, monkeypatch):
    def broken(*arguments, **settings):
        raise RuntimeError("\n".join(f"line {i}" for i in range(100)))

    monkeypatch.setattr(sys.modules["probmodel.sampling"], "infer", broken)
    failed(capsys, main(["sample", *coin]), "RuntimeError: line 0", "more lines; --traceback")
    assert main(["sample", *coin, "--traceback"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_interrupt_writes_what_was_drawn(coin, capsys, monkeypatch, tmp_path):
    module = sys.modules["probmodel.sampling"]
    finished = module.infer

    def interrupted(*arguments, **settings):
        result = finished(*arguments, **settings)
        result.attrs["interrupted"] = 1
        return result

    monkeypatch.setattr(module, "infer", interrupted)
    out = tmp_path / "coin.nc"
    assert main(["sample", *coin, *SIZES, "--out", str(out)]) == 130
    assert group(load(out), "posterior")["p"].shape == (2, 200)
    assert "Traceback" not in capsys.readouterr().err


def test_an_interrupt_before_the_first_draw(coin, capsys, monkeypatch, tmp_path):
    def interrupted(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["probmodel.sampling"], "infer", interrupted)
    out = tmp_path / "coin.nc"
    assert main(["sample", *coin, "--out", str(out)]) == 130
    assert not out.exists()
    assert capsys.readouterr().err == "Interrupted; there are no draws to keep.\n"


def words_that_run(flags, *words):
    """Words that start the command line in a process of its own."""
    return [sys.executable, *flags, "-m", "probmodel.cli", *words]


def run(*words, flags=(), **settings):
    settings = {"stdout": subprocess.PIPE, **settings}
    return subprocess.run(
        words_that_run(flags, *words), stderr=subprocess.PIPE, text=True, check=False, **settings
    )


def test_a_reader_that_leaves(coin, tmp_path):
    read, write = os.pipe()
    os.close(read)
    out = tmp_path / "coin.nc"
    done = run("sample", *coin, *SIZES, "--out", str(out), stdout=write)
    os.close(write)
    assert done.returncode == 141
    assert f"Written to {out}" in done.stderr
    assert "foreseen" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert group(load(out), "posterior")["p"].shape == (2, 200)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("command", ["sample", "methods", "--help"])
def test_output_that_cannot_be_written(coin, command):
    words = [command, *coin, *SIZES] if command == "sample" else [command]
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write to standard output: No space left on device")
    assert ("--out FILE.nc keeps them" in done.stderr) == (command == "sample")
    assert "Exception ignored" not in done.stderr


def test_an_output_of_few_letters(tmp_path):
    path = tmp_path / "greek.py"
    path.write_text(MODEL.replace("p = param", "σ = param").replace("(p)", "(σ)"))
    words = ["show", f"{path}:Other", "--format", "dot"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert run(*words, env=environment).returncode == 0
    words[1] = f"{path}:Coin"
    done = run(*words, env=environment)
    assert done.returncode == 0
    assert "\\u03c3" in done.stdout


@pytest.mark.statistical
def test_without_docstrings(coin, tmp_path):
    """`python -OO` takes them, and the assertions: ArviZ's table needs some."""
    out = str(tmp_path / "coin.nc")
    sampled = run("sample", *coin, *SIZES, "--out", out, flags=["-OO"])
    assert sampled.returncode == 0
    assert "r_hat" in sampled.stdout
    assert run("summary", out, flags=["-OO"]).stdout == sampled.stdout
    for words in (["check", *coin], ["show", *coin], ["methods"], ["--help"]):
        done = run(*words, flags=["-OO"])
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == run(*words).stdout


@pytest.mark.parametrize("statement", ["sys.exit(3)", "raise SystemExit", "exit()", "quit()"])
def test_a_model_file_that_ends_the_program(coin, statement):
    path = coin[0].removesuffix(":Coin")
    text = f"{MODEL}import sys\n{statement}\n"
    Path(path).write_text(text)
    line = len(text.splitlines())
    done = run("sample", *coin)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {path} does not import:")
    assert f"line {line}" in done.stderr
    assert "SystemExit" in done.stderr


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_result_replaces_neither_model_nor_data(coin, capsys, option):
    model, data = coin[0].removesuffix(":Coin"), coin[coin.index("--data") + 1]
    for read in (model, data):
        before = Path(read).read_bytes()
        assert main(["sample", *coin, *SIZES, option, read]) == 2
        assert "it is what is read" in capsys.readouterr().err
        assert Path(read).read_bytes() == before


def test_a_result_is_named_as_what_it_is(coin, capsys, tmp_path):
    assert main(["sample", *coin, *SIZES, "--out", str(tmp_path / "fit.csv")]) == 2
    assert "the name of such a file ends in .nc" in capsys.readouterr().err


def test_a_failed_write_is_told_and_the_table_printed(coin, capsys, monkeypatch, tmp_path):
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    write = storage._write

    def full(result, path):
        if path.parent == tmp_path:
            raise OSError(28, "No space left on device")
        write(result, path)

    monkeypatch.setattr(storage, "_write", full)
    out = tmp_path / "coin.nc"
    assert main(["sample", *coin, *SIZES, "--out", str(out)]) == 2
    captured = capsys.readouterr()
    (place,) = elsewhere.iterdir()
    assert captured.err.startswith(f"error: cannot write {str(out)!r}: No space left on device.")
    assert str(place) in captured.err
    assert "Written to" not in captured.err
    assert "\np " in captured.out
    assert group(load(place), "posterior")["p"].shape == (2, 200)
    assert not out.exists()


def test_a_time_limit(coin, capsys, tmp_path):
    out = tmp_path / "coin.nc"
    draws = ["--draws", "1000000", "--thin", "100"]
    asked = ["--chains", "2", *draws, "--warmup", "100", "--max-time", "2"]
    assert main(["sample", *coin, *asked, "--out", str(out)]) == 0
    assert "The time limit of 2 s ended the run after" in capsys.readouterr().err
    attrs = load(out).attrs
    assert attrs["timed_out"] == 1
    assert attrs["draws_done"] < 1_000_000
    failed(capsys, main(["sample", *coin, "--max-time", "1e-9"]), "before the first draw")
    clash = ["--set", "max_time=2", "--max-time", "1"]
    failed(capsys, main(["sample", *coin, *clash]), "--set max_time=... clashes with --max-time")


def test_check(coin, capsys):
    assert main(["check", *coin]) == 0
    assert "all checks passed" in capsys.readouterr().out


def test_show(coin, capsys):
    assert main(["show", *coin]) == 0
    text = capsys.readouterr().out
    assert main(["show", *coin, "--format", "text"]) == 0
    assert capsys.readouterr().out == text
    assert text.startswith("Coin\n  parameters\n    p ~ Normal(0, 1.5)\n")
    assert main(["show", *coin, "--format", "latex"]) == 0
    assert capsys.readouterr().out.startswith("$$\n\\begin{aligned}\n")


def test_show_draws_the_graph_without_data(coin, capsys):
    assert main(["show", coin[0], "--format", "dot"]) == 0
    without = capsys.readouterr().out
    assert without.startswith('digraph "Coin" {')
    assert 'label="toss";' in without
    assert main(["show", *coin, "--format", "dot"]) == 0
    assert 'label="toss (6)";' in capsys.readouterr().out


def test_show_without_the_data_that_it_needs(capsys, tmp_path):
    path = tmp_path / "line.py"
    path.write_text(f"{MODEL}\nfrom probmodel import data\nclass Line(Other):\n    x = data()\n")
    needed = "needs the datum 'x', a single number; it was not given."
    given = "On the command line, --data FILE gives the data, with 'x'."
    failed(capsys, main(["show", f"{path}:Line"]), f"{needed} {given}")
    data = tmp_path / "other.json"
    data.write_text("{}")
    failed(capsys, main(["show", f"{path}:Line", "--data", str(data)]), f"Add 'x' to {data}.")


def test_methods_lists_all(capsys):
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SAMPLERS)
    for line, kind in zip(lines[1:], SAMPLERS.values(), strict=True):
        assert kind.summary in line
        assert line.endswith(kind.paper)


@pytest.mark.parametrize("word", ["methods", "--help"])
def test_light_commands_import_nothing_heavy(word):
    code = (
        "import sys\nfrom probmodel.cli import main\n"
        f"try:\n    main([{word!r}])\nexcept SystemExit:\n    pass\n"
        "heavy = {'arviz', 'xarray', 'pandas', 'matplotlib', 'scipy.stats'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "probmodel" in done.stdout or "method" in done.stdout


def test_a_command_is_required(capsys):
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


# -- Stan programs -----------------------------------------------------------------------------


def test_stan_programs_are_sampled(stan, tmp_path, capsys):
    out = tmp_path / "coin.nc"
    assert main(["sample", *stan, *SIZES, "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("coin: fisher_hmc, 2 chains of 200 draws")
    assert re.search(r"^p .*\nnext ", captured.out, re.MULTILINE)
    assert f"Written to {out}" in captured.err
    assert set(group(load(out), "posterior").data_vars) == {"p", "next"}
    assert set(group(load(out), "observed_data").data_vars) == {"heads"}


def test_stan_programs_take_dumps_of_r(stan, tmp_path, capsys):
    (tmp_path / "coin.R").write_text("n <- 4\nheads <- c(1, 0, 1, 1)\n")
    tables = []
    for data in ("coin.json", "coin.R"):
        assert main(["sample", stan[0], "--data", str(tmp_path / data), *SIZES]) == 0
        tables.append(capsys.readouterr().out.splitlines()[1:])
    assert tables[0] == tables[1]


@pytest.mark.usefixtures("small_pictures")
def test_stan_programs_are_checked_shown_and_reported(stan, tmp_path, capsys):
    assert main(["check", *stan]) == 0
    assert "coin: all checks passed" in capsys.readouterr().out
    for form, text in (
        ("text", "heads ~ Bernoulli(p)"),
        ("latex", r"\operatorname{Bernoulli}\left(p\right)"),
        ("svg", ">heads (4)</text>"),
        ("dot", '"p" -> "heads";'),
    ):
        assert main(["show", *stan, "--format", form]) == 0
        assert text in capsys.readouterr().out
    out, page = str(tmp_path / "coin.nc"), tmp_path / "coin.html"
    assert main(["sample", *stan, *SIZES, "--quiet", "--out", out]) == 0
    assert main(["report", out, "-o", str(page)]) == 0
    assert "heads ~ Bernoulli(p)" in page.read_text()


def test_errors_of_stan_programs_are_marked(stan, capsys, tmp_path):
    file = tmp_path / "coin.stan"
    for right, wrong, place, marked in (
        (
            "bernoulli(p);",
            "bernouli(p);",
            "coin.stan:9: column 3: there is no distribution",
            "heads",
        ),
        ("real<", "reel<", "coin.stan:6: column 3: ", "reel"),
        ("bernoulli(p);", "bernoulli(q);", "coin.stan:9: column 21: 'q' is not declared", "q"),
    ):
        file.write_text(PROGRAM.replace(right, wrong, 1))
        code = main(["sample", *stan])
        err = capsys.readouterr().err
        assert code == 2
        assert place in err
        assert "Traceback" not in err
        line, mark = err.splitlines()[1:3]
        assert line[mark.index("^") :].startswith(marked)


def test_data_of_stan_programs_that_lack_or_are_wrong(stan, capsys, tmp_path):
    hint = "\nOn the command line, --data FILE gives the data, with 'n'."
    missing = ("coin.stan:2: column 16: the data lack 'n': the program declares", hint)
    failed(capsys, main(["sample", stan[0]]), *missing)
    failed(capsys, main(["show", stan[0], "--format", "svg"]), *missing)
    data = tmp_path / "coin.json"
    for given, text in (
        ({}, "lack 'n': the program declares"),
        ({}, f"\nAdd 'n' to {data}."),
        ({"n": 4}, "bound without its observed data 'heads', so there is nothing"),
        ({"n": 4}, f"Add 'heads' to {data}."),
        ({"n": 4, "heads": [1, 0]}, "heads is declared as array[4] int, which is 4 numbers"),
        ({"n": 2, "heads": [1, 2]}, "heads[2] is 2; its upper bound is 1."),
        ({"n": 2, "heads": [1, 0.5]}, "heads[2] is 0.5"),
        ({"n": -1, "heads": []}, "n is -1; its lower bound is 0."),
    ):
        data.write_text(json.dumps(given))
        failed(capsys, main(["sample", *stan]), "coin.stan:", text)
    data.write_text(json.dumps({"n": 4}))
    for command in (["check"], ["show", "--format", "stan"]):
        failed(capsys, main([*command, *stan]), f" Add 'heads' to {data}.")
