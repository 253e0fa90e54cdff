"""The worker of a batch, at the other end of its pipes."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judge.inputs.runs import read_results
from judge.service.wire import Options
from judge.service.worker import ASK, LEAVE, UPLOAD, Line, Report, Task, work
from tests.serving import QUICKSTART


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def judged(folder: Path, **options: object) -> tuple[list[Report], str]:
    """What a worker reports of a batch, and how it asked for places and left them."""
    task = Task(batch="a", folder=str(folder), config={}, options=Options.model_validate(options))
    reports, signs = list[Report](), ""
    with pipe() as (given, give), pipe() as (hear, said):
        line = Line(given, said)
        listening = threading.Thread(target=line.listen)
        working = threading.Thread(target=work, args=(task, line))
        listening.start()
        working.start()
        with os.fdopen(hear, "r", closefd=False) as lines:
            for told in lines:
                if told.startswith("{"):
                    reports.append(Report.model_validate_json(told))
                    if reports[-1].ended:
                        break
                else:
                    signs += told.strip()
                    os.write(give, b"." * told.count(ASK))
        working.join()
        os.close(give)
        listening.join()
    return reports, signs


def test_a_worker_asks_for_each_place_and_says_what_it_has_done(tmp_path: Path) -> None:
    (tmp_path / UPLOAD).write_bytes(QUICKSTART.read_bytes())
    reports, signs = judged(tmp_path)
    last = reports[-1]
    assert (last.ended, last.done, last.samples, last.kept) == ("finished", 16, 16, 0)
    assert sum(report.spent.get("answers", 0) for report in reports) == 16
    assert signs.count(ASK) == signs.count(LEAVE) > 0
    assert len(list(read_results(tmp_path))) == 16
    assert not (tmp_path / UPLOAD).exists()


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"secret words", "wrong-field", "neither JSON lines nor CSV, which names no"),
        (b'{"answer": "a secret", "chunks": 5}\n', "wrong-field", "is a number, 5"),
        (None, "bug", "FileNotFoundError"),
    ],
)
def test_why_a_batch_failed_is_told_without_a_text(
    tmp_path: Path, data: bytes | None, name: str, said: str
) -> None:
    if data is not None:
        (tmp_path / UPLOAD).write_bytes(data)
    reports, _ = judged(tmp_path)
    problem = reports[-1].problem
    assert problem is not None
    assert (reports[-1].ended, problem.type.rpartition(":")[2]) == ("failed", name)
    assert said in problem.detail
    assert "secret" not in json.dumps(problem.model_dump())
