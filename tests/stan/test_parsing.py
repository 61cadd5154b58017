"""Programs of the Stan language, and the trees that they make."""

from dataclasses import fields

import pytest

from probmodel.stan.syntax.nodes import Node
from probmodel.stan.syntax.parser import parse


def plain(part):
    """Return a tree as tuples, without places; names and numbers as themselves."""
    if isinstance(part, Node):
        values = [plain(getattr(part, f.name)) for f in fields(part) if f.name != "place"]
        kind = type(part).__name__
        return values[0] if kind in {"Name", "Number"} else (kind, *values)
    if isinstance(part, tuple):
        return tuple(map(plain, part))
    return {key: plain(value) for key, value in part.items()} if isinstance(part, dict) else part


def infixed(part):
    """Return an expression with all its parentheses."""
    part = part if isinstance(part, tuple) else (part,)
    match part:
        case ("Binary", operator, left, right):
            return f"({infixed(left)}{operator}{infixed(right)})"
        case ("Unary", "'", operand):
            return f"({infixed(operand)}')"
        case ("Unary", operator, operand):
            return f"({operator}{infixed(operand)})"
        case ("Ternary", condition, then, otherwise):
            return f"({infixed(condition)}?{infixed(then)}:{infixed(otherwise)})"
        case ("Index", base, indices):
            return f"({infixed(base)}[{','.join(map(infixed, indices))}])"
        case ("Field", base, position):
            return f"({infixed(base)}.{position})"
        case ("Call", name, args, _):
            return f"{name}({','.join(map(infixed, args))})"
        case (value,):
            return str(value)
    raise AssertionError(part)


def expression(text):
    (statement,) = parse(f"model {{ x = {text}; }}")[0].blocks["model"]
    return plain(statement.value)


def statements(text, block="model"):
    return plain(parse(f"{block} {{ {text} }}")[0].blocks[block])


def statement(text):
    (found,) = statements(text)
    return found


def declared(text, block="parameters"):
    """Return what a declaration says: its type without the word for it, its name, its value."""
    (found,) = statements(text, block)
    _, (_, *type_), name, value = found
    return type_, name, value


# -- expressions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ? b : c ? d : e", "(a?b:(c?d:e))"),
        ("a ? b ? c : d : e", "(a?(b?c:d):e)"),
        ("a || b ? c : d", "((a||b)?c:d)"),
        ("a || b && c || d", "((a||(b&&c))||d)"),
        ("a && b == c && d != e", "((a&&(b==c))&&(d!=e))"),
        ("a == b < c", "(a==(b<c))"),
        ("a < b == c >= d", "((a<b)==(c>=d))"),
        ("a <= b > c", "((a<=b)>c)"),
        ("a < b + c - d", "(a<((b+c)-d))"),
        ("a + b * c - d / e % f", "((a+(b*c))-((d/e)%f))"),
        ("a .* b ./ c * d", "(((a.*b)./c)*d)"),
        ("a * b \\ c", "(a*(b\\c))"),
        ("a / b %/% c \\ d", "(a/((b%/%c)\\d))"),
        ("-a * b", "((-a)*b)"),
        ("-a \\ -b", "((-a)\\(-b))"),
        ("!a && !b == c", "((!a)&&((!b)==c))"),
        ("a - -b + +c", "((a-(-b))+(+c))"),
        ("- - !a", "(-(-(!a)))"),
        ("-a ^ b", "(-(a^b))"),
        ("a ^ b ^ c .^ d", "(a^(b^(c.^d)))"),
        ("a ^ -b ^ c * d", "((a^(-(b^c)))*d)"),
        ("a ^ !b", "(a^(!b))"),
        ("-a'", "(-(a'))"),
        ("a' ^ b' * c'", "(((a')^(b'))*(c'))"),
        ("a''", "((a')')"),
        ("a[1]'[2]", "(((a[1])')[2])"),
        ("-a[1] ^ 2", "(-((a[1])^2))"),
        ("(a + b) * c", "((a+b)*c)"),
        ("(a + b)'[c]", "(((a+b)')[c])"),
        ("f(a)[1]'", "((f(a)[1])')"),
        ("a.1.2[3].4'", "(((((a.1).2)[3]).4)')"),
        ("f(a).2", "(f(a).2)"),
        ("a < -b", "(a<(-b))"),
        ("a<-b", "(a<(-b))"),
        ("f(a<-b<-c)", "f(((a<(-b))<(-c)))"),
    ],
)
def test_operators_bind_as_in_the_reference_manual(text, expected):
    assert infixed(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7),
        ("1_000", 1000),
        ("007", 7),
        ("2147483647", 2**31 - 1),
        ("1.", 1.0),
        (".5", 0.5),
        ("1_0e-1_0", 1e-9),
        ("2i", 2j),
        ("2.5e1i", 25j),
    ],
)
def test_numbers(text, expected):
    found = expression(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f()", ("Call", "f", (), False)),
        ("f(a, 1)", ("Call", "f", ("a", 1), False)),
        ("f(a | b, c)", ("Call", "f", ("a", "b", "c"), True)),
        ("f(a | )", ("Call", "f", ("a",), True)),
        ("f(a || b | c)", ("Call", "f", (("Binary", "||", "a", "b"), "c"), True)),
        ("f_lpdf(a, b)", ("Call", "f_lpdf", ("a", "b"), False)),
        ("target()", ("Call", "target", (), False)),
        ("get_lp()", ("Call", "get_lp", (), False)),
        ("{a, {b}}", ("ArrayOf", ("a", ("ArrayOf", ("b",))))),
        ("[a, 1]", ("RowOf", ("a", 1))),
        ("[]", ("RowOf", ())),
        ("[[a], [b]]", ("RowOf", (("RowOf", ("a",)), ("RowOf", ("b",))))),
        ("(a, (1, b))", ("TupleOf", ("a", ("TupleOf", (1, "b"))))),
        ("((a))", "a"),
        ("T + offset", ("Binary", "+", "T", "offset")),
    ],
)
def test_calls_and_containers(text, expected):
    assert expression(text) == expected


