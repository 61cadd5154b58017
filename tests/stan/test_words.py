"""Words of Stan programs: where they begin and end, and what is none."""

import pytest

from probmodel.errors import ModelError
from probmodel.stan.syntax.words import words_of


def kinds(text):
    return [(word.kind, word.text) for word in words_of(text, "a.stan", {"a.stan": text})]


def texts(text):
    return [word.text for word in words_of(text, "a.stan", {"a.stan": text})]


@pytest.mark.parametrize(
    "text",
    [
        "+ - * / % %/% \\ ^ .^ .* ./ ' ! && || == != < <= > >= ~ ? : | , ; ( ) [ ] { }",
        "= += -= *= /= .*= ./= <-",
    ],
)
def test_signs_are_words(text):
    assert kinds(text) == [("sign", sign) for sign in text.split()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a%/%b", ["a", "%/%", "b"]),
        ("a.*b", ["a", ".*", "b"]),
        ("a.*=b", ["a", ".*=", "b"]),
        ("a'*b'", ["a", "'", "*", "b", "'"]),
        ("1:N", ["1", ":", "N"]),
        ("x[1:]", ["x", "[", "1", ":", "]"]),
        ("a<=b", ["a", "<=", "b"]),
        ("a<-b", ["a", "<-", "b"]),
        ("!a||b", ["!", "a", "||", "b"]),
    ],
)
def test_words_need_no_spaces(text, expected):
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", "integer"),
        ("12_345", "integer"),
        ("1.", "real"),
        ("1.5", "real"),
        (".5e3", "real"),
        ("1e-3", "real"),
        ("1.5E+10", "real"),
        ("1_0.2_5e1_0", "real"),
        (".5", "field"),
        ("2i", "imaginary"),
        ("2.5i", "imaginary"),
        (".5i", "imaginary"),
        ("1e3i", "imaginary"),
        ("x_1", "name"),
        ('"a // b # c"', "text"),
        ('"é"', "text"),
    ],
)
def test_numbers_names_and_texts(text, kind):
    assert kinds(text) == [(kind, text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.1.2", [("name", "x"), ("field", ".1"), ("field", ".2")]),
        ("x.1.*y", [("name", "x"), ("field", ".1"), ("sign", ".*"), ("name", "y")]),
        ("1.*y", [("real", "1."), ("sign", "*"), ("name", "y")]),
        (
            "f(x).2",
            [("name", "f"), *[("sign", "("), ("name", "x"), ("sign", ")")], ("field", ".2")],
        ),
    ],
)
def test_dots_of_numbers_and_of_tuples(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a // b ; c\nd",
        "a # b ; c\nd",
        "a /* b\n c * / */d",
        "a/**/ d",
        "a #included here\n d",
        "a\t\f\n\n  d // é \0 \u2028 \x85 end",
    ],
)
def test_comments_and_spaces_are_left_out(text):
    assert texts(text) == ["a", "d"]


def test_comments_do_not_nest():
    assert texts("/* /* */ a */ b") == ["a", "*", "/", "b"]


def test_places_count_from_one():
    text = "a\n\tbb /* 1\n 2\n*/ c\n/* */  d"
    found = words_of(text, "a.stan", {})
    assert [(word.text, word.place.line, word.place.column) for word in found] == [
        ("a", 1, 1),
        ("bb", 2, 2),
        ("c", 4, 4),
        ("d", 5, 8),
    ]
    assert {word.place.file for word in found} == {"a.stan"}
    assert found[1].end == ("a.stan", 2, 4)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a\n /* b\n\n", 2, 2, "this comment is never closed: expected '*/'"),
        ('a\n "b\n"', 2, 2, "this text is never closed: expected '\"' before the end of the line"),
        ("a = 2x;", 1, 5, "'2x' is neither a number nor a name"),
        ("a = 1.5_;", 1, 5, "'1.5_' is neither a number nor a name"),
        ("β = 1;", 1, 1, "'β' is no name in Stan: names are made of the letters a-z"),
        ("a & b", 1, 3, "'&' has no meaning in Stan; '&&' is the logical and"),
        ("a.b", 1, 2, "'.' has no meaning in Stan; names have no dots in Stan"),
        ("a \0", 1, 3, r"the character '\x00' has no meaning in Stan"),
        ("a @ b", 1, 3, "the character '@' has no meaning in Stan"),
        ("a “b”", 1, 3, r"the character '\u201c' has no meaning in Stan"),
        ("a \ud800", 1, 3, r"the character '\ud800' has no meaning in Stan"),
    ],
)
def test_what_is_no_word_is_pointed_at(text, line, column, message):
    with pytest.raises(ModelError) as caught:
        texts(text)
    assert caught.value.location == ("a.stan", line)
    assert caught.value.values["column"] == column
    assert message in str(caught.value)
