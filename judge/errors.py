"""The errors of `judge`. All of them descend from `JudgeError`.

JudgeError
├── UsageError              a mistake of the caller; nothing was scored                 exit 2
│   ├── ConfigError         a setting is unknown, out of range or contradicts another
│   ├── InputError          the samples cannot be read: names file, line, field, value
│   ├── RunError            the run folder is taken, finished, absent or not writable
│   └── PromptMismatch      a pinned prompt differs from its recorded hash
├── WorkerLost              a worker process ended early; results so far are kept       exit 2
└── JudgeUnavailable        the model cannot be called: key, model name, quota          exit 2
    └── JudgeUnhealthy      it is called and returns nothing usable; try again          exit 3

A failure that concerns one sentence, such as a timeout or a broken reply, is not an exception but
a value, `judge.records.Unscored`, which stays in the denominator.
"""

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class JudgeError(Exception):
    """The base class. A message names the wrong value and the next step."""


class UsageError(JudgeError):
    """A mistake of the caller. Nothing was scored or half written."""


class ConfigError(UsageError):
    """A setting is unknown, out of range, or contradicts another."""


@contextmanager
def extra(name: str, what: str, instead: str = "") -> "Iterator[None]":
    """Turn a failed import within the block into a ConfigError that names the extra to install."""
    try:
        yield
    except ImportError as error:
        need = f"{error.name}, which is not installed; "
        if not isinstance(error, ModuleNotFoundError):  # something that it needs is missing
            why = " ".join(str(error).split())[:200]
            need = f"a package that cannot be loaded ({why}); mend it, or "
        raise ConfigError(f"{what} needs {need}{instead}{install(name)}") from error


def install(name: str) -> str:
    """Return the end of a message that says how to install an extra."""
    return f"run pip install 'rag-judge[{name}]'"


class InputError(UsageError):
    """The samples cannot be read. `path`, `line` and `field` say where, if that is known."""

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
        """Return the same problem at a place."""
        return InputError(self.problem, path=path, line=line, field=self.field)


class RunError(UsageError):
    """The run folder is in use, finished, absent, or cannot be written."""


class PromptMismatch(UsageError):
    """A pinned prompt, or the items of the exam, differ from the hash of their version."""


class WorkerLost(JudgeError):
    """A worker process cannot be started, or ended early, for example for lack of memory."""


class JudgeUnavailable(JudgeError):
    """The model cannot be called: wrong key, unknown model, exhausted quota."""


class JudgeUnhealthy(JudgeUnavailable):
    """The model returned nothing usable. The run stops, and can be resumed."""
