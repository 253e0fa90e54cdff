"""Scores sent by the real langfuse to a server on loopback."""

import json
from typing import Any

import pytest
from pydantic import JsonValue

from judge import ConfigError, JudgeError, Sample, SampleResult, evaluate
from tests.known_scores import RATED, TEXT, rater, tool
from tests.post_server import PostServer
from tests.replies import Status

langfuse = tool("langfuse")
ours = tool("judge.integrations.langfuse")

pytestmark = pytest.mark.filterwarnings("default")  # the package's own
TAKEN = Status(202, {"accepted": 1})


def results(**kept: str) -> list[SampleResult]:
    """Return results of an export of traces, or with a `traceId` of observations."""
    rows = [
        {
            "id": name,
            "projectId": "p",
            "input": "差旅标准?",
            "output": {"answer": each.answer, "documents": [TEXT]},
            **kept,
        }
        for name, each in RATED.items()
    ]
    return evaluate([Sample.of(row) for row in rows], evaluator=rater())


def client(server: PostServer) -> Any:  # noqa: ANN401  of an optional package
    # A client is kept for each key.
    pair = {f"{kind}_key": f"{kind}-{server.origin}" for kind in ("public", "secret")}
    return langfuse().Langfuse(**pair, base_url=server.origin, tracing_enabled=False)


def scores(server: PostServer) -> list[list[dict[str, Any]]]:
    """The posted scores, by request."""
    assert {each.path for each in server.posted} == {"/api/public/scores"}
    return [json.loads(each.raw) for each in server.posted]


def test_numbers_and_labels_are_sent() -> None:
    """What has no number is no number there, and says why."""
    with PostServer(TAKEN) as server:
        assert ours().send(results(environment="prod"), client(server)) == len(RATED)
        (sent,) = scores(server)
    words = {"unscored": "unscored", "abstained": "abstained", "empty": "no_claims"}
    words["undecided"] = "unscored"
    assert {each["traceId"]: each["value"] for each in sent} == {
        name: words.get(name, each.score) for name, each in RATED.items()
    }
    kinds = {each["traceId"]: each["dataType"] for each in sent}
    assert {name for name in kinds if kinds[name] == "CATEGORICAL"} == words.keys()
    assert {each["environment"] for each in sent} == {"prod"}
    partly = sent[list(RATED).index("partly")]
    counts = {"claims": 2, "judged": 1, "unscored": 1, "faithfulness_bounds": [0.5, 1.0]}
    assert partly["metadata"] == {"signature": "fake", **counts}
    assert not any(each.answer and each.answer in json.dumps(sent) for each in RATED.values())
    assert not any("comment" in each or "observationId" in each for each in sent)


def test_an_observation_is_scored_in_its_trace_and_a_rerun_overwrites() -> None:
    with PostServer(TAKEN) as server:
        for _ in range(2):
            assert ours().send(results(traceId="t1"), client(server)) == len(RATED)
        first, again = scores(server)
    assert first == again
    assert [(each["traceId"], each["observationId"]) for each in first] == [
        ("t1", name) for name in RATED
    ]
    assert len({each["id"] for each in first}) == len(RATED)


def test_texts_and_other_scores_are_sent_where_they_are_asked_for() -> None:
    names = ("faithfulness", "citation_validity")
    with PostServer(TAKEN) as server:
        some = results() * 20
        assert ours().send(some, client(server), names=names, texts=True) == 2 * len(some)
        sent = scores(server)
    assert [len(each) for each in sent] == [100, 100, 100, 20]
    said = [each["comment"].split("\n")[0] for each in sent[0][: 2 * len(RATED) : 2]]
    assert said == [each.says for each in RATED.values()]
    assert len({each["id"] for each in sent[0]}) == 2 * len(RATED)


def test_what_langfuse_does_not_take_is_an_error() -> None:
    errors: JsonValue = [{"message": "no such config"}]
    refused = Status(207, {"accepted": 4, "rejected": 2, "errors": errors})
    with PostServer(TAKEN, refused, Status(401, {})) as server:
        own = client(server)
        assert ours().send(iter(()), own) == 0
        for names in (("f1",), "faithfulness", ("unsupported",), ("faithfulness_bounds",)):
            with pytest.raises(ConfigError):
                ours().send(results(), own, names=names)
        assert ours().send(results(), own) == len(RATED)
        with pytest.raises(JudgeError, match="Langfuse rejected 2 of 8 scores: no such config"):
            ours().send(results(), own)
        with pytest.raises(langfuse().api.UnauthorizedError):
            ours().send(results(), own)
