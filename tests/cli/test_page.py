"""Answers and totals on the terminal: no text from outside steers it, and no line is too wide.

Golden files in `tests/golden/` hold the words.
"""

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from judge.cli.render.agreement import print_agreement
from judge.cli.render.answers import print_answer
from judge.cli.render.totals import print_totals
from judge.cli.terminal import Page
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
from judge.records.run import RunInput, RunRecord
from judge.reports.worst import Highlights
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness
from judge.scores.totals import summarize
from tests.pages.agreements import HOSTILE as HOSTILE_LABELS
from tests.pages.agreements import SIMILARITY, of_run

Piece = tuple[str, JudgeOutcome | Excluded]
Made = tuple[SampleResult, Sample]
Show = Callable[[Page], None]
LIMITED = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up\nafter 60 s")
SIGNATURE = "llm:some-model@api.example.org|prompt:faithfulness-v1@b90c7437|json_schema|t:0|seed:7"
HOSTILE = "[bold]x[/bold] [red] [/] :smile: \x1b[31mred\x07\r\u202eabc\x9b2J"
LITERAL = "[bold]x[/bold] [red] [/] :smile: ␛[31mred"
STEERING = set("\x1b\x07\r\u202e\x9b")


def paged(show: Show, width: int = 80, *, colour: bool = False) -> str:
    """Return the output for a terminal of this width, with or without escape sequences."""
    console = Console(
        file=io.StringIO(),
        width=width,
        highlight=False,
        force_terminal=colour,
        color_system="standard" if colour else None,
    )
    with console.capture() as shown:
        show(Page(console))
    return shown.get()


def verdict(support: str, reason: str = "", *evidence: Evidence) -> Verdict:
    fields = {"support": support, "reason": reason, "evidence": evidence, "source": "llm"}
    return Verdict.model_validate(fields | {"signature": SIGNATURE})


def made(
    *pieces: Piece,
    citations: Sequence[Citation] = (),
    chunks: Sequence[Chunk] = (),
    qid: str = "q_001",
    signature: str = SIGNATURE,
) -> Made:
    """Return an answer made of pieces and their outcomes, and its sample."""
    sentences: list[Sentence] = []
    start = 0
    for index, (text, outcome) in enumerate(pieces):
        kind = SentenceKind.HEADING if isinstance(outcome, Excluded) else SentenceKind.CLAIM
        end = start + len(text)
        sentences.append(Sentence(index=index, start=start, end=end, text=text, kind=kind))
        start = end + 1
    outcomes = {i: o for i, (_, o) in enumerate(pieces) if not isinstance(o, Excluded)}
    answer = " ".join(text for text, _ in pieces)
    sample = Sample(
        qid=qid, query="How much?", answer=answer, chunks=tuple(chunks), gold_answer=answer
    )
    return aggregate(sample, sentences, outcomes, citations, signature=signature), sample


def with_reference(one: Made, signature: str = "other") -> Made:
    """Return the answer compared with a reference of the same words and outcomes."""
    result, sample = one
    outcomes = {s.index: s.outcome for s in result.sentences if not isinstance(s.outcome, Excluded)}
    both = Judgment(outcomes=outcomes), Judgment(outcomes=outcomes)
    fields = (each.model_dump(exclude={"outcome"}) for each in result.sentences)
    reference = [Sentence.model_validate(each) for each in fields]
    found = correctness(result.sentences, reference, *both, signature=signature)
    return result.model_copy(update={"correctness": found}), sample


def answered(one: Made) -> Show:
    return lambda page: print_answer(*one, page)


RECORD = RunRecord(
    signature="s",
    config={},
    versions={},
    input=RunInput(path="in.jsonl", sha256="", samples=1),
    started="2026-01-01T00:00:00+00:00",
)


def totals(result: SampleResult, folder: Path) -> Show:
    highlights = Highlights()
    highlights.add(result)
    summary = summarize([result])
    return lambda page: print_totals(summary, RECORD, highlights, folder, page, details=True)


def quote(text: str, part: str, name: str = "a#1") -> Evidence:
    start = text.index(part)
    return Evidence(chunk_id=name, quote=part, start=start, end=start + len(part), verified=True)


