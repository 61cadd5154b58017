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
_OLD = {"_ccdf_log": "_lccdf", "_cdf_log": "_lcdf"}
_OF_KIND = {True: ("_lpmf", "_lupmf"), False: ("_lpdf", "_lupdf")}


def split_density_name(name: str) -> tuple[str, str] | None:
    """Return of which distribution a function is, and what it is; None for other functions.

    What it is: ``density``, ``cdf``, ``lcdf``, ``lccdf`` or ``rng``. Old spellings, as in
    ``normal_log`` and ``normal_cdf_log``, count; so do ``_lpdf`` of a discrete distribution and
    ``_lpmf`` of a continuous one, see `right_name`.
    """
    for suffix, what in _SUFFIXES.items():
        stem = name.removesuffix(suffix)
        if stem != name and stem in DENSITIES:
            return stem, what
    return None


def right_name(name: str) -> str | None:
    """Return how a function of a distribution is to be spelt; None where ``name`` is right.

    Old spellings have a new one; ``_lpdf`` and ``_lpmf`` are of continuous and of discrete
    distributions.
    """
    found = split_density_name(name)
    if found is None:
        return None
    stem, what = found
    suffix = name[len(stem) :]
    if what == "density":
        plain, unnormalised = _OF_KIND[DENSITIES[stem].discrete]
        right = unnormalised if suffix in ("_lupdf", "_lupmf") else plain
    else:
        right = _OLD.get(suffix, suffix)
    return None if right == suffix else stem + right


def is_old_spelling(name: str) -> bool:
    """Whether Stan took a spelling once, such as ``normal_log``, and a program may have it."""
    return right_name(name) is not None and name.endswith("_log")
