"""Totals of a run with these means, made by hand."""

from judge import summarize
from judge.records import CorpusScore, CorrectnessTotals, Interval, Summary


def score(mean: float | None, half: float = 0.0) -> CorpusScore | None:
    """A mean over 100 answers, and an interval of this half width."""
    if mean is None:
        return None
    interval = Interval(low=max(0.0, mean - half), high=min(1.0, mean + half), method="wilson")
    return CorpusScore(macro=mean, micro=mean, answers=100, items=300, interval=interval)


def answered(
    faithfulness: float | None,
    recall: float | None,
    half: float = 0.5,
    *,
    untrusted: tuple[bool, bool] = (False, False),
    signature: str = "llm:m",
) -> Summary:
    """Of 100 answers; `untrusted` of faithfulness, and of correctness."""
    whole = summarize([])
    compared = CorrectnessTotals(
        signatures={signature: 100},
        statuses={},
        f1=None,
        f1_bounds=None,
        precision=None,
        precision_bounds=None,
        recall=score(recall, half),
        recall_bounds=None,
        f1_with_fallback=None,
        answer_supports={},
        reference_supports={},
        flags={},
        claims=600,
        sources={},
        unscored={},
        unscored_share=None,
        fallen_back=0,
        untrusted=untrusted[1],
    )
    return whole.model_copy(
        update={
            "answers": 100,
            "signatures": {signature: 100},
            "faithfulness": score(faithfulness, half),
            "untrusted": untrusted[0],
            "correctness": None if recall is None else compared,
        }
    )
