import asyncio

import pytest

from judge.backends.fake import FakeJudge
from judge.compose import offline
from judge.config import Config
from judge.pipeline import evaluate_sample, prepare, sign
from judge.protocols import Judge
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
    SampleResult,
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
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT, detail="60 s")


def verdict(support: Support, *supporting: str, quote: str = "") -> Verdict:
    evidence = (Evidence(chunk_id=supporting[0], quote=quote),) if quote else ()
    return Verdict(
        support=support, supporting=supporting, evidence=evidence, source="llm", signature="fake"
    )


FULL = verdict(Support.FULL)


async def scored(answer: str, judge: Judge, rules: Rules | None = None) -> SampleResult:
    sample = Sample(qid="1", answer=answer, chunks=CHUNKS)
    return await evaluate_sample(sample, judge, rules or Rules())


async def test_citations_quotes_and_kinds_of_one_answer() -> None:
    first = "Employees get 15 days a year [hr#1]."
    second = "Unused leave lapses in June [hr#1][9]."
    judge = FakeJudge(
        {
            first: verdict(Support.FULL, "hr#1", quote="employees get 15 days of paid leave"),
            second: verdict(Support.PARTIAL, "hr#2", quote="leave never ever lapses at all"),
        }
    )
    result = await scored(f"## Leave\n\n{first} {second}", judge)
    kinds = [sentence.kind for sentence in result.sentences]
    assert kinds == [SentenceKind.HEADING, SentenceKind.CLAIM, SentenceKind.CLAIM]
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
    assert (request.ask, request.cites) == ((1, 2), {1: (0,), 2: (0,)})


async def test_prepare_returns_the_request_that_is_judged() -> None:
    answer = "## Leave\n\nIt is paid, see passage 2. 年假15天[hr#1]。 Thank you!"
    sample = Sample(qid="1", query="Leave?", answer=answer, chunks=CHUNKS)
    for prose, cited in ((False, {2: (0,)}), (True, {1: (1,), 2: (0,)})):
        rules, judge = Rules(prose_citations=prose), FakeJudge({})
        await evaluate_sample(sample, judge, rules)
        assert [prepare(sample, rules)[0]] == judge.requests
        assert (judge.requests[0].ask, judge.requests[0].cites) == ((1, 2), cited)


async def test_without_a_claim_no_judge_is_asked() -> None:
    for answer, status in (
        ("", Status.NO_CLAIMS),
        ("  \n\t ", Status.NO_CLAIMS),
        ("The provided passages do not say how many days.", Status.ABSTAINED),
        ("资料中没有提到年假天数。", Status.ABSTAINED),
    ):
        judge = FakeJudge({})
        result = await scored(answer, judge)
        assert (result.status, judge.requests) == (status, []), answer
        assert result.scores.faithfulness is None


def test_a_signature_names_the_unusual_rules_only() -> None:
    assert sign("fake", Rules()) == "fake"
    unusual = Rules(prose_citations=True, require_quotes=True)
    assert sign("fake", unusual) == "fake|cites:prose|quotes:required"
    one, other = (sign("fake", Rules(citation_pattern=p)) for p in (r"<(\d)>", r"<(\d+)>"))
    assert one != other


class CarelessJudge(FakeJudge):
    """Answers for one sentence it was asked about, and for two that it was not; and flags one."""

    flag = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1)

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes = {request.ask[0]: FULL, 0: FULL, 99: FULL}
        return Judgment(outcomes=outcomes, flags=(self.flag,))


async def test_a_missing_outcome_stays_in_the_denominator() -> None:
    answer = "## Leave\n\nLeave is paid. Leave is long. Leave is blue."
    result = await scored(answer, CarelessJudge({}))
    assert (result.scores.claims, result.scores.judged, result.scores.unscored) == (3, 1, 2)
    assert result.scores.faithfulness_bounds == pytest.approx((1 / 3, 1))
    assert [type(s.outcome) for s in result.sentences] == [Excluded, Verdict, Unscored, Unscored]
    assert CarelessJudge.flag in result.flags  # which only the judge could see


