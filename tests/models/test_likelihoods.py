"""Likelihoods of pages against SciPy: what a page computes is the model that it names."""

from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from probmodel import infer, load_model, read_data
from probmodel.density import as_posterior

MODELS = Path(__file__).parents[2] / "models"


def seeds_mean(d, p):
    fixed = p["beta_seed"] * d["seed_type"] + p["beta_root"] * d["root_extract"]
    return p["alpha"] + fixed + p["beta_both"] * d["seed_type"] * d["root_extract"]


def seeds(d, p):
    p_plate = special.expit(seeds_mean(d, p) + p["effect"])
    return stats.binom.logpmf(d["germinated"], d["total"].astype(int), p_plate).sum()


def seeds_beta_binomial(d, p):
    mean, size = special.expit(seeds_mean(d, p)), 1 / p["rho"] - 1
    n = d["total"].astype(int)
    return stats.betabinom.logpmf(d["germinated"], n, mean * size, (1 - mean) * size).sum()


def rats(d, p):
    effect, age = p["effect"], np.asarray(d["day"]) - 22.0
    mean = [[a + b * t for t in age] for a, b in effect]
    return stats.norm.logpdf(d["weight"], mean, p["sigma"]).sum()


def lip_cancer(d, p):
    return stats.poisson.logpmf(d["cases"], np.asarray(d["expected"]) * p["risk"]).sum()


def wells(d, p):
    far, arsenic = d["dist"] / 100, d["arsenic"]
    far, arsenic = far - far.mean(), arsenic - arsenic.mean()
    both = p["beta_both"] * far * arsenic
    eta = p["alpha"] + p["beta_dist"] * far + p["beta_arsenic"] * arsenic + both
    return stats.bernoulli.logpmf(d["switched"], special.expit(eta)).sum()


def dugongs(d, p):
    mean = p["limit"] - p["gap"] * p["decay"] ** d["age"]
    return stats.norm.logpdf(d["length"], mean, p["sigma"]).sum()


def coal_change_point(d, p):
    y = np.asarray(d["disasters"])
    each = []
    for k in range(1, len(y) + 1):
        rate = np.where(np.arange(len(y)) < k, p["early"], p["late"])
        each.append(stats.poisson.logpmf(y, rate).sum())
    np.testing.assert_allclose(p["probability"], special.softmax(each), rtol=1e-9, atol=1e-300)
    return special.logsumexp(each) + special.gammaln(y + 1.0).sum()


def coal_random_walk(d, p):
    np.testing.assert_allclose(p["rate"], np.exp(p["walk"]))
    return stats.poisson.logpmf(d["disasters"], p["rate"]).sum()


def garch(d, p):
    total, variance = 0.0, p["alpha0"] / (1 - p["alpha1"] - p["beta1"])
    for y in d["y"]:
        total += stats.norm.logpdf(y, p["mu"], np.sqrt(variance))
        variance = p["alpha0"] + p["alpha1"] * (y - p["mu"]) ** 2 + p["beta1"] * variance
    return total


def party_identification(d, p):
    eta = np.asarray(d["X"].values) @ p["beta"]
    cuts = np.concatenate([[-np.inf], p["cutpoints"], [np.inf]])
    y = d["party"].astype(int)
    upper, lower = special.expit(cuts[y + 1] - eta), special.expit(cuts[y] - eta)
    return np.log(upper - lower).sum()


def tobit(d, p):
    mean, y = p["alpha"] + p["beta"] * d["height"], d["diameter"]
    zero = stats.norm.logcdf(0.0, mean, p["sigma"])
    return np.where(y == 0, zero, stats.norm.logpdf(y, mean, p["sigma"])).sum()


def robust_regression(d, p):
    X = np.asarray(d["X"].values)
    mean = p["alpha"] + (X - X.mean(axis=0)) @ p["beta"]
    return stats.t.logpdf(d["log_earn"], p["df"], mean, p["sigma"]).sum()


