"""The class body of a model in the making: its names, and the declarations that are made in it."""

from __future__ import annotations

import builtins
import dis
import inspect
import sys
from types import CodeType, FrameType
from typing import Any, TypeVar

import numpy as np
import scipy.special

from probmodel import constraints, distributions, functions
from probmodel.distributions.other_names import OTHER_NAMES
from probmodel.errors import Location, ModelError
from probmodel.expressions import Apply, Expression, Symbol
from probmodel.expressions.operations import supported_functions

Made = TypeVar("Made", bound=Symbol)

# Names in Stan and PyMC, and in SciPy.
_OTHER_FUNCTIONS = {
    "Phi": "ndtr",
    "digamma": "psi",
    "inv_Phi": "ndtri",
    "inv_logit": "expit",
    "invlogit": "expit",
    "lbeta": "betaln",
    "lgamma": "gammaln",
    "log_inv_logit": "log_expit",
    "sigmoid": "expit",
}


class ClassBody(dict[str, Any]):
    """The names of a class body: each may be declared once, and each declaration needs one.

    What is only computed may take the name of something that was: ``eta = eta + x``. The older
    expression is then printed without a name. A second name of a declaration is one for the time
    being, as in ``h = x`` before ``h = np.tanh(h @ w)``.

    Attributes
    ----------
    made : every declaration that was made while the body ran, whatever became of it
    """

    def __init__(self, names: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.made: list[Any] = list(getattr(names, "made", ()))
        self._named: dict[str, Apply] = {}  # expressions that this body gave their names
        self._second: dict[str, Symbol] = {}  # declarations by names that are not their own
        for name, value in (names or {}).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        previous = self.get(name)
        inherited = (
            isinstance(previous, Apply) and name not in self._named and previous.name == name
        )
        computed = isinstance(value, Apply) and isinstance(previous, Apply) and not inherited
        computed |= self._second.pop(name, None) is not None
        if isinstance(value, (Symbol, Apply)) and isinstance(previous, Expression) and not computed:
            raise value.model_error(
                f"{name!r} is declared twice, first at {previous.location}. "
                "Each name of a model stands for one thing: give one of them another name.",
                name=name,
            )
        if isinstance(value, Symbol) and value.name not in (None, name):
            self._second[name] = value
        self.pop(name, None)  # the names stay in the order in which their values were made
        if name in self._named:
            self._named.pop(name).name = None
        if isinstance(value, (Symbol, Apply)) and value.name is None:
            value.name = name
            if isinstance(value, Apply):
                self._named[name] = value
        super().__setitem__(name, value)

    def __missing__(self, name: str) -> Any:
        frame = sys._getframe(1)
        code = frame.f_code
        outer = (frame.f_globals, builtins.__dict__, code.co_freevars, code.co_cellvars)
        if any(name in names for names in outer) or name.startswith("__"):
            raise KeyError(name)
        declared = [key for key, value in self.items() if isinstance(value, Symbol)]
        raise ModelError(
            f"{name!r} is {_unknown(name, declared, own=_target(code, frame.f_lasti) == name)}",
            location=Location(code.co_filename, frame.f_lineno),
            name=name,
        )

    def check_names(self, model: str) -> None:
        """Raise a `ModelError` for the first declaration with no name, or two names, in the end."""
        for declaration in self.made:
            if declaration.name is None:
                kind = declaration.kind
                raise declaration.model_error(
                    f"this {kind}(...) has no name in {model}, so that it would be lost. Assign "
                    f"it to a name of its own in the class body, such as `a = {kind}(...)`; one "
                    "in a list or a dict, or made by a function, needs one too. Many alike are "
                    "one declaration with an axis.",
                    model=model,
                )
            if self.get(declaration.name) is not declaration:
                raise declaration.model_error(
                    f"{declaration.title} is lost: its name was deleted or stands for something "
                    f"else at the end of {model}. Each needs a name of its own.",
                    name=declaration.name,
                )
        for name, first in self._second.items():
            if self.get(name) is first:
                raise first.model_error(
                    f"one declaration has two names, {first.name!r} and {name!r}. Use one of "
                    f"them; to save it by the other too, write {name} = "
                    f"deterministic({first.name}).",
                    name=name,
                )


def _target(code: CodeType, at: int) -> str | None:
    """Return the name that the statement at an instruction gives its value, if it gives one."""
    later = (step for step in dis.get_instructions(code) if step.offset > at)
    return next((step.argval for step in later if step.opname == "STORE_NAME"), None)


def _unknown(name: str, declared: list[str], *, own: bool) -> str:
    """Say why a name stands for nothing, and what to do."""
    for home in (distributions, functions, constraints):
        if name in home.__all__:
            return f"not imported: write `from {home.__name__} import {name}` above the model."
    if name in OTHER_NAMES:
        bugs = ", which takes Stan's parameters: of standard deviations, no precisions"
        return f"called {OTHER_NAMES[name]} in probmodel.distributions{bugs * name.islower()}."
    special = _OTHER_FUNCTIONS.get(name, name)
    if special in supported_functions() and hasattr(scipy.special, special):
        called = "not imported" if special == name else f"called {special} in scipy.special"
        return f"{called}: write `from scipy.special import {special}` above the model."
    if name in supported_functions() and hasattr(np, name):
        return f"called np.{name}: write `import numpy as np` above the model."
    if own:
        return (
            "used in its own declaration. Nothing can depend on itself: a series that depends on "
            "its past is an AR, an ARMA or another series of probmodel.distributions; or bind its "
            "earlier values as data of another name."
        )
    return (
        "used before it is declared. A declaration can use what stands above it"
        f" ({', '.join(declared) or 'nothing so far'}): move {name!r} up, or import it. What a"
        f" base class declares is called by its name there, such as Base.mu.{_distribution(name)}"
    )


def _distribution(name: str) -> str:
    """Say what the distribution is called that a name is in lower case, as in Stan: student_t."""
    plain = name.replace("_", "").lower()
    called = next((known for known in distributions.__all__ if known.lower() == plain), None)
    return f" The distribution is called {called}." if called else ""


def note(declaration: Made) -> Made:
    """Tell the class body that is running, if one is, of a declaration made in it.

    The body is found on the stack, so that declarations made by the functions it calls are its own
    too, and nothing is left behind by bodies that failed or that run in other threads.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        # Frames of functions are optimised; to ask for their local names would copy these.
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            if isinstance(frame.f_locals, ClassBody):
                frame.f_locals.made.append(declaration)
                break
            if frame.f_locals is frame.f_globals:
                break  # a module that the body imports: what is made there belongs to no body
        frame = frame.f_back
    return declaration
