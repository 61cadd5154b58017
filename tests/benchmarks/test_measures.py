"""How runs are judged, charged and recorded."""

import csv

import arviz
import measures
import numpy as np
import pytest

from probmodel.inference.counting import Work


def test_the_worst_is_that_of_arviz():
    draws = np.random.default_rng(1).standard_normal((4, 300, 3)).cumsum(axis=1)
    found = measures.worst(draws)
    columns = [draws[:, :, i] for i in range(3)]
    assert found.rhat == pytest.approx(max(arviz.rhat(x) for x in columns))
    assert found.bulk == pytest.approx(min(arviz.ess(x, method="bulk") for x in columns))
    tails = [arviz.ess(x, method="tail", prob=(0.05, 0.95)) for x in columns]
    assert found.tail == pytest.approx(min(tails))
    assert found.ess == min(found.bulk, found.tail)
    assert not found.converged


def test_what_has_converged():
    draws = np.random.default_rng(2).standard_normal((4, 500, 2))
    assert measures.worst(draws).converged
    assert not measures.worst(draws[:, :90]).converged  # 360 draws
    assert not measures.worst(draws + [[[0.0, 0.0]], [[0.0, 0.5]]] * 2).converged
    assert not measures.worst(np.where([True, False], draws, np.nan)).converged


def test_what_never_changes_is_left_out():
    draws = np.random.default_rng(5).standard_normal((4, 500, 3))
    fixed = draws.copy()
    fixed[:, :, 0] = 0.0
    fixed[:, :, 2] = np.where(draws[:, :, 2] > 1.0, np.nextafter(1.0, 2.0), 1.0)  # rounding
    assert measures.worst(fixed) == measures.worst(draws[:, :, 1:2])
    assert not measures.worst(fixed[:, :, :1]).converged  # chains that are stuck


def test_members_of_one_ensemble_are_not_independent():
    shared = np.random.default_rng(3).standard_normal((1, 400, 1)).cumsum(axis=1)
    draws = shared + np.random.default_rng(4).standard_normal((8, 400, 1))
    assert measures.worst(draws, 1).bulk < measures.worst(draws).bulk


def test_second_derivatives_count_as_gradients():
    assert measures.gradients(Work(logp=7, grad=5, hvp=3, hessian=2), 10) == 31
    assert measures.per(6.0, 3) == 2.0
    assert np.isnan(measures.per(6.0, 0))


def test_digits_of_r_hat():
    assert [measures.r_hat(x) for x in (1.01004, 250.3, np.nan)] == ["1.0100", "250", "–"]


def test_rows_are_on_disk_before_the_next_is_made(tmp_path):
    path = tmp_path / "new" / "rows.csv"

    def rows():
        yield {"a": 1, "b": 0.123456789, "other": 3}
        assert path.read_text() == "a,b\n1,0.123457\n"
        yield {"a": "x", "b": np.nan}

    assert len(list(measures.recorded(path, ("a", "b"), rows()))) == 2
    with path.open() as file:
        assert list(csv.DictReader(file))[1] == {"a": "x", "b": ""}
    assert list(measures.recorded(None, ("a",), [{"a": 1}])) == [{"a": 1}]
