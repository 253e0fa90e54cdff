"""`judge cache` and `judge prompts`: what is kept is counted and cleared, prompts are shown."""

import io
from pathlib import Path

import pytest

from judge.backends.store.cache import DiskStore
from judge.inputs.runs import read_record
from judge.prompt import load_prompt
from tests.commands import Ran, judge, line, refused, write
from tests.server import JudgeServer

CHUNKS = ["住宿每晚不超过500元，早餐另计，超出部分由员工本人承担。"]
OLD, NEW = (load_prompt("faithfulness", version) for version in ("v1", "v3"))


@pytest.fixture
def samples(place: Path) -> Path:
    sample = line("q_1", "住宿每晚不超过500元[1]。 Breakfast is free. Thank you!", CHUNKS)
    return write(place / "samples.jsonl", [sample])


def score(server: JudgeServer, samples: Path, *more: object) -> Ran:
    words = ("--cache-dir", "cache", "-o", "run", "--force", *server.words, *more)
    return judge("score", samples, *words)


def cache(*words: str) -> Ran:
    return judge("cache", *words, "--cache-dir", "cache")


def test_what_is_kept_is_counted_by_signature(server: JudgeServer, samples: Path) -> None:
    for model in ("m-1", "m-2"):
        assert score(server, samples, "--model", model).code == 0
    ran = cache("stats")
    assert (ran.code, "4 verdicts, 1 answer" in ran.out) == (0, True)
    assert [ran.out.count(f"llm:{model}@") for model in ("m-1", "m-2")] == [1, 1]


def test_clearing_removes_all_once_it_is_meant(server: JudgeServer, samples: Path) -> None:
    score(server, samples)
    assert "removed 0." in cache("clear", "--yes").out
    score(server, samples)
    assert (server.calls, server.probes) == (2, 2)


def test_verdicts_of_an_older_version_are_reported_until_they_are_cleared(
    server: JudgeServer, samples: Path
) -> None:
    note = "holds verdicts of an older version of judge, which are not used; `judge cache clear"
    score(server, samples)
    with DiskStore(Path("cache")) as store:
        store.put({"reply:152ef05c": "{}", "asked:4ba4380b": "{}"})
    for ran in (score(server, samples), cache("stats")):
        assert (ran.code, ran.err.count(note)) == (0, 1)
    cache("clear", "--yes")
    for ran in (score(server, samples), cache("stats")):
        assert (ran.code, note in ran.err) == (0, False)


def test_a_broken_cache_can_be_cleared(place: Path) -> None:
    (place / "cache").mkdir(mode=0o700)
    (place / "cache" / "cache.db").write_text("no database, and long enough to be looked at" * 30)
    assert [cache(*words).code for words in (["stats"], ["clear", "--yes"], ["stats"])] == [2, 0, 0]


def test_clearing_asks_first(
    server: JudgeServer, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(server, samples)
    for typed, code in (("n\n", 130), ("", 2), (None, 2), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", typed if typed is None else io.StringIO(typed))
        ran = cache("clear")
        assert (ran.code, "add --yes" in ran.err) == (code, code == 2)
        assert (f"{2 if code else 0} ver") in cache("stats").out


def test_a_prompt_is_shown_whole_and_an_unknown_one_is_one_line() -> None:
    shown = {"faithfulness": NEW, "v3": NEW, "faithfulness-v1": OLD, OLD.reference: OLD}
    for name, prompt in shown.items():
        text = judge("prompts", "show", name).out
        for part in (prompt.reference, prompt.system, prompt.user.template, prompt.again.template):
            assert part in text
    for name in ("faith", "faithfulness-v9", "v9"):
        refused(judge("prompts", "show", name))


def test_a_run_may_keep_to_an_older_prompt(server: JudgeServer, samples: Path) -> None:
    def asked(*words: str) -> tuple[bool, int]:
        """Whether the older prompt is in the signature, and the calls until then."""
        assert score(server, samples, *words).code == 0
        signature = read_record(Path("run")).signature
        assert f"|prompt:{OLD.reference}|" in signature or f"|prompt:{NEW.reference}|" in signature
        return OLD.reference in signature, server.calls

    assert asked("--prompt", "v1") == (True, 1)
    assert server.requests[-1].messages[0][1] == OLD.system
    assert asked("--prompt", "v1") == (True, 1), "its verdict was kept"
    assert asked() == (False, 2)
    assert server.requests[-1].messages[0][1] == NEW.system
