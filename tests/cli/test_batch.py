"""`judge batch` over real HTTP: what batches bring, `judge score` finds in the cache."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.asked import Asked
from tests.commands import Ran, judge, line, results, write
from tests.provider import BatchProvider
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import refused_url

EXPIRED = Status(0, {"code": "batch_expired", "message": "This request was not made in time."})
SAMPLES = [
    line(qid="cut", answer="The canteen opens at seven. It closes at three."),
    line(qid="broken", answer="It is open from Monday to Friday."),
    line(qid="expired", answer="食堂早上七点开门。"),
    line(qid="busy", answer="It is open all year round."),
    line(qid="plain", answer="It closes at three, from Monday to Friday."),
]


class Faulty:
    """Each sample's first reply has a fault of its own; what is asked again gets a right one."""

    def __init__(self) -> None:
        self._met: set[str] = set()

    def __call__(self, asked: Asked) -> Answer:
        text = " ".join(asked.sentences.values())
        first = text not in self._met
        self._met.add(text)
        if first and "at seven" in text:
            return Says(verdicts(asked)[:20], finish="length")
        if first and text.startswith("It is open from"):
            return Says("no JSON at all")
        if first and "食堂" in text:
            return EXPIRED
        if first and "all year" in text:
            return Status(500, {"error": {"message": "overloaded"}})
        return right(asked)


def batch(*words: object, code: int = 0) -> str:
    ran = judge("batch", *words)
    assert ran.code == code, ran
    return " ".join((ran.out + ran.err).split())


def rounds(server: BatchProvider, *words: object) -> int:
    """Go round until nothing is left; how many batches that takes."""
    for number in range(9):
        said = batch("write", "samples.jsonl", "-o", "night", *server.words, *words)
        if "nothing is left" in said:
            return number
        for step in ("send", "status", "fetch", "read"):
            said = batch(step, "night")
    raise AssertionError(said)


def scored(*words: object, into: str) -> Ran:
    ran = judge("score", "samples.jsonl", "-o", into, *words)
    assert ran.code == 0, ran
    return ran


def test_batches_fill_the_cache_that_a_run_then_reads(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    with BatchProvider(Faulty()) as server:
        assert rounds(server) == 2, "the first, and one for what failed, was cut or was broken"
        assert server.calls == 0
        scored(*server.words, into="night.run")
        assert server.calls == 0, "nothing of what a batch brought is asked for again"
        scored(*server.words, "--cache-dir", "other", into="live.run")
    fields = {"scores", "sentences", "citations", "flags", "signature"}
    night, live = (
        [each.model_dump(include=fields) for each in results(place / run)]
        for run in ("night.run", "live.run")
    )
    assert night == live


@pytest.mark.parametrize("words", [("--correctness",), ("--relevance",)])
def test_a_batch_asks_all_that_a_run_would(words: Sequence[str], place: Path) -> None:
    gold = "The canteen opens at seven."
    write(
        place / "samples.jsonl",
        [line("1", gold) | {"query": "When does it open?", "gold_answer": gold}],
    )
    with BatchProvider() as server:
        assert rounds(server, *words) == 1
        scored(*server.words, *words, into="run")
        assert server.calls == 0


def test_a_judge_without_a_network_is_asked_by_file(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES[2:])
    words = ("--model", "tiny", "--base-url", refused_url())
    args = ("write", "samples.jsonl", "-o", "night", *words)
    said = batch(*args, "--no-probe", "--max-requests", "2", "--correctness")
    assert "requests-001.jsonl: 2 requests" in said
    assert "requests-002.jsonl: 1 request" in said
    answered = []
    maker = BatchProvider()
    for path in sorted((place / "night").glob("requests-*.jsonl")):
        for text in path.read_text("utf-8").splitlines():
            request = json.loads(text)
            asked = Asked(0, json.dumps(request["body"]).encode(), {})
            body = maker.completion(asked, Says(verdicts(asked), model="tiny-2026"))
            response = {"status_code": 200, "body": body}
            answered.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
    (place / "out.jsonl").write_text("\n".join([*answered, "{}", ""]), "utf-8")
    said = batch("read", "night", "out.jsonl")
    assert "3 judged, 0 wait" in said
    assert "1 × a line is no reply to a request of this folder" in said
    assert "nothing is left to ask" in said
    # The server is not there: all of it, and what it takes, is known.
    scored(*words, "--correctness", into="run")
    assert {each.status for each in results(place / "run")} == {"scored"}


def test_a_file_is_sent_once_whatever_is_cut_off(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    refusing = {"POST /v1/batches": Status(400, {"error": {"message": "billing limit"}})}
    with BatchProvider(refusing=refusing, looks=2) as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        before = (place / "night" / "batch.json").read_bytes()
        assert "billing limit" in batch("send", "night", code=2)
        batch("send", "night")
        (place / "night" / "batch.json").write_bytes(before)  # as a kill -9 leaves it
        assert "was sent before" in batch("send", "night")
        assert batch("send", "night") == "nothing to send"
        assert len(server.batches) == 1
        assert "validating" in batch("status", "night")
        said = batch("write", "samples.jsonl", "-o", "night", *server.words)
        assert "nothing to write: 5 requests of before may still be answered" in said
        assert "may still be answered: judge batch status" in batch("read", "night")
        assert "completed" in batch("status", "night", "--wait", "--every", "0.01")
        batch("fetch", "night")
        assert "nothing is left to ask" in batch("read", "night")


def test_what_cannot_be_is_one_line_with_what_to_do(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    write(place / "others.jsonl", SAMPLES[:1])
    with BatchProvider(refusing={"POST /v1/files": Status(404, "no such page")}) as server:
        (place / "full").mkdir()
        (place / "full" / "theirs").touch()
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        wrong = {
            "only a language model .* --model": ("write", "samples.jsonl", "-o", "x"),
            "leave out --no-cache": (
                *("write", "samples.jsonl", "-o", "x"),
                *server.words,
                "--no-cache",
            ),
            "a file, not standard input": ("write", "-", "-o", "x", *server.words),
            "name another -o": ("write", "others.jsonl", "-o", "night", *server.words),
            "is not empty": ("write", "samples.jsonl", "-o", "full", *server.words),
            "is no batch folder; make one": ("status", "full"),
            "no line of given-others": ("read", "night", "others.jsonl"),
            "nowhere: cannot be read": ("read", "night", "nowhere"),
            r"does this server take batches|--base-url": ("send", "night"),
        }
        for says, words in wrong.items():
            assert re.search(says, batch(*words, code=2)), words
        assert not (place / "x").exists()
        shutil.copy(place / "others.jsonl", place / "samples.jsonl")
        assert "is not what night was written from" in batch("read", "night", code=2)
