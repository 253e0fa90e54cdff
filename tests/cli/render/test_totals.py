"""The totals of a run on the terminal: their numbers and layout, and that no text steers it.

What is said in which words: `tests/golden/score.*.txt`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from judge.cli.render.totals import Highlights, Wanted, print_totals
from judge.messages import LANGS, Lang, Messages
from judge.records import (
    Call,
    Citation,
    CitationStatus,
    CorrectnessStatus,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Status,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.reports.gate import Gates
from judge.scores.answer import aggregate
from judge.scores.totals import summarize
from tests.compared import compared
from tests.paged import paged

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
LIMITED = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up\nafter 60 s")
LLM = "llm:some-model@api.example.org|prompt:faithfulness-v1@b90c7437|json_schema|t:0|seed:7|n:16"
SIMILARITY = "similarity:lexical-v1|prior:0.9|t:0.8712"
HOSTILE = "[bold]x[/bold] [red] [/] :smile: \x1b[31mred\x07\u202e"
LITERAL = "[bold]x[/bold] [red] [/] :smile: ␛[31mred"


def llm(support: str, reason: str = "", *evidence: Evidence) -> Verdict:
    fields = {"support": support, "reason": reason, "evidence": evidence, "source": "llm"}
    return Verdict.model_validate(fields | {"signature": LLM})


def similar(score: float, failure: Unscored | None = None) -> Verdict:
    return Verdict(
        support=Support.FULL if score > 0.5 else Support.NONE,
        source="similarity",
        score=score,
        signature=SIMILARITY,
        fallback_from=failure,
    )


FULL, NONE = llm("full"), llm("none")


def answer(
    *outcomes: JudgeOutcome,
    qid: str = "q",
    signature: str = LLM,
    texts: Mapping[int, str] | None = None,
    others: Sequence[SentenceKind] = (),
    citations: Sequence[CitationStatus] = (),
    flags: Sequence[FlagName] = (),
    calls: Sequence[Call] = (),
) -> SampleResult:
    kinds = (*[SentenceKind.CLAIM] * len(outcomes), *others)
    sentences = [
        Sentence(index=i, start=i, end=i + 1, text=(texts or {}).get(i, "A."), kind=kind)
        for i, kind in enumerate(kinds)
    ]
    cited = [
        Citation(
            sentence=0,
            marker="[1]",
            start=0,
            end=1,
            chunk_id=None if status is CitationStatus.DANGLING else "a",
            status=status,
        )
        for status in citations
    ]
    return aggregate(
        Sample(qid=qid),
        sentences,
        dict(enumerate(outcomes)),
        cited,
        flags=[Flag(name=name) for name in flags],
        calls=calls,
        signature=signature,
    )


def printed(
    *results: SampleResult,
    gates: Sequence[str] = (),
    strict: bool = False,
    folder: Path = Path("runs/today"),
    width: int = 80,
    wanted: Wanted | None = None,
    lang: Lang = "en",
) -> str:
    wanted = wanted or Wanted(details=True)
    highlights = Highlights(wanted.kept)
    for result in results:
        highlights.add(result)
    summary = Gates.read({"least": gates}, strict=strict).hold(summarize(results))
    return paged(
        lambda page: print_totals(summary, highlights, folder, page, wanted),
        width,
        lang=lang,
    )


def test_the_example_of_a_finding_is_the_least_probable_of_the_runs_own_judge() -> None:
    """And no text of an answer is printed where none of the worst is wanted."""
    results = (
        answer(similar(0.5), similar(0.2), qid="a", texts={0: "First.", 1: "Second."}),
        answer(similar(0.2), similar(0.1, TIMEOUT), qid="b", texts={0: "Third.", 1: "Fourth."}),
    )
    found = printed(*results).partition("\n\n")[0]
    assert [name for name in ("First", "Second", "Third", "Fourth") if name in found] == ["Second"]
    bare = printed(*results, wanted=Wanted(worst=0))
    assert not [name for name in ("First", "Second", "Third", "Fourth") if name in bare]


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    result = answer(llm("none", HOSTILE), qid=HOSTILE, signature=HOSTILE, texts={0: HOSTILE})
    text = printed(result, folder=Path(HOSTILE), width=300)
    # The sentence, its qid and reason, as a finding and among the worst; the signature; the folder
    # three times; the qid in the command.
    assert text.count(LITERAL) == 11
    assert not set(text) & set("\x1b\x07\u202e")


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("lang", LANGS)
def test_no_line_is_too_wide_and_none_ends_in_a_space(width: int, lang: Lang) -> None:
    texts = {0: "差旅住宿每晚不超过六百元，" * 12, 1: "Rooms cost at most 600 yuan a night " * 5}
    long = "第" * 50 + " because the passage says nothing about it " * 3
    call = Call(model="m-1", prompt_tokens=1, reply_tokens=1, seconds=0.1)
    text = printed(
        answer(
            llm("none", long),
            llm("contradicted", long, Evidence(chunk_id=long, quote=long)),
            *[TIMEOUT] * 3,
            LIMITED,
            *[FULL] * 4,
            *[similar(0.2, TIMEOUT)] * 1000,
            texts=texts,
            qid="zh-very-long-name-of-an-answer-" * 4,
            others=[kind for kind in SentenceKind if kind is not SentenceKind.CLAIM],
            citations=[status for status in CitationStatus for _ in range(9)],
            flags=list(FlagName),
            calls=[call, call.model_copy(update={"model": "m-2", "retries": 2, "cached": True})],
        ),
        *(compared(f"q{i}", "fpnc-?yN" * 40, "fpnc-?yNh" * 40) for i in range(3)),
        gates=["citation_validity=0.123456", "faithfulness=1"],
        strict=True,
        width=width,
        lang=lang,
    )
    copied = (
        *("made by ", "correctness made by", "written to ", "look closer: "),
        *("评判方式", "正确性评判方式", "结果写入", "细看一条"),
    )
    for line in text.splitlines():
        assert line == line.rstrip()
        assert cell_len(line) <= width or line.startswith(copied)


def test_what_is_copied_is_never_broken() -> None:
    folder = Path("a folder/" * 30)
    lines = printed(answer(NONE, signature=LLM * 3), folder=folder, wanted=Wanted()).splitlines()
    assert lines[-5].endswith(LLM * 3)
    assert lines[-4].endswith(str(folder))
    assert lines[-3].endswith(f"judge show '{folder}' q")
    assert lines[-2].endswith(f"judge show '{folder}' --worst 20")


def test_every_name_of_the_records_has_a_word_in_both_languages() -> None:
    groups = {
        "label": [*Support, "unscored", "excluded"],
        "status": [*Status],
        "citation": [*CitationStatus],
        "kind": [kind for kind in SentenceKind if kind is not SentenceKind.CLAIM],
        "compared": [*CorrectnessStatus],
        "unscored": [*UnscoredReason],
        "flag": [*FlagName],
    }
    texts = Messages.of("looks")
    for group, names in groups.items():
        for name in names:
            assert all(texts(f"{group}.{name}", lang) for lang in LANGS)
