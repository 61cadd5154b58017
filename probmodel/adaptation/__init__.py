"""Reusable parts of adaptation: pure functions of arrays, with no sampler in sight."""
