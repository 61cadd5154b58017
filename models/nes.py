"""Party identification of voters in a survey, explained by ideology and background.

Each column of the survey is a datum with its own name. Age has four classes; three of them become
indicators. The same model fits the surveys of four years.

    probmodel sample gallery:nes --data gallery:nes1972.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4;
data of the National Election Studies.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import Normal


class Nes(Model):
    real_ideo = data(dims="voter")  # 1, strong liberal, to 7, strong conservative
    race_adj = data(dims="voter")  # 1 white, 2 black, 1.5 other
    age_discrete = data(dims="voter", dtype=int, lower=1, upper=4)
    educ1 = data(dims="voter")  # 1 to 4
    gender = data(dims="voter")  # 1 for men, 2 for women
    income = data(dims="voter")  # 1 to 5

    is_30, is_45, is_65 = age_discrete == 2, age_discrete == 3, age_discrete == 4
    inputs = np.stack([real_ideo, race_adj, is_30, is_45, is_65, educ1, gender, income], axis=1)

    beta = param(shape=9)
    sigma = param(lower=0)

    partyid7 = observed(Normal(beta[0] + inputs @ beta[1:], sigma), dims="voter")
