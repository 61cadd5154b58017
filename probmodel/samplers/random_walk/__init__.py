"""Samplers that use the log density alone: random walks and ensembles."""
