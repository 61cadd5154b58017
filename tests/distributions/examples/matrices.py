"""Examples of distributions of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from examples.case import BAD_SCALE, Case, normal_vector, symmetric
from examples.gaussian import BAD_ROOT, COV, COV_2, NOT_PD, ROOT, ROOT_2
from probmodel import distributions as d

SIZE = 3
NOT_A_NUMBER = np.full((SIZE, SIZE), np.nan)
# Whether the two examples of a scale matrix are matrices or factors; what is no such thing; the
# directions in which it moves.
FORMS: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {
    "scale": ((COV, COV_2), [NOT_PD, NOT_A_NUMBER], symmetric),
    "cholesky": ((ROOT, ROOT_2), [BAD_ROOT, NOT_A_NUMBER, np.zeros((SIZE, SIZE))], np.tril),
}
BAD_DF = [*BAD_SCALE, SIZE - 1.0, SIZE - 1.5]
_A = np.random.default_rng(8).standard_normal((4, SIZE, 5))
MATRICES = _A @ np.swapaxes(_A, -1, -2) / 2
ROOTS = np.linalg.cholesky(MATRICES)


def log_jacobian(root: Any) -> float:
    """Of the product of a factor with its transpose, by the exponents of its diagonal."""
    return len(root) * np.log(2.0) + np.log(np.diag(root)) @ np.arange(len(root), 0, -1)


def standard_normals(factor: Any, df: Any) -> Any:
    """Turn Bartlett's factors into standard normal numbers, ``df`` one for each row."""
    row, column = np.tril_indices(SIZE, -1)
    on = np.diagonal(factor, axis1=-2, axis2=-1)
    return np.concatenate(
        [factor[:, row, column], stats.norm.ppf(stats.chi2(df).cdf(on**2))], axis=1
    )


def wishart_law(factors: Any, df: Any, root: Any) -> Any:
    return standard_normals(np.linalg.solve(root, factors), df - np.arange(SIZE))


def inverse_wishart_law(factors: Any, df: Any, root: Any) -> Any:
    return standard_normals(np.linalg.solve(factors, root), df - np.arange(SIZE)[::-1])


def wishart(kind: Any, form: str, family: Any, law: Any, factors: bool) -> Case:
    """Case of a distribution with SciPy's name for that of its matrices."""
    matrices, invalid, tangent = FORMS[form]

    def scale(matrix: Any) -> Any:
        return matrix if form == "scale" else matrix @ matrix.T

    def reference(value: Any, df: Any, matrix: Any) -> float:
        if not factors:
            return family(df, scale(matrix)).logpdf(value)
        return family(df, scale(matrix)).logpdf(value @ value.T) + log_jacobian(value)

    def in_law(draws: Any, df: Any, matrix: Any) -> Any:
        roots = draws if factors else np.linalg.cholesky(draws)
        return law(roots, df, np.linalg.cholesky(scale(matrix)))

    return Case(
        kind(4.5, **{form: matrices[0]}),
        [(4.5, matrices[0]), (2.8, matrices[1])],
        ROOTS if factors else MATRICES,
        reference,
        {0: BAD_DF, 1: invalid},
        outside=[ROOTS[1] * [1.0, -1.0, 1.0]] if factors else [NOT_PD, -np.eye(SIZE)],
        law=in_law,
        tangent={0: np.tril if factors else symmetric, 2: tangent},
    )


ROW, ROW_2 = COV[:2, :2], COV_2[1:, 1:]
ROW_ROOTS = (np.linalg.cholesky(ROW), np.linalg.cholesky(ROW_2))
LOCS = np.random.default_rng(4).standard_normal((2, 2, SIZE))
NOT_PD_2 = NOT_PD[:2, :2]


