"""Correctness over real HTTP: what it asks, what it keeps, and what failures leave of it."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import Correctness, CorrectnessStatus, Outcome, SampleResult, Unscored, Verdict
from judge.files.runs import read_record, read_summary
from tests.commands import Ran, judge, line, results, write
from tests.faults import CRASHED
from tests.replies import Answer, Script, right, verdicts
from tests.server import Asked, JudgeServer, Says

ENGLISH = line("en", "It opens at seven [1]. It is large. It is blue.") | {
    "gold_answer": "It opens at seven. It closes at three. It is never open on Sundays."
}
CHINESE = line("zh", "食堂七点开门。食堂很大。", query="食堂几点开门?") | {"gold_answer": "七点。"}
ABSTAINED = line("no", "I cannot answer from the given documents.") | {"gold_answer": "At seven."}

LABELS = {
    "It opens at seven [1].": "full",
    "It is large.": "partial",
    "It is blue.": "none",
    "It opens at seven.": "full",
    "It closes at three.": "contradicted",
    "It is never open on Sundays.": "partial",
    "食堂七点开门。": "full",
    "食堂很大。": "none",
    "七点。": "full",
}
"""By hand: en has precision (1 + ½ + 0)/3 = .5 and recall (1 + 0 + ½)/3 = .5, zh .5 and 1."""


def labelled(asked: Asked) -> Says:
    labels = {name: LABELS[text] for name, text in asked.sentences.items()}
    return Says(verdicts(asked, **labels))


def comparing(script: Script) -> Script:
    """As `script` says where answers are compared, and right where chunks are judged."""

    def answer(asked: Asked) -> Answer:
        compares = "two answers" in asked.messages[0][1]
        return script(asked) if compares and not asked.is_probe else right(asked)

    return answer


def samples(place: Path, *lines: dict[str, JsonValue]) -> Path:
    (place / "judge.toml").write_text("attempts = 1\n")
    return write(place / "samples.jsonl", lines or (ENGLISH, CHINESE, ABSTAINED))


def score(place: Path, server: JudgeServer, run: str, *more: object) -> Ran:
    address = ("--model", "tiny", "--base-url", server.base_url, "--correctness")
    return judge("score", place / "samples.jsonl", "-o", place / run, *address, *more)


def compared(result: SampleResult) -> Correctness:
    assert result.correctness is not None
    return result.correctness


def outcomes(found: Correctness) -> list[Outcome]:
    """Those of the answer's claims, then of the reference's."""
    forth = [each.outcome for each in found.answer]
    return [*forth, *(each.outcome for each in found.reference)]


def test_one_more_call_each_way_and_none_the_second_time(place: Path) -> None:
    samples(place)
    with JudgeServer(comparing(labelled)) as server:
        first = score(place, server, "first")
        assert first.code == 0, first.err
        # Two answers with claims: one call about the chunks, one each way; the third abstains.
        assert (server.probes, server.calls) == (1, 6)
        assert score(place, server, "second").code == 0
        assert (server.probes, server.calls) == (1, 6)
    english, chinese, abstained = map(compared, results(place / "first"))
    assert (english.precision, english.recall, english.f1) == pytest.approx((0.5, 0.5, 0.5))
    assert (english.of_answer.contradicted, english.of_reference.contradicted) == (0, 1)
    assert (chinese.precision, chinese.recall, chinese.f1) == pytest.approx((0.5, 1, 2 / 3))
    assert abstained.status is CorrectnessStatus.ABSTAINED
    assert abstained.f1 is None
    again = [each.model_dump(exclude={"calls"}) for each in results(place / "second")]
    assert again == [each.model_dump(exclude={"calls"}) for each in results(place / "first")]
    shown = [request for request in server.requests if "two answers" in request.messages[0][1]]
    texts = [str(each[name]) for each in (ENGLISH, CHINESE) for name in ("answer", "gold_answer")]
    evidence = [[text.replace("[1]", "   ")] for text in texts]
    assert sorted(request.chunks for request in shown) == sorted(evidence)


def test_how_it_was_made_stands_in_the_run(place: Path) -> None:
    samples(place)
    with JudgeServer(comparing(labelled)) as server:
        score(place, server, "run")
    record = read_record(place / "run")
    assert record.correctness is not None
    assert "|prompt:correctness-v1@7fc63cac|" in record.correctness
    assert "|prompt:faithfulness-v1@a77cf08f|" in record.signature
    totals = read_summary(place / "run").correctness
    assert totals is not None
    assert totals.f1 is not None
    assert totals.f1.macro == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert totals.statuses[CorrectnessStatus.ABSTAINED] == 1


def test_failures_stay_open_and_similarity_only_stands_by(place: Path) -> None:
    samples(place, ENGLISH)
    with JudgeServer(comparing(lambda _: CRASHED)) as server:
        ran = score(place, server, "run")
    # Nothing of the comparison is known, and the run says that it is not to be trusted.
    assert ran.code == 3
    (result,) = results(place / "run")
    assert result.scores.unscored == 0
    found = compared(result)
    assert found.status is CorrectnessStatus.UNSCORED
    assert (found.precision, found.recall, found.f1) == (None, None, None)
    assert found.f1_bounds == (0.0, 1.0)
    assert found.f1_with_fallback is not None
    for outcome in outcomes(found):
        assert isinstance(outcome, Verdict)
        assert outcome.source == "similarity"
        assert outcome.fallback_from is not None


def test_without_a_fallback_failures_are_what_there_is(place: Path) -> None:
    samples(place, ENGLISH)
    with JudgeServer(comparing(lambda _: CRASHED)) as server:
        score(place, server, "run", "--no-fallback")
    found = compared(results(place / "run")[0])
    assert all(isinstance(outcome, Unscored) for outcome in outcomes(found))
    assert found.f1_with_fallback is None
