"""Whether retrieval found the evidence: rank measures of samples and of TREC runs."""

from judge.retrieval.comparison import Comparison
from judge.retrieval.evaluate import measure_retrieval, measure_run
from judge.retrieval.ranking import check_gold, check_key, run_queries, sample_query

__all__ = [
    "Comparison",
    "check_gold",
    "check_key",
    "measure_retrieval",
    "measure_run",
    "run_queries",
    "sample_query",
]
