"""Riemannian samplers: in a position-dependent metric, or in one for the whole posterior."""
