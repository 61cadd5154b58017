"""What the reader of Stan programs says about texts that are none: where, and what it expected."""

import inspect
import sys

import pytest

from probmodel.errors import ModelError
from probmodel.stan.complaints import complaint
from probmodel.stan.syntax.cursor import MOST_NESTED
from probmodel.stan.syntax.nodes import Place
from probmodel.stan.syntax.parser import parse

# The place at fault is marked by ¦ in the text, which is taken out before it is read.
LOCAL = "a local variable cannot have"
CASES = [
    # semicolons, at the end of what lacks them
    ("data { int N¦\n}", "expected ';' behind the declaration of line 1, got '}'."),
    ("model {\n  x = 1¦ // one\n  y = 2; }", "expected ';' behind the assignment, got 'y'."),
    ("model { y ~ f(1)¦ }", "expected ';' behind '~ f(...)', got '}'."),
    ("model { target += 1¦ }", "expected ';' behind 'target += ...', got '}'."),
    ("model { f(1)¦ }", "expected ';' behind the call of 'f', got '}'."),
    ("model { print(1)¦ }", "expected ';' behind 'print(...)', got '}'."),
    ("model { break¦ }", "expected ';' behind 'break', got '}'."),
    ("model { continue¦ }", "expected ';' behind 'continue', got '}'."),
    ("model { return¦ }", "expected ';' behind 'return', got '}'."),
    ("model { return 1¦ }", "expected ';' behind 'return', got '}'."),
    # what other languages write
    ("model { if (a ¦and b) x = 1; }", "got 'and'; Stan writes '&&'."),
    ("model { x = a ¦or b; }", "got 'or'; Stan writes '||'."),
    ("model { if (a) { } ¦elif (b) { } }", "Stan has no 'elif': write 'else if'."),
    ("model { if (a) { } else ¦elseif (b) x = 1; }", "Stan has no 'elseif': write 'else if'."),
    ("model { x = a *¦* 2; }", "got '*'; Stan has no '**': a power is x ^ 2."),
    ("model { i++¦; }", "got ';'; Stan has no '++': to add one, write x += 1."),
    ("model { ¦--i; }", "Stan has no '--': write 'x -= 1;'."),
    # blocks
    (
        "¦modell { }",
        "expected a block, which a Stan program is made of, got 'modell'. Did you mean",
    ),
    ("¦transformed dat { }", "Did you mean 'transformed data'?"),
    ("model { } ¦laplace { }", "expected a block, got 'laplace'. Known: data, functions"),
    ("¦x = 1;", "expected a block, which a Stan program is made of, got 'x'."),
    ("¦3", "expected a block, which a Stan program is made of, got '3'."),
    ("model { } ¦}", "expected a block, got '}'. It closes more than was opened."),
    ("model { } ¦model { }", "the model block stands here a second time."),
    ("model { } ¦data { }", "the data block must stand before the model block."),
    ("¦transformed data ( )", "expected '{' behind 'transformed data', got '('."),
    ("data { } ¦model", "expected '{' behind 'model', got the end of the program."),
    ("data { } model ¦{ x = 1;", "this '{' is never closed."),
    ("functions ¦{ ", "this '{' is never closed."),
    ("data ¦{ int N;", "this '{' is never closed."),
    (
        "data {\n int N;\n¦model { }",
        "expected '}' before the model block: the '{' of line 1, column 6 is not closed.",
    ),
    (
        "model { if (a) {\n¦generated quantities { }",
        "expected '}' before the generated quantities block: the '{' of line 1, column 16",
    ),
    # blocks of declarations
    (
        "data { int N; ¦N = 1; }",
        "the data block takes only declarations, got 'N'; statements belong in the",
    ),
    ("parameters { ¦for (i in 1:2) { } }", "the parameters block takes only declarations"),
    ("parameters { real x; ¦x ~ f(); }", "belong in the transformed parameters and model blocks"),
    ("parameters { ¦x[1", "the parameters block takes only declarations"),
    ("data { int N ¦= 1; }", "a variable of this block gets its value from the data."),
    ("parameters { real x ¦= 1; }", "a variable of this block gets its value from the sampler."),
    # types
    ("data { ¦reel x; }", "'reel' is no type of Stan. Did you mean 'real'?"),
    ("data { ¦matix[2, 2] x; }", "'matix' is no type of Stan. Did you mean 'matrix'?"),
    ("data { ¦vektor<lower=0>[2] x; }", "'vektor' is no type of Stan. Did you mean 'vector'?"),
    ("model { ¦reel x; }", "'reel' is no type of Stan. Did you mean 'real'?"),
    ("model { ¦vektor[3] x; }", "'vektor' is no type of Stan. Did you mean 'vector'?"),
    ("model { ¦reel<lower=0> x; }", "'reel' is no type of Stan. Did you mean 'real'?"),
    ("data { array[2] ¦reel x; }", "'reel' is no type of Stan. Did you mean 'real'?"),
    ("data { array[2] ¦3 x; }", "expected a type, got '3'."),
    ("data { array ¦x; }", "expected '[' and the sizes of the array, got 'x'."),
    ("data { array[¦] real x; }", "expected a size, got ']'."),
    ("data { array[2] real x¦[3]; }", "this array has sizes behind 'array' already."),
    ("data { vector ¦x; }", "expected '[' and the size of 'vector', got 'x'."),
    ("data { vector¦[2, 3] x; }", "'vector' takes 1 size, got 2."),
    ("data { matrix¦[2] x; }", "'matrix' takes 2 sizes, got 1."),
    ("data { real¦[2] x; }", "'real' takes no sizes; an array is declared 'array[...] real name'."),
    ("data { tuple(real¦) x; }", "a tuple of one element has a comma behind it: 'tuple(real, )'"),
    ("data { tuple(real, real, ¦) x; }", "expected a type, got ')'."),
    ("data { tuple ¦x; }", "expected '(' and the types of the tuple's elements, got 'x'."),
    ("model { ¦real<lower=0> x; }", f"{LOCAL} bounds"),
    ("model { ¦simplex[2] x; }", f"{LOCAL} the constraint of 'simplex'"),
    ("model { tuple(real, tuple(int, ¦int<lower=0>)) x; }", f"{LOCAL} bounds"),
    ("transformed data { { ¦real<lower=0> x; } }", f"{LOCAL} bounds"),
    ("functions { void f() { ¦real<lower=0> x; } }", f"{LOCAL} bounds"),
    # bounds
    ("data { complex¦<lower=0> x; }", "'complex' takes no bounds, no offset and no multiplier."),
    ("data { real<¦low=0> x; }", "'multiplier', got 'low'. Did you mean 'lower'?"),
    ("data { int<¦offset=0> x; }", "expected 'lower' or 'upper', got 'offset'."),
    ("data { real<¦> x; }", "expected 'lower' or 'upper' or 'offset' or 'multiplier', got '>'."),
    ("data { real<lower=0, ¦lower=1> x; }", "'lower' stands here twice."),
    ("data { real<lower=0, ¦offset=1> x; }", "a type has bounds, or an offset and a multiplier"),
    ("data { real<lower ¦0> x; }", "expected '=' behind 'lower', got '0'."),
    ("data { real<lower=0 ¦x; }", "expected ',' or '>' behind a bound (comparisons"),
    ("data { real<lower=a ¦< b> x; }", "expected ',' or '>' behind a bound (comparisons"),
    (
        "data { real<lower=a ¦? b : c> x; }",
        "(comparisons and conditions need parentheses), got '?'",
    ),
    # names
    ("data { int ¦for; }", "'for' is a keyword of Stan, and not free as the name of a variable."),
    ("data { int ¦real; }", "'real' is a keyword of Stan"),
    ("data { int ¦x__; }", "'x__': names that end in two underscores are reserved in Stan."),
    ("data { int ¦_x; }", "'_x': a name begins with a letter in Stan."),
    ("data { int ¦2; }", "expected the name of a variable, got '2'."),
    ('data { int ¦"x"; }', 'expected the name of a variable, got "x".'),
    ("model { for (¦if in 1:2) { } }", "not free as the name of the variable of a loop."),
    ("functions { void ¦model() { } }", "not free as the name of a function."),
    ("functions { void f(int ¦in) { } }", "not free as the name of an argument."),
    # expressions
    ("model { x = ¦; }", "expected an expression, got ';'."),
    ("model { x = 1 + ¦for; }", "expected an expression, got 'for', a keyword."),
    ("model { x = ¦true; }", "Stan has no 'true': write 1."),
    ("model { x = ¦false; }", "Stan has no 'false': write 0."),
    ("model { x = ¦target; }", "'target' is read as 'target()' and added to by 'target += ...;'."),
    ("model { x = (1 ¦; }", "expected ')' for the '(' of line 1, column 13, got ';'."),
    ("model { x = ¦(1", "this '(' is never closed."),
    ("model { x = a[1¦); }", "expected ']' for the '[' of line 1, column 14, got ')'."),
    ("model { x = {1, 2¦; }", "expected '}' for the '{' of line 1, column 13, got ';'."),
    ("model { x = f(1 ¦2); }", "expected ')' for the '(' of line 1, column 14, got '2'."),
    ("model { x = f(a, b ¦| c); }", "expected ')' for the '(' of line 1, column 14, got '|'."),
    ("model { x = {¦}; }", "expected an expression, got '}'."),
    ("model { x = a ? b¦; }", "expected ':' of the condition's other case, got ';'."),
    ("model { x = ¦2147483648; }", "whole numbers go up to 2147483647 in Stan"),
    ("model { x = ¦" + "9" * 5000 + "; }", "whole numbers go up to 2147483647 in Stan"),
    ("model { x = ¦1e400; }", "this number is larger than any real number"),
    ("model { x = a¦.0; }", "elements of a tuple count from 1, got '.0'."),
    ('model { x = ¦"a"; }', "a text in quotes stands only in print, reject, fatal_error and"),
    (
        'model { printf(¦"a"); }',
        "'printf' takes no text in quotes; only print, reject, fatal_error",
    ),
    ('model { printf(¦"a"); }', "Did you mean 'print'?"),
    # statements
    ("model { if (a ¦= b) x = 1; }", "got '='; '==' compares."),
    ("model { if ¦a x = 1; }", "expected '(' and the condition of 'if', got 'a'."),
    ("model { while ¦a x = 1; }", "expected '(' and the condition of 'while', got 'a'."),
    ("model { ¦else x = 1; }", "'else' without an 'if' before it."),
    ("model { ¦in x; }", "expected a statement, got 'in', a keyword."),
    ("model { if (a) ¦}", "expected an expression, got '}'."),
    (
        "model { if (a) ¦real x; }",
        "a declaration that is a branch or the body of a loop needs brac",
    ),
    ("model { for ¦i in 1:2 { } }", "expected '(' and what the loop runs over, got 'i'."),
    ("model { for (i ¦= 1) { } }", "expected 'in' behind 'i', got '='; '==' compares."),
    ("model { x¦; }", "this expression does nothing: expected '=' or '~' behind it, got ';'."),
    ("model { x == 2¦; }", "this expression does nothing: expected '=' or '~' behind it, got ';'."),
    ("model { x ¦: 2; }", "expected '=' or '~' behind the expression that begins the statement"),
    ("model { real x ¦<- 2; }", "expected '=' before the value of a declaration, got '<-'."),
    ("model { ¦1 = 2; }", "nothing can be assigned to this; expected a variable, or an element of"),
    ("model { (a, ¦f(b)[1]) = 2; }", "nothing can be assigned to this"),
    ("model { ¦a' = 2; }", "nothing can be assigned to this"),
    ("model { ¦lp__ <- 2; }", "'lp__' is no variable; write 'target += ...;'."),
    ("model { target ¦= 2; }", "'target' is only added to: expected '+=', got '='."),
    ("model { y ~ ¦; }", "expected the name of a distribution, got ';'."),
    ("model { y ~ f¦; }", "expected '(' and the arguments of 'f', got ';'."),
    ("model { y ~ ¦f(a | b); }", "expected ',' between the arguments of a distribution, got '|'."),
    ("model { y ~ f(a) T[1¦]; }", "expected ',' between the bounds of a truncation, got ']'."),
    ("model { ¦print(a | b); }", "expected ',' between the arguments of 'print', got '|'."),
    ("model { print ¦a; }", "expected '(' and the arguments of 'print', got 'a'."),
    ('model { profile ¦"a" { } }', "expected '(' and a name in quotes, got \"a\"."),
    ("model { profile(¦a) { } }", "expected a name in quotes, got 'a'."),
    ('model { profile("a") ¦x = 1; }', "expected '{', got 'x'."),
    # functions
    (
        "functions { ¦reel f() { } }",
        "'reel' is no type of arguments and results. Did you mean 'real'",
    ),
    ("functions { ¦; }", "expected a type, got ';'."),
    ("functions { ¦simplex f() { } }", "'simplex' is no type of arguments and results: give 'vect"),
    ("functions { real¦<lower=0> f() { } }", "types of arguments and results have no bounds."),
    ("functions { void f(vector[¦2] x) { } }", "types of arguments and results have no sizes"),
    ("functions { void f(array ¦real x) { } }", "expected '[' and as many commas as the array has"),
    ("functions { void f(real x¦[2]) { } }", "an argument that is an array is declared 'array[] r"),
    ("functions { void f ¦{ } }", "expected '(' and the arguments of 'f', got '{'."),
    ("functions { void f(real x ¦real y) { } }", "expected ')' for the '(' of line 1, column 19"),
    ("functions { real f(real x) ¦return x; }", "expected '{' and the body of 'f', got 'return'"),
]


