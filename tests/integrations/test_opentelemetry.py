"""Spans and events, as exporters of the real SDK are given them."""

import pytest

from judge import Evaluator, Sample
from tests.known_scores import RATED, rater, recipe
from tests.replies import Status, right
from tests.server import JudgeServer

pytest.importorskip("opentelemetry.sdk")
from opentelemetry import trace
from opentelemetry._logs import get_logger_provider, set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from judge.integrations.opentelemetry import record

HOLIDAYS = "员工每年有15天年假。"
GIVEN = {"qid": "7", "query": "多少天？", "chunks": [{"chunk_id": "hr", "text": HOLIDAYS}]}
SPANS, LOGS = InMemorySpanExporter(), InMemoryLogRecordExporter()


@pytest.fixture(autouse=True, scope="module")
def providers() -> None:
    """A process has one of each, for good, and another tool may have set them."""
    tracing, logging = trace.get_tracer_provider(), get_logger_provider()
    if not isinstance(tracing, TracerProvider):
        tracing = TracerProvider()
        trace.set_tracer_provider(tracing)
    if not isinstance(logging, LoggerProvider):
        logging = LoggerProvider()
        set_logger_provider(logging)
    tracing.add_span_processor(SimpleSpanProcessor(SPANS))
    logging.add_log_record_processor(SimpleLogRecordProcessor(LOGS))


async def sent(answer: str, judge: Evaluator | None = None, **given: object) -> dict[str, object]:
    """The attributes of the span; the events are in LOGS."""
    SPANS.clear()
    LOGS.clear()
    result = await (judge or Evaluator()).evaluate_one(Sample.of({**GIVEN, "answer": answer}))
    with trace.get_tracer("rag").start_as_current_span("chat"):
        record(result, **given)  # type: ignore[arg-type]
    span, chat = SPANS.get_finished_spans()
    assert span.parent is not None
    assert (span.name, span.parent.span_id) == ("evaluate", chat.context.span_id)
    for log in LOGS.get_finished_logs():
        entry = log.log_record
        assert entry.event_name == "gen_ai.evaluation.result"
        assert (entry.trace_id, entry.span_id) == (
            span.context.trace_id,
            span.context.span_id,
        )
    assert (span.status.status_code is trace.StatusCode.ERROR) == ("error.type" in span.attributes)
    # Another tool of this process may add attributes of its own to every span.
    ours = ("judge.", "gen_ai.", "error.")
    return {name: each for name, each in (span.attributes or {}).items() if name.startswith(ours)}


async def test_scores_are_events_of_the_convention() -> None:
    answer = f"{HOLIDAYS[:-1]}[hr]。Bears dance at night."
    attributes = await sent(answer, response_id="chatcmpl-1")
    assert attributes.pop("judge.signature").startswith("similarity:")  # type: ignore[attr-defined]
    about = {"judge.qid": "7", "judge.claims": 2, "judge.judged": 2, "judge.unscored": 0}
    about["gen_ai.response.id"] = "chatcmpl-1"
    assert attributes == about | {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.evaluation.score.label": "fail",
    }
    events = [log.log_record.attributes or {} for log in LOGS.get_finished_logs()]
    found = {e["gen_ai.evaluation.name"]: e["gen_ai.evaluation.score.value"] for e in events}
    scores = {"faithfulness": 0.5, "coverage": 0.5, "citation_validity": 1, "citation_recall": 0.5}
    assert found == scores
    assert "Bears" not in SPANS.get_finished_spans()[0].to_json()
    assert not any("Bears" in log.to_json() for log in LOGS.get_finished_logs())
    attributes = await sent(answer, at_least=0.5)
    assert attributes["gen_ai.evaluation.score.label"] == "pass"
    attributes = await sent(answer, texts=True)
    assert "Bears dance" in str(attributes["gen_ai.evaluation.explanation"])


async def test_nothing_unscored_has_a_score() -> None:
    with JudgeServer(lambda asked: right(asked) if asked.is_probe else Status(500, "")) as server:
        for fallback in (True, False):
            attributes = await sent(HOLIDAYS, Evaluator(server.config(fallback=fallback)))
            assert attributes["error.type"] == "server_error"
            assert not any(".score." in name for name in attributes)
    for rated in RATED.values():
        attributes = await sent(rated.answer, rater(), at_least=0.6)
        assert attributes.get("gen_ai.evaluation.score.value") == rated.score
        passing = {True: "pass", False: "fail", None: None}[rated.passing]
        label = {"abstained": "abstained", "no claims": "no_claims"}.get(rated.says.split(": ")[-1])
        label = "undecided" if rated.says.startswith("no score") else label
        assert attributes.get("gen_ai.evaluation.score.label") == (label or passing)
        assert (attributes["judge.unscored"] == 1) == rated.is_open


async def test_the_recipe() -> None:
    names = recipe("opentelemetry")
    SPANS.clear()
    await names["answer"](Evaluator(), "多少天？", HOLIDAYS, [HOLIDAYS])
    assert [span.name for span in SPANS.get_finished_spans()] == ["evaluate", "chat"]
