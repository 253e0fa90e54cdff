"""Logs: a JSON object a line, with ids and never with a text."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

LOG: Final = logging.getLogger("judge.service")
_NOISE: Final = ("uvicorn.error", "asyncio")


class JsonLines(logging.Formatter):
    """Writes a record as JSON: time, level, message, and what was given as `extra["told"]`.

    Of an exception its kind and where it arose: its message may hold a text of a sample.
    """

    def __init__(self, **always: str) -> None:
        super().__init__()
        self._always = always

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, object] = {"time": when, "level": record.levelname.lower()}
        entry |= {"message": record.getMessage()} | self._always | getattr(record, "told", {})
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
