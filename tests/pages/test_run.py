"""A run in Python: opened, read, explained, as a DataFrame."""

import json
import math
from pathlib import Path

import pytest

from judge import ConfigError, Run, RunError, Sample, read_run
from judge.inputs.runs import RECORD, RESULTS, SUMMARY
from judge.records.run import RunRecord
from tests.commands import judge

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run") / "run"
    assert judge("score", FIXTURES / "quickstart.jsonl", "-o", made).code == 0
    return made


def test_a_run_is_its_results(folder: Path) -> None:
    run = Run.open(folder)
    lines = (folder / RESULTS).read_text("utf-8").splitlines()
    qids = [json.loads(each)["qid"] for each in lines]
    assert [result.qid for result in run] == qids == [result.qid for result in run]
    assert len(run) == len(qids) == 16
    assert run[qids[3]].qid == qids[3] in run
    assert "no-such" not in run
    assert run.summary is not None
    assert run.summary.answers == run.record.input.samples == 16
    assert isinstance(read_run(str(folder)), Run)
    with pytest.raises(RunError, match="no answer 'no-such'"):
        run["no-such"]
    with pytest.raises(RunError, match=r"no answer 3$"):
        run[3]  # type: ignore[index]  # a number, and no qid
    sample = run.sample(qids[3])
    assert sample is not None
    assert sample.qid == qids[3]
    with pytest.raises(ConfigError):
        run.to_pandas("words")  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        run["en-router-world"].explain(Sample(qid="en-router-world", answer="Other."))


def test_an_unfinished_run_and_one_of_many_files_are_read(folder: Path, tmp_path: Path) -> None:
    lines = (folder / RESULTS).read_bytes().splitlines(keepends=True)
    record = RunRecord.model_validate_json((folder / RECORD).read_bytes())
    begun, spread = tmp_path / "begun", tmp_path / "spread"
    begun.mkdir()
    open_ = record.model_copy(update={"finished": None})
    (begun / RECORD).write_text(open_.model_dump_json(), encoding="utf-8")
    (begun / "results.jsonl.part").write_bytes(b"".join(lines[:5]))
    run = Run.open(begun)
    assert (len(run), len(list(run)), run.summary) == (5, 5, None)
    assert judge("export", begun, "--csv", tmp_path / "x.csv").code == 2
    (spread / "results").mkdir(parents=True)
    (spread / RECORD).write_text(record.model_dump_json(), encoding="utf-8")
    (spread / SUMMARY).write_bytes((folder / SUMMARY).read_bytes())
    (spread / "results" / "0.jsonl").write_bytes(b"".join(lines[:9]))
    (spread / "results" / "1.jsonl").write_bytes(b"".join(lines[9:]))
    assert [each.qid for each in Run.open(spread)] == [each.qid for each in Run.open(folder)]
    assert judge("export", spread, "--json", "-").code == 0


def test_a_run_is_a_frame_of_its_sentences_or_answers(folder: Path) -> None:
    pytest.importorskip("pandas")
    run = Run.open(folder)
    assert run.summary is not None
    sentences, answers = run.to_pandas(), run.to_pandas("answers")
    assert sentences.shape[0] == sum(len(result.sentences) for result in run)
    # pandas comes to the totals of the summary, for it knows what is no number.
    score = run.summary.faithfulness
    assert score is not None
    assert math.isclose(answers["faithfulness"].mean(), score.macro)
    assert answers["claims"].sum() == run.summary.claims
    judged = run.summary.claims - sum(run.summary.unscored.values())
    assert sentences["support"].notna().sum() == judged
    assert answers["correctness"].isna().all()
