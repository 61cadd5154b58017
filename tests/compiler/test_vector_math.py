"""Functions of vectors against mpmath, NumPy and SciPy."""

import ctypes
from functools import cache

import llvmlite.binding as llvm
import llvmlite.ir as ir
import mpmath
import numpy as np
import pytest
import scipy.special

from probmodel.compiler.addresses import scipy_special
from probmodel.compiler.elementary import FUNCTIONS as ELEMENTARY
from probmodel.compiler.elementary import INLINE
from probmodel.compiler.special import FUNCTIONS as SPECIAL
from probmodel.compiler.vector_math import FUNCTIONS, VectorMath

_DOUBLE, _INT = ir.DoubleType(), ir.IntType(64)
_LANES = 8


@cache
def _kernels(lanes):
    """Return the engine of a module in which each function is applied to arrays."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = ir.Module()
    math = VectorMath(module, lanes)
    for name, count in FUNCTIONS.items():
        _write_kernel(module, math, name, count, lanes)
    compiled = llvm.parse_assembly(str(module))
    compiled.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(compiled, passes)
    engine = llvm.create_mcjit_compiler(compiled, machine)
    engine.finalize_object()
    return engine


def _write_kernel(module, math, name, count, lanes):
    """Write a function of a length, operands, and where the result goes."""
    vector = ir.VectorType(_DOUBLE, lanes).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [_INT, *[_DOUBLE.as_pointer()] * (count + 1)])
    kernel = ir.Function(module, kind, f"kernel.{name}")
    length, *pointers = kernel.args
    builder = ir.IRBuilder(kernel.append_basic_block())
    entry, loop, end = builder.block, kernel.append_basic_block(), kernel.append_basic_block()
    builder.branch(loop)
    builder.position_at_end(loop)
    start = builder.phi(_INT)
    places = [builder.bitcast(builder.gep(p, [start]), vector) for p in pointers]
    values = [builder.load(place, align=8) for place in places[:-1]]
    builder.store(math.call(builder, name, *values), places[-1], align=8)
    following = builder.add(start, _INT(lanes))
    start.add_incoming(_INT(0), entry)
    start.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, length), loop, end)
    builder.position_at_end(end)
    builder.ret_void()


def _apply(name, *args, lanes=_LANES):
    arrays = [np.ravel(arg).astype(float) for arg in np.broadcast_arrays(*args)]
    size = arrays[0].size
    padded = [np.append(array, np.ones(-size % lanes)) for array in arrays]
    out = np.empty(padded[0].size)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (len(args) + 1))
    function = kind(_kernels(lanes).get_function_address(f"kernel.{name}"))
    function(out.size, *(array.ctypes.data for array in padded), out.ctypes.data)
    return out[:size]


_SIZE = 250


def _draws(low, high, size=_SIZE):
    return np.random.default_rng(1).uniform(low, high, size)


def _magnitudes(low, high, both=True):
    """Return numbers of many sizes, between powers of ten."""
    generator = np.random.default_rng(2)
    sizes = 10.0 ** generator.uniform(low, high, _SIZE)
    return sizes * generator.choice([-1.0, 1.0], _SIZE) if both else sizes


_NEAR_ONE = 1.0 + _magnitudes(-16, -1)
_POSITIVE = np.concatenate([_magnitudes(-323, 308, both=False), _draws(0.3, 3.0), _NEAR_ONE])
_ANGLES = np.concatenate(
    [
        _draws(-10.0, 10.0),
        _draws(-1e5, 1e5),
        _magnitudes(-320, 20),
        np.arange(-_SIZE, _SIZE) * np.pi / 2.0,  # near zeros, of all of them
        [6381956970095103.0 * 2.0**-37, 99999.9, 100000.1],
    ]
)
_SINES = np.concatenate([_draws(-1.0, 1.0), _magnitudes(-320, 0), 1.0 - _magnitudes(-16, 0, False)])

# Points, mpmath's function, and the largest error in units in the last place.
_EXACT = {
    "arccos": (np.append(_SINES, -_SINES), mpmath.acos, 1.0),
    "arcsin": (_SINES, mpmath.asin, 2.0),
    "arcsinh": (np.append(_draws(-5.0, 5.0), _magnitudes(-320, 308)), mpmath.asinh, 1.0),
    "arctan": (np.append(_draws(-5.0, 5.0), _magnitudes(-320, 308)), mpmath.atan, 1.0),
    "cos": (_ANGLES, mpmath.cos, 1.0),
    "cosh": (np.append(_draws(-710.47, 710.47), _draws(-2.0, 2.0)), mpmath.cosh, 1.5),
    "exp": (np.concatenate([_draws(-745.0, 709.78), _draws(-1.0, 1.0)]), mpmath.exp, 1.5),
    "exp2": (
        np.concatenate([_draws(-1074.0, 1024.0), _draws(-1.0, 1.0), np.arange(-1074.0, 1024.0)]),
        lambda x: mpmath.mpf(2) ** x,
        1.0,
    ),
    "expit": (
        np.append(_draws(-745.0, 40.0), _draws(-3.0, 3.0)),
        lambda x: 1 / (1 + mpmath.exp(-x)),
        1.5,
    ),
    "expm1": (
        np.concatenate([_draws(-40.0, 709.78), _draws(-1.0, 1.0), _magnitudes(-320, 0)]),
        mpmath.expm1,
        1.5,
    ),
    "log": (_POSITIVE, mpmath.log, 1.0),
    "log10": (_POSITIVE, mpmath.log10, 1.0),
    "log1p": (
        np.concatenate([_magnitudes(-320, 308, both=False), _draws(-1.0, 2.0), _NEAR_ONE - 1.0]),
        mpmath.log1p,
        1.0,
    ),
    "log2": (_POSITIVE, lambda x: mpmath.log(x) / mpmath.log(2), 1.0),
    "log_expit": (
        np.concatenate([_draws(-745.0, 700.0), _draws(-3.0, 3.0), _draws(20.0, 60.0)]),
        lambda x: -mpmath.log1p(mpmath.exp(-x)),
        1.5,
    ),
    "sin": (_ANGLES, mpmath.sin, 1.0),
    "sinh": (
        np.concatenate([_draws(-710.47, 710.47), _draws(-2.0, 2.0), _magnitudes(-320, 0)]),
        mpmath.sinh,
        2.0,
    ),
    "tan": (_ANGLES, mpmath.tan, 1.0),
    "tanh": (
        np.concatenate([_draws(-20.0, 20.0), _draws(-1.0, 1.0), _magnitudes(-320, 0)]),
        mpmath.tanh,
        1.5,
    ),
}

_BASES = np.concatenate(
    [
        _magnitudes(-3, 3, both=False),
        _magnitudes(-300, 300, both=False),
        _NEAR_ONE,
        _draws(0.5, 2.0),
        _magnitudes(-323, -308, both=False),
    ]
)
_EXPONENTS = np.concatenate(
    [
        _draws(-90.0, 90.0),
        _magnitudes(-3, 0),
        _magnitudes(0, 5),
        _draws(-900.0, 900.0),
        _draws(-0.9, 0.9),
    ]
)

_EDGES = np.concatenate(
    [
        [0.0, 5e-324, 1e-310, 2.3e-308, 1e-17, 1e17, 1e300, 1e308, np.inf, np.nan],
        [0.5, 1.0, 1.5, 2.0, 3.0, 709.7, 710.2, 710.6, 745.2, 746.0, 1023.5, 1024.0, 1075.0],
    ]
)
_EDGES = np.append(_EDGES, -_EDGES)


def _truth(function, *args):
    """Return a function of mpmath with the digits that tiny results need."""
    with mpmath.workprec(1400 if min(abs(arg) for arg in args) < 1e-15 else 200):
        return function(*(mpmath.mpf(float(arg)) for arg in args))


def _units(result, exact):
    """Return the error in units in the last place; an overflow is none if it is due."""
    if abs(exact) >= mpmath.mpf(2) ** 1024 * (1 - mpmath.mpf(2) ** -54):
        return 0.0 if np.isinf(result) else np.inf
    return float(abs(mpmath.mpf(float(result)) - exact) / mpmath.mpf(np.spacing(abs(float(exact)))))


def _same(result, expected):
    """Whether results are the same, with the same sign of zero, for all NaN."""
    alike = (result == expected) & (np.signbit(result) == np.signbit(expected))
    return alike | (np.isnan(result) & np.isnan(expected))


def _grid(count):
    return [axis.ravel() for axis in np.meshgrid(*[_EDGES] * count)]


def _reference(name):
    return getattr(np, name, None) or getattr(scipy.special, name)


@pytest.mark.parametrize("name", _EXACT)
def test_elementary_function_is_exact_to_two_units(name):
    points, function, bound = _EXACT[name]
    results = _apply(name, points)
    errors = [_units(r, _truth(function, x)) for r, x in zip(results, points, strict=True)]
    assert max(errors) <= bound, (name, points[np.argmax(errors)])


def test_power_is_exact_to_two_units():
    results = _apply("power", _BASES, _EXPONENTS)
    exact = [_truth(mpmath.power, x, y) for x, y in zip(_BASES, _EXPONENTS, strict=True)]
    assert max(map(_units, results, exact)) <= 1.5


def test_whole_powers_keep_the_sign_of_odd_ones():
    bases = -_magnitudes(-2, 2, both=False)
    exponents = np.random.default_rng(3).integers(-9, 10, bases.size).astype(float)
    results, expected = _apply("power", bases, exponents), bases**exponents
    np.testing.assert_array_max_ulp(results, expected, 2)


def test_logaddexp_is_exact_to_a_unit_of_the_greater():
    x, y = _draws(-50.0, 50.0), _draws(-50.0, 50.0)[::-1]
    x, y = np.append(x, y + 1e-3 * y), np.append(y, y)

    def function(x, y):
        return mpmath.log(mpmath.exp(x) + mpmath.exp(y))

    results = _apply("logaddexp", x, y)
    for a, b, result in zip(x, y, results, strict=True):
        size = max(abs(a), abs(b), abs(result))
        assert abs(result - _truth(function, a, b)) <= np.spacing(size)


def test_remainder_is_numpys():
    x = np.concatenate([_magnitudes(-5, 5), _draws(-50.0, 50.0), np.arange(-30.0, 30.0)])
    y = np.concatenate([_magnitudes(-3, 3)[::-1], _draws(-50.0, 50.0)[::-1], np.full(60, 3.0)])
    for divisor in (y, -y):
        assert _same(_apply("remainder", x, divisor), np.remainder(x, divisor)).all()


@pytest.mark.parametrize("name", sorted(INLINE))
def test_single_instructions_are_numpys(name):
    args = _grid(FUNCTIONS[name])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*args)
    assert _same(_apply(name, *args), expected).all()


@pytest.mark.parametrize("name", sorted(ELEMENTARY))
def test_edges_are_numpys(name):
    """Zeros, infinities and NaN are the same; other numbers are nearly."""
    args = _grid(FUNCTIONS[name])
    with np.errstate(all="ignore"):
        expected = _reference(name)(*args)
    result = _apply(name, *args)
    with np.errstate(all="ignore"):
        close = np.abs(result - expected) <= 3.0 * np.spacing(np.abs(expected))
    close &= (expected != 0.0) & np.isfinite(expected)
    if name == "expit":  # SciPy's is zero where the result is subnormal
        close |= (expected == 0.0) & (result < 2.3e-308)
    bad = ~(_same(result, expected) | close)
    assert not bad.any(), [arg[bad] for arg in args]


@pytest.mark.parametrize("name", sorted({**ELEMENTARY, **SPECIAL, **INLINE}))
def test_results_are_the_same_for_all_numbers_of_lanes(name):
    count = FUNCTIONS[name]
    numbers = np.concatenate([_EDGES, _draws(-3.0, 3.0), _draws(0.0, 1.0), _magnitudes(-5, 8)])
    args = [numbers, *([np.roll(numbers, 7)] * (count - 1))]
    expected = _apply(name, *args)
    for lanes in (1, 2, 4):
        assert _same(_apply(name, *args, lanes=lanes), expected).all()


def test_log_gamma_function():
    x = np.concatenate(
        [
            _magnitudes(-300, 305, both=False),
            _draws(0.0, 10.0),
            _draws(10.0, 100.0),
            np.arange(0.5, 8.0, 0.25),
            1.0 + _magnitudes(-15, -1),
            2.0 + _magnitudes(-15, -1),
        ]
    )
    for number, result in zip(x, _apply("gammaln", x), strict=True):
        exact = _truth(mpmath.loggamma, number)
        assert abs(result - exact) <= 1e-15 * abs(exact)


def test_digamma_function():
    x = np.concatenate(
        [
            _magnitudes(-300, 300, both=False),
            _draws(0.0, 10.0),
            _draws(10.0, 100.0),
            np.arange(0.5, 8.0, 0.25),
            1.4616321449683622 + _magnitudes(-15, -1),
        ]
    )
    for number, result in zip(x, _apply("psi", x), strict=True):
        exact = _truth(mpmath.digamma, number)
        assert abs(result - exact) <= 1e-15 * abs(exact)


with mpmath.workprec(300):
    _ROOT_HALF = mpmath.sqrt(mpmath.mpf(0.5))
# Points, mpmath's function, and the largest error in units in the last place.
_NORMAL = {
    "erf": (
        np.concatenate([_draws(-6.0, 6.0), _draws(-0.7, 0.7), _magnitudes(-300, 2)]),
        mpmath.erf,
        3.0,
    ),
    "erfc": (
        np.concatenate([_draws(-6.0, 26.0), _draws(-0.7, 0.7), _magnitudes(-300, 1.4)]),
        mpmath.erfc,
        5.0,
    ),
    "erfcx": (
        np.concatenate(
            [
                _draws(-26.0, 26.0),
                _draws(-0.7, 0.7),
                _magnitudes(-300, 1),
                _magnitudes(0, 300, False),
            ]
        ),
        lambda x: (
            mpmath.exp(x * x) * mpmath.erfc(x)
            if x < 1e4
            else (1 - 1 / (2 * x * x)) / (x * mpmath.sqrt(mpmath.pi))
        ),
        5.0,
    ),
    "log_ndtr": (
        np.concatenate([_draws(-40.0, 37.0), _draws(-1.5, 1.5), _magnitudes(-300, 1.5)]),
        lambda x: (
            mpmath.log(mpmath.erfc(-x * _ROOT_HALF) / 2)
            if x < 1
            else mpmath.log1p(-mpmath.erfc(x * _ROOT_HALF) / 2)
        ),
        6.0,
    ),
    "ndtr": (
        np.concatenate([_draws(-37.0, 9.0), _draws(-1.5, 1.5), _magnitudes(-300, 1.5)]),
        lambda x: mpmath.erfc(-x * _ROOT_HALF) / 2,
        6.0,
    ),
}


def test_normal_quantiles_are_exact_to_a_few_units():
    x = np.concatenate([_magnitudes(-320, 0, False), _draws(0.0, 1.0), 0.5 + _magnitudes(-16, -1)])
    for p, result in zip(x, _apply("ndtri", x), strict=True):
        with mpmath.workprec(1200):
            number, found = mpmath.mpf(float(p)), mpmath.mpf(float(result))
            # A step of Newton's method leads from a number that is nearly right to the quantile.
            error = (mpmath.erfc(-found / mpmath.sqrt(2)) / 2 - number) / mpmath.npdf(found)
            assert abs(error) <= 8 * np.spacing(abs(float(result))), p


@pytest.mark.parametrize("order", [0, 1])
def test_scaled_bessel_functions_are_exact_to_some_units(order):
    x = np.concatenate([_draws(-30.0, 30.0), _draws(-1.0, 1.0), _magnitudes(-300, 4), [8.0, -8.0]])
    for number, result in zip(x, _apply(f"i{order}e", x), strict=True):
        with mpmath.workprec(120):
            at = mpmath.mpf(float(number))
            exact = mpmath.besseli(order, at) * mpmath.exp(-abs(at))
        assert _units(result, exact) <= 10.0, number


@pytest.mark.parametrize("name", _NORMAL)
def test_normal_functions_are_exact_to_a_few_units(name):
    points, function, bound = _NORMAL[name]
    results = _apply(name, points)
    with mpmath.workprec(300):
        exact = [function(mpmath.mpf(float(x))) for x in points]
    errors = [_units(r, e) for r, e in zip(results, exact, strict=True)]
    assert max(errors) <= bound, (name, points[np.argmax(errors)])


@pytest.mark.parametrize(
    ("s", "q"),
    [
        (np.full(_SIZE, 2.0), _magnitudes(-8, 8, both=False)),
        (_draws(1.01, 3.0), _draws(0.1, 15.0)[::-1]),
        (_draws(1.01, 30.0), _magnitudes(-3, 3, both=False)),
        (np.tile([2.0, 3.0, 4.0, 5.0, 6.0], _SIZE // 5), _draws(-20.0, 0.0)),
    ],
    ids=["trigamma", "small", "large", "negative"],
)
def test_zeta_function(s, q):
    for order, start, result in zip(s, q, _apply("zeta", s, q), strict=True):
        with mpmath.workprec(200 + int(order * max(0.0, np.log2(abs(start))))):
            exact = mpmath.zeta(mpmath.mpf(float(order)), mpmath.mpf(float(start)))
        assert abs(result - exact) <= 4e-15 * abs(exact)


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_edges_of_special_functions_are_scipys(name):
    edges = np.array([0.0, -0.0, -1.0, -2.5, -7.0, 1.0, 2.0, 1e308, np.inf, -np.inf, np.nan])
    if FUNCTIONS[name] == 1:
        args = (edges,)
    else:
        args = (
            np.array([2.0, 3.0, 1.0, 0.5, 2.5, 2.5, 2.5, 2.0, 2.0, 2.0, 1e300, 1e300, 2.0]),
            np.array(
                [0.0, -3.0, 2.0, 2.0, -1.5, 0.0, -1.0, 1e300, np.inf, -np.inf, 1e308, 1, np.nan]
            ),
        )
    result, expected = _apply(name, *args), getattr(scipy.special, name)(*args)
    near = np.isclose(result, expected, rtol=1e-14, atol=0.0) & np.isfinite(expected)
    assert (_same(result, expected) | near).all()


def test_log_gamma_function_of_subnormal_numbers_is_finite():
    """SciPy's is infinite there."""
    np.testing.assert_allclose(_apply("gammaln", 5e-324), -np.log(5e-324), rtol=1e-15)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {*ELEMENTARY, *SPECIAL, *INLINE}))
