"""One sample: its answer against its gold answer."""

from typing import Final, NamedTuple

from judge.answer.split import split
from judge.overlap.metrics import (
    Language,
    Prf,
    exact_match,
    language_of,
    rouge,
    rouge_w,
    token_prf,
    too_long,
    word_tokens,
)
from judge.records import Sample

ROUGES: Final = ("rouge1", "rouge2", "rougeL", "rougeLsum", "rougeW")
"""Each an F; `_precision` and `_recall` stand beside it."""

MEASURES: Final = (
    "exact_match",
    "token_f1",
    "token_precision",
    "token_recall",
    *(f"{name}{part}" for name in ROUGES for part in ("", "_precision", "_recall")),
)
"""What has a mean: names of `AnswerOverlap.scores`, in order."""


class Measured(NamedTuple):
    """What one answer shares with its gold answer."""

    scores: dict[str, float | None]
    """By `MEASURES`."""
    language: Language | None
    """Of the gold answer; None where it has no letter."""
    gold_tokens: int
    """Words of the gold answer, characters where they stand alone."""


def has_gold(sample: Sample) -> bool:
    """Whether there is a gold answer that is not blank."""
    return bool(sample.gold_answer and sample.gold_answer.strip())


def measure(answer: str, gold: str, *, stem: bool) -> Measured:
    """Every measure but BLEU."""
    # An answer was owed, even where normalisation leaves nothing of the gold answer either.
    given = bool(answer.strip())
    tokens = token_prf(answer, gold) if given else Prf(0.0, 0.0, 0.0)
    scores: dict[str, float | None] = {
        "exact_match": exact_match(answer, gold) if given else 0.0,
        "token_f1": tokens.f,
        "token_precision": tokens.precision,
        "token_recall": tokens.recall,
    }
    answer_tokens, gold_tokens = len(word_tokens(answer)), len(word_tokens(gold))
    answer_lines, gold_lines = answer, gold
    # Lines are for ROUGE-Lsum alone; of texts too long for it finding sentences is time lost.
    if not too_long(answer_tokens, gold_tokens):
        answer_lines, gold_lines = _a_sentence_a_line(answer), _a_sentence_a_line(gold)
    for name, found in rouge(answer_lines, gold_lines, stem=stem).items():
        scores |= _three(name, found)
    scores |= _three("rougeW", rouge_w(answer, gold))
    return Measured(scores, language_of(gold), gold_tokens)


def _three(name: str, found: Prf | None) -> dict[str, float | None]:
    precision, recall, f = found or (None, None, None)
    return {name: f, f"{name}_precision": precision, f"{name}_recall": recall}


def _a_sentence_a_line(text: str) -> str:
    return "\n".join(" ".join(sentence.text.split()) for sentence in split(text))