async def test_a_claim_that_is_too_long_is_not_judged() -> None:
    judge = FakeJudge({"Leave is paid.": FULL})
    result = await scored("a" * 50_001, judge)
    outcome = result.sentences[0].outcome
    assert (result.status, result.scores.faithfulness_bounds) == (Status.UNSCORED, (0.0, 1.0))
    assert isinstance(outcome, Unscored)
    assert (outcome.reason, judge.requests) == (UnscoredReason.BUDGET, [])
    both = await scored(f"{'a' * 50_001}\n\nLeave is paid.", judge)
    assert [request.ask for request in judge.requests] == [(1,)]
    assert (both.scores.judged, both.scores.unscored) == (1, 1)


async def test_an_answer_of_too_many_sentences_is_one_claim_that_is_not_judged() -> None:
    judge = FakeJudge({})
    # A code block at the beginning does not make the rest code.
    for answer in ("Yes.\n" * 60_000, "```\na\n```\n" + "Yes.\n" * 60_000):
        result = await scored(answer, judge)
        assert (len(result.sentences), result.scores.unscored, judge.requests) == (1, 1, [])


async def test_a_code_block_of_any_length_is_no_claim() -> None:
    judge = FakeJudge({"Leave is paid.": FULL})
    result = await scored(f"```\n{'a' * 50_001}\n```\nLeave is paid.", judge)
    assert [each.kind for each in result.sentences] == [SentenceKind.CODE, SentenceKind.CLAIM]
    assert (result.scores.claims, result.scores.unscored) == (1, 0)


async def test_a_fallback_without_a_quote_keeps_its_first_failure() -> None:
    judge = FakeJudge({"Leave is paid.": FULL.model_copy(update={"fallback_from": TIMEOUT})})
    result = await scored("Leave is paid.", judge, Rules(require_quotes=True))
    assert result.sentences[0].outcome == TIMEOUT


CHUNK_IDS = (
    *("1", "docA#12", "KB0012345", "员工手册第1章", "3f2a9c1e-77b0-4d1c-9a51-0c2d6f8e4b7a"),
)


async def test_the_id_of_a_chunk_changes_no_verdict() -> None:
    judge = offline(Config())
    for chunk_id in CHUNK_IDS:
        chunk = Chunk(chunk_id=chunk_id, text="Refunds take five days after the request.")
        scores = []
        for marker in ("", f" [{chunk_id}]", f" 【{chunk_id}】"):
            answer = f"The refund takes five days{marker}."
            sample = Sample(qid="1", answer=answer, chunks=(chunk,))
            result = await evaluate_sample(sample, judge, Rules())
            outcome = result.sentences[0].outcome
            assert isinstance(outcome, Verdict)
            scores.append(outcome.score)
            assert [c.status for c in result.citations] == ["valid"] * bool(marker), answer
        assert scores[1:] == [pytest.approx(scores[0], abs=0.01)] * 2, chunk_id


async def test_a_result_names_the_model_that_gave_its_verdicts() -> None:
    def full(model: str) -> Verdict:
        return FULL.model_copy(update={"signature": f"llm:m@h|served:{model}|t:0"})

    now = "llm:m@h|served:m-2|t:0|fallback:similarity:x"
    judge = FakeJudge({"It is paid.": full("m-1"), "It is late.": full("m-2")}, signature=now)
    # A verdict may have been kept since another model served.
    assert (await scored("It is paid.", judge)).signature == now.replace("m-2", "m-1")
    for answer in ("It is late.", "It is paid. It is late.", "It is unknown."):
        assert (await scored(answer, judge)).signature == now


async def test_a_slow_citation_pattern_does_not_block_the_loop() -> None:
    # It takes some tens of milliseconds, of the second that it may take.
    answer = f"It opens at seven [1]. {'a' * 25}!"
    rules = Rules(citation_pattern="(a|aa)+$")
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)  # or it would be in the way of the thread

    beside = asyncio.create_task(others())
    await scored(answer, FakeJudge({}), rules)
    beside.cancel()
    assert turns > 3
