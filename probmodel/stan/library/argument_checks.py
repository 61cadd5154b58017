"""How many arguments functions of the tables take, and which of them are vectors or matrices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from probmodel.stan.indexing import MisfitError
from probmodel.stan.library.covariances import COVARIANCES
from probmodel.stan.library.entries import Move, Whole
from probmodel.stan.stan_values import Value, type_text

_RANKS = ("number", "vector", "matrix")
# Of functions of numbers, how many these are where it is not one.
_COUNTS = {
    **dict.fromkeys(
        ("atan2", "bessel_first_kind", "bessel_second_kind", "beta", "binary_log_loss",
         "binomial_coefficient_log", "choose", "falling_factorial", "fdim", "fmax", "fmin", "fmod",
         "gamma_p", "gamma_q", "hypergeometric_1F0", "hypot", "lbeta", "lchoose", "ldexp",
         "lmgamma", "lmultiply", "log_diff_exp", "log_falling_factorial", "log_inv_logit_diff",
         "log_modified_bessel_first_kind", "log_rising_factorial", "log_sum_exp:numbers",
         "logical_and", "logical_eq", "logical_gt", "logical_gte", "logical_lt", "logical_lte",
         "logical_neq", "logical_or", "max:numbers", "min:numbers", "modified_bessel_first_kind",
         "modified_bessel_second_kind", "multiply_log", "owens_t", "polar", "pow",
         "rising_factorial", "squared_distance:numbers"),
        (2,),
    ),
    **dict.fromkeys(("fma", "if_else", "inc_beta", "inv_inc_beta", "log_mix"), (3,)),
    **dict.fromkeys(("hypergeometric_2F1", "student_t_qf"), (4,)),
    "to_complex": (1, 2),
}  # fmt: skip
# Of functions of data, how many axes the first argument has where it is no number.
_OF_DATA = {
    **dict.fromkeys(
        ("fft", "inv_fft", "quantile", "rank", "sort_asc", "sort_desc", "sort_indices_asc",
         "sort_indices_desc"),
        1,
    ),
    **dict.fromkeys(
        ("qr_Q", "qr_R", "qr_thin_Q", "qr_thin_R", "svd_U", "svd_V", "csr_extract_u",
         "csr_extract_v", "csr_extract_w", "eigenvalues", "eigenvectors", "fft2", "inv_fft2",
         "complex_schur_decompose_t", "complex_schur_decompose_u"),
        2,
    ),
}  # fmt: skip
_OF_NUMBERS = ("max:numbers", "min:numbers")  # and of no containers


def check_numbers(name: str, values: Sequence[Value]) -> None:
    """Raise a `MisfitError` if a function of numbers takes more of them, or fewer."""
    counts = _COUNTS.get(name, (1,))
    fits = len(values) in counts
    if fits and (name not in _OF_NUMBERS or not any(v.rank for v in values)):
        return
    takes = "one number" if counts == (1,) else f"{' or '.join(map(str, counts))} numbers"
    if name in _OF_NUMBERS:
        takes += ", or one container"
    raise _wrong(name, takes, values)


def check_whole(name: str, entry: Whole, values: Sequence[Value]) -> None:
    """Raise a `MisfitError` if a function of vectors and matrices takes others."""
    fits = len(values) == len(entry.ranks)
    for value, rank in zip(values, entry.ranks, strict=False):
        more = value.rank - rank  # axes of an array of vectors or matrices
        fits = fits and (entry.flat or more == 0 or 0 < more <= value.array_rank)
    if fits:
        return
    takes = ", ".join(_RANKS[rank] for rank in entry.ranks)
    takes = "one container" if entry.flat else f"({takes})"
    if name in COVARIANCES:
        numbers = len(values) - (2 if "two" in name else 1)
        takes = f"points, which are an array of numbers or of vectors, and {numbers} numbers"
    raise _wrong(name, takes, values)


def check_move(name: str, entry: Move, values: Sequence[Value]) -> None:
    """Raise a `MisfitError` if a function that moves elements takes others."""
    fits = _takes_as_many(entry.function, len(values), ("zero", "one") * entry.fills)
    for i, value in enumerate(values):
        fits = fits and value.rank in (range(1) if i in entry.sizes else entry.ranks)
    if not fits:
        raise _wrong(name, "other arguments", values)


def check_data(name: str, function: Callable[..., Any], values: Sequence[Value]) -> None:
    """Raise a `MisfitError` if a function of data takes others."""
    rank = _OF_DATA.get(name, 0)
    if not _takes_as_many(function, len(values)) or (values and values[0].rank != rank):
        raise _wrong(name, "other arguments", values)


def check_sizes(name: str, values: Sequence[Any]) -> None:
    """Raise a `MisfitError` if a function of sizes takes not one value."""
    if len(values) != 1:
        raise _wrong(name, "one value", values)


@cache
def _takes_as_many(function: Callable[..., Any], count: int, options: Sequence[str] = ()) -> bool:
    """Whether a function can be called with so many arguments, besides those by name."""
    try:
        inspect.signature(function).bind(*range(count), **dict.fromkeys(options, 0))
    except TypeError:
        return False
    return True


def _wrong(name: str, takes: str, values: Sequence[Any]) -> MisfitError:
    given = ", ".join(map(type_text, values))
    return MisfitError(f"{name.partition(':')[0]} takes {takes}; got ({given})")
