"""The settings of the LLM judge, from each place they may come from to what the server sees."""

import re
from pathlib import Path

import pytest

from judge import Unscored, Verdict
from judge.files.runs import read_record, read_summary
from judge.records import FlagName, SampleResult, Support, UnscoredReason
from tests.asked import Asked
from tests.commands import Ran, judge, line, results, write
from tests.faults import cut, error
from tests.replies import Answer, Says, calls, packed, picky, right, verdict, verdicts
from tests.server import JudgeServer

ANSWER = "Room 1 is open [1]. Room 2 is shut. 第3室九点开放。 第4室关闭。 Thanks for asking!"


@pytest.fixture
def samples(place: Path) -> Path:
    return write(place / "in.jsonl", [line("q1", ANSWER), line("q2", "第5室开放。")])


def score(samples: Path, *more: object, name: str = "run") -> Ran:
    return judge("score", samples, "-o", samples.with_name(name), *more)


def one(samples: Path) -> SampleResult:
    return results(samples.with_name("run"))[0]


def test_sentences_a_call_and_the_limit_on_a_reply(samples: Path, server: JudgeServer) -> None:
    more = ("--sentences-per-call", "1", "--max-reply-tokens", "701")
    assert score(samples, *server.words, *more).code == 0
    asked = server.requests[1:]
    assert sorted(each.ids for each in asked) == [["s1"], ["s1"], ["s2"], ["s3"], ["s4"]]
    assert {each.body["max_tokens"] for each in asked} == {701}
    summary = read_summary(samples.with_name("run"))
    assert (summary.calls, summary.claims) == (5, 5)
    # The rest of the answer is shown all the same.
    assert all("第4室关闭。" in each.user for each in asked if "Room 1" in each.user)


def test_a_named_model_is_not_asked_where_similarity_judges(
    samples: Path, server: JudgeServer
) -> None:
    ran = score(samples, *server.words, "--judge", "similarity")
    assert (ran.code, server.requests) == (0, [])
    assert "Share of sentences that look supported" in ran.out
    assert not samples.with_name("caches").exists()


# Options, and what the one line says.
REFUSED = [
    ("--judge llm", "judge: judge 'llm' needs a model: name one with --model or JUDGE_MODEL\n"),
    ("--base-url http://localhost:1/v1", "'http://localhost:1/v1' (--base-url or OPENAI_BASE_URL)"),
    ("--model tiny", "OPENAI_API_KEY is not set"),
    ("--model tiny", "--base-url"),
    ("--model tiny --concurrency 0", "concurrency = 0"),
    ("--model tiny --max-evidence-tokens 10", "max_evidence_tokens = 10"),
    ("--model tiny --judge oracle", "oracle"),
    ("--model tiny --base-url localhost:8000", "base_url"),
    ("--model tiny --base-url localhost:8000", "localhost:8000"),
    ("--model tiny --config nowhere.toml", "nowhere.toml"),
]


def test_settings_that_cannot_be_are_one_line(samples: Path) -> None:
    for options, told in REFUSED:
        ran = score(samples, *options.split())
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), options
        assert told in ran.err, options
    assert not samples.with_name("run").exists()


def test_a_pattern_that_takes_too_long_is_one_line(place: Path) -> None:
    # Over a second, which is its limit: the first of many answers ends the run.
    lines = [line(f"q{n}", f"It opens at seven [1]. {'a' * 60}!") for n in range(9)]
    source = write(place / "in.jsonl", lines)
    ran = score(source, "--citation-pattern", "(a|aa)+$", "--concurrency", "1")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    # Answers are read ahead: which of them is named depends on which thread ends first.
    said = "judge: citation_pattern '(a|aa)+$' takes more than 1.0 s of computing for answer 'q#'; "
    said += "give a simpler pattern, without a repeat inside a repeat\n"
    assert re.sub(r"'q\d+'", "'q#'", ran.err) == said
    assert score(source, "--citation-pattern", r"\[(\d+)\]", "--force").code == 0
    assert len(results(place / "run")) == 9


