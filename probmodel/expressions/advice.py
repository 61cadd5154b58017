"""What to write in the place of functions that symbols do not take."""

from __future__ import annotations

_INSTEAD = {
    "array": "np.stack([a, b])",
    "median": "np.mean, or the median of the draws",
    "select": "nested np.where",
    "gamma": "gammaln",
    "digamma": "psi",
    "take": "x[index]",
    "sort": "constraint=Ordered() for a parameter, or sort the data before they are bound",
    "argsort": "integer data with the order as an index",
    "argmax": "integer data as an index",
    "argmin": "integer data as an index",
    "norm": 'ord="fro", 1, -1, np.inf or -np.inf for matrices, or axis=-1 for vectors',
    "pad": 'mode="constant", "edge", "reflect", "symmetric" or "wrap"',
    "quantile": "quantiles of the draws, or np.max and np.min",
    "percentile": "percentiles of the draws, or np.max and np.min",
    "any": "np.max(condition)",
    "all": "np.min(condition)",
    "interp": "interpolate of probmodel.functions",
    "ndim": "dims, which name axes; in the place of np.c_[a, b] and np.r_[a, b], "
    "np.column_stack([a, b]) and np.concatenate([a, b])",
    "shape": "integer data for sizes, which dims name",
    "size": "integer data for sizes, which dims name",
    "linspace": "linspace of probmodel.functions",
    "beta": "np.exp(betaln(a, b))",
    "gammainc": "np.exp(log_cdf(Gamma(a, 1), x)), with log_cdf of probmodel.functions",
    "gammaincc": "np.exp(log_ccdf(Gamma(a, 1), x)), with log_ccdf of probmodel.functions",
    "betainc": "np.exp(log_cdf(Beta(a, b), x)), with log_cdf of probmodel.functions",
    "unique": "the shorthand of data",
    "logaddexp2": "np.logaddexp(np.log(2) * a, np.log(2) * b) / np.log(2)",
    "fmax": "np.maximum",
    "fmin": "np.minimum",
    "fmod": "np.remainder, which has the sign of the divisor",
    "trunc": "np.sign(x) * np.floor(np.abs(x))",
    "heaviside": "np.where(x > 0, 1.0, 0.0)",
    "piecewise": "nested np.where",
    "nansum": "np.sum(np.where(seen, x, 0.0)), with seen from data",
    "nanmean": "np.sum(np.where(seen, x, 0.0)) / np.sum(seen), with seen from data",
    "nan_to_num": "np.where(seen, x, 0.0), with seen from data",
    "ptp": "np.max(x) - np.min(x)",
    "meshgrid": "a[:, None] and b, which broadcast",
    "logspace": "10 ** linspace(a, b, n), with linspace of probmodel.functions",
    "polyval": "c[0] + c[1] * x + c[2] * x**2",
    "cross": "np.stack of its three components",
    "convolve": "kernel @ x, with the matrix of shifted kernels from data",
    "searchsorted": "integer data with the places as an index",
    "digitize": "integer data with the places as an index",
    "real": "real and imaginary parts as symbols of their own",
    "imag": "real and imaginary parts as symbols of their own",
    "conjugate": "real and imaginary parts as symbols of their own",
    "angle": "np.arctan2(imaginary, real)",
}


def instead_of(name: str) -> str:
    """Return what to write in the place of a function; empty if nothing is known."""
    return _INSTEAD.get(name, "")


def advice_on(name: str) -> str:
    """Return the sentence that says so."""
    return f" Instead, write {_INSTEAD[name]}." if name in _INSTEAD else ""


def not_a_function(symbol: str) -> str:
    """Say that a symbol was called: as the function or distribution that it hides, or as a(b)."""
    return (
        f"{symbol} is a symbol of the model, and no function. If it has the name of a function or "
        "a distribution, give the declaration another name; products have a *, as in a * (b + 1)."
    )
