"""Hamiltonian samplers with a constant mass matrix."""
