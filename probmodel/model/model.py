"""The Model class: a class body is a list of declarations, an instance is bound to data."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Self, cast

from probmodel.distributions.base import Distribution
from probmodel.errors import DataError, ModelError
from probmodel.expressions import Apply, caller_location, topological
from probmodel.model.assignments import check_change, check_late_declaration, not_bound
from probmodel.model.binding import Binding, bind
from probmodel.model.class_body import ClassBody
from probmodel.model.declarations import Data, Declaration, Observed, expressions_of
from probmodel.model.outer_names import check_outer_names
from probmodel.model.series_labels import check_recurrence_labels, check_series_labels


class ModelMeta(type):
    """Collects the declarations of a model's class body."""

    _declarations: dict[str, Declaration]
    _definitions: dict[str, Apply]

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], **kwargs: Any) -> ClassBody:  # type: ignore[override]  # noqa: N804
        """Give the class body a namespace that knows declarations."""
        return ClassBody()

    def __new__(  # noqa: D102
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> ModelMeta:
        body = ClassBody(namespace)
        body.check_names(name)
        check_outer_names(name, body, sys._getframe(1))
        cls = super().__new__(mcs, name, bases, dict(body))
        inherited = [base for base in bases if isinstance(base, ModelMeta)]
        before = {k: d for base in inherited for k, d in base._declarations.items()}
        own = {k: v for k, v in body.items() if isinstance(v, Declaration)}
        # What is declared anew stands where it is declared, after what it may use.
        cls._declarations = {k: d for k, d in before.items() if own.get(k, d) is d} | own
        cls._definitions = {k: e for base in inherited for k, e in base._definitions.items()}
        cls._definitions.update({k: v for k, v in body.items() if isinstance(v, Apply)})
        if inherited:
            _check_declarations(name, cls._declarations)
        return cls

    def __setattr__(cls, name: str, value: Any) -> None:
        check_late_declaration(cls, name, value)
        super().__setattr__(name, value)


def _check_declarations(model: str, declarations: dict[str, Declaration]) -> None:
    dims = {dim: d for d in declarations.values() for dim in d.dims or ()}
    for name, declaration in declarations.items():
        if name == "coords" or name.startswith("_"):
            raise declaration.model_error(
                f"{name!r} cannot name a declaration: it is taken. Choose another name.", name=name
            )
        if name in dims:
            raise declaration.model_error(
                f"{declaration.title} has the name of a dim (used at {dims[name].location}). "
                "In labelled arrays what has the name of a dim are its labels. Those are given by "
                f"coords={{{name!r}: ...}}; for values beside them, rename the dim, such as to "
                f"'{name}s', or {declaration.title}.",
                name=name,
            )
        for node in topological(expressions_of(declaration)):
            if isinstance(node, Declaration) and declarations.get(node.name or "") is not node:
                raise _stranger(model, declaration, node)


def _stranger(model: str, declaration: Declaration, node: Declaration) -> ModelError:
    """Make the error of a declaration that uses one which is not in the model."""
    if node.name is None:
        what = (
            f"a {node.kind}(...) that has no name in {model}. Assign it to a name in the class body"
        )
    else:
        what = (
            f"{node.title} of another model, declared at {node.location}. Derive {model} from that "
            f"model, or declare {node.name!r} in {model} too"
        )
    return ModelError(
        f"{declaration.title} uses {what}.",
        location=declaration.location if node.name else node.location,
        declaration=declaration.name,
    )


def _by_name(cls: ModelMeta, unnamed: tuple[Any, ...]) -> DataError:
    takes = cls._takes()  # type: ignore[attr-defined]
    whole = len(unnamed) == 1 and isinstance(unnamed[0], Mapping)
    written = "**data" if whole else ", ".join(f"{name}=..." for name in takes)
    return DataError(
        f"{cls.__name__} takes its data by name; got {len(unnamed)} without one. Write "
        f"{cls.__name__}({written}).",
        location=caller_location(),
        expected=takes,
    )


def _check_declared(model: ModelMeta, name: str) -> None:
    """Raise a `DataError` where data come for a distribution that was written without observed."""
    found = getattr(model, name, None)
    if isinstance(found, Distribution):
        raise found.data_error(
            f"{model.__name__} has no datum {name!r}: it is a distribution that nothing declares. "
            f"Write `{name} = observed({found.name}(...))` for data that follow it.",
            name=name,
        )


class Model(metaclass=ModelMeta):
    """Base class of models: declare in the class body, bind data by making an instance.

    Parameters
    ----------
    coords : labels by dim, for dims whose labels do not come with the data
    **values : one value for each datum and observed quantity, by name. Arrays, lists, dicts,
        pandas and xarray objects are taken; labelled ones give coords.

    Raises
    ------
    DataError
        If a datum is missing, superfluous, of the wrong type or out of bounds, or if the labels
        along the axis of a series are dates or numbers that do not increase.
    ShapeError
        If shapes do not fit; the message names the declaration, its line and the shapes.

    Examples
    --------
    >>> class Coin(Model):
    ...     p = param(Beta(1, 1))
    ...     heads = observed(Bernoulli(p), dims="toss")
    >>> model = Coin(heads=[1, 0, 1])
    """

    # What is computed from draws besides what is declared, if anything; see `stan.generated`.
    _generated: Any = None
    # The date from which dates of a data frame were counted in days, if one was given.
    _origin: str | None = None
    # Whether what is declared depends on the data: the class by itself declares nothing.
    _needs_data = False

    def __init__(
        self, /, *unnamed: Any, coords: dict[str, Any] | None = None, **values: Any
    ) -> None:
        cls = type(self)
        if unnamed:
            raise _by_name(cls, unnamed)
        for name in values:
            _check_declared(cls, name)
        self._binding: Binding = self._bound(values, {} if coords is None else coords)
        check_series_labels(self._binding)
        check_recurrence_labels(self._binding)
        self._kept: dict[str, Any] = {}  # what others have made of it, as long as it lasts

    def _bound(self, values: Mapping[str, Any], labels: dict[str, Any]) -> Binding:
        """Bind data: what each kind of model does by itself."""
        cls = type(self)
        return bind(cls.__name__, cls._declarations, dict(values), labels)

    @classmethod
    def _outline(cls, data: Mapping[str, Any]) -> Mapping[str, Declaration]:
        """Return what the model declares, given data that are not modelled."""
        return cls._declarations

    @classmethod
    def _takes(cls) -> list[str]:
        """Return the names of data that the model is bound to."""
        return [k for k, d in cls._declarations.items() if isinstance(d, (Data, Observed))]

    @classmethod
    def _uses(cls, name: str) -> bool:
        """Whether a datum is used in a way that the declarations do not show."""
        return False

    def _datum_of(self, observed: str) -> str:
        """Return the name by which the data of an observed quantity are given."""
        return observed

    def _counted_elsewhere(self, observed: str) -> str:
        """Say that the likelihood of an observed quantity's data has other parts; empty if not."""
        return ""

    @classmethod
    def _with_dims(cls, dims: Mapping[str, Any]) -> type[Model]:
        """Return the same model with names of axes, by variable, which a class names itself."""
        return cls

    def _as_given(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the data and labels that bind the model again."""
        return dict(self._binding.data), self._binding.labels

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        /,
        *,
        coords: dict[str, Any] | None = None,
        origin: Any = None,
        **given: Any,
    ) -> Self:
        """Bind the model to the columns of a data frame.

        Each datum and observed quantity takes the column of its name, a matrix ``X`` the columns
        ``X.age``, ``X.dose``; columns that nothing takes are no error. Where the model has an
        index, text and numbers of groups become whole numbers from 0, and label the dim that they
        count. A datum along that dim takes the one value that a column has for each group. The
        frame's index labels the rows; a level of it that has a name is read as a column is.

        Parameters
        ----------
        frame : a pandas data frame, or anything with a method ``to_pandas()``
        coords : labels by dim; groups are looked up in those of their dim
        origin : the date from which dates are counted in days, the same for all frames of a model
        **given : by datum, another column (its name) or columns (a list), or a value

        Raises
        ------
        DataError
            If a column is missing, or a value in it, with the row; if one holds text where the
            model takes numbers; or as for the model itself.
        """
        from probmodel.model.frames import from_frame

        return cast("Self", from_frame(cls, frame, coords or {}, origin, given))

    # What a model is bound to is told apart by the identity of the symbols of its class. A copy has
    # the class in common, or finds its own in another process, and is bound to the same data again.

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            check_change(self, name, value)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "_binding":
            raise not_bound(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_binding": self._as_given(), "_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data, labels = state["_binding"]
        vars(self).update(state)
        self._binding = self._bound(data, labels)

    def __repr__(self) -> str:
        from probmodel.model.declaration_text import model_text

        return model_text(self)

    def _repr_html_(self) -> str:
        from probmodel.model.declaration_text import model_html

        return model_html(self)

    def _repr_latex_(self) -> str:
        from probmodel.model.declaration_text import model_latex

        return model_latex(self)


__all__ = ["Model", "ModelMeta"]
