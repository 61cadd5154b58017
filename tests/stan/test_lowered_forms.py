"""Programs whose formulas have better forms: the forward algorithm, probabilities by log odds."""

import numpy as np
from scipy.special import logsumexp

from probmodel import Stan
from probmodel.density import as_posterior
from probmodel.expressions import Apply, topological

CHAIN = """
data { int T; vector[T] y; matrix[2, 2] A; }
parameters { vector[2] mu; }
model {
  array[T] vector[2] gamma;
  for (k in 1:2) gamma[1, k] = normal_lpdf(y[1] | mu[k], 1);
  for (t in 2:T) {
    for (k in 1:2) {
      vector[2] acc;
      for (j in 1:2) acc[j] = gamma[t - 1, j] + log(A[j, k]) + normal_lpdf(y[t] | mu[k], 1);
      gamma[t, k] = log_sum_exp(acc);
    }
  }
  target += log_sum_exp(gamma[T]);
}
"""


def forward(y, A, mu):
    """Log likelihood of a hidden Markov chain, one time after another."""
    log = -0.5 * (y[:, None] - mu) ** 2 - 0.5 * np.log(2 * np.pi)
    gamma = log[0]
    for t in range(1, len(y)):
        gamma = logsumexp(gamma[:, None] + np.log(A), axis=0) + log[t]
    return logsumexp(gamma)


def test_the_forward_algorithm_is_recognised_and_right():
    y, A = np.random.default_rng(0).normal(size=80), np.array([[0.9, 0.1], [0.3, 0.7]])
    model = Stan(CHAIN)(T=80, y=y, A=A)
    nodes = topological([term.expression for term in model._binding.terms])
    called = [node.kwargs.get("function") for node in nodes if isinstance(node, Apply)]
    assert "hmm_log_likelihood" in {getattr(function, "__name__", "") for function in called}
    mu = np.array([[-0.7, 1.1], [2.0, 0.3]])
    found = as_posterior(model).log_density(mu)
    np.testing.assert_allclose(found, [forward(y, A, m) for m in mu], rtol=1e-12)


def test_probabilities_that_round_to_one_keep_their_log_odds():
    code = """
    data { int N; array[N] int<lower=0, upper=1> y; }
    parameters { real a; }
    transformed parameters { matrix[N, 1] p; for (n in 1:N) p[n, 1] = inv_logit(a * n); }
    model { for (n in 1:N) y[n] ~ bernoulli(p[n, 1]); }
    """
    density = as_posterior(Stan(code)(N=3, y=[0, 1, 0]))
    found = density(np.array([[50.0]]))
    np.testing.assert_allclose(found.logp, [-200.0], rtol=1e-12)
    np.testing.assert_allclose(found.grad, [[-4.0]], rtol=1e-12)
