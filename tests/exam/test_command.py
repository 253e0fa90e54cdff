import re
import shlex
from pathlib import Path

import pytest

from judge.exam import ExamItems, ExamReport, first_items, read_items
from tests.commands import judge
from tests.oracle import erring, items_file, oracle
from tests.replies import Says, calls
from tests.server import JudgeServer

FEW = ("--limit", 1)
README = Path(__file__).parents[2] / "judge" / "exam" / "README.md"


@pytest.mark.no_cover
def test_the_commands_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```bash\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    with JudgeServer(oracle(read_items())) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for command in "".join(blocks).splitlines():
            ran = judge(*shlex.split(command)[1:], *FEW)
            assert ran.code == 0, (command, ran.err)
    assert (tmp_path / "exam.json").exists()


def some_items(count: int) -> ExamItems:
    """Return an English item of each of the first categories."""
    items = [item for item in first_items(read_items(), 1).items if item.language == "en"]
    return ExamItems("some", tuple(items[:count]))


def test_a_model_that_errs_fails_gates(tmp_path: Path) -> None:
    items = some_items(20)
    path = items_file(tmp_path / "items.jsonl", *items.items)
    with JudgeServer(oracle(items, erring(0.3, 1))) as server:
        words = ("exam", "--items", path, *server.words)
        ran = judge(*words, "--repeat", 3, "--json")
        report = ExamReport.model_validate_json(ran.out)
        found = report.totals.whole.accuracy
        asked, seeds = server.calls, [each.body["seed"] for each in server.requests]
        over, under = f"accuracy={found.value + 0.01:.3f}", f"accuracy={found.value - 0.01:.3f}"
        passed = judge(*words, "--fail-under", under)
        failed = judge(*words, "--fail-under", under, "--fail-under", over)
        strict = judge(*words, "--fail-under", under, "--strict-gate", "--json")
    assert 0 < found.value < 1
    assert [each.code for each in (ran, passed, failed, strict)] == [0, 0, 1, 1]
    (gate,) = ExamReport.model_validate_json(strict.out).gates
    assert (gate.value, gate.passed) == (found.low, False)
    # Errors by what is asked: neither the order of the chunks nor the seed changes one.
    assert report.totals.flips is not None
    assert report.totals.flips.hits == 0
    assert asked == report.cost.calls == 3 * len(items.items)
    assert len(set(seeds)) == 3


def test_a_spent_budget_is_no_bad_judge(tmp_path: Path) -> None:
    items = some_items(2)
    path = items_file(tmp_path / "items.jsonl", *items.items)
    with JudgeServer(oracle(items)) as server:
        words = ("exam", "--items", path, *server.words, "--concurrency", 1)
        whole = ExamReport.model_validate_json(judge(*words, "--json").out).cost
        spends = ("--max-tokens", 3 * (whole.prompt_tokens + whole.reply_tokens))
        half = judge(*words, "--max-tokens", 1000, "-o", tmp_path / "half.json")
        later = judge(*words, *spends, "--repeat", 6, "--json")
        gated = judge(*words, "--max-tokens", 1, "--fail-under", "quotes=.1")
    assert (whole.calls, half.code, later.code, gated.code) == (2, 4, 4, 3)
    found = ExamReport.model_validate_json((tmp_path / "half.json").read_text("utf-8"))
    assert (found.fitness.untrusted, found.fitness.spent, found.over_budget) == (True,) * 3
    report = ExamReport.model_validate_json(later.out)
    assert (report.totals.unscored, report.fitness.untrusted) == ({}, False)
    assert report.over_budget


def test_no_answer_is_no_right_answer(tmp_path: Path) -> None:
    path = items_file(tmp_path / "items.jsonl", *some_items(2).items)
    with JudgeServer(calls(Says("As you wish."))) as server:
        few = judge("exam", "--items", path, *server.words, "--json")
        whole = judge("exam", "--items", "exam", *server.words)
    assert (few.code, whole.code, whole.out) == (3, 3, "")
    report = ExamReport.model_validate_json(few.out)
    assert report.totals.unscored == {"malformed": report.totals.sentences}
