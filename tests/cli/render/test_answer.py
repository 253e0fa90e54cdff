import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from judge.cli.render.answer import print_answer
from judge.records import (
    Chunk,
    Citation,
    CitationStatus,
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
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness
from tests.paged import paged

Piece = tuple[str, JudgeOutcome | Excluded]
LATE = Unscored(reason=UnscoredReason.TIMEOUT, detail="60 s")
TIMEOUT = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up\nafter 60 s")
SIGNATURE = "llm:some-model@api.example.org|prompt:faithfulness-v1@b90c7437|json_schema|t:0|seed:7"
HOSTILE = "[bold]x[/bold] [red] [/] :smile: \x1b[31mred\x07\r\u202eabc\x9b2J"
LITERAL = "[bold]x[/bold] [red] [/] :smile: ␛[31mred"


def verdict(support: str, reason: str = "", *evidence: Evidence, source: str = "llm") -> Verdict:
    fields = {"support": support, "reason": reason, "evidence": evidence, "source": source}
    return Verdict.model_validate(fields | {"signature": SIGNATURE})


def similar(score: float, *, failure: Unscored | None = None) -> Verdict:
    return Verdict(
        support=Support.NONE,
        source="similarity",
        score=score,
        signature="sim",
        fallback_from=failure,
    )


def cut(
    pieces: Sequence[Piece], between: str = ""
) -> tuple[str, list[Sentence], dict[int, JudgeOutcome]]:
    """A text of these pieces, side by side, and what became of them."""
    sentences: list[Sentence] = []
    position = 0
    for index, (text, outcome) in enumerate(pieces):
        kind = SentenceKind.HEADING if isinstance(outcome, Excluded) else SentenceKind.CLAIM
        end = position + len(text)
        sentences.append(Sentence(index=index, start=position, end=end, text=text, kind=kind))
        position = end + len(between)
    outcomes = {i: o for i, (_, o) in enumerate(pieces) if not isinstance(o, Excluded)}
    return between.join(text for text, _ in pieces), sentences, outcomes


def made(
    pieces: Sequence[Piece],
    *,
    citations: Sequence[Citation] = (),
    flags: Sequence[Flag] = (),
    chunks: Sequence[Chunk] = (),
    qid: str = "q_001",
    between: str = " ",
) -> tuple[SampleResult, Sample]:
    answer, sentences, outcomes = cut(pieces, between)
    sample = Sample(qid=qid, query="How much?", answer=answer, chunks=tuple(chunks))
    result = aggregate(sample, sentences, outcomes, citations, flags=flags, signature=SIGNATURE)
    return result, sample


def referred(answer: list[Piece], reference: list[Piece]) -> tuple[SampleResult, Sample]:
    """An answer that its chunks support, and what became of the comparison with its reference."""
    text, sentences, outcomes = cut(answer)
    gold, parts, covered = cut(reference)
    sample = Sample(qid="q", query="?", answer=text, gold_answer=gold)
    full = dict.fromkeys(outcomes, verdict("full"))
    result = aggregate(sample, sentences, full, [], signature="whole")
    both = Judgment(outcomes=outcomes), Judgment(outcomes=covered)
    found = correctness(sentences, parts, *both, signature="other")
    return result.model_copy(update={"correctness": found}), sample


def shown(result: SampleResult, sample: Sample | None, width: int = 80) -> str:
    return paged(lambda page: print_answer(result, sample, page), width)


def tinted(result: SampleResult, sample: Sample | None) -> str:
    return paged(lambda page: print_answer(result, sample, page), colour=True)


EVERY: list[Piece] = [
    ("Rooms.", Excluded()),
    ("Rooms cost 600.", verdict("full")),
    ("Suites cost 900 in May.", verdict("partial", "no month given")),
    ("早餐另付。", verdict("contradicted", "早餐已含")),
    ("Pets stay free.", verdict("none", "not mentioned")),
    ("So be it.", verdict("no_claim")),
    ("Parking is free.", TIMEOUT),
    ("Towels are extra.", similar(0.25, failure=TIMEOUT)),
]


def test_every_outcome_has_mark_and_word_without_colour() -> None:
    text = shown(*made(EVERY, between="\n"))
    lines = text.splitlines()
    for line in (
        "✓2   full",
        "◐3   partial",
        "     no month given",
        "≠4   contradicted",
        "     早餐已含",
        "✗5   none",
        "     not mentioned",
        "·6   no claim",
        "?7   unscored: rate limited: gave up after 60 s",
        "✗8   none, P(supported) 0.250, by similarity: rate limited: gave up after 60 s",
        "Rooms.",
        "≠4 早餐另付。",
        "?7 Parking is free.",
        "✗8 Towels are extra.",
    ):
        assert line in lines
    assert "\x1b" not in text


TINTS = {
    "✓2   full": "32",
    "◐3   partial": "33",
    "≠4   contradicted": "1;35",
    "✗5   none": "31",
    "·6   no claim": "2",
    "?7   unscored: rate limited: gave up after 60 s": "36",
    "Rooms.": "2",
    "Rooms cost 600.": "32",
    "早餐另付。": "1;35",
    "Towels are extra.": "31",
    ", by similarity: rate limited: gave up after 60 s": "36",
}


def test_every_outcome_has_its_tint() -> None:
    text = tinted(*made(EVERY, between="\n"))
    assert [w for w, tint in TINTS.items() if f"\x1b[{tint}m{w}\x1b[0m" not in text] == []


def test_the_numbers_by_hand() -> None:
    # Own verdicts: 1, 1/2, 0, 0; two unscored, one of them fallen back to none.
    text = " ".join(shown(*made(EVERY)).split())
    assert "scored · faithfulness 0.375 · between 0.250 and 0.583: 2 unscored" in text
    assert "with fallback 0.300" in text


def test_similarity_measures_no_faithfulness() -> None:
    text = shown(*made([("Rooms cost 600.", similar(0.5))]))
    assert "scored · looks supported 0.000" in text
    assert "aithfulness 0" not in text


def test_an_answer_nobody_could_judge() -> None:
    text = shown(*made([("It rains.", TIMEOUT), ("下雨。", TIMEOUT)]))
    assert "unscored · between 0.000 and 1.000: 2 unscored" in text


def quote(text: str, part: str, name: str = "a#1") -> Evidence:
    start = text.index(part)
    end = start + len(part)
    return Evidence(chunk_id=name, quote=part, start=start, end=end, verified=True)


def quoted(text: str, part: str) -> str:
    result, sample = made(
        [("It is so.", verdict("full", "", quote(text, part)))],
        chunks=[Chunk(chunk_id="b", text="other"), Chunk(chunk_id="a#1", text=text)],
    )
    lines = shown(result, sample, width=400).splitlines()
    return next(line for line in lines if line.startswith("     a#1  ")).removeprefix("     a#1  ")


def test_a_quote_stands_in_its_surroundings() -> None:
    assert quoted("One.\n\nTwo  is\nthis. Three.", "Two  is\nthis.") == "One. «Two is this.» Three."
    assert quoted("whole", "whole") == "«whole»"


def test_ellipses_stand_where_text_is_cut_and_words_stay_whole() -> None:
    before, after = "before " * 20, " after" * 20
    assert quoted(f"{before}HERE{after}", "HERE") == (
        "…" + "before " * 11 + "«HERE»" + " after" * 13 + "…"
    )
    eighty = "x" * 79 + " "
    assert quoted(f"{eighty}HERE", "HERE") == f"{eighty}«HERE»"
    assert quoted(f"HERE{eighty[::-1]}", "HERE") == f"«HERE»{eighty[::-1]}"
    assert quoted(f"HERE{eighty[::-1]} y", "HERE") == f"«HERE»{eighty[::-1]}…"


def test_chinese_is_cut_between_any_two_characters() -> None:
    assert quoted("前" * 100 + "正文" + "后" * 100, "正文") == (
        "…" + "前" * 80 + "«正文»" + "后" * 80 + "…"
    )


def test_chunks_that_share_an_id_are_told_apart_by_their_text() -> None:
    result, sample = made(
        [("It is so.", verdict("full", "", quote("Well. So it is.", "So it is.")))],
        chunks=[
            Chunk(chunk_id="a#1", text="Not here."),
            Chunk(chunk_id="a#1", text="Well. So it is."),
        ],
    )
    assert "a#1  Well. «So it is.»" in shown(result, sample)


def test_without_the_sample_a_quote_stands_alone() -> None:
    full = verdict("full", "", quote("So it is. Yes.", "So it is."))
    result, _ = made([("It is so.", full), ("是。", TIMEOUT)])
    text = shown(result, None)
    assert "     a#1  «So it is.»\n" in text
    assert "✓1 It is so.\n?2 是。\n" in text
    assert "question" not in text


def test_a_quote_that_is_not_in_the_chunk_says_so() -> None:
    made_up = Evidence(chunk_id="a#1", quote="never said", verified=False)
    result, sample = made(
        [("It is so.", verdict("partial", "", made_up))],
        chunks=[Chunk(chunk_id="a#1", text="So it is.")],
        flags=[Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=0)],
    )
    lines = shown(result, sample).splitlines()
    assert "     a#1  not found there: «never said»" in lines
    assert "     flag unverified_quote  no quote was found in its chunk" in lines


