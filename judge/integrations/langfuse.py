"""Send scores to the traces and observations of Langfuse that were judged.

A result without a number is sent as a label with the reason. Texts are sent with `texts=True` only.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from judge import ConfigError, JudgeError, SampleResult
from judge.records.result import Scores
from judge.reports.cases import case_of
from judge.text.visible import plural

if TYPE_CHECKING:
    from langfuse import Langfuse
_NUMBERS = {key for key, field in Scores.model_fields.items() if field.annotation == float | None}


def send(
    results: Iterable[SampleResult],
    client: "Langfuse",
    *,
    names: Sequence[str] = ("faithfulness",),
    texts: bool = False,
) -> int:
    """Send scores of results that were read from an export of Langfuse; return how many.

    They do not go through the client's queue, which only logs failures.

    Raises:
        JudgeError: Langfuse rejected a score.
    """
    if strays := set(names) - _NUMBERS:
        raise ConfigError(f"names: {min(strays)!r} is none of {', '.join(sorted(_NUMBERS))}")
    sent, rows = 0, (row for result in results for row in _rows(result, names, texts=texts))
    while some := list(islice(rows, 100)):
        answer = client.api.scores.create(request=some)
        if rejected := getattr(answer, "rejected", 0):
            why = answer.errors[0].message
            of = f"{len(some)} {plural(len(some), 'score')}"
            raise JudgeError(f"Langfuse rejected {rejected} of {of}: {why}")
        sent += len(some)
    return sent


def _rows(result: SampleResult, names: Sequence[str], *, texts: bool) -> Iterator[dict[str, Any]]:
    data, scores = result.metadata, result.scores
    trace = data.get("traceId") or data.get("trace_id")
    where = {"traceId": trace, "observationId": result.qid} if trace else {"traceId": result.qid}
    counts = scores.model_dump(include={"claims", "judged", "unscored", "faithfulness_bounds"})
    shared: dict[str, Any] = {**where, "metadata": {"signature": result.signature, **counts}}
    shared |= {"environment": data["environment"]} if data.get("environment") else {}
    shared |= {"comment": case_of(result).text} if texts else {}
    for name in names:
        value, label = getattr(scores, name), result.status.value
        value = value if value is not None else "nothing_to_measure" if label == "scored" else label
        kind = "CATEGORICAL" if isinstance(value, str) else "NUMERIC"
        key = f"judge-{trace or 'trace'}-{result.qid}-{name}"
        yield {**shared, "id": key, "name": name, "value": value, "dataType": kind}
