"""What is made of measurements: summaries, tables, and what falls short. All rows are made up."""

import numpy as np
import pytest
from explained import ORDERS
from orders import MACHINES, order_of, order_table, ranking_table, verdict
from published import FROBENIUS, find
from published.ranking import Ranking
from report import (
    Summary,
    advantages,
    comparison_table,
    frobenius_shortfalls,
    frobenius_table,
    lost_advantages,
    shortfalls,
    summarise,
)


def row(target="pima", method="fisher_mala", smallest=5600.0, paper="t23", median=6000.0):
    """One run as `runs.run_job` summarises it."""
    return {
        "paper": paper, "target": target, "method": method, "error": "",
        "ess_max": 6500.0, "ess_median": median, "ess_min": smallest,
        "acceptance_rate": 0.57, "accepted": 0.57, "ess_min_per_1000": 30.0,
        "ess_median_per_1000": 40.0, "ess_min_per_second": 1.0, "ess_median_per_second": 2.0,
    }  # fmt: skip


def failed(**changes):
    """One run that raised."""
    identity = {"paper": "t23", "target": "pima", "method": "mala"}
    return identity | {"error": "ValueError: no"} | changes


def test_summary_of_repeats():
    (summary,) = summarise([row(smallest=s) for s in (4000.0, 5000.0, 6000.0)])
    assert summary.repeats == 3
    assert summary.values["min"] == pytest.approx((5000.0, 1000.0))
    assert summary.ratio("min") == pytest.approx(5000.0 / 5628.541)
    assert np.isnan(summary.ratio("accept"))


def test_derived_statistics():
    timed = row() | {"chains": 10, "seconds_sampling": 4.0}
    (summary,) = summarise([timed])
    assert summary.values["max/1000"][0] == pytest.approx(30.0 * 6500.0 / 5600.0)
    assert summary.values["chain min/s"][0] == pytest.approx(5600.0 / 40.0)
    assert summary.values["chain median/s"][0] == pytest.approx(6000.0 / 40.0)
    assert np.isnan(summary.values["min/1000 steps"][0])
    (summary,) = summarise([row() | {"gradients_sampling": 2000}])
    assert summary.values["min/1000 steps"][0] == pytest.approx(2800.0)


def test_seconds_of_two_machines_are_in_no_order(monkeypatch):
    """Orders by other statistics are judged; so are seconds of rows of the same machine."""
    rows = [row() | {"ess_min": n, "ess_min_per_second": n} for n in (90.0, 91.0)]
    rows += [row(method="mala") | {"ess_min": n, "ess_min_per_second": n} for n in (30.0, 31.0)]
    fisher, mala = summarise(rows)
    statistic = next(name for name in fisher.values if name.endswith("min/s"))
    assert order_of(fisher, mala, statistic).found == "yes"
    monkeypatch.setattr("orders.SLOWER", {("pima", "mala")})
    assert order_of(fisher, mala, statistic).found == MACHINES
    assert order_of(fisher, mala, "min").found == "yes"
    monkeypatch.setattr("orders.SLOWER", {("pima", "mala"), ("pima", "fisher_mala")})
    assert order_of(fisher, mala, statistic).found == "yes"


def test_the_order_of_two_methods(monkeypatch):
    ranking = Ranking("t23", "pima", "fisher_mala", "mala", "min/1000", "Figure 0", 2.0)

    def found(ours, others):
        rows = [row() | {"ess_min_per_1000": size} for size in ours]
        rows += [row(method="mala") | {"ess_min_per_1000": size} for size in others]
        return summarise(rows)

    def cells(summaries):
        (line,) = order_table(summaries, [ranking]).splitlines()[2:]
        return [cell.strip() for cell in line.split("|")[1:-1]]

    behind = found([30.0, 28.0, 32.0], [60.0, 61.0, 59.0])
    first = ["pima", "fisher_mala > mala", "min/1000", "Figure 0", "2"]
    assert cells(behind) == [*first, "0.5", "-23.2", "does not hold here"]
    assert cells(found([60.0, 61.0], [30.0, 28.0]))[-1] == "yes"
    assert cells(found([60.0, 10.0], [30.0, 28.0]))[-1] == "tie"
    assert cells(found([60.0], [30.0, 28.0]))[-2:] == ["–", "?"]
    assert order_table(behind[:1], [ranking]) == ""
    *_, counted, named = verdict(behind, behind, [ranking])
    assert counted.startswith("Of 1 orders that the paper shows 0 hold beyond 2 standard errors")
    assert named == "DOES NOT HOLD HERE: pima fisher_mala > mala by min/1000 (Figure 0): 0.5"
    *_, of_short_runs = verdict(behind, behind[:1], [ranking])
    assert of_short_runs.startswith(f"{named}, in runs that are shorter")
    (alone,) = verdict(behind[:1], [], [ranking])
    assert "0 are held to them" in alone
    unpublished = summarise([row(target="unknown")])
    (counted, _) = verdict([*behind[:1], *unpublished], [*behind[:1], *unpublished], [])
    assert counted.startswith("Of 1 rows with published figures 1 are held to them")
    assert verdict(behind[:1], behind[:1], [])[1:] == [
        "None of those that are held to the paper falls short of it."
    ]
    assert len(verdict(*[summarise([row(smallest=1.0)])] * 2, [])) == 1
    monkeypatch.setitem(ORDERS, ("pima", "fisher_mala", "mala"), "Because.")
    assert order_table(behind, [ranking]).endswith("| does not hold here (1) |\n\n(1) Because.")


