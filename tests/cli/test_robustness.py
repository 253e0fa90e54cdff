import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import judge

ROBUSTNESS = Path(__file__).resolve().parents[2] / "fixtures" / "robustness.jsonl"
Line = dict[str, Any]
ABSTAINS = {"en": "The documents do not say.", "zh": "文档中没有提到。"}


def lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def toy(line: Line, samples: dict[str, Line]) -> str:
    """A RAG with known faults."""
    qid, variant = line["qid_of"], line["variant"]
    abstains = ABSTAINS[qid[:2]]
    faults: dict[tuple[str, str], str] = {
        ("en-pets", "original"): abstains,
        ("en-pets", "noise20"): abstains,
        ("en-pets", "noise40"): abstains,
        ("en-pets", "noise60"): abstains,
        ("en-ferry", "noise40"): "A bicycle costs 25 euros.",
        ("en-ferry", "noise60"): "A bicycle costs 25 euros.",
        ("zh-bridge", "noise60"): abstains,
        ("en-notice", "reordered"): abstains,
        ("zh-hotel", "counterfactual"): samples[qid]["gold_answer"],
        ("en-ferry", "counterfactual"): "A bicycle costs 25 euros.",
        ("en-notice", "gold_removed"): samples[qid]["gold_answer"],
        ("zh-hotel", "gold_removed"): samples[qid]["gold_answer"],
    }
    return faults.get((qid, variant), str(line["gold_answer"]))


def scored(folder: Path, answer: Callable[[Line], Line], *words: object) -> Path:
    """The fixture perturbed, answered, and scored into a run."""
    assert judge("perturb", ROBUSTNESS, "-o", folder / "p.jsonl", "--force").code == 0
    answers = [json.dumps(answer(line), ensure_ascii=False) for line in lines(folder / "p.jsonl")]
    (folder / "a.jsonl").write_text("\n".join(answers), "utf-8")
    ran = judge("score", folder / "a.jsonl", "-o", folder / "run", *words)
    assert ran.code == 0, ran.err
    return folder / "run"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = {line["qid"]: line for line in lines(ROBUSTNESS)}
    folder = tmp_path_factory.mktemp("robust")
    return scored(folder, lambda line: {**line, "answer": toy(line, samples)}, "--correctness")


# By hand, of 8 questions: correct answers, and against the original better, worse.
EXPECTED = {
    "original": (7 / 8, None),
    "noise20": (7 / 8, (0, 0)),
    "noise40": (6 / 8, (0, 1)),
    "noise60": (5 / 8, (0, 2)),
    "counterfactual": (4 / 6, (0, 2)),
    "reordered": (7 / 8, (1, 1)),
}


def test_figures_worked_by_hand(run: Path) -> None:
    ran = judge("compare", run, "--by", "variant", "--json")
    assert (ran.code, ran.err) == (0, "")
    (found,) = json.loads(ran.out)["runs"]
    variants = {each["variant"]: each for each in found["variants"]}
    assert list(variants) == [*EXPECTED, "gold_removed"]
    for name, (accuracy, pairs) in EXPECTED.items():
        assert variants[name]["accuracy"]["value"] == pytest.approx(accuracy), name
        difference = variants[name]["accuracy_difference"]
        assert (difference and (difference["better"], difference["worse"])) == pairs, name
        # Each answer is the reference, another figure in its place, or an abstention.
        assert variants[name]["correctness"]["value"] == pytest.approx(accuracy), name
    noisy = variants["noise60"]["accuracy_difference"]
    assert (noisy["pairs"], noisy["difference"], noisy["interval"]) == (8, -0.25, None)
    # Two signs say no more than 2 to the power of -1; Student's t would say .17.
    assert noisy["p"] == 0.5
    abstained = variants["gold_removed"]["abstained"]
    # (.75 + .3495 ± 2.3646·.2128) / 1.699, with 2.3646 the t quantile of 7 degrees of freedom.
    assert abstained["value"] == 0.75
    assert abstained["interval"]["low"] == pytest.approx(0.351, abs=0.001)
    assert abstained["interval"]["high"] == pytest.approx(0.943, abs=0.001)
    assert variants["original"]["abstained"]["value"] == 1 / 8
    assert variants["gold_removed"]["accuracy"] is None
    shares = {way: share["value"] for way, share in found["counterfactual"].items()}
    expected = {"context": 4 / 6, "memory": 1 / 6, "other": 1 / 6, "abstained": 0}
    assert shares == pytest.approx(expected)
    assert found["changed"]["value"] == 2 / 8
    assert (found["without_variant"], found["counterfactual_left_out"], found["both"]) == (0, {}, 0)


def test_it_is_printed_in_both_languages(run: Path) -> None:
    told = {
        "en": ("6 of 8 answers abstain, 0.750 [0.351–0.943]", "4 of 6 answers follow", "1 of 8"),
        "zh": ("8 个答案中 6 个拒答，0.750 [0.351–0.943]", "6 个答案中 4 个遵循", "顺序敏感性"),
    }
    for lang, texts in told.items():
        ran = judge("compare", run, run, "--by", "variant", "--lang", lang)
        assert (ran.code, ran.err) == (0, "")
        flat = " ".join(ran.out.split())
        for text in (*texts, "−0.250", "similarity:"):
            assert flat.count(text) >= 2, text


