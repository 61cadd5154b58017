"""The command line: what it plans, prints and writes."""

import csv
import re
from collections import Counter

import papers
import pytest
import runs
from experiments import COSTLY, PROTOCOLS
from published import TABLES
from stored_rows import COLUMNS, PROVENANCE, written

from probmodel.samplers import SAMPLERS


def planned(*arguments):
    """Jobs of a command line."""
    return papers.planned_jobs(papers.parse_arguments(list(arguments)))


def test_nothing_to_do_is_an_error(capsys):
    with pytest.raises(SystemExit):
        papers.parse_arguments([])
    assert "--table" in capsys.readouterr().err


def test_tables_and_targets_select_jobs():
    arguments = [
        "--table",
        "t23-6",
        "anisotropic_100",
        "--methods",
        "mala",
        "fisher_mala",
        "--signals",
    ]
    jobs = planned(*arguments, "--repeats", "2")
    assert {j.target for j in jobs} == {"ripley", "anisotropic_100"}
    assert len(jobs) == 2 * (1 + 4) * 2
    assert {j.iterations for j in jobs} == {(20_000, 20_000)}


def test_a_table_is_run_with_all_its_methods():
    methods = {j.method for j in planned("--table", "t23-6")}
    assert methods == {"mala", "ada_mala", "mmala", "fisher_mala", "hmc"}
    assert {j.method for j in planned("--table", "t23-8", "--repeats", "1")} == {
        "fisher_mala:score"
    }
    lengths = {j.method for j in planned("--table", "td19-1") if j.method.startswith("hmc")}
    assert lengths == {"hmc:5", "hmc:10", "hmc:20"}


def test_targets_get_the_settings_of_their_paper():
    papers_of = {j.target: j.paper for j in planned("--table", "pima", "neal100", "census")}
    assert papers_of == {"pima": "t23", "neal100": "td19", "census": "zhu"}
    assert {j.paper for j in planned("--table", "caravan")} == {"t23"}
    assert {j.paper for j in planned("--table", "td19-1", "--methods", "mala")} == {"td19"}


def test_a_name_stands_for_its_variants():
    methods = [j.method for j in planned("--table", "census", "--methods", "am", "--repeats", "1")]
    assert methods == ["am:diag", "am:full"]
    assert [j.method for j in planned("--table", "census", "--methods", "am:full",
                                      "--repeats", "1")] == ["am:full"]  # fmt: skip


def test_a_target_with_the_settings_of_another_paper():
    (job,) = planned("--table", "td19:mnist", "--methods", "hmc:5", "--repeats", "1")
    assert (job.paper, job.target, job.method) == ("td19", "mnist", "hmc:5")
    jobs = planned("--table", "pima", "td19:pima", "--methods", "mala", "--repeats", "1")
    assert [(j.paper, j.target) for j in jobs] == [("t23", "pima"), ("td19", "pima")]


def test_a_method_that_the_paper_does_not_have(capsys):
    """A target by its name runs with any sampler, as it comes; a table only with its own."""
    assert [j.method for j in planned("--table", "pima", "--methods", "rwm", "--repeats", "1")]
    with pytest.raises(SystemExit):
        planned("--table", "t23-1", "--methods", "rwm")
    assert "none of --methods rwm is in the tables named" in capsys.readouterr().err


def test_the_warmup_has_a_scale_of_its_own():
    (job,) = planned("--table", "linear", "--methods", "rwm", "--repeats", "1",
                     "--scale", "0.01", "--warmup-scale", "0.5")  # fmt: skip
    assert job.iterations == (50_000, 10_000)


def test_everything_at_once():
    everything = papers.parse_arguments(["--all", "--scale", "0.1"])
    assert (everything.table, everything.figure) == (["all"], ["all"])
    jobs = papers.planned_jobs(everything)
    assert {j.paper for j in jobs} == set(PROTOCOLS)
    repeats = Counter(j.target for j in jobs if j.method == "mala")
    assert repeats["pima"] == 6  # of two papers
    assert repeats["mnist"] == 2
    assert {j.limit for j in jobs} == {papers.LIMIT}
    assert {round(j.scale, 9) for j in jobs if j.paper == "zhu"} == {0.02}
    full = papers.planned_jobs(papers.parse_arguments(["--all"]))
    assert Counter(j.target for j in full if j.method == "mala")["mnist"] == 6
    assert {j.limit for j in planned("--table", "t23-1")} == {float("inf")}


def test_stored_runs_say_where_they_come_from(tmp_path, capsys):
    table = tmp_path / "runs.csv"
    tiny(capsys, "--table", "ripley", "--methods", "mala", "--csv", str(table))
    with table.open() as file:
        (row,) = csv.DictReader(file)
    old = {name: row[name] for name in COLUMNS if name not in PROVENANCE}
    older = tmp_path / "older.csv"
    with older.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(old))
        writer.writeheader()
        writer.writerow(old | {"repeat": 1})
    arguments = ["--table", "ripley", "--methods", "mala"]
    assert papers.main([*arguments, "--rows", str(table), str(older)]) == 0
    printed = capsys.readouterr().out
    assert f"- 1 runs: {row['date']}, {row['machine']}, probmodel" in printed
    assert "- 1 runs: date, machine and versions not recorded" in printed


