"""The twenty posteriors on which `methods` compares all methods, and what is known of them.

Means and mean squares are known in closed form, from the reference draws of posteriordb, from
`corpus_references.json`, or from long runs that `methods.py --make-references` stores with their
Monte Carlo standard errors. A mean square whose own variance is not finite, or nearly so, is not
compared: its error is infinite.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import corpus
import numpy as np
import posteriordb
from latent_targets import cox_process
from posteriordb import GALLERY, Known
from posteriordb_references import Summary
from scipy import integrate, stats
from targets import GAUSSIANS

from probmodel import Model, data, deterministic, load_model, observed, param, read_data
from probmodel.density import ModelDensity, as_posterior
from probmodel.distributions import HalfCauchy, MvNormal, Normal, StudentT

REFERENCES = Path(__file__).resolve().parent / "results" / "methods_references.json"
AS_DECLARED: Mapping[str, Any] = {"standardise": False}
BEND, SPREAD = 0.1, 10.0  # of the banana
DAYS = 100


class Posterior(NamedTuple):
    """A posterior to sample.

    Attributes
    ----------
    label : what the figure calls it
    build : compiles it
    known : what is known of it
    settings : of `infer`, for all methods alike
    """

    label: str
    build: Callable[[], ModelDensity]
    known: Callable[[], Known]
    settings: Mapping[str, Any] = {}


# -- models ---------------------------------------------------------------------------------------


class CorrelatedNormal(Model):
    """A normal distribution with a given covariance."""

    mean = data(dims="coordinate")
    covariance = data(dims=("coordinate", "other"))
    x = param(MvNormal(mean, covariance=covariance), dims="coordinate")


class Funnel(Model):
    """Neal's funnel: nine coordinates whose scale is the tenth."""

    v = param(Normal(0, 3))
    x = param(Normal(0, np.exp(v / 2)), shape=9)


class Banana(Model):
    """A normal distribution bent along a parabola."""

    x = param(Normal(0, SPREAD))
    y = param(Normal(BEND * (x**2 - SPREAD**2), 1))


class HeavyTails(Model):
    """Ten coordinates with t distributions of 3 degrees of freedom, whose squares have no variance.

    So what is known, and compared, is the mean of ``size``, and not that of the square of ``x``.
    """

    x = param(StudentT(3, 0, 1), shape=10)
    size = deterministic(np.log1p(x**2))


class CentredSchools(Model):
    """Eight schools as declared, without the standardising that `infer` would do."""

    sigma = data(dims="school", lower=0)

    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="school")

    y = observed(Normal(theta, sigma), dims="school")


def _normal(name: str) -> ModelDensity:
    target = GAUSSIANS[name]()
    model = CorrelatedNormal(mean=target.mean, covariance=target.covariance_matrix())
    return as_posterior(model)


def _schools() -> ModelDensity:
    return as_posterior(CentredSchools(**read_data(GALLERY / "data" / "eight_schools.json")))


def _volatility() -> ModelDensity:
    y = read_data(GALLERY / "data" / "sp500_500.csv")["y"][:DAYS]
    return as_posterior(load_model(GALLERY / "stochastic_volatility.py")(y=y))


# -- what is known --------------------------------------------------------------------------------


def _exact(moments: Mapping[str, tuple[float, float | None]]) -> Known:
    """Means and mean squares without error, by name; None for a square that is not compared."""
    mean = np.array([first for first, _ in moments.values()])
    square = np.array([0.0 if second is None else second for _, second in moments.values()])
    unknown = np.array([np.inf if second is None else 0.0 for _, second in moments.values()])
    return Known(list(moments), mean, np.zeros(len(mean)), square, unknown)


def _of_normal(name: str) -> Known:
    target = GAUSSIANS[name]()
    squares = target.mean**2 + np.diag(target.covariance_matrix())
    pairs = zip(target.mean, squares, strict=True)
    return _exact({f"x[{i}]": pair for i, pair in enumerate(pairs)})


