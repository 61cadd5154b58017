"""Run the experiment behind a figure of a paper, print its numbers, and write CSV and PNG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import chain_figures
import illustrations
import numpy as np
from bnn import error_table
from figure_output import Settings, points, write_csv
from frobenius import MODES, Mode, Trajectory, checkpoints, learn, relative
from latent_targets import cox_counts, true_cox_field
from published import FIGURE_1_BETA, FROBENIUS_UPDATES
from report import frobenius_shortfalls, frobenius_table, markdown, number
from stored_rows import Row

STATIC = 3  # parameters of the volatility model that come before its days


def run_figure(name: str, settings: Settings) -> list[str]:
    """Make one of `FIGURES` and return what falls short of the paper."""
    try:
        return FIGURES[name](settings)
    except Exception as error:
        return [f"figure {name} failed: {type(error).__name__}: {error}"]


def t23_1(settings: Settings) -> list[str]:
    """Learn the covariances of two coordinates, and of a Gaussian process."""
    from figures import covariance_figure

    problems = []
    for target in ("gauss2d_995", "gp100"):
        trajectories, found = frobenius(target, settings)
        problems += found
        name = f"covariance_{target}.png"
        covariance_figure(settings.directory / name, target, trajectories)
    return problems


def t23_2(settings: Settings) -> list[str]:
    """Learn scales from 0.01 to 1, and compare the sizes of all coordinates."""
    from figures import dimension_figure

    trajectories, problems = frobenius("inhomogeneous", settings)
    sizes = illustrations.sizes_by_coordinate(settings.scale, settings.seed)
    print("\n## Titsias (2023), Figure 2: effective sizes of coordinates\n")
    places = (0, 24, 49, 74, 99)
    header = ("method", *(f"x{k + 1}" for k in places))
    print(markdown(header, [(m, *(number(v[k]) for k in places)) for m, v in sizes.items()]))
    rows = [row for m, v in sizes.items() for row in points(m, np.arange(1, len(v) + 1), v)]
    write_csv(settings.directory / "t23_figure2.csv", rows)
    dimension_figure(settings.directory / "t23_figure2.png", sizes, trajectories)
    return problems


def frobenius(target: str, settings: Settings) -> tuple[dict[Mode, Trajectory], list[str]]:
    """Follow the preconditioners on a target, to the second program's numbers of updates.

    Returns
    -------
    Mode of learning -> what became of it; and what falls short of the second program.
    """
    from figures import frobenius_figure

    last = max(round(FROBENIUS_UPDATES[-1] * min(settings.scale, 1.0)), 10)
    updates = sorted({*checkpoints(last), *(n for n in FROBENIUS_UPDATES if n <= last)})
    print(f"\n## Frobenius error of the learned covariance of {target}\n")
    print("\n".join(f"- {mode}: {meaning}" for mode, meaning in MODES.items()) + "\n")
    trajectories = {
        mode: learn(target, mode, updates=updates, seed=settings.seed) for mode in MODES
    }
    errors = {
        mode: [
            float(t.errors[:, updates.index(n)].mean()) if n <= last else np.nan
            for n in FROBENIUS_UPDATES
        ]
        for mode, t in trajectories.items()
    }
    print(frobenius_table(target, errors))
    rows = [
        {"target": target, "learning": mode, "chain": c, "updates": int(n), "error": f"{e:.6g}"}
        for mode, t in trajectories.items()
        for (c, k), e in np.ndenumerate(t.errors)
        for n in (t.updates[k],)
    ]
    write_csv(settings.directory / f"frobenius_{target}.csv", rows)
    frobenius_figure(settings.directory / f"frobenius_{target}.png", target, trajectories)
    return trajectories, frobenius_shortfalls(target, errors)


def t23_15(settings: Settings) -> list[str]:
    """Learn covariances with and without Rao-Blackwellised increments of the score."""
    from figures import signals_figure

    last = max(round(FROBENIUS_UPDATES[-1] * settings.scale), 1)
    found = {
        target: {
            signal: learn(
                target, "alone", updates=checkpoints(last), seed=settings.seed, signal=signal
            )
            for signal in ("rb", "increment")
        }
        for target in ("gp100", "inhomogeneous")
    }
    print("\n## Titsias (2023), Figure 15: Frobenius errors, means over ten chains\n")
    shown, rows = [], []
    for target, trajectories in found.items():
        for signal, (updates, errors, _) in trajectories.items():
            middle = len(updates) // 2
            ends = (errors[:, middle].mean(), errors[:, -1].mean())
            shown.append((target, signal, *(number(float(error)) for error in ends)))
            rows += points(f"{target} {signal}", updates, errors.mean(axis=0))
    halves = (f"after {updates[middle]} updates", f"after {updates[-1]}")
    print(markdown(("target", "signal", *halves), shown))
    write_csv(settings.directory / "t23_figure15.csv", rows)
    signals_figure(settings.directory / "t23_figure15.png", found)
    return []


def td19_1(settings: Settings) -> list[str]:
    """Learn weights of the entropy in two dimensions, and a covariance in 51."""
    from figures import learning_figure

    weights = illustrations.entropy_weights(settings.scale, settings.seed)
    covariance = illustrations.learned_covariance(settings.scale, settings.seed)
    print("\n## Titsias and Dellaportas (2019), Figure 1\n")
    ends = [
        (f"beta at acceptance {aim:g}", number(FIGURE_1_BETA[aim]), number(tail_mean(line.values)))
        for aim, line in weights.items()
    ]
    ends.append(("relative error of the 51-d covariance", "–", number(covariance.values[-1])))
    print(markdown(("at the end", "published", "ours"), ends))
    series = {f"beta {aim:g}": line for aim, line in weights.items()} | {"error": covariance}
    rows = [row for name, line in series.items() for row in points(name, *line[:2])]
    write_csv(settings.directory / "td19_figure1.csv", rows)
    learning_figure(settings.directory / "td19_figure1.png", weights, covariance)
    return []


def td19_2(settings: Settings) -> list[str]:
    """Compare traces and learned diagonals on Neal's Gaussian."""
    from figures import diagonal_figure

    found = illustrations.neal_diagonals(settings.scale, settings.seed)
    true = 0.01 * np.arange(1, 101)
    print("\n## Titsias and Dellaportas (2019), Figure 2\n")
    print("Correlation of the learned diagonal with the true standard deviations:\n")
    learned = {name: run.diagonal for name, run in found.items() if run.diagonal is not None}
    correlations = [
        (name, number(np.corrcoef(diagonal, true)[0, 1])) for name, diagonal in learned.items()
    ]
    print(markdown(("method", "correlation"), correlations))
    rows = [row for name, diagonal in learned.items() for row in points(name, true, diagonal)]
    write_csv(settings.directory / "td19_figure2.csv", rows)
    diagonal_figure(settings.directory / "td19_figure2.png", found)
    return []


