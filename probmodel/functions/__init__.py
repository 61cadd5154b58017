"""Functions of a model's symbols beyond NumPy's: recurrences, solvers, integrals, hidden states."""

from probmodel.functions.component_functions import (
    component_log_densities,
    component_probabilities,
    hmm_log_likelihood,
    most_likely_states,
    state_probabilities,
)
from probmodel.functions.interpolation import interpolate
from probmodel.functions.linear import linear_recurrence, matrix_recurrence
from probmodel.functions.log_densities import log_ccdf, log_cdf, log_density
from probmodel.functions.newton import solve_newton
from probmodel.functions.ode import solve_ode
from probmodel.functions.quadrature import integrate_1d
from probmodel.functions.scan import scan

__all__ = [
    "component_log_densities",
    "component_probabilities",
    "hmm_log_likelihood",
    "integrate_1d",
    "interpolate",
    "linear_recurrence",
    "log_ccdf",
    "log_cdf",
    "log_density",
    "matrix_recurrence",
    "most_likely_states",
    "scan",
    "solve_newton",
    "solve_ode",
    "state_probabilities",
]
