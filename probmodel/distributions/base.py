"""What a distribution is: pure formulas over arrays, plus the arguments it was declared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from probmodel import distributions
from probmodel.constraints.base import Constraint
from probmodel.distributions.call_arguments import Parameter as Parameter
from probmodel.distributions.call_arguments import bind_arguments, check_numbers, prepare_class
from probmodel.distributions.no_value import NoValue
from probmodel.errors import Located, ModelError
from probmodel.expressions import Expression, caller_location, settle
from probmodel.expressions.known_parts import Values
from probmodel.numerics.linalg import inverse_of_affine
from probmodel.types import Array

Thunk = Callable[[], Any]
InformationMatrix = Mapping[tuple[str, str], Thunk]

_CDF = "cumulative distribution function to truncate or censor it by"


class Distribution(Located, NoValue):
    """A distribution: parameters as declared, and formulas that take them as arguments.

    Subclasses define ``parameters`` and the methods below. Every formula takes ``xp``, a
    NumPy-like namespace (``numpy``, or ``autograd.numpy`` when derivatives of the formula are
    taken), then the value, then the parameters in declared order. Arrays broadcast over their
    leading (batch) axes; event axes come last.
    """

    # Where the density is positive, if that does not depend on the parameters; else see `support`.
    domain: ClassVar[Constraint]

    # What to do with data that are outside of it, as a sentence for the error; empty if nothing.
    remedy: ClassVar[str] = ""

    # Wrappers and processes, whose form depends on what they are given, shadow these three with
    # attributes of the instance (`_take_form`): read them from the instance where there is one.
    parameters: ClassVar[dict[str, Parameter]]
    event_ndim: ClassVar[int] = 0
    discrete: ClassVar[bool] = False

    # Whether the elements along the first event axis are steps in time, each given those before it:
    # their labels must then be in order, see `model.series_labels`.
    sequential: ClassVar[bool] = False

    # Whether a value is a process and noise, so that there is a process to draw without the noise.
    is_noisy: ClassVar[bool] = False

    # Whether the density is symmetric about zero, in the member that `base` returns.
    symmetric: ClassVar[bool] = False

    # Whether `noncentered` is affine in z.
    noncentered_is_affine: ClassVar[bool] = True

    # What `infer` standardises by prior and data: elements, a series, a value as a whole; or none.
    takes_pseudo_data: ClassVar[Literal["elements", "series", "whole"] | None] = None

    # An autograd primitive of z and the parameters that `noncentered` runs, where there is one: to
    # trace the formula for its derivative may cost more than the formula.
    noncentered_primitive: ClassVar[Any] = None

    # Which distribution says the same of a parameter's link: {("rate", "exp"): PoissonLog} means
    # that with rate = exp(e), PoissonLog with e in the place of rate is the better formula.
    link_forms: ClassVar[dict[tuple[str, str], type[Distribution]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        prepare_class(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.location = caller_location()
        self.args = bind_arguments(type(self).__name__, self.parameters, args, kwargs)

    def __repr__(self) -> str:
        from probmodel.distributions.printed import distribution_text

        return distribution_text(self) if hasattr(self, "_args") else super().__repr__()

    def _repr_html_(self) -> str:
        from probmodel.distributions.printed import distribution_html

        return distribution_html(self)

    @property
    def args(self) -> dict[str, Any]:
        """What each parameter was given: numbers, arrays and expressions, copied when it was."""
        return self._args

    @args.setter
    def args(self, given: dict[str, Any]) -> None:
        """Keep what is given out of reach of later changes."""
        self._args: dict[str, Any] = settle(given)
        check_numbers(self.name, self._args, self.location)

    def _take_form(
        self, parameters: dict[str, Parameter], event_ndim: int, discrete: bool = False
    ) -> None:
        """Give this instance parameters, event axes and discreteness of its own."""
        vars(self).update(parameters=parameters, event_ndim=event_ndim, discrete=discrete)

    @cached_property
    def event_ndims(self) -> tuple[int, ...]:
        """Number of event axes of the value and of each parameter."""
        return (self.event_ndim, *(p.event_ndim for p in self.parameters.values()))

    @property
    def has_atoms(self) -> bool:
        """Whether single values have a probability although it is not ``discrete``."""
        return False

    @property
    def batch_hint(self) -> str:
        """What to do where parameters have more axes than there are values, in sentences."""
        return ""

    def support(self) -> Constraint:
        """Where the density is positive, with bounds from the declared arguments."""
        if not hasattr(self, "domain"):
            raise NotImplementedError(f"{self.name} has no domain, and no support() of its own")
        return self.domain

    def support_for(self, *shapes: tuple[int, ...]) -> Constraint:
        """Return the support where parameters have these shapes, which may number categories."""
        return self.support()

    def event_shape(self, *params: Array) -> tuple[int, ...] | None:
        """Shape of one value, as the parameters decide it; None if they do not."""
        for value, spec in zip(params, self.parameters.values(), strict=True):
            if spec.event_ndim and np.ndim(value) >= spec.event_ndim:
                return np.shape(value)[np.ndim(value) - self.event_ndim :]
        return None

    def objection(self, event: tuple[int, ...], *params: Array | None) -> str:
        """Say what is wrong with known parameters that are possible one by one; empty if nothing.

        ``event`` is the shape of one value; None stands for parameters that data do not decide.
        """
        return ""

    def anchors(self) -> dict[str, tuple[Any, tuple[int | None, ...]]]:
        """Return what data say of the elements of a value: where they lie, which are neighbours.

        By name, an array or an expression, and which event axis each of its axes runs along, as
        ``Parameter.along`` has it. By default these are the known parameters.
        """
        return {
            name: (self.args[name], spec.along)
            for name, spec in self.parameters.items()
            if spec.known
        }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density (or log mass) without the terms of `log_base`: batch shape."""
        raise NotImplementedError

    def log_base(self, value: Array, *params: Any) -> Any:
        """Terms that depend on observed data alone, such as ``-log(y!)``: computed once (NumPy).

        Broadcasts to batch shape. It reads the value and the integer parameters (a number of
        trials) only; the other parameters may be anything. ``-inf`` marks values that no
        parameters allow. Nothing in it depends on the value of a continuous distribution.
        """
        return 0.0

    def log_density(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density (or log mass) with all its constants, one number per batch element."""
        return self.log_kernel(xp, value, *params) + self.log_base(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Return the expected Fisher information of parameters that are numbers, in closed form.

        One thunk for each pair of parameters, named in declared order; what it returns broadcasts
        to batch shape. Pairs that are left out are orthogonal. A parameter that is not paired with
        itself has no closed form.
        """
        return {}

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form ``c' I c`` of the expected Fisher information ``I`` of the parameters.

        Parameters
        ----------
        changes : what ``c`` holds for each parameter: an array that broadcasts against it, event
            axes included, or None for a parameter that does not change
        *params : NumPy arrays

        Returns
        -------
        One number per batch element, or what broadcasts to batch shape; written with ``xp``, so
        that it can be differentiated in the changes

        Raises
        ------
        ModelError
            If there is no closed form for a parameter that changes.

        Notes
        -----
        Distributions whose parameters are numbers give `information_matrix`; others override this.
        """
        matrix = self.information_matrix(*params)
        moving = {p: c for p, c in zip(self.parameters, changes, strict=True) if c is not None}
        unknown = [p for p in moving if (p, p) not in matrix]
        if unknown:
            raise self._without_information(unknown)
        total: Any = 0.0
        for (p, q), entry in matrix.items():
            if p in moving and q in moving:
                term = moving[p] * moving[q] * entry()
                total = total + (term if p == q else 2.0 * term)
        return total

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of total shape ``shape`` (batch + event) with NumPy parameters."""
        raise NotImplementedError

    def complete(
        self, rng: np.random.Generator, value: Array, known: Array, *params: Array
    ) -> Array:
        """Draw the unknown elements of values, given their known ones; see `condition` (NumPy)."""
        return self.condition(self.sample(rng, value.shape, *params), value, known, *params)

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        """Give values their known elements, and the others what follows from these (NumPy).

        Parameters
        ----------
        free : what the values are if nothing is known: draws, which become draws given the known
            elements, or the `center`, which becomes the centre given these
        value : full shape (draws + batch + event); what stands in unknown places is not read
        known : which elements are known, the same ones in all draws: batch + event
        *params : arrays that broadcast against ``value``, as `sample` takes them

        Returns
        -------
        Values of the same shape, their known elements as they were

        Raises
        ------
        ModelError
            If a value with event axes is known in part. Distributions that know how their
            elements depend on each other override this.
        """
        axes = tuple(range(known.ndim - self.event_ndim, known.ndim))
        if (known.any(axis=axes) & ~known.all(axis=axes)).any():
            raise self._without("way to draw some elements of a value given the others")
        return np.where(known, value, free)

    def complete_without_noise(
        self, rng: np.random.Generator, value: Array, known: Array, *params: Array
    ) -> Array:
        """Draw the process without noise, at all points, given its known noisy values (NumPy)."""
        raise self._without("noise to leave out")

    @property
    def has_center(self) -> bool:
        """Whether it is symmetric about a centre, which is its mean if it has one."""
        return self.noncentered_is_affine and self.has_base and self.base().symmetric

    def center(self, shape: tuple[int, ...], *params: Array) -> Array:
        """Centre of symmetry, for values of shape ``shape`` (NumPy); see `has_center`."""
        return np.broadcast_to(self.noncentered(np, np.zeros(shape), *params), shape)

    def central(self, value: Array, known: Array, *params: Array) -> Array:
        """Return the centre of what `complete` draws from, which takes the same parameters."""
        return self.condition(self.center(value.shape, *params), value, known, *params)

    def moments(self, event: tuple[int, ...], *params: Array) -> tuple[Array, Array] | None:
        """Mean, (..., n), and covariance, (..., n, n), of the elements of normal values (NumPy).

        None for other distributions, and where `condition` ignores how elements depend on others.
        """
        return None

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to and including ``x``: batch shape."""
        raise self._without(_CDF)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``: batch shape."""
        raise self._without(_CDF)

    def log_mass_between(self, xp: Any, low: Any, high: Any, *params: Any) -> Any:
        """Log probability above ``low``, up to a larger ``high``; None if there is no formula."""

    @property
    def has_cdf(self) -> bool:
        """Whether `log_cdf` and `log_ccdf` are there, so that it can be truncated or censored."""
        return type(self).log_cdf is not Distribution.log_cdf

    @property
    def flat_part(self) -> str:
        """What of a value has no distribution, and how to give it one; empty if it all has."""
        return ""

    def flat_elements(self, shape: tuple[int, ...], *shapes: tuple[int, ...]) -> Array:
        """Which elements of values of a shape are in the `flat_part`: a mask.

        ``shapes`` are those of the parameters.
        """
        return np.zeros(shape, dtype=bool)

    @property
    def has_base(self) -> bool:
        """Whether it has a non-centred form."""
        with suppress(ModelError):
            return isinstance(self.base(), Distribution)
        return False

    def base(self) -> Distribution:
        """Distribution, free of location and scale, of the ``z`` that `noncentered` takes."""
        raise self._without("non-centred form")

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Map ``z``, distributed as `base`, to a value of this distribution of the same shape."""
        raise self._without("non-centred form")

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Log Jacobian determinant of `noncentered`, which is affine in ``z``: batch shape.

        ``event`` is the shape of one value, without batch axes.
        """
        raise self._without_informed()

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        """Return what this becomes once each element has been seen to be about ``value``.

        Its location and scale, which standardise a parameter on the scale that it is sampled on,
        are about those of the conditional distribution given a normal observation of every element
        with variance ``1 / information``, which may be symbolic.
        """
        form = self.vector_form if self.stand_in is self else self.stand_in
        if form is self:
            raise self._without_informed()
        return form.informed(information, value)

    @property
    def vector_form(self) -> Distribution:
        """The same distribution as one that has a form for `informed`, if it has none itself."""
        return self

    def with_known_directions(
        self, params: tuple[Expression, ...], values: Values, triangular: bool = False
    ) -> tuple[Distribution, tuple[Expression, ...]]:
        """Give matrices that vary along known directions by their spectra, if there are any.

        ``params`` are in the place of its own; ``triangular``: only of Cholesky factors as roots.
        """
        return self, params

    @property
    def stand_in(self) -> Distribution:
        """What stands for it in the free coordinates of its support, to be `informed`."""
        return self

    @property
    def prior_form(self) -> Distribution | None:
        """What `informed` was called on, by what this distribution has computed of it already."""
        return None

    def spectrum(self, event: tuple[int, ...], *params: Array) -> Array:
        """Eigenvalues of the covariance of a value that is taken as a whole: (..., elements)."""
        raise self._without("known spectrum")

    def standardised_by_default(self, event: tuple[int, ...], known: Callable[[Any], bool]) -> bool:
        """Whether values of shape ``event`` are; ``known`` tells if data decide an argument."""
        return True

    def standardise(self, value: Array, *params: Any) -> Array:
        """Undo `noncentered`, for one value, or many of numbers; the default: an affine one."""
        elementwise = not self.event_ndim
        return inverse_of_affine(lambda z: self.noncentered(np, z, *params), value, elementwise)

    def _over_event(self, xp: Any, number: Any) -> Any:
        """Align one number per batch element with values that have event axes."""
        if not self.event_ndim or not np.ndim(number):
            return number
        return xp.reshape(number, np.shape(number) + (1,) * self.event_ndim)

    def _without(self, what: str) -> ModelError:
        return self.model_error(f"{self.name} has no {what}.", distribution=self.name)

    def _without_informed(self) -> ModelError:
        kinds = distributions.DISTRIBUTIONS.items()
        *others, last = (n for n, kind in kinds if kind.takes_pseudo_data in ("elements", "series"))
        return self._without(f"form for information=; {', '.join(others)} and {last} have one")

    def _without_information(self, names: Sequence[str]) -> ModelError:
        return self._without(
            f"expected Fisher information here for a change of {' and '.join(names)}; "
            "use metric='neg_hessian' or metric='softabs'"
        )
