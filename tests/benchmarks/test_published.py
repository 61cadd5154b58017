"""The published tables: what was typed in, spot-checked, and what is derived from it."""

import numpy as np
import pytest
from experiments import COSTLY, PROTOCOLS, variants
from explained import EXPLAINED, explanation
from frobenius import relative
from published import FROBENIUS, PUBLISHED, RANKINGS, TABLES, find
from published.ranking import of_tables
from published.row import Published
from published.wang2013 import WANG_RANKINGS
from report import DERIVED, STATISTICS
from targets import GAUSSIANS, TARGETS


def test_rows_are_unique_and_complete():
    keys = {(p.table, p.target, p.method) for p in PUBLISHED}
    assert len(keys) == len(PUBLISHED)
    assert {p.target for p in PUBLISHED} <= set(TARGETS)
    assert {p.paper for p in PUBLISHED} == set(PROTOCOLS)
    counts = {table: sum(p.table == table for p in PUBLISHED) for table in TABLES}
    assert counts == {
        "t23-1": 20, "t23-2": 5, "t23-3": 5, "t23-4": 5, "t23-5": 5, "t23-6": 5, "t23-7": 18,
        "t23-8": 5, "td19-1": 20, "td19-others": 60, "zhu-1": 16, "zhu-linear": 6, "zhu-2": 3,
        "wang-figure1": 3, "wang-figure2": 30, "wang-figure3": 11, "wang-table1": 3, "wang-bnn": 2,
        "hirt-gaussians": 26, "hirt-anisotropic": 17, "hirt-iid": 7, "hirt-logistic": 24,
        "hirt-cox": 10, "hirt-sv": 4, "hirt-banana": 4,
    }  # fmt: skip


def test_sizes_are_ordered():
    for row in PUBLISHED:
        if "max" in row.figures:
            sizes = [row.figures[name][0] for name in ("max", "median", "min")]
            assert sizes == sorted(sizes, reverse=True)
            assert sizes[-1] > 0
        if "median/s" in row.figures:
            assert row.figures["median/s"][0] >= row.figures["min/s"][0]
        assert 0 < row.figures.get("accept", (0.5,))[0] < 1


@pytest.mark.parametrize(("paper", "target", "method", "statistic", "expected"), [
    ("t23", "mnist", "fisher_mala", "min", (439.58, 52.8)),
    ("t23", "heart", "mmala", "median", (789.356, 969.806)),
    ("t23", "caravan", "fisher_mala:paired", "max", (1930.109, 208.848)),
    ("t23", "mnist", "fisher_mala:score", "min", (3.744, 0.139)),
    ("td19", "neal100", "gad_mala", "median", (1987.4, np.nan)),
    ("td19", "caravan", "gad_mala_exact", "accept", (0.494, np.nan)),
    ("td19", "caravan", "gad_mala", "min/s", (9.94, 2.64)),
    ("zhu", "census", "sa_mcmc:full", "median/s", (158.0, np.nan)),
    ("zhu", "covtype", "am:full", "accept", (0.251, np.nan)),
    ("hirt-gaussians", "gauss51", "entropy_hmc:l2hmc:5", "chain min/s", (2.7, 2.3)),
    ("hirt-gaussians", "ill_conditioned", "entropy_hmc:gsm:10", "chain min/s", (570.0, 37.4)),
])  # fmt: skip
def test_numbers(paper, target, method, statistic, expected):
    figures = find(paper, target, method).figures
    np.testing.assert_array_equal(figures[statistic], expected)


def test_sizes_a_thousand_densities():
    """13 a second for 733 seconds is the size of a chain of a million iterations."""
    assert find("zhu", "mnist_7v9", "rwm").figures["min/1000"][0] == pytest.approx(9.529)
    tries = find("zhu", "mnist_7v9", "mtm").figures["min/1000"][0]
    assert tries == pytest.approx(5 * 3651 / 5e6 * 1000)
    assert "min/1000" not in find("zhu", "mnist_7v9", "nuts").figures


def test_every_row_has_a_variant():
    for row in PUBLISHED:
        assert row.method in variants(row.paper, row.target)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_rankings_are_of_published_rows(ranking):
    assert find(ranking.paper, ranking.target, ranking.better)
    assert find(ranking.paper, ranking.target, ranking.worse)
    assert ranking.statistic in STATISTICS | DERIVED


def test_orders_of_a_table_leave_out_ties():
    def row(method, *figure):
        return Published("t23", "t23-1", "pima", method, {"min": figure} if figure else {})

    rows = [row("c", 10.0, 1.0), row("a", 40.0, 8.0), row("b", 30.0, 2.0), row("d")]
    orders = {(r.better, r.worse): r.ratio for r in of_tables(rows, "min")}
    assert orders == {("a", "c"): 4.0, ("b", "c"): 3.0}
    exact = [row._replace(figures={k: (v, np.nan) for k, (v, _) in row.figures.items()})
             for row in rows]  # fmt: skip
    assert [(r.better, r.worse) for r in of_tables(exact, "min")] == [("a", "b"), ("b", "c")]


def test_ratios_of_a_table_without_unit():
    ratios = [r.ratio for r in WANG_RANKINGS if r.paper == "wang-table1"]
    assert ratios == pytest.approx([1.86, 1.97, 1.66], abs=0.01)
    assert sum(np.isnan(r.ratio) for r in WANG_RANKINGS) == len(WANG_RANKINGS) - 3


def test_settings_of_the_hamiltonian_papers():
    searched = variants("wang-table1", "volatility_2000")["ahmc"].settings
    assert searched == {"step_range": (1e-4, 1e-2), "steps_range": (1, 300)}
    learned = variants("hirt-sv", "volatility_sp500")["entropy_hmc:gsm:tridiagonal:5"].settings
    assert learned["momentum"] == 0.0
    assert learned["initial_scale"] == pytest.approx(1.0 / (100.0 * 6.0 ** (1 / 3)))
    slow = variants("hirt-logistic", "caravan_unit")["entropy_hmc:esjd:10"].settings
    assert (slow["learning_rate"], slow["clip"], slow["n_steps"]) == (1e-5, 1.0, 10)


def test_settings_of_the_papers():
    known = variants("td19", "neal100")
    assert known["am"].settings["preset"] == "code"
    assert known["gad_rwm"].settings == {"target_accept": 0.25, "learning_rate": 5e-5}
    assert variants("zhu", "covtype")["sa_mcmc:full"].settings["ensemble"] == 1000
    assert variants("zhu", "census")["am:diag"].settings["target_accept"] == 0.21
    assert variants("zhu", "census")["rwm"].start_scale == 0.016
    signals = variants("t23", "pima")["fisher_mala:score"].settings
    assert signals["signal"] == "score"
    assert not signals["robust"]


def test_explanations_are_of_published_rows():
    for paper, target, method, statistic in EXPLAINED:
        row = find(paper, target, method)
        assert row is not None
        assert statistic == "*" or statistic in row.figures
    assert explanation("t23", "heart", "mmala", "median")
    assert not explanation("t23", "heart", "fisher_mala", "median")
    assert all(find(*choice) for choice in COSTLY)


@pytest.mark.parametrize("name", sorted(FROBENIUS))
def test_reference_norms(name):
    covariance = relative(GAUSSIANS[name]().covariance_matrix())
    assert np.linalg.norm(covariance) == pytest.approx(FROBENIUS[name].target_norm, rel=1e-3)
