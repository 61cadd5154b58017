"""Bayesian neural network on the Dexter texts, and its errors beside the published ones.

    python benchmarks/bnn.py --scale 0.1

Eight networks are sampled, each from seven eighths of the 300 training texts; the eighth left out
steers `ahmc`, whose reward is 0.2 less the error there over a constant number of leapfrog steps.
The 300 validation texts, which nothing has seen, then give errors of the single networks and of
their majority vote.

    x              weights and biases of a chain, layer by layer         (chains, 6097)
    W_l, b_l       weights and biases of layer l = 1, 2, 3               (chains, in, out)
    h_l            outputs of layer l, tanh of a_l = h_{l-1} W_l + b_l   (chains, texts, out)
    a_3            log odds                                              (chains, texts)
    d_l            slope of the log likelihood in a_l

Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo
samplers", section 5.4: 295 inputs, hidden layers of 20 and 8, 6097 parameters. The paper has
neither priors nor lengths of runs, and its errors are those of the challenge's test texts, whose
labels were never published. Here weights are normal with variance one over the inputs of their
unit, biases standard normal, and inputs have mean 0 and variance 1 over the training texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from datasets import OWN
from densities import Target
from published.wang2013 import DEXTER_ERRORS
from report import environment, markdown, number

from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.samplers import make_sampler
from probmodel.types import Array

LAYERS = (295, 20, 8, 1)
FOLDS = 8
WARMUP, DRAWS = 2000, 4000
BUDGET = 400  # leapfrog steps of one reward
STEPS, STEP_SIZES = (5, 100), (1e-3, 0.1)
REFERENCE = 0.2  # an error that earns no reward; the authors' code has it too


class Dexter(NamedTuple):
    """Scaled counts of 295 words in texts (texts, 295), and labels, one for acquisitions."""

    X: Array
    y: Array
    X_validation: Array
    y_validation: Array


def dexter() -> Dexter:
    """Load the texts; words have mean 0 and variance 1 over those for training."""
    with np.load(OWN / "dexter.npz") as stored:
        X, V = (stored[name].astype(float) for name in ("X", "X_validation"))
        y, w = (stored[name].astype(float) for name in ("y", "y_validation"))
    mean, scale = X.mean(axis=0), X.std(axis=0)
    return Dexter((X - mean) / scale, y, (V - mean) / scale, w)


class NeuralNetwork(Target):
    """Posterior of a tanh network with a logistic output.

    Parameters
    ----------
    X : (texts, inputs)
    y : (texts,), zeros and ones
    layers : inputs, hidden units of two layers, and the one output
    """

    def __init__(self, X: Array, y: Array, layers: Sequence[int] = LAYERS) -> None:
        shapes = list(pairwise(layers))
        super().__init__(sum((n + 1) * k for n, k in shapes))
        self.X, self.y, self.shapes = X, y, shapes
        one = [np.concatenate([np.full(n * k, float(n)), np.ones(k)]) for n, k in shapes]
        self.precision = np.concatenate(one)

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        weights, _ = self._unpack(x)
        h = self._forward(x)
        odds = h[3][..., 0]
        d = [(self.y - _sigmoid(odds))[..., None]]
        for layer in (2, 1):
            back = d[0] @ weights[layer].swapaxes(1, 2)
            d.insert(0, back * (1.0 - h[layer] ** 2))
        pull = self.precision * x
        likelihood = np.sum(self.y * odds - np.logaddexp(0.0, odds), axis=1)
        return likelihood - 0.5 * np.sum(x * pull, axis=1), _packed(_outer(h, d), d) - pull

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each.

        Forward and backward pass, differentiated along ``v`` (Pearlmutter 1994).
        """
        weights, _ = self._unpack(x)
        d_weights, d_biases = self._unpack(v)
        h = self._forward(x)
        dh = [np.zeros_like(h[0])]
        for layer in range(3):
            da = dh[layer] @ weights[layer] + h[layer] @ d_weights[layer] + d_biases[layer]
            dh.append(da * (1.0 - h[layer + 1] ** 2) if layer < 2 else da)
        s = _sigmoid(h[3])
        d, dd = [self.y[:, None] - s], [-s * (1.0 - s) * dh[3]]
        for layer in (2, 1):
            W, dW = (w[layer].swapaxes(1, 2) for w in (weights, d_weights))
            back, d_back = d[0] @ W, dd[0] @ W + d[0] @ dW
            slope = 1.0 - h[layer] ** 2
            d.insert(0, back * slope)
            dd.insert(0, d_back * slope - 2.0 * back * h[layer] * dh[layer])
        in_weights = [a + b for a, b in zip(_outer(dh, d), _outer(h, dd), strict=True)]
        return _packed(in_weights, dd) - self.precision * v

    def log_odds(self, x: Array, X: Array) -> Array:
        """Log odds of other texts (texts, inputs) at points (n, dim): (n, texts)."""
        return self._forward(x, X)[3][..., 0]

    def _unpack(self, x: Array) -> tuple[list[Array], list[Array]]:
        """Cut into weights (chains, in, out) and biases (chains, 1, out) of each layer."""
        weights, biases, start = [], [], 0
        for n, k in self.shapes:
            weights.append(x[:, start : start + n * k].reshape(len(x), n, k))
            start += (n + 1) * k
            biases.append(x[:, None, start - k : start])
        return weights, biases

    def _forward(self, x: Array, X: Array | None = None) -> list[Array]:
        """Return inputs, outputs of the hidden layers, and log odds (chains, texts, 1)."""
        h = [(self.X if X is None else X)[None]]
        for layer, (W, b) in enumerate(zip(*self._unpack(x), strict=True)):
            a = h[layer] @ W + b
            h.append(np.tanh(a) if layer < 2 else a)
        return h


