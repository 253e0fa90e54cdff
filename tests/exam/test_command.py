import re
import shlex
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import Support
from judge.exam import ExamReport, read_items
from judge.exam.items import selected
from judge.review.sheet import BLIND, read_sheet, write_sheet
from tests.commands import judge, line, write
from tests.oracle import erring, oracle
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


def test_the_similarity_judge_sits_it(tmp_path: Path) -> None:
    kept = tmp_path / "exam.json"
    ran = judge("exam", *FEW, "-o", kept)
    assert (ran.code, ran.err) == (0, "")
    report = ExamReport.model_validate_json(kept.read_text("utf-8"))
    first, second, *_ = ran.out.splitlines()
    sizes = (report.totals.items, report.totals.sentences)
    assert first == f"Exam {report.items}: {sizes[0]} items, {sizes[1]} labelled sentences"
    assert second == "Not fit, neither for gating nor for watching."
    assert "This judge never says partial: read its column “full or rest”." in ran.out
    assert ran.out.splitlines()[-1] == f"written to {kept}"
    assert report.signature.startswith("similarity:")
    assert (report.prompt, report.cost.calls, report.cost.seconds) == (None, 0, None)
    assert report.config["cache"] is report.config["fallback"] is False
    assert {row.said for row in report.rows} <= set(Support) - {Support.PARTIAL}
    again = judge("exam", *FEW, "-o", kept)
    assert (again.code, again.out) == (2, "")
    assert again.err == (
        f"judge: {kept}: stands there already; replace it with --force, or name another -o\n"
    )


def test_it_is_told_in_chinese_and_as_json() -> None:
    words = ("exam", *FEW, "--category", "negation", "--category", "injection", "--language", "en")
    told = judge(*words, "--lang", "zh").out
    assert told.splitlines()[0].startswith("考试 exam-v1@")
    assert "不合格：既不可用于门禁，也不可用于观察趋势。" in told
    assert " 隐藏指令 " in told
    report = ExamReport.model_validate_json(judge(*words, "--json").out)
    assert {(row.category, row.language) for row in report.rows} == {
        ("negation", "en"),
        ("injection", "en"),
    }


def test_a_model_that_errs_is_held_to_gates() -> None:
    items = selected(read_items(), (), "en", 1)
    with JudgeServer(oracle(items, erring(0.3, 1))) as server:
        words = ("exam", *FEW, "--language", "en", *server.words)
        ran = judge(*words, "--repeat", 3, "--json")
        report = ExamReport.model_validate_json(ran.out)
        found = report.totals.whole.accuracy
        asked, seeds = server.calls, [each.body["seed"] for each in server.requests]
        over, under = f"accuracy={found.value + 0.01:.3f}", f"accuracy={found.value - 0.01:.3f}"
        passed = judge(*words, "--fail-under", under)
        failed = judge(*words, "--fail-under", under, "--fail-under", over)
        strict = judge(*words, "--fail-under", under, "--strict-gate", "--lang", "zh")
    assert 0 < found.value < 1
    assert [each.code for each in (ran, passed, failed, strict)] == [0, 0, 1, 1]
    assert f"{found.value:.3f} (in the exam), passed" in passed.out
    assert f"{found.low:.3f}（区间下限），未通过" in strict.out
    # Errors by what is asked: neither the order of the chunks nor the seed changes one.
    assert {name: rate.hits for name, rate in report.totals.flips.items()} == {
        "order": 0,
        "seed": 0,
    }
    assert asked == report.cost.calls == 3 * len(items.items)
    assert len(set(seeds)) == 2


def test_wrong_use_is_a_line() -> None:
    rows: list[tuple[tuple[object, ...], str]] = [
        (("--fail-under", "accurate=1"), "NAME is one of accuracy, binary, macro_f1, kappa"),
        (
            ("--fail-under", "kappa=.1", "--strict-gate"),
            "--strict-gate: kappa has no 95 % interval",
        ),
        (("--category", "nope"), "--category 'nope': no item has it; there are: "),
        (("--language", "fr"), "--language 'fr': give one of en, zh"),
        (("--items", "nope.jsonl"), "nope.jsonl: "),
        (("--repeat", 0), "'--repeat'"),
        (("--items", "fixtures/quickstart.jsonl"), "no answer has 'labels'"),
    ]
    for words, said in rows:
        ran = judge("exam", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), words
        assert said in ran.err


def labelled(place: Path, *said: str, **borne: JsonValue) -> Path:
    """A run of one answer with three sentences; all people label the second one, the first two."""
    answer = "The canteen opens at seven. It closes at noon. Guests pay by card."
    run, sheet = place / "run", place / "review.csv"
    write(place / "in.jsonl", [line("q/一", answer) | {"team": "a"} | borne])
    judge("score", place / "in.jsonl", "-o", run)
    judge("review", "draw", run, "-n", 3, "-o", sheet)
    blank = [row.cells for row in read_sheet(sheet)]
    for number, label in enumerate(said):
        seen = {"The", "It"} if number == 0 else {"It"}
        rows = [
            row | {"reviewer": f"r{number}", "human_support": label}
            for row in blank
            if row["sentence"].split()[0] in seen
        ]
        write_sheet(place / f"{number}.csv", rows, BLIND, "en")
    sheets = [place / f"{number}.csv" for number in range(len(said))]
    ran = judge("review", "import", run, *sheets)
    assert ran.code == 0, ran.err
    return run


