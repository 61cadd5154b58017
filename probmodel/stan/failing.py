"""Errors of a program that is run: each points at the node where something went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import numpy as np

from probmodel.errors import DataError, ModelError, ProbmodelError
from probmodel.stan.complaints import Sources, complaint, placed
from probmodel.stan.indexing import LanesDifferError, OperationError
from probmodel.stan.syntax import nodes as n


class Failing:
    """What can go wrong at nodes of a program.

    Parameters
    ----------
    sources : the text of the program, by file
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def fail(
        self, message: str, node: n.Node | None, kind: type[ProbmodelError] = ModelError
    ) -> NoReturn:
        """Raise an error that points at a node."""
        raise complaint(message, node.place if node else None, self.sources, kind)

    @contextmanager
    def at(self, node: n.Node) -> Iterator[None]:
        """Say of what goes wrong inside that it does so at a node."""
        try:
            yield
        except LanesDifferError:
            raise
        except ProbmodelError as error:
            raise placed(error, node.place, self.sources) from error
        except (OperationError, ValueError, IndexError, TypeError, ArithmeticError) as error:
            self.fail(f"{error}.", node)
        except np.linalg.LinAlgError as error:
            self.fail(f"{error}. The matrix comes from data alone.", node, DataError)
        except (RecursionError, MemoryError) as error:
            self.fail(f"this takes too much ({type(error).__name__}).", node)
