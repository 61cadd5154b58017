"""Functions and distributions of the Stan language, in tables by what they do to arguments."""
