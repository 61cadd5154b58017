"""All programs of this folder, by the modules that keep them."""

import assignments  # noqa: F401
import branches  # noqa: F401
import branching_recurrences  # noqa: F401
import composites  # noqa: F401
import declarations  # noqa: F401
import independent_loops  # noqa: F401
import joined_priors  # noqa: F401
import learning  # noqa: F401
import libraries  # noqa: F401
import promotions  # noqa: F401
import ragged_loops  # noqa: F401
import recurrences  # noqa: F401
import solvers  # noqa: F401
import statements  # noqa: F401
import states  # noqa: F401
import terms  # noqa: F401
from stan_program import PROGRAMS, Program, evaluated

__all__ = ["PROGRAMS", "Program", "evaluated"]