def test_a_failed_repeat_is_left_out():
    (summary,) = summarise([row(), failed(method="fisher_mala")])
    assert summary.repeats == 1
    assert summary.values["min"][0] == 5600.0
    (nothing,) = summarise([failed()])
    assert nothing.repeats == 0
    assert nothing.note == "ValueError: no"
    assert "ValueError: no" in comparison_table([nothing])


@pytest.mark.parametrize(("median", "smallest", "expected"), [
    (6000.0, 5600.0, []),
    (6570.0, 4230.0, []),
    (6600.0, 5600.0, ["median"]),
    (5360.0, 5600.0, ["median"]),
    (6000.0, 4200.0, ["min"]),
    (3000.0, 3000.0, ["median", "min"]),
])  # fmt: skip
def test_tolerances(median, smallest, expected):
    problems = shortfalls(summarise([row(smallest=smallest, median=median)]))
    assert [p.split(": ")[1].split()[0] for p in problems] == expected


def test_only_adaptive_methods_are_held_to_the_paper():
    assert shortfalls(summarise([row(method="mala", smallest=1.0)])) == []
    assert shortfalls(summarise([row(method="fisher_mala:paired", smallest=1.0)])) == []
    missing = Summary("t23", "pima", "fisher_mala", 0, {}, "not available")
    assert shortfalls([missing]) == []


def test_rows_that_were_not_run_take_one_line():
    missing = [Summary("td19", "ripley", "am", 0, {}), Summary("td19", "neal100", "nuts", 0, {})]
    lines = comparison_table(missing).splitlines()[2:]
    assert len([line for line in lines if "ripley" in line]) == 1
    assert len([line for line in lines if "neal100" in line]) == 4  # what the paper reports
    assert all(line.endswith("| not run |") for line in lines)


def test_sizes_at_the_cap_of_the_estimator_are_marked():
    at = row() | {"draws": 700, "chains": 8}  # 5600 of 5600
    summaries = summarise([at, at | {"ess_min": 5000.0}, at | {"draws": 800}])
    assert summaries[0].capped == {"max": 0, "median": 0, "min": 1}
    lines = comparison_table(summaries).splitlines()
    assert [line.count("at the cap in 1 of 3") for line in lines if " min " in line] == [1]
    assert not any("cap" in line for line in lines if " median " in line)


def test_explained_figures_do_not_fall_short():
    summaries = summarise([row("heart", "mmala", smallest=1.0, median=1.0)])
    assert shortfalls(summaries) == []
    assert "(1) The published spread" in comparison_table(summaries)


def test_the_table_has_published_ours_ratio_and_spread():
    summaries = summarise([row(smallest=s) for s in (5500.0, 5700.0)])
    lines = comparison_table(summaries).splitlines()
    (line,) = [line for line in lines if " min " in line]
    assert [cell.strip() for cell in line.split("|")[1:-1]] == [
        "pima", "fisher_mala", "min", "5629 ± 168", "5600 ± 141", "0.995", "",
    ]  # fmt: skip


def test_rows_that_were_not_run_show_the_paper():
    absent = Summary("td19", "neal100", "nuts", 0, {}, "not available")
    table = comparison_table([absent])
    assert "18480" in table
    assert "not available" in table


def zhu_rows(ours):
    """Full AM at 30 a thousand, full SA-MCMC at ``ours`` times that."""
    am = row("mnist_7v9", "am:full", paper="zhu")
    sa = row("mnist_7v9", "sa_mcmc:full", paper="zhu") | {"ess_min_per_1000": 30.0 * ours}
    return summarise([am, sa])


def test_advantage_of_sample_adaptation():
    found = advantages(zhu_rows(8.0))
    published = find("zhu", "mnist_7v9", "sa_mcmc:full").figures["min/1000"][0]
    published /= find("zhu", "mnist_7v9", "am:full").figures["min/1000"][0]
    assert found["mnist_7v9"] == pytest.approx((8.0, published))
    assert published > 5
    assert lost_advantages(found) == []
    assert "4.0 times" in lost_advantages(advantages(zhu_rows(4.0)))[0]
    assert advantages(zhu_rows(8.0)[:1]) == {}


def test_only_published_differences_are_ranked():
    """On Ripley's data all signals tie in the paper; on Pima the score is far behind."""
    sizes = {"fisher_mala": 5000.0, "fisher_mala:score": 6000.0}
    rows = [row("pima", m, s + e) for m, s in sizes.items() for e in (-10.0, 10.0)]
    table = ranking_table(summarise(rows))
    assert "does not hold here" in table
    assert "fisher_mala > fisher_mala:score" in table
    tied = [row("ripley", m, s) for m, s in sizes.items()]
    assert "No pair" in ranking_table(summarise(tied))


def test_frobenius_tolerance_is_a_factor_of_two():
    reference = FROBENIUS["gp100"].pooled
    within = {"pooled": [1.9 * r for r in reference]}
    beyond = {"pooled": [*reference[:-1], 2.1 * reference[-1]]}
    assert frobenius_shortfalls("gp100", within) == []
    assert len(frobenius_shortfalls("gp100", beyond)) == 1
    assert frobenius_shortfalls("gp100", {"robust": beyond["pooled"]}) == []
    assert "2.10" in frobenius_table("gp100", beyond)
    assert len(frobenius_shortfalls("gp100", {"ada_mala": [100.0] * 7})) == 1
