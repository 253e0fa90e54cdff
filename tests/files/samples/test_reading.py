import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.files.samples import Rejected, check_samples, read_samples
from judge.records import Sample

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
GOOD = '{"answer": "a", "chunks": ["c"]}\n'


def written(folder: Path, text: str | bytes, name: str = "samples.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_aliases() -> None:
    first, second, third = read_samples(FIXTURES / "aliases.jsonl")
    assert (first.qid, first.query) == ("alias-id", "年会在哪天举行？")
    assert [chunk.chunk_id for chunk in first.chunks] == ["memo#1", "memo#2"]
    assert first.relevance == {"memo#1": 2, "memo#2": 0}
    assert second.qid == "alias-contexts"
    assert [chunk.chunk_id for chunk in second.chunks] == ["1", "2"]
    assert third.qid == "3"
    assert third.chunks[0].text == "There is no dress code on Fridays."


def test_ragas() -> None:
    first, second = read_samples(FIXTURES / "ragas.jsonl")
    assert (first.qid, second.qid) == ("1", "2")
    assert first.query == "打印机卡纸了怎么办？"
    assert first.answer.startswith("请先关闭电源")
    assert len(second.chunks) == 2
    assert second.gold_answer == "At 6:30 on working days."
    assert first.metadata == {}


def test_csv_with_a_json_column() -> None:
    chinese, english = read_samples(FIXTURES / "samples.csv")
    assert chinese.qid == "csv-zh"  # the BOM is no part of the header
    assert chinese.answer == "有。\n晚上8点以后下班的，每次餐补30元[canteen#1]。"
    assert [chunk.chunk_id for chunk in chinese.chunks] == ["canteen#1", "canteen#2"]
    assert chinese.metadata == {"department": "行政部"}
    assert '"Slate" calendar' in english.answer
    assert '"Slate" calendar' in english.chunks[0].text


def test_csv_with_a_column_a_chunk() -> None:
    chinese, english = read_samples(FIXTURES / "samples_columns.csv")
    assert [chunk.chunk_id for chunk in chinese.chunks] == ["1", "2", "3"]
    assert [chunk.chunk_id for chunk in english.chunks] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("broken.jsonl", 3, "bad JSON"),
        ("wrong_types.jsonl", 2, "field 'chunks': is a number, 3"),
        ("duplicate_qid.jsonl", 3, "field 'qid': 'twice' stands already on line 1"),
        ("gb18030.csv", 2, "not UTF-8"),
    ],
)
def test_a_bad_line_is_an_error_with_its_place(name: str, line: int, says: str) -> None:
    path = FIXTURES / name
    with pytest.raises(InputError) as caught:
        list(read_samples(path))
    assert str(caught.value).startswith(f"{path}, line {line}")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "qids", "line"),
    [
        ("broken.jsonl", ["bad-json-1", "bad-json-2", "bad-json-4"], 3),
        ("wrong_types.jsonl", ["types-1", "types-3"], 2),
        ("duplicate_qid.jsonl", ["twice", "once"], 3),
    ],
)
def test_bad_lines_can_be_set_aside(name: str, qids: list[str], line: int) -> None:
    bad: list[Rejected] = []
    samples = read_samples(FIXTURES / name, on_bad=bad.append)
    assert [sample.qid for sample in samples] == qids
    (rejected,) = bad
    assert rejected.line == line
    assert rejected.text.rstrip() == (FIXTURES / name).read_text("utf-8").splitlines()[line - 1]
    checked = check_samples(FIXTURES / name, on_bad=bad.append)
    assert (checked.samples, checked.rejected) == (len(qids), 1)


