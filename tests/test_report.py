"""A fit as a page: what is on it, and what becomes of what cannot be shown."""

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from probmodel import LogDensity, Model, deterministic, infer, load_model, observed, param, report
from probmodel.cli import main
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import OutputError, SamplingWarning
from probmodel.results.storage import keep

plt = pytest.importorskip("matplotlib.pyplot")
GROUPS = {"group": ["<a>", "b", "c"]}
SIZES = {"chains": 4, "warmup": 100, "draws": 150, "seed": 1, "quiet": True}
TITLES = ["Findings", "Model", "Summary", "Traces", "Ranks", "Intervals", "Pairs", "Energy",
          "Autocorrelation", "Posterior predictive"]  # fmt: skip
MODEL = """
from probmodel import Model, observed, param
from probmodel.distributions import HalfNormal, Normal

class Groups(Model):
    tau = param(HalfNormal(1))
    mu = param(Normal(0, tau), dims="group")
    y = observed(Normal(mu, 1.0), dims="group")
"""


class Line(Model):
    a = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal(a, s), dims="day")


class Checker(HTMLParser):
    """Checks that elements are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.images = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs))
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page(path):
    """Text of a page, and its images, once it is sure that it is well formed and stands alone."""
    text = path.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert not re.search(r'(src|href)="(?!data:)', text)
    images = [base64.b64decode(image["src"].partition("base64,")[2]) for image in checker.images]
    return text, {image["alt"]: found for image, found in zip(checker.images, images, strict=True)}


@pytest.fixture(autouse=True)
def small(request):
    """Small pictures, but for the test that looks at them."""
    if request.node.name != "test_what_is_on_it":
        request.getfixturevalue("small_pictures")


@pytest.fixture
def file(tmp_path):
    (tmp_path / "groups.py").write_text(MODEL)
    return tmp_path / "groups.py"


@pytest.fixture
def fit(file):
    model = load_model(file)(y=[0.3, -1.0, 2.0], coords=GROUPS)
    return infer(model, "nuts", **SIZES)


def test_what_is_on_it(fit, tmp_path):
    before = plt.get_backend()
    assert report(fit, tmp_path / "fit.html") == tmp_path / "fit.html"
    assert plt.get_backend() == before
    assert plt.get_fignums() == []
    text, images = page(tmp_path / "fit.html")
    assert re.findall("<h2>(.*?)</h2>", text) == TITLES
    assert list(images) == TITLES[3:]
    assert "could not be drawn" not in text
    assert "Groups: nuts, 4 chains of 150 draws" in text
    assert "mu[&lt;a&gt;]" in text
    assert "<svg" in text
    for content in images.values():
        shown = plt.imread(io.BytesIO(content))[..., :3]
        assert min(shown.shape[:2]) > 150
        assert 0.005 < np.mean(shown < 0.9) < 0.9  # neither empty nor black


def test_many_draws_are_thinned_and_it_says_so(file, tmp_path, monkeypatch):
    monkeypatch.setattr("probmodel.fit_page.MOST", 100)
    model = load_model(file)(y=[0.3, -1.0, 2.0])
    report(infer(model, "nuts", **SIZES), tmp_path / "fit.html")
    text, _ = page(tmp_path / "fit.html")
    assert text.count("Every 6th draw is shown.") == 4
    assert "Of all draws. It should fall" in text


def test_findings_are_told(tmp_path):
    fit = infer(Line(y=[0.3, -1.0]), **{**SIZES, "chains": 1, "draws": 20})
    report(fit, tmp_path / "fit.html")
    text, _ = page(tmp_path / "fit.html")
    assert "<li>Only one chain: R-hat cannot be computed" in text


def test_from_a_file_on_the_command_line(fit, tmp_path, capsys):
    keep(fit, tmp_path / "fit.nc")
    assert main(["report", str(tmp_path / "fit.nc")]) == 0
    assert f"Written to {tmp_path / 'fit.html'}" in capsys.readouterr().err
    assert list(page(tmp_path / "fit.html")[1]) == TITLES[3:]
    assert main(["report", str(tmp_path / "none.nc"), "-o", str(tmp_path / "other.html")]) == 2
    assert not (tmp_path / "other.html").exists()


def test_plot_on_sample(file, tmp_path, capsys):
    (tmp_path / "y.json").write_text('{"y": [0.3, -1.0, 2.0]}')
    words = ["sample", str(file), "--data", str(tmp_path / "y.json"), "--seed", "1"]
    assert main([*words, "--draws", "100", "--plot", str(tmp_path / "fit.html")]) == 0
    assert "Written to" in capsys.readouterr().err
    assert "<svg" in page(tmp_path / "fit.html")[0]
    assert main([*words, "--plot", str(tmp_path / "no" / "fit.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_model_that_is_gone_is_named(fit, file, tmp_path):
    file.unlink()
    report(fit, tmp_path / "fit.html")
    text, images = page(tmp_path / "fit.html")
    assert "The model is not shown: the model file" in text
    assert "Posterior predictive" not in images
    assert "Traces" in images


def test_a_model_that_is_another_one(fit, file, tmp_path):
    file.write_text(file.read_text().replace("HalfNormal(", "HalfNormal(2 * "))
    with pytest.warns(SamplingWarning, match="this fit is of a model with another log density"):
        report(fit, tmp_path / "fit.html", load_model(file)(y=[0.3, -1.0, 2.0], coords=GROUPS))
    with pytest.raises(OutputError, match="this fit is of another model or data"):
        report(fit, tmp_path / "fit.html", load_model(file)(y=[0.3, -1.0, 2.5], coords=GROUPS))


def test_a_log_density(tmp_path):
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 1, gradient=lambda x: -x
    )
    report(infer(density, "rwm", **SIZES), tmp_path / "fit.html")
    text, images = page(tmp_path / "fit.html")
    assert "of a log density" in text
    assert {"Pairs", "Energy", "Posterior predictive"}.isdisjoint(images)
    assert {"Traces", "Ranks"} <= set(images)


def test_a_picture_that_fails_costs_no_other(fit, tmp_path, monkeypatch):
    import arviz as az

    def fail(*args, **settings):
        raise ZeroDivisionError("<of ArviZ>")

    monkeypatch.setattr(az, "plot_rank", fail)
    report(fit, tmp_path / "fit.html")
    text, images = page(tmp_path / "fit.html")
    assert "It could not be drawn: ZeroDivisionError: &lt;of ArviZ&gt;." in text
    assert set(images) == set(TITLES[3:]) - {"Ranks"}


def test_without_matplotlib(fit, tmp_path, monkeypatch):
    import builtins

    real = builtins.__import__

    def lacks(name, *args, **settings):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **settings)

    monkeypatch.setattr(builtins, "__import__", lacks)
    report(fit, tmp_path / "fit.html")
    assert "matplotlib is not installed" in (tmp_path / "fit.html").read_text()


@pytest.mark.parametrize("given", [None, 3, "none.nc"])
def test_what_is_no_fit(tmp_path, given):
    with pytest.raises(OutputError):
        report(given, tmp_path / "fit.html")
    assert not (tmp_path / "fit.html").exists()


def test_what_cannot_be_written(fit, tmp_path):
    with pytest.raises(OutputError, match="there is no folder"):
        report(fit, tmp_path / "no" / "fit.html")


def test_a_page_replaces_no_fit_and_is_named_as_a_page(fit, tmp_path):
    file = tmp_path / "fit.nc"
    fit.to_netcdf(str(file))
    before = file.read_bytes()
    with pytest.raises(OutputError, match="it is what is read"):
        report(file, file)
    assert main(["report", str(file), "-o", str(file)]) == 2
    assert file.read_bytes() == before
    with pytest.raises(OutputError, match=r"ends in \.html"):
        report(fit, tmp_path / "page.pdf")


class Signs(Model):
    a = param(Normal(0, 1), dims="side")
    positive = deterministic(a > 0)
    y = observed(Normal(a, 1.0), dims="side")


def test_truth_values_are_shown_as_numbers(tmp_path):
    fit = infer(Signs(y=[0.3, -0.2]), **SIZES)
    text, _ = page(report(fit, tmp_path / "signs.html"))
    share = np.mean(np.asarray(fit["posterior"]["a"])[..., 0] > 0)
    row = next(line for line in text.splitlines() if line.startswith("positive[0]"))
    assert abs(float(row.split()[1]) - share) < 0.006
    assert "ArviZ's summary failed" not in text
    assert "could not be drawn" not in text
