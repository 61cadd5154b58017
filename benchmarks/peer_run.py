"""One run of `peers`: a tool, a posterior and a seed, in a process of its own.

    python benchmarks/peer_run.py nutpie pima --data pima.npz --into FILE --mode cold

It writes what was measured as JSON. ``--started`` is when the process was asked for, by the clock
of the system; without it the imports are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
from peer_tools import TOOLS, Draws, Run
from peer_tools.cases import CASES

ENOUGH = 400  # effective draws that a cold run must have
MARGIN = 1.25  # more draws are asked for than the first part of a run says are enough
MOST = 40.0  # times the draws of the default, at most
ANOTHER = 1000  # is added to the seed of a further run


def judged(draws: Draws) -> dict[str, Any]:
    """Return ArviZ's diagnostics of the worst parameter, and means with their errors."""
    flat = {name: np.reshape(values, (*np.shape(values)[:2], -1)) for name, values in draws.items()}
    posterior = az.convert_to_dataset(flat)

    def every(found: Any) -> Any:
        return np.concatenate([np.ravel(found[name].values) for name in sorted(flat)])

    chains, count = next(iter(flat.values())).shape[:2]
    return {
        "chains": chains, "draws": count,
        "ess_bulk": float(every(az.ess(posterior, method="bulk")).min()),
        "ess_tail": float(every(az.ess(posterior, method="tail")).min()),
        "rhat": float(every(az.rhat(posterior)).max()),
        "means": every(posterior.mean(("chain", "draw"))).tolist(),
        "errors": every(az.mcse(posterior, method="mean")).tolist(),
    }  # fmt: skip


def cold(run: Run, seed: int, started: float) -> dict[str, Any]:
    """Run until the smallest bulk effective sample size is enough, at most twice.

    Seconds are from the start of the process to the last draw. The diagnostics that say whether a
    second run is needed are not counted.
    """
    draws = run(seed, 1.0)
    seconds = time.time() - started
    found = judged(draws)
    first = {"first_seconds": seconds, "first_ess": found["ess_bulk"], "runs": 1}
    if found["ess_bulk"] < ENOUGH:
        more = min(MOST, MARGIN * ENOUGH / found["ess_bulk"])
        again = time.time()
        draws = run(seed + ANOTHER, more)
        seconds += time.time() - again
        found, first["runs"] = judged(draws), 2
    return first | found | {"seconds": seconds}


def warm(run: Run, seed: int, _: float) -> dict[str, Any]:
    """Run twice, and measure the second: warm-up and draws."""
    run(seed + ANOTHER, 1.0)
    start = time.time()
    draws = run(seed, 1.0)
    seconds = time.time() - start
    found = judged(draws)
    rates = {f"{end}_per_second": found[f"ess_{end}"] / seconds for end in ("bulk", "tail")}
    return found | rates | {"seconds": seconds, "runs": 1}


MODES = {"cold": cold, "warm": warm}


def main() -> None:
    """Run, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--data", type=Path, required=True, help="of the posterior, as arrays")
    parser.add_argument("--mode", choices=MODES, default="warm")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--started", type=float, default=time.time())
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tool = importlib.import_module(TOOLS[options.tool])
    with np.load(options.data) as stored:
        run = tool.prepare(CASES[options.case], dict(stored))
    found = MODES[options.mode](run, options.seed, options.started)
    found["versions"] = ", ".join(f"{name} {version(name)}" for name in tool.PACKAGES)
    options.into.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
