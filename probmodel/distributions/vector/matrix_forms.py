"""Covariance matrices as arguments: given in one of several forms, and what each form is good for.

A distribution derives from `MatrixArguments` and says in its ``signature`` which forms it takes of
which matrix. Its formulas are written once, with the `MatrixForm` that was chosen:

    covariance    the matrix S itself
    cholesky      its lower Cholesky factor L, S = L L'
    precision     its inverse P = S^-1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box

from probmodel.constraints import CholeskyFactor, Positive, PositiveDefinite
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.call_arguments import signature_of
from probmodel.distributions.other_names import parameters_here
from probmodel.distributions.vector.known_directions import (
    Directions,
    directions_of,
    directions_of_root,
)
from probmodel.distributions.vector.whitening import (
    Memory,
    Whitening,
    from_constant_lower,
    from_constant_precision_root,
    from_lower,
    from_precision_root,
    one_by_one,
)
from probmodel.expressions import Expression, call_error
from probmodel.expressions.known_parts import Values
from probmodel.numerics.linalg import cholesky, solve_lower, transpose
from probmodel.types import Array


class MatrixForm:
    """One matrix argument of one distribution, in the form in which it was given.

    A matrix that does not depend on parameters is factorised once. Of symmetric matrices the lower
    triangle is read, and derivatives are taken with respect to symmetric changes.

    Attributes
    ----------
    colors_by_upper : whether the matrix that colours is upper triangular, or lower
    """

    constraint: ClassVar[Constraint]
    colors_by_upper: ClassVar[bool] = False

    def __init__(self) -> None:
        self._remembered = Memory(self.constant)

    def rows(self, matrix: Any) -> Whitening:
        """Whitening of rows (..., m, n), which share the covariance (n, n) of their stack."""
        return self._remembered(matrix) if _is_one(matrix) else self.varying(matrix)

    def vectors(self, matrix: Any) -> Whitening:
        """Whitening of vectors (..., n), each with a covariance of its own."""
        return self._remembered(matrix) if _is_one(matrix) else one_by_one(self.varying(matrix))

    def directions(self, matrix: Expression, values: Values) -> Directions | None:
        """Return the known directions of a matrix that varies, or None where it has none."""
        return None

    def varying(self, matrix: Any) -> Whitening:
        """Whitening of rows that belongs to a stack of matrices, or one that varies."""
        raise NotImplementedError

    def constant(self, matrix: Array) -> Whitening:
        """Whitening that belongs to one matrix, (n, n), and is worth its inverse."""
        raise NotImplementedError

    def covariance(self, matrix: Array) -> Array:
        """Return the covariance that the matrix stands for: (..., n, n)."""
        raise NotImplementedError

    def eigenvalues(self, matrix: Array) -> Array:
        """Return those of the covariance: (..., n)."""
        return np.asarray(np.linalg.eigvalsh(self.covariance(matrix)))

    def root_of(self, xp: Any, matrix: Any) -> Any:
        """Return the triangular R that colours, with the covariance R R': (..., n, n)."""
        raise NotImplementedError

    def whitened_change(self, matrix: Array, change: Any) -> Any:
        """Change of the covariance that a change of the matrix makes, whitened: (..., n, n).

        In coordinates in which the covariance is the identity, whichever these are. Only the
        symmetric part of a change of a symmetric matrix counts.
        """
        raise NotImplementedError


class Covariance(MatrixForm):
    """The matrix itself."""

    constraint: ClassVar = PositiveDefinite()

    def directions(self, matrix: Expression, values: Values) -> Directions | None:
        """Take sums of known matrices apart."""
        return directions_of(matrix, values)

    def varying(self, matrix: Any) -> Whitening:
        """Whitening of rows by triangular solves."""
        return from_lower(cholesky(matrix))

    def constant(self, matrix: Array) -> Whitening:
        """Whitening by a product with the inverse of the factor."""
        return from_constant_lower(cholesky(matrix))

    def covariance(self, matrix: Array) -> Array:
        """Return the matrix."""
        return matrix

    def root_of(self, xp: Any, matrix: Any) -> Any:
        """Return the Cholesky factor."""
        return cholesky(matrix)

    def whitened_change(self, matrix: Array, change: Any) -> Any:
        """Solve with the factor from both sides."""
        root = cholesky(matrix)
        s = solve_lower(root, transpose(solve_lower(root, change)))
        return 0.5 * (s + transpose(s))


