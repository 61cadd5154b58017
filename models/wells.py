"""Who switches to a safe well? A logistic regression with an interaction of centred inputs.

3020 households in Bangladesh learned how much arsenic is in their well and how far the next safe
well is. With centred inputs, each main effect is the effect at the average of the other input.
Without centring it would be the effect at zero, where no household is.

    probmodel sample gallery:wells --data gallery:wells.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 5.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import BernoulliLogit, Normal


class Wells(Model):
    arsenic = data(dims="household", lower=0)  # hundreds of micrograms per litre
    dist = data(dims="household", lower=0)  # metres

    far = (dist - np.mean(dist)) / 100
    polluted = arsenic - np.mean(arsenic)

    alpha = param(Normal(0, 5))
    beta_dist = param(Normal(0, 5))
    beta_arsenic = param(Normal(0, 5))
    beta_both = param(Normal(0, 5))

    logit = alpha + beta_dist * far + beta_arsenic * polluted + beta_both * far * polluted
    switched = observed(BernoulliLogit(logit), dims="household")
