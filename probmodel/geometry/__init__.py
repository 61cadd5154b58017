"""Metrics of models: information of the data, its slopes, one metric for all of a posterior."""
