"""Reference posteriors: how they are stored, and runs against them."""

import csv
import json

import measures
import numpy as np
import posteriordb
import posteriordb_references
import pytest
import xarray as xr
from scipy import stats

from probmodel import Model, data, infer, observed, param, read_data
from probmodel.constraints import Positive
from probmodel.density import as_posterior
from probmodel.distributions import LogNormal


@pytest.mark.parametrize("case", posteriordb.CASES.values(), ids=list(posteriordb.CASES))
def test_a_page_says_how_it_is_run(case):
    words = (posteriordb.GALLERY / case.model).read_text().split()
    at = words.index("sample")
    assert words[at - 1 : at + 3] == ["probmodel", "sample", f"gallery:{case.model[:-3]}", "--data"]
    own = [c for c in posteriordb.CASES.values() if c.model == case.model]
    assert words[at + 3] in {f"gallery:{c.data}" for c in own}


# -- references -----------------------------------------------------------------------------------


def test_references_are_made_of_summaries_and_draws(tmp_path):
    draws = np.random.default_rng(2).normal([1.0, -3.0], [1.0, 0.5], size=(2000, 2))
    entry = {"sd": 0.0, "ess_bulk": 10_000.0, "ess_tail": 9000.0, "mcse_mean": 0.01}
    parameters = {
        name: {**entry, "mean": m, "mean_sq": m**2 + s**2}
        for name, m, s in (("b", -3.0, 0.5), ("a[1]", 1.0, 1.0))
    }
    folder = tmp_path / "one"
    folder.mkdir()
    summary = {"name": "one-model", "parameters": parameters}
    (folder / "reference_summary.json").write_text(json.dumps(summary))
    np.savez(folder / "reference_draws.npz", draws=draws, names=["a[1]", "b"])
    out = tmp_path / "out.json"
    assert posteriordb_references.main([str(tmp_path), "--out", str(out)]) == 0
    kept = json.loads(out.read_text())["one-model"]
    assert (kept["names"], kept["mean"], kept["mean_sq"]) == (["b", "a[1]"], [-3, 1], [9.25, 2])
    # The variance of the square of N(m, s) is 4 m^2 s^2 + 2 s^4.
    spread = np.sqrt([4 * 9 * 0.25 + 2 * 0.0625, 4 + 2])
    # A standard deviation of 2000 squares is known to a few per cent.
    np.testing.assert_allclose(kept["mcse_mean_sq"], spread / np.sqrt(9000), rtol=0.15)


def test_a_folder_without_references_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        posteriordb_references.main([str(tmp_path)])
    assert "no folder" in capsys.readouterr().err


def test_references_fit_together():
    for posterior in json.loads(posteriordb.REFERENCES.read_text()).values():
        mean, error, square, square_error, sd = (
            np.array(posterior[key])
            for key in ("mean", "mcse_mean", "mean_sq", "mcse_mean_sq", "sd")
        )
        assert np.all(error > 0)
        assert np.all(square_error > 0)
        # Of the digits that are kept, those common to the mean square and the squared mean go.
        np.testing.assert_allclose(square - mean**2, sd**2, rtol=1e-2, atol=1e-6 * square.max())


def test_names_count_from_zero():
    known = posteriordb.known("mcycle_gp-accel_gp")
    assert len(known.names) == len(set(known.names)) == 66
    assert {"intercept", "z[0]", "z[39]", "log_z[19]"} <= set(known.names)
    assert posteriordb._own_name("L[2,1]", {"L": "factor"}) == "factor[1, 0]"


def test_the_bound_is_that_of_all_comparisons():
    comparisons = 2 * sum(len(posteriordb.known(name).names) for name in posteriordb.CASES)
    assert 2 * stats.norm.sf(posteriordb.bound()) * comparisons == pytest.approx(0.001)
    assert 4.5 < posteriordb.bound() < 5.0


# -- runs -----------------------------------------------------------------------------------------


