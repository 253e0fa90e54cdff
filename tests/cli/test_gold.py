"""`judge gold`: queries drawn, chunks pooled and graded, and the gold set that comes of it."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.commands import Ran, judge, refused, write
from tests.review_runs import cells

LEGEND = "human_grade: 0 irrelevant, 1 on the subject but no answer, 2 answers in part, 3 answers"
ZH = "相关等级：0 不相关，1 主题相关但没有答案，2 部分回答，3 完整回答"
QIDS = [f"travel{n}" for n in range(8)]


def sample(qid: str, ids: Sequence[str], **more: JsonValue) -> dict[str, JsonValue]:
    chunks: list[JsonValue] = [{"chunk_id": name, "text": f"住宿标准 {name}"} for name in ids]
    return {"qid": qid, "query": f"What of {qid}?", "chunks": chunks, **more}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight queries, each with its parts 0 to 2 in the order of the ranking."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "dense.jsonl", [sample(q, [f"{q}#{n}" for n in range(3)]) for q in QIDS])
    return tmp_path


def draw(*words: object) -> Ran:
    ran = judge("gold", "draw", "dense.jsonl", *words)
    assert ran.code == 0, ran.err
    return ran


def grade(path: str, how: Callable[[Mapping[str, str]], str], delimiter: str = ",") -> None:
    """Fill in grades as a person does, and save as a spreadsheet does."""
    rows = cells(Path(path))
    header = LEGEND if LEGEND in rows[0] else ZH
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(row | {header: how(row)} for row in rows)


def by_part(row: Mapping[str, str]) -> str:
    """Part 0 answers, 1 does so in part, 2 is on the subject."""
    return str(3 - int(row["chunk"][-1]))


def gold(path: str = "gold.jsonl") -> dict[str, dict[str, JsonValue]]:
    lines = Path(path).read_text("utf-8").splitlines()
    return {each["qid"]: each for each in map(json.loads, lines)}


def test_a_sheet_is_drawn_graded_and_becomes_a_gold_set() -> None:
    draw("-n", 4, "--depth", 2)
    rows = cells(Path("gold.csv"))
    assert list(rows[0]) == ["review_id", "query", "chunk", LEGEND, "human_note", "reviewer"]
    assert len(rows) == 8
    grade("gold.csv", by_part)
    ran = judge("gold", "import", "dense.jsonl", "gold.csv", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert (found["counts"], found["queries"]) == ({"2": 4, "3": 4}, 4)
    for qid, each in gold().items():
        assert each["relevance"] == {f"{qid}#0": 3, f"{qid}#1": 2}
        assert each["gold_evidence"] == [f"{qid}#0", f"{qid}#1"]
        assert "answer" not in each
    # Any file of the same queries is held against it.
    write(Path("sparse.jsonl"), [sample(q, [f"{q}#2", f"{q}#0"]) for q in QIDS])
    options = ("--gold", "gold.jsonl", "--relevance-level", 2, "-k", 2, "--json")
    report = json.loads(judge("retrieval", "sparse.jsonl", *options).out)
    assert (report["queries"], report["mean"]["recall@2"]) == (4, 0.5)


def test_reviewers_overlap_and_the_median_of_their_grades_counts() -> None:
    draw("-n", 4, "--reviewers", "Ann,李雷", "--overlap", 2, "--depth", 3, "--lang", "zh")
    first, second = cells(Path("gold-1.csv")), cells(Path("gold-2.csv"))
    assert {row["审核人"] for row in second} == {"李雷"}
    both = {row["编号"] for row in first} & {row["编号"] for row in second}
    assert (len(both), len(first), len(second)) == (6, 9, 9)
    grade("gold-1.csv", lambda row: by_part({"chunk": row["片段"]}), ";")
    # One more than Ann gives, and of part 2, to which she gives 1, two more.
    grade("gold-2.csv", lambda row: {"0": "3", "1": "３。", "2": "3.0"}[row["片段"][-1]])
    ran = judge("gold", "import", "dense.jsonl", "gold-1.csv", "gold-2.csv", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    # The two shared queries have grades 3 3, 2 3 and 1 3; Ann's own 3, 2, 1, and 李雷's 3, 3, 3.
    assert found["counts"] == {"1": 1, "2": 3, "2.5": 2, "3": 6}
    agreement = found["agreement"]
    assert (agreement["shared"], agreement["equal"]) == (6, 2)
    # With 8 threes, 2 twos and 2 ones α is 1 - (12 - 1) · 20 / (32 + 128 + 8).
    assert agreement["alpha"] == pytest.approx(1 - 11 * 20 / 168)


def test_blank_rows_are_counted_and_rows_that_cannot_be_right_are_refused() -> None:
    draw("-n", 2)
    grades = iter(["3", "", "1.0", "", " 0 ", "0"])
    grade("gold.csv", lambda _: next(grades))
    found = json.loads(judge("gold", "import", "dense.jsonl", "gold.csv", "--json").out)
    assert (found["graded"], found["rows"]) == (4, 6)
    assert found["blank"] == ["gold.csv, row 3", "gold.csv, row 5"]

    rows = cells(Path("gold.csv"))
    rows[0][LEGEND], rows[1][LEGEND] = "4", "good"
    rows[2]["chunk"] = "another text"
    rows[3] |= {"review_id": "g00000000-1", LEGEND: "1"}
    rows.append(rows[4] | {LEGEND: "2"})
    rows.append(rows[4] | {"review_id": "", LEGEND: "2"})
    rows.append({"human_note": "a remark"})
    with Path("bad.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    ran = judge("gold", "import", "dense.jsonl", "bad.csv", "-o", "bad.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("judge: 6 rows cannot be right")
    assert [line.split(",")[1].partition(":")[0] for line in ran.err.splitlines()[1:]] == [
        f" row {number}" for number in (2, 3, 4, 5, 8, 9)
    ]
    assert not Path("bad.jsonl").exists()


def test_what_cannot_be_drawn_or_imported_is_one_line() -> None:
    write(Path("bare.jsonl"), [{"qid": "travel0", "query": "What?", "retrieved": ["x", "y"]}])
    write(Path("blank.jsonl"), [{"qid": "travel0", "query": " ", "retrieved": ["x"]}])
    write(Path("none.jsonl"), [{"qid": "travel0", "query": "What?"}])
    Path("empty.jsonl").write_text("", encoding="utf-8")
    wrong: list[list[object]] = [
        ["bare.jsonl"],
        ["blank.jsonl"],
        ["none.jsonl"],
        ["empty.jsonl"],
        ["gone.jsonl"],
        ["dense.jsonl", "-o", "dense.jsonl"],
        ["dense.jsonl", "-o", "gold.xlsx"],
        ["dense.jsonl", "--overlap", 3],
        ["dense.jsonl", "--depth", 0],
    ]
    for words in wrong:
        refused(judge("gold", "draw", *words))
    assert not Path("gold.csv").exists()
    draw("-n", 1)
    assert judge("gold", "draw", "dense.jsonl").code == 2  # the sheet exists already
    refused(judge("gold", "import", "gone.jsonl", "gold.csv"))
    refused(judge("gold", "import", "dense.jsonl", "gold.csv"))  # the sheet has no grade


def test_chunks_without_a_text_are_left_out() -> None:
    texts = {"y": "the answer", "x": "other"}
    chunks: list[JsonValue] = [{"chunk_id": name, "text": text} for name, text in texts.items()]
    ids: list[JsonValue] = ["x", "nowhere", "y", "x"]
    bad = json.dumps(sample("bad", []) | {"query": " "})
    good = {"qid": "q", "query": "What?", "retrieved": ids, "chunks": chunks}
    Path("one.jsonl").write_text(f"{bad}\n{{\n{json.dumps(good)}\n", encoding="utf-8")
    ran = judge("gold", "draw", "one.jsonl", "--skip-bad-lines")
    assert (ran.code, ran.err.count("\n")) == (0, 2)
    assert "text is not known" in ran.out
    grade("gold.csv", lambda row: "3" if "answer" in row["chunk"] else "0")
    ran = judge("gold", "import", "one.jsonl", "gold.csv", "--skip-bad-lines")
    assert ran.code == 0, ran.err
    assert gold()["q"]["relevance"] == {"x": 0, "y": 3}
    assert gold()["q"]["gold_evidence"] == ["y"]
