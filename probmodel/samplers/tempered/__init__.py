"""Samplers that go from the prior to the posterior: for several modes, and for the evidence."""
