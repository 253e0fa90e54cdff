"""`judge gold`: queries drawn, chunks pooled and graded, and the gold set that comes of it."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.review.sheet import GRADED, READ_GRADES, read_grade, read_sheet, write_sheet
from judge.review.spread import Asked, choose, spread
from tests.commands import Ran, judge, write
from tests.reviewed import cells

DOCS = {
    f"{topic}{n}#{part}": f"{topic} {n}, part {part}: 住宿标准 {n}"
    for topic in ("travel", "notice")
    for n in range(4)
    for part in range(4)
}
ZH = "相关等级：0 不相关，1 主题相关但没有答案，2 部分回答，3 完整回答"
LEGEND = "human_grade: 0 irrelevant, 1 on the subject but no answer, 2 answers in part, 3 answers"


def sample(qid: str, ids: Sequence[str], **more: JsonValue) -> dict[str, JsonValue]:
    chunks: list[JsonValue] = [{"chunk_id": name, "text": DOCS[name]} for name in ids]
    return {"qid": qid, "query": f"What of {qid}?", "chunks": chunks, **more}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems of samples and a TREC run over eight queries on two subjects."""
    monkeypatch.chdir(tmp_path)
    qids = [f"{topic}{n}" for topic in ("travel", "notice") for n in range(4)]
    dense = [sample(q, [f"{q}#0", f"{q}#1", f"{q}#2"], topic=q[:-1]) for q in qids]
    sparse = [sample(q, [f"{q}#3", f"{q}#0", f"{q[:-1]}{(int(q[-1]) + 1) % 4}#1"]) for q in qids]
    write(tmp_path / "dense.jsonl", dense)
    write(tmp_path / "sparse.jsonl", sparse)
    # The lines of a query do not stand together.
    lines = [f"{q} Q0 {q}#{part} 9 {part} t\n" for part in range(4) for q in qids]
    (tmp_path / "c.run").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def drawn(*words: object) -> Ran:
    ran = judge("gold", "draw", "dense.jsonl", "sparse.jsonl", *words)
    assert ran.code == 0, ran.err
    return ran


def grade(path: str, how: Callable[[Mapping[str, str]], str], delimiter: str = ",") -> None:
    """What a person does, and a spreadsheet that saves it."""
    rows = cells(Path(path))
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(row | {LEGEND: how(row)} for row in rows)


def by_part(row: Mapping[str, str]) -> str:
    """The query's own parts 0 and 1 answer, 2 is on the subject, the rest is not."""
    own = row["query"].split()[-1].strip("?")
    part = row["chunk"].partition("part ")[2][0]
    mine = row["chunk"].startswith(f"{own[:-1]} {own[-1]},")
    return {"0": "3", "1": "2", "2": "1"}.get(part, "0") if mine else "0"


def gold(path: str = "gold.jsonl") -> dict[str, dict[str, JsonValue]]:
    lines = Path(path).read_text("utf-8").splitlines()
    return {each["qid"]: each for each in map(json.loads, lines)}