def test_a_csv_is_read_on_after_a_bad_record(tmp_path: Path) -> None:
    path = written(tmp_path, 'qid,answer,chunk_1\nq1,a,c\nq2,"x"y,c\nq3,b,c\n', "a.csv")
    bad: list[Rejected] = []
    assert [sample.qid for sample in read_samples(path, on_bad=bad.append)] == ["q1", "q3"]
    assert [rejected.line for rejected in bad] == [3]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '\ufeff{"qid": "q", "answer": "答", "chunks": ["c"]}'),
        ("a.ndjson", '{"qid": "q", "answer": "答", "chunks": ["c"]}\r\n'),
        ("a.csv", "\ufeffqid,answer,chunk_1\nq,答,c\n"),
        ("a.TSV", "qid\tanswer\tchunk_1\r\nq\t答\tc\r\n"),
        ("jsonl", '\n{"qid": "q", "answer": "答", "chunks": ["c"]}'),
        ("csv", "qid;answer;chunk_1\nq;答;c"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_the_name_or_the_first_line_tells_the_format(
    tmp_path: Path, name: str, text: str, *, zipped: bool
) -> None:
    data = text.encode()
    path = written(tmp_path, gzip.compress(data) if zipped else data, name + ".gz" * zipped)
    (sample,) = read_samples(str(path))
    assert (sample.qid, sample.answer, sample.chunks[0].text) == ("q", "答", "c")


def test_a_duplicate_counts_the_line_number_too(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("{", '{"qid": 2, ') + GOOD)
    with pytest.raises(InputError, match=r"line 2, field 'qid': '2' stands already on line 1"):
        list(read_samples(path))


def test_nothing_to_read_is_no_sample_and_an_error_where_a_run_is_meant(tmp_path: Path) -> None:
    for text in ("", "\n \n"):
        path = written(tmp_path, text)
        assert list(read_samples(path)) == []
        with pytest.raises(InputError, match="holds no sample"):
            check_samples(path)
    path = written(tmp_path, "nothing\ngood\n")
    with pytest.raises(InputError, match="all 2 lines are bad"):
        check_samples(path, on_bad=lambda _: None)


def test_a_json_array_is_told_how_to_become_lines(tmp_path: Path) -> None:
    for text in (f"[{GOOD.strip()}]", f"[\n{GOOD}]"):
        path = written(tmp_path, text, "samples.json")
        with pytest.raises(InputError, match=r"line 1.*jq -c '\.\[\]'"):
            list(read_samples(path))


def test_a_check_counts_and_hashes_the_bytes_as_they_lie(tmp_path: Path) -> None:
    data = gzip.compress((GOOD * 3).encode())
    checked = check_samples(written(tmp_path, data))
    assert (checked.samples, checked.rejected) == (3, 0)
    assert checked.sha256 == hashlib.sha256(data).hexdigest()


def test_an_answer_of_megabytes_is_one_sample(tmp_path: Path) -> None:
    answer = "很长的回答。" * 300_000
    path = written(tmp_path, json.dumps({"answer": answer, "chunks": []}, ensure_ascii=False))
    (sample,) = read_samples(path)
    assert sample.answer == answer


def test_samples_come_one_at_a_time_whatever_stands_behind_them(tmp_path: Path) -> None:
    samples = read_samples(written(tmp_path, GOOD * 2 + "broken"))
    assert isinstance(samples, Iterator)
    assert [next(samples).qid, next(samples).qid] == ["1", "2"]
    with pytest.raises(InputError):
        next(samples)


def test_nothing_is_opened_before_the_first_sample_is_asked_for() -> None:
    samples = read_samples("no/such/file.jsonl")
    with pytest.raises(InputError, match="no such file"):
        next(samples)


def test_another_thread_may_read_on(tmp_path: Path) -> None:
    samples = read_samples(written(tmp_path, GOOD * 3))
    read: list[Sample] = [next(samples)]
    thread = threading.Thread(target=lambda: read.extend(samples))
    thread.start()
    thread.join()
    assert [sample.qid for sample in read] == ["1", "2", "3"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_one_line_in_another_encoding_is_set_aside_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("csv"):
        lines = ["qid,answer,chunks", 'a,好,"[]"', '坏,坏,"[]"', 'c,好,"[]"']
    else:
        lines = [f'{{"qid": "{qid}", "answer": "好", "chunks": []}}' for qid in "a坏c"]
    path.write_bytes(
        b"".join(line.encode("gb18030" if "坏" in line else "utf-8") + b"\n" for line in lines)
    )
    bad: list[Rejected] = []
    assert [sample.qid for sample in read_samples(path, on_bad=bad.append)] == ["a", "c"]
    (rejected,) = bad
    assert "not UTF-8" in str(rejected.error)
    assert "\ufffd" in rejected.text
