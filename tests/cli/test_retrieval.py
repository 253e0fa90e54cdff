import csv
import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.commands import Ran, judge, write
from tests.commands import line as scored_line

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


def refused(ran: Ran, *says: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    for said in says:
        assert said in ran.err
    assert ran.err.startswith("judge: ")
    assert ran.err.count("\n") == 1


def means(ran: Ran) -> Mapping[str, float]:
    assert ran.code == 0, ran.err
    found: Mapping[str, float] = json.loads(ran.out)["mean"]
    return found


def test_samples_in_tables(tmp_path: Path) -> None:
    ran = judge("retrieval", good(tmp_path), "-k", "1,2")
    assert (ran.code, ran.err) == (0, "")
    for said in ("mrr", "0.500", "@2", "3 of 3 queries", "q3", "Some authors call that Recall@k"):
        assert said in ran.out
    assert "made by retrieval|k:1,2|order:given|" in ran.out
    found = json.loads(judge("retrieval", good(tmp_path), "-k", " 10，1, 10", "--json").out)
    assert [name for name in found["mean"] if name.startswith("hit")] == ["hit@1", "hit@10"]
    assert (found["mean"]["mrr"], found["missed"][0]["chunk_id"], found["schema"]) == (0.5, "z", 3)
    deepest = means(judge("retrieval", good(tmp_path), "-k", "1000000000", "--json"))
    assert deepest["recall@1000000000"] == pytest.approx(2 / 3)


GATED: list[tuple[str, int, str]] = [
    # Of the three queries one has its chunk first, one second, one nowhere: MRR (1 + 1/2) / 3.
    ("--fail-under mrr=0.5", 0, "gate mrr >= 0.5: 0.500 (mean over queries), passed"),
    ("--fail-under recall@5=0.7", 1, "gate recall@5 >= 0.7: 0.667 (mean over queries), failed"),
    # Wilson's interval of 2/3, effective n = 3 and t(2) = 4.303: its lower limit is .08.
    ("--fail-under recall@5=0.6 --strict-gate", 1, "gate recall@5 >= 0.6: 0.0"),
    ("--fail-under mrr=0.4 --fail-under hit@1=0.4", 1, "gate hit@1 >= 0.4: 0.333"),
    ("--use documents --fail-targets", 1, "gate recall@5 >= 0.8: 0.667 (mean over queries), fail"),
    ("--use documents", 0, "for questions about documents"),
]


def test_the_worst_queries_are_told_in_either_language(tmp_path: Path) -> None:
    asked = line("q1", "b") | {"chunks": [{"chunk_id": "b", "text": "午餐补贴"}]}
    source = write(tmp_path / "in.jsonl", [asked])
    for lang, top, missed in (
        ("en", "on top b (rank 1): 午餐补贴", "missed a (relevant, not ranked)"),
        ("zh", "排在前面 b（第 1 位）：午餐补贴", "漏掉的 a（相关，未排序）"),
    ):
        ran = judge("retrieval", source, "--gold-match", "exact", "--lang", lang)
        told = " ".join(ran.out.split())
        assert ran.code == 0
        assert top in told
        assert missed in told


def test_a_gate_speaks_the_language(tmp_path: Path) -> None:
    asked = ("--fail-under", "recall@5=0.7", "--lang", "zh")
    assert (
        "门槛 recall@5 >= 0.7：0.667（各查询平均），未通过"
        in judge("retrieval", good(tmp_path), *asked).out
    )


NO_GATES = {
    "--fail-under recall@7=0.1": "recall@7 is not measured; add 7 to -k",
    "--fail-under recall=0.1": "NAME is one of mrr, map, ",
    "--fail-under dcg@5=0.1": "map@k, ndcg@k with k one of 1, 3, 5, 10, 20",
    "--fail-under mrr=2": "X is a number from 0 to 1, as in mrr=0.9",
    "--fail-over mrr=0.1": "of mrr more is better; say --fail-under mrr=0.1",
    "--strict-gate": "--strict-gate without a gate; add --fail-under, as mrr=0.9",
    "--fail-targets": "--fail-targets needs --use",
    "--fail-targets --use monitoring": "--use monitoring has no targets; add --fail-under",
    "--fail-targets --use faq -k 1": "hit@3 is not measured; add 3 to -k",
}


def test_gates_of_means_and_of_targets(tmp_path: Path) -> None:
    source = good(tmp_path)
    for words, code, said in GATED:
        ran = judge("retrieval", source, *words.split())
        assert (ran.code, ran.err) == (code, ""), words
        assert said in ran.out
    for words, said in NO_GATES.items():
        refused(judge("retrieval", source, *words.split()), said)
    ran = judge("retrieval", source, "--json", "--use", "documents", "--fail-targets")
    held = [(each["name"], each["bound"], each["passed"]) for each in json.loads(ran.out)["gates"]]
    assert held == [("recall@5", 0.8, False), ("precision@5", 0.75, False), ("ndcg@5", 0.78, False)]
    # A perfect ranking meets what it can: of one relevant chunk precision@5 is .2 at most.
    best = write(
        tmp_path / "best.jsonl", [line(f"q{n}", "a", "b", "c", "d", "e") for n in range(9)]
    )
    ran = judge("retrieval", best, "--use", "documents", "--fail-targets")
    assert ran.code == 0
    assert "gate precision@5 >= 0.75: 1.000 (mean over queries, share of the ceiling)" in ran.out
    assert judge("retrieval", best, "--fail-under", "precision@5=0.75").code == 1
    # One chunk, and it is relevant: nothing it could stand above.
    alone = write(tmp_path / "alone.jsonl", [line("q", "a")])
    ran = judge("retrieval", alone, "--fail-under", "roc_auc=0")
    assert (ran.code, "gate roc_auc >= 0: – (nothing to measure), unmeasured" in ran.out) == (
        3,
        True,
    )


def test_trec_files(tmp_path: Path) -> None:
    found = means(judge(*trec(tmp_path), "-k", "5,10", "--json"))
    # q1: a (.9), then c and b of equal score, by id downwards: c, b. Relevant at 1 and 3.
    assert found["map"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert found["mrr"] == 0.75
    assert found["r_precision"] == pytest.approx((1 / 2 + 0) / 2)
    assert found["precision@5"] == pytest.approx((2 / 5 + 1 / 5) / 2)
    assert (found["recall@5"], found["hit@5"]) == (1, 1)
    # DCG 1 + 2/2 = 2 of 2 + 1/log2 3 = 2.63093; and 1/log2 3 = .63093 of 1.
    assert found["ndcg@10"] == pytest.approx((2 / 2.63093 + 0.63093) / 2, abs=1e-5)


def test_a_run_whose_lines_are_scattered_gives_the_same(tmp_path: Path) -> None:
    whole = judge(*trec(tmp_path), "--json", "-o", tmp_path / "whole.csv")
    lines = RUN.splitlines(keepends=True)
    scattered = "".join(lines[i] for i in (3, 0, 4, 2, 1))
    found = judge(*trec(tmp_path, run=scattered), "--json", "-o", tmp_path / "scattered.csv")
    assert means(found) == means(whole)
    rows = sorted((tmp_path / "whole.csv").read_text("utf-8-sig").splitlines())
    assert sorted((tmp_path / "scattered.csv").read_text("utf-8-sig").splitlines()) == rows


def test_levels_gains_and_gold_by_document(tmp_path: Path) -> None:
    assert means(judge(*trec(tmp_path), "--json", "--relevance-level", 2))["mrr"] == 1 / 3
    assert means(judge(*trec(tmp_path), "--json", "--gain", "exp2"))["dcg@1"] == 0.5
    source = write(tmp_path / "in.jsonl", [line("q", "docB#1", "文档#3", gold=("文档",))])
    ran = judge("retrieval", source, "--gold-match", "prefix")
    assert "flatters recall" in ran.out
    assert means(judge("retrieval", source, "--gold-match", "prefix", "--json"))["mrr"] == 0.5
    refused(judge("retrieval", source), "in.jsonl", "--gold-match prefix", "--gold-match exact")
    assert means(judge("retrieval", source, "--gold-match", "exact", "--json"))["mrr"] == 0


BAD_SAMPLES = {
    "nowhere.jsonl": "nowhere.jsonl: no such file",
    "x" * 5000 + ".jsonl": "cannot be read: File name too long",
    "broken.jsonl": "broken.jsonl, line 3: bad JSON",
    "duplicate_qid.jsonl": "field 'qid': ",
    "wrong_types.jsonl": "line 2, field 'chunks'",
    "gb18030.csv": "not UTF-8",
    "overlap.jsonl": "says what is relevant",
    ".": "aliases.jsonl, line 3, field 'qid': is missing",
}
BAD_LINES: list[tuple[list[dict[str, JsonValue]], str]] = [
    ([], "in.jsonl: holds no sample"),
    ([{"retrieved": ["a"], "relevance": {"a": "much"}}], "line 1, field \"relevance['a']\""),
    ([{"retrieved": ["a"], "relevance": {"a": 1e400}}], "line 1, field \"relevance['a']\""),
    ([{"retrieved": ["a"], "relevance": {"a": True}}], "\"relevance['a']\": is a boolean, True"),
    (
        [{**line("q", "a"), "relevance": {"a": 0}}],
        "field 'relevance': 'a' of query 'q' is graded 0",
    ),
    ([{"qid": "q", "gold_evidence": ["a"]}], "nothing is ranked"),
    ([{"qid": "q", "gold_evidence": "a"}], "line 1, field 'gold_evidence'"),
]


def test_bad_samples_are_one_line_and_leave_no_rows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    for name, says in BAD_SAMPLES.items():
        refused(judge("retrieval", FIXTURES / name, "-o", rows), says)
    for lines, says in BAD_LINES:
        source = write(tmp_path / "in.jsonl", lines)
        refused(judge("retrieval", source, "-o", rows), says)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


CUT_OFFS = ("0", "-1", "a", "", "1,,2", "1.5", "5,0", "1000000001", "9" * 30, "9" * 6000)
USES = "faq, documents, scholarly, knowledge_base, monitoring"
BAD_WORDS: list[tuple[tuple[object, ...], str]] = [
    *((("-k", k), f"-k {k!r}: give whole numbers from 1 to 1000000000,") for k in CUT_OFFS),
    *(((f"--relevance-level={x}",), "give a number above 0") for x in ("0", "-1", "nan", "inf")),
    (("--use", "news"), f"--use 'news': give one of {USES}"),
    (("--use", ""), f"--use '': give one of {USES}"),
    (("--use", "faq", "--lang", "fr"), "--lang 'fr': give one of en, zh"),
    (("--lang", "fr"), "--lang 'fr'"),
    (("--lang", "zh", "--json"), "--lang 'zh' and --json: names in JSON are English"),
    (("--use", "faq", "--json"), "--use and --json: a reading is for people"),
    (("--before", "b.json", "--json"), "--before and --json"),
    (("--before", "none.json"), "none.json: no such file"),
    (("--before", "."), "is a folder"),
    (("--answers", "none"), "no such run folder"),
    (("--answers", "."), "run"),
]


def test_bad_options_are_one_line(tmp_path: Path) -> None:
    source = good(tmp_path)
    for words, says in BAD_WORDS:
        refused(judge("retrieval", source, *words), says)
    one = "standard input is one file"
    refused(judge("retrieval", "-", "--before", "-"), "--before -", one)
    refused(judge("retrieval", "--qrels", "Q", "--run", "-", "--before", "-"), "--before -", one)
    refused(judge("retrieval", "--qrels", "-", "--run", "-"), one)
    for words in (
        ("--relevance-level", "a"),
        ("--worst", "-1"),
        ("--gain", "log"),
    ):
        ran = judge("retrieval", source, *words)
        assert (ran.code, ran.out) == (2, "")
        assert "invalid value" in ran.err.lower()


def test_either_samples_or_both_trec_files(tmp_path: Path) -> None:
    source, asked = good(tmp_path), trec(tmp_path)
    for words in (("retrieval",), asked[:3], (asked[0], *asked[3:])):
        refused(judge(*words), "name a file of samples, or --qrels and --run together")
    for some in (asked, asked[:3], (asked[0], *asked[3:])):
        for more in ((), ("--skip-bad-lines",)):
            ran = judge(*some, source, *more)
            refused(
                ran, f"'{source}' beside --qrels or --run: name samples or TREC files, not both"
            )
    refused(
        judge(*asked, "--skip-bad-lines"),
        "--skip-bad-lines is for samples: of TREC files no line is skipped; leave it out",
    )


WHO = ["qid", "query", "status", "ranked", "relevant", "found"]
WHOLE = ["rr", "ap", "r_precision", "ndcg", "roc_auc"]
CUT = ["hit", "recall", "precision", "f1", "rr", "ap", "dcg", "ndcg", "waste"]


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
    assert judge("retrieval", good(tmp_path), "-o", tmp_path / "rows.jsonl").code == 0
    rows = [json.loads(row) for row in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert [(row["qid"], row["query"], row["rr"]) for row in rows] == [
        *(("q1", "问 q1", 0.5), ("q2", "问 q2", 1), ("q3", "问 q3", 0))
    ]
    assert (rows[2]["status"], rows[2]["relevant"], rows[2]["found"]) == ("measured", 1, 0)


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    source, asked = good(tmp_path), trec(tmp_path)
    before = source.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(source)
    refused(judge("retrieval", source, "-o", tmp_path / "link.jsonl"), "the file that is read")
    for number, name in ((2, "Q"), (4, "R")):
        words = list(asked)
        words[number] = str((tmp_path / name).rename(tmp_path / f"{name}.csv"))
        refused(judge(*words, "-o", words[number]), "the file that is read")
        Path(words[number]).rename(tmp_path / name)
    assert source.read_bytes() == before


BAD_QRELS = {
    "": ": holds no line",
    "q1 0 a 1\nq1 0 b x\n": ", line 2, field 'relevance': 'x' is no finite number",
    "q1 0 a\n": ", line 1: has 3 columns",
    # Found while the run is read.
    "q1 0 a 1e200\n": ", field 'relevance': a grade of query 'q1' is 1e+200",
    "q1 0 a 0\n": ", field 'relevance': nothing is relevant",
}


@pytest.mark.parametrize("qrels", BAD_QRELS)
def test_what_is_wrong_in_piped_qrels_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qrels: str
) -> None:
    *_, run = trec(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(qrels.encode())))
    ran = judge("retrieval", "--qrels", "-", "--run", run)
    refused(ran, f"judge: standard input{BAD_QRELS[qrels]}")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=(qrels,), daemon=True)
    writer.start()
    refused(judge("retrieval", "--qrels", fifo, "--run", run), f"judge: {fifo}{BAD_QRELS[qrels]}")
    writer.join()


