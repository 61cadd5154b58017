"""Reference posteriors: each model against its density written by hand, and runs against draws."""

import csv
import json
from functools import partial

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

POINTS = 5

# -- the densities by hand, as the descriptions have them -----------------------------------------


def normal(y, mean, scale):
    return stats.norm.logpdf(y, mean, scale).sum()


def half_cauchy(x, scale):
    return stats.halfcauchy.logpdf(x, scale=scale).sum()


def half_normal(x, scale):
    return stats.halfnorm.logpdf(x, scale=scale).sum()


def autoregression(v, d):
    y, beta = d["y"], v["beta"]
    means = [v["alpha"] + sum(beta[k] * y[t - 1 - k] for k in range(5)) for t in range(5, 200)]
    prior = normal(v["alpha"], 0, 10) + normal(beta, 0, 10) + half_cauchy(v["sigma"], 2.5)
    return prior + normal(y[5:], means, v["sigma"])


def earnings(v, d, *, response, male=False):
    beta = v["beta"]
    mean = beta[0] + beta[1] * d["X"][:, 0]
    if male:
        mean = mean + beta[2] * d["X"][:, 1]
    return normal(response(d["earn"]), mean, v["sigma"])


def eight_schools(v, d):
    prior = normal(v["mu"], 0, 5) + half_cauchy(v["tau"], 5) + normal(v["theta"], v["mu"], v["tau"])
    # The model's density is that of (theta - mu) / tau.
    return prior + 8 * np.log(v["tau"]) + normal(d["y"], v["theta"], d["sigma"])


def gaussian_process(v, d, *, noise=lambda sigma: sigma):
    x, y = d["x"], d["y"]
    squares = np.subtract.outer(x, x) ** 2
    covariance = v["alpha"] ** 2 * np.exp(-squares / (2 * v["rho"] ** 2))
    covariance += noise(v["sigma"]) * np.eye(11)
    prior = stats.gamma.logpdf(v["rho"], 25, scale=1 / 4) + half_normal(v["alpha"], 2)
    likelihood = stats.multivariate_normal.logpdf(y, np.zeros(11), covariance)
    return prior + half_normal(v["sigma"], 1) + likelihood


def kidscore(v, d, *, columns, scale=2.5):
    mean = v["beta"][0] + sum(b * d["X"][:, i] for b, i in zip(v["beta"][1:], columns, strict=True))
    return half_cauchy(v["sigma"], scale) + normal(d["y"], mean, v["sigma"])


def kidscore_interaction(v, d):
    hs, iq = (column - column.mean() for column in d["X"].T)
    b = v["beta"]
    return normal(d["y"], b[0] + b[1] * hs + b[2] * iq + b[3] * hs * iq, v["sigma"])


def kidscore_mom_work(v, d):
    shift = np.concatenate([[0.0], v["beta"][1:]])
    return normal(d["y"], v["beta"][0] + shift[d["mom_work"] - 1], v["sigma"])


def kilpisjarvi(v, d):
    prior = normal(v["alpha"], d["pmualpha"], d["psalpha"])
    prior += normal(v["beta"], d["pmubeta"], d["psbeta"])
    return prior + normal(d["y"], v["alpha"] + v["beta"] * np.asarray(d["x"]), v["sigma"])


def mixture(v, d):
    weights = np.array([v["theta"], 1 - v["theta"]])
    each = weights * stats.norm.pdf(d["y"][:, None], v["mu"], v["sigma"])
    prior = normal(v["mu"], 0, 2) + half_normal(v["sigma"], 2) + stats.beta.logpdf(v["theta"], 5, 5)
    return prior + np.log(each.sum(axis=1)).sum()


def motorcycle(v, d):
    x = (d["time"] - d["time"].mean()) / np.ptp(d["time"])

    def process(sd, length, z):
        """Sum of eigenfunctions sin(w (x + L)) / sqrt(L) of the Laplacian on [-L, L], L = 1.5."""
        total = 0.0
        for j, weight in enumerate(z, 1):
            w = np.pi * j / 3.0
            spectrum = sd**2 * np.sqrt(2 * np.pi) * length * np.exp(-0.5 * length**2 * w**2)
            total = total + np.sqrt(spectrum) * weight * np.sin(w * (x + 1.5)) / np.sqrt(1.5)
        return total

    mean = v["intercept"] + process(v["sd"], v["length"], v["z"])
    log_scale = v["log_intercept"] + process(v["log_sd"], v["log_length"], v["log_z"])
    prior = normal(v["z"], 0, 1) + normal(v["log_z"], 0, 1)
    prior += stats.t.logpdf(v["intercept"], 3, -13, 36) + stats.t.logpdf(v["sd"], 3, 0, 36)
    prior += stats.t.logpdf(v["log_intercept"], 3, 0, 10) + stats.t.logpdf(v["log_sd"], 3, 0, 36)
    prior += stats.invgamma.logpdf([v["length"], v["log_length"]], 1.124909, scale=0.0177).sum()
    return prior + normal(d["accel"], mean, np.exp(log_scale))


