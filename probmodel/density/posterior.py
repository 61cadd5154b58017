"""The log density of a bound model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.density.engines import Engine, Engines
from probmodel.density.layout import blocks, coordinate_names
from probmodel.density.log_density import LogDensity
from probmodel.density.programs import Programs
from probmodel.density.unconstraining import unconstrained_draws, unconstrained_value
from probmodel.errors import InitializationError, ModelError, nearest
from probmodel.expressions import Expression
from probmodel.geometry.constant_metric import LatentMean, constant_metric
from probmodel.geometry.metric import ModelMetric
from probmodel.model import Model, ModelMeta
from probmodel.model.binding import standardised
from probmodel.model.pseudo_data import PseudoData
from probmodel.types import Array, Done, Dynamics, Posterior, Tempered

if TYPE_CHECKING:
    from probmodel.density.tempered_density import Tempering
    from probmodel.geometry.metric_gradient import MetricGradient


class ModelDensity(LogDensity):
    """Log posterior density of a bound model on unconstrained space.

    Parameters
    ----------
    model : a bound model whose observed quantities all have data
    pseudo_data : what standardises the parameters of hierarchies, by name; as declared without
    engine : what computes gradients: ``"auto"``, ``"numpy"`` or ``"llvm"``, see `engines`

    Raises
    ------
    DataError
        If an observed quantity was bound without data.
    """

    def __init__(
        self,
        model: Model,
        pseudo_data: Mapping[str, PseudoData] | None = None,
        engine: Engine = "auto",
    ) -> None:
        super().__init__()
        binding = standardised(model._binding, pseudo_data) if pseudo_data else model._binding
        if binding.unbound:
            needs = list(dict.fromkeys(model._datum_of(str(d.name)) for d in binding.unbound))
            names = ", ".join(map(repr, needs))
            remedy = f"Pass them: {binding.name}(..., {', '.join(f'{k}=...' for k in needs)})."
            raise binding.unbound[0].data_error(
                f"{binding.name} was bound without its observed data {names}, so there is nothing "
                f"to condition on. {remedy}",
                needs=needs,
                remedy=remedy,
            )
        self.model = model
        self.name = binding.name
        self._binding = binding
        self._blocks = blocks(binding.free)
        self.dim = self._blocks[-1][1].stop
        self.coordinate_names = tuple(n for f, _ in self._blocks for n in coordinate_names(f))
        self._generated = model._generated
        own = self._generated.variables if self._generated else ()
        self.variables = (*binding.variables, *own)
        self.coords = dict(binding.dimensions.coords)
        for variable in own:
            self.coords.update(variable.coords)
        self.observed_data, self.constant_data = binding.data_groups()
        self._programs = Programs(binding) if pseudo_data else Programs.of(model)
        self._engines = Engines(binding, engine, self._programs, None)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is lowered anew: programs belong to one binding.
        return type(self), (self.model, dict(self._binding.pseudo_data), self._engines.engine)

    def use_engine(self, engine: Engine | None = None, cores: int | None = None) -> None:
        """Choose what computes densities from now on; no engine for a new start with the same."""
        engine = engine or self._engines.engine
        self._engines = Engines(self._binding, engine, self._programs, cores)
        self.__dict__.pop("tempering", None)

    @property
    def engine(self) -> str:
        """What computes densities, of whichever kind, now: ``"numpy"`` or ``"llvm"``."""
        tempering = self.__dict__.get("tempering")  # if one was asked for
        return min(self._engines.in_use, tempering.engine if tempering else "numpy")

    def _value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        return self._engines.gradient(x)

    def simulate_dynamics(self, dynamics: Dynamics) -> Done | None:
        """Do Hamiltonian dynamics in machine code; None where there is none."""
        return self._engines.gradient.simulate_dynamics(dynamics)

    def rehearse(self, x: Array, gradient: bool = True) -> None:
        """Evaluate as a call would, to see how long that takes; see `Switch.rehearse`."""
        (self._engines.gradient if gradient else self._engines.value).rehearse(x)

    def about_length(self, gradient: bool = True) -> str:
        """Say that there are too many operations for machine code; see `Switch.about_length`."""
        return (self._engines.gradient if gradient else self._engines.value).about_length()

    def put_off_machine_code(self, off: bool) -> None:
        """Make machine code late, where chains only pass through a scale, or soon again."""
        self._engines.put_off(off)

    @property
    def engine_state(self) -> tuple[tuple[float, float, str], ...]:
        """How far engines are, see `Engines.snapshot`."""
        return self._engines.snapshot()

    def settle_engine(self, x: Array) -> None:
        """Decide for good what computes densities, see `Engines.settle`."""
        self._engines.settle(x)

    def snapshot(self) -> dict[str, Any]:
        """Return the scale of hierarchies, and how far engines are."""
        pseudo_data = {name: tuple(data) for name, data in self._binding.pseudo_data.items()}
        return {"pseudo_data": pseudo_data, "engine": self.engine_state}

    def resumed(self, snapshot: dict[str, Any], x: Array) -> tuple[ModelDensity, Array]:
        """Return the density on the scale, and with the engines, that it had; and its values.

        These are no work that counts for the engines: a run that goes on turns to machine code
        where it would have. Raises a `ModelError` if it had other parameters.
        """
        names = {free.name for free in self._binding.free}
        if x.shape[1] != self.dim or not names.issuperset(snapshot["pseudo_data"]):
            raise ModelError(
                f"{self.name} has {self.dim} unconstrained coordinates, of {', '.join(names)}; the "
                f"run had {x.shape[1]}. It was of another model."
            )
        pseudo_data = {name: PseudoData(*d) for name, d in snapshot["pseudo_data"].items()}
        found = ModelDensity(self.model, pseudo_data) if pseudo_data else self
        found.use_engine(self._engines.engine, self._engines.cores)
        logp = found.log_density(x)
        found._engines.resume(snapshot["engine"], x)
        return found, logp

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density times a vector: (chains, dim)."""
        self._check_shape(x)
        return self._programs.curvature(x, v)[1]

    def _value(self, x: Array) -> Array:
        return self._engines.value(x)[0]

    def metric(self, x: Array) -> Array:
        """Return the expected Fisher information of the data, minus the Hessian of other terms.

        Parameters
        ----------
        x : (chains, dim)

        Returns
        -------
        Array
            (chains, dim, dim), symmetric, on the unconstrained scale; NaN in the rows where it is
            not finite. It is positive definite where the other terms are log-concave.

        Raises
        ------
        ModelError
            If the information of a distribution is not known in closed form.
        """
        self._check_shape(x)
        return self._metric(x)

    @cached_property
    def _metric(self) -> ModelMetric:
        return ModelMetric(self._binding)

    @property
    def metric_is_cheap(self) -> bool:
        """Whether differences of the metric take less than its gradient along many directions."""
        return self._metric.is_cheap

    def constant_metric(self, latent_mean: LatentMean = "paper") -> Array:
        """Return the precision of a Gaussian prior plus the averaged information: (dim, dim).

        ``latent_mean``, ``"paper"`` or ``"exact"``, says how the information is averaged over the
        prior. Raises a `ModelError` if the prior is not Gaussian or not proper, or the information
        cannot be averaged.
        """
        return constant_metric(self._binding, latent_mean)

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Return the gradient in x of ``sum_k weights_k v_k' G(x) v_k``, the vectors being held.

        Parameters
        ----------
        x : (chains, dim)
        vectors : (chains, k, dim), of about unit length in the metric: differences follow them
        weights : (chains, k)

        Returns
        -------
        Array
            (chains, dim); NaN in the rows where it is not finite

        Raises
        ------
        ModelError
            If the information of a distribution is not known in closed form.
        """
        self._check_shape(x)
        return self._metric_gradient(x, vectors, weights)

    @cached_property
    def _metric_gradient(self) -> MetricGradient:
        from probmodel.geometry.metric_gradient import MetricGradient

        return MetricGradient(self._binding, self._metric)

    @property
    def gradient_source(self) -> str:
        """The Python function by which NumPy computes value and gradient, as source."""
        return self._programs.by_numpy.source

    @property
    def calls_back(self) -> tuple[str, ...]:
        """Names of the functions in NumPy that machine code of the gradient calls."""
        return self._programs.gradient.calls_back

    def terms(self, x: Array) -> dict[str, Array]:
        """Return each term of the log density by its title: (chains, dim) -> (chains,) each."""
        self._check_shape(x)
        titles = (term.title for term in self._binding.terms)
        return dict(zip(titles, self._programs.terms(x), strict=True))

    def constrain(self, x: Array, names: tuple[str, ...] | None = None) -> dict[str, Array]:
        """Return parameters, deterministic and generated quantities on the user's scale."""
        self._check_shape(x)
        wanted = tuple(v.name for v in self.variables) if names is None else tuple(names)
        known = self._binding.saved
        if all(name in known for name in wanted):
            return self._saved(x, wanted)
        needed = dict.fromkeys(
            [*(name for name in wanted if name in known), *self._generated.needs]
        )
        values = self._saved(x, tuple(needed))
        values |= self._generated.at({name: values[name] for name in self._generated.needs})
        return {name: values[name] for name in wanted}

    def _saved(self, x: Array, names: tuple[str, ...]) -> dict[str, Array]:
        """Return what the model declares."""
        saved = self._programs.saved
        if names not in saved:
            saved[names] = self._programs.values([self._binding.saved[name] for name in names])
        return dict(zip(names, saved[names](x), strict=True))

    def unconstrain(self, values: dict[str, Any], default: Array) -> Array:
        """Return the unconstrained point of parameter values, in declared order.

        Raises an `InitializationError` if a name is unknown, or a value has the wrong shape or lies
        outside its support.
        """
        known = {free.name: free for free in self._binding.free}
        for name in values:
            if name not in known:
                raise InitializationError(
                    f"inits names {name!r}, which is no param of {self.name}."
                    f"{nearest(name, known)}",
                    name=name,
                )
        x = default.copy()
        for free, cut in self._blocks:
            if free.name in values:
                x[cut] = unconstrained_value(self, x, free, values[free.name])
        return x

    def values_at(self, x: Array, expressions: Sequence[Expression]) -> list[Array]:
        """Return the values of some expressions of the model: (n, dim) -> (n, *shape) each."""
        return self._programs.values(expressions)(x)

    def unconstrained(self, draws: Mapping[str, Array]) -> Array:
        """Return the points of draws of all parameters: name -> (n, *shape) to (n, dim)."""
        return unconstrained_draws(self, draws)

    def prior_draws(self, rng: np.random.Generator, n: int) -> Array:
        """Draw all parameters from their priors, for a start: (n, dim)."""
        from probmodel.density.prior import prior_draws

        return prior_draws(self._binding, rng, n)

    def prior_sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw from the prior, exactly: (n, dim); a ModelError if it is not proper."""
        return self.tempering.draws(rng, n)

    def tempered(self, x: Array, beta: Array) -> Tempered:
        """Return the density with the likelihood to the power of ``beta``: (n, dim), (n,)."""
        return self.tempering(x, beta)

    @cached_property
    def tempering(self) -> Tempering:
        """What draws from the prior, and the density on the way to the posterior."""
        from probmodel.density.tempered_density import Tempering

        return Tempering(self._binding, self._engines.engine, self._engines.cores)

    @property
    def hierarchical(self) -> bool:
        """Whether parameters have priors that depend on others, and may be standardised."""
        from probmodel.density.standardising import hierarchies

        return bool(hierarchies(self))

    def standardised(
        self, visited: Array, rng: np.random.Generator, count: Callable[[Any], Any]
    ) -> ModelDensity:
        """Return the density with hierarchies standardised by prior and data.

        What data tell is measured where chains have been, ``visited``, (times, chains, dim).
        ``count`` returns a density that counts its evaluations.
        """
        from probmodel.density.standardising import measured

        found = ModelDensity(self.model, measured(self, visited, rng, count))
        found.use_engine(self._engines.engine, self._engines.cores)
        return found

    def translated(self, x: Array, origin: ModelDensity) -> Array:
        """Return points of ``origin``, another scale of the same model, on this one's."""
        from probmodel.density.standardising import translated

        return translated(x, origin, self)

    def as_declared(self, x: Array) -> Array:
        """Return points on the scale of the model as it was declared: (..., dim)."""
        if not self._binding.pseudo_data:
            return x
        return ModelDensity(self.model).translated(x.reshape(-1, self.dim), self).reshape(x.shape)

    def centring(self, x: Array) -> dict[str, Array]:
        """Return how much the data decide about each element of what is standardised.

        From 0, where a parameter is sampled non-centred, to 1, where it is centred: the share of
        the data in the precision of an element, given the parameters of its prior.

        By parameter, (n, *shape) for x of (n, dim).
        """
        from probmodel.density.standardising import centring

        return centring(self, x)

    def explain(self, x: Array) -> str:
        """Return the terms at one point, with the first offending element of each bad one."""
        from probmodel.density.explain import explain_point

        return explain_point(self._binding, self, x)


def as_posterior(model: Any) -> LogDensity:
    """Return the log density of a bound model; a log density comes back as it is.

    Raises a `ModelError` if it is neither, which says of a model class that was not bound what to
    write, and a `DataError` if an observed quantity of the model has no data.
    """
    if isinstance(model, Model):
        return ModelDensity(model)
    if not isinstance(model, type) and isinstance(model, LogDensity | Posterior):
        return model  # type: ignore[return-value]
    if isinstance(model, ModelMeta):
        takes = ", ".join(f"{name}=..." for name in model._takes())  # type: ignore[attr-defined]
        raise ModelError(
            f"{model.__name__} is a model without data. Bind it first: "
            f"infer({model.__name__}({takes})).",
            model=model.__name__,
        )
    raise ModelError(
        "expected a bound Model or a LogDensity (LogDensity.from_function(f, dim=...)); got "
        f"{type(model).__name__}.",
        given=model,
    )
