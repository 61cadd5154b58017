"""Covariance functions of Gaussian processes."""

from probmodel.distributions.kernels.algebra import Constant, Kernel, Product, Sum
from probmodel.distributions.kernels.isotropic import (
    Exponential,
    ExpQuad,
    Isotropic,
    Matern12,
    Matern32,
    Matern52,
)
from probmodel.distributions.kernels.linear_kernel import Linear
from probmodel.distributions.kernels.periodic import Periodic
from probmodel.distributions.kernels.rational_quadratic import RationalQuadratic

__all__ = [
    "Constant",
    "ExpQuad",
    "Exponential",
    "Isotropic",
    "Kernel",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "Periodic",
    "Product",
    "RationalQuadratic",
    "Sum",
]
