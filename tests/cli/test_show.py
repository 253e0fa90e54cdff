import json
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest

from judge.cli.app import main
from judge.records.quadrant import QuadrantWord

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


@pytest.fixture
def placed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    run = tmp_path / "run"
    assert judge("score", FIXTURES / "cells.jsonl", "--correctness", "-o", run) == 0
    capsys.readouterr()
    return run


def shown(out: str) -> list[str]:
    """The answers shown, in order: the names of the fixture's lines."""
    lines = (FIXTURES / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    names = [json.loads(line)["qid"] for line in lines]
    return [word for word in out.split() if word in names]


def test_the_answers_of_a_cell_one_after_another(
    placed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["retrieved-faithful-wrong", "retrieved-unfaithful-wrong"]
    words: list[object] = ["show", placed, "--cell", "wrong,retrieved"]
    for number, qid in enumerate(wanted, start=1):
        assert judge(*words) == 0
        out = capsys.readouterr().out
        assert shown(out) == [qid]
        assert f"{number} of 2 in retrieved,wrong\n" in out
        _, found, command = out.partition("\nnext: judge ")
        words = list(command.split())
        assert bool(found) is (number < 2)
    assert judge("show", placed, "--cell", "silent", "-n", 2, "--skip", 1) == 0
    out = capsys.readouterr().out
    assert shown(out) == ["missed-silent", "unanswerable-silent"]
    assert out.endswith("2 to 3 of 3 in silent\n")
    assert judge("show", placed, "--cell", "retrieved", "-n", 2) == 0
    assert capsys.readouterr().out.endswith("--cell retrieved -n 2 --skip 2\n")


def test_why_an_answer_stands_in_its_cell(placed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("show", placed, "--cell", "unfaithful,wrong,missed") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Who founded Harrow & Pell?" in out
    assert "cell answerable, missed, answered, unfaithful, wrong: " in out
    assert "(retrieval is broken)" in out
    assert "Agnes Harrow and Tom Pell." in out
    assert "missed history#1" in out
    assert judge("show", placed, "retrieved-faithful-correct", "--cell", "correct") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "(neither half is broken)" in out
    assert "found leave#1" in out


def test_the_reference_is_shown_where_it_was_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [f"文档{number}" for number in range(12)]
    sample = {
        "qid": "x",
        "answer": "十元。",
        "chunks": [{"chunk_id": "文档1#2", "text": "十元。"}],
        "gold_answer": "每人十元。",
        "gold_evidence": ids,
    }
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(sample) + "\n")
    assert judge("score", source, "-o", tmp_path / "run", "--gold-match", "prefix") == 0
    capsys.readouterr()
    assert judge("show", tmp_path / "run") == 0
    out = capsys.readouterr().out
    assert "reference  每人十元。\n" in out
    assert "found      文档1\n" in out
    assert "文档0, 文档2" in out
    assert "and 1 more\n" in out
    source.unlink()
    assert judge("show", tmp_path / "run", "--cell", "retrieved") == 0
    out = capsys.readouterr().out
    assert "cell       answerable, retrieved, answered" in out
    assert "每人十元" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cell", ""], "--cell '' names no word; there are: answerable, "),
        (["--cell", "sound"], "no word 'sound'; there are: answerable, "),
        (["--cell", "faithful,unfaithful"], "no answer is both 'faithful' and 'unfaithful'"),
        (["--cell", "wrong", "--skip", "6"], "--skip 6 leaves none of 4 answers in wrong"),
        (["retrieved-abstained", "--cell", "missed"], "it is answerable, retrieved, abstained"),
        (["no-such-qid", "--cell", "missed"], "no answer 'no-such-qid'"),
        (["retrieved-abstained", "--cell", "retrieved", "-n", "2"], "without a QID"),
        (["--skip", "1"], "go with --cell"),
    ],
)
def test_what_cannot_be_walked_through(
    placed: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert judge("show", placed, *words) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_the_next_command_can_be_pasted_whatever_the_folder_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "today's run"
    assert judge("score", FIXTURES / "cells.jsonl", "-o", run) == 0
    capsys.readouterr()
    assert judge("show", run, "--cell", "retrieved", "--lang", "zh") == 0
    _, _, command = capsys.readouterr().out.partition("\nnext: judge ")
    words = shlex.split(command)
    assert words == ["show", str(run), "--cell", "retrieved", "--lang", "zh", "--skip", "1"]
    assert judge(*words) == 0


def test_a_cell_is_read_in_chinese_too(placed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("show", placed, "--cell", "missed，abstained", "--lang", "zh") == 0
    assert "检索有问题" in "".join(capsys.readouterr().out.split())


def test_help_lists_every_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("show", "--help") == 0
    told = set(re.findall(r"\w+", capsys.readouterr().out))
    assert told >= set(get_args(QuadrantWord))


def score(folder: Path, *samples: dict[str, object], flags: tuple[str, ...] = ()) -> Path:
    """A run of these samples, which stand beside it."""
    lines = (json.dumps(sample) + "\n" for sample in samples)
    (folder / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    assert judge("score", folder / "in.jsonl", "-o", folder / "run", *flags) == 0
    return folder / "run"


PAID: dict[str, object] = {
    "qid": "x",
    "answer": "It is paid.",
    "chunks": [{"chunk_id": "a", "text": "It is paid."}],
}


def test_evidence_that_was_seen_in_part_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = score(tmp_path, PAID | {"gold_evidence": ["a", "b"]})
    assert judge("show", run, "x") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "part of the gold was missed: retrieval may be at fault" in out
    assert "found a missed b" in out
    assert judge("show", run, "x", "--lang", "zh") == 0
    assert "只检索到部分标注证据" in "".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"gold_evidence": ["a"]}, {"gold_evidence": ["b"]}),
        ({"gold_evidence": ["b"]}, {"relevance": {"a": 1}}),
        ({"gold_evidence": ["a"]}, {"gold_evidence": ["a", "b"]}),
        ({"gold_evidence": ["a", "b"]}, {"gold_evidence": ["a"]}),
        ({"gold_evidence": ["b"]}, {}),
        ({"gold_evidence": []}, {"gold_evidence": ["b"]}),
    ],
)
def test_gold_that_has_changed_since_is_not_listed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    run = score(tmp_path, PAID | before)
    (tmp_path / "in.jsonl").write_text(json.dumps(PAID | after) + "\n")
    capsys.readouterr()
    assert judge("show", run, "x") == 0
    out = capsys.readouterr().out
    assert "gold       gold or chunks in the input have changed since\n" in out
    assert "\nfound " not in out
    assert "\nmissed " not in out
    assert judge("show", run, "x", "--lang", "zh") == 0
    assert "输入中的标注或片段此后改动过" in capsys.readouterr().out


