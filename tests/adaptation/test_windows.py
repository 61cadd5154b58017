"""Windows of the warm-up: those of Stan."""

import numpy as np
import pytest

from probmodel.adaptation.windows import windows


@pytest.mark.parametrize(
    ("n_warmup", "first", "ends"),
    [
        (1000, 75, (99, 149, 249, 449, 949)),  # as printed in the manual
        (2000, 75, (99, 149, 249, 449, 849, 1949)),
        (500, 75, (99, 149, 249, 449)),
        (499, 75, (99, 149, 448)),
        (150, 75, (99,)),
        (149, 22, (134,)),
        (100, 15, (89,)),
        (20, 3, (17,)),
        (19, 19, ()),
        (0, 0, ()),
    ],
)
def test_schedule(n_warmup, first, ends):
    plan = windows(n_warmup)
    assert (plan.first, plan.ends) == (first, ends)


@pytest.mark.parametrize("n_warmup", [20, 64, 149, 150, 151, 333, 1000, 1234, 10_000])
def test_windows_double_and_fill_the_slow_phase(n_warmup):
    plan = windows(n_warmup)
    assert 0 <= plan.first < plan.ends[0] + 1
    assert plan.ends[-1] < n_warmup - 1
    lengths = np.diff([plan.first - 1, *plan.ends])
    assert (lengths[1:-1] == 2 * lengths[:-2]).all()
    # The last one takes what is left, which is less than a further one would need.
    assert len(lengths) < 2 or 2 * lengths[-2] <= lengths[-1] < 6 * lengths[-2]


def test_short_warmups_have_no_windows():
    assert all(windows(n) == (n, ()) for n in range(20))
