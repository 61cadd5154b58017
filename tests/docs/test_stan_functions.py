"""The page of Stan's functions: every function and distribution of the library is on it."""

import re
from pathlib import Path

import pytest

from probmodel import ModelError, Stan
from probmodel.stan.library.stan_densities import DENSITIES

PAGE = (Path(__file__).parents[2] / "docs" / "stan-functions.md").read_text()
HEAD, TAIL = PAGE.split("\n## Functions\n")


def test_every_distribution_is_listed():
    assert re.findall(r"^\| `(\w+)` ", HEAD, re.MULTILINE) == sorted(DENSITIES)
    assert "| `std_normal` | number | none | [`Normal`](distributions.md#normal) | yes |" in HEAD
    assert "| `categorical` | whole number | vector | 1 + [`Categorical`]" in HEAD


@pytest.mark.parametrize(
    ("name", "takes"), re.findall(r"^\| `(\w+)` \| ([^|]+) \|", TAIL, re.MULTILINE)
)
def test_every_function_is_known(name, takes):
    """What is listed is never refused as a function that is not there."""
    arguments = "" if takes == "none" else "1, 2"
    message = ""
    try:
        Stan(f"transformed data {{ real x = {name}({arguments}); }}")()
    except ModelError as error:
        message = str(error)
    assert f"there is no function {name!r}" not in message


@pytest.mark.parametrize(
    "row",
    [
        "| `inv_logit` | numbers, or containers of them | element by element |",
        "| `choose` | numbers of data, or containers of them | element by element |",
        "| `quad_form` | matrix, matrix; or matrix, vector | a matrix; or a number |",
        "| `rep_matrix` | a container | elements in another place or shape |",
        "| `sort_asc` | data | of the argument's kind |",
        "| `pi` | none | a number |",
        "| `qr_thin` | a matrix | a tuple: `qr_thin_Q`, `qr_thin_R` |",
        "| `ode_rk45_tol` | a function, and what it takes | values at times, by `solve_ode` |",
    ],
)
def test_rows_say_what_functions_take(row):
    assert row in TAIL


def test_functions_that_are_not_there_are_refused():
    with pytest.raises(
        ModelError, match=r"no function 'inv_logits' here\. Did you mean 'inv_logit'"
    ):
        Stan("transformed data { real x = inv_logits(1); }")()
