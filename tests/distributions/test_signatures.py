"""What constructors say they take: to `help`, to editors and to type checkers."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from probmodel import distributions
from probmodel.distributions import AR, DISTRIBUTIONS, MvNormal, Normal, StudentT
from probmodel.distributions.other_names import OTHER_NAMES

USE = """
from probmodel.distributions import AR, MvNormal, Normal, StudentT

Normal(0, 1)
Normal(scale=1, loc=0)
StudentT(3)
MvNormal([0.0], cholesky=[[1.0]])
AR([0.5], 1.0, initial=Normal(0, 1))
"""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_no_constructor_takes_just_anything(name):
    kinds = {p.kind for p in inspect.signature(DISTRIBUTIONS[name]).parameters.values()}
    assert inspect.Parameter.VAR_POSITIONAL not in kinds


def test_signatures():
    assert str(inspect.signature(Normal)) == "(loc, scale)"
    assert str(inspect.signature(StudentT)) == "(df, loc=0.0, scale=1.0)"
    assert str(inspect.signature(AR)) == "(coefficients, sigma, intercept=0.0, *, initial=None)"
    assert str(inspect.signature(MvNormal)) == (
        "(loc, covariance=None, *, cholesky=None, precision=None)"
    )


@pytest.mark.statistical  # mypy reads NumPy's types, which takes long
def test_type_checkers_find_misspelt_names(tmp_path):
    (tmp_path / "right.py").write_text(USE)
    (tmp_path / "wrong.py").write_text(USE + "Normal(0, scael=1)\nNormal(0)\n")
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "right.py", "wrong.py"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    assert "right.py" not in said
    assert "in 1 file (checked 2 source files)" in said
    assert 'Unexpected keyword argument "scael" for "Normal"' in said
    assert 'Missing positional argument "scale" in call to "Normal"' in said


def test_names_are_found_before_they_are_imported():
    code = (
        "from probmodel import distributions as d\n"
        "import sys\n"
        "assert {'Normal', 'kernels', 'DISTRIBUTIONS'} <= set(dir(d))\n"
        "assert not any('scalar.gamma' in name for name in sys.modules)\n"
        "d.Gamma(1, 1)\n"
        "assert 'probmodel.distributions.scalar.gamma' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'Norml'"):
        distributions.Norml  # noqa: B018


def test_names_of_other_programs():
    assert set(OTHER_NAMES.values()) <= set(distributions.__all__)
    assert not set(OTHER_NAMES) & set(distributions.__all__)
    with pytest.raises(ImportError, match="no MultivariateNormal: it is called MvNormal here"):
        from probmodel.distributions import MultivariateNormal  # noqa: F401
