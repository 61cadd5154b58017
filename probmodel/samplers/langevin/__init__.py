"""Samplers of one gradient step: Langevin moves and how their preconditioners learn."""
