import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.cli.progress import Told, score_into
from judge.config import Config
from judge.evaluator import Evaluator
from judge.files.runs import read_results
from judge.job import Job
from judge.protocols import Judge
from judge.records import JudgeRequest, Judgment, Support, Unscored, UnscoredReason, Verdict
from judge.reports.gate import parse_gate

FULL = Verdict(support=Support.FULL, source="llm", signature="s")
NONE = Verdict(support=Support.NONE, source="llm", signature="s")
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)


class Scripted:
    """Answers by the sentence; Ctrl-C comes where it says so."""

    signature = "scripted"

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes = {}
        for index in request.ask:
            text = request.sentences[index].text
            if "Ctrl-C" in text:
                raise KeyboardInterrupt
            outcomes[index] = TIMEOUT if "late" in text else NONE if "false" in text else FULL
        return Judgment(outcomes=outcomes)


def job(folder: Path, *answers: str, gold: str | None = None) -> Job:
    source = folder / "in.jsonl"
    lines: list[dict[str, JsonValue]] = [
        {"qid": f"q{i}", "answer": answer, "chunks": [], "gold_answer": gold}
        for i, answer in enumerate(answers)
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judge: Judge = Scripted()
    config = Config(concurrency=1, correctness=gold is not None)
    return Job(source, folder / "run", config, evaluator=Evaluator(config, judge=judge))


def score(job: Job, folder: Path, *gates: str, strict: bool = False, worst: int = 5) -> int:
    parsed = [parse_gate(gate) for gate in gates]
    return score_into(folder / "run", job, parsed, Told(strict=strict, worst=worst))


TRUE, FALSE = "It is paid.", "It is false."


@pytest.mark.parametrize(
    ("answers", "gates", "strict", "code"),
    [
        ([TRUE, FALSE], [], False, 0),
        ([TRUE, FALSE], ["faithfulness=0.5"], False, 0),
        ([TRUE, FALSE], ["faithfulness=0.5"], True, 1),
        ([TRUE, FALSE], ["faithfulness=0.6"], False, 1),
        ([TRUE], ["citation_validity=0.1"], False, 3),
        ([TRUE, FALSE, *["It is late."] * 3], ["faithfulness=0.9"], False, 3),
    ],
)
def test_exit_codes(
    tmp_path: Path, answers: list[str], gates: list[str], *, strict: bool, code: int
) -> None:
    assert score(job(tmp_path, *answers), tmp_path, *gates, strict=strict) == code
    assert len(list(read_results(tmp_path / "run"))) == len(answers)


def test_the_worst_are_printed_and_no_more_than_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(job(tmp_path, TRUE, FALSE, "False: false."), tmp_path, worst=1) == 0
    out, err = capsys.readouterr()
    assert "✗ none  q1 It is false." in out
    assert "q2" not in out
    assert f"look closer: judge show {tmp_path / 'run'} q1" in out
    assert err == ""


def test_none_of_the_worst_when_none_are_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(job(tmp_path, FALSE), tmp_path, worst=0) == 0
    out = capsys.readouterr().out
    assert "worst first" not in out
    assert "q0" not in out


def test_ctrl_c_keeps_what_was_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = [TRUE, TRUE, "It is Ctrl-C.", TRUE, TRUE]
    assert score(job(tmp_path, *answers), tmp_path) == 130
    out, err = capsys.readouterr()
    assert out == ""
    kept = len(list(read_results(tmp_path / "run")))
    assert err == (
        f"judge: interrupted; {kept} of 5 answers are kept; the same command goes on from there\n"
    )


@pytest.mark.parametrize(
    ("gold", "gates", "code"),
    [
        ("It is paid.", ["correctness=1"], 0),
        ("It is paid. It is false.", ["correctness_precision=1"], 0),
        ("It is paid. It is false.", ["correctness_recall=0.6"], 1),
        # Three of six claims fail, none of them by the chunks.
        ("It is late.", [], 3),
    ],
)
def test_exit_codes_with_correctness(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    gold: str,
    gates: list[str],
    code: int,
) -> None:
    made = job(tmp_path, TRUE, TRUE, TRUE, gold=gold)
    assert score(made, tmp_path, *gates) == code
    out = capsys.readouterr().out
    assert "Correctness against the reference" in out
    assert ("do not report correctness" in " ".join(out.split())) == (code == 3)