@pytest.mark.usefixtures("place")
def test_a_sheet_is_drawn_graded_and_becomes_a_gold_set() -> None:
    ran = drawn("--pool", "third=c.run", "-n", 4, "--by", "topic", "--depth", 2)
    assert "4 of 8 queries" in ran.out
    assert "the first 2 of dense, sparse, third" in ran.out
    assert ran.out.count("2 of 4 ") == 2
    assert LEGEND in ran.out
    rows = cells(Path("gold.csv"))
    assert list(rows[0]) == [
        "review_id", "query", "chunk", LEGEND, "human_note", "reviewer",
    ]  # fmt: skip
    # Of each query dense ranks #0 and #1 first, sparse #3 and #0, the run by score #3 and #2.
    assert set(Counter(row["query"] for row in rows).values()) == {4}
    told = {row["review_id"].partition("-")[0] for row in rows}
    assert len(told) == 1
    grade("gold.csv", by_part)
    ran = judge("gold", "import", "gold.draw.json", "gold.csv", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["counts"] == {"0": 4, "1": 4, "2": 4, "3": 4}
    assert [(s["name"], s["ranked"], s["unjudged"]) for s in found["systems"]] == [
        ("dense", 8, 0), ("sparse", 8, 0), ("third", 8, 0),
    ]  # fmt: skip
    # Of two that are relevant dense ranks both, sparse the one second, the run by score none.
    means = [run["report"]["mean"] for run in found["measures"]["runs"]]
    assert [mean["recall@2"] for mean in means] == [1.0, 0.5, 0.0]
    assert [mean["mrr"] for mean in means] == [1.0, 0.5, (1 / 3 + 1 / 3 + 1 / 3 + 1 / 3) / 4]
    samples = gold()
    for qid, each in samples.items():
        assert each["relevance"] == {f"{qid}#{part}": 3 - part for part in range(4)}
        assert each["gold_evidence"] == [name for name in each["relevance"] if name[-1] in "01"]
        assert "answer" not in each
    ran = judge("retrieval", "gold.jsonl", "--relevance-level", 2, "-k", 1, "--json")
    assert json.loads(ran.out)["mean"]["recall@1"] == 0.5
    assert "name different chunks" not in ran.out


@pytest.mark.usefixtures("place")
def test_a_gold_set_is_held_against_any_file_of_the_same_queries() -> None:
    drawn("-n", 4, "--depth", 2)
    grade("gold.csv", by_part)
    assert judge("gold", "import", "gold.draw.json", "gold.csv").code == 0
    held = ("--gold", "gold.jsonl", "--relevance-level", 2, "-k", 2, "--json")
    ran = judge("retrieval", "sparse.jsonl", *held)
    report = json.loads(ran.out)
    # As at the import: of two that are relevant sparse has the one second.
    assert (report["queries"], report["mean"]["recall@2"]) == (4, 0.5)
    ran = judge("retrieval", "dense.jsonl", "sparse.jsonl", *held)
    assert [run["report"]["mean"]["mrr"] for run in json.loads(ran.out)["runs"]] == [1.0, 0.5]
    # A query of the gold set that a system does not have counts against it.
    qid, _ = gold().popitem()
    write(Path("one.jsonl"), [sample(qid, [f"{qid}#0"], gold_evidence=["other"])])
    report = json.loads(judge("retrieval", "one.jsonl", *held).out)
    assert (report["statuses"]["no_ranking"], report["mean"]["mrr"]) == (3, 0.25)
    write(Path("strange.jsonl"), [sample("travel9", ["travel0#0"])])
    for words, said in (
        (["strange.jsonl", "--gold", "gold.jsonl"], "has no query of gold.jsonl"),
        (["one.jsonl", "--gold", "-"], "save it, and name the file"),
        (["one.jsonl", "--gold", "gold.jsonl", "--by", "topic"], "without --qrels and --by"),
        (["one.jsonl", "--gold", "gold.jsonl", "-o", "gold.jsonl"], "is the file that is read"),
    ):
        ran = judge("retrieval", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert said in ran.err


@pytest.mark.usefixtures("place")
def test_reviewers_overlap_and_chinese_does_as_well() -> None:
    drawn("-n", 4, "--reviewers", "Ann,李雷", "--overlap", 2, "--depth", 3, "--lang", "zh")
    first, second = cells(Path("gold-1.csv")), cells(Path("gold-2.csv"))
    assert {row["审核人"] for row in second} == {"李雷"}
    both = {row["编号"] for row in first} & {row["编号"] for row in second}
    # Of each query dense has parts 0, 1, 2, sparse 3, 0 and one of another query.
    assert (len(both), len(first), len(second)) == (10, 15, 15)
    for path, shift in (("gold-1.csv", 0), ("gold-2.csv", 1)):
        rows = cells(Path(path))
        with Path(path).open("w", encoding="gb18030", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
            writer.writeheader()
            named = [row | {"query": row["问题"], "chunk": row["片段"]} for row in rows]
            grades = [min(3, int(by_part(row)) + shift) for row in named]
            writer.writerows(
                row | {ZH: "２．0"[:1] if grade == 2 else str(grade)}
                for row, grade in zip(rows, grades, strict=True)
            )
    words = ("gold", "import", "gold.draw.json", "gold-1.csv", "gold-2.csv")
    ran = judge(*words, "--lang", "zh")
    assert ran.code == 0, ran.err
    # A 3 stays 3, and all others are one apart.
    assert "多人评级的 10 个片段中有 2 个等级相同" in ran.out
    assert "Ann 与 李雷：加权 kappa" in ran.out
    ran = judge(*words, "--json", "--force")
    found = json.loads(ran.out)
    assert set(found["counts"]) >= {"0.5", "1.5", "2.5", "3"}
    (pair,) = found["agreement"]["pairs"]
    # By hand, of grades 0 0 1 2 3 twice beside 1 1 2 3 3: 1 - 8 / (28 + 48 - 2 · 12 · 20 / 10).
    assert pair["kappa"] == pytest.approx(1 - 8 / 28)
    assert found["agreement"]["equal"] == 2


@pytest.mark.usefixtures("place")
def test_blank_rows_are_told_of_and_rows_that_cannot_be_right_are_refused() -> None:
    drawn("-n", 2, "--depth", 3)
    grades = iter(["3", "", "1.0", "", " 0 "] + ["0"] * 5)
    grade("gold.csv", lambda _: next(grades))
    ran = judge("gold", "import", "gold.draw.json", "gold.csv")
    assert ran.code == 0
    assert "8 of 10 chunks graded" in ran.out
    said = "rows without a grade, and so unjudged: 2 (gold.csv, row 3, gold.csv, row 5)"
    assert said in " ".join(ran.out.split())
    assert "The pool is not complete" in ran.out

    rows = cells(Path("gold.csv"))
    rows[0][LEGEND], rows[1][LEGEND] = "4", "good"
    rows[2]["chunk"] = "another text"
    rows[3] |= {"review_id": "g00000000-1", LEGEND: "1"}
    rows.append(rows[4] | {LEGEND: "2"})
    rows.append(rows[4] | {"review_id": "", LEGEND: "2"})
    rows.append({"human_note": "a remark"})
    with Path("bad.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    ran = judge("gold", "import", "gold.draw.json", "bad.csv", "-o", "bad.jsonl")
    assert (ran.code, ran.out) == (2, "")
    for said in (
        "6 rows cannot be right, and nothing was imported",
        "bad.csv, row 2: human_grade '4' is no grade; write 0, 1, 2 or 3",
        "bad.csv, row 3: human_grade 'good' is no grade",
        "bad.csv, row 4: holds another chunk than",
        "bad.csv, row 5: review_id 'g00000000-1' is no row of draw",
        "bad.csv, row 12: ",
        "bad.csv, row 13: review_id '' is empty beside a grade",
    ):
        assert said in ran.err, said
    assert not Path("bad.jsonl").exists()


@pytest.mark.usefixtures("place")
def test_while_the_pool_is_not_complete_what_nobody_graded_is_left_out() -> None:
    # Three of dense: the first not graded, then irrelevant, then relevant.
    judge("gold", "draw", "dense.jsonl", "-n", 1, "--depth", 3)
    said = {"0": "", "1": "0", "2": "3"}
    grade("gold.csv", lambda row: said[row["chunk"].partition("part ")[2][0]])
    words = ("gold", "import", "gold.draw.json", "gold.csv", "--force")
    found = json.loads(judge(*words, "--json").out)
    (run,) = found["measures"]["runs"]
    mean = {name: run["report"]["mean"][name] for name in run["report"]["mean"]}
    # bpref: one irrelevant above the only relevant: 1 - 1/1.
    assert (mean["mrr"], mean["condensed_mrr"], mean["bpref"]) == (1 / 3, 1 / 2, 0)
    assert (mean["precision@3"], mean["judged@3"]) == (1 / 3, pytest.approx(2 / 3))
    assert found["systems"] == [{"name": "dense", "queries": 1, "ranked": 3, "unjudged": 1}]
    out = judge(*words).out
    assert "bpref" in out
    assert "condensed_ndcg@3" in out
    ran = judge("retrieval", "gold.jsonl", "--relevance-level", 2, "-k", 3, "--condensed", "--json")
    report = json.loads(ran.out)
    assert report["mean"]["condensed_mrr"] == 1 / 2
    assert "|condensed|" in report["signature"]
    # Without a 0 nothing is known to be irrelevant.
    write(Path("bare.jsonl"), [sample("travel0", ["travel0#0"], gold_evidence=["travel0#0"])])
    ran = judge("retrieval", "bare.jsonl", "--condensed", "-k", 1)
    assert "no chunk is graded 0" in ran.out
    # A complete pool needs none of them.
    grade("gold.csv", lambda _: "2")
    assert "bpref" not in judge(*words).out


@pytest.mark.usefixtures("place")
def test_what_cannot_be_drawn_is_one_line() -> None:
    write(Path("other.jsonl"), [sample("elsewhere", ["travel0#0"])])
    changed = sample("travel0", ["travel0#0"])
    write(Path("reads.jsonl"), [changed | {"query": "Something else?"}])
    text: list[JsonValue] = [{"chunk_id": "travel0#0", "text": "of another corpus"}]
    write(Path("texts.jsonl"), [changed | {"chunks": text}])
    write(Path("bare.jsonl"), [{"qid": "travel0", "query": "What?", "retrieved": ["x", "y"]}])
    write(Path("blank.jsonl"), [{"qid": "travel0", "query": " ", "retrieved": ["x"]}])
    write(Path("none.jsonl"), [{"qid": "travel0", "query": "What?"}])
    Path("empty.jsonl").write_text("", encoding="utf-8")
    Path("bad.jsonl").write_text('{"text": "no id"}\n', encoding="utf-8")
    Path("cut.jsonl").write_text('{"id": "x", "te', encoding="utf-8")
    write(Path("textless.jsonl"), [{"id": "x"}])
    write(Path("listed.jsonl"), [changed | {"topic": ["a"]}])
    write(Path("unnamed.jsonl"), [changed | {"topic": " "}])
    Path("words").write_text("six words that are no run\n", encoding="utf-8")
    for words, said in (
        (["dense.jsonl", "other.jsonl"], "other.jsonl: has no query of dense.jsonl; see that"),
        (["dense.jsonl", "reads.jsonl"], "'travel0' reads otherwise than in dense.jsonl"),
        (["dense.jsonl", "texts.jsonl"], "'travel0#0' of query 'travel0' has another text in d"),
        (["bare.jsonl"], "no text is known of any pooled chunk, such as x, y; "),
        (
            ["bare.jsonl", "--corpus", "bad.jsonl"],
            "bad.jsonl, line 1, field 'chunk_id': is missing",
        ),
        (["bare.jsonl", "--corpus", "cut.jsonl"], "cut.jsonl, line 1: bad JSON"),
        (["bare.jsonl", "--corpus", "textless.jsonl"], "textless.jsonl, line 1, field 'chunk.te"),
        (["dense.jsonl", "words"], "words: is neither JSON lines nor CSV"),
        (
            ["listed.jsonl", "--by", "topic"],
            "field 'topic': is ['a']; --by takes a text or a number",
        ),
        (["unnamed.jsonl", "--by", "topic"], "field 'topic': is ' '; --by takes a text"),
        (["bare.jsonl", "--by", "qid"], "and --by names it; the other keys here: none"),
        (["blank.jsonl"], "field 'query': is blank"),
        (["none.jsonl"], "nothing is ranked"),
        (["empty.jsonl"], "holds no sample"),
        (["dense.jsonl", "dense.jsonl"], "two systems are called 'dense'"),
        (["-"], "save it, and name the file"),
        (["dense.jsonl", "--by", "price"], "field 'price': is missing, and --by names it"),
        (["dense.jsonl", "-o", "dense.jsonl"], "name a .csv file"),
        (["dense.jsonl", "--overlap", 3], "one reviewer shares with none"),
    ):
        ran = judge("gold", "draw", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), (words, ran)
        assert said in ran.err, (said, ran.err)
    assert not Path("gold.csv").exists()
    drawn("-n", 1)
    assert "stands there already" in judge("gold", "draw", "dense.jsonl").err
    ran = judge("gold", "import", "dense.jsonl", "gold.csv")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "name what judge gold draw wrote" in ran.err
    assert "cannot be read" in judge("gold", "import", "gone.draw.json", "gold.csv").err
    drawn("-n", 1, "--seed", 7, "-o", "other.csv")
    ran = judge("gold", "import", "gold.draw.json", "other.csv")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "other.csv: no row is of draw g" in ran.err
    assert "no row has a grade" in judge("gold", "import", "gold.draw.json", "gold.csv").err


@pytest.mark.usefixtures("place")
def test_texts_come_from_a_corpus_or_another_sample_and_copies_are_graded_once() -> None:
    lines: list[dict[str, JsonValue]] = [
        {"_id": "x", "title": "Title", "text": "of the corpus"},
        {"chunk_id": "y", "text": "same\ntext"},
        {"id": "z", "text": "same  text"},
    ]
    write(Path("corpus.jsonl"), lines)
    ids: list[JsonValue] = ["x", "y", "z", "notice0#0", "nowhere"]
    bare: dict[str, JsonValue] = {"qid": "travel0", "query": "What of travel0?", "retrieved": ids}
    write(Path("bare.jsonl"), [bare, sample("notice0", ["notice0#0"])])
    ran = judge("gold", "draw", "bare.jsonl", "--corpus", "corpus.jsonl", "--force")
    assert ran.code == 0, ran.err
    assert "so not in the sheet, unjudged: 1 (nowhere)" in ran.out
    texts = {row["chunk"] for row in cells(Path("gold.csv")) if "travel0" in row["query"]}
    # The text that two ids have is graded once.
    assert texts - {"same  text"} == {"Title\nof the corpus", "same\ntext", DOCS["notice0#0"]}
    grade("gold.csv", lambda row: "3" if "same" in row["chunk"] else "0")
    assert judge("gold", "import", "gold.draw.json", "gold.csv").code == 0
    assert gold()["travel0"]["gold_evidence"] == ["y", "z"]
    ran = judge("gold", "import", "gold.draw.json", "gold.csv", "--json", "--force")
    assert json.loads(ran.out)["systems"][0]["unjudged"] == 1


@pytest.mark.usefixtures("place")
def test_a_text_that_systems_name_by_different_ids_is_one_relevant_chunk() -> None:
    texts = {"answer": "a1 b1", "beside": "a2 b2"}
    for system in "ab":
        chunks: list[JsonValue] = [
            {"chunk_id": name, "text": text}
            for text, names in texts.items()
            for name in names.split()
            if name[0] == system
        ]
        write(Path(f"{system}.jsonl"), [{"qid": "q", "query": "What?", "chunks": chunks}])
    assert judge("gold", "draw", "a.jsonl", "b.jsonl", "--depth", 2).code == 0
    grade("gold.csv", lambda row: "3" if row["chunk"] == "answer" else "0")
    words = ("gold", "import", "gold.draw.json", "gold.csv", "--force")
    found = json.loads(judge(*words, "--json").out)
    # Both have the one relevant text first, so both are perfect.
    for run in found["measures"]["runs"]:
        mean = run["report"]["mean"]
        assert (mean["recall@2"], mean["mrr"], mean["ndcg@2"]) == (1, 1, 1), run["name"]
    assert (found["several"], gold()["q"]["gold_evidence"]) == (1, ["a1", "b1"])
    for lang, said in (
        ("en", "have several ids: 1; recall by"),
        ("zh", "有多个 id 的相关文本：1 个"),
    ):
        assert said in judge(*words, "--lang", lang).out
    grade("gold.csv", lambda row: "3" if row["chunk"] == "answer" else "")
    (one, _) = json.loads(judge(*words, "--json").out)["systems"]
    assert (one["ranked"], one["unjudged"]) == (2, 1)


@pytest.mark.usefixtures("place")
def test_a_query_that_a_system_does_not_rank_counts_0() -> None:
    write(Path("half.jsonl"), [sample("travel0", ["travel0#0"]), sample("travel1", [])])
    write(Path("off.jsonl"), [sample("notice0", ["notice0#3"])])
    assert judge("gold", "draw", "dense.jsonl", "half.jsonl", "off.jsonl", "--depth", 1).code == 0
    # Of eight queries the first chunk of each is relevant, but for notice0.
    grade("gold.csv", lambda row: "0" if "notice0" in row["query"] else "3")
    words = ("gold", "import", "gold.draw.json", "gold.csv", "--force")
    found = json.loads(judge(*words, "--json").out)
    runs = {run["name"]: run["report"] for run in found["measures"]["runs"]}
    assert [each["queries"] for each in found["systems"]] == [8, 1, 1]
    assert (runs["half"]["mean"]["mrr"], runs["half"]["statuses"]["no_ranking"]) == (1 / 7, 6)
    for lang, said in (
        ("en", "half has 1 of 8 queries; each of the others counts 0"),
        ("en", "off has 1 of 8 queries, none of them with a relevant chunk"),
        ("zh", "half 含 8 个问题中的 1 个"),
    ):
        assert said in " ".join(judge(*words, "--lang", lang).out.split()), said
    for option in ([*words, "-k", 10**11], ["gold", "draw", "dense.jsonl", "--depth", 10**11]):
        ran = judge(*option)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert "give a whole number from 1 to 1000000000" in ran.err


@pytest.mark.usefixtures("place")
def test_a_bad_line_is_told_once_and_a_system_without_the_chosen_queries_is_named() -> None:
    lines = Path("dense.jsonl").read_text("utf-8").splitlines()
    # The second line of a qid is the good one, each time that the file is read.
    blank = json.dumps(sample("travel0", []) | {"query": " "})
    Path("dense.jsonl").write_text("\n".join([blank, "{", *lines]), encoding="utf-8")
    lines = Path("sparse.jsonl").read_text("utf-8").splitlines()
    Path("sparse.jsonl").write_text("\n".join(["{", *lines]), encoding="utf-8")
    ran = drawn("--skip-bad-lines", "--lang", "zh")
    told = [line.partition("line ")[2][:1] for line in ran.err.splitlines()]
    assert told == ["1", "2", "1"], ran.err
    assert len(cells(Path("gold.csv"))) == 40
    write(Path("dense.jsonl"), [sample("a", ["travel0#0"]), sample("b", ["travel0#1"])])
    write(Path("idle.jsonl"), [sample("a", []), sample("b", [])])
    Path("idle.run").write_text("a Q0 travel0#0 1 9 t\n", encoding="utf-8")
    for lang, said in (("en", "ranks nothing for the chosen"), ("zh", "对抽中的问题没有排序结果")):
        ran = judge("gold", "draw", "dense.jsonl", "idle.jsonl", "--lang", lang, "--force")
        assert (ran.code, ran.err) == (0, "")
        assert f"idle {said}" in ran.out
    # A run of one of two queries, and now the one, now the other is chosen.
    ways = ("dense.jsonl", "idle.run", "-n", 1, "--force", "--seed")
    outs = [judge("gold", "draw", *ways, seed).out for seed in range(8)]
    assert 0 < sum("idle ranks nothing for the chosen queries" in out for out in outs) < 8
    assert all("1 of 2 queries" in out for out in outs)


@pytest.mark.parametrize(
    "text", [".2", ",3", ".0", "。1", "：1", "-1", "4", "1.5", "2,3", ".", "'"]
)
def test_what_is_no_grade_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no grade; write 0, 1, 2 or 3"):
        read_grade(text)


@pytest.mark.usefixtures("place")
def test_notes_of_reviewers_are_told() -> None:
    assert judge("gold", "draw", "dense.jsonl", "-n", 1, "--depth", 2).code == 0
    rows = cells(Path("gold.csv"))
    for name, (grade, note), (other, remark) in (
        ("Ann", ("0", "of another year"), ("1", "fine")),
        ("李雷", ("3", ""), ("", "which rule?")),
    ):
        with Path(f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerow(rows[0] | {LEGEND: grade, "human_note": note, "reviewer": name})
            writer.writerow(rows[1] | {LEGEND: other, "human_note": remark, "reviewer": name})
    words = ("gold", "import", "gold.draw.json", "Ann.csv", "李雷.csv", "--force")
    for lang, said in (
        ("en", "notes without a grade: 1 (李雷.csv, row 3)"),
        ("zh", "备注但没有等级的行：1 行"),
    ):
        out = " ".join(judge(*words, "--lang", lang).out.split())
        assert said in out
        assert "Ann 0 (of another year), 李雷 3" in out
    found = json.loads(judge(*words, "--json").out)
    assert (found["noted"], found["blank"]) == (["李雷.csv, row 3"], [])
    assert found["agreement"]["apart"][0]["notes"] == {"Ann": "of another year"}


@pytest.mark.usefixtures("place")
def test_texts_that_look_like_formulas_or_are_cut_come_back() -> None:
    name = "odd.csv"
    texts = ["=cmd|' /C calc'!A0", "-5; =1+1", "a\r\nb\0c", "👩‍👩‍👧 " * 6000, "---", "x" * 40_000]
    chunks: list[JsonValue] = [{"chunk_id": f"c{n}", "text": t} for n, t in enumerate(texts)]
    write(Path("odd.jsonl"), [{"qid": "=q", "query": "=1+1?", "chunks": chunks}])
    assert judge("gold", "draw", "odd.jsonl", "-o", name).code == 0
    rows = [row.cells | {"human_grade": "1"} for row in read_sheet(name, READ_GRADES)]
    assert len(rows) == len(texts)
    write_sheet(name, rows, GRADED, "zh")
    ran = judge("gold", "import", "odd.draw.json", name)
    assert ran.code == 0, ran.err
    assert gold()["=q"]["relevance"] == {f"c{n}": 1 for n in range(len(texts))}
    assert gold()["=q"]["gold_evidence"] == []
    assert "Nothing is graded 2 or more" in ran.out


WORDS = ["差旅", "住宿", "notice", "period", "router", "warranty", "报销"]
QUERIES = st.lists(
    st.builds(
        lambda words, name: (" ".join(words), name),
        st.lists(st.sampled_from(WORDS), max_size=4),
        st.sampled_from("ab"),
    ),
    min_size=1,
    max_size=40,
)


@given(QUERIES, st.integers(1, 50), st.integers(0, 5))
def test_as_many_queries_are_chosen_as_asked_each_once_and_the_same_again(
    asked: list[tuple[str, str]], size: int, seed: int
) -> None:
    queries = [Asked(f"q{n}", text, name) for n, (text, name) in enumerate(asked)]
    found = choose(queries, size, seed)
    qids = [qid for each in found for qid in each.qids]
    assert len(qids) == len(set(qids)) == min(size, len(queries))
    assert found == choose(queries, size, seed)
    for each in found:
        own = {query.qid for query in queries if query.stratum == each.stratum}
        assert set(each.qids) <= own
        assert len(own) == each.queries


def kinds(queries: Iterable[Asked]) -> set[str]:
    return {query.text.split()[0] for query in queries}


@pytest.mark.no_cover
def test_the_chosen_queries_cover_the_subjects_and_each_has_the_same_chance() -> None:
    # Ninety on one subject, and five on each of two others.
    texts = [f"{'travel' if n < 90 else 'notice' if n < 95 else 'router'} {n}" for n in range(100)]
    queries = [Asked(f"q{n}", text) for n, text in enumerate(texts)]
    covered = [kinds(spread(queries, 20, seed)) for seed in range(8)]
    assert all(len(each) == 3 for each in covered)
    # Ten of a hundred in eighty draws: eight times each, with a deviation of 2.7.
    counts = Counter(query.qid for seed in range(80) for query in spread(queries, 10, seed))
    assert sum(counts.values()) == 800
    assert max(abs(counts[query.qid] - 8) for query in queries) < 5 * 2.7
