"""A page that says how good the judge is, for whoever has to decide on it."""

from typing import Final

from judge.messages import Lang
from judge.pages import findings
from judge.pages.findings import Words
from judge.pages.html import render
from judge.records import Summary
from judge.review.records import Agreement, Disagreement
from judge.text.visible import flat

_MOST_DISAGREEMENTS: Final = 30
"""As many as a person reads; the rest stands in `agreement.json`."""


def page(agreement: Agreement, summary: Summary, lang: Lang) -> str:
    """What labels say of a run, as one HTML5 file that needs no other, to be written as UTF-8."""
    words = Words(lang)
    # A bare no, too, keeps the other score from being corrected.
    bare = {score.name for score in agreement.corrected} == {"faithfulness_strict"}
    bare = bare and agreement.scale == "full_or_rest"
    return render(
        "agreement.html",
        agreement=agreement,
        summary=summary,
        words=words,
        findings=findings,
        html_lang={"en": "en", "zh": "zh-Hans"}[lang],
        title=f"{words('title.page')} {flat(agreement.draw)}",
        scale="strict" if bare else agreement.scale,
        reviewers=words("disagreement.joint").join(
            name or words("disagreement.nameless") for name in agreement.reviewers
        ),
        worst=[
            (item, _people(item, words)) for item in agreement.disagreements[:_MOST_DISAGREEMENTS]
        ],
        about=_about(agreement, words),
    )


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
