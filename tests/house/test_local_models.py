"""Models of this machine, from the command line to the files of a run."""

from pathlib import Path

import pytest

from judge.files.runs import read_record, read_summary
from judge.records import Support, Verdict
from tests import tiny
from tests.commands import judge, line, results, write

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
    tiny.save_classifier(place / "tiny", LABELS, (0.0, 4.0, 0.0), WORDS)
    return write(place / "in.jsonl", lines)


def test_an_nli_model_scores_a_file(samples: Path, place: Path) -> None:
    ran = judge("score", samples, "-o", place / "run", "--judge", "nli", "--nli-model", "tiny")
    assert (ran.code, ran.err) == (0, "")
    assert "looks supported" not in ran.out
    found = results(place / "run")
    outcomes = [sentence.outcome for result in found for sentence in result.sentences]
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    assert [verdict.support for verdict in verdicts] == [
        Support.FULL,
        Support.FULL,
        Support.CONTRADICTED,
        Support.NONE,
        Support.NONE,
    ]
    assert {verdict.source for verdict in verdicts} == {"nli"}
    # What one passage entails and another denies is to be looked at.
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


@pytest.mark.usefixtures("samples")
def test_a_classifier_of_tokens_scores_a_file(place: Path) -> None:
    tiny.save_tagger(place / "tagger")
    chunks = {"one": "The room is open.", "two": "the d is a word"}
    lines = [
        line("q1", "The room is shut. 门是关的。The room is open.", {"one": chunks["one"]}),
        line("q2", "The room is open [one]. 门是关的【two】。The room is shut [one].", chunks),
        line("q3", "The room is open.", []),
    ]
    samples = write(place / "spans.jsonl", lines)
    ran = judge("score", samples, "-o", place / "run", "--span-model", "tagger")
    assert (ran.code, ran.err) == (0, "")
    found = results(place / "run")
    told = [
        (outcome.support, [span.text for span in outcome.spans])
        for result in found
        for sentence in result.sentences
        if isinstance(outcome := sentence.outcome, Verdict)
    ]
    none, full = Support.NONE, Support.FULL
    # Beside a `d`, the tiny model calls nothing hallucinated.
    assert told == [
        *[(none, ["shut"]), (none, ["关"]), (full, [])],
        *[(full, [])] * 3,
        (none, []),
    ]
    statuses = [citation.status for citation in found[1].citations]
    assert statuses == ["valid", "valid", "unsupported"]
    # It quotes nothing, so no quote is missing.
    assert not [flag for result in found for flag in result.flags if flag.sentence is not None]
    record = read_record(place / "run")
    assert record.signature.startswith("span:tagger@")
    assert "|w:512|form:lettucedetect-v1|t:0.5|" in record.signature
    assert record.versions.keys() >= {"torch", "transformers"}
    shown = judge("show", place / "run", "q1")
    assert (shown.code, shown.err) == (0, "")
    assert "unsupported: «shut» 1.000" in shown.out
    again = judge(
        *("score", samples, "-o", place / "again", "--span-model", "tagger"),
        *("--span-threshold", "0.99"),
    )
    assert again.code == 0
    outcomes = [sentence.outcome for sentence in results(place / "again")[0].sentences]
    assert [getattr(each, "support", "") for each in outcomes] == [none] * 3


def test_the_settings_file_names_it_as_well(samples: Path, place: Path) -> None:
    (place / "judge.toml").write_text('nli_model = "tiny"\n', encoding="utf-8")
    assert judge("score", samples, "-o", place / "run", "--config", "judge.toml").code == 0
    assert read_record(place / "run").signature.startswith("nli:tiny@")


def test_a_model_that_is_not_there_is_one_line(place: Path) -> None:
    samples = write(place / "in.jsonl", [line("q1", "It is open.")])
    for options, named in (
        ("--judge nli", "--nli-model"),
        ("--judge nli --nli-model ./none", "./none"),
        ("--judge span", "--span-model"),
        ("--span-model ./none", "./none"),
        ("--nli-model nobody/judge-none", "nobody/judge-none"),
        ("--embedding-model local:./none", "local:./none"),
    ):
        ran = judge("score", samples, "-o", place / "run", *options.split())
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), options
        assert named in ran.err
    assert not (place / "run").exists()
