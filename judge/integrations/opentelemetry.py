"""A judged answer as an OpenTelemetry span, and as events of the GenAI conventions.

The span `evaluate` is a child of the current one, and contains a log event
`gen_ai.evaluation.result` for each score. Texts are sent with `texts=True` only.
"""

from judge import SampleResult, Status, Unscored
from judge.reports.cases import case_of

try:
    from opentelemetry._logs import LogRecord, get_logger
    from opentelemetry.trace import StatusCode, get_tracer
    from opentelemetry.util.types import AttributeValue
except ModuleNotFoundError as error:
    raise ImportError(f"{error.name} is missing: pip install opentelemetry-sdk") from error

_SCORES = "faithfulness", "coverage", "citation_validity", "citation_recall"
_EVALUATION = "gen_ai.evaluation"


def record(
    result: SampleResult, *, at_least: float = 1.0, response_id: str = "", texts: bool = False
) -> None:
    """Send a result through the process's providers of traces and of logs."""
    case, scores = case_of(result, at_least), result.scores.model_dump()
    about = {"judge.qid": result.qid, "judge.signature": result.signature}
    about |= {f"judge.{name}": scores[name] for name in ("claims", "judged", "unscored")}
    about |= {"gen_ai.response.id": response_id} if response_id else {}
    events: list[dict[str, AttributeValue]] = [
        {**about, f"{_EVALUATION}.name": name, f"{_EVALUATION}.score.value": scores[name]}
        for name in _SCORES
        if scores[name] is not None or name == _SCORES[0]
    ]
    (main, *_), failed = events, result.status is Status.UNSCORED and case.kind == "error"
    if scores[_SCORES[0]] is None:
        del main[f"{_EVALUATION}.score.value"]
    if failed:
        outcomes = [each.outcome for each in result.sentences]
        failures = [getattr(each, "fallback_from", None) or each for each in outcomes]
        main["error.type"] = next(
            each.reason.value for each in failures if isinstance(each, Unscored)
        )
    elif case.kind != "error":
        labels = {"passed": "pass", "failure": "fail", "undecided": "undecided"}
        labels["skipped"] = result.status.value
        main[f"{_EVALUATION}.score.label"] = labels[case.kind]
    if texts:
        main[f"{_EVALUATION}.explanation"] = case.text
    with get_tracer("judge").start_as_current_span("evaluate", attributes=main) as span:
        if failed:
            span.set_status(StatusCode.ERROR)
        logger = get_logger("judge")
        for event in events:
            logger.emit(LogRecord(event_name=f"{_EVALUATION}.result", attributes=event))
