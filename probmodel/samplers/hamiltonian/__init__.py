"""Samplers of trajectories in a mass matrix that is the same everywhere."""
