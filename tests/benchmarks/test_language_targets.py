"""The targets written by hand agree with the same models in the package's own language."""

import numpy as np
import pytest
from datasets import LOGISTIC_DATA
from hamiltonian_targets import HAMILTONIAN
from joint_cox import CENTRE
from language_targets import compiled_density, language_model
from latent_targets import LATENT
from targets import GAUSSIANS, TARGETS, make_target

# Inverses of covariances with condition numbers up to 1e5 differ in the last digits.
TOLERANCES = {"gp100": 1e-10, "gauss51": 1e-12}


LONG = ("mnist", "covtype", "census", "mnist_7v9", "dexter", "caravan")  # thousands of rows
SHORT = sorted(
    {*GAUSSIANS, *HAMILTONIAN, "banana", "linear", *LOGISTIC_DATA}
    - {*LONG, *(name for name in HAMILTONIAN if name.endswith(("_wide", "_unit")))}
)
NAMES = [*SHORT, *(pytest.param(name, marks=pytest.mark.statistical) for name in LONG)]


def differences(found, expected, x, v):
    """Largest differences of values but for a constant, of gradients and of Hessian products.

    They are relative to the largest of what is compared.
    """
    (logp, grad), (logp_by_hand, grad_by_hand) = found(x), expected(x)
    size = np.abs(logp_by_hand).max()
    values = [np.ptp(f - logp_by_hand) / size for f in (logp, found.log_density(x))]
    pairs = (grad, grad_by_hand), (found.hvp(x, v), expected.hvp(x, v))
    return [*values, *(np.abs(f - e).max() / np.abs(e).max() for f, e in pairs)]


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("name", NAMES)
def test_they_agree(name, engine):
    density, by_hand = compiled_density(name), make_target(name)
    density.use_engine(engine)
    x, v = np.random.default_rng(1).standard_normal((2, 5, by_hand.dim))
    assert max(differences(density, by_hand, x, v)) < TOLERANCES.get(name, 1e-12)
    assert density.dim == by_hand.dim


def test_all_targets_are_compared():
    models = {name for name in HAMILTONIAN if name.endswith(("_wide", "_unit"))} | set(LATENT)
    assert {*SHORT, *LONG, *models} == set(TARGETS)


def test_another_model_would_be_noticed():
    density, other = compiled_density("anisotropic_100"), make_target("inhomogeneous")
    x, v = np.random.default_rng(1).standard_normal((2, 5, 100))
    assert min(differences(density, other, x, v)) > 1e-2


def test_standardised_inputs():
    density, by_hand = (
        make("ripley", standardise=True) for make in (compiled_density, make_target)
    )
    x, v = np.random.default_rng(1).standard_normal((2, 5, by_hand.dim))
    assert max(differences(density, by_hand, x, v)) < 1e-12


@pytest.mark.parametrize("n", [16, pytest.param(64, marks=pytest.mark.statistical)])
def test_a_cox_process_has_its_hyperparameters_first(n):
    density, by_hand = (make(f"cox_joint_{n}") for make in (compiled_density, make_target))
    x, v = 0.3 * np.random.default_rng(1).standard_normal((2, 3, by_hand.dim))

    def turned(x, centre=0.0):
        return np.concatenate([x[:, -3:] + centre, x[:, :-3]], axis=1)

    found, expected = density(turned(x, CENTRE)), by_hand(x)
    size = np.abs(expected.grad).max()
    # Eigenvalues by hand are softened, by a few in 10^9.
    assert np.ptp(found.logp - expected.logp) < 1e-8 * np.abs(expected.logp).max()
    assert np.abs(found.grad - turned(expected.grad)).max() < 1e-8 * size
    product = density.hvp(turned(x, CENTRE), turned(v))
    expected_product = turned(by_hand.hvp(x, v))
    np.testing.assert_allclose(product, expected_product, atol=1e-7 * np.abs(product).max())


def test_models_are_themselves():
    model = make_target("ripley_wide").model
    assert type(language_model("ripley_wide")) is type(model)
