"""Live answers and their queue, errors, logs, metrics and tokens of the service."""

import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from judge.config import Config
from judge.errors import ConfigError
from judge.service.monitoring import JsonLines
from judge.service.requests import Limits, read_tokens
from tests.chat_call import ChatCall
from tests.commands import line
from tests.replies import Answer, Reset, Slow, calls, right
from tests.server import JudgeServer
from tests.service_process import QUICKSTART, Serving

PRIVATE = "a text that nobody else should see"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    limits = Limits(max_body=0.1, max_batch=0.1)
    with Serving(tmp_path_factory.mktemp("data"), limits=limits) as serving:
        yield serving


# Method, path, body; then the status, the name of the problem, and a part of its detail.
_CHUNK = {"chunk_id": "a", "text": PRIVATE}
ONE = "/v1/evaluations"
REFUSED: list[tuple[str, str, object, int, str, str]] = [
    ("POST", ONE, b"", 400, "bad-request", "bad JSON"),
    ("POST", ONE, b'{"answer": "' + PRIVATE.encode(), 400, "bad-request", "column"),
    ("POST", ONE, b"[" * 10_000, 400, "bad-request", "not JSON"),
    ("POST", ONE, [PRIVATE], 400, "bad-request", "a JSON object"),
    ("POST", ONE, {"answer": PRIVATE}, 422, "wrong-field", "; send the fields that /docs shows"),
    ("POST", ONE, {"answer": 5, "chunks": []}, 422, "wrong-field", "is a number; text is needed"),
    ("POST", ONE, {"answer": "", "chunks": [_CHUNK, 7]}, 422, "wrong-field", "chunks[1]"),
    ("POST", ONE, b"x" * 200_000, 413, "too-large", "0.1 MB"),
    ("POST", "/v1/batches", b"x" * 200_000, 413, "too-large", "0.1 MB"),
    ("POST", "/v1/batches?fail_under=nope", b"{}", 422, "wrong-setting", "nope"),
    ("POST", "/v1/batches?skip_bad_line=true", b"{}", 422, "wrong-field", "skip_bad_line"),
    ("POST", "/v1/batches?relevance=true", b"{}", 422, "wrong-setting", "language model"),
    ("PUT", "/v1/batches/%2e%2e", b"{}", 422, "wrong-field", "id"),
    ("GET", "/v1/batches/none", b"", 404, "not-found", "none"),
    ("GET", "/v1/batches?limit=0", b"", 422, "wrong-field", "limit"),
    ("GET", "/v1/evaluations", b"", 405, "wrong-method", "/docs"),
    ("GET", "/nothing", b"", 404, "not-found", "/docs"),
]


def test_errors_are_problems_without_texts(serving: Serving) -> None:
    for method, path, body, status, name, said in REFUSED:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = serving.http.request(method, path, content=data)
        told = answer.json()
        case = f"{method} {path} {data[:40]!r}: {answer.status_code} {told}"
        assert answer.status_code == told["status"] == status, case
        assert answer.headers["content-type"] == "application/problem+json", case
        assert told["type"] == f"urn:judge:problem:{name}", case
        assert told["request"] == answer.headers["x-request-id"], case
        assert said in f"{told['detail']} {told.get('field')}", case
        assert not any(each in answer.text for each in (PRIVATE, "--map")), case
        assert str(serving.data) not in answer.text, case
    assert [each.name for each in serving.data.iterdir() if each.name != ".lock"] == []


def test_other_host_names_are_refused(serving: Serving) -> None:
    port = serving.url.rpartition(":")[2]
    for headers, status in (
        ({"Host": "evil.example"}, 400),
        ({"Host": f"127.0.0.1.evil.example:{port}"}, 400),
        ({"Host": f"localhost:{port}@evil.example"}, 400),
        ({"Host": ""}, 400),
        ({"Host": f"localhost:{port}"}, 200),
    ):
        answer = serving.http.get("/healthz", headers=headers)
        assert answer.status_code == status, headers


def test_health_and_metrics(serving: Serving) -> None:
    assert serving.http.get("/healthz").json() == {"status": "ok"}
    assert serving.http.get("/readyz").json() == {"status": "ok"}
    one = QUICKSTART.read_bytes().splitlines()[0]
    assert serving.http.post("/v1/evaluations", content=one).status_code == 200
    lines = serving.http.get("/metrics").text.splitlines()
    found = {line.rpartition(" ")[0]: float(line.split()[-1]) for line in lines if line[0] != "#"}
    asked = 'judge_requests_total{client="-",method="POST",route="/v1/evaluations",status="200"}'
    assert found[asked] >= 1
    assert found['judge_answers_total{of="live"}'] >= 1
    assert (found["judge_queue"], found["judge_in_flight"]) == (0, 0)
    assert found['judge_batches{state="running"}'] == 0


