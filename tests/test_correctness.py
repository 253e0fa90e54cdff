"""How an answer agrees with its gold and its question: what is asked, and what becomes of it."""

import pytest

from judge.backends.fake import FakeJudge
from judge.compose import alone, offline
from judge.config import Config
from judge.correctness import compare, relate
from judge.pipeline import evaluate_sample
from judge.protocols import Judge
from judge.records import (
    Chunk,
    Correctness,
    CorrectnessStatus,
    Evidence,
    JudgeRequest,
    Judgment,
    PartsVerdict,
    QuestionPart,
    Rules,
    Sample,
    SampleResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests import present

CHUNKS = (
    Chunk(chunk_id="hr#1", text="Employees get 15 days of paid leave a year."),
    Chunk(chunk_id="hr#2", text="Unused leave lapses at the end of March."),
)


def verdict(support: Support) -> Verdict:
    return Verdict(support=support, source="llm", signature="fake")


async def scored(
    sample: Sample, comparing: Judge | None, judge: Judge | None = None, rules: Rules | None = None
) -> SampleResult:
    """As an evaluator scores it."""
    rules = rules or Rules()
    result = await evaluate_sample(sample, judge or FakeJudge({}), rules)
    return await compare(sample, result, comparing, rules)


async def compared(
    sample: Sample, comparing: Judge, judge: Judge | None = None, rules: Rules | None = None
) -> Correctness:
    return present((await scored(sample, comparing, judge, rules)).correctness)


def similarity() -> Judge:
    """What compares where no language model does."""
    return present(alone(Config(correctness=True), offline(Config())).correctness)


LEAVE = Sample(
    qid="1",
    query="How long is leave?",
    answer="Leave is paid [1]. Leave is long. Leave is blue.",
    chunks=CHUNKS,
    gold_answer="Leave is 15 days a year. It lapses in March [1].",
)
HOLIDAY = Sample(
    qid="2",
    query="年假多长?",
    answer="年假带薪。年假较长。年假是蓝的。",
    chunks=(Chunk(chunk_id="甲", text="年假十五天。"),),
    gold_answer="年假每年十五天。未休的三月底作废。",
)


@pytest.mark.parametrize("sample", [LEAVE, HOLIDAY], ids=["en", "zh"])
async def test_correctness_is_the_same_judge_with_the_evidence_swapped(sample: Sample) -> None:
    """Full, partial, none: precision .5; full, none: recall .5; by hand."""
    judge, comparing = FakeJudge({}, "chunks"), Scripted("FPN", "FN")
    result = await scored(sample, comparing, judge)
    found = present(result.correctness)
    assert found.status is CorrectnessStatus.SCORED
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
    assert [each.index for each in found.answer] == [0, 1, 2]
    assert [each.outcome.type for each in found.reference] == ["verdict", "verdict"]
    assert sample.gold_answer is not None
    assert all(sample.gold_answer[s.start : s.end] == s.text for s in found.reference)
    assert (result.signature, found.signature) == ("chunks", "compares")
    forth, back = comparing.requests
    # Markers are blank where they are evidence; all else keeps its place.
    unmarked = [text.replace("[1]", "   ") for text in (sample.gold_answer, sample.answer)]
    assert forth.chunks == (Chunk(chunk_id="gold_answer", text=unmarked[0]),)
    assert back.chunks == (Chunk(chunk_id="answer", text=unmarked[1]),)
    assert (forth.answer, back.answer) == (sample.answer, sample.gold_answer)
    assert {each.query for each in comparing.requests} == {sample.query}
    # The cited chunks are not shown here; a marker is still no claim.
    assert [dict(each.cites) for each in comparing.requests] == [{}, {}]
    marked = [[each.answer[a:b] for a, b in each.markers] for each in comparing.requests]
    assert marked == ([["[1]"], ["[1]"]] if sample is LEAVE else [[], []])


class Scripted:
    """Gives each request's claims the labels of the next word: Full, Partial, None."""

    signature = "compares"

    def __init__(self, *words: str) -> None:
        self.requests: list[JudgeRequest] = []
        self._words = iter(words)

    async def judge(self, request: JudgeRequest) -> Judgment:
        self.requests.append(request)
        labels = {"F": Support.FULL, "P": Support.PARTIAL, "N": Support.NONE}
        pairs = zip(request.ask, next(self._words), strict=True)
        return Judgment(outcomes={i: verdict(labels[word]) for i, word in pairs if word in labels})


async def test_a_quote_is_searched_in_the_text_that_it_names() -> None:
    gold = "Leave is 15 days a year."
    evidence = Evidence(chunk_id="gold_answer", quote="leave is 15 days a year")
    judged = verdict(Support.FULL).model_copy(update={"evidence": (evidence,)})
    sample = Sample(qid="1", answer="Leave is fifteen days.", gold_answer=gold)
    judge = FakeJudge({"Leave is fifteen days.": judged, gold: judged})
    found = await compared(sample, judge, judge, Rules(require_quotes=True))
    forth, back = found.answer[0].outcome, found.reference[0].outcome
    assert isinstance(forth, Verdict)
    assert forth.evidence[0].quote == "Leave is 15 days a year"
    assert (forth.evidence[0].start, forth.evidence[0].end) == (0, 23)
    # In the answer there is no such passage.
    assert isinstance(back, Unscored)
    assert back.reason is UnscoredReason.UNVERIFIED
    assert found.signature == "fake|quotes:required"


NOTHING = [
    # An answer, its reference, and what becomes of the comparison.
    ("Leave is long.", None, CorrectnessStatus.NO_REFERENCE),
    ("Leave is long.", " \n", CorrectnessStatus.NO_REFERENCE),
    ("I cannot answer from the given documents.", "Ten.", CorrectnessStatus.ABSTAINED),
    ("根据所给文档，我无法回答。", "十天。", CorrectnessStatus.ABSTAINED),
    ("年假较长。", "根据所给文档，我无法回答。", CorrectnessStatus.NO_CLAIMS),
    ("", "根据所给文档，我无法回答。", CorrectnessStatus.NO_CLAIMS),
]


@pytest.mark.no_cover
async def test_without_claims_or_reference_nothing_is_compared() -> None:
    for answer, reference, status in NOTHING:
        sample = Sample(qid="1", answer=answer, chunks=CHUNKS, gold_answer=reference)
        comparing = Scripted()
        found = await compared(sample, comparing)
        assert found.status is status, answer
        assert (found.precision, found.recall, found.f1, found.f1_bounds) == (None,) * 4
        assert comparing.requests == []
    # Nor where it was not asked for.
    assert (await scored(LEAVE, None)).correctness is None


FIGURES = [
    # Rows of query, answer, and reference with another figure; numbers of citations do not count.
    ("How long is leave?", "Leave is 24 days a year.", "Leave is 25 days a year."),
    ("How many doors does the hall have?", "The hall has 5 doors[^3].", "It has 3 doors."),
    ("会议室有几扇门?", "会议室有5扇门【3†来源】。", "3扇门。"),
    ("How many people live there?", "About 250 people live there [1][340].", "340 people"),
    ("When was it founded?", "It was founded in 1990 [doc-2041#7].", "2041"),
]


async def test_similarity_finds_another_figure_wrong() -> None:
    chunks = (Chunk(chunk_id="doc-2041#7", text="x"),)
    wrong = []
    for query, answer, gold in FIGURES:
        for one, other in ((answer, gold), (gold, answer)):
            sample = Sample(qid="1", query=query, answer=one, chunks=chunks, gold_answer=other)
            found = await compared(sample, similarity())
            if (found.precision, found.recall, found.f1) != (0, 0, 0):
                wrong.append((one, other, found.precision, found.recall))
        same = Sample(qid="1", query=query, answer=gold, gold_answer=gold)
        assert (await compared(same, similarity())).f1 == 1
    assert wrong == []


class PartsJudge:
    """Gives a verdict on the question with parts of these words, all answered."""

    signature = "s"

    def __init__(self, *words: str) -> None:
        self._words = words
        self.requests: list[JudgeRequest] = []

    async def judge(self, request: JudgeRequest) -> Judgment:
        self.requests.append(request)
        parts = tuple(QuestionPart(words=each, answered=Support.FULL) for each in self._words)
        verdict = PartsVerdict(support=Support.FULL, source="llm", signature="s", parts=parts)
        return Judgment(outcomes={0: verdict})


async def test_parts_of_another_question_are_no_score() -> None:
    sample = Sample(qid="1", query="Who runs it?", answer="The cook runs it [1]. 每天营业[1]。")
    result = await evaluate_sample(sample, FakeJudge({}), Rules())
    rows: list[tuple[PartsJudge, float | None]] = [
        (PartsJudge("Who runs it"), 1.0),
        (PartsJudge("Who", "runs it?"), 1.0),
        (PartsJudge("Who", "owns it?"), None),
        (PartsJudge(), None),
    ]
    for judge, score in rows:
        found = (await relate(sample, result, judge, Rules())).answer_relevance
        assert found is not None
        reason = found.failure and found.failure.reason
        assert (found.score, reason) == (score, None if score else UnscoredReason.MALFORMED)
        (request,) = judge.requests
        assert (request.query, request.ask) == (sample.query, (0,))
        # Markers are blank, and all else keeps its place.
        assert request.chunks[0].text == "The cook runs it    . 每天营业   。"
