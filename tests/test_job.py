import asyncio
import gzip
import json
import os
import threading
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest

from judge import Config, Evaluator, InputError, RunError, SampleResult, Support, Verdict
from judge.backends.fake import FakeJudge
from judge.files.runs import read_record, read_results, read_summary
from judge.job import Job
from judge.records import JudgeRequest, Judgment
from judge.records.run import RunRecord

FULL = Verdict(support=Support.FULL, source="llm", signature="fake")


def line(qid: str, answer: str = "It is paid.") -> str:
    chunks = [{"chunk_id": "a", "text": "It is paid."}]
    return json.dumps({"qid": qid, "answer": answer, "chunks": chunks}, ensure_ascii=False)


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Log:
    def __init__(self, stop_after: int | None = None) -> None:
        self.kept = 0
        self.qids: list[str] = []
        self.waited = asyncio.Event()
        self._stop_after = stop_after

    def begun(self, record: RunRecord, kept: int) -> None:
        self.record, self.kept = record, kept

    def waiting(self) -> None:
        self.waited.set()

    def scored(self, result: SampleResult) -> None:
        self.qids.append(result.qid)
        if len(self.qids) == self._stop_after:
            raise KeyboardInterrupt


def job(
    source: Path | BytesIO, folder: Path, *, judge: FakeJudge | None = None, **options: bool
) -> Job:
    evaluator = Evaluator(judge=judge or FakeJudge({"It is paid.": FULL}))
    return Job(source, folder, Config(), evaluator=evaluator, **options)


def run(job: Job, log: Log | None = None) -> Log:
    log = log or Log()
    job.run(log)
    return log


def files(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} - {".lock"}


def test_every_answer_has_its_result(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line("甲"), line("b", ""), line("c", "Is it paid?")])
    log = run(job(source, tmp_path / "run"))
    assert [r.qid for r in read_results(tmp_path / "run")] == ["甲", "b", "c"] == log.qids
    assert read_summary(tmp_path / "run").answers == 3
    record = read_record(tmp_path / "run")
    assert record.input.samples == 3
    assert record.input.path == str(source)
    assert record.finished is not None
    assert {"judge", "python", "numpy"} <= set(record.versions)
    assert files(tmp_path / "run") == {"results.jsonl", "summary.json", "run.json"}


def test_an_interrupted_run_is_finished_by_the_same_command(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(str(i)) for i in range(9)])
    with pytest.raises(KeyboardInterrupt):
        run(job(source, tmp_path / "run"), Log(stop_after=4))
    assert "results.jsonl.part" in files(tmp_path / "run")
    judge = FakeJudge({"It is paid.": FULL})
    log = run(job(source, tmp_path / "run", judge=judge))
    assert log.kept == 4
    assert log.qids == [str(i) for i in range(9)]
    assert len(judge.requests) == 5  # nothing is judged twice
    assert read_summary(tmp_path / "run").answers == 9
    assert read_record(tmp_path / "run").resumed == 4

    run(job(source, tmp_path / "whole"))
    whole, resumed = (tmp_path / name / "results.jsonl" for name in ("whole", "run"))
    assert resumed.read_bytes() == whole.read_bytes()
    assert read_summary(tmp_path / "run") == read_summary(tmp_path / "whole")


def test_a_changed_input_is_not_taken_for_the_same_run(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(str(i)) for i in range(9)])
    with pytest.raises(KeyboardInterrupt):
        run(job(source, tmp_path / "run"), Log(stop_after=4))
    write(source, [line(str(i)) for i in range(10)])
    with pytest.raises(RunError, match="another input"):
        run(job(source, tmp_path / "run"))
    assert len(list(read_results(tmp_path / "run"))) == 4


@pytest.mark.parametrize(
    "lines",
    [
        [line("a"), line("b"), '{"qid": "c", "answer": '],
        [line("a"), line("a")],
        [line("a"), '{"qid": "b", "answer": 5, "chunks": []}'],
    ],
)
def test_a_bad_line_stops_the_job_before_anything_is_written(
    tmp_path: Path, lines: list[str]
) -> None:
    source = write(tmp_path / "in.jsonl", lines)
    judge = FakeJudge({})
    with pytest.raises(InputError, match=r"in\.jsonl, line [23]"):
        run(job(source, tmp_path / "run", judge=judge))
    assert not (tmp_path / "run").exists()
    assert judge.requests == []


def test_bad_lines_can_be_set_aside(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line("a"), "{", line("a"), line("b")])
    log = run(job(source, tmp_path / "run", skip_bad_lines=True))
    assert log.qids == ["a", "b"]
    text = (tmp_path / "run" / "rejected.jsonl").read_text(encoding="utf-8")
    rejected = [json.loads(entry) for entry in text.splitlines()]
    assert [(entry["line"], entry["text"]) for entry in rejected] == [(2, "{"), (3, line("a"))]
    assert "bad JSON" in rejected[0]["error"]
    assert read_record(tmp_path / "run").input.rejected == 2


