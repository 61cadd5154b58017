"""Which entry of the tables a call means, by the number and the kinds of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from probmodel.stan.stan_values import Value

Values = Sequence[Value]

# Functions that do what operators of two operands do; with one argument, what those of one do.
OPERATORS: dict[str, str] = {
    "add": "+",
    "plus": "+",
    "subtract": "-",
    "minus": "-",
    "multiply": "*",
    "divide": "/",
    "elt_multiply": ".*",
    "elt_divide": "./",
    "modulus": "%",
}
# Functions that return a tuple, and those that return its elements.
TUPLES: dict[str, tuple[str, ...]] = {
    "qr": ("qr_Q", "qr_R"),
    "qr_thin": ("qr_thin_Q", "qr_thin_R"),
    "svd": ("svd_U", "singular_values", "svd_V"),
    "eigendecompose_sym": ("eigenvectors_sym", "eigenvalues_sym"),
    "eigendecompose": ("eigenvectors", "eigenvalues"),
    "complex_schur_decompose": ("complex_schur_decompose_u", "complex_schur_decompose_t"),
    "csr_extract": ("csr_extract_w", "csr_extract_v", "csr_extract_u"),
}
_NUMBERS = ("int", "real")


def _by_kind(argument: int, *kinds: str) -> Callable[[str, Values], str]:
    """Tell meanings apart by the kind of an argument; others have the plain name."""

    def choose(name: str, values: Values) -> str:
        kind = values[argument].kind
        return f"{name}:{kind}" if kind in kinds else name

    return choose


def _by_count(name: str, values: Values) -> str:
    """Tell functions of two numbers from those of one container."""
    return f"{name}:numbers" if len(values) == 2 else name


def _distance(name: str, values: Values) -> str:
    return name if values[0].rank else f"{name}:numbers"


def _log_mix(name: str, values: Values) -> str:
    if len(values) == 3:
        return name
    return f"{name}:vector" if values[1].rank == 1 else f"{name}:array"


def _appended_rows(name: str, values: Values) -> str:
    return f"{name}:vector" if "vector" in {v.kind for v in values} else name


def _appended_columns(name: str, values: Values) -> str:
    return f"{name}:row_vector" if "row_vector" in {v.kind for v in values} else name


def _to_matrix(name: str, values: Values) -> str:
    if len(values) > 1:
        return f"{name}:sizes"
    alone = values[0].kind in ("vector", "row_vector") and not values[0].array_rank
    return f"{name}:{values[0].kind}" if alone else name


def _diagonal(name: str, values: Values) -> str:
    return name if values[1].rank else f"{name}:number"


def _covariance(count: int) -> Callable[[str, Values], str]:
    """Tell functions of points apart; ``count`` is that of arguments that are no points."""

    def choose(name: str, values: Values) -> str:
        two = "two " if len(values) == count + 2 else ""
        points = "numbers" if values[0].kind in _NUMBERS else "vectors"
        return f"{name}:{two}{points}{',scales' if values[-1].rank else ''}"

    return choose


_CHOICES: dict[str, Callable[[str, Values], str]] = {
    **dict.fromkeys(("min", "max", "log_sum_exp"), _by_count),
    **dict.fromkeys(
        ("columns_dot_product", "rows_dot_product", "columns_dot_self", "rows_dot_self"),
        _by_kind(0, "vector", "row_vector"),
    ),
    **dict.fromkeys(
        ("quad_form", "quad_form_sym", "trace_quad_form", "mdivide_left", "mdivide_left_spd",
         "mdivide_left_tri_low"),
        _by_kind(1, "vector"),
    ),
    **dict.fromkeys(
        ("mdivide_right", "mdivide_right_spd", "mdivide_right_tri_low"), _by_kind(0, "row_vector")
    ),
    "rep_matrix": _by_kind(0, "vector", "row_vector"),
    "to_array_1d": _by_kind(0, "matrix"),
    "squared_distance": _distance,
    "log_mix": _log_mix,
    "append_row": _appended_rows,
    "append_col": _appended_columns,
    "to_matrix": _to_matrix,
    "add_diag": _diagonal,
    **dict.fromkeys(
        ("gp_exp_quad_cov", "cov_exp_quad", "gp_exponential_cov", "gp_matern32_cov",
         "gp_matern52_cov"),
        _covariance(2),
    ),
    "gp_periodic_cov": _covariance(3),
    "gp_dot_prod_cov": _covariance(1),
}  # fmt: skip


def meaning(name: str, values: Sequence[Any]) -> str:
    """Return the name of the entry that a call of a function with some arguments means.

    It is in one of the tables at most, if the arguments fit; `CONSTANTS` are those of functions
    without arguments.
    """
    choose = _CHOICES.get(name)
    return choose(name, values) if choose is not None and values else name
