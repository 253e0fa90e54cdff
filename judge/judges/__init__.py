"""Judges: one shape, several makers."""

from collections.abc import Iterable
from typing import Final

from judge.checks.contradictions import Contradiction
from judge.messages import Lang, Messages, language_of
from judge.records import Support, Verdict

_COMMA: Final[dict[Lang, str]] = {"en": ", ", "zh": "、"}


def reason(key: str, sentence: str, words: Iterable[str] = (), **fields: str) -> str:
    """Why a sentence is not `full`, in its own language: a text of `messages/judges.toml`."""
    lang = language_of(sentence)
    return Messages.of("judges")(key, lang, words=_COMMA[lang].join(words), **fields)


def contradicted(full: Verdict, claim: str, found: Contradiction) -> Verdict:
    """What becomes of a `full` whose evidence says otherwise."""
    return full.model_copy(
        update={
            "support": Support.CONTRADICTED,
            "supporting": (),
            "cited_support": full.cited_support and Support.CONTRADICTED,
            "reason": reason("otherwise", claim, said=found.said, instead=found.instead),
        }
    )
