"""Names of functions that belong to a distribution, such as ``normal_lpdf``."""

from __future__ import annotations

from probmodel.stan.library.stan_densities import DENSITIES

# What a suffix asks for; of two that fit, the longer one comes first.
_SUFFIXES = {
    "_ccdf_log": "lccdf",
    "_cdf_log": "lcdf",
    "_lccdf": "lccdf",
    "_lcdf": "lcdf",
    "_cdf": "cdf",
    "_lupdf": "density",
    "_lupmf": "density",
    "_lpdf": "density",
    "_lpmf": "density",
    "_log": "density",
    "_rng": "rng",
}


# How the names of functions begin that integrate latent variables out by approximation.
LAPLACE = ("laplace_marginal", "laplace_latent")


def no_laplace(name: str) -> str:
    """Say that one of these functions is not here."""
    return f"{name} is not supported: declare the latent variables as parameters."


def split_density_name(name: str) -> tuple[str, str] | None:
    """Return of which distribution a function is, and what it is; None for other functions.

    What it is: ``density``, ``cdf``, ``lcdf``, ``lccdf`` or ``rng``. Old spellings, as in
    ``normal_log`` and ``normal_cdf_log``, count.
    """
    for suffix, what in _SUFFIXES.items():
        stem = name.removesuffix(suffix)
        if stem != name and stem in DENSITIES:
            return stem, what
    return None
