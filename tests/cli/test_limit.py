"""`judge score --limit`: a part of a file, drawn, said, and the same again."""

from pathlib import Path

import pytest

from judge.inputs.runs import origins, read_record, read_summary
from tests.commands import judge, line, results, write

ANSWERS = 30


@pytest.fixture
def samples(place: Path) -> Path:
    lines = [line(f"q{n}", f"Room {n} opens at seven.") for n in range(ANSWERS)]
    return write(place / "in.jsonl", lines)


def qids(run: str) -> list[str]:
    return [result.qid for result in results(Path(run))]


def test_a_part_is_drawn_and_said(samples: Path) -> None:
    assert judge("score", samples, "-o", "ten", "--limit", 10).code == 0
    ten = qids("ten")
    assert len(ten) == 10
    assert sorted(ten, key=lambda qid: int(qid[1:])) == ten, "in the order of the file"
    assert ten != [f"q{n}" for n in range(10)], "and no mere beginning of it"
    made_from, summary = read_record("ten").input, read_summary("ten")
    assert (made_from.samples, made_from.drawn_from) == (10, ANSWERS)
    assert (summary.answers, summary.drawn_from) == (10, ANSWERS)
    assert [sample.qid for sample, _ in origins(Path("ten"))] == ten
    assert judge("show", "ten", ten[-1]).code == 0
    assert judge("score", samples, "-o", "twenty", "--limit", 20, "--lang", "zh").code == 0
    assert set(ten) < set(qids("twenty")), "a larger draw has the same ones"
    assert judge("score", samples, "-o", "again", "--limit", 10).code == 0
    assert qids("again") == ten


def test_an_unfinished_run_is_not_gone_on_with_as_another_draw(samples: Path) -> None:
    assert judge("score", samples, "-o", "run", "--limit", 10).code == 0
    run = Path("run")
    kept = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").unlink()
    (run / "results.jsonl.part").write_bytes(b"".join(kept[:4]))
    record = read_record(run)
    (run / "run.json").write_text(record.model_copy(update={"finished": None}).model_dump_json())
    assert judge("score", samples, "-o", "run", "--limit", 11).code == 2
    assert judge("score", samples, "-o", "run", "--limit", 10).code == 0
    assert (read_summary(run).answers, read_record(run).resumed) == (10, 4)
    assert judge("score", samples, "-o", "run", "--limit", 0).code == 2
