"""Declarations that make no sense are refused where they are written, in plain words."""

import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

from probmodel import (
    DataError,
    Model,
    ModelError,
    ShapeError,
    data,
    deterministic,
    observed,
    param,
    potential,
)
from probmodel.constraints import Interval, Lower, Ordered, PositiveDefinite, Upper
from probmodel.density import as_posterior
from probmodel.distributions import (
    AR1,
    CAR,
    LKJ,
    Beta,
    BetaBinomial,
    Binomial,
    Categorical,
    CategoricalLogit,
    Censored,
    CirculantGP,
    Dirichlet,
    DiscreteUniform,
    Exponential,
    GaussianProcess,
    HalfNormal,
    Hurdle,
    Normal,
    OrderedLogistic,
    OrderedProbit,
    Poisson,
    Truncated,
    Uniform,
)
from probmodel.distributions.kernels import ExpQuad


def here():
    return sys._getframe(1).f_lineno


def test_unsupported_function_names_the_line_and_the_alternative():
    with pytest.raises(ModelError, match=r"np\.ptp is not supported.*np\.max") as caught:

        class Bad(Model):
            x = param(shape=3)
            m = deterministic(np.ptp(x))

    assert caught.value.location.file == __file__
    assert caught.value.location.line == here() - 3


def test_unsupported_ufunc_says_what_to_write():
    with pytest.raises(ModelError, match=r"np\.logaddexp2.*write np\.logaddexp\(np\.log\(2\)"):

        class Bad(Model):
            x = param()
            m = deterministic(np.logaddexp2(x, 1.0))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda x: bool(x), r"np\.where"),
        (lambda x: list(x), "loop over a symbol"),
        (lambda x: [a + b for a, b in [x]], r"unpacking.*elements by index, .*y\[0\], y\[1\]"),
        (lambda x: len(x), "its size is known only when data is bound"),
        (lambda x: float(x), "NumPy's functions"),
        (lambda x: np.asarray(x), r"np\.stack"),
        (lambda x: np.add.reduce(x), r"np\.sum"),
        (lambda x: np.add(x, 1, out=np.zeros(3)), "in-place"),
        (lambda x: x.shape, "no attribute 'shape'"),
        (lambda x: np.sum(x, where=True), "takes a, axis, keepdims"),
        (lambda x: [2 * y for y in x], r"loop over a symbol.*2 \* a, np\.sum\(a\)"),
        (lambda x: sum(x), r"np\.sum\(a\)"),
        (lambda x: min(x, 0.0), r"min\(\), max\(\).*np\.minimum"),
        (lambda x: math.exp(x), r"np\.exp in the place of math\.exp"),
        (lambda x: int(x), r"whole number.*data\(dtype=int\)"),
        (lambda x: range(x), r"whole number.*data\(dtype=int\)"),
        (lambda x: math.trunc(x), "whole number"),
        (lambda x: round(x), r"round\(\) of a symbol.*draws"),
        (lambda x: round(x, 2), r"round\(\) of a symbol"),
        (lambda x: f"{x:.2f}", r"in the format '\.2f'.*draws"),
        (lambda x: x ^ 2, r"a power is a \*\* b"),
        (lambda x: x // 2, r"np\.floor\(a / b\)"),
        (lambda x: divmod(x, 2), r"np\.floor\(a / b\)"),
        (lambda x: x.exp(), r"Use np\.exp\(a\)"),
        (lambda x: np.argmax(x), r"np\.argmax is not supported.*integer data as an index"),
        (lambda x: np.where(x > 0), r"np\.where\(condition\) of a symbol.*np\.where\(condition, a"),
        (lambda x: np.where(x > 0, 1), r"np\.where\(condition\) of a symbol.*np\.where\(condition"),
        (lambda x: np.arange(x), r"of probmodel\.functions, arange and full take sizes"),
        (lambda x: np.zeros(x), r"arange, zeros, .* of probmodel\.functions take such sizes"),
        (lambda x: np.unwrap(x), r"np\.unwrap is not supported.*lists the functions"),
        (lambda x: scipy.special.beta(x, 1), r"scipy\.special\.beta is not.*betaln\(a, b\)"),
        (lambda x: scipy.special.logsumexp(x), r"function of scipy\.special.*logsumexp, softmax"),
        (lambda x: scipy.special.softmax(x), r"function of scipy\.special.*probmodel\.functions"),
        (lambda x: scipy.stats.norm.logpdf(x), r"function of scipy\.stats.*log_density\("),
        (lambda x: scipy.linalg.expm(x), r"function of scipy\.linalg.*np\.linalg\.cholesky"),
        (lambda x: scipy.linalg.cholesky(x), "function of scipy"),
        (lambda x: np.full(3, x), "turning a symbol into an array"),
        (lambda x: np.array([1.0, 2.0])[x], r"take\(np\..*, x\) .* looks up numbers in an array"),
        (lambda x: Normal(Normal(0, 1), 1), r"Normal\(\.\.\.\) is a distribution.*param\("),
        (lambda x: Normal(0, 1) * 2, r"Normal\(\.\.\.\) is a distribution"),
        (lambda x: np.ones(3) * Normal(0, 1), r"Normal\(\.\.\.\) is a distribution"),
        (lambda x: np.exp(Normal(0, 1)), r"Normal\(\.\.\.\) is a distribution"),
        (lambda x: x + Normal(0, 1), r"Normal\(\.\.\.\) is a distribution"),
        (lambda x: Normal(Normal, 1), "loc is the class Normal, which is not a number"),
        (lambda x: Normal(0, lambda: 1), "scale is of type function, which is not a number"),
        (
            lambda x: param(constraint=Ordered, shape=3),
            r"such as Ordered\(\); got the class Ordered",
        ),
        (lambda x: param(constraint="ordered", shape=3), r"such as Ordered\(\); got 'ordered'"),
    ],
)
def test_what_needs_a_value_is_refused(use, message):
    x = param(shape=3)
    with pytest.raises(ModelError, match=message) as caught:
        use(x)
    assert caught.value.location.file == __file__
    assert caught.value.location.line == use.__code__.co_firstlineno
    assert " at 0x" not in str(caught.value)


