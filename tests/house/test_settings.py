"""The settings of the LLM judge, from each place they may come from to what the server sees."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import Unscored, Verdict
from judge.files.runs import read_record, read_summary
from judge.records import FlagName, SampleResult, Support, UnscoredReason
from tests.asked import Asked
from tests.commands import Ran, judge, line, results, write
from tests.faults import cut
from tests.replies import Answer, Says, calls, packed, right, verdict, verdicts
from tests.server import JudgeServer

ANSWER = "Room 1 is open [1]. Room 2 is shut. 第3室九点开放。 第4室关闭。 Thanks for asking!"


@pytest.fixture
def server(place: Path) -> Iterator[JudgeServer]:  # noqa: ARG001  nobody's settings but ours
    with JudgeServer() as server:
        yield server


@pytest.fixture
def samples(place: Path) -> Path:
    return write(place / "in.jsonl", [line("q1", ANSWER), line("q2", "第5室开放。")])


def score(samples: Path, *more: object, name: str = "run") -> Ran:
    return judge("score", samples, "-o", samples.with_name(name), *more)


def one(samples: Path) -> SampleResult:
    return results(samples.with_name("run"))[0]


def address(server: JudgeServer) -> tuple[str, ...]:
    return ("--base-url", server.base_url, "--model", "tiny")


def test_sentences_a_call(samples: Path, server: JudgeServer) -> None:
    assert score(samples, *address(server), "--sentences-per-call", "1").code == 0
    asked = sorted(asked.ids for asked in server.requests[1:])
    assert asked == [["s1"], ["s1"], ["s2"], ["s3"], ["s4"]]
    summary = read_summary(samples.with_name("run"))
    assert (summary.calls, summary.claims) == (5, 5)
    # The rest of the answer is shown all the same.
    assert all("第4室关闭。" in a.user for a in server.requests[1:] if "Room 1" in a.user)


def test_a_named_model_is_not_asked_where_similarity_judges(
    samples: Path, server: JudgeServer
) -> None:
    ran = score(samples, *address(server), "--judge", "similarity")
    assert (ran.code, server.requests) == (0, [])
    assert "Share of sentences that look supported" in ran.out
    assert not samples.with_name("caches").exists()


def test_a_judge_that_is_no_model_is_one_line(samples: Path) -> None:
    ran = score(samples, "--judge", "llm")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "judge: judge 'llm' needs a model: name one with --model or JUDGE_MODEL\n"
    assert not samples.with_name("run").exists()


def test_a_model_without_key_or_address_is_one_line(samples: Path) -> None:
    ran = score(samples, "--model", "tiny")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "OPENAI_API_KEY is not set" in ran.err
    assert "--base-url" in ran.err
    assert not samples.with_name("run").exists()


def test_the_environment(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_MODEL", "from-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-0123456789 \n")
    assert score(samples).code == 0
    assert {asked.body["model"] for asked in server.requests} == {"from-environment"}
    assert {a.headers["Authorization"] for a in server.requests} == {"Bearer sk-0123456789"}
    # An option wins.
    assert score(samples, "--model", "given", name="two").code == 0
    assert server.requests[-1].body["model"] == "given"


def test_a_key_alone_names_no_model(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    ran = score(samples)
    assert (ran.code, server.requests) == (0, [])
    assert "similarity" in ran.out


def test_the_settings_file_of_the_working_folder(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'model = "from-file"\nbase_url = "{server.base_url}"\nsentences_per_call = 2\n'
    samples.with_name("judge.toml").write_text(text)
    assert score(samples).code == 0
    assert [asked.body["model"] for asked in server.requests] == ["from-file"] * 4
    monkeypatch.setenv("JUDGE_MODEL", "from-environment")
    assert score(samples, "--sentences-per-call", "16", name="two").code == 0
    assert [asked.body["model"] for asked in server.requests[4:]] == ["from-environment"] * 3
    record = read_record(samples.with_name("two"))
    assert record.config["model"] == "from-environment"
    assert record.config["sentences_per_call"] == 16


def test_cut_replies_are_asked_in_halves(samples: Path) -> None:
    halves = calls(cut, right)
    lines: list[Mapping[str, JsonValue]] = [line("q1", ANSWER)]
    with JudgeServer(halves) as server:
        assert score(write(samples, lines), *address(server)).code == 0
    assert [asked.ids for asked in server.requests[1:]] == [
        ["s1", "s2", "s3", "s4"],
        ["s1", "s2"],
        ["s3", "s4"],
    ]
    labels = [getattr(s.outcome, "support", None) for s in one(samples).sentences]
    assert labels == [*["full"] * 4, None]
    assert len(one(samples).calls) == 3


def test_the_limit_on_a_reply(samples: Path, server: JudgeServer) -> None:
    assert score(samples, *address(server), "--max-reply-tokens", "777").code == 0
    assert [asked.body["max_tokens"] for asked in server.requests[1:]] == [777, 777]


def unquoted(asked: Asked) -> Answer:
    if asked.is_probe:
        return right(asked)
    made_up = "nobody ever wrote these words"
    listed = [verdict(asked, name, quote=made_up) for name in ("s3", "s4")]
    return Says(packed([verdict(asked, "s1"), verdict(asked, "s2", "none"), *listed]))


def test_quotes_required(samples: Path) -> None:
    lines: list[Mapping[str, JsonValue]] = [line("q1", ANSWER)]
    with JudgeServer(unquoted) as server:
        free = score(write(samples, lines), *address(server))
        assert free.code == 0
        # Those without are shown, and flagged.
        unquoted_ones = [f for f in one(samples).flags if f.name is FlagName.UNVERIFIED_QUOTE]
        assert [flag.sentence for flag in unquoted_ones] == [2, 3]
        assert one(samples).scores.judged == 4
        strict = score(samples, *address(server), "--require-quotes", "--force")
        assert server.calls == 1  # and asking again is not needed to hold them to account
    first, second, *others = (sentence.outcome for sentence in one(samples).sentences[:4])
    assert isinstance(first, Verdict)
    assert isinstance(second, Verdict)
    assert (first.support, second.support) == (Support.FULL, Support.NONE)
    assert all(
        isinstance(outcome, Unscored) and outcome.reason is UnscoredReason.UNVERIFIED
        for outcome in others
    )
    assert one(samples).scores.faithfulness == 0.5
    assert strict.code == 0  # two are too few to call the run untrusted
    assert "quotes:required" in strict.out


def test_concurrency_is_what_the_server_sees(place: Path) -> None:
    lines = [line(f"q{n}", f"第{n}室开放。") for n in range(9)]
    source = write(place / "in.jsonl", lines)
    with JudgeServer() as server:
        assert score(source, *address(server), "--concurrency", "1").code == 0
        order = [text for asked in server.requests for text in asked.sentences.values()]
    assert order == [f"第{n}室开放。" for n in range(9)]


def test_an_answer_without_claims_or_chunks(place: Path) -> None:
    lines = [line("q1", ""), line("q2", "Thanks for asking!"), line("q3", "第5室开放。", [])]
    with JudgeServer(lambda asked: Says(verdicts(asked, "none"))) as server:
        assert score(write(place / "in.jsonl", lines), *address(server)).code == 0
        assert [asked.chunks for asked in server.requests[1:]] == [[]]
    assert [r.status for r in results(place / "run")] == ["no_claims", "no_claims", "scored"]


def test_a_setting_out_of_range_is_one_line(samples: Path) -> None:
    rows = [
        ("--concurrency", "0", "concurrency"),
        ("--max-evidence-tokens", "10", "max_evidence_tokens"),
        ("--judge", "oracle", "judge"),
        ("--base-url", "localhost:8000", "base_url"),
        ("--config", "nowhere.toml", "nowhere.toml"),
    ]
    for option, value, named in rows:
        ran = score(samples, "--model", "tiny", option, value)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert named in ran.err
        assert value in ran.err
    assert not samples.with_name("run").exists()
