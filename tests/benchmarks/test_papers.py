"""The published tables, and what the benchmark script makes of its measurements."""

import csv
from types import SimpleNamespace

import numpy as np
import papers
import pytest
from frobenius import CHAINS, ErrorCollector, Trajectory, learn, relative
from published import FROBENIUS, PUBLISHED
from report import (
    frobenius_shortfalls,
    frobenius_table,
    ranking_table,
    shortfalls,
    summarise,
)
from targets import GAUSSIANS


def row(target="pima", method="fisher_mala", signal="rb", smallest=5000.0):
    """One run as `runs.run_job` summarises it."""
    sizes = {"ess_max": smallest + 2, "ess_median": smallest + 1, "ess_min": smallest}
    return {"target": target, "method": method, "signal": signal, **sizes,
            "acceptance_rate": 0.57, "step_size": 0.3}  # fmt: skip


def test_published_rows_are_ordered_and_unique():
    keys = {(p.table, p.target, p.label) for p in PUBLISHED}
    assert len(keys) == len(PUBLISHED) == 60
    assert all(p.largest[0] >= p.median[0] >= p.smallest[0] > 0 for p in PUBLISHED)
    main = {p.target for p in PUBLISHED if p.label == "fisher_mala"}
    assert main == set(papers.chosen_targets(["all"]))


@pytest.mark.parametrize("name", sorted(FROBENIUS))
def test_reference_norms(name):
    covariance = relative(GAUSSIANS[name]().covariance_matrix())
    assert np.linalg.norm(covariance) == pytest.approx(FROBENIUS[name].target_norm, rel=1e-3)


def test_summary_of_repeats():
    (summary,) = summarise([row(smallest=s) for s in (4000.0, 5000.0, 6000.0)])
    assert summary.ess["min"] == pytest.approx((5000.0, 1000.0))
    assert summary.ratio("min") == pytest.approx(5000.0 / 5628.541)
    assert shortfalls([summary], 0.85) == []
    assert "pima" in shortfalls([summary], 0.95)[0]


def test_only_published_differences_are_ranked():
    """On Ripley's data all signals tie in the paper; on Pima the score is far behind."""
    sizes = {"rb": 5000.0, "score": 6000.0}
    rows = [row("pima", signal=s, smallest=v) for s, v in sizes.items()]
    table = ranking_table(summarise(rows))
    assert "NO" in table
    assert "fisher_mala > fisher_mala:score" in table
    tied = [row("ripley", signal=s, smallest=v) for s, v in sizes.items()]
    assert "No pair" in ranking_table(summarise(tied))


def test_frobenius_tolerance_is_a_factor_of_two():
    reference = FROBENIUS["gp100"].pooled
    within = {"pooled": [1.9 * r for r in reference]}
    beyond = {"pooled": [*reference[:-1], 2.1 * reference[-1]]}
    assert frobenius_shortfalls("gp100", within) == []
    assert len(frobenius_shortfalls("gp100", beyond)) == 1
    assert frobenius_shortfalls("gp100", {"robust": beyond["pooled"]}) == []
    assert "2.10" in frobenius_table("gp100", beyond)


def test_error_of_a_known_preconditioner():
    """The start of the algorithm, a multiple of the identity; and the truth, whatever its scale."""
    truth = GAUSSIANS["gp100"]().covariance_matrix()
    collector = ErrorCollector(truth, offset=500, updates=[0, 7])
    roots = {500: np.eye(100), 507: 3.0 * np.linalg.cholesky(truth)}
    for i, root in roots.items():
        collector.record("warmup", i, None, None, SimpleNamespace(root=root))
    identity = np.linalg.norm(relative(truth) - np.eye(100))
    assert collector.errors[0] == pytest.approx(identity, rel=1e-12)
    assert collector.errors[7] < 1e-10


@pytest.mark.parametrize(("mode", "groups"), [("alone", CHAINS), ("pooled", 1), ("robust", 1)])
def test_preconditioners_approach_the_covariance(mode, groups):
    updates, errors = learn("inhomogeneous", mode, updates=(20, 400), seed=1)
    assert updates.tolist() == [20, 400]
    assert errors.shape == (groups, 2)
    assert np.all(errors[:, 1] < 0.7 * errors[:, 0])


def test_nothing_to_do_is_an_error(capsys):
    with pytest.raises(SystemExit):
        papers.parse_arguments([])
    assert "--frobenius" in capsys.readouterr().err


def test_tables_and_targets_select_jobs():
    arguments = ["--table", "t23-6", "banana", "--methods", "mala", "fisher_mala", "--signals"]
    jobs = papers.planned_jobs(papers.parse_arguments([*arguments, "--repeats", "2"]))
    assert {j.target for j in jobs} == {"ripley", "banana"}
    assert len(jobs) == 2 * (1 + 4) * 2
    assert {j.iterations for j in jobs} == {20_000}


@pytest.mark.parametrize("engine", ["numpy", "model"])
def test_a_short_run_end_to_end(tmp_path, capsys, engine):
    table = tmp_path / "runs.csv"
    arguments = ["--table", "ripley", "--repeats", "2", "--scale", "0.02", "--engine", engine]
    assert papers.main([*arguments, "--csv", str(table)]) == 0
    printed = capsys.readouterr().out
    assert "OPENBLAS_NUM_THREADS" in printed
    assert "| ripley | fisher_mala | min" in printed
    with table.open() as file:
        runs = list(csv.DictReader(file))
    assert [r["repeat"] for r in runs] == ["0", "1"]
    assert all(0 < float(r["ess_min"]) <= float(r["ess_max"]) for r in runs)
    assert runs[0]["ess_min"] != runs[1]["ess_min"]


def test_figures(tmp_path):
    pytest.importorskip("matplotlib")
    from figures import ess_figure, frobenius_figure

    rows = [row("pima", signal=s) for s in ("rb", "score")]
    ess_figure(tmp_path / "ess.png", summarise(rows))
    trajectories = {
        mode: Trajectory(np.array([10, 100]), np.array([[3.0, 1.0], [2.0, 1.5]]))
        for mode in ("alone", "pooled", "robust")
    }
    frobenius_figure(tmp_path / "frobenius.png", "gp100", trajectories)
    for name in ("ess.png", "frobenius.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
