"""Judges: each turns a request into one outcome per asked sentence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from judge.checks.mismatch import Mismatch
from judge.messages import Lang, Messages, language_of
from judge.records import Flag, JudgeOutcome, Judgment, Unscored, UnscoredReason, Verdict

# Validators take a while to build, and a command that starts needs none.
MISSING: Final = Unscored.model_construct(
    reason=UnscoredReason.MISSING, detail="the judge gave no outcome"
)
_COMMA: Final[dict[Lang, str]] = {"en": ", ", "zh": "、"}


def join(
    parts: Sequence[Judgment], outcomes: Mapping[int, JudgeOutcome], flags: Iterable[Flag]
) -> Judgment:
    """Return the judgment with these outcomes and flags, and the calls and replies of its parts."""
    return Judgment(
        outcomes=outcomes,
        calls=tuple(call for part in parts for call in part.calls),
        replies=tuple(reply for part in parts for reply in part.replies),
        flags=tuple(dict.fromkeys(flags)),
    )


def reason(key: str, sentence: str, words: Iterable[str] = (), **fields: str) -> str:
    """Return why a sentence is not `full`, in its language: a text of `messages/judges.toml`."""
    lang = language_of(sentence)
    return Messages.of("judges")(key, lang, words=_COMMA[lang].join(words), **fields)


def overruled(full: Verdict, claim: str, found: Mismatch) -> Verdict:
    """Return a `full` verdict of an offline judge, lowered because of a mismatch."""
    why = (
        reason("missing", claim, [f"“{found.words}”"])
        if found.instead is None
        else reason("otherwise", claim, claim_words=found.words, instead=found.instead)
    )
    cited = full.cited_support and found.support
    update = {"support": found.support, "supporting": (), "cited_support": cited, "reason": why}
    return full.model_copy(update=update)