def cited(sentence: int, marker: str, chunk_id: str | None, **rest: object) -> Citation:
    fields = {"sentence": sentence, "marker": marker, "start": 0, "end": 1, "chunk_id": chunk_id}
    return Citation.model_validate(fields | rest)


def test_citations_stand_with_their_sentence() -> None:
    result, sample = made(
        [("Rooms", Excluded()), ("One.", verdict("full")), ("二。", TIMEOUT)],
        citations=[
            cited(0, "[1]", "a"),
            cited(1, "[1]", "a", status=CitationStatus.VALID),
            cited(
                1,
                "[docA#1]",
                "docA#1",
                status=CitationStatus.UNSUPPORTED,
                suggested="c",
                reason="has\nno price",
            ),
            cited(1, "[7]", None, status=CitationStatus.DANGLING, suggested="docB#2"),
            cited(2, "【2】", "b", status=CitationStatus.UNJUDGED),
        ],
    )
    text = shown(result, sample)
    lines = text.splitlines()
    first = lines.index("✓2   full")
    assert lines[first : first + 7] == [
        "✓2   full",
        "     cites [1] = a valid",
        "     cites [docA#1] unsupported: has no price; c would hold",
        "     cites [7] dangling; docB#2 would hold",
        "?3   unscored: rate limited: gave up after 60 s",
        "     cites 【2】 = b unjudged",
        "·1   cites [1] = a not counted",
    ]
    # coverage 2/2; one of three settled citations is valid
    assert "citation coverage 1.000 · citation validity 0.333" in " ".join(text.split())