def local_level(d, p):
    year = np.arange(1.0, 63.0)
    covariance = 9 + p["drift"] ** 2 * np.minimum(year, year[:, None])
    covariance += p["noise"] ** 2 * np.eye(62)
    y = np.asarray(d["y"].values)[:, 0]
    return stats.multivariate_normal(np.full(62, 9.0), covariance).logpdf(y)


def bei(d, p):
    place = d["place"]
    high, steep = d["elevation"] - np.mean(d["elevation"]), d["gradient"] - np.mean(d["gradient"])
    fixed = p["alpha"] + p["beta_elevation"] * high / 10 + p["beta_gradient"] * steep * 10
    smooth, weights = 0.0, p["weights"].reshape(15, 10)
    for i, j in np.ndindex(weights.shape):
        along = np.sin(np.pi * (i + 1) * (place[:, 0] + 300) / 1600) / np.sqrt(800)
        across = np.sin(np.pi * (j + 1) * (place[:, 1] + 250) / 1000) / np.sqrt(500)
        smooth = smooth + weights[i, j] * along * across
    mean = d["area"] * np.exp(fixed + smooth)
    return stats.nbinom.logpmf(d["count"], p["phi"], p["phi"] / (p["phi"] + mean)).sum()


CASES = {
    bei: "bei_10x20.npz",
    seeds: "seeds.csv",
    seeds_beta_binomial: "seeds.csv",
    rats: "rats.json",
    lip_cancer: "lip_cancer.json",
    wells: "wells.csv",
    dugongs: "dugongs.csv",
    coal_change_point: "coal.json",
    coal_random_walk: "coal.json",
    garch: "pound_dollar.csv",
    party_identification: "party1996.csv",
    tobit: "finpines_sizes.csv",
    robust_regression: "earnings_logarithms.csv",
    local_level: "temperatures.csv",
}


@pytest.mark.parametrize(
    ("expected", "file"), CASES.items(), ids=lambda x: getattr(x, "__name__", "")
)
def test_the_likelihood_is_that_of_scipy(expected, file):
    values = read_data(MODELS / "data" / file)
    density = as_posterior(load_model(MODELS / f"{expected.__name__}.py")(**values))
    x = density.initial_points(np.random.default_rng(5), 3)
    terms = density.terms(x)
    (name,) = [n for n in terms if n.startswith(("likelihood of", "potential of"))]
    parameters = density.constrain(x)
    points = [{key: v[i] for key, v in parameters.items()} for i in range(len(x))]
    np.testing.assert_allclose(terms[name], [expected(values, p) for p in points], rtol=1e-9)


# -- the year of the change -----------------------------------------------------------------------


def exact_years(y):
    """Posterior of the last early year: rates with Exponential(1) priors are integrated out."""
    k, s = np.arange(1, len(y) + 1), np.cumsum(y)
    early = special.gammaln(1 + s) - (1 + s) * np.log(1 + k)
    rest, left = s[-1] - s, len(y) - k
    late = special.gammaln(1 + rest) - (1 + rest) * np.log(1 + left)
    return special.softmax(early + late)


def test_the_year_of_the_change_has_its_exact_posterior():
    values = read_data(MODELS / "data" / "coal.json")
    y = np.asarray(values["disasters"])
    model = load_model(MODELS / "coal_change_point.py")(**values)
    run = infer(model, draws=500, warmup=300, seed=3, quiet=True)
    draws = run.posterior["probability"].values
    year = 1851 + np.arange(len(y))
    means = draws @ year  # of the year given the rates: (chains, draws)
    # Chains are independent: the error of their mean follows from how they differ.
    error = np.std(means.mean(axis=1), ddof=1) / np.sqrt(len(means))
    bound = stats.t.ppf(1 - 0.5e-4, len(means) - 1) * error
    assert abs(means.mean() - exact_years(y) @ year) < bound
    assert abs(means.mean() - exact_years(np.roll(y, 1)) @ year) > bound  # a year later
    assert year[np.argmax(draws.mean(axis=(0, 1)))] == 1891  # as Carlin, Gelfand and Smith found
