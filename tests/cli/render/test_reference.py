import re

import pytest
from rich.cells import cell_len

from judge.records import (
    Evidence,
    Excluded,
    Flag,
    FlagName,
    JudgeOutcome,
    Judgment,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness
from tests.cli.render.test_answer import HOSTILE, LITERAL, shown

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT, detail="60 s")
Piece = tuple[str, JudgeOutcome | Excluded]


def said(support: str, reason: str = "", *evidence: Evidence, source: str = "llm") -> Verdict:
    return Verdict.model_validate(
        {
            "support": support,
            "reason": reason,
            "evidence": evidence,
            "source": source,
            "signature": "s",
        }
    )


def quote(name: str, text: str, part: str) -> Evidence:
    start = text.index(part)
    end = start + len(part)
    return Evidence(chunk_id=name, quote=part, start=start, end=end, verified=True)


def cut(pieces: list[Piece]) -> tuple[str, list[Sentence], dict[int, JudgeOutcome]]:
    """A text of these pieces, side by side, and what became of them."""
    sentences: list[Sentence] = []
    for index, (text, outcome) in enumerate(pieces):
        kind = SentenceKind.HEADING if isinstance(outcome, Excluded) else SentenceKind.CLAIM
        start = sentences[-1].end if sentences else 0
        sentences.append(
            Sentence(index=index, start=start, end=start + len(text), text=text, kind=kind)
        )
    outcomes = {i: o for i, (_, o) in enumerate(pieces) if not isinstance(o, Excluded)}
    return "".join(text for text, _ in pieces), sentences, outcomes


def made(answer: list[Piece], reference: list[Piece]) -> tuple[SampleResult, Sample]:
    text, sentences, outcomes = cut(answer)
    gold, parts, covered = cut(reference)
    sample = Sample(qid="q", query="?", answer=text, gold_answer=gold)
    result = aggregate(
        sample, sentences, dict.fromkeys(outcomes, said("full")), [], signature="whole"
    )
    found = correctness(
        sentences,
        parts,
        Judgment(outcomes=outcomes),
        Judgment(outcomes=covered),
        signature="other",
    )
    return result.model_copy(update={"correctness": found}), sample


GOLD = "# 保修保修期为36个月。电池另计。"
ANSWER = "保修期为24个月。可以退货。"
WARRANTY = made(
    [
        (
            "保修期为24个月。",
            said("contradicted", "月数不同", quote("gold_answer", GOLD, "36个月")),
        ),
        ("可以退货。", said("full")),
    ],
    [
        ("# 保修", Excluded()),
        ("保修期为36个月。", said("contradicted", "月数不同", quote("answer", ANSWER, "24个月"))),
        ("电池另计。", TIMEOUT),
    ],
)


def test_the_reference_stands_sentence_by_sentence_with_what_the_answer_says_of_it() -> None:
    lines = shown(*WARRANTY).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("reference: "))
    # Precision ½, recall 0 of 1, or 0 to 1 of 2: F1 0, at most 2 · ½ · ½.
    assert lines[first : first + 2] == [
        "reference: scored · correctness 0.000 · precision 0.500 · recall 0.000 · between",
        "     0.000 and 0.500: 1 unscored",
    ]
    assert lines[first + 2 : first + 16] == [
        "the reference, by what the answer says of it",
        "·1   not a claim",
        "     # 保修",
        "≠2   contradicted",
        "     保修期为36个月。",
        "     月数不同",
        "     answer  保修期为«24个月»。可以退货。",
        "?3   unscored: timeout: 60 s",
        "     电池另计。",
        "in the answer, and not, not wholly or not surely in the reference",
        "≠1   contradicted",
        "     保修期为24个月。",
        "     月数不同",
        "     gold_answer  # 保修保修期为«36个月»。电池另计。",
    ]
    assert lines[-2:] == ["made by whole", "correctness made by other"]


