from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from judge.cli.render.quadrants import print_quadrants
from judge.cli.render.totals import Ended, Wish, print_totals
from judge.messages import Lang
from judge.records import (
    Call,
    Citation,
    CitationStatus,
    Flag,
    FlagName,
    JudgeOutcome,
    Quadrant,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Summary,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.reports.gate import Gates
from judge.reports.worst import Failures, Findings, Worst
from judge.scores.answer import aggregate
from judge.scores.totals import summarize
from tests.compared import compared, comparison
from tests.paged import paged

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
DETAILS = Wish(details=True)
LLM = "llm:some-model@api.example.org|prompt:faithfulness-v1@b90c7437|json_schema|t:0|seed:7|n:16"
SIMILARITY = "similarity:lexical-v1|prior:0.9"
SIMILARITY_TITLE = "Share of sentences that look supported (similarity)"
HOSTILE = "[bold]x[/bold] [red] [/] :smile: \x1b[31mred\x07\u202e"
LITERAL = "[bold]x[/bold] [red] [/] :smile: ␛[31mred"


def llm(support: Support, reason: str = "") -> Verdict:
    return Verdict(support=support, reason=reason, source="llm", signature=LLM)


def similar(score: float, failure: Unscored | None = None) -> Verdict:
    return Verdict(
        support=Support.FULL if score > 0.5 else Support.NONE,
        source="similarity",
        score=score,
        signature=SIMILARITY,
        fallback_from=failure,
    )


FULL, NONE = llm(Support.FULL), llm(Support.NONE)


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
    cached: bool = False,
    wish: Wish = DETAILS,
    lang: Lang = "en",
) -> str:
    findings, worst, failures = Findings(), Worst(wish.kept), Failures()
    for result in results:
        findings.add(result)
        worst.add(result)
        failures.add(result)
    summary: Summary = Gates.read({"least": gates}, strict=strict).hold(summarize(results))
    ended = Ended(findings.found, worst.sentences(), failures.first, cached)
    return paged(
        lambda page: print_totals(summary, ended, folder, page, wish),
        width,
        colour=colour,
        lang=lang,
    )


