"""The five declarations of a model: data, param, observed, deterministic, potential."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution
from probmodel.expressions import Apply, Expression, Symbol, as_expression, settle
from probmodel.model.calls import declares
from probmodel.model.option_numbers import check_bounds, check_sizes

Dims = str | Sequence[str] | None
RESERVED_DIMS = frozenset({"chain", "draw", "sample", "pred_id"})
_DIMS_ADVICE = {
    "data": " Data are declared in the class, X = data(dims=...), and given when the model is "
    "bound, Model(X=...).",
    "param": " Sizes are given as shape=.",
}
MISSING_IN_PROGRAM = (
    "or declare the missing values as parameters: a Stan program joins them with the others in its "
    "transformed parameters."
)
_DROP = (
    "Drop the missing elements, which changes nothing where each is given by the parameters alone, "
    "or sum them out of the likelihood with potential(...) and np.logaddexp."
)
_DTYPES = {float: "real numbers", int: "integers", bool: "0 or 1"}


class Declaration(Symbol):
    """A named line of a model. Its name is the class attribute it is assigned to."""

    kind: ClassVar[str]
    dims: tuple[str, ...] | None
    # Names of axes whose sizes do not come from them, as those of a Stan program.
    axes: tuple[str, ...] | None = None

    def __init__(self, dims: Dims = None) -> None:
        super().__init__()
        self.dims = _as_dims(self, dims)

    @property
    def title(self) -> str:
        """How messages call it: ``param 'beta'``."""
        return f"{self.kind} {self.name!r}"


class Data(Declaration):
    """A datum that is given when the model is bound."""

    kind = "data"

    def __init__(self, dims: Dims, dtype: type, lower: Any, upper: Any) -> None:
        super().__init__(dims)
        if not isinstance(dtype, Hashable) or dtype not in _DTYPES:
            raise self.model_error(
                f"data(dtype=...) takes float, int or bool; got {dtype!r}.", dtype=dtype
            )
        self.dtype = dtype
        self.lower = settle(lower)
        self.upper = settle(upper)
        given = {"lower": self.lower, "upper": self.upper}
        check_bounds(self.kind, {k: v for k, v in given.items() if v is not None}, self.location)

    @property
    def ndim(self) -> int:
        """Number of axes, which is known before there is data."""
        return len(self.dims or ())


class Parameter(Declaration):
    """An unknown with a prior, on the scale the model is written in."""

    kind = "param"

    def __init__(
        self,
        prior: Distribution | None,
        dims: Dims,
        shape: Any,
        bounds: dict[str, Any],
        constraint: Any,
        noncentered: bool | None,
        information: Any,
    ) -> None:
        super().__init__(dims)
        _check_distribution(self, prior, optional=True)
        if dims is not None and shape is not None:
            raise self.model_error(
                "param(...) takes dims or shape, not both: dims name the axes, shape gives sizes."
            )
        self.prior = prior
        self.declared_shape = (
            (shape,) if shape is not None and not isinstance(shape, tuple) else shape
        )
        self.bounds = {key: settle(value) for key, value in bounds.items() if value is not None}
        check_sizes(self.declared_shape, self.location)
        check_bounds(self.kind, self.bounds, self.location)
        self.constraint = constraint
        self.noncentered = noncentered
        self.information = None if information is None else as_expression(information)
        self._check_options()
        self.frame = self._frame()

    def _frame(self) -> Distribution | None:
        """Return the distribution that standardises the value for the sampler, if one does."""
        if self.prior is None or self.information is None:
            return self.prior if self.noncentered else None
        frame = self.prior.informed(self.information)
        frame.location = self.prior.location
        return frame

    def _check_options(self) -> None:
        if not isinstance(self.noncentered, bool | np.bool_ | None):
            raise self.model_error(
                f"param(noncentered=...) takes True or False; got {self.noncentered!r}.",
                noncentered=self.noncentered,
            )
        if not isinstance(self.constraint, Constraint | None):
            given = self.constraint
            shown = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            raise self.model_error(
                f"param(constraint=...) needs a constraint, such as Ordered(); got {shown}.",
                constraint=given,
            )
        if self.constraint is not None and self.bounds:
            raise self.model_error(
                f"param(...) takes constraint= or {', '.join(self.bounds)}=, not both."
            )
        self._check_standardised()
        if self.prior is not None and self.prior.discrete:
            raise self.model_error(
                f"a param cannot have the discrete prior {self.prior.name}: gradient-based methods "
                "need continuous parameters. Sum it out of the likelihood: with Mixture, "
                "HiddenMarkov, or potential(...) and np.logaddexp.",
                prior=self.prior.name,
            )
        if self.prior is not None and self.prior.has_atoms:
            raise self.model_error(
                f"a param cannot have the prior {self.prior.name}: single values have a "
                "probability of their own, at which no gradient leads. Such distributions are "
                "for observed data. A prior with a narrow part, a Mixture, comes near to one "
                "with a spike.",
                prior=self.prior.name,
            )

    def _check_standardised(self) -> None:
        if self.noncentered and self.information is not None:
            raise self.model_error(
                "param(...) takes noncentered=True or information=, not both: noncentered=True is "
                "information=0."
            )
        if not self.noncentered and self.information is None:
            return
        if self.bounds or self.constraint is not None:
            raise self.model_error(
                "a noncentered param cannot have bounds, a constraint, an offset or a multiplier: "
                "its unconstrained value is the standardised one."
            )
        if self.prior is None:
            option = "noncentered=True" if self.noncentered else "information="
            raise self.model_error(f"{option} needs a prior to standardise.")


class Observed(Declaration):
    """A random quantity whose value is data of the same name."""

    kind = "observed"

    def __init__(self, distribution: Distribution, dims: Dims, missing: str | None = None) -> None:
        super().__init__(dims)
        _check_distribution(self, distribution)
        self.distribution = distribution
        self.missing = missing
        self.of_program = False  # whether a Stan program declares it
        self._check_missing()

    @property
    def can_be_imputed(self) -> bool:
        """Whether its missing elements can be inferred as parameters are."""
        return not (self.distribution.discrete or self.distribution.has_atoms)

    @property
    def without_missing(self) -> str:
        """What to do about elements that are missing, in words."""
        if self.of_program:
            return f"Remove them, {MISSING_IN_PROGRAM}"
        if self.can_be_imputed:
            return 'Remove them, or declare observed(..., missing="impute") to infer them.'
        return _DROP

    def _check_missing(self) -> None:
        if self.missing is None:
            return
        if not isinstance(self.missing, str) or self.missing != "impute":
            raise self.model_error(
                f'observed(missing=...) takes "impute" or None; got {self.missing!r}.',
                missing=self.missing,
            )
        if not self.can_be_imputed:
            name = self.distribution.name
            raise self.model_error(
                f'missing="impute" needs a continuous distribution: {name} has values with a '
                f"probability of their own, which gradients cannot move. {_DROP}",
                distribution=name,
            )


class Deterministic(Declaration):
    """A function of other quantities that is saved with the draws."""

    kind = "deterministic"

    def __init__(self, expression: Any, dims: Dims) -> None:
        super().__init__(dims)
        self.expression: Expression = as_expression(expression)


class Potential(Declaration):
    """A term added to the log density."""

    kind = "potential"

    def __init__(self, expression: Any) -> None:
        super().__init__()
        self.expression: Expression = as_expression(expression)

    @property
    def elements(self) -> Expression:
        """What is added up: the expression, or what that is the sum of."""
        node = self.expression
        total = isinstance(node, Apply) and node.operation.name == "sum"
        if isinstance(node, Apply) and total and node.kwargs.get("axis") is None:
            return as_expression(node.args[0])
        return node


@declares
def data(dims: Dims = None, *, dtype: type = float, lower: Any = None, upper: Any = None) -> Any:
    """Declare a datum.

    Parameters
    ----------
    dims : name of its axis, or names of its axes; a scalar without
    dtype : float, int or bool
    lower, upper : inclusive bounds that every element must keep. ``upper=np.inf`` lets elements be
        infinite, where these stand for no limit; without it they must be finite

    Raises
    ------
    ModelError
        If the declaration makes no sense.
    """
    return Data(dims, dtype, lower, upper)


@declares
def param(
    prior: Distribution | None = None,
    *,
    dims: Dims = None,
    shape: Any = None,
    lower: Any = None,
    upper: Any = None,
    offset: Any = None,
    multiplier: Any = None,
    constraint: Constraint | None = None,
    noncentered: bool | None = None,
    information: Any = None,
) -> Any:
    """Declare a parameter.

    Parameters
    ----------
    prior : its distribution; flat on its constraint if None
    dims : name of its axis, or names of its axes
    shape : sizes instead of dims, as an integer or a tuple (integer data are allowed);
        without either the shape follows from the prior's parameters
    lower, upper : bounds, which may depend on data and other parameters. They cut the prior
        without normalising it again; write ``Truncated(prior, lower, upper)`` to normalise.
    offset, multiplier : the unconstrained value is ``(value - offset) / multiplier``
    constraint : a constraint object, where the prior's support does not say it all
    noncentered : whether to sample the standardised value, with the prior's location and scale
        applied to it. None leaves it to `infer`, which standardises hierarchies as prior and data
        call for; False samples the value itself.
    information : how much the data tell about each element by itself, as the inverse of a variance:
        sample the value standardised by the prior and the data together. 0 is the same as
        ``noncentered``. One number or one for each element; for AR, AR1 and RandomWalk, one for all
        times. It may depend on data and other parameters.

    Raises
    ------
    ModelError
        If the declaration makes no sense.
    """
    bounds = {"lower": lower, "upper": upper, "offset": offset, "multiplier": multiplier}
    return Parameter(prior, dims, shape, bounds, constraint, noncentered, information)


@declares
def observed(distribution: Distribution, *, dims: Dims = None, missing: str | None = None) -> Any:
    """Declare a likelihood term: data of the same name, distributed as ``distribution``.

    Parameters
    ----------
    distribution : of the data, with any parameters
    dims : names of the axes of the data; needed to simulate data that is not given
    missing : ``"impute"`` to infer the elements of the data that are NaN: they become the parameter
        ``<name>_missing``. Without it NaN is refused.
    """
    return Observed(distribution, dims, missing)


@declares
def deterministic(expression: Any, *, dims: Dims = None) -> Any:
    """Declare a quantity that is computed for every draw and saved with it."""
    return Deterministic(expression, dims)


@declares
def potential(expression: Any) -> Any:
    """Add ``expression`` (summed over its elements) to the log density."""
    return Potential(expression)


def _check_distribution(declaration: Declaration, value: Any, optional: bool = False) -> None:
    if isinstance(value, Distribution) or (optional and value is None):
        return
    kind = value.__name__ if isinstance(value, type) else type(value).__name__
    hint = f"{kind}(...) with its parameters" if isinstance(value, type) else "such as Normal(0, 1)"
    raise declaration.model_error(
        f"{declaration.kind}(...) needs a distribution, {hint}; got {kind}.", given=value
    )


def _as_dims(declaration: Declaration, dims: Dims) -> tuple[str, ...] | None:
    if dims is None:
        return None
    many = isinstance(dims, Sequence) and not isinstance(dims, str)
    names: tuple[Any, ...] = tuple(dims) if many else (dims,)
    advice = _DIMS_ADVICE.get(declaration.kind, "")
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            plain = name if isinstance(name, str | int | float) else type(name).__name__
            raise declaration.model_error(
                f"dims are names such as 'obs'; got {plain!r}.{advice}", dims=dims
            )
        if name in RESERVED_DIMS:
            raise declaration.model_error(
                f"the dim name {name!r} is taken by ArviZ; choose another.", dims=dims
            )
    if len(set(names)) < len(names):
        raise declaration.model_error(
            f"dims must differ from each other, got {names}: give the second axis another name.",
            dims=dims,
        )
    return names


def expressions_of(declaration: Declaration) -> list[Expression]:
    """Return the symbolic arguments of a declaration: parameters, bounds, expressions."""
    found: list[Any] = []
    if isinstance(declaration, Parameter):
        found += list(declaration.bounds.values())
        found += list(declaration.constraint.bounds) if declaration.constraint else []
        found += list(declaration.prior.args.values()) if declaration.prior else []
        found += list(declaration.declared_shape or ())
    elif isinstance(declaration, Observed):
        found += list(declaration.distribution.args.values())
    elif isinstance(declaration, (Deterministic, Potential)):
        found.append(declaration.expression)
    elif isinstance(declaration, Data):
        found += [declaration.lower, declaration.upper]
    return [value for value in found if isinstance(value, Expression)]