def test_a_list_may_be_empty_and_samples_may_be_piped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = judge("retrieval", good(tmp_path), "--worst", 0)
    assert "Worst queries" not in ran.out
    assert "1 of 3 relevant not in the first 20" in ran.out
    assert "rules of thumb" not in ran.out
    for words, data in ((("-",), good(tmp_path).read_bytes()), (trec(tmp_path)[1:4], RUN.encode())):
        piped = io.TextIOWrapper(io.BytesIO(gzip.compress(data)))
        monkeypatch.setattr(sys, "stdin", piped)
        asked = (*words, "-") if len(words) > 1 else words
        assert means(judge("retrieval", *asked, "--json"))["hit@20"] > 0


def test_gold_of_no_use_is_a_bad_line(tmp_path: Path) -> None:
    lines: list[dict[str, JsonValue]] = [
        {"qid": "good", "retrieved": ["x"], "gold_evidence": ["x"]},
        {"qid": "both", "retrieved": ["x"], "gold_evidence": ["x"], "relevance": {"x": 0}},
        {"qid": "much", "retrieved": ["x"], "relevance": {"x": 1e200}},
    ]
    source = write(tmp_path / "in.jsonl", lines)
    refused(judge("retrieval", source), "in.jsonl, line 2, field 'relevance': 'x' of query 'both'")
    ran = judge("retrieval", source, "--skip-bad-lines", "--json")
    assert json.loads(ran.out)["queries"] == 1
    assert ran.err.count("left out") == 2
    assert "lines that are no samples, and so left out: 2" in json.loads(ran.out)["warnings"]
    assert "line 3, field 'relevance': the grade of 'x' is 1e+200" in ran.err