WHOLE = ("Slice", None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a[1]", (1,)),
        ("a[1, b]", (1, "b")),
        ("a[]", (WHOLE,)),
        ("a[:]", (WHOLE,)),
        ("a[, 2]", (WHOLE, 2)),
        ("a[2, ]", (2, WHOLE)),
        ("a[1:, :b, 1:b]", (("Slice", 1, None), ("Slice", None, "b"), ("Slice", 1, "b"))),
        ("a[b ? c : d : e]", (("Slice", ("Ternary", "b", "c", "d"), "e"),)),
        ("a[{1, 2}]", (("ArrayOf", (1, 2)),)),
    ],
)
def test_indices(text, expected):
    assert expression(text) == ("Index", "a", expected)


# -- declarations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "sizes"),
    [
        ("int", "int", ()),
        ("real", "real", ()),
        ("complex", "complex", ()),
        ("vector[K]", "vector", ("K",)),
        ("row_vector[K]", "row_vector", ("K",)),
        ("matrix[2, K]", "matrix", (2, "K")),
        ("complex_vector[K]", "complex_vector", ("K",)),
        ("complex_row_vector[K]", "complex_row_vector", ("K",)),
        ("complex_matrix[2, K]", "complex_matrix", (2, "K")),
        ("simplex[K]", "simplex", ("K",)),
        ("unit_vector[K]", "unit_vector", ("K",)),
        ("sum_to_zero_vector[K]", "sum_to_zero_vector", ("K",)),
        ("sum_to_zero_matrix[2, K]", "sum_to_zero_matrix", (2, "K")),
        ("ordered[K]", "ordered", ("K",)),
        ("positive_ordered[K]", "positive_ordered", ("K",)),
        ("cov_matrix[K]", "cov_matrix", ("K",)),
        ("corr_matrix[K]", "corr_matrix", ("K",)),
        ("cholesky_factor_cov[K]", "cholesky_factor_cov", ("K",)),
        ("cholesky_factor_cov[2, K]", "cholesky_factor_cov", (2, "K")),
        ("cholesky_factor_corr[K]", "cholesky_factor_corr", ("K",)),
        ("row_stochastic_matrix[2, K]", "row_stochastic_matrix", (2, "K")),
        ("column_stochastic_matrix[2, K]", "column_stochastic_matrix", (2, "K")),
    ],
)
def test_types_and_arrays_of_them(text, kind, sizes):
    assert declared(f"{text} x;") == ([kind, sizes, (), {}, ()], "x", None)
    array = [kind, sizes, ("N", 3), {}, ()]
    assert declared(f"array[N, 3] {text} x;") == (array, "x", None)
    assert declared(f"{text} x[N, 3];") == (array, "x", None)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("int<lower=0, upper=N>", {"lower": 0, "upper": "N"}),
        ("real<upper=1,lower=0>", {"upper": 1, "lower": 0}),
        ("vector<lower=a + b * c>[K]", None),
        ("row_vector<upper=f(a > b)>[K]", None),
        ("matrix<lower=(a > b)>[K, K]", None),
        ("vector<offset=m, multiplier=s>[K]", {"offset": "m", "multiplier": "s"}),
        ("real<multiplier=s[1 < 2]>", None),
        ("real<offset=-m'>", None),
    ],
)
def test_bounds(text, bounds):
    (_, _, _, found, _), name, _ = declared(f"{text} x;")
    assert name == "x"
    if bounds is not None:
        assert found == bounds


