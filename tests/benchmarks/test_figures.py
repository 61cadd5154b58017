"""The figures: what they are made of, at a tiny scale, and that they are written."""

import csv
from functools import partial
from types import SimpleNamespace

import chain_figures
import figure_runs
import frobenius
import illustrations
import numpy as np
import pytest
from frobenius import CHAINS, ErrorCollector, Trajectory, learn, relative
from latent_targets import true_cox_field
from report import summarise
from runs import Job, run_job
from targets import GAUSSIANS

from probmodel.adaptation.welford import no_moments
from probmodel.samplers import SAMPLERS
from probmodel.samplers.random_walk.am import Adaptation

at_length = partial(pytest.param, marks=pytest.mark.statistical)
PNG = b"\x89PNG"


def test_error_of_a_known_preconditioner():
    """The start of the algorithm, a multiple of the identity; and the truth, whatever its scale."""
    truth = GAUSSIANS["gp100"]().covariance_matrix()
    collector = ErrorCollector(truth, offset=500, updates=[0, 7])
    for i, root in {500: None, 507: 3.0 * np.linalg.cholesky(truth)}.items():
        collector.record("warmup", i, None, None, SimpleNamespace(root=root))
    identity = np.linalg.norm(relative(truth) - np.eye(100))
    assert collector.errors[0] == pytest.approx(identity, rel=1e-12)
    assert collector.errors[7] < 1e-10


@pytest.mark.parametrize(("mode", "groups"), [("alone", CHAINS), ("pooled", 1), ("robust", 1)])
def test_preconditioners_approach_the_covariance(mode, groups):
    updates, errors, covariance = learn("inhomogeneous", mode, updates=(20, 400), seed=1)
    assert np.mean(np.diagonal(covariance)) == pytest.approx(1.0)
    assert updates.tolist() == [20, 400]
    assert errors.shape == (groups, 2)
    assert np.all(errors[:, 1] < 0.7 * errors[:, 0])


def test_error_of_a_learned_covariance_is_relative():
    truth = GAUSSIANS["gauss51"]().covariance_matrix()
    follower = illustrations.Follower(1000, truth)
    root = np.linalg.cholesky(truth)
    for i, L in ((0, 5.0 * root), (1, root), (2, np.eye(51))):
        follower.record("warmup", i, None, None, SimpleNamespace(root=L))
    assert follower.iterations == [0, 2]
    identity = np.linalg.norm(np.eye(51) - relative(truth)) / np.linalg.norm(relative(truth))
    np.testing.assert_allclose(follower.values, [0.0, identity], atol=1e-12)


def test_more_acceptance_means_less_entropy():
    lines = illustrations.entropy_weights(0.1, seed=0)
    aim, other = (figure_runs.tail_mean(lines[a].values) for a in (0.25, 0.4))
    assert aim > 1.5 * other
    assert lines[0.25].root.shape == (2, 2)


def test_sizes_relative_to_factor_one():
    rows = [{"ess_median_per_1000": 2.0 * h} for h in illustrations.FACTORS]
    np.testing.assert_allclose(figure_runs.relative_sizes(rows), illustrations.FACTORS)


@pytest.mark.parametrize("name", ["td19-1", "td19-2"])
def test_figures_of_2019(tmp_path, capsys, name):
    pytest.importorskip("matplotlib")
    settings = figure_runs.Settings(tmp_path, scale=0.002)
    assert figure_runs.run_figure(name, settings) == []
    (png,) = tmp_path.glob("*.png")
    assert png.read_bytes().startswith(PNG)
    with png.with_suffix(".csv").open() as file:
        assert set(next(csv.DictReader(file))) == {"series", "x", "y"}
    assert "Figure" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "files"), [at_length("t23-1", 6), ("t23-2", 4)])
def test_figures_of_2023(tmp_path, capsys, monkeypatch, name, files):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(frobenius, "CHAINS", 2)
    settings = figure_runs.Settings(tmp_path, scale=0.001)
    problems = figure_runs.run_figure(name, settings)
    assert not any("failed" in problem for problem in problems)
    assert len(list(tmp_path.iterdir())) == files
    assert "Frobenius error of the learned covariance" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "line"), [
    ("hirt-19", "rm_const_hmc"), at_length("hirt-21", "mass"),
])  # fmt: skip
def test_mass_matrices_of_2021(tmp_path, capsys, name, line):
    pytest.importorskip("matplotlib")
    assert figure_runs.run_figure(name, figure_runs.Settings(tmp_path, scale=0.004)) == []
    assert f"| {line} " in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(("name", "line"), [
    ("t23-15", "| gp100         | increment "), ("wang-1", "| hmc:0.16:40 "),
    at_length("zhu-2", "| too far "),
])  # fmt: skip
def test_chains_along_their_iterations(tmp_path, capsys, monkeypatch, name, line):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(frobenius, "CHAINS", 2)
    monkeypatch.setattr(chain_figures, "ITERATIONS", 100)
    monkeypatch.setattr(chain_figures, "LOOKS", (0, 100))
    assert figure_runs.run_figure(name, figure_runs.Settings(tmp_path, scale=0.005)) == []
    assert line in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.statistical
