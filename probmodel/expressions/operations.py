"""The table of operations that a model may use, and how each is evaluated with NumPy.

One line an operation. How it is written down for one chain, so that it has derivatives, is said in
`probmodel.compiler.language`, under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from probmodel.expressions import compositions, higher_order
from probmodel.expressions.advice import advice_on
from probmodel.expressions.array_calls import ARRAY_CALLS
from probmodel.expressions.index_sums import einsum
from probmodel.expressions.location import call_error
from probmodel.expressions.segmented import segment_sum
from probmodel.numerics.recurrences import linear_recurrence, matrix_recurrence
from probmodel.numerics.special import exponential_sums as sums
from probmodel.numerics.square_matrices import log_abs_det


@dataclass(frozen=True)
class Operation:
    """One operation of the modelling language.

    Attributes
    ----------
    name : the key of the batching rule, and the name that is printed
    evaluate : the NumPy function, for values without a chain axis
    operands : names of the leading arguments that hold values
    options : names and defaults of the remaining, static arguments
    elementwise : whether operands broadcast and each output element needs one of each
    probe : stands in for ``evaluate`` where only the shape of the result matters
    static : whether all operands must come from data
    from_data : positions of operands that must
    order : names of the arguments as they are counted, if it is not operands and then options
    written : writes it with other operations, see `compositions`; None for one that has a form of
        its own
    """

    name: str
    evaluate: Callable[..., Any]
    operands: tuple[str, ...] = ("x",)
    options: Mapping[str, Any] = field(default_factory=dict)
    elementwise: bool = False
    probe: Callable[..., Any] | None = None
    static: bool = False
    from_data: tuple[int, ...] = ()
    order: tuple[str, ...] = ()
    written: Callable[..., Any] | None = None

    def normalise(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Sort a call's arguments into operands (by position) and options (by keyword)."""
        names = self.order or (*self.operands, *self.options)
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        unknown = [key for key in given if key not in names] + list(args[len(names) :])
        if unknown:
            raise call_error(
                f"np.{self.name} of a symbol takes {', '.join(names)}; got {unknown[0]!r}.",
                function=self.name,
                argument=unknown[0],
            )
        operands = tuple(given[name] for name in self.operands if name in given)
        return operands, {name: given[name] for name in self.options if name in given}


def _elementwise(names: str) -> list[Operation]:
    return [Operation(n, getattr(np, n), elementwise=True) for n in names.split()]


def _special(names: str) -> list[Operation]:
    """Functions of SciPy, imported only when one is evaluated."""

    def evaluator(name: str) -> Callable[..., Any]:
        def evaluate(*args: Any) -> Any:
            import scipy.special

            return getattr(scipy.special, name)(*args)

        return evaluate

    return [Operation(n, evaluator(n), elementwise=True) for n in names.split()]


def _of_data(
    *names: str, operands: tuple[str, ...] = ("a",), options: Mapping[str, Any] | None = None
) -> list[Operation]:
    """Functions of NumPy that take data alone."""
    return [Operation(n, getattr(np, n), operands, options or {}, static=True) for n in names]


def _concatenate(arrays: Any, axis: int | None = 0) -> Any:
    return np.concatenate([np.atleast_1d(a) for a in arrays], axis=axis)


def _getitem(x: Any, index: Any) -> Any:
    return np.asarray(x)[index]


def _pad_axes(x: Any, least: int, ndim: int) -> Any:
    """Put axes of length one in front, up to ``ndim``, if there are ``least`` axes or more."""
    x = np.asarray(x)
    return x if x.ndim < least else x.reshape((1,) * (ndim - x.ndim) + x.shape)


