"""The split of an iteration's time: every method has one, and the parts add up."""

import csv

import numpy as np
import pytest
import steps

from probmodel.samplers import SAMPLERS


def test_every_method_states_its_products():
    assert set(steps.KERNEL) == {name for name in SAMPLERS if SAMPLERS[name].needs != "prior"}
    for stated in (*steps.KERNEL.values(), *steps.ADAPTATION.values()):
        assert set(stated) <= set(steps.PRODUCTS)


def test_a_short_run(tmp_path, capsys):
    table = tmp_path / "steps.csv"
    code = steps.main(["--methods", "mala", "--rounds", "1", "--csv", str(table)])
    printed = capsys.readouterr().out
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert code == int("ABOVE" in printed)
    assert {(r["target"], r["phase"]) for r in rows} == {
        (target, phase) for target in ("regression", "normal") for phase in ("warm-up", "sampling")
    }
    for row in rows:
        parts = [float(row[f"{p}_us"]) for p in ("evaluations", "products", "rest")]
        assert float(row["iteration_us"]) == pytest.approx(np.sum(parts), rel=0.01)
        assert float(row["memory"]) < 10.0


def test_evaluations_are_timed():
    iteration = steps.Iteration("gad_mala_exact", steps.Normal87(), "warm-up")
    before = iteration.density.seconds
    iteration()
    assert iteration.density.seconds > before > 0.0
