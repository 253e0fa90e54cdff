"""Run the command line, here or in a new process, and write its input files."""

import io
import json
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import JsonValue

from judge.cli.app import main
from judge.inputs.runs import read_results
from judge.records import SampleResult

GOLDEN = Path(__file__).resolve().parent / "golden"
CHUNKS = ("The canteen opens at seven and closes at three, from Monday to Friday, all year round.",)


class Ran(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


def judge(*words: object) -> Ran:
    """Run `judge` in this process."""
    out, err = io.StringIO(), io.StringIO()
    usual = signal.getsignal(signal.SIGINT)
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stopped:
            main([str(word) for word in words])
    finally:
        signal.signal(signal.SIGINT, usual)  # an interrupted command ignores it to its end
    assert isinstance(stopped.value.code, int)
    return Ran(stopped.value.code, out.getvalue(), err.getvalue())


def refused(ran: Ran, *parts: str) -> None:
    """Check that a command was refused in one line with these parts, and printed nothing else."""
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert ran.err.startswith("judge: ")
    for part in parts:
        assert part in ran.err


def start(*words: object, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start `judge` as a process that can be killed and that receives Ctrl-C.

    A background process would inherit a handler that ignores Ctrl-C.
    """
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from judge.cli.app import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
    )


def until(process: "subprocess.Popen[str]", happened: Callable[[], object]) -> None:
    """Wait until something happened that the process does; it must not end before."""
    pause = threading.Event()
    while not happened():
        assert process.poll() is None, process.communicate()
        pause.wait(0.01)


@contextmanager
def cramped(size: int) -> Iterator[None]:
    """No file may grow beyond it, in bytes: as on a full disk, writing fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def line(
    qid: str,
    answer: str,
    chunks: Sequence[str] | Mapping[str, str] = CHUNKS,
    query: str = "When is it open?",
) -> dict[str, JsonValue]:
    """A line of a samples file; chunks without ids are called 1, 2, …"""
    if not isinstance(chunks, Mapping):
        chunks = {str(number): text for number, text in enumerate(chunks, start=1)}
    listed: list[JsonValue] = [{"chunk_id": name, "text": text} for name, text in chunks.items()]
    return {"qid": qid, "query": query, "answer": answer, "chunks": listed}


def write(path: Path, lines: Iterable[Mapping[str, JsonValue]]) -> Path:
    """A samples file."""
    texts = [json.dumps(each, ensure_ascii=False) + "\n" for each in lines]
    path.write_text("".join(texts), encoding="utf-8")
    return path


def results(run: Path) -> list[SampleResult]:
    """Return the results of a run in their order."""
    return list(read_results(run))


class Golden:
    """Compares a text with a file of `tests/golden/`, or writes it anew for `--update-golden`."""

    def __init__(self, *, update: bool) -> None:
        self._update = update

    def check(self, name: str, text: str) -> None:
        """Fail unless `text` is what `<name>.txt` holds; lines lose their trailing blanks."""
        path = GOLDEN / f"{name}.txt"
        text = "".join(f"{each.rstrip()}\n" for each in text.splitlines())
        if self._update:
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: pytest --update-golden writes it"
        assert text == path.read_text(encoding="utf-8"), f"{path.name} differs: --update-golden"
