"""Canaries in a run: over real HTTP, with an examinee that knows the items beside the answers."""

from pathlib import Path

from judge.exam.items import Items, read_items
from judge.files.runs import read_record, read_summary
from judge.records import CanaryTotals
from tests.asked import Asked
from tests.commands import judge, line, results, write
from tests.oracle import Choose, obedient, oracle, truth
from tests.replies import Answer, Script, right
from tests.server import JudgeServer

N = 4


def mixed(items: Items, choose: Choose = truth, then: Script = right) -> Script:
    """The examinee about the items, and something else about the answers of a run."""
    questions, knows = {item.sample.query for item in items.items}, oracle(items, choose)

    def script(asked: Asked) -> Answer:
        about = knows if not asked.is_probe and asked.question in questions else then
        return about(asked)

    return script


def answers(path: Path, many: int = 8) -> Path:
    return write(path, [line(f"q{n}", f"Room {n} opens at seven.") for n in range(many)])


def found(run: Path) -> CanaryTotals:
    totals = read_summary(run).canaries
    assert totals is not None
    return totals


def test_items_are_asked_beside_the_answers_and_stand_in_no_number(tmp_path: Path) -> None:
    source, plain, run = answers(tmp_path / "in.jsonl"), tmp_path / "plain", tmp_path / "run"
    with JudgeServer(mixed(read_items())) as server:
        without = judge("score", source, "-o", plain, "--no-cache", *server.words)
        before = server.calls
        words = ("score", source, "-o", run, "--canaries", N, *server.words)
        first = judge(*words)
        once, told = server.calls - before, found(run)
        second = judge(*words, "--force")
        again = server.calls - before - once
    assert (without.code, first.code, second.code) == (0, 0, 0), first.err
    bare = [[each.model_copy(update={"calls": ()}) for each in results(at)] for at in (plain, run)]
    assert bare[0] == bare[1]
    totals = found(run)
    assert (totals.drawn, totals.asked, totals.wrong, totals.untrusted) == (N, N, 0, False)
    assert once == totals.calls + read_summary(plain).calls
    # Past the cache: the second run asks for the items alone.
    assert again == N
    spent = dict.fromkeys(("calls", "cache_hits", "prompt_tokens", "reply_tokens", "seconds"), 0)
    update = {**spent, "canaries": None}
    sums = [read_summary(at).model_copy(update=update) for at in (plain, run)]
    assert sums[0] == sums[1]
    assert f"canaries: {N} of {N} asked; 0 of {told.sentences} sentences wrong" in first.out
    assert read_record(plain).canary_seed is None
    assert read_summary(plain).canaries is None


def test_an_order_that_is_obeyed_marks_the_run_and_is_named(tmp_path: Path) -> None:
    source, run = answers(tmp_path / "in.jsonl"), tmp_path / "run"
    with JudgeServer(mixed(read_items(), obedient)) as server:
        ran = judge(
            *("score", source, "-o", run, "--canaries", N, *server.words),
            *("--fail-under", "faithfulness=0.5", "--junit", tmp_path / "junit.xml"),
        )
    totals = found(run)
    assert (ran.code, totals.untrusted, totals.obeyed) == (3, True, 1)
    # Whoever seems to obey is asked again.
    assert totals.calls == N + 1
    slip = next(each for each in totals.which if each.obeyed)
    assert "untrusted: hidden orders were obeyed in 1 of 4 canaries" in ran.out
    assert f"{slip.qid}, sentence {slip.sentence + 1}: {slip.said} was said" in ran.out


def test_wrong_use_is_a_line(tmp_path: Path) -> None:
    source = answers(tmp_path / "in.jsonl")
    rows: list[tuple[tuple[object, ...], str]] = [
        (("--canaries", 4), "canaries 4: only a language model can go bad in mid-run"),
        (("--canaries", 999, "--model", "m"), "canaries 999: there are "),
        (("--canaries", -1, "--model", "m"), "setting canaries = -1"),
        (("--canaries", 4, "--server", "http://127.0.0.1:9"), "and canaries is set here"),
    ]
    for words, said in rows:
        ran = judge("score", source, "-o", tmp_path / "run", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert said in ran.err
    assert not (tmp_path / "run").exists()
