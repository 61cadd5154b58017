"""R's dump format: what is read, and what is said of what is not."""

import numpy as np
import pytest

from probmodel import DataError, read_data


def read(tmp_path, text, suffix=".data.R"):
    path = tmp_path / f"d{suffix}"
    path.write_text(text)
    return read_data(path)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ("5L", 5),
        ("-5", -5),
        ("- 5", -5),
        ("+5", 5),
        ("0x1F", 31),
        ("2.5", 2.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e5", 1e5),
        ("1.5E-3", 1.5e-3),
        ("1e5L", 100000),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
        ("NaN", np.nan),
        ("NA", np.nan),
        ("NA_real_", np.nan),
        ("Inf", np.inf),
        ("-Inf", -np.inf),
        ("TRUE", 1),
        ("F", 0),
        ("(5)", 5),
        ("c(5)", 5),
        ("c(1, 2, 3)", [1, 2, 3]),
        ("c(1, 2.5, 3)", [1.0, 2.5, 3.0]),
        ("c(1L,-2L,\n  +3L)", [1, -2, 3]),
        ("c(1, # one\n 2)", [1, 2]),
        ("c(a = 1, 'b c' = 2)", [1, 2]),
        ("c(1, NA, Inf)", [1.0, np.nan, np.inf]),
        ("c(TRUE, FALSE)", [1, 0]),
        ("c()", []),
        ("NULL", []),
        ("c(1:3, 7, c(8, 9))", [1, 2, 3, 7, 8, 9]),
        ("c(1, 2L, 3e0)", [1.0, 2.0, 3.0]),
        ("1:4", [1, 2, 3, 4]),
        ("3:1", [3, 2, 1]),
        ("-1:1", [-1, 0, 1]),
        ("-(1:2)", [-1, -2]),
        ("2:2", 2),
        ("1:c(3)", [1, 2, 3]),
        ("integer(0)", []),
        ("double(0)", []),
        ("numeric()", []),
        ("numeric(3)", [0.0, 0.0, 0.0]),
        ("integer(length = 2)", [0, 0]),
        ("rep(0.5, 3)", [0.5, 0.5, 0.5]),
        ("rep(c(1, 2), times = 2)", [1, 2, 1, 2]),
        ("rep(c(1, 2), each = 2)", [1, 1, 2, 2]),
        ("rep(1, 0)", []),
        ("structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L))", [[1, 3, 5], [2, 4, 6]]),
        ("structure(.Data = 1:2, .Dim = c(1, 2))", [[1, 2]]),
        ("structure(1:2, dim = 2L)", [1, 2]),
        ("structure(5, .Dim = 1L)", [5]),
        ("structure(c(1, 2), .Names = c('a', 'b'))", [1, 2]),
        ("structure(1:4, .Dim = c(2L, 2L), .Dimnames = list(NULL, c('(', ')')))", [[1, 3], [2, 4]]),
        ("structure(integer(0), .Dim = c(0L, 3L))", np.zeros((0, 3))),
        ("matrix(1:6, nrow = 2, ncol = 3, byrow = TRUE)", [[1, 2, 3], [4, 5, 6]]),
        ("matrix(1:6, 2)", [[1, 3, 5], [2, 4, 6]]),
        ("matrix(1:6, ncol = 2)", [[1, 4], [2, 5], [3, 6]]),
        ("matrix(1:2)", [[1], [2]]),
        ("matrix(0, 2, 2)", [[0, 0], [0, 0]]),
        ("array(1:8, dim = c(2, 2, 2))", np.arange(1, 9).reshape((2, 2, 2), order="F")),
        ("array(1:3)", [1, 2, 3]),
        ("as.integer(c(1.0, 2.0))", [1, 2]),
        ("as.integer(c(NA, 1))", [np.nan, 1]),
        ("as.numeric(3)", 3),
        ("as.vector(c(1, 2))", [1, 2]),
        ("c('a', \"b\")", ["a", "b"]),
    ],
)
def test_values(tmp_path, written, value):
    found = read(tmp_path, f"x <- {written}\n")["x"]
    assert np.shape(found) == np.shape(value)
    np.testing.assert_array_equal(found, value)
    if np.size(value):
        assert np.asarray(found).dtype.kind == np.asarray(value).dtype.kind


