"""What a run leaves for CI: a JUnit report, a summary in Markdown, annotations on GitHub."""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, Self

from judge.cli.render.looks import gate_line
from judge.cli.render.markdown import MarkdownPage
from judge.cli.terminal import Page, say
from judge.errors import RunError
from judge.inputs.runs import LOCK, OWN, RECORD, REVIEW
from judge.inputs.tables import replacing, writing
from judge.messages import Lang, Messages
from judge.records import GateResult, SampleResult, Summary
from judge.reports.cases import Junit, sentence_lines
from judge.reports.gate import doubted
from judge.reports.worst import Worst
from judge.review.folder import is_source

_STEP: Final = "name another file"
_KEPT: Final = (*OWN, LOCK, REVIEW)
_MOST: Final = 10
"""Warnings of a step that GitHub shows."""


def on_github() -> bool:
    """Whether this runs in a job of GitHub's, which reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class Reports:
    """What is asked of a run beside its folder, made as its answers come.

    Args:
        source: the file of samples; None where they are piped in.
        folder: of the run.
        junit: where the JUnit report goes, if anywhere.
        markdown: where the summary goes, likewise.
        lang: the language of both.
        texts: whether annotations may show what answers say.

    Raises:
        RunError: a file cannot be written, or would replace one of the run's or its input.
    """

    def __init__(
        self,
        source: Path | None,
        folder: Path,
        junit: Path | None = None,
        markdown: Path | None = None,
        lang: Lang = "en",
        *,
        texts: bool = True,
    ) -> None:
        self._source, self._lang = source, lang
        self._paths = [path for path in (junit, markdown) if path is not None]
        for option, path in (("--junit", junit), ("--markdown", markdown)):
            if path is not None:
                check_file(option, path, folder, () if source is None else (source,))
        if len({os.path.realpath(path) for path in self._paths}) < len(self._paths):
            raise RunError(f"--junit and --markdown {markdown}: are one file; {_STEP}")
        self._junit_path, self._markdown_path = junit, markdown
        self._junit = None if junit is None else Junit(folder.resolve().name, lang)
        self._worst = Worst(_MOST)
        self._warns = texts and on_github()
        self._unwritten = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._junit is not None:
            self._junit.close()
        if kind is not None and self._unwritten:
            self.discard()

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        self._unwritten = True
        if self._junit is not None:
            self._junit.add(result)
        if self._warns and result.scores.unsupported:
            self._worst.add(result, result.scores.unsupported)

    def discard(self) -> None:
        """Remove the files of an earlier run, so that nobody takes them for this one's."""
        for path in self._paths:
            with writing(path, _STEP):
                path.unlink(missing_ok=True)

    def finish(self, summary: Summary, page: Callable[[Page], None]) -> None:
        """Write the files; `page` prints the totals."""
        self._unwritten = False
        said = [*_said(summary, self._lang)]
        if self._junit is not None and self._junit_path is not None:
            with _written(self._junit_path) as file:
                self._junit.write(file, said)
        if self._markdown_path is not None:
            write_markdown(self._markdown_path, self._lang, page, said)
        if on_github():
            say(*self._annotations(summary))

    def _annotations(self, summary: Summary) -> Iterator[str]:
        """A line an annotation: an error for what fails the run, a warning for a bad sentence."""
        place = None if self._source is None else _within(self._source)
        at = {} if place is None else {"file": place}
        for line in _said(summary, self._lang, failed=True):
            yield annotation("error", line, at)
        for entry in self._worst.sentences():
            told = sentence_lines(entry.sentence, self._lang)
            yield annotation("warning", "\n".join(told), {**at, "title": entry.qid})


def check_file(
    option: str, path: Path, folder: Path | None = None, spared: Iterable[Path] = ()
) -> None:
    """Check that a file can be written, before anything is paid for.

    Files that are `spared` are never replaced and folders never written into. The files of the run
    in `folder`, and of every other run, are not replaced, and neither is standard input.

    Raises:
        RunError: the file cannot be written.
    """
    real = Path(os.path.realpath(path))
    run = None if folder is None else Path(os.path.realpath(folder))
    runs = [each for each in real.parents if each == run or (each / RECORD).is_file()]
    if real == run or any(each / name in (real, *real.parents) for each in runs for name in _KEPT):
        raise RunError(f"{option} {path}: is a file of a run; {_STEP}")
    if is_source(real, spared):
        raise RunError(f"{option} {path}: is what this is made from; {_STEP}")
    if real.exists() and not real.is_file():
        raise RunError(f"{option} {path}: is no file that could be replaced; {_STEP}")
    if run in real.parents:
        return  # it is made, and seen to be writable, with the run
    with (
        writing(path, _STEP),
        TemporaryFile(dir=next(each for each in real.parents if each.exists())),
    ):
        pass  # folders are made once there is something to write


def write_markdown(
    path: Path, lang: Lang, page: Callable[[Page], None], first: Iterable[str] = ()
) -> None:
    """Write as Markdown what `page` prints, below some lines that come first."""
    kept = MarkdownPage(lang)
    for line in first:
        kept.say(line, style="bold")
    page(kept)
    with _written(path) as file:
        file.write(kept.markdown.encode())


def annotate(gates: Iterable[GateResult], lang: Lang) -> None:
    """On GitHub, an error for each gate that failed."""
    if on_github():
        failed = (gate_line(gate, lang).plain for gate in gates if not gate.passed)
        say(*(annotation("error", line, {}) for line in failed))


@contextmanager
def unheeded() -> Iterator[None]:
    """Texts of answers may be printed, and GitHub takes none of their lines for a command."""
    token = secrets.token_hex(16)
    if on_github():
        say(f"::stop-commands::{token}")
    try:
        yield
    finally:
        if on_github():
            say(f"::{token}::")


def annotation(kind: str, message: str, properties: Mapping[str, str]) -> str:
    r"""A workflow command that shows a message, escaped as GitHub's own toolkit does.

    >>> annotation("error", "50 % of 2:\nbad", {"file": "a,b.jsonl", "title": "q:1"})
    '::error file=a%2Cb.jsonl,title=q%3A1::50 %25 of 2:%0Abad'
    """
    named = [
        f"{key}={_encoded(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    ]
    return f"::{kind}{' ' if named else ''}{','.join(named)}::{_encoded(message)}"


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _said(summary: Summary, lang: Lang, *, failed: bool = False) -> Iterator[str]:
    """What became of the gates, or of those that failed, and whether the run can be trusted."""
    for gate in summary.gates:
        if not (failed and gate.passed):
            yield gate_line(gate, lang).plain
    for each in doubted(summary):
        share = f"{100 * (each.unscored_share or 0):.1f}"
        yield Messages.of("cases")("case.untrusted", lang, share=share)


def _within(source: Path) -> str | None:
    """The file as GitHub knows it; None where it is none of the checked out."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    real = source.resolve()
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


@contextmanager
def _written(path: Path) -> Iterator[IO[bytes]]:
    with replacing(path, _STEP) as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