def test_a_labelled_sentence_of_a_run_becomes_an_item(tmp_path: Path) -> None:
    run, made = labelled(tmp_path, "contradicted"), tmp_path / "items.jsonl"
    first = judge("exam", "add", run, "q/一", 2, "--category", "opening", "-o", made)
    second = judge("exam", "add", run, "q/一", 1, "-o", made, "--lang", "zh")
    assert first.out == f"q/一#2 added to {made}: contradicted, category opening\n", first.err
    assert second.out == f"已将 q/一#1 加入 {made}：contradicted，类别 own\n"
    items = read_items(made).items
    assert [(each.sample.qid, each.category) for each in items] == [
        ("q/一#2", "opening"),
        ("q/一#1", "own"),
    ]
    assert [each.labels[0].text for each in items] == [
        "It closes at noon.",
        "The canteen opens at seven.",
    ]
    assert items[0].sample.metadata["team"] == "a"
    before = made.read_bytes()
    rows: list[tuple[tuple[object, ...], str]] = [
        (("q/一", 2), f"{made}: has 'q/一#2' already; nothing was added"),
        (("q/一", 3), f"{run}: sentence 3 of 'q/一' has no label; judge label {run} brings one"),
        (("nobody", 1), "sentence 1 of 'nobody' has no label"),
        (("q/一", 1, "--category", ""), "--category is empty"),
    ]
    for words, said in rows:
        ran = judge("exam", "add", run, *words, "-o", made)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), words
        assert said in ran.err
        assert made.read_bytes() == before
    assert (
        "ends not in .jsonl" in judge("exam", "add", run, "q/一", 1, "-o", tmp_path / "x.csv").err
    )
    sat = ExamReport.model_validate_json(judge("exam", "--items", made, "--json").out)
    assert [(row.qid, row.gold) for row in sat.rows] == [
        ("q/一#2", Support.CONTRADICTED),
        ("q/一#1", Support.CONTRADICTED),
    ]


def test_what_reviewers_disagree_on_is_no_item(tmp_path: Path) -> None:
    run, made = labelled(tmp_path, "full", "none"), tmp_path / "items.jsonl"
    ran = judge("exam", "add", run, "q/一", 2, "-o", made)
    assert (ran.code, made.exists()) == (2, False)
    assert "sentence 2 of 'q/一': reviewers disagree about it" in ran.err


def test_no_item_is_made_that_cannot_be_read(tmp_path: Path) -> None:
    run, made = labelled(tmp_path, "none", demanded="yes"), tmp_path / "items.jsonl"
    ran = judge("exam", "add", run, "q/一", 2, "-o", made)
    assert (ran.code, ran.out, made.exists()) == (2, "", False)
    assert "field 'demanded': answer 'q/一#2' has 'yes'; give one of full, partial" in ran.err


def test_a_spent_budget_is_no_bad_judge(tmp_path: Path) -> None:
    items = selected(read_items(), ["number", "roles"], "en", 1)
    few = (*FEW, "--language", "en", "--category", "number", "--category", "roles")
    with JudgeServer(oracle(items)) as server:
        words = ("exam", *few, *server.words, "--concurrency", 1)
        whole = ExamReport.model_validate_json(judge(*words, "--json").out).cost
        spends = ("--max-tokens", 3 * (whole.prompt_tokens + whole.reply_tokens))
        half = judge(*words, "--max-tokens", 1000, "-o", tmp_path / "half.json", "--lang", "zh")
        later = judge(*words, *spends, "--repeat", 6, "--json")
        gated = judge(*words, "--max-tokens", 1, "--fail-under", "quotes=.1")
    assert (whole.calls, half.code, later.code, gated.code) == (2, 4, 4, 3)
    assert half.out.splitlines()[1].startswith("预算已用完：")
    found = ExamReport.model_validate_json((tmp_path / "half.json").read_text("utf-8"))
    assert (found.fitness.untrusted, found.fitness.spent, found.over_budget) == (True,) * 3
    report = ExamReport.model_validate_json(later.out)
    assert (report.totals.unscored, report.fitness.untrusted, report.over_budget) == (
        {},
        False,
        True,
    )


def test_no_answer_is_no_right_answer() -> None:
    with JudgeServer(calls(Says("As you wish."))) as server:
        few = judge("exam", *FEW, "--category", "number", "--category", "roles", *server.words)
        whole = judge("exam", "--items", "exam", *server.words)
    assert few.code == 3
    assert "Untrusted: 100.0 % of the sentences have no verdict" in few.out
    assert re.search(r"without a verdict, and so not right: \d+ malformed\n", few.out)
    assert "Traceback" not in few.err + whole.err
    assert whole.code == 3
