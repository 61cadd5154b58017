"""Programs in the Stan language, read, run and written."""
