import importlib
import pkgutil
from typing import Any

import pytest
from pydantic import ValidationError

import judge.records
from judge import measure_overlap, measure_retrieval, recommend_measures, records
from judge.advice.diagnosis import bands, diagnose, targets
from judge.advice.records import Wishes
from judge.records.record import Record
from judge.records.run import RunInput, RunRecord
from judge.retrieval.records import RankRules
from judge.review import records as review_records
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness
from judge.scores.totals import summarize

for module in pkgutil.iter_modules(judge.records.__path__):
    importlib.import_module(f"judge.records.{module.name}")


def _family(kind: type[Record]) -> list[type[Record]]:
    below = [one for child in kind.__subclasses__() for one in (child, *_family(child))]
    return sorted(
        {one for one in below if ".records" in one.__module__},
        key=lambda one: one.__name__,
    )


RECORDS = _family(Record)

TIMEOUT = records.Unscored(reason=records.UnscoredReason.TIMEOUT, detail="60 秒")
EVIDENCE = records.Evidence(chunk_id="docA#1", quote="“十元”", start=0, end=4, verified=True)
VERDICT = records.Verdict(
    support=records.Support.PARTIAL,
    evidence=(EVIDENCE,),
    supporting=("docA#1",),
    cited_support=records.Support.NONE,
    reason="少了币种",
    score=0.25,
    source="similarity",
    signature="s",
    fallback_from=TIMEOUT,
)
SENTENCES = tuple(
    records.Sentence(index=i, start=i, end=i + 1, text=text, kind=kind)
    for i, (text, kind) in enumerate(
        (
            ("一", records.SentenceKind.CLAIM),
            ("2", records.SentenceKind.CLAIM),
            ("#", records.SentenceKind.HEADING),
        )
    )
)
SAMPLE = records.Sample(
    qid="q",
    query="多少?",
    answer="一2#",
    chunks=(records.Chunk(chunk_id="docA#1", text="“十元”"),),
    retrieved=("docA#1",),
    gold_answer="十",
    gold_evidence=(),
    relevance={"docA#1": 0.5},
    metadata={"deep": [{"a": None}, 1.5, True]},
)
CITATION = records.Citation(
    sentence=0, marker="[2]", start=1, end=2, chunk_id=None, status=records.CitationStatus.DANGLING
)
CALL = records.Call(model="m", prompt_tokens=1, reply_tokens=2, seconds=0.5)
RESULT = aggregate(
    SAMPLE,
    SENTENCES,
    {0: VERDICT, 1: TIMEOUT},
    [CITATION],
    flags=[records.Flag(name=records.FlagName.UNVERIFIED_QUOTE, sentence=0)],
    calls=[CALL],
    signature="s",
)
CELL = records.Quadrant(
    answerable=True,
    retrieved=True,
    abstained=False,
    faithful=None,
    correct=False,
    signature="cells:1|faithful:0.8|correct:0.8|gold:exact",
)
CELL_COUNT = records.QuadrantCount(words=CELL.words, half="generation", answers=1, qids=("q",))
BREAKDOWN = records.QuadrantTable(
    cells=(CELL_COUNT,),
    halves={"neither": 0, "retrieval": 0, "generation": 1, "unknown": 0},
    counted=1,
    without_gold=1,
    conflicting=1,
    conflicting_qids=("r",),
    signatures={CELL.signature: 1},
)
SUMMARY = summarize([RESULT, RESULT.model_copy(update={"qid": "r"})])
CORRECTNESS = correctness(
    SENTENCES,
    SENTENCES,
    records.Judgment(outcomes={0: VERDICT, 1: TIMEOUT}),
    records.Judgment(outcomes={0: TIMEOUT, 1: VERDICT}),
    signature="c",
)
COMPARED = RESULT.model_copy(update={"correctness": CORRECTNESS})
COMPARED_SUMMARY = summarize([COMPARED])
OWN = VERDICT.model_copy(update={"fallback_from": None, "support": records.Support.NONE})
UNFAITHFUL = aggregate(SAMPLE, SENTENCES[:1], {0: OWN}, [], signature="s")
RUN_INPUT = RunInput(path="a.jsonl", sha256="0" * 64, samples=3)
SHARE = review_records.Share(value=0.5, low=0.2, high=0.8, size=9.5)
WEIGHING = review_records.Weighing(
    weight=2.0, counted=1.0, faithfulness=0.5, faithfulness_strict=0.0
)
STRATUM = review_records.Stratum(
    names=(review_records.StratumName.PARTIAL,),
    units=2,
    drawn=1,
    macro=WEIGHING,
    micro=WEIGHING,
    span=(-0.5, 0.5),
    span_strict=(0.0, 1.0),
)
DRAWN = review_records.DrawnSentence(
    review_id="r-1",
    qid="q",
    sentence=0,
    text="一",
    stratum=0,
    probability=0.5,
    weight=1.0,
    outcome=TIMEOUT,
)
DRAW = review_records.Draw(
    draw="r0a1b2c3d",
    by="answer",
    seed=0,
    size=1,
    results="0" * 64,
    signature="s",
    strata=(STRATUM,),
    sentences=(DRAWN,),
)
ACCURACY = review_records.LabelAccuracy(
    label="full", judged=1, labelled=0, precision=SHARE, recall=None
)
CORRECTED = review_records.CorrectedScore(
    name="faithfulness",
    average="macro",
    raw=None,
    corrected=0.5,
    low=0.4,
    high=0.6,
    standard_error=0.05,
)
LABELLED = review_records.LabelledStratum(
    names=(review_records.StratumName.UNSCORED,), units=2, drawn=1, labelled=0, error=None
)
DISAGREEMENT = review_records.Disagreement(
    review_id="r-1", qid="q", sentence=0, text="一", judge="full", people={"李雷": "none"}
)
AGREEMENT = review_records.Agreement(
    draw="r",
    by="answer",
    signature="s",
    drawn=1,
    labelled=1,
    partly=0,
    labels=1,
    reviewers=("",),
    scale="labels",
    compared=1,
    agreement=SHARE,
    kappa=None,
    base_rate=1.0,
    alpha=None,
    shared=0,
    accuracy=(ACCURACY,),
    brier=None,
    calibration_error=None,
    corrected=(CORRECTED,),
    strata=(LABELLED,),
    disagreements=(DISAGREEMENT,),
)
GOLDEN = review_records.GoldenLabel(
    sentence=0,
    start=0,
    end=1,
    text="一",
    support=None,
    supported=True,
    reviewers=2,
    judged=None,
    signature="s",
)
LOST = review_records.LostSentence(qid="q", sentence=0, text="一", kind=None)
FLIP = review_records.Flip(
    qid="q",
    sentence=1,
    text="2",
    change="worse",
    then=records.Support.FULL,
    now=records.Support.NONE,
    support=records.Support.FULL,
    supported=True,
)
DRIFT = review_records.Drift(
    signatures_then={"s": 3},
    signatures_now={"t": 3},
    scale="labels",
    labels=3,
    lost=(LOST,),
    unscored_then=0,
    unscored_now=1,
    compared=1,
    agreement_then=1.0,
    agreement_now=0.0,
    better=0,
    worse=1,
    p=1.0,
    flips=(FLIP,),
)
STANDARD = "The daily travel standard is {} yuan for all staff."
MEASURED = [
    records.Sample(
        qid="q",
        answer="the cat",
        gold_answer="a dog",
        chunks=tuple(
            records.Chunk(chunk_id=amount, text=STANDARD.format(amount))
            for amount in ("500", "600")
        ),
        gold_evidence=("600", "700"),
    )
]
RULES = RankRules(ks=(1, 3))
ROWS: list[Record] = []
RANKING = measure_retrieval(MEASURED, RULES)
OVERLAP = measure_overlap(MEASURED, each=ROWS.append)
BANDS = bands(RANKING)
TARGETS = targets(RANKING, "faq")
DIAGNOSES = diagnose(RANKING, answers=summarize([UNFAITHFUL]))
ADVICE = recommend_measures(MEASURED, Wishes(depth=3))
EXAMPLES: list[Record] = [
    ADVICE,
    ADVICE.profile,
    ADVICE.wishes,
    *(one[0] for one in (ADVICE.measures, ADVICE.avoided, ADVICE.fired, ADVICE.families)),
    BANDS,
    BANDS.source,
    BANDS.bands[0],
    BANDS.bands[0].figure,
    BANDS.production[0],
    TARGETS,
    TARGETS.targets[0],
    DIAGNOSES,
    DIAGNOSES.found[0],
    DIAGNOSES.found[0].grounds[0],
    DIAGNOSES.unjudged[0],
    RULES,
    RANKING,
    *(one[0] for one in (RANKING.worst, RANKING.missed, RANKING.topped, RANKING.pairs)),
    OVERLAP,
    OVERLAP.counts,
    OVERLAP.bleu[0],
    OVERLAP.worst[0],
    *ROWS,
    SHARE,
    WEIGHING,
    STRATUM,
    DRAWN,
    DRAW,
    ACCURACY,
    CORRECTED,
    LABELLED,
    DISAGREEMENT,
    AGREEMENT,
    GOLDEN,
    LOST,
    FLIP,
    DRIFT,
    SAMPLE,
    RESULT,
    RESULT.scores,
    COMPARED,
    CORRECTNESS,
    CORRECTNESS.of_answer,
    CORRECTNESS.answer[0],
    COMPARED_SUMMARY,
    *(part for part in (COMPARED_SUMMARY.correctness,) if part is not None),
    CELL,
    CELL_COUNT,
    BREAKDOWN,
    RESULT.sentences[0],
    SUMMARY,
    *(part for part in (SUMMARY.coverage, SUMMARY.faithfulness_bounds) if part is not None),
    records.Interval(low=0.1, high=0.9, method="wilson"),
    VERDICT,
    TIMEOUT,
    EVIDENCE,
    CITATION,
    CALL,
    records.Flag(name=records.FlagName.INJECTION_SUSPECTED),
    records.Excluded(),
    records.Chunk(chunk_id="", text=""),
    SENTENCES[2],
    records.Judgment(outcomes={0: VERDICT, 7: TIMEOUT}, calls=(CALL,)),
    records.JudgeRequest(
        query="", answer="一2#", sentences=SENTENCES, ask=(0, 1), chunks=(), cites={1: (0, 2)}
    ),
    records.ChatRequest(system="s", user="u", reply_schema={"type": "object"}, max_tokens=9),
    records.ChatReply(
        text="{}", finish="length", model="m", prompt_tokens=1, reply_tokens=1, seconds=0.1
    ),
    records.ChatFailure(reason=records.UnscoredReason.TIMEOUT, seconds=1.0, retries=2),
    records.Reply(text="{}", call=CALL, sentences=(0, 2)),
    review_records.Label(
        review_id="r-1", qid="q", sentence=0, supported=False, support=records.Support.NONE
    ),
    records.Relation(entailed=0.25, contradicted=0.5),
    records.Rules(citation_pattern="<(.+?)>"),
    RUN_INPUT,
    RunRecord(
        signature="s", config={"prior": 0.9}, versions={"judge": "0"}, input=RUN_INPUT, started="t"
    ),
]
NAME = pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
EXAMPLE = pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: type(one).__name__)


