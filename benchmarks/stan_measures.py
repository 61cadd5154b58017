"""What `stan_corpus` measures of one program, in a process of its own.

Standard input is a JSON object: ``name``, ``program``, ``data``, ``reference`` and the ``options``
of `stan_corpus`. Printed is a JSON object, the row of its table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from stan_cases import Case, draws_of

from probmodel.constraints import Interval, Real
from probmodel.density import ModelDensity
from probmodel.errors import DataError, ProbmodelError
from probmodel.stan.running import Run
from probmodel.stan.side_by_side import parts
from probmodel.stan.stan_model import StanModel, load_stan
from probmodel.stan.syntax.nodes import Call
from probmodel.types import Array

Row = dict[str, Any]
ORACLE = Path(__file__).resolve().parent / "stan_oracle.py"
POINTS, CHAINS, ROUNDS = 6, 16, 9
VALUES_AGREE, GRADIENTS_AGREE, DERIVED_AGREE = 1e-9, 1e-6, 1e-9  # relative
LEVEL = 0.001  # probability that a correct sampler fails in any comparison of a posterior
STEP = 1e-3  # of derivatives along a line, of fourth order


def measured(case: Case, options: Mapping[str, Any]) -> Row:
    """Read, bind, compile and compare."""
    row: Row = {"name": case.name, "stage": "parse", "error": "", "kind": ""}
    try:
        _measure(case, options, row)
    except Exception as error:  # a bug is reported as one
        row["kind"] = type(error).__name__
        row["error"] = str(error)
        row["typed"] = isinstance(error, ProbmodelError)
    return row


def _measure(case: Case, options: Mapping[str, Any], row: Row) -> None:
    program = load_stan(case.program)
    row["stage"] = "data"
    needed = program.program.blocks.get("data", ())
    if case.data is None and needed:
        raise DataError("there is no data file that belongs to it.")
    data = case.read()
    row["stage"] = "bind"
    start = time.perf_counter()
    model = program(**data)
    row["bind_s"] = time.perf_counter() - start
    row["stage"] = "compile"
    density = ModelDensity(model)
    row["dim"] = density.dim
    rng = np.random.default_rng(options.get("seed", 1))
    if options.get("cost", True):
        row |= cost(density, rng)
    row["stage"] = "start"
    row["finite"] = int(np.isfinite(density(density.initial_points(rng, 4)).logp).sum())
    if options.get("oracle"):
        row["stage"] = "oracle"
        row |= against_stan(program, data, density, rng, options)
    if options.get("against_own"):
        row["stage"] = "own"
        row |= against_own(case.name, density, rng)
    if options.get("sample") and case.reference:
        row["stage"] = "sample"
        row |= against_draws(density, case.reference, options.get("seed", 1))
    row["stage"] = "done"


# -- cost ------------------------------------------------------------------------------------------


def cost(density: ModelDensity, rng: np.random.Generator) -> Row:
    """Count operations, and time a gradient in machine code."""
    from engines import machine, times

    from probmodel.compiler.tracing import traced

    start = time.perf_counter()
    x = rng.uniform(-0.3, 0.3, (CHAINS, density.dim))
    code, _ = machine(density, x)
    row: Row = {"compile_s": time.perf_counter() - start}
    row["operations"] = traced(density._binding).operations
    if code is not None:
        row["gradient_us"] = 1e6 * times([code], x, 5)[0] / CHAINS
    return row


def against_own(name: str, density: ModelDensity, rng: np.random.Generator) -> Row:
    """Time the gradient by turns with that of the same model in the modelling language."""
    from engines import machine, times
    from posteriordb import CASES

    if name not in CASES:
        return {}
    own = CASES[name].build()
    points = [d.initial_points(rng, CHAINS, inits=0.3) for d in (density, own)]
    codes = [machine(d, x)[0] for d, x in zip((density, own), points, strict=True)]
    if None in codes:
        return {}
    calls = [lambda _, f=f, x=x: f(x) for f, x in zip(codes, points, strict=True)]
    ours, theirs = (1e6 * t / CHAINS for t in times(calls, None, ROUNDS))
    return {"stan_us": ours, "own_us": theirs, "ratio": ours / theirs}


# -- Stan's log densities --------------------------------------------------------------------------


def against_stan(
    program: type[StanModel],
    data: Mapping[str, Any],
    density: ModelDensity,
    rng: np.random.Generator,
    options: Mapping[str, Any],
) -> Row:
    """Compare log densities, without Jacobians, and their slopes along random lines."""
    x = rng.uniform(-1.0, 1.0, (4 * POINTS, density.dim))
    good = np.isfinite(density.log_density(x))
    x = x[good][:POINTS] if good.sum() > 1 else density.initial_points(rng, POINTS)
    lines = rng.standard_normal(x.shape)
    lines /= np.sqrt((lines**2).sum(axis=1, keepdims=True))
    moves = np.array([0.0, -2.0, -1.0, 1.0, 2.0]) * STEP
    places = (x[:, None] + moves[:, None] * lines[:, None]).reshape(-1, density.dim)
    names = [free.name for free in density._binding.free]
    values = density.constrain(places, tuple(names))
    run = Run(program.program, program.sources, data)
    declared = program.program.blocks.get("parameters", ())
    empty = [d for d in declared if d.name not in names]
    nothing = {
        d.name: _entry(run.interpreter.declared(d.type, dict(run.known)).array) for d in empty
    }
    points = [{n: _entry(values[n][i]) for n in names} | nothing for i in range(len(places))]
    given = {n: _entry(v.array, v.kind) for n, v in run.data.items()}
    code = "\n".join(program.sources.values()) if len(program.sources) == 1 else None
    quantities = program.program.blocks.get("generated quantities", ())
    drawn = any(isinstance(p, Call) and p.name.endswith("_rng") for p in parts(quantities))
    asked = {"code": code, "data": given, "points": points, "quantities": not drawn}
    python = options.get("stan_python") or sys.executable
    done = subprocess.run(
        [python, str(ORACLE)], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"oracle": "error", "error": done.stderr.strip()[-2000:]}
    rows = json.loads(done.stdout)
    row = _compared(density, x, lines, places, rows) | _bounded(program, density)
    return row if row["oracle"] == "error" else row | _derived(density, x, rows[::5])


def _entry(array: Any, kind: str = "real") -> dict[str, Any]:
    array = np.asarray(array)
    kind = "int" if kind == "int" else "real"
    return {"values": array.reshape(-1).tolist(), "shape": array.shape, "kind": kind}


def _compared(density: ModelDensity, x: Array, lines: Array, places: Array, rows: Any) -> Row:
    """Compare what Stan says of places on lines with what we say."""
    wrong = next((r["error"] for r in rows if "error" in r), None)
    if wrong is not None:
        return {"oracle": "error", "error": wrong}
    terms, jacobians = _parts(density, places)
    value, stan = terms[::5], np.array([r["value"] for r in rows[::5]])
    gap = (value - value[0]) - (stan - stan[0])
    scale = np.maximum(np.abs(stan), 1.0)
    worst = float(np.max(np.abs(gap) / np.maximum(scale, scale[0])))
    ours = (density(x).grad * lines).sum(axis=1) - _slope(jacobians.reshape(-1, 5))
    theirs = []
    for i in range(len(x)):
        u = np.array([r["coordinates"] for r in rows[5 * i : 5 * i + 5]])
        theirs.append(np.array(rows[5 * i]["gradient"]) @ _slope(u.T))
    slopes, by_differences = np.array(theirs), _slope(terms.reshape(-1, 5))
    size = np.maximum(np.abs(slopes), np.maximum(np.abs(stan), 1.0) ** 0.5)
    gaps = [
        float(np.max(np.abs(a - b) / size))
        for a, b in ((ours, slopes), (ours, by_differences), (slopes, by_differences))
    ]
    steep = gaps[0]
    agrees = worst <= VALUES_AGREE and steep <= GRADIENTS_AGREE
    constant = float(np.median(value - stan))
    return {
        "oracle": "agrees" if agrees else "DIFFERS", "value_gap": worst, "slope_gap": steep,
        "own_slope_error": gaps[1], "stan_slope_error": gaps[2], "constant": constant,
    }  # fmt: skip


def _parts(density: ModelDensity, x: Array) -> tuple[Array, Array]:
    """Return the log density without Jacobians, and the logarithms of these."""
    found = density._programs.terms(x)
    kinds = [term.kind == "jacobian" for term in density._binding.terms]
    sums = [
        sum((np.asarray(t) for t, k in zip(found, kinds, strict=True) if k == j), np.zeros(len(x)))
        for j in (False, True)
    ]
    return sums[0], sums[1]


def _slope(values: Array) -> Array:
    """Return derivatives by differences: (..., 5) at 0, -2, -1, 1 and 2 steps."""
    _, a, b, c, d = np.moveaxis(values, -1, 0)
    return np.asarray((a - 8.0 * b + 8.0 * c - d) / (12.0 * STEP))


def _derived(density: ModelDensity, x: Array, rows: Sequence[Row]) -> Row:
    """Compare transformed parameters and generated quantities."""
    ours = density.constrain(x)
    generated = density.model._generated
    if generated is not None and any(v.name in rows[0]["derived"] for v in generated.variables):
        ours |= generated.at({name: ours[name] for name in generated.needs})
    worst, of = 0.0, ""
    for name in rows[0]["derived"]:
        if name not in ours or not ours[name].size:
            continue
        entries = [row["derived"][name] for row in rows]
        theirs = np.array([np.reshape(e["values"], e["shape"], order="F") for e in entries])
        own = np.asarray(ours[name], dtype=float)
        same = (own == theirs) | (np.isnan(own) & np.isnan(theirs))
        finite = theirs[np.isfinite(theirs)]
        scale = max(float(np.max(np.abs(finite), initial=0.0)), 1e-300)
        gap = np.max(np.where(same, 0.0, np.nan_to_num(np.abs(own - theirs), nan=np.inf))) / scale
        if gap > worst:
            worst, of = float(gap), name
    verdict = {} if worst <= DERIVED_AGREE else {"oracle": "DIFFERS"}
    return {"derived_gap": worst, "derived_of": of} | verdict


def _bounded(program: type[StanModel], density: ModelDensity) -> Row:
    """Name the parameters whose priors bound them, where the program does not."""
    declared = {d.name: d.type for d in program.program.blocks.get("parameters", ())}
    found = []
    for free in density._binding.free:
        type_ = declared[free.name]
        plain = type_.kind in ("real", "vector", "row_vector", "matrix")
        limits = {"lower", "upper"} & set(type_.bounds)
        needed = 2 if isinstance(free.constraint, Interval) else 1
        if plain and not isinstance(free.constraint, Real) and len(limits) < needed:
            found.append(free.name)
    return {"bounded_by_prior": " ".join(found)}


# -- reference draws -------------------------------------------------------------------------------


def against_draws(density: ModelDensity, reference: Path, seed: int) -> Row:
    """Sample by default, and compare means and standard deviations with reference draws."""
    from posteriordb import _own_name
    from references import flat

    from probmodel import infer

    start = time.perf_counter()
    run = infer(density, seed=seed, quiet=True)
    row: Row = {"sample_s": time.perf_counter() - start}
    names, draws = flat(run)
    column = {name: i for i, name in enumerate(names)}
    scores = {}
    for name, known in draws_of(reference).items():
        own = column.get(_own_name(name, {}))
        if own is not None:
            scores |= _scores(name, draws[:, :, own], known)
    if not scores:
        return row | {"draws": "nothing to compare"}
    bound = stats.norm.isf(LEVEL / (2 * len(scores)))
    worst = max(scores, key=lambda key: abs(scores[key]))
    return row | {
        "draws": "agrees" if abs(scores[worst]) <= bound else "DIFFERS",
        "worst_z": scores[worst], "worst_of": worst, "bound_z": float(bound),
        "compared": len(scores),
        "warnings": " ".join(f["kind"] for f in json.loads(run.attrs["warnings"])),
    }  # fmt: skip


def _scores(name: str, own: Array, known: Array) -> dict[str, float]:
    """Return distances of mean and standard deviation, in combined Monte Carlo errors."""
    import arviz as az

    if np.ptp(known) == 0.0:
        return {}
    found = {}
    for what, function in (("mean", np.mean), ("sd", np.std)):
        errors = [float(az.mcse(d, method=what)) for d in (own, known)]
        found[f"{what} of {name}"] = float((function(own) - function(known)) / np.hypot(*errors))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one program."""
    asked = json.load(sys.stdin)
    paths = {key: Path(asked[key]) if asked[key] else None for key in ("data", "reference")}
    case = Case(asked["name"], Path(asked["program"]), **paths)
    printed = os.dup(1)
    os.dup2(2, 1)
    row = measured(case, asked["options"])
    with os.fdopen(printed, "w") as file:
        json.dump(row, file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