@pytest.mark.parametrize("suffix", [".R", ".r", ".data.R", ".Rdump", ".dump"])
def test_assignments(tmp_path, suffix):
    text = """# comment
N <- 5; "K" <- 2
'a.b' = 3 ; ;
`c d` <-
  c(1,
    2)
.x_1 <<- 4 # the end"""
    found = read(tmp_path, text, suffix)
    assert {name: np.asarray(v).tolist() for name, v in found.items()} == {
        "N": 5,
        "K": 2,
        "a.b": 3,
        "c d": [1, 2],
        ".x_1": 4,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("N <- 5\nx <- 2 * 3", "line 2: expected an assignment such as N <- 5, found '*'"),
        ("N 5", "line 1: expected '<-' after 'N', found '5'"),
        ("N <-", "expected a number or an array, found the end of the file"),
        ("N <- y", "found 'y'"),
        ("\n\nN <- c(1, 2", "line 3: expected ',' between the arguments of c(...), found the end"),
        ("N <- c(1 2)", "expected ',' between the arguments of c(...), found '2'"),
        ("N <- c(1,,2)", "found ','"),
        ("N <- (1", "expected ')' after a value"),
        ("N <- 1; N <- 2", "'N' is there more than once"),
        ("x <- list(1, 2)", "list(...) is not read here"),
        ("x <- rnorm(3)", "rnorm(...) is not read here"),
        ("x <- c('a', 1)", "both numbers and text"),
        ("x <- -'a'", "a number after '-'"),
        ("x <- 1:2.5", "an end of a range must be a whole number"),
        ("x <- 1:NA", "an end of a range must be a whole number"),
        ("x <- 1:1e15", "the limit"),
        ("x <- numeric(1e15)", "the limit"),
        ("x <- rep(1:1000, 1e12)", "the limit"),
        ("x <- matrix(0, 1e8, 1e8)", "the limit"),
        ("x <- numeric(-1)", "a length must not be negative"),
        ("x <- rep(1, -1)", "times of rep must not be negative"),
        ("x <- rep(times = 2)", "what is to be repeated"),
        ("x <- rep(1, 2, 3, 4)", "rep(...) takes x, times, each"),
        ("x <- rep(1, len = 3)", "'len' is none of them"),
        ("x <- structure(1:5, .Dim = c(2L, 3L))", "5 elements do not fill an array of 2 by 3"),
        ("x <- matrix(1:5, 2)", "5 elements do not fill an array of 2 by 3"),
        ("x <- structure(1:2, .Label = c('a', 'b'), class = 'factor')", "it is a factor"),
        ("x <- structure()", "structure(...) takes an array first"),
        ("x <- structure(1:2, .Names = c('a'", "expected ')'"),
        ("x <- " + "(" * 5000, "nested too deeply"),
        ("x <- 1 ?", "found '?'"),
    ],
)
def test_what_is_no_dump(tmp_path, text, said):
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert "d.data.R" in str(caught.value)


VALID = """# counts by site
N <- 4L
"K" <- 2; `y` <- c(3, -1, NA, 2.5e-1)
x <- structure(c(1, 2, 3, 4, 5, 6, 7, 8), .Dim = c(4L, 2L), .Dimnames = list(NULL, c("a", "b")))
m = matrix(c(1:5, 6), nrow = 2, ncol = 3, byrow = TRUE)
z <- rep(0, 5)
e <- integer(0)
a <- array(1:8, dim = c(2, 2, 2))
"""


def test_damaged_files_are_read_or_refused(tmp_path):
    rng = np.random.default_rng(5)
    signs = list("()[]c,:;-<=#\"`'\\ \n09.eLNAT\0é")
    refused = 0
    for _ in range(300):
        text = list(VALID)
        for _ in range(rng.integers(1, 4)):
            at, kind = rng.integers(len(text)), rng.integers(3)
            sign = signs[rng.integers(len(signs))]
            if kind == 0:
                text[at] = sign
            elif kind == 1:
                text.insert(at, sign)
            else:
                del text[at : at + rng.integers(1, 12)]
        try:
            read(tmp_path, "".join(text))
        except DataError:
            refused += 1
    assert 50 < refused < 300


def test_tuples_of_json(tmp_path):
    (tmp_path / "d.json").write_text(
        '{"t": {"1": 3, "2": [1.5, 2], "3": {"1": 1, "2": [[1], [2]]}},'
        ' "u": [[{"1": 1, "2": [1, 2]}], [{"1": 2, "2": [3, 4]}]], "e": [[], []]}'
    )
    found = read_data(tmp_path / "d.json")
    assert found["t"]["1"] == 3
    np.testing.assert_array_equal(found["t"]["2"], [1.5, 2])
    np.testing.assert_array_equal(found["t"]["3"]["2"], [[1], [2]])
    assert found["u"][1][0]["1"] == 2
    np.testing.assert_array_equal(found["u"][1][0]["2"], [3, 4])
    assert found["e"].shape == (2, 0)
