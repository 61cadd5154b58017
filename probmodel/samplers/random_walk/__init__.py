"""Samplers that see the log density alone: random walks and ensembles."""
