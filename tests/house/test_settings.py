"""The settings of the LLM judge, from each place they may come from to what the server sees."""

from pathlib import Path

import pytest

from judge.inputs.runs import read_record
from tests.commands import Ran, judge, line, refused, write
from tests.server import JudgeServer

ANSWER = "Room 1 is open [1]. Room 2 is shut. 第3室九点开放。 第4室关闭。 Thanks for asking!"


@pytest.fixture
def samples(place: Path) -> Path:
    return write(place / "in.jsonl", [line("q1", ANSWER), line("q2", "第5室开放。")])


def score(samples: Path, *more: object, name: str = "run") -> Ran:
    return judge("score", samples, "-o", samples.with_name(name), *more)


def test_the_environment(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-0123456789 \n")
    monkeypatch.setenv("JUDGE_CONCURENCY", "sk-secret")  # a slip stops nothing, and is not repeated
    # A server without a model is half a choice.
    assert score(samples, name="alone").code == 2
    assert not samples.with_name("alone").exists()
    ran = score(samples, "--judge", "similarity", name="said")
    assert ran.code == 0
    assert "JUDGE_CONCURENCY (did you mean JUDGE_CONCURRENCY?)" in ran.err
    assert "sk-secret" not in ran.err
    assert judge("cache", "stats").code == 0  # where no judge judges
    # A key alone names none.
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert score(samples, name="alone").code == 0
    assert server.requests == []
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
    monkeypatch.setenv("JUDGE_MODEL", "from-environment")
    assert score(samples).code == 0
    assert {call.body["model"] for call in server.requests} == {"from-environment"}
    assert {a.headers["Authorization"] for a in server.requests} == {"Bearer sk-0123456789"}
    # An option wins.
    assert score(samples, "--model", "given", name="two").code == 0
    assert server.requests[-1].body["model"] == "given"


def test_a_found_settings_file_may_not_set_a_server(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'model = "from-file"\nbase_url = "{server.base_url}"\nsentences_per_call = 2\n'
    samples.with_name("judge.toml").write_text(text)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    # It may have come with the samples: it alone does not say where they and the key go.
    for command in (("score", samples, "-o", "run"), ("cache", "stats"), ("cache", "clear")):
        refused(judge(*command), "OPENAI_API_KEY would have gone to")
    assert server.requests == []
    assert not samples.with_name("run").exists()
    assert score(samples, "--config", "judge.toml").code == 0
    assert [call.body["model"] for call in server.requests] == ["from-file"] * 4


def test_extra_fields_of_requests_are_sent_and_signed(samples: Path, server: JudgeServer) -> None:
    beside = '{"top_k": 1, "chat_template_kwargs": {"enable_thinking": false}}'
    more = ("--reasoning-effort", "low", "--extra-body", beside, "--headers", '{"X-Team": "a"}')
    assert score(samples, *server.words).code == 0
    plain = server.requests[:]
    # Another way to ask: nothing that was settled or kept is taken for it.
    assert score(samples, *server.words, *more, name="two").code == 0
    requests = server.requests[len(plain) :]
    assert (server.probes, server.calls) == (2, 4)
    assert {each.headers["X-Team"] for each in requests} == {"a"}
    assert [each.body["reasoning_effort"] for each in requests] == ["low"] * 3
    assert [each.body["chat_template_kwargs"] for each in requests] == [
        {"enable_thinking": False}
    ] * 3
    assert all("top_k" not in each.body and "X-Team" not in each.headers for each in plain)
    record = read_record(samples.with_name("two"))
    assert "|effort:low|body:" in record.signature
    assert "headers" not in record.config
    # Headers are who asks, and not what: asked again by another, all is kept.
    assert score(samples, *server.words, *more[:-1], '{"X-Team": "b"}', name="three").code == 0
    assert (server.probes, server.calls) == (2, 4)


def test_an_unexpected_judge_gets_no_request(samples: Path, server: JudgeServer) -> None:
    """The signature is known once the server was probed; the samples are not sent."""
    for name in ("similarity", "llm:tin", "llm:tiny@elsewhere"):
        ran = score(samples, *server.words, "--expect", name, "--force")
        assert (ran.code, ran.out) == (2, "")
        assert [call for call in server.requests if not call.is_probe] == []
        assert not samples.with_name("run").exists()
    assert score(samples, *server.words, "--expect", "llm:tiny", "--force").code == 0
    made = read_record(samples.with_name("run")).signature
    # A finished run that would have been replaced stays as it is.
    kept = samples.with_name("run") / "results.jsonl"
    before = kept.read_bytes()
    assert score(samples, "--expect", made, "--force").code == 2
    assert kept.read_bytes() == before