def row(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return line.strip().removeprefix(name).split()


CALL = Call(model="m-1", prompt_tokens=1, reply_tokens=1, seconds=0.1)
OTHER = CALL.model_copy(update={"model": "m-2"})
LIMITED = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up\nafter 60 s")
KINDS = [kind for kind in SentenceKind if kind is not SentenceKind.CLAIM]
UNTRUSTED = answer(*[FULL] * 5, *[TIMEOUT] * 3)
FALLEN = answer(FULL, NONE, similar(0.9, TIMEOUT))
MIXED = answer(signature="llm:m@h|t:0|fallback:similarity:x|prior:0.9|t:0.8712|judge:1")
# What is printed of some results: what stands there, white space squeezed, and what does not.
PRINTED: list[tuple[str, list[SampleResult], list[str], list[str]]] = [
    (
        "what a language model measured is faithfulness",
        # Answers: 1/2 and 1/2, strictly 1/2 and 0. Pooled: 1, 0 and 1/2, strictly 1, 0 and 0.
        [answer(FULL, NONE, qid="a"), answer(llm(Support.PARTIAL), qid="b"), answer(qid="c")],
        [
            *("Faithfulness", "faithfulness 0.500", "0.500 2 3 sentences"),
            *("strict (full only) 0.250", "0.333 2 3 sentences", "contradicted 0.000"),
            "Unsupported sentences, worst first",
        ],
        ["similar"],
    ),
    (
        "what similarity measured is not",
        [answer(similar(0.9), similar(0.25), signature=SIMILARITY)],
        [
            *(SIMILARITY_TITLE, "looks supported 0.500", "✗ none 0.250 q A."),
            "Sentences that look unsupported, worst first",
        ],
        ["aithful"],
    ),
    ("failures by a model", [answer(TIMEOUT, TIMEOUT)], ["Faithfulness"], [SIMILARITY_TITLE]),
    (
        "a fallback alone",
        [answer(similar(0.9, TIMEOUT), similar(0.2, TIMEOUT))],
        ["Faithfulness"],
        [SIMILARITY_TITLE],
    ),
    ("similarity, and no claims", [answer(signature=SIMILARITY)], [SIMILARITY_TITLE], []),
    (
        "bounds by hand; one failure is an accident",
        [answer(FULL, llm(Support.PARTIAL), NONE, TIMEOUT)],
        [
            *("faithfulness 0.500", "strict (full only) 0.333", "unscored 1: 1 timeout such"),
            "failures 0, then 1 0.375–0.625 1",
        ],
        ["untrusted"],
    ),
    (
        "a fallback is a row of its own",
        [FALLEN],
        [
            *("faithfulness 0.500", "with fallback 0.667"),
            "unscored 1: 1 timeout; 1 of them answered by the fallback",
        ],
        [],
    ),
    ("no fallback", [answer(FULL, NONE)], ["faithfulness 0.500"], ["with fallback"]),
    (
        "an untrusted run, of which nothing was kept",
        [UNTRUSTED],
        ["untrusted: 37.5 % of the claims have no verdict"],
        ["--force"],
    ),
    (
        "a failure of each reason",
        [answer(FULL, LIMITED, TIMEOUT), answer(LIMITED, qid="b")],
        [
            "unscored 3: 2 rate limited, 1 timeout such as rate limited, q: gave up",
            "after 60 s such as timeout, q: Faithfulness",
        ],
        [],
    ),
    (
        "a fallback's verdict is named in the list",
        [answer(NONE, similar(0.1, TIMEOUT))],
        ["✗ none q", "✗ none 0.100 (fallback: similarity) q"],
        [],
    ),
    (
        "nothing to measure is no zero, and what went wrong is there to be seen",
        [answer(TIMEOUT)],
        ["faithfulness – 0", "look closer: judge show runs/today"],
        [],
    ),
    ("no claims", [answer(others=[SentenceKind.HEADING])], [], ["look closer"]),
    (
        "one of a kind",
        [answer(FULL, citations=[CitationStatus.VALID])],
        ["1 1 sentence strict", "1 1 citation citation"],
        [],
    ),
    ("no citations", [answer(FULL)], ["citations 0"], ["citation recall"]),
    ("one model", [answer(FULL, calls=[CALL, CALL])], ["calls 2 sent, 0"], ["models"]),
    ("two models", [answer(FULL, calls=[CALL, OTHER, CALL])], ["models 2: 2 m-1, 1 m-2"], []),
    (
        "the threshold of similarity",
        [answer(similar(0.25), signature="similarity:x|t:0.8712")],
        ["worst first (full from 0.871) ✗ none 0.250"],
        [],
    ),
    ("a fallback's threshold", [MIXED], ["Faithfulness"], ["full from"]),
]


def test_what_is_printed_of_results() -> None:
    wrong = []
    for label, results, says, lacks in PRINTED:
        text = " ".join(printed(*results).split())
        wrong += [(label, said) for said in says if said not in text]
        wrong += [(label, said) for said in lacks if said in text]
    assert wrong == []
    kept = " ".join(printed(UNTRUSTED, cached=True).split())
    assert "--force the same command asks again only for what failed" in kept
    wide = printed(answer(FULL, others=KINDS), width=70)
    assert "  not claims  6: 1 question, 1 heading, 1 abstention, 1 pleasantry, 1\n" in wide
    assert "              meta, 1 code\n" in wide


def test_gates() -> None:
    result = answer(FULL, NONE, qid="a")
    text = printed(result, gates=["faithfulness=0.4", "faithfulness_strict=0.9"])
    assert "gate faithfulness >= 0.4: 0.500 (mean over answers), passed\n" in text
    assert "gate faithfulness_strict >= 0.9: 0.500 (mean over answers), failed\n" in text
    text = printed(answer(TIMEOUT), gates=["citation_validity=1"])
    assert "gate citation_validity >= 1: – (nothing to measure), unmeasured\n" in text
    strict = printed(result, gates=["faithfulness=0.4"], strict=True)
    assert "(lower limit, failures counted 0), failed\n" in strict
    chinese = printed(result, gates=["faithfulness=0.4"], lang="zh")
    assert "门槛 faithfulness >= 0.4：0.500（各回答平均），通过\n" in chinese
    chinese = printed(result, gates=["faithfulness=0.4"], strict=True, lang="zh")
    assert "（区间下限，失败计 0），未通过\n" in chinese
    chinese = printed(answer(TIMEOUT), gates=["citation_validity=1"], lang="zh")
    assert "门槛 citation_validity >= 1：–（无可测量），未测\n" in chinese


def test_the_counts() -> None:
    sent = Call(model="m", prompt_tokens=1, reply_tokens=1, seconds=0.1)
    text = printed(
        answer(FULL, llm(Support.NO_CLAIM), others=[SentenceKind.HEADING, SentenceKind.CODE]),
        answer(
            FULL,
            qid="b",
            citations=[CitationStatus.VALID, CitationStatus.VALID, CitationStatus.DANGLING],
            flags=[FlagName.INJECTION_SUSPECTED],
            calls=[
                sent,
                sent.model_copy(update={"prompt_tokens": 1200, "retries": 2}),
                sent.model_copy(update={"cached": True}),
                Call(model="", prompt_tokens=0, reply_tokens=0, seconds=9.0, retries=1),
            ],
        ),
        answer(qid="c", others=[SentenceKind.ABSTENTION]),
    )
    for line in (
        "  answers     3: 1 abstained, 2 scored",
        "  claims      3: 2 full, 1 no claim",
        "  not claims  3: 1 heading, 1 abstention, 1 code",
        "  citations   3: 2 valid, 1 dangling",
        "  flags       1: 1 injection_suspected",
        "  calls       3 sent (and 3 retries), 1 from cache; 1,201 tokens in, 2 out",
    ):
        assert line in text.splitlines()
    assert row(text, "citation validity")[0] == "0.667"


def test_the_worst_come_first_with_their_reasons() -> None:
    texts = {0: "房费\n六百。", 1: "B.", 2: "x" * 200}
    outcomes = (NONE, llm(Support.CONTRADICTED, "it says\nC"), llm(Support.PARTIAL))
    text = printed(answer(*outcomes, texts=texts, qid="题 1"), width=400)
    lines = text.splitlines()
    first = lines.index("Unsupported sentences, worst first") + 1
    assert lines[first : first + 4] == [
        "≠ contradicted  题 1  B.",
        "    it says C",
        "✗ none  题 1  房费 六百。",
        f"◐ partial  题 1  {'x' * 159}…",
    ]
    assert "look closer: judge show runs/today '题 1'" in lines


def test_text_from_outside_is_printed_as_it_is_and_steers_nothing() -> None:
    result = answer(llm(Support.NONE, HOSTILE), qid=HOSTILE, signature=HOSTILE, texts={0: HOSTILE})
    text = printed(result, folder=Path(HOSTILE), width=300)
    # The sentence, its qid and reason, as a finding and among the worst; the signature; the folder
    # three times; the qid in the command.
    assert text.count(LITERAL) == 11
    assert not set(text) & set("\x1b\x07\u202e")


def test_tints() -> None:
    outcomes = (NONE, llm(Support.CONTRADICTED), llm(Support.PARTIAL), TIMEOUT, TIMEOUT, TIMEOUT)
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
    assert "\x1b[1;31muntrusted" in text


@pytest.mark.parametrize("width", [80, 160])
def test_no_line_is_too_wide_and_none_ends_in_a_space(width: int) -> None:
    texts = {0: "差旅住宿每晚不超过六百元，" * 12, 1: "Rooms cost at most 600 yuan a night " * 5}
    long = "第" * 50 + " because the passage says nothing about it " * 3
    text = printed(
        answer(
            llm(Support.NONE, long),
            llm(Support.CONTRADICTED, long),
            *[TIMEOUT] * 3,
            *[FULL] * 4,
            *[similar(0.2, TIMEOUT)] * 1000,
            texts=texts,
            qid="zh-very-long-name-of-an-answer-" * 4,
            others=KINDS,
            citations=[status for status in CitationStatus for _ in range(9)],
            flags=list(FlagName),
        ),
        *(compared(f"q{i}", "fpnc-?yN" * 40, "fpnc-?yNh" * 40) for i in range(3)),
        gates=["citation_validity=0.123456", "faithfulness=1"],
        strict=True,
        width=width,
    )
    for line in text.splitlines():
        assert line == line.rstrip()
        if not line.startswith(("made by ", "correctness made by", "written to ", "look closer: ")):
            assert cell_len(line) <= width


def test_what_is_copied_is_never_broken() -> None:
    folder = Path("a folder/" * 30)
    lines = printed(answer(NONE, signature=LLM * 3), folder=folder, wish=Wish()).splitlines()
    assert lines[-5:] == [
        f"made by {LLM * 3}",
        f"written to {folder}",
        f"look closer: judge show '{folder}' q",
        f"list more: judge show '{folder}' --worst 20",
        f"counts, flags and cells: --details, or {folder}/summary.json",
    ]


def test_correctness_has_a_table_of_its_own_behind_the_first() -> None:
    """Precision 1 and recall ½ by hand: F1 2/3."""
    text = printed(compared("a", "f", "fn"))
    assert text.index("\n\nFaithfulness\n") < text.index("\n\nCorrectness against")
    assert text.index("\n\nCorrectness against the reference\n") > text.index("  claims ")
    assert row(text, "correctness (F1)")[0] == "0.667"
    lines = text.splitlines()
    assert lines[lines.index("made by s") + 1] == "correctness made by c"
    without = printed(compared("a", "f", "f").model_copy(update={"correctness": None}))
    assert "orrect" not in without


def test_similarity_is_no_judge_of_correctness_either() -> None:
    result = answer(similar(0.9), signature=SIMILARITY)
    text = printed(result.model_copy(update={"correctness": comparison("f", "f")}))
    assert row(text, "looks correct (F1)")[0] == "1.000"
    assert "Correctness against" not in text


@pytest.mark.parametrize("failed", ["by the chunks", "of the reference", "both", "none"])
def test_what_is_untrusted_is_named(failed: str) -> None:
    bad = {"by the chunks": ("???", "f"), "of the reference": ("f", "???"), "both": ("???",) * 2}
    chunks, reference = bad.get(failed, ("f", "f"))
    claims = [FULL if mark == "f" else TIMEOUT for mark in chunks]
    found = comparison("f", reference)
    text = printed(answer(*claims).model_copy(update={"correctness": found}), width=200)
    first = (
        "untrusted: 100.0 % of the claims have no verdict of the run's judge; "
        "do not report faithfulness\n"
    )
    second = (
        "untrusted: 75.0 % of the claims compared with the reference have no verdict of the "
        "run's judge; do not report correctness\n"
    )
    assert (first in text) == (failed in {"by the chunks", "both"})
    assert (second in text) == (failed in {"of the reference", "both"})


def test_a_failure_that_only_the_comparison_met_is_shown_there() -> None:
    late = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up")
    both = answer(late, qid="b").model_copy(update={"correctness": comparison("f", "?f")})
    lines = printed(both).splitlines()
    first, second = (i for i, line in enumerate(lines) if line.startswith("  unscored "))
    assert lines[first + 1] == "  such as           rate limited, b: gave up"
    assert lines[second : second + 2] == [
        "  unscored                1: 1 timeout",
        "  such as                 timeout, b: ".rstrip(),
    ]


def test_the_table_of_cells_stands_before_the_worst_sentences() -> None:
    cell = Quadrant(
        answerable=True,
        retrieved=True,
        abstained=False,
        faithful=False,
        correct=None,
        signature="cells:1|faithful:0.8|correct:0.8|gold:exact",
    )
    result = answer(NONE).model_copy(update={"cell": cell})
    table = paged(lambda page: print_quadrants(summarize([result]), Path("runs/today"), page))
    text = printed(result)
    assert table
    assert table in text
    assert text.index(table) < text.index("Unsupported sentences")


def test_correctness_by_hand() -> None:
    """Precision 1 and ¼, recall ½ and 1: F1 2/3 and 0.4. Pooled: 2/5 and 2/3, so ½ of 8."""
    text = printed(compared("a", "f", "fn"), compared("b", "fnnn", "f"), compared("c", "a", "h"))
    text = text[text.index("\nCorrectness against the reference\n") :]
    found = row(text, "correctness (F1)")
    assert [found[i] for i in (0, 2, 3, 4, 5)] == ["0.533", "0.500", "2", "8", "sentences"]
    assert [row(text, "precision")[i] for i in (0, 2, 4)] == ["0.625", "0.400", "5"]
    assert [row(text, "recall")[i] for i in (0, 2, 4)] == ["0.750", "0.667", "3"]
    assert (
        "  answers                 3: 1 abstained, 2 scored\n"
        "  claims                  8, of answers and references\n"
        "  verdicts on answers     5: 2 full, 3 none\n"
        "  verdicts on references  3: 2 full, 1 none\n"
    ) in text
    assert "failures" not in text
    assert "fallback" not in text


def test_failures_leave_scores_open_and_a_fallback_is_a_row_of_its_own() -> None:
    """Precision 1, or 1/2 to 1; with the fallback 1/2, so F1 2/3 instead of 1."""
    text = printed(compared("a", "fN", "f"))
    assert row(text, "correctness (F1)")[0] == "1.000"
    assert row(text, "F1 with fallback")[0] == "0.667"
    assert text.count("  failures 0, then 1") == 2
    assert "0.667–1.000" in text
    assert "0.500–1.000" in text
    assert "  unscored                1: 1 timeout; 1 of them answered by the fallback\n" in text


def test_claims_without_a_verdict_are_claims() -> None:
    assert (
        "  answers                 1: 1 unscored\n"
        "  claims                  3, of answers and references\n"
        "  verdicts on answers     0\n"
        "  verdicts on references  0\n"
        "  unscored                3: 3 timeout\n"
    ) in printed(compared("a", "??", "?"))


def test_without_any_reference_one_line_says_what_to_do() -> None:
    text = printed(compared("a", "h", ""), compared("b", "h", ""))
    assert "\n\ncorrectness: no answer has a reference" in text
    assert "gold_answer" in " ".join(text.split())
    assert "F1" not in text
    assert "F1" in printed(compared("a", "f", "f"), compared("b", "h", ""))
