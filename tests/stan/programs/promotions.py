"""Whole numbers where real ones are meant, and which of several functions a call means."""

import numpy as np
from scipy.stats import norm
from stan_program import stan

normal = norm.logpdf


@stan(
    """
    functions {
      tuple(real, int) pair() { return (1, 2); }
      real quotient(tuple(real, real) t) { return t.1 / t.2; }
      real first(array[] tuple(real, real) t) { return t[1].1 / t[1].2; }
      int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
      array[] real ones(int n) { return rep_array(1, n); }
    }
    data { int yes; int no; array[2] int k; }
    transformed data {
      int half = (yes ? 1 : size(k)) / 2;
      int of_variables = (no ? 7 : k[2]) / 2;
      int of_truths = (yes ? k[1] > 1 : !no) / 2;
      int of_functions = (yes ? max(k) : factorial(3)) / 2;
      array[2] int whole = yes ? k : reverse({5, 6});
    }
    parameters { real x; }
    transformed parameters {
      vector[12] a = [
        (yes ? 1 : 2.0) / 2, (yes ? 1 : x) / 2, (no ? 0.5 : 3) / 2, (yes ? k[1] : exp(1)) / 2,
        (yes ? k : {1, 2.5})[1] / 2, (yes ? (no ? 2 : 1) : 0.5) / 2, (x > 100 ? 1.0 : 3) / 2,
        pair().1 / 2, quotient((1, 2)), first({(3, 2)}), append_array({1, 2}, {x})[1] / 2,
        ones(2)[1] / 2]';
      vector[5] b = [half, of_variables, of_truths, of_functions, factorial(4) / 5]';
      array[2] real c = x > 100 ? {x, 1} : k;
      vector[20] d;
      for (i in 1:20) d[i] = (i > 10 ? 1 : 0.5) / 2;
    }
    model { x ~ normal(0, 1); target += -0.1 * (sum(a) + sum(d)); }
    """,
    yes=1,
    no=0,
    k=[3, 5],
)
def a_choice_is_real_where_one_of_its_cases_is(v):
    a = [0.5, 0.5, 1.5, 1.5, 1.5, 0.5, 1.5, 0.5, 0.5, 1.5, 0.5, 0.5]
    d = np.where(np.arange(1, 21) > 10, 0.5, 0.25)
    total = normal(v.x) - 0.1 * (sum(a) + d.sum())
    return total, {"a": a, "b": [0, 2, 0, 2, 4], "c": [3, 5], "d": d}


@stan(
    """
    data { array[2] int k; vector[2] y; }
    transformed data {
      int both = (k[1] > 1) + (k[2] > 1);
      int less = -(y[1] > 0) - (y[2] > 9);
      int three = (y[1] > 0) + (y[2] > 0) + !(k[1] > 9);
      int logical = (k[1] > 1 || k[2] > 1) + (k[1] > 1 && k[2]);
      int total = sum({k[1] > 1, k[2] > 9, k[2] > 2});
    }
    parameters { real x; vector[3] v; }
    transformed parameters {
      vector[5] d = [both, less, three, logical, total]';
      real yes = x > -9;
      real also = v[1] > -9;
      vector[12] a = [
        (x > -9) + (v[1] > -9), -(x > -9), (x > -9) - (x > -8), yes + also, sum({x > -9, x > -8}),
        (x > -9 || x > 9) + (x > -9 && x > -8), !(x > 9) + !(x > 8), (1 && x > -9) + (both && x),
        (x > -9 ? 1 : 2) + (v[1] > -9), fmax(x > -9, x > 9) + fmax(x > -8, x > 8),
        {x > -9, 0.5}[1] + {x > -8, 0.5}[1], (x > -9) + both]';
      vector[2] s = [x > -9, x > 9]' + [x > -8, x > -7]' + rep_vector(x > -6, 2);
      vector[20] l;
      for (i in 1:20) l[i] = (x > -i) + (v[1] > -i);
      real count = 0;
      for (i in 1:3) count += v[i] > -9;
    }
    model {
      x ~ normal(0, 1);
      v ~ normal(0, 1);
      target += 0.5 * ((x > -9) + (v[1] > -9)) + sum(s) + sum(l);
      target += x > -9;
    }
    generated quantities {
      int g = (x > -9) + (v[1] > -9);
      int h = -(x > -9);
      array[3] int r;
      for (i in 1:3) r[i] = v[i] > -9;
      real m = mean(r) + sum(r) + (x > -9) / 1;
      vector[2] w = [x > -9, x > 9]' + [x > -8, x > -7]';
    }
    """,
    k=[3, 5],
    y=np.array([1.0, 2.0]),
)
def truth_values_are_whole_numbers(v):
    a = [2, -1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 3]
    total = normal(v.x) + normal(v.v).sum() + 1 + 5 + 40 + 1
    found = {"d": [2, -1, 3, 2, 2], "a": a, "s": [3, 2], "l": np.full(20, 2), "count": 3}
    return total, found | {"g": 2, "h": -1, "r": [1, 1, 1], "m": 5, "w": [2, 1]}


@stan(
    """
    functions {
      real f(real x, real y) { return 1; }
      real f(int x, real y) { return 2; }
      real f(complex x, complex y) { return 3; }
      real square(vector x) { return 10 * sum(x); }
      real log_sum_exp(array[] real x, int n) { return n * x[1]; }
      real normal_lpdf(vector y, array[] vector mu) { return -sum(y - mu[1]); }
    }
    parameters { real x; vector[2] v; }
    transformed parameters {
      vector[8] a = [
        f(1, 2), f(1.0, 2), f(1, x), f(x, 1), square(v), square(x), log_sum_exp({x}, 3),
        log_sum_exp(v)]';
    }
    model {
      x ~ normal(0, 1);
      v ~ normal({[1, 2]'});
      v ~ normal(1, 2);
      target += normal_lpdf(v | {[3, 4]'}) + normal_lpdf(x | 1, 2);
    }
    """
)
def the_function_that_promotes_least(v):
    a = [2, 1, 2, 1, 10 * v.v.sum(), v.x**2, 3 * v.x, np.logaddexp(*v.v)]
    total = normal(v.x) + normal(v.x, 1, 2) + normal(v.v, 1, 2).sum() - 2 * v.v.sum() + 10
    return total, {"a": a}


@stan(
    """
    functions { real twice(tuple(real, ) t) { return 2 * t.1; } }
    data { tuple(int, ) n; }
    parameters { real x; }
    transformed parameters {
      tuple(real, ) t = (x,);
      real a;
      (a,) = t;
      real b = twice((a,)) + n.1;
    }
    model { x ~ normal(0, 1); }
    """,
    n=(3,),
)
def tuples_of_one_element(v):
    return normal(v.x), {"a": v.x, "b": 2 * v.x + 3}