def cited(marker: str, chunk_id: str, status: str, suggested: str = "") -> Citation:
    fields = {"sentence": 0, "marker": marker, "start": 0, "end": 1, "chunk_id": chunk_id}
    return Citation.model_validate(fields | {"status": status, "suggested": suggested or None})


def hostile() -> Made:
    lost = Evidence(chunk_id=HOSTILE, quote=HOSTILE)
    return made(
        (HOSTILE, verdict("none", HOSTILE, quote(HOSTILE, HOSTILE, HOSTILE), lost)),
        (f"{HOSTILE}!", Unscored(reason=UnscoredReason.MALFORMED, detail=HOSTILE)),
        qid=HOSTILE,
        chunks=[Chunk(chunk_id=HOSTILE, text=HOSTILE + HOSTILE)],
        citations=[cited(f"[{HOSTILE}]", HOSTILE, "valid", HOSTILE)],
        signature=HOSTILE,
    )


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    one = hostile()
    both, whole = with_reference(one, HOSTILE), totals(one[0], Path(HOSTILE))
    for show in (answered(one), answered(both), whole):
        text = paged(show, 300)
        assert text.count(LITERAL) == text.count("smile") >= 9
        # Only our own escape sequences for colours are printed.
        tinted = re.sub(r"\x1b\[[0-9;]*m", "", paged(show, colour=True))
        assert not (set(text) | set(tinted)) & STEERING


def test_a_name_cannot_fake_a_line() -> None:
    fake = "a\n✓9   full"
    claim = ("One.", verdict("none", fake, Evidence(chunk_id=fake, quote=fake)))
    one = made(
        claim, qid=fake, citations=[cited(fake, "b", "unsupported", fake)], signature=f"llm:{fake}"
    )
    text = paged(answered(one), 300)
    assert text.count("a ✓9 full") == 7
    assert not any(line.strip().startswith("✓9") for line in text.splitlines())


PIECES = ["报销须在十五天内提交，", "逾期不予受理。", "under the rules ", "a" * 5, "[1]"]
PIECES += ["\ttab\tbed ", "\n", "\n\n- item ", "第2章 ", "x   "]
LONG = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join).filter(str.strip)


@given(LONG, st.sampled_from([80, 160]))
def test_no_line_of_an_answer_is_too_wide(text: str, width: int) -> None:
    text = text.strip()
    claim = (text, verdict("partial", text, quote(f"{text}. {text}", text)))
    one = made(
        claim,
        ("…", Excluded()),
        (text, LIMITED),
        qid=text,
        chunks=[Chunk(chunk_id="a#1", text=f"{text}. {text}")],
        citations=[cited("[1]", text, CitationStatus.DANGLING, text)],
    )
    *lines, signature = paged(answered(one), width).splitlines()
    assert signature == f"made by {SIGNATURE}"
    *both, _, _ = paged(answered(with_reference(made(claim))), width).splitlines()
    for line in (*lines, *both):
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_what_is_copied_is_never_cut_or_broken() -> None:
    qid, signature = "甲" * 100, "llm:" + "word " * 60 + "end"
    one = made(("One.", verdict("none")), qid=qid, signature=signature)
    text = paged(answered(one))
    assert text.replace("\n", "").startswith(qid)
    assert text.splitlines()[-1].endswith(signature)
    folder = Path("a folder/" * 30)
    lines = paged(totals(one[0], folder)).splitlines()
    assert lines[-4].endswith(signature)
    assert lines[-3].endswith(str(folder))
    assert lines[-2].endswith(f"judge show '{folder}'")
    assert lines[-1].endswith(f"judge show '{folder}' --worst 20")


def test_hostile_disagreements_steer_nothing() -> None:
    summary = of_run(SIMILARITY)
    for width in (80, 30):
        text = paged(lambda page: print_agreement(HOSTILE_LABELS, summary, Path(), page), width)
        assert not set(text) & (STEERING | set("\u2066\x00\ud800"))
        shown = [line for line in text.splitlines() if line.startswith("  judge ")]
        assert len(shown) == 2
        assert all(cell_len(line) <= width for line in shown)
