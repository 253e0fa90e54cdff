"""What to know before the numbers are used."""

from collections.abc import Iterator, Sequence

from judge.overlap.languages import LANGUAGE_NAMES
from judge.overlap.metrics import MOST_CELLS, MOST_TOKENS
from judge.overlap.records import LanguageBleu, OverlapCounts


def warnings(counts: OverlapCounts, bleu: Sequence[LanguageBleu]) -> tuple[str, ...]:
    """A line for everything that makes the numbers other than they look."""
    return tuple(_warnings(counts, bleu))


def _warnings(counts: OverlapCounts, bleu: Sequence[LanguageBleu]) -> Iterator[str]:
    of = "of 1 sample" if counts.samples == 1 else f"of {counts.samples:,} samples"
    if counts.bad_lines:
        yield f"lines that are no samples, and so left out: {counts.bad_lines:,}"
    if counts.without_gold_answer:
        yield f"no gold_answer, and so left out: {counts.without_gold_answer:,} {of}"
    if counts.empty_answers:
        yield f"an empty answer, which counts 0: {counts.empty_answers:,} {of}"
    if counts.too_long:
        yield (
            "too long for ROUGE-L, ROUGE-Lsum and ROUGE-W, and not in their means: "
            f"{counts.too_long:,} {of} (over {MOST_TOKENS:,} tokens, or tokens of the answer times "
            f"tokens of the gold answer over {MOST_CELLS:,})"
        )
    if counts.wordless_gold:
        yield f"a gold answer without a letter or digit (ROUGE is 0): {counts.wordless_gold:,} {of}"
    if counts.single_token_gold:
        yield f"a gold answer of one token (ROUGE-2 is 0): {counts.single_token_gold:,} {of}"
    for item in bleu:
        if item.too_short:
            yield (
                "no answer has the four tokens that BLEU needs, so it is 0 whatever they share: "
                f"{LANGUAGE_NAMES[item.language]}, {item.answers:,} {of}"
            )
    if len(bleu) > 1:
        yield "gold answers of several languages: BLEU is given for each, and not over all"
