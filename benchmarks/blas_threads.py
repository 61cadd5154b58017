"""What a run costs with the number of BLAS threads that `infer` chooses, idle and on busy cores.

    python benchmarks/blas_threads.py --repeats 5

The gallery's Cox process on 256 cells, whose prior has a dense precision matrix, is sampled with
300 warm-up iterations and 200 draws, each time in a fresh process, by turns

- as users run it, with no variable in the environment,
- with OPENBLAS_NUM_THREADS=1,
- with all threads, `infer` being kept from choosing (with ``--all``, as this may take minutes),

first with nothing beside it, then with one busy process for each core. Shown are the medians of
the seconds of wall and processor time of the call of `infer`, and their ratio to the second way.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from report import environment, markdown

ROOT = Path(__file__).resolve().parents[1]
CHOSEN, ONE, ALL = "chosen by infer", "OPENBLAS_NUM_THREADS=1", "all threads"
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

RUN = """
import contextlib, sys, time
import probmodel.inference.driver as driver
from probmodel import infer, load_model, read_data

if sys.argv[1] == "all":
    driver.one_blas_thread = contextlib.nullcontext
    driver.suitable_blas_threads = lambda evaluate: contextlib.nullcontext(0)
model = load_model("gallery:log_gaussian_cox")(**read_data("gallery:finpines_16x16.npz"))
wall, processor = time.perf_counter(), time.process_time()
infer(model, warmup=300, draws=200, seed=1, quiet=True)
print(time.perf_counter() - wall, time.process_time() - processor)
"""


def seconds(way: str) -> tuple[float, float]:
    """Sample once in a fresh process: wall and processor time of `infer`."""
    variables = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    if way == ONE:
        variables["OPENBLAS_NUM_THREADS"] = "1"
    choice = "all" if way == ALL else "chosen"
    done = subprocess.run(
        [sys.executable, "-c", RUN, choice],
        cwd=ROOT, env=variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    wall, processor = map(float, done.stdout.split())
    return wall, processor


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep so many cores busy."""
    spinning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def measure(ways: Sequence[str], repeats: int) -> dict[str, tuple[float, float]]:
    """Median seconds of each way, by turns."""
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way in ways:
            found[way].append(seconds(way))
    return {
        way: (median(wall for wall, _ in times), median(processor for _, processor in times))
        for way, times in found.items()
    }


def rows(title: str, medians: dict[str, tuple[float, float]]) -> list[tuple[str, ...]]:
    """Rows of the table, with the ratio of each way to one thread."""
    one = medians[ONE]
    return [
        (title, way, f"{wall:.1f}", f"{processor:.1f}", f"{wall / one[0]:.2f}",
         f"{processor / one[1]:.2f}")
        for way, (wall, processor) in medians.items()
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="with all threads, too")
    options = parser.parse_args(arguments)
    ways = (CHOSEN, ONE, ALL) if options.all else (CHOSEN, ONE)
    cores = os.cpu_count() or 1
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    table = rows("idle", measure(ways, options.repeats))
    with busy(cores):
        table += rows(f"{cores} busy processes", measure(ways, options.repeats))
    names = ("beside it", "threads", "wall s", "processor s", "wall ratio", "processor ratio")
    print(markdown(names, table))


if __name__ == "__main__":
    main()
