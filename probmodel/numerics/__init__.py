"""Numbers: special functions, linear algebra, recurrences, roots, solvers, random bits."""
