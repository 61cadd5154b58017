"""Pages of the reference: every public name, in groups, with its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import probmodel
import probmodel.functions
import probmodel.testing
from probmodel.constraints import CONSTRAINTS
from probmodel.distributions import DISTRIBUTIONS, kernels

INTRODUCTION = "# Reference\n\nEvery public name, with what its docstring says.\n\n"
# Page: title, what it is for, and its names in `probmodel`.
GROUPS = {
    "models": (
        "Models",
        "Declarations, binding and files. The guide is "
        "[Modelling language](../modelling-language.md), and of Stan programs "
        "[Stan programs](../stan-programs.md).",
        ("Model", "data", "param", "observed", "deterministic", "potential", "load_model",
         "load_stan", "Stan", "to_stan", "StanProgram", "read_data", "to_dot", "to_svg"),
    ),
    "inference": (
        "Inference",
        "Drawing from a posterior, and going on with it. The guide is "
        "[Inference](../inference.md).",
        ("infer", "Converged", "resume", "extend", "infer_many", "load_fit", "SavedFit", "report"),
    ),
    "prediction": (
        "Prediction",
        "What a fit or a prior says of data. The guide is [Prediction](../prediction.md).",
        ("predict", "posterior_predictive", "prior_predictive", "simulate",
         "compute_deterministics", "log_likelihood", "log_prior", "loo", "HeldOut", "folds"),
    ),
    "checking": (
        "Checking",
        "A model before it is sampled, and inference as a whole. The guide is "
        "[Checking](../checking.md).",
        ("check_model", "sbc", "Calibration"),
    ),
    "densities": (
        "Log densities",
        "Densities without a model. The guide is [Log densities](../density.md).",
        ("LogDensity",),
    ),
    "errors": (
        "Errors and warnings",
        "All derive from `ProbmodelError`, but for the warning.",
        ("ProbmodelError", "ModelError", "DataError", "ShapeError", "InitializationError",
         "SamplerError", "TimeLimitError", "OutputError", "SamplingWarning"),
    ),
}  # fmt: skip
ELSEWHERE = {"distributions"}  # a module, with a page of its own


def pages() -> dict[str, tuple[str, str]]:
    """Return title and text of each page by its path."""
    listed = {name for _, _, names in GROUPS.values() for name in names}
    if listed ^ (set(probmodel.__all__) - ELSEWHERE):
        raise ValueError(
            "docs/site/reference_pages.py lists other names than probmodel.__all__: "
            f"{sorted(listed ^ (set(probmodel.__all__) - ELSEWHERE))}"
        )
    found = {
        f"reference/{page}.md": (title, _page(title, words, [f"probmodel.{n}" for n in names]))
        for page, (title, words, names) in GROUPS.items()
    }
    for page, (title, words, members) in _packages().items():
        found[f"reference/{page}.md"] = title, _page(title, words, members)
    listing = "".join(f"- [{title}]({uri[10:]})\n" for uri, (title, _) in found.items())
    return {"reference/index.md": ("Reference", INTRODUCTION + listing), **found}


def _packages() -> dict[str, tuple[str, str, list[str | type]]]:
    """Return title, purpose and members of the pages on packages inside `probmodel`."""
    bases = (
        "probmodel.distributions.base.Distribution",
        "probmodel.constraints.base.Constraint",
        "probmodel.samplers.base.Sampler",
    )
    checks = [f"probmodel.testing.{n}" for n in probmodel.testing.__all__ if n.startswith("check_")]
    return {
        "distributions": (
            "Distributions",
            "`probmodel.distributions`. The "
            "[modelling language](../modelling-language.md#distributions) has them in a table, "
            "with what can be truncated, censored and non-centred.",
            _classes(DISTRIBUTIONS),
        ),
        "kernels": (
            "Kernels",
            "`probmodel.distributions.kernels`: covariance functions of Gaussian processes, see "
            "[Modelling language](../modelling-language.md#gaussian-processes).",
            _classes({n: v for n, v in vars(kernels).items() if _is_kernel(v)}),
        ),
        "constraints": (
            "Constraints",
            "`probmodel.constraints`, see "
            "[Modelling language](../modelling-language.md#bounds-and-constraints).",
            _classes(CONSTRAINTS),
        ),
        "functions": (
            "Functions",
            "`probmodel.functions`: functions of symbols beyond NumPy's, see "
            "[Modelling language](../modelling-language.md#functions-of-symbols).",
            [f"probmodel.functions.{n}" for n in probmodel.functions.__all__],
        ),
        "extending": (
            "Extending",
            "Base classes, and the checks that parts of your own should pass. The guide is "
            "[Extending](../extending.md).",
            [*bases, *checks],
        ),
    }


def _is_kernel(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, kernels.Kernel)


def _classes(kinds: dict[str, type]) -> list[str | type]:
    return [kind for _, kind in sorted(kinds.items(), key=lambda item: item[0].lower())]


def _page(title: str, words: str, members: Sequence[str | type]) -> str:
    """Return a page with an entry for each member: a path, or a class without its methods."""
    return f"# {title}\n\n{words}\n\n" + "\n".join(
        _class_entry(each) if isinstance(each, type) else f"::: {each}\n" for each in members
    )


def _class_entry(kind: type) -> str:
    """Return the entry of a class: how it is called, and its docstring."""
    taken = inspect.signature(kind).parameters.values()
    call = ", ".join(str(p.replace(annotation=p.empty)) for p in taken)
    return (
        f"## `{kind.__name__}`\n\n```python\n{kind.__name__}({call})\n```\n\n"
        f"::: {kind.__module__}.{kind.__qualname__}\n    options:\n"
        "      members: false\n      show_root_heading: false\n      show_root_toc_entry: false\n\n"
    )