def test_logs_are_json_with_ids_and_no_text(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "judge.service")
    body = {"qid": "q", "answer": PRIVATE, "chunks": [PRIVATE]}
    headers = {"X-Request-Id": "mine-1"}
    serving.http.post("/v1/evaluations", json=body, headers=headers)
    serving.http.post("/v1/evaluations", json={**body, "chunks": PRIVATE}, headers=headers)
    serving.http.post("/v1/evaluations", json=body, headers={"X-Request-Id": "a b"})
    serving.http.get("/healthz")  # a line is written once its answer is sent
    lines = [JsonLines().format(record) for record in caplog.records]
    entries = [each for each in map(json.loads, lines) if each["route"] == "/v1/evaluations"]
    assert [entry["status"] for entry in entries] == [200, 422, 200]
    assert [entry["request"] == "mine-1" for entry in entries] == [True, True, False]
    assert PRIVATE not in "".join(lines)


TOKENS = "ci:0123456789abcdef0123,web:fedcba98765432100123"


def test_all_but_the_probes_need_a_token(tmp_path: Path) -> None:
    one = QUICKSTART.read_bytes().splitlines()[0]
    with Serving(tmp_path, tokens=TOKENS) as serving:
        http = serving.http
        assert http.get("/healthz").status_code == http.get("/readyz").status_code == 200
        for header in ("", "Bearer", "Bearer guess", "Basic 0123456789abcdef0123", "é"):
            headers = [(b"Authorization", header.encode())]
            for path in ("/", "/v1/batches", "/metrics"):
                answer = http.get(path, headers=headers)
                challenges = answer.headers.get_list("www-authenticate")
                assert (answer.status_code, [each.split()[0] for each in challenges]) == (
                    401,
                    ["Bearer", "Basic"],
                )
        twice = httpx.Headers([("Authorization", "Bearer 0123456789abcdef0123")] * 2)
        assert http.get("/v1/batches", headers=twice).status_code == 401
        known = {"Authorization": "Bearer fedcba98765432100123"}
        assert http.post("/v1/evaluations", content=one, headers=known).status_code == 200
        assert http.get("/", auth=("", "fedcba98765432100123")).status_code == 200
        metrics = http.get("/metrics", headers=known).text
        assert 'client="web"' in metrics
        assert "fedcba" not in metrics


def test_a_short_token_behind_a_role_is_refused_and_not_read_with_the_role() -> None:
    with pytest.raises(ConfigError, match="entry 2 is neither NAME:TOKEN nor NAME:ROLE:TOKEN"):
        read_tokens("ci:0123456789abcdef,look:read:0123456789a")


def test_roles_of_tokens(tmp_path: Path) -> None:
    names = ("look", "ci", "web", "ops")
    tokens = {name: f"{name}-0123456789abcdef" for name in names}
    roles = {"look": "read:", "ci": "write:", "web": "", "ops": "admin:"}
    text = ",".join(f"{name}:{roles[name]}{token}" for name, token in tokens.items())
    body = QUICKSTART.read_bytes()
    with Serving(tmp_path, tokens=text) as serving:

        def asks(name: str, method: str, path: str, content: bytes = b"") -> int:
            headers = {"Authorization": f"Bearer {tokens[name]}"}
            return serving.http.request(method, path, content=content, headers=headers).status_code

        assert asks("ci", "PUT", "/v1/batches/a", body) == 201
        assert asks("look", "GET", "/v1/batches/a") == 200
        for method, path in (("POST", "/v1/evaluations"), ("PUT", "/v1/batches/b")):
            assert asks("look", method, path, body.splitlines()[0]) == 403
        assert asks("look", "DELETE", "/v1/batches/a") == 403
        assert asks("web", "DELETE", "/v1/batches/a?purge=true") == 403
        assert asks("web", "DELETE", "/v1/batches/a") == 200
        assert asks("ops", "DELETE", "/v1/batches/a?purge=true") == 204
        assert asks("ci", "PUT", "/v1/batches/a", body) == 201
        assert asks("ci", "DELETE", "/v1/batches/a?purge=true") == 204


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
    is_open = threading.Event()

    def script(asked: ChatCall) -> Answer:
        answers = asked.is_probe or is_open.is_set()
        return right(asked) if answers else Slow(30, right(asked))

    with JudgeServer(script) as judge, Serving(tmp_path, judge.config(concurrency=1)) as serving:
        with httpx.Client(base_url=serving.url, timeout=httpx.Timeout(30, read=0.2)) as http:
            try:
                http.post("/v1/evaluations", content=body("q1"))
            except httpx.ReadTimeout:
                pass
            else:
                raise AssertionError("it was answered")
        is_open.set()
        # Its place is free for the next request.
        answer = serving.http.post("/v1/evaluations", content=body("q2"))
        assert (answer.status_code, answer.json()["status"]) == (200, "scored")
        assert "judge_in_flight 0.0" in serving.http.get("/metrics").text


def test_a_deadline_leaves_claims_unscored_and_ends_a_judge_without_a_server(
    tmp_path: Path,
) -> None:
    with (
        JudgeServer(calls(Slow(30, Reset()))) as judge,
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
