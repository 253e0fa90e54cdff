import pytest

from judge.backends.fake import FakeJudge
from judge.compose import offline
from judge.config import Config
from judge.pipeline import asked, evaluate_sample, sign
from judge.records import (
    Chunk,
    CitationStatus,
    Evidence,
    Excluded,
    Flag,
    FlagName,
    JudgeRequest,
    Judgment,
    Rules,
    Sample,
    SentenceKind,
    Status,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

CHUNKS = (
    Chunk(chunk_id="hr#1", text="Employees get 15 days of paid leave a year."),
    Chunk(chunk_id="hr#2", text="Unused leave lapses at the end of March."),
)


def verdict(support: Support, *supporting: str, quote: str = "") -> Verdict:
    evidence = (Evidence(chunk_id=supporting[0], quote=quote),) if quote else ()
    return Verdict(
        support=support, supporting=supporting, evidence=evidence, source="llm", signature="fake"
    )


async def test_the_worked_example() -> None:
    """Full, partial, none, and a timeout: the numbers stand in the design."""
    answer = "Leave is paid. Leave is long. Leave is blue. Leave is short."
    timeout = Unscored(reason=UnscoredReason.TIMEOUT, detail="60 s")
    judge = FakeJudge(
        {
            "Leave is paid.": verdict(Support.FULL),
            "Leave is long.": verdict(Support.PARTIAL),
            "Leave is blue.": verdict(Support.NONE),
            "Leave is short.": timeout,
        }
    )
    result = await evaluate_sample(Sample(qid="1", answer=answer, chunks=CHUNKS), judge, Rules())
    scores = result.scores
    assert scores.faithfulness == pytest.approx(0.5)
    assert scores.faithfulness_strict == pytest.approx(1 / 3)
    assert scores.faithfulness_bounds == pytest.approx((0.375, 0.625))
    assert result.sentences[3].outcome == timeout
    assert scores.unsupported == (1, 2)


async def test_citations_quotes_and_kinds_meet() -> None:
    answer = (
        "## Leave\n\nEmployees get 15 days a year [hr#1]. Unused leave lapses in June [hr#1][9]."
    )
    first, second = (
        "Employees get 15 days a year [hr#1].",
        "Unused leave lapses in June [hr#1][9].",
    )
    judge = FakeJudge(
        {
            first: verdict(Support.FULL, "hr#1", quote="employees get 15 days of paid leave"),
            second: verdict(Support.PARTIAL, "hr#2", quote="leave never ever lapses at all"),
        }
    )
    result = await evaluate_sample(Sample(qid="1", answer=answer, chunks=CHUNKS), judge, Rules())
    assert [s.kind for s in result.sentences] == [
        SentenceKind.HEADING,
        SentenceKind.CLAIM,
        SentenceKind.CLAIM,
    ]
    assert [(c.marker, c.status, c.suggested) for c in result.citations] == [
        ("[hr#1]", CitationStatus.VALID, None),
        ("[hr#1]", CitationStatus.UNSUPPORTED, "hr#2"),
        ("[9]", CitationStatus.DANGLING, "hr#2"),
    ]
    assert result.scores.citation_validity == pytest.approx(1 / 3)
    outcome = result.sentences[1].outcome
    assert isinstance(outcome, Verdict)
    assert outcome.evidence[0].verified
    assert outcome.evidence[0].quote == "Employees get 15 days of paid leave"
    assert [(f.name.value, f.sentence) for f in result.flags] == [("unverified_quote", 2)]
    (request,) = judge.requests
    assert request.ask == (1, 2)
    assert request.cites == {1: (0,), 2: (0,)}


@pytest.mark.parametrize("rules", [Rules(), Rules(prose_citations=True)])
async def test_what_would_be_asked_is_what_is_asked(rules: Rules) -> None:
    answer = "## Leave\n\nIt is paid, see passage 2. 年假15天[hr#1]。 Thank you!"
    sample = Sample(qid="1", query="Leave?", answer=answer, chunks=CHUNKS)
    judge = FakeJudge({})
    await evaluate_sample(sample, judge, rules)
    assert [asked(sample, rules)] == judge.requests
    cited = {1: (1,), 2: (0,)} if rules.prose_citations else {2: (0,)}
    assert (asked(sample, rules).ask, asked(sample, rules).cites) == ((1, 2), cited)


async def test_identical_sentences_are_kept_apart() -> None:
    answer = "It is paid. It is paid. It is paid."
    judge = FakeJudge({"It is paid.": verdict(Support.FULL)})
    result = await evaluate_sample(Sample(qid="1", answer=answer, chunks=CHUNKS), judge, Rules())
    assert [(s.index, s.start) for s in result.sentences] == [(0, 0), (1, 12), (2, 24)]
    assert result.scores.judged == 3


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("", Status.NO_CLAIMS),
        ("  \n\t ", Status.NO_CLAIMS),
        ("The provided passages do not say how many days.", Status.ABSTAINED),
        ("资料中没有提到年假天数。", Status.ABSTAINED),
    ],
)
async def test_without_a_claim_no_judge_is_asked(answer: str, status: Status) -> None:
    judge = FakeJudge({})
    result = await evaluate_sample(Sample(qid="1", answer=answer, chunks=CHUNKS), judge, Rules())
    assert (result.status, judge.requests) == (status, [])
    assert result.scores.faithfulness is None


