"""Operations on numbers, and on vectors and matrices where Stan has them element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from probmodel.stan.export.code_forms import (
    AND,
    ATOM,
    CHOICE,
    EQUALITY,
    NUMBERS,
    OR,
    ORDER,
    POWER,
    PREFIX,
    PRODUCT,
    SUM,
    Form,
    call,
    real,
)

# Functions of one number, which Stan applies to each element of an array too.
FUNCTIONS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "square": "square", "reciprocal": "inv",
    "absolute": "abs", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "floor": "floor", "ceil": "ceil",
    "gammaln": "lgamma", "psi": "digamma", "expit": "inv_logit", "logit": "logit",
    "log_expit": "log_inv_logit", "erf": "erf", "erfc": "erfc", "ndtr": "Phi",
    "ndtri": "inv_Phi", "log1m_exp": "log1m_exp",
}  # fmt: skip
PAIRED = {
    "maximum": "fmax", "minimum": "fmin", "arctan2": "atan2", "betaln": "lbeta",
    "xlogy": "lmultiply",
}  # fmt: skip
_COMPARISONS = {
    "less": ("<", ORDER), "less_equal": ("<=", ORDER), "greater": (">", ORDER),
    "greater_equal": (">=", ORDER), "equal": ("==", EQUALITY), "not_equal": ("!=", EQUALITY),
    "logical_or": ("||", OR), "logical_and": ("&&", AND),
}  # fmt: skip

Rule = Callable[[Sequence[Form]], Form]


_OPPOSITE = {"+": "-", "-": "+"}


def infix(left: Form, operator: str, right: Form, tight: int, kind: str = "real") -> Form:
    """Return two operands with an operator between them; zeros are not added, ones no factors."""
    if (operator, left.text) in (("+", "0"), ("*", "1"), (".*", "1")):
        return right
    if operator in _OPPOSITE and right.text == "0":
        return left
    if operator in _OPPOSITE and right.text[:1] == "-" and right.tight >= PREFIX:
        operator, right = _OPPOSITE[operator], Form(right.text[1:], right.kind)
    text = f"{left.inside(tight)} {operator} {right.inside(tight + 1)}"
    return Form(text, kind, tight)


def _arithmetic(operator: str, tight: int) -> Rule:
    def rule(parts: Sequence[Form]) -> Form:
        whole = all(part.kind == "int" for part in parts)
        return infix(parts[0], operator, parts[1], tight, "int" if whole else "real")

    return rule


def _function(name: str) -> Rule:
    def rule(parts: Sequence[Form]) -> Form:
        whole = name == "abs" and parts[0].kind == "int"
        return call(name, *(part.text for part in parts), kind="int" if whole else "real")

    return rule


def _comparison(operator: str, tight: int) -> Rule:
    def rule(parts: Sequence[Form]) -> Form:
        left, right = (part.inside(tight + 1) for part in parts)
        return Form(f"{left} {operator} {right}", "int", tight)

    return rule


def _divide(parts: Sequence[Form]) -> Form:
    left, right = parts
    if left.kind == right.kind == "int":
        left = real(left)
    return infix(left, "/", right, PRODUCT)


def _power(parts: Sequence[Form]) -> Form:
    base, exponent = parts
    if exponent.text == "2":
        return call("square", base.text)
    return Form(f"{base.inside(ATOM)} ^ {exponent.inside(ATOM)}", "real", POWER)


def _negative(parts: Sequence[Form]) -> Form:
    return Form(f"-{parts[0].inside(POWER)}", parts[0].kind, PREFIX)


def _where(parts: Sequence[Form]) -> Form:
    condition, yes, no = parts
    whole = yes.kind == no.kind == "int"
    yes, no = (yes, no) if whole else (real(yes), real(no))
    text = f"{condition.inside(OR)} ? {yes.inside(OR)} : {no.inside(OR)}"
    return Form(text, "int" if whole else "real", CHOICE)


def _remainder(parts: Sequence[Form]) -> Form:
    value, by = parts
    steps = call("floor", _divide(parts).text)
    return infix(value, "-", infix(by, "*", steps, PRODUCT), SUM)


def _sign(parts: Sequence[Form]) -> Form:
    x = parts[0].inside(ORDER + 1)
    return Form(f"({x} > 0) - ({x} < 0)", "int", SUM)


def _scaled_bessel(order: str, x: Form) -> Form:
    value, scale = call("modified_bessel_first_kind", order, x.text), call("exp", f"-abs({x.text})")
    return infix(value, "*", scale, PRODUCT)


ELEMENTWISE: dict[str, Rule] = {
    **{name: _function(stan) for name, stan in {**FUNCTIONS, **PAIRED}.items()},
    **{name: _comparison(*entry) for name, entry in _COMPARISONS.items()},
    "add": _arithmetic("+", SUM),
    "subtract": _arithmetic("-", SUM),
    "multiply": _arithmetic("*", PRODUCT),
    "divide": _divide,
    "power": _power,
    "negative": _negative,
    "positive": lambda parts: parts[0],
    "where": _where,
    "remainder": _remainder,
    "sign": _sign,
    "clip": lambda p: call("fmin", call("fmax", p[0].text, p[1].text).text, p[2].text),
    "logaddexp": lambda p: call("log_sum_exp", p[0].text, p[1].text),
    "log_diff_exp": lambda p: call("log_diff_exp", p[0].text, p[1].text),
    "xlog1py": lambda p: call("lmultiply", p[0].text, f"1 + {p[1].inside(SUM + 1)}"),
    "erfinv": lambda p: call("inv_erfc", f"1 - {p[0].inside(SUM + 1)}"),
    "i0e": lambda p: _scaled_bessel("0", p[0]),
    "i1e": lambda p: _scaled_bessel("1", p[0]),
    "log_ndtr": lambda p: Form(f"std_normal_lcdf({p[0].text} | )", "real"),
    "logical_not": lambda p: Form(f"!{p[0].inside(POWER)}", "int", PREFIX),
    "isnan": lambda p: call("is_nan", p[0].text, kind="int"),
    "isfinite": lambda p: Form(f"!(is_nan({p[0].text}) || is_inf({p[0].text}))", "int", PREFIX),
}


# -- of vectors and matrices -----------------------------------------------------------------------


def of_arrays(name: str, parts: Sequence[Form]) -> Form | None:
    """Return an operation on arrays of one shape and numbers; None if Stan has none."""
    kind = next(part.kind for part in parts if part.kind not in NUMBERS)
    if name in FUNCTIONS or name in PAIRED:
        return call({**FUNCTIONS, **PAIRED}[name], *(part.text for part in parts), kind=kind)
    if name in ("add", "subtract"):
        return infix(parts[0], "+" if name == "add" else "-", parts[1], SUM, kind)
    if name == "multiply":
        apart = all(part.kind not in NUMBERS for part in parts)
        return infix(parts[0], ".*" if apart else "*", parts[1], PRODUCT, kind)
    if name == "divide":
        by_number = parts[1].kind in NUMBERS
        return infix(parts[0], "/" if by_number else "./", parts[1], PRODUCT, kind)
    if name == "power":
        if parts[1].text == "2":
            return call("square", parts[0].text, kind=kind)
        return Form(f"{parts[0].inside(ATOM)} .^ {parts[1].inside(ATOM)}", kind, POWER)
    if name == "negative":
        return Form(f"-{parts[0].inside(POWER)}", kind, PREFIX)
    return parts[0] if name == "positive" else None