def matrix_normal(row: tuple[str, Any], column: tuple[str, Any], **more: Any) -> Case:
    """Case with the forms of the two matrices, each with its two examples."""
    given = {f"row_{row[0]}": row[1][0], f"column_{column[0]}": column[1][0]}
    covariance = {
        "covariance": lambda a: a,
        "cholesky": lambda a: a @ a.T,
        "precision": np.linalg.inv,
    }

    def moments(loc: Any, u: Any, v: Any) -> Any:
        matrix = np.kron(covariance[row[0]](u), covariance[column[0]](v))
        return loc.reshape(-1), matrix

    params = [(LOCS[i], row[1][i], column[1][i]) for i in range(2)]
    return normal_vector(d.MatrixNormal(0.0, **given), params, moments, (2, SIZE), **more)


def multi_gp(form: str, matrices: Any, **more: Any) -> Case:
    def moments(matrix: Any, w: Any) -> Any:
        covariance = matrix if form == "covariance" else matrix @ matrix.T
        return np.zeros(2 * SIZE), np.kron(np.diag(1.0 / w), covariance)

    weights = (np.array([0.7, 2.1]), np.array([3.2, 0.4]))
    params = list(zip(matrices, weights, strict=True))
    dist = d.MultiGP(**{form: matrices[0]}, w=weights[0])
    return normal_vector(dist, params, moments, (2, SIZE), **more)


BAD_WEIGHTS = [np.array([1.0, -1.0]), np.array([0.0, 1.0]), np.array([np.nan, 1.0])]
CASES: dict[str, Case] = {
    "Wishart": wishart(d.Wishart, "scale", stats.wishart, wishart_law, False),
    "Wishart cholesky": wishart(d.Wishart, "cholesky", stats.wishart, wishart_law, False),
    "WishartCholesky": wishart(d.WishartCholesky, "cholesky", stats.wishart, wishart_law, True),
    "WishartCholesky scale": wishart(d.WishartCholesky, "scale", stats.wishart, wishart_law, True),
    "InverseWishart": wishart(
        d.InverseWishart, "scale", stats.invwishart, inverse_wishart_law, False
    ),
    "InverseWishart cholesky": wishart(
        d.InverseWishart, "cholesky", stats.invwishart, inverse_wishart_law, False
    ),
    "InverseWishartCholesky": wishart(
        d.InverseWishartCholesky, "cholesky", stats.invwishart, inverse_wishart_law, True
    ),
    "InverseWishartCholesky scale": wishart(
        d.InverseWishartCholesky, "scale", stats.invwishart, inverse_wishart_law, True
    ),
    "MatrixNormal": matrix_normal(
        ("covariance", (ROW, ROW_2)),
        ("covariance", (COV, COV_2)),
        invalid={1: [NOT_PD_2], 2: [NOT_PD, NOT_A_NUMBER]},
        tangent={2: symmetric, 3: symmetric},
    ),
    "MatrixNormal mixed": matrix_normal(
        ("precision", (ROW, ROW_2)),
        ("cholesky", (ROOT, ROOT_2)),
        invalid={1: [NOT_PD_2], 2: [BAD_ROOT, NOT_A_NUMBER]},
        tangent={2: symmetric, 3: np.tril},
    ),
    "MatrixNormal mixed otherwise": matrix_normal(
        ("cholesky", ROW_ROOTS),
        ("precision", (COV, COV_2)),
        invalid={1: [-ROW_ROOTS[0]], 2: [NOT_PD, NOT_A_NUMBER]},
        tangent={2: np.tril, 3: symmetric},
    ),
    "MultiGP": multi_gp(
        "covariance",
        (COV, COV_2),
        invalid={0: [NOT_PD, NOT_A_NUMBER], 1: BAD_WEIGHTS},
        tangent={1: symmetric},
    ),
    "MultiGP cholesky": multi_gp(
        "cholesky",
        (ROOT, ROOT_2),
        invalid={0: [BAD_ROOT, NOT_A_NUMBER], 1: BAD_WEIGHTS},
        tangent={1: np.tril},
    ),
}
NOT_NONCENTERED = {"Wishart", "WishartCholesky", "InverseWishart", "InverseWishartCholesky"}
NOT_INFORMED: dict[str, list[str]] = {}
