"""The log of the service, one JSON object a line, and its metrics for Prometheus.

Both contain ids and no texts.
"""

import json
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from judge.records import SampleResult
from judge.reports.worst import failures

LOG: Final = logging.getLogger("judge.service")
_NOISE: Final = ("uvicorn.error", "asyncio")
MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
COSTS: Final = ("answers", "calls", "prompt_tokens", "reply_tokens", "cache_hits", "retries")


class JsonLines(logging.Formatter):
    """Writes a record as JSON: time, level, message, and what was given as `extra["entry"]`.

    Of an exception its kind and where it arose: its message may hold a text of a sample.
    """

    def __init__(self, **always: str) -> None:
        super().__init__()
        self._always = always

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, object] = {"time": when, "level": record.levelname.lower()}
        entry |= {"message": record.getMessage()} | self._always | getattr(record, "entry", {})
        if record.exc_info and record.exc_info[1]:
            entry["error"] = type(record.exc_info[1]).__name__
            entry["at"] = places(record.exc_info[1])
        return json.dumps(entry, ensure_ascii=False)


def places(error: BaseException) -> list[str]:
    """Where an error came through, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in frames]


def log_json(**always: str) -> logging.Handler:
    """Have the package, and what serves for it, log so on standard error; returns the handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(**always))
    judge = logging.getLogger("judge")
    judge.handlers[:] = [handler]
    judge.setLevel(min(judge.level or logging.INFO, logging.INFO))
    judge.propagate = False
    LOG.setLevel(logging.NOTSET)  # which the page to label on, of the same process, may have raised
    for name in _NOISE:
        noisy = logging.getLogger(name)
        noisy.handlers[:] = [handler]
        noisy.setLevel(logging.WARNING)
        noisy.propagate = False
    return handler


def costs(result: SampleResult) -> dict[str, int]:
    """What an answer took, by the names of `COSTS`."""
    sent = [call for call in result.calls if not call.cached]
    return {
        "answers": 1,
        "calls": len(sent),
        "prompt_tokens": sum(call.prompt_tokens for call in sent),
        "reply_tokens": sum(call.reply_tokens for call in sent),
        "cache_hits": len(result.calls) - len(sent),
        "retries": sum(call.retries for call in sent),
    }


class Metrics:
    """The counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "judge_requests",
            "Requests, by route, status and client.",
            ("method", "route", "status", "client"),
            registry=self._registry,
        )
        self._latency = Histogram(
            "judge_request_seconds",
            "From the first byte to the last.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._costs = {
            name: Counter(
                f"judge_{name}",
                f"{name.replace('_', ' ').capitalize()}.",
                ("of",),
                registry=self._registry,
            )
            for name in COSTS
        }
        self._failures = Counter(
            "judge_failures",
            "Claims without a verdict, by reason.",
            ("of", "reason"),
            registry=self._registry,
        )

    def request(self, method: str, route: str, status: int, client: str, seconds: float) -> None:
        """A request has ended."""
        self._requests.labels(method, route, str(status), client).inc()
        self._latency.labels(method, route).observe(seconds)

    def judged(self, result: SampleResult) -> None:
        """A live answer has its result."""
        self.spent("live", costs(result))
        for failure in failures(result):
            self._failures.labels("live", failure.reason.value).inc()

    def spent(self, of: str, cost: Mapping[str, int]) -> None:
        """Answers were judged: `live` ones, or of a `batch`."""
        for name, count in cost.items():
            self._costs[name].labels(of).inc(count)

    def failed(self, of: str, reasons: Mapping[str, int]) -> None:
        """Claims got no verdict, by reason."""
        for reason, count in reasons.items():
            self._failures.labels(of, reason).inc(count)

    def gauge(self, name: str, help_: str, read: Callable[[], float]) -> None:
        """Tell what is read whenever somebody looks."""
        Gauge(name, help_, registry=self._registry).set_function(read)

    def states(self, read: Callable[[str], int], states: tuple[str, ...]) -> None:
        """Likewise how many batches are in each state."""
        gauge = Gauge("judge_batches", "Batches by state.", ("state",), registry=self._registry)
        for state in states:
            gauge.labels(state).set_function(partial(read, state))

    def page(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
