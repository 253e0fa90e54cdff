import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.cli.measured import of_run, of_samples
from judge.errors import ConfigError, InputError
from judge.retrieval.records import RankRules
from tests.commands import write

RULES = RankRules(ks=(1, 3))
LINE: dict[str, JsonValue] = {"qid": "q1", "retrieved": ["a", "b", "c"], "gold_evidence": ["b"]}


def test_samples_are_measured_and_each_query_is_written_down(tmp_path: Path) -> None:
    source, rows = write(tmp_path / "in.jsonl", [LINE]), tmp_path / "rows.jsonl"
    report = of_samples(str(source), RULES, 5, str(rows), skip_bad_lines=False)
    assert (report.mean["hit@1"], report.mean["hit@3"], report.mean["mrr"]) == (0, 1, 0.5)
    (row,) = map(json.loads, rows.read_text("utf-8").splitlines())
    assert (row["qid"], row["rr"]) == ("q1", 0.5)


def test_bad_lines_are_told_of_in_the_report(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [LINE, {**LINE, "qid": "q2", "retrieved": 7}])
    report = of_samples(str(source), RULES, 5, None, skip_bad_lines=True)
    assert "lines that are no samples, and so left out: 1" in report.warnings
    with pytest.raises(InputError, match="line 2"):
        of_samples(str(source), RULES, 5, None, skip_bad_lines=False)


def test_a_run_is_measured_by_its_qrels(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 b 1\n", "utf-8")
    run.write_text("q1 Q0 a 1 .9 x\nq1 Q0 b 2 .8 x\n", "utf-8")
    assert of_run(str(qrels), str(run), RULES, 5, None).mean["mrr"] == 0.5


def test_standard_input_is_one_file() -> None:
    with pytest.raises(ConfigError, match="standard input is one file"):
        of_run("-", "-", RULES, 5, None)
