"""Distributions of fields over areas, points and grids."""
