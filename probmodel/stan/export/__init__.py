"""Models as Stan programs."""

from probmodel.stan.export.stan_program import StanProgram, to_stan

__all__ = ["StanProgram", "to_stan"]
