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
from tests.compared import compared, comparison
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
    colour: bool = False,
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
        colour=colour,
        lang=lang,
    )


def numbers(text: str) -> dict[str, str]:
    """The mean of each row of the first table."""
    table = text[text.index(" ───") :].partition("\n\n")[0].splitlines()[1:]
    rows = [line.replace("–", " – ").split("  ") for line in table]
    found = [[each.strip() for each in row if each.strip()] for row in rows]
    return {row[0]: row[1] for row in found if len(row) > 1}


# Answers, and means by hand: a failure is in no mean, and a fallback has a row of its own.
MEANS: list[tuple[list[SampleResult], dict[str, str]]] = [
    (
        [answer(FULL, NONE, qid="a"), answer(llm("partial"), qid="b"), answer(qid="c")],
        {"faithfulness": "0.500", "strict (full only)": "0.250", "contradicted": "0.000"},
    ),
    ([answer(FULL, llm("partial"), NONE, TIMEOUT)], {"faithfulness": "0.500"}),
    (
        [answer(FULL, NONE, similar(0.9, TIMEOUT))],
        {"faithfulness": "0.500", "with fallback": "0.667"},
    ),
    ([answer(similar(0.9), similar(0.25), signature=SIMILARITY)], {"looks supported": "0.500"}),
    ([answer(TIMEOUT)], {"faithfulness": "–"}),
]


@pytest.mark.parametrize(("results", "means"), MEANS)
def test_the_means_by_hand(results: list[SampleResult], means: dict[str, str]) -> None:
    found = numbers(printed(*results))
    assert {name: found[name] for name in means} == means
    assert ("with fallback" in found) == ("with fallback" in means)
    assert ("faithfulness" in found) == ("faithfulness" in means)


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


def test_the_worst_come_first() -> None:
    outcomes = (NONE, llm("contradicted", "it says\nC"), llm("partial"))
    lines = printed(
        answer(*outcomes, texts={0: "房费\n六百。"}, qid="题 1"), width=400
    ).splitlines()
    marks = [line[0] for line in lines[lines.index("Faithfulness") :] if line[:1] in tuple("≠✗◐✓")]
    assert marks == ["≠", "✗", "◐"]
    assert "    it says C" in lines
    assert "✗ none  题 1  房费 六百。" in lines


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    result = answer(llm("none", HOSTILE), qid=HOSTILE, signature=HOSTILE, texts={0: HOSTILE})
    text = printed(result, folder=Path(HOSTILE), width=300)
    # The sentence, its qid and reason, as a finding and among the worst; the signature; the folder
    # three times; the qid in the command.
    assert text.count(LITERAL) == 11
    assert not set(text) & set("\x1b\x07\u202e")


def test_colours() -> None:
    outcomes = (NONE, llm("contradicted"), llm("partial"), TIMEOUT, TIMEOUT, TIMEOUT)
    gates = ["faithfulness=0.1", "faithfulness=0.9"]
    text = printed(answer(*outcomes), gates=gates, colour=True)
    for tint, words in {
        "31": "✗ none",
        "1;35": "≠ contradicted",
        "33": "◐ partial",
        "32": "gate faithfulness >= 0.1",
        "1;31": "gate faithfulness >= 0.9",
    }.items():
        assert f"\x1b[{tint}m{words}" in text


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


@pytest.mark.parametrize(
    ("chunks", "reference", "told"),
    [
        ("???", "f", ["faithfulness"]),
        ("f", "???", ["correctness"]),
        ("???", "???", ["faithfulness", "correctness"]),
        ("f", "f", []),
    ],
)
def test_what_is_untrusted_is_named(chunks: str, reference: str, told: list[str]) -> None:
    claims = [FULL if mark == "f" else TIMEOUT for mark in chunks]
    compared = answer(*claims).model_copy(update={"correctness": comparison("f", reference)})
    lines = [line for line in printed(compared, width=200).splitlines() if "untrusted" in line]
    assert [line.split()[-1] for line in lines] == told


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
