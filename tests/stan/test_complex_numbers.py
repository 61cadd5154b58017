"""Complex numbers, vectors and matrices: how they are stored, and what is saved of them."""

from __future__ import annotations

import arviz as az
import numpy as np
import pytest

from probmodel import Stan, compute_deterministics, infer, load_fit, posterior_predictive, predict
from probmodel.density.posterior import ModelDensity
from probmodel.errors import DataError, ModelError
from probmodel.stan.export import to_stan

DRAWS = np.array([0.5, -1.5])
FUNCTIONS = """
complex_vector scaled(complex_vector v, complex s) { return s * v; }
complex one() { return 1; }
complex_vector which(complex_vector v) { return 2 * v; }
vector which(vector v) { return v; }
vector parts(vector v) { return v; }
"""


def generated(block, before="", functions=""):
    """Return what generated quantities are at some draws of ``m``."""
    model = Stan(
        f"functions {{ {functions} }} {before} parameters {{ real m; }} model {{ m ~ normal(0, 1); "
        f"}} generated quantities {{ {block} }}"
    )()
    return model._generated.at({"m": DRAWS})


def numbers(statements, name, shape="", functions=""):
    """Return the complex numbers that a variable holds after statements."""
    type_ = shape or "real"
    declared = f"{type_} re = get_real({name}); {type_} im = get_imag({name});"
    found = generated(f"{statements} {declared}", "", functions)
    return found["re"] + 1j * found["im"]


M = DRAWS[:, None]


@pytest.mark.parametrize(
    ("statements", "shape", "expected"),
    [
        ("complex_vector[2] z; z[1] = to_complex(m, 1); z[2] = 1;", "vector[2]",
         np.hstack([M + 1j, M * 0 + 1])),
        ("complex_row_vector[2] r; r[2] = 2i; r[1] = m; complex_vector[2] z = r';", "vector[2]",
         np.hstack([M, M * 0 + 2j])),
        ("complex_matrix[2, 2] z; z[1] = [m, 1i]; z[2, 1] = 3; z[2, 2] = to_complex(0, m);",
         "matrix[2, 2]", np.stack([np.hstack([M, 0 * M + 1j]), np.hstack([0 * M + 3, 1j * M])], 1)),
        ("complex_vector[2] z = [m, 2]'; z[2] += 1i;", "vector[2]", np.hstack([M, 0 * M + 2 + 1j])),
        ("array[2] complex a = {m, 2}; a[1] *= 1i; complex z = a[1];", "", DRAWS * 1j),
        ("complex z = 1; z += m * 2i;", "", 1 + 2j * DRAWS),
        ("complex_vector[2] z; for (i in 1:2) z[i] = i * m * 1i;", "vector[2]",
         np.hstack([M * 1j, M * 2j])),
        ("complex_vector[2] z = [1i, m]'; if (m > 0) z[1] = m; else z = z * 1i;", "vector[2]",
         np.array([[0.5, 0.5], [-1.0, -1.5j]])),
        ("complex_vector[2] z; z[m > 0 ? 1 : 2] = 1i; z[m > 0 ? 2 : 1] = m;", "vector[2]",
         np.array([[1j, 0.5], [-1.5, 1j]])),
        ("array[2] complex_vector[2] a = {[m, 1i]', [1, 2]'}; a[2, 1] = 3i;"
         "complex_vector[2] z = a[1] + a[2];", "vector[2]", np.hstack([M + 3j, 0 * M + 2 + 1j])),
        ("complex z = m; for (x in [[1i, 3], [4, 2]]) z += x;", "", DRAWS + 9 + 1j),
        ("complex z = sum(to_array_1d([1i, m]) .* {2, 1});", "", DRAWS + 2j),
        ("complex z = to_complex(m, 1) ^ 2;", "", (DRAWS + 1j) ** 2),
        ("complex_vector[2] z = [m, 1i]' .^ 2;", "vector[2]", np.hstack([M**2, 0 * M - 1])),
        ("complex_vector[2] z = [[1i, m], [2, 3i]] * [m, 1i]';", "vector[2]",
         np.hstack([2j * M, 2 * M - 3])),
        ("complex_vector[2] z = scaled([m, 1]', 2i);", "vector[2]",
         np.hstack([2j * M, 0 * M + 2j])),
        ("complex_vector[2] z = scaled([m, 1i]', 2);", "vector[2]", np.hstack([2 * M, 0 * M + 2j])),
        ("complex z = one() / 2;", "", 0.5 + 0 * DRAWS),
        ("complex_vector[2] z = which([m, 1i]') + which([m, 1]');", "vector[2]",
         np.hstack([3 * M, 0 * M + 1 + 2j])),
    ],
)  # fmt: skip
def test_elements_keep_imaginary_parts(statements, shape, expected):
    found = numbers(statements, "z", shape, FUNCTIONS)
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-14)


