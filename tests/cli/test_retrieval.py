import csv
import gzip
import io
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import JsonValue
from scipy import stats

from tests.commands import Ran, judge, refused, write

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

QRELS = "q1 0 a 1\nq1 0 b 2\nq1 0 c 0\nq2 0 a 1\n"
RUN = "q1 Q0 c 1 0.5 t\nq1 Q0 b 2 0.5 t\nq1 Q0 a 3 0.9 t\nq2 Q0 x 1 1 t\nq2 Q0 a 2 0.5 t\n"


def line(qid: str, *ids: str, gold: tuple[str, ...] = ("a",)) -> dict[str, JsonValue]:
    return {"qid": qid, "query": f"问 {qid}", "retrieved": list(ids), "gold_evidence": list(gold)}


def good(tmp_path: Path) -> Path:
    lines = [line("q1", "b", "a"), line("q2", "a"), line("q3", "x", "y", gold=("z",))]
    return write(tmp_path / "in.jsonl", lines)


def trec(tmp_path: Path, qrels: str = QRELS, run: str = RUN) -> tuple[str, ...]:
    (tmp_path / "Q").write_text(qrels, "utf-8")
    (tmp_path / "R").write_text(run, "utf-8")
    return ("retrieval", "--qrels", str(tmp_path / "Q"), "--run", str(tmp_path / "R"))


def means(ran: Ran) -> Mapping[str, float]:
    assert ran.code == 0, ran.err
    found: Mapping[str, float] = json.loads(ran.out)["mean"]
    return found


def test_cut_offs_are_told_apart_and_put_in_order(tmp_path: Path) -> None:
    found = json.loads(judge("retrieval", good(tmp_path), "-k", " 10，1, 10", "--json").out)
    assert [name for name in found["mean"] if name.startswith("hit")] == ["hit@1", "hit@10"]
    assert (found["mean"]["mrr"], found["worst"][0]["missed"]["chunk_id"], found["schema"]) == (
        0.5,
        "z",
        4,
    )
    deepest = means(judge("retrieval", good(tmp_path), "-k", "1000000000", "--json"))
    assert deepest["recall@1000000000"] == pytest.approx(2 / 3)


# Three queries rank their chunk first, second, and not at all: MRR is (1 + 1/2) / 3.
GATED = {
    "--fail-under mrr=0.5": 0,
    "--fail-under recall@5=0.7": 1,
    # Wilson's interval of 2/3, effective n = 3 and t(2) = 4.303: its lower limit is .08.
    "--fail-under recall@5=0.6 --strict-gate": 1,
    "--fail-under mrr=0.4 --fail-under hit@1=0.4": 1,
    "--use documents": 0,
    "--fail-under recall@7=0.1": 2,
    "--fail-under mrr=2": 2,
    "--strict-gate": 2,
}


def test_gates_of_means(tmp_path: Path) -> None:
    source = good(tmp_path)
    for words, code in GATED.items():
        ran = judge("retrieval", source, *words.split())
        if code == 2:
            refused(ran)
        else:
            assert (ran.code, ran.err) == (code, ""), words


def test_levels_gains_and_gold_by_document(tmp_path: Path) -> None:
    assert means(judge(*trec(tmp_path), "--json", "--relevance-level", 2))["mrr"] == 1 / 3
    # Grade 1 before grade 2, of 3 points at most; and nothing.
    assert means(judge(*trec(tmp_path), "--json", "--gain", "exp2"))["ndcg@1"] == 1 / 3 / 2
    source = write(tmp_path / "in.jsonl", [line("q", "docB#1", "文档#3", gold=("文档",))])
    assert means(judge("retrieval", source, "--gold-match", "prefix", "--json"))["mrr"] == 0.5


def test_bad_samples_are_one_line_and_leave_no_rows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    refused(judge("retrieval", FIXTURES / "overlap.jsonl", "-o", rows), "says what is relevant")
    source = write(tmp_path / "in.jsonl", [{"retrieved": ["a"], "relevance": {"a": 1e400}}])
    refused(judge("retrieval", source, "-o", rows), "in.jsonl, line 1, field 'relevance.a'")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


