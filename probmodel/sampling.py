"""`infer`: draw from the posterior of a model with a named method."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import child
from probmodel.blas import one_blas_thread
from probmodel.density import as_posterior
from probmodel.density.engines import Engine, announcing, note_length, use_engine
from probmodel.errors import SamplerError, nearest
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.groups import Split, sample
from probmodel.inference.parts import Here
from probmodel.inference.progress import Progress, Status
from probmodel.inference.request import (
    ANSWERS,
    SETTING_SYNONYMS,
    SYNONYMS,
    Arguments,
    Converged,
    Request,
    described,
    request,
    split,
    starting_points,
)
from probmodel.inference.signals import held, interruptible
from probmodel.model.references import bound_model
from probmodel.results.arviz_object import rehearse
from probmodel.results.attributes import library_attributes, package_version, settings_json
from probmodel.results.drawn import Drawn, callback_failed, drawn_from, mark_interrupted, result_of
from probmodel.results.draws import variable_names
from probmodel.results.enough import enough_for, figures
from probmodel.results.findings import emit
from probmodel.results.fitted_starts import at_draws
from probmodel.results.nothing_drawn import nothing_drawn
from probmodel.samplers import DEFAULT_METHOD, find_sampler, make_sampler
from probmodel.samplers.base import Sampler
from probmodel.samplers.registry import setting_names
from probmodel.samplers.requirements import check_density
from probmodel.threads import at_most
from probmodel.types import Array, Posterior


def infer(
    model: Any,
    method: str | Sampler = DEFAULT_METHOD,
    *,
    draws: int | None = None,
    warmup: int | None = None,
    chains: int | None = None,
    seed: int | np.random.SeedSequence | None = None,
    thin: int = 1,
    inits: Any = None,
    target_accept: float | None = None,
    max_time: float | None = None,
    until: Converged | None = None,
    ess: float | None = None,
    pool: bool = True,
    restarts: bool = True,
    standardise: bool = True,
    engine: Engine | None = None,
    cores: int | None = None,
    progressbar: bool = True,
    quiet: bool = False,
    save_warmup: bool = False,
    var_names: str | Sequence[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[Status], Any] | None = None,
    executor: Any = None,
    parts: int | None = None,
    **settings: Any,
) -> Any:
    """Draw from the posterior of ``model``.

    Parameters
    ----------
    model : bound model, LogDensity or Posterior
        What to sample.
    method : str or Sampler
        A name from ``probmodel.samplers.available_samplers()``, or a sampler with its settings.
    draws, warmup, chains : int, optional
        Kept draws per chain, warm-up iterations per chain, and chains; the method knows good
        values. If ``draws`` is not given, the default method makes up to four times as many where
        R-hat or effective sizes ask for it: ``attrs["draws"]`` tells. A warm-up that is not given,
        from starts that are not either, may end early: ``attrs["warmup_done"]`` tells.
    seed : int or SeedSequence, optional
        The same seed, model and settings give the same draws on the same machine. A fresh seed is
        drawn if none is given, and recorded in ``attrs["seed"]``.
    thin : int
        Iterations per kept draw.
    inits : number, "prior", mapping, sequence of mappings, or fit, optional
        Where to start. By default at random, from where chains climb to the bulk. Values by name on
        the scale of the model, for all chains or for each; a number r, for random starts between -r
        and r on the unconstrained scale; ``"prior"``, for draws from the prior; or a fit, for its
        last draws.
    target_accept : float, optional
        Acceptance rate that the warm-up aims at, between 0 and 1.
    max_time : float, optional
        Seconds, warm-up included, after which no further iteration is begun. The result then holds
        what was drawn until then, and ``attrs["timed_out"]`` is 1.
    until : Converged, optional
        Goes on until chains agree, and draws are worth so many independent ones: `draws`,
        `max_time` or 25 times the method's usual draws end it sooner, with a warning.
    ess : float, optional
        Short for ``until=Converged(ess=...)``.
    pool : bool
        Whether all chains teach one adaptation. ``False`` adapts every chain by itself.
    restarts : bool
        Whether chains that are lost in the first part of the warm-up, in a region without weight,
        begin again from where others are. ``attrs["restarted"]`` lists them.
    standardise : bool
        Whether parameters of hierarchies, whose priors depend on other parameters, are sampled
        standardised as prior and data call for, unless ``noncentered=`` or ``information=`` decides
        it. Methods that need a metric leave them as declared. ``attrs["standardised"]`` tells.
    engine : str, optional
        ``"numpy"`` or ``"llvm"`` computes densities and gradients; ``"auto"``, the default, the
        second once it pays, with a warning where a model is too long. ``attrs["engine"]`` tells.
    cores : int, optional
        How many cores machine code and the checks of a run may use; all by default, where the work
        takes long enough. Draws do not depend on it.
    progressbar : bool
        Whether to show the progress on a terminal, or in a notebook.
    quiet : bool
        Show nothing at all, warnings included; they are still in ``attrs["warnings"]``.
    save_warmup : bool
        Keep the warm-up in groups of its own.
    var_names : str or sequence of str, optional
        The variables to keep; all by default.
    checkpoint : path, optional
        A new folder that draws go to while they are made, with all that `resume` needs to go on.
    callback : function, optional
        Called with a `Status` of the run five times a second. The run ends, with what there is, if
        it returns True.
    executor : optional
        Anything with a method ``submit``, whose workers sample while this process waits: of
        `concurrent.futures`, ``dask``, ``mpi4py.futures``. Chains warm up here, together.
    parts : int, optional
        In how many parts chains are sampled, each with random numbers of its own; with an
        `executor` one for each 8 chains, and 2 at least. Draws depend on it, not on the executor.
    **settings
        Settings of the method. The usual synonyms of arguments are accepted: ``tune``,
        ``num_warmup``, ``iter_warmup``, ``num_samples``, ``iter_sampling``, ``num_chains``,
        ``random_seed``, ``initvals``, ``init``, ``adapt_delta``, ``target_accept_prob``,
        ``progress_bar``, ``thinning``.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        What ArviZ uses. If the run is interrupted (Ctrl-C, SIGTERM or SIGHUP) it
        holds what was drawn until then, and ``attrs["interrupted"]`` is 1. Interrupted later, it
        may lack deterministic quantities or the diagnostics; a warning says so.

    Raises
    ------
    SamplerError
        If an argument is unknown or makes no sense, or the model lacks what the method needs;
        nothing has been computed then. Or if ``callback`` ends the run before the first draw,
        unless the warm-up is to be saved.
    InitializationError
        If no starting point has a finite log density.
    TimeLimitError
        If ``max_time`` has passed before the first draw, unless the warm-up is to be saved. Its
        ``inits`` say where the chains were, in the form that the argument `inits` takes.
    KeyboardInterrupt
        If the run is interrupted before the first draw, unless the warm-up is to be saved. It has
        ``inits`` too.

    Warns
    -----
    SamplingWarning
        Once for each reason not to trust the result.
    """
    arguments, rest = Arguments.named(locals(), settings)
    with held() as signals, at_most(cores):
        before = len(signals)
        drawn = draw(model, method, arguments, rest, result=True)
        return finished(drawn, lambda: len(signals) > before, quiet)


def finished(drawn: Drawn, interrupted: Callable[[], bool], quiet: bool) -> Any:
    """Make the ArviZ object and warn, of a run to which no signal can do harm any more.

    ``interrupted`` tells whether a signal has come by now; no warnings are shown if ``quiet``.
    """
    result = result_of(drawn)
    if interrupted():
        mark_interrupted(result, drawn.findings)
    if not quiet:
        try:
            emit(drawn.findings, stacklevel=3)
        except Exception as error:  # warnings that are to be errors
            error.add_note(
                "The draws are not lost: they are the attribute `result` of this exception."
            )
            error.result = result  # type: ignore[attr-defined]
            raise
    return result


_CLIMBING = ("gradient", "hvp", "metric")  # what methods need that climb to the bulk first


class RunStart(NamedTuple):
    """A run that is to be gone on with.

    Attributes
    ----------
    x0 : (chains, dim), where its chains started
    density : snapshot of the density then
    start : the last snapshot of it; None if there is none
    checkpoint : where it is kept, if it is
    drawn : its draws until the snapshot and their statistics, if it is not
    kept : the variables at these draws, name -> (chains, n, *shape)
    """

    x0: Array
    density: dict[str, Any]
    start: dict[str, Any] | None
    checkpoint: Checkpoint | None = None
    drawn: tuple[Array, dict[str, Array]] | None = None
    kept: dict[str, Array] | None = None


def draw(
    model: Any,
    method: str | Sampler,
    arguments: Arguments,
    settings: dict[str, Any],
    *,
    result: bool = False,
    begin: RunStart | None = None,
) -> Drawn:
    """Do what `infer` does, up to the ArviZ object and the warnings.

    Parameters
    ----------
    model, method, settings : as for `infer`
    arguments : the others of `infer`
    result : whether an ArviZ object is to be made; what would prevent that fails first
    begin : the same run, to be gone on with

    Raises
    ------
    SamplerError, InitializationError, TimeLimitError, OutputError, KeyboardInterrupt
        As `infer` does.
    """
    with one_blas_thread(), interruptible(), _quiet_overflow():
        own = arguments.checked()
        sampler = _sampler(method, own.target_accept, settings)
        posterior = as_posterior(model)
        use_engine(posterior, own.engine, own.cores)
        check_density(sampler, posterior)
        asked = request(own, sampler, posterior.name, posterior.dim)
        names = variable_names(own.var_names, posterior)
        enough = enough_for(asked, own.draws, sampler)
        variable_names(enough.rule.var_names, posterior)
        if result:
            rehearse(posterior, names, library_attributes() | {"settings": settings_json(sampler)})
        progress, parts = _progress(own, sampler), _split(asked, sampler)
        (starts, moves), since = spawned(asked.seed, 2), perf_counter()
        if begin is None:
            note_length(posterior, sampler.needs, own.quiet)
            rng = np.random.default_rng(starts)
            x0 = starting_points(sampler, posterior, rng, at_draws(asked, posterior))
            begin = RunStart(x0, {}, None, _checkpoint(own, asked, posterior, sampler, x0))
        elif begin.start is None and hasattr(posterior, "resumed"):
            posterior, _ = posterior.resumed(begin.density, begin.x0)
    saying = announcing(progress.say if progress else None)
    with begin.checkpoint or nullcontext(), saying, _quiet_overflow():
        run = sample(
            sampler, posterior, begin.x0, moves,
            draws=enough.first, warmup=asked.warmup, thin=asked.thin, pool=asked.pool,
            restarts=asked.restarts, arrive=own.inits is None and sampler.needs in _CLIMBING,
            standardise=asked.standardise and sampler.standardises,
            early=own.warmup is None and own.inits is None, save_warmup=asked.save_warmup,
            max_time=asked.max_time + since - perf_counter(), missing=enough.missing, split=parts,
            progress=progress, checkpoint=begin.checkpoint, start=begin.start, drawn=begin.drawn,
        )  # fmt: skip
        asked = dataclasses.replace(asked, draws=run.draws)
        if not run.draws_done and not (asked.save_warmup and run.warmup_done):
            raise nothing_drawn(run, asked, sampler.takes_inits, progress, begin.checkpoint)
        with one_blas_thread():
            drawn = drawn_from(run, names, sampler, asked, enough, begin.checkpoint, begin.kept)
    if progress is not None and progress.problem is not None:
        drawn.findings.append(callback_failed(progress.problem))
    return drawn


def _quiet_overflow() -> Any:
    """Leave out NumPy's warnings: what overflows is found among the draws, and said in words."""
    return np.errstate(all="ignore")


