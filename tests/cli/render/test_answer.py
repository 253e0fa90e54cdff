"""One answer on the terminal: its layout, and that no text from outside steers it.

What is said in which words: `tests/golden/show.*.txt`.
"""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from judge.cli.render.answers import print_answer
from judge.records import (
    Chunk,
    Citation,
    CitationStatus,
    Evidence,
    Excluded,
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
from tests.paged import paged

Piece = tuple[str, JudgeOutcome | Excluded]
Made = tuple[SampleResult, Sample]
LIMITED = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up\nafter 60 s")
SIGNATURE = "llm:some-model@api.example.org|prompt:faithfulness-v1@b90c7437|json_schema|t:0|seed:7"
HOSTILE = "[bold]x[/bold] [red] [/] :smile: \x1b[31mred\x07\r\u202eabc\x9b2J"
LITERAL = "[bold]x[/bold] [red] [/] :smile: ␛[31mred"
STEERING = set("\x1b\x07\r\u202e\x9b")


def verdict(support: str, reason: str = "", *evidence: Evidence) -> Verdict:
    fields = {"support": support, "reason": reason, "evidence": evidence, "source": "llm"}
    return Verdict.model_validate(fields | {"signature": SIGNATURE})


def cut(pieces: Sequence[Piece]) -> tuple[str, list[Sentence], dict[int, JudgeOutcome]]:
    """A text of these pieces, a space between them, and what became of them."""
    sentences: list[Sentence] = []
    start = 0
    for index, (text, outcome) in enumerate(pieces):
        kind = SentenceKind.HEADING if isinstance(outcome, Excluded) else SentenceKind.CLAIM
        end = start + len(text)
        sentences.append(Sentence(index=index, start=start, end=end, text=text, kind=kind))
        start = end + 1
    outcomes = {i: o for i, (_, o) in enumerate(pieces) if not isinstance(o, Excluded)}
    return " ".join(text for text, _ in pieces), sentences, outcomes


def made(
    *pieces: Piece,
    citations: Sequence[Citation] = (),
    chunks: Sequence[Chunk] = (),
    qid: str = "q_001",
    signature: str = SIGNATURE,
) -> Made:
    answer, sentences, outcomes = cut(pieces)
    sample = Sample(qid=qid, query="How much?", answer=answer, chunks=tuple(chunks))
    return aggregate(sample, sentences, outcomes, citations, signature=signature), sample


def compared(*pieces: Piece, signature: str = "other") -> Made:
    """An answer that says what its reference says, and what became of both."""
    text, sentences, outcomes = cut(pieces)
    sample = Sample(qid="q", query="?", answer=text, gold_answer=text)
    full = dict.fromkeys(outcomes, verdict("full"))
    result = aggregate(sample, sentences, full, [], signature="whole")
    both = Judgment(outcomes=outcomes), Judgment(outcomes=outcomes)
    found = correctness(sentences, sentences, *both, signature=signature)
    return result.model_copy(update={"correctness": found}), sample


def shown(
    of: Made, width: int = 80, *, colour: bool = False, encoding: str = "utf-8", given: bool = True
) -> str:
    result, sample = of
    return paged(
        lambda page: print_answer(result, sample if given else None, page, is_gone=not given),
        width,
        colour=colour,
        encoding=encoding,
    )


def quote(text: str, part: str, name: str = "a#1") -> Evidence:
    start = text.index(part)
    return Evidence(chunk_id=name, quote=part, start=start, end=start + len(part), verified=True)


def cited(marker: str, chunk_id: str, status: str | None = None, suggested: str = "") -> Citation:
    fields = {"sentence": 0, "marker": marker, "start": 0, "end": 1, "chunk_id": chunk_id}
    return Citation.model_validate(fields | {"status": status, "suggested": suggested or None})


EIGHTY = "x" * 79 + " "
# A chunk, a quote in it, and how it is shown.
QUOTED = [
    ("One.\n\nTwo  is\nthis. Three.", "Two  is\nthis.", "One. «Two is this.» Three."),
    ("whole", "whole", "«whole»"),
    (
        "before " * 20 + "HERE" + " after" * 20,
        "HERE",
        "…" + "before " * 11 + "«HERE»" + " after" * 13 + "…",
    ),
    (f"{EIGHTY}HERE", "HERE", f"{EIGHTY}«HERE»"),
    (f"HERE{EIGHTY[::-1]} y", "HERE", f"«HERE»{EIGHTY[::-1]}…"),
    ("前" * 100 + "正文" + "后" * 100, "正文", "…" + "前" * 80 + "«正文»" + "后" * 80 + "…"),
]


@pytest.mark.parametrize(("text", "part", "wanted"), QUOTED)
def test_a_quote_stands_in_its_surroundings(text: str, part: str, wanted: str) -> None:
    # Two chunks share an id: the one with the quote is shown.
    chunks = [Chunk(chunk_id="a#1", text="Not here."), Chunk(chunk_id="a#1", text=text)]
    one = made(("It is so.", verdict("full", "", quote(text, part))), chunks=chunks)
    assert f"     a#1  {wanted}" in shown(one, 400).splitlines()
    alone = f"     a#1  «{' '.join(part.split())}»"
    assert alone in shown(one, 400, given=False).splitlines()


def hostile() -> Made:
    lost = Evidence(chunk_id=HOSTILE, quote=HOSTILE)
    result, sample = made(
        (HOSTILE, verdict("none", HOSTILE, quote(HOSTILE, HOSTILE, HOSTILE), lost)),
        (f"{HOSTILE}!", Unscored(reason=UnscoredReason.MALFORMED, detail=HOSTILE)),
        qid=HOSTILE,
        chunks=[Chunk(chunk_id=HOSTILE, text=HOSTILE + HOSTILE)],
        citations=[cited(f"[{HOSTILE}]", HOSTILE, "valid", HOSTILE)],
        signature=HOSTILE,
    )
    return result, sample.model_copy(update={"query": HOSTILE})


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    text = shown(hostile(), 300)
    # qid, question, twice the answer, reason, quote's id, quote, what follows it, twice the lost
    # one, failure, marker, suggestion, signature
    assert text.count(LITERAL) == 14
    lost = Evidence(chunk_id=HOSTILE, quote=HOSTILE)
    both = shown(compared((HOSTILE, verdict("none", HOSTILE, lost)), signature=HOSTILE), 300)
    # The answer on top; twice text, reason, quote's id and quote; the signature.
    assert both.count(LITERAL) == 10
    # With colour the only escape sequences are ours.
    tinted = re.sub(r"\x1b\[[0-9;]*m", "", shown(hostile(), colour=True))
    assert tinted.count("␛[31mred") >= 10
    assert not (set(text) | set(both) | set(tinted)) & STEERING
    assert "😄" not in tinted


def test_a_name_cannot_fake_a_line() -> None:
    fake = "a\n✓9   full"
    text = shown(
        made(
            ("One.", verdict("none", fake, Evidence(chunk_id=fake, quote=fake))),
            qid=fake,
            citations=[cited(fake, "b", "unsupported", fake)],
        )
    )
    assert text.count("a ✓9 full") == 6
    assert not any(line.strip().startswith("✓9") for line in text.splitlines())


PIECES = ["报销须在十五天内提交，", "逾期不予受理。", "under the rules ", "a" * 90, "[1]"]
PIECES += ["\ttab\tbed ", "\n", "\n\n- item ", "第2章 ", "x   "]
LONG = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join).filter(str.strip)


