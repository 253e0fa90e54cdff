"""How far two sides say the same: judge and people, reviewers among themselves, model and model.

Labels are any hashable values, compared by equality. Weights are finite and at least 0, one a row;
None is 1 for each. Only their ratios matter, and a row of weight 0 changes nothing but a count of
rows.
"""

from judge.review.agreement.flips import mcnemar
from judge.review.agreement.forecasts import brier, calibration_error
from judge.review.agreement.raters import agreement, cohen_kappa, krippendorff_alpha
from judge.review.agreement.scores import LabelScore, label_scores

__all__ = [
    "LabelScore",
    "agreement",
    "brier",
    "calibration_error",
    "cohen_kappa",
    "krippendorff_alpha",
    "label_scores",
    "mcnemar",
]