def hirt_19(settings: Settings) -> list[str]:
    """Compare inverse mass matrices of a Cox process: the Riemannian one, and learned ones."""
    from figures import matrices_figure

    found = illustrations.inverse_masses(
        "hirt-cox", "cox_16", illustrations.COX_METHODS, settings.scale, settings.seed
    )
    known, *_ = (relative(matrix) for matrix in found.values())
    print("\n## Hirt, Titsias and Dellaportas (2021), Figure 19: inverse masses, Cox process\n")
    print("Errors are relative to the Riemannian matrix, all of them over their mean diagonals:\n")
    errors = [np.linalg.norm(relative(m) - known) / np.linalg.norm(known) for m in found.values()]
    shown = [(name, *(number(float(v)) for v in values)) for name, *values in zip(
        found, (np.diagonal(m).mean() for m in found.values()), errors, strict=True)]  # fmt: skip
    print(markdown(("method", "mean of the diagonal", "error"), shown))
    rows = [row for m, matrix in found.items() for row in points(
        m, np.arange(1, len(matrix) + 1), np.diagonal(matrix))]  # fmt: skip
    write_csv(settings.directory / "hirt_figure19.csv", rows)
    title = "Inverse mass matrices of a Cox process on 16 x 16 cells"
    matrices_figure(settings.directory / "hirt_figure19.png", title, found)
    return []


