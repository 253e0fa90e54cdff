"""Answers that come with their sentences, and with citations in lists: through every door."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from judge import Config, Sample, evaluate
from judge.errors import InputError
from judge.inputs.samples import read_samples
from judge.records import CitationStatus, SampleResult

CHUNKS = [
    {"chunk_id": "gym", "text": "The gym opens at 6:30 on working days."},
    {"chunk_id": "lockers", "text": "Lockers are emptied every Friday evening."},
]
OFFLINE = Config(judge="similarity")
BOTH = "The gym opens at 6:30. Lockers are emptied every Friday evening."
# Fields of a row beside its chunks; the answer, and the places of its sentences, counted by hand;
# or the field that the error names.
ROWS = list(
    map(json.loads, (Path(__file__).parent / "sentences.jsonl").read_text("utf-8").splitlines())
)


def test_sentences_are_taken_as_they_stand() -> None:
    for each in (each for each in ROWS if "answer" in each):
        sample = Sample.of({"chunks": CHUNKS, **each["given"]})
        places = [[one.start, one.end] for one in sample.sentences or ()]
        assert (sample.answer, places) == (each["answer"], each["places"])
        assert Sample.model_validate_json(sample.model_dump_json()) == sample
        assert Sample.model_validate(dict(sample)) == sample


def test_what_does_not_fit_is_one_line_that_names_the_place() -> None:
    for each in (each for each in ROWS if "field" in each):
        given = each["given"]
        with pytest.raises(InputError) as caught:
            Sample.of({**({} if "segments" in given else {"chunks": CHUNKS}), **given})
        assert caught.value.field == each["field"]
        assert each["says"] in caught.value.problem
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="has 500,001 sentences"):
        Sample.model_validate({"qid": "1", "sentences": [""] * 500_001})
    with pytest.raises(ValidationError, match="answer"):
        Sample.model_validate({"qid": "1", "answer": 5, "sentences": ["One."]})


def cited(result: SampleResult) -> list[tuple[int, str, str | None, CitationStatus | None]]:
    return [(c.sentence, c.marker, c.chunk_id, c.status) for c in result.citations]


LISTED = [
    {"text": "The gym opens at 6:30 [2].", "citations": [0]},
    {"text": "Lockers are emptied every Friday evening.", "citations": ["lockers", 7, "x", "0"]},
    {"text": "Thank you for your question!", "citations": [1]},
    {"text": "Lockers are emptied every Friday evening."},
]


def test_citations_in_lists_are_audited_and_scored() -> None:
    (result,) = evaluate([Sample.of({"sentences": LISTED, "chunks": CHUNKS})], OFFLINE)
    valid, dangling = CitationStatus.VALID, CitationStatus.DANGLING
    # A number is a place from 0 and a text an id; a marker in the text is none, and what is cited
    # by a pleasantry is listed and never counted.
    assert cited(result) == [
        (0, "gym", "gym", valid),
        (1, "lockers", "lockers", valid),
        (1, "7", None, dangling),
        (1, "x", None, dangling),
        (1, "0", None, dangling),
        (2, "lockers", "lockers", None),
    ]
    assert {c.reason for c in result.citations if c.status is dangling} == {
        "no chunk has this place or id; the places are 0 to 1, the first id is gym"
    }
    scores = result.scores
    # Two of three claims cite what there is, and are supported by it; two of five citations hold.
    assert (scores.coverage, scores.citation_validity, scores.citation_recall) == (
        2 / 3,
        0.4,
        2 / 3,
    )
    assert [sentence.kind for sentence in result.sentences][2] == "pleasantry"
    assert "[" not in "".join(result.citations[0].marker)
    assert result.signature.endswith("|split:given")


def test_the_same_verdicts_as_of_markers_through_file_and_cell(tmp_path: Path) -> None:
    sentences = [
        {"text": "The gym opens at 6:30.", "citations": [0]},
        {"text": "Lockers are emptied every Friday evening.", "citations": ["gym"]},
    ]
    marked = "The gym opens at 6:30 [1]. Lockers are emptied every Friday evening [gym]."
    lines, cells = tmp_path / "a.jsonl", tmp_path / "a.csv"
    row = {"qid": "1", "sentences": sentences, "chunks": CHUNKS}
    lines.write_text(json.dumps(row) + "\n", "utf-8")
    quoted = (
        '"' + json.dumps(row[key]).replace('"', '""') + '"' for key in ("sentences", "chunks")
    )
    cells.write_text("qid,answer,sentences,chunks\n1,," + ",".join(quoted) + "\n", "utf-8")
    (read,), (cell,) = read_samples(lines), read_samples(cells)
    assert read == cell
    assert read.answer == BOTH
    by_list, by_marker = evaluate(
        [read, Sample.of({"qid": "2", "answer": marked, "chunks": CHUNKS})], OFFLINE
    )
    assert by_list.scores == by_marker.scores
    assert [s.outcome for s in by_list.sentences] == [s.outcome for s in by_marker.sentences]
    assert [c.status for c in by_list.citations] == [c.status for c in by_marker.citations]
