"""The blocks of a program, put together from the declarations of a model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.expressions import Expression, Symbol, as_expression
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
from probmodel.model.parameters import FreeParameter, choose_constraint
from probmodel.stan.export import density_rules, operation_rules
from probmodel.stan.export.code_blocks import Block, braced, declared, indented, loops
from probmodel.stan.export.code_forms import SUM, Form, Place, kind_of
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.declared_uses import counted_from_one, used_by_density
from probmodel.stan.export.distributed_value import Quantity
from probmodel.stan.export.identifiers import Names
from probmodel.stan.export.no_spelling import NoSpellingError
from probmodel.stan.export.parameter_types import parameter_type
from probmodel.stan.export.process_rules import noncentered_value
from probmodel.stan.export.rule_book import Rules
from probmodel.stan.export.shared_parts import Shared

RULES = Rules(
    whole=operation_rules.whole_rule,
    entry=operation_rules.entry_rule,
    statement=operation_rules.statement_rule,
    statements=density_rules.statements,
    one=density_rules.one,
    log_density=density_rules.log_density,
    log_probability=density_rules.log_probability,
    element=density_rules.entry,
)


class Assembly:
    """Writes the blocks of a program.

    Parameters
    ----------
    model : bound to its data
    taken : functions that the program calls, whose names are not free
    log_lik : whether to write the log density of each observation
    """

    def __init__(self, model: Any, taken: set[str], log_lik: bool) -> None:
        given = model._binding
        # The export looks at expressions of its own, which the model's binding is not to keep.
        self.binding = bind(given.name, given.declarations, given.data, given.labels)
        names = Names(self.binding.declarations, taken)
        arrays = {k: v for k, v in vars(type(model)).items() if isinstance(v, np.ndarray)}
        self.shared = Shared(self.binding, names, arrays, RULES)
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
            except NoSpellingError as error:
                raise error.of(declaration) from error
        self.without_log_lik = self._log_likelihoods() if log_lik else []

    @property
    def variables(self) -> set[str]:
        """Names that are no functions."""
        return self.names.taken

    @property
    def called(self) -> dict[str, str]:
        """What the program calls the declarations of the model."""
        return {name: self.names.of(name) for name in self.binding.declarations}

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
                given.append(f"{name}={writer.whole(bound).inside(SUM)}")
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
            density_rules.statements(
                model, Quantity(declaration.prior, declaration, declaration.prior.args)
            )

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
            density_rules.statements(model, Quantity(base, raw, base.args))
        inner = Writer(self.shared, self.transformed.inside())
        value = noncentered_value(inner, Quantity(prior, free.declaration, prior.args), raw)
        if isinstance(value, Form):
            self._set(name, value, sizes, inner.block)
        else:
            node = as_expression(value)
            self.shared.sizes.tell(node, sizes)
            self._define(inner, node, name, self.transformed)
        self._know(free.declaration, Form(name, kind_of(len(sizes))), sizes)

    def _set(self, name: str, form: Form, sizes: tuple[Place, ...], block: Block) -> None:
        """Define a quantity of the transformed parameters, with the statements it takes."""
        kind = kind_of(len(sizes))
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
        density_rules.statements(model, Quantity(distribution, declaration, distribution.args))

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
        name = self.names.of(str(declaration.name))
        self.shared.sizes.tell(node, sizes)
        self._define(inner, node, name, block)
        self.shared.sizes.tell(declaration, sizes)
        block.know(declaration, Form(name, kind_of(len(sizes))))

    def _define(self, inner: Writer, value: Any, name: str, block: Block) -> None:
        """Declare a variable of a block and give it a value, which may take statements."""
        node = as_expression(value)
        sizes = self.shared.sizes.of(node)
        kind = kind_of(len(sizes))
        form = inner.written(node)
        if form is None:
            inner.fill(node, name, kind)
        elif inner.block.lines:
            inner.block.add(f"{name} = {form.text};")
        else:
            block.add(f"{declared(kind, sizes)} {name} = {form.text};")
            return
        block.add(f"{declared(kind, sizes)} {name};", *braced("", inner.block.lines))

    def potential(self, declaration: Potential) -> None:
        """Write a term of the log density."""
        name = str(declaration.name)
        term = next(t for t in self.binding.terms if t.name == name and t.kind == "potential")
        model = Writer(self.shared, self.model_block)
        if term.distribution is not None:
            args = term.distribution.args
            density_rules.statements(model, Quantity(term.distribution, term.expression, args))
            return
        shape = self.binding.evaluator.shape(declaration.expression)
        total = np.sum(declaration.expression) if shape else declaration.expression
        self.model_block.add(f"target += {model.scalar(total)};")

    def _log_likelihoods(self) -> list[Observed]:
        """Write the log density of each value; returns quantities that have none, if others have.

        Raises a `ModelError` if none has.
        """
        declared_ones = self.binding.declarations.values()
        observed, without = [d for d in declared_ones if isinstance(d, Observed)], []
        for declaration in observed:
            stem = "log_lik" if len(observed) == 1 else f"log_lik_{declaration.name}"
            try:
                self._log_likelihood(declaration, self.names.fresh(stem))
            except NoSpellingError as error:
                if declaration.distribution.name not in density_rules.STATEMENTS:
                    raise error.of(declaration) from error
                without.append(declaration)
        if without and len(without) == len(observed):
            first, kind = without[0], without[0].distribution.name
            raise first.model_error(
                f"{first.title}: log_lik=True has nothing to write for {kind}, whose "
                "log density the program adds up from several statements, for all values "
                "together. Leave log_lik out.",
                name=first.name,
            )
        return without

    def _log_likelihood(self, declaration: Observed, name: str) -> None:
        distribution = declaration.distribution
        inner = Writer(self.shared, self.generated.inside())
        rank = len(self.binding.evaluator.shape(declaration)) - distribution.event_ndim
        sizes, places = self.shared.sizes.of(declaration)[:rank], inner.places(rank)
        form = density_rules.entry(
            inner, distribution, declaration, distribution.args, places, "log_density"
        )
        target = f"{name}[{', '.join(map(str, places))}]" if places else name
        lines = loops([p.variable for p in places], sizes, [f"{target} = {form.text};"])
        body = [*inner.block.lines, *lines]
        self.generated.add(f"{declared(kind_of(rank), sizes)} {name};")
        self.generated.add(*(braced("", body) if inner.block.lines else body))

    # -- the program ---------------------------------------------------------------------------

    def program(self) -> tuple[str, dict[str, Any]]:
        """Return the program, and the data that it takes: those of the model that it uses."""
        shared = self.shared
        blocks = {
            "functions": shared.functions,
            "data": [],
            "transformed data": shared.constants.lines,
            "parameters": self.parameters,
            "transformed parameters": self.transformed.lines,
            "model": self.model_block.lines,
            "generated quantities": self.generated.lines,
        }
        words = {word for lines in blocks.values() for line in lines for word in _words(line)}
        used = {n: line for n, line in shared.declarations.items() if n in words}
        words |= {word for line in used.values() for word in _words(line)}
        sizes = {n: line for n, line in shared.size_lines.items() if n in words}
        blocks["data"] = [*sizes.values(), *used.values()]
        code = "".join(
            "\n".join([f"{name} {{", *indented(lines), "}", ""])
            for name, lines in blocks.items()
            if lines
        )
        return code, {name: shared.data[name] for name in (*sizes, *used)}


def _words(line: str) -> list[str]:
    return re.findall(r"\w+", line)


def _constraint(free: FreeParameter, binding: Binding) -> Any:
    """Return the constraint of a parameter's own value."""
    if free.frame is None:
        return free.constraint
    return choose_constraint(free.declaration, binding.evaluator)


_WRITERS: dict[type[Declaration], Any] = {
    Data: Assembly.datum,
    Parameter: Assembly.parameter,
    Observed: Assembly.observed,
    Deterministic: Assembly.deterministic,
    Potential: Assembly.potential,
}