def dexter_network() -> NeuralNetwork:
    """Network of the paper on the 300 training texts."""
    texts = dexter()
    return NeuralNetwork(texts.X, texts.y)


def _sigmoid(t: Array) -> Array:
    return 0.5 + 0.5 * np.tanh(0.5 * t)


def _outer(h: Sequence[Array], d: Sequence[Array]) -> list[Array]:
    """Multiply inputs of each layer by slopes in its sums, over texts: (chains, in, out)."""
    return [inputs.swapaxes(1, 2) @ slopes for inputs, slopes in zip(h[:3], d, strict=True)]


def _packed(in_weights: Sequence[Array], d: Sequence[Array]) -> Array:
    """Slopes in weights, and in biases as sums over texts, in the order of x: (chains, dim)."""
    parts = [
        part.reshape(len(part), -1)
        for weights, slopes in zip(in_weights, d, strict=True)
        for part in (weights, slopes.sum(axis=1))
    ]
    return np.concatenate(parts, axis=1)


class Predictor(Collector):
    """Collects the mean probability of label one over the draws of all chains."""

    def __init__(self, network: NeuralNetwork, X: Array) -> None:
        self.network, self.X = network, X
        self.total, self.count = np.zeros(len(X)), 0

    def record(self, phase: str, i: int, state: object, info: object, params: object) -> None:
        """Add the probabilities at the chains' positions."""
        if phase == "draw":
            self.total += _sigmoid(self.network.log_odds(state.x, self.X)).mean(axis=0)
            self.count += 1

    @property
    def labels(self) -> Array:
        """Whether one is the likelier label of each text."""
        return self.total > 0.5 * self.count


def error(labels: Array, y: Array) -> float:
    """Share of wrong labels."""
    return float(np.mean(labels != (y > 0.5)))


def sample_fold(texts: Dexter, fold: Array, scale: float, seed: int) -> Array:
    """Sample the network without one fold of the training texts.

    Parameters
    ----------
    texts : all of them
    fold : (texts,) bool, those left out, whose error is what `ahmc` makes small
    scale : multiplies the iterations
    seed : of the run

    Returns
    -------
    Labels of the validation texts.
    """
    network = NeuralNetwork(texts.X[~fold], texts.y[~fold])
    X, y = texts.X[fold], texts.y[fold]

    def reward(draws: Array, step_size: float, n_steps: int) -> float:
        odds = network.log_odds(draws.reshape(-1, network.dim), X)
        return max(REFERENCE - error(_sigmoid(odds).mean(axis=0) > 0.5, y), 0.0)

    sampler = make_sampler(
        "ahmc", step_range=STEP_SIZES, steps_range=STEPS, reward=reward, budget=BUDGET
    )
    rng = np.random.default_rng([seed, int(np.flatnonzero(fold)[0])])
    predictor = Predictor(network, texts.X_validation)
    x0 = rng.standard_normal((1, network.dim)) / np.sqrt(network.precision)
    warmup, draws = (max(round(n * scale), 8) for n in (WARMUP, DRAWS))
    run(sampler, network, x0, rng, warmup=warmup, draws=draws, collectors=[predictor])
    return predictor.labels


def folds(y: Array, seed: int) -> Array:
    """Split texts at random into `FOLDS` folds of like composition: (FOLDS, texts) bool."""
    order = np.random.default_rng(seed).permutation(len(y))
    rank = np.argsort(order[np.argsort(y[order], kind="stable")])
    return rank % FOLDS == np.arange(FOLDS)[:, None]


def error_table(scale: float, seed: int, networks: int = FOLDS) -> str:
    """Sample networks, and print their errors beside the published ones."""
    texts = dexter()
    labels = np.array([
        sample_fold(texts, fold, scale, seed) for fold in folds(texts.y, seed)[:networks]
    ])  # fmt: skip
    errors = [error(row, texts.y_validation) for row in labels]
    vote = error(labels.mean(axis=0) > 0.5, texts.y_validation)
    ours = {"mean": np.mean(errors), "median": np.median(errors), "vote": vote}
    rows = [
        (name, number(published), number(ours[key]) if key in ours else "–")
        for key, (name, published) in DEXTER_ERRORS.items()
    ]
    return markdown(("classification error", "published", "ours"), rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Sample the networks and print their errors beside the published ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the iterations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--networks", type=int, default=FOLDS, choices=range(1, FOLDS + 1))
    options = parser.parse_args(arguments)
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    print(error_table(options.scale, options.seed, options.networks))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
