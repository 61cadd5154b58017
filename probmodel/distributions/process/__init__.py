"""Distributions of series in time."""
