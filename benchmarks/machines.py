"""What workers gain, and what checkpoints cost.

    python benchmarks/machines.py

Each figure is the median over ``--repeats``, by turns; both sides run in one call. Workers are
processes that are started, and have made their machine code, before they are timed.

    parts        Caravan, 16 chains in 2 parts of 8: draws per second while sampling
    calibration  sbc of 100 simulations of eight schools
    checkpoint   a random walk on eight schools of about 10 seconds, with and without
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from report import environment

from probmodel import infer, load_model, read_data, sbc

MODELS = Path(__file__).parents[1] / "models"


def bound(model: str, data: str) -> Any:
    """Bind a model of the gallery."""
    return load_model(MODELS / model)(**read_data(MODELS / "data" / data))


def by_turns(sides: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Return the median of what each side returns."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            found[name].append(side())
    return {name: statistics.median(values) for name, values in found.items()}


def parts(pools: Sequence[Any], repeats: int) -> dict[str, float]:
    """Return draws per second while sampling."""
    model = bound("logistic_regression.py", "caravan.npz")

    def draws(pool: Any) -> float:
        fit = infer(model, executor=pool, chains=16, draws=3000, warmup=300, seed=1, quiet=True)
        return float(16 * 3000 / fit.attrs["sampling_time"])

    for pool in pools:
        draws(pool)
    sides: dict[str, Callable[[], float]] = {
        f"{k} workers": (lambda pool=pool: draws(pool)) for k, pool in enumerate(pools, 1)
    }
    return by_turns(sides, repeats)


def calibration(pools: Sequence[Any], repeats: int) -> dict[str, float]:
    """Return simulations per second."""
    kind = load_model(MODELS / "eight_schools.py")
    data = read_data(MODELS / "data" / "eight_schools.json")

    def simulations(pool: Any) -> float:
        begin = time.perf_counter()
        sbc(kind, 100, data=data, executor=pool, seed=1, progressbar=False)
        return 100.0 / (time.perf_counter() - begin)

    sides: dict[str, Callable[[], float]] = {
        f"{k} workers": (lambda pool=pool: simulations(pool)) for k, pool in enumerate(pools, 1)
    }
    return by_turns(sides, repeats)


def checkpoint(repeats: int) -> dict[str, float]:
    """Return seconds."""
    model = bound("eight_schools.py", "eight_schools.json")

    def seconds(kept: bool) -> float:
        with tempfile.TemporaryDirectory() as folder:
            where = {"checkpoint": Path(folder) / "run"} if kept else {}
            begin = time.perf_counter()
            infer(model, "rwm", draws=150_000, seed=1, quiet=True, **where)
            return time.perf_counter() - begin

    return by_turns({"without": lambda: seconds(False), "with": lambda: seconds(True)}, repeats)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args(arguments).repeats
    print(*environment(), sep="; ")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as one, ProcessPoolExecutor(2, context) as two:
        for name, run in (("parts", parts), ("calibration", calibration)):
            found = run((one, two), repeats)
            ratio = found["2 workers"] / found["1 workers"]
            print(f"{name:12} 1 worker {found['1 workers']:.4g}/s, 2 workers "
                  f"{found['2 workers']:.4g}/s: {ratio:.2f} times")  # fmt: skip
    found = checkpoint(repeats)
    print(f"{'checkpoint':12} without {found['without']:.2f} s, with {found['with']:.2f} s: "
          f"{100 * (found['with'] / found['without'] - 1):+.1f} %")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
