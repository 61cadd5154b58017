"""Examples of distributions of counts beyond the most common ones."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln

from examples.case import BAD_SCALE, COUNTS, NEGATIVE, NOT_COUNTS, Case, scipy_case
from probmodel import distributions as d

BAD_SHAPE = [*BAD_SCALE, -0.5, -2.5]
NOT_WHOLE = [2.5, np.nan]


def beta_negative_binomial(y: float, r: float, a: float, b: float) -> float:
    """Log probability by beta functions; SciPy's takes whole numbers of successes only."""
    own = betaln(y + r, a + b) - betaln(r, a)
    return own + gammaln(y + b) - gammaln(b) - gammaln(y + 1)


CASES: dict[str, Case] = {
    "NegativeBinomial": scipy_case(
        d.NegativeBinomial(1, 1),
        stats.nbinom,
        lambda a, b: (a, b / (b + 1)),
        [(2.6, 1.4), (0.7, 0.4)],
        COUNTS,
        {0: NEGATIVE, 1: BAD_SHAPE},
        NOT_COUNTS,
    ),
    "NegativeBinomial2Log": scipy_case(
        d.NegativeBinomial2Log(0, 1),
        stats.nbinom,
        lambda e, f: (f, f / (np.exp(e) + f)),
        [(0.9, 1.4), (-0.4, 21.0)],
        COUNTS,
        {0: [np.nan, np.inf], 1: BAD_SHAPE},
        NOT_COUNTS,
    ),
    "BetaBinomial": scipy_case(
        d.BetaBinomial(8, 1, 1),
        stats.betabinom,
        lambda n, a, b: (n, a, b),
        [(9, 2.3, 1.4), (12, 0.7, 18.5)],
        COUNTS,
        {0: [-1, *NOT_WHOLE], 1: NEGATIVE, 2: NEGATIVE},
        [*NOT_COUNTS, 13],
        fixed=(1,),
    ),
    "BetaNegativeBinomial": Case(
        d.BetaNegativeBinomial(1, 1, 1),
        [(4.3, 12.5, 3.1), (18.2, 6.4, 0.8)],
        COUNTS,
        beta_negative_binomial,
        {0: NEGATIVE, 1: BAD_SHAPE, 2: NEGATIVE},
        NOT_COUNTS,
    ),
    "DiscreteUniform": scipy_case(
        d.DiscreteUniform(0, 9),
        stats.randint,
        lambda a, b: (a, b + 1),
        [(0, 9), (1, 12)],
        COUNTS,
        {0: [10, -0.5, np.nan], 1: [-1, 8.5, np.nan]},
        [*NOT_COUNTS, 13],
        fixed=(1, 2),
    ),
    "Geometric": scipy_case(
        d.Geometric(0.5),
        stats.geom,
        lambda p: (p, -1),
        [(0.3,), (0.85,)],
        COUNTS,
        {0: [-0.1, 1.1, np.nan]},
        NOT_COUNTS,
    ),
    "YuleSimon": scipy_case(
        d.YuleSimon(1),
        stats.yulesimon,
        lambda a: (a,),
        [(7.3,), (3.6,)],
        COUNTS[1:],
        {0: BAD_SHAPE},
        [*NOT_COUNTS, 0],
    ),
    "Hypergeometric": scipy_case(
        d.Hypergeometric(9, 8, 12),
        stats.hypergeom,
        lambda n, a, b: (a + b, a, n),
        [(9, 8, 12), (11, 9, 40)],
        COUNTS,
        {0: [-1, 21, *NOT_WHOLE], 1: [-1, *NOT_WHOLE], 2: [-1, *NOT_WHOLE]},
        [*NOT_COUNTS, 10],
        fixed=(1, 2, 3),
    ),
}

NOT_NONCENTERED: set[str] = set(CASES)

NOT_INFORMED = {
    "NegativeBinomial": ["alpha"],
    "NegativeBinomial2Log": ["phi"],
    "BetaBinomial": ["n"],
    "BetaNegativeBinomial": ["r", "alpha", "beta"],
    "DiscreteUniform": ["low", "high"],
    "YuleSimon": ["alpha"],
    "Hypergeometric": ["n", "a", "b"],
}
