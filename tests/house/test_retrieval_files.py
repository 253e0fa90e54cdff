"""The command line beside what trec_eval itself printed for the same files."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import judge

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval" / "trec_eval"
KS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)

MEANS = {
    "map": "map",
    "Rprec": "r_precision",
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "P_{}": "precision@{}",
    "recall_{}": "recall@{}",
    "success_{}": "hit@{}",
    "map_cut_{}": "map@{}",
    "ndcg_cut_{}": "ndcg@{}",
}
ALL_OF = {"out.test.a": 4 + 9 + 9 + 3 + 9 + 9, "out.test.aq": 43, "out.test.aql": 43}


def printed(name: str) -> Iterator[tuple[str, str, str]]:
    """Query, name of the measure as we call it, and the value as it was printed."""
    names = {theirs.format(k): ours.format(k) for theirs, ours in MEANS.items() for k in KS}
    for line in (DATA / name).read_text("utf-8").splitlines():
        measure, qid, value = line.split()
        if measure in names:
            yield qid, names[measure], value


# Three files of trec_eval's, the levels they were made with, and the same qrels with other grades.
@pytest.mark.parametrize(
    ("name", "qrels", "words"),
    [
        ("out.test.a", "qrels.test", ()),
        ("out.test.aq", "qrels.test", ()),
        ("out.test.aql", "qrels.rel_level", ("--relevance-level", "2")),
    ],
)
@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_every_number_is_trec_evals(
    place: Path, name: str, qrels: str, words: tuple[str, ...], ending: str
) -> None:
    if not DATA.exists():
        pytest.skip("no shared data beside this checkout")
    rows = place / f"rows{ending}"
    files = ("--qrels", DATA / qrels, "--run", DATA / "results.test", "-o", rows)
    ran = judge("retrieval", *files, "-k", ",".join(map(str, KS)), "--json", *words)
    assert (ran.code, ran.err) == (0, "")
    found = {"all": json.loads(ran.out)["mean"]}
    if ending == ".jsonl":
        lines = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
        found |= {line["qid"]: line for line in lines}
    each = {"map": "ap", "mrr": "rr"}
    seen = 0
    for qid, measure, value in printed(name):
        if qid not in found:
            assert ending == ".csv"
            continue
        stem, at, k = measure.partition("@")
        own = measure if qid == "all" else each.get(stem, stem) + at + k
        assert f"{found[qid][own]:.4f}" == value, (qid, measure)
        seen += qid == "all"
    assert seen == ALL_OF[name]
