"""Inputs by name: a file, or what is piped in; and what becomes of bad lines."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from judge.errors import ConfigError, InputError, RunError
from judge.text.visible import visible

if TYPE_CHECKING:  # heavy, and commands that name a file are quick to explain themselves
    from judge.files.samples import Rejected
    from judge.records import Sample

PIPED: Final = "-"
_PIPE: Final = "standard input"


def standard_input() -> IO[bytes]:
    """What is piped in.

    Raises:
        ConfigError: nothing can be, for it is closed.
    """
    if sys.stdin is None:
        raise ConfigError("standard input is closed; pipe the samples in, or name a file")
    return sys.stdin.buffer


@contextlib.contextmanager
def readable(name: str) -> Iterator[Path]:
    """A file that can be read again: what is piped in, or `<(…)`, is copied first.

    Raises:
        ConfigError: the name is empty, or standard input is meant and closed.
        RunError: there is no room for the copy.
    """
    if not name:  # a script's unset variable would mean the current folder
        raise ConfigError("the name of a file is empty; name a path, or - for standard input")
    path = Path(name)
    if name != PIPED and not is_fifo(path):
        yield path
        return
    with tempfile.NamedTemporaryFile() as copy:
        try:
            with contextlib.ExitStack() as stack:
                pipe = standard_input() if name == PIPED else stack.enter_context(path.open("rb"))
                shutil.copyfileobj(pipe, copy)
            copy.flush()
        except OSError as error:
            message = f"{spoken(name)}: cannot be copied ({error.strerror}); "
            raise RunError(message + "save it to a file and name that") from None
        yield Path(copy.name)


def is_fifo(path: Path) -> bool:
    """Whether a name is that of a pipe, such as a shell's `<(…)`, which is read only once."""
    try:
        return path.is_fifo()
    except OSError:  # a name that is too long, say; opening it says what is wrong
        return False


@contextlib.contextmanager
def placed(name: str) -> Iterator[None]:
    """Names this source in what is wrong with it, and not the copy that was read."""
    try:
        yield
    except InputError as error:
        raise error.at(name, error.line) from None


def spoken(name: str) -> str:
    """What to call a source in a message."""
    return _PIPE if name == PIPED else name


class Source:
    """Samples to be read once or more; bad lines raise, or are told and left out.

    Args:
        name: a path, or `-` for standard input.
        needs: fields of a sample that must be there.
        skip_bad_lines: tell of a bad line on standard error, and go on.
        check: raises `InputError` for a sample that is of no use.
    """

    def __init__(
        self,
        name: str,
        needs: Collection[str],
        *,
        skip_bad_lines: bool,
        check: "Callable[[Sample], None] | None" = None,
    ) -> None:
        self.name = spoken(name)
        self.rejected = 0
        self._source = name
        self._needs = needs
        self._skip = skip_bad_lines
        self._check = check

    @contextlib.contextmanager
    def samples(self) -> Iterator[Iterator["Sample"]]:
        """The samples, one at a time. What can be read but once is read from a copy.

        Raises:
            InputError: also of what is done with them; it names the source.
            RunError: there is no room for the copy.
        """
        with placed(self.name), readable(self._source) as path:
            yield self._read(path)

    def _read(self, path: Path) -> Iterator["Sample"]:
        from judge.files.samples import read_samples  # noqa: PLC0415

        def tell(line: "Rejected") -> None:
            self.rejected += 1
            # No log: it would hold texts, and logs hold names.
            error = line.error.at(self.name, line.line)
            sys.stderr.write(visible(f"judge: left out: {error}") + "\n")

        on_bad = tell if self._skip else None
        yield from read_samples(path, needs=self._needs, on_bad=on_bad, check=self._check)
