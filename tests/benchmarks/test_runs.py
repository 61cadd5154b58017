"""One run: its rows, what happens to jobs that raise, and ensembles of points."""

import csv
import datetime
from types import SimpleNamespace

import numpy as np
import pytest
import runs
from ess import ess_tfp
from experiments import PROTOCOLS, Variant
from runs import Job, Recorder, execute, rates, run_job, run_jobs, starting_points
from stored_rows import COLUMNS, PROVENANCE, stored, written
from targets import make_target

from probmodel.adaptation.mode import find_mode
from probmodel.inference.counting import Work
from probmodel.samplers import make_sampler

TINY = {"scale": 0.002}


@pytest.mark.parametrize(("paper", "target", "method"), [
    ("t23", "ripley", "mala"),
    ("t23", "pima", "fisher_mala:increment"),
    ("t23", "ripley", "ada_mala"),
    ("td19", "neal100", "am"),
    ("td19", "neal100", "gad_mala_exact"),
    ("zhu", "linear", "am:diag"),
    ("zhu", "linear", "mtm"),
])  # fmt: skip
def test_a_row_of_every_kind(paper, target, method):
    job = Job(paper, target, method, **TINY)
    row = run_job(job)
    assert set(row) <= set(COLUMNS)
    assert row["error"] == ""
    assert row["chains"] == PROTOCOLS[paper].chains
    assert (row["warmup"], row["draws"]) == job.iterations
    assert not row["ess_min"] > row["ess_median"]
    assert 0 <= row["accepted"] <= 1
    evaluations = row["densities_sampling"] + row["gradients_sampling"]
    per_iteration = 5 if method == "mtm" else 1
    assert evaluations == per_iteration * row["draws"] * row["chains"]
    if not np.isnan(row["ess_min"]):
        assert row["ess_min_per_1000"] * evaluations / 1000 == pytest.approx(row["ess_min"])


def test_how_draws_alternate():
    """Of one chain: the correlation of successive draws, and the sizes of squares."""
    job = Job("t23", "ripley", "mala", scale=0.01)
    row, x = run_job(job), execute(job).recorder.x
    centred = (x - x.mean(axis=(0, 1)))[0]
    lagged = [np.dot(column[1:], column[:-1]) / np.dot(column, column) for column in centred.T]
    assert len(x) == 1
    assert row["correlation"] == pytest.approx(np.median(lagged))
    assert row["ess_of_squares_min"] == pytest.approx(ess_tfp(centred**2).min())


def test_the_same_seed_gives_the_same_run():
    job = Job("t23", "ripley", "mala", scale=0.005)
    assert run_job(job)["ess_min"] == run_job(job)["ess_min"]
    assert run_job(job)["ess_min"] != run_job(Job("t23", "ripley", "mala", 1, **TINY))["ess_min"]


def test_a_job_that_raises_does_not_lose_the_others(tmp_path):
    jobs = [
        Job("t23", "ripley", "mala", settings={"target_accept": 7.0}, **TINY),
        Job("t23", "nowhere", "mala", **TINY),
        Job("t23", "ripley", "mala", **TINY),
    ]
    rows = list(written(tmp_path / "runs.csv", run_jobs(jobs)))
    assert [bool(row["error"]) for row in rows] == [True, True, False]
    assert "SamplerError: " in rows[0]["error"]
    assert "nowhere" in rows[1]["error"]
    with (tmp_path / "runs.csv").open() as file:
        stored = list(csv.DictReader(file))
    assert [line["target"] for line in stored] == ["ripley", "nowhere", "ripley"]
    assert float(stored[2]["ess_min"]) == rows[2]["ess_min"]


def test_rows_are_on_disk_before_the_next_is_asked_for(tmp_path):
    path = tmp_path / "new" / "runs.csv"

    def rows():
        yield {"target": "first"}
        assert "first" in path.read_text()
        yield {"target": "second"}

    assert len(list(written(path, rows()))) == 2


def test_rates():
    work = Work(logp=1000, grad=500, hvp=100, hessian=10)
    found = rates({"max": 9.0, "median": 6.0, "min": 3.0}, work, dim=30, seconds=2.0)
    assert found["ess_min_per_gradient"] == pytest.approx(3.0 / (500 + 200 + 300))
    assert found["ess_median_per_1000"] == pytest.approx(6.0 / 2.0)
    assert found["ess_min_per_second"] == 1.5
    without = rates({"max": 9.0, "median": 6.0, "min": 3.0}, Work(logp=10), dim=30, seconds=2.0)
    assert np.isnan(without["ess_min_per_gradient"])


