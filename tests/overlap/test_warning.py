from judge.overlap.warning import warnings
from judge.records.overlap import LanguageBleu, OverlapCounts


def test_nothing_to_warn_of() -> None:
    assert warnings(OverlapCounts(samples=3, measured=3), ()) == ()


def test_a_line_for_everything() -> None:
    counts = OverlapCounts(
        samples=1_200,
        measured=1_000,
        without_gold_answer=200,
        empty_answers=1,
        too_long=2,
        wordless_gold=3,
        single_token_gold=4,
    )
    bleu = [
        LanguageBleu(language="zh", score=1, answers=1, signature="s"),
        LanguageBleu(language="other", score=1, answers=1, signature="s"),
    ]
    lines = warnings(counts, bleu)
    counted = [f"{n} of 1,200 samples" for n in (200, 1, 2, 3, 4)]
    assert all(words in line for words, line in zip(counted, lines, strict=False))
    assert "BLEU is given for each" in lines[5]
    assert len(lines) == 6