def ranked_at(tmp_path: Path, rank: int, name: str = "in.jsonl") -> Path:
    """Sixty queries, the one relevant chunk of each at this rank of six."""
    ids = [f"c{i}" for i in range(1, 7)]
    lines: list[Mapping[str, JsonValue]] = [
        {"qid": f"q{i}", "query": "问", "retrieved": [*ids], "gold_evidence": [f"c{rank}"]}
        for i in range(60)
    ]
    return write(tmp_path / name, lines)


def test_an_earlier_report_on_the_command_line(tmp_path: Path) -> None:
    earlier = tmp_path / "before.json"
    earlier.write_text(judge("retrieval", ranked_at(tmp_path, 4), "--json").out, "utf-8")
    # From rank 4 to rank 1: nDCG 1/log2 5 = .431 to 1, and recall@20 is 1 both times.
    ran = judge(
        "retrieval", ranked_at(tmp_path, 1, "now.jsonl"), "--before", earlier, "--use", "faq"
    )
    assert (ran.code, ran.err) == (0, "")
    assert "the reranker works" in ran.out
    assert "ndcg@10 rose from 0.431 to 1.000" in ran.out
    assert "for FAQ" in ran.out
    same = judge("retrieval", ranked_at(tmp_path, 4), "--before", earlier, "--lang", "zh")
    assert "重排序有效" not in same.out
    assert "这些数字说明什么" in same.out


