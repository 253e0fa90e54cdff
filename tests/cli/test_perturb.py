import json
from pathlib import Path
from typing import Any

import pytest

from judge.retrieval.perturbation import VARIANTS
from tests.commands import judge, refused

Line = dict[str, Any]
TOPICS = ("notice", "library", "ferry", "pool", "garden", "lift")
ROWS: list[Line] = [
    {
        "qid": f"q{n}",
        "query": f"What of the {topic}?",
        "chunks": [
            {"chunk_id": f"{topic}#1", "text": f"The {topic} costs {n + 20} euros a year."},
            {"chunk_id": f"{topic}#2", "text": f"Nobody has seen a dog near the {topic}."},
            {"chunk_id": f"{topic}#3", "text": f"Rain fell on the {topic} all of last week."},
        ],
        "gold_answer": f"The {topic} costs {n + 20} euros a year.",
        "gold_evidence": [f"{topic}#1"],
    }
    for n, topic in enumerate(TOPICS)
]


def saved(path: Path, rows: list[Line]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def written(folder: Path, rows: list[Line], *words: object) -> list[Line]:
    source, path = saved(folder / "samples.jsonl", rows), folder / "variants.jsonl"
    ran = judge("perturb", source, "-o", path, "--force", *words)
    assert (ran.code, ran.err) == (0, ""), ran.err
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def answered(folder: Path, name: str, lines: list[Line], wrong: str, *words: object) -> Path:
    """A run over variants, whose answers are the gold ones, but for those to one variant."""
    rows = [line | {"answer": line["gold_answer"]} for line in lines]
    for row in rows:
        if row["variant"] == wrong:
            row["answer"] = "Green cheese covers Jupiter entirely."
    source = saved(folder / f"{name}.jsonl", rows)
    assert judge("score", source, "-o", folder / name, "--correctness", *words).code == 0
    return folder / name


def report(*words: object) -> Line:
    ran = judge("compare", *words, "--json")
    assert ran.code == 0, ran.err
    found: Line = json.loads(ran.out)["differences"][0]
    return found


def test_runs_over_variants_are_compared_by_variant(tmp_path: Path) -> None:
    lines = written(tmp_path, ROWS)
    assert len({line["qid"] for line in lines}) == len(lines) == 6 * len(ROWS)
    runs = [answered(tmp_path, f"but-{name}", lines, name) for name in ("none", "noise60")]
    slices = report(*runs, "--by", "variant")["slices"]
    found = {name: table["faithfulness"] for name, table in slices.items()}
    # An abstention, the gold answer of gold_removed, contains no claim.
    worse = {name: each and each["worse"] for name, each in found.items()}
    assert worse == dict.fromkeys(VARIANTS, 0) | {"noise60": 6, "gold_removed": None}
    assert slices["noise60"]["correctness_overall"]["worse"] == 6
    # One variant against another: a run each, by the question's own qid.
    runs = [
        answered(tmp_path, name, own, "noise60", "--map", "qid=qid_of")
        for name in ("original", "noise60")
        for own in [[line for line in lines if line["variant"] == name]]
    ]
    whole = report(*runs)
    assert (whole["common"], whole["reworded"]) == (6, 0)
    assert whole["scores"]["correctness_overall"]["worse"] == 6


WRONG = [
    ("s.jsonl", "-o", "out.csv"),
    ("s.jsonl", "-o", "s.jsonl"),
    ("s.jsonl", "-o", "there.jsonl"),
    ("s.jsonl", "-o", "o.jsonl", "--variants", "noise50"),
    ("double.jsonl", "-o", "o.jsonl"),
    ("empty.jsonl", "-o", "o.jsonl"),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_use_is_one_line_and_writes_nothing(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "s.jsonl", ROWS)
    saved(tmp_path / "double.jsonl", ROWS[:1] * 2)
    saved(tmp_path / "there.jsonl", [])
    saved(tmp_path / "empty.jsonl", [])
    refused(judge("perturb", *words))
    assert not Path("o.jsonl").exists()
