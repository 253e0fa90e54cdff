"""Log odds, and probabilities at another prior than the one they were learned at."""

import math


def logit(share: float) -> float:
    """ln(share / (1 - share)), for a share within (0, 1).

    >>> round(logit(0.9), 6)
    2.197225
    """
    return math.log(share / (1 - share))


def expit(odds: float) -> float:
    """1 / (1 + exp(-odds)), the inverse of `logit`, within [0, 1] for any log odds.

    >>> expit(0.0), expit(-800.0), expit(800.0)
    (0.5, 0.0, 1.0)
    """
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    grown = math.exp(odds)
    return grown / (1 + grown)


def shift(prior: float, base_rate: float) -> float:
    """What to add to log odds where a share `prior` is positive rather than `base_rate`.

    logit(prior) - logit(base_rate): Saerens, Latinne and Decaestecker 2002, "Adjusting the
    outputs of a classifier to new a priori probabilities".

    >>> shift(0.5, 0.5)
    0.0
    """
    return logit(prior) - logit(base_rate)