class CovarianceRoot(MatrixForm):
    """The lower Cholesky factor of the matrix."""

    constraint: ClassVar = CholeskyFactor()

    def directions(self, matrix: Expression, values: Values) -> Directions | None:
        """Take a known factor times a number apart."""
        return directions_of_root(matrix, values)

    def varying(self, matrix: Any) -> Whitening:
        """Whitening of rows by triangular solves."""
        return from_lower(matrix)

    def constant(self, matrix: Array) -> Whitening:
        """Whitening by a product with the inverse of the factor."""
        return from_constant_lower(np.tril(matrix))

    def covariance(self, matrix: Array) -> Array:
        """Return the factor times its transpose."""
        root = np.tril(matrix)
        return np.asarray(root @ transpose(root))

    def whitened_change(self, matrix: Array, change: Any) -> Any:
        """Solve with the factor, and add the transpose."""
        s = solve_lower(matrix, change * _lower(matrix))
        return s + transpose(s)


class Precision(MatrixForm):
    """The inverse of the matrix."""

    constraint: ClassVar = PositiveDefinite()
    colors_by_upper: ClassVar = True

    def directions(self, matrix: Expression, values: Values) -> Directions | None:
        """Take sums of known matrices apart."""
        return directions_of(matrix, values)

    def varying(self, matrix: Any) -> Whitening:
        """Whitening of rows by products with the factor of the precision."""
        return from_precision_root(cholesky(matrix))

    def constant(self, matrix: Array) -> Whitening:
        """Whitening by a product with the factor of the precision."""
        return from_constant_precision_root(cholesky(matrix))

    def covariance(self, matrix: Array) -> Array:
        """Return the inverse."""
        return np.asarray(inverse_of_product(cholesky(matrix)))

    def root_of(self, xp: Any, matrix: Any) -> Any:
        """Return the transposed inverse of the Cholesky factor."""
        return solve_lower(cholesky(matrix), np.eye(np.shape(matrix)[-1]), transposed=True)

    def whitened_change(self, matrix: Array, change: Any) -> Any:
        """Change of the precision, whitened: the covariance changes as much the other way."""
        root = cholesky(matrix)
        s = solve_lower(root, transpose(solve_lower(root, change)))
        return -0.5 * (s + transpose(s))


class KnownDirections(MatrixForm):
    """A matrix in whose place its spectrum is given, along directions that are known.

    Parameters
    ----------
    directions : known; their spectrum is the operand of the formulas, (n,) or (..., n)
    form : what the matrix itself is, a covariance or a precision

    Attributes
    ----------
    root : R, (n, n): the covariance is ``R @ diag(variances(spectrum)) @ R.T``
    log_det : log absolute determinant of R
    is_uniform : whether all variances are one number
    """

    constraint: ClassVar = Positive()

    def __init__(self, directions: Directions, form: MatrixForm) -> None:
        self._inverts = isinstance(form, Precision)
        root, inverse = directions.root, directions.inverse
        self.root, self._inverse = (inverse.T, root.T) if self._inverts else (root, inverse)
        self.log_det = -directions.log_det if self._inverts else directions.log_det
        self.is_uniform = directions.is_uniform

    def variances(self, spectrum: Any) -> Any:
        """Return the variance along each direction."""
        return 1.0 / spectrum if self._inverts else spectrum

    def rows(self, matrix: Any) -> Whitening:
        """Whitening by a product with a known matrix, and a scale for each direction."""
        return self._scaled(matrix, matrix[..., None, :])

    def vectors(self, matrix: Any) -> Whitening:
        """Whitening by a product with a known matrix, and a scale for each direction."""
        return self._scaled(matrix, matrix)

    def _scaled(self, spectrum: Any, aligned: Any) -> Whitening:
        power = 0.5 if self._inverts else -0.5
        scale = aligned**power
        return Whitening(
            lambda r: (r @ self._inverse.T) * scale,
            lambda z: (z * scale) @ self._inverse,
            lambda z: (z / scale) @ self.root.T,
            power * _total_log(spectrum) - self.log_det,
        )


Forms = Mapping[str, type[MatrixForm]]  # by argument name; the first may be given by position
Signature = Mapping[str, Parameter | Forms]


