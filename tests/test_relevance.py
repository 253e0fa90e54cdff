"""What becomes of verdicts on a question: only parts of its own words are believed."""

from judge.backends.fake import FakeJudge
from judge.correctness import relate
from judge.pipeline import evaluate_sample
from judge.records import (
    JudgeRequest,
    Judgment,
    PartsVerdict,
    QuestionPart,
    Rules,
    Sample,
    Support,
    UnscoredReason,
)

SAMPLE = Sample(qid="1", query="Who runs it?", answer="The cook runs it [1]. 每天营业[1]。")


class Saying:
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
    first = FakeJudge({})
    result = await evaluate_sample(SAMPLE, first, Rules())
    rows: list[tuple[Saying, float | None]] = [
        (Saying("Who runs it"), 1.0),
        (Saying("Who", "runs it?"), 1.0),
        (Saying("Who", "owns it?"), None),
        (Saying(), None),
    ]
    for judge, score in rows:
        related = await relate(SAMPLE, result, judge, Rules())
        found = related.answer_relevance
        assert found is not None
        assert found.score == score
        if score is None:
            assert found.failure is not None
            assert found.failure.reason is UnscoredReason.MALFORMED
        (request,) = judge.requests
        assert (request.query, request.ask) == (SAMPLE.query, (0,))
        # It is one answer's time, and this is the rest of it.
        # Markers are blank, and all else keeps its place.
        assert request.chunks[0].text == "The cook runs it    . 每天营业   。"