def mesquite(v, d, *, inputs):
    diam1, diam2, canopy, total, stems, group = d["X"].T
    columns = {
        "all": [*np.log([diam1, diam2, canopy, total, stems]), group],
        "volume": [np.log(diam1 * diam2 * canopy)],
        "shape": [
            np.log(diam1 * diam2 * canopy), np.log(diam1 * diam2), np.log(diam1 / diam2),
            np.log(total), group,
        ],
    }[inputs]  # fmt: skip
    mean = v["beta"][0] + sum(b * c for b, c in zip(v["beta"][1:], columns, strict=True))
    return normal(np.log(d["weight"]), mean, v["sigma"])


def nes(v, d):
    b, age = v["beta"], d["age_discrete"]
    mean = b[0] + b[1] * d["real_ideo"] + b[2] * d["race_adj"] + b[6] * d["educ1"]
    mean = mean + b[7] * d["gender"] + b[8] * d["income"]
    mean = mean + np.array([0.0, b[3], b[4], b[5]])[age - 1]
    return normal(d["partyid7"], mean, v["sigma"])


def correlated(v, d):
    prior = normal(v["beta"], 0, 10) + half_normal(v["sigma"], 10)
    return prior + normal(d["y"], d["X"] @ v["beta"], v["sigma"])


BY_HAND = {
    "arK-arK": autoregression,
    "earnings-earn_height": partial(earnings, response=lambda earn: earn),
    "earnings-log10earn_height": partial(earnings, response=np.log10),
    "earnings-logearn_height": partial(earnings, response=np.log),
    "earnings-logearn_height_male": partial(earnings, response=np.log, male=True),
    "eight_schools-eight_schools_noncentered": eight_schools,
    "gp_pois_regr-gp_regr": gaussian_process,
    "kidiq-kidscore_momhs": partial(kidscore, columns=[0]),
    "kidiq-kidscore_momhsiq": partial(kidscore, columns=[0, 1]),
    "kidiq-kidscore_momiq": partial(kidscore, columns=[1]),
    "kidiq_with_mom_work-kidscore_interaction_c": kidscore_interaction,
    "kidiq_with_mom_work-kidscore_mom_work": kidscore_mom_work,
    "kilpisjarvi_mod-kilpisjarvi": kilpisjarvi,
    "low_dim_gauss_mix-low_dim_gauss_mix": mixture,
    "mcycle_gp-accel_gp": motorcycle,
    "mesquite-logmesquite": partial(mesquite, inputs="all"),
    "mesquite-logmesquite_logvash": partial(mesquite, inputs="shape"),
    "mesquite-logmesquite_logvolume": partial(mesquite, inputs="volume"),
    "nes1972-nes": nes,
    "nes1980-nes": nes,
    "nes1988-nes": nes,
    "nes1996-nes": nes,
    "sblrc-blr": correlated,
}


def values_near(posterior, density):
    """Values of the parameters about half a standard deviation from their reference means."""
    known = posteriordb.known(posterior)
    spread = np.sqrt(known.square - known.mean**2)
    rng = np.random.default_rng(20)
    somewhere = density.constrain(density.initial_points(rng, chains=1))
    shapes = {name: array.shape[1:] for name, array in somewhere.items()}
    for _ in range(POINTS):
        point = known.mean + spread * rng.uniform(-0.5, 0.5, len(spread))
        of = dict(zip(known.names, point, strict=True))
        yield {
            name: np.reshape(
                [of[f"{name}{list(i) if i else ''}"] for i in np.ndindex(shape)], shape
            )
            for name, shape in shapes.items()
        }


def disagreement(posterior, by_hand):
    """Range over points of what the log densities differ by, relative to their size."""
    density = posteriordb.CASES[posterior].build()
    d = {n: v for n, (_, v) in (density.constant_data | density.observed_data).items()}
    ours, theirs = [], []
    for values in values_near(posterior, density):
        x = density.unconstrain(values, np.zeros(density.dim))
        terms = density.terms(x[None])
        ours.append(sum(v[0] for name, v in terms.items() if not name.startswith("jacobian")))
        theirs.append(by_hand(values, d))
    return np.ptp(np.subtract(ours, theirs)) / np.max(np.abs(theirs))


def test_every_posterior_is_written_by_hand():
    assert set(BY_HAND) == set(posteriordb.CASES)


# Sums of up to 1330 terms that nearly cancel lose a few digits of sixteen.
ROUNDING = 1e-11


@pytest.mark.parametrize("posterior", posteriordb.CASES)
def test_the_density_is_that_of_the_description(posterior):
    assert disagreement(posterior, BY_HAND[posterior]) < ROUNDING


@pytest.mark.parametrize(
    ("posterior", "changed"),
    [
        ("kidiq-kidscore_momhs", partial(kidscore, columns=[0], scale=3.0)),
        ("kidiq-kidscore_momiq", partial(kidscore, columns=[0])),
        ("gp_pois_regr-gp_regr", partial(gaussian_process, noise=np.square)),
    ],
    ids=["prior", "input", "variance"],
)
def test_another_density_is_noticed(posterior, changed):
    assert disagreement(posterior, changed) > 1000 * ROUNDING


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
    assert posteriordb.main(["--only", "low_dim_gauss_mix-low_dim_gauss_mix", "--method", "x"]) == 1
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
    row = posteriordb.judged(run, density.dim, known, posteriordb.bound())
    assert row["verdict"] == posteriordb.DIFFERS
    assert row["worst_of"].startswith("sigma")
    # Without the factor sigma the posterior mean is lower, by about its variance over itself.
    assert row["worst_z"] < 0
