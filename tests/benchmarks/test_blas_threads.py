"""The benchmark of BLAS threads: what it runs, and how it compares."""

import pytest
from blas_threads import CHOSEN, ONE, busy, measure, rows, seconds


def test_busy_processes_end(monkeypatch):
    import blas_threads

    started = []
    popen = blas_threads.subprocess.Popen
    monkeypatch.setattr(
        blas_threads.subprocess, "Popen", lambda *a: started.append(popen(*a)) or started[-1]
    )
    with busy(2):
        assert [process.poll() for process in started] == [None, None]
    assert all(process.poll() is not None for process in started)


def test_medians_and_ratios_to_one_thread(monkeypatch):
    import blas_threads

    times = iter([(4.0, 3.0), (2.0, 1.0), (9.0, 9.0), (2.0, 1.0), (5.0, 4.0), (2.0, 1.0)])
    monkeypatch.setattr(blas_threads, "seconds", lambda way: next(times))
    table = rows("idle", measure((CHOSEN, ONE), 3))
    assert table == [
        ("idle", CHOSEN, "5.0", "4.0", "2.50", "4.00"),
        ("idle", ONE, "2.0", "1.0", "1.00", "1.00"),
    ]


@pytest.mark.statistical
@pytest.mark.parametrize("way", [CHOSEN, ONE])
def test_every_way_runs(way):
    wall, processor = seconds(way)
    assert wall > 0.0
    assert processor > 0.0