def _of_tails() -> Known:
    size, _ = integrate.quad(
        lambda x: 2 * np.log1p(x * x) * stats.t.pdf(x, 3), 0, np.inf, epsabs=1e-12
    )
    square, _ = integrate.quad(
        lambda x: 2 * np.log1p(x * x) ** 2 * stats.t.pdf(x, 3), 0, np.inf, epsabs=1e-12
    )
    values = {f"x[{i}]": (0.0, None) for i in range(10)}
    return _exact(values | {f"size[{i}]": (size, square) for i in range(10)})


def _of_funnel() -> Known:
    return _exact({"v": (0.0, 9.0)})


def _of_banana() -> Known:
    return _exact({"x": (0.0, SPREAD**2), "y": (0.0, None)})


def _of_corpus(title: str) -> Known:
    found = corpus.known(title)
    assert found is not None, title
    return found


def _stored(title: str, without: tuple[str, ...] = ()) -> Known:
    """Read what a long run found; squares of the names in ``without`` are not compared."""
    found = posteriordb.read(REFERENCES, title)
    error = [
        np.inf if n in without else e for n, e in zip(found.names, found.square_error, strict=True)
    ]
    return found._replace(square_error=np.array(error))


def made_references() -> dict[str, Summary]:
    """Return what long runs have found so far."""
    found: dict[str, Summary] = json.loads(REFERENCES.read_text()) if REFERENCES.exists() else {}
    return found


# -- all of them ----------------------------------------------------------------------------------


def _case(label: str, title: str) -> Posterior:
    return Posterior(label, corpus.CASES[title].build, partial(_of_corpus, title))


POSTERIORS: dict[str, Posterior] = {
    "normal_2": Posterior(
        "normal, correlation 0.99",
        partial(_normal, "gauss2d_99"),
        partial(_of_normal, "gauss2d_99"),
    ),
    "normal_51": Posterior(
        "normal, smooth path", partial(_normal, "gauss51"), partial(_of_normal, "gauss51")
    ),
    "normal_100": Posterior(
        "normal, growing path", partial(_normal, "gp100"), partial(_of_normal, "gp100")
    ),
    "funnel": Posterior("funnel, as declared", partial(as_posterior, Funnel()), _of_funnel,
                        AS_DECLARED),
    "banana": Posterior("banana, as declared", partial(as_posterior, Banana()), _of_banana,
                        AS_DECLARED),
    "heavy_tails": Posterior("t, 3 degrees of freedom", partial(as_posterior, HeavyTails()),
                             _of_tails),
    "eight_schools": _case("eight schools", "eight_schools-eight_schools_noncentered"),
    "eight_schools_centred": Posterior(
        "eight schools, centred", _schools,
        partial(_of_corpus, "eight_schools-eight_schools_noncentered"), AS_DECLARED,
    ),
    "radon": _case("radon, 85 counties", "radon_hierarchical_intercept_centered"),
    "pima": _case("logistic, Pima", "pima"),
    "german": _case("logistic, German", "german"),
    "kilpisjarvi": _case("trend, Kilpisjarvi", "kilpisjarvi_mod-kilpisjarvi"),
    "mixture": _case("mixture of two", "low_dim_gauss_mix-low_dim_gauss_mix"),
    "gp_regression": _case("Gaussian process", "gp_pois_regr-gp_regr"),
    "arK": _case("autoregression, arK", "arK-arK"),
    "garch": _case("garch", "garch"),
    "lotka_volterra": _case("lynx and hare, ODE", "hudson_lynx_hare-lotka_volterra"),
    "volatility_100": Posterior(
        "volatility, 100 days", _volatility, partial(_stored, "volatility_100", ("mu",))
    ),
    "cox_8": Posterior("Cox process, 8 x 8", partial(cox_process, 8), partial(_stored, "cox_8")),
    "cox_16": _case("Cox process, 16 x 16", "cox_16"),
}  # fmt: skip
MADE = ("volatility_100", "cox_8")  # that need long runs of our own