def test_recorder_thins_and_averages_points(monkeypatch):
    monkeypatch.setattr(runs, "LONGEST", 5)
    recorder = Recorder(chains=2, dim=1, draws=10, ensemble=True)
    assert recorder.thin == 2
    for i in range(10):
        points = np.arange(6.0).reshape(2, 3, 1) + 100 * i
        state = SimpleNamespace(x=points[:, 0], points=points)
        info = SimpleNamespace(
            accept_prob=np.array([0.5, 1.0]),
            accepted=np.array([False, True]),
            proposal=SimpleNamespace(logp=np.array([0.0, -np.inf])),
        )
        recorder.record("draw", i, state, info, None)
        recorder.record("warmup", i, None, None, None)
    np.testing.assert_array_equal(recorder.x[:, :, 0], [[100, 300, 500, 700, 900],
                                                        [103, 303, 503, 703, 903]])  # fmt: skip
    np.testing.assert_array_equal(recorder.means, recorder.x + 1)
    assert recorder.acceptance_rate == 0.75
    assert recorder.accepted == 0.5
    assert recorder.nonfinite == 10
    assert np.isnan(recorder.step_size)


def test_recorder_keeps_as_many_coordinates_as_it_may(monkeypatch):
    monkeypatch.setattr(runs, "MOST", 2 * 3 * 4)
    recorder = Recorder(chains=2, dim=7, draws=3, ensemble=False)
    state = SimpleNamespace(x=np.arange(14.0).reshape(2, 7))
    info = SimpleNamespace(
        accept_prob=np.ones(2), accepted=np.ones(2), proposal=SimpleNamespace(logp=np.zeros(2))
    )
    recorder.record("draw", 0, state, info, None)
    np.testing.assert_array_equal(recorder.x[:, 0], [[0, 2, 4, 6], [7, 9, 11, 13]])
    assert Recorder(chains=2, dim=4, draws=3, ensemble=False).x.shape == (2, 3, 4)


def test_every_run_says_when_and_with_what_it_was_made(tmp_path):
    rows = list(run_jobs([Job("t23", "ripley", "mala", **TINY), Job("t23", "nowhere", "mala")]))
    for row in rows:
        assert row["date"] == datetime.date.today().isoformat()
        assert row["numpy"] == np.__version__
        assert all(row[name] for name in PROVENANCE)
    path = tmp_path / "runs.csv"
    list(written(path, rows))
    assert [row["machine"] for row in stored([path])] == [row["machine"] for row in rows]
    old = tmp_path / "old.csv"
    lines = [line.rsplit(",", len(PROVENANCE))[0] for line in path.read_text().splitlines()]
    old.write_text("\n".join(lines))
    (first, _) = stored([old])
    assert first["ess_min"] == rows[0]["ess_min"]
    assert {first[name] for name in PROVENANCE} == {"not recorded"}


def test_a_run_that_takes_too_long_says_so():
    (row,) = run_jobs([Job("t23", "ripley", "mala", limit=0.05)])
    assert row["error"].startswith("TimeoutError: given up after 0.05 s, with ")
    assert "of 20000 iterations of the warm-up and 0 of 20000 draws made" in row["error"]


def test_some_methods_run_for_other_lengths_than_their_paper_s_others():
    job = Job("td19", "neal100", "nuts")
    assert job.iterations == (500, 20_000)
    assert Job("td19", "neal100", "mala").iterations == (20_000, 20_000)
    row = {"paper": "td19", "target": "neal100", "method": "nuts", "error": "", "chains": 1,
           "standardise": True, "warmup": 500, "draws": 20_000}  # fmt: skip
    assert runs.is_full(row)
    assert not runs.is_full(row | {"method": "mala"})


def test_starting_points_of_ensembles_and_around_the_mode():
    class Several:
        def points_per_chain(self, dim):
            return 7

    target = runs.make_target("linear")
    rng = np.random.default_rng(0)
    x = starting_points(Job("zhu", "linear", "rwm"), Variant("rwm", {}), Several(), target, rng)
    assert x.shape == (16, 7, 10)
    job = Job("zhu", "covtype", "rwm", start_scale=1e-9)
    regression = runs.make_target("ripley")
    x = starting_points(job, Variant("rwm"), make_sampler("rwm"), regression, rng)
    mode = find_mode(regression, np.zeros((1, regression.dim))).x
    np.testing.assert_allclose(x, np.tile(mode, (16, 1)), atol=1e-7)


def test_two_processes_give_the_rows_of_one():
    jobs = [Job("t23", "ripley", "mala", repeat=r, **TINY) for r in (0, 1)]
    jobs.insert(1, Job("t23", "nowhere", "mala", **TINY))
    alone, side_by_side = list(run_jobs(jobs)), list(run_jobs(jobs, processes=2))
    for a, b in zip(alone, side_by_side, strict=True):
        assert a["error"] == b["error"]
        assert a.get("ess_max") == b.get("ess_max")


def test_condition_number_of_what_a_sampler_sees():
    target = make_target("neal100")
    scales = np.sqrt(np.diag(target.covariance_matrix()))
    seen = runs.condition_number(target, SimpleNamespace(root=scales))
    assert seen == pytest.approx(1.0)
    worse = scales.copy()
    worse[0] *= 3.0
    assert runs.condition_number(target, SimpleNamespace(root=np.diag(worse))) == pytest.approx(9.0)
    assert runs.condition_number(target, SimpleNamespace(root=None)) == pytest.approx(
        (scales.max() / scales.min()) ** 2
    )
    assert np.isnan(runs.condition_number(target, None))
    assert np.isnan(runs.condition_number(make_target("pima"), SimpleNamespace(root=None)))
