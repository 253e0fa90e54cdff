import ast
import importlib
import inspect
import pkgutil
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

import judge
from judge import evaluate, read_samples
from judge.config import Config
from judge.records import (
    CorrectnessTotals,
    Evidence,
    Flag,
    FlagName,
    JudgeRequest,
    Record,
    Sample,
    SampleResult,
    Sentence,
    Support,
    Verdict,
)
from judge.scores.totals import summarize

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
EVIDENCE = Evidence(chunk_id="docA#1", quote="“十元”", start=0, end=4, verified=True)
VERDICT = Verdict(
    support=Support.PARTIAL, evidence=(EVIDENCE,), source="similarity", score=0.25, signature="s"
)


def every_record() -> set[type[Record]]:
    """All records of this package."""
    for module in pkgutil.walk_packages(judge.__path__, "judge."):
        if ".records" in module.name:
            importlib.import_module(module.name)

    def below(kind: type[Record]) -> set[type[Record]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    return {kind for kind in below(Record) - {Record} if ".records" in kind.__module__}


def described(kind: type[Record]) -> set[str]:
    """Return the fields of a record that have a docstring."""
    (made,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(made, ast.ClassDef)
    return {
        field.target.id
        for field, behind in pairwise(made.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(behind, ast.Expr)
    }


@pytest.fixture(scope="module")
def results() -> list[SampleResult]:
    """The results of two files by similarity, with correctness and quadrants."""
    files = (FIXTURES / "quickstart.jsonl", FIXTURES / "cells.jsonl")
    samples = [sample for file in files for sample in read_samples(file)]
    return evaluate(samples, Config(correctness=True))


def test_every_record_is_frozen_and_closed_and_says_what_each_field_is() -> None:
    records = every_record()
    assert len(records) > 30
    config = [(kind.model_config["frozen"], kind.model_config["extra"]) for kind in records]
    assert set(config) == {(True, "forbid")}
    kinds: list[type[Record]] = [*records, Config]
    undescribed = [
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name in kind.__annotations__.keys() - (described(kind) if kind.__doc__ else ())
    ]
    assert undescribed == []


@pytest.mark.no_cover
def test_results_and_their_summary_come_back_from_json(results: list[SampleResult]) -> None:
    summary = summarize(results)
    assert None not in (summary.correctness, summary.breakdown, summary.faithfulness_bounds)
    assert isinstance(summary.correctness, CorrectnessTotals)
    for one in (*results, summary):
        text = one.model_dump_json()
        back = type(one).model_validate_json(text)
        assert (back, back.model_dump_json()) == (one, text)
        assert text.startswith('{"schema":1,')


def test_what_an_earlier_version_wrote_still_reads() -> None:
    old = (
        '{"schema":1,"qid":"q","status":"scored","scores":{"claims":1,"judged":1,"unscored":0,'
        '"no_claim":0,"faithfulness":1.0,"faithfulness_strict":1.0,"faithfulness_bounds":[1.0,1.0],'
        '"faithfulness_with_fallback":null,"contradiction_rate":0.0,"coverage":0.0,'
        '"citation_validity":null,"citation_validity_bounds":null,"citation_recall":0.0,'
        '"unsupported":[]},"sentences":[{"index":0,"start":0,"end":1,"text":"x","kind":"claim",'
        '"outcome":{"type":"verdict","support":"full","source":"llm","signature":"s"}}],'
        '"citations":[],"flags":[{"name":"unverified_quote","sentence":0}],"calls":[],'
        '"signature":"s","metadata":{}}'
    )
    read = SampleResult.model_validate_json(old)
    assert read.flags == (Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=0, detail=""),)
    assert (read.correctness, read.cell) == (None, None)
    damaged = old.replace('"type":"verdict"', '"type":"guess"')
    with pytest.raises(ValidationError, match="does not match any of the expected tags"):
        SampleResult.model_validate_json(damaged)


def test_a_claim_has_blanks_for_its_markers_and_all_else_in_its_place() -> None:
    answer = "It rained [1]. 下雨了【2】。 It [a] froze [b]."
    spans = enumerate(((0, 14), (15, 22), (23, 40)))
    request = JudgeRequest(
        query="",
        answer=answer,
        sentences=tuple(Sentence(index=i, start=a, end=b, text=answer[a:b]) for i, (a, b) in spans),
        ask=(0, 1, 2),
        chunks=(),
        markers=((10, 13), (18, 21), (26, 29), (36, 39)),
    )
    claims = [request.claim(index) for index in request.ask]
    assert claims == ["It rained    .", "下雨了   。", "It     froze    ."]


def test_an_answer_is_bounded_and_may_hold_half_a_character() -> None:
    assert Sample(qid="q", answer="\ud800", gold_answer="\udfff").answer == "\ud800"
    for name in ("answer", "gold_answer"):
        with pytest.raises(ValidationError, match="6,000,001 characters, of which at most"):
            Sample.model_validate({"qid": "q", name: "a" * 6_000_001})
