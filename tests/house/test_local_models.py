"""Models of this machine, from the command line to the files of a run."""

from pathlib import Path

import pytest

from judge.inputs.runs import read_record, read_summary
from judge.records import Verdict
from tests import tiny_models
from tests.commands import judge, line, refused, results, write

LABELS = ("entailment", "neutral", "contradiction")
WORDS = {"open": 0, "开": 0, "shut": 2, "关": 2}
CHUNKS = {"one": "The room is open.", "two": "第一室门关。", "three": "a word"}


@pytest.fixture
def samples(place: Path) -> Path:
    pytest.importorskip("transformers", reason="needs the extra `local`: transformers and torch")
    lines = [
        line("q1", "The room is open all day [one]. 门是关的【two】。", CHUNKS),
        line("q2", "The door was shut at nine [two].", {"two": CHUNKS["two"]}),
        line("q3", "It is a word.", {"three": CHUNKS["three"]}),
        line("q4", "It is a word.", []),
    ]
    tiny_models.save_classifier(place / "tiny", LABELS, (0.0, 4.0, 0.0), WORDS)
    return write(place / "in.jsonl", lines)


def test_an_nli_model_scores_a_file(samples: Path, place: Path) -> None:
    ran = judge("score", samples, "-o", place / "run", "--judge", "nli", "--nli-model", "tiny")
    assert (ran.code, ran.err) == (0, "")
    assert "looks supported" not in ran.out
    found = results(place / "run")
    outcomes = [sentence.outcome for result in found for sentence in result.sentences]
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    labels = [verdict.support.value for verdict in verdicts]
    assert labels == ["full", "full", "contradicted", "none", "none"]
    assert {verdict.source for verdict in verdicts} == {"nli"}
    # A claim that one passage entails and another denies is flagged.
    assert [flag.sentence for flag in found[0].flags] == [0, 1]
    assert [citation.status for citation in found[0].citations] == ["valid", "unsupported"]
    summary, record = read_summary(place / "run"), read_record(place / "run")
    assert summary.sources == {"nli": 5}
    assert record.signature.startswith("nli:tiny@")
    assert record.versions.keys() >= {"torch", "transformers"}
    shown = judge("show", place / "run", "q2")
    assert shown.code == 0
    assert "contradicted" in shown.out
    assert "第一室门关" in shown.out


def test_a_missing_model_is_one_line(place: Path) -> None:
    samples = write(place / "in.jsonl", [line("q1", "It is open.")])
    for options, named in (
        ("--judge nli", "--nli-model"),
        ("--judge nli --nli-model ./none", "./none"),
        ("--nli-model nobody/judge-none", "nobody/judge-none"),
        ("--embedding-model local:./none", "local:./none"),
    ):
        refused(judge("score", samples, "-o", place / "run", *options.split()), named)
    assert not (place / "run").exists()
