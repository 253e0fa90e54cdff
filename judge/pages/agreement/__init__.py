"""What people's labels say of the judge, on a page and in a sentence."""

from judge.pages.agreement.finding import (
    bias,
    cautions,
    complete,
    headline,
    missing_alpha,
    missing_kappa,
    notes,
    stratum_bias,
    stratum_name,
    title,
)
from judge.pages.agreement.page import page
from judge.pages.agreement.words import Lang, Words

__all__ = [
    "Lang",
    "Words",
    "bias",
    "cautions",
    "complete",
    "headline",
    "missing_alpha",
    "missing_kappa",
    "notes",
    "page",
    "stratum_bias",
    "stratum_name",
    "title",
]
