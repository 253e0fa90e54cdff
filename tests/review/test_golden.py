import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.errors import InputError, RunError
from judge.files.samples import read_samples
from judge.records import Chunk, Sample, Support
from judge.review.folder import check_output, write_whole
from judge.review.golden import Golden, golden_lines, labels_of, read_golden
from judge.review.records import GoldenLabel

ANSWER = "七点开门。 It closes at three."
LABEL = GoldenLabel(
    sentence=1,
    start=6,
    end=25,
    text="It closes at three.",
    support=Support.NONE,
    supported=False,
    reviewers=2,
    judged=Support.FULL,
    signature="llm:m@host|t:0",
)
SAMPLE = Sample(
    qid="问题 1",
    query="几点?",
    answer=ANSWER,
    chunks=(Chunk(chunk_id="a#1", text="七点开门。\nNo more."),),
    retrieved=("a#1", "b"),
    gold_answer="七点",
    gold_evidence=("a#1",),
    relevance={"a#1": 2.0},
    metadata={"lang": "zh", "deep": [{"a": None}], "id": "another", "none": None},
)
JSON_LABEL: dict[str, JsonValue] = json.loads(LABEL.model_dump_json())


def write(path: Path, *golden: Golden) -> Path:
    write_whole(path, golden_lines(golden))
    return path


def damaged(path: Path, labels: JsonValue, answer: str = ANSWER) -> Path:
    plain = {"qid": "one", "answer": "Yes.", "chunks": []}
    bad = {"qid": "two", "answer": answer, "chunks": [], "labels": labels}
    path.write_text(f"{json.dumps(plain)}\n\n{json.dumps(bad)}\n", encoding="utf-8")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    bare = Golden(Sample(qid="2", answer=ANSWER), (LABEL.model_copy(update={"support": None}),))
    path = write(tmp_path / "new" / "golden.jsonl", Golden(SAMPLE, (LABEL,)), bare)
    read = read_golden(path)
    assert [each.labels for each in read] == [(LABEL,), bare.labels]
    assert [path.name for path in path.parent.iterdir()] == ["golden.jsonl"]


def test_it_is_a_samples_file_and_keeps_every_field(tmp_path: Path) -> None:
    (sample,) = read_samples(write(tmp_path / "golden.jsonl", Golden(SAMPLE, (LABEL,))))
    labels = {"labels": [JSON_LABEL]}
    assert sample == SAMPLE.model_copy(update={"metadata": {**SAMPLE.metadata, **labels}})


def test_a_key_of_the_input_hides_no_field(tmp_path: Path) -> None:
    # `{"qid": null, "id": "x"}` is read as the qid x, and the null stays behind.
    odd = Sample(qid="x", answer=ANSWER, metadata={"qid": None, "reference": None})
    (sample,) = read_samples(write(tmp_path / "golden.jsonl", Golden(odd, (LABEL,))))
    assert (sample.qid, sample.answer, sample.gold_answer) == ("x", ANSWER, None)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    label = LABEL.model_copy(update={"start": 1, "end": 1 + len(text), "text": text})
    golden = Golden(Sample(qid="q", query=text, answer=f"“{text}”"), (label,))
    path = write(tmp_path_factory.getbasetemp() / "any.jsonl", golden)
    (read,) = read_golden(path)
    assert (read.sample.query, read.sample.answer) == (text, f"“{text}”")
    assert read.labels == (label,)


def test_an_answer_says_what_labels_it_bears() -> None:
    borne: dict[str, JsonValue] = {"labels": [JSON_LABEL]}
    assert labels_of(SAMPLE) == ()
    assert labels_of(SAMPLE.model_copy(update={"metadata": borne})) == (LABEL,)
    with pytest.raises(InputError, match="field 'labels': is no list"):
        labels_of(SAMPLE.model_copy(update={"metadata": {"labels": "mine"}}))


def test_answers_without_labels_are_passed_over(tmp_path: Path) -> None:
    path = damaged(tmp_path / "golden.jsonl", [JSON_LABEL])
    (read,) = read_golden(path)
    assert (read.sample.qid, read.labels) == ("two", (LABEL,))


