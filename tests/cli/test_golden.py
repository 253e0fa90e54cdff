import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.cli import golden  # noqa: F401  importing adds the commands
from judge.review.draws import take
from judge.review.folder import write_draw, write_labels
from judge.review.records import Drift, Label
from tests.commands import judge, line, write
from tests.drawn import label

FIRST = "The canteen opens at seven."
SECOND = "Visitors pay twenty euros."
SIMILAR = "similarity:lexical-v1"


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two answers; two reviewers agree on the first sentences, and disagree on a second one."""
    source = write(
        tmp_path / "in.jsonl", [line("一\x1b[1m", f"{FIRST} {SECOND}"), line("b", FIRST)]
    )
    assert judge("score", source, "-o", tmp_path / "run").code == 0
    draw = take(tmp_path / "run", size=100).draw
    write_draw(tmp_path / "run", draw)
    labels = [
        label(each, "full" if each.sentence == 0 or reviewer == "x" else "none", reviewer)
        for each in draw.sentences
        for reviewer in "xy"
    ]
    write_labels(tmp_path / "run", draw.draw, labels)
    return tmp_path / "run"


def labelled(
    start: int, text: str, judged: str | None = "full", **more: JsonValue
) -> dict[str, JsonValue]:
    label: dict[str, JsonValue] = {
        "sentence": 0,
        "start": start,
        "end": start + len(text),
        "text": text,
        "support": "full",
        "supported": True,
        "reviewers": 1,
        "judged": judged,
        "signature": SIMILAR,
    }
    return label | more


def test_what_is_agreed_is_written_and_the_rest_is_named(run: Path, tmp_path: Path) -> None:
    ran = judge("review", "promote", run, "-o", "golden.jsonl")
    assert (ran.code, ran.err) == (0, "")
    first, second, third, last = ran.out.splitlines()
    assert (first, second) == ("2 labels on 2 answers", "1 sentence disagreed on")
    assert third.endswith("  一␛[1m, sentence 2")
    assert third.startswith("  r")
    assert SECOND not in ran.out
    assert last == "written to golden.jsonl"
    read = [
        json.loads(each) for each in (tmp_path / "golden.jsonl").read_text("utf-8").splitlines()
    ]
    assert [answer["qid"] for answer in read] == ["一\x1b[1m", "b"]
    assert [[each["text"] for each in answer["labels"]] for answer in read] == [[FIRST], [FIRST]]
    assert judge("score", "golden.jsonl", "-o", "again").code == 0


def test_what_is_left_out_is_counted(run: Path, tmp_path: Path) -> None:
    draw = take(run, size=100, seed=1).draw
    old = take(run, size=100, seed=2).draw.model_copy(update={"results": "0" * 64})
    said = next(each for each in draw.sentences if each.qid == "b")
    for name, reviewer in ((draw, "z"), (old, "old")):
        write_draw(run, name)
        bare = Label(
            review_id=said.review_id, qid="b", sentence=0, supported=True, reviewer=reviewer
        )
        write_labels(run, name.draw, [bare])
    ran = judge("review", "promote", run, "-o", tmp_path / "new" / "g.jsonl", "--min-reviewers", 3)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:5] == [
        "1 label on 1 answer",
        "1 label of these a bare yes or no: full support against the rest",
        "left out: 1 sentence with under 3 reviewers",
        f"left out: labels of earlier results, draws {old.draw}",
        "1 sentence disagreed on",
    ]


def test_what_flipped_is_told_worst_first(tmp_path: Path) -> None:
    # The similarity judge says full of the first and none of the second.
    answer = f"{FIRST} {SECOND} What does it cost?"
    labels = [
        labelled(0, FIRST, "none", support="partial", supported=False),
        labelled(28, SECOND, sentence=1),
        labelled(55, "What does it cost?", sentence=2),
    ]
    other = line("b", FIRST) | {"labels": [labelled(0, FIRST, None), labelled(4, "canteen\x1b")]}
    other["answer"] = "The canteen\x1b opens at seven."
    other["labels"] = [labelled(4, "canteen\x1b")]
    write(tmp_path / "golden.jsonl", [line("a\x1b[1m", answer) | {"labels": list(labels)}, other])
    ran = judge("review", "drift", "golden.jsonl", "-o", "drift.json")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "4 labels on 2 answers, full support against the rest"
    assert lines[1] == f"then        {SIMILAR}"
    assert lines[2].startswith(f"now         {SIMILAR}|")
    assert lines[3:] == [
        "compared    2 labels",
        "right       100.0 % then, 0.0 % now",
        "flipped     2 worse, 0 better, 0 other; McNemar's exact p = 0.5",
        "",
        "worse: a␛[1m, sentence 2: full → none, people: full",
        f"  {SECOND}",
        "",
        "worse: a␛[1m, sentence 1: none → full, people: partial",
        f"  {FIRST}",
        "",
        "lost: a␛[1m, sentence 3: counts as question now",
        "  What does it cost?",
        "",
        "lost: b, sentence 1: is no sentence of its own now",
        "  canteen␛",
        "",
        "written to drift.json",
    ]
    kept = Drift.model_validate_json((tmp_path / "drift.json").read_bytes())
    assert (kept.worse, kept.p, kept.scale) == (2, 0.5, "full_or_rest")


def test_the_gate(tmp_path: Path) -> None:
    # Two worse and none better: p = 2 · ½² = .5.
    answer = f"{SECOND} {SECOND}"
    labels: list[JsonValue] = [labelled(0, SECOND), labelled(27, SECOND)]
    write(tmp_path / "golden.jsonl", [line("a", answer) | {"labels": labels}])
    assert judge("review", "drift", "golden.jsonl").code == 0
    for alpha, code in {"0.5": 0, "0.51": 1, "1.01": 2, "much": 2}.items():
        assert judge("review", "drift", "golden.jsonl", "--fail-worse", alpha).code == code


def test_a_gate_on_nothing_is_no_pass(tmp_path: Path) -> None:
    write(tmp_path / "golden.jsonl", [line("a", SECOND) | {"labels": [labelled(0, SECOND, None)]}])
    ran = judge("review", "drift", "golden.jsonl")
    assert ran.code == 0
    assert "no verdict  1 then, 0 now\ncompared    0 labels\nflipped     0 worse" in ran.out
    assert judge("review", "drift", "golden.jsonl", "--fail-worse", 0.05).code == 3


def test_the_report_takes_no_other_file_s_place(tmp_path: Path) -> None:
    source = write(
        tmp_path / "golden.jsonl", [line("a", SECOND) | {"labels": [labelled(0, SECOND)]}]
    )
    (tmp_path / "there.json").write_text("mine")
    (tmp_path / "folder").mkdir()
    for words in (
        ("-o", "there.json"),
        ("-o", "golden.jsonl", "--force"),
        ("-o", "folder", "--force"),
    ):
        ran = judge("review", "drift", source, *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert (tmp_path / "there.json").read_text() == "mine"
    assert judge("review", "drift", source, "-o", "there.json", "--force").code == 0