def test_log_densities_along_the_iterations(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(chain_figures, "LOG_TARGETS", ("inhomogeneous", "ripley"))
    settings = figure_runs.Settings(tmp_path, scale=0.02)
    assert figure_runs.run_figure("t23-3", settings) == []
    assert "| ripley        | fisher_mala " in capsys.readouterr().out
    with (tmp_path / "t23_figure3.csv").open() as file:
        rows = list(csv.DictReader(file))
    last = [float(r["y"]) for r in rows if r["series"] == "ripley fisher_mala"]
    trace = chain_figures.log_densities("ripley", "fisher_mala", settings)
    np.testing.assert_allclose(last, trace.values, rtol=1e-5)
    assert 0 < trace.size <= len(trace.values)


def test_proposals_of_an_ensemble_reach_the_target():
    fits = chain_figures.adapted(-5.0, 1.0, 2.0, seed=0)
    assert fits.shape == (chain_figures.ITERATIONS + 1, 2)
    mean, sd = fits[len(fits) // 2 :].mean(axis=0)
    assert abs(mean) < 0.5
    assert sd == pytest.approx(2.0, rel=0.2)


def test_autocorrelations_of_a_known_series():
    series = np.tile([1.0, -1.0], 50)
    line = chain_figures.autocorrelations(series, 101)
    np.testing.assert_allclose(line[:3], [1.0, -0.99, 0.98])
    assert np.isnan(line[100])


def test_the_inverse_mass_of_a_known_metric():
    """On a Gaussian it is the covariance, by any method that knows the curvature."""
    found = illustrations.inverse_masses("hirt-gaussians", "iid_10", ["rm_const_hmc"], 0.001, 0)
    np.testing.assert_allclose(found["rm_const_hmc"], np.eye(10), atol=1e-8)


def test_correlation_of_a_first_order_autoregression():
    lags = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    scales = np.linspace(1.0, 2.0, 30)
    matrix = np.outer(scales, scales) * 0.9**lags
    assert illustrations.correlation(matrix, 7) == pytest.approx(0.9**7, rel=1e-12)


def test_the_fields_of_2013(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    settings = figure_runs.Settings(tmp_path, scale=0.005)
    assert figure_runs.wang_4(settings, n=16) == []
    with (tmp_path / "wang_figure4.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 256
    assert float(rows[0]["truth"]) == pytest.approx(true_cox_field(16)[0, 0], rel=1e-5)
    assert "Figure 4" in capsys.readouterr().out


def test_the_networks_of_2013(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figure_runs, "error_table", lambda scale, seed: f"at {scale}, {seed}")
    assert figure_runs.run_figure("wang-dexter", figure_runs.Settings(tmp_path, 0.5, 3)) == []
    assert "at 0.5, 3" in capsys.readouterr().out


@pytest.mark.skipif("sa_mcmc" not in SAMPLERS, reason="not registered")
@pytest.mark.parametrize("name", ["zhu-3", "zhu-4", "zhu-5"])
def test_figures_of_zhu(tmp_path, capsys, monkeypatch, name):
    """On the simulated regression, which takes less time."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(illustrations, "TARGET", "linear")
    settings = figure_runs.Settings(tmp_path, scale=2e-5)
    assert figure_runs.run_figure(name, settings) == []
    assert len(list(tmp_path.iterdir())) == 2
    assert "Figure" in capsys.readouterr().out


def test_scales_of_figure_5():
    job = Job("zhu", "mnist_7v9", "rwm")
    scaled = illustrations._scaled(job, 10.0)
    assert scaled.settings["step_size"] == pytest.approx(0.2)
    assert scaled.start_scale == pytest.approx(0.2)
    adaptive = illustrations._scaled(Job("zhu", "mnist_7v9", "am:full"), 10.0)
    sampler = adaptive.variant.method
    assert (sampler.step_size, sampler.scale) == (0.02, pytest.approx(7.0))
    known = Adaptation(800.0, no_moments(2), np.eye(2))  # where steering would be far away
    assert sampler.params(known).step_size == pytest.approx(7.0)
    assert sampler.params(known._replace(log_delta=0.0, root=None)).step_size == 1.0


def test_a_figure_that_fails_is_named(tmp_path, monkeypatch):
    def broken(settings):
        raise ValueError("no")

    monkeypatch.setitem(figure_runs.FIGURES, "td19-1", broken)
    problems = figure_runs.run_figure("td19-1", figure_runs.Settings(tmp_path))
    assert problems == ["figure td19-1 failed: ValueError: no"]


def test_drawings_of_made_up_numbers(tmp_path):
    pytest.importorskip("matplotlib")
    from figures import (
        covariance_figure,
        dimension_figure,
        ensemble_figure,
        ess_figure,
        frobenius_figure,
        scale_figure,
    )

    rows = [run_job(Job("zhu", "linear", method, scale=1e-4)) for method in ("rwm", "am:diag")]
    ess_figure(tmp_path / "ess.png", summarise(rows))
    trajectories = {
        mode: Trajectory(np.array([10, 100]), np.array([[3.0, 1.0], [2.0, 1.5]]), np.eye(100))
        for mode in ("alone", "pooled", "robust", "ada_mala")
    }
    frobenius_figure(tmp_path / "frobenius.png", "gp100", trajectories)
    covariance_figure(tmp_path / "covariance.png", "gp100", trajectories)
    sizes = dict.fromkeys(("mala", "ada_mala", "hmc", "fisher_mala"), np.ones(100))
    dimension_figure(tmp_path / "dimensions.png", sizes, trajectories)
    measured = {"acceptance_rate": 0.9, "ess_median_per_1000": 3.0, "ess_median_per_second": 4.0}
    ensemble_figure(tmp_path / "ensembles.png", [measured for _ in illustrations.ENSEMBLES])
    scale_figure(tmp_path / "scales.png", {"sa_mcmc:full": [1.0] * 7, "rwm": [0.5] * 7})
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(PNG)
    assert len(list(tmp_path.iterdir())) == 6
