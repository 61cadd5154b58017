"""A bound model as a Stan program, with its data."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from probmodel.arguments import flag
from probmodel.errors import ModelError, SamplingWarning
from probmodel.model import Model
from probmodel.model.declarations import Observed
from probmodel.stan.export.identifiers import called_functions
from probmodel.stan.export.program_blocks import Assembly


class StanProgram(NamedTuple):
    """A Stan program and its data.

    Attributes
    ----------
    name : of the model
    code : the program
    data : what it takes, by name: numbers and nested lists
    names : what it calls the declarations of the model, by their names there: the same, unless
        that is a word of Stan's
    """

    name: str
    code: str
    data: dict[str, Any]
    names: dict[str, str]

    def __str__(self) -> str:
        return self.code

    def write(self, folder: str | Path = ".") -> tuple[Path, Path]:
        """Write ``<name>.stan`` and ``<name>.json`` into a folder, for CmdStan and its kin.

        Returns
        -------
        The two files
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        files = place / f"{self.name}.stan", place / f"{self.name}.json"
        files[0].write_text(self.code, encoding="utf-8")
        files[1].write_text(json.dumps(self.data) + "\n", encoding="utf-8")
        return files


def to_stan(model: Any, *, log_lik: bool = False) -> StanProgram:
    """Return a bound model as a Stan program, with the data that it takes.

    Parameters
    ----------
    model : a model that is bound to all its data
    log_lik : whether the program computes the log density of each observation too, as
        ``log_lik``, or ``log_lik_y`` where several quantities are observed

    Returns
    -------
    ``code``, ``data``, and ``write(folder)`` for both as files. The log density is that of the
    model, up to a constant.

    Raises
    ------
    ModelError
        If Stan has no spelling for something; the message names the declaration.
    DataError
        If an observed quantity was bound without data.

    Warns
    -----
    SamplingWarning
        If ``log_lik`` leaves out an observed quantity, such as a series, whose values have one log
        density together. Where there is no other it is a ModelError.

    Notes
    -----
    Indices and categories count from 1 in the program and its data. What data decide and Stan
    cannot compute is computed here and becomes a datum of the program.
    """
    if not isinstance(model, Model):
        raise ModelError(
            f"to_stan takes a bound model, Schools(y=..., sigma=...); got {model!r}.", given=model
        )
    log_lik = flag("log_lik", log_lik)
    binding = model._binding
    if binding.unbound:
        missing = binding.unbound[0]
        datum = model._datum_of(str(missing.name))
        raise missing.data_error(
            f"{binding.name} was bound without its observed data {datum!r}, which its Stan "
            "program takes.",
            needs=[datum],
        )
    taken: set[str] = set()
    while True:
        assembly = Assembly(model, taken, log_lik)
        code, data = assembly.program()
        clashes = called_functions(code) & assembly.variables
        if not clashes:
            _warn_of(assembly.without_log_lik)
            return StanProgram(binding.name, code, data, assembly.called)
        taken |= clashes


def _warn_of(without: list[Observed]) -> None:
    """Warn of observed quantities without log densities, at the caller of `to_stan`."""
    for declaration in without:
        warnings.warn(
            f"to_stan(log_lik=True) leaves out {declaration.title}: {declaration.distribution.name}"
            " has one log density for all of its values together. Those of the other observed "
            "quantities are in the program.",
            SamplingWarning,
            stacklevel=3,
        )
