"""The driver loop, groups of chains, and what collects their draws."""
