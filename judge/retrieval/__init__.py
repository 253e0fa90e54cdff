"""Whether retrieval found the evidence: rank measures of samples and of TREC runs."""

from judge.retrieval.evaluate import measure_retrieval, measure_run
from judge.retrieval.ranking import check_gold

__all__ = ["check_gold", "measure_retrieval", "measure_run"]