BAD_WORDS: list[tuple[object, ...]] = [
    *(("-k", k) for k in ("0", "a", "1,,2", "1000000001")),
    ("--relevance-level=nan",),
    ("--use", "news"),
    ("--use", "faq", "--json"),
]


def test_bad_options_are_one_line(tmp_path: Path) -> None:
    source, asked = good(tmp_path), trec(tmp_path)
    for words in BAD_WORDS:
        refused(judge("retrieval", source, *words))
    refused(judge("retrieval", "--qrels", "-", "--run", "-"), "standard input is one file")
    for words in (("retrieval",), asked[:3], (asked[0], *asked[3:])):
        refused(judge(*words), "--qrels and --run together")
    for some in (asked, asked[:3], (asked[0], *asked[3:])):
        refused(judge(*some, source), "--qrels or --run")
    refused(judge(*asked, "--skip-bad-lines"), "--skip-bad-lines")


WHO = ["qid", "query", "status", "ranked", "relevant", "found"]
WHOLE = ["rr", "ap", "ndcg"]
CUT = ["hit", "recall", "precision", "f1", "rr", "ap", "ndcg"]


def test_rows_say_who_then_the_whole_ranking_then_each_cut_off(tmp_path: Path) -> None:
    columns = WHO + WHOLE + [f"{measure}@{k}" for k in (1, 5) for measure in CUT]
    for words in (("retrieval", good(tmp_path)), trec(tmp_path)):
        for name in ("rows.csv", "rows.jsonl"):
            assert judge(*words, "-k", "5,1", "-o", tmp_path / name).code == 0
        rows = [
            json.loads(row) for row in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()
        ]
        assert list(rows[0]) == columns
        with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
            assert [row["qid"] for row in csv.DictReader(file)] == [row["qid"] for row in rows]


def test_a_list_may_be_empty_and_samples_may_be_piped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = json.loads(judge("retrieval", good(tmp_path), "--worst", 0, "--json").out)
    assert (report["worst"], report["missed_total"]) == ([], 1)
    for words, data in ((("-",), good(tmp_path).read_bytes()), (trec(tmp_path)[1:4], RUN.encode())):
        piped = io.TextIOWrapper(io.BytesIO(gzip.compress(data)))
        monkeypatch.setattr(sys, "stdin", piped)
        asked = (*words, "-") if len(words) > 1 else words
        assert means(judge("retrieval", *asked, "--json"))["hit@20"] > 0


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


def test_differences_are_paired(tmp_path: Path) -> None:
    one, two = write(tmp_path / "dense.jsonl", at(ONE)), write(tmp_path / "hybrid.jsonl", at(TWO))
    runs = compared(one, two, "-k", 3)
    here, there = 1 / np.array(TWO), 1 / np.array(ONE)
    found = runs["hybrid"]["differences"]["mrr"]
    assert found["p"] == pytest.approx(stats.ttest_rel(here, there).pvalue, rel=1e-6)
    assert found["gain"] == pytest.approx(here.mean() / there.mean() - 1)
    assert (found["queries"], found["higher"]) == (50, int((here > there).sum()))
    assert runs["dense"]["differences"] == {}
    assert "What hybrid points to" not in judge("retrieval", one, two, "-k", 3).out
    sure = write(tmp_path / "reranked.jsonl", at([1] * 50))
    text = " ".join(judge("retrieval", one, sure, "-k", "10,20").out.split())
    assert "What reranked points to - recall is unchanged and nDCG rose" in text


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
        (one, two): "two runs are called 'r'",
        (double,): "is already in row 1; make it unique",
        (one, "--run", two): "name samples or TREC files, not both",
        ("--run", two): "name a file of samples, or --qrels and --run together",
        ("--run", f"a={one}", "--run", f"a={two}"): "two runs are called 'a'",
        ("--qrels", "-", "--run", "a=-", "--run", f"b={one}"): "- is named twice",
        (one, empty): "empty.jsonl: holds no sample",
        (one, two, "--use", "faq"): "--use is for one run",
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