def hirt_21(settings: Settings) -> list[str]:
    """Show the tridiagonal mass matrix that is learned for stochastic volatility."""
    from figures import matrices_figure

    method, target = "entropy_hmc:gsm:tridiagonal:5", "volatility_sp500"
    (inverse,) = illustrations.inverse_masses(
        "hirt-sv", target, [method], settings.scale, settings.seed
    ).values()
    mass = np.linalg.inv(inverse)
    print("\n## Hirt, Titsias and Dellaportas (2021), Figure 21: masses, volatility\n")
    print("Mean diagonal over the days, and mean correlation of days so far apart:\n")
    days = slice(STATIC, None)
    lags = (1, 2, 10, 50)
    shown = []
    for name, matrix in (("inverse mass", inverse[days, days]), ("mass", mass[days, days])):
        cells = [np.diagonal(matrix).mean(), *(illustrations.correlation(matrix, k) for k in lags)]
        shown.append((name, *(number(float(cell)) for cell in cells)))
    print(markdown(("matrix", "diagonal", *map(str, lags)), shown))
    stored = np.arange(0, len(mass), 5)
    rows = [*points("inverse mass", stored, np.diagonal(inverse)[stored]),
            *points("mass", stored, np.diagonal(mass)[stored])]  # fmt: skip
    write_csv(settings.directory / "hirt_figure21.csv", rows)
    panels = {
        "inverse mass, first 100": inverse[:100, :100],
        "inverse mass, last 100": inverse[-100:, -100:],
        "mass, last 100": mass[-100:, -100:],
    }
    title = "Volatility: what a tridiagonal mass matrix learns (mu, phi, sigma come first)"
    matrices_figure(settings.directory / "hirt_figure21.png", title, panels)
    return []


def wang_4(settings: Settings, n: int = 64) -> list[str]:
    """Compare the fields that two methods find with the one that the counts were drawn from."""
    from figures import field_figure

    found = illustrations.cox_fields(settings.scale, settings.seed, n)
    truth = true_cox_field(n)
    print("\n## Wang, Mohamed and de Freitas (2013), Figure 4: log intensity of the Cox process\n")
    print("Truth within two standard deviations of the mean, and effective sizes by gradients:\n")
    shown = []
    for method, field in found.items():
        error = field.mean - truth
        cells = [np.sqrt(np.mean(error**2)), field.sd.mean(), np.mean(np.abs(error) < 2 * field.sd)]
        cells += [field.ess.min(), np.median(field.ess)]
        shown.append((method, *(number(float(cell)) for cell in cells)))
    header = ("method", "error", "mean sd", "share within", "min ESS/1000", "median ESS/1000")
    print(markdown(header, shown))
    rows = [
        {"method": m, "row": i, "column": j, "truth": f"{truth[i, j]:.6g}",
         "mean": f"{field.mean[i, j]:.6g}", "sd": f"{field.sd[i, j]:.6g}"}
        for m, field in found.items() for i in range(n) for j in range(n)
    ]  # fmt: skip
    write_csv(settings.directory / "wang_figure4.csv", rows)
    field_figure(settings.directory / "wang_figure4.png", truth, cox_counts(n), found)
    return []


def wang_dexter(settings: Settings) -> list[str]:
    """Sample the neural networks with a predictive reward: Table 2."""
    print("\n## Wang, Mohamed and de Freitas (2013), Table 2: networks on the Dexter texts\n")
    print(error_table(settings.scale, settings.seed))
    return []


