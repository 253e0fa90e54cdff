import csv
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import JsonValue
from scipy import stats

from tests.cli.test_retrieval import line, refused
from tests.commands import judge, write

Lines = list[Mapping[str, JsonValue]]


def at(ranks: Sequence[int]) -> Lines:
    """Return queries with one relevant chunk each, at these ranks."""
    return [line(f"q{n}", *(f"x{i}" for i in range(1, rank)), "a") for n, rank in enumerate(ranks)]


RNG = random.Random(17)  # noqa: S311  no secret
ONE = [RNG.choice((1, 2, 3, 4, 5)) for _ in range(50)]
# Each query a rank better in half of the cases, and worse in some.
TWO = [max(1, rank - RNG.choice((0, 1, 1, 1, 0, -1))) for rank in ONE]


def compared(*words: object) -> dict[str, Any]:
    ran = judge("retrieval", *words, "--json")
    assert ran.code == 0, ran.err
    return {run["name"]: run for run in json.loads(ran.out)["runs"]}


def test_paired_differences_are_scipys(tmp_path: Path) -> None:
    one, two = write(tmp_path / "dense.jsonl", at(ONE)), write(tmp_path / "hybrid.jsonl", at(TWO))
    runs = compared(one, two, "-k", 3)
    here, there = 1 / np.array(TWO), 1 / np.array(ONE)
    expected = stats.ttest_rel(here, there)
    found = runs["hybrid"]["differences"]["mrr"]
    assert found["difference"] == pytest.approx((here - there).mean())
    assert found["p"] == pytest.approx(expected.pvalue, rel=1e-6)
    limits = (found["interval"]["low"], found["interval"]["high"])
    assert limits == pytest.approx(tuple(expected.confidence_interval()), abs=5e-4)
    assert found["gain"] == pytest.approx(here.mean() / there.mean() - 1)
    assert (found["queries"], found["higher"]) == (50, int((here > there).sum()))
    # An unpaired test finds no difference.
    assert expected.pvalue < 0.05 < stats.ttest_ind(here, there).pvalue
    assert runs["dense"]["differences"] == {}


def test_queries_that_are_not_the_same(tmp_path: Path) -> None:
    one = at([1, 2, 3])
    two: Lines = [*one[:2], {**one[2], "gold_evidence": ["a", "b"]}]
    files = [write(tmp_path / f"{n}.jsonl", lines) for n, lines in enumerate((one, two, at([1])))]
    runs = compared(*files)
    assert runs["1"]["listed"] == {"gold_differs": ["q2"]}
    assert runs["2"]["listed"] == {"only_first": ["q1", "q2"]}
    strangers = write(tmp_path / "s.jsonl", [{**each, "qid": f"s{each['qid']}"} for each in one])
    runs = compared(files[0], strangers)
    assert set(runs["s"]["differences"].values()) == {None}
    assert runs["s"]["mismatches"] == {"only_here": 3, "only_first": 3}


def test_runs_are_named_by_file_or_by_option(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
    one, two = (
        write(tmp_path / "x" / "r.jsonl", at(ONE)),
        write(tmp_path / "y" / "r.jsonl", at(TWO)),
    )
    double = write(tmp_path / "double.jsonl", [*at(ONE), *at(TWO)])
    rows = {
        (one, two): [str(one), str(two)],
        ("--run", f"dense={one}", "--run", f"hybrid={two}"): ["dense", "hybrid"],
        (one, "--run", f"hybrid={two}"): ["r", "hybrid"],
    }
    found = {words: compared(*words) for words in rows}
    assert {words: list(runs) for words, runs in found.items()} == rows
    means = [[run["report"]["mean"] for run in runs.values()] for runs in found.values()]
    assert means.count(means[0]) == len(rows)
    ran = judge("retrieval", one, "--run", f"hybrid={two}", "-o", tmp_path / "rows.csv")
    assert ran.code == 0
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)].count("hybrid") == 50
    empty = write(tmp_path / "empty.jsonl", [])
    refusals = {
        (one, one): "two runs are called",
        (double,): "is already on line 1; make each qid unique",
        (one, "--run", two): "name samples or TREC files, not both",
        ("--run", two): "name a file of samples, or --qrels and --run together",
        ("--run", f"a={one}", "--run", f"a={two}"): "two runs are called 'a'",
        ("--qrels", "-", "--run", "a=-", "--run", f"b={one}"): "- is named twice",
        (one, empty): "empty.jsonl: holds no sample",
        (one, two, "--use", "faq"): "--use is for one run",
        (one, "--measures", "mrr"): "--measures is for several runs",
        (one, two, "--measures", "mrr@7"): "'mrr@7' is not measured",
        ("--qrels", one, "--run", two, "--gold", one): "--gold is for files of samples",
    }
    for words, said in refusals.items():
        refused(judge("retrieval", *words), said)


def test_trec_runs_share_their_qrels_and_gates_hold_each_run(tmp_path: Path) -> None:
    (tmp_path / "Q").write_text("q1 0 a 1\nq2 0 a 1\n", "utf-8")
    (tmp_path / "R").write_text("q1 Q0 b 1 2 t\nq2 Q0 a 1 2 t\nq1 Q0 a 1 1 t\n", "utf-8")
    (tmp_path / "S").write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n", "utf-8")
    words = ("--qrels", tmp_path / "Q", "--run", f"bm25={tmp_path / 'R'}", "--run", tmp_path / "S")
    runs = compared(*words)
    assert {name: run["report"]["mean"]["mrr"] for name, run in runs.items()} == {
        "bm25": 0.75,
        "S": 1,
    }
    ran = judge("retrieval", *words, "--fail-under", "mrr=0.8")
    assert ran.code == 1
