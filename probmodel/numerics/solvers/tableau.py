r"""Runge-Kutta methods: coefficients.

A step of size h from y at time t computes stages and the new value,

.. math:: k_i = f(t + c_i h,\; y + h \sum_{j \le i} a_{ij} k_j), \qquad
          y_1 = y + h \sum_i b_i k_i .

In both methods here the last stage is the slope at the new value, so it is the first of the next
step.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from probmodel.types import Array


class Tableau(NamedTuple):
    """Coefficients of an embedded Runge-Kutta method with s stages.

    Attributes
    ----------
    A : (s, s), lower triangular; a diagonal that is not zero makes a stage implicit
    b, c : (s,), weights and nodes
    error : (s,), weights of the error estimate
    between : (s, p), ``y + h * k @ between @ [u, u^2, ...]`` is the value a fraction u into a step
    order : of the error estimate, whose size is proportional to ``h ** (order + 1)``
    """

    A: Array
    b: Array
    c: Array
    error: Array
    between: Array
    order: int

    @property
    def implicit(self) -> bool:
        """Whether some stages are solved for."""
        return bool(np.diag(self.A).any())


@cache
def dormand_prince() -> Tableau:
    """Return the explicit method of Dormand and Prince (1980), of orders 5 and 4.

    The coefficients are SciPy's, with the slope at the end as a seventh stage.
    """
    from scipy.integrate import RK45

    A = np.zeros((7, 7))
    A[:6, :5] = RK45.A
    A[6, :6] = RK45.B
    c = np.append(RK45.C, 1.0)
    return Tableau(A, A[6].copy(), c, RK45.E, RK45.P, 4)


@cache
def kennedy_carpenter() -> Tableau:
    """Return the implicit method ESDIRK4(3)6L[2]SA, L-stable and stiffly accurate.

    Every stage but the first solves an equation with the same diagonal coefficient 1/4. Values
    inside a step are interpolated by a cubic through both ends and their slopes.

    References
    ----------
    Kennedy and Carpenter (2003), Additive Runge-Kutta schemes for convection-diffusion-reaction
    equations, Applied Numerical Mathematics 44, appendix: the implicit half of ARK4(3)6L[2]SA.
    """
    A = np.zeros((6, 6))
    A[1, :1] = [1 / 4]
    A[2, :2] = [8611 / 62500, -1743 / 31250]
    A[3, :3] = [5012029 / 34652500, -654441 / 2922500, 174375 / 388108]
    A[4, :4] = [
        15267082809 / 155376265600, -71443401 / 120774400, 730878875 / 902184768, 2285395 / 8070912
    ]  # fmt: skip
    A[5, :5] = [82889 / 524892, 0.0, 15625 / 83664, 69875 / 102672, -2260 / 8211]
    A[range(1, 6), range(1, 6)] = 1 / 4
    b = A[5].copy()
    embedded = np.array([
        4586570599 / 29645900160, 0.0, 178811875 / 945068544, 814220225 / 1159782912,
        -3700637 / 11593932, 61727 / 225920,
    ])  # fmt: skip
    first, last = np.eye(6)[0], np.eye(6)[5]
    between = np.outer(b, [0.0, 3.0, -2.0])
    between += np.outer(first, [1.0, -2.0, 1.0]) + np.outer(last, [0.0, -1.0, 1.0])
    c = np.array([0.0, 1 / 2, 83 / 250, 31 / 50, 17 / 20, 1.0])
    return Tableau(A, b, c, b - embedded, between, 3)


METHODS = {"rk45": dormand_prince, "esdirk43": kennedy_carpenter}
