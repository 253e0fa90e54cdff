"""Every fault of a reply, from the wire to the scores: no fault becomes a verdict."""

import threading
from collections.abc import Mapping

import pytest

from judge import Evaluator, Sample, SampleResult, Verdict
from judge.records import Chunk, FlagName, SentenceResult, Unscored
from tests import faults, replies
from tests.chat_call import ChatCall
from tests.replies import Answer, Hang, Reset, Script, Trickle
from tests.server import JudgeServer

ENGLISH = Sample(
    qid="en",
    query="When is the canteen open?",
    answer="The canteen opens at seven. It closes at three [1]. It is shut on Sundays.",
    chunks=(Chunk(chunk_id="hall", text="The canteen is open from seven to three on weekdays."),),
)
CHINESE = Sample(
    qid="zh",
    query="食堂几点开门?",
    answer="食堂七点开门。下午三点关门[1]。周末不营业。",
    chunks=(Chunk(chunk_id="厅", text="食堂工作日七点至十五点开放，周末和法定节假日一律不营业。"),),
)
LABELS = {"full", "partial", "none", "contradicted", "no_claim"}


async def run(script: Script, **settings: object) -> tuple[list[SampleResult], list[int], str]:
    """The results, how often each of the two answers was asked about, and the signature."""
    with JudgeServer(script) as server:
        evaluator = Evaluator(server.config(**settings))
        results = [result async for result in evaluator.evaluate([ENGLISH, CHINESE])]
        prompts = [call.user for call in server.requests if not call.is_probe]
    counts = [sum(sample.query in prompt for prompt in prompts) for sample in (ENGLISH, CHINESE)]
    return results, counts, evaluator.signature


def label_of(sentence: SentenceResult) -> str:
    """Return the model's label, or the reason why it gave none. The fallback's label is ignored."""
    outcome = sentence.outcome
    if isinstance(outcome, Verdict) and outcome.fallback_from is None:
        assert outcome.source == "llm"
        return outcome.support.value
    failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
    assert isinstance(failure, Unscored)
    # A refusal does not fall back.
    assert isinstance(outcome, Verdict) is (failure.reason != "refused")
    assert failure.detail
    return failure.reason.value


def check_result(result: SampleResult, words: str) -> None:
    """Check the outcomes, and that the scores are computed from these outcomes alone."""
    expected = words.split()
    assert [label_of(sentence) for sentence in result.sentences] == expected
    weights = [float(word == "full") for word in expected if word in LABELS]
    scores = result.scores
    assert (scores.claims, scores.judged) == (3, len(weights))
    assert scores.unscored == 3 - len(weights)
    assert scores.faithfulness == (sum(weights) / len(weights) if weights else None)
    assert scores.faithfulness_bounds == (sum(weights) / 3, (sum(weights) + scores.unscored) / 3)
    assert result.status == ("scored" if weights else "unscored")


# The fault, the outcomes of the three sentences if every reply has it, and the requests for an
# answer; then the requests if only the first reply has it. None: the first reply suffices.
FAULTS: Mapping[str, tuple[Answer | Script, str, int, int | None]] = {
    "refused": (faults.REFUSED, "refused " * 3, 1, None),
    "filtered": (faults.FILTERED, "content_filter " * 3, 1, None),
    "filtered by Azure": (faults.AZURE_FILTERED, "content_filter " * 3, 1, None),
    "too long": (faults.TOO_LONG, "truncated " * 3, 1, None),
    "fewer ids": (faults.fewer, "full full missing", 3, 2),
    "a double id": (faults.double, "missing full full", 3, 2),
    "one id too many": (faults.unknown, "full full full", 1, None),
    "an unknown id instead": (faults.renamed, "full full missing", 3, 2),
    "a label off the menu": (faults.off_menu, "malformed full full", 2, 2),
    "fenced": (faults.fenced, "full full full", 1, None),
    "brackets in quotes": (faults.tricky_quotes, "full full full", 1, None),
    "broken JSON": (faults.broken, "malformed " * 3, 2, 2),
    "no words": (faults.NULL_CONTENT, "malformed " * 3, 2, 2),
    # Six requests: limits of 1112 and 8192 tokens, then halves of one and two sentences, then
    # each of the two.
    "cut": (faults.cut, "truncated " * 3, 6, 2),
    "too many": (replies.TOO_MANY, "", 0, 2),
    "too many, for an hour": (replies.too_many("3600"), "rate_limited " * 3, 1, None),
    "too many, for a moment": (replies.too_many("0.01"), "", 0, 2),
    "hang": (Hang(), "timeout " * 3, 1, 2),
    "trickle": (Trickle(), "timeout " * 3, 1, 2),
    "reset": (Reset(), "connection " * 3, 1, 2),
    "crashed": (faults.CRASHED, "server_error " * 3, 1, 2),
    "a page": (faults.HTML, "server_error " * 3, 1, 2),
    "half a body": (faults.BROKEN_BODY, "server_error " * 3, 1, 2),
    "empty choices": (faults.EMPTY_CHOICES, "server_error " * 3, 1, 2),
}


@pytest.mark.parametrize("name", [name for name, row in FAULTS.items() if row[1]])
async def test_a_permanent_fault(name: str) -> None:
    fault, words, requests, _ = FAULTS[name]
    # A server that never answers costs the whole time-out. No other fault may reach it.
    patience = 0.3 if isinstance(fault, Hang | Trickle) else 60.0
    results, counts, _ = await run(replies.calls(fault), timeout=patience, deadline=60)
    for result in results:
        check_result(result, words)
        doubted = [flag.sentence for flag in result.flags if flag.name is FlagName.UNVERIFIED_QUOTE]
        assert doubted == ([0, 1, 2] if name == "brackets in quotes" else [])
    assert counts == [requests, requests]


async def test_without_a_fallback_failures_stay_unscored() -> None:
    results, _, _ = await run(replies.calls(faults.CRASHED), fallback=False)
    for result in results:
        assert all(isinstance(sentence.outcome, Unscored) for sentence in result.sentences)
        assert result.scores.faithfulness is None
        assert result.scores.faithfulness_with_fallback is None


class Once:
    """The fault in the first reply to each question, then right ones."""

    def __init__(self, fault: Answer | Script) -> None:
        self._fault = fault
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, call: ChatCall) -> Answer:
        query = next((s.query for s in (ENGLISH, CHINESE) if s.query in call.user), "probe")
        with self._lock:
            if query == "probe" or query in self._seen:
                return replies.right(call)
            self._seen.add(query)
        return self._fault(call) if callable(self._fault) else self._fault


@pytest.mark.parametrize("name", [name for name, row in FAULTS.items() if row[3]])
async def test_a_passing_fault(name: str) -> None:
    fault, *_, requests = FAULTS[name]
    patience = 2.0 if isinstance(fault, Hang | Trickle) else 60.0
    results, counts, _ = await run(Once(fault), timeout=patience, attempts=2)
    for result in results:
        check_result(result, "full full full")
        assert sum(1 + call.retries for call in result.calls) == requests
    assert counts == [requests, requests]
