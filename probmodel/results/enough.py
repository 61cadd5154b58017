"""How many draws a run lacks: of one that is to converge, or whose draws are left to the method.

    n     draws a chain so far           R     largest R-hat
    e     smallest effective size, bulk or tail

The excess of R-hat over 1 and the relative error of a quantile go down as draws are added: the
first by 1 / n, the second so that e goes up by n. So what is missing for R and e to be what they
are to be can be told, as long as chains differ by chance alone. Where far more would be needed they
do not: modes lie apart, or the method fails, and more draws are no remedy.

A run that is told to go on until it has converged is stopped because of an estimate. What that does
to its results is kept small: there are at least `FIRST` draws a chain, and looks are few, since
from one to the next the run grows by half at least, and by a fifth more than the estimates ask for.
R-hat and effective sizes are of ranks: they do not tell whether the draws lie high or low.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from probmodel.inference.request import Converged, Request
from probmodel.results.convergence import Convergence, screening_stride
from probmodel.results.draws import element_labels, named_draws, variable_names
from probmodel.results.findings import Finding
from probmodel.results.quantities import convergence_of, element_rows
from probmodel.samplers.base import Sampler
from probmodel.types import Array, Posterior

FIRST = 200  # draws a chain before the first look, of a run that is told when to end
LIMIT = 25  # times the method's usual draws, for a run that is told nothing else when to end
MARGIN = 1.2  # more than the estimates ask for, as these are uncertain
LEAST_GROWTH, MOST_GROWTH = 1.5, 3.0  # from one look to the next
_SUSPECTS = 8  # coordinates that are looked at closely, by each of two simple measures
_LEAST = 4  # draws that R-hat takes
_MOST_NUMBERS = 1 << 27  # in all draws of a run that goes on: 1 GB
_ENOUGH_DRAWS = 250  # of a chain, that tell which coordinates are suspect


@dataclass(frozen=True)
class Enough:
    """Decides when a run has draws enough.

    Attributes
    ----------
    rule : what is enough
    most : draws a chain that there may be in the end
    first : draws a chain before it is looked at
    asked : whether the user gave the rule: then the run goes on up to ``most``, even where that
        will not do
    ensemble : whether chains are members of ensembles
    """

    rule: Converged
    most: int
    first: int
    asked: bool = False
    ensemble: bool = False

    def missing(self, density: Posterior, x: Array, groups: int = 1) -> int:
        """Return how many more draws a chain takes; 0 if the run is to end.

        ``x``, (chains, draws, dim), is what has been drawn, and the density on that scale.
        """
        chains, draws, dim = x.shape
        most = min(self.most, _MOST_NUMBERS // max(1, chains * dim))
        if draws < _LEAST or most <= draws:
            return 0
        factor = 1.0
        if self.rule.var_names is None:
            rows = element_rows(x[:, :, suspects(x)])
            factor = self._factor(self._found([rows], groups))
        if self.asked and factor <= 1.0:
            factor = self._factor(self._found(self._blocks(density, x)[1], groups))
        if not factor > 1.0 or (factor > most / draws and not self.asked):  # nor if it is NaN
            return 0
        factor *= MARGIN
        if self.asked:
            factor = min(max(factor, LEAST_GROWTH), MOST_GROWTH)
        return min(math.ceil(draws * factor), most) - draws

    def shortfall(self, density: Posterior, x: Array, groups: int) -> list[Finding]:
        """Say what is missing at the end of a run that was told when it may end."""
        if not self.asked or x.shape[1] < _LEAST:
            return []
        names, blocks = self._blocks(density, x)
        found = self._found(blocks, groups)
        factor = self._factor(found)
        if factor <= 1.0:
            return []
        ess = np.fmin(found.ess_bulk, found.ess_tail)
        if not np.isfinite(ess).all():
            name = names[int(np.flatnonzero(~np.isfinite(ess))[0])]
            message = f"Convergence ({self.rule}) cannot be judged: {name} has draws that are not "
            return [Finding("until", f"{message}finite, or too few.", (name,))]
        figures, worst = [], []
        if self.rule.ess is not None:
            worst.append(names[int(np.argmin(ess))])
            figures.append(f"the smallest effective sample size is {ess.min():.0f} ({worst[-1]})")
        if self.rule.r_hat is not None and np.isfinite(found.rhat).any():
            worst.append(names[int(np.nanargmax(found.rhat))])
            figures.append(f"the largest R-hat is {np.nanmax(found.rhat):.3f} ({worst[-1]})")
        wanted = float(f"{x.shape[1] * factor * MARGIN:.2g}")
        message = (
            f"The run ended before it reached {self.rule}: {' and '.join(figures)} after "
            f"{x.shape[1]} draws per chain. About {wanted:.0f} draws per chain would be needed "
            f"(draws={wanted:.0f}), provided that the chains mix and none is stuck."
        )
        return [Finding("until", message, tuple(dict.fromkeys(worst)))]

    def _blocks(self, density: Posterior, x: Array) -> tuple[list[str], list[Array]]:
        """Names and values of what the rule is about: arrays (rows, chains, draws)."""
        names = self.rule.var_names
        if names is None:
            names = [v.name for v in density.variables if v.kind == "param"]
        draws = named_draws(density, x, variable_names(names, density))
        kept = [v for v in density.variables if v.name in draws]
        labels = [label for v in kept for label in element_labels(v, density.coords)]
        return labels, [element_rows(draws[v.name]) for v in kept]

    def _found(self, blocks: list[Array], groups: int) -> Convergence:
        _, chains, draws = blocks[0].shape
        ess, rhat = self.rule.ess or 0.0, self.rule.r_hat or math.inf
        stride = screening_stride(chains, draws, max(ess, 1.0))
        return convergence_of(blocks, groups if self.ensemble else None, stride, rhat, ess)

    def _factor(self, found: Convergence) -> float:
        """Return how many times as many draws it takes; NaN if that cannot be told."""
        factor = 0.0
        if self.rule.ess is not None:
            ess = float(np.min([found.ess_bulk, found.ess_tail], initial=math.inf))
            if math.isnan(ess):
                return ess
            factor = self.rule.ess / max(ess, 1e-300)
        if self.rule.r_hat is not None:
            # NaN for what is constant, such as the diagonal of a correlation matrix.
            excess = float(np.fmax.reduce(found.rhat, initial=1.0)) - 1.0
            factor = max(excess / (self.rule.r_hat - 1.0), factor)
        return factor


def figures(x: Array) -> tuple[float, float]:
    """Return the largest R-hat, and the smallest effective size, of the worst coordinates.

    ``x`` are draws, (chains, draws, dim).
    """
    chains, draws, _ = x.shape
    rows = element_rows(x[:, :, suspects(x)])
    found = convergence_of([rows], None, screening_stride(chains, draws))
    with np.errstate(all="ignore"):
        return float(np.fmax.reduce(found.rhat)), float(np.min([found.ess_bulk, found.ess_tail]))


def enough_for(request: Request, given: int | None, sampler: Sampler) -> Enough:
    """Return when a run is to end.

    ``given`` are the draws that the user asked for, if any: the most of a run that is told when to
    end. The sampler knows how many there may be where nothing was asked.
    """
    ensemble = sampler.coupling == "ensemble"
    if request.until is not None:
        most = given
        if most is None:
            most = LIMIT * request.draws if math.isinf(request.max_time) else _MOST_NUMBERS
        return Enough(request.until, most, min(FIRST, most), asked=True, ensemble=ensemble)
    most = 0 if given is not None else sampler.most_draws
    return Enough(Converged(), most, request.draws, ensemble=ensemble)


def suspects(x: Array) -> Array:
    """Return the coordinates in whose means, or spreads, halves of chains differ most: (k,).

    Of many draws every so many are looked at.
    """
    x = x[:, :: max(1, x.shape[1] // _ENOUGH_DRAWS)]
    with np.errstate(all="ignore"):
        spreads = np.abs(x - x.mean(axis=(0, 1)))
    parts = (_disagreement(x), _disagreement(spreads))
    order = [np.argsort(-part, kind="stable")[:_SUSPECTS] for part in parts]
    return np.unique(np.concatenate(order))


def _disagreement(x: Array) -> Array:
    """Variance of the means of half chains, in units of that within them: (coordinates,)."""
    half = x.shape[1] // 2
    parts = np.concatenate([x[:, :half], x[:, half : 2 * half]])
    with np.errstate(all="ignore"):
        ratio = parts.mean(axis=1).var(axis=0) / parts.var(axis=1).mean(axis=0)
    return np.nan_to_num(ratio, nan=0.0, posinf=np.inf)
