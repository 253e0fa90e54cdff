"""Many answers against a server that misbehaves, and a command that is killed.

    python -m tests.soak [odd|night] [ANSWERS] [KILLS]

By default 5 000 answers, three kill -9, and an odd reply to 12 % of the calls. `night` is a night's
faults: a token bucket of 400 requests a second, 2 % 500, 1 % hangs, 3 % malformed, 1 % cut, .5 %
resets; by default 20 000 answers. It raises an `AssertionError` if a result is lost, doubled or
invented, if a verdict is paid for twice, or if there are more calls than answers, faults and calls
in flight at a kill.
"""

import hashlib
import itertools
import os
import re
import signal
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Final
from zlib import crc32

from pydantic import JsonValue

from judge.backends.store.cache import DiskStore
from judge.inputs.runs import read_summary
from judge.judges.cached import CacheRow
from judge.records import Support, Unscored, Verdict
from tests import faults, replies
from tests.chat_call import ChatCall
from tests.commands import line, results, start, write
from tests.replies import Answer, Body, Reset, Says, Script, Status, TokenBucket, right, verdicts
from tests.server import JudgeServer

SHARE: Final = 0.12
_IN_FLIGHT: Final = 64
Name = tuple[int, int]
"""A sentence: the number of its answer, and its index there."""

_TEXTS: Final = (
    "", " \n", "null", "true", "0", "[]", "{}", '""', "NaN", "Yes.", "全部支持。", "\0\0",
    "\ufeff{}", '{"verdicts": null}', '{"verdicts": {}}', '{"verdicts": [null]}',
    '{"verdicts": [[]]}',
    '{"verdicts": "full"}', '{"verdicts": [{"id": 1, "support": "full"}]}', "[" * 9_000,
    '{"verdicts": [{"id": "s1"}]}', '{"verdicts": [{"id": "s1", "support": null}]}',
    '{"a": ' * 9_000, '{"verdicts": [{"id": "\\ud800"}]}', "9" * 9_000, "s1: full\ns2: full",
    "<think>s1 is full</think>", "```json\n```", '{"error": "overloaded"}', "x" * 100_000,
)  # fmt: skip
_BODIES: Final = (
    "", "null", "[]", "0", '"full"', "{", '{"choices": null}', '{"choices": [null]}', "\0",
    '{"choices": [{}]}', '{"choices": [{"message": null}]}', '{"choices": [{"message": {}}]}',
    '{"choices": [{"message": {"content": 7}}]}', '{"choices": [{"message": {"content": []}}]}',
    '{"choices": "none"}', '{"object": "error", "message": "no", "code": 500}',
)  # fmt: skip
_STATUSES: Final = (408, 409, 413, 418, 425, 429, 500, 501, 502, 503, 504, 507, 520, 524, 529, 599)


def odd() -> list[Answer | Script]:
    """Return replies that a run must survive."""
    bodies: tuple[JsonValue, ...] = ("<html><h1>sorry</h1></html>", {})
    return [
        faults.fewer, faults.double, faults.unknown, faults.renamed, faults.off_menu, faults.fenced,
        faults.prose, faults.tricky_quotes, faults.glued, faults.broken, faults.cut, faults.REFUSED,
        faults.FILTERED, faults.NULL_CONTENT, faults.HTML, faults.AZURE_FILTERED, faults.TOO_LONG,
        replies.TOO_MANY, replies.too_many("0"), replies.too_many("soon"), Reset(),
        *map(Says, _TEXTS),
        *map(Body, _BODIES),
        *(Status(code, body) for code, body in zip(_STATUSES, itertools.cycle(bodies)))
    ]  # fmt: skip


class Odd:
    """A script that gives a share of the calls the odd replies in turn."""

    def __init__(self, share: float = SHARE) -> None:
        self._odd = itertools.cycle(odd())
        self._every = round(1 / share)

    def __call__(self, call: ChatCall) -> Answer:
        if call.is_probe or call.number % self._every:
            return right(call)
        answer = next(self._odd)
        return answer(call) if callable(answer) else answer


class Night:
    """The faults of a night. Other requests get the right labels, which differ."""

    def __init__(self, rate: float = 400) -> None:
        self._faults = faults.Faulty(_told)
        self._bucket = TokenBucket(rate, rate / 4, waits=True, then=self._faults)

    @property
    def failed(self) -> int:
        """The number of requests that were refused or failed."""
        return self._faults.failed + self._bucket.refused

    def __call__(self, call: ChatCall) -> Answer:
        return right(call) if call.is_probe else self._bucket(call)


