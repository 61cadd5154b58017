"""Models of reference posteriors: each against its density written by hand with SciPy."""

from functools import partial

import numpy as np
import posteriordb
import pytest
from scipy import integrate, special, stats

POINTS = 5

# -- the densities, as the descriptions have them -------------------------------------------------


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


def lotka_volterra(v, d):
    a, b, c, e = v["theta"]

    def change(t, z):
        return [(a - b * z[1]) * z[0], (e * z[0] - c) * z[1]]

    found = integrate.solve_ivp(
        change, (0, 20), v["z_init"], "DOP853", d["ts"], rtol=1e-11, atol=1e-11
    )
    prior = stats.norm.logpdf(v["theta"], [1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05]).sum()
    prior += stats.lognorm.logpdf(v["z_init"], 1, scale=10).sum()
    prior += stats.lognorm.logpdf(v["sigma"], 1, scale=np.exp(-1)).sum()
    z = np.vstack([v["z_init"], found.y.T])
    y = np.vstack([d["y_init"], d["y"]])
    return prior + stats.lognorm.logpdf(y, v["sigma"], scale=z).sum()


def paths(log_emissions, transition):
    """Sum over all paths of states, by the forward recursion in the order of time."""
    total = log_emissions[0]
    for emission in log_emissions[1:]:
        total = emission + special.logsumexp(total[:, None] + np.log(transition), axis=0)
    return special.logsumexp(total)


def hidden_markov(v, d):
    emissions = stats.norm.logpdf(d["y"][:, None], v["mu"], 1)
    prior = normal(v["mu"], [3, 10], 1)
    return prior + paths(emissions, np.stack([v["theta1"], v["theta2"]]))


def basketball(v, d):
    emissions = stats.expon.logpdf(np.array(d["u"])[:, None], scale=1 / v["phi"])
    emissions = emissions + stats.expon.logpdf(np.array(d["v"])[:, None], scale=1 / v["rate"])
    prior = normal(v["phi"], [0, 3], 1) + normal(v["rate"], [0, 3], 1)
    for row, alpha in zip((v["theta1"], v["theta2"]), d["alpha"], strict=True):
        prior += stats.dirichlet.logpdf(row / row.sum(), alpha)
    return prior + paths(emissions, np.stack([v["theta1"], v["theta2"]]))


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
    "bball_drive_event_0-hmm_drive_0": basketball,
    "earnings-earn_height": partial(earnings, response=lambda earn: earn),
    "earnings-log10earn_height": partial(earnings, response=np.log10),
    "earnings-logearn_height": partial(earnings, response=np.log),
    "earnings-logearn_height_male": partial(earnings, response=np.log, male=True),
    "eight_schools-eight_schools_noncentered": eight_schools,
    "gp_pois_regr-gp_regr": gaussian_process,
    "hmm_example-hmm_example": hidden_markov,
    "hudson_lynx_hare-lotka_volterra": lotka_volterra,
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


# -- comparisons ----------------------------------------------------------------------------------


def points_near(posterior, density):
    """Unconstrained points around the reference means: (points, dim)."""
    known = posteriordb.known(posterior)
    mean = dict(zip(known.names, known.mean, strict=True))
    somewhere = density.constrain(np.zeros((1, density.dim)))
    parameters = {name.partition("[")[0] for name in known.names}
    shapes = {name: somewhere[name].shape[1:] for name in parameters}
    means = {
        name: np.reshape([mean[f"{name}{list(i) if i else ''}"] for i in np.ndindex(shape)], shape)
        for name, shape in shapes.items()
    }
    centre = density.unconstrain(means, np.zeros(density.dim))
    rng = np.random.default_rng(20)
    relative, absolute = rng.uniform(-0.05, 0.05, (2, POINTS, density.dim))
    return centre * (1.0 + relative) + absolute


def disagreement(posterior, by_hand):
    """Range over points of what the log densities differ by, relative to their size."""
    density = posteriordb.CASES[posterior].build()
    d = {n: v for n, (_, v) in (density.constant_data | density.observed_data).items()}
    x = points_near(posterior, density)
    terms = density.terms(x)
    ours = sum(value for name, value in terms.items() if not name.startswith("jacobian"))
    points = density.constrain(x)
    theirs = [by_hand({n: v[i] for n, v in points.items()}, d) for i in range(POINTS)]
    return np.ptp(ours - theirs) / np.max(np.abs(theirs))


def test_every_posterior_is_written_by_hand():
    assert set(BY_HAND) == set(posteriordb.CASES)


# Relative error of a sum of 1330 terms, as many as the longest likelihood has.
ROUNDING = 1330 * np.finfo(float).eps
SOLVED = {"hudson_lynx_hare-lotka_volterra": 1e-5}  # steps of the solver keep within 1e-6


@pytest.mark.parametrize("posterior", posteriordb.CASES)
def test_the_density_is_that_of_the_description(posterior):
    assert disagreement(posterior, BY_HAND[posterior]) < SOLVED.get(posterior, ROUNDING)


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