def test_bounds_end_at_an_angle():
    (_, _, _, bounds, _), _, value = declared(
        "real<lower=a - 1> x = b > c;", "generated quantities"
    )
    assert bounds == {"lower": ("Binary", "-", "a", 1)}
    assert value == ("Binary", ">", "b", "c")


def test_tuples_have_types_with_bounds_and_sizes():
    text = "array[2] tuple(real<lower=0>, array[N] int, tuple(vector[K], simplex[K])) x;"
    (kind, _, array, _, items), _, _ = declared(text)
    assert (kind, array) == ("tuple", (2,))
    assert [item[1] for item in items] == ["real", "int", "tuple"]
    assert items[0][4] == {"lower": 0}
    assert items[1][3] == ("N",)
    assert [item[1] for item in items[2][5]] == ["vector", "simplex"]


def test_a_declaration_of_several_names_is_one_for_each():
    found = statements("real a, b = 2, c[3]; int d;", "transformed data")
    assert [(d[1][1], d[1][3], *d[2:]) for d in found] == [
        ("real", (), "a", None),
        ("real", (), "b", 2),
        ("real", (3,), "c", None),
        ("int", (), "d", None),
    ]


def test_a_declaration_may_have_a_value():
    assert declared("array[2] real x = {1, a};", "model")[2] == ("ArrayOf", (1, "a"))
    assert declared("real x[2] = {1, a};", "model")[2] == ("ArrayOf", (1, "a"))


# -- statements ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1;", ("Assign", "a", "", 1)),
        ("a <- 1;", ("Assign", "a", "", 1)),
        ("a[1, 2:] += b;", ("Assign", ("Index", "a", (1, ("Slice", 2, None))), "+", "b")),
        ("a -= b;", ("Assign", "a", "-", "b")),
        ("a *= b;", ("Assign", "a", "*", "b")),
        ("a /= b;", ("Assign", "a", "/", "b")),
        ("a .*= b;", ("Assign", "a", ".*", "b")),
        ("a ./= b;", ("Assign", "a", "./", "b")),
        ("a.2[1] = b;", ("Assign", ("Index", ("Field", "a", 2), (1,)), "", "b")),
        ("(a, b[1]) = f(c);", ("Assign", ("TupleOf", ("a", ("Index", "b", (1,)))), "",
                               ("Call", "f", ("c",), False))),
        ("target += a;", ("Target", "a", False)),
        ("jacobian += a;", ("Target", "a", True)),
        ("jacobian = a;", ("Assign", "jacobian", "", "a")),
        ("increment_log_prob(a);", ("Target", "a", False)),
        ("y ~ f();", ("Tilde", "y", "f", (), False, None, None)),
        ("y ~ f(a, 1) T[a, b];", ("Tilde", "y", "f", ("a", 1), True, "a", "b")),
        ("y ~ f(a) T[a, ];", ("Tilde", "y", "f", ("a",), True, "a", None)),
        ("y ~ f(a) T[, b];", ("Tilde", "y", "f", ("a",), True, None, "b")),
        ("y ~ f(a) T[,];", ("Tilde", "y", "f", ("a",), True, None, None)),
        ("-y ^ 2 + 1 ~ f();", ("Tilde", ("Binary", "+", ("Unary", "-", ("Binary", "^", "y", 2)), 1),
                               "f", (), False, None, None)),
        ("{a, b} ~ f();", ("Tilde", ("ArrayOf", ("a", "b")), "f", (), False, None, None)),
        ("target() ~ f();", ("Tilde", ("Call", "target", (), False), "f", (), False, None, None)),
        ("f(a);", ("Do", ("Call", "f", ("a",), False))),
        ("break;", ("Break",)),
        ("continue;", ("Continue",)),
        ("return;", ("Return", None)),
        ("return a;", ("Return", "a")),
        ('print("a = ", a);', ("Say", "print", (("Text", "a = "), "a"))),
        ('reject("a");', ("Say", "reject", (("Text", "a"),))),
        ("fatal_error();", ("Say", "fatal_error", ())),
        ("{ a = 1; { } }", ("Block", (("Assign", "a", "", 1), ("Block", ())))),
        ('profile("p") { a = 1; }', ("Block", (("Assign", "a", "", 1),))),
    ],
)  # fmt: skip
def test_simple_statements(text, expected):
    assert statement(text) == expected