@pytest.mark.no_cover
def test_the_environment(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-0123456789 \n")
    # A server without a model is half a choice.
    ran = score(samples, name="alone")
    assert (ran.code, ran.out, ran.err.count("\n"), server.requests) == (2, "", 1, [])
    assert "add --model or JUDGE_MODEL, or say --judge similarity" in ran.err
    assert not samples.with_name("alone").exists()
    assert score(samples, "--judge", "similarity", name="said").code == 0
    assert judge("cache", "stats").code == 0  # where no judge judges
    # A key alone names none.
    monkeypatch.delenv("OPENAI_BASE_URL")
    alone = score(samples, name="alone")
    assert (alone.code, alone.err, server.requests) == (0, "", [])
    assert "similarity" in alone.out
    monkeypatch.setenv("JUDGE_MODEL", "")
    ran = score(samples, name="empty")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("judge: environment: JUDGE_MODEL is empty")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
    monkeypatch.setenv("JUDGE_MODEL", "from-environment")
    assert score(samples).code == 0
    assert {asked.body["model"] for asked in server.requests} == {"from-environment"}
    assert {a.headers["Authorization"] for a in server.requests} == {"Bearer sk-0123456789"}
    # An option wins.
    assert score(samples, "--model", "given", name="two").code == 0
    assert server.requests[-1].body["model"] == "given"


def test_the_settings_file_of_the_working_folder(
    samples: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'model = "from-file"\nbase_url = "{server.base_url}"\nsentences_per_call = 2\n'
    file = samples.with_name("judge.toml")
    file.write_text(text)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    # It may have come with the samples: it alone does not say where they and the key go.
    for command in (("score", samples, "-o", "run"), ("cache", "stats"), ("cache", "clear")):
        ran = judge(*command)
        assert (ran.code, ran.out, server.requests) == (2, "", [])
        assert ran.err == (
            f"judge: judge.toml: sets base_url (OPENAI_API_KEY would have gone to {server.base_url}"
            "), which a file that is merely found may not; read it, then take it this once with "
            "--config judge.toml, or until it changes with --trust-config\n"
        )
    assert not samples.with_name("run").exists()
    said = "judge: settings from judge.toml: model, base_url, sentences_per_call\n"
    ran = score(samples, "--trust-config")
    assert (ran.code, said in ran.err, said in ran.out) == (0, True, False)
    assert [asked.body["model"] for asked in server.requests] == ["from-file"] * 4
    assert score(samples, "--config", file, name="named").err.count("settings from") == 0
    del server.requests[4:]
    monkeypatch.setenv("JUDGE_MODEL", "from-environment")
    assert score(samples, "--sentences-per-call", "16", name="two").code == 0
    assert [asked.body["model"] for asked in server.requests[4:]] == ["from-environment"] * 3
    config = read_record(samples.with_name("two")).config
    assert (config["model"], config["sentences_per_call"]) == ("from-environment", 16)


def test_what_is_asked_beside_is_sent_and_signed(samples: Path, server: JudgeServer) -> None:
    beside = '{"top_k": 1, "chat_template_kwargs": {"enable_thinking": false}}'
    more = ("--reasoning-effort", "low", "--extra-body", beside, "--headers", '{"X-Team": "a"}')
    assert score(samples, *server.words).code == 0
    plain = server.requests[:]
    # Another way to ask: nothing that was settled or kept is taken for it.
    assert score(samples, *server.words, *more, name="two").code == 0
    asked = server.requests[len(plain) :]
    assert (server.probes, server.calls) == (2, 4)
    assert {each.headers["X-Team"] for each in asked} == {"a"}
    assert [each.body["reasoning_effort"] for each in asked] == ["low"] * 3
    assert [each.body["chat_template_kwargs"] for each in asked] == [{"enable_thinking": False}] * 3
    assert all("top_k" not in each.body and "X-Team" not in each.headers for each in plain)
    first, second = (read_record(samples.with_name(name)) for name in ("run", "two"))
    assert "|effort:low|body:" not in first.signature
    assert "|effort:low|body:" in second.signature
    assert second.config["reasoning_effort"] == "low"
    assert "headers" not in second.config
    # Headers are who asks, and not what: asked again by another, all is kept.
    other = (*more[:-1], '{"X-Team": "b"}')
    assert score(samples, *server.words, *other, name="three").code == 0
    assert (server.probes, server.calls) == (2, 4)
    explained = judge("cache", "explain", samples, "q1", *server.words, *more)
    assert (explained.code, "differs" in explained.out) == (0, False)


def test_a_field_that_the_server_does_not_take_is_named(samples: Path) -> None:
    for option, field, value in (
        ("--reasoning-effort", "reasoning_effort", "low"),
        ("--extra-body", "top_k", '{"top_k": 1}'),
    ):
        said = error(400, f"Unrecognized request argument supplied: {field}", field)
        with JudgeServer(picky({field: said})) as server:
            ran = score(samples, *server.words, option, value)
        assert (ran.code, ran.err.count("\n"), server.calls) == (2, 1, 0)
        assert f"leave {field!r} out of {option}; nothing was written" in ran.err


def test_a_misspelt_variable_is_said_and_stops_nothing(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_CONCURENCY", "sk-secret")
    monkeypatch.setenv("JUDGE_HOST", "of another program")
    monkeypatch.setenv("JUDGE_REVIEW_TOKEN", "sk-secret")
    monkeypatch.setenv("JUDGE_EMPTY", "")
    ran = score(samples)
    assert ran.code == 0
    assert ran.err.splitlines()[0] == (
        "judge: environment: JUDGE_CONCURENCY (did you mean JUDGE_CONCURRENCY?), JUDGE_HOST: "
        "no setting, ignored"
    )
    assert "sk-secret" not in ran.err


def test_cut_replies_are_asked_in_halves_where_the_limit_may_not_grow(samples: Path) -> None:
    with JudgeServer(calls(cut, right)) as server:
        more = (*server.words, "--max-reply-tokens", "1312")
        assert score(write(samples, [line("q1", ANSWER)]), *more).code == 0
    asked = [asked.ids for asked in server.requests[1:]]
    assert asked == [["s1", "s2", "s3", "s4"], ["s1", "s2"], ["s3", "s4"]]
    labels = [getattr(s.outcome, "support", None) for s in one(samples).sentences]
    assert labels == [*["full"] * 4, None]
    assert len(one(samples).calls) == 3


def unquoted(asked: Asked) -> Answer:
    if asked.is_probe:
        return right(asked)
    made_up = "nobody ever wrote these words"
    listed = [verdict(asked, name, quote=made_up) for name in ("s3", "s4")]
    return Says(packed([verdict(asked, "s1"), verdict(asked, "s2", "none"), *listed]))


def test_another_judge_than_is_expected_is_asked_nothing(
    samples: Path, server: JudgeServer
) -> None:
    """The signature is known once the server was probed; the samples are not sent."""
    for number, name in enumerate(("similarity", "llm:tin", "llm:tiny@elsewhere")):
        ran = score(samples, *server.words, "--expect", name, "--force")
        assert (ran.code, ran.out) == (2, "")
        assert f"--expect {name!r}: llm:tiny@" in ran.err.splitlines()[-1]
        assert [asked for asked in server.requests if not asked.is_probe] == []
        assert not samples.with_name("run").exists(), number
    assert score(samples, "--expect", "llm", name="alone").code == 2
    assert score(samples, *server.words, "--expect", "llm:tiny", "--force").code == 0
    made = read_record(samples.with_name("run")).signature
    # A finished run that would have been replaced stays as it is.
    kept = samples.with_name("run") / "results.jsonl"
    before = kept.read_bytes()
    assert score(samples, "--expect", made, "--force").code == 2
    assert kept.read_bytes() == before
    assert score(samples, *server.words, "--expect", made, "--force").code == 0


def test_quotes_required(samples: Path) -> None:
    with JudgeServer(unquoted) as server:
        assert score(write(samples, [line("q1", ANSWER)]), *server.words).code == 0
        # Those without are shown, and flagged.
        found = [f.sentence for f in one(samples).flags if f.name is FlagName.UNVERIFIED_QUOTE]
        assert found == [2, 3]
        assert one(samples).scores.judged == 4
        strict = score(samples, *server.words, "--require-quotes", "--force")
        assert server.calls == 1  # and asking again is not needed to hold them to account
    outcomes = [sentence.outcome for sentence in one(samples).sentences[:4]]
    supports = [each.support for each in outcomes if isinstance(each, Verdict)]
    assert supports == [Support.FULL, Support.NONE]
    reasons = [each.reason for each in outcomes if isinstance(each, Unscored)]
    assert reasons == [UnscoredReason.UNVERIFIED] * 2
    assert one(samples).scores.faithfulness == 0.5
    assert strict.code == 0  # two are too few to call the run untrusted
    assert "quotes:required" in strict.out


def test_concurrency_is_what_the_server_sees(place: Path, server: JudgeServer) -> None:
    texts = [f"第{n}室开放。" for n in range(9)]
    source = write(place / "in.jsonl", [line(f"q{n}", text) for n, text in enumerate(texts)])
    assert score(source, *server.words, "--concurrency", "1").code == 0
    assert [text for asked in server.requests for text in asked.sentences.values()] == texts


def test_an_answer_without_claims_or_chunks(place: Path) -> None:
    lines = [line("q1", ""), line("q2", "Thanks for asking!"), line("q3", "第5室开放。", [])]
    with JudgeServer(lambda asked: Says(verdicts(asked, "none"))) as server:
        assert score(write(place / "in.jsonl", lines), *server.words).code == 0
        assert [asked.chunks for asked in server.requests[1:]] == [[]]
    assert [r.status for r in results(place / "run")] == ["no_claims", "no_claims", "scored"]
