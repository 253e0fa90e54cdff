"""Draws made by hand, for tests of what labels say."""

from collections.abc import Sequence

from judge.records import Outcome, Support, Unscored, UnscoredReason, Verdict
from judge.review.records import Draw, DrawnSentence, Label, Stratum, StratumName
from judge.scores.totals import summarize

DRAW = "r0a1b2c3d"
NO_SUMMARY = summarize([])
FAILED = Unscored(reason=UnscoredReason.TIMEOUT)


def verdict(support: str, score: float | None = None, source: str = "llm") -> Verdict:
    return Verdict.model_validate(
        {"support": support, "score": score, "source": source, "signature": "llm:m@h|t:0"}
    )


def fallen_back(support: str) -> Verdict:
    return verdict(support, 0.5, "similarity").model_copy(update={"fallback_from": FAILED})


def row(name: str, outcome: Outcome, **changes: object) -> DrawnSentence:
    """Return the only sentence of an answer, drawn for certain unless `changes` say otherwise."""
    fields: dict[str, object] = {
        "review_id": f"{DRAW}-{name}",
        "qid": name,
        "sentence": 0,
        "text": f"Sentence {name}.",
        "stratum": 0,
        "probability": 1.0,
        "weight": 1.0,
        "outcome": outcome,
    }
    return DrawnSentence.model_validate(fields | changes)


def stratum(name: str, units: int, faithfulness: float, drawn: int, **changes: object) -> Stratum:
    """Return a stratum in which all claims count and weigh 1, unless `changes` say otherwise."""
    fields: dict[str, object] = {
        "names": (StratumName(name),),
        "units": units,
        "drawn": drawn,
        "weight": units,
        "counted": units,
        "faithfulness": faithfulness,
        "faithfulness_strict": faithfulness,
        "span": (-1.0, 1.0),
        "span_strict": (-1.0, 1.0),
    }
    return Stratum.model_validate(fields | changes)


def draw(strata: Sequence[Stratum], rows: Sequence[DrawnSentence]) -> Draw:
    return Draw.model_validate(
        {
            "draw": DRAW,
            "seed": 0,
            "size": len(rows),
            "results": "0" * 64,
            "signature": "llm:m@h|t:0",
            "strata": tuple(strata),
            "sentences": tuple(rows),
        }
    )


def label(row: DrawnSentence, word: str, reviewer: str = "", note: str = "") -> Label:
    """Return a label by its word: one of the judge's scale, yes or no."""
    support = {"yes": Support.FULL, "no": None}.get(word, word)
    return Label.model_validate(
        {
            "review_id": row.review_id,
            "qid": row.qid,
            "sentence": row.sentence,
            "support": support,
            "supported": word in {"yes", "full"},
            "reviewer": reviewer,
            "note": note,
        }
    )
