"""What the package says of itself: one version, one set of addresses, links that work elsewhere."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import probmodel
from probmodel.cli import main
from probmodel.results.attributes import library_attributes
from probmodel.version import __version__

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
URLS = PROJECT["urls"]
RELATIVE = re.compile(r"""\]\((?!https:|#)[^)]+\)|\b(?:src|href)=["'](?!https:|#)""")


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text())


# -- version --------------------------------------------------------------------------------------


def test_all_say_the_same_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"probmodel {__version__}\n"
    assert probmodel.__version__ == __version__
    assert library_attributes()["inference_library_version"] == __version__
    build = PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert (ROOT / build).read_text().count(f'\n__version__ = "{__version__}"\n') == 1
    assert "version" in PROJECT["dynamic"]
    assert __version__.partition(".dev")[0] in (ROOT / "CHANGELOG.md").read_text()
    assert ".dev" in __version__ or read_yaml("CITATION.cff")["version"] == __version__


def test_metadata_of_another_installation_do_not_count(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: "9.9")
    assert library_attributes()["inference_library_version"] == __version__


# -- addresses ------------------------------------------------------------------------------------


def test_addresses_are_those_of_the_project():
    assert set(URLS) == {"Homepage", "Documentation", "Source", "Changelog", "Issues"}
    source = URLS["Source"]
    assert URLS["Homepage"] == source
    assert URLS["Changelog"] == f"{source}/blob/main/CHANGELOG.md"
    assert URLS["Issues"] == f"{source}/issues"
    citation = read_yaml("CITATION.cff")
    assert citation["repository-code"] == source
    assert citation["url"] == URLS["Documentation"]
    contact = read_yaml(".github/ISSUE_TEMPLATE/config.yml")["contact_links"]
    assert {link["url"] for link in contact} == {URLS["Documentation"]}


def published(text):
    """What the build makes of the README."""
    for step in PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"][
        "substitutions"
    ]:
        text = re.sub(step["pattern"], step["replacement"], text)
    return text


def test_links_of_the_readme_work_on_a_package_index():
    text = (ROOT / "README.md").read_text()
    assert RELATIVE.search(text)
    assert not RELATIVE.search(published(text))
    made = published("[a](docs/a.md#b), [b](https://b.org), [c](#c), ![d](docs/d.svg)")
    files = f"{URLS['Source']}/blob/main", f"{URLS['Source']}/raw/main"
    assert made == (
        f"[a]({files[0]}/docs/a.md#b), [b](https://b.org), [c](#c), ![d]({files[1]}/docs/d.svg)"
    )


# -- the rest -------------------------------------------------------------------------------------


def test_the_licences_of_the_data_travel_with_them():
    assert PROJECT["license-files"] == ["LICENSE", "models/data/README.md"]
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])


def test_the_workflow_tests_the_oldest_and_the_newest_python():
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    (job,) = read_yaml(".github/workflows/ci.yml")["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands == [".ci/run"]
    (versions,) = [s["with"]["python-version"] for s in job["steps"] if "with" in s]
    assert versions.split() == [classified[-1], classified[0]]
    assert PROJECT["requires-python"] == f">={classified[0]}"
    named = set(re.findall(r"find_python (3\.\d+)", (ROOT / ".ci" / "run").read_text()))
    assert named == set(versions.split())


def test_hooks_are_programs_that_the_extra_brings():
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    programs = {hook["entry"].split()[0] for hook in repository["hooks"]}
    assert {"ruff", "mypy"} < programs
    extras = PROJECT["optional-dependencies"]
    assert {"probmodel[test,docs]"} < set(extras["dev"])
    brought = {re.split("[><=]", name)[0] for name in extras["dev"] + extras["test"]}
    assert {"pre-commit", "pre-commit-hooks", "ruff", "mypy", "build", "twine"} < brought


@pytest.mark.parametrize("name", ["bug_report", "wrong_posterior", "feature_request"])
def test_forms_of_issues_are_whole(name):
    form = read_yaml(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "labels", "body"} == form.keys()
    fields = [part for part in form["body"] if part["type"] == "textarea"]
    assert len({part["id"] for part in fields}) == len(fields) > 2
    assert all(part["attributes"]["label"] for part in fields)
