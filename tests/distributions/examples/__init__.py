"""Examples of every distribution, over which all are checked; `table` puts them together.

Each module has a table `CASES` by name, which may go on after the distribution's: "MvNormal
precision". What a distribution lacks stands beside: `NOT_NONCENTERED` and `NOT_INFORMED`.
"""
