import gzip
import json
import os
import re
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pytest

from judge import Config, Evaluator, InputError, RunError, SampleResult, Support, Verdict
from judge.backends.fake import FakeJudge
from judge.inputs.runs import read_record, read_results, read_summary
from judge.jobs.job import Job, Watcher
from judge.records.run import RunRecord
from judge.reports.totals import spent_lines
from tests.server import JudgeServer

FULL = Verdict(support=Support.FULL, source="llm", signature="fake")


def line(qid: object, answer: str = "It is paid.") -> str:
    chunks = [{"chunk_id": "a", "text": "It is paid."}]
    return json.dumps({"qid": str(qid), "answer": answer, "chunks": chunks}, ensure_ascii=False)


class Log(Watcher):
    """A watcher that can end the job after some results, and change its input at the start."""

    def __init__(
        self, stop_after: int | None = None, source: Path | None = None, lines: Sequence[str] = ()
    ) -> None:
        self.kept = 0
        self.qids: list[str] = []
        self._stop_after, self._source, self._lines = stop_after, source, lines

    def on_start(self, record: RunRecord, kept: int) -> None:
        self.record, self.kept = record, kept
        if self._source:
            write(self._source, self._lines)

    def on_result(self, result: SampleResult) -> None:
        self.qids.append(result.qid)
        if len(self.qids) == self._stop_after:
            raise KeyboardInterrupt


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Nine answers."""
    return write(tmp_path / "in.jsonl", [line(n) for n in range(9)])


def run(
    source: Path | BytesIO,
    folder: Path,
    log: Log | None = None,
    judge: FakeJudge | None = None,
    model: str | None = None,
    *,
    force: bool = False,
    skip_bad_lines: bool = False,
) -> Log:
    log = log or Log()
    evaluator = Evaluator(judge=judge or FakeJudge({"It is paid.": FULL}))
    Job(
        source,
        folder,
        Config(model=model),
        evaluator=evaluator,
        force=force,
        skip_bad_lines=skip_bad_lines,
    ).run(log)
    return log


def qids(folder: Path) -> list[str]:
    return [result.qid for result in read_results(folder)]


def files(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} - {".lock"}


def test_every_answer_has_its_result(source: Path, folder: Path) -> None:
    write(source, [line("甲"), line("b", ""), line("c", "Is it paid?")])
    assert run(source, folder).qids == qids(folder) == ["甲", "b", "c"]
    assert read_summary(folder).answers == 3
    record = read_record(folder)
    assert (record.input.samples, record.input.path) == (3, str(source))
    assert record.finished is not None
    assert {"judge", "python", "numpy"} <= set(record.versions)
    assert files(folder) == {"results.jsonl", "summary.json", "run.json"}


def test_an_interrupted_run_is_finished_by_the_same_command(source: Path, folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(source, folder, Log(stop_after=4))
    assert "results.jsonl.part" in files(folder)
    judge = FakeJudge({"It is paid.": FULL})
    log = run(source, folder, judge=judge)
    assert log.kept == 4
    assert log.qids == list("012345678")
    assert len(judge.requests) == 5  # nothing is judged twice
    assert read_summary(folder).answers == 9
    assert read_record(folder).resumed == 4

    whole = folder.with_name("whole")
    run(source, whole)
    assert (folder / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()
    assert read_summary(folder) == read_summary(whole)


def test_a_resumed_run_says_what_this_session_paid_and_what_all_did(
    source: Path, folder: Path, server: JudgeServer
) -> None:
    config = server.config(input_price=2, output_price=4)
    with pytest.raises(KeyboardInterrupt):
        Job(source, folder, config).run(Log(stop_after=6))
    part = folder / "results.jsonl.part"
    lines = part.read_bytes().splitlines(keepends=True)
    # From the damaged third line on, everything is asked and paid again.
    part.write_bytes(b"".join([*lines[:2], b"{}\n", *lines[3:]]))
    summary = Job(source, folder, config).run()
    record = read_record(folder)
    earlier = record.earlier
    assert earlier is not None
    assert (record.resumed, earlier.calls, summary.calls) == (2, 2, 9)
    # Nine equal answers: two ninths of everything were paid before.
    assert earlier.prompt_tokens * 9 == summary.prompt_tokens * 2
    session = summary.since(earlier)
    assert (session.calls, session.reply_tokens) == (7, 7 * summary.reply_tokens // 9)
    assert session.cost is not None
    assert session.cost == pytest.approx(
        (2 * session.prompt_tokens + 4 * session.reply_tokens) / 1e6
    )
    first, second = spent_lines(summary, record)
    assert re.match(r"in this session: 7 calls in [\d.]+ s; 0 from the cache; ", first)
    assert second.startswith("in all: 9 calls; 0 from the cache; ")
    (line,) = spent_lines(summary, record.model_copy(update={"earlier": None}))
    assert re.match(r"9 calls in [\d.]+ s; 0 from the cache; ", line)


def test_bad_lines_can_be_set_aside(folder: Path) -> None:
    source = folder.with_name(os.fsdecode(b"caf\xe9.jsonl"))  # a name that is no text
    write(source, [line("a"), "{", line("a"), line("b")])
    assert run(source, folder, skip_bad_lines=True).qids == ["a", "b"]
    text = (folder / "rejected.jsonl").read_text(encoding="utf-8")
    rejected = [json.loads(entry) for entry in text.splitlines()]
    assert [(entry["line"], entry["text"]) for entry in rejected] == [(2, "{"), (3, line("a"))]
    assert "caf?.jsonl, line 2: bad JSON" in rejected[0]["error"]
    assert read_record(folder).input.rejected == 2


def test_standard_input_gzipped_or_not(tmp_path: Path) -> None:
    text = (line("一") + "\n").encode()
    for name, content in (("plain", text), ("zipped", gzip.compress(text))):
        run(BytesIO(content), tmp_path / name)
        assert qids(tmp_path / name) == ["一"]
        assert "input" in files(tmp_path / name)


def test_an_input_that_changes_meanwhile_makes_no_run(source: Path, folder: Path) -> None:
    before, after = [line("a"), line("b")], [line("a"), line("b", "Bananas are purple.")]
    write(source, before)
    with pytest.raises(RunError, match="changed while it was scored"):
        run(source, folder, Log(source=source, lines=after))
    write(source, before)  # and what was made of the other text is not taken for this one's
    assert run(source, folder).kept == 0
    texts = [sentence.text for result in read_results(folder) for sentence in result.sentences]
    assert texts == ["It is paid."] * 2


Lines = list[bytes]
DAMAGED: list[tuple[str, Callable[[Lines], Lines], int]] = [
    ("torn", lambda lines: [*lines[:-1], lines[-1][:-9]], 6),
    ("no JSON", lambda lines: [*lines[:4], b'{"sch\n', *lines[5:]], 4),
    ("another version", lambda _: [b'{"schema": 9}\n'], 0),
    ("lost", lambda lines: [*lines[:4], *lines[5:]], 4),
    ("doubled", lambda lines: [*lines[:5], *lines[4:]], 5),
    ("swapped", lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 3),
]


@pytest.mark.parametrize("force", [False, True])
def test_a_damaged_unfinished_run_is_cut_there_and_gone_on_with(
    source: Path, folder: Path, caplog: pytest.LogCaptureFixture, *, force: bool
) -> None:
    run(source, folder.with_name("whole"))
    whole = (folder.with_name("whole") / "results.jsonl").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        run(source, folder, Log(stop_after=7), model="tiny")
    begun = {path.name: path.read_bytes() for path in folder.iterdir()}
    lines = begun["results.jsonl.part"].splitlines(keepends=True)
    for what, damaged, sound in DAMAGED:
        for name in files(folder):
            (folder / name).unlink()
        for name, data in begun.items():
            (folder / name).write_bytes(data)
        (folder / "results.jsonl.part").write_bytes(b"".join(damaged(lines)))
        judge = FakeJudge({"It is paid.": FULL})
        caplog.clear()
        assert run(source, folder, None, judge, "tiny", force=force).kept == sound, what
        assert len(judge.requests) == 9 - sound, what
        assert (folder / "results.jsonl").read_bytes() == whole, what
        assert (read_record(folder).resumed, read_summary(folder).answers) == (sound, 9)
        (told,) = [each.getMessage() for each in caplog.records if each.name == "judge"]
        assert told.startswith(f"{folder / 'results.jsonl.part'}: line {sound + 1} is "), what


def test_force_mends_whatever_it_is_advised_for(source: Path, folder: Path) -> None:
    run(source, folder)
    for name in ("summary.json", "results.jsonl"):
        (folder / name).write_text("{")
        with pytest.raises(RunError, match="--force"):
            run(source, folder)
        run(source, folder, force=True)
        assert qids(folder) == list("012345678")
    (folder / "run.json").write_text('{"mine": 1}')
    for force in (False, True):
        with pytest.raises(RunError, match=r"run\.json: damaged.*; move the folder away"):
            run(source, folder, force=force)


def test_a_finished_run_is_replaced_by_force_alone_and_by_a_good_input(
    source: Path, folder: Path
) -> None:
    run(write(source, [line("a")]), folder)
    before = (folder / "results.jsonl").read_bytes()
    # It is refused before the input is read, and a bad input does not cost it.
    with pytest.raises(RunError, match="finished run"):
        run(source.with_name("nowhere.jsonl"), folder)
    with pytest.raises(InputError):
        run(write(source, ["{"]), folder, force=True)
    assert (folder / "results.jsonl").read_bytes() == before
    assert read_record(folder).finished is not None
    run(write(source, [line("b")]), folder, force=True)
    assert qids(folder) == ["b"]


def test_a_run_does_not_eat_its_own_input(folder: Path) -> None:
    run(BytesIO((line("a") + "\n").encode()), folder)
    with pytest.raises(RunError, match="is in the run folder"):
        run(folder / "input", folder, force=True)
    assert qids(folder) == ["a"]
    run(folder / "input", folder.with_name("other"))
