"""Distributions of single numbers."""
