"""Whether retrieval found the evidence: rank measures of samples and of TREC runs."""

from judge.retrieval.evaluate import compare_runs, measure_retrieval, measure_run
from judge.retrieval.ranking import run_queries, sample_query

__all__ = ["compare_runs", "measure_retrieval", "measure_run", "run_queries", "sample_query"]