def test_an_element_of_an_array_that_is_to_be_a_symbol():
    """NumPy replaces whatever is raised there, and keeps it as the cause."""
    x, h = param(), np.zeros(3)
    with pytest.raises(ValueError, match="setting an array element") as caught:
        h[0] = x
    cause = caught.value.__cause__
    assert isinstance(cause, ModelError)
    assert cause.location.line == here() - 3
    assert re.search(r"element of a NumPy array \(h\[0\] = a\).*np\.stack.*scan", cause.message)
    with pytest.raises(ModelError, match=r"turning a symbol into an array.*np\.stack"):
        h[:2] = x


def test_a_symbol_is_printed_without_a_format():
    class Named(Model):
        x = param()
        text = f"{x} and {x + 1!s}"

    assert Named.text == "x and x + 1"


def test_a_number_modulo_a_symbol():
    class Wheel(Model):
        x = param()
        rest = deterministic(7.0 % x)

    assert "rest = 7 % x" in repr(Wheel())


def test_a_distribution_in_the_place_of_an_observed_quantity():
    class Bad(Model):
        a = param(Normal(0, 1))
        y = Normal(a, 1)

    with pytest.raises(DataError, match=r"`y = observed\(Normal\(\.\.\.\)\)`") as caught:
        Bad(y=[1.0, 2.0])
    assert caught.value.location.line == here() - 4


def test_a_declaration_of_another_model():
    class First(Model):
        mu = param(Normal(0, 1))

    with pytest.raises(
        ModelError, match=r"observed 'y' uses param 'mu' of another model"
    ) as caught:

        class Second(Model):
            y = observed(Normal(First.mu, 1), dims="obs")

    assert caught.value.location.line == here() - 2
    assert "Derive Second from that model" in caught.value.message


