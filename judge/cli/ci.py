"""Reports for CI: JUnit, a summary in Markdown, annotations on GitHub."""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from judge.cli.render.answers import gate_line
from judge.cli.render.markdown import MarkdownPage
from judge.cli.terminal import Page, say
from judge.errors import RunError
from judge.inputs.runs import LOCK, OWN, RECORD, REVIEW, read_results, read_run
from judge.inputs.tables import is_source, replacing, writing
from judge.messages import Messages
from judge.records import GateResult, Summary
from judge.reports.cases import sentence_lines, write_junit
from judge.reports.gate import doubted
from judge.reports.worst import Worst

_STEP: Final = "name another file"
_RUN_FILES: Final = (*OWN, LOCK, REVIEW)
_MAX_WARNINGS: Final = 10
"""GitHub shows no more warnings of one step."""


def on_github() -> bool:
    """Whether this runs in a job of GitHub Actions, which reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class Reports:
    """The files and annotations that are made of a run beside its folder.

    Args:
        source: the file of samples; None if they come through a pipe.
        folder: the run folder.
        junit: the file for the JUnit report.
        markdown: the file for the summary.
        texts: whether annotations show the texts of answers.

    Raises:
        RunError: a file cannot be written, or is a file of the run or its input.
    """

    def __init__(
        self,
        source: Path | None,
        folder: Path,
        junit: Path | None = None,
        markdown: Path | None = None,
        *,
        texts: bool = True,
    ) -> None:
        self._source, self._folder, self._texts = source, folder, texts
        self._junit, self._markdown = junit, markdown
        for option, path in (("--junit", junit), ("--markdown", markdown)):
            if path is not None:
                check_file(option, path, folder, () if source is None else (source,))
        self._paths = [path for path in (junit, markdown) if path is not None]
        if len({os.path.realpath(path) for path in self._paths}) < len(self._paths):
            raise RunError(f"--junit and --markdown {markdown}: are one file; {_STEP}")

    def discard(self) -> None:
        """Remove the files of an earlier run, which would be taken for those of this one."""
        for path in self._paths:
            with writing(path, _STEP):
                path.unlink(missing_ok=True)

    def finish(self, summary: Summary, print_totals: Callable[[Page], None]) -> None:
        """Write the files and print the annotations."""
        lines = list(_outcomes(summary))
        if self._junit is not None:
            with _replacing(self._junit) as file:
                write_junit(file, read_run(self._folder.resolve()), lines)
        if self._markdown is not None:
            write_markdown(self._markdown, print_totals, lines)
        if on_github():
            say(*self._annotations(summary))

    def _annotations(self, summary: Summary) -> Iterator[str]:
        """Yield an error for each reason why the run fails, and a warning for each bad sentence."""
        place = None if self._source is None else _path_in_checkout(self._source)
        at = {} if place is None else {"file": place}
        for line in _outcomes(summary, only_failed=True):
            yield annotation("error", line, at)
        worst = Worst(_MAX_WARNINGS)
        for result in read_results(self._folder) if self._texts else ():
            worst.add(result, result.scores.unsupported)
        for entry in worst.sentences():
            lines = sentence_lines(entry.sentence)
            yield annotation("warning", "\n".join(lines), {**at, "title": entry.qid})


def check_file(
    option: str, path: Path, folder: Path | None = None, sources: Iterable[Path] = ()
) -> None:
    """Check before anything is paid for that a file can be written.

    It must not be one of the `sources` or in a folder of theirs, a file of a run, or standard
    input.

    Raises:
        RunError: the file cannot be written.
    """
    real = Path(os.path.realpath(path))
    run = None if folder is None else Path(os.path.realpath(folder))
    runs = [each for each in real.parents if each == run or (each / RECORD).is_file()]
    owned = (each / name for each in runs for name in _RUN_FILES)
    if real == run or any(each in (real, *real.parents) for each in owned):
        raise RunError(f"{option} {path}: is a file of a run; {_STEP}")
    if is_source(real, sources):
        raise RunError(f"{option} {path}: is what this is made from; {_STEP}")
    if real.exists() and not real.is_file():
        raise RunError(f"{option} {path}: is not a file that could be replaced; {_STEP}")
    if run in real.parents:
        return  # the run folder is made, and checked, by the job
    with (
        writing(path, _STEP),
        TemporaryFile(dir=next(each for each in real.parents if each.exists())),
    ):
        pass  # missing folders are made when the file is written


def write_markdown(
    path: Path, print_page: Callable[[Page], None], first: Iterable[str] = ()
) -> None:
    """Write what `print_page` prints as Markdown, below the lines that come first."""
    page = MarkdownPage()
    for line in first:
        page.say(line, style="bold")
    print_page(page)
    with _replacing(path) as file:
        file.write(page.markdown.encode())


def annotate(gates: Iterable[GateResult]) -> None:
    """Print an error for each gate that failed, in a job of GitHub Actions."""
    if on_github():
        failed = (gate_line(gate).plain for gate in gates if not gate.passed)
        say(*(annotation("error", line, {}) for line in failed))


@contextmanager
def hiding_commands() -> Iterator[None]:
    """Keep GitHub from taking a printed line, such as one of an answer, for a workflow command."""
    token = secrets.token_hex(16)
    if on_github():
        say(f"::stop-commands::{token}")
    try:
        yield
    finally:
        if on_github():
            say(f"::{token}::")


def annotation(kind: str, message: str, properties: Mapping[str, str]) -> str:
    r"""Return the workflow command that shows a message, escaped as GitHub's own toolkit does.

    >>> annotation("error", "50 % of 2:\nbad", {"file": "a,b.jsonl", "title": "q:1"})
    '::error file=a%2Cb.jsonl,title=q%3A1::50 %25 of 2:%0Abad'
    """
    fields = [
        f"{key}={_encoded(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    ]
    return f"::{kind}{' ' if fields else ''}{','.join(fields)}::{_encoded(message)}"


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _outcomes(summary: Summary, *, only_failed: bool = False) -> Iterator[str]:
    """Yield a line for each gate, and for each score that must not be reported."""
    for gate in summary.gates:
        if not (only_failed and gate.passed):
            yield gate_line(gate).plain
    for each in doubted(summary):
        share = f"{100 * (each.unscored_share or 0):.1f}"
        yield Messages.of("cases")("case.untrusted", share=share)


def _path_in_checkout(source: Path) -> str | None:
    """Return the path by which GitHub knows a file, or None if it is not in the checkout."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    real = source.resolve()
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    with replacing(path, _STEP) as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