@pytest.mark.parametrize(("marked", "message"), CASES)
def test_complaints_point_at_what_is_wrong(marked, message):
    before, _, after = marked.partition("¦")
    with pytest.raises(ModelError) as caught:
        parse(before + after, file="a.stan")
    error = caught.value
    place = (error.location, error.values["column"])
    assert message in str(error)
    assert place == (("a.stan", before.count("\n") + 1), len(before) - (before.rfind("\n") + 1) + 1)


def test_the_line_is_shown_with_a_mark():
    with pytest.raises(ModelError) as caught:
        parse("model {\n\tx = 1 +;\n}", file="a.stan")
    assert str(caught.value) == (
        "a.stan:2: column 9: expected an expression, got ';'.\n    \tx = 1 +;\n    \t       ^"
    )


@pytest.mark.parametrize(
    "text",
    [
        "model { x = " + "(" * 10000 + "1" + ")" * 10000 + "; }",
        "model { x = " + "[" * 10000,
        "model { x = " + "f(" * 10000,
        "model { x = " + "a[" * 10000,
        "model { x = " + "-" * 10000 + "1; }",
        "model { x = " + "a ^ " * 10000 + "1; }",
        "model { x = " + "a ? b : " * 10000 + "1; }",
        "model { x = a" + "'" * 10000 + "; }",
        "model { x = a" + "[1]" * 10000 + "; }",
        "model " + "{" * 10000,
        "model { " + "if (a) " * 10000,
        "model { " + "for (a in b) " * 10000,
        "data { " + "tuple(" * 10000,
        "functions { void f(" + "tuple(" * 10000,
    ],
)
def test_deep_nesting_is_complained_about(text):
    with pytest.raises(
        ModelError, match=rf"nested more than {MOST_NESTED} levels|more than 100 ind"
    ):
        parse(text)


