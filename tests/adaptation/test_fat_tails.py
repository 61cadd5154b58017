"""The fat-tailed part of an ensemble's proposal, against SciPy's densities."""

import numpy as np
import scipy.stats
from scipy.special import logsumexp

from probmodel.adaptation.fat_tails import log_mean_ratio, log_ratio


def test_ratios_are_those_of_student_and_normal_densities():
    z = np.array([[0.0, 1e-9, 0.3, -2.0, 40.0], [300.0, -1e3, 1e4, 0.0, 1.0]])
    ratio = scipy.stats.cauchy.logpdf(z) - scipy.stats.norm.logpdf(z)
    np.testing.assert_allclose(log_ratio(1, z * z), ratio, rtol=1e-12)
    mean = logsumexp(ratio, axis=-1) - np.log(5.0)
    np.testing.assert_allclose(log_mean_ratio(z * z), mean, rtol=1e-12)


def test_where_there_is_no_fit_there_is_no_ratio():
    assert np.isnan(log_mean_ratio(np.array([1.0, np.nan])))
