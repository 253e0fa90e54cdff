from io import BytesIO
from pathlib import Path

import pytest

from judge.errors import RunError
from judge.inputs.runs import RunFolder, difference, hold, read_record, read_results, read_summary
from judge.records import Sample, SampleResult
from judge.records.run import RunInput, RunRecord
from judge.scores.answer import aggregate
from judge.scores.totals import summarize

LLM = "llm:m@h|t:0"
BEGUN = RunRecord(
    signature=LLM,
    correctness=f"{LLM}|c",
    config={"seed": 0, "review_rate": 0.02, "faithful_from": 0.8, "gold_match": "exact"},
    versions={},
    input=RunInput(path="in.jsonl", sha256="a", samples=3),
    started="2026-11-21T00:00:00+00:00",
)


def record(**changes: object) -> RunRecord:
    return BEGUN.model_copy(update=changes)


def result(qid: str) -> SampleResult:
    return aggregate(Sample(qid=qid), [], {}, [], signature="s")


def finish(path: Path, *qids: str, force: bool = False) -> None:
    with RunFolder(path, force=force) as folder:
        folder.begin(BEGUN)
        for qid in qids:
            folder.append(result(qid))
        made = RunInput(path="in.jsonl", sha256="a", samples=len(qids))
        done = record(finished="2026-01-01T00:01:00+00:00", input=made)
        folder.finish(summarize(map(result, qids)), done)


def qids(path: Path) -> list[str]:
    return [result.qid for result in read_results(path)]


def test_a_finished_run_is_whole(tmp_path: Path) -> None:
    finish(tmp_path / "run", "一", "b")
    names = {entry.name for entry in (tmp_path / "run").iterdir()} - {".lock"}
    assert names == {"results.jsonl", "summary.json", "run.json"}
    assert qids(tmp_path / "run") == ["一", "b"]
    assert read_summary(tmp_path / "run").answers == 2
    assert read_record(tmp_path / "run").finished is not None
    # Chinese stays readable in the file itself.
    assert '"一"' in (tmp_path / "run" / "results.jsonl").read_text(encoding="utf-8")


def test_an_unfinished_run_is_taken_up_without_its_torn_line(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        assert folder.begin(BEGUN) == 0
        folder.append(result("a"))
        folder.append(result("b"))
    with (tmp_path / "results.jsonl.part").open("ab") as file:
        file.write(b'{"schema":1,"qid":"torn')
    assert qids(tmp_path) == ["a", "b"]
    with RunFolder(tmp_path) as folder:
        assert folder.begin(record(started="later")) == 2
        folder.append(result("c"))
    assert qids(tmp_path) == ["a", "b", "c"]


def test_an_unfinished_run_that_differs_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.begin(BEGUN)
        folder.append(result("a"))
    other = record(signature="t")
    with RunFolder(tmp_path) as folder, pytest.raises(RunError, match="another signature"):
        folder.begin(other)
    assert qids(tmp_path) == ["a"]
    with RunFolder(tmp_path, force=True) as folder:
        assert folder.begin(other) == 0


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.begin(BEGUN)
        with pytest.raises(RunError, match="another run is writing here"):
            RunFolder(tmp_path / "run", force=True).__enter__()
        folder.append(result("a"))
    assert qids(tmp_path / "run") == ["a"]


def test_a_run_that_never_began_leaves_no_trace(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "a" / "b") as folder:
        folder.take(BytesIO(b"{}"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_somebody_elses_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    names = ("mine.txt", "notes/", ".git/", "笔记.txt", "results.jsonl", "input", "run.json")
    for name in names:
        folder = tmp_path / f"of {name.strip('/')}"
        folder.mkdir()
        if name.endswith("/"):
            (folder / name).mkdir()
        else:
            (folder / name).write_text('{"mine": 1}')
        says = "damaged" if name == "run.json" else "no run.json accounts for it; move it away"
        with pytest.raises(RunError, match=says):
            RunFolder(folder, force=True).__enter__()
        assert {each.name for each in folder.iterdir()} - {".lock"} == {name.strip("/")}
        assert name.endswith("/") or (folder / name).read_text() == '{"mine": 1}'


@pytest.mark.parametrize(
    "name", ["results.jsonl.part", "results.jsonl", "input", "run.json", "summary.json", ".lock"]
)
def test_a_link_in_a_run_is_refused(tmp_path: Path, name: str) -> None:
    run, victim = tmp_path / "run", tmp_path / "victim"
    run.mkdir()
    with RunFolder(run) as folder:
        folder.begin(BEGUN)
        folder.append(result("a"))
    victim.write_text("precious\n")
    for target in (victim, tmp_path / "nothing"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(target)
        with pytest.raises(RunError, match=rf"{name}: is a link, .*; move it away"):
            RunFolder(run).__enter__()
        assert victim.read_text() == "precious\n"
        assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_kill_9_between_any_two_steps_of_force(tmp_path: Path, gone: int) -> None:
    finish(tmp_path, "a", "b")
    for name in ("results.jsonl", "summary.json", "run.json")[:gone]:
        (tmp_path / name).unlink()
    with RunFolder(tmp_path, force=True) as folder:
        assert folder.begin(BEGUN) == 0  # never stuck, and nothing old is taken up


def test_what_differs_is_named_with_what_it_was() -> None:
    config = BEGUN.config
    rows: list[tuple[dict[str, object], str]] = [
        ({"input": RunInput(path="b.jsonl", sha256="b", samples=3)}, "input (in.jsonl)"),
        ({"signature": "llm:n@h|t:0"}, "signature (llm:m@h|t:0, which differs in llm)"),
        ({"signature": "llm:n@h|n:4"}, "signature (llm:m@h|t:0, which differs in llm, t, n)"),
        ({"correctness": None}, "correctness (llm:m@h|t:0|c, which differs in llm, t, options)"),
        (
            {"correctness": "llm:m@h|t:0|d"},
            "correctness (llm:m@h|t:0|c, which differs in options)",
        ),
        ({"config": {**config, "seed": 1}}, "seed (0)"),
        ({"config": {**config, "faithful_from": 0.9}}, "faithful_from (0.8)"),
        ({"config": {**config, "correct_from": 0.9}}, "correct_from (None)"),
        ({"config": {**config, "gold_match": "prefix"}}, "gold_match (exact)"),
    ]
    found = [difference(BEGUN, record(**fields)) for fields, _ in rows]
    assert found == [named for _, named in rows]


def test_one_at_a_time(tmp_path: Path) -> None:
    with hold(tmp_path):
        with pytest.raises(RunError, match="another command is writing here"), hold(tmp_path):
            pass
        with pytest.raises(RunError, match="another run is writing here"), RunFolder(tmp_path):
            pass
    with hold(tmp_path):
        pass
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").symlink_to(tmp_path / "file")
    with pytest.raises(RunError, match=r"\.lock: is a link, .*; move it away"), hold(tmp_path):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot be written.*mend that"), hold(tmp_path / "file"):
        pass
