"""The race against other tools: the same densities, runs that fail, and what is said of them."""

import numpy as np
import peers
import pytest
from peer_tools import TOOLS
from peer_tools.cases import CASES, GALLERY

from probmodel import load_model
from probmodel.density import as_posterior

others = pytest.mark.filterwarnings("ignore")  # warnings of other packages


def ours(case):
    """Return our density, on which volatility is centred, as in `test_race`."""
    from peer_tools.ours import build

    if case.model == "stochastic_volatility":
        model = load_model(GALLERY / "stochastic_volatility_centered.py")
        return as_posterior(model(**case.data()))
    return as_posterior(build(case, case.data()))


def points_of(density):
    return np.random.default_rng(3).uniform(-0.7, 0.7, (4, density.dim))


def split(point, shapes):
    """Cut a point into arrays."""
    ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(point, ends), shapes, strict=True)]


def whitened(case, point):
    """Return the standard normals of a field, whose log density differs by a constant."""
    data = case.data()
    grid = np.meshgrid(data["northing"], data["easting"], indexing="ij")
    places = np.stack(grid, axis=-1).reshape(-1, 2)
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    covariance = 1.91 * (np.exp(-distance * 3.3) + 1e-8 * np.eye(len(places)))
    return np.linalg.solve(np.linalg.cholesky(covariance), point - np.log(126) + 1.91 / 2)


def shocks(point):
    """Return coordinates of volatility whose path is driven by shocks, and the log Jacobian."""
    phi, sigma, h = np.tanh(0.5 * point[1]), np.exp(point[2]), point[3:]
    first = np.sqrt(1.0 - phi**2)
    z = np.concatenate([h[:1] * first, h[1:] - phi * h[:-1]]) / sigma
    return np.concatenate([point[:3], z]), np.log(first) - len(h) * np.log(sigma)


def agree(case, density, value):
    """Check that a log density of coordinates is ours, up to a constant."""
    points = points_of(density)
    expected, found = density.log_density(points), []
    for point in points:
        found.append(value(whitened(case, point) if case.model == "log_gaussian_cox" else point))
    difference = np.array(found) - expected
    np.testing.assert_allclose(difference, difference[0], atol=2e-7 * np.abs(expected).max())


@others
@pytest.mark.parametrize("name", CASES)
def test_numpyro_has_the_same_density(name):
    jax = pytest.importorskip("jax")
    pytest.importorskip("numpyro")
    from numpyro.infer.util import initialize_model
    from peer_tools.numpyro_models import MODELS

    case = CASES[name]
    start = initialize_model(jax.random.PRNGKey(0), MODELS[case.model], model_kwargs=case.data())
    sites = {"stochastic_volatility": ("mu", "u", "sigma", "z"), "log_gaussian_cox": ("z",)}
    sites |= {"eight_schools": ("mu", "tau", "z")}
    order = sites.get(case.model, case.names)
    shapes = [np.shape(start.param_info.z[site]) for site in order]

    def value(point):
        jacobian = 0.0
        if case.model == "stochastic_volatility":
            point, jacobian = shocks(point)
        return jacobian - float(
            start.potential_fn(dict(zip(order, split(point, shapes), strict=True)))
        )

    agree(case, ours(case), value)


@others
@pytest.mark.parametrize("name", CASES)
def test_pymc_has_the_same_density(name):
    pytest.importorskip("nutpie")
    pytest.importorskip("pymc")
    from peer_tools.nutpie_nuts import build

    case = CASES[name]
    model = build(case, case.data())
    shapes = [model.initial_point()[v.name].shape for v in model.value_vars]
    logp = model.compile_logp(mode="FAST_COMPILE")
    names = [v.name for v in model.value_vars]

    def value(point):
        return float(logp(dict(zip(names, split(point, shapes), strict=True))))

    agree(case, ours(case), value)


def test_every_tool_has_its_file():
    assert list(TOOLS) == ["probmodel", "numpyro", "nutpie", "blackjax"]
    for module in TOOLS.values():
        path = GALLERY.parent / "benchmarks" / f"{module.replace('.', '/')}.py"
        assert "def prepare(case: Case, data: dict[str, Any]) -> Run:" in path.read_text()


@pytest.mark.statistical
def test_a_run_of_ours_is_measured():
    row = peers.measure("gp_regression", "probmodel", "warm", 0, 120.0)
    assert row["error"] == ""
    assert row["chains"] == 16
    assert row["ess_bulk"] > 400.0
    assert row["bulk_per_second"] == pytest.approx(row["ess_bulk"] / row["seconds"])
    assert len(row["means"]) == len(row["errors"]) == 3


def test_a_run_that_takes_too_long_says_so():
    assert peers.measure("pima", "probmodel", "cold", 0, 0.01)["error"] == "more than 0.01 s"


def made(tool, mode, seconds, means, **more):
    """Return the row of a run."""
    row = {"case": "c", "tool": tool, "mode": mode, "seconds": seconds, "means": means}
    row |= {"errors": [0.1, 0.1], "error": "", "chains": 4, "draws": 100, "rhat": 1.0}
    row |= {"ess_bulk": 500.0, "bulk_per_second": 500.0 / seconds, "tail_per_second": 1.0}
    return row | more


def test_races_are_void_where_tools_disagree():
    rows = [made("probmodel", mode, 2.0, [0.0, 1.0]) for mode in ("cold", "warm")]
    rows += [made("near", "warm", 1.0, [0.1, 1.2]), made("far", "warm", 1.0, [0.1, 2.0])]
    rows += [made("lost", "warm", 1.0, [0.1, 1.2], rhat=1.2)]
    assert peers.compared(rows, "near") == {"worst_z": pytest.approx(2.0**0.5), "void": ""}
    assert peers.compared(rows, "far")["void"] == "means disagree"
    assert peers.compared(rows, "lost")["void"] == "chains disagree"


def test_the_table_has_medians_and_ratios():
    rows = [made("probmodel", "cold", 2.0, []), made("probmodel", "warm", 1.0, [])]
    rows += [made("other", "cold", s, [], ess_bulk=300.0) for s in (3.0, 8.0, 4.0)]
    rows += [made("other", "warm", 2.0, []), made("other", "warm", 9.0, [], error="broken")]
    rows += [made("absent", "cold", 1.0, [], error="not installed")]
    for row in rows:
        row |= {"worst_z": np.nan, "void": ""}
    lines = [[c.strip() for c in line.split("|")[1:-1]] for line in peers.table(rows).splitlines()]
    assert lines[2][4:8] == ["2", "1", "500", "1"]
    assert lines[3][4:8] == [">4", "2", "250", "2"]
    assert lines[3][-1] == "1 of 5 runs failed"
    assert lines[4][-1] == "not installed"
