"""Draws and statistics into an ArviZ object, its warnings and its table.

This package is the only place that imports ArviZ and xarray, and it does so inside functions.
"""
