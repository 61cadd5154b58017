"""Do the defaults answer? Default runs on real data, judged and compared with references.

    OPENBLAS_NUM_THREADS=1 python benchmarks/defaults.py --csv benchmarks/results/defaults.csv

Each case is sampled by ``infer(model, method="fisher_mala", chains=32)`` with no other setting
but the seed (and, for the two large latent models, 2000 warm-up iterations and 5000 draws).
Shown are the largest R-hat, the smallest bulk and tail effective sample sizes over all
parameters, and the largest distance of a posterior mean from its reference in combined Monte
Carlo standard errors.

References are independent of the sampler where that is possible: self-normalised importance
sampling from a multivariate t distribution at the mode for the logistic regressions, the
published reference draws for eight schools; otherwise runs ten times as long with other seeds.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from probmodel import infer, load_model, read_data
from probmodel.density import ModelDensity, as_posterior
from probmodel.results.convergence import convergence

ROOT = Path(__file__).resolve().parent.parent
LARGE = {"warmup": 2000, "draws": 5000}
CASES: dict[str, tuple[str, str, dict[str, int], str]] = {
    "ripley": ("logistic_regression", "ripley.npz", {}, "importance"),
    "pima": ("logistic_regression", "pima.npz", {}, "importance"),
    "heart": ("logistic_regression", "heart.npz", {}, "importance"),
    "australian": ("logistic_regression", "australian.npz", {}, "importance"),
    "german": ("logistic_regression", "german.npz", {}, "importance"),
    "caravan": ("logistic_regression", "caravan.npz", {}, "long"),
    "eight schools": ("eight_schools", "eight_schools.json", {}, "published"),
    "Cox 16 x 16": ("log_gaussian_cox", "finpines_16x16.npz", LARGE, "long"),
    "volatility 500": ("stochastic_volatility", "sp500_500.csv", LARGE, "none"),
}

# Means and Monte Carlo errors of the reference draws eight_schools-eight_schools_noncentered of
# posteriordb (Magnusson et al., BSD 3-clause).
EIGHT_SCHOOLS = {
    "mu": (4.41052, 0.03303),
    "tau": (3.60206, 0.03200),
    "theta[0]": (6.15050, 0.05589),
    "theta[1]": (4.93958, 0.04634),
    "theta[2]": (3.90591, 0.05408),
    "theta[3]": (4.79602, 0.04765),
    "theta[4]": (3.61444, 0.04633),
    "theta[5]": (4.05115, 0.04849),
    "theta[6]": (6.31717, 0.04993),
    "theta[7]": (4.88400, 0.05426),
}


def importance_reference(density: ModelDensity, draws: int = 200_000) -> tuple[Any, Any]:
    """Return means and their standard errors by importance sampling at the mode."""
    scale = _mode_scale(density)
    start = np.zeros(density.dim)

    def objective(z: Any) -> tuple[float, Any]:
        logp, grad = density((z * scale)[None])
        return -float(logp[0]), -grad[0] * scale

    mode = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x * scale
    factor = np.linalg.cholesky(np.linalg.inv(-density.hessian(mode[None])[0]))
    rng, freedom = np.random.default_rng(0), 30.0
    noise = rng.standard_normal((draws, density.dim))
    mix = np.sqrt(freedom / rng.chisquare(freedom, draws))
    z = noise * mix[:, None]
    x = mode + z @ factor.T
    log_q = -0.5 * (freedom + density.dim) * np.log1p((z * z).sum(axis=1) / freedom)
    log_p = np.concatenate([density.log_density(block) for block in np.array_split(x, 400)])
    weight = np.exp(log_p - log_q - (log_p - log_q).max())
    weight /= weight.sum()
    mean = weight @ x
    error = np.sqrt((weight**2) @ (x - mean) ** 2)
    return mean, error


def _mode_scale(density: ModelDensity) -> Any:
    """Rough scales of the coordinates, from the curvature at zero."""
    curvature = -np.diagonal(density.hessian(np.zeros((1, density.dim)))[0])
    return 1.0 / np.sqrt(np.maximum(curvature, 1.0))


def flat(posterior: Any) -> tuple[list[str], Any]:
    """Return names and draws of all parameters: (chains, draws, quantities)."""
    group = posterior["posterior"]
    names, columns = [], []
    for name in group.data_vars:
        values = np.asarray(group[name])
        columns.append(values.reshape(*values.shape[:2], -1))
        names += [f"{name}{list(i) if i else ''}" for i in np.ndindex(*values.shape[2:])]
    return names, np.concatenate(columns, axis=2)


def judge(draws: Any) -> tuple[Any, Any, Any, Any]:
    """Return R-hat, bulk ESS, tail ESS and the standard error of the mean, for each quantity."""
    found = convergence(np.moveaxis(draws, 2, 0))
    error = draws.std(axis=(0, 1)) / np.sqrt(found.ess_bulk)
    return found.rhat, found.ess_bulk, found.ess_tail, error


def reference(title: str, model: Any, kind: str, settings: dict[str, int]) -> Any:
    """Return reference means and their errors in the order of `flat`, or None."""
    if kind == "importance":
        return importance_reference(as_posterior(model))
    if kind == "published":
        return EIGHT_SCHOOLS
    if kind == "long":
        draws = 10 * settings.get("draws", 5000)
        run = infer(model, chains=8, draws=draws // 5, thin=5, warmup=4000, seed=999, quiet=True)
        _, values = flat(run)
        return values.mean(axis=(0, 1)), judge(values)[3]
    return None


def distance(names: list[str], draws: Any, error: Any, known: Any) -> float:
    """Return the largest distance of a mean from its reference, in combined errors."""
    if known is None:
        return float("nan")
    mean = draws.mean(axis=(0, 1))
    if isinstance(known, dict):
        chosen = [names.index(name) for name in known]
        target, target_error = np.array(list(known.values())).T
        mean, error = mean[chosen], error[chosen]
    else:
        target, target_error = known
    return float(np.max(np.abs(mean - target) / np.hypot(error, target_error)))


def main() -> None:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    print(f"OPENBLAS_NUM_THREADS={os.environ.get('OPENBLAS_NUM_THREADS', 'not set')}")
    print(f"{'case':<16}{'seed':>5}{'draws':>7}{'R-hat':>8}{'bulk':>8}{'tail':>8}{'worst z':>9}"
          f"{'s':>7}  warnings")  # fmt: skip
    rows = []
    for title in options.cases:
        name, data, settings, kind = CASES[title]
        model = load_model(ROOT / "models" / f"{name}.py")(
            **read_data(ROOT / "models" / "data" / data)
        )
        known = reference(title, model, kind, settings)
        for seed in options.seeds:
            start = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                run = infer(
                    model, method="fisher_mala", chains=32, seed=seed, progressbar=False, **settings
                )
            seconds = time.perf_counter() - start
            names, draws = flat(run)
            r_hat, bulk, tail, error = judge(draws)
            z = distance(names, draws, error, known)
            said = "; ".join(str(w.message)[:60] for w in caught) or "none"
            rows.append((title, seed, draws.shape[1], r_hat.max(), bulk.min(), tail.min(), z,
                         seconds, said))  # fmt: skip
            print(f"{title:<16}{seed:>5}{draws.shape[1]:>7}{r_hat.max():>8.4f}{bulk.min():>8.0f}"
                  f"{tail.min():>8.0f}{z:>9.2f}{seconds:>7.1f}  {said}", flush=True)  # fmt: skip
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["case", "seed", "draws", "max_r_hat", "min_bulk_ess", "min_tail_ess",
                             "worst_z", "seconds", "warnings"])  # fmt: skip
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