def test_what_is_no_earlier_report_is_refused(tmp_path: Path) -> None:
    source, other = ranked_at(tmp_path, 1), tmp_path / "other.json"
    found = json.loads(judge("retrieval", source, "--json").out)
    later = json.dumps({**found, "schema": 4}).encode()
    nothing = (b"", b"no json", b"[]", b"{}", b'{"schema": 1}', b'{"a": "\xff"}', b"[" * 5000)
    for content in (*nothing, b'{"q": 1}\n{"q": 2}', later):
        other.write_bytes(content)
        ran = judge("retrieval", source, "--before", other)
        refused(ran, "other.json", "no earlier report", "--json")
    other.write_bytes(b"\x00")
    refused(judge("retrieval", source, "--before", other), "other.json", "binary")
    del found["ceiling"]
    assert judge("retrieval", source, "--before", write(other, [found])).code == 0


Answered = tuple[str, str, str, tuple[str, ...] | None]
BESIDE: Answered = (
    "When does it open?",
    "Bring a passport and two photographs.",
    "At seven in the morning.",
    ("a",),
)
ASIDE: Answered = ("几点开门?", "请携带护照和两张照片。", "早上七点。", ("a",))


def scored(tmp_path: Path, *answers: Answered) -> tuple[Path, Path]:
    """The samples and the run: query, answer, reference, gold; one chunk, called a."""
    lines: list[dict[str, JsonValue]] = []
    for number, (query, answer, reference, gold) in enumerate(answers):
        chunks = {"a": "It opens at seven, from Monday to Friday."}
        made = scored_line(f"q{number}", answer, chunks, query) | {"gold_answer": reference}
        lines.append(made if gold is None else made | {"gold_evidence": [*gold]})
    source, run = write(tmp_path / "answers.jsonl", lines), tmp_path / "run"
    assert judge("score", source, "-o", run, "--correctness").code == 0
    return source, run