def test_standard_input_gzipped_or_not(tmp_path: Path) -> None:
    text = (line("一") + "\n").encode()
    run(job(BytesIO(text), tmp_path / "plain"))
    run(job(BytesIO(gzip.compress(text)), tmp_path / "zipped"))
    for name in ("plain", "zipped"):
        assert [r.qid for r in read_results(tmp_path / name)] == ["一"]
        assert "input" in files(tmp_path / name)


def test_a_pipe_by_name(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(line("a") + "\n",))
    writer.start()
    run(job(pipe, tmp_path / "run"))
    writer.join()
    assert [r.qid for r in read_results(tmp_path / "run")] == ["a"]


def test_a_file_name_need_not_be_text(tmp_path: Path) -> None:
    source = tmp_path / os.fsdecode(b"\xff.jsonl")
    try:
        write(source, [line("a")])
    except OSError:
        pytest.skip("this file system takes text only")
    run(job(source, tmp_path / "run"))
    assert read_record(tmp_path / "run").input.path.endswith("\\xff.jsonl")


def test_an_input_that_changes_meanwhile_makes_no_run(tmp_path: Path) -> None:
    before, after = [line("a"), line("b")], [line("a"), line("b", "Bananas are purple.")]
    source = write(tmp_path / "in.jsonl", before)

    class Changing(Log):
        def begun(self, record: RunRecord, kept: int) -> None:
            super().begun(record, kept)
            write(source, after)

    with pytest.raises(RunError, match="changed while it was scored"):
        run(job(source, tmp_path / "run"), Changing())
    write(source, before)  # and what was made of the other text is not taken for this one's
    assert run(job(source, tmp_path / "run")).kept == 0
    assert [s.text for r in read_results(tmp_path / "run") for s in r.sentences] == (
        ["It is paid."] * 2
    )


@pytest.mark.parametrize("lines", [[line("x")], [line("0", "It is red."), line("1")], []])
def test_kept_results_of_another_text_are_not_taken_up(tmp_path: Path, lines: list[str]) -> None:
    source = write(tmp_path / "in.jsonl", [line(str(i)) for i in range(5)])
    with pytest.raises(KeyboardInterrupt):
        run(job(source, tmp_path / "run"), Log(stop_after=2))

    class Changing(Log):
        def begun(self, record: RunRecord, kept: int) -> None:
            super().begun(record, kept)
            write(source, lines)

    with pytest.raises(RunError, match="changed while it was scored"):
        run(job(source, tmp_path / "run"), Changing())


def test_a_finished_run_is_refused_before_the_input_is_read(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line("a")])
    run(job(source, tmp_path / "run"))
    before = (tmp_path / "run" / "results.jsonl").read_bytes()
    with pytest.raises(RunError, match="finished run"):
        run(job(tmp_path / "nowhere.jsonl", tmp_path / "run"))
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == before
    run(job(write(source, [line("b")]), tmp_path / "run", force=True))
    assert [r.qid for r in read_results(tmp_path / "run")] == ["b"]


def test_a_bad_input_does_not_cost_the_finished_run_it_would_replace(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line("a")])
    run(job(source, tmp_path / "run"))
    before = (tmp_path / "run" / "results.jsonl").read_bytes()
    with pytest.raises(InputError):
        run(job(write(source, ["{"]), tmp_path / "run", force=True))
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == before
    assert read_record(tmp_path / "run").finished is not None


def test_a_run_does_not_eat_its_own_input(tmp_path: Path) -> None:
    run(job(BytesIO((line("a") + "\n").encode()), tmp_path / "run"))
    with pytest.raises(RunError, match="is a file of the run it would replace"):
        run(job(tmp_path / "run" / "input", tmp_path / "run", force=True))
    assert [r.qid for r in read_results(tmp_path / "run")] == ["a"]
    run(job(tmp_path / "run" / "input", tmp_path / "other"))


class Slow(FakeJudge):
    """Waits until the watcher was told that time goes by."""

    def __init__(self, log: Log) -> None:
        super().__init__({"It is paid.": FULL})
        self._log = log

    async def judge(self, request: JudgeRequest) -> Judgment:
        await self._log.waited.wait()
        return await super().judge(request)


def test_whoever_waits_is_told_that_time_goes_by(tmp_path: Path) -> None:
    log = Log()
    evaluator = Evaluator(judge=Slow(log))
    source = write(tmp_path / "in.jsonl", [line("a")])
    Job(source, tmp_path / "run", Config(), evaluator=evaluator, beat=0.001).run(log)
    assert log.qids == ["a"]
