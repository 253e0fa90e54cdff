"""A page that says how good the judge is, for whoever has to decide on it."""

from typing import Final

from judge.messages import Lang
from judge.pages import findings
from judge.pages.findings import Words
from judge.pages.html import render
from judge.records import Summary
from judge.review.records import Agreement, Disagreement
from judge.text.visible import flat

_HTML_LANG: Final[dict[Lang, str]] = {"en": "en", "zh": "zh-Hans"}
_MOST_DISAGREEMENTS: Final = 30
"""As many as a person reads; the rest stands in `agreement.json`."""


def page(agreement: Agreement, summary: Summary, lang: Lang) -> str:
    """The findings as one HTML5 file that needs no other, to be written as UTF-8.

    Args:
        agreement: what the labels say.
        summary: totals of the run they are from.
        lang: of all that is not quoted.
    """
    words = Words(lang)
    return render(
        "agreement.html",
        agreement=agreement,
        summary=summary,
        words=words,
        findings=findings,
        html_lang=_HTML_LANG[lang],
        title=f"{words('title.page')} {flat(agreement.draw)}",
        scale=_scale(agreement),
        reviewers=words("disagreement.joint").join(
            name or words("disagreement.nameless") for name in agreement.reviewers
        ),
        worst=[
            (item, _people(item, words)) for item in agreement.disagreements[:_MOST_DISAGREEMENTS]
        ],
        about=_about(agreement, words),
    )


def _scale(agreement: Agreement) -> str:
    """The scale, or `strict` where a bare no, too, kept the other score from being corrected."""
    names = {score.name for score in agreement.corrected}
    bare = agreement.scale == "full_or_rest" and names == {"faithfulness_strict"}
    return "strict" if bare else agreement.scale


def _about(agreement: Agreement, words: Words) -> str:
    if not agreement.compared:
        return words.unmeasured("compared")
    count = len(agreement.disagreements)
    if not count:
        return words("disagreement.none")
    if count > _MOST_DISAGREEMENTS:
        return words("disagreement.more", count=count - _MOST_DISAGREEMENTS)
    return words("disagreement.order")


def _people(item: Disagreement, words: Words) -> str:
    """What each said, and who, where there are names."""
    if set(item.people) == {""}:
        return words.named("label", item.people[""])
    return words("disagreement.joint").join(
        words(
            "disagreement.by",
            label=words.named("label", label),
            reviewer=name or words("disagreement.nameless"),
        )
        for name, label in item.people.items()
    )
