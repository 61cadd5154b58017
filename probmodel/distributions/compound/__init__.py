"""Distributions made of others."""
