"""The wheel, installed: it holds what it should, and the README works without the checkout."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from probmodel.version import __version__

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
pytestmark = pytest.mark.statistical


def run(words, folder, **settings):
    """Run a command without the variables that would lead it to the checkout."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        words, cwd=folder, env=clean, capture_output=True, text=True, check=False, **settings
    )
    assert done.returncode == 0, f"{words}:\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    place = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(place), str(ROOT)], place)
    (file,) = place.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """Programs of a fresh environment with the wheel, which borrows what it depends on."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    paths = sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})
    borrowed = Path(paths["purelib"], "borrowed.pth")  # comes after the wheel
    borrowed.write_text("\n".join(p for p in sys.path if p.endswith("-packages")))
    target = ["--python", str(place / "bin" / "python")]
    install = ["install", "--no-deps", "--ignore-installed", str(wheel)]
    run([sys.executable, "-m", "pip", *target, *install], place)
    return place / "bin"


def test_it_holds_the_package_and_the_gallery(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = f"probmodel-{__version__}.dist-info"
        metadata = message_from_string(archive.read(f"{about}/METADATA").decode())
        licences = {n for n in archive.namelist() if n.startswith(f"{about}/licenses/")}
    package = {p for p in (ROOT / "probmodel").rglob("*") if p.is_file()}
    models = {p for p in (ROOT / "models").rglob("*") if p.is_file()}
    expected = {str(p.relative_to(ROOT)) for p in package}
    expected |= {f"probmodel/gallery/{p.relative_to(ROOT / 'models')}" for p in models}
    assert names == {name for name in expected if not name.endswith(".pyc")}
    assert "probmodel/py.typed" in names
    assert metadata["Version"] == __version__
    assert metadata["Author"] == "The probmodel developers"
    assert len(licences) == 2
    assert not re.search(r"\]\((?!https:|#)", metadata.get_payload())


def commands():
    """Words of each line of the README that runs the command line."""
    for block in re.findall(r"^```bash\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        for part in block.replace("\n", "&&").split("&&"):
            words = shlex.split(part)
            if words and Path(words[0]).name == "probmodel":
                yield words[1:]


def test_the_readme_works_in_an_empty_folder(programs, tmp_path):
    found = list(commands())
    assert found
    for words in found:
        done = run([programs / "probmodel", *words], tmp_path)
        assert "r_hat" in done.stdout
    code = "".join(re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
    done = run([programs / "python", "-"], tmp_path, input=code)
    assert "alpha ~ Normal(0, 1)" in done.stdout


def test_models_are_found_again_by_the_fits_of_a_wheel(programs, tmp_path):
    where = "import probmodel; print(probmodel.__file__)"
    place = run([programs / "python", "-c", where], tmp_path).stdout
    assert place.startswith(str(programs.parent))
    probmodel = programs / "probmodel"
    assert run([probmodel, "--version"], tmp_path).stdout == f"probmodel {__version__}\n"
    few = ["--chains", "2", "--draws", "20", "--warmup", "20", "--seed", "1"]
    kept = ["--out", "radon.nc", "--checkpoint", "radon.run"]
    run([probmodel, "sample", "gallery:radon", *few, *kept], tmp_path)
    run([probmodel, "resume", "radon.run"], tmp_path)
    code = (
        "from probmodel import load_fit\n"
        "from probmodel.model.references import reference_of\n"
        "model = load_fit('radon.nc').model\n"
        "print(reference_of(type(model)).file)\n"
    )
    assert run([programs / "python", "-c", code], tmp_path).stdout == "gallery:radon\n"
