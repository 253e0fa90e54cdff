from pathlib import Path

from rich.cells import cell_len

from judge.cli.render.totals import Ended, Wish, print_totals
from judge.messages import LANGS, Lang, Messages
from judge.records import (
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
from judge.reports.worst import Failures, Findings, Worst
from judge.scores.answer import aggregate
from judge.scores.totals import summarize
from tests.paged import paged

PLAIN = Wish()
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
QUOTE = Evidence(chunk_id="a#1", quote="Dogs are\nbanned.")


def said(support: str, reason: str = "", score: float | None = None, **more: object) -> Verdict:
    source = "llm" if score is None else "similarity"
    given = {"support": support, "reason": reason, "score": score, "source": source}
    return Verdict.model_validate(given | {"signature": f"{source}:x"} | more)


def answer(
    qid: str,
    *claims: tuple[str, JudgeOutcome],
    cites: tuple[tuple[int, str], ...] = (),
    flags: tuple[Flag, ...] = (),
    signature: str = "llm:x",
) -> SampleResult:
    sentences = [
        Sentence(index=i, start=i, end=i + 1, text=text) for i, (text, _) in enumerate(claims)
    ]
    citations = [
        Citation(sentence=i, marker="[9]", start=i, end=i, chunk_id=None, status=CitationStatus(s))
        for i, s in cites
    ]
    outcomes = dict(enumerate(outcome for _, outcome in claims))
    result = aggregate(Sample(qid=qid), sentences, outcomes, citations, signature=signature)
    return result.model_copy(update={"flags": flags})


def printed(*results: SampleResult, wish: Wish = PLAIN, lang: Lang = "en") -> list[str]:
    findings, worst, failures = Findings(), Worst(wish.kept), Failures()
    for result in results:
        findings.add(result)
        worst.add(result)
        failures.add(result)
    ended = Ended(findings.found, worst.sentences(), failures.first)
    summary = summarize(results)
    return paged(
        lambda page: print_totals(summary, ended, Path("run"), page, wish), lang=lang
    ).splitlines()


RUN = (
    answer(
        "q1",
        ("Cats fly.", said("none", "no cats there")),
        ("Dogs are allowed.", said("contradicted", "banned", evidence=(QUOTE,))),
        ("It costs 9 euros.", said("full")),
        cites=((0, "dangling"), (0, "unsupported"), (1, "valid")),
    ),
    answer("q2", ("Cows fly.", said("none")), ("Pigs fly.", said("none"))),
)


def test_findings_stand_first_each_with_its_count_and_an_example() -> None:
    lines = printed(*RUN)
    assert lines[: lines.index("")] == [
        "Findings in 5 claims of 2 answers",
        "  invented          3 claims in 2 answers: the chunks do not say it",
        "    ✗ none  q1  Cats fly.",
        "        no cats there",
        "  contradicted      1 claim in 1 answer: the chunks say otherwise",
        "    ≠ contradicted  q1  Dogs are allowed.",
        "        banned",
        "        a#1  «Dogs are banned.»",
        "  bad citations     2 of 3 citations in 1 answer: 1 unsupported, 1 dangling",
        "    ✗ none  q1  Cats fly.",
        "        cites [9] dangling",
    ]
    assert lines.index("Faithfulness") > lines.index("")
    assert not [line for line in lines if line.startswith(("  claims", "Unsupported"))]


def test_in_chinese_all_but_the_text_of_the_answer_and_its_reasons() -> None:
    lines = printed(*RUN, lang="zh")
    assert lines[: lines.index("")] == [
        "发现的问题（2 篇回答，5 条论断）",
        "  无依据      2 篇回答中共 3 条论断：片段中没有",
        "    ✗ 不支持  q1  Cats fly.",
        "        no cats there",
        "  与片段矛盾  1 篇回答中共 1 条论断：片段的说法不同",
        "    ≠ 矛盾  q1  Dogs are allowed.",
        "        banned",
        "        a#1  «Dogs are banned.»",
        "  引用有误    1 篇回答中，3 处引用里有 2 处：不支持 1、无此片段 1",
        "    ✗ 不支持  q1  Cats fly.",
        "        引用 [9] 无此片段",
    ]
    assert all(cell_len(line) <= 80 for line in lines)
    # Names of files and of what the records hold stay; no English sentence does.
    table = lines[lines.index("") :]
    words = [word for line in table for word in line.split() if word.isascii() and word.isalpha()]
    assert set(words) <= {"judge", "show", "run", "zh"}


def test_the_example_is_the_least_probable_and_of_the_runs_own_judge() -> None:
    instead = said("none", score=0.1, fallback_from=TIMEOUT)
    results = (
        answer("a", ("A", said("none", score=0.5)), ("B", said("none", score=0.2))),
        answer("b", ("C", said("none", score=0.2)), ("D", instead)),
    )
    lines = printed(*results)
    assert lines[1:3] == [
        "  invented          3 claims in 2 answers: the chunks do not say it",
        "    ✗ none 0.200  a  B",
    ]
    assert "  unscored          1: 1 timeout; 1 of them answered by the fallback" in lines


def test_what_is_not_there_is_said_to_be_none_or_left_out() -> None:
    nothing = ["  invented          none", "  contradicted      none"]
    lines = printed(answer("a", ("A", said("full"))))
    assert lines[1:4] == [*nothing, ""]
    lines = printed(answer("a", ("A", said("partial")), cites=((0, "valid"),)))
    assert lines[1:4] == [
        *nothing,
        "  partly supported  1 claim in 1 answer: the chunks say only a part of it",
    ]
    assert "  bad citations     none" in lines
    lines = printed(answer("a", ("A", TIMEOUT), cites=((0, "unjudged"),)))
    assert lines[:2] == ["Findings in 0 claims of 1 answer", "  no claim was judged"]
    assert nothing[0] not in lines
    assert "  unscored          1: 1 timeout" in lines


def test_similarity_says_what_it_cannot_see_and_a_language_model_does_not() -> None:
    rows: dict[str, tuple[Lang, bool]] = {
        "similarity:x": ("en", True),
        "similarity:y": ("zh", True),
        "llm:x": ("en", False),
    }
    for made, (lang, blind) in rows.items():
        verdict = said("full", score=0.9 if blind else None)
        text = "".join(printed(answer("a", ("A", verdict), signature=made), lang=lang))
        assert ("inference" in text or "推理" in text) is blind
        assert ("What looks wrong" in text or "看起来有问题" in text) is blind


def test_other_flags_are_told_of_in_a_line() -> None:
    flags = (Flag(name=FlagName.INJECTION_SUSPECTED), Flag(name=FlagName.NO_CHUNKS))
    text = " ".join(printed(answer("a", ("A", said("full")), flags=flags)))
    assert "also flagged: 1 injection_suspected; judge show RUN --flag NAME" in text


def test_no_text_of_an_answer_is_printed_where_none_of_the_worst_is_wanted() -> None:
    text = "\n".join(printed(*RUN, wish=Wish(worst=0)))
    assert "  invented          3 claims in 2 answers" in text
    assert "fly" not in text
    assert "q1" not in text
    text = "\n".join(printed(*RUN, wish=Wish(worst=1)))
    assert "\n≠ contradicted  q1  Dogs are allowed.\n    banned\n" in text


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
            for lang in LANGS:
                assert texts(f"{group}.{name}", lang)
