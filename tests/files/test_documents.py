"""JSON files in forms other than lines: arrays, objects around a list, objects over many lines."""

import gzip
import json
from pathlib import Path

import pytest

from judge import InputError
from judge.files.samples import Rejected, check_samples, read_samples

GOOD = '{"answer": "答", "chunks": ["c"]}'
ARRAYS = {
    "[]": [],
    f" [ {GOOD},\n\n{GOOD} ]\n": ["1", "3"],
    f"\ufeff[{GOOD},{GOOD},{GOOD}]": ["1", "2", "3"],
    f"[{GOOD},": "line 1: ends where the array of objects needs {",
    f"[{GOOD}": "line 1: ends where the array of objects needs , or ]",
    f"[{GOOD},]": "line 1: holds ']' where the array of objects needs {",
    f"[\n{GOOD}\n{GOOD}]": "line 3: holds '{",
    f"[{GOOD}] x": "line 1: holds 'x' where the array of objects needs its end",
    "[1, 2]": "line 1: holds '1, 2]' where the array of objects needs { or ]",
    f'[{GOOD},\n{{"answer": "cut': "line 2: bad JSON: Unterminated string",
    f'[{GOOD}, {{"answer": "{"x" * 9_000}", "chunks": []}}]': "line 2: an object is longer",
    f'[{GOOD}, {{"a": 1, "a": 2}}]': "line 2: the key 'a' stands twice",
    f"[{GOOD}, {{}}]": "line 2, field 'answer': is missing",
}


def test_an_array_is_read_object_by_object(tmp_path: Path) -> None:
    for text, expected in ARRAYS.items():
        path = tmp_path / "rows.json"
        for data in (text.encode(), gzip.compress(text.encode())):
            path.write_bytes(data)
            samples = read_samples(path, max_line=0.005)
            if isinstance(expected, list):
                assert [sample.qid for sample in samples] == expected
                continue
            with pytest.raises(InputError) as caught:
                list(samples)
            assert str(caught.value).startswith(f"{path}, {expected}"), str(caught.value)
    # What is set aside is one object; behind what is no array nothing is passed over unsaid.
    path.write_text(f"[{GOOD}, {{}}, {GOOD}]", encoding="utf-8")
    bad: list[Rejected] = []
    assert check_samples(path, on_bad=bad.append)[:2] == (2, 1)
    assert bad[0].text == "{}"
    path.write_text(f"[{GOOD}, 3, {GOOD}]", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: holds '3"):
        check_samples(path, on_bad=bad.append)


ROW = {"answer": "答", "chunks": ["c"]}
# A document, and the ids of its rows: the lines on which they begin; else what is wrong.
DOCUMENTS: list[tuple[str, list[str] | str]] = [
    (json.dumps(ROW, indent=2), ["1"]),
    (f"{json.dumps(ROW, indent=1)}\n{json.dumps(ROW, indent=1)}\n", ["1", "7"]),
    # Whatever stands around the list, it is streamed.
    (json.dumps({"args": {"k": [1]}, "data": [ROW, ROW], "n": 1}, indent=1), ["8", "14"]),
    (f'{{"version": 1.0, "results": [\n{GOOD},\n{GOOD}\n]}}', ["2", "3"]),
    (f'{{"examples": [{GOOD},\n{GOOD}]}}', ["1", "2"]),
    (json.dumps({"data": [ROW, ROW]}), ["1", "2"]),
    (f"{json.dumps({'data': [ROW, ROW]})}\n{json.dumps({'data': [ROW]})}", ["1", "2", "3"]),
    # Where a row has such a key, it is a row.
    (json.dumps({"query": "q", "results": [{"rank": 1}], **ROW}, indent=1), ["1"]),
    (json.dumps({"results": [{"rank": 1}], **ROW}), ["1"]),
    (json.dumps({"data": [[1, 2]]}), "line 1, field 'answer': is missing"),
    (json.dumps({"data": []}, indent=1), "line 1, field 'answer': is missing"),
    (json.dumps({"data": [{"text": "t"}]}, indent=1), "line 3, field 'answer': is missing"),
    (f'{{"data": [\n{GOOD}\n', "line 3: ends where the JSON document needs , or ]"),
    (f'{{\n"data": [{GOOD}]\n}}\nx', "line 4: holds 'x' where the JSON document needs {"),
    ('{\n"a" 1}', "line 2: holds '1}' where the JSON document needs :"),
    ('{\n"a": tru}', "line 2: bad JSON: Expecting value"),
    ('{\n"a": 1,\n"a": 2}', "line 1: the key 'a' stands twice in an object; keep one"),
    (f'{{"data": [\n{GOOD},\n{{"answer": "{"x" * 9_000}"}}]}}', "line 3: an object is longer"),
    (json.dumps(dict.fromkeys(map(str, range(900)), 1), indent=1), "line 1: an object is longer"),
    # A line that was cut off is a line.
    (f"{{\n{GOOD}", "line 1: is one JSON document over many lines"),
    (f'{{"answer": "a", "chunks": [\n{GOOD}', "line 1: bad JSON: Expecting value"),
    ('{"answer": {"0": "a"}, "chunks": {"0": ["c"]}}', "field 'answer': is a column of 1, and"),
    (
        '{"answer": ["a", "b"], "chunks": [["c"], ["c"]]}',
        "field 'answer': is a column of 2, and",
    ),
]


def test_a_document_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    for text, expected in DOCUMENTS:
        path.write_text(text, encoding="utf-8")
        if isinstance(expected, list):
            samples = list(read_samples(path))
            assert [(each.qid, each.answer) for each in samples] == [(n, "答") for n in expected]
            continue
        with pytest.raises(InputError) as caught:
            list(read_samples(path, max_line=0.005))
        told = str(caught.value)
        assert told.startswith(f"{path}, "), told
        assert (expected in told, "\n" in told) == (True, False), told


def test_what_is_no_number_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"answer": "a", "chunks": ["c"], "reference": NaN, "score": NaN}', "utf-8")
    (sample,) = read_samples(path)
    assert (sample.gold_answer, sample.metadata) == (None, {"reference": None, "score": None})
