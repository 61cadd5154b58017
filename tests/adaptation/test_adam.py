"""Adam against Algorithm 1 of its paper, written out for one number at a time."""

import numpy as np
import pytest

from probmodel.adaptation.adam import direction, start_adam


def algorithm_1(gradients, rate, momentum):
    """Parameter after all gradients, from zero."""
    m = v = x = 0.0
    for t, g in enumerate(gradients, start=1):
        m = momentum * m + (1.0 - momentum) * g
        v = 0.999 * v + 0.001 * g**2
        x -= rate * (m / (1.0 - momentum**t)) / (np.sqrt(v / (1.0 - 0.999**t)) + 1e-7)
    return x


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_steps_are_those_of_the_paper(momentum):
    gradients = np.random.default_rng(1).standard_normal((50, 2, 3)) * [1e-3, 1.0, 1e5]
    adam, x = start_adam((2, 3)), np.zeros((2, 3))
    for gradient in gradients:
        adam, step = direction(adam, gradient, momentum)
        x = x - 0.01 * step
    expected = [[algorithm_1(gradients[:, i, j], 0.01, momentum) for j in range(3)]
                for i in range(2)]  # fmt: skip
    np.testing.assert_allclose(x, expected, rtol=1e-10)


def test_the_first_step_is_the_sign():
    _, step = direction(start_adam(3), np.array([2.0, -500.0, 0.0]))
    np.testing.assert_allclose(step, [1.0, -1.0, 0.0], rtol=1e-6)


def test_the_state_is_left_alone():
    adam = start_adam(2)
    direction(adam, np.ones(2))
    assert adam.steps == 0
    np.testing.assert_array_equal(adam.mean, 0.0)
