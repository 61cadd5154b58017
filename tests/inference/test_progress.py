"""Progress on a terminal, and silence elsewhere."""

import io
import re

import numpy as np
import pytest

from probmodel.inference.groups import sample
from probmodel.inference.progress import INTERVAL, MOST_LINES, Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A clock that advances by a fixed time whenever it is read."""

    def __init__(self, tick=0.0):
        self.now, self.tick = 100.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


def go(counting, flat, progress, chains=3, **options):
    options = {"draws": 20, "warmup": 10} | options
    return sample(counting(), flat, np.zeros((chains, 2)), 1, progress=progress, **options)


def lines(stream):
    return [line for line in re.split(r"[\r\n]", stream.getvalue().replace("\x1b[K", "")) if line]


def test_nothing_is_written_if_it_is_no_terminal(counting, flat):
    stream = io.StringIO()
    go(counting, flat, Progress(stream, Clock(1.0)))
    assert stream.getvalue() == ""


def test_stderr_is_the_default(counting, flat, capsys):
    go(counting, flat, Progress())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_line_says_where_the_run_is(counting, flat):
    stream = Terminal()
    go(counting, flat, Progress(stream, Clock(1.0)))
    shown = lines(stream)
    assert shown[0].startswith("3 chains  warm-up ")
    assert "1/30" in shown[0]
    assert "accept 0.50" in shown[0]
    assert "step size 0" in shown[0]
    assert re.search(r"\d gradients/s", shown[0])
    assert shown[-1].startswith("3 chains  sampling 30/30 (100 %)")
    assert "0 s left" in shown[-1]
    assert stream.getvalue().endswith("\n")
    assert stream.getvalue().count("\n") == 1


def test_divergences_while_sampling_are_counted(counting, flat):
    class Diverging(type(counting())):
        def step(self, rng, density, state, params):
            state, info = super().step(rng, density, state, params)
            return state, info._replace(diverging=np.arange(len(state.x)) == 1)

    stream = Terminal()
    sample(
        Diverging(), flat, np.zeros((3, 2)), 1, draws=20, warmup=10,
        progress=Progress(stream, Clock(1.0)),
    )  # fmt: skip
    shown = lines(stream)
    assert "divergence" not in shown[9]
    assert "  1 divergence  " in shown[10]
    assert "  20 divergences  " in shown[-1]


def test_runs_without_divergences_do_not_speak_of_them(counting, flat):
    stream = Terminal()
    go(counting, flat, Progress(stream, Clock(1.0)))
    assert "divergence" not in stream.getvalue()


def test_time_left_is_extrapolated(counting, flat):
    stream = Terminal()
    go(counting, flat, Progress(stream, Clock(60.0)), warmup=0, draws=100)
    left = [re.search(r"(\S+) left", line)[1] for line in lines(stream)[:3]]
    assert left == ["1:39:00", "1:38:00", "1:37:00"]


def test_time_left_is_that_of_the_present_pace(counting, flat):
    clock = Clock()

    class Slowing(type(counting())):
        def step(self, rng, density, state, params):
            clock.now += 1.0 if self.iteration < 500 else 3.0
            self.iteration += 1
            return super().step(rng, density, state, params)

    stream, sampler = Terminal(), Slowing()
    object.__setattr__(sampler, "iteration", 0)
    sample(
        sampler, flat, np.zeros((2, 2)), 1, draws=800, warmup=0, progress=Progress(stream, clock)
    )
    left = [re.search(r"(\S+) left", line)[1] for line in lines(stream)]
    assert left[399] == "6:40"  # 400 iterations of a second
    assert left[499] == "5:00"
    assert left[699] in ("4:57", "4:58", "4:59")  # 100 of three seconds, but for what was before


def test_steps_an_iteration_are_shown(counting, flat):
    class Longer(type(counting())):
        def step(self, rng, density, state, params):
            state, info = super().step(rng, density, state, params)
            return state, info._replace(stats={"n_steps": np.array([1, 2, 6])})

    stream = Terminal()
    sample(
        Longer(), flat, np.zeros((3, 2)), 1, draws=20, warmup=10,
        progress=Progress(stream, Clock(1.0)),
    )  # fmt: skip
    assert "  3 steps an iteration  " in lines(stream)[-1]


@pytest.mark.parametrize("tick", [0.001, 0.05])
def test_refresh_rate_is_bounded(counting, flat, tick):
    stream, clock = Terminal(), Clock(tick)
    begin = clock.now
    go(counting, flat, Progress(stream, clock), draws=400)
    elapsed = clock.now - begin
    assert len(lines(stream)) <= elapsed / INTERVAL + 2


def test_one_line_per_group_and_not_too_many(counting, flat):
    stream = Terminal()
    go(counting, flat, Progress(stream, Clock(1.0)), chains=MOST_LINES + 3, pool=False)
    assert "group 0: 1 chain  " in stream.getvalue()
    assert f"group {MOST_LINES - 1}: " in stream.getvalue()
    assert f"group {MOST_LINES}: " not in stream.getvalue()
    assert "... and 3 more groups" in stream.getvalue()
    assert f"\x1b[{MOST_LINES}A\r" in stream.getvalue()


def test_what_takes_long_is_said_below_the_lines_until_they_are_written_anew(counting, flat):
    stream = Terminal()
    progress = Progress(stream, Clock(0.01))
    progress.say("before any line")
    assert lines(stream) == ["before any line"]
    progress.lines([3], 10, 30)
    progress.say("making code")
    *_, above, said = lines(stream)
    assert above.startswith("3 chains  warm-up   0/40")
    assert said == "making code"
    progress.refresh()
    assert lines(stream)[-1].startswith("3 chains")
    silent = io.StringIO()
    Progress(silent).say("not on a terminal")
    assert silent.getvalue() == ""


def test_line_is_ended_after_an_interrupt(counting, flat):
    stream = Terminal()
    sampler = counting(interrupt_at=15)
    sample(
        sampler, flat, np.zeros((2, 2)), 1, draws=20, warmup=10,
        progress=Progress(stream, Clock(1.0)),
    )  # fmt: skip
    assert lines(stream)[-1].startswith("2 chains  sampling 14/30")
    assert stream.getvalue().endswith("\n")


def test_interrupt_before_anything_is_known(counting, flat):
    stream = Terminal()
    sampler = counting(interrupt_at=1)
    sample(
        sampler, flat, np.zeros((2, 2)), 1, draws=20, warmup=10, progress=Progress(stream, Clock())
    )
    assert "? left" in lines(stream)[-1]


def test_a_terminal_that_goes_away_does_not_end_the_run(counting, flat):
    class Gone:
        def isatty(self):
            return True

        def write(self, text):
            raise OSError(5, "Input/output error")

    run = sample(
        counting(), flat, np.zeros((2, 2)), 1, draws=6, warmup=5, progress=Progress(Gone())
    )
    assert run.draws_done == 6
