"""`judge show`: which answers and sentences it lists, and what it refuses.

What is printed of them: `tests/golden/show.*.txt`.
"""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.records import SampleResult
from judge.scores.answer import support_of
from tests.commands import judge, line, refused, results, write

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scored(FIXTURES / "quickstart.jsonl", tmp_path_factory.mktemp("a run") / "run")


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("today's run") / "run"
    return scored(FIXTURES / "cells.jsonl", run, "--correctness")


def scored(source: Path, run: Path, *options: str) -> Path:
    assert judge("score", source, "-o", run, *options).code == 0
    return run


def listed(run: Path, *words: object) -> list[str]:
    """The answers that a command lists, in order."""
    names = [each.qid for each in results(run)]
    ran = judge("show", run, *words)
    assert ran.code == 0
    return [each for each in ran.out.split() if each in names]


@pytest.mark.no_cover
def test_every_answer_can_be_shown_and_without_a_name_the_worst(run: Path) -> None:
    found = {each.qid: each.scores.faithfulness for each in results(run)}
    for qid in found:
        ran = judge("show", run, qid)
        assert (ran.code, ran.out.split()[0]) == (0, qid)
    least = min(score for score in found.values() if score is not None)
    assert found[judge("show", run).out.split()[0]] == least


def test_several_answers_are_shown_in_the_order_they_are_named(run: Path) -> None:
    first, *_, last = (each.qid for each in results(run))
    both, single = judge("show", run, last, first), judge("show", run, last)
    assert both.code == 0
    assert both.out.startswith(single.out.rstrip())
    assert judge("show", run, first).out.strip() in both.out
    refused(judge("show", run, first, "nobody"), "nobody")


def test_a_finished_run_with_too_few_or_too_many_lines_is_refused(
    run: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "run"
    shutil.copytree(run, broken)
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    for kept in (lines[:3] + lines[4:], [*lines, lines[0]]):
        (broken / "results.jsonl").write_bytes(b"".join(kept))
        for words in ([], ["nobody"]):
            refused(judge("show", broken, *words))


def test_without_the_input_and_without_a_score(tmp_path: Path) -> None:
    lines = [line("x", "Rooms cost 500 yuan.", ["Rooms cost 500 yuan."]), line("empty", "")]
    run = scored(write(tmp_path / "in.jsonl", lines), tmp_path / "run")
    (tmp_path / "in.jsonl").unlink()
    for qid in ("x", "empty"):
        assert judge("show", run, qid).code == 0
    run = scored(write(tmp_path / "in.jsonl", lines[1:]), tmp_path / "silent")
    refused(judge("show", run))


def test_the_answers_of_a_cell(placed: Path) -> None:
    cells = {each.qid: each.cell for each in results(placed) if each.cell}
    wrong = [qid for qid, cell in cells.items() if cell.correct is False and cell.retrieved]
    abstained = [qid for qid in cells if "unanswerable-abstained" in qid]
    assert listed(placed, "--cell", "wrong,retrieved") == wrong
    assert listed(placed, "--cell", "abstained，unanswerable", "--lang", "zh") == abstained
    assert listed(placed, "retrieved-abstained", "--cell", "missed") == []


REFUSED = """
nowhere | --cell '' | --cell sound | no-such-qid
--support bad | --flag '' | --status nix
no-such-qid --support none
"""


@pytest.mark.parametrize("words", [each.strip() for each in re.split(r"[|\n]", REFUSED.strip())])
def test_what_cannot_be_shown(placed: Path, words: str) -> None:
    given = shlex.split(words)
    refused(judge("show", *([] if words == "nowhere" else [placed]), *given))


def supported(result: SampleResult, label: str) -> set[int]:
    return {each.index for each in result.sentences if support_of(each) == label}


def general(result: SampleResult) -> bool:
    return any(flag.sentence is None for flag in result.flags)


# Filters, and the number of answers or sentences that they find in an answer.
LISTS: list[tuple[str, Callable[[SampleResult], int]]] = [
    ("--support none", lambda r: len(supported(r, "none"))),
    ("--status abstained", lambda r: r.status == "abstained"),
    ("--status valid", lambda r: len({c.sentence for c in r.citations if c.status == "valid"})),
    ("--flag injection_suspected", general),
    (
        "--support unscored --flag injection_suspected",
        lambda r: general(r) and len(supported(r, "undecided")),
    ),
    (
        "en-leave-partial --support unscored",
        lambda r: r.qid == "en-leave-partial" and len(supported(r, "undecided")),
    ),
]


@pytest.mark.parametrize(("options", "count"), LISTS)
def test_lists_hold_what_the_results_hold(
    run: Path, options: str, count: Callable[[SampleResult], int]
) -> None:
    expected = sum(map(count, results(run)))
    assert expected
    ran = judge("show", run, *options.split())
    assert re.search(rf"^{expected} found in ", ran.out, flags=re.MULTILINE)
