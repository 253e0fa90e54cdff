import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.commands import judge

ROBUSTNESS = Path(__file__).resolve().parents[2] / "fixtures" / "robustness.jsonl"
Line = dict[str, Any]


def written(path: Path, samples: Path | str = ROBUSTNESS, *words: object) -> list[Line]:
    ran = judge("perturb", samples, "-o", path, "--force", *words)
    assert (ran.code, ran.err) == (0, ""), ran.err
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def saved(path: Path, rows: Sequence[Line]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def texts(row: Line) -> list[str]:
    return [chunk["text"] for chunk in row["chunks"]]


def test_each_variant_of_the_fixture_is_what_it_says(tmp_path: Path) -> None:
    samples = {
        row["qid"]: row for row in map(json.loads, ROBUSTNESS.read_text("utf-8").splitlines())
    }
    lines = written(tmp_path / "out.jsonl")
    assert len({line["qid"] for line in lines}) == len(lines) == 54
    assert not any("answer" in line for line in lines)
    for qid, group in groupby(lines, key=lambda line: line["qid_of"]):
        own, made = samples[qid], {line["variant"]: line for line in group}
        assert {f"{qid}~{name}" for name in made} == {line["qid"] for line in made.values()}
        assert texts(made["original"]) == texts(own)
        for name, added in {"noise20": 1, "noise40": 2, "noise60": 5}.items():
            # 1 of 4, 2 of 5 and 5 of 8 are the shares nearest to .2, .4 and .6.
            noise = [text for text in texts(made[name]) if text not in texts(own)]
            assert (len(noise), len(made[name]["chunks"])) == (added, 3 + added)
            assert [text for text in texts(made[name]) if text in texts(own)] == texts(own)
            assert made[name]["gold_evidence"] == own["gold_evidence"]
        assert (
            set(texts(made["noise20"])) < set(texts(made["noise40"])) < set(texts(made["noise60"]))
        )
        reordered = made["reordered"]
        assert texts(reordered) != texts(own)
        assert sorted(texts(reordered)) == sorted(texts(own))
        removed, gold = made["gold_removed"], own["gold_evidence"]
        assert removed["gold_evidence"] == []
        assert removed["gold_answer"] in {"The documents do not say.", "文档中没有提到。"}
        kept = {chunk["chunk_id"] for chunk in own["chunks"]} - set(gold)
        assert {chunk["chunk_id"] for chunk in removed["chunks"]} == kept
        if changed := made.get("counterfactual"):
            before, after = changed["changed"]["before"], changed["changed"]["after"]
            assert before != after
            assert changed["gold_answer"] == own["gold_answer"].replace(before, after)
            held = [c["text"] for c in changed["chunks"] if c["chunk_id"] in gold]
            assert after in "".join(held)
            assert before not in "".join(texts(changed))
    without = {line["qid_of"] for line in lines} - {
        line["qid_of"] for line in lines if line["variant"] == "counterfactual"
    }
    assert without == {"en-pets", "zh-smoke"}


def test_the_same_seed_makes_the_same_and_another_others(tmp_path: Path) -> None:
    one, two, three = (
        written(tmp_path / f"{name}.jsonl", ROBUSTNESS, "--seed", seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one == two != three


def test_noise_holds_no_gold_and_near_copies_of_gold_are_removed(tmp_path: Path) -> None:
    fee = "A parking permit costs 80 euros for each year and is bound to one car of the tenant."
    copy = fee.replace("the tenant", "a tenant")
    quoted = f"The board wrote to all who live there. {fee} Nobody objected."
    other = "The bins are emptied on Tuesdays before seven in the morning, all year round."
    asked = {"query": "What does a permit cost?", "gold_answer": "80 euros", "gold_evidence": ["g"]}
    chunks = [("g", fee), ("c", copy), ("q", quoted), ("s", "It is 80 euros."), ("o", other)]
    own = {"qid": "1", **asked, "chunks": [{"chunk_id": n, "text": t} for n, t in chunks]}
    alike = [
        {"qid": f"2{at}", "query": f"other {at}", "chunks": [text]}
        for at, text in enumerate([copy, quoted, "The visitors' permit: 80 euros.", other])
    ]
    free = {
        "qid": "3",
        "query": "Lift?",
        "chunks": ["The lift is out of order.", "Use the stairs."],
    }
    lines = {
        line["variant"]: line
        for line in written(tmp_path / "o.jsonl", saved(tmp_path / "s.jsonl", [own, *alike, free]))
        if line["qid_of"] == "1"
    }
    assert texts(lines["gold_removed"]) == [other]
    # Of 5 chunks .2 is 1 more, of which two are free; .4 would be 3 more.
    assert set(texts(lines["noise20"])) - set(texts(own)) <= set(free["chunks"])
    assert "noise40" not in lines


def test_counted_ids_are_counted_anew_and_gold_follows(tmp_path: Path) -> None:
    rows = [
        {"query": f"Which is {n}?", "contexts": [f"first {n}", f"second {n}", f"third {n}"]}
        for n in ("red", "green", "blue")
    ]
    gold = [{**row, "gold_answer": "so", "gold_evidence": ["2"]} for row in rows]
    for line in written(tmp_path / "o.jsonl", saved(tmp_path / "s.jsonl", gold)):
        ids = [chunk["chunk_id"] for chunk in line["chunks"]]
        assert ids == [str(number) for number in range(1, len(ids) + 1)]
        if line["variant"] != "gold_removed":
            named = [c["text"] for c in line["chunks"] if c["chunk_id"] in line["gold_evidence"]]
            assert [text.split()[0] for text in named] == ["second"], line["qid"]


def test_csv_and_standard_input_are_read_and_reasons_are_told(tmp_path: Path) -> None:
    source = tmp_path / "s.csv"
    source.write_text("qid,query,chunk_1\na,what?,Tea.\nb,wer?,Tee.\n", "utf-8")
    ran = judge("perturb", source, "-o", tmp_path / "o.jsonl", "--lang", "zh")
    assert ran.code == 0
    assert "变体" in ran.out
    for told in (
        "noise20: 2 ×",
        "counterfactual: 2 × 没有 gold_answer",
        "reordered: 2 × 不同的片段少于两个",
    ):
        assert told in ran.out


WRONG = {
    "ends not in .jsonl": ("fixture", "-o", "out.csv"),
    "is what this is made from": ("s.jsonl", "-o", "s.jsonl"),
    "stands there already; replace it with --force": ("fixture", "-o", "there.jsonl"),
    "--variants 'noise50': give one of original, noise20": (
        "fixture", "-o", "o.jsonl", "--variants", "noise50",
    ),
    "field 'qid': 'a' stands already on line 1": ("double.jsonl", "-o", "o.jsonl"),
    "field 'variant': is there already; perturb the original samples": (
        "perturbed.jsonl", "-o", "o.jsonl",
    ),
    "field 'query': is missing": ("s.jsonl", "-o", "o.jsonl"),
    "holds no sample": ("empty.jsonl", "-o", "o.jsonl"),
    "no such file": ("nowhere.jsonl", "-o", "o.jsonl"),
    "-o 'none/o.jsonl': no such folder": ("fixture", "-o", "none/o.jsonl"),
}  # fmt: skip


def test_wrong_use_is_one_line_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row: Line = {"qid": "a", "query": "?", "chunks": ["Tea."]}
    saved(tmp_path / "double.jsonl", [row, row])
    saved(tmp_path / "perturbed.jsonl", [{**row, "variant": "original"}])
    saved(tmp_path / "s.jsonl", [{"qid": "a", "chunks": []}])
    saved(tmp_path / "there.jsonl", [])
    saved(tmp_path / "empty.jsonl", [])
    for told, words in WRONG.items():
        ran = judge("perturb", *(ROBUSTNESS if word == "fixture" else word for word in words))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), words
        assert told in ran.err
        assert not Path("o.jsonl").exists()


def test_a_file_without_answers_is_not_scored_and_says_why(tmp_path: Path) -> None:
    written(tmp_path / "p.jsonl")
    ran = judge("score", tmp_path / "p.jsonl", "-o", tmp_path / "run")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "field 'answer': is missing" in ran.err


def test_gold_is_found_by_document_by_rank_and_by_grade(tmp_path: Path) -> None:
    free = {"qid": "z", "query": "z?", "chunks": ["Nobody minds.", "All is well.", ""]}
    three = ["The pond froze.", "The pond is 9 m deep.", "The pond has carp."]
    named = [{"chunk_id": f"docA#{n}", "text": text} for n, text in enumerate(three)]
    rows: list[tuple[Line, str, list[str]]] = [
        ({"chunks": [*named, "Bread."], "gold_evidence": ["docA"]}, "prefix", ["Bread."]),
        # Texts without ids are the first of `retrieved`.
        (
            {"chunks": three, "retrieved": ["a", "b", "c", "d"], "gold_evidence": ["b"]},
            "exact",
            [three[0], three[2]],
        ),
        ({"chunks": three, "relevance": {"1": 0, "3": 2}}, "exact", three[:2]),
    ]
    for own, match, kept in rows:
        source = saved(tmp_path / "s.jsonl", [{"qid": "a", "query": "a?", **own}, free])
        made = written(tmp_path / "o.jsonl", source, "--gold-match", match)
        (removed,) = [line for line in made if line["variant"] == "gold_removed"]
        assert texts(removed) == kept
        assert "relevance" not in removed
        (noisy,) = [line for line in made if line["qid"] == "a~noise20"]
        assert len(noisy["chunks"]) == len(own["chunks"]) + 1
        if "relevance" in own:
            held = {c["chunk_id"]: c["text"] for c in noisy["chunks"]}
            grades = {held[name]: grade for name, grade in noisy["relevance"].items()}
            assert grades == {three[0]: 0, three[2]: 2}


def test_of_very_many_chunks_some_are_kept_to_draw_from(tmp_path: Path) -> None:
    many = {"qid": "m", "query": "m?", "chunks": [f"note {n}" for n in range(6000)]}
    few = {"qid": "f", "query": "f?", "chunks": ["One pear.", "Two figs.", "Six nuts."]}
    source = saved(tmp_path / "s.jsonl", [few, many])
    (line,) = written(tmp_path / "o.jsonl", source, "--variants", "noise20")
    assert line["qid"] == "f~noise20"
    assert sum(text.startswith("note") for text in texts(line)) == 1


def test_bad_lines_are_told_once_and_left_out(tmp_path: Path) -> None:
    source = saved(tmp_path / "s.jsonl", [{"query": "a?", "chunks": ["Tea.", "Tee."]}])
    source.write_text(source.read_text("utf-8") + '{"query":\n', "utf-8")
    ran = judge("perturb", source, "-o", tmp_path / "o.jsonl", "--skip-bad-lines")
    assert (ran.code, ran.err.count("left out: ")) == (0, 1)