def test_flags_stand_with_their_sentence_or_on_top() -> None:
    result, sample = made(
        [("One.", verdict("full")), ("Two.", verdict("full"))],
        flags=[
            Flag(name=FlagName.INJECTION_SUSPECTED),
            Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1),
        ],
    )
    lines = shown(result, sample).splitlines()
    assert "flags  injection_suspected" in lines
    said = "     flag conflicting_evidence  the chunks say opposite things"
    second = lines.index("✓2   full") + 1
    assert lines[second] == said
    assert lines[lines.index("✓1   full") + 1] == "✓2   full"


def hostile() -> tuple[SampleResult, Sample]:
    quote = Evidence(chunk_id=HOSTILE, quote=HOSTILE, start=0, end=len(HOSTILE), verified=True)
    lost = Evidence(chunk_id=HOSTILE, quote=HOSTILE)
    failure = Unscored(reason=UnscoredReason.MALFORMED, detail=HOSTILE)
    citation = cited(0, f"[{HOSTILE}]", HOSTILE, status=CitationStatus.VALID, suggested=HOSTILE)
    result, sample = made(
        [(HOSTILE, verdict("none", HOSTILE, quote, lost)), (f"{HOSTILE}!", failure)],
        qid=HOSTILE,
        chunks=[Chunk(chunk_id=HOSTILE, text=HOSTILE + HOSTILE)],
        citations=[citation],
    )
    result = result.model_copy(update={"signature": HOSTILE})
    return result, sample.model_copy(update={"query": HOSTILE})


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    result, sample = hostile()
    text = shown(result, sample, width=300)
    # qid, question, twice the answer, reason, quote's id, quote, what follows it, twice the lost
    # one, failure, marker, suggestion, signature
    assert text.count(LITERAL) == 14
    assert not set(text) & set("\x1b\x07\r\u202e\x9b")