def test_assignment_into_a_symbol():
    x = param(shape=3)
    with pytest.raises(ModelError, match="in-place assignment"):
        x[0] = 1.0


def test_hasattr_of_a_symbol_is_an_answer():
    assert not hasattr(param(), "shape")


def test_branch_on_a_symbol_in_a_body():
    with pytest.raises(ModelError, match=r"np\.where\(condition, a, b\)"):

        class Bad(Model):
            x = param()
            y = deterministic(x if x > 0 else -x)


def test_use_before_declaration_names_what_stands_above():
    with pytest.raises(ModelError, match=r"'sigma' is used before.*\(mu\)") as caught:

        class Bad(Model):
            mu = param(Normal(0, 1))
            y = observed(Normal(mu, sigma), dims="obs")  # noqa: F821
            sigma = param(HalfNormal(1))

    assert caught.value.values["name"] == "sigma"


def test_use_in_the_own_declaration_says_what_to_do_about_a_past():
    with pytest.raises(
        ModelError, match=r"'y' is used in its own declaration.*an AR.*earlier values as data"
    ) as caught:

        class Bad(Model):
            phi = param(Normal(0, 1))
            y = observed(
                Normal(
                    phi * y[:-1],  # noqa: F821
                    1,
                ),
                dims="time",
            )

    assert caught.value.values["name"] == "y"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dnorm", "'dnorm' is called Normal in .*, which takes .* no precisions"),
        ("student_t", "'student_t' is used before .* The distribution is called StudentT."),
        ("Gumbel", "'Gumbel' is not imported: write `from probmodel.distributions import Gumbel`"),
        ("segment_max", "'segment_max' is not imported: .*probmodel.functions import segment_max"),
        ("Simplex", "'Simplex' is not imported: .*probmodel.constraints import Simplex"),
        ("MultivariateNormal", "'MultivariateNormal' is called MvNormal in probmodel.distr"),
        ("expit", "'expit' is not imported: write `from scipy.special import expit` above"),
        ("inv_logit", "'inv_logit' is called expit in scipy.special: .* import expit` above"),
        ("sqrt", "'sqrt' is called np.sqrt: write `import numpy as np` above the model"),
    ],
)
def test_names_that_were_not_imported(name, message):
    body = {"Model": Model, "param": param}
    with pytest.raises(ModelError, match=message) as caught:
        exec(f"class Bad(Model):\n    a = param({name}(1))", body)
    assert caught.value.location.line == 2


def test_local_variables_of_a_function_are_seen():
    scale = 2.0

    class Fine(Model):
        mu = param(Normal(0, scale))

    assert "mu ~ Normal(0, 2)" in repr(Fine())


def test_declared_twice():
    with pytest.raises(ModelError, match="'mu' is declared twice, first at"):

        class Bad(Model):
            mu = param(Normal(0, 1))
            mu = param(Normal(0, 2))


def test_a_declaration_and_what_is_computed_do_not_share_a_name():
    with pytest.raises(ModelError, match=r"'mu' is declared twice.*another name"):

        class Hidden(Model):
            mu = param(Normal(0, 1))
            mu += 1

    with pytest.raises(ModelError, match="'eta' is declared twice"):

        class Late(Model):
            mu = param(Normal(0, 1))
            eta = mu + 1
            eta = param(Normal(eta, 1))

    class First(Model):
        mu = param(Normal(0, 1))
        eta = mu + 1

    with pytest.raises(ModelError, match="'eta' is declared twice"):

        class Second(First):  # the class above keeps its names
            eta = First.eta
            eta = 2 * eta

    assert "eta = mu + 1" in repr(First())


