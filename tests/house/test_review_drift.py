"""From labels to a golden set, and what another model makes of it, over real HTTP."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.review.flips import Drift
from judge.review.sheet import BLIND, read_sheet, write_sheet
from tests.asked import Asked
from tests.commands import Ran, judge, line, write
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import JudgeServer

TRUE = "The canteen opens at seven [1]."
FALSE = "The canteen is open on Sundays [1]."
ODD = "周末也营业，早餐免费。"
N = 6


def lenient(asked: Asked) -> Answer:
    """Says `full` of everything."""
    return Says(verdicts(asked))


def strict(asked: Asked) -> Answer:
    """Says `none` of what people call so."""
    wrong = {name: "none" for name, text in asked.sentences.items() if text.strip() != TRUE}
    return Says(verdicts(asked, "full", None, **wrong))


@pytest.fixture
def served() -> Iterator[Mapping[str, JudgeServer]]:
    with JudgeServer(lenient) as one, JudgeServer(strict) as two:
        yield {"lenient": one, "strict": two}


def told(server: JudgeServer, name: str) -> tuple[str, ...]:
    return ("--model", name, "--base-url", server.base_url)


def promoted(place: Path, *words: str) -> Path:
    """A golden set of 12 labels, judged with these settings."""
    samples = [line(f"问题{n}", f"{TRUE} {FALSE if n % 2 else ODD}") for n in range(N)]
    source, run, sheet = write(place / "in.jsonl", samples), place / "run", place / "review.csv"
    for ran in (
        judge("score", source, "-o", run, *words),
        judge("review", "draw", run, "-n", 100, "-o", sheet),
    ):
        assert ran.code == 0, ran.err
    # A person, who knows nothing of the verdicts.
    rows = [row.cells | {"reviewer": "李"} for row in read_sheet(sheet)]
    for row in rows:
        row["human_support"] = "full" if row["sentence"].strip() == TRUE else "不支持"
    write_sheet(sheet, rows, BLIND, "en")
    for ran in (
        judge("review", "import", run, sheet),
        judge("review", "promote", run, "-o", place / "golden.jsonl"),
    ):
        assert ran.code == 0, ran.err
    assert "12 labels on 6 answers\n" in ran.out
    return place / "golden.jsonl"


@pytest.fixture
def made(place: Path, served: Mapping[str, JudgeServer]) -> Path:
    """The lenient model has 6 of its labels right."""
    return promoted(place, *told(served["lenient"], "lenient"))


def drifted(made: Path, *words: object) -> tuple[Ran, Drift]:
    kept = made.with_name("drift.json")
    ran = judge("review", "drift", made, "-o", kept, "--force", *words)
    return ran, Drift.model_validate_json(kept.read_bytes())


@pytest.mark.no_cover
def test_a_better_model_has_flipped_six(made: Path, served: Mapping[str, JudgeServer]) -> None:
    ran, found = drifted(made, *told(served["strict"], "strict"), "--fail-worse", "0.05")
    assert ran.code == 0
    assert (found.labels, found.compared, found.scale) == (12, 12, "labels")
    assert (found.better, found.worse, len(found.flips)) == (6, 0, 6)
    assert found.p == pytest.approx(0.03125, abs=1e-12)  # 2 · ½⁶
    assert (found.agreement_then, found.agreement_now) == (0.5, 1.0)
    assert [name.startswith("llm:lenient@") for name in found.signatures_then] == [True]
    assert [name.startswith("llm:strict@") for name in found.signatures_now] == [True]
    assert "right       50.0 % then, 100.0 % now\n" in ran.out
    assert "flipped     0 worse, 6 better, 0 other; McNemar's exact p = 0.031" in ran.out
    assert ran.out.count("full → none, people: none\n") == 6
    assert "better: 问题1, sentence 2: full → none, people: none\n  The canteen is open" in ran.out


@pytest.mark.no_cover
def test_the_model_it_was_made_with_is_not_asked_again(
    made: Path, served: Mapping[str, JudgeServer]
) -> None:
    before = served["lenient"].calls
    ran, found = drifted(made, *told(served["lenient"], "lenient"), "--fail-worse", "1")
    assert (ran.code, served["lenient"].calls) == (0, before)
    assert (found.flips, found.p) == ((), 1.0)
    assert found.signatures_then == found.signatures_now


@pytest.mark.parametrize(("silent", "code"), [(2, 0), (3, 3)])
def test_two_without_a_verdict_are_an_accident(place: Path, silent: int, code: int) -> None:
    # 2 of 8 and 3 of 8 are far over the 5 % of --max-unscored.
    text = "It is open on day {}."
    answers: list[dict[str, JsonValue]] = []
    for number in range(8):
        said = text.format(number)
        label: dict[str, JsonValue] = {
            "sentence": 0,
            "start": 0,
            "end": len(said),
            "text": said,
            "support": "full",
            "supported": True,
            "reviewers": 1,
            "judged": "full",
            "signature": "llm:lenient",
        }
        answers.append(line(f"q{number}", said) | {"labels": [label]})
    made = write(place / "golden.jsonl", answers)
    broken = [text.format(number) for number in range(silent)]

    def failing(asked: Asked) -> Answer:
        said = [each.strip() for each in asked.sentences.values()]
        return Status(400, "no") if set(said) & set(broken) else lenient(asked)

    with JudgeServer(lambda a: right(a) if a.is_probe else failing(a)) as server:
        ran, found = drifted(made, *told(server, "some"))
    assert (found.unscored_now, found.compared, ran.code) == (silent, 8 - silent, code)
    assert ("untrusted: 37.5 % of the labels" in ran.out) == (code == 3)


def test_a_model_that_cannot_be_asked_leaves_nothing(made: Path) -> None:
    with JudgeServer(lambda _: Status(401, {"error": {"message": "no such key"}})) as shut:
        ran = judge("review", "drift", made, "-o", "drift.json", *told(shut, "shut"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert not made.with_name("drift.json").exists()
