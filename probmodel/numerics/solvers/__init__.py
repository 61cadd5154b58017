"""Numerical solvers for a batch of problems at once: one row for each chain."""