def test_without_the_sample_quotes_stand_alone() -> None:
    text = shown(WARRANTY[0], None)
    assert "     answer  «24个月»\n" in text
    assert "     gold_answer  «36个月»\n" in text


def test_what_both_say_is_listed_once() -> None:
    text = shown(*made([("A.", said("full")), ("So.", said("no_claim"))], [("B.", said("full"))]))
    assert "scored · correctness 1.000 · precision 1.000 · recall 1.000\n" in text
    assert "✓1   full\n     B.\n" in text
    assert "in the answer, and not" not in text


def test_what_failed_is_no_agreement_whatever_the_fallback_says() -> None:
    stood_in = said("full", source="similarity").model_copy(update={"fallback_from": TIMEOUT})
    text = " ".join(shown(*made([("A.", stood_in)], [("B.", said("full"))])).split())
    # No verdict of its own on the answer, and so no precision and no F1.
    assert "scored · recall 1.000 · between 0.000 and 1.000: 1 unscored" in text
    assert "with fallback 1.000" in text
    assert "or not surely in the reference ✓1 full, by similarity: timeout: 60 s A." in text


def test_what_similarity_compared_only_looks_correct() -> None:
    alike = said("full", source="similarity")
    text = shown(*made([("A.", alike)], [("B.", alike)]))
    assert "looks correct 1.000" in text
    assert "scored · correctness" not in text


@pytest.mark.parametrize(
    ("answer", "reference", "line"),
    [
        ([("A.", Excluded())], [], "reference: none; the sample has no gold_answer"),
        ([], [("甲。", Excluded())], "the answer or the reference claims nothing"),
    ],
)
def test_where_nothing_was_compared_it_says_why(
    answer: list[Piece], reference: list[Piece], line: str
) -> None:
    text = shown(*made(answer, reference))
    assert line in " ".join(text.split())
    assert "not a claim\n     " not in text
    assert ("     甲。\n" in text) == bool(reference)


def test_where_correctness_was_not_asked_for_nothing_is_said() -> None:
    result, sample = WARRANTY
    text = shown(result.model_copy(update={"correctness": None}), sample)
    assert "reference" not in text
    assert "correctness" not in text


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    lost = Evidence(chunk_id=HOSTILE, quote=HOSTILE)
    result, sample = made(
        [(HOSTILE, said("none", HOSTILE, lost))], [(HOSTILE, said("partial", HOSTILE, lost))]
    )
    assert result.correctness is not None
    found = result.correctness.model_copy(update={"signature": HOSTILE})
    text = shown(result.model_copy(update={"correctness": found}), sample, width=300)
    # The answer on top; twice text, reason, quote's id and quote; the signature.
    assert text.count(LITERAL) == 10
    assert not set(text) & set("\x1b\x07\r\u202e\x9b")


@pytest.mark.parametrize("width", [80, 160])
def test_no_line_is_too_wide_and_none_ends_in_a_space(width: int) -> None:
    text = "报销须在十五天内提交，" * 20 + "under the rules " * 12
    both: list[Piece] = [(text, said("partial", text, quote("answer", text, text.strip())))]
    *lines, _, _ = shown(*made(both, both), width=width).splitlines()
    for line in lines:
        assert cell_len(line) <= width
        assert not re.search(r"\s$", line)


def test_flags_stand_beside_what_they_are_about() -> None:
    result, sample = WARRANTY
    assert result.correctness is not None
    unread = Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=1)
    other = Flag(name=FlagName.MISMATCH_NUMBER, sentence=1, detail="36")
    flagged = result.correctness.model_copy(
        update={"answer_flags": (unread,), "reference_flags": (other,)}
    )
    text = " ".join(shown(result.model_copy(update={"correctness": flagged}), sample).split())
    covered, _, beyond = text.partition("in the answer, and not,")
    assert "flag mismatch:number" in covered
    assert "flag mismatch:number" not in beyond
    # The reference says it all, and the judge's quote is nowhere to be found.
    assert "可以退货。 flag unverified_quote" in beyond
