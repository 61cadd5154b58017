"""Words of the Stan language that have a meaning of their own."""

BLOCKS = (
    "functions", "data", "transformed data", "parameters", "transformed parameters", "model",
    "generated quantities",
)  # fmt: skip

# Numbers of sizes that types take in declarations: the fewest and the most.
SIZES = {
    "int": (0, 0),
    "real": (0, 0),
    "complex": (0, 0),
    "vector": (1, 1),
    "row_vector": (1, 1),
    "matrix": (2, 2),
    "complex_vector": (1, 1),
    "complex_row_vector": (1, 1),
    "complex_matrix": (2, 2),
    "simplex": (1, 1),
    "unit_vector": (1, 1),
    "sum_to_zero_vector": (1, 1),
    "sum_to_zero_matrix": (2, 2),
    "ordered": (1, 1),
    "positive_ordered": (1, 1),
    "cov_matrix": (1, 1),
    "corr_matrix": (1, 1),
    "cholesky_factor_cov": (1, 2),
    "cholesky_factor_corr": (1, 1),
    "row_stochastic_matrix": (2, 2),
    "column_stochastic_matrix": (2, 2),
}
TYPES = frozenset(SIZES) | {"tuple", "array"}
# Types of functions' arguments, which have neither sizes nor bounds.
UNSIZED = (
    "int", "real", "complex", "vector", "row_vector", "matrix", "complex_vector",
    "complex_row_vector", "complex_matrix",
)  # fmt: skip
BOUNDED = ("int", "real", "vector", "row_vector", "matrix")
BOUNDS = ("lower", "upper", "offset", "multiplier")
SAYING = ("print", "reject", "fatal_error")

_STATEMENTS = {"for", "in", "while", "if", "else", "break", "continue", "return", "profile"}
_BLOCK_WORDS = {
    "functions",
    "data",
    "transformed",
    "parameters",
    "model",
    "generated",
    "quantities",
}
_KEPT_FREE = {
    "repeat", "until", "then", "true", "false", "struct", "typedef", "export", "auto", "extern",
    "var", "static",
}  # fmt: skip

# Words that no variable and no function may be called.
KEYWORDS = _STATEMENTS | _BLOCK_WORDS | _KEPT_FREE | TYPES | set(SAYING) | {"void", "target"}

ASSIGNMENTS = {
    "=": "", "<-": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", ".*=": ".*", "./=": "./",
}  # fmt: skip

# How tightly infix operators bind, from 1; all of these associate to the left.
INFIX = {
    "||": 1,
    "&&": 2,
    "==": 3, "!=": 3,
    "<": 4, "<=": 4, ">": 4, ">=": 4,
    "+": 5, "-": 5,
    "*": 6, "/": 6, "%": 6, ".*": 6, "./": 6,
    "%/%": 7, "\\": 7,
}  # fmt: skip
SUM = 5  # bounds take operators from here on, for '>' ends them
PREFIX = ("!", "-", "+")  # bind tighter than those, and less tightly than powers
POWERS = ("^", ".^")  # associate to the right
