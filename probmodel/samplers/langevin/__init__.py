"""Langevin samplers, with one gradient a move, and the adaptation of their preconditioners."""
