"""A cached verdict costs no call; a difference that the judge sees does."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from judge import Support, Verdict
from judge.inputs.runs import read_summary
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, start, write
from tests.replies import Answer, Slow, right
from tests.server import JudgeServer

ANSWER = "The canteen opens at seven [a#1]. 周末不营业[1]。 It is large."
HALL = "The canteen opens at seven, and closes at three, on every day of the week that is not off."
HOURS = "食堂周末和法定节假日不营业，工作日七点开门。"


def sample(**changes: JsonValue) -> dict[str, JsonValue]:
    chunks = {"a#1": HALL, "b#2": HOURS}
    return line("q1", ANSWER, chunks, "什么时候开门?") | changes


def chunked(**texts: str) -> JsonValue:
    """Chunks whose ids have their `_` as a `#`."""
    return [{"chunk_id": name.replace("_", "#"), "text": text} for name, text in texts.items()]


def score(server: JudgeServer, place: Path, name: str, *more: object, **changes: JsonValue) -> None:
    source = write(place / f"{name}.jsonl", [sample(**changes)])
    ran = judge("score", source, "-o", place / name, *server.words, *more)
    assert ran.code == 0, ran.err


def test_a_second_run_makes_no_call(place: Path, server: JudgeServer) -> None:
    lines = [
        sample(qid=f"q{n}", answer=f"{ANSWER} Its number is {n}. 共{n}层。") for n in range(20)
    ]
    source = write(place / "in.jsonl", lines)
    assert judge("score", source, "-o", place / "one", *server.words).code == 0
    assert (server.calls, server.probes) == (20, 1)
    second = judge("score", source, "-o", place / "two", *server.words)
    assert (second.code, server.calls, server.probes) == (0, 20, 1)
    one, two = ([r.model_dump_json() for r in results(place / name)] for name in ("one", "two"))
    assert sum(text.count('"cached":false') for text in one) == 20
    assert two == [text.replace('"cached":false', '"cached":true') for text in one]
    summary = read_summary(place / "two")
    assert (summary.calls, summary.cache_hits, summary.prompt_tokens) == (0, 20, 0)
    assert len(server.requests) == 21


def test_a_half_cached_answer_costs_a_call_for_the_other_half(
    place: Path, server: JudgeServer
) -> None:
    # The cited positions are each sentence's own: the second's are changed, and it alone asks.
    score(server, place, "one")
    ids = chunked(b_2=HALL, a_1=HOURS)
    score(server, place, "two", chunks=ids)
    assert [call.ids for call in server.requests if not call.is_probe] == [
        ["s1", "s2", "s3"],
        ["s1"],
    ]
    (result,) = results(place / "two")
    assert [call.cached for call in result.calls] == [True, False]
    assert server.requests[-1].cites == {"s1": [2]}
    score(server, place, "three")  # and what was cited first is still known
    assert server.calls == 2


CHANGES: Mapping[str, tuple[Sequence[str], Mapping[str, JsonValue]]] = {
    "model": (("--model", "other"), {}),
    "sentences a call": (("--sentences-per-call", "3"), {}),
    "windows": (("--max-evidence-tokens", "9000"), {}),
    "query": ((), {"query": "什么时候关门?"}),
    "a chunk's text": ((), {"chunks": chunked(a_1=HALL, b_2=f"{HOURS}。")}),
    "a chunk more": ((), {"chunks": chunked(a_1=HALL, b_2=HOURS, c_3="x")}),
    "order of chunks": ((), {"chunks": chunked(a_1=HOURS, b_2=HALL)}),
    "answer": ((), {"answer": f"{ANSWER} Thanks!"}),
}


def test_a_change_that_the_judge_sees_costs_a_call(place: Path, server: JudgeServer) -> None:
    score(server, place, "one")
    for number, (name, (words, changes)) in enumerate(CHANGES.items(), start=2):
        score(server, place, name, *words, **changes)
        assert server.calls == number, name
        assert server.requests[-1].ids == ["s1", "s2", "s3"]
        (result,) = results(place / name)
        assert [call.cached for call in result.calls] == [False]
    score(server, place, "again")  # and the first is still kept
    assert server.calls == 1 + len(CHANGES)


def test_other_changes_cost_no_call(place: Path, server: JudgeServer) -> None:
    score(server, place, "one")
    others = ("--no-fallback", "--require-quotes", "--concurrency", "1", "--prior", "0.5")
    score(server, place, "two", *others, qid="another", metadata={"x": 1})
    assert server.calls == 1


def test_cached_verdicts_have_the_new_names_of_renamed_chunks(
    place: Path, server: JudgeServer
) -> None:
    answer = "The canteen opens at seven [1]. 周末不营业[2]。 It is large [9]."
    score(server, place, "one", answer=answer)
    renamed = chunked(handbook_1=HALL, 手册_2=HOURS)
    score(server, place, "two", answer=answer, chunks=renamed)
    assert server.calls == 1
    (one,), (two,) = results(place / "one"), results(place / "two")
    shown = [s.outcome for s in two.sentences if isinstance(s.outcome, Verdict)]
    ids = [(each.supporting, [e.chunk_id for e in each.evidence]) for each in shown]
    first = "handbook#1"
    assert ids == [((first,), [first]), ((first, "手册#2"), [first]), ((first,), [first])]
    cited = [(c.marker, c.chunk_id, c.status) for c in two.citations]
    assert cited == [("[1]", first, "valid"), ("[2]", "手册#2", "valid"), ("[9]", None, "dangling")]
    assert one.scores == two.scores


def test_two_processes_at_once_lose_nothing(place: Path) -> None:
    def slowly(call: ChatCall) -> Answer:
        return right(call) if call.is_probe else Slow(0.005, right(call))

    def words(name: str, first: int, last: int) -> list[object]:
        texts = [f"Room {n} opens at seven [1]. 第{n}室九点关门。" for n in range(first, last)]
        lines = [line(f"q{n}", text) for n, text in enumerate(texts, first)]
        source = write(place / f"{name}.jsonl", lines)
        return ["score", source, "-o", place / name, *server.words, "--concurrency", 4]

    with JudgeServer(slowly) as server:
        with start(*words("one", 0, 14)) as one, start(*words("two", 8, 22)) as two:
            errors = [process.communicate()[1] for process in (one, two)]
        assert [one.returncode, two.returncode] == [0, 0], errors
        assert 22 <= server.calls <= 28
        calls, probes = server.calls, server.probes
        assert judge(*words("three", 0, 22)).code == 0
        assert (server.calls, server.probes) == (calls, probes)
    assert read_summary(place / "three").supports[Support.FULL] == 44


def test_without_a_cache_nothing_is_kept(place: Path, server: JudgeServer) -> None:
    for number, name in enumerate(("one", "two"), start=1):
        score(server, place, name, "--no-cache")
        assert (server.calls, server.probes) == (number, number)
    assert not (place / "caches").exists()
