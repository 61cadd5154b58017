"""Series, maps and Gaussian processes, which are written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.distributions import Normal
from probmodel.expressions import as_expression
from probmodel.functions import linear_recurrence
from probmodel.stan.export.code_blocks import braced
from probmodel.stan.export.code_forms import ATOM, PREFIX, PRODUCT, SUM, Form
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.distributed_value import Quantity
from probmodel.stan.export.kernel_rules import covariance, points_of
from probmodel.stan.export.no_spelling import NoSpellingError


def _normal(writer: Writer, value: Any, loc: Any, scale: Any) -> None:
    writer.rules.statements(writer, Quantity(Normal(0, 1), value, {"loc": loc, "scale": scale}))


def _is_zero(writer: Writer, value: Any) -> bool:
    """Whether data say that a value is zero."""
    return writer.is_constant(value) and not np.any(writer.value(value))


def _target(writer: Writer, expression: Any) -> None:
    writer.block.add(f"target += {writer.scalar(expression)};")


# -- series ----------------------------------------------------------------------------------------


def ar(writer: Writer, q: Any) -> None:
    """Add an autoregression of any order, given its first values."""
    y, phi = q.value, q.args["coefficients"]
    writer.named(y)
    order = writer.shape(phi)[0]
    mean = q.args["intercept"]
    for k in range(order):
        mean = mean + phi[k] * y[order - 1 - k : -(k + 1)]
    if q.dist.initial is not None:
        writer.rules.statements(writer, q.inner(q.dist.initial, "initial.", y[:order]))
    _normal(writer, y[order:], mean, q.args["sigma"])


def ar1(writer: Writer, q: Any) -> None:
    """Add a stationary autoregression."""
    y, (phi, sigma, mean) = q.value, q.args.values()
    writer.named(y)
    _normal(writer, y[0], mean, sigma / np.sqrt(1 - phi**2))
    before = y[:-1]
    centred = _is_zero(writer, mean)
    _normal(writer, y[1:], phi * before if centred else mean + phi * (before - mean), sigma)


def random_walk(writer: Writer, q: Any) -> None:
    """Add a random walk."""
    y, (sigma, first, drift, start) = q.value, q.args.values()
    writer.named(y)
    _normal(writer, y[0], start, first)
    still = _is_zero(writer, drift)
    _normal(writer, y[1:], y[:-1] if still else y[:-1] + drift, sigma)


def garch(writer: Writer, q: Any) -> None:
    """Add a series whose variances depend on the past."""
    y, (mean, omega, alpha, beta, initial) = q.value, q.args.values()
    n, series = writer.sizes(y)[0], writer.named(y)
    variance, at = writer.fresh("variance"), writer.places(1)[0]
    mu, o, a, b = (writer.whole(x).inside(PRODUCT) for x in (mean, omega, alpha, beta))
    step = f"{o} + {a} * square({series.text}[{at + -1}] - {mu}) + {b} * {variance}[{at + -1}]"
    writer.block.add(
        f"vector[{n}] {variance};",
        f"{variance}[1] = {writer.scalar(initial)};",
        f"for ({at} in 2:{n}) {variance}[{at}] = {step};",
        f"{series.text} ~ normal({mu}, sqrt({variance}));",
    )


def arma(writer: Writer, q: Any) -> None:
    """Add an autoregression with moving averages of its errors."""
    y, (phi, theta, sigma, mean) = q.value, q.args.values()
    n, form = writer.sizes(y)[0], writer.named(y)
    series, whole = form.text, writer.reals(y).inside(SUM)
    orders = [writer.shape(x)[0] for x in (phi, theta)]
    error, (t, k) = writer.fresh("error"), writer.places(2)
    mu = writer.whole(mean).inside(PRODUCT)
    forms = [writer.named(x) for x in (phi, theta)]
    ends = [f"min({t} - 1, {order})" for order in orders]
    back = f"{t} - {k}"
    writer.block.add(
        f"vector[{n}] {error} = {whole} - {mu};",
        *braced(
            f"for ({t} in 1:{n})",
            [
                f"for ({k} in 1:{ends[0]}) {error}[{t}] -= "
                f"{forms[0].text}[{k}] * ({series}[{back}] - {mu});",
                f"for ({k} in 1:{ends[1]}) {error}[{t}] -= {forms[1].text}[{k}] * {error}[{back}];",
            ],
        ),
        f"{error} ~ normal(0, {writer.scalar(sigma)});",
    )


def state_space(writer: Writer, q: Any) -> None:
    """Add a linear model with states, for which time is the second axis in Stan."""
    value = writer.reals(q.value).inside(ATOM)
    args = ", ".join(writer.reals(arg).text for arg in q.args.values())
    writer.block.add(f"{value}' ~ gaussian_dlm_obs({args});")


# -- matrices --------------------------------------------------------------------------------------


def matrix_normal(writer: Writer, q: Any) -> None:
    """Add a matrix, by the precisions of its rows and its columns."""
    precisions, fixed = [], True
    for axis in ("row", "column"):
        name = next(n for n in q.dist.parameters if n.startswith(f"{axis}_"))
        text = writer.reals(q.args[name]).text
        fixed = fixed and writer.is_constant(q.args[name])
        if name.endswith("cholesky"):
            text = f"chol2inv({text})"
        elif name.endswith("covariance"):
            text = f"inverse_spd({text})"
        own = writer.fresh(f"{axis}_precision")
        size = writer.sizes(q.value)[axis == "column"]
        writer.block.add(f"matrix[{size}, {size}] {own} = {text};")
        precisions.append(own)
    rows, columns = precisions
    error = writer.reals(q.value - q.args["loc"]).text
    total = f"-trace_gen_quad_form({columns}, {rows}, {error})"
    if not fixed:
        n, k = writer.shape(q.value)
        total = f"{k} * log_determinant({rows}) + {n} * log_determinant({columns}) {_minus(total)}"
    writer.block.add(f"target += 0.5 * ({total});")


def _minus(text: str) -> str:
    return f"- {text[1:]}"


# -- maps ------------------------------------------------------------------------------------------


def car(writer: Writer, q: Any) -> None:
    """Add a proper conditional autoregression, by its precision."""
    tau, alpha, adjacency, mean = q.args.values()
    size = writer.shape(q.value)[0]
    graph = q.dist._graph(np.asarray(writer.value(adjacency)), size)
    weights = _given(writer, graph.adjacency.toarray(), "adjacency_matrix")
    degrees = _given(writer, np.asarray(graph.degrees, dtype=float), "degrees")
    value = writer.reals(q.value).text
    loc = f"rep_vector({writer.scalar(mean)}, {writer.sizes(q.value)[0]})"
    a, t = writer.whole(alpha).inside(PREFIX), writer.whole(tau).inside(PREFIX)
    precision = f"{t} * (diag_matrix({degrees}) - {a} * {weights})"
    writer.block.add(f"{value} ~ multi_normal_prec({loc}, {precision});")


def icar(writer: Writer, q: Any) -> None:
    """Add an intrinsic autoregression, by differences between neighbours."""
    adjacency, scale = q.args.values()
    size = writer.shape(q.value)[0]
    graph = q.dist._graph(np.asarray(writer.value(adjacency)), size)
    table = np.triu(graph.adjacency.toarray())
    rows, columns = np.nonzero(table)
    weights = table[rows, columns]
    y = q.value
    writer.named(y)
    gaps = y[rows] - y[columns]
    squares = gaps @ gaps if np.all(weights == 1) else weights @ gaps**2
    _target(writer, -0.5 * squares / scale**2)
    if not writer.is_constant(scale):
        _target(writer, -(size - 1) * np.log(scale))


def bym2(writer: Writer, q: Any) -> None:
    """Add independent and structured effects, along the eigenvectors of the map."""
    sigma, rho, _ = q.args.values()
    eigenvalues, basis = _spectrum(writer, q)
    turned = as_expression(q.value) @ basis / sigma
    _normal(writer, turned, 0.0, np.sqrt(1 + rho * (eigenvalues - 1)))
    if not writer.is_constant(sigma):
        _target(writer, -writer.shape(q.value)[0] * np.log(sigma))


def bym2_value(writer: Writer, q: Any, z: Any) -> Any:
    """Return effects as a function of standard normal coordinates."""
    sigma, rho, _ = q.args.values()
    eigenvalues, basis = _spectrum(writer, q)
    return sigma * (basis @ (z * np.sqrt(1 + rho * (eigenvalues - 1))))


def _spectrum(writer: Writer, q: Any) -> tuple[Any, Any]:
    adjacency = np.asarray(writer.value(q.args["adjacency"]))
    found = q.dist._spectrum(adjacency, writer.shape(q.value)[0])
    nodes = []
    for stem, array in zip(("map_eigenvalues", "map_basis"), found, strict=True):
        node = as_expression(np.asarray(array))
        writer.shared.constants.know(node, writer.shared.given(None, np.asarray(array), stem))
        nodes.append(node)
    return nodes[0], nodes[1]


def _given(writer: Writer, array: Any, stem: str) -> str:
    return writer.shared.given(None, np.asarray(array), stem).text


def zero_sum(writer: Writer, q: Any) -> None:
    """Add a normal distribution on the plane of vectors that sum to zero."""
    scale = q.args["scale"]
    _normal(writer, q.value, 0.0, scale)
    if not writer.is_constant(scale):
        _target(writer, np.log(scale))


# -- Gaussian processes ----------------------------------------------------------------------------


def gaussian_process(writer: Writer, q: Any) -> None:
    """Add a Gaussian process, by the factor of its covariance."""
    value = writer.reals(q.value)
    mean, root = _process(writer, q)
    flat = f"to_vector({value.text}')" if value.kind == "matrix" else value.text
    writer.block.add(f"{flat} ~ multi_normal_cholesky({mean}, {root});")


def _process(writer: Writer, q: Any) -> tuple[str, str]:
    """Return the mean at the points, and the factor of the covariance matrix."""
    dist, shape = q.dist, writer.shape(q.value)
    size = int(np.prod(shape))
    coordinates = [n for n, spec in dist.parameters.items() if spec.known]
    points = points_of(writer, [q.args[name] for name in coordinates])
    values = {name: q.args[name] for name in dist.kernel.arguments}
    matrix = covariance(writer, dist.kernel, values, points).text
    fixed = all(writer.is_constant(v) for v in values.values()) and not dist.is_noisy
    block = writer.shared.constants if fixed else writer.block
    own, root = (block.declare(writer.shared.names, stem) for stem in ("covariance", "root"))
    block.add(f"matrix[{size}, {size}] {own} = {matrix};")
    added = [] if not dist.jitter else [f"{dist.jitter!r} * trace({own}) / {size}"]
    if dist.is_noisy:
        noise = q.args["noise"]
        text = f"square({writer.reals(noise).text})" if not writer.shape(noise) else (
            f"square({writer.reals(np.reshape(noise, (size,))).text})")  # fmt: skip
        added.append(text)
    inside = f"add_diag({own}, {' + '.join(added)})" if added else own
    block.add(f"matrix[{size}, {size}] {root} = cholesky_decompose({inside});")
    mean = q.args["mean"]
    if not writer.shape(mean):
        return f"rep_vector({writer.scalar(mean)}, {size})", root
    return writer.reals(np.reshape(np.broadcast_to(mean, shape), (size,))).text, root


def gaussian_process_value(writer: Writer, q: Any, z: Any) -> Any:
    """Return a process as a function of standard normal values."""
    mean, root = _process(writer, q)
    z_form = writer.reals(z)
    flat = f"to_vector({z_form.text}')" if z_form.kind == "matrix" else z_form.text
    form = Form(f"{mean} + {root} * {flat}", "vector", SUM)
    if z_form.kind == "matrix":
        rows, columns = writer.sizes(z)
        return Form(f"to_matrix({form.text}, {rows}, {columns}, 0)", "matrix")
    return form


def hilbert_space(writer: Writer, q: Any) -> None:
    """Add independent normal weights with the scales of the spectral density."""
    _normal(writer, q.value, 0.0, _hilbert_scales(writer, q))


def _hilbert_scales(writer: Writer, q: Any) -> Any:
    amplitude, length, frequencies = q.args.values()
    known = np.asarray(writer.value(frequencies))
    axes = known.shape[1]
    squares = as_expression(np.sum(known**2, axis=1))
    log_density, _ = q.dist.kernel.log_spectrum(np, squares * length**2, axes)
    return amplitude * np.exp(0.5 * (axes * np.log(length) + log_density))


def kumaraswamy(writer: Writer, q: Any) -> Form:
    """Return the log density, written out."""
    a, b = q.args["a"], q.args["b"]
    y = q.value
    formula = np.log(a) + np.log(b) + (a - 1) * np.log(y) + (b - 1) * np.log1p(-(y**a))
    return writer.whole(formula)


def spherical_student_t(writer: Writer, q: Any) -> None:
    """Add a vector of the standard member of a family that Stan has."""
    n = writer.sizes(q.value)[0]
    args = f"{writer.scalar(q.args['df'])}, rep_vector(0, {n}), identity_matrix({n})"
    writer.block.add(f"{writer.reals(q.value).text} ~ multi_student_t({args});")


def flat(writer: Writer, q: Any) -> None:
    """Add nothing."""


def noncentered_value(writer: Writer, q: Any, z: Any) -> Any:
    """Return a value as a function of its standardised form: an expression, or its code.

    Raises a `NoSpellingError` if it is not known how to write it.
    """
    kind, dist = type(q.dist).__name__, q.dist
    if kind in _VALUES:
        return _VALUES[kind](writer, q, z)
    if not dist.event_ndim:
        return dist.noncentered(np, z, *q.args.values())
    raise NoSpellingError(
        f"the non-centred form of {dist.name}", "Declare the parameter with noncentered=False."
    )


def _mv_normal_value(writer: Writer, q: Any, z: Any) -> Any:
    form = next(name for name in q.dist.parameters if name not in ("df", "loc"))
    loc, matrix = q.args["loc"], q.args[form]
    if form == "precision" or len(writer.shape(matrix)) > 2:
        raise NoSpellingError(
            f"the non-centred form of {q.dist.name} here", "Give one cholesky= for all."
        )
    root = matrix if form == "cholesky" else np.linalg.cholesky(matrix)
    return loc + (root @ z if len(writer.shape(z)) == 1 else z @ root.T)


def _ar1_value(writer: Writer, q: Any, z: Any) -> Any:
    phi, sigma, mean = q.args.values()
    _one_series(writer, z)
    first = z[:1] / np.sqrt(1 - phi**2)
    shocks = sigma * np.concatenate([first, z[1:]])
    return mean + linear_recurrence(phi, shocks)


def _walk_value(writer: Writer, q: Any, z: Any) -> Any:
    sigma, scale, drift, start = q.args.values()
    _one_series(writer, z)
    still = _is_zero(writer, drift)
    steps = sigma * z[1:] if still else drift + sigma * z[1:]
    return np.cumsum(np.concatenate([(start + scale * z[0])[None], steps]))


def _one_series(writer: Writer, z: Any) -> None:
    if len(writer.shape(z)) > 1:
        raise NoSpellingError("the non-centred form of several series", "Use noncentered=False.")


_VALUES: dict[str, Any] = {
    "BYM2": bym2_value,
    "GaussianProcess": gaussian_process_value,
    "MvNormal": _mv_normal_value,
    "MvStudentT": _mv_normal_value,
    "AR1": _ar1_value,
    "RandomWalk": _walk_value,
    "HilbertSpaceGP": lambda w, q, z: z * _hilbert_scales(w, q),
    "ZeroSumNormal": lambda w, q, z: q.args["scale"] * z,
}
STATEMENTS: dict[str, Any] = {
    "Flat": flat,
    "SphericalStudentT": spherical_student_t,
    "AR": ar,
    "AR1": ar1,
    "RandomWalk": random_walk,
    "GARCH": garch,
    "ARMA": arma,
    "GaussianDLM": state_space,
    "MatrixNormal": matrix_normal,
    "CAR": car,
    "ICAR": icar,
    "BYM2": bym2,
    "ZeroSumNormal": zero_sum,
    "GaussianProcess": gaussian_process,
    "HilbertSpaceGP": hilbert_space,
}
FORMULAS: dict[str, Any] = {"Kumaraswamy": kumaraswamy}
