"""Large runs: a short one, and the two forms of a field."""

import csv

import large
import numpy as np
from latent_targets import cox_process, white_cox


def test_a_short_run(tmp_path, capsys):
    path = tmp_path / "large.csv"
    sizes = ["--chains", "2", "--warmup", "20", "--draws", "20"]
    assert large.main(["--targets", "cox_joint_16", *sizes, "--csv", str(path)]) == 0
    with path.open() as file:
        (row,) = csv.DictReader(file)
    assert (row["target"], int(row["dim"]), row["error"]) == ("cox_joint_16", 1027, "")
    assert float(row["rhat"]) > 1.0
    assert 50.0 < float(row["megabytes"]) < 4096.0
    assert "| cox_joint_16 | 1027 | fisher_hmc | 2      | 20 + 20 " in capsys.readouterr().out


def test_a_run_that_fails_says_so():
    row = large.run("cox_joint_16", "nuts:round", large.Sizes(chains=2, draws=5, warmup=5), 0)
    assert "metric" in row["error"]
    assert row["error"] in large.table([row])


def test_both_forms_of_the_field_are_one_posterior():
    white, field = white_cox(8), cox_process(8, cells=8 / 33)
    z = np.random.default_rng(0).standard_normal((2, 64))
    x = white.constrain(z)["x"].reshape(2, -1)
    root = white.constrain(np.eye(64))["x"].reshape(64, -1)
    jacobian = np.linalg.slogdet(root - white.constrain(np.zeros((1, 64)))["x"].reshape(-1))[1]
    counts = white.observed_data["y"][1].reshape(-1), field.observed_data["y"][1].reshape(-1)
    shift = x @ (counts[0] - counts[1])  # all that the counts differ by, up to a constant
    difference = white.log_density(z) - field.log_density(x) - jacobian - shift
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)
