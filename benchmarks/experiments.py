"""How each paper ran its experiments, as far as it says: iterations, chains, start, settings.

    t23     Titsias (2023): one chain, inputs as they are, start N(0, I)
    td19    Titsias and Dellaportas (2019): one chain, standardised inputs, start N(0, I)
    zhu     Zhu (2019): 16 chains, start N(c, q0^2 I) about zero or the posterior mode
    wang-*  Wang, Mohamed and de Freitas (2013): one chain, standardised inputs, start N(0, I)
    hirt-*  Hirt, Titsias and Dellaportas (2021): ten chains that learn together

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
* The experiments of 2013 and 2021 differ in length, and each is a protocol of its own, called like
  its table. `cox_joint_64` and `dexter` have step sizes and lengths of our own; the paper has none
  that apply. So has `hirt-sv`, 35,000/L iterations in the paper, those of L = 5.
* ``hmc:fixed`` of 2013 has the step size and the number of steps in the middle of what `ahmc` may
  choose, and learns nothing. It is ours: the paper has no such row, but says that HMC is sensitive
  to both, which its Figure 1 shows by ``hmc:STEP:L`` on two coordinates.
* ``hmc:L`` of 2021 has L steps, no mass matrix, and a step size steered to 0.65.
* `ahmc` starts where the chains do; the authors' program looks for a mode first, and the Riemannian
  samplers start near it here too. `nuts` aims at 0.65, where the paper says "tuned".
* `entropy_hmc` of 2021 is Algorithm 1 (``robust=False``) with the learning rates and first scales
  of the authors' program. On the Gaussians the rate falls to zero in the end: at the fixed one a
  dense C of 51 dimensions keeps a noise that makes its condition number 6 instead of 1.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from published import find

from probmodel.samplers.base import Sampler

STEADY = 1e-12  # rate of a rule for the step size that leaves it as it is
SIGNALS = ("rb", "increment", "paired", "score")

Settings = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """A sampler with its settings.

    Attributes
    ----------
    method : a name in `probmodel.samplers.SAMPLERS`, if it is there, or a sampler
    settings : of that sampler
    start_scale : standard deviation of the starting points about their centre
    lengths : iterations of warm-up and after it, where they are not the protocol's
    """

    method: str | Sampler
    settings: Settings = field(default_factory=dict)
    start_scale: float = 1.0
    lengths: tuple[int, int] | None = None


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
    "wang-figure1": Protocol(10, 1000, estimator="geyer"),
    "wang-figure2": Protocol(1000, 5000, estimator="geyer"),
    "wang-figure3": Protocol(1000, 5000, estimator="geyer"),
    "wang-table1": Protocol(10_000, 20_000, estimator="geyer"),
    "wang-bnn": Protocol(2000, 4000, estimator="geyer"),
    "hirt-gaussians": Protocol(100_000, 100_000, chains=10),
    "hirt-anisotropic": Protocol(40_000, 40_000, chains=10),
    "hirt-iid": Protocol(10_000, 10_000, chains=10),
    "hirt-logistic": Protocol(10_000, 10_000, chains=10),
    "hirt-cox": Protocol(2000, 2000, chains=10),
    "hirt-sv": Protocol(7000, 7000, chains=10, estimator="stan"),
    "hirt-banana": Protocol(400_000, 400_000, chains=10, estimator="stan"),
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
    "hmc": {
        "n_steps": 10, "random_steps": False, "metric": "identity", "target_accept": 0.651,
        "steering": "robbins_monro",
    },
}  # fmt: skip
_TD19: dict[str, Settings] = {
    "gad_mala": {"target_accept": 0.55, "learning_rate": 1.5e-4},
    "gad_mala_exact": {"target_accept": 0.55, "learning_rate": 1.5e-4},
    "gad_rwm": {"target_accept": 0.25, "learning_rate": 5e-5},
    "am": {"variant": "cholesky", "preset": "code", "target_accept": 0.25},
    "rwm": {"target_accept": 0.25, "step_rate": 0.01},
    "mala": {"target_accept": 0.55, "step_rate": 0.01 / 0.55},
    **{
        f"hmc:{steps}": {
            "n_steps": steps, "random_steps": False, "metric": "identity", "target_accept": 0.651,
            "steering": "robbins_monro",
        }
        for steps in (5, 10, 20)
    },
}  # fmt: skip
_ZHU_STEP = {"mnist_7v9": 0.02, "census": 0.016, "linear": 0.03, "covtype": 0.004}  # q
_ZHU_ENSEMBLE = {"diag": 40, "full": 150}  # N
_TARGET_ACCEPT = 0.23  # where Zhu reports no acceptance rate

# (paper, target, method) -> why it runs only if --methods names it; costs are processor time
COSTLY: dict[tuple[str, str, str], str] = {
    ("t23", "mnist", "mmala"): "40,000 Hessians of 785 x 785 from 11,339 rows take hours a repeat",
    ("td19", "mnist", "nuts"): "205 iterations took more than a minute, all of them take hours",
    ("zhu", "covtype", "sa_mcmc:full"): (
        "an iteration of 16 ensembles of 1000 points took 0.036 s: all of them take 11 hours"
    ),
    ("zhu", "covtype", "nuts"): "an iteration of 16 chains took 11 s: hours even for 500 + 2000",
    ("hirt-gaussians", "ill_conditioned", "nuts"): (
        "trees of 1023 steps, by ten chains without a mass matrix, take more than four hours"
    ),
    **{
        (
            "wang-figure3",
            "cox_64",
            method,
        ): "factors of 4096 x 4096 at every step take days a repeat"
        for method in ("armhmc", "rmhmc")
    },
}
# (paper, target) of which a short run of everything has one repeat only
FEWER: tuple[tuple[str, str], ...] = (
    *((paper, "mnist") for paper in ("t23", "td19")),
    *(("zhu", target) for target in ("mnist_7v9", "census", "covtype")),
    ("wang-figure3", "cox_16"),
    *(("hirt-gaussians", target) for target in ("ill_conditioned", "gauss51")),
    *(("hirt-anisotropic", f"anisotropic_{dim}") for dim in (1000, 10_000)),
    ("hirt-logistic", "caravan_unit"),
    ("hirt-banana", "banana"),
)
SHORTER = {"zhu": 0.2}  # papers that it runs shorter still: 16 chains of 1.1 million iterations

_ONE_WAY: Settings = {"check_reversibility": False}  # as the paper has the Riemannian samplers

# (ahmc, then armhmc) -> smallest and largest step size and number of steps to choose from
_WANG: dict[str, dict[str, Settings]] = {
    "wang-figure2": {
        "ahmc": {"step_range": (0.01, 0.2), "steps_range": (1, 100)},
        "armhmc": {"step_range": (0.1, 1.0), "steps_range": (1, 12), **_ONE_WAY},
    },
    "wang-figure3": {
        "ahmc": {"step_range": (1e-3, 0.1), "steps_range": (1, 500)},
        "armhmc": {"step_range": (0.01, 1.0), "steps_range": (1, 60), **_ONE_WAY},
    },
    "wang-table1": {"ahmc": {"step_range": (1e-4, 1e-2), "steps_range": (1, 300)}},
    "wang-bnn": {"ahmc": {"step_range": (1e-3, 0.1), "steps_range": (1, 100)}},
}
_FIGURE_1 = ((0.16, 40), (0.16, 50), (0.15, 50))  # step sizes and numbers of steps
_NEAR_MODE = 0.1  # spread of the starting points of Riemannian samplers
_WHITE: Settings = {"step_range": (0.01, 1.0), "steps_range": (1, 100)}  # of a field of white noise
_NUTS: Settings = {"metric": "identity", "target_accept": 0.65}

# experiment -> settings of entropy_hmc, but for the objectives, the steps and what follows
_HIRT: dict[str, Settings] = {
    "hirt-gaussians": {"preconditioner": "diag", "learning_rate": 1e-3, "decay": True},
    "hirt-anisotropic": {"preconditioner": "diag", "learning_rate": 1e-3, "decay": True},
    "hirt-iid": {"preconditioner": "diag", "learning_rate": 1e-3, "decay": True},
    "hirt-logistic": {"preconditioner": "dense", "learning_rate": 1e-4, "clip": 1e4},
    "hirt-cox": {"preconditioner": "dense", "learning_rate": 1e-4, "clip": 1e4},
    "hirt-sv": {
        "learning_rate": 0.05, "momentum": 0.0, "clip": 50.0, "entropy_rate": 0.5,
        "penalty_start": 0.95,
    },
    "hirt-banana": {"learning_rate": 1e-4, "clip": 100.0, "penalty_start": 0.95},
}  # fmt: skip
_HIRT_STARTS = {"hirt-logistic": 0.1, "hirt-cox": 0.01, "hirt-sv": 0.1}  # spread about zero
_HIRT_STEPS = (1, 5, 10)
_HIRT_NUTS = {"hirt-sv": (1000, 1000), "hirt-iid": (1000, 1000)}  # iterations of nuts, fewer
_HIRT_SHAPES = {"hirt-sv": ("tridiagonal", "diag"), "hirt-banana": ("realnvp", "dense")}
# target -> its dimension, where the scale of the first C depends on it
_HIRT_DIMS = {
    "ripley_unit": 3, "pima_unit": 8, "heart_unit": 14, "australian_unit": 15, "german_unit": 25,
    "caravan_unit": 86, "cox_8": 64, "cox_16": 256,
}  # fmt: skip
_SMALL_STARTS = ("australian_unit", "caravan_unit")


def variants(paper: str, target: str) -> dict[str, Variant]:
    """Return the samplers of a paper by label, with the settings that it used on a target."""
    if paper == "zhu":
        return _zhu_variants(target)
    if paper.startswith("wang-"):
        return _wang_variants(paper, target)
    if paper.startswith("hirt-"):
        return _hirt_variants(paper, target)
    if paper == "td19":
        chosen = {
            name: Variant(name.partition(":")[0], dict(settings))
            for name, settings in _TD19.items()
        }
        chosen["am"].settings["diagonal"] = target == "neal100"
        return chosen | {"nuts": Variant("nuts", {"metric": "identity"}, lengths=(500, 20_000))}
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
        "nuts": Variant("nuts", {"metric": "diag"}, q, lengths=(10_000, 100_000)),
    }
    if target == "covtype":
        chosen["nuts"] = Variant("nuts", {"metric": "dense"}, q, lengths=(500, 2000))
    chosen["sa_mcmc:diag_normal"] = Variant(
        "sa_mcmc", {"covariance": "diag_normal", "ensemble": _ZHU_ENSEMBLE["diag"], "tails": 0.0}
    )
    for shape, ensemble in _ZHU_ENSEMBLE.items():
        row = find("zhu", target, f"am:{shape}")
        reported = {} if row is None else row.figures
        aim, _ = reported.get("accept", (_TARGET_ACCEPT, None))
        settings = {"variant": "haario", "diagonal": shape == "diag", "target_accept": aim}
        chosen[f"am:{shape}"] = Variant("am", {"step_size": q, **settings}, q)
        points = 1000 if target == "covtype" else ensemble
        chosen[f"sa_mcmc:{shape}"] = Variant(
            "sa_mcmc", {"covariance": shape, "ensemble": points, "tails": 0.0}, start_scale=1.0
        )
    return chosen


def _wang_variants(paper: str, target: str) -> dict[str, Variant]:
    """Return the samplers of Wang et al. (2013) with the limits of their searches."""
    plain: Settings = {"metric": "identity", "steering": "fixed"}
    if paper == "wang-figure1":
        return {
            f"hmc:{h:g}:{n}": Variant(
                "hmc", {**plain, "step_size": h, "n_steps": n, "random_steps": False}
            )
            for h, n in _FIGURE_1
        }
    chosen = {name: Variant(name, dict(limits)) for name, limits in _WANG[paper].items()}
    if target.startswith("cox_joint"):
        chosen["ahmc"].settings.update(_WHITE)
    sizes, steps = (chosen["ahmc"].settings[name] for name in ("step_range", "steps_range"))
    middle = {"step_size": sum(sizes) / 2.0, "n_steps": sum(steps) // 2}
    chosen["hmc:fixed"] = Variant("hmc", plain | middle)
    if "armhmc" in chosen:
        # Far out the metric is next to flat, and no implicit step converges: begin near the mode,
        # as the authors' program does.
        chosen["armhmc"] = Variant("armhmc", chosen["armhmc"].settings, _NEAR_MODE)
        steps: Settings = {"step_size": 0.5, "n_steps": 6, **_ONE_WAY}
        fixed = steps | {"adapt_step_size": False}
        chosen["rmhmc"] = Variant("rmhmc", fixed, _NEAR_MODE)
        chosen["rmhmc:steered"] = Variant("rmhmc", steps, _NEAR_MODE)
    return chosen | {"nuts": Variant("nuts", dict(_NUTS))}


def _hirt_variants(paper: str, target: str) -> dict[str, Variant]:
    """Return the samplers of Hirt et al. (2021): objectives, preconditioners, steps; and others."""
    start = _HIRT_STARTS.get(paper, 1.0)
    if target == "gauss51":
        start = 0.1  # the root of the smallest eigenvalue of its covariance
    lengths = _HIRT_NUTS.get(paper)
    chosen = {
        "nuts": Variant("nuts", dict(_NUTS), start, lengths),
        "nuts:diag": Variant("nuts", _NUTS | {"metric": "diag"}, start),
        "rm_const_hmc": Variant("rm_const_hmc", {"n_steps": 5, "random_steps": False}, start),
        "rm_const_mala": Variant("rm_const_mala", {}, start),
    }
    for steps in _HIRT_STEPS:
        plain: Settings = {"metric": "identity", "target_accept": 0.65, "random_steps": False}
        chosen[f"hmc:{steps}"] = Variant("hmc", plain | {"n_steps": steps}, start)
    for objective, steps in product(("gsm", "esjd", "l2hmc"), _HIRT_STEPS):
        common = {"objective": objective, "n_steps": steps, "robust": False}
        common |= _entropy_settings(paper, target, objective, steps)
        shapes = _HIRT_SHAPES.get(paper)
        if shapes is None:
            chosen[f"entropy_hmc:{objective}:{steps}"] = Variant("entropy_hmc", common, start)
        for shape in shapes or ():
            settings = common | {"preconditioner": shape}
            chosen[f"entropy_hmc:{objective}:{shape}:{steps}"] = Variant(
                "entropy_hmc", settings, start
            )
    return chosen


def _entropy_settings(paper: str, target: str, objective: str, steps: int) -> Settings:
    """Return preconditioner, learning rate and first scale that the paper has on a target."""
    settings = dict(_HIRT[paper])
    if target == "ill_conditioned":
        settings["learning_rate"] = 0.05
    if target == "gauss51":
        scale = (0.1 if objective == "gsm" else 0.01) / steps
        settings |= {"preconditioner": "dense", "initial_scale": scale}
    if target in _HIRT_DIMS:
        scale = 0.01 if target in _SMALL_STARTS else 0.1
        settings["initial_scale"] = scale * _HIRT_DIMS[target] ** (-1.0 / 3.0)
    if paper == "hirt-sv":
        settings["initial_scale"] = 0.01 / (1.0 + steps) ** (1.0 / 3.0)
    if objective != "gsm" and paper == "hirt-logistic":
        settings |= {"learning_rate": 1e-5, "clip": 1.0}
    return settings