def test_some_nesting_is_fine():
    parse("model { x = " + "(" * 90 + "1" + ")" * 90 + "; }")
    parse("model " + "{" * 90 + "}" * 90)


def test_a_reader_with_little_room_left_complains():
    text = "model { x = " + "(" * 90 + "1" + ")" * 90 + "; }"

    def within(depth):
        return parse(text) if depth == 0 else within(depth - 1)

    with pytest.raises(ModelError, match="the program is nested too deeply here"):
        within(sys.getrecursionlimit() - len(inspect.stack()) - 150)


def test_long_lines_are_shown_in_part():
    sources = {"a.stan": "x" * 300 + "y" + "z" * 300}
    shown, mark = str(complaint("no", Place("a.stan", 1, 301), sources)).splitlines()[1:]
    assert shown == "    ..." + "x" * 50 + "y" + "z" * 49 + "..."
    assert shown[mark.index("^")] == "y"
    shown, mark = str(complaint("no", Place("a.stan", 1, 1), sources)).splitlines()[1:]
    assert (shown, mark) == ("    " + "x" * 100 + "...", "    ^")
    shown, mark = str(complaint("no", Place("a.stan", 1, 601), sources)).splitlines()[1:]
    assert shown[mark.index("^")] == "z"
    assert shown == "    ..." + "z" * 100


def test_long_words_are_named_in_part():
    with pytest.raises(ModelError, match=r"got 'a{60}\.\.\.'\.\n") as caught:
        parse("model { x = f(1 " + "a" * 100_000 + "); }")
    assert len(str(caught.value)) < 400


def test_characters_that_cannot_be_printed_are_not():
    sources = {"a.stan": "a\0b\ud800\u2028c"}
    assert str(complaint("no", Place("a.stan", 1, 1), sources)).splitlines()[1] == "    a�b��c"


def test_an_error_without_a_place_has_its_message_alone():
    assert str(complaint("no", None, {})) == "no"
    assert str(complaint("no", Place("b.stan", 3, 1), {})) == "b.stan:3: column 1: no"
