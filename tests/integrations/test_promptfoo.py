"""The assertion, as promptfoo calls a Python file: its interface is documented, it runs on node."""

import json
from typing import Any

import pytest

from judge.integrations.promptfoo import get_assert
from tests.chat_call import ChatCall
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import JudgeServer

pytestmark = pytest.mark.usefixtures("place")
NOTICE, HOLIDAYS = "Either side gives four weeks' notice.", "员工每年有15天年假。"


def test_a_grading_result() -> None:
    """`pass`, `score` and `reason` are required, each component has them; it all goes as JSON."""
    context = {"vars": {"question": "Notice?", "context": [NOTICE, HOLIDAYS]}, "config": {}}
    output = "Either side gives four weeks' notice [1]. Bears dance at night."
    told = json.loads(json.dumps(get_assert(output, context)))
    assert (told["pass"], told["score"]) == (False, 0.5)
    assert "1 of 2 claims is not supported: Bears dance at night." in told["reason"]
    assert told["reason"].startswith("faithfulness 0.500, similarity:")
    named = {"faithfulness": 0.5, "coverage": 0.5, "citation_validity": 1, "citation_recall": 0.5}
    assert told["namedScores"] == named
    parts = [(each["pass"], each["score"]) for each in told["componentResults"]]
    assert parts == [(True, 1.0), (False, 0.0)]
    assert get_assert(output, {**context, "config": {"at_least": 0.5}})["pass"]


def test_where_passages_are() -> None:
    """In a variable, a text or documents; in the provider's metadata; or where a path leads."""
    document = {"page_content": HOLIDAYS, "metadata": {"source": "hr"}}
    table: list[dict[str, Any]] = [
        {"vars": {"context": HOLIDAYS}},
        {"vars": {"context": [HOLIDAYS]}},
        {"vars": {"context": [document]}},
        {"vars": {}, "metadata": {"context": [HOLIDAYS]}},
        {"vars": {}, "providerResponse": {"metadata": {"context": HOLIDAYS}}},
        {"vars": {"docs": [{"t": HOLIDAYS}]}, "config": {"map": {"chunks": "vars.docs[].t"}}},
        {"vars": {"context": "no"}, "metadata": {"x": HOLIDAYS}}
        | {"config": {"map": {"chunks": "metadata.x"}}},
    ]
    for context in table:
        told = get_assert("员工每年有15天年假。", context)
        assert (told["pass"], told["score"]) == (True, 1.0), context


def test_nothing_unscored_passes() -> None:
    def answered(asked: ChatCall) -> Answer:
        if asked.is_probe:
            return right(asked)
        if any("Broken" in text for text in asked.sentences.values()):
            return Status(500, "")
        return Says(verdicts(asked, **dict.fromkeys(asked.sentences, "full")))

    with JudgeServer(answered) as server:
        settings = server.config().model_dump(mode="json", exclude_defaults=True)
        config = {"at_least": 0.1, **settings}
        for output in ("Broken line here.", "I cannot answer that.", "", None):
            told = get_assert(output, {"vars": {"context": [NOTICE]}, "config": config})
            assert told["reason"].startswith("no score: "), told
            assert not told["pass"]
            assert "faithfulness" not in told["namedScores"]
            assert told["componentResults"] == []
        told = get_assert("Four weeks.", {"vars": {"context": [NOTICE]}, "config": config})
        assert told["pass"]
        assert server.calls
