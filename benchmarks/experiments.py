"""How each paper ran its experiments, as far as it says: iterations, chains, start, settings.

    t23     Titsias (2023): one chain, inputs as they are, start N(0, I)
    td19    Titsias and Dellaportas (2019): one chain, standardised inputs, start N(0, I)
    zhu     Zhu (2019): 16 chains, start N(c, q0^2 I) about zero or the posterior mode

Where our samplers differ from the papers' is told in the samplers' own files; what follows from it
here:

* Zhu tunes step sizes by hand. The fixed q of `rwm` and `mtm` is a rule whose rate is next to zero;
  the scale s of `am` is steered to the acceptance rate that Zhu reports.
* Zhu's `am` learns for ever and each chain alone, ours in the warm-up and from all 16 chains.
* `am` of 2019 is that of the released code, which learns at half the paper's rate, and a diagonal L
  on Neal's target: so it gives the published figures, as the paper's settings do not.
* `am` of 2019 is run as the authors' program has it, with a diagonal L.
* `mala` of 2019 has the rule s <- s (1 + 0.01 (a - 0.55)/0.55), which is the one of `mala` at rate
  0.01/0.55, but for the acceptance probability in place of the indicator a.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from published import find

STEADY = 1e-12  # rate of a rule for the step size that leaves it as it is
SIGNALS = ("rb", "increment", "paired", "score")

Settings = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """A sampler with its settings.

    Attributes
    ----------
    method : a name in `probmodel.samplers.SAMPLERS`, if it is there
    settings : of that sampler
    start_scale : standard deviation of the starting points about their centre
    """

    method: str
    settings: Settings = field(default_factory=dict)
    start_scale: float = 1.0


@dataclass(frozen=True)
class Protocol:
    """What all runs of a paper share.

    Attributes
    ----------
    warmup, draws : iterations of each chain
    chains : they run together and learn together
    estimator : a name in `ess.ESTIMATORS`
    standardise : bring the inputs of the small classification sets to mean 0 and variance 1
    from_mode : targets whose starting points are about the mode, not about zero
    """

    warmup: int
    draws: int
    chains: int = 1
    estimator: Literal["tfp", "geyer", "stan"] = "tfp"
    standardise: bool = False
    from_mode: tuple[str, ...] = ()


PROTOCOLS: dict[str, Protocol] = {
    "t23": Protocol(20_000, 20_000),
    "td19": Protocol(20_000, 20_000, estimator="geyer", standardise=True),
    "zhu": Protocol(100_000, 1_000_000, chains=16, estimator="stan", from_mode=("covtype",)),
}

FISHER: Settings = {
    "damping": 10.0,
    "target_accept": 0.574,
    "initial_steps": 500,
    "step_rate": 0.015,
    "robust": False,
}
_T23: dict[str, Settings] = {
    "mala": {"target_accept": 0.574},
    "ada_mala": {"damping": 10.0, "target_accept": 0.574, "initial_steps": 500, "step_rate": 0.015},
    "mmala": {"target_accept": 0.574, "step_rate": 0.015, "drift": "simplified"},
    "fisher_mala": FISHER,
}
_TD19: dict[str, Settings] = {
    "gad_mala": {"target_accept": 0.55, "learning_rate": 1.5e-4},
    "gad_mala_exact": {"target_accept": 0.55, "learning_rate": 1.5e-4},
    "gad_rwm": {"target_accept": 0.25, "learning_rate": 5e-5},
    "am": {"variant": "cholesky", "preset": "code", "target_accept": 0.25},
    "rwm": {"target_accept": 0.25, "step_rate": 0.01},
    "mala": {"target_accept": 0.55, "step_rate": 0.01 / 0.55},
}
_ZHU_STEP = {"mnist_7v9": 0.02, "census": 0.016, "linear": 0.03, "covtype": 0.004}  # q
_ZHU_ENSEMBLE = {"diag": 40, "full": 150}  # N
_TARGET_ACCEPT = 0.23  # where Zhu reports no acceptance rate

# (paper, target, method) -> why it runs only if --methods names it
COSTLY: dict[tuple[str, str, str], str] = {
    ("t23", "mnist", "mmala"): "40,000 Hessians of 785 x 785 from 11,339 rows take hours a repeat",
}


def variants(paper: str, target: str) -> dict[str, Variant]:
    """Return the samplers of a paper by label, with the settings that it used on a target."""
    if paper == "zhu":
        return _zhu_variants(target)
    if paper == "td19":
        chosen = {name: Variant(name, dict(settings)) for name, settings in _TD19.items()}
        chosen["am"].settings["diagonal"] = target == "neal100"
        return chosen
    signals = {
        f"fisher_mala:{signal}": Variant("fisher_mala", FISHER | {"signal": signal})
        for signal in SIGNALS[1:]
    }
    return {name: Variant(name, settings) for name, settings in _T23.items()} | signals


def variant_of(paper: str, target: str, method: str) -> Variant:
    """Return a variant by its label; a sampler that the paper does not have, as it comes."""
    return variants(paper, target).get(method) or Variant(method)


def _zhu_variants(target: str) -> dict[str, Variant]:
    """Return the samplers of Zhu (2019); a target that it does not have gets q = 0.02."""
    q = _ZHU_STEP.get(target, 0.02)
    fixed = {"step_size": q, "step_rate": STEADY}
    chosen = {
        "rwm": Variant("rwm", dict(fixed), q),
        "mtm": Variant("mtm", {**fixed, "tries": 3}, q),
    }
    for shape, ensemble in _ZHU_ENSEMBLE.items():
        row = find("zhu", target, f"am:{shape}")
        reported = {} if row is None else row.figures
        aim, _ = reported.get("accept", (_TARGET_ACCEPT, None))
        settings = {"variant": "haario", "diagonal": shape == "diag", "target_accept": aim}
        chosen[f"am:{shape}"] = Variant("am", {"step_size": q, **settings}, q)
        points = 1000 if target == "covtype" else ensemble
        chosen[f"sa_mcmc:{shape}"] = Variant(
            "sa_mcmc", {"covariance": shape, "ensemble": points}, start_scale=1.0
        )
    return chosen
