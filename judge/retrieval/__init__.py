"""Whether retrieval found the evidence: rank measures of samples and of TREC runs."""

from judge.retrieval.gathering import check_gold
from judge.retrieval.report import mean_name, measure_retrieval, measure_run

__all__ = ["check_gold", "mean_name", "measure_retrieval", "measure_run"]
