"""From a bound model to a log density with gradient, batched over chains."""

from probmodel.density import differential, equations, scan_operation  # noqa: F401 (they add operations)
from probmodel.density.check import Report, check_model
from probmodel.density.function import FunctionDensity
from probmodel.density.log_density import LogDensity
from probmodel.density.posterior import ModelDensity, as_posterior

__all__ = ["FunctionDensity", "LogDensity", "ModelDensity", "Report", "as_posterior", "check_model"]
