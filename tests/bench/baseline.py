"""The scores that another revision of the offline judge gives to the same sentences."""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from judge.records import JudgeRequest
from tests.bench import scorer
from tests.bench.labelled import ROOT


class Scoring:
    """A process that scores files of requests, one after the other.

    Args:
        code: the folder that holds the package.
        folder: where the requests are, and the scores will be.
        names: of the files, in the order in which they are scored.
    """

    def __init__(self, code: Path, folder: Path, names: Sequence[str]) -> None:
        self._folder = folder
        self._done: set[str] = set()
        # One thread: beside it, the judge of today is at work.
        environment = os.environ | {"PYTHONPATH": str(code), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, scorer.__file__, str(folder), *names],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def replies(self, name: str) -> list[scorer.Reply]:
        """The replies to a file of requests, once they are there.

        Raises:
            SystemExit: the process ended without them.
        """
        output: IO[str] | None = self.process.stdout
        assert output is not None  # it is a pipe
        while name not in self._done:
            line = output.readline()
            if not line:
                raise SystemExit(f"the scorer gave no scores for {name}; its error stands above")
            self._done.add(line.strip())
        found = scorer.lines(self._folder / f"{name}.scores.jsonl")
        return [scorer.Reply(*each) for each in found]


@contextmanager
def scoring(revision: str | None, jobs: Mapping[str, Sequence[JudgeRequest]]) -> Iterator[Scoring]:
    """Begin to score the requests under a revision, or under the code as it stands for None.

    What it needs lies in a folder of its own, which is removed on leaving.

    Raises:
        SystemExit: git knows no such revision.
    """
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        code = ROOT if revision is None else checked_out(revision, folder / "code")
        for name, requests in jobs.items():
            lines = (json.dumps(scorer.plain(each)) + "\n" for each in requests)
            (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        work = Scoring(code, folder, list(jobs))
        try:
            yield work
        finally:
            work.process.kill()
            work.process.communicate()


def checked_out(revision: str, folder: Path) -> Path:
    """The package as it was, in `folder`."""
    command = ["git", "-C", str(ROOT), "archive", revision, "judge", "prompts"]
    archive = subprocess.run(command, capture_output=True, check=False)
    if archive.returncode:
        raise SystemExit(f"{archive.stderr.decode().strip()}; --no-baseline does without")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder
