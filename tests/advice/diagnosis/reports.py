"""Reports with the means a test is about, and nothing else."""

from collections.abc import Mapping

from judge import measure_retrieval
from judge.records import Interval, Sample
from judge.retrieval.records import RankingReport

SIGNATURE = "retrieval|k:5,20|order:given|gain:linear|seed:0|judge:0"
ANY = measure_retrieval([Sample(qid="q", retrieved=("a",), gold_evidence=("a",))])


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
        else Interval(low=value - reach, high=value + reach, method="poisson_bootstrap")
        for name, value in mean.items()
    }
    changes = {
        "signature": signature,
        "queries": queries,
        "averaged": queries,
        "mean": dict(mean),
        "interval": interval,
        "defined": {name: 0 if value is None else queries for name, value in mean.items()},
        "ceiling": dict(ceiling or {}),
    }
    return ANY.model_copy(update=changes)