class MatrixArguments(Distribution):
    """A distribution of whose matrices exactly one form each is given.

    Subclasses define ``signature``: their parameters in order, where the entry of a matrix has the
    name by which formulas find it in ``forms``, and the forms by argument name. What was given
    decides ``parameters``; those of the class are the ones with every matrix in its first form.

    Attributes
    ----------
    forms : the `MatrixForm` of each matrix, by its name in the signature
    any_root : whether formulas hold with any root of the matrices, or with triangular ones alone
    """

    signature: ClassVar[Signature]
    any_root: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        first = {name: next(iter(forms)) for name, forms in _matrices(cls.signature).items()}
        cls.parameters = _parameters(cls.signature, first)
        forms = {first[name]: list(e)[1:] for name, e in _matrices(cls.signature).items()}
        cls.__signature__ = signature_of(cls.__init__, cls.parameters, forms)  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        matrices = _matrices(self.signature)
        chosen = {name: self._choose(name, args, kwargs) for name in matrices}
        self.forms = {name: matrices[name][argument]() for name, argument in chosen.items()}
        self._take_form(_parameters(self.signature, chosen), self.event_ndim)
        super().__init__(*args, **kwargs)

    def with_known_directions(
        self, params: tuple[Expression, ...], values: Values, triangular: bool = False
    ) -> tuple[Distribution, tuple[Expression, ...]]:
        """Give matrices that vary along known directions by their spectra.

        Parameters
        ----------
        params : in the place of the distribution's own
        values : what is known of expressions
        triangular : whether to leave out matrices whose root is not the Cholesky factor
        """
        forms, parameters, found = dict(self.forms), dict(self.parameters), list(params)
        for i, (name, argument) in enumerate(zip(self.signature, self.parameters, strict=True)):
            form = self.forms.get(name) if self.any_root else None
            if form is None or values.is_constant(params[i]):
                continue
            directions = form.directions(params[i], values)
            if directions is None or (triangular and not directions.is_uniform):
                continue
            forms[name], found[i] = KnownDirections(directions, form), directions.spectrum
            parameters[argument] = Parameter(KnownDirections.constraint, event_ndim=1)
        if forms == self.forms:
            return self, params
        changed = copy(self)
        vars(changed).pop("event_ndims", None)
        changed.forms = forms
        changed._take_form(parameters, self.event_ndim)
        changed.args = dict(zip(parameters, found, strict=True))
        return changed, tuple(found)

    def _choose(self, matrix: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Return by which argument a matrix was given."""
        arguments = list(_matrices(self.signature)[matrix])
        given = [name for name in arguments if name in kwargs]
        if len(args) > list(self.signature).index(matrix) and arguments[0] not in given:
            given.insert(0, arguments[0])
        if len(given) == 1:
            return given[0]
        others = [name for name in self.signature if name not in _matrices(self.signature)]
        choices = [f"{name}=" for name in arguments]
        known = {*others, *(name for forms in _matrices(self.signature).values() for name in forms)}
        unknown = [name for name in kwargs if name not in known]
        raise call_error(
            f"{self.name} takes {', '.join(others)} and exactly one of {', '.join(choices[:-1])} "
            f"and {choices[-1]}; {' and '.join(given) or 'none'} was given."
            f"{parameters_here(self.name, unknown, known)}",
            expected=arguments,
            given=given,
        )


def _matrices(signature: Signature) -> dict[str, Forms]:
    """Those entries of a signature that are matrices."""
    return {name: e for name, e in signature.items() if not isinstance(e, Parameter)}


def _parameters(signature: Signature, chosen: Mapping[str, str]) -> dict[str, Parameter]:
    """Parameters for the arguments that were chosen for matrices."""
    parameters = {}
    for name, entry in signature.items():
        if isinstance(entry, Parameter):
            parameters[name] = entry
        else:
            parameters[chosen[name]] = Parameter(entry[chosen[name]].constraint, event_ndim=2)
    return parameters


def inverse_of_product(root: Any) -> Any:
    """Inverse of ``L L'`` for lower triangular L: (..., n, n)."""
    eye = np.eye(np.shape(root)[-1])
    return solve_lower(root, solve_lower(root, eye), transposed=True)


def _is_one(matrix: Any) -> bool:
    return isinstance(matrix, np.ndarray) and matrix.ndim == 2


def _total_log(spectrum: Any) -> Any:
    xp = anp if isinstance(spectrum, Box) else np
    return xp.sum(xp.log(spectrum), axis=-1)


def _lower(matrix: Any) -> Array:
    """Ones on and below the diagonal: (n, n)."""
    return np.tril(np.ones(np.shape(matrix)[-2:]))
