"""Sums and differences of exponentials, shares of them, and log determinants."""

from __future__ import annotations

from typing import Any

from probmodel.functions.recorded_calls import operate


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))``, without overflow.

    Parameters
    ----------
    x : numbers or a symbol; minus infinity adds nothing
    axis : to sum over: a whole number, a tuple of them, or None for all
    keepdims : whether these axes stay, with length one
    """
    return operate("logsumexp", x, axis=axis, keepdims=keepdims)


def softmax(x: Any, axis: Any = -1) -> Any:
    """``exp(x) / sum(exp(x))``: positive numbers that sum to one along ``axis``."""
    return operate("softmax", x, axis=axis)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """Logarithm of `softmax`, accurate for small numbers too."""
    return operate("log_softmax", x, axis=axis)


def log_diff_exp(a: Any, b: Any) -> Any:
    """``log(exp(a) - exp(b))`` for ``a >= b``, without overflow or cancellation; NaN below.

    It is minus infinity where both are equal. Stan: ``log_diff_exp``.
    """
    return operate("log_diff_exp", a, b)


def log1m_exp(x: Any) -> Any:
    """``log(1 - exp(x))`` for ``x <= 0``, accurate at both ends; NaN above. Stan: ``log1m_exp``."""
    return operate("log1m_exp", x)


def log_determinant(a: Any) -> Any:
    """Logarithm of the absolute value of the determinant of square matrices, (..., n, n)."""
    return operate("log_determinant", a)
