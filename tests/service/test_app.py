"""Live answers, errors, logs, metrics and tokens of the service."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from judge.errors import ConfigError
from judge.service.monitoring import JsonLines
from judge.service.requests import Limits, read_tokens
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
    ("POST", ONE, {"answer": PRIVATE}, 422, "wrong-field", "is missing"),
    ("POST", ONE, {"answer": 5, "chunks": []}, 422, "wrong-field", "is a number; text is needed"),
    ("POST", ONE, {"answer": "", "chunks": {PRIVATE: 1}}, 422, "wrong-field", "object"),
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
        assert PRIVATE not in answer.text, case
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
