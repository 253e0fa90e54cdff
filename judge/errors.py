"""The error tree. Every error a caller can meet descends from `JudgeError`.

JudgeError
├── UsageError              the caller's mistake: nothing was scored                    exit 2
│   ├── ConfigError         a setting is unknown, out of range or contradicts another
│   ├── InputError          the samples cannot be read: names file, line, field, value
│   ├── RunError            the run folder is taken, finished, absent or not writable
│   └── PromptMismatch      a pinned prompt does not bear its recorded hash
├── WorkerLost              a worker process ended before its time: what was scored stays  exit 2
└── JudgeUnavailable        the model cannot be asked at all: key, model name, quota    exit 2
    └── JudgeUnhealthy      it is asked and nothing usable comes; another time it may   exit 3

A failure of the world that concerns one sentence (a timeout, a broken reply) is no exception:
it is a value, `judge.records.Unscored`, and stays in the denominator.
"""

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST = 200
"""Characters of another's message in one of ours."""


class JudgeError(Exception):
    """Anything `judge` raises on purpose; the message names the value and the next step."""


class UsageError(JudgeError):
    """The caller's mistake. Nothing was scored and nothing was half written."""


class ConfigError(UsageError):
    """A setting is unknown, out of range, or contradicts another."""


@contextmanager
def extra(name: str, what: str, instead: str = "") -> "Iterator[None]":
    """Around imports: where a package is missing, ConfigError names the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{what} needs {error.name}, which is not installed; {instead}{install(name)}"
        ) from None
    except ImportError as error:  # it is there, and something that it needs is not
        why = " ".join(str(error).split())[:_LONGEST]
        raise ConfigError(
            f"{what} needs a package that cannot be loaded ({why}); mend it, or "
            f"{instead}{install(name)}"
        ) from error


def install(name: str) -> str:
    """What to do for an extra, as the end of a message: there is no package to name it by."""
    return f"run pip install '.[{name}]' in judge's checkout"


class InputError(UsageError):
    """The samples cannot be read. `path`, `line` and `field` say where, as far as known."""

    def __init__(
        self, message: str, *, path: str = "", line: int | None = None, field: str = ""
    ) -> None:
        self.problem = message
        self.path = path
        self.line = line
        self.field = field
        place = path if line is None else f"{path}, line {line}"
        where = ", ".join(part for part in (place, f"field {field!r}" if field else "") if part)
        super().__init__(f"{where}: {message}" if where else message)

    def at(self, path: str, line: int | None) -> "InputError":
        """The same problem, with its place."""
        return InputError(self.problem, path=path, line=line, field=self.field)


class RunError(UsageError):
    """The run folder is in use, finished, absent, or cannot be written."""


class PromptMismatch(UsageError):
    """A pinned prompt, or the items of the exam, has not the hash recorded for its version."""


class WorkerLost(JudgeError):
    """A worker process cannot be started, or ended before its time, as where memory runs out."""


class JudgeUnavailable(JudgeError):
    """The model cannot be asked at all: wrong key, unknown model, exhausted quota."""


class JudgeUnhealthy(JudgeUnavailable):
    """The model was asked, and nothing usable came: the run stops, and can be gone on with."""