def test_one_declaration_with_two_names():
    with pytest.raises(ModelError, match="two names, 'a' and 'b'"):

        class Bad(Model):
            a = b = param(Normal(0, 1))


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (np.linalg.cholesky, (3, 2)),
        (np.linalg.cholesky, (3,)),
        (np.linalg.inv, (2, 3, 2)),
        (np.linalg.det, (3, 2)),
        (lambda a: np.linalg.solve(a, np.ones(2)), (3, 2)),
    ],
)
def test_functions_of_square_matrices(function, shape):
    class Oblong(Model):
        a = param(Normal(0, 1), shape=shape)
        t = potential(np.sum(function(a)))

    with pytest.raises(
        ShapeError, match=f"takes square matrices; got the shape {re.escape(str(shape))}"
    ):
        Oblong()


def test_name_clashes_with_a_dim():
    with pytest.raises(ModelError, match=r"has the name of a dim .* by coords=.*, rename the dim"):

        class Bad(Model):
            obs = param(Normal(0, 1))
            y = observed(Normal(obs, 1), dims="obs")


@pytest.mark.parametrize("name", ["coords", "_hidden"])
def test_reserved_names(name):
    with pytest.raises(ModelError, match="cannot name a declaration"):
        type(Model)("Bad", (Model,), _body({name: param(Normal(0, 1))}))


def _body(members):
    namespace = type(Model).__prepare__("Bad", (Model,))
    for key, value in members.items():
        namespace[key] = value
    return namespace


def test_nameless_parameter():
    with pytest.raises(ModelError, match="has no name in Bad"):

        class Bad(Model):
            y = observed(Normal(param(Normal(0, 1)), 1), dims="obs")


@pytest.mark.parametrize("dims", ["draw", "chain", "not a name", ("a", "a"), (1,)])
def test_dims_that_are_no_names(dims):
    with pytest.raises(ModelError, match="dim"):
        data(dims=dims)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: param(Normal),
        lambda: param(3.0),
        lambda: observed(Normal),
        lambda: data(dtype=str),
        lambda: param(Normal(0, 1), dims="a", shape=3),
        lambda: param(Poisson(3.0)),
        lambda: param(Normal(0, 1), lower=0, noncentered=True),
        lambda: param(noncentered=True),
    ],
)
def test_declarations_that_contradict_themselves(declare):
    with pytest.raises(ModelError) as caught:
        declare()
    assert caught.value.location.file == __file__


@pytest.mark.parametrize(
    "likelihood", [lambda n: Binomial(n, 0.5), lambda n: BetaBinomial(n, 2, 3)]
)
def test_whole_numbers_come_from_data(likelihood):
    class Trials(Model):
        n = param(HalfNormal(9))
        y = observed(likelihood(n), dims="obs")

    with pytest.raises(ModelError, match=r"n is a whole number and must come from data; got n"):
        Trials(y=np.array([1, 2]))


def test_discrete_prior_names_the_alternative():
    with pytest.raises(ModelError, match=r"np\.logaddexp"):
        param(Poisson(3.0))


@pytest.mark.parametrize(
    ("prior", "bounds"),
    [
        (HalfNormal(1), {"lower": -1}),
        (HalfNormal(1), {"upper": -1}),
        (Beta(1, 1), {"upper": 2}),
        (Exponential(1), {"offset": 1.0}),
        (LKJ(2.0), {"constraint": PositiveDefinite(), "shape": (3, 3)}),
        (Dirichlet(np.ones(3)), {"constraint": Ordered()}),
    ],
)
def test_bounds_that_contradict_the_prior(prior, bounds):
    class Bad(Model):
        x = param(prior, **bounds)

    advice = "Values under a constraint" if "constraint" in bounds else "Bounds must lie inside"
    with pytest.raises(ModelError, match=f"contradicts the prior.*{advice}"):
        Bad()


def test_a_size_that_is_a_real_number():
    class Bad(Model):
        n = data()
        a = param(Normal(0, 1), shape=2 * n)

    with pytest.raises(ShapeError, match=r"got 2 \* n, which is a real number.*dtype=int"):
        Bad(n=3)


