"""The default method against the reference posteriors of posteriordb.

    python benchmarks/posteriordb.py --into benchmarks/results
    python benchmarks/posteriordb.py --only arK-arK kilpisjarvi_mod-kilpisjarvi --chains 8 --seed 3
    python benchmarks/posteriordb.py --only mcycle_gp-accel_gp --target-accept 0.95
    python benchmarks/posteriordb.py --rows benchmarks/results/posteriordb.csv

posteriordb (Magnusson et al.) holds posteriors with 10,000 nearly independent draws of each, made
by Stan. Here each model is a page of the gallery, written from its description, and each run is
``infer(model)`` with no other setting than the seed, but what the command line asks for.

The posterior mean of every scalar parameter, and that of its square, is compared with the
reference: z is the difference over the root of the sum of both squared Monte Carlo standard
errors. A run agrees with its reference if R-hat is 1.01 at most, bulk and tail effective sample
sizes are 400 at least, and no z exceeds the bound: that of Bonferroni for all comparisons of all
posteriors together, so that one correct sampler in a thousand fails anywhere. The script ends with
1 if a run does not agree.

Seconds are those of warm-up and sampling; gradients those of both, over all chains.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measures import FAILED, YES, Row, measured, r_hat, recorded, stored
from references import flat
from report import environment, markdown, number
from scipy import stats

from probmodel import load_model, read_data
from probmodel.density import ModelDensity, as_posterior
from probmodel.types import Array

GALLERY = Path(__file__).resolve().parents[1] / "models"
REFERENCES = Path(__file__).resolve().parent / "data" / "posteriordb.json"
SETTINGS = ("method", "chains", "warmup", "draws", "seed", "target_accept")
FAMILY_LEVEL = 0.001  # probability that any comparison of all fails by chance
AGREES, DIFFERS, UNFINISHED = "agrees", "differs", "not converged"
COLUMNS = (
    "posterior", "dim", "method", "chains", "draws", "seed", "seconds", "gradients", "rhat",
    "ess_bulk", "ess_tail", "worst_z", "worst_of", "verdict", "warnings",
)  # fmt: skip
WORDS = ("posterior", "method", "worst_of", "verdict", "warnings")


class Case(NamedTuple):
    """A model of the gallery whose posterior has a reference.

    Attributes
    ----------
    model, data : files in `GALLERY` and its folder of data
    names : what the model calls a parameter of the reference, where it is not the same
    """

    model: str
    data: str
    names: Mapping[str, str] = {}

    def build(self) -> ModelDensity:
        """Compile the posterior."""
        data = read_data(GALLERY / "data" / self.data)
        return as_posterior(load_model(GALLERY / self.model)(**data))


MOTORCYCLE = {
    "Intercept": "intercept", "sdgp_1": "sd", "lscale_1": "length", "zgp_1": "z",
    "Intercept_sigma": "log_intercept", "sdgp_sigma_1": "log_sd", "lscale_sigma_1": "log_length",
    "zgp_sigma_1": "log_z",
}  # fmt: skip

CASES: dict[str, Case] = {
    "arK-arK": Case("autoregression.py", "autoregression.csv"),
    "bball_drive_event_0-hmm_drive_0": Case(
        "basketball_drive.py", "basketball_drive.json", {"lambda": "rate"}
    ),
    "earnings-earn_height": Case("earnings_height.py", "earnings.csv"),
    "earnings-log10earn_height": Case("earnings_log10_height.py", "earnings.csv"),
    "earnings-logearn_height": Case("earnings_log_height.py", "earnings.csv"),
    "earnings-logearn_height_male": Case("earnings_log_height_male.py", "earnings.csv"),
    "eight_schools-eight_schools_noncentered": Case("eight_schools.py", "eight_schools.json"),
    "gp_pois_regr-gp_regr": Case("gaussian_process_regression.py", "gp_regression.csv"),
    "hmm_example-hmm_example": Case("hidden_markov.py", "hidden_markov.csv"),
    "hudson_lynx_hare-lotka_volterra": Case("lotka_volterra.py", "lynx_hare.json"),
    "kidiq-kidscore_momhs": Case("kidscore_momhs.py", "kidiq.csv"),
    "kidiq-kidscore_momhsiq": Case("kidscore_momhsiq.py", "kidiq.csv"),
    "kidiq-kidscore_momiq": Case("kidscore_momiq.py", "kidiq.csv"),
    "kidiq_with_mom_work-kidscore_interaction_c": Case("kidscore_interaction.py", "kidiq.csv"),
    "kidiq_with_mom_work-kidscore_mom_work": Case("kidscore_mom_work.py", "kidiq_work.csv"),
    "kilpisjarvi_mod-kilpisjarvi": Case("kilpisjarvi.py", "kilpisjarvi.json"),
    "low_dim_gauss_mix-low_dim_gauss_mix": Case("gaussian_mixture.py", "gaussian_mixture.csv"),
    "mcycle_gp-accel_gp": Case("motorcycle.py", "motorcycle.csv", MOTORCYCLE),
    "mesquite-logmesquite": Case("mesquite.py", "mesquite.csv"),
    "mesquite-logmesquite_logvash": Case("mesquite_shape.py", "mesquite.csv"),
    "mesquite-logmesquite_logvolume": Case("mesquite_volume.py", "mesquite.csv"),
    "nes1972-nes": Case("nes.py", "nes1972.csv"),
    "nes1980-nes": Case("nes.py", "nes1980.csv"),
    "nes1988-nes": Case("nes.py", "nes1988.csv"),
    "nes1996-nes": Case("nes.py", "nes1996.csv"),
    "sblrc-blr": Case("correlated_regression.py", "correlated_regression.csv"),
}


# -- references -----------------------------------------------------------------------------------


class Known(NamedTuple):
    """Posterior means and mean squares with their Monte Carlo standard errors.

    Attributes
    ----------
    names : of the scalar parameters, as `references.flat` names those of a run
    mean, mean_error, square, square_error : (parameters,)
    """

    names: Sequence[str]
    mean: Array
    mean_error: Array
    square: Array
    square_error: Array


def known(posterior: str) -> Known:
    """Read the reference of one of `CASES`."""
    found = read(REFERENCES, posterior)
    names = [_own_name(name, CASES[posterior].names) for name in found.names]
    return found._replace(names=names)


def read(path: Path, posterior: str) -> Known:
    """Read a reference from a file as `posteriordb_references` writes them."""
    entry = json.loads(path.read_text())[posterior]
    columns = ("mean", "mcse_mean", "mean_sq", "mcse_mean_sq")
    return Known(entry["names"], *(np.array(entry[column]) for column in columns))


def _own_name(name: str, names: Mapping[str, str]) -> str:
    """Translate ``"zgp_1[3]"``, counted from one, to ``"z[2]"``."""
    head, bracket, rest = name.partition("[")
    own = names.get(head, head)
    if not bracket:
        return own
    return f"{own}{[int(index) - 1 for index in rest.rstrip(']').split(',')]}"


def bound(comparisons: int | None = None) -> float:
    """Return the largest absolute z that is allowed: Bonferroni's, two-sided.

    Parameters
    ----------
    comparisons : how many; by default, those of all `CASES`
    """
    if comparisons is None:
        comparisons = sum(2 * len(known(posterior).names) for posterior in CASES)
    return float(stats.norm.isf(FAMILY_LEVEL / (2 * comparisons)))


def z_scores(run: Any, reference: Known) -> dict[str, float]:
    """Return the distances from the reference, signed, in combined Monte Carlo errors.

    The names are those of the parameters, and ``"mu ** 2"`` for the squares.
    """
    names, draws = flat(run)
    column = {name: i for i, name in enumerate(names)}
    scores = {}
    for name, *values in zip(*reference, strict=True):
        mean, mean_error, square, square_error = values
        own = draws[:, :, column[name]]
        scores[name] = _distance(own, mean, mean_error)
        scores[f"{name} ** 2"] = _distance(own**2, square, square_error)
    return scores


def _distance(draws: Array, mean: float, error: float) -> float:
    """Return z for the mean of draws: (chains, draws)."""
    return float((draws.mean() - mean) / np.hypot(mean_error(draws), error))


def mean_error(draws: Array) -> float:
    """Monte Carlo standard error of the mean of draws: (chains, draws)."""
    import arviz as az

    return float(az.mcse(draws, method="mean"))


# -- runs -----------------------------------------------------------------------------------------


def measure(posterior: str, settings: Mapping[str, Any], limit: float) -> Row:
    """Sample a posterior, and hold the draws against the reference."""
    density = CASES[posterior].build()
    found, run = measured(density, settings)
    row = {"posterior": posterior} | found
    if run is None:
        return row | {"verdict": FAILED}
    row |= compared(run, known(posterior))
    agrees = AGREES if abs(row["worst_z"]) <= limit else DIFFERS
    return row | {"verdict": agrees if row["converged"] == YES else UNFINISHED}


def compared(run: Any, reference: Known) -> Row:
    """Say how far a result is from the reference, and in what."""
    scores = z_scores(run, reference)
    name = max(scores, key=lambda key: abs(scores[key]))
    return {"worst_z": scores[name], "worst_of": name, "comparisons": len(scores)}


def rows_of(posteriors: Sequence[str], settings: Mapping[str, Any]) -> Iterator[Row]:
    """Run posteriors one after another."""
    limit = bound()
    for posterior in posteriors:
        row = measure(posterior, settings, limit)
        print(f"{posterior}: {row['verdict']}", file=sys.stderr)
        yield row


# -- table and command line -----------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Format runs as Markdown, one line each, and what was found in all."""
    header = ("posterior", "d", "chains x draws", "seconds", "gradients", "R-hat", "bulk", "tail",
              "worst z", "of", "verdict", "warnings")  # fmt: skip
    lines = []
    for row in rows:
        shown = ("seconds", "gradients", "rhat", "ess_bulk", "ess_tail", "worst_z")
        row = dict.fromkeys((*shown, "chains", "draws"), np.nan) | {"worst_of": ""} | row
        cells = {name: number(row[name]) for name in shown} | {"rhat": r_hat(row["rhat"])}
        size = f"{number(row['chains'])} x {number(row['draws'])}"
        last = (row["worst_of"], row["verdict"], row["warnings"])
        lines.append((row["posterior"], str(row["dim"]), size, *cells.values(), *last))
    agree = sum(row["verdict"] == AGREES for row in rows)
    return (
        f"{markdown(header, lines)}\n\n{agree} of {len(rows)} agree with their references. The "
        f"bound of |z| is {bound():.2f}."
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", default=list(CASES), choices=list(CASES), metavar="NAME"
    )
    parser.add_argument("--method", help="instead of the default one")
    parser.add_argument("--chains", type=int, help="by default, what the method has")
    parser.add_argument("--warmup", type=int)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--target-accept", type=float, metavar="RATE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="write posteriordb.csv and posteriordb.md there"
    )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="report what --into stored; run nothing"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the table."""
    options = parse(arguments)
    if options.rows:
        rows = list(stored([options.rows], WORDS))
    else:
        asked = {name: getattr(options, name) for name in SETTINGS}
        settings = {name: value for name, value in asked.items() if value is not None}
        path = options.into / "posteriordb.csv" if options.into else None
        rows = list(recorded(path, COLUMNS, rows_of(options.only, settings)))
    text = "\n".join(f"- {line}" for line in environment()) + f"\n\n{table(rows)}"
    print(text)
    if options.into:
        (options.into / "posteriordb.md").write_text(f"{text}\n")
    agree = {row["posterior"] for row in rows if row["verdict"] == AGREES}
    return int(agree != {row["posterior"] for row in rows})


if __name__ == "__main__":
    raise SystemExit(main())