def test_who_is_left_out_is_told(tmp_path: Path) -> None:
    """Keys that a RAG dropped: the qid still tells; and answers to something else."""

    def answer(line: Line) -> Line:
        kept = {k: line[k] for k in ("qid", "query", "chunks", "gold_answer", "gold_evidence")}
        if line["qid"] == "en-pets~original":
            return {**kept, "qid": "else", "answer": line["gold_answer"]}
        if line["qid"] == "en-ferry~counterfactual":
            return {**kept, "answer": ABSTAINS["en"]}
        if line["qid"] == "zh-hotel~noise20":
            return {**kept, "gold_answer": "", "answer": line["gold_answer"]}
        return {**kept, "answer": line["gold_answer"]}

    ran = judge("compare", scored(tmp_path, answer, "--correctness"), "--by", "variant")
    flat = " ".join(ran.out.split())
    for told in (
        "left out of noise20: 1, no gold answer",
        "left out of noise20: 1, in no difference: the answer to the original",
        "left out of counterfactual: 6, in no counterfactual share: the key `changed` is missing",
        "answers that are to no variant, and in nothing here: 1",
    ):
        assert told in flat


def test_wrong_use_is_one_line(run: Path, tmp_path: Path) -> None:
    fixtures = ROBUSTNESS.parent
    plain, bare = tmp_path / "plain", tmp_path / "bare"
    assert judge("score", fixtures / "cells.jsonl", "-o", plain, "--correctness").code == 0
    assert scored(tmp_path, lambda line: {**line, "answer": "Yes."}).is_dir()
    rows = {
        (plain, "--by", "variant"): "make the samples with judge perturb, and keep their keys",
        (tmp_path / "run", "--by", "variant"): "score the samples again with judge score --correct",
        (bare, "--by", "variant"): "no such run folder",
        (run, "--by", "lang"): "name two runs or more",
        (run,): "name two runs or more",
        (run, "--by", "variant", "--json", "--lang", "zh"): "names in JSON are English",
    }
    for words, told in rows.items():
        ran = judge("compare", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), words
        assert told in ran.err


def test_two_answers_to_one_variant_of_a_question_are_refused(tmp_path: Path) -> None:
    row = {"query": "When?", "chunks": ["In May."], "gold_answer": "May", "qid_of": "q"}
    rows = [
        {**row, "qid": qid, "variant": "noise20", "answer": answer}
        for qid, answer in (("a", "In May."), ("b", ABSTAINS["en"]))
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    score = judge("score", tmp_path / "s.jsonl", "-o", tmp_path / "run", "--correctness")
    assert score.code == 0
    ran = judge("compare", tmp_path / "run", "--by", "variant")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "noise20 of 'q' is answered twice; score one answer a variant and question" in ran.err


def test_a_run_that_is_not_finished_is_refused(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    (tmp_path / "run" / "run.json").write_text(json.dumps({**record, "finished": None}), "utf-8")
    ran = judge("compare", tmp_path / "run", "--by", "variant")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "is unfinished; finish it with the same judge score" in ran.err


def test_what_follows_the_context_and_names_the_old_value_is_counted(tmp_path: Path) -> None:
    """No variant but counterfactuals, of two kinds, and one of the reader's own."""
    asked = {
        "query": "Who leads it?",
        "chunks": [{"chunk_id": "g", "text": "Anna Novak leads it."}],
    }
    gold = {"gold_answer": "Jane Hollis leads it.", "gold_evidence": ["g"]}
    change = {"kind": "name", "before": "Anna Novak", "after": "Jane Hollis"}
    answers = {
        "a": "Jane Hollis leads it.",
        "b": "Jane Hollis leads it. Formerly Anna Novak led it.",
        "c": "Anna Novak leads it.",
        "d": "The documents do not say.",
    }
    rows = [
        {"qid": q, **asked, **gold, "answer": a, "changed": change, "qid_of": q}
        for q, a in answers.items()
    ]
    lines = [json.dumps({**row, "variant": "counterfactual"}) for row in rows]
    lines.append(json.dumps({**rows[0], "qid": "e", "variant": "mine"}))
    (tmp_path / "s.jsonl").write_text("\n".join(lines), "utf-8")
    score = judge("score", tmp_path / "s.jsonl", "-o", tmp_path / "run", "--correctness")
    assert score.code == 0
    ran = judge("compare", tmp_path / "run", "--by", "variant", "--json")
    (found,) = json.loads(ran.out)["runs"]
    shares = {way: share["value"] for way, share in found["counterfactual"].items()}
    assert shares == {"context": 0.5, "memory": 0.25, "other": 0, "abstained": 0.25}
    assert found["both"] == 1
    assert found["changed"] is None
    assert [each["variant"] for each in found["variants"]] == ["counterfactual", "mine"]
    assert [each["unpaired"] for each in found["variants"]] == [4, 1]
    ran = judge("compare", tmp_path / "run", "--by", "variant")
    assert "name what stood there before, too: 1" in " ".join(ran.out.split())
