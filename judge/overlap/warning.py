"""What to know before the numbers are used."""

from collections.abc import Iterator, Sequence

from judge.metrics.overlap import MOST_CELLS, MOST_TOKENS
from judge.records.overlap import LanguageBleu, OverlapCounts


def warnings(counts: OverlapCounts, bleu: Sequence[LanguageBleu]) -> tuple[str, ...]:
    """A line for everything that makes the numbers other than they look."""
    return tuple(_warnings(counts, bleu))


def _warnings(counts: OverlapCounts, bleu: Sequence[LanguageBleu]) -> Iterator[str]:
    of = f"of {counts.samples:,} samples"
    if counts.without_gold_answer:
        yield f"no gold_answer, and so left out: {counts.without_gold_answer:,} {of}"
    if counts.empty_answers:
        yield f"an empty answer, which counts 0: {counts.empty_answers:,} {of}"
    if counts.too_long:
        yield (
            "too long for rougeL, rougeLsum and rougeW, and not in their means: "
            f"{counts.too_long:,} {of} (over {MOST_TOKENS:,} tokens, or tokens of the answer times "
            f"tokens of the gold answer over {MOST_CELLS:,})"
        )
    if counts.wordless_gold:
        yield f"a gold answer without a letter or digit (ROUGE is 0): {counts.wordless_gold:,} {of}"
    if counts.single_token_gold:
        yield f"a gold answer of one token (rouge2 is 0): {counts.single_token_gold:,} {of}"
    if len(bleu) > 1:
        yield "gold answers of several languages: BLEU is given for each, and not over all"