A, B, C = (("Assign", name, "", 1) for name in "abc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (p) a = 1;", ("If", "p", A, None)),
        ("if (p) a = 1; else b = 1;", ("If", "p", A, B)),
        ("if (p) a = 1; else if (q) b = 1; else c = 1;", ("If", "p", A, ("If", "q", B, C))),
        ("if (p) if (q) a = 1; else b = 1;", ("If", "p", ("If", "q", A, B), None)),
        ("if (p) ;", ("If", "p", ("Block", ()), None)),
        ("if (p < -1) { a = 1; }",
         ("If", ("Binary", "<", "p", ("Unary", "-", 1)), ("Block", (A,)), None)),
        ("for (i in 1:N) a = 1;", ("For", "i", 1, "N", A)),
        ("for (i in p ? 1 : 2 : N) a = 1;", ("For", "i", ("Ternary", "p", 1, 2), "N", A)),
        ("for (x in f(y)) { a = 1; b = 1; }",
         ("ForEach", "x", ("Call", "f", ("y",), False), ("Block", (A, B)))),
        ("while (p) a = 1;", ("While", "p", A)),
    ],
)  # fmt: skip
def test_statements_with_statements_in_them(text, expected):
    assert statement(text) == expected


def test_declarations_and_statements_may_be_mixed():
    found = statements("a = 1; real x; ;; b = 1; { int n; }")
    assert [part[0] for part in found] == ["Assign", "Declare", "Assign", "Block"]


# -- functions and blocks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "axes"),
    [
        ("int", "int", 0),
        ("array[] real", "real", 1),
        ("array[,,] complex", "complex", 3),
        ("real[]", "real", 1),
        ("real[,]", "real", 2),
        ("vector[]", "vector", 1),
        ("matrix", "matrix", 0),
        ("array[] complex_matrix", "complex_matrix", 1),
    ],
)
def test_types_of_arguments_and_results(text, kind, axes):
    (function,) = parse(f"functions {{ {text} f({text} a, data {text} b); }}")[0].functions
    assert function.body is None
    one, two = function.arguments
    assert [one.name, two.name] == ["a", "b"]
    assert [one.data, two.data] == [False, True]
    for type_ in (function.returns, one.type, two.type):
        assert (type_.kind, type_.array, type_.sizes) == (kind, (None,) * axes, ())


def test_tuples_may_be_arguments():
    text = "functions { tuple(real, array[] int) f(array[] tuple(real, tuple(int, vector)) a); }"
    (function,) = parse(text)[0].functions
    assert [item.kind for item in function.returns.items] == ["real", "int"]
    (argument,) = function.arguments
    assert argument.type.array == (None,)
    assert argument.type.items[1].items[1].kind == "vector"


def test_functions_are_declared_defined_and_overloaded():
    program, _ = parse("""
    functions {
      void f_lp(real x);
      void f_lp(real x) { target += x; }
      real f(real x) { return x; }
      real f(vector x) { return sum(x); }
      real g_lpdf(real y, data real mu) { vector[2] z; return 0; }
    }
    """)
    found = program.functions
    assert [f.name for f in found] == ["f_lp", "f_lp", "f", "f", "g_lpdf"]
    assert [f.returns.kind for f in found] == ["void", "void", "real", "real", "real"]
    assert [f.body is None for f in found] == [True, False, False, False, False]
    assert program.blocks == {}


def test_a_program_has_the_blocks_that_are_there():
    names = ["data", "transformed data", "parameters", "transformed parameters", "model"]
    names.append("generated quantities")
    text = "functions { }\n" + "\n".join(f"{name} {{ }}" for name in names)
    program, sources = parse(text)
    assert list(program.blocks) == names
    assert set(program.blocks.values()) == {()}
    assert sources == {"<stan>": text}
    assert list(parse("parameters { }\n transformed\n parameters{}")[0].blocks) == [
        "parameters",
        "transformed parameters",
    ]
    assert parse("")[0].blocks == {}
    assert parse("model{}", file="b.stan")[0].place == ("b.stan", 1, 1)


def test_places_point_at_what_messages_are_about():
    program, _ = parse("model {\n  real  x = a + b[1];\n  y ~ f(-c, 1);\n}")
    declaration, tilde = program.blocks["model"]
    assert declaration.place[1:] == (2, 9)  # the name
    assert declaration.type.place[1:] == (2, 3)
    assert declaration.value.place[1:] == (2, 15)  # the operator
    assert declaration.value.right.place[1:] == (2, 17)
    assert tilde.place[1:] == (3, 3)
    assert tilde.args[0].place[1:] == (3, 9)


OLD = """
# a model of long ago
data {
  int<lower=0> N;   # how many
  real y[N];
  vector[2] z[N, 3];
}
transformed data {
  real m;
  m <- mean(y);
}
parameters { real mu; real<lower=0> sigma[2]; }
model {
  real lp;
  for (n in 1:N)
    increment_log_prob(normal_log(y[n], mu, sigma[1]));
  lp <- if_else(mu<-1, 1, 0);
  lp_ <- get_lp();
}
"""


def test_programs_of_old_stan_are_read():
    blocks = parse(OLD)[0].blocks
    assert [d.type.array != () for d in blocks["data"]] == [False, True, True]
    assert plain(blocks["transformed data"][1])[0] == "Assign"
    assert plain(blocks["model"][1].body)[0] == "Target"