@pytest.mark.no_cover
def test_a_run_tells_whether_the_answers_use_what_was_found(tmp_path: Path) -> None:
    source, run = scored(tmp_path, *[BESIDE, ASIDE] * 5)
    ran = judge("retrieval", source, "--answers", run)
    assert (ran.code, ran.err) == (0, "")
    out = " ".join(ran.out.split())
    assert "where evidence was retrieved, too few answers keep to it" in out
    # Wilson's interval of 0 in 10, t(9) = 2.262: up to 5.117/15.117.
    assert "faithful_of_retrieved 0.000 (0.000–0.339) is low: under 0.800" in out
    assert "correct_of_retrieved 0.000 (0.000–0.339) is low: under 0.700" in out
    assert "look for scattered evidence" in out
    assert "share of sentences that look supported" in out
    assert "another file" not in out
    chinese = judge("retrieval", source, "--answers", run, "--lang", "zh").out
    assert "依据证据作答的仍然太少" in "".join(chinese.split())


def test_a_run_of_another_file_is_said_to_be(tmp_path: Path) -> None:
    source, run = scored(tmp_path, BESIDE)
    asks = "are these the same questions?"
    other = " ".join(judge("retrieval", ranked_at(tmp_path, 1), "--answers", run).out.split())
    assert asks in other
    assert "answers.jsonl" in other.replace(" ", "")  # a long path is wrapped
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert judge("score", packed, "-o", tmp_path / "packed").code == 0
    same = judge("retrieval", packed, "--answers", tmp_path / "packed").out
    assert asks not in " ".join(same.split())
