"""What people called otherwise than the judge."""

from typing import Final

from judge.pages.agreement.markup import Html, definitions, outside, passage, tag, text
from judge.pages.agreement.words import Words
from judge.review.records import Agreement, Disagreement

_SHOWN: Final = 30
"""As many as a person reads; the rest stands in `agreement.json`."""


def disagreements(agreement: Agreement, words: Words) -> Html:
    """The worst, worst first, and how many more there are."""
    found = agreement.disagreements
    return tag(
        "section",
        tag("h2", text(words("title.disagreements"))),
        tag("p", text(_about(agreement, words))),
        *(_case(item, words) for item in found[:_SHOWN]),
    )


def _about(agreement: Agreement, words: Words) -> str:
    if not agreement.compared:
        return words.unmeasured("compared")
    count = len(agreement.disagreements)
    if not count:
        return words("disagreement.none")
    if count > _SHOWN:
        return words("disagreement.more", count=count - _SHOWN)
    return words("disagreement.order")


def _case(item: Disagreement, words: Words) -> Html:
    rows = [("judge", words.named("label", item.judge)), ("people", _people(item, words))]
    rows += [("note", note) for note in item.notes]
    rows += [("quote", item.quote), ("reason", item.reason)]
    rows += [("place", item.qid), ("row", item.review_id)]
    said = [(words(f"disagreement.{name}"), outside(value)) for name, value in rows if value]
    return tag("article", passage(item.text), definitions(said, "said"))


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