def _average(a: Any, weights: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    average: Any = np.average
    try:
        return average(a, axis, weights, keepdims=keepdims)
    except ZeroDivisionError:  # weights may sum to zero at some point: it is NaN there
        return compositions.average(np.shape, a, weights, axis, keepdims)


def _call(*args: Any, function: Callable[..., Any], event_ndims: Any, primitive: Any = None) -> Any:
    """Evaluate a formula written for a NumPy-like namespace, which comes first."""
    return function(np, *args)


def _linear_recurrence(coefficient: Any, input: Any, initial: Any = 0.0) -> Any:
    """Solve along the first axis of what coefficient and input broadcast to."""
    shape = np.broadcast_shapes(np.shape(coefficient), np.shape(input))
    if not shape:
        raise ValueError("neither coefficient nor input has an axis of time")
    start = np.broadcast_to(initial, shape[1:])[None]
    return linear_recurrence(coefficient, input, start, -len(shape))


def _matrix_recurrence(matrix: Any, input: Any, initial: Any = 0.0) -> Any:
    """Solve along the first axis of an input (n, d)."""
    shape, given = np.shape(input), np.shape(matrix)
    if len(shape) != 2 or given not in ((*shape[1:], shape[1]), (*shape, shape[1])):
        raise ValueError("matrix must be (d, d) or (n, d, d) and input (n, d)")
    start = np.broadcast_to(initial, shape[1:])
    return matrix_recurrence(np.asarray(matrix), np.asarray(input), start)


def _part_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ary, sections, part, axis=0: function(ary, sections, axis)[part]


def _einsum(*operands: Any, subscripts: str) -> Any:
    return np.einsum(subscripts, *operands)


def _sign_of_determinant(a: Any, log: Any) -> Any:
    return np.linalg.slogdet(a).sign


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Fill with numbers that stay what they are, where NumPy would cut them to whole ones."""
    kind = dtype or np.result_type(np.asarray(a), np.asarray(fill_value))
    return np.broadcast_to(np.asarray(fill_value, dtype=kind), np.shape(a))


def _composed(
    name: str,
    evaluate: Callable[..., Any],
    operands: tuple[str, ...] = ("a",),
    options: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> Operation:
    """Return a function that is written with others once shapes are known."""
    more.setdefault("written", getattr(compositions, name, None))
    return Operation(name, evaluate, operands, options, **more)


_AXIS = {"axis": None, "keepdims": False}
_PAD = {"pad_width": None, "mode": "constant", "constant_values": 0}
_CUT = {"sections": None, "part": None, "axis": 0}
_AVERAGE = ("a", "axis", "weights", "keepdims")

# Functions of NumPy and of SciPy that work element by element.
_OF_NUMPY = (
    "add subtract multiply divide power negative positive absolute square sqrt reciprocal sign "
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh "
    "tanh arcsinh arccosh arctanh maximum minimum logaddexp floor ceil rint remainder less "
    "less_equal greater greater_equal equal not_equal logical_and logical_or logical_not isnan "
    "isfinite"
)
_OF_SCIPY = (
    "gammaln psi expit logit log_expit erf erfc erfinv i0e i1e ndtr log_ndtr ndtri betaln xlogy "
    "xlog1py"
)

_OPERATIONS = (
    *_elementwise(_OF_NUMPY),
    *_special(_OF_SCIPY),
    Operation("log1m_exp", sums.log_of_complement, elementwise=True),
    Operation("log_diff_exp", sums.log_of_difference, ("a", "b"), elementwise=True),
    Operation("where", np.where, ("condition", "x", "y"), elementwise=True),
    Operation("clip", np.clip, ("a", "a_min", "a_max"), elementwise=True),
    Operation("sum", np.sum, ("a",), _AXIS),
    Operation("mean", np.mean, ("a",), _AXIS),
    Operation("prod", np.prod, ("a",), _AXIS),
    Operation("max", np.max, ("a",), _AXIS),
    Operation("min", np.min, ("a",), _AXIS),
    Operation("var", np.var, ("a",), {**_AXIS, "ddof": 0}),
    Operation("std", np.std, ("a",), {**_AXIS, "ddof": 0}),
    Operation("logsumexp", sums.log_of_sum, ("x",), _AXIS),
    Operation("softmax", sums.shares, ("x",), {"axis": -1}),
    Operation("log_softmax", sums.log_shares, ("x",), {"axis": -1}),
    Operation("segment_sum", segment_sum, ("x", "groups"), {"count": None}, from_data=(1,)),
    Operation("round", np.round, ("a",), {"decimals": 0}),
    Operation("cumsum", np.cumsum, ("a",), {"axis": None}),
    Operation("cumprod", np.cumprod, ("a",), {"axis": None}),
    Operation("diff", np.diff, ("a",), {"n": 1, "axis": -1}),
    Operation("matmul", np.matmul, ("a", "b")),
    Operation("dot", np.dot, ("a", "b")),
    Operation("outer", np.outer, ("a", "b")),
    Operation("trace", np.trace, ("a",)),
    Operation("tril", np.tril, ("m",), {"k": 0}),
    Operation("triu", np.triu, ("m",), {"k": 0}),
    Operation("transpose", np.transpose, ("a",), {"axes": None}),
    Operation("swapaxes", np.swapaxes, ("a",), {"axis1": 0, "axis2": 1}),
    Operation("reshape", np.reshape, ("a",), {"shape": -1}),
    Operation("ravel", np.ravel, ("a",)),
    Operation("expand_dims", np.expand_dims, ("a",), {"axis": 0}),
    Operation("squeeze", np.squeeze, ("a",), {"axis": None}),
    Operation("broadcast_to", np.broadcast_to, ("array",), {"shape": ()}),
    Operation("repeat", np.repeat, ("a",), {"repeats": 1, "axis": None}),
    Operation("flip", np.flip, ("m",), {"axis": None}),
    Operation("roll", np.roll, ("a",), {"shift": 0, "axis": None}),
    Operation("concatenate", _concatenate, ("arrays",), {"axis": 0}),
    Operation("stack", np.stack, ("arrays",), {"axis": 0}),
    Operation("getitem", _getitem, ("x", "index")),
    Operation("call", _call),
    Operation("pad_axes", _pad_axes),
    Operation("cholesky", np.linalg.cholesky, ("a",)),
    Operation("inv", np.linalg.inv, ("a",)),
    Operation("solve", np.linalg.solve, ("a", "b")),
    Operation("det", np.linalg.det, ("a",)),
    Operation("log_determinant", log_abs_det, ("a",)),
    Operation("solve_ode", higher_order.ode, probe=higher_order.ode_shape),
    Operation("solve_newton", higher_order.newton, probe=higher_order.newton_shape),
    Operation("scan", higher_order.scan, probe=higher_order.scan_shape),
    Operation("linear_recurrence", _linear_recurrence, ("coefficient", "input", "initial")),
    Operation("matrix_recurrence", _matrix_recurrence, ("matrix", "input", "initial")),
    _composed("moveaxis", np.moveaxis, options={"source": None, "destination": None}),
    _composed("diagonal", np.diagonal, options={"offset": 0, "axis1": 0, "axis2": 1}),
    _composed("diag", np.diag, ("v",), {"k": 0}),
    _composed("tile", np.tile, ("A",), {"reps": None}),
    _composed("split", _part_of(np.split), ("ary",), _CUT),
    _composed("array_split", _part_of(np.array_split), ("ary",), _CUT, written=compositions.split),
    _composed("pad", np.pad, ("array",), _PAD),
    _composed("vstack", np.vstack, ("arrays",)),
    _composed("hstack", np.hstack, ("arrays",)),
    _composed("dstack", np.dstack, ("arrays",)),
    _composed("column_stack", np.column_stack, ("arrays",)),
    _composed("block", np.block, ("blocks",)),
    _composed("average", _average, ("a", "weights"), _AXIS, order=_AVERAGE),
    _composed("inner", np.inner, ("a", "b")),
    _composed("vdot", np.vdot, ("a", "b")),
    _composed("tensordot", np.tensordot, ("a", "b"), {"axes": 2}),
    _composed("kron", np.kron, ("a", "b")),
    _composed("einsum", _einsum, (), {"subscripts": ""}, written=einsum),
    _composed("norm", np.linalg.norm, ("x",), {"ord": None, **_AXIS}),
    _composed("matrix_power", np.linalg.matrix_power, options={"n": None}),
    _composed("sign_of_determinant", _sign_of_determinant, ("a", "log")),
    _composed("full_like", _full_like, ("a", "fill_value"), {"dtype": None}),
    *_of_data("sort", "argsort", options={"axis": -1}),
    *_of_data("median", options=_AXIS),
    *_of_data("quantile", "percentile", operands=("a", "q"), options=_AXIS),
    *_of_data("unique", operands=("ar",)),
)
OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _OPERATIONS}

_FUNCTIONS: dict[Callable[..., Any], str] = {
    np.amax: "max",
    np.amin: "min",
    np.average: "average",
    np.concatenate: "concatenate",
    np.linalg.cholesky: "cholesky",
    np.linalg.det: "det",
    np.linalg.inv: "inv",
    np.linalg.solve: "solve",
    **{op.evaluate: name for name, op in OPERATIONS.items() if not name.startswith("_")},
}

_UFUNC_NAMES = {
    "true_divide": "divide",
    "abs": "absolute",
    "fabs": "absolute",
    "mod": "remainder",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "invert": "logical_not",
}


def operation_for_ufunc(ufunc: np.ufunc) -> Operation:
    """Return the operation of a ufunc of NumPy or SciPy.

    Raises a `ModelError` if symbols do not support it; the message says what to write, where that
    is known.
    """
    name = _UFUNC_NAMES.get(ufunc.__name__, ufunc.__name__)
    operation = OPERATIONS.get(name)
    if operation is None:
        _unsupported(name, "np" if hasattr(np, name) else "scipy.special")
    return operation


def operation_for(function: Callable[..., Any]) -> Operation:
    """Return the operation of a NumPy function, or raise a `ModelError` as above."""
    name = _FUNCTIONS.get(function)
    if name is None:
        module = getattr(function, "__module__", "numpy").replace("numpy", "np", 1)
        _unsupported(getattr(function, "__name__", str(function)), module)
    return OPERATIONS[name]


def supported_functions() -> list[str]:
    """Names of the functions that a model may call on symbols, for the documentation."""
    special = {"call", "getitem", "pad_axes", "sign_of_determinant"}
    special.update(name for name, op in OPERATIONS.items() if op.probe is not None)
    return sorted(OPERATIONS.keys() - special | {function.__name__ for function in ARRAY_CALLS})


def _unsupported(name: str, module: str) -> NoReturn:
    listed = " docs/modelling-language.md lists the functions that are; write it out with these."
    raise call_error(
        f"{module}.{name} is not supported on the symbols of a model.{advice_on(name) or listed}",
        function=name,
    )
