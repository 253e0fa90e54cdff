"""Agreements made up by hand: a rich one, one where next to nothing is measured, a hostile one."""

from typing import TypeVar

from pydantic import BaseModel

from judge.records import Summary, UnscoredReason
from judge.review.records import (
    Agreement,
    CorrectedScore,
    Disagreement,
    LabelAccuracy,
    LabelledStratum,
    Share,
    StratumName,
)
from judge.scores.totals import summarize

LLM = "llm:some-model@api.example.org|prompt:faithfulness-v1@b90c7437|json_schema|t:0|seed:7|n:16"
SUPPORTED = StratumName.SUPPORTED
SIMILARITY = "similarity:lexical-v1|prior:0.9|t:0.87"


def of_run(signature: str = LLM, **changes: object) -> Summary:
    """Totals of a run of 40 answers and 120 claims, three of them without a verdict."""
    source = "similarity" if signature == SIMILARITY else "llm"
    known = {
        "signatures": {signature: 40},
        "answers": 40,
        "claims": 120,
        "judged": 117,
        "sources": {source: 117},
        "unscored": {UnscoredReason.TIMEOUT: 3},
        "unscored_share": 0.025,
    }
    return summarize([]).model_copy(update=known | changes)


_Kind = TypeVar("_Kind", bound=BaseModel)


def made(kind: type[_Kind], *rows: tuple[object, ...]) -> tuple[_Kind, ...]:
    """Records of one kind, each from its fields in order."""
    return tuple(
        kind.model_validate(dict(zip(kind.model_fields, row, strict=False))) for row in rows
    )


def share(value: float, low: float, high: float) -> Share:
    return Share(value=value, low=low, high=high, size=40.0)


(FAITHFULNESS,) = made(CorrectedScore, ("faithfulness", 0.824, 0.783, 0.741, 0.8199, 0.02))
STRICT = FAITHFULNESS.model_copy(
    update={"name": "faithfulness_strict", "raw": 0.7, "corrected": 0.71, "low": 0.66, "high": 0.76}
)
DATE = Disagreement(
    review_id="spring-017",
    qid="leave-3",
    sentence=2,
    text="Staff may carry over ten days.",
    judge="full",
    people={"ann": "contradicted", "": "none"},
    notes=("The handbook says five.",),
    quote="may carry over days",
)
RICH = Agreement(
    draw="spring",
    signature=LLM,
    drawn=60,
    labelled=58,
    labels=70,
    reviewers=("ann", "bo", ""),
    scale="labels",
    compared=66,
    agreement=share(0.884, 0.812, 0.931),
    kappa=0.716,
    base_rate=0.612,
    alpha=0.812,
    shared=12,
    accuracy=made(
        LabelAccuracy,
        ("full", 30, 27, share(0.857, 0.7, 0.94), share(0.963, 0.82, 0.99)),
        ("partial", 12, 11, share(0.5, 0.25, 0.75), share(0.545, 0.28, 0.79)),
        ("none", 20, 20, share(0.9, 0.7, 0.97), share(0.9, 0.7, 0.97)),
        ("contradicted", 0, 6, None, share(0, 0, 0.39)),
        ("no_claim", 4, 0, share(0, 0, 0.49), None),
    ),
    brier=0.081,
    calibration_error=0.032,
    corrected=(FAITHFULNESS, STRICT),
    strata=made(
        LabelledStratum,
        ((SUPPORTED,), 70, 0.6, 15, 15, -0.033),
        ((StratumName.SUPPORTED_DOUBTFUL,), 14, 0.1, 12, 12, -0.125),
        ((StratumName.PARTIAL,), 11, 0.1, 9, 9, 0.056),
        ((StratumName.UNSUPPORTED_DOUBTFUL, StratumName.UNSUPPORTED), 22, 0.17, 21, 19, 0.0),
        ((StratumName.UNSCORED,), 3, 0.03, 3, 0, None),
    ),
    disagreements=(
        DATE,
        *(
            Disagreement(
                review_id=f"spring-{number:03}",
                qid=f"q{number}",
                sentence=0,
                text=f"Made-up sentence number {number} says a little more than its chunk.",
                judge="full",
                people={"": "partial"},
                reason="",
            )
            for number in range(100, 134)
        ),
    ),
)
BARE = Agreement.model_validate(
    dict.fromkeys(("agreement", "kappa", "base_rate", "alpha", "brier", "calibration_error"))
    | dict.fromkeys(("labelled", "labels", "compared", "shared"), 0)
    | dict.fromkeys(("reviewers", "accuracy", "corrected", "disagreements"), ())
    | {"draw": "r1a2b3c4d", "signature": LLM, "drawn": 5, "scale": "labels"}
    | {"strata": made(LabelledStratum, ((SUPPORTED,), 9, 0.333, 5, 0, None))}
)
HOSTILE = RICH.model_copy(
    update={
        "draw": "春季</title><script>",
        "scale": "full_or_rest",
        "signature": SIMILARITY,
        "reviewers": ('李"onmouseover="alert(1)', "王"),
        "brier": None,
        "calibration_error": None,
        "corrected": (STRICT.model_copy(update={"raw": 0.62}),),
        "disagreements": (
            Disagreement(
                review_id="<b>7</b>",
                qid="年假\u202e问答",
                sentence=0,
                text="<script>alert(1)</script> 员工每年可休假十天。",
                judge="full",
                people={'李"onmouseover="alert(1)': "rest", "王": "<i>"},
                notes=("\u202e反过来\u2066", "lone \ud800", "]]>-->"),
                quote="&lt;not markup&gt; ＆ \x00\x1b[31m",
                reason="{raw} {0} %s",
            ),
            Disagreement(
                review_id="8",
                qid="长",
                sentence=1,
                text="长" * 10_000,
                judge="rest",
                people={"": "full"},
            ),
        ),
    }
)