def test_with_colour_too_the_only_escape_sequences_are_ours() -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", tinted(*hostile()))
    assert text.count("␛[31mred") >= 10
    assert not set(text) & set("\x1b\x07\r\u202e\x9b")
    assert "😄" not in text


def test_a_name_cannot_fake_a_line() -> None:
    fake = "a\n✓9   full"
    result, sample = made(
        [("One.", verdict("none", fake, Evidence(chunk_id=fake, quote=fake)))],
        qid=fake,
        citations=[cited(0, fake, "b", status=CitationStatus.UNSUPPORTED, suggested=fake)],
    )
    text = shown(result, sample)
    assert text.count("a ✓9 full") == 6
    assert not any(line.strip().startswith("✓9") for line in text.splitlines())


def test_a_long_name_is_not_cut() -> None:
    qid = "甲" * 100
    text = shown(*made([("One.", verdict("full"))], qid=qid))
    assert text.replace("\n", "").startswith(qid)


LONG = (
    st.lists(
        st.sampled_from(
            [
                "报销须在十五天内提交，",
                "逾期不予受理。",
                "under the rules ",
                "a" * 90,
                "[1]",
                "\ttab\tbed ",
                "\n",
                "\n\n- item ",
                "第2章 ",
                "x   ",
            ]
        ),
        min_size=1,
        max_size=12,
    )
    .map("".join)
    .filter(str.strip)
)


@given(LONG, st.sampled_from([80, 160]))
def test_no_line_is_too_wide_and_none_ends_in_a_space(text: str, width: int) -> None:
    text = text.strip()
    evidence = quote(f"{text}. {text}", text)
    result, sample = made(
        [(text, verdict("partial", text, evidence)), ("…", Excluded()), (text, TIMEOUT)],
        qid=text,
        chunks=[Chunk(chunk_id="a#1", text=f"{text}. {text}")],
        citations=[cited(0, "[1]", text, status=CitationStatus.DANGLING, suggested=text)],
    )
    *lines, signature = shown(result, sample, width).splitlines()
    assert signature == f"made by {SIGNATURE}"
    for line in lines:
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_a_signature_is_never_broken() -> None:
    result, sample = made([("One.", verdict("full"))])
    result = result.model_copy(update={"signature": "llm:" + "word " * 60 + "end"})
    assert shown(result, sample).splitlines()[-1] == f"made by {result.signature}"


def test_a_terminal_that_is_not_utf_gets_plain_marks() -> None:
    result, sample = made(
        [*EVERY, ("十元。", verdict("full", "", quote("共十元。", "十元")))],
        citations=[cited(0, "[1]", "a")],
        chunks=[Chunk(chunk_id="a#1", text="共十元。")],
        between="\n",
    )
    lines = paged(lambda page: print_answer(result, sample, page), encoding="gbk").splitlines()
    for line in ("+2   full", "~3   partial", "!4   contradicted", "x5   none", ".6   no claim"):
        assert line in lines
    assert '     a#1  共"十元"。' in lines
    assert ".1   cites [1] = a not counted" in lines
    assert lines[-2] == "+ full  ~ partial  x none  ! contradicted  ? unscored  . not a claim"


def test_an_empty_answer() -> None:
    assert "(an empty answer)" in shown(*made([]))


