"""The queue of live requests, their deadlines, and clients that hang up."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from judge.config import Config
from judge.service.requests import Limits
from tests.chat_call import ChatCall
from tests.commands import line
from tests.replies import Answer, Slow, right
from tests.server import JudgeServer
from tests.service_process import Serving


class GatedScript:
    """A script that answers once `open` is set."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.open = threading.Event()

    def __call__(self, asked: ChatCall) -> Answer:
        if asked.is_probe:
            return right(asked)
        self.asked.release()
        return right(asked) if self.open.is_set() else Slow(30, right(asked))


def body(qid: str) -> bytes:
    return json.dumps(line(qid, f"Room {qid} opens at seven.")).encode()


def test_a_full_queue_says_when_to_try_again(tmp_path: Path) -> None:
    with JudgeServer(lambda asked: Slow(0.4, right(asked))) as judge:
        limits = Limits(queue=1)
        with (
            Serving(tmp_path, judge.config(concurrency=1), limits) as serving,
            ThreadPoolExecutor(6) as pool,
        ):
            sent = [
                pool.submit(serving.http.post, "/v1/evaluations", content=body(f"q{n}"))
                for n in range(6)
            ]
            answers = [each.result() for each in sent]
            codes = sorted(each.status_code for each in answers)
            assert codes == [200, 200, 429, 429, 429, 429]
            refused = [each for each in answers if each.status_code == 429]
            assert {each.headers["retry-after"] for each in refused} == {"1"}
            assert {each.json()["type"][-10:] for each in refused} == {"queue-full"}


def test_bodies_in_memory_are_limited_together(tmp_path: Path) -> None:
    arrived, judged = threading.Event(), threading.Event()

    def script(asked: ChatCall) -> Answer:
        if not asked.is_probe:
            arrived.set()
            assert judged.wait(20)
        return right(asked)

    large = json.dumps(line("q", "Room q opens at seven.") | {"note": "x" * 600_000}).encode()
    limits = Limits(max_body=1, max_memory=1)
    with (
        JudgeServer(script) as judge,
        Serving(tmp_path, judge.config(), limits) as serving,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(serving.http.post, "/v1/evaluations", content=large)
        assert arrived.wait(20)
        second = serving.http.post("/v1/evaluations", content=large)
        judged.set()
        assert (second.status_code, second.json()["type"][-10:]) == (429, "queue-full")
        assert second.headers["retry-after"] == "1"
        assert first.result().status_code == 200
        assert serving.http.post("/v1/evaluations", content=large).status_code == 200


def test_hanging_up_cancels_the_calls(tmp_path: Path) -> None:
    script = GatedScript()
    with JudgeServer(script) as judge, Serving(tmp_path, judge.config(concurrency=1)) as serving:
        with httpx.Client(base_url=serving.url, timeout=httpx.Timeout(30, read=0.2)) as http:
            try:
                http.post("/v1/evaluations", content=body("q1"))
            except httpx.ReadTimeout:
                pass
            else:
                raise AssertionError("it was answered")
        script.open.set()
        # Its place is free for the next request.
        answer = serving.http.post("/v1/evaluations", content=body("q2"))
        assert (answer.status_code, answer.json()["status"]) == (200, "scored")
        assert "judge_in_flight 0.0" in serving.http.get("/metrics").text


def test_a_deadline_leaves_claims_unscored_and_ends_a_judge_without_a_server(
    tmp_path: Path,
) -> None:
    with (
        JudgeServer(GatedScript()) as judge,
        Serving(tmp_path / "a", judge.config(deadline=0.5)) as serving,
    ):
        answer = serving.http.post("/v1/evaluations", content=body("q")).json()
        outcome = answer["sentences"][0]["outcome"]
        assert (answer["status"], outcome["fallback_from"]["reason"]) == ("unscored", "timeout")
    long = line("q", "The canteen opens at seven. " * 60_000)
    with Serving(tmp_path / "b", Config(deadline=0.01)) as serving:
        answer = serving.http.post("/v1/evaluations", json=long)
        assert (answer.status_code, answer.json()["type"][-8:]) == (504, "too-late")


def test_an_unreachable_judge_is_no_bug_and_the_service_not_ready(tmp_path: Path) -> None:
    with JudgeServer() as judge:
        serving = Serving(tmp_path, judge.config())
        with serving:
            assert serving.http.get("/readyz").status_code == 200
            judge.close()
            answer = serving.http.get("/readyz")
            assert (answer.status_code, "cannot be reached" in answer.text) == (503, True)
            outcome = serving.http.post("/v1/evaluations", content=body("q")).json()["sentences"][0]
            assert outcome["outcome"]["fallback_from"]["reason"] == "connection"