def truth(text: str) -> Support:
    """Return the right label of a sentence of the night: one in five has no support."""
    return Support.NONE if crc32(text.encode()) % 5 == 0 else Support.FULL


def _told(call: ChatCall) -> Answer:
    return Says(verdicts(call, **{name: truth(text) for name, text in call.sentences.items()}))


class Watched:
    """A script that sets an event at a certain call."""

    def __init__(self, then: Script) -> None:
        self._then = then
        self._limit = sys.maxsize
        self.reached = threading.Event()

    def upto(self, calls: int) -> None:
        """Set `reached` at this call."""
        self._limit = calls
        self.reached.clear()

    def __call__(self, call: ChatCall) -> Answer:
        if not call.is_probe and call.number >= self._limit:
            self.reached.set()
        return self._then(call)


def soak(place: Path, answers: int, kills: int, night: Night | None = None) -> Counter[str]:
    """Score answers in `place` with a number of kills, and return the counts of the outcomes.

    The cache is the one of the environment. Without a `night` the server is odd.
    """
    texts = texts_of(answers)
    samples = write(place / "in.jsonl", [line(f"q{n}", text) for n, text in enumerate(texts)])
    script = Watched(night or Odd())
    with JudgeServer(script) as server:
        # Durable: what was answered before a kill is kept, all but what was under way.
        ways = ("--timeout", 3, "--durable", "--concurrency", _IN_FLIGHT) if night else ()
        command = ("score", samples, "-o", place / "run", *server.words, *ways)
        for turn in range(1, kills + 1):
            script.upto(turn * answers // (kills + 1))
            _killed(command, script)
            begun, kept = len(server.requests), stored(texts)
            script.upto(begun + 1)
        begun = begun if kills else 0
        process = start(*command)
        out, err = process.communicate()
        asked = {name for each in server.requests[begun:] for name in names_of(each)}
    assert process.returncode in {0, 3}, (out, err)
    assert "Traceback" not in err
    assert not kills or not asked & kept, "what was kept is asked for again"
    if night:
        most = answers + night.failed + kills * _IN_FLIGHT
        assert server.calls <= most, f"{server.calls} calls where {most} do"
    made = results(place / "run")
    assert [result.qid for result in made] == [f"q{n}" for n in range(answers)]
    sentences = [sentence for result in made for sentence in result.sentences]
    assert len(sentences) == 2 * answers
    counts = Counter[str]()
    for sentence in sentences:
        outcome = sentence.outcome
        failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
        if failure is None:
            assert isinstance(outcome, Verdict)
            label = truth(sentence.text) if night else Support.FULL
            assert outcome.support is label, "the server gave another verdict"
            counts[outcome.support] += 1
        else:
            assert isinstance(failure, Unscored)
            counts[failure.reason] += 1
    summary = read_summary(place / "run")
    judged = counts[Support.FULL] + counts[Support.NONE]
    assert summary.supports[Support.FULL] == counts[Support.FULL]
    assert summary.judged == judged
    counts["calls"], counts["faults"] = server.calls, night.failed if night else 0
    return counts


def _killed(command: tuple[object, ...], script: Watched) -> None:
    with start(*command) as process:
        while not script.reached.wait(0.05):
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def texts_of(answers: int) -> list[str]:
    """Return answers of two sentences each, which hold the number of their answer."""
    return [f"Room {n}a is open. 第{n}号馆关闭[1]。" for n in range(answers)]


def names_of(call: ChatCall) -> set[Name]:
    """Return the sentences that a request asks about."""
    return {
        (int(re.findall(r"\d+", text)[0]), int(name[1:]) - 1)
        for name, text in call.sentences.items()
    }


def stored(texts: list[str]) -> set[Name]:
    """Return the sentences with stored verdicts."""
    numbers = {hashlib.sha256(text.encode()).hexdigest()[:16]: n for n, text in enumerate(texts)}
    with DiskStore(Path(os.environ["XDG_CACHE_HOME"]) / "judge") as store:
        rows = dict(store.rows())
    found = [row for text in rows.values() if (row := CacheRow.read(text))]
    return {(numbers[row.answer], index) for row in found for index in row.signatures}


if __name__ == "__main__":
    mode, *numbers = (
        sys.argv[1:] if sys.argv[1:2] in (["odd"], ["night"]) else ["odd", *sys.argv[1:]]
    )
    usual = (20_000, 3) if mode == "night" else (5_000, 3)
    wanted, often = [*map(int, numbers), *usual[len(numbers) :]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        found = soak(Path(folder), wanted, often, Night() if mode == "night" else None)
    sys.stdout.write(f"{mode}: {wanted} answers, {often} kill -9: {dict(found)}\n")
