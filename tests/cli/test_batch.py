"""`judge batch` over real HTTP: what batches bring, `judge score` finds in the cache."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from judge.backends.openai.batches import BatchReply
from judge.inputs.tables import replacing
from tests.batch_provider import BatchProvider
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.replies import Answer, Says, Status, packed, right, verdict, verdicts
from tests.server import refused_url

EXPIRED = Status(0, {"code": "batch_expired", "message": "This request was not made in time."})
SAMPLES = [
    line(qid="cut", answer="The canteen opens at seven. It closes at three."),
    line(qid="broken", answer="It is open from Monday to Friday."),
    line(qid="expired", answer="食堂早上七点开门。"),
    line(qid="busy", answer="It is open all year round."),
    line(qid="plain", answer="It closes at three, from Monday to Friday."),
]


class FaultyModel:
    """Gives the first reply for each sample another fault, and a right reply after it."""

    def __init__(self) -> None:
        self._met: set[str] = set()

    def __call__(self, asked: ChatCall) -> Answer:
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


def batch(*words: object, code: int = 0) -> Ran:
    ran = judge("batch", *words)
    assert ran.code == code, ran
    assert not code or (ran.out, ran.err[:7]) == ("", "judge: "), ran
    return ran


def read(*words: object) -> tuple[int, int]:
    """Read replies; return the numbers of judged and of waiting claims."""
    _, _, judged, waiting, *_ = map(int, re.findall(r"\d+", batch("read", "night", *words).out))
    return judged, waiting


def rounds(server: BatchProvider, *words: object) -> int:
    """Go round until nothing is left; how many batches that takes."""
    for number in range(9):
        before = len(server.batches)
        for step in (
            ("write", "samples.jsonl", "-o", "night", *server.words, *words),
            ("send", "night"),
        ):
            batch(*step)
        if len(server.batches) == before:
            return number
        batch("read", "night")
    raise AssertionError("there is always something left")


def scored(*words: object, into: str) -> Ran:
    ran = judge("score", "samples.jsonl", "-o", into, *words)
    assert ran.code == 0, ran
    return ran


def test_batches_fill_the_cache_that_a_run_then_reads(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    with BatchProvider(FaultyModel()) as server:
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


def test_a_batch_asks_all_that_a_run_would(place: Path) -> None:
    words = ("--correctness", "--triad")
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
    words = ("--model", "tiny", "--base-url", refused_url(), "--correctness")
    args = ("write", "samples.jsonl", "-o", "night", *words, "--no-probe", "--max-requests", "2")
    batch(*args)
    lines = answers(place / "night")
    assert [len(answers(place / "night", f"requests-00{n}.jsonl")) for n in (1, 2)] == [2, 1]
    # Outputs from several places, lines that are no reply among them.
    for folder, replies in (("a", [lines[0], "{}", ""]), ("b", lines[1:2])):
        (place / folder).mkdir()
        (place / folder / "output.jsonl").write_text("\n".join(replies), "utf-8")
    assert read("a/output.jsonl", "b/output.jsonl") == (2, 1)
    batch(*args)  # one may still be answered: nothing is written
    assert len(answers(place / "night")) == 3
    (place / "rest.jsonl").write_text(lines[2], "utf-8")
    assert read("rest.jsonl") == (3, 0)
    # The server is not there: all of it, and what it takes, is known.
    scored(*words, into="run")
    assert {each.status for each in results(place / "run")} == {"scored"}


def test_a_file_is_sent_once_whatever_is_cut_off(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    refusing = {"POST /v1/batches": Status(400, {"error": {"message": "billing limit"}})}
    with BatchProvider(refusing=refusing, looks=2) as server:
        args = ("write", "samples.jsonl", "-o", "night", *server.words)
        batch(*args)
        before = (place / "night" / "batch.json").read_bytes()
        assert "billing limit" in batch("send", "night", code=2).err
        batch("send", "night")
        (place / "night" / "batch.json").write_bytes(before)  # as a kill -9 leaves it
        for _ in range(2):
            batch("send", "night")
        batch(*args)  # it is not done yet
        assert len(server.batches) == 1
        batch("read", "night", "--wait", "--every", "0.01")
        assert read() == (6, 0)


def test_a_page_instead_of_an_answer_is_one_line_and_leaves_the_folder_whole(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    page, nameless = Status(200, "<html>Sign in</html>"), Status(200, {})
    refusing = {"POST /v1/files": page, "GET /v1/batches/batch_0": page}
    with BatchProvider(refusing=refusing) as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        batch("send", "night", code=3)
    with BatchProvider(refusing={**refusing, "POST /v1/batches": nameless}) as server:
        shutil.rmtree("night")
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        for code in (3, 3, 0):
            batch("send", "night", code=code)
        batch("read", "night", code=3)
        batch("read", "night")
        assert read() == (6, 0)


def test_what_cannot_be_is_one_line(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_ATTEMPTS", "1")
    write(place / "samples.jsonl", SAMPLES)
    write(place / "others.jsonl", SAMPLES[:1])
    with BatchProvider(refusing={"POST /v1/files": Status(404, "no such page")}) as server:
        (place / "full").mkdir()
        (place / "full" / "theirs").touch()
        new, model = ("write", "samples.jsonl", "-o"), server.words
        batch(*new, "night", *model)
        wrong: list[tuple[object, ...]] = [
            (*new, "x"),  # without a language model
            (*new, "x", *model, "--no-cache"),
            (*new, "full", *model),
            (*new, "night", "--model", "other", *model[2:]),
            ("write", "-", "-o", "x", *model),
            ("write", "others.jsonl", "-o", "night", *model),
            ("read", "full"),
            ("read", "night", "others.jsonl"),
            ("read", "night", "nowhere"),
            ("send", "night"),  # the server takes no batches
        ]
        for words in wrong:
            ran = batch(*words, code=2)
        assert ran.err.endswith("and give the replies to judge batch read\n")
        assert not (place / "x").exists()
        shutil.copy(place / "others.jsonl", place / "samples.jsonl")
        batch("read", "night", code=2)
    # The server is gone, so the exit code is another.
    batch("send", "night", code=3)


def answers(folder: Path, name: str = "requests-*.jsonl") -> list[str]:
    """What another judge writes for the requests of a folder."""
    maker, lines = BatchProvider(), list[str]()
    for path in sorted(folder.glob(name)):
        for text in path.read_text("utf-8").splitlines():
            request = json.loads(text)
            asked = ChatCall(0, json.dumps(request["body"]).encode(), {})
            response = {
                "status_code": 200,
                "body": maker.completion(asked, Says(verdicts(asked), model="tiny-2026")),
            }
            lines.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
    return lines


def test_a_batch_that_failed_is_sent_again_and_one_whose_answer_is_lost_is_not(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    gone = {"POST /v1/batches": Status(502, "bad gateway")}
    with BatchProvider(failing=(1, "Enqueued token limit reached"), losing=gone) as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        batch("send", "night", code=3)
        batch("send", "night")
        assert len(server.batches) == 1, "made, and its answer lost"
        assert "Enqueued token limit reached" in batch("read", "night").out
        assert rounds(server) == 1
        assert len(server.batches) == 2


def test_odd_lines_of_a_provider_are_counted_and_no_more(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES[2:])
    with BatchProvider() as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        lines = [each.encode() for each in answers(place / "night")]
        half, broken = json.loads(lines[0]), json.loads(lines[1])
        half["response"]["body"]["choices"][0]["message"]["reasoning_content"] = "\ud83d"
        broken["response"]["body"] = {"choices": []}
        other = dict(half, custom_id="judge-v9-0")
        odd = [json.dumps(each).encode() for each in (half, broken, other, {"custom_id": 7})]
        odd.append(json.dumps(dict(half, custom_id=f"judge-{'0' * 40}-512")).encode())
        odd += [b"\xff\xfe", b"[" * 100_000, b"9" * 5_000, b"null", b"", lines[2], lines[2]]
        (place / "odd.jsonl").write_bytes(b"\r\n".join(odd))
        assert read("odd.jsonl") == (2, 1)
        found = re.findall(
            r"  (\d) × (.*), first in night/\S+, line (\d)", batch("read", "night").out
        )
        assert [(int(count), int(line)) for count, _, line in found] == [(6, 3), (1, 5), (1, 2)]
        assert rounds(server) == 1


def test_a_folder_whose_files_were_changed_is_not_sent(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    with BatchProvider() as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        night = place / "night"
        record = (night / "batch.json").read_text("utf-8")
        (night / "batch.json").write_text(record.replace("requests-001.jsonl", "../samples.jsonl"))
        batch("send", "night", code=2)
        (night / "batch.json").write_text(record)
        requests = (night / "requests-001.jsonl").read_bytes()
        (night / "requests-001.jsonl").write_bytes(requests + b"{}\n")
        batch("send", "night", code=2)
        assert not server.files
        (night / "requests-001.jsonl").write_bytes(requests)
        batch("send", "night")
        batch("read", "night")


def test_a_folder_keeps_where_it_was_written_for(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place / "samples.jsonl", SAMPLES)
    key = "sk-secret-of-mine"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with BatchProvider(failing=(1, f"no credit for {key}")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.words[3])
        batch("write", "samples.jsonl", "-o", "night", "--model", "tiny", "--cache-dir", "kept")
        monkeypatch.setenv("OPENAI_BASE_URL", refused_url())
        (place / "elsewhere").mkdir()
        monkeypatch.chdir(place / "elsewhere")
        night = place / "night"
        shown = [batch(step, night).out for step in ("send", "read")]
        assert not list((place / "elsewhere").iterdir())
    texts = [each.read_text("utf-8") for each in night.rglob("*") if each.is_file()]
    assert "no credit for [key]" in shown[1]
    assert not any(key in each for each in texts)


def test_the_key_in_the_replies_of_a_batch_is_not_kept(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place / "samples.jsonl", SAMPLES)
    key = "sk-secret-of-mine"
    monkeypatch.setenv("OPENAI_API_KEY", key)

    def repeats(call: ChatCall) -> Answer:
        reasons = [verdict(call, each, "none") | {"reason": key} for each in call.ids]
        return Says(packed(reasons), model=f"m-{key}")

    with BatchProvider(repeats) as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        batch("send", "night")
        assert read() == (5, 0)
    files = [each.read_bytes() for each in place.rglob("*") if each.is_file()]
    assert any(b"[key]" in each for each in files)
    assert not any(key.encode() in each for each in files)


def test_samples_may_be_moved_between_two_steps(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    write(first, SAMPLES)
    (tmp_path / "night").mkdir()
    with replacing(tmp_path / "night" / "batch.json") as part:
        part.touch()
    part.touch()  # as a kill -9 may leave it
    (tmp_path / "night" / "batch.json").unlink()
    words = ("-o", part.parent, "--model", "m", "--base-url", refused_url(), "--no-probe")
    batch("write", first, *words)
    assert not part.exists()
    first.rename(second)
    batch("write", second, *words)


def test_a_folder_of_an_earlier_version_is_read(place: Path) -> None:
    write(place / "samples.jsonl", SAMPLES)
    with BatchProvider() as server:
        batch("write", "samples.jsonl", "-o", "night", *server.words)
        batch("send", "night")
        path = place / "night" / "batch.json"
        record = json.loads(path.read_text("utf-8"))
        record["config"]["max_line"] = 64.0
        record["files"][0] |= {"state": "sent", "done": 0, "failed": 0, "outputs": [], "why": ""}
        path.write_text(json.dumps(record), "utf-8")
        assert "6 judged" in batch("read", "night").out


def test_an_error_without_a_message_is_no_reply() -> None:
    failed = {"custom_id": f"judge-{'0' * 40}-512", "error": {"message": ""}}
    reply = BatchReply.parse(json.dumps(failed).encode())
    assert reply is not None
    assert reply.trouble == "no response"


def test_samples_in_a_file_whose_name_is_no_text_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / os.fsdecode(b"caf\xe9.jsonl"), SAMPLES)
    ran = batch("write", path, "-o", tmp_path / "night", "--model", "m", "--no-probe", code=2)
    assert "the path is not UTF-8" in ran.err