def test_a_signature_names_the_unusual_rules_only() -> None:
    judge = FakeJudge({}, signature="fake")
    assert sign(judge, Rules()) == "fake"
    assert sign(judge, Rules(prose_citations=True, require_quotes=True)) == (
        "fake|cites:prose|quotes:required"
    )
    one, other = (sign(judge, Rules(citation_pattern=p)) for p in (r"<(\d)>", r"<(\d+)>"))
    assert one != other


class Careless(FakeJudge):
    """Answers for one sentence it was asked about, and for two that it was not."""

    async def judge(self, request: JudgeRequest) -> Judgment:
        full = verdict(Support.FULL)
        return Judgment(outcomes={request.ask[0]: full, 0: full, 99: full})


async def test_an_outcome_that_never_came_stays_in_the_denominator() -> None:
    answer = "## Leave\n\nLeave is paid. Leave is long. Leave is blue."
    result = await evaluate_sample(
        Sample(qid="1", answer=answer, chunks=CHUNKS), Careless({}), Rules()
    )
    assert (result.scores.claims, result.scores.judged, result.scores.unscored) == (3, 1, 2)
    assert result.scores.faithfulness_bounds == pytest.approx((1 / 3, 1))
    assert [type(s.outcome) for s in result.sentences] == [Excluded, Verdict, Unscored, Unscored]


async def test_what_only_the_judge_could_see_is_flagged() -> None:
    flag = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=0)

    class Torn(FakeJudge):
        async def judge(self, request: JudgeRequest) -> Judgment:
            judgment = await super().judge(request)
            return judgment.model_copy(update={"flags": (flag,)})

    sample = Sample(qid="1", answer="Leave is paid.", chunks=CHUNKS)
    assert (await evaluate_sample(sample, Torn({}), Rules())).flags == (flag,)


async def test_a_fallback_without_a_quote_keeps_its_first_failure() -> None:
    timeout = Unscored(reason=UnscoredReason.TIMEOUT)
    stand_in = verdict(Support.FULL).model_copy(update={"fallback_from": timeout})
    sample = Sample(qid="1", answer="Leave is paid.", chunks=CHUNKS)
    judge = FakeJudge({"Leave is paid.": stand_in})
    result = await evaluate_sample(sample, judge, Rules(require_quotes=True))
    assert result.sentences[0].outcome == timeout


@pytest.mark.parametrize(
    "chunk_id",
    ["1", "docA#12", "doc1", "doc_1", "D1", "p12", "KB0012345", "HR Handbook", "员工手册第1章",
     "3f2a9c1e-77b0-4d1c-9a51-0c2d6f8e4b7a"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["[{}]", "【{}】"])
async def test_how_a_chunk_is_called_changes_no_verdict(chunk_id: str, form: str) -> None:
    chunk = Chunk(chunk_id=chunk_id, text="Refunds take five days after the request.")
    answer = f"The refund takes five days {form.format(chunk_id)}."
    sample = Sample(qid="1", answer=answer, chunks=(chunk,))
    result = await evaluate_sample(sample, offline(Config()), Rules())
    bare = sample.model_copy(update={"answer": "The refund takes five days."})
    expected = (await evaluate_sample(bare, offline(Config()), Rules())).sentences[0].outcome
    outcome = result.sentences[0].outcome
    assert isinstance(outcome, Verdict)
    assert isinstance(expected, Verdict)
    assert outcome.score == pytest.approx(expected.score, abs=0.01)
    assert [c.status for c in result.citations] == [CitationStatus.VALID]


async def test_a_result_names_the_model_that_gave_its_verdicts() -> None:
    def said(model: str) -> Verdict:
        made = f"llm:m@h|served:{model}|t:0"
        return verdict(Support.FULL).model_copy(update={"signature": made})

    texts = {"It is paid.": said("m-1"), "It is late.": said("m-2")}
    now = "llm:m@h|served:m-2|t:0|fallback:similarity:x"
    judge = FakeJudge(texts, signature=now)

    async def signature(answer: str) -> str:
        return (await evaluate_sample(Sample(qid="q", answer=answer), judge, Rules())).signature

    # A verdict may have been kept since another model served.
    assert await signature("It is paid.") == now.replace("m-2", "m-1")
    assert await signature("It is late.") == now
    assert await signature("It is paid. It is late.") == now
    assert await signature("It is unknown.") == now


async def test_a_full_whose_quote_lacks_its_number_keeps_its_label_and_is_flagged() -> None:
    text = "Employees get 25 days of paid leave [hr#1]."
    judge = FakeJudge({text: verdict(Support.FULL, "hr#1", quote="get 15 days of paid leave")})
    result = await evaluate_sample(Sample(qid="1", answer=text, chunks=CHUNKS), judge, Rules())
    assert [(f.name.value, f.sentence, f.detail) for f in result.flags] == [
        ("mismatch:number", 0, "25 days")
    ]
    assert result.scores.faithfulness == 1