GOLD = "# 保修保修期为36个月。电池另计。"
ANSWER = "保修期为24个月。可以退货。"
WARRANTY = referred(
    [
        (
            "保修期为24个月。",
            verdict("contradicted", "月数不同", quote(GOLD, "36个月", "gold_answer")),
        ),
        ("可以退货。", verdict("full")),
    ],
    [
        ("# 保修", Excluded()),
        (
            "保修期为36个月。",
            verdict("contradicted", "月数不同", quote(ANSWER, "24个月", "answer")),
        ),
        ("电池另计。", LATE),
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


def test_without_the_sample_quotes_of_a_comparison_stand_alone() -> None:
    text = shown(WARRANTY[0], None)
    assert "     answer  «24个月»\n" in text
    assert "     gold_answer  «36个月»\n" in text


def test_what_both_say_is_listed_once() -> None:
    text = shown(
        *referred(
            [("A.", verdict("full")), ("So.", verdict("no_claim"))], [("B.", verdict("full"))]
        )
    )
    assert "scored · correctness 1.000 · precision 1.000 · recall 1.000\n" in text
    assert "✓1   full\n     B.\n" in text
    assert "in the answer, and not" not in text


def test_what_failed_is_no_agreement_whatever_the_fallback_says() -> None:
    stood_in = verdict("full", source="similarity").model_copy(update={"fallback_from": LATE})
    text = " ".join(shown(*referred([("A.", stood_in)], [("B.", verdict("full"))])).split())
    # No verdict of its own on the answer, and so no precision and no F1.
    assert "scored · recall 1.000 · between 0.000 and 1.000: 1 unscored" in text
    assert "with fallback 1.000" in text
    assert "or not surely in the reference ✓1 full, by similarity: timeout: 60 s A." in text


def test_what_similarity_compared_only_looks_correct() -> None:
    alike = verdict("full", source="similarity")
    text = shown(*referred([("A.", alike)], [("B.", alike)]))
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
    text = shown(*referred(answer, reference))
    assert line in " ".join(text.split())
    assert "not a claim\n     " not in text
    assert ("     甲。\n" in text) == bool(reference)


def test_where_correctness_was_not_asked_for_nothing_is_said() -> None:
    result, sample = WARRANTY
    text = shown(result.model_copy(update={"correctness": None}), sample)
    assert "reference" not in text
    assert "correctness" not in text


def test_text_in_a_comparison_steers_nothing_either() -> None:
    lost = Evidence(chunk_id=HOSTILE, quote=HOSTILE)
    result, sample = referred(
        [(HOSTILE, verdict("none", HOSTILE, lost))], [(HOSTILE, verdict("partial", HOSTILE, lost))]
    )
    assert result.correctness is not None
    found = result.correctness.model_copy(update={"signature": HOSTILE})
    text = shown(result.model_copy(update={"correctness": found}), sample, width=300)
    # The answer on top; twice text, reason, quote's id and quote; the signature.
    assert text.count(LITERAL) == 10
    assert not set(text) & set("\x1b\x07\r\u202e\x9b")


@pytest.mark.parametrize("width", [80, 160])
def test_no_line_of_a_comparison_is_too_wide(width: int) -> None:
    text = "报销须在十五天内提交，" * 20 + "under the rules " * 12
    both: list[Piece] = [(text, verdict("partial", text, quote(text, text.strip(), "answer")))]
    *lines, _, _ = shown(*referred(both, both), width=width).splitlines()
    for line in lines:
        assert cell_len(line) <= width
        assert not re.search(r"\s$", line)


def test_flags_stand_beside_what_they_are_about() -> None:
    result, sample = WARRANTY
    assert result.correctness is not None
    unread = Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=1)
    other = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1)
    flagged = result.correctness.model_copy(
        update={"answer_flags": (unread,), "reference_flags": (other,)}
    )
    text = " ".join(shown(result.model_copy(update={"correctness": flagged}), sample).split())
    covered, _, beyond = text.partition("in the answer, and not,")
    assert "flag conflicting_evidence" in covered
    assert "flag conflicting_evidence" not in beyond
    # The reference says it all, and the judge's quote is nowhere to be found.
    assert "可以退货。 flag unverified_quote" in beyond
