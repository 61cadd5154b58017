"""A small posterior and hand-made runs, so that every check sees a case built for it."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from probmodel.inference.collectors import Divergences
from probmodel.inference.counting import Work
from probmodel.inference.request import Request
from probmodel.samplers.base import Remark
from probmodel.types import Variable


class GaussianPosterior:
    """Standard normal in three coordinates: mu, log tau, and the second of ``w``'s elements."""

    name = "Toy"
    dim = 3
    coordinate_names = ("w[0]", "w[1]", "tau")
    variables = (
        Variable("w", (2,), ("feature",), {"feature": np.array(["age", "sex"])}, "param"),
        Variable("tau", (), (), {}, "param"),
        Variable("table", (2, 3), ("feature", "row"), {}, "deterministic"),
    )
    coords: ClassVar = {"feature": np.array(["age", "sex"], dtype=object)}
    observed_data: ClassVar = {"y": (("obs",), np.arange(4))}
    constant_data: ClassVar = {"X": (("obs", "feature"), np.ones((4, 2)))}
    largest = 0

    def constrain(self, x, names=None):
        self.largest = max(self.largest, len(x))
        w = x[:, :2]
        values = {"w": w, "tau": np.exp(x[:, 2]), "table": w[:, :, None] * np.arange(1.0, 4.0)}
        return {name: values[name] for name in names or values}


@dataclass(frozen=True)
class FakeSampler:
    target_accept: float = 0.574
    initial_steps: int = 100
    weights: tuple = (1.0, 2.0)
    name: ClassVar[str] = "fake_mala"
    needs: ClassVar[str] = "gradient"
    coupling: ClassVar[str] = "pooled_warmup"
    adapts_forever: ClassVar[bool] = False

    @property
    def aim(self):
        return self.target_accept

    def remarks(self, params, stats):
        return [] if params is None else [Remark("odd", f"{params}: {stats['lp'].shape}")]


def statistics(rng, chains, draws):
    return {
        "lp": rng.standard_normal((chains, draws)),
        "acceptance_rate": np.clip(rng.normal(0.574, 0.2, (chains, draws)), 0, 1),
        "accepted": np.ones((chains, draws), dtype=bool),
        "step_size": np.full((chains, draws), 0.3),
        "n_steps": np.ones((chains, draws), dtype=np.int64),
        "n_grad": np.ones((chains, draws), dtype=np.int64),
        "diverging": np.zeros((chains, draws), dtype=bool),
    }


def divergences_at(x, chain, draw, end=None):
    """Divergences of trajectories that lead to those draws, each from the draw before it."""
    chain, draw = np.asarray(chain, dtype=int), np.asarray(draw, dtype=int)
    counts = np.zeros(x.shape[:2], dtype=np.int32)
    np.add.at(counts, (chain, draw), 1)
    start = x[chain, draw - 1]
    return Divergences(counts, chain, draw, start, start + 1.0 if end is None else end)


@pytest.fixture
def diverge():
    """Function that makes trajectories diverge in a run; see `divergences_at`."""

    def diverge(run, chain, draw, end=None):
        run.divergences = divergences_at(run.x, chain, draw, end)
        run.stats["diverging"] = run.divergences.counts > 0
        run.stats["n_steps"] = run.stats["n_steps"] + 6
        return run

    return diverge


@pytest.fixture
def make_run():
    """Function that makes a run from positions (by default independent normal draws)."""

    def make(x=None, *, chains=4, draws=500, warmup=0, seed=0, **changes):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((chains, draws, 3)) if x is None else x
        fields = {
            "x": x,
            "stats": statistics(rng, *x.shape[:2]),
            "warmup_x": rng.standard_normal((len(x), warmup, 3)) if warmup else None,
            "warmup_stats": statistics(rng, len(x), warmup) if warmup else None,
            "warmup_done": 500,
            "draws_done": x.shape[1],
            "interrupted": False,
            "timed_out": False,
            "work_warmup": Work(logp=30, grad=2000),
            "work_sampling": Work(grad=4 * x.shape[1], hvp=2, hessian=1),
            "seconds_warmup": 0.25,
            "seconds_sampling": 0.5,
            "blas_threads": 1,
            "nonfinite": 0,
            "divergences": divergences_at(x, [], []),
            "params": (None,),
            "groups": 1,
            "restarted": (),
            "lost": {},
            "snapshot": None,
            "density": None,
            "positions": np.zeros((4, 3)),
        }
        return SimpleNamespace(**{**fields, **changes})

    return make


@pytest.fixture
def posterior():
    return GaussianPosterior()


@pytest.fixture
def sampler():
    return FakeSampler()


@pytest.fixture
def make_request():
    def make(**changes):
        fields = {
            "model": "Toy",
            "draws": 500,
            "warmup": 500,
            "chains": 4,
            "thin": 1,
            "seed": np.random.SeedSequence(42),
            "pool": True,
        }
        return Request(**{**fields, **changes})

    return make