def _split(asked: Request, sampler: Sampler) -> Split | None:
    """Return how chains are sampled in parts, if they are."""
    found = split(asked, sampler)
    return None if found is None else Split(found[0] or Here(), found[1])


def _progress(own: Arguments, sampler: Sampler) -> Progress | None:
    """Return what shows the progress and tells a callback of it; None if there is neither."""
    shown = own.progressbar and not own.quiet
    if not shown and own.callback is None:
        return None
    judge = None if sampler.coupling == "ensemble" else figures
    return Progress(judge=judge, callback=own.callback, show=shown)


def _checkpoint(
    own: Arguments, asked: Request, posterior: Posterior, sampler: Sampler, x0: Array
) -> Checkpoint | None:
    """Begin the checkpoint that was asked for, if any."""
    if own.checkpoint is None:
        return None
    about = {
        "x0": x0, "model": bound_model(getattr(posterior, "model", None)),
        "density": posterior.snapshot() if hasattr(posterior, "snapshot") else {},
        **described(sampler, own, asked),
    }  # fmt: skip
    return Checkpoint.create(own.checkpoint, package_version("probmodel"), about)


def _in_our_words(settings: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """Rename settings that other tools call otherwise."""
    ours = {}
    for name, value in settings.items():
        synonym = SETTING_SYNONYMS.get(name, name)
        own = synonym if synonym in known else name
        if own in ours or (own != name and own in settings):
            raise SamplerError(f"{own!r} and {name!r} mean the same; give one of them.", name=name)
        ours[own] = value
    return ours


def _hint(name: str, known: set[str]) -> str:
    """Return what may have been meant by a name that is neither argument nor setting."""
    if name in ANSWERS:
        return f" Here {ANSWERS[name]}."
    if name in SETTING_SYNONYMS:
        return f" Methods that have it call it {SETTING_SYNONYMS[name]!r}."
    own = {"model", "method", *(infer.__kwdefaults__ or ())}
    return nearest(name, {*known, *SYNONYMS, *own})


def _sampler(method: str | Sampler, target_accept: Any, settings: dict[str, Any]) -> Sampler:
    """Make the sampler; unknown keywords are compared with those of `infer` too."""
    if target_accept is not None:
        settings = {**settings, "target_accept": target_accept}
    kind = type(method) if isinstance(method, Sampler) else find_sampler(method)
    known = set(setting_names(kind))
    settings = _in_our_words(settings, known)
    unknown = [name for name in settings if name not in known]
    if unknown == ["target_accept"]:
        raise SamplerError(
            f"{kind.name} has no target_accept: it does not adapt to an acceptance rate. "
            f"Its settings: {', '.join(sorted(known)) or 'none'}.",
            method=kind.name,
        )
    if unknown:
        raise SamplerError(
            f"infer() has no argument {unknown[0]!r} and {kind.name} no such setting."
            f"{_hint(unknown[0], known)}",
            name=unknown[0], method=kind.name,
        )  # fmt: skip
    return make_sampler(method, **settings)


def spawned(seed: np.random.SeedSequence, n: int) -> list[np.random.SeedSequence]:
    """Return ``n`` children of a seed, always the same ones: it is left as it is."""
    return [child(seed, i) for i in range(n)]