def test_bounds_that_leave_nothing_between_them():
    with pytest.raises(ModelError, match="lower bound, 1, is not below its upper bound, -1"):
        as_prior(lambda s: Normal(0, 1), lower=1, upper=-1)()
    with pytest.raises(ModelError, match="is not below its upper bound, 1"):
        as_prior(lambda s: Normal(0, 1), lower=1, upper=1)()
    with pytest.raises(ModelError, match="lower bound, inf, is not below its upper bound, inf"):
        as_prior(lambda s: Normal(0, 1), lower=np.inf)()


@pytest.mark.parametrize(
    "constraint", [Interval(2, 1), Interval(1, 1), Lower(np.inf), Upper(-np.inf)]
)
def test_constraints_that_nothing_satisfies(constraint):
    with pytest.raises(ModelError, match=r"lower bound, \S+, is not below its upper bound"):
        as_prior(lambda s: Normal(0, 1), constraint=constraint)()


def test_a_constraint_whose_bound_is_infinite_is_none():
    class Unbounded(Model):
        a = param(Normal(0, 1), constraint=Lower(-np.inf))

    x = np.array([[-3.0], [2.0]])
    np.testing.assert_array_equal(as_posterior(Unbounded()).constrain(x)["a"], x[:, 0])


@pytest.mark.parametrize(
    ("distribution", "low", "high", "order"),
    [(Uniform, 1, 0, "below"), (Uniform, 2, 2, "below"), (DiscreteUniform, 2, 0, "at most")],
)
def test_ends_of_an_interval_in_the_wrong_order(distribution, low, high, order):
    class Bad(Model):
        low = data()
        a = param(Normal(0, 1))
        y = observed(distribution(low, high), dims="obs")

    message = f"{distribution.__name__}'s low must be {order} high; got low={low} and high={high}"
    with pytest.raises(ModelError, match=message):
        Bad(low=low, y=[1, 1])


@pytest.mark.parametrize("prior", [Censored(Normal(0, 1), lower=0), Hurdle(0.5, HalfNormal(1))])
def test_priors_in_which_single_values_have_a_probability(prior):
    with pytest.raises(ModelError, match=f"cannot have the prior {prior.name}") as caught:

        class Bad(Model):
            a = param(prior)

    assert caught.value.location.file == __file__


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((0, 1, 2), {}, "takes 2 parameters, 3 were given"),
        ((), {"mean": 0}, "no parameter 'mean'"),
        ((0,), {"loc": 1, "scale": 1}, "'loc' twice"),
        ((0,), {}, "needs 'scale'"),
    ],
)
def test_wrong_parameters_of_a_distribution(arguments, keywords, message):
    with pytest.raises(ModelError, match=message) as caught:
        Normal(*arguments, **keywords)
    assert caught.value.location.file == __file__


def test_impossible_constant_parameter():
    class Bad(Model):
        x = param(Normal(0, -1.0))

    with pytest.raises(ModelError, match=r"Normal's scale must be positive; got -1"):
        Bad()


def test_parameter_of_the_wrong_rank():
    class Bad(Model):
        x = param(Dirichlet(1.0))

    with pytest.raises(ShapeError, match="concentration must be a vector"):
        Bad()


def test_parameters_that_do_not_broadcast():
    class Bad(Model):
        x = param(Normal(np.zeros(3), np.ones(2)))

    with pytest.raises(ShapeError, match=r"loc of shape \(3,\), scale of shape \(2,\)"):
        Bad()


def test_expression_whose_shapes_do_not_fit():
    class Bad(Model):
        X = data(dims=("obs", "feature"))
        beta = param(Normal(0, 1), shape=3)
        y = observed(Normal(X @ beta, 1), dims="obs")

    with pytest.raises(ShapeError, match=r"X @ beta.*\(5, 2\), \(3,\)") as caught:
        Bad(X=np.ones((5, 2)), y=np.zeros(5))
    assert caught.value.location.line == here() - 4