def test_every_record_has_an_example() -> None:
    assert {type(example) for example in EXAMPLES} == set(RECORDS)


@NAME
def test_every_field_says_what_it_is(kind: type[Record]) -> None:
    assert kind.__doc__
    undescribed = [name for name, field in kind.model_fields.items() if not field.description]
    assert undescribed == []


@EXAMPLE
def test_a_record_is_frozen_and_closed(example: Record) -> None:
    name = next(iter(type(example).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(example, name, getattr(example, name))
    with pytest.raises(ValidationError, match="Extra inputs"):
        type(example).model_validate({**example.model_dump(), "surprise": 1})


@EXAMPLE
def test_a_record_comes_back_from_json(example: Record) -> None:
    assert type(example).model_validate_json(example.model_dump_json()) == example
    assert type(example).model_validate(example.model_dump()) == example


@pytest.mark.parametrize(
    "example", [RESULT, SUMMARY, DRAW, AGREEMENT, RANKING, OVERLAP, ADVICE, EXAMPLES[-1]]
)
def test_the_version_of_the_layout_is_written_as_schema(example: Record) -> None:
    dumped = example.model_dump(mode="json")
    assert dumped["schema"] == 1
    assert "schema_" not in dumped
    with pytest.raises(ValidationError, match="Input should be 1"):
        type(example).model_validate({**dumped, "schema": 2})


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [(VERDICT, "verdict"), (TIMEOUT, "unscored"), (records.Excluded(), "excluded")],
)
def test_an_outcome_is_told_by_its_tag(outcome: Record, kind: str) -> None:
    sentence: dict[str, Any] = {**SENTENCES[0].model_dump(), "outcome": outcome.model_dump()}
    assert sentence["outcome"]["type"] == kind
    assert type(records.SentenceResult.model_validate(sentence).outcome) is type(outcome)
    sentence["outcome"]["type"] = "guess"
    with pytest.raises(ValidationError, match="does not match any of the expected tags"):
        records.SentenceResult.model_validate(sentence)


def test_only_a_found_quote_backs_a_verdict() -> None:
    lost = EVIDENCE.model_copy(update={"verified": False})
    assert VERDICT.backed
    assert VERDICT.model_copy(update={"evidence": (lost, EVIDENCE)}).backed
    assert not VERDICT.model_copy(update={"evidence": (lost,)}).backed
    assert not VERDICT.model_copy(update={"evidence": ()}).backed


def test_the_weights_are_those_of_the_contract() -> None:
    assert {support.value: weight for support, weight in records.SUPPORT_WEIGHT.items()} == {
        "full": 1,
        "partial": 0.5,
        "none": 0,
        "contradicted": 0,
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "answerable retrieved answered unjudged wrong"),
        ({"retrieved": False, "faithful": True}, "answerable missed answered faithful wrong"),
        ({"faithful": False, "correct": True}, "answerable retrieved answered unfaithful correct"),
        ({"abstained": True, "correct": None}, "answerable retrieved abstained"),
        ({"correct": None}, "answerable retrieved answered unjudged uncompared"),
        ({"answerable": False, "retrieved": None}, "unanswerable answered unjudged"),
        ({"answerable": False, "abstained": True}, "unanswerable abstained"),
        ({"silent": True, "correct": None}, "answerable retrieved silent"),
        ({"answerable": False, "silent": True}, "unanswerable silent"),
        ({"partly": True}, "answerable retrieved answered unjudged wrong"),
    ],
)
def test_the_words_of_a_cell(changes: dict[str, bool | None], words: str) -> None:
    assert " ".join(CELL.model_copy(update=changes).words) == words
