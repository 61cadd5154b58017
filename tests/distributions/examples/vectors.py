"""Examples of ordered categories, vectors of counts and heavy-tailed vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import softmax

from examples.case import BAD_SCALE, NOT_COUNTS, Case, symmetric, zero_sum
from examples.gaussian import BAD_ROOT, COV, COV_2, MEANS, NOT_PD, ROOT, ROOT_2
from probmodel import distributions as d

CUTS = (np.array([-1.1, 0.3, 1.6]), np.array([-0.4, 0.1, 2.2]))
NOT_INCREASING = [
    np.array([-1.1, 1.6, 0.3]),
    np.array([0.3, 0.3, 1.6]),
    np.array([-1.1, np.nan, 1.6]),
]


def ordered(dist: Any, family: Any) -> Case:
    def reference(value: Any, eta: Any, cutpoints: Any) -> float:
        edges = np.concatenate([[-np.inf], cutpoints, [np.inf]]) - eta
        return np.log(family.cdf(edges[int(value) + 1]) - family.cdf(edges[int(value)]))

    return Case(
        dist,
        [(0.4, CUTS[0]), (-0.7, CUTS[1])],
        np.arange(4),
        reference,
        {0: [np.nan], 1: NOT_INCREASING},
        [*NOT_COUNTS, 4],
    )


TRIALS = 6
COUNT_VECTORS = np.array([[1, 2, 3], [0, 6, 0], [4, 0, 2], [2, 2, 2]])
NOT_COUNT_VECTORS = [
    np.array([1, 2, 2]),
    np.array([-1, 4, 3]),
    np.array([0.5, 2.5, 3.0]),
    np.array([np.nan, 3, 3]),
]
P = (np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1]))
LOGITS = (np.array([0.2, -0.3, 1.5]), np.array([0.6, 0.3, -1.1]))
CONCENTRATIONS = (np.array([2.3, 0.7, 1.4]), np.array([0.6, 5.0, 3.0]))


def compositions(n: Any, *_: Any) -> Any:
    """All vectors of three counts that add up to ``n``."""
    n = int(n)
    return np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])


def counts(dist: Any, family: Any, params: Any, invalid: Any, **more: Any) -> Case:
    return Case(
        dist,
        [(TRIALS, p) for p in params],
        COUNT_VECTORS,
        lambda y, n, p: family(n, p).logpmf(y),
        {0: [-1, 2.5, 7, np.nan], 1: invalid},
        NOT_COUNT_VECTORS,
        fixed=(1,),
        outcomes=compositions,
        **more,
    )


def student_vector(dist: Any, matrices: Any, scale: Any, invalid: Any, tangent: Any) -> Case:
    def reference(value: Any, df: Any, loc: Any, matrix: Any) -> float:
        return stats.multivariate_t(loc, scale(matrix), df).logpdf(value)

    def law(draws: Any, df: Any, loc: Any, matrix: Any) -> Any:
        """Whiten, and give the squared lengths, of an F distribution, those of normal vectors."""
        z = np.linalg.solve(np.linalg.cholesky(scale(matrix)), (draws - loc).T).T
        squares, n = np.sum(z * z, axis=1), z.shape[1]
        wanted = stats.chi2(n).isf(stats.f(n, df).sf(squares / n))
        return z * np.sqrt(wanted / squares)[:, None]

    return Case(
        dist,
        [(4.5, MEANS[0], matrices[0]), (1.3, MEANS[1], matrices[1])],
        np.random.default_rng(5).standard_normal((4, 3)),
        reference,
        {0: BAD_SCALE, 2: invalid},
        law=law,
        tangent={3: tangent},
    )


CASES: dict[str, Case] = {
    "OrderedLogistic": ordered(d.OrderedLogistic(0.0, CUTS[0]), stats.logistic),
    "OrderedProbit": ordered(d.OrderedProbit(0.0, CUTS[0]), stats.norm),
    "Multinomial": counts(
        d.Multinomial(TRIALS, P[0]),
        stats.multinomial,
        P,
        [np.array([0.2, 0.3, 0.4]), np.array([-0.1, 0.6, 0.5]), np.full(3, np.nan)],
        tangent={2: zero_sum},
    ),
    "MultinomialLogit": counts(
        d.MultinomialLogit(TRIALS, LOGITS[0]),
        lambda n, e: stats.multinomial(n, softmax(e)),
        LOGITS,
        [np.array([0.2, np.nan, 0.4])],
    ),
    "DirichletMultinomial": counts(
        d.DirichletMultinomial(TRIALS, CONCENTRATIONS[0]),
        lambda n, a: stats.dirichlet_multinomial(a, n),
        CONCENTRATIONS,
        [np.array([1.0, -1.0, 2.0]), np.zeros(3), np.full(3, np.nan)],
    ),
    "MvStudentT": student_vector(
        d.MvStudentT(4.5, 0.0, COV),
        (COV, COV_2),
        lambda scale: scale,
        [NOT_PD, np.full((3, 3), np.nan)],
        symmetric,
    ),
    "MvStudentT cholesky": student_vector(
        d.MvStudentT(4.5, 0.0, cholesky=ROOT),
        (ROOT, ROOT_2),
        lambda root: root @ root.T,
        [BAD_ROOT, np.full((3, 3), np.nan), np.zeros((3, 3))],
        np.tril,
    ),
}
NOT_NONCENTERED = {
    "DirichletMultinomial",
    "Multinomial",
    "MultinomialLogit",
    "OrderedLogistic",
    "OrderedProbit",
}
NOT_INFORMED = {
    "DirichletMultinomial": ["n", "concentration"],
    "Multinomial": ["n"],
    "MultinomialLogit": ["n"],
}
