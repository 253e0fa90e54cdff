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
    is_of,
    origins,
    read_record,
    read_results,
    read_run,
    read_summary,
    samples_of,
)
from judge.jobs.job import Job
from judge.records import SampleResult

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


def test_samples_are_found_where_the_input_still_has_them(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", ["broken\n", *LINES])
    results = scored(source, tmp_path / "run", skip=True)

    def found() -> dict[str, str]:
        samples = samples_of(tmp_path / "run", results)
        return {qid: sample.answer for qid, sample in samples.items()}

    assert found() == {"a": "It is paid.", "乙": "一。 二。", "c": ""}
    # The input was sorted since, and one answer is another.
    write(source, [LINES[2], line("乙", "别的。"), LINES[0]])
    assert found() == {"a": "It is paid.", "c": ""}
    write(source, [LINES[0], "broken\n", LINES[2]])
    assert found() == {"a": "It is paid.", "c": ""}
    source.unlink()
    assert found() == {}


@pytest.mark.parametrize(
    ("qid", "answer"),
    [
        ("a", "It is free."),
        ("a", "It is"),
        ("a", "It is paid. And more."),
        ("a", "  It is paid."),
        ("乙", "一。三。二。"),
        ("c", "An answer at last."),
        ("other", "It is paid."),
    ],
)
def test_another_answer_is_not_the_result_s(qid: str, answer: str, tmp_path: Path) -> None:
    results = scored(io.BytesIO("".join(LINES).encode()), tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "moved")  # standard input is kept with the folder
    assert len(samples_of(tmp_path / "moved", results)) == 3
    write(tmp_path / "moved" / "input", [line(qid, answer)])
    assert samples_of(tmp_path / "moved", results) == {}


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
    with pytest.raises(RunError, match="cannot be read again"):
        pairs(tmp_path / "run")


def test_an_unfinished_run_has_no_totals_and_the_results_so_far(tmp_path: Path) -> None:
    scored(write(tmp_path / "in.jsonl", LINES), tmp_path / "run")
    begun = json.loads((tmp_path / "run" / "run.json").read_text("utf-8")) | {"finished": None}
    (tmp_path / "run" / "run.json").write_text(json.dumps(begun), "utf-8")
    torn = (tmp_path / "run" / "results.jsonl").read_bytes()[:-9]
    (tmp_path / "run" / "results.jsonl").unlink()
    (tmp_path / "run" / "results.jsonl.part").write_bytes(torn)
    run = read_run(tmp_path / "run")
    assert run.summary is None
    assert [result.qid for result in run.results] == ["a", "乙"]


def kept(folder: Path) -> list[bytes]:
    return (folder / "results.jsonl").read_bytes().splitlines(keepends=True)


def test_a_line_is_a_result(tmp_path: Path) -> None:
    results = scored(write(tmp_path / "in.jsonl", LINES), tmp_path / "run")
    assert [SampleResult.model_validate_json(each) for each in kept(tmp_path / "run")] == results


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
        ([one, three], "line 2 is of qid c, expected 乙"),
        ([one, one, two, three], "line 2 is of qid a, expected 乙"),
        ([two, one, three], "line 1 is of qid 乙, expected a"),
        ([one, two, three, three], "line 4 is of qid c, expected no more"),
        ([one, two], "holds 2 results, and 3 were scored"),
    ]
    for lines, says in rows:
        (tmp_path / "run" / "results.jsonl").write_bytes(b"".join(lines))
        with pytest.raises(RunError, match=rf"results\.jsonl: {says}: lines were lost"):
            pairs(tmp_path / "run")


def test_what_is_no_run_is_named_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text('{"schema": 1}')
    (tmp_path / "bad" / "results.jsonl").write_text("nonsense\n")
    rows = [
        (read_record, "nowhere", "no such run folder; judge score FILE -o"),
        (pairs, "nowhere", "no such run folder"),
        (read_record, "x" * 5000, "File name too long; name a run folder"),
        (lambda folder: list(read_results(folder)), "nowhere", "no such run folder"),
        (read_summary, "empty", "holds no run"),
        (read_record, "file", "is a file, not a run folder"),
        (read_run, "bad", r"run\.json: damaged.*score again with --force"),
        (lambda folder: list(read_results(folder)), "bad", "line 1 is damaged"),
    ]
    for read, name, says in rows:
        with pytest.raises(RunError, match=says):
            read(tmp_path / name)
