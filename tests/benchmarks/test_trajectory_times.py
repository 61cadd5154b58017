"""The benchmark of trajectories: programs that end at the same place, and one that does not."""

import csv

import pytest
import trajectories


def test_the_table_is_written(tmp_path, capsys):
    trajectories.main(["--rounds", "1", "--only", "school", "--csv", str(tmp_path / "t.csv")])
    with (tmp_path / "t.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["posterior"] == "eight schools"
    assert float(row["steps / one core"]) == pytest.approx(
        float(row["steps"]) / float(row["one core"])
    )
    assert "in the median" in capsys.readouterr().out


def test_a_difference_is_noticed(monkeypatch):
    monkeypatch.setattr(trajectories.Steps, "__call__", lambda self, x: self._density(1.1 * x))
    with pytest.raises(AssertionError):
        trajectories.main(["--rounds", "1", "--only", "school"])
