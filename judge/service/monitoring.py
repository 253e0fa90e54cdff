"""The log of the service, one JSON object a line, and its metrics for Prometheus.

Both contain ids and no texts.
"""

import json
import logging
import sys
import traceback
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from judge.records import SampleResult, Spent, Summary, UnscoredReason
from judge.reports.worst import failures

LOG: Final = logging.getLogger("judge.service")
_LATENCIES: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class JsonLines(logging.Formatter):
    """Formats a record as JSON: time, level, message, and the `entry` of its `extra`.

    Of an exception only the class and the lines of code are logged: it may quote a sample.
    """

    def __init__(self, **always: str) -> None:
        super().__init__()
        self._always = always

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, object] = {"time": when, "level": record.levelname.lower()}
        entry |= {"message": record.getMessage()} | self._always | getattr(record, "entry", {})
        if record.exc_info and (error := record.exc_info[1]):
            frames = traceback.extract_tb(error.__traceback__)[-8:]
            entry["error"] = type(error).__name__
            entry["at"] = [f"{Path(each.filename).name}:{each.lineno}" for each in frames]
        return json.dumps(entry, ensure_ascii=False)


def log_json(**always: str) -> None:
    """Log as JSON on standard error, with `always` in each line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(**always))
    levels = {"judge": logging.INFO, "uvicorn.error": logging.WARNING, "asyncio": logging.WARNING}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(min(logger.level or level, level))
        logger.propagate = False
    LOG.setLevel(logging.NOTSET)  # `judge label` in the same process may have raised it


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests.", "method route status client")
        self._latency = Histogram(
            "judge_request_seconds",
            "From the first byte to the last.",
            ("method", "route"),
            buckets=_LATENCIES,
            registry=self._registry,
        )
        self._answers = self._counter("answers", "Answers.", "of")
        self._spent = {
            name: self._counter(name, f"{name.replace('_', ' ').capitalize()}.", "of")
            for name in ("calls", "retries", "cache_hits", "prompt_tokens", "reply_tokens")
        }
        self._failures = self._counter("failures", "Claims without a verdict.", "of reason")

    def _counter(self, name: str, about: str, labels: str) -> Counter:
        return Counter(f"judge_{name}", about, labels.split(), registry=self._registry)

    def request(self, method: str, route: str, status: int, client: str, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(method, route, str(status), client).inc()
        self._latency.labels(method, route).observe(seconds)

    def count_answer(self, result: SampleResult) -> None:
        """Count what a live answer took, and its failures."""
        sent = [call for call in result.calls if not call.cached]
        spent = Spent(
            calls=len(sent),
            retries=sum(call.retries for call in sent),
            cache_hits=len(result.calls) - len(sent),
            prompt_tokens=sum(call.prompt_tokens for call in sent),
            reply_tokens=sum(call.reply_tokens for call in sent),
        )
        self._count("live", 1, spent, Counts(each.reason for each in failures(result)))

    def count_batch(self, summary: Summary) -> None:
        """Count what the answers of a finished batch took, and their failures."""
        self._count("batch", summary.answers, summary, summary.unscored)

    def _count(
        self, of: str, answers: int, spent: Spent, unscored: Mapping[UnscoredReason, int]
    ) -> None:
        self._answers.labels(of).inc(answers)
        for name, counter in self._spent.items():
            counter.labels(of).inc(getattr(spent, name))
        for reason, count in unscored.items():
            if count and reason is not UnscoredReason.UNDECIDED:
                self._failures.labels(of, reason.value).inc(count)

    def gauge(self, name: str, help_: str, read: Callable[[], float]) -> None:
        """Add a metric whose value is read for each page of metrics."""
        Gauge(name, help_, registry=self._registry).set_function(read)

    def states(self, count: Callable[[str], float], states: Iterable[str]) -> None:
        """Add a metric of the number of batches in each state."""
        gauge = Gauge("judge_batches", "Batches by state.", ("state",), registry=self._registry)
        for state in states:
            gauge.labels(state).set_function(partial(count, state))

    def page(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
