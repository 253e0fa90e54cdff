"""`judge score`: its folders, gates and exit codes, a part of a file, and what it would cost."""

import io
import json
import re
from pathlib import Path

import pytest

from judge.inputs.runs import origins, read_record, read_results, read_summary
from tests.commands import CHUNKS, judge, line, results, write
from tests.server import JudgeServer, refused_url

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
QUICKSTART = FIXTURES / "quickstart.jsonl"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five answers of the quickstart, three with an error: all sixteen take half a second."""
    path = tmp_path_factory.mktemp("few") / "few.jsonl"
    rows = QUICKSTART.read_text("utf-8").splitlines(keepends=True)[:5]
    path.write_text("".join(rows), encoding="utf-8")
    return path


@pytest.mark.no_cover
def test_the_quickstart_and_other_spellings_of_the_input(tmp_path: Path) -> None:
    names = ("ragas.jsonl", "aliases.jsonl", "samples.csv", "samples_columns.csv")
    for name in (QUICKSTART.name, *names):
        ran = judge("score", FIXTURES / name, "-o", tmp_path / name)
        assert ran.code == 0, ran.err
    assert len(list(read_results(tmp_path / QUICKSTART.name))) == 16
    assert read_summary(tmp_path / QUICKSTART.name).unscored.keys() <= {"undecided"}


def test_the_folder_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "...jsonl", [line("1", "It opens at seven.")])  # no folder above this one
    shapes = FIXTURES / "shapes"
    names: dict[object, str] = {
        FIXTURES / "samples.csv": "samples",
        shapes / "[n-q]*.feather": "n-q",
        FIXTURES / "s*.csv": "s",
    }
    for source, folder in (names | {"...jsonl": "run"}).items():
        assert judge("score", source, "--force").code == 0, source
        assert (tmp_path / "runs" / folder / "summary.json").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"...jsonl", "runs"}


def test_exit_codes(tmp_path: Path, few: Path) -> None:
    gated = {
        "faithfulness=0.01": 0,
        "faithfulness=1": 1,
        "faithfulness=0.01 --fail-under coverage=1": 1,
        "faithfulness=0.7 --strict-gate": 1,
        "faithfulness=0.01 --judge similarity": 0,
        "faithfulness=0.01 --expect similarity": 0,
        "faithfulness=0.01 --expect llm": 2,
        "faithfulness=0.01 --fail-over contradiction_rate=1": 0,
        "contradiction_rate=0.5": 2,
        "faithfulness_with_fallback=0.1": 3,
        "faithfulnes=0.9": 2,
        "faithfulness=high": 2,
        "correctness=0.7": 2,
        "correctness_recall=0.7 --no-correctness": 2,
    }
    rows = {f"--fail-under {gate}": code for gate, code in gated.items()}
    rows |= {"--prior 2": 2, "--citation-pattern (": 2, "--no-such-option": 2}
    found = {}
    for number, options in enumerate(rows):
        run = tmp_path / str(number)
        found[options], _, err = judge("score", few, "-o", run, *options.split())
        assert run.exists() is (found[options] != 2)
        # Without --judge or --expect, a note says which judge is gated.
        silent = {"--judge", "--expect"} & {*options.split()} and found[options] != 2
        assert err.count("judge: ") == (0 if silent else 1)
    assert found == rows


def test_gates_and_their_outcome_stand_in_the_summary(tmp_path: Path) -> None:
    words = "--judge similarity --fail-under faithfulness=0.999 --fail-over contradiction_rate=0"
    lines = [line("1", "Green cheese covers Jupiter."), line("2", CHUNKS[0])]
    source = write(tmp_path / "in.jsonl", lines)
    ran = judge("score", source, "-o", tmp_path / "run", *words.split())
    found = json.loads((tmp_path / "run" / "summary.json").read_text())
    first, second = found["gates"]
    assert (first["name"], first["side"], first["bound"]) == ("faithfulness", "least", 0.999)
    assert (first["value"], first["passed"]) == (found["faithfulness"]["macro"], False)
    assert (second["name"], second["side"]) == ("contradiction_rate", "most")
    assert second["value"] == found["contradiction_rate"]["macro"]
    assert ran.code == 1
    strict = ("--fail-over", "contradiction_rate=0.9", "--strict-gate", "--force")
    ran = judge("score", source, "-o", tmp_path / "run", "--judge", "similarity", *strict)
    (gate,) = read_summary(tmp_path / "run").gates
    # Wilson's upper limit of 1 in 2, and of 0 in 2, with t(1) = 12.706.
    assert gate.value == pytest.approx(0.9969 if second["value"] else 0.9878, abs=1e-4)


def samples(folder: Path, *answers: tuple[str, str, str | None]) -> Path:
    lines = [line(qid, said, [said]) | {"gold_answer": gold} for qid, said, gold in answers]
    return write(folder / "in.jsonl", lines)


@pytest.mark.no_cover
def test_refusing_passes_no_gate_on_all_questions(tmp_path: Path) -> None:
    """54 of 60 abstain from questions that have an answer: only those who answer are faithful."""
    gates = {
        "--fail-under faithfulness=0.9": (True, 1),
        "--fail-under correctness=0.9": (True, 1),
        "--fail-under correctness_recall_overall=0.9": (False, 0.1),
        "--fail-over hallucination_rate=0.1": (True, 0),
        "--fail-over abstention_rate_answerable=0.3": (False, 0.9),
    }
    options = f"--judge similarity --correctness --force {' '.join(gates)}"
    for right, refusal in (("It opens at seven.", "I don't know."), ("七点开门。", "不知道。")):
        answers = [(str(i), right if i < 6 else refusal, right) for i in range(60)]
        source = samples(tmp_path, *answers)
        assert judge("score", source, "-o", tmp_path / "run", *options.split()).code == 1
        held = read_summary(tmp_path / "run").gates
        assert [(gate.passed, gate.value) for gate in held] == list(gates.values())
        assert {gate.what for gate in held[:2]} == {"mean over 6 of 60 answers"}
    # The samples do not say which questions have an answer.
    source = samples(tmp_path, ("1", "I don't know.", None), ("2", "开门了。", " "))
    for gate in ("--fail-over abstention_rate_answerable=0.3", "--fail-under correctness=0"):
        words = ("--judge", "similarity", "--correctness", "--force", *gate.split())
        assert judge("score", source, "-o", tmp_path / "run", *words).code == 3


ROOMS = 30


@pytest.fixture
def rooms(place: Path) -> Path:
    lines = [line(f"q{n}", f"Room {n} is open. It has {n} seats.") for n in range(ROOMS)]
    return write(place / "in.jsonl", lines)


def qids(run: str) -> list[str]:
    return [result.qid for result in results(Path(run))]


def test_a_part_is_drawn_and_the_same_again(rooms: Path) -> None:
    assert judge("score", rooms, "-o", "ten", "--limit", 10).code == 0
    ten = qids("ten")
    assert len(ten) == 10
    assert sorted(ten, key=lambda qid: int(qid[1:])) == ten, "in the order of the file"
    assert ten != [f"q{n}" for n in range(10)], "and no mere beginning of it"
    made_from, summary = read_record("ten").input, read_summary("ten")
    assert (made_from.samples, made_from.drawn_from) == (10, ROOMS)
    assert (summary.answers, summary.drawn_from) == (10, ROOMS)
    assert [sample.qid for sample, _ in origins(Path("ten"))] == ten
    assert judge("show", "ten", ten[-1]).code == 0
    assert judge("score", rooms, "-o", "twenty", "--limit", 20, "--lang", "zh").code == 0
    assert set(ten) < set(qids("twenty")), "a larger draw has the same ones"
    assert judge("score", rooms, "-o", "again", "--limit", 10).code == 0
    assert qids("again") == ten


def test_an_unfinished_run_is_not_gone_on_with_as_another_draw(rooms: Path) -> None:
    assert judge("score", rooms, "-o", "run", "--limit", 10).code == 0
    run = Path("run")
    kept = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").unlink()
    (run / "results.jsonl.part").write_bytes(b"".join(kept[:4]))
    record = read_record(run)
    (run / "run.json").write_text(record.model_copy(update={"finished": None}).model_dump_json())
    assert judge("score", rooms, "-o", "run", "--limit", 11).code == 2
    assert judge("score", rooms, "-o", "run", "--limit", 10).code == 0
    assert (read_summary(run).answers, read_record(run).resumed) == (10, 4)
    assert judge("score", rooms, "-o", "run", "--limit", 0).code == 2


def numbers(out: str, name: str) -> list[float]:
    row = next(each for each in out.splitlines() if each.strip().startswith(name))
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,.]*", row)]


def test_a_forecast_leaves_out_what_is_kept_and_sends_nothing(
    rooms: Path, server: JudgeServer
) -> None:
    words = ("score", rooms, *server.words, "--input-price", 2, "--output-price", 8)
    ran = judge(*words, "--dry-run")
    assert ran.code == 0, ran.err
    assert (server.requests, Path("runs").exists()) == ([], False)
    assert numbers(ran.out, "answers") == [ROOMS, 2 * ROOMS, 0]
    assert numbers(ran.out, "calls") == [ROOMS]
    prompt, reply = numbers(ran.out, "tokens")
    assert numbers(ran.out, "cost")[0] == pytest.approx((2 * prompt + 8 * reply) / 1e6, rel=0.01)
    assert judge(*words).code == 0
    # It counted what the run then sent, to a fifth: a server has its own way to count.
    assert prompt == pytest.approx(server.prompt_tokens, rel=0.2)
    ran = judge(*words, "--dry-run")
    assert numbers(ran.out, "answers") == [ROOMS, 2 * ROOMS, 2 * ROOMS]
    assert (numbers(ran.out, "calls"), numbers(ran.out, "cost")) == ([0], [0])


def test_a_forecast_needs_no_server(rooms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--model", "m", "--base-url", refused_url(), "--dry-run", "--limit", 6, "--rpm", 2)
    ran = judge("score", rooms, *words, "--correctness", "--relevance")
    assert ran.code == 0, ran.err
    assert numbers(ran.out, "calls") == [12]  # no sample has a reference; each has a question
    assert numbers(ran.out, "minutes")[0] == 6
    # Nothing was requested, and nothing is remembered of what the server would have accepted.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rooms.read_bytes())))
    piped = judge("score", "-", *words)
    assert numbers(piped.out, "calls") == [6]