def test_index_from_a_parameter():
    class Bad(Model):
        x = param(shape=3)
        y = deterministic(x[x > 0])

    with pytest.raises(ModelError, match="must come from data"):
        Bad()


def test_no_parameters():
    class Bad(Model):
        y = observed(Normal(0, 1), dims="obs")

    with pytest.raises(ModelError, match="nothing to infer"):
        Bad(y=[1.0, 2.0])


def test_parameters_of_which_none_can_vary():
    class One(Model):
        share = param(Dirichlet([1.0]))
        y = observed(Normal(share[0], 1))

    class More(One):
        mu = param(Normal(0, 1))

    with pytest.raises(ModelError, match="for the shape of share there is one value only"):
        One(y=1.0)
    assert as_posterior(More(y=1.0)).dim == 1


def test_not_a_number_in_the_model():
    with pytest.raises(ModelError, match="Normal's loc is 'zero', which is not a number") as caught:
        Normal("zero", 1)
    assert caught.value.location.line == here() - 1


def test_shape_from_a_parameter():
    class Bad(Model):
        k = param(Normal(0, 1))
        x = param(Normal(0, 1), shape=k)

    with pytest.raises(ShapeError, match="integers from 0, or integer data"):
        Bad()


def test_inherited_declarations_come_first():
    class Base(Model):
        mu = param(Normal(0, 1))

    class Derived(Base):
        tau = param(HalfNormal(1))
        total = potential(-(tau**2))

    assert list(Derived._declarations) == ["mu", "tau", "total"]


def test_index_out_of_range_is_an_error_of_the_data():
    class Groups(Model):
        group = data(dims="obs", dtype=int)
        mu = param(Normal(0, 1), shape=3)
        y = observed(Normal(mu[group], 1), dims="obs")

    with pytest.raises(DataError, match=r"mu\[group\]: index 3 is out of bounds.*count from 0"):
        Groups(group=[1, 3], y=[0.0, 0.0])


def test_functions_of_submodules_are_named_in_full():
    with pytest.raises(ModelError, match=r"np\.linalg\.svd is not supported"):
        np.linalg.svd(param(shape=(2, 2)))


def test_functions_of_data_alone_say_what_to_write():
    class Sorted(Model):
        x = param(shape=3)
        y = deterministic(np.sort(x))

    with pytest.raises(ModelError, match=r"np\.sort takes must come from data.*Ordered\(\)"):
        Sorted()


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: param(Normal(0, 1), low=0), r"param\(\.\.\.\) has no argument 'low'.*'lower'\?"),
        (lambda: param(Normal(0, 1), high=0), r"no argument 'high'.*'upper'\?"),
        (lambda: param(Normal(0, 1), dim="obs"), r"no argument 'dim'.*'dims'\?"),
        (lambda: param(Normal(0, 1), initval=0), r"infer\(\.\.\., inits"),
        (lambda: data(type=int), r"data\(\.\.\.\) has no argument 'type'.*'dtype'\?"),
        (lambda: observed(Normal(0, 1), observed=[1.0]), r"is bound.*Model\(y=\.\.\.\)"),
        (lambda: deterministic(param(), name="b"), "is the class attribute"),
        (lambda: potential(param(), dims="obs"), r"no argument 'dims'.*Known: expression"),
        (lambda: param("mu", Normal(0, 1)), r"\(\.\.\.\): too many positional.*class attribute"),
        (lambda: observed(), r"observed\(\.\.\.\): missing a required argument: 'distribution'"),
        (lambda: data(np.ones(3)), r"got 'ndarray'\. Data are declared.*Model\(X=\.\.\.\)"),
        (lambda: data([1.0, 2.0]), r"got 1\.0\. Data are declared"),
        (lambda: data({"a": 1.0}), r"got 'dict'\. Data are declared"),
        (lambda: data(pd.DataFrame({"a": [1.0]})), r"got 'DataFrame'\. Data are declared"),
        (lambda: param(Normal(0, 1), dims=3), r"got 3\. Sizes are given as shape="),
        (lambda: param(Normal(0, 1), dims=data(dtype=int)), r"got 'Data'\. Sizes"),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_say_what_to_write(declare, message):
    with pytest.raises(ModelError, match=message) as caught:
        declare()
    assert caught.value.location.file == __file__


