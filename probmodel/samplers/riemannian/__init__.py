"""Samplers in a metric of the model: of each place, or one for all of the posterior."""