def test_transformed_data_keep_them():
    block = """
    transformed data {
      complex_vector[60] t;
      for (i in 1:60) t[i] = to_complex(1, i);
      real last = get_imag(t[60]);
      real total = get_imag(sum(t));
    }
    """
    found = generated("real x = last; real y = total;", block)
    np.testing.assert_array_equal(found["x"], [60.0, 60.0])
    np.testing.assert_array_equal(found["y"], [1830.0, 1830.0])


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        ("vector[2] v; v[1] = 1i;", "cannot be assigned to an element of real numbers"),
        ("real r = [m, 1i][1];", "r is a real; it is assigned a complex"),
        ("vector[2] v = [m, 1i]';", "v is a vector; it is assigned a complex_vector"),
        ("vector[2] v = parts([m, 1i]');", r"parts takes \(vector\); got \(complex_vector\)"),
    ],
)
def test_complex_numbers_are_no_real_ones(statements, said):
    with pytest.raises(ModelError, match=said):
        generated(statements, "", FUNCTIONS)


@pytest.mark.parametrize(
    "statements",
    [
        "complex z = m + 1i;",
        "complex_vector[2] z; z[1] = 1i; z[2] = m;",
        "array[2] complex z; z[1] = m; z[2] = 1i;",
    ],
)
def test_parameters_meet_no_complex_numbers(statements):
    code = f"parameters {{ real m; }} transformed parameters {{ {statements} }}"
    with pytest.raises(ModelError, match="complex numbers must come from data alone"):
        Stan(code)()


def test_complex_parameters_are_refused():
    with pytest.raises(ModelError, match="z is a complex_vector; declare its parts"):
        Stan("parameters { complex_vector[2] z; }")


CODE = """
data { int N; complex z; complex_vector[N] zv; array[N] complex za; }
transformed data { complex turned = z * 2i; }
parameters { real m; vector[2] b; }
transformed parameters {
  complex known = turned * 3;
  complex plain = m;
  array[2] tuple(real, complex_vector[N]) many = {(m, zv), (2 * m, 2 * zv)};
}
model { m ~ normal(get_imag(z), 1); b ~ normal(0, 1); }
generated quantities {
  complex c = to_complex(m, 1) * known + plain;
  complex_vector[N] v = m * many[2].2;
  complex_row_vector[2] r = b' * 1i;
  complex_matrix[2, N] mat;
  array[N, 2] complex grid;
  array[N] tuple(complex, real) pairs;
  for (i in 1:N) {
    mat[, i] = b * za[i];
    for (j in 1:2) grid[i, j] = b[j] * za[i];
    pairs[i] = (known * i, m);
  }
}
"""
Program = Stan(CODE, name="Program")
Z = 1 + 2j


@pytest.fixture(scope="module", params=[2, 0])
def fit(request):
    n = request.param
    data = {"zv": np.array([1 - 1j, 0.5j])[:n], "za": np.array([2 + 1j, 3 + 0j])[:n]}
    model = Program(N=n, z=Z, **data)
    result = infer(model, seed=1, chains=2, draws=20, warmup=20, quiet=True)
    return model, result, data


def expected_parts(posterior, zv, za):
    """Return the complex quantities of the program, by name."""
    m, b, known = posterior["m"], posterior["b"], 6j * Z
    return {
        "known": np.full(m.shape, known),
        "plain": m + 0j,
        "many.2": np.broadcast_to([zv, 2 * zv], (*m.shape, 2, len(zv))),
        "c": (m + 1j) * known + m,
        "v": 2 * m[..., None] * zv,
        "r": 1j * b,
        "mat": b[..., None] * za,
        "grid": b[..., None, :] * za[:, None],
        "pairs.1": np.broadcast_to(known * np.arange(1, len(zv) + 1), (*m.shape, len(zv))),
    }


def test_both_parts_are_saved(fit):
    _, result, data = fit
    posterior = {name: v.values for name, v in result["posterior"].data_vars.items()}
    expected = expected_parts(posterior, **data)
    names = {f"{name}.{part}" for name in expected for part in ("real", "imag")}
    assert set(posterior) == {"m", "b", "many.1", "pairs.2", *names}
    for name, values in expected.items():
        found = posterior[f"{name}.real"] + 1j * posterior[f"{name}.imag"]
        np.testing.assert_allclose(found, values, rtol=1e-12, err_msg=name)
    assert {array.dtype.kind for array in posterior.values()} == {"f"}


