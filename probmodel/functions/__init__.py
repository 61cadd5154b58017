"""Functions of a model's symbols beyond NumPy's: recurrences, solvers, densities, hidden states."""

from probmodel.functions.component_functions import (
    component_log_densities,
    component_probabilities,
    hmm_log_likelihood,
    most_likely_states,
    state_probabilities,
)
from probmodel.functions.data_arrays import arange, eye, full, linspace, ones, take, zeros
from probmodel.functions.interpolation import interpolate
from probmodel.functions.linear import linear_recurrence, matrix_recurrence
from probmodel.functions.log_densities import log_between, log_ccdf, log_cdf, log_density
from probmodel.functions.log_scale import (
    log1m_exp,
    log_determinant,
    log_diff_exp,
    log_softmax,
    logsumexp,
    softmax,
)
from probmodel.functions.newton import solve_newton
from probmodel.functions.ode import solve_ode
from probmodel.functions.quadrature import integrate_1d
from probmodel.functions.scan import scan
from probmodel.functions.segments import segment_logsumexp, segment_max, segment_sum

__all__ = [
    "arange",
    "component_log_densities",
    "component_probabilities",
    "eye",
    "full",
    "hmm_log_likelihood",
    "integrate_1d",
    "interpolate",
    "linear_recurrence",
    "linspace",
    "log1m_exp",
    "log_between",
    "log_ccdf",
    "log_cdf",
    "log_density",
    "log_determinant",
    "log_diff_exp",
    "log_softmax",
    "logsumexp",
    "matrix_recurrence",
    "most_likely_states",
    "ones",
    "scan",
    "segment_logsumexp",
    "segment_max",
    "segment_sum",
    "softmax",
    "solve_newton",
    "solve_ode",
    "state_probabilities",
    "take",
    "zeros",
]