def test_all_tables_with_one_method():
    jobs = planned("--table", "all", "--methods", "fisher_mala", "--repeats", "1")
    assert {j.paper for j in jobs} == {"t23"}
    assert len(jobs) == len({j.target for j in jobs}) == 9


@pytest.mark.skipif("mmala" not in SAMPLERS, reason="not registered")
def test_costly_rows_run_only_if_named():
    assert ("t23", "mnist", "mmala") in COSTLY
    by_table = [j for j in planned("--table", "t23-1") if j.method == "mmala"]
    assert {j.target for j in by_table} == {"gp100", "pima", "caravan"}
    named = planned("--table", "t23-1", "--methods", "mmala")
    assert "mnist" in {j.target for j in named}


def tiny(capsys, *arguments, code=0):
    """Run a command line at a five-hundredth of the length and return what it prints."""
    assert papers.main([*arguments, "--repeats", "1", "--scale", "0.002"]) == code
    return capsys.readouterr().out


@pytest.mark.parametrize(("table", "methods", "line"), [
    ("t23-6", [], "ripley +| hmc +| median +| 18254"),
    ("t23-2", ["fisher_mala"], "inhomogeneous +| fisher_mala +| min +| 1501"),
    ("td19-1", ["gad_mala", "rwm"], "neal100 +| gad_mala +| median +| 1987"),
    ("zhu-linear", ["rwm", "am:diag"], r"linear +| am:diag +| min/1000 +| 27\.1"),
])  # fmt: skip
def test_a_table_of_each_kind(capsys, table, methods, line):
    printed = tiny(capsys, "--table", table, *(["--methods", *methods] if methods else []))
    assert "OPENBLAS_NUM_THREADS" in printed
    assert re.search(line.replace("|", r"\|"), printed)
    assert "FALLS SHORT" not in printed
    assert "What this shows" in printed


def test_the_signals_are_ranked(capsys):
    printed = tiny(capsys, "--table", "pima", "--signals")
    assert "| fisher_mala > fisher_mala:score" in printed


@pytest.mark.parametrize("engine", ["numpy", "model"])
def test_a_short_run_end_to_end(tmp_path, capsys, engine):
    table = tmp_path / "runs.csv"
    arguments = ["--table", "ripley", "--methods", "fisher_mala", "--repeats", "2"]
    arguments += ["--scale", "0.02", "--engine", engine]
    assert papers.main([*arguments, "--csv", str(table)]) == 0
    assert "| ripley | fisher_mala | min" in capsys.readouterr().out
    with table.open() as file:
        runs = list(csv.DictReader(file))
    assert [r["repeat"] for r in runs] == ["0", "1"]
    assert all(0 < float(r["ess_min"]) <= float(r["ess_max"]) for r in runs)
    assert runs[0]["ess_min"] != runs[1]["ess_min"]


def test_stored_runs_are_reported_again(tmp_path, capsys):
    table = tmp_path / "runs.csv"
    arguments = ["--table", "ripley", "--methods", "mala", "fisher_mala"]
    first = tiny(capsys, *arguments, "--csv", str(table))
    assert papers.main([*arguments, "--rows", str(table)]) == 0
    again = capsys.readouterr().out
    shown = [line for line in first.splitlines() if line.startswith("| ")]
    assert shown == [line for line in again.splitlines() if line.startswith("| ")]
    assert "- 40 + 40 iterations: ripley mala, ripley fisher_mala" in again


def test_full_runs_are_held_to_the_paper(tmp_path, capsys):
    row = dict.fromkeys(COLUMNS, "") | {
        "paper": "t23", "target": "ripley", "method": "fisher_mala", "standardise": False,
        "warmup": 20_000, "draws": 20_000, "chains": 1,
        "ess_max": 9900, "ess_median": 9700, "ess_min": 5000,
    }  # fmt: skip
    table = tmp_path / "runs.csv"
    list(written(table, [{**row, "repeat": k} for k in range(3)]))
    arguments = ["--table", "ripley", "--methods", "fisher_mala", "--rows", str(table)]
    assert papers.main(arguments) == 1
    printed = capsys.readouterr().out
    assert "ripley fisher_mala: min ESS is 0.54 of the published" in printed
    assert "All runs are as long as the paper's." in printed
    list(written(table, [{**row, "repeat": k} for k in range(2)]))
    assert papers.main(arguments) == 0


def test_a_failed_run_shows_in_the_exit_status(capsys, monkeypatch):
    def failing(job):
        raise ValueError("nothing is left")

    monkeypatch.setattr(runs, "run_job", failing)
    printed = tiny(capsys, "--table", "neal100", "--methods", "rwm", code=1)
    assert "FALLS SHORT: neal100 rwm failed: ValueError: nothing is left" in printed


def test_every_table_is_of_a_named_paper():
    assert {papers.NAMES[table.split("-")[0]] for table in TABLES} == set(papers.NAMES.values())
    assert papers.title("zhu") == "Zhu (2019)"
    assert papers.title("hirt-cox") == "Hirt, Titsias and Dellaportas (2021), cox"


def test_a_name_stands_for_objectives_and_steps():
    arguments = ["--table", "hirt-sv", "--repeats", "1", "--methods", "entropy_hmc:gsm:diag"]
    jobs = planned(*arguments)
    assert {j.method for j in jobs} <= {f"entropy_hmc:gsm:diag:{steps}" for steps in (1, 5, 10)}
    assert {j.paper for j in jobs} <= {"hirt-sv"}