def test_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl.gz"
    path.write_bytes(gzip.compress("".join(golden_lines([Golden(SAMPLE, (LABEL,))])).encode()))
    assert read_golden(path)[0].labels == (LABEL,)


@pytest.mark.parametrize("labels", [None, []])
def test_nothing_labelled_is_no_golden_set(tmp_path: Path, labels: JsonValue) -> None:
    path = damaged(tmp_path / "golden.jsonl", labels)
    with pytest.raises(InputError, match=r"golden\.jsonl: no answer has 'labels'; .* promote"):
        read_golden(path)


@pytest.mark.parametrize(
    ("labels", "field", "message"),
    [
        ("good", "labels", "is no list"),
        ({"sentence": 1}, "labels", "is no list"),
        (["full"], "labels[0]", "is damaged"),
        ([JSON_LABEL, {}], "labels[1].sentence", "is damaged (Field required)"),
        ([JSON_LABEL | {"support": "good"}], "labels[0].support", "is damaged"),
        ([JSON_LABEL | {"start": "6"}], "labels[0].start", "is damaged"),
        ([JSON_LABEL | {"more": 1}], "labels[0].more", "is damaged"),
        ([JSON_LABEL | {"start": 5}], "labels[0]", "its text does not stand there"),
        ([JSON_LABEL | {"start": -19, "end": 25}], "labels[0]", "its text does not stand there"),
        ([JSON_LABEL | {"start": 6, "end": 6, "text": ""}], "labels[0]", "does not stand there"),
        ([JSON_LABEL | {"supported": True}], "labels[0]", "both supported and not"),
        ([JSON_LABEL, JSON_LABEL | {"reviewers": 1}], "labels[1]", "for the second time"),
    ],
)
def test_damaged_labels_are_named_with_their_line(
    tmp_path: Path, labels: JsonValue, field: str, message: str
) -> None:
    path = damaged(tmp_path / "golden.jsonl", labels)
    with pytest.raises(InputError) as raised:
        read_golden(path)
    assert (raised.value.path, raised.value.line, raised.value.field) == (str(path), 3, field)
    assert message in str(raised.value)
    assert "(answer 'two'); promote the run again" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_label_of_another_answer_is_none_of_this(tmp_path: Path) -> None:
    path = damaged(tmp_path / "golden.jsonl", [JSON_LABEL], "七点开门。 It closes at five..")
    with pytest.raises(InputError, match="of another answer"):
        read_golden(path)


def test_a_csv_holds_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "golden.csv"
    path.write_text('qid,answer,chunks,labels\n1,Yes.,[],"[]"\n')
    with pytest.raises(InputError, match=r"'labels': is no list \(answer '1'\)"):
        read_golden(path)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    check_output(path, [tmp_path / "in.jsonl"], force=False)
    path.write_text("mine")
    with pytest.raises(RunError, match=r"golden\.jsonl: .*--force"):
        check_output(path, [], force=False)
    check_output(path, [], force=True)
    with pytest.raises(RunError, match="made from, or would lie in it; name another -o"):
        check_output(tmp_path / "x" / ".." / "golden.jsonl", [path], force=True)
    with pytest.raises(RunError, match="would lie in it"):
        check_output(tmp_path / "review" / "new" / "x.jsonl", [tmp_path / "review"], force=True)
    check_output(tmp_path / "review2.jsonl", [tmp_path / "review"], force=False)
    with pytest.raises(RunError, match="is no file that could be replaced"):
        check_output(tmp_path, [path], force=True)
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for odd in ("a", "长" * 200):
        with pytest.raises(RunError, match="cannot be written"):
            check_output(tmp_path / odd, [path], force=True)
    assert path.read_text() == "mine"


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"golden\.jsonl: cannot be written .*; name another -o"):
        write_whole(tmp_path / "file" / "golden.jsonl", ["a\n"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match=r"folder: is no file .*; name another -o"):
        write_whole(tmp_path / "folder", ["a\n"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
