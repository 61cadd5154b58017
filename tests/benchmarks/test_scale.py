"""The cost of gradients by size: a few small ones, and what is made of the numbers."""

import csv

import numpy as np
import pytest
import scale


def test_sizes_are_those_of_the_densities():
    for case in scale.all_cases():
        if case.dim <= 300 and not case.size.startswith("10"):
            built = case.build()
            assert built.density.dim == case.dim
            assert built.observations >= 64


def test_a_short_run(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(scale, "TABLES", ((50, 4),))
    path, picture = tmp_path / "scale.csv", tmp_path / "scale.png"
    arguments = ["--largest", "260", "--rounds", "1", "--chains", "2", "--csv", str(path)]
    assert scale.main([*arguments, "--plot", str(picture)]) == 0
    assert "| Cox process by FFT    | 8 x 8" in capsys.readouterr().out
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["model"], r["size"]) for r in rows] == [
        ("Cox process", "8 x 8"), ("Cox process", "16 x 16"), ("Cox process by FFT", "8 x 8"),
        ("stochastic volatility", "100"), ("logistic regression", "50 x 4"),
    ]  # fmt: skip
    assert all(float(r["microseconds"]) > 0 and float(r["megabytes"]) > 0 for r in rows)
    assert [np.isnan(float(r["ratio"])) for r in rows] == [False, False, True, False, False]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_memory_of_a_call():
    def density(x):
        return np.ones(10**6).sum()

    assert scale.peak_megabytes(density, None) == pytest.approx(8.0, rel=0.05)