def zhu_3(settings: Settings) -> list[str]:
    """Compare sizes of all coefficients of the linear regression, and what SA-MCMC learned."""
    from figures import linear_figure

    found = illustrations.linear_sizes(**settings.lengths)
    print("\n## Zhu (2019), Figure 3: linear regression, by coefficient\n")
    rows = [
        {
            "method": method, "coefficient": k, "ess_per_1000": run.per_1000[k],
            "ess_per_second": run.per_second[k], "posterior_sd": run.posterior[k],
            "proposal_sd": np.nan if run.spread is None else run.spread[k],
        }
        for method, run in found.items()
        for k in range(len(run.per_1000))
    ]  # fmt: skip
    shown = [(str(row["method"]), str(row["coefficient"]),
              *(number(row[name]) for name in list(row)[2:])) for row in rows]  # fmt: skip
    print(markdown(tuple(rows[0]), shown))
    write_csv(settings.directory / "zhu_figure3.csv", rows)
    linear_figure(settings.directory / "zhu_figure3.png", found)
    return []


def zhu_4(settings: Settings) -> list[str]:
    """Measure acceptance and effective size against the size of the ensemble."""
    from figures import ensemble_figure

    rows = illustrations.ensemble_sizes(settings.processes, **settings.lengths)
    columns = ("acceptance_rate", "ess_median_per_1000", "ess_median_per_second")
    lines = [
        {"points": n, "error": row["error"]} | {c: row.get(c, np.nan) for c in columns}
        for n, row in zip(illustrations.ENSEMBLES, rows, strict=True)
    ]
    print("\n## Zhu (2019), Figure 4\n")
    shown = [(str(line["points"]), *(number(line[c]) for c in columns)) for line in lines]
    print(markdown(("N", *columns), shown))
    write_csv(settings.directory / "zhu_figure4.csv", lines)
    ensemble_figure(settings.directory / "zhu_figure4.png", rows)
    return failures(rows)


def zhu_5(settings: Settings) -> list[str]:
    """Measure effective size against the scale of the start, or of the steps."""
    from figures import scale_figure

    rows = illustrations.initial_scales(settings.processes, **settings.lengths)
    ratios = {method: relative_sizes(runs) for method, runs in rows.items()}
    print("\n## Zhu (2019), Figure 5: median ESS over that at h = 1\n")
    shown = [
        (number(h), *(number(values[i]) for values in ratios.values()))
        for i, h in enumerate(illustrations.FACTORS)
    ]
    print(markdown(("h", *ratios), shown))
    lines = [
        line for method in ratios for line in points(method, illustrations.FACTORS, ratios[method])
    ]
    write_csv(settings.directory / "zhu_figure5.csv", lines)
    scale_figure(settings.directory / "zhu_figure5.png", ratios)
    return failures([row for runs in rows.values() for row in runs])


FIGURES: dict[str, Callable[[Settings], list[str]]] = {
    "t23-1": t23_1,
    "t23-2": t23_2,
    "t23-3": chain_figures.t23_3,
    "t23-15": t23_15,
    "td19-1": td19_1,
    "td19-2": td19_2,
    "hirt-19": hirt_19,
    "hirt-21": hirt_21,
    "wang-1": chain_figures.wang_1,
    "wang-4": wang_4,
    "wang-dexter": wang_dexter,
    "zhu-2": chain_figures.zhu_2,
    "zhu-3": zhu_3,
    "zhu-4": zhu_4,
    "zhu-5": zhu_5,
}


def relative_sizes(rows: Sequence[Row]) -> list[float]:
    """Median sizes a thousand log densities over that of factor one."""
    sizes = [row.get("ess_median_per_1000", np.nan) for row in rows]
    return [size / sizes[illustrations.FACTORS.index(1.0)] for size in sizes]


def tail_mean(values: np.ndarray) -> float:
    """Mean of the last tenth."""
    return float(np.mean(values[-max(len(values) // 10, 1) :]))


def failures(rows: Iterable[Row]) -> list[str]:
    """Name the runs that raised."""
    return [
        f"{row['target']} {row['method']} failed: {row['error']}" for row in rows if row["error"]
    ]