def test_a_short_run(tmp_path, capsys):
    arguments = ["--only", "mesquite-logmesquite_logvolume", "arK-arK", "--chains", "4"]
    status = posteriordb.main([*arguments, "--draws", "500", "--into", str(tmp_path)])
    printed = capsys.readouterr().out
    assert status == 0
    assert "2 of 2 agree with their references." in printed
    assert (tmp_path / "posteriordb.md").read_text() == printed
    with (tmp_path / "posteriordb.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["posterior"] for row in rows] == arguments[1:3]
    for row in rows:
        assert (row["verdict"], row["chains"], row["draws"]) == ("agrees", "4", "500")
        assert abs(float(row["worst_z"])) < posteriordb.bound()
        assert float(row["seconds"]) > 0
        assert int(row["gradients"]) > 4 * 500
    assert posteriordb.main(["--rows", str(tmp_path / "posteriordb.csv")]) == 0
    assert capsys.readouterr().out == printed


def test_a_run_that_is_too_short_fails(capsys):
    arguments = ["--only", "arK-arK", "--chains", "4", "--warmup", "100", "--draws", "50"]
    assert posteriordb.main(arguments) == 1
    assert "| not converged |" in capsys.readouterr().out


def test_an_error_is_reported(capsys):
    arguments = ["--only", "low_dim_gauss_mix-low_dim_gauss_mix", "--target-accept", "1.5"]
    assert posteriordb.main(arguments) == 1
    printed = capsys.readouterr().out
    assert "SamplerError" in printed
    assert "0 of 1 agree" in printed


def test_z_scores_are_differences_in_monte_carlo_errors():
    draws = np.random.default_rng(4).standard_normal((4, 1000, 2))
    run = {"posterior": xr.Dataset({"v": (("chain", "draw", "i"), draws)})}
    names, errors = ["v[1]", "v[0]"], np.array([0.01, 0.02])
    known = posteriordb.Known(names, np.array([0.3, -0.1]), errors, np.array([2.0, 1.5]), errors)
    scores = posteriordb.z_scores(run, known)
    assert list(scores) == ["v[1]", "v[1] ** 2", "v[0]", "v[0] ** 2"]
    own = {"v[1]": draws[..., 1], "v[0]": draws[..., 0]}
    truth = dict(zip(names, known.mean, strict=True))
    truth |= {f"{name} ** 2": value for name, value in zip(names, known.square, strict=True)}
    own |= {f"{name} ** 2": own[name] ** 2 for name in names}
    for name, score in scores.items():
        error = dict(zip(names, errors, strict=True))[name.removesuffix(" ** 2")]
        z = (own[name].mean() - truth[name]) / np.hypot(own[name].std() / np.sqrt(4000), error)
        # The effective size of n independent draws is estimated with an error of sqrt(7 n).
        assert score == pytest.approx(z, rel=5 * np.sqrt(7 / 4000) / 2)


class NoJacobian(Positive):
    """``y = exp(u)``, without the factor that its density needs."""

    def log_det(self, xp, u, *bounds):
        return 0.0 * u


class Broken(Model):
    """``mesquite_volume`` with a standard deviation whose constraint is wrong."""

    X = data(dims=("bush", "feature"), lower=0)
    beta = param(shape=2)
    sigma = param(constraint=NoJacobian())
    volume = np.log(X[:, 0] * X[:, 1] * X[:, 2])
    weight = observed(LogNormal(beta[0] + beta[1] * volume, sigma), dims="bush")


FAST = (
    "arK-arK",
    "earnings-earn_height",
    "eight_schools-eight_schools_noncentered",
    "gp_pois_regr-gp_regr",
    "kidiq-kidscore_momiq",
    "kilpisjarvi_mod-kilpisjarvi",
    "mesquite-logmesquite_logvolume",
    "nes1980-nes",
)


@pytest.mark.statistical
@pytest.mark.parametrize("posterior", FAST)
def test_the_default_method_agrees_with_the_reference(posterior):
    row = posteriordb.measure(posterior, {"seed": 11}, posteriordb.bound())
    assert row["verdict"] == posteriordb.AGREES, row


@pytest.mark.statistical
def test_a_missing_jacobian_is_found():
    density = as_posterior(Broken(**read_data(posteriordb.GALLERY / "data" / "mesquite.csv")))
    run = infer(density, seed=11, quiet=True)
    known = posteriordb.known("mesquite-logmesquite_logvolume")
    row = posteriordb.compared(run, known)
    assert measures.described(run, density.dim)["converged"] == measures.YES
    assert abs(row["worst_z"]) > posteriordb.bound()
    assert row["worst_of"].startswith("sigma")
    # Without the factor sigma the posterior mean is lower, by about its variance over itself.
    assert row["worst_z"] < 0
