"""What advice rests on, made by hand: counts of samples, reports of rank measures, runs."""

from collections.abc import Mapping
from typing import Any

from judge import measure_retrieval, summarize
from judge.advice.recommend import HELD, family_needs
from judge.advice.records import Advice, Profile
from judge.records import CorpusScore, CorrectnessTotals, Interval, Sample, Summary
from judge.retrieval.records import RankingReport

SIGNATURE = "retrieval|k:5,20|order:given|gain:linear|seed:0|judge:0"
ANY = measure_retrieval([Sample(qid="q", retrieved=("a",), gold_evidence=("a",))])


def roles(advice: Advice) -> dict[str, list[str]]:
    """By role the names of its measures, none left out."""
    return {
        role: [each.name for each in advice.measures if each.role == role]
        for role in ("primary", "secondary", "supplementary")
    }


def avoided(advice: Advice) -> set[str]:
    """Return the measures to avoid, without cut-offs."""
    return {each.name.partition("@")[0] for each in advice.avoided}


def counted(relevant: float | None, irrelevant: float | None, **changes: object) -> Profile:
    """99 samples with these medians that hold everything."""
    fields: dict[str, object] = {
        "samples": 99,
        "queries": 0 if relevant is None else 99,
        "without_relevant": 0,
        "relevant": relevant,
        "irrelevant": irrelevant,
        "counted": None if irrelevant is None else "corpus",
        "longest": 1000,
        "graded": None if relevant is None else False,
        "share": dict.fromkeys(HELD, 1.0),
        "fitting": dict.fromkeys(family_needs(), 0),
    }
    return Profile.model_validate(fields | changes)


def report(
    mean: Mapping[str, float | None],
    reach: float | None = None,
    *,
    queries: int = 100,
    ceiling: Mapping[str, float] | None = None,
    signature: str = SIGNATURE,
) -> RankingReport:
    """A report with these means, each with an interval of `reach` to both sides, or with none."""
    interval = {
        name: None
        if value is None or reach is None
        else Interval(low=value - reach, high=value + reach, method="wilson_effective")
        for name, value in mean.items()
    }
    changes = {
        "signature": signature,
        "queries": queries,
        "averaged": queries,
        "mean": dict(mean),
        "interval": interval,
        "defined": dict.fromkeys(mean, queries),
        "ceiling": dict(ceiling or {}),
    }
    return ANY.model_copy(update=changes)


def score(mean: float | None, half: float = 0.0) -> CorpusScore | None:
    """A mean over 100 answers, and an interval of this half width."""
    if mean is None:
        return None
    interval = Interval(
        low=max(0.0, mean - half), high=min(1.0, mean + half), method="wilson_effective"
    )
    return CorpusScore(macro=mean, micro=mean, answers=100, items=300, interval=interval)


def answered(
    faithfulness: float | None,
    recall: float | None,
    half: float = 0.5,
    *,
    untrusted: tuple[bool, bool] = (False, False),
    signature: str = "llm:m",
) -> Summary:
    """The totals of 100 answers; `untrusted` of faithfulness, and of correctness."""
    whole = summarize([])
    read: dict[str, Any] = {"recall": score(recall, half), "untrusted": untrusted[1]}
    compared = CorrectnessTotals.model_construct(**read)
    return whole.model_copy(
        update={
            "answers": 100,
            "signatures": {signature: 100},
            "faithfulness": score(faithfulness, half),
            "untrusted": untrusted[0],
            "correctness": None if recall is None else compared,
        }
    )
