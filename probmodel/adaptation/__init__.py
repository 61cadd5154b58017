"""Reusable parts of adaptation: pure functions of arrays, independent of any sampler."""
