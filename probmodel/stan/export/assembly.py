"""The blocks of a program, put together from the declarations of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.expressions import Expression, Symbol, as_expression, leaves, topological
from probmodel.model.binding import Binding, bind
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.imputation import Imputation
from probmodel.model.parameters import FreeParameter
from probmodel.stan.export.blocks import Block, braced, declared, indented
from probmodel.stan.export.complaints import NoSpelling
from probmodel.stan.export.constraints import parameter_type
from probmodel.stan.export.densities import Quantity, statements
from probmodel.stan.export.forms import Form, Place, kind_of
from probmodel.stan.export.names import Names
from probmodel.stan.export.processes import noncentered_value
from probmodel.stan.export.program_data import Shared
from probmodel.stan.export.usage import counted_from_one, used_by_density
from probmodel.stan.export.writer import Writer


class Assembly:
    """Writes the blocks of a program.

    Parameters
    ----------
    model : bound to its data
    taken : functions that the program calls, whose names are not free
    """

    def __init__(self, model: Any, taken: set[str]) -> None:
        given = model._binding
        # The export looks at expressions of its own, which the model's binding is not to keep.
        self.binding = bind(given.name, given.declarations, given.data, given.labels)
        names = Names(self.binding.declarations, taken)
        arrays = {k: v for k, v in vars(type(model)).items() if isinstance(v, np.ndarray)}
        self.shared = Shared(self.binding, names, arrays)
        self.names = names
        self.parameters: list[str] = []
        self.transformed = self.shared.constants.inside()
        self.model_block = self.transformed.inside()
        self.generated = self.transformed.inside()
        self._free = {f.name: f for f in self.binding.free}
        self._in_density = used_by_density(self.binding)
        self.shared.from_one |= counted_from_one(self.binding)
        for declaration in self.binding.declarations.values():
            try:
                _WRITERS[type(declaration)](self, declaration)
            except NoSpelling as error:
                raise error.of(declaration) from error

    @property
    def variables(self) -> set[str]:
        """Names that are no functions."""
        return self.names.taken

    # -- declarations --------------------------------------------------------------------------

    def _sizes(self, declaration: Declaration, shape: tuple[int, ...]) -> tuple[Place, ...]:
        """Sizes of a declaration: those of its dims, its ``shape=``, or numbers."""
        if declaration.dims is not None:
            return tuple(
                self.shared.dim(d, n) for d, n in zip(declaration.dims, shape, strict=True)
            )
        declared_shape = getattr(declaration, "declared_shape", None)
        if declared_shape is not None:
            return tuple(
                Place(self.names.of(str(size.name))) if isinstance(size, Data) else Place("", n)
                for size, n in zip(declared_shape, shape, strict=True)
            )
        if isinstance(declaration, Parameter) and declaration.prior is not None and shape:
            return self._of_prior(declaration.prior, shape)
        if isinstance(declaration, Observed):
            stems = [f"{declaration.name}{f'_{k + 1}' if k else ''}" for k in range(len(shape))]
            return tuple(self.shared.dim(s, n) for s, n in zip(stems, shape, strict=True))
        return tuple(Place("", n) for n in shape)

    def _of_prior(self, prior: Distribution, shape: tuple[int, ...]) -> tuple[Place, ...]:
        """Sizes that the parameters of a prior have."""
        found = [Place("", n) for n in shape]
        for arg in prior.args.values():
            given = self.binding.evaluator.shape(arg)
            for back in range(1, min(len(given), len(shape)) + 1):
                if given[-back] == shape[-back] and not found[-back].variable:
                    found[-back] = self.shared.sizes.of(as_expression(arg))[-back]
        return tuple(found)

    def datum(self, declaration: Data) -> None:
        """Write a datum."""
        name, value = str(declaration.name), self.binding.data[str(declaration.name)]
        sizes = self._sizes(declaration, value.shape)
        shifted = name in self.shared.from_one
        note = "counts from 1" if shifted else ""
        limits = self._limits(declaration) if not shifted else "<lower=1>"
        kind = value + 1 if shifted else value
        form = self.shared.datum(self.names.of(name), kind, sizes, limits, note)
        self._know(declaration, form, sizes)

    def _limits(self, declaration: Data) -> str:
        writer = Writer(self.shared, self.shared.constants.inside())
        given = []
        for name, bound in (("lower", declaration.lower), ("upper", declaration.upper)):
            if bound is not None and not self.binding.evaluator.shape(bound):
                given.append(f"{name}={writer.whole(bound).inside(5)}")
        return f"<{', '.join(given)}>" if given and not writer.block.lines else ""

    def _know(self, node: Expression, form: Form, sizes: tuple[Place, ...]) -> None:
        self.shared.sizes.tell(node, sizes)
        self.shared.constants.know(node, form)

    def parameter(self, declaration: Parameter) -> None:
        """Write a parameter and its prior."""
        self.free(self._free[str(declaration.name)])

    def free(self, free: FreeParameter) -> None:
        """Write a parameter: its type, its prior, and its value where that is not the parameter."""
        declaration, name = free.declaration, self.names.of(free.name)
        sizes = self._sizes(declaration, free.shape)
        self.shared.sizes.tell(declaration, sizes)
        model = Writer(self.shared, self.model_block)
        if free.declaration.noncentered:
            self._noncentered(free, name, sizes)
            return
        constraint = _constraint(free, self.binding)
        kind_text, kind = parameter_type(model, constraint, sizes)
        self.parameters.append(f"{kind_text} {name};")
        self._know(declaration, Form(name, kind), sizes)
        if declaration.prior is not None:
            statements(model, Quantity(declaration.prior, declaration, declaration.prior.args))

    def _noncentered(self, free: FreeParameter, name: str, sizes: tuple[Place, ...]) -> None:
        """Write the standardised value as the parameter."""
        prior = free.declaration.prior
        assert prior is not None
        raw, own = Symbol(f"{free.name}_raw"), self.names.fresh(f"{free.name}_raw")
        model, base = Writer(self.shared, self.model_block), prior.base()
        kind_text, kind = parameter_type(model, base.support(), sizes)
        self.parameters.append(f"{kind_text} {own};")
        model.let(raw, Form(own, kind), free.shape)
        self._know(raw, Form(own, kind), sizes)
        if type(base).__name__ == "Normal":
            flat = f"to_vector({own})" if kind == "matrix" else own
            self.model_block.add(f"{flat} ~ std_normal();")
        else:
            statements(model, Quantity(base, raw, base.args))
        inner = Writer(self.shared, self.transformed.inside())
        value = noncentered_value(inner, Quantity(prior, free.declaration, prior.args), raw)
        form = value if isinstance(value, Form) else inner.reals(value) if free.shape else (
            inner.whole(value))  # fmt: skip
        self._set(name, form, sizes, inner.block)
        self._know(free.declaration, Form(name, kind_of(len(sizes))), sizes)

    def _set(self, name: str, form: Form, sizes: tuple[Place, ...], block: Block) -> None:
        """Define a quantity of the transformed parameters, with the statements it takes."""
        kind = kind_of(len(sizes))
        if not block.lines:
            self.transformed.add(f"{declared(kind, sizes)} {name} = {form.text};")
            return
        body = [*block.lines, f"{name} = {form.text};"]
        self.transformed.add(f"{declared(kind, sizes)} {name};", *braced("", body))

    def observed(self, declaration: Observed) -> None:
        """Write data and their likelihood."""
        name = str(declaration.name)
        value = self.binding.data[name]
        sizes = self._sizes(declaration, value.shape)
        if name in self.binding.imputed:
            self._impute(declaration, self.binding.imputed[name], sizes)
        else:
            shifted = name in self.shared.from_one
            note = "counts from 1" if shifted else ""
            own = self.names.of(name)
            if not declaration.distribution.discrete:
                value = value.astype(float)
            given = value + 1 if shifted else value
            form = self.shared.datum(
                own, given, sizes, "", note, not declaration.distribution.discrete
            )
            self._know(declaration, form, sizes)
        model = Writer(self.shared, self.model_block)
        distribution = declaration.distribution
        statements(model, Quantity(distribution, declaration, distribution.args))

    def _impute(
        self, declaration: Observed, imputation: Imputation, sizes: tuple[Place, ...]
    ) -> None:
        """Write data that are completed by a parameter."""
        name = self.names.of(str(declaration.name))
        value = self.binding.data[str(declaration.name)]
        own = self.names.fresh(f"{declaration.name}_missing")
        free, missing = imputation.free, imputation.missing
        model = Writer(self.shared, self.model_block)
        count = self.shared.dim(f"{declaration.name}_missing", int(missing.sum()))
        known = self.shared.dim(f"{declaration.name}_known", int((~missing).sum()))
        text, kind = parameter_type(model, free.constraint, (count,))
        self.parameters.append(f"{text} {own};")
        self._know(free.declaration, Form(own, kind), (count,))
        given = self.names.fresh(f"{declaration.name}_known")
        self.shared.datum(given, value[~missing], (known,))
        at = self.names.loop(0)
        lines = [f"{declared(kind_of(value.ndim), sizes)} {name};"]
        for mask, source, size in ((~missing, given, known), (missing, own, count)):
            places = []
            for axis, index in enumerate(np.nonzero(mask)):
                stem = f"{source}_at" if value.ndim == 1 else f"{source}_at_{axis + 1}"
                form = self.shared.datum(
                    self.names.fresh(stem), index + 1, (size,), "<lower=1>", "counts from 1"
                )
                places.append(f"{form.text}[{at}]")
            target = f"{name}[{', '.join(places)}]"
            lines.append(f"for ({at} in 1:{size}) {target} = {source}[{at}];")
        self.transformed.add(*lines)
        self._know(declaration, Form(name, kind_of(value.ndim)), sizes)

    def deterministic(self, declaration: Deterministic) -> None:
        """Write a quantity that is computed: after the draws if the density does not need it."""
        node = declaration.expression
        shape = self.binding.evaluator.shape(node)
        needed = id(declaration) in self._in_density
        block = self.transformed if needed else self.generated
        if self.binding.evaluator.is_constant(node):
            needed, block = False, self.generated
        inner = Writer(self.shared, block.inside())
        sizes = self._sizes(declaration, shape) if declaration.dims else self.shared.sizes.of(node)
        form = inner.reals(node) if shape else inner.whole(node)
        name = self.names.of(str(declaration.name))
        kind = kind_of(len(sizes))
        if inner.block.lines:
            body = [*inner.block.lines, f"{name} = {form.text};"]
            block.add(f"{declared(kind, sizes)} {name};", *braced("", body))
        else:
            block.add(f"{declared(kind, sizes)} {name} = {form.text};")
        self.shared.sizes.tell(declaration, sizes)
        block.know(declaration, Form(name, kind))

    def potential(self, declaration: Potential) -> None:
        """Write a term of the log density."""
        name = str(declaration.name)
        term = next(t for t in self.binding.terms if t.name == name and t.kind == "potential")
        model = Writer(self.shared, self.model_block)
        if term.distribution is not None:
            args = term.distribution.args
            statements(model, Quantity(term.distribution, term.expression, args))
            return
        shape = self.binding.evaluator.shape(declaration.expression)
        total = np.sum(declaration.expression) if shape else declaration.expression
        self.model_block.add(f"target += {model.scalar(total)};")

    # -- the program ---------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """Return the data of the program."""
        return {**self.shared.data}

    def code(self) -> str:
        """Return the program."""
        shared = self.shared
        blocks = {
            "functions": shared.functions,
            "data": [*shared.size_lines.values(), *shared.declarations.values()],
            "transformed data": shared.constants.lines,
            "parameters": self.parameters,
            "transformed parameters": self.transformed.lines,
            "model": self.model_block.lines,
            "generated quantities": self.generated.lines,
        }
        return "".join(
            "\n".join([f"{name} {{", *indented(lines), "}", ""])
            for name, lines in blocks.items()
            if lines
        )


def _constraint(free: FreeParameter, binding: Binding) -> Any:
    """Return the constraint of a parameter's own value."""
    from probmodel.model.parameters import choose_constraint

    if free.frame is None:
        return free.constraint
    return choose_constraint(free.declaration, binding.evaluator)


def _expressions(value: Any) -> Iterator[Expression]:
    yield from topological(leaves(value))


_WRITERS: dict[type[Declaration], Any] = {
    Data: Assembly.datum,
    Parameter: Assembly.parameter,
    Observed: Assembly.observed,
    Deterministic: Assembly.deterministic,
    Potential: Assembly.potential,
}