def test_ids_beside_a_reference_that_abstains_are_no_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = {"gold_evidence": ["b"], "gold_answer": "The documents do not say."}
    assert judge("show", score(tmp_path, PAID | gold), "x") == 0
    out = capsys.readouterr().out
    assert "unanswerable" in out
    assert "missed     b\n" in out
    assert "changed since" not in out


def test_gold_that_contradicts_itself_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = score(tmp_path, PAID | {"gold_evidence": [], "gold_answer": "It is paid."})
    out = " ".join(capsys.readouterr().out.split())
    assert "flags 1: 1 conflicting gold" in out
    assert "left out: 1 whose gold contradicts itself" in out
    assert "(x). Name the chunks" in out
    assert judge("show", run, "x") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "flags conflicting_gold" in out
    assert "no cell gold contradicts itself: it names no relevant chunk" in out
    assert judge("show", run, "x", "--cell", "retrieved") == 2
    assert "in no cell: gold contradicts itself: it names no" in capsys.readouterr().err


def test_long_ids_are_clipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunk = {"chunk_id": "长" * 3000, "text": "It is paid."}
    gold: dict[str, object] = {"chunks": [chunk], "gold_evidence": ["长" * 3000, "b" * 3000]}
    assert judge("show", score(tmp_path, PAID | gold), "x") == 0
    out = capsys.readouterr().out
    assert f"missed     {'b' * 39}…\n" in out
    assert "长" * 39 + "…" in "".join(out.split())


def test_a_run_in_which_nothing_had_a_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = score(tmp_path, PAID | {"gold_evidence": ["a"]}, flags=("--correctness",))
    capsys.readouterr()
    assert judge("show", run, "--cell", "wrong") == 2
    err = capsys.readouterr().err
    assert "no answer is wrong; no answer has a reference to be compared with: gold_answer" in err


def test_a_cell_without_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (FIXTURES / "cells.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "in.jsonl").write_text("".join(lines[:3]), encoding="utf-8")
    assert judge("score", tmp_path / "in.jsonl", "-o", tmp_path / "run") == 0
    capsys.readouterr()
    assert judge("show", tmp_path / "run", "--cell", "missed") == 2
    err = capsys.readouterr().err
    assert err.endswith("run: no answer is missed\n")
    assert judge("show", tmp_path / "run", "--cell", "wrong,retrieved") == 2
    err = capsys.readouterr().err
    assert "no answer is retrieved,wrong; whether answers are correct was not asked" in err
    assert err.count("\n") == 1


def test_a_run_without_gold_has_no_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert judge("score", FIXTURES / "samples.csv", "-o", run) == 0
    qid = json.loads((run / "results.jsonl").read_text(encoding="utf-8").splitlines()[0])["qid"]
    capsys.readouterr()
    for words in (["--cell", "retrieved"], [qid, "--cell", "abstained"]):
        assert judge("show", run, *words) == 2
        err = capsys.readouterr().err
        assert "gold_evidence or relevance" in err
        assert "or the run is older: score again with --force" in err
        assert err.count("\n") == 1
    assert judge("show", run, qid) == 0
    assert "\ncell " not in capsys.readouterr().out
