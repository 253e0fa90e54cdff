import json
from pathlib import Path

import pytest

from judge.cli.app import main

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def judge(*words: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert judge("score", FIXTURES / "quickstart.jsonl", "-o", tmp_path / "run") == 0
    capsys.readouterr()
    return tmp_path / "run"


def test_every_answer_of_the_quickstart(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (FIXTURES / "quickstart.jsonl").read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        assert judge("show", run, sample["qid"]) == 0
        out = capsys.readouterr().out
        shown = "".join(out.split())
        assert sample["qid"] in out
        assert "".join(sample["query"].split()) in shown
        assert "made by similarity:" in out


def test_without_a_name_the_worst(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = map(json.loads, (run / "results.jsonl").read_text(encoding="utf-8").splitlines())
    scores = {r["qid"]: r["scores"]["faithfulness"] for r in results}
    least = min(score for score in scores.values() if score is not None)
    assert judge("show", run) == 0
    assert scores[capsys.readouterr().out.split()[0]] == least


def test_without_the_input_quotes_stand_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.jsonl"
    chunk = {"chunk_id": "a", "text": "Notice. Rooms cost 500 yuan at most, breakfast included."}
    answer = "Rooms cost 500 yuan at most, breakfast included."
    source.write_text(json.dumps({"qid": "x", "answer": answer, "chunks": [chunk]}) + "\n")
    assert judge("score", source, "-o", tmp_path / "run") == 0
    source.unlink()
    capsys.readouterr()
    assert judge("show", tmp_path / "run", "x") == 0
    assert "a  «" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [(["nowhere"], "no such run folder"), (["RUN", "no-such-qid"], "no answer 'no-such-qid'")],
)
def test_what_is_not_there(
    run: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert judge("show", *(run if word == "RUN" else word for word in words)) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_run_without_a_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.jsonl").write_text('{"qid": "x", "answer": "", "chunks": []}\n')
    assert judge("score", tmp_path / "in.jsonl", "-o", tmp_path / "run") == 0
    capsys.readouterr()
    assert judge("show", tmp_path / "run") == 2
    assert "no answer claims anything" in capsys.readouterr().err
    assert judge("show", tmp_path / "run", "x") == 0
    assert "(an empty answer)" in capsys.readouterr().out