@given(LONG, st.sampled_from([80, 160]))
def test_no_line_is_too_wide_and_none_ends_in_a_space(text: str, width: int) -> None:
    text = text.strip()
    evidence = quote(f"{text}. {text}", text)
    claim = (text, verdict("partial", text, evidence))
    one = made(
        claim,
        ("…", Excluded()),
        (text, LIMITED),
        qid=text,
        chunks=[Chunk(chunk_id="a#1", text=f"{text}. {text}")],
        citations=[cited("[1]", text, CitationStatus.DANGLING, text)],
    )
    *lines, signature = shown(one, width).splitlines()
    assert signature == f"made by {SIGNATURE}"
    *both, _, _ = shown(compared(claim), width).splitlines()
    for line in (*lines, *both):
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_a_name_and_a_signature_are_never_cut_or_broken() -> None:
    qid, signature = "甲" * 100, "llm:" + "word " * 60 + "end"
    text = shown(made(("One.", verdict("full")), qid=qid, signature=signature))
    assert text.replace("\n", "").startswith(qid)
    assert text.splitlines()[-1].endswith(signature)


EVERY: dict[str, Piece] = {
    "✓+": ("Rooms cost 600.", verdict("full", "", quote("共十元。", "十元"))),
    "◐~": ("Suites cost 900 in May.", verdict("partial", "no month given")),
    "≠!": ("早餐另付。", verdict("contradicted")),
    "✗x": ("Pets stay free.", verdict("none")),
    "?": ("Parking is free.", LIMITED),
    "·.": ("So be it.", verdict("no_claim")),
}


@pytest.mark.parametrize(("encoding", "place"), [("utf-8", 0), ("gbk", -1)])
def test_a_terminal_that_is_not_utf_gets_plain_marks(encoding: str, place: int) -> None:
    one = made(*EVERY.values(), chunks=[Chunk(chunk_id="a#1", text="共十元。")])
    lines = shown(one, encoding=encoding).splitlines()
    for number, marks in enumerate(EVERY, start=1):
        assert any(line.startswith(f"{marks[place]}{number}  ") for line in lines), marks
    # The legend explains each mark once.
    assert [each.split()[0] for each in lines[-2].split("  ")] == [
        marks[place] for marks in ("✓+", "◐~", "✗x", "≠!", "?", "·.")
    ]
    assert ("«十元»" in "".join(lines)) == (encoding == "utf-8")
