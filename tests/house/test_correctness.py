"""Answers and references whose precision and recall are known by hand, by each kind of judge."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from judge import CorrectnessStatus, SampleResult, Unscored, Verdict
from judge.inputs.runs import read_record, read_summary
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, results
from tests.faults import CRASHED
from tests.replies import Answer, Says, Script, right, verdicts
from tests.server import JudgeServer

FIXTURE: Final = Path(__file__).resolve().parents[2] / "fixtures" / "correctness.jsonl"
KNOWN: Final[list[dict[str, Any]]] = [
    json.loads(row) for row in FIXTURE.read_text("utf-8").splitlines()
]
COMPARED: Final = [row for row in KNOWN if row["known_precision"] is not None]
SAID: Final = {
    "214 people work in the Lisbon office of Harrow & Pell.": "full", "214": "full",
    "云帆公司的创始人是林若兰。": "full", "林若兰": "full",
    "The Larkfield R40 has a warranty of 36 months.": "contradicted",
    "The Larkfield R40 has a warranty of 24 months.": "contradicted",
    "每晚不超过450元。": "contradicted", "每晚不超过600元。": "contradicted",
    "Fill the kettle with vinegar and water.": "full", "Boil it twice.": "none",
    "Rinse it with cold water.": "none", "Let the lid dry overnight.": "none",
    "火车票全额报销。": "full", "出租车仅在晚上十点以后报销。": "none",
    "Karl Ritter designed the town hall of Oswick.": "full",
    "Its tower was struck by lightning twice.": "none", "Karl Ritter": "full",
    "图书馆工作日上午九点至下午六点开放。": "full", "馆内设有咖啡厅。": "none",
}  # fmt: skip
"""The labels that a careful reader gives to the sentences of one text by the other text."""


def compares(asked: ChatCall) -> bool:
    return not asked.is_probe and "two answers" in asked.messages[0][1]


def comparing(script: Script) -> Script:
    """As `script` says where answers are compared, and right where chunks are judged."""

    def answer(asked: ChatCall) -> Answer:
        return script(asked) if compares(asked) else right(asked)

    return answer


def reader(asked: ChatCall) -> Answer:
    return Says(verdicts(asked, **{name: SAID[text] for name, text in asked.sentences.items()}))


def score(place: Path, run: str, *more: object, server: JudgeServer | None = None) -> Ran:
    (place / "judge.toml").write_text("attempts = 1\n")
    shutil.copy(FIXTURE, place / "samples.jsonl")
    words = (*(server.words if server else ()), *more)
    return judge("score", place / "samples.jsonl", "-o", place / run, "--correctness", *words)


def as_known(run: list[SampleResult]) -> None:
    for row, result in zip(KNOWN, run, strict=True):
        precision, recall, found = row["known_precision"], row["known_recall"], result.correctness
        assert found is not None
        assert (result.qid, found.precision, found.recall) == (row["qid"], precision, recall)
        if precision is None:
            assert found.f1 is None
        else:
            f1 = 2 * precision * recall / ((precision + recall) or 1)
            assert found.f1 == pytest.approx(f1), row["qid"]


def test_similarity_finds_what_is_known(place: Path) -> None:
    assert score(place, "run").code == 0
    as_known(results(place / "run"))


def test_a_language_model_gives_what_is_known_in_a_call_each_way(place: Path) -> None:
    with JudgeServer(comparing(reader)) as server:
        assert score(place, "first", server=server).code == 0
        # One call about the chunks, one each way; an abstention is neither judged nor compared.
        assert (server.probes, server.calls) == (1, 3 * len(COMPARED))
        assert score(place, "second", server=server).code == 0
        assert (server.probes, server.calls) == (1, 3 * len(COMPARED))
    first, second = results(place / "first"), results(place / "second")
    as_known(first)
    again = [each.model_dump(exclude={"calls"}) for each in second]
    assert again == [each.model_dump(exclude={"calls"}) for each in first]
    shown = [request.chunks for request in server.requests if compares(request)]
    texts = [[row[name]] for row in COMPARED for name in ("answer", "gold_answer")]
    assert sorted(shown) == sorted(texts)
    record, totals = read_record(place / "first"), read_summary(place / "first").correctness
    assert record.correctness is not None
    assert "|prompt:correctness-v1@7fc63cac|" in record.correctness
    assert "|prompt:faithfulness-v" in record.signature
    assert totals is not None
    assert totals.statuses[CorrectnessStatus.ABSTAINED] == len(KNOWN) - len(COMPARED)


@pytest.mark.parametrize("fallback", [True, False])
def test_failures_stay_open_and_similarity_only_stands_by(place: Path, *, fallback: bool) -> None:
    with JudgeServer(comparing(lambda _: CRASHED)) as server:
        more = () if fallback else ("--no-fallback",)
        # Nothing of the comparison is known, and the run says that it is not to be trusted.
        assert score(place, "run", *more, server=server).code == 3
    for result in results(place / "run")[: len(COMPARED)]:
        found = result.correctness
        assert found is not None
        assert (result.scores.unscored, found.status) == (0, CorrectnessStatus.UNSCORED)
        assert (found.precision, found.recall, found.f1) == (None, None, None)
        assert found.f1_bounds == (0.0, 1.0)
        assert (found.f1_with_fallback is not None) is fallback
        outcomes = [each.outcome for each in found.answer]
        for outcome in (*outcomes, *(each.outcome for each in found.reference)):
            assert isinstance(outcome, Verdict if fallback else Unscored)
            if isinstance(outcome, Verdict):
                assert outcome.source == "similarity"
                assert outcome.fallback_from is not None