def test_other_functions_are_those_of_libraries(name):
    numbers = np.concatenate([_draws(0.01, 0.99, 40), _draws(-3.0, 9.0, 40), _EDGES])
    count = FUNCTIONS[name]
    args = [np.random.default_rng(seed).permutation(numbers) for seed in range(count)]
    with np.errstate(all="ignore"):
        expected = _reference(name)(*args)
    result = _apply(name, *args)
    near = np.isclose(result, expected, rtol=1e-15, atol=0.0) & np.isfinite(expected)
    assert (_same(result, expected) | near).all()


def test_a_function_is_written_once():
    module = ir.Module()
    math = VectorMath(module, 4)
    vector = ir.VectorType(_DOUBLE, 4)
    function = ir.Function(module, ir.FunctionType(vector, [vector]), "twice")
    builder = ir.IRBuilder(function.append_basic_block())
    once = math.call(builder, "exp", function.args[0])
    builder.ret(math.call(builder, "exp", once))
    assert str(module).count("define internal") == 1


@pytest.mark.parametrize(("calls", "written_out"), [(3, 3), (300, 0)])
def test_functions_are_written_out_where_that_takes_little_code(calls, written_out):
    module = ir.Module()
    math = VectorMath(module, 4)
    vector = ir.VectorType(_DOUBLE, 4)
    function = ir.Function(module, ir.FunctionType(vector, [vector]), "often")
    builder = ir.IRBuilder(function.append_basic_block())
    value = math.call(builder, "log", function.args[0], apart=True)  # apart whatever is said
    for _ in range(calls):
        value = math.call(builder, "exp", value)
    builder.ret(value)
    math.write_out()
    assert str(module).count("alwaysinline") == written_out
    assert str(module).count("noinline") == 1


def test_wrong_calls_are_refused():
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    math = VectorMath(module, 2)
    one = ir.Constant(ir.VectorType(_DOUBLE, 2), [1.0, 1.0])
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        math.call(builder, "power", one)
    with pytest.raises(KeyError):
        math.call(builder, "no such function", one)
    with pytest.raises(LookupError, match="publishes no erf of 3 doubles"):
        scipy_special("erf", 3)
