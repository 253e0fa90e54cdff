from judge.overlap.records import LanguageBleu, OverlapCounts
from judge.overlap.warning import warnings


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
        bad_lines=5,
    )
    bleu = [
        LanguageBleu(language="zh", score=1, answers=1, too_short=False, signature="s"),
        LanguageBleu(language="other", score=0, answers=6, too_short=True, signature="s"),
    ]
    lines = warnings(counts, bleu)
    counted = [f"{n} of 1,200 samples" for n in (200, 1, 2, 3, 4)]
    assert lines[0].endswith(": 5")
    assert all(words in line for words, line in zip(counted, lines[1:], strict=False))
    assert lines[6].endswith("spaced words (English …), 6 of 1,200 samples")
    assert "BLEU is given for each" in lines[7]
    assert len(lines) == 8


def test_one_sample_is_no_samples() -> None:
    (line,) = warnings(OverlapCounts(samples=1, measured=1, empty_answers=1), ())
    assert line.endswith("1 of 1 sample")