def test_fits_are_summarised_and_read_back(fit, tmp_path):
    model, result, _ = fit
    parts = ["c.real", "c.imag", "plain.real"]
    summary = az.summary(result, var_names=parts)
    assert list(summary.index) == parts
    means = [float(result["posterior"][name].mean()) for name in parts]
    np.testing.assert_allclose(summary["mean"].astype(float), means, atol=0.006)
    result.to_netcdf(tmp_path / "fit.nc")
    loaded = load_fit(tmp_path / "fit.nc")
    for name, values in result["posterior"].data_vars.items():
        np.testing.assert_array_equal(loaded.result["posterior"][name], values)
    found = predict(loaded.model, result, seed=1)["predictions"]
    again = compute_deterministics(model, result, ["known.imag", "mat.imag"])["posterior"]
    for name in ("known.imag", "mat.imag"):
        np.testing.assert_array_equal(found[name], result["posterior"][name])
        np.testing.assert_array_equal(again[name], result["posterior"][name])
    assert "real plain_imag = 0;" in to_stan(model).code


def test_axes_of_both_parts_have_names():
    dims = {"z": "point", "v.real": "point", "v.imag": "point", "w.imag": "point"}
    code = """
    data { complex_vector[2] z; }
    parameters { real m; }
    transformed parameters { complex_vector[2] w = z; }
    generated quantities { complex_vector[2] v = m * w; }
    """
    model = Stan(code, dims=dims)(z=[1j, 2], coords={"point": ["a", "b"]})
    axes = {v.name: v.dims for v in (*ModelDensity(model).variables, *model._generated.variables)}
    named = {"v.real": ("point",), "v.imag": ("point",), "w.imag": ("point",)}
    assert {name: axes[name] for name in named} == named
    with pytest.raises(ModelError, match=r"declares no 'v'. Known: m, v.imag, v.real"):
        Stan(code, dims={"v": "point"})


def test_what_was_not_assigned_has_no_numbers():
    found = generated("complex_vector[2] z; z[1] = 1i;")
    np.testing.assert_array_equal(found["z.real"], [[0.0, np.nan]] * 2)
    np.testing.assert_array_equal(found["z.imag"], [[1.0, np.nan]] * 2)


def test_replicated_data_of_a_program_with_complex_data():
    code = """
    data { complex_vector[2] z; vector[2] y; }
    parameters { real m; }
    model { m ~ normal(0, 1); y ~ normal(m + get_real(z), 1); }
    """
    kind = Stan(code)
    model, other = (kind(z=[1j, part], y=[0.1, 2.0]) for part in (2, 3))
    fit = infer(model, draws=20, warmup=50, chains=2, seed=1, quiet=True)
    drawn = posterior_predictive(model, fit, seed=1)["posterior_predictive"]["y"]
    assert drawn.shape == (2, 20, 2)
    with pytest.raises(DataError, match="z has other values"):
        posterior_predictive(other, fit, seed=1)


def test_transforms_and_decompositions_of_data():
    text = """
        data { matrix[3, 3] A; complex_vector[4] z; complex_matrix[2, 3] Z; }
        transformed data {
          complex_matrix[3, 3] V; complex_vector[3] w;
          complex_matrix[3, 3] U; complex_matrix[3, 3] T;
          (V, w) = eigendecompose(A);
          (U, T) = complex_schur_decompose(A);
        }
        parameters { real m; }
        generated quantities {
          complex_vector[4] f = fft(m * z);
          complex_vector[4] back = inv_fft(f);
          complex_matrix[2, 3] f2 = fft2(Z);
          complex_matrix[2, 3] back2 = inv_fft2(f2);
          complex_vector[3] values = w;
          complex_matrix[3, 3] first = V * diag_matrix(w);
          complex_matrix[3, 3] second = A * V;
          complex_matrix[3, 3] whole = U * T * conj(U)';
          real below = abs(T[2, 1]) + abs(T[3, 1]) + abs(T[3, 2]);
        }"""
    A = np.array([[0.0, 1.0, 0.2], [-1.0, 0.3, 0.0], [0.5, 0.1, 2.0]])
    z = np.array([1 + 1j, 2, -1j, 0.5])
    Z = np.arange(6).reshape(2, 3) * (1 - 2j)
    found = Stan(text)(A=A, z=z, Z=Z)._generated.at({"m": DRAWS})

    def of(name):
        return found[f"{name}.real"] + 1j * found[f"{name}.imag"]

    n = np.arange(4)
    slow = np.exp(-2j * np.pi * np.outer(n, n) / 4) @ z
    np.testing.assert_allclose(of("f"), M * slow, atol=1e-12)
    np.testing.assert_allclose(of("back"), M * z, atol=1e-12)
    np.testing.assert_allclose(of("f2")[0, 0, 0], Z.sum(), atol=1e-12)
    np.testing.assert_allclose(of("back2"), [Z, Z], atol=1e-12)
    np.testing.assert_allclose(of("first"), of("second"), atol=1e-12)
    np.testing.assert_allclose(of("values").sum(-1), np.trace(A), atol=1e-12)
    np.testing.assert_allclose(of("whole"), [A, A], atol=1e-12)
    np.testing.assert_allclose(found["below"], 0.0, atol=1e-14)
