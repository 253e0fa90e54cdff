import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge.backends.fake import FakeJudge
from judge.config import Config
from judge.errors import RunError
from judge.evaluator import Evaluator
from judge.inputs.runs import (
    RunFolder,
    difference,
    hold,
    is_of,
    origins,
    read_results,
    read_run,
    samples_of,
)
from judge.jobs.job import Job
from judge.records import Sample, SampleResult
from judge.records.run import RunInput, RunRecord
from judge.scores.answer import aggregate

CHUNKS = [{"chunk_id": "a", "text": "It is paid."}]


def line(qid: str, answer: str, **more: object) -> str:
    return json.dumps({"qid": qid, "answer": answer, "chunks": CHUNKS} | more) + "\n"


LINES = [line("a", "It is paid."), line("乙", "一。 二。"), line("c", "")]


def scored(source: Path | io.BytesIO, folder: Path, *, skip: bool = False) -> list[SampleResult]:
    evaluator = Evaluator(judge=FakeJudge({}))
    Job(source, folder, Config(), evaluator=evaluator, skip_bad_lines=skip).run()
    return list(read_results(folder))


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_samples_are_found_while_the_input_is_as_it_was(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", ["broken\n", *LINES])
    scored(source, tmp_path / "run", skip=True)

    def found(folder: Path) -> list[str]:
        return [sample.answer for sample in samples_of(folder, {"a", "乙"}).values()]

    assert found(tmp_path / "run") == ["It is paid.", "一。 二。"]
    write(source, LINES)
    assert found(tmp_path / "run") == []
    source.unlink()
    assert found(tmp_path / "run") == []
    scored(io.BytesIO("".join(LINES).encode()), tmp_path / "piped")
    (tmp_path / "piped").rename(tmp_path / "moved")  # standard input is kept with the folder
    assert found(tmp_path / "moved") == ["It is paid.", "一。 二。"]


def pairs(folder: Path) -> list[tuple[str, str]]:
    return [(sample.qid, result.qid) for sample, result in origins(folder)]


def test_all_results_with_their_samples_in_input_order(tmp_path: Path) -> None:
    # Lines that were left out have no result.
    lines = ["broken\n", LINES[0], '{"answer": 3}\n', *LINES[1:]]
    source = write(tmp_path / "in.jsonl", lines)
    scored(source, tmp_path / "run", skip=True)
    assert pairs(tmp_path / "run") == [("a", "a"), ("乙", "乙"), ("c", "c")]
    for sample, result in origins(tmp_path / "run"):
        assert is_of(result, sample)
        assert sample.chunks[0].text == "It is paid."
    # Samples that changed or are gone are not shown.
    write(source, LINES[:2])
    with pytest.raises(RunError, match=r"in\.jsonl: changed since"):
        pairs(tmp_path / "run")
    source.unlink()
    with pytest.raises(RunError, match=r"in\.jsonl: changed since .*, or gone"):
        pairs(tmp_path / "run")


def kept(folder: Path) -> list[bytes]:
    return (folder / "results.jsonl").read_bytes().splitlines(keepends=True)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    scored(write(tmp_path / "in.jsonl", LINES), tmp_path / "run")
    path = tmp_path / "run" / "results.jsonl"
    lines = kept(tmp_path / "run")
    rows = [
        (1, lines[1].replace(b'"qid"', b'"id"'), "is damaged"),
        (2, b"nonsense\n", "is damaged"),
        (2, lines[2][:-9], "is cut off"),
        # As judge 0.1 wrote it.
        (0, lines[0][:-2] + b',"checksum":"0"}\n', "is damaged, or of another version of judge"),
    ]
    for number, other, says in rows:
        path.write_bytes(b"".join([*lines[:number], other, *lines[number + 1 :]]))
        place = rf"results\.jsonl: line {number + 1} "
        for read in (read_results, origins):
            with pytest.raises(RunError, match=f"{place}{says}.*; score again with --force"):
                list(read(tmp_path / "run"))
    path.write_bytes(b"".join(lines).replace(b"\n", b"\r\n"))
    assert len(list(read_results(tmp_path / "run"))) == 3  # line ends are nobody's verdict


def test_lines_that_are_not_the_next_sample_s_are_no_change_of_the_input(tmp_path: Path) -> None:
    scored(write(tmp_path / "in.jsonl", LINES), tmp_path / "run")
    one, two, three = kept(tmp_path / "run")
    rows = [
        ([one, three], "line 2 is of qid c, and the answer of qid 乙 is expected"),
        ([two, one, three], "line 1 is of qid 乙, and the answer of qid a is expected"),
        ([one, two, three, three], "line 4 is of qid c, and no more is expected"),
        ([one, two], "holds 2 results, and 3 were scored"),
    ]
    for lines, says in rows:
        (tmp_path / "run" / "results.jsonl").write_bytes(b"".join(lines))
        with pytest.raises(RunError, match=rf"results\.jsonl: {says}: lines were lost"):
            pairs(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere", "holds no run .*; judge score FILE -o"),
        ("empty", "holds no run"),
        ("file", r"holds no run \(Not a directory\)"),
        ("bad", r"run\.json: damaged.*move the folder away"),
    ],
)
def test_what_is_no_run_is_named_with_the_next_step(
    name: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text('{"schema": 1}')
    with pytest.raises(RunError, match=problem):
        read_run(tmp_path / name)


# Writing a run

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


def test_an_unfinished_run_that_differs_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.begin(BEGUN)
        folder.append(result("a"))
    other = record(signature="t")
    with RunFolder(tmp_path) as folder, pytest.raises(RunError, match="another signature"):
        folder.begin(other)
    assert [each.qid for each in read_results(tmp_path)] == ["a"]
    with RunFolder(tmp_path, force=True) as folder:
        assert folder.begin(other) == 0


def test_a_run_that_never_began_leaves_no_trace(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "a" / "b") as folder:
        folder.take(io.BytesIO(b"{}"))
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


def test_what_differs_is_named_with_what_it_was() -> None:
    config = BEGUN.config
    rows: list[tuple[dict[str, object], str]] = [
        ({"input": RunInput(path="b.jsonl", sha256="b", samples=3)}, "input (in.jsonl)"),
        ({"signature": "llm:n@h|t:0"}, "signature (llm: m@h, n@h)"),
        ({"signature": "llm:m@h|n:4"}, "signature (t: 0, –; n: –, 4)"),
        ({"correctness": None}, "correctness (judge: llm:m@h, none)"),
        ({"correctness": "llm:m@h|t:0|d"}, "correctness (options: c, d)"),
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
