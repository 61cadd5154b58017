"""What ends programs that would run for ever."""

import pytest

from probmodel import ModelError, Stan

ENDLESS = """
functions {
  real deeper(real x) {
    return deeper(x + 1);
  }
}
parameters {
  real x;
}
model {
  target += deeper(x);
}
"""


def test_functions_that_call_themselves_for_ever():
    with pytest.raises(ModelError, match=r"<stan>:11: column 13: deeper calls itself") as caught:
        Stan(ENDLESS)()
    assert str(caught.value).endswith("target += deeper(x);\n" + " " * 16 + "^")


def test_functions_that_call_themselves_a_hundred_times():
    program = ENDLESS.replace("return deeper", "if (x > 100) return x; return deeper").replace(
        "deeper(x);", "deeper(1) * x;"
    )
    assert "101 * x" in str(Stan(program)())