def test_data_without_names():
    class Lin(Model):
        X = data("obs")
        b = param(Normal(0, 1))
        y = observed(Normal(b * X, 1), dims="obs")

    with pytest.raises(DataError, match=r"by name; got 2 .*Lin\(X=\.\.\., y=\.\.\.\)") as caught:
        Lin([1.0], [2.0])
    assert caught.value.location.line == here() - 1
    with pytest.raises(DataError, match=r"Write Lin\(\*\*data\)"):
        Lin({"X": [1.0], "y": [2.0]})


def as_prior(prior, **options):
    class Bad(Model):
        s = param(HalfNormal(1.0))
        x = param(prior(s), **options)

    return Bad


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (lambda s: AR1(1.5, 1), "AR1's phi must be between -1 and 1; got 1.5"),
        (lambda s: CAR(1.0, -1.2, np.eye(2)[::-1]), "alpha must be between -1 and 1; got -1.2"),
        (lambda s: Beta(2.0, 0.0), "beta must be positive; got 0"),
        (
            lambda s: Truncated(Normal(0, 1), lower=np.inf),
            "Truncated's lower must be real, or -inf; got inf",
        ),
        (
            lambda s: GaussianProcess(ExpQuad(np.ones(3)), np.arange(3.0)),
            r"amplitude of .* shape \(3,\).*of the kernel are one number for each process",
        ),
        (
            lambda s: GaussianProcess(ExpQuad(), np.arange(3.0), jitter=s),
            r"jitter >= 0 that is a number; got s\. .*noise=sigma.*Normal\(f, sigma\)",
        ),
        (lambda s: CirculantGP(ExpQuad(), [np.arange(3.0)], jitter=s), r"a number; got s\."),
        (lambda s: CirculantGP(ExpQuad(), [np.arange(3.0)], jitter=-1.0), r"a number; got -1\.0\."),
    ],
)
def test_messages_say_what_values_are_possible(prior, message):
    with pytest.raises(ModelError, match=message) as caught:
        as_prior(prior, shape=3)()
    assert caught.value.location.file == __file__


@pytest.mark.parametrize(
    ("distribution", "most"),
    [
        (lambda b: Categorical(np.exp(b) / np.sum(np.exp(b))), 2),
        (CategoricalLogit, 2),
        (lambda b: OrderedLogistic(0.3, b), 3),
        (lambda b: OrderedProbit(0.3, b), 3),
    ],
)
def test_categories_beyond_those_of_unknown_parameters(distribution, most):
    class Categories(Model):
        b = param(Normal(0, 1), shape=3, constraint=Ordered())
        y = observed(distribution(b), dims="obs")

    assert np.isfinite(as_posterior(Categories(y=[0, most]))(np.zeros((1, 3))).logp[0])
    with pytest.raises(DataError, match=rf"whole numbers from 0 up to {most}; got {most + 1} at"):
        Categories(y=[0, most + 1])


def test_data_out_of_bounds_name_the_bounds():
    class Counts(Model):
        n = data(dtype=int)
        p = param(Beta(1, 1))
        y = observed(Binomial(n, p), dims="obs")

    with pytest.raises(DataError, match="values are whole numbers from 0 up to 3; got 5 at"):
        Counts(n=3, y=[1, 5])
    with pytest.raises(ModelError, match=r"support is between 0 and 1\. Bounds must"):
        as_prior(lambda s: Beta(1, 1), lower=-1)()

    class Contradicting(Model):
        s = param(HalfNormal(1.0))
        x = param(Exponential(1.0), constraint=Interval(-1.0, s))

    with pytest.raises(ModelError, match="constraint between -1 and s contradicts"):
        Contradicting()
